/*
 * test_procedure_file.c - where a procedure file is looked for, and from where it is not taken.
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

#include "writer/writer.h"

static char found_at[4096];
static struct ct_buf text_read;

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static enum ctrace_status read_procedure(const char *name, const char *directories)
{
	assert_int_equal(setenv("CTRACE_PROCLIB", directories, 1), 0);
	memset(found_at, 'x', sizeof found_at);
	ct_buf_clear(&text_read);
	ct_buf_add_text(&text_read, "before:");
	return ct_procedure_read(name, &text_read, found_at);
}

static int set_up(void **state)
{
	(void)state;
	(void)umask(022);
	ct_buf_init(&text_read);
	if (mkdir("one", 0755) != 0 || mkdir("two", 0700) != 0 || mkdir("open", 0777) != 0 ||
	    chmod("open", 0777) != 0)
		return -1;
	write_file("one/CTW", "first", 5);
	write_file("two/CTW", "second", 6);
	write_file("two/CTX", "other", 5);
	write_file("open/CTO", "open", 4);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ct_buf_fini(&text_read);
	return 0;
}

static void first_directory_counts(void **state)
{
	(void)state;
	assert_int_equal(read_procedure("ctw", "one:two"), CTRACE_OK);
	assert_string_equal(ct_buf_text(&text_read), "before:first");
	assert_string_equal(found_at, "one/CTW");
	/* a file is no directory */
	assert_int_equal(read_procedure("CTW", "none::one/CTW:two:one"), CTRACE_OK);
	assert_string_equal(ct_buf_text(&text_read), "before:second");
	assert_int_equal(read_procedure("CTX", "one:two:"), CTRACE_OK);
	assert_string_equal(ct_buf_text(&text_read), "before:other");
	assert_string_equal(found_at, "two/CTX");
}

static void not_there(void **state)
{
	(void)state;
	assert_int_equal(read_procedure("CTZ", "one:two"), CTRACE_NOT_FOUND);
	assert_string_equal(found_at, "two/CTZ");
	assert_string_equal(ct_buf_text(&text_read), "before:");
	assert_int_equal(read_procedure("../CTW", "one"), CTRACE_NOT_FOUND);
	assert_string_equal(found_at, "");
	assert_int_equal(unsetenv("CTRACE_PROCLIB"), 0);
	assert_int_equal(ct_procedure_read("CT9Z$@#", &text_read, found_at), CTRACE_NOT_FOUND);
	assert_string_equal(found_at, "/etc/ctrace/proclib/CT9Z$@#");
}

static void not_trusted(void **state)
{
	(void)state;
	assert_int_equal(read_procedure("CTO", "open"), CTRACE_DENIED);
	assert_string_equal(found_at, "open/CTO");
	assert_int_equal(chmod("open", 0755), 0);
	assert_int_equal(read_procedure("CTO", "open"), CTRACE_OK);
	assert_int_equal(chmod("open/CTO", 0664), 0);
	assert_int_equal(read_procedure("CTO", "open:one"), CTRACE_DENIED);
	assert_int_equal(chmod("open/CTO", 0646), 0);
	assert_int_equal(read_procedure("CTO", "open"), CTRACE_DENIED);
	assert_int_equal(symlink("../one/CTW", "two/CTLINK"), 0);
	assert_int_equal(read_procedure("CTLINK", "two"), CTRACE_DENIED);
	assert_int_equal(mkdir("two/CTDIR", 0700), 0);
	assert_int_equal(read_procedure("CTDIR", "two"), CTRACE_DENIED);
	assert_int_equal(mkfifo("two/CTPIPE", 0600), 0);
	assert_int_equal(read_procedure("CTPIPE", "two"), CTRACE_DENIED);
	/* Trouble is not passed over: the file in the next directory would be another one. */
	write_file("one/CTPIPE", "x", 1);
	assert_int_equal(read_procedure("CTPIPE", "two:one"), CTRACE_DENIED);
	assert_string_equal(ct_buf_text(&text_read), "before:");
	if (geteuid() == 0) {
		assert_int_equal(chown("one/CTPIPE", 65534, 65534), 0);
		assert_int_equal(read_procedure("CTPIPE", "one"), CTRACE_DENIED);
	}
}

static void too_large(void **state)
{
	static char text[65537];

	(void)state;
	memset(text, '#', sizeof text);
	write_file("two/CTBIG", text, sizeof text);
	assert_int_equal(read_procedure("CTBIG", "two"), CTRACE_OS_ERROR);
	assert_int_equal(errno, EFBIG);
	assert_string_equal(ct_buf_text(&text_read), "before:");
	write_file("two/CTBIG", text, sizeof text - 1);
	assert_int_equal(read_procedure("CTBIG", "two"), CTRACE_OK);
	assert_int_equal(text_read.size, 7 + 65536);
}

static void streams_are_in_the_spool(void **state)
{
	static struct ct_procedure procedure = {
		.name = "WR1",
		.trcout_count = 2,
		.number = { 1, 12 },
		.trcout = { { .path = "/data" }, { .address = "nats://h/S" } },
	};
	char here[2048], spool[2100], path[4096], wanted[2200], why[CT_PRIVATE_WHY_SIZE];

	(void)state;
	assert_non_null(getcwd(here, sizeof here));
	(void)snprintf(spool, sizeof spool, "%s/spool", here);
	assert_int_equal(setenv("CTRACE_SPOOL", spool, 1), 0);
	assert_int_equal(ct_procedure_use_spool(&procedure, path, why), CTRACE_OK);
	assert_string_equal(path, spool);
	assert_string_equal(procedure.trcout[0].path, "/data");
	(void)snprintf(wanted, sizeof wanted, "%s/WR1.TRCOUT12", spool);
	assert_string_equal(procedure.trcout[1].path, wanted);
	assert_int_equal(setenv("CTRACE_SPOOL", "relative", 1), 0);
	assert_int_equal(ct_procedure_use_spool(&procedure, path, why), CTRACE_OS_ERROR);
}

int test_procedure_file(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_directory_counts),
		cmocka_unit_test(not_there),
		cmocka_unit_test(not_trusted),
		cmocka_unit_test(too_large),
		cmocka_unit_test(streams_are_in_the_spool),
	};

	return cmocka_run_group_tests_name("writer/procedure_file", tests, set_up, tear_down);
}
