/*
 * test_filter_parse.c - what is no filter, and where it is wrong.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "filter_fixture.h"

struct diagnostic {
	const char *text;
	unsigned column;
	const char *message;  /* a part of it */
	const char *expected; /* likewise */
};

static void assert_diagnostic(const struct diagnostic *row)
{
	struct ct_filter *filter = NULL;
	struct ct_diagnostic diagnostic;
	enum ctrace_status status = ct_filter_parse(row->text, NOW, &filter, &diagnostic);

	if (status != CTRACE_SYNTAX_ERROR)
		fail_msg("status %d: %s", (int)status, row->text);
	assert_null(filter);
	assert_int_equal(diagnostic.line, 0);
	if (diagnostic.column != row->column || strstr(diagnostic.message, row->message) == NULL ||
	    strstr(diagnostic.expected, row->expected) == NULL)
		fail_msg("%s\ncolumn %u, not %u: %s; expected %s", row->text, diagnostic.column,
			 row->column, diagnostic.message, diagnostic.expected);
}

static void diagnostics_and_their_columns(void **state)
{
	static const struct diagnostic rows[] = {
		/* fields */
		{ "", 1, "the expression ends here", "a field" },
		{ "   ", 4, "the expression ends here", "a field" },
		{ "compnent == \"x\"", 1,
		  "\"compnent\" is no field of an event (did you mean component?)", "data.NAME" },
		{ "level > warn && evnt == 5", 17,
		  "\"evnt\" is no field of an event (did you mean event?)", "level" },
		{ "colour == 5", 1, "\"colour\" is no field of an event", "component" },
		{ "5 == event", 1, "\"5\" is no field", "component" },
		{ "\"x\" == component", 1, "\"\\\"\" is not expected here", "a field" },
		{ "component", 10, "the expression ends here", "==, !=, ~, !~ or in" },
		{ "level warn", 7, "\"warn\" is not expected here", "==, !=, <" },
		/* types */
		{ "level > \"abc\"", 9, "\"abc\" is no level",
		  "debug, info, warn, error, fatal or 0 to 4" },
		{ "level >= wran", 10, "\"wran\" is no level (did you mean warn?)", "debug" },
		{ "level >= 5", 10, "\"5\" is no level", "0 to 4" },
		{ "level == 5ms", 10, "\"5ms\" is no level", "" },
		{ "level == none", 10, "\"none\" is no level", "" },
		{ "level ~ warn", 7, "\"~\" does not go with level", "==, !=, <, <=, >, >= or in" },
		{ "component == 5", 14, "\"5\" is not in quotes", "a text in quotes" },
		{ "component == mf.rts", 14, "\"mf\" is not in quotes", "a text in quotes" },
		{ "component > \"x\"", 11, "\">\" does not go with component",
		  "==, !=, ~, !~ or in" },
		{ "event == \"OPEN\"", 10, "\"OPEN\" is no number", "compared with mnemonic" },
		{ "event == OPEN", 10, "\"OPEN\" is no number", "0 to 4294967295" },
		{ "event == 4294967296", 10, "\"4294967296\" is out of range", "0 to 4294967295" },
		{ "event == -1", 10, "\"-1\" is out of range", "0 to 4294967295" },
		{ "event == 1.5", 10, "\"1.5\" is no whole number", "" },
		{ "event == 5ms", 10, "\"5ms\" is no number", "" },
		{ "event == 5x", 11, "\"x\" is no unit of time", "ns, us, ms, s, m or h" },
		{ "event == 0xZ", 12, "\"Z\" is not expected here", "hexadecimal digits" },
		{ "event == 0x", 12, "the expression ends here", "hexadecimal digits" },
		{ "event ~ 5", 7, "\"~\" does not go with event", "" },
		{ "seq == 18446744073709551616", 8, "is out of range", "" },
		{ "time > 5", 8, "\"5\" is no time", "in quotes: 2026-01-31" },
		{ "time > \"soon\"", 8, "\"soon\" is no time", "-5m" },
		{ "time > \"2026-02-30\"", 8, "is no time", "" },
		{ "time > \"15:12\\x00\"", 8, "is no time", "" },
		{ "duration > 2", 12, "\"2\" has no unit of time", "2ms" },
		{ "duration > \"2ms\"", 12, "\"2ms\" is no duration", "2ms" },
		{ "duration > 2 ms", 12, "\"2\" has no unit", "" },
		{ "duration > -2ms", 14, "\"ms\" is not expected", "" },
		{ "asid == XYZ", 9, "\"XYZ\" is not expected here", "hexadecimal digits" },
		{ "asid == 10000", 9, "\"10000\" is out of range", "1 to 4 hexadecimal digits" },
		{ "asid == 1G", 10, "\"G\" is not expected here", "hexadecimal digits" },
		{ "asid == \"1F", 12, "the expression ends here", "\"" },
		{ "data[0] > abc", 11, "\"abc\" is not in quotes",
		  "a number, or a text in quotes" },
		{ "data[0] > 5ms", 11, "\"5ms\" is a duration", "a number, or a text in quotes" },
		{ "data[0] ~ 5", 11, "\"5\" is no pattern", "* and ?" },
		/* items */
		{ "data[", 6, "the expression ends here", "a value" },
		{ "data0 > 5", 1, "\"data0\" is no field", "" },
		{ "data4097 > 5", 1, "\"data4097\" is no field", "" },
		{ "data[x] > 5", 6, "\"x\" is no item", "0 to 4095" },
		{ "data[-1] > 5", 6, "\"-1\" is no item", "" },
		{ "data[4096] > 5", 6, "\"4096\" is no item", "" },
		{ "data[1.5] > 5", 6, "\"1.5\" is no item", "" },
		{ "data[\"\"] > 5", 6, "is no item", "" },
		{ "data[0 > 5", 8, "\">\" is not expected here", "]" },
		{ "data. > 5", 7, "\">\" is not expected here", "the name of an item" },
		{ "data.A..B > 5", 8, "\".\"", "the name of a field" },
		/* operators, lists and ranges */
		{ "event === 5", 9, "\"=\" is not expected here", "a value" },
		{ "event == 5 = 6", 12, "\"=\" is not expected here", "&&, || or the end" },
		{ "event in 5", 10, "\"5\" is not expected here", "( and a list" },
		{ "event in ()", 11, "\")\" is not expected here", "a value" },
		{ "event in (5", 12, "the expression ends here", ", .. or )" },
		{ "event in (5,)", 13, "\")\" is not expected here", "a value" },
		{ "event in (5 6)", 13, "\"6\" is not expected here", ", .. or )" },
		{ "event in (8..6)", 14, "\"6\" is less than the beginning of its range",
		  "the lesser one first" },
		{ "event in (6..)", 14, "\")\" is not expected here", "a value" },
		{ "event in (6...8)", 14, "\".\" is not expected here", "a value" },
		{ "component in (\"A\"..\"B\")", 18, "\"..\" does not go with names", "" },
		{ "data[0] in (1..\"B\")", 16, "\"B\" is of another kind", "" },
		{ "data[0] in (\"B\"..\"A\")", 18, "\"A\" is less than", "" },
		{ "data[0] in (1.6..1.5)", 18, "\"1.5\" is less than", "" },
		{ "event not 5", 7, "\"not\" is not expected here", "==" },
		/* texts */
		{ "component == \"abc", 14, "the text has no end", "another \"" },
		{ "component == 'abc\"", 14, "the text has no end", "another '" },
		{ "component == \"a\\qb\"", 16, "\"\\\\q\" stands for nothing", "\\n" },
		{ "component == \"a\\x1\"", 16, "\"\\\\x\" stands for nothing", "two digits" },
		/* parentheses and joints */
		{ "(event == 5", 12, "the expression ends here", ") for the ( in column 1" },
		{ "event == 5)", 11, "\")\" is not expected here", "&&, || or the end" },
		{ "level > 1 && ((event == 5 || event == 6)", 41, "the expression ends here",
		  ") for the ( in column 14" },
		{ "()", 2, "\")\" is not expected here", "a field, ! or (" },
		{ "event == 5 &&", 14, "the expression ends here", "a field" },
		{ "&& event == 5", 1, "\"&&\" is not expected here", "a field" },
		{ "event == 5 & level > 1", 12, "\"&\" is not expected here", "&&" },
		{ "event == 5 event == 6", 12, "\"event\" is not expected here",
		  "&&, || or the end" },
		{ "!", 2, "the expression ends here", "a field" },
		{ "event == 5 and and event == 6", 16, "\"and\" is no field", "" },
		/* what could do harm is shown escaped */
		{ "event\033[2J == 5", 6, "\"\\u{1B}\" is not expected here", "" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		assert_diagnostic(&rows[i]);
}

static void the_length_is_bounded(void **state)
{
	char *text = malloc(70000);
	struct ct_filter *filter = NULL;
	struct ct_diagnostic diagnostic;

	(void)state;
	memset(text, ' ', 70000);
	memcpy(text, "event == 5", 10);
	text[65536] = '\0';
	assert_int_equal(ct_filter_parse(text, NOW, &filter, &diagnostic), CTRACE_OK);
	ct_filter_destroy(filter);
	text[65536] = ' ';
	text[65537] = '\0';
	assert_diagnostic(&(struct diagnostic){ text, 65537, "too long", "65536" });
	free(text);
}

static void the_depth_is_bounded(void **state)
{
	char text[200];

	(void)state;
	for (unsigned kind = 0; kind < 2; kind++)
		for (unsigned depth = 64; depth <= 65; depth++) {
			struct ct_filter *filter = NULL;
			struct ct_diagnostic diagnostic;
			enum ctrace_status status;

			memset(text, kind == 0 ? '(' : '!', depth);
			memcpy(text + depth, "event == 5", 11);
			if (kind == 0) {
				memset(text + depth + 10, ')', depth);
				text[2 * depth + 10] = '\0';
			}
			status = ct_filter_parse(text, NOW, &filter, &diagnostic);
			if (depth == 64) {
				assert_int_equal(status, CTRACE_OK);
				ct_filter_destroy(filter);
			} else {
				assert_diagnostic(&(struct diagnostic){ text, 65, "is too deep",
									"at most 64" });
			}
		}
}

/* One after the other is no depth. */
static void any_number_of_groups(void **state)
{
	struct ct_read_event event = the_event();
	struct ct_filter *filter;
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	for (unsigned i = 0; i < 2000; i++)
		ct_buf_add_format(&text, "!(event == %u) && ", i + 100);
	ct_buf_add_text(&text, "(event == 7)");
	filter = parse(ct_buf_text(&text));
	assert_true(ct_filter_accepts(filter, &event));
	event.traced.event_id = 2000;
	assert_false(ct_filter_accepts(filter, &event));
	ct_filter_destroy(filter);
	ct_buf_fini(&text);
}

/* Each text of its own, not the rest of the expression: or a long list would take memory by its
 * square. */
static void a_long_list_of_texts(void **state)
{
	struct ct_read_event event = the_event();
	struct ct_filter *filter;
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	ct_buf_add_text(&text, "component in (''");
	while (text.size < 65000)
		ct_buf_add_text(&text, ",'X'");
	ct_buf_add_text(&text, ", 'MF.RTS')");
	filter = parse(ct_buf_text(&text));
	assert_true(ct_filter_accepts(filter, &event));
	ct_filter_destroy(filter);
	ct_buf_fini(&text);
}

static void lists_need_not_be_in_order(void **state)
{
	struct ct_filter *filter = parse("event in (18, 6..8, 7..12, 3, 4, 30..30, 13)");
	struct ct_read_event event = the_event();
	static const uint32_t wanted[] = { 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 18, 30 };
	size_t next = 0;

	(void)state;
	for (uint32_t id = 0; id < 40; id++) {
		bool is_wanted = next < CT_COUNT(wanted) && wanted[next] == id;

		event.traced.event_id = id;
		assert_int_equal(ct_filter_accepts(filter, &event), is_wanted);
		next += is_wanted;
	}
	ct_filter_destroy(filter);
}

static void ranges_in_each_other(void **state)
{
	struct ct_filter *filter = parse("event in (5..6, 1..100, 7..8, 50..60, 99..120)");
	struct ct_read_event event = the_event();

	(void)state;
	for (uint32_t id = 0; id < 200; id++) {
		event.traced.event_id = id;
		assert_int_equal(ct_filter_accepts(filter, &event), id >= 1 && id <= 120);
	}
	ct_filter_destroy(filter);
}

int test_filter_parse(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diagnostics_and_their_columns),
		cmocka_unit_test(the_length_is_bounded),
		cmocka_unit_test(the_depth_is_bounded),
		cmocka_unit_test(any_number_of_groups),
		cmocka_unit_test(a_long_list_of_texts),
		cmocka_unit_test(lists_need_not_be_in_order),
		cmocka_unit_test(ranges_in_each_other),
	};

	return cmocka_run_group_tests(tests, use_utc, NULL);
}
