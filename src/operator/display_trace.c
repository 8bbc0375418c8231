/*
 * display_trace.c - DISPLAY TRACE from the command to the printed answer.
 *
 * Called by the verbs, on the tool's only thread.  A request has one frame for each name, and one
 * more for its SUB.  Answers come in the same order, so it is known which frame found which trace.
 * Answers are not trusted: display_table.c cleans each row.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/display_trace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "operator/component_names.h"
#include "operator/spool_note.h"
#include "session/session.h"
#include "lib/component/component.h"

/* ---- the request ---- */

/* Returns how many levels below its names the command asks for. */
static uint32_t command_levels(const struct ct_operator_command *command)
{
	return command->sublevel ? CT_DISPLAY_NONE : command->has_n;
}

static struct ct_display_form command_form(const struct ct_operator_command *command)
{
	struct ct_display_form form = { .limit = command->has_n ? command->n : CT_DISPLAY_NONE };

	form.asked = command->has_sub && command->name_count != 0;
	form.levels = command_levels(command);
	for (uint32_t i = 0; i < command->name_count; i++)
		if (ct_is_pattern(command->name[i]))
			/* all traces that match a pattern are asked for, at any depth */
			form.levels = CT_DISPLAY_NONE;
	return form;
}

static void request_add_frame(struct ct_buf *out, const char *name, const char *sub,
			      uint32_t levels)
{
	size_t start = ct_message_start(out, CT_VERB_DISPLAY, 0);

	ct_message_add_text(out, CT_FIELD_COMPONENT, name);
	if (sub != NULL)
		ct_message_add_text(out, CT_FIELD_SUB, sub);
	ct_message_add_number(out, CT_FIELD_DEPTH,
			      levels < CTRACE_MAX_COMPONENT ? levels : CTRACE_MAX_COMPONENT);
	if (ct_message_end(out, start) != CTRACE_OK)
		out->failed = true;
}

static void request_make(const struct ct_operator_command *command, struct ct_buf *out_request)
{
	uint32_t levels = command_levels(command);

	if (command->name_count == 0)
		request_add_frame(out_request, "", NULL, CT_DISPLAY_NONE);
	for (uint32_t i = 0; i < command->name_count; i++) {
		request_add_frame(out_request, command->name[i], NULL,
				  command->has_sub ? 0 : levels);
		if (command->has_sub)
			request_add_frame(out_request, command->name[i], command->sub, levels);
	}
}

/* ---- the answers ---- */

/* The fields of an answer while they come: a name, and the fields after it. */
struct reading {
	struct ct_display *display;
	const struct ct_peer *peers; /* the table's processes have the same order */
	struct ct_display_trace trace;
	bool has_trace;
	/* some process had a trace for this frame of the request */
	bool found[2 * CT_OPERATOR_NAMES];
};

static void trace_end(struct reading *reading, size_t request)
{
	if (!reading->has_trace)
		return;
	(void)ct_display_add_trace(reading->display, &reading->trace);
	/* A trace that the filters of this command leave out counts too. */
	reading->display->is_any_on |= reading->trace.display.mode != CTRACE_MODE_OFF;
	reading->has_trace = false;
	if (request < CT_COUNT(reading->found))
		reading->found[request] = true;
}

static void trace_begin(struct reading *reading, struct ct_span name, uint32_t process)
{
	if (name.size == 0 || name.size > CTRACE_MAX_COMPONENT)
		return; /* no trace has an empty name */
	reading->trace = (struct ct_display_trace){ .process = process };
	memcpy(reading->trace.name, name.at, name.size);
	reading->has_trace = true;
}

/* With a good answer a message is a remark for people; with another status it gives the reason. */
static void note_keep(struct ct_display_process *process, const struct ct_message *message)
{
	struct ct_span text = ct_message_find(message, CT_FIELD_MESSAGE);
	size_t room = sizeof process->note - 1;

	if (text.at == NULL || ct_message_number(message, CT_FIELD_STATUS, CTRACE_OK) != CTRACE_OK)
		return;
	memset(process->note, 0, room + 1);
	memcpy(process->note, text.at, text.size < room ? text.size : room);
}

