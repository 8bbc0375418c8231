/*
 * test_spool.c - the spool: which directory, whose, how much waits, whether it is served, and the
 * address of a trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

#include "lib/emit/spool.h"

static void make(const char *path, mode_t mode)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void the_environment_names_it(void **state)
{
	const struct fixture *f = *state;
	char path[CTRACE_EMITTER_PATH_SIZE], wanted[256];

	assert_int_equal(setenv("CTRACE_SPOOL", f->directory, 1), 0);
	assert_true(ct_spool_root(path));
	assert_string_equal(path, f->directory);
	assert_int_equal(setenv("CTRACE_SPOOL", "relative", 1), 0);
	assert_false(ct_spool_root(path));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(unsetenv("CTRACE_SPOOL"), 0);
	if (access(CT_SPOOL_SHARED, F_OK) == 0)
		return;
	assert_int_equal(setenv("XDG_STATE_HOME", "/s", 1), 0);
	assert_true(ct_spool_root(path));
	assert_string_equal(path, "/s/ctrace/spool");
	assert_int_equal(unsetenv("XDG_STATE_HOME"), 0);
	assert_int_equal(setenv("HOME", f->directory, 1), 0);
	assert_true(ct_spool_root(path));
	(void)snprintf(wanted, sizeof wanted, "%s/.local/state/ctrace/spool", f->directory);
	assert_string_equal(path, wanted);
}

static void only_its_owner_may_write_to_it(void **state)
{
	const struct fixture *f = *state;
	char path[CTRACE_EMITTER_PATH_SIZE], wanted[256], why[CT_PRIVATE_WHY_SIZE];
	struct stat info;

	(void)snprintf(path, sizeof path, "%s/a/b", f->directory);
	assert_int_equal(ct_spool_make(path, why), CTRACE_OK);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0700);
	assert_true(ct_spool_is_own(&info));
	assert_false(ct_spool_is_shared(&info));
	/* Like /tmp: a directory of this user in it. */
	make("sticky", 01777);
	(void)snprintf(path, sizeof path, "%s/sticky", f->directory);
	assert_int_equal(ct_spool_make(path, why), CTRACE_OK);
	(void)snprintf(wanted, sizeof wanted, "%s/sticky/%u", f->directory, (unsigned)geteuid());
	assert_string_equal(path, wanted);
	/* Others could replace what is in it. */
	make("open", 0777);
	(void)snprintf(path, sizeof path, "%s/open", f->directory);
	assert_int_equal(ct_spool_make(path, why), CTRACE_DENIED);
	assert_non_null(strstr(why, "others may replace what is in it (mode 0777"));
	make("taken", 01777);
	(void)snprintf(wanted, sizeof wanted, "taken/%u", (unsigned)geteuid());
	assert_int_equal(symlink("../a", wanted), 0);
	(void)snprintf(path, sizeof path, "%s/taken", f->directory);
	assert_int_equal(ct_spool_make(path, why), CTRACE_DENIED);
	assert_non_null(strstr(why, "it is a symbolic link of user"));
}

static void what_waits_is_measured(void **state)
{
	struct ct_spool_state found;
	char text[5000] = "";
	FILE *file;

	(void)state;
	assert_false(ct_spool_measure("nowhere", &found));
	make("spool", 0700);
	assert_true(ct_spool_measure("spool", &found));
	assert_int_equal(found.traces, 0);
	assert_int_equal(found.bytes, 0);
	make("spool/one", 0700);
	make("spool/WR1.TRCOUT01", 0700);
	make("spool/WR1.TRCOUT01/00000001", 0700);
	make("spool/WR1.TRCOUT01/00000001/JOB.1", 0700);
	memset(text, 'x', sizeof text);
	for (unsigned i = 0; i < 2; i++) {
		file = fopen(i == 0 ? "spool/one/metadata"
				    : "spool/WR1.TRCOUT01/00000001/JOB.1/metadata",
			     "w");
		assert_non_null(file);
		assert_int_equal(fwrite(text, 1, sizeof text, file), sizeof text);
		assert_int_equal(fclose(file), 0);
	}
	assert_int_equal(symlink("/usr", "spool/two"), 0);
	assert_true(ct_spool_measure("spool", &found));
	assert_int_equal(found.traces, 2);
	assert_in_range(found.bytes, 2 * sizeof text, 8 * sizeof text);
}

static void the_file_system_is_measured(void **state)
{
	uint64_t size, available;

	(void)state;
	ct_spool_disk("nowhere", &size, &available);
	assert_true(size == UINT64_MAX && available == UINT64_MAX);
	ct_spool_disk(".", &size, &available);
	assert_true(available <= size && size > 0 && size < UINT64_MAX);
}

static void a_forwarder_has_its_lock(void **state)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd;

	(void)state;
	assert_false(ct_spool_is_served("."));
	fd = open(CT_SPOOL_LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_false(ct_spool_is_served("."));
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	assert_true(ct_spool_is_served("."));
	assert_int_equal(close(fd), 0);
	assert_false(ct_spool_is_served("."));
}

static void an_address_is_whole_or_not_there(void **state)
{
	static char address[CT_SPOOL_ADDRESS_SIZE], boot[CT_SPOOL_BOOT_SIZE],
		now[CT_SPOOL_BOOT_SIZE];
	struct stat info;
	FILE *file;

	(void)state;
	make("t.ctb", 0700);
	assert_false(ct_spool_get_address("t.ctb", address, boot));
	assert_int_equal(ct_spool_put_address("t.ctb", "nats://u:p@h/S"), CTRACE_OK);
	assert_int_equal(stat("t.ctb/" CT_SPOOL_ADDRESS, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_true(ct_spool_get_address("t.ctb", address, boot));
	assert_string_equal(address, "nats://u:p@h/S");
	ct_spool_boot(now);
	assert_string_equal(boot, now);
	file = fopen("t.ctb/" CT_SPOOL_ADDRESS, "w");
	assert_non_null(file);
	assert_true(fputs("nats://h", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_false(ct_spool_get_address("t.ctb", address, boot));
	assert_int_not_equal(ct_spool_put_address("nowhere", "nats://h/S"), CTRACE_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_spool(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_environment_names_it),    TEST(only_its_owner_may_write_to_it),
		TEST(the_file_system_is_measured), TEST(what_waits_is_measured),
		TEST(a_forwarder_has_its_lock),    TEST(an_address_is_whole_or_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
