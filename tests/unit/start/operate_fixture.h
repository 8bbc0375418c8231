/*
 * operate_fixture.h - requests of operators to a traced child of the test, and the answers as text.
 *
 * The child asks itself, on its own thread: what a socket would bring.  An answer reads "SUCCESS",
 * "NOT_FOUND message", with a line for each row behind it: "app.one: NONE -> DEBUG", and "*" in
 * front of the rows of each further frame.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATE_FIXTURE_H
#define CT_OPERATE_FIXTURE_H

#include "../process/process_fixture.h"

#include "lib/start/operate.h"

static struct ct_buf request, answer, text;

static UNUSED struct ct_span span_of(const char *word)
{
	return (struct ct_span){ word, word != NULL ? strlen(word) : 0 };
}

static void add_value(const char *before, struct ct_span value)
{
	ct_buf_add_text(&text, before);
	ct_buf_add(&text, value.at, value.size);
}

static void print_field(enum ct_field field, struct ct_span value)
{
	uint64_t number = 0;

	switch (field) {
	case CT_FIELD_STATUS:
		memcpy(&number, value.at, sizeof number);
		ct_buf_add_text(&text, ctrace_status_name((enum ctrace_status)number));
		return;
	case CT_FIELD_COMPONENT:
	case CT_FIELD_EMITTER:
		add_value("\n", value);
		ct_buf_add_char(&text, ':');
		return;
	case CT_FIELD_MESSAGE:
		add_value(" ", value);
		return;
	case CT_FIELD_OLD:
		add_value(" ", value);
		return;
	case CT_FIELD_NEW:
		add_value(" -> ", value);
		return;
	case CT_FIELD_VALUE:
		add_value(" ", value);
		return;
	default:
		ct_buf_add_format(&text, " [%u]", (unsigned)field);
		return;
	}
}

/* Carries out what is in `request`. */
static UNUSED const char *operate(void)
{
	struct ct_message message;
	size_t size, at = 0;

	ct_buf_clear(&answer);
	ct_buf_clear(&text);
	CHILD_CHECK(!request.failed);
	CHILD_CHECK(ct_message_parse(request.data, request.size, &message, &size) == CTRACE_OK &&
		    size == request.size);
	ct_operate(&message, &answer, NULL);
	CHILD_CHECK(!answer.failed);
	do {
		struct ct_span fields, value;
		enum ct_field field;

		CHILD_CHECK(ct_message_parse(answer.data + at, answer.size - at, &message, &size) ==
			    CTRACE_OK);
		CHILD_CHECK((message.flags & CT_MESSAGE_ANSWER) != 0);
		if (at != 0)
			ct_buf_add_text(&text, "\n*");
		at += size;
		fields = message.fields;
		while (ct_message_next(&fields, &field, &value))
			print_field(field, value);
	} while ((message.flags & CT_MESSAGE_MORE) != 0);
	CHILD_CHECK(at == answer.size);
	return ct_buf_text(&text);
}

static UNUSED const char *carry_out(const struct ct_command *command)
{
	ct_buf_clear(&request);
	ct_command_encode(&request, command);
	return operate();
}

static UNUSED void check_text(const char *is, const char *expected, int line)
{
	if (strcmp(is, expected) == 0)
		return;
	(void)fprintf(stderr, "line %d: \"%s\", expected \"%s\"\n", line, is, expected);
	_exit(1);
}
#define CHECK_TEXT(is, expected) check_text((is), (expected), __LINE__)

static UNUSED void make_tracer(const char *name)
{
	struct ctrace_tracer *made;

	CHILD_CHECK(ctrace_tracer_get(name, &made) == CTRACE_OK);
}

#endif
