/*
 * test_bin_directory.c - the directory that BINFILE writes and its metadata: whole or not there,
 * and nobody else's.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

/* Metadata have their name only when they are whole, and are locked from their first moment on. */
static void look_at_metadata(const char *name)
{
	struct stat info;

	if (strcmp(name, "os.write") != 0 || stat("t.ctb/metadata", &info) != 0)
		return;
	if (info.st_size < 1000)
		_exit(9);
}

static void links_are_not_followed(void **state)
{
	static const char *const made[] = {
		"mkdir elsewhere; ln -s elsewhere t.ctb",
		"mkdir t.ctb; ln -s ../victim t.ctb/metadata",
		"mkdir t.ctb; ln victim t.ctb/metadata",
		"mkdir t.ctb; mkfifo t.ctb/metadata",
		"echo x > t.ctb",
	};
	struct fixture *f = *state;

	strcpy(f->properties, "FILE=t.ctb\n");
	for (size_t i = 0; i < CT_COUNT(made); i++) {
		assert_int_equal(system("echo precious > victim"), 0);
		assert_int_equal(system(made[i]), 0);
		memset(&f->place, 0, sizeof f->place);
		assert_int_not_equal(ct_emit_binfile.open(&f->context, &f->self), CTRACE_OK);
		assert_int_equal(file_size("victim"), 9);
		assert_int_equal(
			system("test -z \"$(ls elsewhere 2>/dev/null)\" && rm -rf t.ctb elsewhere victim"),
			0);
	}
}

/* A process was killed within its first write: the name is not taken by that. */
static void unfinished_metadata_take_no_name(void **state)
{
	static const char *const made[] = {
		"mkdir t.ctb; : > t.ctb/.metadata.new",
		"mkdir t.ctb; printf '/* CTF' > t.ctb/.metadata.new",
		"mkdir t.ctb; (printf '/* CTF 1.8 */\\n'; head -c 4000 /dev/zero) > t.ctb/.metadata.new",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < CT_COUNT(made); i++) {
		struct ctrace_stream stream = { .id = 0 };

		assert_int_equal(system(made[i]), 0);
		memset(&f->place, 0, sizeof f->place);
		fixture_open(f, "FILE=t.ctb\n");
		assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb");
		assert_int_equal(write_numbered(f, &stream, 0, 5), CTRACE_OK);
		fixture_close(f);
		assert_int_equal(access("t.ctb/.metadata.new", F_OK), -1);
		assert_numbers("t.ctb", 0, 5);
		assert_int_equal(system("rm -r t.ctb"), 0);
	}
	/* Somebody's file of that name is left alone. */
	assert_int_equal(system("mkdir t.ctb; echo precious > t.ctb/.metadata.new"), 0);
	memset(&f->place, 0, sizeof f->place);
	fixture_open(f, "FILE=t.ctb\n");
	assert_string_equal(strrchr(f->place.path, '/'), "/t.ctb.4711");
	assert_int_equal(file_size("t.ctb/.metadata.new"), 9);
}

static void metadata_are_whole_or_not_there(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	ct_point_set(look_at_metadata);
	fixture_open(f, "FILE=t.ctb\n");
	ct_point_set(NULL);
	assert_int_equal(write_numbered(f, &stream, 0, 5), CTRACE_OK);
	fixture_close(f);
	/* Replaced: the old ones stay until the new ones are whole. */
	f->context.start_ns++;
	memset(&f->place, 0, sizeof f->place);
	stream = (struct ctrace_stream){ .id = 0 };
	ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
	assert_int_not_equal(ct_emit_binfile.open(&f->context, &f->self), CTRACE_OK);
	assert_numbers("t.ctb", 0, 5);
	ct_point_set(look_at_metadata);
	fixture_open(f, NULL);
	ct_point_set(NULL);
	assert_int_equal(write_numbered(f, &stream, 5, 5), CTRACE_OK);
	assert_numbers("t.ctb", 5, 5);
}

static void forked_child_does_not_close_its_parents_directory(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	uint64_t before;
	int how;
	pid_t child;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, 0, 10), CTRACE_OK);
	before = file_size("t.ctb/metadata");
	child = fork();
	if (child == 0) {
		ct_emit_binfile.close(f->self);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(file_size("t.ctb/metadata"), before);
	assert_int_equal(write_numbered(f, &stream, 10, 10), CTRACE_OK);
	assert_numbers("t.ctb", 0, 20);
}