static void frame_read(const struct ct_peer *peer, size_t request, const struct ct_message *message,
		       void *user)
{
	struct reading *reading = user;
	uint32_t process = (uint32_t)(peer - reading->peers);
	struct ctrace_display *shown = &reading->trace.display;
	struct ct_span fields, value;
	enum ct_field field;
	uint64_t number;

	if (message == NULL || message->verb != CT_VERB_DISPLAY ||
	    process >= reading->display->process_rows.count)
		return;
	fields = message->fields;
	note_keep(&reading->display->processes[process], message);
	while (ct_message_next(&fields, &field, &value)) {
		if (field == CT_FIELD_COMPONENT) {
			trace_end(reading, request);
			trace_begin(reading, value, process);
		} else if (field == CT_FIELD_DISPLAY && value.size >= sizeof shown->size) {
			memset(shown, 0, sizeof *shown);
			memcpy(shown, value.at,
			       value.size < sizeof *shown ? value.size : sizeof *shown);
		} else if (field == CT_FIELD_ACTIVE && value.size == sizeof number) {
			memcpy(&number, value.at, sizeof number);
			reading->trace.writer_is_active = number != 0;
		} else if (field == CT_FIELD_RINGS && value.size == sizeof number) {
			memcpy(&reading->trace.rings, value.at, sizeof number);
		} else if (field == CT_FIELD_RING_BYTES && value.size == sizeof number) {
			memcpy(&reading->trace.ring_bytes, value.at, sizeof number);
		} else if (field == CT_FIELD_STORAGE && value.size == sizeof number) {
			memcpy(&number, value.at, sizeof number);
			reading->trace.is_storage = number != 0;
		}
	}
	trace_end(reading, request);
}

static bool command_is_any_on(const struct ct_peer *peer)
{
	struct ct_session session;
	bool is_on = false;

	if (ct_session_load(&session, peer->run_directory, peer->directory, false) != CTRACE_OK)
		return false;
	for (uint32_t i = 0; i < session.head->component_count && !is_on; i++)
		is_on = (session.components[i].flags & CT_COMPONENT_KNOWN) &&
			session.components[i].level_word.level != CTRACE_LEVEL_NONE;
	ct_session_close(&session, false);
	return is_on;
}

static void add_process(struct ct_display *display, const struct ct_peer *peer)
{
	struct ct_display_process process = { .pid = peer->pid,
					      .uid = peer->uid,
					      .asid = peer->asid };

	memcpy(process.jobname, peer->jobname, sizeof process.jobname);
	memcpy(process.program, peer->program, sizeof process.program);
	(void)ct_display_add_process(display, &process);
	display->is_any_on |= command_is_any_on(peer);
}

/* Adds the trace that a frame of the request asks for, under the name that people know. */
static void add_missing(struct ct_display *display, const struct ct_operator_command *command,
			const bool *found)
{
	for (uint32_t i = 0; i < command->name_count; i++) {
		char name[2 * CT_DISPLAY_NAME_SIZE];

		(void)snprintf(name, sizeof name, "%s%s%s", command->name[i],
			       command->has_sub ? "." : "", command->has_sub ? command->sub : "");
		if (!found[command->has_sub ? 2 * i + 1 : i])
			ct_display_add_missing(display, name);
	}
}

uint32_t ct_display_gather(struct ask *ask, const struct ct_operator_command *command,
			   struct ct_display *display)
{
	struct reading reading = { .display = display, .peers = ask->peers.items };
	uint32_t silent;

	request_make(command, &ask->request);
	display->failed |= ask->request.failed;
	for (size_t i = 0; i < ask->peers.count; i++)
		add_process(display, &ask->peers.items[i]);
	silent = ct_ask_run(ask, frame_read, &reading);
	add_missing(display, command, reading.found);
	return silent;
}

/* ---- presets that wait for their traces, as rows with MODE PRE ----
 *
 * A preset is a file in a run directory, named for its trace (lib/component/preset.c).  A file of
 * another user, or one that is not a single request, is skipped: a program would not use it as a
 * preset either. */

struct search {
	const struct ct_operator_command *command;
	struct ct_display *display;
};

