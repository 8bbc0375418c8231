/*
 * test_line_settings.c - the properties that all emitters of lines have: defaults, and what values
 * do.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "emit_fixture.h"

#include <errno.h>

static int init(void **state)
{
	*state = fixture_create(&ct_emit_textfile);
	return 0;
}

static int fini(void **state)
{
	fixture_destroy(*state);
	return 0;
}

static void defaults(void **state)
{
	struct fixture *fixture = *state;
	struct ct_line_settings settings;

	assert_int_equal(ct_line_settings_init(&settings, &fixture->context), CTRACE_OK);
	assert_string_equal(settings.line.format.format,
			    "$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)");
	assert_string_equal(settings.line.format.delimiter, " ");
	assert_int_equal(settings.line.format.hex_block_size, 8);
	assert_true(settings.line.format.quote_strings);
	assert_string_equal(settings.line.format.program, "mymain");
	assert_int_equal(settings.level, 0);
	ct_line_settings_fini(&settings);
}

static void values_that_were_set(void **state)
{
	struct fixture *fixture = *state;
	struct ct_line_settings settings;

	fixture_set(fixture, "FORMAT", "$(DATA)");
	fixture_set(fixture, "DELIMCHAR", "");
	fixture_set(fixture, "HEXBLOCKSIZE", "99999999999");
	fixture_set(fixture, "QUOTESTRING", "no");
	assert_int_equal(ct_line_settings_init(&settings, &fixture->context), CTRACE_OK);
	assert_string_equal(settings.line.format.format, "$(DATA)");
	assert_string_equal(settings.line.format.delimiter, "");
	assert_int_equal(settings.line.format.hex_block_size, UINT32_MAX);
	assert_false(settings.line.format.quote_strings);
	ct_line_settings_fini(&settings);
	fixture_set(fixture, "DELIMCHAR", "\\t;\\n");
	fixture_set(fixture, "LEVEL", "Error");
	assert_int_equal(ct_line_settings_init(&settings, &fixture->context), CTRACE_OK);
	assert_string_equal(settings.line.format.delimiter, "\t;\\n");
	assert_int_equal(settings.level, CTRACE_ERROR);
	assert_int_equal(ct_line_settings_level(&fixture->context), CTRACE_ERROR);
	ct_line_settings_fini(&settings);
}

static void delimiter_may_be_a_tab(void **state)
{
	static const struct {
		const char *text, *delimiter;
	} rows[] = {
		{ "\\t", "\t" },  { ",\\s", ", " }, { "\\\\t", "\\t" }, { "\\", "\\" },
		{ "\\x", "\\x" }, { ";;", ";;" },   { "\t", "\t" },
	};
	struct fixture *fixture = *state;
	struct ct_line_settings settings;

	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		fixture_set(fixture, "DELIMCHAR", rows[i].text);
		assert_int_equal(ct_line_settings_init(&settings, &fixture->context), CTRACE_OK);
		assert_string_equal(settings.line.format.delimiter, rows[i].delimiter);
		ct_line_settings_fini(&settings);
	}
}

static void encoding_by_any_of_its_names(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(ct_encoding_setting(&fixture->context), CT_ENCODING_ASCII);
	fixture_set(fixture, "ENCODING", "IBM1141");
	assert_int_equal(ct_encoding_setting(&fixture->context), CT_ENCODING_EBCDIC_1141);
	fixture_set(fixture, "ENCODING", "nonsense");
	assert_int_equal(ct_encoding_setting(&fixture->context), CT_ENCODING_ASCII);
}

/* The values are the caller's until the next question only. */
static void values_are_copied(void **state)
{
	struct fixture *fixture = *state;
	struct ct_line_settings settings;
	char format[] = "$(EVENT)";

	fixture_set(fixture, "FORMAT", format);
	assert_int_equal(ct_line_settings_init(&settings, &fixture->context), CTRACE_OK);
	memset(format, 'x', sizeof format - 1);
	assert_string_equal(settings.line.format.format, "$(EVENT)");
	ct_line_settings_fini(&settings);
}

