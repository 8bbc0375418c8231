/*
 * test_emit_stderr.c - STDERR on files, on pipes that nobody reads, on closed and broken
 * descriptors.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "emit_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static int kept = -1; /* the real standard error */

static void redirect(int fd)
{
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
}

static int init(void **state)
{
	struct fixture *fixture = fixture_create(&ct_emit_stderr);

	fixture_set(fixture, "LEVEL", "0");
	fixture_set(fixture, "FORMAT", CT_LINE_FORMAT);
	*state = fixture;
	return 0;
}

static int fini(void **state)
{
	redirect(kept);
	fixture_destroy(*state);
	return 0;
}

static void contract(void **state)
{
	(void)state;
	assert_string_equal(ct_emit_stderr.name, "STDERR");
	assert_int_equal(ct_emit_stderr.flags, CTRACE_EMITTER_LIVE_ONLY);
}

static int open_file(const struct fixture *fixture)
{
	char path[1024];
	int fd;

	(void)snprintf(path, sizeof path, "%s/err", fixture->directory);
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

/* The defaults are those of IDEDBG: a blank of FORMAT and the delimiter, and errors only. */
static void defaults(void **state)
{
	struct fixture *fixture = fixture_create(&ct_emit_stderr);
	struct ctrace_batch batch;
	char *text;
	int file = open_file(fixture);

	(void)state;
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	batch = fixture_batch(fixture, 0, 3);
	fixture->events[1].level = CTRACE_ERROR;
	redirect(file);
	assert_int_equal(ct_emit_stderr.write(fixture->self, &batch), CTRACE_OK);
	redirect(kept);
	text = fixture_read(fixture, "err");
	assert_string_equal(text, "15:12:27.993 MF.RTS 255 3  \"e000001\"\n");
	free(text);
	close(file);
	fixture_destroy(fixture);
}

static void large_batches_and_losses(void **state)
{
	struct fixture *fixture = *state;
	uint64_t totals[CTRACE_LOSS_COUNT] = { [CTRACE_LOSS_OVERWRITTEN] = 5 };
	int file = open_file(fixture);

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	redirect(file);
	assert_int_equal(fixture_write(fixture, 0, 1000), CTRACE_OK);
	ct_emit_stderr.lost(fixture->self, totals);
	assert_int_equal(fixture_write(fixture, 1000, 1000), CTRACE_OK);
	ct_emit_stderr.lost(fixture->self, totals);
	assert_int_equal(fixture_write(fixture, 2000, 1), CTRACE_OK);
	redirect(kept);
	assert_int_equal(fixture_check_events(fixture, "err", 0), 2001);
	assert_int_equal(fixture_count(fixture, "err",
				       "# Lost             = 5 overwritten (process 17356)\n"),
			 1);
	close(file);
}

/* Moves what is in the pipe to the file, until it is empty. */
static void empty_pipe(int from, int to)
{
	static char data[65536];
	ssize_t got;

	while ((got = read(from, data, sizeof data)) > 0)
		assert_int_equal(write(to, data, (size_t)got), got);
}

/* Nobody reads: the batch fails in bounded time, and comes again until all is out, each event once.
 */
static void a_full_pipe(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned blocking = 0; blocking < 2; blocking++) {
		int ends[2], file, flags;
		unsigned failures = 0;

		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, 8192), 8192);
		assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
		assert_int_equal(fcntl(ends[1], F_SETFL, blocking ? 0 : O_NONBLOCK), 0);
		file = open_file(fixture);
		assert_int_equal(ftruncate(file, 0), 0);
		assert_int_equal(fixture_open(fixture), CTRACE_OK);
		redirect(ends[1]);
		for (;;) {
			enum ctrace_status status = fixture_write(fixture, 0, 1000);

			if (status == CTRACE_OK)
				break;
			assert_int_equal(status, CTRACE_OUTPUT_ERROR);
			assert_int_equal(errno, EAGAIN);
			failures++;
			empty_pipe(ends[0], file);
		}
		empty_pipe(ends[0], file);
		flags = fcntl(STDERR_FILENO, F_GETFL);
		redirect(kept);
		assert_true(failures >= 3);
		assert_int_equal(flags & O_NONBLOCK, blocking ? 0 : O_NONBLOCK);
		assert_int_equal(fixture_check_events(fixture, "err", 0), 1000);
		fixture_close(fixture);
		close(ends[0]);
		close(ends[1]);
		close(file);
	}
}

