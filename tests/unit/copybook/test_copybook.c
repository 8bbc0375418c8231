/*
 * test_copybook.c - a copybook as a whole: files, records by name, limits, the types of mfctf.cpy.
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

static enum ctrace_status open_as(const char *path, const char *record,
				  struct ct_diagnostic *diagnostic, uint32_t *out_size)
{
	struct ct_copybook_options options = { .record = record };
	struct ct_copybook *copybook = NULL;
	struct ct_buf wrong = { 0 };
	enum ctrace_status status = ct_copybook_open(path, &options, &copybook, diagnostic, &wrong);

	if (status == CTRACE_OK) {
		*out_size = ct_copybook_size(copybook);
		if (record != NULL)
			assert_true(ct_name_is(record, strlen(record), ct_copybook_name(copybook)));
		ct_copybook_destroy(copybook);
	} else {
		assert_string_equal(ct_buf_text(&wrong), path);
	}
	ct_buf_fini(&wrong);
	return status;
}

static void the_record_is_the_first_or_the_one_with_the_name(void **state)
{
	struct ct_diagnostic diagnostic;
	uint32_t size = 0;

	(void)state;
	write_file(
		"records.cpy",
		"01 T TYPEDEF. 05 A PIC X(9).\n01 A PIC X.\n01 B. 05 C PIC X(2).\n77 D PIC X(3).\n01 E REDEFINES A PIC X(4).\n");
	assert_int_equal(open_as("records.cpy", NULL, &diagnostic, &size), CTRACE_OK);
	assert_int_equal(size, 1);
	assert_int_equal(open_as("records.cpy", "b", &diagnostic, &size), CTRACE_OK);
	assert_int_equal(size, 2);
	assert_int_equal(open_as("records.cpy", "D", &diagnostic, &size), CTRACE_OK);
	assert_int_equal(size, 3);
	assert_int_equal(open_as("records.cpy", "E", &diagnostic, &size), CTRACE_OK);
	assert_int_equal(size, 4);
	assert_int_equal(open_as("records.cpy", "C", &diagnostic, &size), CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "the copybook has no record \"C\"");
}

static void a_file_that_is_not_there_is_said_to_be_so(void **state)
{
	struct ct_diagnostic diagnostic;
	uint32_t size;

	(void)state;
	assert_int_equal(open_as("missing.cpy", NULL, &diagnostic, &size), CTRACE_NOT_FOUND);
	assert_int_equal(diagnostic.line, 0);
	assert_int_equal(strncmp(diagnostic.message, "cannot be read: ", 16), 0);
	write_file("empty.cpy", "");
	assert_int_equal(open_as("empty.cpy", NULL, &diagnostic, &size), CTRACE_SYNTAX_ERROR);
}

/* An error in one record does not matter to the others, when it is only about sizes. */
static void only_the_record_itself_is_laid_out(void **state)
{
	struct ct_diagnostic diagnostic;
	uint32_t size = 0;

	(void)state;
	write_file("two.cpy", "01 A PIC X.\n01 B. 05 C.\n");
	assert_int_equal(open_as("two.cpy", "A", &diagnostic, &size), CTRACE_OK);
	assert_int_equal(open_as("two.cpy", "B", &diagnostic, &size), CTRACE_SYNTAX_ERROR);
	assert_int_equal(diagnostic.line, 2);
}

static void a_copybook_is_at_most_a_mebibyte(void **state)
{
	struct ct_copybook *copybook;
	struct ct_diagnostic diagnostic;
	char *text = test_malloc(CT_COPYBOOK_LIMIT + 1);

	(void)state;
	memset(text, ' ', CT_COPYBOOK_LIMIT + 1);
	memcpy(text, "01 R PIC X.", 11);
	assert_int_equal(
		ct_copybook_parse("t", text, CT_COPYBOOK_LIMIT, NULL, &copybook, &diagnostic, NULL),
		CTRACE_OK);
	ct_copybook_destroy(copybook);
	assert_int_equal(ct_copybook_parse("t", text, CT_COPYBOOK_LIMIT + 1, NULL, &copybook,
					   &diagnostic, NULL),
			 CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "the copybook is too long");
	test_free(text);
}

/* The project's own copybook makes its types from REPLACE. */
static void types_of_mfctf_cpy_are_read(void **state)
{
	struct ct_copybook_options options = { .directories = NULL };
	char directory[4096];

	(void)state;
	snprintf(directory, sizeof directory, "%s/copy", getenv("CTRACE_SOURCE"));
	options.directories = directory;
	assert_places_with(
		&options, "       copy \"mfctf.cpy\".\n       01  e  cblt-trc-event.\n",
		"e@0+44 cblte-trcevt-version@0+4 cblte-trcevt-flags@4+4 cblte-trcevt-event-id@8+4 cblte-trcevt-level@12+4 "
		"cblte-trcevt-data-count@16+4 cblte-trcevt-event-len@20+8 cblte-trcevt-event-type@28+8 cblte-trcevt-event-data@36+8 ");
}

int test_copybook(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_record_is_the_first_or_the_one_with_the_name),
		cmocka_unit_test(a_file_that_is_not_there_is_said_to_be_so),
		cmocka_unit_test(only_the_record_itself_is_laid_out),
		cmocka_unit_test(a_copybook_is_at_most_a_mebibyte),
		cmocka_unit_test(types_of_mfctf_cpy_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
