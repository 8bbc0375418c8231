/*
 * test_copybook_decode.c - records become fields: numbers of each usage, tables, redefinitions,
 * records that are too short or damaged.
 *
 * With arguments it is a tool, for tests/process/copybook.py: COPYBOOK RECORDS [option=value]...
 * prints the fields of each record.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static int diagnose(const char *path, const struct ct_diagnostic *diagnostic)
{
	fprintf(stderr, "%s:%u:%u: %s; expected %s\n", path, diagnostic->line, diagnostic->column,
		diagnostic->message, diagnostic->expected);
	return 1;
}

static void print_records(const struct ct_copybook *copybook, const struct ct_buf *records)
{
	size_t size = ct_copybook_size(copybook);

	for (size_t at = 0; at < records->size; at += size) {
		struct lines lines = { 0 };

		(void)ct_copybook_decode(
			copybook,
			(struct ct_record_bytes){
				.at = records->data + at,
				.size = records->size - at < size ? records->size - at : size },
			line_visitor(&lines), NULL);
		fwrite(lines.out.data, 1, lines.out.size, stdout);
		ct_buf_fini(&lines.out);
	}
}

extern char **test_arguments;

static int run_tool(char **argv)
{
	struct ct_copybook_options options = { 0 };
	struct ct_copybook *copybook;
	struct ct_diagnostic diagnostic;
	struct ct_buf path = { 0 }, records = { 0 };
	int argc = 1, status = 0;

	while (argv[argc] != NULL)
		argc++;
	for (int i = 3; i < argc; i++) {
		if (strncmp(argv[i], "record=", 7) == 0)
			options.record = argv[i] + 7;
		else if (strncmp(argv[i], "directories=", 12) == 0)
			options.directories = argv[i] + 12;
		else if (strcmp(argv[i], "slide") == 0)
			options.is_sliding = true;
		else if (strcmp(argv[i], "mf") == 0)
			options.dialect = CT_DIALECT_MF;
		else if (strcmp(argv[i], "ibm") == 0)
			options.dialect = CT_DIALECT_IBM;
		else if (strcmp(argv[i], "default") != 0 &&
			 !ct_encoding_parse(argv[i], strlen(argv[i]), &options.encoding))
			return 2;
	}
	if (argc < 3 || ct_os_read_file(argv[2], (size_t)1 << 28, &records) != CTRACE_OK)
		return 2;
	if (ct_copybook_open(argv[1], &options, &copybook, &diagnostic, &path) != CTRACE_OK) {
		status = diagnose(ct_buf_text(&path), &diagnostic);
	} else {
		print_records(copybook, &records);
		ct_copybook_destroy(copybook);
	}
	ct_buf_fini(&path);
	ct_buf_fini(&records);
	return status;
}

/* ---- tests */

static void tables_are_as_long_as_they_say(void **state)
{
	static const char text[] =
		"01 R. 05 N PIC 9. 05 T OCCURS 1 TO 3 DEPENDING ON N. 10 A PIC X. 10 B OCCURS 2 PIC X.";

	(void)state;
	assert_fields(text, "2abcdef", 7,
		      "N=2\nA(1)=a\nB(1,1)=b\nB(1,2)=c\nA(2)=d\nB(2,1)=e\nB(2,2)=f\n");
	assert_fields(text, "1abc", 4, "N=1\nA(1)=a\nB(1,1)=b\nB(1,2)=c\n");
}

static void assert_result(const char *text, const void *bytes, size_t size, bool is_good,
			  size_t left_over)
{
	struct ct_copybook *copybook = parse(text, NULL);
	struct lines lines = { 0 };
	size_t left = SIZE_MAX;

	assert_int_equal(ct_copybook_decode(copybook,
					    (struct ct_record_bytes){ .at = bytes, .size = size },
					    line_visitor(&lines), &left),
			 is_good);
	assert_int_equal(left, left_over);
	ct_buf_fini(&lines.out);
	ct_copybook_destroy(copybook);
}

static void what_is_wrong_is_reported(void **state)
{
	static const char table[] = "01 R. 05 N PIC 9. 05 T OCCURS 1 TO 3 DEPENDING ON N PIC X.";

	(void)state;
	assert_result("01 R. 05 A PIC 9. 05 B PIC X.", "1x", 2, true, 0);
	assert_result("01 R. 05 A PIC 9. 05 B PIC X.", "1xyz", 4, false, 2);
	assert_result("01 R. 05 A PIC 9. 05 B PIC X.", "1", 1, false, 0);
	assert_result("01 R. 05 A PIC 9. 05 B PIC X.", "yx", 2, false, 0);
	assert_result(table, "2ab", 3, true, 0);
	assert_result(table, "2abc", 4, false, 1);
	assert_result(table, "9abc", 4, false, 0);
	assert_result(table, "0abc", 4, false, 2);
	assert_result(table, "xabc", 4, false, 2);
}

