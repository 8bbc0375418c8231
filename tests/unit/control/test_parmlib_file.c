/*
 * test_parmlib_file.c - where a member is looked for, and every trouble on the way.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/control/control.h"

static char found_at[4096];
static struct ct_buf read_text;

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static uint32_t read_member(const char *name, const char *directories)
{
	if (directories == NULL)
		assert_int_equal(unsetenv("CTRACE_PARMLIB"), 0);
	else
		assert_int_equal(setenv("CTRACE_PARMLIB", directories, 1), 0);
	memset(found_at, 'x', sizeof found_at);
	ct_buf_clear(&read_text);
	ct_buf_add_text(&read_text, "before:");
	return ct_parmlib_read(name, &read_text, found_at);
}

static int set_up(void **state)
{
	(void)state;
	ct_buf_init(&read_text);
	if (mkdir("one", 0700) != 0 || mkdir("two", 0700) != 0)
		return -1;
	write_file("one/CTAPP00", "first", 5);
	write_file("two/CTAPP00", "second", 6);
	write_file("two/CTAPP01", "other", 5);
	write_file("two/CTEMPTY", "", 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ct_buf_fini(&read_text);
	return 0;
}

static void first_directory_counts(void **state)
{
	(void)state;
	assert_int_equal(read_member("CTAPP00", "one:two"), 0);
	assert_string_equal(ct_buf_text(&read_text), "before:first");
	assert_string_equal(found_at, "one/CTAPP00");
	/* a file is no directory */
	assert_int_equal(read_member("CTAPP00", "none::one/CTAPP00:two/:one:"), 0);
	assert_string_equal(ct_buf_text(&read_text), "before:second");
	assert_string_equal(found_at, "two//CTAPP00");
	assert_int_equal(read_member("CTAPP01", "one:two"), 0);
	assert_string_equal(ct_buf_text(&read_text), "before:other");
	assert_int_equal(read_member("CTEMPTY", "two"), 0);
	assert_string_equal(ct_buf_text(&read_text), "before:");
	assert_int_equal(symlink("../two/CTAPP01", "one/CTLINK"), 0);
	assert_int_equal(read_member("CTLINK", "one"), 0);
	assert_string_equal(ct_buf_text(&read_text), "before:other");
}

static void member_names(void **state)
{
	static const char *const bad[] = { "",    "APP00",     "XCTAPP", "ctapp00",
					   "C",   "CTAPP0000", "CT/APP", "../CT",
					   "CT.", "CTAPP 0",   "CT_" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(bad); i++) {
		assert_int_equal(read_member(bad[i], "one"), CTRACE_RSN_MEMBER_NAME);
		assert_string_equal(found_at, "");
	}
	assert_int_equal(read_member("CT", "one"), CTRACE_RSN_MEMBER_NOT_FOUND);
	assert_int_equal(read_member("CT@#$012", "one"), CTRACE_RSN_MEMBER_NOT_FOUND);
	assert_int_equal(ct_parmlib_read_any("IEASLP01", &read_text, found_at),
			 CTRACE_RSN_MEMBER_NOT_FOUND);
	assert_int_equal(ct_parmlib_read_any("IEA/../01", &read_text, found_at),
			 CTRACE_RSN_MEMBER_NAME);
}

static void assert_unread(const char *name, const char *directories, uint32_t reason,
			  const char *place)
{
	assert_int_equal(read_member(name, directories), reason);
	assert_string_equal(found_at, place);
	assert_string_equal(ct_buf_text(&read_text), "before:");
}

static void directories_without_it(void **state)
{
	char long_directory[5000];

	(void)state;
	assert_unread("CTNONE", "one:two", CTRACE_RSN_MEMBER_NOT_FOUND, "");
	assert_unread("CTNONE", "one:none", CTRACE_RSN_MEMBER_NOT_FOUND, "");
	assert_unread("CTAPP00", NULL, CTRACE_RSN_MEMBER_ALLOCATION, "");
	assert_unread("CTAPP00", "", CTRACE_RSN_MEMBER_ALLOCATION, "");
	assert_unread("CTAPP00", "::", CTRACE_RSN_MEMBER_ALLOCATION, "");
	assert_unread("CTAPP00", "none:one/CTAPP00", CTRACE_RSN_MEMBER_ALLOCATION, "");
	/* what fits into a path is a directory */
	for (size_t i = 0; i < sizeof long_directory; i++)
		long_directory[i] = i % 2 == 0 ? '.' : '/';
	long_directory[sizeof long_directory - 1] = '\0';
	assert_unread("CTAPP00", long_directory, CTRACE_RSN_MEMBER_ALLOCATION, "");
	memset(long_directory, 'x', sizeof long_directory);
	long_directory[300] = '\0'; /* longer than a file's name may be */
	assert_unread("CTAPP00", long_directory, CTRACE_RSN_MEMBER_ALLOCATION, "");
	assert_int_equal(symlink("CTNONE", "one/CTLOST"), 0);
	assert_unread("CTLOST", "one", CTRACE_RSN_MEMBER_NOT_FOUND, "");
}