static void level_as_number_or_name(void **state)
{
	static const struct {
		const char *text;
		uint32_t level;
	} rows[] = {
		{ "0", 0 },
		{ "3", 3 },
		{ "warn", 2 },
		{ "FATAL", 4 },
		{ "none", CTRACE_LEVEL_NONE },
		{ "9999", 9999 },
		{ "0x10", 16 },
		{ "18446744073709551615", UINT32_MAX },
		{ "nonsense", 0 },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_line_settings settings;

		fixture_set(fixture, "LEVEL", rows[i].text);
		assert_int_equal(ct_line_settings_init(&settings, &fixture->context), CTRACE_OK);
		assert_int_equal(settings.level, rows[i].level);
		ct_line_settings_fini(&settings);
	}
}

/* All emitters of lines note losses alike: once for each change, and never at level NONE. */
static void losses_are_due_when_they_changed(void **state)
{
	struct fixture *fixture = *state;
	uint64_t totals[CTRACE_LOSS_COUNT] = { 0 };
	struct ct_line_output *output = calloc(1, sizeof *output);

	assert_non_null(output);
	assert_int_equal(ct_line_settings_init(&output->settings, &fixture->context), CTRACE_OK);
	ct_line_output_lost(output, totals);
	assert_false(output->losses_due);
	totals[CTRACE_LOSS_COUNT - 1] = 3;
	ct_line_output_lost(output, totals);
	assert_true(output->losses_due);
	assert_int_equal(output->lost[CTRACE_LOSS_COUNT - 1], 3);
	output->losses_due = false;
	ct_line_output_lost(output, totals);
	assert_false(output->losses_due);
	output->settings.level = CTRACE_LEVEL_NONE;
	totals[0] = 1;
	ct_line_output_lost(output, totals);
	assert_false(output->losses_due);
	ct_buf_add_text(&output->lines, "text that was not written\n");
	ct_line_output_close(output);
}

/* An emitter's own struct begins with what all have; the rest of it is zeros. */
static void an_output_of_any_size_opens_with_its_settings(void **state)
{
	struct fixture *fixture = *state;
	struct own {
		struct ct_line_output out;
		char rest[1000];
	} * own;
	void *self = &self;

	fixture_set(fixture, "LEVEL", "Error");
	assert_int_equal(ct_line_output_open(sizeof *own, &fixture->context, &self), CTRACE_OK);
	own = self;
	assert_ptr_equal(own->out.context, &fixture->context);
	assert_int_equal(own->out.settings.level, CTRACE_ERROR);
	assert_int_equal(own->out.lines.size, 0);
	assert_false(own->out.losses_due);
	for (size_t i = 0; i < sizeof own->rest; i++)
		assert_int_equal(own->rest[i], 0);
	ct_line_output_close(self);
	self = &self;
	assert_int_equal(ct_line_output_open(SIZE_MAX / 2, &fixture->context, &self),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_ptr_equal(self, &self); /* out only on success */
}

static const char *failed_at;

static void note_cause(const struct ctrace_emitter_context *context, const char *what)
{
	(void)context;
	failed_at = what;
}

static void the_cause_of_a_failure_is_reported_to_whom_it_concerns(void **state)
{
	struct fixture *fixture = *state;

	fixture->context.failed_at = NULL; /* an older program has no such function */
	ct_emitter_failed_at(&fixture->context, "/full/disk");
	fixture->context.failed_at = note_cause;
	errno = 4711;
	ct_emitter_failed_at(&fixture->context, "/full/disk");
	assert_string_equal(failed_at, "/full/disk");
	assert_int_equal(errno, 4711);
}

int test_line_settings(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(defaults, init, fini),
		cmocka_unit_test_setup_teardown(delimiter_may_be_a_tab, init, fini),
		cmocka_unit_test_setup_teardown(encoding_by_any_of_its_names, init, fini),
		cmocka_unit_test_setup_teardown(values_that_were_set, init, fini),
		cmocka_unit_test_setup_teardown(values_are_copied, init, fini),
		cmocka_unit_test_setup_teardown(level_as_number_or_name, init, fini),
		cmocka_unit_test_setup_teardown(losses_are_due_when_they_changed, init, fini),
		cmocka_unit_test_setup_teardown(an_output_of_any_size_opens_with_its_settings, init,
						fini),
		cmocka_unit_test_setup_teardown(
			the_cause_of_a_failure_is_reported_to_whom_it_concerns, init, fini),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