static void a_short_record_shows_what_is_there(void **state)
{
	static const char text[] = "01 R. 05 A PIC X(2). 05 B PIC X(4). 05 C PIC X.";

	(void)state;
	assert_fields(text, "abcd", 4, "A=ab\nB=!6364\n");
	assert_fields(text, "ab", 2, "A=ab\nB=!\n");
	assert_fields(text, "", 0, "A=!\n");
	assert_fields(
		"01 R. 05 A PIC X(2). 05 B REDEFINES A PIC X(9). 05 C REDEFINES A PIC 9(2). 05 D PIC X.",
		"12", 2, "A=12\nB=!3132\nC=12\n");
	assert_fields("01 R. 05 T OCCURS 5. 10 A PIC X. 10 B PIC X. 05 Z PIC X.", "abc", 3,
		      "A(1)=a\nB(1)=b\nA(2)=c\nB(2)=!\n");
}

static void a_counter_that_is_elsewhere_leaves_what_is_there(void **state)
{
	(void)state;
	assert_fields("01 R. 05 T PIC X(2) OCCURS 1 TO 9 DEPENDING ON ELSEWHERE.", "abcd", 4,
		      "T(1)=ab\nT(2)=cd\n");
}

static void tables_slide_when_they_are_reported_to(void **state)
{
	static const char text[] =
		"01 R. 05 N PIC 9. 05 T OCCURS 1 TO 3 DEPENDING ON N PIC X. 05 Z PIC X.";
	static const struct ct_copybook_options slide = { .is_sliding = true };

	(void)state;
	assert_fields(text, "1abcz", 5, "N=1\nT(1)=a\nZ=z\n");
	assert_fields_with(&slide, text, "1az", 3, "N=1\nT(1)=a\nZ=z\n");
	/* Behind a group that ends with a table it is so anyhow; and in a table of tables. */
	assert_fields(
		"01 R. 05 N PIC 9. 05 G. 10 T OCCURS 1 TO 3 DEPENDING ON N PIC X. 05 Z PIC X.",
		"1az", 3, "N=1\nT(1)=a\nZ=z\n");
	assert_fields(
		"01 R. 05 N PIC 9. 05 T OCCURS 0 TO 3 DEPENDING ON N. 10 M PIC 9. 10 U OCCURS 0 TO 3 DEPENDING ON M PIC X. 05 Z PIC X.",
		"22ab0z", 6, "N=2\nM(1)=2\nU(1,1)=a\nU(1,2)=b\nM(2)=0\nZ=z\n");
}

static void mainframe_records_are_read(void **state)
{
	static const struct ct_copybook_options ebcdic = { .encoding = CT_ENCODING_EBCDIC_037 };
	static const char text[] =
		"01 R. 05 A PIC X(3). 05 B PIC S9(3). 05 C PIC S9(2) SIGN LEADING SEPARATE. 05 D PIC S9(4) COMP-5. 05 E PIC S9(3) COMP-3. 05 F PIC ZZ9."
		" 05 N PIC 9. 05 T OCCURS 1 TO 5 DEPENDING ON N PIC X. 05 Z PIC X.";

	(void)state;
	assert_fields_with(
		&ebcdic, text,
		"\xC1\x82\x5A\xF0\xF4\xD2\x60\xF1\xF2\xFF\xFE\x12\x3C\x40\x40\xF7\xF2\x81\x82\xE9",
		20, "A=Ab!\nB=-042\nC=-12\nD=-00002\nE=+123\nF=  7\nN=2\nT(1)=a\nT(2)=b\nZ=Z\n");
	assert_fields_with(&ebcdic, "01 R PIC S9.", "\xC5", 1, "R=+5\n");
	assert_fields_with(&ebcdic, "01 R PIC S9.", "5", 1, "R=!35\n");
}

/* What the visitor is given beside the text. */
static void see(const struct ct_record_field *field, void *user)
{
	ct_buf_add_format(user, "%s kind %d depth %u at %u+%u occurrence %d%s%s%s picture %s\n",
			  field->name, field->kind, field->depth, field->offset, field->size,
			  field->occurrence, field->is_filler ? " filler" : "",
			  field->is_redefinition ? " again" : "", field->is_bad ? " bad" : "",
			  field->picture);
}

