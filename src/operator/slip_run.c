/*
 * slip_run.c - carries out SLIP SET, MOD and DEL, and DISPLAY SLIP, in running processes.
 *
 * Without JOBNAME= and options that select processes a trap is also kept for processes that come.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/slip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/control/trigger.h"
#include "operator/ask.h"
#include "operator/hardcopy.h"
#include "operator/trigger_keep.h"

struct slip_run {
	struct dialogue *dialogue;
	const struct ct_operator_command *command;
	const char *id; /* of the trap that is set or changed */
	uint32_t done, refused, kept;
	/* the traps that a pattern fits; for DISPLAY: those that processes have */
	char (*ids)[CT_TRIGGER_NAME + 1];
	size_t id_count;
};

static bool id_fits(const struct slip_run *run, struct ct_span id)
{
	const char *wanted = run->command->slip_id;
	char name[CT_TRIGGER_NAME + 1];

	if (wanted[0] == '\0')
		return true; /* DISPLAY: all */
	if (id.size > CT_TRIGGER_NAME)
		return false;
	memcpy(name, id.at, id.size);
	ct_name_upper(name, id.size);
	return ct_glob_match(wanted, strlen(wanted), name, id.size);
}

/* An answer: calls `take` for each trap of it whose id is wanted. */
static void answer_read(struct slip_run *run, const struct ct_message *frame,
			void (*take)(struct slip_run *run, const struct ct_peer *peer,
				     struct ct_span id, struct ct_span text, bool is_enabled),
			const struct ct_peer *peer)
{
	struct ct_span fields = frame->fields, value, id = { "", 0 };
	enum ct_field field;
	bool is_enabled = true;

	while (ct_message_next(&fields, &field, &value)) {
		if (field == CT_FIELD_COMPONENT) {
			id = value;
			is_enabled = true;
		} else if (field == CT_FIELD_STATE && value.size == sizeof(uint64_t)) {
			is_enabled = memcmp(value.at, &(uint64_t){ 0 }, sizeof(uint64_t)) != 0;
		} else if (field == CT_FIELD_NEW && id_fits(run, id)) {
			take(run, peer, id, value, is_enabled);
		}
	}
}

/* ---- SET, MOD and DEL ---- */

static void answer_take(const struct ct_peer *peer, size_t request, const struct ct_message *frame,
			void *user)
{
	struct slip_run *run = user;
	struct ct_span message;
	char text[256];
	uint64_t status;
	struct ct_buf name;

	(void)request;
	if (frame == NULL)
		return;
	status = ct_message_number(frame, CT_FIELD_STATUS, CTRACE_DAMAGED);
	if (status == CTRACE_OK) {
		run->done++;
		return;
	}
	/* A process that came later, or has removed it, has no such trap: others have. */
	if (status == CTRACE_NOT_FOUND)
		return;
	run->refused++;
	message = ct_message_find(frame, CT_FIELD_MESSAGE);
	(void)snprintf(text, sizeof text, "%.*s", (int)message.size, message.at);
	ct_buf_init(&name);
	ct_ask_add_process(&name, peer);
	ct_buf_add_text(&name, ": ");
	ct_wto(&run->dialogue->wto, CTR034I, run->id, ct_buf_text(&name), text, NULL);
	ct_buf_fini(&name);
}

/* A pattern changes the traps that are kept or in a process; any other id is taken as it is. */
static void id_add(struct slip_run *run, struct ct_span id)
{
	char(*ids)[CT_TRIGGER_NAME + 1] = run->ids;

	if (!id_fits(run, id))
		return;
	for (size_t i = 0; i < run->id_count; i++)
		if (ct_name_is(id.at, id.size, run->ids[i]))
			return;
	ids = reallocarray(ids, run->id_count + 1, sizeof *ids);
	if (ids == NULL) {
		ct_wto(&run->dialogue->wto, CTR030I, NULL);
		return;
	}
	run->ids = ids;
	memcpy(ids[run->id_count], id.at, id.size);
	ids[run->id_count++][id.size] = '\0';
}

