/*
 * display_gather.c - what DISPLAY TRACE asks of processes, and their answers as rows of its table.
 *
 * Called by the verbs, on the tool's only thread.  A request is one frame a name, and one more for its SUB; the answers come in the same
 * order, so that it is known who has found what.  Nothing in an answer is believed: display_table.c cleans each row.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_trace.h"

#include <stdio.h>
#include <string.h>

#include "session/session.h"
#include "transact.h"

/* ---- the request ---- */

uint32_t ct_display_levels_of(const struct ct_operator_command *command)
{
	return command->sublevel ? CT_DISPLAY_NONE : command->has_n;
}

struct ct_display_form ct_display_form_of(const struct ct_operator_command *command)
{
	struct ct_display_form form = { .limit = command->has_n ? command->n : CT_DISPLAY_NONE };

	form.asked = command->has_sub && command->name_count != 0;
	form.levels = ct_display_levels_of(command);
	for (uint32_t i = 0; i < command->name_count; i++)
		if (ct_is_glob(command->name[i]))
			form.levels = CT_DISPLAY_NONE; /* what a glob fits is all asked for, wherever it stands */
	return form;
}

static void add_frame(struct ct_buf *out, const char *name, const char *sub, uint32_t levels)
{
	size_t start = ct_message_start(out, CT_VERB_DISPLAY, 0);

	ct_message_add_text(out, CT_FIELD_COMPONENT, name);
	if (sub != NULL)
		ct_message_add_text(out, CT_FIELD_SUB, sub);
	ct_message_add_number(out, CT_FIELD_DEPTH, levels < CTRACE_MAX_COMPONENT ? levels : CTRACE_MAX_COMPONENT);
	if (ct_message_end(out, start) != CTRACE_OK)
		out->failed = true;
}

void ct_display_request(const struct ct_operator_command *command, struct ct_buf *out_request)
{
	uint32_t levels = ct_display_levels_of(command);

	if (command->name_count == 0)
		add_frame(out_request, "", NULL, CT_DISPLAY_NONE);
	for (uint32_t i = 0; i < command->name_count; i++) {
		add_frame(out_request, command->name[i], NULL, command->has_sub ? 0 : levels);
		if (command->has_sub)
			add_frame(out_request, command->name[i], command->sub, levels);
	}
}

/* ---- the answers ---- */

/* An answer's fields while they come: a name, and what belongs to it. */
struct reading {
	struct ct_display *display;
	const struct ct_operator_command *command;
	uint32_t answer; /* which of the request's frames */
	uint32_t process;
	struct ct_display_trace trace;
	bool has_trace;
	uint32_t found; /* traces of this answer */
};

/* A glob's * stops at dots, as in TRACE CT, which it does not in the process; what stands below is shown for SUBLEVEL and N. */
static bool is_meant(const struct reading *reading)
{
	const struct ct_operator_command *command = reading->command;
	uint32_t index = command->has_sub ? reading->answer / 2 : reading->answer;
	bool has_sub = command->has_sub && reading->answer % 2 == 1;
	char glob[2 * CT_DISPLAY_NAME_SIZE], name[CT_DISPLAY_NAME_SIZE];

	if (index >= command->name_count)
		return true;
	(void)snprintf(glob, sizeof glob, "%s%s%s", command->name[index], has_sub ? "." : "", has_sub ? command->sub : "");
	if (!ct_is_glob(glob))
		return true;
	memcpy(name, reading->trace.name, sizeof name);
	for (uint32_t levels = ct_display_levels_of(command);; levels--) {
		char *dot = strrchr(name, '.');

		if (ct_trace_name_fits(glob, name))
			return true;
		if (dot == NULL || levels == 0)
			return false;
		*dot = '\0';
	}
}

static void end_trace(struct reading *reading)
{
	if (reading->has_trace && !is_meant(reading))
		reading->has_trace = false;
	if (!reading->has_trace)
		return;
	(void)ct_display_add_trace(reading->display, &reading->trace);
	/* Also one that its filters leave out here is on. */
	reading->display->is_any_on |= reading->trace.display.mode != CTRACE_MODE_OFF;
	reading->has_trace = false;
	reading->found++;
}