static void see_table(const struct ct_record_field *field, uint32_t count, void *user)
{
	ct_buf_add_format(user, "%u times ", count);
	see(field, user);
}

static void see_end(const struct ct_record_field *field, void *user)
{
	ct_buf_add_format(user, "end of %s\n", field->name);
}

static void fields_say_what_they_are(void **state)
{
	struct ct_buf seen = { 0 };
	struct ct_field_visitor visitor = { see, see_end, see_table, see_end, see, &seen };
	struct ct_copybook *copybook = parse(
		"01 R. 05 A PIC x(2). 05 B REDEFINES A. 10 PIC s9(2). 05 C OCCURS 0 TO 2 DEPENDING ON A9. 10 D COMP-1.",
		NULL);

	(void)state;
	(void)ct_copybook_decode(copybook,
				 (struct ct_record_bytes){ .at = "1x\0\0\0\0", .size = 6 },
				 &visitor, NULL);
	assert_string_equal(ct_buf_text(&seen),
			    "R kind 3 depth 0 at 0+10 occurrence 0 picture \n"
			    "A kind 0 depth 1 at 0+2 occurrence 0 picture X(2)\n"
			    "B kind 3 depth 1 at 0+2 occurrence 0 again picture \n"
			    "FILLER kind 1 depth 2 at 0+2 occurrence 0 filler picture S9(2)\n"
			    "end of B\n"
			    "1 times C kind 3 depth 1 at 2+4 occurrence 0 picture \n"
			    "C kind 3 depth 1 at 2+4 occurrence 1 picture \n"
			    "D kind 1 depth 2 at 2+4 occurrence 0 picture \n"
			    "end of C\n"
			    "end of C\n"
			    "end of R\n");
	ct_buf_fini(&seen);
	ct_copybook_destroy(copybook);
}

static void count_value(const struct ct_record_field *field, void *user)
{
	(void)field;
	(*(uint32_t *)user)++;
}

static void more_fields_than_the_limit_are_left_out(void **state)
{
	uint32_t count = 0;
	struct ct_field_visitor visitor = { .value = count_value, .user = &count };
	struct ct_copybook *copybook = parse("01 R. 05 A OCCURS 500. 10 B OCCURS 500 PIC X.", NULL);
	char *bytes = test_calloc(1, ct_copybook_size(copybook));

	(void)state;
	assert_false(ct_copybook_decode(
		copybook,
		(struct ct_record_bytes){ .at = bytes, .size = ct_copybook_size(copybook) },
		&visitor, NULL));
	assert_in_range(count, CT_RECORD_FIELDS_SHOWN / 2, CT_RECORD_FIELDS_SHOWN);
	test_free(bytes);
	ct_copybook_destroy(copybook);
}

/* A large group, thousands of conditions, thousands of times. */
static void comparing_is_limited(void **state)
{
	static const struct ct_field_visitor nobody;
	struct ct_buf text = { 0 };
	struct ct_copybook *copybook;
	char *bytes;

	(void)state;
	ct_buf_add_text(&text, "01 R. 05 A OCCURS 50.\n");
	for (int i = 0; i < 5000; i++)
		ct_buf_add_text(&text, "88 C VALUE ALL 'x'.\n");
	ct_buf_add_text(&text, "10 B PIC X(1000000).\n");
	copybook = parse(ct_buf_text(&text), NULL);
	bytes = test_malloc(ct_copybook_size(copybook));
	memset(bytes, 'x', ct_copybook_size(copybook));
	assert_false(ct_copybook_decode(
		copybook,
		(struct ct_record_bytes){ .at = bytes, .size = ct_copybook_size(copybook) },
		&nobody, NULL));
	test_free(bytes);
	ct_copybook_destroy(copybook);
	ct_buf_fini(&text);
}

int test_copybook_decode(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_as_long_as_they_say),
		cmocka_unit_test(what_is_wrong_is_reported),
		cmocka_unit_test(a_short_record_shows_what_is_there),
		cmocka_unit_test(a_counter_that_is_elsewhere_leaves_what_is_there),
		cmocka_unit_test(tables_slide_when_they_are_reported_to),
		cmocka_unit_test(mainframe_records_are_read),
		cmocka_unit_test(fields_say_what_they_are),
		cmocka_unit_test(more_fields_than_the_limit_are_left_out),
		cmocka_unit_test(comparing_is_limited),
	};

	if (test_arguments[1] != NULL)
		return run_tool(test_arguments);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