/* A line longer than a pipe takes at once. */
static void long_lines(void **state)
{
	struct fixture *fixture = *state;
	static char text[60000];
	struct ctrace_batch batch;
	int ends[2], file = open_file(fixture), status;
	pid_t reader;

	memset(text, 'x', sizeof text);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	reader = fork();
	assert_true(reader >= 0);
	if (reader == 0) {
		close(ends[1]);
		empty_pipe(ends[0], file);
		_exit(0);
	}
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	batch = fixture_batch(fixture, 0, 50);
	for (unsigned i = 0; i < 50; i += 2)
		fixture->items[i] = (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT,
								.size = sizeof text,
								.data = text };
	redirect(ends[1]);
	do {
		status = (int)ct_emit_stderr.write(fixture->self, &batch);
	} while (status == CTRACE_OUTPUT_ERROR);
	redirect(kept);
	close(ends[1]);
	assert_int_equal(status, CTRACE_OK);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
	assert_int_equal(fixture_count(fixture, "err", "\n"), 50);
	assert_int_equal(fixture_count(fixture, "err", "x\"\n"), 25);
	close(ends[0]);
	close(file);
}

/* It failed within a line: what follows begins on one of its own. */
static void torn_lines_are_ended(void **state)
{
	struct fixture *fixture = *state;
	static char text[60000];
	struct ctrace_batch batch;
	int ends[2], file = open_file(fixture);
	enum ctrace_status status;

	memset(text, 'x', sizeof text);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, 8192), 8192);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	batch = fixture_batch(fixture, 0, 1);
	fixture->items[0] = (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT,
							.size = sizeof text,
							.data = text };
	redirect(ends[1]);
	status = ct_emit_stderr.write(fixture->self, &batch);
	empty_pipe(ends[0], file);
	redirect(file);
	assert_int_equal(fixture_write(fixture, 5, 1), CTRACE_OK);
	redirect(kept);
	assert_int_equal(status, CTRACE_OUTPUT_ERROR);
	assert_int_equal(
		fixture_count(fixture, "err", "xxxx\n15:12:27.993 MF.RTS 255 1 \"e000005\"\n"), 1);
	close(ends[0]);
	close(ends[1]);
	close(file);
}

static void closed_and_broken(void **state)
{
	struct fixture *fixture = *state;
	enum ctrace_status closed, broken;
	int ends[2], closed_errno, broken_errno, file = open_file(fixture);
	sigset_t sigpipe;

	(void)sigemptyset(&sigpipe);
	(void)sigaddset(&sigpipe, SIGPIPE);
	/* as on the consumer thread's thread */
	assert_int_equal(sigprocmask(SIG_BLOCK, &sigpipe, NULL), 0);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	close(STDERR_FILENO);
	closed = fixture_write(fixture, 0, 2);
	closed_errno = errno;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	redirect(ends[1]);
	close(ends[0] == STDERR_FILENO ? -1 : ends[0]);
	broken = fixture_write(fixture, 0, 2);
	broken_errno = errno;
	redirect(file);
	assert_int_equal(fixture_write(fixture, 0, 2), CTRACE_OK);
	redirect(kept);
	assert_int_equal(closed, CTRACE_OUTPUT_ERROR);
	assert_int_equal(closed_errno, EBADF);
	assert_int_equal(broken, CTRACE_OUTPUT_ERROR);
	assert_int_equal(broken_errno, EPIPE);
	assert_int_equal(fixture_check_events(fixture, "err", 0), 2);
	close(file);
}

static int init_all(void **state)
{
	(void)state;
	(void)setenv("TZ", "UTC0", 1);
	tzset();
	kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	return kept < 0;
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, init, fini)

int test_emit_stderr(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contract),
		cmocka_unit_test(defaults),
		WITH_FIXTURE(large_batches_and_losses),
		WITH_FIXTURE(a_full_pipe),
		WITH_FIXTURE(long_lines),
		WITH_FIXTURE(torn_lines_are_ended),
		WITH_FIXTURE(closed_and_broken),
	};

	return cmocka_run_group_tests(tests, init_all, NULL);
}
