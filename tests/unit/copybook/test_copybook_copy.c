/*
 * test_copybook_copy.c - COPY: by which names a file is found, where errors are, and how deep and
 * how often.
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(copy_takes_files_by_any_of_their_names),
		cmocka_unit_test(what_is_not_there_cannot_be_copied),
		cmocka_unit_test(a_diagnostic_is_in_the_file_that_has_it),
		cmocka_unit_test(a_copybook_does_not_copy_itself),
		cmocka_unit_test(copies_are_at_most_16_deep),
		cmocka_unit_test(what_is_copied_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