static void kept_take(struct ct_span id, struct ct_span text, void *user)
{
	(void)text;
	id_add(user, id);
}

static void id_take(struct slip_run *run, const struct ct_peer *peer, struct ct_span id,
		    struct ct_span text, bool is_enabled)
{
	(void)peer;
	(void)text;
	(void)is_enabled;
	id_add(run, id);
}

static void ids_take(const struct ct_peer *peer, size_t request, const struct ct_message *frame,
		     void *user)
{
	(void)request;
	if (frame != NULL)
		answer_read(user, frame, id_take, peer);
}

static void ids_find(struct slip_run *run, const struct target *target)
{
	const struct ct_command list = { .verb = CT_VERB_TRIGGER_LIST };
	const char *id = run->command->slip_id;
	struct ask ask;

	if (strpbrk(id, "*?") == NULL) {
		id_add(run, (struct ct_span){ id, strlen(id) });
		return;
	}
	if (ct_target_is_all(target))
		ct_trigger_kept(kept_take, run);
	ct_ask_init(&ask, target, &run->dialogue->wto);
	ct_command_encode(&ask.request, &list);
	if (ct_peers_find(&target->filter, &ask.peers) == CTRACE_OK && ask.peers.count != 0)
		(void)ct_ask_run(&ask, ids_take, run);
	ct_ask_fini(&ask);
}

static bool trap_keep(struct slip_run *run, struct ct_buf *before)
{
	const char *text = run->command->slip_text;
	const char *why = ct_trigger_keep(run->id, (struct ct_span){ text, strlen(text) }, before);

	if (why != NULL)
		ct_wto(&run->dialogue->wto, CTR034I, run->id, "the run directory: ", why, NULL);
	return why == NULL;
}

static void change_report(struct slip_run *run)
{
	const char *text = run->command->slip_text;

	if (run->command->kind == CT_OPERATOR_SLIP_DEL)
		ct_wto(&run->dialogue->wto, CTR033I, run->id, NULL);
	else
		ct_wto(&run->dialogue->wto, IEE727I, run->id,
		       run->command->kind == CT_OPERATOR_SLIP_SET ? "SET"
		       : strcmp(text, "enable") == 0              ? "ENABLED"
								  : "DISABLED",
		       NULL);
}

/* Each process that refuses has been reported.  A trap that no process takes is not kept. */
static void trap_ask(struct slip_run *run, const struct target *target, const struct ct_buf *before)
{
	const struct ct_operator_command *command = run->command;
	bool is_set = command->kind == CT_OPERATOR_SLIP_SET, is_all = ct_target_is_all(target);
	const struct ct_command change = { .verb = CT_VERB_TRIGGER,
					   .component = { run->id, strlen(run->id) },
					   .value = { command->slip_text,
						      strlen(command->slip_text) } };
	struct ask ask;

	run->done = run->refused = 0;
	ct_ask_init(&ask, target, &run->dialogue->wto);
	ct_command_encode(&ask.request, &change);
	if (ct_peers_find(&target->filter, &ask.peers) == CTRACE_OK && ask.peers.count != 0)
		(void)ct_ask_run(&ask, answer_take, run);
	ct_ask_fini(&ask);
	if (is_set && run->done == 0 && run->refused != 0) {
		if (is_all)
			ct_trigger_keep_back(run->id, before);
		return;
	}
	if (run->done != 0 || before->size != 0 || (is_set && is_all))
		change_report(run);
	else
		ct_wto(&run->dialogue->wto, CTR034I, run->id, "",
		       is_set ? "no running process matches" : "there is no such trap", NULL);
}

static void trap_change(struct slip_run *run, const struct target *target)
{
	struct ct_buf before;

	ct_buf_init(&before);
	if (!ct_target_is_all(target) || trap_keep(run, &before))
		trap_ask(run, target, &before);
	ct_buf_fini(&before);
}

static void traps_change(struct slip_run *run)
{
	struct target target = run->dialogue->target;

	if (run->command->job[0] != '\0')
		target.filter.jobname = run->command->job;
	ids_find(run, &target);
	for (size_t i = 0; i < run->id_count; i++) {
		run->id = run->ids[i];
		trap_change(run, &target);
	}
	if (run->id_count == 0)
		ct_wto(&run->dialogue->wto, CTR034I, run->command->slip_id, "",
		       "there is no such trap", NULL);
	free(run->ids);
}

