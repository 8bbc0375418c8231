/*
 * test_copybook_copy.c - files that COPY finds, and what REPLACING and REPLACE replace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void copy_takes_files_by_any_of_their_names(void **state)
{
	struct ct_copybook_options options = { .directories = "nowhere:lib" };

	(void)state;
	assert_int_equal(system("mkdir -p lib/sub"), 0);
	write_file("one.cpy", "05 A PIC X.\n");
	write_file("TWO.CPY", "05 B PIC X.\n");
	write_file("lib/three", "           05 C PIC X.\n");
	write_file("lib/sub/four.cob", "05 D PIC X.\n");
	assert_fields_with(&options,
			   "01 R. COPY ONE. COPY two SUPPRESS. COPY 'three'. COPY four IN sub.",
			   "abcd", 4, "A=a\nB=b\nC=c\nD=d\n");
}

static void what_is_not_there_cannot_be_copied(void **state)
{
	(void)state;
	assert_diagnostic("01 R.\n  COPY nowhere.\n", 2, 3, "there is no copybook \"nowhere\"");
	assert_diagnostic("01 R.\n  COPY .\n", 2, 3, "COPY without the name of a file");
	assert_diagnostic("01 R.\n  COPY\n", 2, 3, "COPY without the name of a file");
	assert_diagnostic("01 R. COPY a b.\n", 1, 14, "COPY does not end");
}

static void a_diagnostic_is_in_the_file_that_has_it(void **state)
{
	static const char text[] = "01 R.\n COPY wrong.\n";
	struct ct_copybook *copybook;
	struct ct_diagnostic diagnostic;
	struct ct_buf path = { 0 };

	(void)state;
	write_file("wrong.cpy", "\n05 A\n   PICK X.\n");
	assert_int_equal(ct_copybook_parse("test.cpy", text, strlen(text), NULL, &copybook,
					   &diagnostic, &path),
			 CTRACE_SYNTAX_ERROR);
	assert_string_equal(ct_buf_text(&path), "wrong.cpy");
	assert_int_equal(diagnostic.line, 3);
	assert_int_equal(diagnostic.column, 4);
	assert_string_equal(diagnostic.expected, "PIC?");
	ct_buf_fini(&path);
}

static void a_copybook_does_not_copy_itself(void **state)
{
	(void)state;
	write_file("ring1.cpy", "COPY ring2.\n");
	write_file("ring2.cpy", "COPY ring1.\n");
	assert_diagnostic("01 R. COPY ring1.\n", 1, 1, "the copybook copies itself");
}

static void copies_are_at_most_16_deep(void **state)
{
	char path[32], text[32];

	(void)state;
	for (int i = 1; i <= 17; i++) {
		snprintf(path, sizeof path, "deep%d.cpy", i);
		snprintf(text, sizeof text, i < 17 ? "COPY deep%d.\n" : "05 X PIC X.\n", i + 1);
		write_file(path, text);
	}
	assert_diagnostic("01 R. COPY deep1.\n", 1, 1, "too many copybooks copy each other");
	assert_fields("01 R. COPY deep2.\n", "x", 1, "X=x\n");
}

/* A text that doubles itself in each of sixteen files is stopped by what is read. */
static void what_is_copied_counts(void **state)
{
	char path[32], text[64];

	(void)state;
	for (int i = 1; i <= 15; i++) {
		snprintf(path, sizeof path, "twice%d.cpy", i);
		snprintf(text, sizeof text,
			 i < 15 ? "COPY twice%d. COPY twice%d.\n" : "05 PIC X.\n", i + 1, i + 1);
		write_file(path, text);
	}
	assert_diagnostic("01 R. COPY twice1.\n", 1, 1, "too many copybooks copy each other");
}

static void assert_copied(const char *copied, const char *replacing, const char *record,
			  const char *expected)
{
	char text[512];

	write_file("copied.cpy", copied);
	snprintf(text, sizeof text, "01 R. COPY copied REPLACING %s.\n", replacing);
	assert_fields(text, record, strlen(record), expected);
}

static void parts_of_names_are_replaced_where_they_are_tokens(void **state)
{
	(void)state;
	assert_copied("05 :TAG:-A PIC X. 05 B-:TAG: PIC X.", "==:TAG:== BY ==CUST==", "xy",
		      "CUST-A=x\nB-CUST=y\n");
	assert_copied("05 (P)A PIC X.", "==(P)== BY ==Q-==", "x", "Q-A=x\n");
	assert_copied("05 :TAG:A PIC X.", "==:tag:== BY ====", "x", "A=x\n");
}

static void words_are_replaced_whole(void **state)
{
	(void)state;
	assert_copied("05 A PIC X. 05 AA PIC X.", "A BY NEW", "xy", "NEW=x\nAA=y\n");
	assert_copied("05 A PIC 9.", "9 BY X ==A== BY ==B==", "x", "B=x\n");
	assert_copied("05 A PIC X VALUE 'a'. 88 Q VALUE 'v'.", "'v' BY 'w'", "w", "A=w\nA IS Q\n");
}

static void runs_are_replaced(void **state)
{
	(void)state;
	assert_copied("05 A PIC X(10) VALUE SPACES.", "==X(10) VALUE SPACES== BY ==X(2)==", "ab",
		      "A=ab\n");
	assert_copied("05 A PIC X. 05 B PIC X. 05 C PIC X.", "==05 B PIC X.== BY ====", "ac",
		      "A=a\nC=c\n");
}

