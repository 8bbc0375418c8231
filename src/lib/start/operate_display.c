/*
 * operate_display.c - DISPLAY TRACE: the matching traces in their present state.
 *
 * Runs on the control thread.  Display routines of the program are called here, under no lock.  A
 * program with a hundred thousand sublevels is looked through in a few milliseconds; only what is
 * shown costs more, and that is bounded.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/operate.h"

#include <stdio.h>
#include <string.h>

#include "lib/component/writer_link.h"

#define NAME_LIMIT (2 * CTRACE_MAX_COMPONENT + 1)

struct wanted {
	struct ct_span name; /* a name, or a pattern in levels */
	bool is_all;
	uint64_t depth;
};

static bool answer_fits(struct ct_span wanted, struct ct_span name)
{
	return ct_glob_match_levels(wanted.at, wanted.size, name.at, name.size);
}

/* Does the name match, or one of its nearest `depth` ancestors? */
static bool trace_is_wanted(const struct wanted *wanted, struct ct_span name)
{
	if (wanted->is_all || answer_fits(wanted->name, name))
		return true;
	for (uint64_t depth = wanted->depth; depth > 0; depth--) {
		while (name.size > 0 && name.at[name.size - 1] != '.')
			name.size--;
		if (name.size == 0)
			return false;
		name.size--;
		if (answer_fits(wanted->name, name))
			return true;
	}
	return false;
}

/* ---- what is shown ---- */

/* A trace may be deleted while we look: then it is not shown.  True when it was. */
static bool add_trace(struct ct_answer *answer, struct ct_span name)
{
	struct ctrace_display display = { .size = sizeof display };
	char terminated[CTRACE_MAX_COMPONENT + 1];

	(void)snprintf(terminated, sizeof terminated, "%.*s", (int)name.size, name.at);
	if (ctrace_component_display(terminated, NULL, &display) != CTRACE_OK)
		return false;
	ct_answer_row(answer, name.size + sizeof display + 64);
	ct_message_add(answer->out, CT_FIELD_COMPONENT, name.at, name.size);
	ct_message_add(answer->out, CT_FIELD_DISPLAY, &display, sizeof display);
	ct_message_add_number(answer->out, CT_FIELD_ACTIVE,
			      display.writer[0] != '\0' && ct_writer_is_connected(display.writer));
	return true;
}

static uint64_t count_wanted(const struct wanted *wanted)
{
	uint64_t count = 0;

	for (uint32_t i = ct_operate_next_known(0); i != CT_COMPONENT_NONE;
	     i = ct_operate_next_known(i + 1))
		count += trace_is_wanted(wanted, ct_operate_name(i));
	return count;
}

static void add_traces(struct ct_answer *answer, const struct wanted *wanted)
{
	uint64_t shown = 0;

	for (uint32_t i = ct_operate_next_known(0);
	     i != CT_COMPONENT_NONE && shown < CT_OPERATE_ROWS; i = ct_operate_next_known(i + 1))
		if (trace_is_wanted(wanted, ct_operate_name(i)))
			shown += add_trace(answer, ct_operate_name(i));
}

static void answer_all(const struct wanted *wanted, struct ct_buf *out)
{
	struct ct_answer answer;
	struct ct_buf message;
	uint64_t count = count_wanted(wanted);

	ct_buf_init(&message);
	ct_answer_begin(&answer, out, CT_VERB_DISPLAY);
	if (count == 0) {
		ct_answer_set_status(&answer, CTRACE_NOT_FOUND);
		ct_buf_add_text(&message,
				ct_operate_is_glob(wanted->name) ? "no trace fits " : "no trace ");
		ct_span_quote(&message, wanted->name, CT_OPERATE_NAME);
	} else if (count > CT_OPERATE_ROWS) {
		ct_buf_add_format(&message, "%llu traces; the first %u are shown",
				  (unsigned long long)count, CT_OPERATE_ROWS);
	}
	if (message.size != 0)
		ct_answer_add(&answer, CT_FIELD_MESSAGE, ct_buf_text(&message), message.size);
	add_traces(&answer, wanted);
	ct_answer_end(&answer);
	ct_buf_fini(&message);
}

/* ---- what is asked ---- */

/* COMP and SUB as one name, as the trace has it: an address space may be written in several ways.
 * False when it is no path of a trace that was defined: a tracer may have any name. */
static bool join_path(struct ct_span comp, struct ct_span sub, struct ct_path *out_path)
{
	char name[CTRACE_MAX_COMPONENT + 1], text[CTRACE_MAX_COMPONENT + 1];
	struct ctrace_outcome ignored;

	if (comp.size == 0 || comp.size > CTRACE_MAX_COMPONENT - CT_SUB_ROOM ||
	    sub.size > CTRACE_MAX_COMPONENT || memchr(sub.at, '\0', sub.size) != NULL ||
	    ct_component_check_name(comp.at, comp.size) != CTRACE_OK)
		return false;
	(void)snprintf(name, sizeof name, "%.*s", (int)comp.size, comp.at);
	(void)snprintf(text, sizeof text, "%.*s", (int)sub.size, sub.at);
	return ct_path_parse(name, text, out_path, &ignored) == CTRACE_RC_OK;
}

/* Joins both texts with a dot; a pattern in either applies to the whole name. */
static void join_text(struct ct_span comp, struct ct_span sub, struct ct_buf *out)
{
	ct_buf_add(out, comp.at, comp.size);
	ct_buf_add_char(out, '.');
	ct_buf_add(out, sub.at, sub.size);
}

void ct_operate_display(const struct ct_message *request, struct ct_buf *out)
{
	struct ct_span comp = ct_message_find(request, CT_FIELD_COMPONENT);
	struct ct_span sub = ct_message_find(request, CT_FIELD_SUB);
	struct wanted wanted = { .name = comp,
				 .depth = ct_message_number(request, CT_FIELD_DEPTH, 0) };
	struct ct_path path;
	struct ct_buf joined;

	ct_buf_init(&joined);
	wanted.is_all = comp.size == 0;
	if (wanted.is_all)
		wanted.name = (struct ct_span){ "*", 1 };
	if (sub.size != 0 && !ct_operate_is_glob(wanted.name) && !ct_operate_is_glob(sub) &&
	    join_path(comp, sub, &path)) {
		wanted.name = (struct ct_span){ path.name, strlen(path.name) };
	} else if (sub.size != 0) {
		join_text(wanted.name, sub, &joined);
		wanted.name = (struct ct_span){ joined.data, joined.size };
	}
	if (joined.failed || wanted.name.size > NAME_LIMIT)
		ct_answer_whole(out, CT_VERB_DISPLAY, CTRACE_INVALID_COMPONENT_NAME,
				"COMP and SUB are longer than the name of a trace");
	else
		answer_all(&wanted, out);
	ct_buf_fini(&joined);
}
