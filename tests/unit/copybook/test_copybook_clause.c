/*
 * test_copybook_clause.c - the clauses of an entry, and the size that each word of USAGE gives a
 * field.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void clauses_come_in_any_order(void **state)
{
	(void)state;
	assert_fields(
		"01 R. 05 A VALUE IS 'x' PICTURE IS X(2) JUSTIFIED RIGHT. 05 B COMP-3 PIC S9(3) VALUE -1 SYNC. 05 C USAGE IS COMP PIC 9(4).",
		"ab\x12\x3d\x00\x07", 6, "A=ab\nB=-123\nC=0007\n");
	assert_fields("01 R IS GLOBAL EXTERNAL AS 'r'. 05 A PIC X, VALUES ARE SPACES;. 05 B PIC X.",
		      "ab", 2, "A=a\nB=b\n");
}

static void air_is_passed(void **state)
{
	(void)state;
	assert_places(
		"01 R. 05 N PIC 9. 05 T OCCURS 1 TO 3 TIMES DEPENDING ON N OF R ASCENDING KEY IS A B INDEXED BY I J. 10 A PIC X. 10 B PIC X "
		"SYNCHRONIZED RIGHT VALUES ARE 'x' JUST BLANK WHEN ZEROS.",
		"R@0+7 N@0+1 T@1+2 A@1+1 B@2+1 ");
	assert_fields(
		"01 R. 05 A PIC S99 SIGN IS LEADING SEPARATE CHARACTER. 05 B PIC S9 TRAILING SEPARATE. 05 C PIC S9 SIGN TRAILING.",
		"-121+3", 6, "A=-12\nB=1+\nC=+3\n");
}

static void diagnostics_have_their_place(void **state)
{
	(void)state;
	assert_diagnostic("01 R.\n   05 A PIX X.\n", 2, 9, "unknown clause \"PIX\"");
	assert_diagnostic("01 R. 05 A PIC X", 1, 16, "the last entry does not end");
	assert_diagnostic("01 R. 05 A PIC XQ.", 1, 17,
			  "the picture has a symbol that is not known");
	assert_diagnostic("01 R. 05 A PIC.", 1, 15, "PICTURE without a picture");
	assert_diagnostic("01 R. 05 A PIC X OCCURS 0.", 1, 25, "OCCURS \"0\"");
	assert_diagnostic("01 R. 05 A PIC X OCCURS 5 TO 3 DEPENDING ON B.", 1, 30,
			  "OCCURS at most \"3\"");
	assert_diagnostic("01 R. 05 A SIGN HERE PIC S9.", 1, 17, "SIGN \"HERE\"");
	assert_diagnostic("01 R PIC X VALUE.", 1, 17, "VALUE without a value");
	assert_diagnostic("01 R. 05 A REDEFINES.", 1, 21, "REDEFINES \".\"");
	assert_diagnostic("01 R. 05 A PIC X OCCURS 2 DEPENDING ON.", 1, 39, "DEPENDING ON \".\"");
	assert_diagnostic("01 R. 05 A TYPE 'x'.", 1, 17, "TYPE \"x\"");
}

static void the_nearest_word_is_suggested(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = { { "01 R. 05 A PICK X.", "PIC?" },
		     { "01 R. 05 A PIC 9 PACKED-DECIMALS.", "PACKED-DECIMAL?" },
		     { "01 R. 05 A WHATEVERITIS.",
		       "PIC, USAGE, OCCURS, REDEFINES, SIGN, VALUE or a period" } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_copybook *copybook;
		struct ct_diagnostic diagnostic;

		assert_int_equal(ct_copybook_parse("t", rows[i].text, strlen(rows[i].text), NULL,
						   &copybook, &diagnostic, NULL),
				 CTRACE_SYNTAX_ERROR);
		assert_string_equal(diagnostic.expected, rows[i].expected);
	}
}

/* One word, with a picture when it needs one, is a field of so many bytes, whether USAGE stands
 * before it or not. */
