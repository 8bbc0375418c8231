/*
 * test_bin_pack.c - directories that are closed for good are compressed, and let go when they are
 * wanted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

#define ROTATED "FILE=t.ctb\nMAXGENERATION=3\nMAXFILESIZE=20\nCOMPRESS=zstd\n"

static int set_up(void **state)
{
	char directory[4096];
	const char *build = getenv("CTRACE_BUILD");

	assert_non_null(build);
	(void)snprintf(directory, sizeof directory, "%s/modules", build);
	assert_int_equal(setenv("CTRACE_EMITTERS", directory, 1), 0);
	return fixture_setup(state);
}

/* Into `generation`, however many batches that takes.  Gives the number of the next event. */
static unsigned write_until(struct fixture *f, struct ctrace_stream *stream, const char *generation,
			    unsigned next)
{
	for (; access(generation, F_OK) != 0; next += 10)
		assert_int_equal(write_numbered(f, stream, next, 10), CTRACE_OK);
	return next;
}

static void assert_unpacked_numbers(const char *pattern, unsigned first, unsigned count)
{
	char command[256];

	(void)snprintf(command, sizeof command, "zstd -q -d --rm %s/stream.*.zst", pattern);
	assert_int_equal(system(command), 0);
	assert_numbers(pattern, first, count);
}

static void a_generation_that_is_full(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	unsigned next;

	fixture_open(f, ROTATED);
	next = write_until(f, &stream, "t.ctb_2", 0);
	ct_bin_pack_end();
	assert_int_equal(access("t.ctb_1/stream.0", F_OK), -1);
	assert_int_equal(access("t.ctb_2/stream.0.zst", F_OK), -1);
	fixture_close(f);
	ct_bin_pack_end();
	assert_int_equal(access("t.ctb_2/stream.0", F_OK), 0);
	assert_unpacked_numbers("t.ctb_1", 0, next - 10);
	assert_numbers("t.ctb_2", next - 10, 10);
}

static void it_comes_round(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	unsigned second, third, next;

	fixture_open(f, ROTATED);
	second = write_until(f, &stream, "t.ctb_2", 0);
	third = write_until(f, &stream, "t.ctb_3", second);
	ct_bin_pack_end();
	/* of one that was killed */
	assert_int_equal(close(open("t.ctb_1/.stream.9.new", O_CREAT | O_WRONLY, 0600)), 0);
	next = write_until(f, &stream, "t.ctb_1/stream.0", third);
	assert_int_equal(access("t.ctb_1/stream.0.zst", F_OK), -1);
	assert_int_equal(access("t.ctb_1/.stream.9.new", F_OK), -1);
	assert_int_equal(access("t.ctb_1.4711", F_OK), -1);
	fixture_close(f);
	ct_bin_pack_end();
	assert_unpacked_numbers("t.ctb_2", second - 10, third - second);
	assert_numbers("t.ctb_1", next - 10, 10);
}

static void the_last_directory_of_a_process(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\nCOMPRESS=ZSTD\n");
	assert_int_equal(write_numbered(f, &stream, 0, 100), CTRACE_OK);
	f->context.ending = true;
	fixture_close(f);
	/* events may be left that come into it */
	assert_int_equal(access("t.ctb/stream.0", F_OK), 0);
	ct_bin_pack_end();
	assert_int_equal(access("t.ctb/stream.0", F_OK), -1);
	/* Whoever goes on all the same does so beside it. */
	f->context.ending = false;
	fixture_open(f, NULL);
	assert_int_equal(write_numbered(f, &stream, 100, 10), CTRACE_OK);
	fixture_close(f);
	assert_numbers("t.ctb.4711", 100, 10);
	assert_unpacked_numbers("t.ctb", 0, 100);
}

static void nobody_asks_for_it(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	fixture_open(f, "FILE=t.ctb\nCOMPRESS=no\n");
	assert_int_equal(write_numbered(f, &stream, 0, 100), CTRACE_OK);
	f->context.ending = true;
	fixture_close(f);
	ct_bin_pack_end();
	assert_numbers("t.ctb", 0, 100);
}

static struct ct_bin_directory *make_directory(struct fixture *f, const char *path,
					       const struct ct_trace_info *info)
{
	const struct ct_bin_open_mode mode = { .info = info, .may_replace_own = true };
	struct ct_bin_directory *directory;

	(void)f;
	assert_int_equal(ct_bin_directory_create(path, &mode, &directory), CTRACE_OK);
	return directory;
}

/* Whatever the thread is at, the name can be had. */
static void one_that_is_wanted_is_let_go(void **state)
{
	struct fixture *f = *state;
	struct ct_bin_directory *directory;
	struct ct_trace_info info;

	ct_bin_info_fill(&info, &f->context);
	for (unsigned turn = 0; turn < 100; turn++) {
		ct_bin_pack_let_go("t.ctb");
		directory = make_directory(f, "t.ctb", &info);
		ct_bin_directory_end(directory);
		ct_bin_pack(directory, false);
	}
	ct_bin_pack_end();
	directory = make_directory(f, "t.ctb", &info);
	ct_bin_pack(directory, false); /* without its closing mark it is closed, and that is all */
	ct_bin_directory_close(make_directory(f, "t.ctb", &info));
}

static void a_child_has_none(void **state)
{
	struct fixture *f = *state;
	struct ct_bin_directory *directory;
	struct ct_trace_info info;
	pid_t child;
	int how;

	ct_bin_info_fill(&info, &f->context);
	directory = make_directory(f, "t.ctb", &info);
	ct_bin_directory_end(directory);
	ct_bin_pack(directory, true);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		ct_bin_pack_forked(true);
		ct_bin_pack_end();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
	ct_bin_pack_end();
	ct_bin_directory_close(make_directory(f, "t.ctb", &info));
}

/* A fork takes the lock of emitter names through it; its child has a lock of its own. */
static void a_fork_holds_the_lock_of_emitter_names(void **state)
{
	pid_t child;
	int how;

	(void)state;
	ct_bin_pack_lock();
	assert_int_not_equal(ct_thread_locked, 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		uint32_t index;

		ct_emitter_unlock_in_child();
		_exit(ct_thread_locked == 0 &&
				      ct_emitter_find_known("BINFILE", 7, &index) == CTRACE_OK
			      ? 0
			      : 1);
	}
	ct_emitter_unlock();
	assert_int_equal(ct_thread_locked, 0);
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
}

static void the_module_can_be_had(void **state)
{
	(void)state;
	assert_true(ct_bin_pack_is_possible());
}

int test_bin_pack(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_generation_that_is_full),       TEST(it_comes_round),
		TEST(the_last_directory_of_a_process), TEST(nobody_asks_for_it),
		TEST(one_that_is_wanted_is_let_go),    TEST(a_child_has_none),
		TEST(the_module_can_be_had),           TEST(a_fork_holds_the_lock_of_emitter_names),
	};

	return cmocka_run_group_tests_name("emit/bin_pack", tests, NULL, NULL);
}
