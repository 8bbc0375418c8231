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
	assert_int_equal(check(CTRACE_PROPERTY_DIRECTORY, "/var/tmp/a\\b"), CT_PROPERTY_GOOD);
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

static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = { { "1", 1 },
		     { "500m", 500u << 20 },
		     { "10G", (uint64_t)10 << 30 },
		     { "64K", 65536 },
		     { "2T", (uint64_t)2 << 40 } };
	static const char *const wrong[] = {
		"0", "", "K", "1P", "1 M", "-1", "99999999999999999999", "9999999999999T"
	};
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(good); i++) {
		assert_true(ct_size_parse(good[i].text, strlen(good[i].text), &bytes));
		assert_int_equal(bytes, good[i].bytes);
		assert_int_equal(check(CTRACE_PROPERTY_SIZE, good[i].text), CT_PROPERTY_GOOD);
	}
	for (size_t i = 0; i < CT_COUNT(wrong); i++)
		assert_false(ct_size_parse(wrong[i], strlen(wrong[i]), &bytes));
	assert_int_equal(check(CTRACE_PROPERTY_SIZE, "1P"), CT_PROPERTY_WRONG);
	assert_int_equal(check(CTRACE_PROPERTY_CAPACITY, "1P"), CT_PROPERTY_WRONG);
	assert_string_equal(diagnostic.message, "not a size: \"1P\"");
	assert_int_equal(check(CTRACE_PROPERTY_CAPACITY, "1048575"), CT_PROPERTY_WRONG);
	assert_string_equal(diagnostic.message, "too small: \"1048575\"");
}

static void parts_of_addresses(void **state)
{
	static const struct {
		enum ctrace_property_kind kind;
		const char *good[6], *wrong[8];
	} cases[] = {
		{ CTRACE_PROPERTY_SERVERS,
		  { "nats://h", "tls://u:p@h1:4222,h2", "nats://[::1]:4222", "nats://a, nats://b",
		    "" },
		  { "h", "http://h", "nats://", "nats://h/S", "nats://h:0", "nats://h,",
		    "nats://a b", "nats://a, tls://b" } },
		{ CTRACE_PROPERTY_WORD,
		  { "TRACES", "" },
		  { "a.b", "a b", "*", ">", "a/b", "a\\b" } },
		{ CTRACE_PROPERTY_SUBJECT,
		  { "ctrace", "a.b.c", "" },
		  { ".a", "a.", "a..b", "a.*", "a >" } },
		{ CTRACE_PROPERTY_COPIES, { "1", "5", "" }, { "0", "6", "10", "x" } },
		{ CTRACE_PROPERTY_AGE,
		  { "90s", "60s", "1m", "12h", "7d", "" },
		  { "0", "d", "7w", "1 d", "7", "59s", "106752d", "9223372036855s" } },
		{ CTRACE_PROPERTY_DURATION,
		  { "0s", "90s", "5m", "7d", "" },
		  { "0", "d", "7w", "1 d", "7", "106752d" } },
		{ CTRACE_PROPERTY_CAPACITY,
		  { "1M", "1048576", "10g", "" },
		  { "1", "1K", "1023k", "1P" } },
		{ CTRACE_PROPERTY_PATH, { "/a/b c", "" }, { "a", "./a", "/a\nb" } },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		for (size_t j = 0; j < CT_COUNT(cases[i].good) && cases[i].good[j] != NULL; j++)
			assert_int_equal(check(cases[i].kind, cases[i].good[j]), CT_PROPERTY_GOOD);
		for (size_t j = 0; j < CT_COUNT(cases[i].wrong) && cases[i].wrong[j] != NULL; j++)
			if (check(cases[i].kind, cases[i].wrong[j]) != CT_PROPERTY_WRONG)
				fail_msg("%d %s", (int)cases[i].kind, cases[i].wrong[j]);
	}
	/* no password in a message */
	assert_int_equal(check(CTRACE_PROPERTY_SERVERS, "nats://u:secret@h x"), CT_PROPERTY_WRONG);
	assert_null(strstr(diagnostic.message, "secret"));
	assert_int_equal(check(CTRACE_PROPERTY_SERVERS, "u:secret@h"), CT_PROPERTY_WRONG);
	assert_null(strstr(diagnostic.message, "secret"));
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
		cmocka_unit_test(sizes),
		cmocka_unit_test(parts_of_addresses),
		cmocka_unit_test(variables),
		cmocka_unit_test(the_emitters_know_the_same_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
