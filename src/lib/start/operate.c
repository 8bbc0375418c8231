/*
 * operate.c - what a traced process does with an operator's request.
 *
 * Runs on the control thread, under no lock; routines and callbacks of the program may be called
 * from here.  A request that is not understood changes nothing, and every request is answered.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/operate.h"

#include <string.h>

#include "lib/component/writer_link.h"

#define FLUSH_LIMIT_MS 900u /* the others wait meanwhile */
/* likewise, for the program's next call, in which its routine in COBOL runs */
#define ROUTINE_WAIT_MS 250u

/* ---- the process as a whole ---- */

static void operate_flush(const struct ct_command *command, struct ct_buf *out)
{
	enum ctrace_status status = ctrace_flush(
		command->number < FLUSH_LIMIT_MS ? (uint32_t)command->number : FLUSH_LIMIT_MS);

	ct_answer_whole(out, command->verb, status,
			status != CTRACE_OK ? ctrace_status_text(status) : NULL);
}

static void answer_rotation(const struct ct_command *command, uint32_t mask, struct ct_buf *out)
{
	static const char done[] = "a new generation";
	const struct ctrace_emitter *emitter;
	struct ct_answer answer;
	uint32_t rotated = 0;
	enum ctrace_status status = ct_consumer_thread_rotate(mask, &rotated);

	ct_answer_begin(&answer, out, command->verb);
	/* Nothing that is open has generations: no row, and well. */
	if (status != CTRACE_OK && status != CTRACE_NOT_FOUND &&
	    (status != CTRACE_UNSUPPORTED || command->emitter.at != NULL)) {
		ct_answer_set_status(&answer, status);
		ct_answer_add(&answer, CT_FIELD_MESSAGE, ctrace_status_text(status),
			      strlen(ctrace_status_text(status)));
	}
	for (uint32_t i = 0; i < CT_EMITTER_LIMIT && (emitter = ct_emitter_at(i)) != NULL; i++) {
		if ((rotated >> i & 1) == 0)
			continue;
		ct_answer_add(&answer, CT_FIELD_EMITTER, emitter->name, strlen(emitter->name));
		ct_answer_add(&answer, CT_FIELD_NEW, done, sizeof done - 1);
	}
	ct_answer_end(&answer);
}

static void operate_rotate(const struct ct_command *command, struct ct_buf *out)
{
	uint32_t emitter = 0;
	struct ct_buf message;

	ct_buf_init(&message);
	if (command->emitter.at == NULL)
		answer_rotation(command, UINT32_MAX, out);
	else if (ct_operate_knows_emitter(command->emitter, &emitter, &message))
		answer_rotation(command, 1u << emitter, out);
	else
		ct_operate_refuse(out, command->verb, CTRACE_EMITTER_NOT_FOUND, &message);
	ct_buf_fini(&message);
}

static void operate_reload(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_span path = command->value;
	char text[4096] = "";
	char message[256] = "";
	struct ct_answer answer;
	enum ctrace_status status;
	unsigned diagnostics;

	if (path.size >= sizeof text ||
	    (path.size != 0 && (path.at[0] != '/' || memchr(path.at, '\0', path.size) != NULL))) {
		ct_answer_whole(out, command->verb, CTRACE_SYNTAX_ERROR,
				"expected the absolute path of a configuration file");
		return;
	}
	if (path.size != 0)
		memcpy(text, path.at, path.size);
	status = ct_reload(text, &diagnostics, message);
	if (status != CTRACE_OK && message[0] == '\0')
		(void)strncpy(message, ctrace_status_text(status), sizeof message - 1);
	ct_answer_begin(&answer, out, command->verb);
	ct_answer_set_status(&answer, status);
	ct_answer_add(&answer, CT_FIELD_MESSAGE, message, strlen(message));
	ct_message_add_number(answer.out, CT_FIELD_NUMBER, diagnostics);
	ct_answer_end(&answer);
}

static void operate_writer_up(const struct ct_command *command, struct ct_buf *out)
{
	char writer[CTRACE_MAX_NAME + 1];

	if (command->value.size == 0 ||
	    ct_writer_parse(command->value.at, command->value.size, writer) != 0) {
		ct_answer_whole(out, command->verb, CTRACE_SYNTAX_ERROR,
				"expected the name of an external writer, of 1 to 7 characters");
		return;
	}
	ct_writer_up(writer, strlen(writer));
	ct_answer_whole(out, command->verb, CTRACE_OK, NULL);
}

