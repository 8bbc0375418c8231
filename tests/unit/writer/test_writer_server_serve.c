/*
 * test_writer_server_serve.c - who is heard by an external writer when there are many, or nothing
 * to hear them with.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer_server_fixture.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/un.h>

/* Who says nothing is hung up on for the sake of those who do. */
static void a_silent_crowd_keeps_nobody_out(void **state)
{
	static int crowd[CT_LINK_LIMIT + 100];
	uint32_t count = 0;
	struct rlimit limit;
	int fd;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur < 3 * CT_COUNT(crowd))
		skip();
	assert_int_equal(start(), 'r');
	while (count < CT_COUNT(crowd)) {
		enum ctrace_status status = ct_client_connect(directory, "WR1", &crowd[count]);

		if (status == CTRACE_TIMED_OUT)
			(void)sched_yield(); /* its queue is full */
		else
			count++;
		assert_true(status == CTRACE_OK || status == CTRACE_TIMED_OUT);
	}
	do {
		fd = -1;
		(void)sched_yield();
	} while (ct_client_connect(directory, "WR1", &fd) == CTRACE_TIMED_OUT);
	ask(fd, CT_VERB_WRITER_STATUS, 0);
	assert_true(hear(fd));
	(void)close(fd);
	for (uint32_t i = 0; i < count; i++)
		(void)close(crowd[i]);
	end();
}

/* Where there is no descriptor for who calls, one who is silent has one. */
static void without_a_descriptor_the_silent_one_makes_room(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	static int fillers[1100];
	struct rlimit limit, few;
	uint32_t count = 0;
	int silent, fd;

	(void)state;
	assert_int_equal(start(), 'r');
	silent = dial();
	ask(silent, CT_VERB_WRITER_STATUS, 0);
	assert_true(hear(silent));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 1024; /* the writer server has the upper quarter of these */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (count < CT_COUNT(fillers) &&
	       (fillers[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		count++;
	assert_true(count > 0 && count < CT_COUNT(fillers));
	(void)close(fillers[--count]);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); /* the last one */
	assert_true(fd >= 0);
	(void)snprintf(address.sun_path, sizeof address.sun_path, "%.90s/WR1", directory);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
	ask(fd, CT_VERB_WRITER_STATUS, 0);
	assert_true(hear(fd));
	assert_false(hear(silent));
	while (count > 0)
		(void)close(fillers[--count]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	(void)close(silent);
	(void)close(fd);
	end();
}

int test_writer_server_serve(void)
{
	const struct CMUnitTest tests[] = {
		WRITER_SERVER_TEST(a_silent_crowd_keeps_nobody_out),
		WRITER_SERVER_TEST(without_a_descriptor_the_silent_one_makes_room),
	};

	return run_writer_server_tests(tests, CT_COUNT(tests));
}
