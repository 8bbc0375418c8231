/*
 * test_property_check.c - values of each kind of property: good ones, odd ones, wrong ones and
 * where they are wrong.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "lib/emit/emit.h"

static struct ct_diagnostic diagnostic;

static enum ct_property_finding check(enum ctrace_property_kind kind, const char *value)
{
	const struct ctrace_property row = { .name = "X", .kind = kind };

	memset(&diagnostic, 0, sizeof diagnostic);
	return ct_property_check(&row, (struct ct_span){ value, strlen(value) }, &diagnostic);
}

static void numbers(void **state)
{
	static const char *const good[] = { "0",    "12", "4294967295", "0x2800",
					    "0XfF", "on", "No",         "000000000000000012" };
	static const char *const wrong[] = {
		"",   "x",   "100K",       "1 2",         "-1",
		"0x", "0xg", "4294967296", "0x100000000", "99999999999999999999"
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(good); i++)
		assert_int_equal(check(CTRACE_PROPERTY_NUMBER, good[i]), CT_PROPERTY_GOOD);
	for (size_t i = 0; i < CT_COUNT(wrong); i++)
		assert_int_equal(check(CTRACE_PROPERTY_NUMBER, wrong[i]), CT_PROPERTY_WRONG);
	assert_string_equal(diagnostic.message, "too large: \"99999999999999999999\"");
	assert_string_equal(diagnostic.expected, "a number up to 4294967295, of 32 bits");
	assert_int_equal(diagnostic.column, 1);
}

static void switches_and_levels(void **state)
{
	(void)state;
	assert_int_equal(check(CTRACE_PROPERTY_SWITCH, "disabled"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_SWITCH, "1"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_SWITCH, "treu"), CT_PROPERTY_WRONG);
	assert_string_equal(diagnostic.message,
			    "neither on nor off: \"treu\" (did you mean TRUE?)");
	assert_int_equal(check(CTRACE_PROPERTY_LEVEL, "Warn"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_LEVEL, "9999"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_LEVEL, "on"), CT_PROPERTY_WRONG);
}

static void modes(void **state)
{
	uint32_t mode = 0;

	(void)state;
	assert_int_equal(check(CTRACE_PROPERTY_MODE, "0640"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_MODE, "600"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_MODE, "0644"), CT_PROPERTY_WRONG);
	assert_int_equal(check(CTRACE_PROPERTY_MODE, "0660"), CT_PROPERTY_WRONG);
	assert_int_equal(check(CTRACE_PROPERTY_MODE, "00640"), CT_PROPERTY_WRONG);
	assert_true(ct_file_mode_parse("640", 3, &mode));
	assert_int_equal(mode, 0640);
}

static void encodings(void **state)
{
	(void)state;
	assert_int_equal(check(CTRACE_PROPERTY_ENCODING, "IBM1141"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_ENCODING, "latin-1"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_ENCODING, ""), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_ENCODING, "klingon"), CT_PROPERTY_WRONG);
	assert_string_equal(diagnostic.message, "unknown encoding \"klingon\"");
}

static void paths(void **state)
{
	static const char *const wrong[] = { "C:\\CTF\\TXT", "c:", "d:/traces", "\\\\server\\share",
					     "logs\\txt" };

	(void)state;
	assert_int_equal(check(CTRACE_PROPERTY_DIRECTORY, "/var/tmp"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_DIRECTORY, ""), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_FILE, "a:b.log"), CT_PROPERTY_GOOD);
	for (size_t i = 0; i < CT_COUNT(wrong); i++) {
		assert_int_equal(check(CTRACE_PROPERTY_DIRECTORY, wrong[i]), CT_PROPERTY_WRONG);
		assert_int_equal(check(CTRACE_PROPERTY_FILE, wrong[i]), CT_PROPERTY_WRONG);
	}
}

static void compressions(void **state)
{
	(void)state;
	assert_int_equal(check(CTRACE_PROPERTY_COMPRESS, "Zstd"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_COMPRESS, "no"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_COMPRESS, ""), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_COMPRESS, "gzip"), CT_PROPERTY_WRONG);
	assert_string_equal(diagnostic.message, "unknown compression \"gzip\"");
}

static void groups(void **state)
{
	(void)state;
	assert_int_equal(check(CTRACE_PROPERTY_GROUP, "root"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_GROUP, "4711"), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_GROUP, ""), CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_GROUP, "roo"), CT_PROPERTY_ODD);
	assert_string_equal(diagnostic.message, "no such group: \"roo\"");
	assert_int_equal(check(CTRACE_PROPERTY_GROUP, "99999999999"), CT_PROPERTY_ODD);
}

static void variables(void **state)
{
	(void)state;
	assert_int_equal(check(CTRACE_PROPERTY_FORMAT, "$(Time) $(PID) $ $( \\"), CT_PROPERTY_ODD);
	assert_int_equal(diagnostic.column, 18);
	assert_int_equal(check(CTRACE_PROPERTY_FORMAT, "$(TIME)$(THREAD) $(data)$(APPNAME)"),
			 CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_FORMAT, "$(TIME) $(RUNUNIT)"), CT_PROPERTY_ODD);
	assert_int_equal(diagnostic.column, 9);
	assert_string_equal(diagnostic.message, "no such variable: \"RUNUNIT\"");
	assert_string_equal(diagnostic.expected, "it stays in the text as it is");
	assert_int_equal(check(CTRACE_PROPERTY_FORMAT, "$(DATA $(TIME)"), CT_PROPERTY_ODD);
	assert_int_equal(diagnostic.column, 1);
	assert_string_equal(diagnostic.message, "no \")\" after \"DATA\"");
	assert_int_equal(
		check(CTRACE_PROPERTY_FILE, "$(APPNAME).$(EMITTER).$(PID)_$(GEN)$(PLATFORM)"),
		CT_PROPERTY_GOOD);
	assert_int_equal(check(CTRACE_PROPERTY_FILE, "$(TIME).log"), CT_PROPERTY_ODD);
	assert_int_equal(check(CTRACE_PROPERTY_TEXT, "$(X) C:\\"), CT_PROPERTY_GOOD);
}

static struct ct_buf file_name;

static const char *file_property(const struct ctrace_emitter_context *context, const char *name)
{
	(void)context;
	(void)name;
	return ct_buf_text(&file_name);
}

/* What the emitters do with a variable that the check knows, and what with one that it does not. */
static void the_emitters_know_the_same_variables(void **state)
{
	static const char *const line[] = { "APPNAME", "COMPONENT", "DATA",    "DATE",   "EVENT",
					    "LEVEL",   "PID",       "PROCESS", "THREAD", "TIME" };
	static const char *const file[] = { "APPNAME", "EMITTER", "GEN", "PID", "PLATFORM" };
	const struct ctrace_event event = { .component = "C", .component_size = 1 };
	const struct ctrace_emitter_context context = { .program = "p", .property = file_property };
	struct ct_line_printer printed;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(line); i++) {
		struct ct_buf text, out;

		ct_buf_init(&text);
		ct_buf_init(&out);
		ct_buf_add_format(&text, "$(%s)", line[i]);
		assert_int_equal(check(CTRACE_PROPERTY_FORMAT, ct_buf_text(&text)),
				 CT_PROPERTY_GOOD);
		assert_int_equal(
			ct_line_printer_init(&printed,
					     &(struct ct_line_format){ .format = ct_buf_text(&text),
								       .delimiter = " ",
								       .program = "p" }),
			CTRACE_OK);
		ct_line_add(&printed, &out, &event);
		ct_line_printer_fini(&printed);
		assert_null(strchr(ct_buf_text(&out), '$'));
		ct_buf_fini(&text);
		ct_buf_fini(&out);
	}
	for (size_t i = 0; i < CT_COUNT(file); i++) {
		struct ct_buf out;

		ct_buf_init(&out);
		ct_buf_clear(&file_name);
		ct_buf_add_format(&file_name, "$(%s)", file[i]);
		assert_int_equal(check(CTRACE_PROPERTY_FILE, ct_buf_text(&file_name)),
				 CT_PROPERTY_GOOD);
		assert_true(ct_file_name_print(&out, &context, &ct_emit_textfile, 1, false));
		assert_null(strchr(ct_buf_text(&out), '$'));
		ct_buf_fini(&out);
	}
	ct_buf_fini(&file_name);
}

int test_property_check(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(switches_and_levels),
		cmocka_unit_test(modes),
		cmocka_unit_test(encodings),
		cmocka_unit_test(paths),
		cmocka_unit_test(groups),
		cmocka_unit_test(compressions),
		cmocka_unit_test(variables),
		cmocka_unit_test(the_emitters_know_the_same_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
