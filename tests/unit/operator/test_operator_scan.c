/*
 * test_operator_scan.c - one line as operands of a table that no command has.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator_fixture.h"

#include "operator/operator_scan.h"

static struct ct_parser reading;
static struct ct_diagnostic diagnostic;
#define FLAG_AT 90u /* in taken, behind the text */

static char taken[100]; /* the operands, in their order */

static void take_value(struct ct_parser *parser, void *out)
{
	struct ct_span value;

	assert_ptr_equal(out, taken);
	if (ct_operand_value(parser, "a value", &value))
		(void)snprintf(taken + strlen(taken), sizeof taken - strlen(taken), "<%.*s>",
			       (int)value.size, value.at);
}

static void take_word(struct ct_parser *parser, void *out)
{
	(void)parser;
	assert_ptr_equal(out, taken);
	(void)strncat(taken, "!", 2);
}

/* BLUE sets a flag and is not read, LAST does neither. */
static const struct ct_operand rows[] = {
	{ "ONE", true, false, 0, .read = take_value },
	{ "TWO", true, false, 1, .read = take_value },
	{ "RED", false, false, 2, .read = take_word },
	{ "BLUE", false, false, 2, .flag = FLAG_AT + 1 },
	{ "LAST", false, true, 3, .flag = 0 },
};
static const struct ct_operand_table table = { .rows = rows,
					       .count = CT_COUNT(rows),
					       .refusal = "is not an operand of it" };

static bool read_text(const char *text)
{
	struct ct_given given = { .group = { { NULL, 0 } } };
	size_t size = strlen(text);

	put_line(text, size);
	memset(&diagnostic, 0, sizeof diagnostic);
	memset(taken, 0, sizeof taken);
	assert_true(ct_line_start(&reading, line, size, "the line", &diagnostic));
	assert_true(ct_line_is_text(&reading));
	return ct_operands_read(&reading, &table, taken, &given);
}

static void assert_taken(const char *text, const char *wanted)
{
	assert_true(read_text(text));
	assert_string_equal(taken, wanted);
}

static void assert_refused(const char *text, unsigned column, const char *message,
			   const char *expected)
{
	assert_false(read_text(text));
	assert_string_equal(diagnostic.message, message);
	assert_string_equal(diagnostic.expected, expected);
	assert_int_equal(diagnostic.column, column);
	assert_int_equal(diagnostic.line, 0);
}

static void operands_are_read(void **state)
{
	(void)state;
	assert_taken("ONE=a", "<a>");
	assert_taken(" two = (b) ,\tone=a ", "<b><a>");
	assert_taken("red,ONE=a=b'c,LAST", "!<a=b'c>");
	assert_taken("LAST \n", "");
	assert_taken("TWO=ONE,ONE=LAST", "<ONE><LAST>");
	assert_int_equal(taken[FLAG_AT], 0);
	assert_taken("TWO=1,blue", "<1>");
	assert_int_equal(taken[FLAG_AT], 1);
}

static void expected_words(void **state)
{
	(void)state;
	assert_refused("", 1, "the line ends here", "ONE=, TWO=, RED, BLUE or LAST");
	assert_refused("ONE=a,", 7, "the line ends here", "TWO=, RED, BLUE or LAST");
	assert_refused("RED,", 5, "the line ends here", "ONE=, TWO= or LAST");
	assert_refused("BLUE,TWO=1,", 12, "the line ends here", "ONE= or LAST");
	assert_refused("BLUE,TWO=1,ONE=1,", 18, "the line ends here", "LAST");
	assert_refused("BLEU", 1, "\"BLEU\" is not an operand of it (did you mean BLUE?)",
		       "ONE=, TWO=, RED, BLUE or LAST");
	assert_refused("RED,BLUE", 5, "\"BLUE\" contradicts RED", "each operand once");
	assert_refused("ONE=1,one=2", 7, "\"one\" is there already", "each operand once");
	assert_refused("LAST,ONE=1", 1, "\"LAST\" is not the last operand", "nothing behind it");
	assert_refused("RED LAST", 5, "\"LAST\" is not expected here", "\",\"");
}

static void values(void **state)
{
	(void)state;
	assert_refused("ONE", 4, "the line ends here", "\"=\"");
	assert_refused("ONE=", 5, "the line ends here", "a value");
	assert_refused("ONE=()", 6, "\")\" is not expected here", "a value");
	assert_refused("ONE=(a", 7, "the line ends here", "\")\"");
	assert_refused("ONE=(a b)", 8, "\"b\" is not expected here", "\")\"");
	assert_refused("ONE=((a))", 6, "\"(\" is not expected here", "a value");
}

/* Of several errors the first one is kept. */
static void first_diagnostic(void **state)
{
	static const struct ct_span word = { line, 1 };

	(void)state;
	assert_true(read_text("RED"));
	ct_diagnose_value(&reading, word, 0);
	assert_int_equal(reading.code, 0);
	ct_diagnose_value(&reading, word, CTRACE_RSN_ASID_ZERO);
	ct_diagnose_value(&reading, word, CTRACE_RSN_WTR_NAME);
	assert_int_equal(reading.code, CTRACE_RSN_ASID_ZERO);
	assert_string_equal(diagnostic.message, "\"R\" is zero");
}

static void lines(void **state)
{
	(void)state;
	memset(line, 'x', sizeof line);
	assert_true(ct_line_start(&reading, line, CT_OPERATOR_LINE, "the line", &diagnostic));
	assert_ptr_equal(reading.end, line + CT_OPERATOR_LINE);
	assert_false(ct_line_start(&reading, line, CT_OPERATOR_LINE + 1, "the line", &diagnostic));
	assert_string_equal(diagnostic.message, "the line is too long");
	assert_int_equal(diagnostic.column, CT_OPERATOR_LINE + 1);
	assert_true(ct_line_start(&reading, NULL, 0, "the line", &diagnostic));
	assert_true(reading.at == reading.end);
	put_line("a\tb\x1F \n", 6);
	assert_true(ct_line_start(&reading, line, 6, "the line", &diagnostic));
	assert_ptr_equal(reading.end, line + 4);
	assert_false(ct_line_is_text(&reading));
	assert_int_equal(diagnostic.column, 4);
}

int test_operator_scan(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_are_read),
		cmocka_unit_test(expected_words),
		cmocka_unit_test(values),
		cmocka_unit_test(first_diagnostic),
		cmocka_unit_test(lines),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