static void no_regular_files(void **state)
{
	(void)state;
	assert_int_equal(mkdir("one/CTFOLDER", 0700), 0);
	assert_unread("CTFOLDER", "one:two", CTRACE_RSN_MEMBER_NOT_READABLE, "one/CTFOLDER");
	assert_int_equal(mkfifo("one/CTPIPE", 0600), 0);
	assert_unread("CTPIPE", "one:two", CTRACE_RSN_MEMBER_NOT_READABLE, "one/CTPIPE");
	assert_int_equal(symlink("CTROUND", "one/CTROUND"), 0);
	assert_unread("CTROUND", "one:two", CTRACE_RSN_MEMBER_NOT_READABLE, "one/CTROUND");
}

/* Whoever may write there could switch our traces: the next directory does not count then. */
static void what_everybody_may_write(void **state)
{
	(void)state;
	write_file("one/CTOPEN", "open", 4);
	write_file("two/CTOPEN", "two", 3);
	assert_int_equal(chmod("one/CTOPEN", 0646), 0);
	assert_unread("CTOPEN", "one:two", CTRACE_RSN_MEMBER_NOT_READABLE, "one/CTOPEN");
	assert_int_equal(chmod("one/CTOPEN", 0664), 0); /* a group that shares its members */
	assert_int_equal(read_member("CTOPEN", "one:two"), 0);
	assert_int_equal(chmod("one", 0707), 0);
	assert_unread("CTOPEN", "one:two", CTRACE_RSN_MEMBER_NOT_READABLE, "one/CTOPEN");
	assert_int_equal(chmod("one", 01777), 0); /* as /tmp is */
	assert_int_equal(read_member("CTOPEN", "one"), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown("one/CTOPEN", 65534, 65534), 0);
		assert_unread("CTOPEN", "one", CTRACE_RSN_MEMBER_NOT_READABLE, "one/CTOPEN");
	}
	assert_int_equal(chmod("one", 0770), 0);
	assert_int_equal(read_member("CTOPEN", "one"), 0);
	assert_int_equal(chmod("one", 0700), 0);
}

static void large_files(void **state)
{
	char *text = calloc(1, CT_PARMLIB_LIMIT + 1);

	(void)state;
	assert_non_null(text);
	write_file("one/CTLARGE", text, CT_PARMLIB_LIMIT);
	assert_int_equal(read_member("CTLARGE", "one"), 0);
	assert_int_equal(read_text.size, CT_PARMLIB_LIMIT + strlen("before:"));
	write_file("one/CTLARGE", text, CT_PARMLIB_LIMIT + 1);
	assert_unread("CTLARGE", "one", CTRACE_RSN_MEMBER_TOO_LARGE, "one/CTLARGE");
	free(text);
}

/* The second directory has the member too: trouble in the first is not passed over. */
static void kind(void **state)
{
	static const struct {
		enum ct_os_call call;
		int error;
		uint32_t reason;
	} cases[] = {
		{ CT_OS_OPEN, EACCES, CTRACE_RSN_MEMBER_NOT_READABLE },
		{ CT_OS_OPEN, EIO, CTRACE_RSN_MEMBER_IO },
		{ CT_OS_OPEN, EMFILE, CTRACE_RSN_MEMBER_ALLOCATION },
		{ CT_OS_OPEN, ENFILE, CTRACE_RSN_MEMBER_ALLOCATION },
		{ CT_OS_OPEN, ENOMEM, CTRACE_RSN_MEMBER_ALLOCATION },
		{ CT_OS_READ, EIO, CTRACE_RSN_MEMBER_IO },
		{ CT_OS_READ, ESTALE, CTRACE_RSN_MEMBER_IO },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		ct_os_fail(cases[i].call, 0, 1, cases[i].error);
		assert_unread("CTAPP00", "one:two", cases[i].reason, "one/CTAPP00");
	}
}

int test_parmlib_file(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_directory_counts),
		cmocka_unit_test(member_names),
		cmocka_unit_test(directories_without_it),
		cmocka_unit_test(no_regular_files),
		cmocka_unit_test(large_files),
		cmocka_unit_test(kind),
		cmocka_unit_test(what_everybody_may_write),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
