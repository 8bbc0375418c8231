/*
 * test_station.c - an external writer as operators and strangers meet it at its socket.
 *
 * The writer runs on a thread of the test.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../session/session_fixture.h"
#include "control/client.h"
#include "writer/intake.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct ct_procedure procedure;
static char folder[200];
static char told[4000];
static int stop_pipe[2], ready_pipe[2];
static pthread_t thread;
static int result;

static void note(const char *text, void *user)
{
	(void)user;
	(void)strncat(told, text, sizeof told - strlen(told) - 2);
	(void)strcat(told, "\n");
}

static void be_ready(void *user)
{
	(void)user;
	assert_int_equal(write(ready_pipe[1], "r", 1), 1);
}

static void *run(void *argument)
{
	struct ct_writer_options options = {
		.procedure = &procedure, .run_directory = run_dir, .ready = be_ready, .message = note, .stop_fd = &stop_pipe[0]
	};

	(void)argument;
	result = ct_writer_run(&options);
	(void)!write(ready_pipe[1], "e", 1); /* it has ended, ready or not */
	return NULL;
}

static char start(void)
{
	char word;

	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
	assert_int_equal(read(ready_pipe[0], &word, 1), 1);
	return word;
}

static int setup(void **state)
{
	(void)state;
	enter_room();
	assert_int_equal(setenv("CTRACE_RUN_DIR", run_dir, 1), 0);
	memset(&procedure, 0, sizeof procedure);
	(void)snprintf(procedure.name, sizeof procedure.name, "WR1");
	procedure.trcout_count = 2;
	for (uint32_t i = 0; i < 2; i++) {
		procedure.number[i] = 2 * i + 1;
		procedure.trcout[i].primary = 1 << 20;
		(void)snprintf(procedure.trcout[i].path, sizeof procedure.trcout[i].path, "%s/data%u", room, i);
	}
	(void)snprintf(folder, sizeof folder, "%s/" CT_WRITER_FOLDER, run_dir);
	told[0] = '\0';
	assert_int_equal(pipe(stop_pipe), 0);
	assert_int_equal(pipe(ready_pipe), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		(void)close(stop_pipe[i]);
		(void)close(ready_pipe[i]);
	}
	leave_room();
	return 0;
}

static void wait_for_end(int wanted)
{
	char word;

	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, wanted);
	assert_int_equal(read(ready_pipe[0], &word, 1), 1);
	assert_int_equal(word, 'e');
}

static void end(void)
{
	char word;

	assert_int_equal(write(stop_pipe[1], "s", 1), 1);
	wait_for_end(0);
	assert_int_equal(read(stop_pipe[0], &word, 1), 1);
}

static int dial(void)
{
	int fd;

	assert_int_equal(ct_client_connect(folder, "WR1", &fd), CTRACE_OK);
	return fd;
}

static void ask(int fd, enum ct_verb verb, uint64_t number)
{
	struct ct_buf request;
	size_t at;

	ct_buf_init(&request);
	at = ct_message_start(&request, verb, 0);
	ct_message_add_number(&request, CT_FIELD_NUMBER, number);
	assert_int_equal(ct_message_end(&request, at), CTRACE_OK);
	assert_int_equal(send(fd, request.data, request.size, 0), (ssize_t)request.size);
	ct_buf_fini(&request);
}

/* The whole answer; each field of it is then to be found by find(). */
static struct ct_buf answer;

static bool hear(int fd)
{
	bool more = true;
	size_t at = 0;

	ct_buf_clear(&answer);
	while (more) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		struct ct_message message;
		size_t size;
		ssize_t got;

		while (ct_message_parse(answer.data + at, answer.size - at, &message, &size) == CTRACE_OK) {
			at += size;
			more = (message.flags & CT_MESSAGE_MORE) != 0;
			if (!more)
				return true;
		}
		assert_int_equal(poll(&wait, 1, 60000), 1);
		assert_true(ct_buf_reserve(&answer, 65536));
		got = recv(fd, answer.data + answer.size, 65536, 0);
		if (got <= 0)
			return false;
		answer.size += (size_t)got;
	}
	return true;
}