static void failing_stat_removes_nothing(void **state)
{
	static const int errors[] = { EIO, ESTALE };
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	unsigned next = 0, failures = 0;

	fixture_open(f, "FILE=t.ctb\n");
	assert_int_equal(write_numbered(f, &stream, next, 10), CTRACE_OK);
	next += 10;
	for (size_t error = 0; error < CT_COUNT(errors); error++) {
		for (unsigned skip = 0; skip < 8; skip++) {
			enum ctrace_status status;

			ct_os_fail(CT_OS_STAT, skip / 4, 1 + skip, errors[error]);
			status = write_numbered(f, &stream, next, 10);
			ct_os_fail(CT_OS_STAT, 0, 0, 0);
			if (status != CTRACE_OK) {
				failures++;
				assert_numbers("t.ctb", 0, next);
				assert_int_equal(write_numbered(f, &stream, next, 10), CTRACE_OK);
			}
			next += 10;
			assert_numbers("t.ctb", 0, next);
		}
	}
	assert_true(failures >= 4);
}

static void a_directory_in_which_nothing_counts_is_discarded(void **state)
{
	ct_bin_directory_discard(directory_new(*state));
	assert_int_equal(access("t.ctb", F_OK), -1);
	/* Somebody's file keeps it. */
	ct_bin_directory_discard((assert_int_equal(system("mkdir t.ctb; echo x > t.ctb/notes"), 0),
				  directory_new(*state)));
	assert_int_equal(access("t.ctb/metadata", F_OK), -1);
	assert_int_equal(access("t.ctb/notes", F_OK), 0);
}

static void a_directory_is_looked_for_where_it_was(void **state)
{
	struct ct_bin_directory *directory = directory_new(*state);

	assert_int_equal(ct_bin_directory_look(directory), CT_BIN_HERE);
	/* The program closed descriptors that are not its own. */
	assert_int_equal(close(directory->fd) | close(directory->metadata_fd), 0);
	assert_int_equal(ct_bin_directory_look(directory), CT_BIN_HERE);
	assert_true(directory->fd >= 0 && directory->metadata_fd >= 0);
	/* Renamed, it is still the one that is open. */
	assert_int_equal(rename("t.ctb", "moved.ctb"), 0);
	assert_int_equal(ct_bin_directory_look(directory), CT_BIN_HERE);
	ct_os_fail(CT_OS_STAT, 0, 100, EIO);
	assert_int_equal(ct_bin_directory_look(directory), CT_BIN_UNCLEAR);
	ct_os_fail(CT_OS_STAT, 0, 0, 0);
	assert_int_equal(unlink("moved.ctb/metadata"), 0);
	assert_int_equal(ct_bin_directory_look(directory), CT_BIN_GONE);
	ct_bin_directory_free(directory);
}

static void another_directory_of_its_name_is_not_taken_for_it(void **state)
{
	struct ct_bin_directory *directory = directory_new(*state);

	assert_int_equal(close(directory->fd) | close(directory->metadata_fd), 0);
	assert_int_equal(rename("t.ctb", "moved.ctb"), 0);
	assert_int_equal(system("cp -r moved.ctb t.ctb"), 0);
	assert_int_equal(ct_bin_directory_look(directory), CT_BIN_GONE);
	ct_bin_directory_free(directory);
}

/* Its closing mark is cut off before the next bytes are written. */
static void a_directory_that_was_ended_is_written_to_again(void **state)
{
	struct ct_bin_directory *directory = directory_new(*state);
	uint64_t size = directory->metadata_size;

	ct_bin_directory_reopen(directory); /* not ended: nothing to cut */
	assert_false(directory->metadata_cut_due);
	ct_bin_directory_end(directory);
	assert_true(directory->is_ended);
	assert_true(file_size("t.ctb/metadata") > size);
	ct_bin_directory_reopen(directory);
	assert_false(directory->is_ended);
	assert_int_equal(ct_bin_metadata_cut(directory), CTRACE_OK);
	assert_int_equal(file_size("t.ctb/metadata"), size);
	ct_bin_directory_close(directory);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_bin_directory(void)
{
	const struct CMUnitTest tests[] = {
		TEST(links_are_not_followed),
		TEST(unfinished_metadata_take_no_name),
		TEST(metadata_are_whole_or_not_there),
		TEST(forked_child_does_not_close_its_parents_directory),
		TEST(failing_stat_removes_nothing),
		TEST(a_directory_in_which_nothing_counts_is_discarded),
		TEST(a_directory_is_looked_for_where_it_was),
		TEST(another_directory_of_its_name_is_not_taken_for_it),
		TEST(a_directory_that_was_ended_is_written_to_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
