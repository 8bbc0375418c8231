/*
 * test_copybook_replace.c - COPY ... REPLACING and REPLACE: what becomes what, and how far it goes.
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
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
