/*
 * test_answer.c - answers: their status, texts that are too long, and rows that need more than one
 * frame.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "session/answer.h"

static struct ct_buf buf;

static int setup(void **state)
{
	(void)state;
	ct_buf_init(&buf);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ct_buf_fini(&buf);
	return 0;
}

static struct ct_message next_frame(size_t *at)
{
	struct ct_message message;
	size_t size;

	assert_int_equal(ct_message_parse(buf.data + *at, buf.size - *at, &message, &size),
			 CTRACE_OK);
	assert_true((message.flags & CT_MESSAGE_ANSWER) != 0);
	assert_int_equal(message.verb, CT_VERB_LEVEL);
	*at += size;
	return message;
}

static void an_answer_may_be_its_status_alone(void **state)
{
	struct ct_message message;
	size_t at = 0;

	(void)state;
	ct_answer_whole(&buf, CT_VERB_LEVEL, CTRACE_OK, NULL);
	message = next_frame(&at);
	assert_int_equal(at, buf.size);
	assert_int_equal(ct_message_number(&message, CT_FIELD_STATUS, 99), CTRACE_OK);
	assert_null(ct_message_find(&message, CT_FIELD_MESSAGE).at);
}

static void a_sentence_goes_with_it(void **state)
{
	struct ct_message message;
	struct ct_span text;
	size_t at = 0;

	(void)state;
	ct_answer_whole(&buf, CT_VERB_LEVEL, CTRACE_NOT_FOUND, "no component \"x\"");
	message = next_frame(&at);
	assert_int_equal(ct_message_number(&message, CT_FIELD_STATUS, 99), CTRACE_NOT_FOUND);
	text = ct_message_find(&message, CT_FIELD_MESSAGE);
	assert_int_equal(text.size, strlen("no component \"x\""));
}

static void rows_go_on_in_further_frames(void **state)
{
	static char text[1000];
	struct ct_answer answer;
	size_t at = 0;
	unsigned rows = 0, frames = 0;
	bool more = true;

	(void)state;
	ct_buf_add_text(&buf, "what stands before it"); /* another answer */
	at = buf.size;
	ct_answer_begin(&answer, &buf, CT_VERB_LEVEL);
	for (unsigned i = 0; i < 500; i++) {
		ct_answer_row(&answer, sizeof text + 8);
		ct_answer_add(&answer, CT_FIELD_COMPONENT, text, sizeof text);
	}
	ct_answer_set_status(&answer, CTRACE_OUTPUT_ERROR); /* only known at the end */
	ct_answer_end(&answer);
	while (more) {
		struct ct_message message = next_frame(&at);
		struct ct_span value;
		enum ct_field field;

		more = (message.flags & CT_MESSAGE_MORE) != 0;
		assert_int_equal(ct_message_number(&message, CT_FIELD_STATUS, 99),
				 frames++ == 0 ? CTRACE_OUTPUT_ERROR : 99);
		while (ct_message_next(&message.fields, &field, &value))
			rows += field == CT_FIELD_COMPONENT;
	}
	assert_int_equal(at, buf.size);
	assert_int_equal(rows, 500);
	assert_int_equal(frames, 8); /* 64 rows in each full one */
}

static void a_long_text_is_cut(void **state)
{
	static char text[CT_ANSWER_TEXT + 1];
	struct ct_answer answer;
	struct ct_message message;
	struct ct_span value;
	size_t at = 0;

	(void)state;
	memset(text, 'x', sizeof text);
	ct_answer_begin(&answer, &buf, CT_VERB_LEVEL);
	ct_answer_add(&answer, CT_FIELD_OLD, text, CT_ANSWER_TEXT);
	ct_answer_add(&answer, CT_FIELD_NEW, text, sizeof text);
	ct_answer_end(&answer);
	message = next_frame(&at);
	value = ct_message_find(&message, CT_FIELD_OLD);
	assert_int_equal(value.size, CT_ANSWER_TEXT);
	assert_memory_equal(value.at + value.size - 3, "xxx", 3);
	value = ct_message_find(&message, CT_FIELD_NEW);
	assert_int_equal(value.size, CT_ANSWER_TEXT);
	assert_memory_equal(value.at + value.size - 3, "...", 3);
}

static void what_does_not_fit_fails(void **state)
{
	static char text[CT_ANSWER_TEXT];
	struct ct_answer answer;

	(void)state;
	ct_answer_begin(&answer, &buf, CT_VERB_LEVEL);
	for (unsigned i = 0; i < 4; i++) /* without asking for room */
		ct_answer_add(&answer, CT_FIELD_VALUE, text, sizeof text);
	ct_answer_end(&answer);
	assert_true(buf.failed);
	ct_answer_whole(&buf, CT_VERB_LEVEL, CTRACE_OK, "too late");
	assert_true(buf.failed);
}

int test_answer(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_answer_may_be_its_status_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sentence_goes_with_it, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_go_on_in_further_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(a_long_text_is_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(what_does_not_fit_fails, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
