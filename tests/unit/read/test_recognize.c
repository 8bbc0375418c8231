/*
 * test_recognize.c - what a path is at which there is no trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read_fixture.h"

static void write_file(const char *path, const char *bytes, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void files_by_what_they_begin_with(void **state)
{
	static const struct {
		const char *name, *bytes, *what;
	} rows[] = {
		{ "a.log", "# -MFTRACE Text Emitter-\n# CommandLine", "TEXTFILE" },
		{ "b", "\177ELF..", "program" },
		{ "c.yaml", "component: A\n", "--catalog" },
		{ "d.txt", "hello\n", "text file" },
		{ "e.ctb", "", "empty" },
		{ "f.xml", "<a/>", "XML" },
		{ "g.zst", "(\265/\375..", "zstd -d" },
		{ "h.csv", "time,time_ns,host", "ctrace export" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		write_file(rows[i].name, rows[i].bytes, strlen(rows[i].bytes));
		assert_non_null(strstr(ct_path_recognize(rows[i].name), rows[i].what));
	}
	write_file("x.ctb", "\1\0\2", 3);
	assert_non_null(strstr(ct_path_recognize("x.ctb"), "BINFILE"));
	write_file("x", "\1\0\2", 3);
	assert_null(strstr(ct_path_recognize("x"), "BINFILE"));
}

static void directories_devices_and_nothing(void **state)
{
	(void)state;
	assert_null(ct_path_recognize("nothing"));
	assert_null(ct_path_recognize("nothing/below"));
	assert_int_equal(
		system("mkdir -p empty lacking run && touch lacking/stream.0 run/session run/ring.0 ring.1"),
		0);
	assert_non_null(strstr(ct_path_recognize("empty"), "holds no trace"));
	assert_non_null(strstr(ct_path_recognize("lacking"), "metadata"));
	assert_non_null(strstr(ct_path_recognize("run/ring.0"), "name the directory"));
	assert_null(strstr(ct_path_recognize("ring.1"), "name the directory"));
	assert_non_null(strstr(ct_path_recognize("/dev/null"), "no file"));
}

static void why_a_file_cannot_be_read(void **state)
{
	char why[CT_UNREADABLE_SIZE];

	(void)state;
	assert_int_equal(system("mkfifo pipe && touch plain && ln -s plain link"), 0);
	assert_null(ct_path_unreadable("plain", why));
	assert_string_equal(ct_path_unreadable("pipe", why),
			    "it cannot be read: it is no regular file");
	assert_string_equal(ct_path_unreadable("link", why),
			    "it cannot be read: it is a link, and links are not followed");
	assert_string_equal(ct_path_unreadable("nothing", why),
			    "it cannot be read: No such file or directory");
}

int test_recognize(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_by_what_they_begin_with),
		cmocka_unit_test(directories_devices_and_nothing),
		cmocka_unit_test(why_a_file_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