static void assert_size(const char *word, size_t word_size, const char *picture, uint32_t size)
{
	static const char *const before[] = { "", "USAGE ", "USAGE IS " };

	for (size_t i = 0; i < CT_COUNT(before); i++) {
		struct ct_copybook *copybook;
		char text[128];

		snprintf(text, sizeof text, "01 R. 05 A %s %s%.*s.", picture, before[i],
			 (int)word_size, word);
		copybook = parse(text, NULL);
		assert_int_equal(ct_copybook_size(copybook), size);
		ct_copybook_destroy(copybook);
	}
}

static void each_word_has_its_size(void **state)
{
	static const struct {
		const char *words, *picture;
		uint32_t size;
	} sizes[] = {
		{ "DISPLAY", "PIC S9(5)", 5 },
		{ "NATIONAL DISPLAY-1", "PIC X(5)", 5 },
		{ "COMP COMPUTATIONAL COMP-4 COMPUTATIONAL-4 BINARY", "PIC S9(5)", 4 },
		{ "COMP-5 COMPUTATIONAL-5", "PIC S9(5)", 4 },
		{ "COMP-X COMPUTATIONAL-X", "PIC 9(5)", 3 },
		{ "COMP-3 COMPUTATIONAL-3 packed-decimal", "PIC S9(5)", 3 },
		{ "COMP-6 COMPUTATIONAL-6", "PIC 9(5)", 3 },
		{ "COMP-1 COMPUTATIONAL-1 FLOAT-SHORT FLOAT-BINARY-32", "", 4 },
		{ "COMP-2 COMPUTATIONAL-2 FLOAT-LONG FLOAT-BINARY-64", "", 8 },
		{ "INDEX", "", 4 },
		{ "POINTER PROCEDURE-POINTER PROGRAM-POINTER FUNCTION-POINTER", "", 8 },
		{ "BINARY-CHAR", "", 1 },
		{ "BINARY-SHORT SIGNED-SHORT UNSIGNED-SHORT", "", 2 },
		{ "BINARY-LONG BINARY-INT SIGNED-INT UNSIGNED-INT", "", 4 },
		{ "BINARY-DOUBLE BINARY-LONG-LONG BINARY-C-LONG SIGNED-LONG UNSIGNED-LONG", "", 8 },
	};
	unsigned count = 0;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(sizes); i++)
		for (const char *at = sizes[i].words; *at != '\0'; count++) {
			size_t size = strcspn(at, " ");

			assert_size(at, size, sizes[i].picture, sizes[i].size);
			at += size + (at[size] == ' ');
		}
	assert_int_equal(count, 43);
	assert_size("BINARY-SHORT UNSIGNED", 21, "", 2);
	assert_size("BINARY-LONG SIGNED", 18, "", 4);
}

static void integers_have_the_sign_that_is_said(void **state)
{
	(void)state;
	assert_fields(
		"01 R. 05 A BINARY-CHAR. 05 B BINARY-CHAR UNSIGNED. 05 C UNSIGNED-SHORT. 05 D SIGNED-SHORT.",
		"\xFF\xFF\xFF\xFF\xFF\xFF", 6, "A=-001\nB=255\nC=65535\nD=-00001\n");
}

static void usage_has_a_word(void **state)
{
	(void)state;
	assert_diagnostic("01 R. 05 A USAGE 'x'.", 1, 18, "USAGE \"x\"");
	assert_diagnostic("01 R. 05 A USAGE", 1, 12, "USAGE the end");
	assert_diagnostic("01 R. 05 A PIC 9 'COMP'.", 1, 18, "unknown clause \"COMP\"");
	assert_diagnostic("01 R. 05 A PIC 9 COMP-33.", 1, 18, "unknown clause \"COMP-33\"");
}

int test_copybook_clause(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(clauses_come_in_any_order),
		cmocka_unit_test(air_is_passed),
		cmocka_unit_test(diagnostics_have_their_place),
		cmocka_unit_test(the_nearest_word_is_suggested),
		cmocka_unit_test(each_word_has_its_size),
		cmocka_unit_test(integers_have_the_sign_that_is_said),
		cmocka_unit_test(usage_has_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