static struct ct_span find(enum ct_field field, unsigned skip)
{
	struct ct_message message;
	size_t at = 0, size;

	while (ct_message_parse(answer.data + at, answer.size - at, &message, &size) == CTRACE_OK) {
		struct ct_span value = ct_message_find(&message, field);

		if (value.at != NULL && skip-- == 0)
			return value;
		at += size;
	}
	return (struct ct_span){ NULL, 0 };
}

static uint64_t status_of_answer(void)
{
	struct ct_span value = find(CT_FIELD_STATUS, 0);
	uint64_t number = UINT64_MAX;

	if (value.size == sizeof number)
		memcpy(&number, value.at, sizeof number);
	return number;
}

static void it_tells_its_state(void **state)
{
	struct ct_writer_state writer;
	struct ct_trcout_state trcout;
	int fd;

	(void)state;
	procedure.mode = CT_WRITER_NOWRAP;
	assert_int_equal(start(), 'r');
	fd = dial();
	ask(fd, CT_VERB_WRITER_STATUS, 0);
	assert_true(hear(fd));
	assert_int_equal(status_of_answer(), CTRACE_OK);
	assert_int_equal(find(CT_FIELD_WRITER, 0).size, sizeof writer);
	memcpy(&writer, find(CT_FIELD_WRITER, 0).at, sizeof writer);
	assert_string_equal(writer.name, "WR1");
	assert_int_equal(writer.pid, getpid());
	assert_int_equal(writer.nowrap, 1);
	assert_int_equal(writer.trcouts, 2);
	assert_int_equal(writer.links, 0);
	memcpy(&trcout, find(CT_FIELD_TRCOUT, 1).at, sizeof trcout);
	assert_int_equal(trcout.number, 3);
	assert_int_equal(trcout.limit, 1 << 20);
	assert_string_equal(trcout.path, procedure.trcout[1].path);
	(void)close(fd);
	end();
	assert_string_equal(told, "");
}

static void wtrstop_is_answered_when_it_has_ended(void **state)
{
	int first, second;

	(void)state;
	assert_int_equal(start(), 'r');
	first = dial();
	second = dial();
	ask(first, CT_VERB_WRITER_STOP, 1);
	assert_true(hear(first));
	assert_int_equal(status_of_answer(), CTRACE_OK);
	wait_for_end(0);
	assert_false(hear(second));
	assert_int_equal(access("run/writer/WR1", F_OK), -1);
	(void)close(first);
	(void)close(second);
}

static void strangers_are_answered_or_hung_up_on(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(start(), 'r');
	fd = dial();
	ask(fd, CT_VERB_LEVEL, 0);
	assert_true(hear(fd));
	assert_int_equal(status_of_answer(), CTRACE_UNSUPPORTED);
	/* A process that hands in no folder. */
	ask(fd, CT_VERB_WRITER_CONNECT, 1);
	assert_true(hear(fd));
	assert_int_equal(status_of_answer(), CTRACE_DAMAGED);
	assert_int_equal(send(fd, "this is no frame at all", 23, 0), 23);
	(void)hear(fd);
	assert_int_equal(status_of_answer(), CTRACE_DAMAGED);
	(void)close(fd);
	for (int i = 0; i < 100; i++) {
		fd = dial();
		assert_int_equal(send(fd, "CTR", 3, 0), 3);
		(void)close(fd);
	}
	fd = dial();
	ask(fd, CT_VERB_WRITER_STATUS, 0);
	assert_true(hear(fd));
	(void)close(fd);
	end();
}