/* Returns true if the name matches the name or glob, or is a sublevel of it that SUBLEVEL shows. */
static bool name_fits(const char *asked, const char *name, uint32_t levels)
{
	size_t size = strlen(asked);

	if (ct_glob_match_levels(asked, size, name, strlen(name)))
		return true;
	if (strlen(name) <= size || name[size] != '.' || !ct_name_equal(asked, size, name, size))
		return false;
	for (const char *dot = name + size; dot != NULL; dot = strchr(dot + 1, '.'))
		if (levels-- == 0)
			return false;
	return true;
}

static bool preset_is_wanted(const struct ct_operator_command *command, const char *name)
{
	uint32_t levels = command_levels(command);
	struct ctrace_outcome ignored;
	struct ct_path path;

	for (uint32_t i = 0; i < command->name_count; i++) {
		if (!command->has_sub && name_fits(command->name[i], name, levels))
			return true;
		if (command->has_sub &&
		    ct_path_parse(command->name[i], command->sub, &path, &ignored) ==
			    CTRACE_RC_OK &&
		    name_fits(path.given, name, levels))
			return true;
	}
	return command->name_count == 0;
}

static bool preset_is_defined(const struct ct_display *display, const char *name)
{
	for (uint32_t i = 0; i < display->trace_rows.count; i++)
		if (ct_name_is(name, strlen(name), display->traces[i].name))
			return true;
	return false;
}

static void preset_add_row(struct ct_display *display, const char *name,
			   const struct ct_trace_request *request)
{
	struct ct_display_trace row = { .process = CT_DISPLAY_NONE };
	struct ctrace_display *shown = &row.display;

	(void)snprintf(row.name, sizeof row.name, "%s", name);
	shown->mode = CT_DISPLAY_MODE_PRE;
	shown->buffer_asked = shown->buffer_rounded = request->bufsize;
	shown->asids = shown->jobs = shown->wtr = shown->buffer = 1;
	shown->asid_count = request->asid_count;
	memcpy(shown->asid, request->asid, sizeof shown->asid);
	shown->jobname_count = request->jobname_count;
	memcpy(shown->jobname, request->jobname, sizeof shown->jobname);
	memcpy(shown->writer, request->writer, sizeof shown->writer);
	memcpy(shown->options, request->options, sizeof shown->options);
	(void)ct_display_add_trace(display, &row);
}

static void preset_read(struct ct_display *display, int directory_fd, const char *name)
{
	char text[CT_PARMLIB_LIMIT];
	struct ct_parmlib parmlib;
	size_t size;
	int fd;

	if (ct_os_open_file(directory_fd, name, O_RDONLY, &fd) != CTRACE_OK)
		return;
	if (ct_os_read_at(fd, text, sizeof text, 0, &size) == CTRACE_OK) {
		if (ct_parmlib_parse(text, size, &parmlib, NULL, NULL) == 0 && parmlib.count == 1)
			preset_add_row(display, name, &parmlib.requests[0]);
		ct_parmlib_fini(&parmlib);
	}
	ct_os_close(&fd);
}

static void directory_look_into(const char *run_directory, void *user)
{
	const struct search *search = user;
	char path[4096 + sizeof "/preset"];
	const struct dirent *entry;
	DIR *entries;

	(void)snprintf(path, sizeof path, "%s/preset", run_directory);
	entries = opendir(path);
	if (entries == NULL)
		return;
	while ((entry = readdir(entries)) != NULL)
		if (entry->d_name[0] != '.' && preset_is_wanted(search->command, entry->d_name) &&
		    !preset_is_defined(search->display, entry->d_name))
			preset_read(search->display, dirfd(entries), entry->d_name);
	(void)closedir(entries);
}

/* Adds the command's presets of traces that no process has.  Called after ct_display_gather() of
 * all processes. */
static void presets_add(const struct ct_operator_command *command, struct ct_display *display)
{
	struct search search = { command, display };

	ct_directory_each_run_directory(directory_look_into, &search);
}

/* ---- what is printed ---- */

/* Returns which writers the command selects; `only` provides the room. */
static struct ct_display_writers command_writers(const struct ct_operator_command *command,
						 const char *only[CT_OPERATOR_NAMES])
{
	for (uint32_t i = 0; i < command->wtr_count; i++)
		only[i] = command->wtr[i];
	return (struct ct_display_writers){ .only = only,
					    .count = command->wtr_all ? 0 : command->wtr_count };
}

