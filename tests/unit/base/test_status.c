/*
 * test_status.c - every status and loss has a word and a sentence of its own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/base.h"
#include <ctrace/event.h>

static void every_status_has_a_name_and_a_sentence_of_its_own(void **state)
{
	(void)state;
	for (int a = 0; a < CTRACE_STATUS_COUNT; a++) {
		const char *name = ctrace_status_name((enum ctrace_status)a);

		assert_non_null(name);
		assert_non_null(ctrace_status_text((enum ctrace_status)a));
		assert_true(strlen(name) > 1 &&
			    strlen(ctrace_status_text((enum ctrace_status)a)) > 3);
		assert_null(strpbrk(name, " -.abcdefghijklmnopqrstuvwxyz"));
		for (int b = 0; b < a; b++)
			assert_string_not_equal(name, ctrace_status_name((enum ctrace_status)b));
	}
}

static void the_numbers_that_cobol_programs_receive_never_change(void **state)
{
	static const struct {
		enum ctrace_status status;
		int number;
		const char *name;
	} rows[] = {
		{ CTRACE_OK, 0, "SUCCESS" },
		{ CTRACE_FAILURE, 1, "FAILURE" },
		{ CTRACE_NOT_ENOUGH_MEMORY, 2, "NOT_ENOUGH_MEMORY" },
		{ CTRACE_INVALID_COMPONENT_NAME, 3, "INVALID_COMPONENT_NAME" },
		{ CTRACE_INVALID_EMITTER_NAME, 4, "INVALID_EMITTER_NAME" },
		{ CTRACE_INVALID_PROP_NAME, 5, "INVALID_PROP_NAME" },
		{ CTRACE_INVALID_TRACE_HANDLE, 6, "INVALID_TRACE_HANDLE" },
		{ CTRACE_INVALID_TRACE_LEVEL, 7, "INVALID_TRACE_LEVEL" },
		{ CTRACE_EMITTER_NOT_FOUND, 8, "EMITTER_NOT_FOUND" },
		{ CTRACE_PROPERTY_NOT_FOUND, 9, "PROPERTY_NOT_FOUND" },
		{ CTRACE_BUFFER_TOO_SMALL, 10, "BUFFER_TOO_SMALL" },
		{ CTRACE_NOT_TRACE_ENABLED, 11, "NOT_TRACE_ENABLED" },
		{ CTRACE_NOT_TRACING_LEVEL, 12, "NOT_TRACING_LEVEL" },
		{ CTRACE_OUTPUT_ERROR, 13, "OUTPUT_ERROR" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		assert_int_equal(rows[i].status, rows[i].number);
		assert_string_equal(ctrace_status_name(rows[i].status), rows[i].name);
	}
}

static void every_loss_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int a = 0; a < CTRACE_LOSS_COUNT; a++) {
		assert_non_null(ctrace_loss_name((enum ctrace_loss)a));
		assert_true(strlen(ctrace_loss_name((enum ctrace_loss)a)) > 3);
		for (int b = 0; b < a; b++)
			assert_string_not_equal(ctrace_loss_name((enum ctrace_loss)a),
						ctrace_loss_name((enum ctrace_loss)b));
	}
}

static void any_other_number_is_answered_too(void **state)
{
	static const int numbers[] = { -1, CTRACE_STATUS_COUNT, 1000, INT32_MIN, INT32_MAX };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(numbers); i++) {
		assert_string_equal(ctrace_status_name((enum ctrace_status)numbers[i]), "UNKNOWN");
		assert_string_equal(ctrace_status_text((enum ctrace_status)numbers[i]),
				    "an unknown status");
		assert_string_equal(ctrace_loss_name((enum ctrace_loss)numbers[i]), "unknown");
	}
}

int test_status(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_a_name_and_a_sentence_of_its_own),
		cmocka_unit_test(the_numbers_that_cobol_programs_receive_never_change),
		cmocka_unit_test(every_loss_has_a_name_of_its_own),
		cmocka_unit_test(any_other_number_is_answered_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
