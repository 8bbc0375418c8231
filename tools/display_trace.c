/*
 * display_trace.c - DISPLAY TRACE from the command to the answer.
 *
 * Called by the verbs that give operator commands, on the tool's only thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_trace.h"

#include <string.h>

#include "cmd.h"
#include "transact.h"

/* Which writers are meant; `only` has room for them. */
static struct ct_display_writers writers_of(const struct ct_operator_command *command, const char *only[CT_OPERATOR_NAMES])
{
	for (uint32_t i = 0; i < command->wtr_count; i++)
		only[i] = command->wtr[i];
	return (struct ct_display_writers){ .only = only, .count = command->wtr_all ? 0 : command->wtr_count };
}

/* With WTR alone no traced process need be there, and nobody is told when there is none. */
static enum ctrace_status find(const struct ct_operator_command *command, const struct target *target, struct ct_peers *out_peers,
			       struct wto *wto)
{
	enum ctrace_status status;

	if (target->is_json && !command->has_wtr)
		return ct_target_find(target, out_peers); /* which tells it on stderr */
	if (!command->has_wtr)
		ct_tool_recover_on_the_way(target->verb);
	status = ct_peers_find(&target->filter, out_peers);
	if (status == CTRACE_OK && out_peers->count == 0 && !command->has_wtr) {
		ct_transact_say_nobody(target, wto);
		status = CTRACE_NOT_FOUND;
	}
	return status;
}

static enum ctrace_status ask(const struct ct_operator_command *command, const struct target *target, struct ct_peers *out_peers,
			      struct wto *wto)
{
	struct ct_buf request;
	enum ctrace_status status;

	ct_buf_init(&request);
	ct_display_request(command, &request);
	status = request.failed ? CTRACE_NOT_ENOUGH_MEMORY : find(command, target, out_peers, wto);
	if (status == CTRACE_OK && target->is_json)
		ct_target_ask_these(target, &request, out_peers);
	else if (status == CTRACE_OK)
		ct_client_ask(out_peers, &request, target->timeout_ms);
	if (status == CTRACE_OK && !target->is_json)
		(void)ct_transact_say_silent(out_peers, wto);
	ct_buf_fini(&request);
	return status;
}

static void print(const struct ct_operator_command *command, const struct ct_display *display, struct ct_buf *out)
{
	struct ct_display_form form = ct_display_form_of(command);
	const char *only[CT_OPERATOR_NAMES];
	struct ct_display_writers writers = writers_of(command, only);

	ct_display_print_head(display, out);
	if (command->has_comp)
		ct_display_print_long(display, &form, out);
	else if (!command->has_wtr && !command->tt)
		ct_display_print_short(display, out);
	ct_display_print_notes(display, out);
	if (command->has_wtr)
		ct_display_print_writers(display, &writers, out);
	if (command->tt)
		ct_buf_add_text(out, "  NO TRANSACTION TRACE: IT DOES NOT EXIST HERE\n");
}

static enum ctrace_status print_json(const struct ct_operator_command *command, const struct ct_display *display, struct ct_buf *out)
{
	struct ct_display_form form = ct_display_form_of(command);
	const char *only[CT_OPERATOR_NAMES];
	struct ct_display_writers writers = writers_of(command, only);
	struct ct_display_json what = {
		.has_traces = command->has_comp || (!command->has_wtr && !command->tt),
		.form = command->has_comp ? &form : NULL,
		.writers = command->has_wtr ? &writers : NULL,
	};

	return ct_display_json(display, &what, out);
}

/* What waits for no process yet is shown when no process was picked out. */
static bool is_for_all(const struct target *target)
{
	return target->filter.pid == 0 && target->filter.asid == 0 && target->filter.jobname == NULL;
}

/* Of the writers that are meant one runs. */
static bool has_writer(const struct ct_operator_command *command, const struct ct_display *display)
{
	const char *only[CT_OPERATOR_NAMES];
	struct ct_display_writers writers = writers_of(command, only);
	const char *name = "";

	while ((name = ct_display_next_writer(display, &writers, name)) != NULL)
		for (uint32_t i = 0; i < display->writer_rows.count; i++)
			if (ct_name_is(name, strlen(name), display->writers[i].name))
				return true;
	return false;
}

/* What is shown is not all there is. */
static bool is_any_silent(const struct ct_peers *peers)
{
	for (size_t i = 0; i < peers->count; i++)
		if (ct_target_silence(&peers->items[i]) != NULL)
			return true;
	return false;
}

enum ctrace_status ct_display_trace(const struct ct_operator_command *command, const struct target *target, struct ct_buf *out,
				    struct wto *wto)
{
	struct ct_peers peers = { 0 };
	struct ct_display display;
	enum ctrace_status status;
	bool is_found, has_silent;

	ct_display_init(&display, ct_clock_wall_ns());
	status = ask(command, target, &peers, wto);
	if (status != CTRACE_OK && status != CTRACE_NOT_FOUND)
		goto undo_init;
	ct_display_gather(&peers, command, &display);
	if (is_for_all(target) && !command->has_wtr)
		ct_display_presets(command, &display);
	if (command->has_wtr)
		ct_writers_ask(target->timeout_ms, &display, target->is_json ? NULL : wto);
	ct_display_arrange(&display);
	has_silent = is_any_silent(&peers);
	is_found = command->tt || (display.trace_rows.count != 0 && (command->has_comp || !command->has_wtr)) ||
		   (command->has_wtr && has_writer(command, &display));
	if (target->is_json)
		status = print_json(command, &display, out);
	else
		print(command, &display, out);
	if (display.failed || out->failed)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	else if (status == CTRACE_OK && !is_found)
		status = CTRACE_NOT_FOUND;
	else if (status == CTRACE_OK && has_silent)
		status = CTRACE_TIMED_OUT;
	ct_peers_fini(&peers);
undo_init:
	ct_display_fini(&display);
	return status;
}