static void spool_print(const char *path, void *user)
{
	struct ct_buf note;

	ct_buf_init(&note);
	if (ct_spool_note(&note, path))
		ct_display_add_detail(user, "NOTE", ct_buf_text(&note));
	ct_buf_fini(&note);
}

static void answer_print(const struct ct_operator_command *command,
			 const struct ct_display *display, struct ct_buf *out)
{
	struct ct_display_form form = command_form(command);
	const char *only[CT_OPERATOR_NAMES];
	struct ct_display_writers writers = command_writers(command, only);

	ct_display_print_head(display, out);
	if (command->has_comp)
		ct_display_print_long(display, &form, out);
	else if (!command->has_wtr && !command->tt)
		ct_display_print_short(display, out);
	ct_display_print_notes(display, out);
	ct_spool_each(spool_print, out);
	if (command->has_wtr)
		ct_display_print_writers(display, &writers, out);
	if (command->tt)
		ct_buf_add_text(out, "  NO TRANSACTION TRACE: IT DOES NOT EXIST HERE\n");
}

static enum ctrace_status answer_print_json(const struct ct_operator_command *command,
					    const struct ct_display *display, struct ct_buf *out)
{
	struct ct_display_form form = command_form(command);
	const char *only[CT_OPERATOR_NAMES];
	struct ct_display_writers writers = command_writers(command, only);
	struct ct_display_json what = {
		.has_traces = command->has_comp || (!command->has_wtr && !command->tt),
		.form = command->has_comp ? &form : NULL,
		.writers = command->has_wtr ? &writers : NULL,
	};

	return ct_display_json(display, &what, out);
}

/* Returns true if one of the selected writers runs. */
static bool command_has_writer(const struct ct_operator_command *command,
			       const struct ct_display *display)
{
	const char *only[CT_OPERATOR_NAMES];
	struct ct_display_writers writers = command_writers(command, only);
	const char *name = "";

	while ((name = ct_display_next_writer(display, &writers, name)) != NULL)
		for (uint32_t i = 0; i < display->writer_rows.count; i++)
			if (ct_name_is(name, strlen(name), display->writers[i].state.name))
				return true;
	return false;
}

/* With WTR alone no traced process is needed, and a missing one is not reported. */
static enum ctrace_status peers_find(const struct ct_operator_command *command, struct ask *ask)
{
	return command->has_wtr ? ct_peers_find(&ask->target->filter, &ask->peers)
				: ct_ask_find(ask);
}

enum ctrace_status ct_display_trace(const struct ct_operator_command *command,
				    const struct target *target, struct ct_buf *out,
				    struct wto *wto)
{
	struct ct_display display;
	enum ctrace_status status;
	struct ask ask;
	uint32_t silent;
	bool is_found;

	ct_ask_init(&ask, target, target->is_json ? NULL : wto);
	ct_display_init(&display, ct_clock_wall_ns());
	status = peers_find(command, &ask);
	if (status != CTRACE_OK && status != CTRACE_NOT_FOUND)
		goto undo_init;
	silent = ct_display_gather(&ask, command, &display);
	/* A preset belongs to no process, so presets are shown only when no process was
	 * selected. */
	if (ct_target_is_all(target) && !command->has_wtr)
		presets_add(command, &display);
	if (command->has_wtr)
		ct_writers_ask(target, &display, ask.wto);
	ct_display_arrange(&display);
	is_found = command->tt ||
		   (display.trace_rows.count != 0 && (command->has_comp || !command->has_wtr)) ||
		   (command->has_wtr && command_has_writer(command, &display));
	if (target->is_json)
		status = answer_print_json(command, &display, out);
	else
		answer_print(command, &display, out);
	if (display.failed || out->failed)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	else if (status == CTRACE_OK && !is_found)
		status = CTRACE_NOT_FOUND;
	else if (status == CTRACE_OK && silent != 0)
		status = CTRACE_TIMED_OUT;
undo_init:
	ct_display_fini(&display);
	ct_ask_fini(&ask);
	return status;
}
