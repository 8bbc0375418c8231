/*
 * ipcs_message.c - the messages ITT10001I to ITT10019I, all of them in one table.
 *
 * What raises each is z/OS's; the words are ours.  Values may come from anywhere: what could forge
 * a line or a terminal sequence is escaped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <string.h>

static const struct ct_ipcs_message_row rows[CT_ITT_COUNT] = {
	[CT_ITT_NONE] = { "", "", "" },
	[CT_ITT10001I] = { "ITT10001I", "QUERY and COMP cannot stand in one command.",
			   "QUERY lists the traces, COMP shows the entries of one trace.  Leave one of them out." },
	[CT_ITT10003I] = { "ITT10003I", "COMP({}){} has no entries in the input{}.",
			   "The name is a head, and only its sublevels have traced: name one with SUB, or all with SUB((*)).  Or a running process "
			   "has the trace, and its entries are already delivered: ctrace list shows the destination." },
	[CT_ITT10004I] = { "ITT10004I", "Nothing says where the trace is: {}.",
			   "Name a trace with DSNAME, PATH or FILE, by SETDEF, or after the command.  ACTIVE reads the events that traced processes "
			   "have not delivered yet, if there are any." },
	[CT_ITT10005I] = { "ITT10005I", "The {} exit {} cannot be loaded{}.",
			   "NAME.so with ctrace_filter_exit must be in a directory of CTRACE_LINKLIST that nobody else can write to.  Without the "
			   "component's exit entries are still shown; without the user's exit the command ends." },
	[CT_ITT10006I] = { "ITT10006I",
			   "The formatter {} cannot be loaded: entries are in hexadecimal.",
			   "The catalogue names it.  NAME.so with ctrace_format_exit must be in a directory of CTRACE_LINKLIST." },
	[CT_ITT10007I] = { "ITT10007I", "{} filtering is not supported for {}.",
			   "EXCEPTION needs marks in the component's catalogue; ASID and JOBNAME need marks there when the trace itself does not have "
			   "them, like traces of other tracers.  Such entries are not shown." },
	[CT_ITT10008I] = { "ITT10008I", "The {} exit {} has ended the listing.",
			   "It returned 16.  Later entries are not shown." },
	[CT_ITT10009I] = { "ITT10009I", "The {} exit {} returned {}, which has no meaning.",
			   "Only 0, 4, 8, 12 and 16 have a meaning.  The entry is shown, and the exit is not called again." },
	[CT_ITT10010I] = { "ITT10010I", "Entry id {} is not in the catalogue: hexadecimal is used.",
			   "The component has a catalogue, but not for this id.  Reported once for each id." },
	[CT_ITT10011I] = { "ITT10011I", "START is later than STOP.",
			   "Both are GMT unless LOCAL is given." },
	[CT_ITT10012I] = { "ITT10012I",
			   "The trace has no entries at the requested time; it holds {} to {}.",
			   "START and STOP are GMT unless LOCAL is given." },
	[CT_ITT10013I] = { "ITT10013I",
			   "There is no catalogue for COMP({}){}{}: entries are in hexadecimal.",
			   "SUMMARY and FULL use the names of a catalogue: name one with --catalog or CTRACE_CATALOG.  It describes the component "
			   "COMP, or the one that FMTTAB of its definition names." },
	[CT_ITT10014I] = { "ITT10014I", "SUB has more than 5 names, or is too long.",
			   "At most five names with dots between, and 255 characters together with COMP." },
	[CT_ITT10015I] = { "ITT10015I", "There is no trace COMP({}){}{}.",
			   "The message lists existing names; QUERY lists all of them." },
	[CT_ITT10016I] = { "ITT10016I", "Trace data were lost here: {} of {}.",
			   "Packets are numbered, and some numbers are missing; or the events were counted as lost when they were traced: the output "
			   "did not keep up, or an old file was overwritten." },
	[CT_ITT10017I] = { "ITT10017I", "The options of COPYTRC end too early.",
			   "A keyword lacks its value, or a parenthesis is missing." },
	[CT_ITT10018I] = { "ITT10018I", "The options of COPYTRC have an error.",
			   "COMP, SUB, SYSNAME, START, STOP, GMT, LOCAL, EXCEPTION, ENTIDLIST, ALL, ASIDLIST and JOBLIST can stand there." },
	[CT_ITT10019I] = { "ITT10019I", "{} is not a trace: {}.", "The other inputs are read." },
};

const struct ct_ipcs_message_row *ct_ipcs_message_row(enum ct_ipcs_message id)
{
	return &rows[id];
}

void ct_ipcs_add_plain(struct ct_buf *out, const char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		const char *quote = memchr(text + at, '"', size - at);
		size_t end = quote != NULL ? (size_t)(quote - text) : size;

		ct_escape_add(out, text + at, end - at);
		if (quote != NULL)
			ct_buf_add_char(out, '"');
		at = end + 1;
	}
}

void ct_ipcs_message_add(struct ct_buf *out, enum ct_ipcs_message id, const char *const *values)
{
	const char *text = rows[id].text;
	const char *mark;

	ct_buf_add_text(out, rows[id].id);
	ct_buf_add_char(out, ' ');
	while ((mark = strstr(text, "{}")) != NULL) {
		ct_buf_add(out, text, (size_t)(mark - text));
		ct_ipcs_add_plain(out, *values, strlen(*values));
		values++;
		text = mark + 2;
	}
	ct_buf_add_text(out, text);
}
