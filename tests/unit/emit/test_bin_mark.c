/*
 * test_bin_mark.c - comments in the metadata that tell of streams.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

static void the_last_mark_counts(void **state)
{
	static const char text[] =
		"x /* closed\nstream.1 5\n*/\nevent\n/* closed\nstream.1 9\n*/\nmore /* closed\nno end";
	size_t end = 0;
	const char *mark = ct_bin_mark_find(text, sizeof text - 1, CT_BIN_MARK_CLOSED, &end);

	(void)state;
	assert_ptr_equal(mark, strstr(text, "/* closed\nstream.1 9"));
	assert_int_equal(end, (size_t)(strstr(text, "more") - text));
	assert_null(ct_bin_mark_find(text, sizeof text - 1, CT_BIN_MARK_LOST, &end));
	assert_null(ct_bin_mark_find("", 0, CT_BIN_MARK_CLOSED, &end));
}

static enum ctrace_status take(const char *text, struct ct_bin_directory *directory)
{
	memset(directory, 0, sizeof *directory);
	return ct_bin_marks_take(directory, text, strlen(text));
}

static void what_is_added_is_taken(void **state)
{
	static struct ct_bin_directory directory;
	struct ct_buf text = { 0 };

	(void)state;
	ct_buf_add_text(&text, CT_BIN_MARK_LOST);
	ct_bin_mark_add(&text, 3, &(struct ct_bin_mark){ .value = 17 });
	ct_bin_mark_add(&text, 4, &(struct ct_bin_mark){ .value = 0 }); /* nothing to tell */
	ct_buf_add_text(&text, CT_BIN_MARK_END CT_BIN_MARK_CLOSED);
	ct_bin_mark_add(
		&text, 3,
		&(struct ct_bin_mark){ .value = 1234567890123u, .last_at = 1234567000000u });
	ct_bin_mark_add(&text, CT_BIN_LOST, &(struct ct_bin_mark){ .value = 66 });
	ct_buf_add_text(&text, CT_BIN_MARK_END);
	assert_int_equal(take(ct_buf_text(&text), &directory), CTRACE_OK);
	assert_int_equal(directory.streams[3]->offset, 1234567890123u);
	assert_int_equal(directory.streams[3]->last_at, 1234567000000u);
	assert_int_equal(directory.streams[3]->lost_base, 17);
	assert_null(directory.streams[4]);
	assert_int_equal(directory.lost->offset, 66);
	ct_bin_streams_free(&directory);
	ct_buf_fini(&text);
}

static void damaged_marks_are_refused(void **state)
{
	static const char *const marks[] = {
		"/* closed\nstream.1\n*/\n",       "/* closed\nstream.1 \n*/\n",
		"/* closed\nstream.1 x\n*/\n",     "/* closed\nstream.1 1234567890123456789\n*/\n",
		"/* closed\nstream.99999 1\n*/\n", "/* closed\n\n*/\n",
		"/* closed\nstream.1 1 */\n",      "/* closed\nstream.1 1 \n*/\n",
		"/* closed\nstream.1 1 x\n*/\n",   "/* closed\nstream.1 1 2 3\n*/\n",
	};
	static struct ct_bin_directory directory;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(marks); i++) {
		assert_int_equal(take(marks[i], &directory), CTRACE_DAMAGED);
		ct_bin_streams_free(&directory);
	}
}

/* A reader walks over the lines by itself. */
static void marks_are_read_line_by_line(void **state)
{
	static const char text[] = "stream.1 5\nstream.lost 66\nstream.2 700 600\n*/\nno mark\n";
	const char *at = text, *end = text + sizeof text - 1;
	struct ct_bin_mark mark = { .value = 4711 };
	uint32_t id;

	(void)state;
	assert_int_equal(ct_bin_mark_next(&at, end, &id, &mark), CTRACE_OK);
	assert_true(id == 1 && mark.value == 5 && mark.last_at == 0);
	assert_int_equal(ct_bin_mark_next(&at, end, &id, &mark), CTRACE_OK);
	assert_true(id == CT_BIN_LOST && mark.value == 66);
	assert_int_equal(ct_bin_mark_next(&at, end, &id, &mark), CTRACE_OK);
	assert_true(id == 2 && mark.value == 700 && mark.last_at == 600);
	assert_ptr_equal(at, strstr(text, "*/"));
	for (unsigned i = 0; i < 2; i++) { /* it stays there */
		assert_int_equal(ct_bin_mark_next(&at, end, &id, &mark), CTRACE_NOT_FOUND);
		assert_ptr_equal(at, strstr(text, "*/"));
	}
	/* A text that ends in the middle of a line is none, whatever follows it in memory. */
	for (size_t cut = 0; cut < strlen("stream.1 5\n"); cut++) {
		at = text;
		assert_int_equal(ct_bin_mark_next(&at, text + cut, &id, &mark), CTRACE_DAMAGED);
		assert_ptr_equal(at, text);
	}
}

int test_bin_mark(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_mark_counts),
		cmocka_unit_test(what_is_added_is_taken),
		cmocka_unit_test(damaged_marks_are_refused),
		cmocka_unit_test(marks_are_read_line_by_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