/* ---- DISPLAY ---- */

static void line_print(const struct slip_run *run, const char *text)
{
	struct ct_buf line;

	ct_buf_init(&line);
	ct_buf_add_text(&line, text);
	ct_buf_add_char(&line, '\n');
	ct_wto_line(&run->dialogue->wto, text, strlen(text));
	ct_hardcopy_answer(line.data, line.size);
	ct_buf_fini(&line);
}

/* A trap of a process: its id, its state, and what it does.  peer NULL: it is only kept. */
static void trap_print(struct slip_run *run, const struct ct_peer *peer, struct ct_span name,
		       struct ct_span value, bool is_enabled)
{
	struct ct_buf line;

	if (peer != NULL)
		id_add(run, name);

	ct_buf_init(&line);
	ct_buf_add_text(&line, "ID=");
	ct_escape_add(&line, name.at, name.size);
	ct_buf_add_text(&line, is_enabled ? ",ENABLED  " : ",DISABLED  ");
	if (peer != NULL)
		ct_ask_add_process(&line, peer);
	else
		ct_buf_add_text(&line, "KEPT FOR PROCESSES THAT COME");
	line_print(run, ct_buf_text(&line));
	ct_buf_clear(&line);
	ct_buf_add_text(&line, "   ");
	ct_escape_add(&line, value.at, value.size);
	line_print(run, ct_buf_text(&line));
	ct_buf_fini(&line);
	run->done++;
}

static void display_take(const struct ct_peer *peer, size_t request, const struct ct_message *frame,
			 void *user)
{
	(void)request;
	if (frame != NULL)
		answer_read(user, frame, trap_print, peer);
}

static void kept_count(struct ct_span id, struct ct_span text, void *user)
{
	struct slip_run *run = user;

	(void)text;
	run->kept += id_fits(run, id);
}

static void kept_print(struct ct_span id, struct ct_span text, void *user)
{
	struct slip_run *run = user;
	struct ct_trigger trigger;

	for (size_t i = 0; i < run->id_count; i++)
		if (ct_name_is(id.at, id.size, run->ids[i]))
			return;
	if (id_fits(run, id) && ct_trigger_parse(text.at, text.size, &trigger, NULL) == CTRACE_OK)
		trap_print(run, NULL, id, text, !trigger.is_disabled);
}

static void traps_display(struct slip_run *run)
{
	const struct ct_command list = { .verb = CT_VERB_TRIGGER_LIST };
	time_t now = time(NULL);
	const struct target *target = &run->dialogue->target;
	struct ask ask;
	struct tm local;
	char line[80];

	if (ct_target_is_all(target))
		ct_trigger_kept(kept_count, run);
	ct_ask_init(&ask, target, &run->dialogue->wto);
	ct_command_encode(&ask.request, &list);
	/* Without a process, those that are kept are all there is to display. */
	if ((run->kept != 0 ? ct_peers_find(&target->filter, &ask.peers) : ct_ask_find(&ask)) ==
		    CTRACE_OK &&
	    localtime_r(&now, &local) != NULL) {
		(void)strftime(line, sizeof line, "IEE735I %H.%M.%S SLIP DISPLAY", &local);
		line_print(run, line);
		if (ask.peers.count != 0)
			(void)ct_ask_run(&ask, display_take, run);
		if (run->kept != 0)
			ct_trigger_kept(kept_print, run);
		if (run->done == 0)
			line_print(run, "NO TRAPS");
	}
	ct_ask_fini(&ask);
	free(run->ids);
}

void ct_slip_run(struct dialogue *dialogue, const struct ct_operator_command *command)
{
	struct slip_run run = { .dialogue = dialogue, .command = command };

	if (command->kind == CT_OPERATOR_DISPLAY_SLIP)
		traps_display(&run);
	else
		traps_change(&run);
	fflush(stdout);
}