static void ends_of_names_are_replaced(void **state)
{
	(void)state;
	assert_copied("05 OLD-A PIC X. 05 OLDER PIC X. 05 X-OLD PIC X.",
		      "LEADING ==OLD== BY ==NEW==", "abc", "NEW-A=a\nNEWER=b\nX-OLD=c\n");
	assert_copied("05 A-OLD PIC X. 05 OLD-A PIC X.", "TRAILING ==-OLD== BY ====", "ab",
		      "A=a\nOLD-A=b\n");
}

static void what_was_put_in_is_not_replaced_again(void **state)
{
	(void)state;
	assert_copied("05 A PIC X. 05 B PIC X.", "==A== BY ==B== ==B== BY ==A==", "xy",
		      "B=x\nA=y\n");
}

static void replace_holds_until_it_is_off(void **state)
{
	(void)state;
	assert_fields("REPLACE ==A== BY ==Q==. 01 R. 05 A PIC X. REPLACE OFF. 05 A PIC X.", "xy", 2,
		      "Q=x\nA=y\n");
	assert_fields(
		"REPLACE ==A== BY ==Q==. REPLACE ==B== BY ==S==. 01 R. 05 A PIC X. 05 B PIC X.",
		"xy", 2, "A=x\nS=y\n");
	assert_fields(
		"REPLACE ==A== BY ==Q==. REPLACE ALSO ==B== BY ==S==. 01 R. 05 A PIC X. REPLACE LAST OFF. 05 B PIC X. 05 A PIC X.",
		"xyz", 3, "Q=x\nB=y\nQ=z\n");
	assert_fields("REPLACE ==T1== BY ==. 10 A PIC X. 10 B PIC X==. 01 R. 05 G T1. 05 H PIC X.",
		      "xyz", 3, "A=x\nB=y\nH=z\n");
}

static void what_is_not_complete_is_diagnosed_about(void **state)
{
	(void)state;
	assert_diagnostic("REPLACE ==A== BY.\n", 1, 17, "REPLACING or REPLACE is not complete");
	assert_diagnostic("REPLACE ==A== ==B==.\n", 1, 15, "REPLACING or REPLACE is not complete");
	assert_diagnostic("REPLACE ==A== BY ==B==\n", 1, 22,
			  "REPLACING or REPLACE is not complete");
	assert_diagnostic("REPLACE ==== BY ==B==.\n", 1, 9, "REPLACING or REPLACE is not complete");
	assert_diagnostic("REPLACE LEADING ==A B== BY ==C==.\n", 1, 17,
			  "REPLACING or REPLACE is not complete");
	assert_diagnostic("REPLACE OFF x\n", 1, 13, "REPLACING or REPLACE is not complete");
	assert_diagnostic("REPLACE\n", 1, 1, "REPLACING or REPLACE is not complete");
}

/* A thousand nearly fitting patterns over a hundred thousand words end in a diagnostic. */
static void comparing_is_limited(void **state)
{
	struct ct_buf text = { 0 };
	struct ct_copybook *copybook;
	struct ct_diagnostic diagnostic;

	(void)state;
	ct_buf_add_text(&text, "REPLACE");
	for (int i = 0; i < 1000; i++)
		ct_buf_add_text(&text, " ==A A A A A A A A B== BY ==C==");
	ct_buf_add_text(&text, ".\n");
	for (int i = 0; i < 100000; i++)
		ct_buf_add_text(&text, "A ");
	assert_int_equal(
		ct_copybook_parse("t", text.data, text.size, NULL, &copybook, &diagnostic, NULL),
		CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "replacing takes too long");
	ct_buf_fini(&text);
}

/* Nor does a long word that is put in everywhere take more memory than one copybook may. */
static void what_is_put_in_is_limited(void **state)
{
	struct ct_buf text = { 0 };
	struct ct_copybook *copybook;
	struct ct_diagnostic diagnostic;

	(void)state;
	ct_buf_add_text(&text, "REPLACE LEADING ==A== BY ==");
	for (int i = 0; i < 500000; i++)
		ct_buf_add_char(&text, 'x');
	ct_buf_add_text(&text, "==.\n");
	for (int i = 0; i < 100000; i++)
		ct_buf_add_text(&text, "AB ");
	assert_int_equal(
		ct_copybook_parse("t", text.data, text.size, NULL, &copybook, &diagnostic, NULL),
		CTRACE_NOT_ENOUGH_MEMORY);
	assert_true(diagnostic.message[0] != '\0');
	ct_buf_fini(&text);
}

int test_copybook_copy(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(copy_takes_files_by_any_of_their_names),
		cmocka_unit_test(what_is_not_there_cannot_be_copied),
		cmocka_unit_test(a_diagnostic_is_in_the_file_that_has_it),
		cmocka_unit_test(a_copybook_does_not_copy_itself),
		cmocka_unit_test(copies_are_at_most_16_deep),
		cmocka_unit_test(what_is_copied_counts),
		cmocka_unit_test(parts_of_names_are_replaced_where_they_are_tokens),
		cmocka_unit_test(words_are_replaced_whole),
		cmocka_unit_test(runs_are_replaced),
		cmocka_unit_test(ends_of_names_are_replaced),
		cmocka_unit_test(what_was_put_in_is_not_replaced_again),
		cmocka_unit_test(replace_holds_until_it_is_off),
		cmocka_unit_test(what_is_not_complete_is_diagnosed_about),
		cmocka_unit_test(comparing_is_limited),
		cmocka_unit_test(what_is_put_in_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