/* ---- TRACE CT ---- */

/* A trace that this process does not have is no failure where others have it: the status tells it
 * apart. */
static void answer_outcome(const struct ctrace_outcome *outcome, struct ct_buf *out)
{
	bool is_absent = outcome->rc == CTRACE_RC_REFUSED &&
			 CTRACE_REASON(outcome->rsncode) == CTRACE_RSN_NOT_DEFINED;
	struct ct_answer answer;

	ct_answer_begin(&answer, out, CT_VERB_TRACE_CT);
	if (is_absent)
		ct_answer_set_status(&answer, CTRACE_NOT_FOUND);
	if (outcome->message[0] != '\0')
		ct_answer_add(&answer, CT_FIELD_MESSAGE, outcome->message,
			      strnlen(outcome->message, sizeof outcome->message));
	ct_message_add(out, CT_FIELD_OUTCOME, outcome, sizeof *outcome);
	ct_answer_end(&answer);
}

static void operate_trace_ct(const struct ct_message *request, struct ct_buf *out)
{
	struct ctrace_outcome outcome = { .rc = CTRACE_RC_OK };
	struct ct_trace_command command;
	enum ctrace_status status = ct_trace_command_decode(request, &command);

	if (status != CTRACE_OK) {
		ct_answer_whole(out, CT_VERB_TRACE_CT, status, "that is no TRACE CT");
		return;
	}
	(void)ct_trace_ct(&command, &outcome);
	(void)ct_ctf_defer(&command, ROUTINE_WAIT_MS, &outcome);
	answer_outcome(&outcome, out);
}

/* ---- which it is ---- */

/* Every request that a traced process carries out. */
static const struct request_row {
	enum ct_verb verb;
	/* one of the two: with the operands decoded as a command's, or with the message */
	void (*operate)(const struct ct_command *command, struct ct_buf *out);
	void (*operate_message)(const struct ct_message *request, struct ct_buf *out);
} rows[] = {
	{ CT_VERB_LEVEL, ct_operate_level, NULL },
	{ CT_VERB_DEST_ADD, ct_operate_dest, NULL },
	{ CT_VERB_DEST_REMOVE, ct_operate_dest, NULL },
	{ CT_VERB_DEST_SET, ct_operate_dest, NULL },
	{ CT_VERB_COMPONENT_PROPERTY, ct_operate_property, NULL },
	{ CT_VERB_EMITTER_PROPERTY, ct_operate_property, NULL },
	{ CT_VERB_PROPERTY_GET, ct_operate_property, NULL },
	{ CT_VERB_FLUSH, operate_flush, NULL },
	{ CT_VERB_ROTATE, operate_rotate, NULL },
	{ CT_VERB_RELOAD, operate_reload, NULL },
	{ CT_VERB_WRITER_UP, operate_writer_up, NULL },
	{ CT_VERB_TRACE_CT, NULL, operate_trace_ct },
	{ CT_VERB_DISPLAY, NULL, ct_operate_display },
};

static void request_carry_out(const struct ct_message *request, struct ct_buf *out)
{
	const struct request_row *row = NULL;
	struct ct_command command;
	enum ctrace_status status;

	for (size_t i = 0; row == NULL && i < CT_COUNT(rows); i++)
		if (rows[i].verb == request->verb)
			row = &rows[i];
	if (row != NULL && row->operate_message != NULL) {
		row->operate_message(request, out);
		return;
	}
	status = ct_command_decode(request, &command);
	if (status != CTRACE_OK)
		ct_answer_whole(out, request->verb, status,
				"the command's operands are not what they may be");
	else if (row == NULL)
		ct_answer_whole(out, request->verb, CTRACE_UNSUPPORTED,
				"a traced process does not carry this command out");
	else
		row->operate(&command, out);
}

void ct_operate(const struct ct_message *request, struct ct_buf *out, void *user)
{
	(void)user;
	if ((request->flags & CT_MESSAGE_ANSWER) != 0)
		ct_answer_whole(out, request->verb, CTRACE_DAMAGED,
				"that is an answer and no request");
	else if (ct_target_self() == NULL)
		ct_answer_whole(out, request->verb, CTRACE_TIMED_OUT,
				"the process is about to end");
	else
		request_carry_out(request, out);
}