static void there_is_one_of_a_name(void **state)
{
	struct ct_writer_options second = {
		.procedure = &procedure, .run_directory = run_dir, .message = note, .stop_fd = &stop_pipe[0]
	};
	int fd;

	(void)state;
	assert_int_equal(start(), 'r');
	assert_int_equal(ct_writer_run(&second), 1);
	assert_non_null(strstr(told, "CTR105E CTRACE WRITER WR1 IS RUNNING ALREADY"));
	fd = dial(); /* the first still is */
	ask(fd, CT_VERB_WRITER_STATUS, 0);
	assert_true(hear(fd));
	(void)close(fd);
	end();
	told[0] = '\0';
	assert_int_equal(start(), 'r'); /* and when it has ended another may come */
	end();
}

static void a_data_set_that_cannot_be_is_said_before_it_is_ready(void **state)
{
	(void)state;
	put_file(procedure.trcout[1].path, "a file", 6);
	assert_int_equal(start(), 'e');
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 1);
	assert_non_null(strstr(told, "CTR103E TRCOUT03 CANNOT BE OPENED"));
	assert_int_equal(access("run/writer/WR1", F_OK), -1);
}

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
		enum ctrace_status status = ct_client_connect(folder, "WR1", &crowd[count]);

		if (status == CTRACE_TIMED_OUT)
			(void)sched_yield(); /* its queue is full */
		else
			count++;
		assert_true(status == CTRACE_OK || status == CTRACE_TIMED_OUT);
	}
	do {
		fd = -1;
		(void)sched_yield();
	} while (ct_client_connect(folder, "WR1", &fd) == CTRACE_TIMED_OUT);
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
	static int fillers[256];
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
	few.rlim_cur = 200;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (count < CT_COUNT(fillers) && (fillers[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		count++;
	assert_true(count > 0 && count < CT_COUNT(fillers));
	(void)close(fillers[--count]);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); /* the last one */
	assert_true(fd >= 0);
	(void)snprintf(address.sun_path, sizeof address.sun_path, "%.90s/WR1", folder);
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

static void a_data_set_has_one_writer(void **state)
{
	int claim;
	struct ct_trcout trcout = { .procedure = &procedure, .index = 1 };

	(void)state;
	assert_int_equal(ct_trcout_claim(&trcout, &claim), CTRACE_OK);
	assert_int_equal(start(), 'e');
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 1);
	assert_non_null(strstr(told, "CTR103E TRCOUT03 CANNOT BE OPENED"));
	(void)close(claim);
	told[0] = '\0';
	assert_int_equal(start(), 'r');
	assert_int_equal(ct_trcout_claim(&trcout, &claim), CTRACE_TIMED_OUT);
	end();
	assert_int_equal(ct_trcout_claim(&trcout, &claim), CTRACE_OK);
	(void)close(claim);
}

/* Who may write there could take the writer's name before it, or its lock. */
static void a_folder_that_others_may_write_to_is_not_used(void **state)
{
	(void)state;
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(chmod(folder, 0770), 0);
	assert_int_equal(start(), 'e');
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 1);
	assert_non_null(strstr(told, "CTR106E CTRACE WRITER WR1: "));
	assert_non_null(strstr(told, folder));
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(symlink(room, folder), 0);
	assert_int_equal(start(), 'e');
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 1);
	assert_int_equal(unlink(folder), 0);
	told[0] = '\0';
	assert_int_equal(start(), 'r');
	end();
	assert_string_equal(told, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(it_tells_its_state),
		TEST(wtrstop_is_answered_when_it_has_ended),
		TEST(strangers_are_answered_or_hung_up_on),
		TEST(there_is_one_of_a_name),
		TEST(a_data_set_that_cannot_be_is_said_before_it_is_ready),
		TEST(a_silent_crowd_keeps_nobody_out),
		TEST(without_a_descriptor_the_silent_one_makes_room),
		TEST(a_data_set_has_one_writer),
		TEST(a_folder_that_others_may_write_to_is_not_used),
	};
	int failed;

	ct_buf_init(&answer);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ct_buf_fini(&answer);
	return failed;
}
