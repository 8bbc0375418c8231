/*
 * parmlib_print.c - prints a request as a member's text.
 *
 * Called for presets and by `ctrace parmlib print`, on any thread.  A request that was parsed
 * without an error is parsed to the same request when it is printed.  The only failure is missing
 * memory, which the buffer remembers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/control.h"

#include <string.h>

void ct_sub_print(const struct ct_sub_path *path, struct ct_buf *out)
{
	for (uint32_t i = 0; i < path->count; i++) {
		const struct ct_sub_element *element = &path->element[i];

		if (i != 0)
			ct_buf_add_char(out, '.');
		if (element->kind == CT_SUB_ASID)
			ct_buf_add_format(out, "ASID(%X)", (unsigned)element->asid);
		else if (element->kind == CT_SUB_JOBNAME)
			ct_buf_add_format(out, "JOBNAME(%s)", element->text);
		else if (element->text[strcspn(element->text, "abcdefghijklmnopqrstuvwxyz_")] !=
			 '\0')
			ct_buf_add_format(out, "'%s'", element->text);
		else
			ct_buf_add_text(out, element->text);
	}
}

/* Prints SUB and the state on one line; nothing when there is neither. */
static void state_print(const struct ct_trace_request *request, struct ct_buf *out)
{
	static const char *const names[] = { "",         "ON",          "OFF",
					     "LIKEHEAD", "PRESET(PUT)", "PRESET(DELETE)" };

	if (!request->has[CT_CLAUSE_SUB] && request->state == CTRACE_CT_NONE)
		return;
	ct_buf_add_text(out, "    ");
	if (request->has[CT_CLAUSE_SUB]) {
		ct_buf_add_text(out, "SUB(");
		ct_sub_print(&request->sub, out);
		ct_buf_add_char(out, ')');
	}
	if (request->has[CT_CLAUSE_SUB] && request->state != CTRACE_CT_NONE)
		ct_buf_add_char(out, ' ');
	ct_buf_add_text(out, names[request->state]);
	ct_buf_add_char(out, '\n');
}

static void asids_print(const struct ct_trace_request *request, struct ct_buf *out)
{
	ct_buf_add_text(out, "    ASID(");
	for (uint32_t i = 0; i < request->asid_count; i++)
		ct_buf_add_format(out, "%s%X", i == 0 ? "" : ",", (unsigned)request->asid[i]);
	ct_buf_add_text(out, ")\n");
}

static void jobnames_print(const struct ct_trace_request *request, struct ct_buf *out)
{
	ct_buf_add_text(out, "    JOBNAME(");
	for (uint32_t i = 0; i < request->jobname_count; i++)
		ct_buf_add_format(out, "%s%s", i == 0 ? "" : ",", request->jobname[i]);
	ct_buf_add_text(out, ")\n");
}

/* In kilobytes where four digits suffice, rounded up. */
static void bufsize_print(uint64_t bytes, struct ct_buf *out)
{
	uint64_t kilobytes = (bytes + 1023) / 1024;

	if (kilobytes <= 9999)
		ct_buf_add_format(out, "    BUFSIZE(%lluK)\n", (unsigned long long)kilobytes);
	else
		ct_buf_add_format(out, "    BUFSIZE(%lluM)\n",
				  (unsigned long long)((kilobytes + 1023) / 1024));
}

/* Prints all options as one string. */
static void options_print(const struct ct_trace_request *request, struct ct_buf *out)
{
	const char *mark = request->options_size != 0 ? "'" : "";

	ct_buf_add_format(out, "    OPTIONS(%s", mark);
	for (size_t i = 0; i < request->options_size; i++) {
		ct_buf_add_char(out, request->options[i]);
		if (request->options[i] == '\'')
			ct_buf_add_char(out, '\'');
	}
	ct_buf_add_format(out, "%s)\n", mark);
}

void ct_parmlib_print(const struct ct_trace_request *request, struct ct_buf *out)
{
	ct_buf_add_text(out, "TRACEOPTS\n");
	state_print(request, out);
	if (request->has[CT_CLAUSE_ASID])
		asids_print(request, out);
	if (request->has[CT_CLAUSE_JOBNAME])
		jobnames_print(request, out);
	if (request->has[CT_CLAUSE_BUFSIZE])
		bufsize_print(request->bufsize, out);
	if (request->has[CT_CLAUSE_OPTIONS])
		options_print(request, out);
	if (request->has[CT_CLAUSE_WTR])
		ct_buf_add_format(out, "    WTR(%s)\n",
				  request->disconnect ? "DISCONNECT" : request->writer);
}