static void begin_trace(struct reading *reading, struct ct_span name)
{
	end_trace(reading);
	if (name.size == 0 || name.size > CTRACE_MAX_COMPONENT)
		return; /* no trace is called so */
	reading->trace = (struct ct_display_trace){ .process = reading->process };
	memcpy(reading->trace.name, name.at, name.size);
	reading->has_trace = true;
}

/* A message with a good answer is one for people; with another it says why there is none. */
static void keep_note(struct reading *reading, const struct ct_message *message)
{
	struct ct_span text = ct_message_find(message, CT_FIELD_MESSAGE);
	char *note = reading->display->processes[reading->process].note;
	size_t room = sizeof reading->display->processes->note - 1;

	if (text.at == NULL || ct_message_number(message, CT_FIELD_STATUS, CTRACE_OK) != CTRACE_OK)
		return;
	memset(note, 0, room + 1);
	memcpy(note, text.at, text.size < room ? text.size : room);
}

static void read_frame(struct reading *reading, const struct ct_message *message)
{
	struct ct_span fields = message->fields;
	struct ct_span value;
	enum ct_field field;
	struct ctrace_display *shown = &reading->trace.display;
	uint64_t number;

	keep_note(reading, message);
	while (ct_message_next(&fields, &field, &value)) {
		if (field == CT_FIELD_COMPONENT) {
			begin_trace(reading, value);
		} else if (field == CT_FIELD_DISPLAY && value.size >= sizeof shown->size) {
			memset(shown, 0, sizeof *shown);
			memcpy(shown, value.at, value.size < sizeof *shown ? value.size : sizeof *shown);
		} else if (field == CT_FIELD_ACTIVE && value.size == sizeof number) {
			memcpy(&number, value.at, sizeof number);
			reading->trace.writer_is_active = number != 0;
		}
	}
	end_trace(reading);
}

static bool is_any_on(const struct ct_peer *peer)
{
	struct ct_session session;
	bool is_on = false;

	if (ct_session_load(&session, peer->run_directory, peer->folder, false) != CTRACE_OK)
		return false;
	for (uint32_t i = 0; i < session.head->component_count && !is_on; i++)
		is_on = (session.components[i].flags & CT_COMPONENT_KNOWN) && session.components[i].gate.level != CTRACE_LEVEL_NONE;
	ct_session_close(&session, false);
	return is_on;
}

static uint32_t add_process(struct ct_display *display, const struct ct_peer *peer)
{
	struct ct_display_process process = { .pid = peer->pid, .uid = peer->uid, .asid = peer->asid };

	memcpy(process.jobname, peer->jobname, sizeof process.jobname);
	memcpy(process.program, peer->program, sizeof process.program);
	return ct_display_add_process(display, &process);
}

static void gather_peer(const struct ct_peer *peer, const struct ct_operator_command *command, struct ct_display *display, bool *found,
			size_t requests)
{
	struct reading reading = { .display = display, .command = command, .process = add_process(display, peer) };
	struct ct_message message;
	uint32_t answer = 0;
	size_t at = 0;

	if (reading.process == CT_DISPLAY_NONE)
		return;
	display->is_any_on |= is_any_on(peer);
	while (ct_client_next(peer, &at, &message)) {
		if (message.verb == CT_VERB_DISPLAY)
			read_frame(&reading, &message);
		if (answer < requests)
			found[answer] |= reading.found != 0;
		if (message.flags & CT_MESSAGE_MORE)
			continue;
		reading.answer = ++answer;
		reading.found = 0;
	}
}

/* The trace that a frame of the request asks for, by the name that people know it by. */
static void add_missing(struct ct_display *display, const struct ct_operator_command *command, const bool *found)
{
	for (uint32_t i = 0; i < command->name_count; i++) {
		char name[2 * CT_DISPLAY_NAME_SIZE];

		(void)snprintf(name, sizeof name, "%s%s%s", command->name[i], command->has_sub ? "." : "",
			       command->has_sub ? command->sub : "");
		if (!found[command->has_sub ? 2 * i + 1 : i])
			ct_display_add_missing(display, name);
	}
}

void ct_display_gather(const struct ct_peers *peers, const struct ct_operator_command *command, struct ct_display *display)
{
	bool found[2 * CT_OPERATOR_NAMES] = { false };

	for (size_t i = 0; i < peers->count; i++)
		gather_peer(&peers->items[i], command, display, found, CT_COUNT(found));
	add_missing(display, command, found);
}
