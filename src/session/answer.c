/*
 * answer.c - the answer to a request, in as many frames as it takes.
 *
 * Called by whoever answers: the control thread of a traced process, an external writer.  An answer
 * that does not fit makes the buffer fail; the sender then closes the connection.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/answer.h"

#include <string.h>

#define FIELD_HEAD 8u

void ct_answer_begin(struct ct_answer *answer, struct ct_buf *out, enum ct_verb verb)
{
	*answer = (struct ct_answer){ .out = out, .verb = verb };
	answer->first = answer->start = ct_message_start(out, verb, CT_MESSAGE_ANSWER);
	ct_message_add_number(out, CT_FIELD_STATUS, CTRACE_OK);
}

void ct_answer_set_status(struct ct_answer *answer, enum ctrace_status status)
{
	uint64_t number = status;

	if (!answer->out->failed)
		memcpy(answer->out->data + answer->first + CT_MESSAGE_HEAD + FIELD_HEAD, &number,
		       sizeof number);
}

void ct_answer_row(struct ct_answer *answer, size_t size)
{
	if (answer->out->failed || answer->out->size - answer->start + size <= CT_MESSAGE_LIMIT)
		return;
	ct_message_set_more(answer->out, answer->start);
	ct_answer_end(answer);
	answer->start = ct_message_start(answer->out, answer->verb, CT_MESSAGE_ANSWER);
}

void ct_answer_add(struct ct_answer *answer, enum ct_field field, const char *text, size_t size)
{
	static const char dots[] = { '.', '.', '.' };
	char cut[CT_ANSWER_TEXT];

	if (size <= sizeof cut) {
		ct_message_add(answer->out, field, text, size);
		return;
	}
	memcpy(cut, text, sizeof cut - sizeof dots);
	memcpy(cut + sizeof cut - sizeof dots, dots, sizeof dots);
	ct_message_add(answer->out, field, cut, sizeof cut);
}

void ct_answer_end(struct ct_answer *answer)
{
	if (ct_message_end(answer->out, answer->start) != CTRACE_OK)
		answer->out->failed = true;
}

void ct_answer_whole(struct ct_buf *out, enum ct_verb verb, enum ctrace_status status,
		     const char *message)
{
	struct ct_answer answer;

	ct_answer_begin(&answer, out, verb);
	ct_answer_set_status(&answer, status);
	if (message != NULL)
		ct_answer_add(&answer, CT_FIELD_MESSAGE, message, strlen(message));
	ct_answer_end(&answer);
}

void ct_answer_all(struct ct_buf *out, const struct ct_buf *request, enum ctrace_status status,
		   const char *message)
{
	struct ct_message frame;
	size_t size;

	for (size_t at = 0;
	     ct_message_parse(request->data + at, request->size - at, &frame, &size) == CTRACE_OK;
	     at += size)
		ct_answer_whole(out, frame.verb, status, message);
}
