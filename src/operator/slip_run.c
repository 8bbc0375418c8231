/*
 * slip_run.c - carries out SLIP SET, SLIP DEL and DISPLAY SLIP in running processes.
 *
 * Without JOBNAME= and options that select processes a trap is also kept for processes that come.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/slip.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "operator/ask.h"
#include "operator/hardcopy.h"
#include "operator/trigger_keep.h"

struct slip_run {
	struct dialogue *dialogue;
	const struct ct_operator_command *command;
	uint32_t done;
};

/* ---- SET and DEL ---- */

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
	message = ct_message_find(frame, CT_FIELD_MESSAGE);
	(void)snprintf(text, sizeof text, "%.*s", (int)message.size, message.at);
	ct_buf_init(&name);
	ct_ask_add_process(&name, peer);
	ct_buf_add_text(&name, ": ");
	ct_wto(&run->dialogue->wto, CTR034I, run->command->slip_id, ct_buf_text(&name), text, NULL);
	ct_buf_fini(&name);
}

static bool trap_keep(struct slip_run *run, bool is_set, bool *out_was_there)
{
	struct ct_span text = { NULL, 0 };

	if (is_set)
		text = (struct ct_span){ run->command->slip_text, strlen(run->command->slip_text) };
	if (ct_trigger_keep(run->command->slip_id, text, out_was_there))
		return true;
	ct_wto(&run->dialogue->wto, CTR034I, run->command->slip_id,
	       "the run directory: ", strerror(errno), NULL);
	return false;
}

static void trap_change(struct slip_run *run, bool is_set)
{
	const struct ct_operator_command *command = run->command;
	struct target target = run->dialogue->target;
	const char *text = is_set ? command->slip_text : "off";
	struct ct_command change = { .verb = CT_VERB_TRIGGER,
				     .component = { command->slip_id, strlen(command->slip_id) },
				     .value = { text, strlen(text) } };
	bool was_kept = false;
	struct ask ask;

	if (command->job[0] != '\0')
		target.filter.jobname = command->job;
	if (ct_target_is_all(&target) && !trap_keep(run, is_set, &was_kept))
		return;
	ct_ask_init(&ask, &target, &run->dialogue->wto);
	ct_command_encode(&ask.request, &change);
	if (ct_peers_find(&target.filter, &ask.peers) == CTRACE_OK && ask.peers.count != 0)
		(void)ct_ask_run(&ask, answer_take, run);
	ct_ask_fini(&ask);
	if (is_set && (run->done != 0 || ct_target_is_all(&target)))
		ct_wto(&run->dialogue->wto, IEE727I, command->slip_id, NULL);
	else if (!is_set && (run->done != 0 || was_kept))
		ct_wto(&run->dialogue->wto, CTR033I, command->slip_id, NULL);
	else
		ct_wto(&run->dialogue->wto, CTR034I, command->slip_id, "",
		       is_set ? "no running process matches" : "there is no such trap", NULL);
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

/* A trap of a process: its id, its state, and what it does. */
static void trap_print(struct slip_run *run, const struct ct_peer *peer, struct ct_span name,
		       struct ct_span value)
{
	struct ct_buf line;

	ct_buf_init(&line);
	ct_buf_add_text(&line, "ID=");
	ct_escape_add(&line, name.at, name.size);
	ct_buf_add_text(&line, ",ENABLED  ");
	ct_ask_add_process(&line, peer);
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
	struct slip_run *run = user;
	const char *wanted = run->command->slip_id;
	struct ct_span fields, value, name = { "", 0 };
	enum ct_field field;

	(void)request;
	if (frame == NULL)
		return;
	fields = frame->fields;
	while (ct_message_next(&fields, &field, &value)) {
		if (field == CT_FIELD_COMPONENT)
			name = value;
		else if (field == CT_FIELD_NEW &&
			 (wanted[0] == '\0' || ct_name_is(name.at, name.size, wanted)))
			trap_print(run, peer, name, value);
	}
}

static void traps_display(struct slip_run *run)
{
	const struct ct_command list = { .verb = CT_VERB_TRIGGER_LIST };
	time_t now = time(NULL);
	struct ask ask;
	struct tm local;
	char line[80];

	ct_ask_init(&ask, &run->dialogue->target, &run->dialogue->wto);
	ct_command_encode(&ask.request, &list);
	if (ct_ask_find(&ask) == CTRACE_OK && localtime_r(&now, &local) != NULL) {
		(void)strftime(line, sizeof line, "IEE735I %H.%M.%S SLIP DISPLAY", &local);
		line_print(run, line);
		(void)ct_ask_run(&ask, display_take, run);
		if (run->done == 0)
			line_print(run, "NO TRAPS");
	}
	ct_ask_fini(&ask);
}

void ct_slip_run(struct dialogue *dialogue, const struct ct_operator_command *command)
{
	struct slip_run run = { .dialogue = dialogue, .command = command };

	if (command->kind == CT_OPERATOR_DISPLAY_SLIP)
		traps_display(&run);
	else
		trap_change(&run, command->kind == CT_OPERATOR_SLIP_SET);
	fflush(stdout);
}
