/*
 * writer_server_fixture.h - an external writer that runs on a thread of the test, and what is said
 * to it and heard from it at its socket.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_WRITER_SERVER_FIXTURE_H
#define CT_WRITER_SERVER_FIXTURE_H

#include "../session/session_fixture.h"
#include "session/client.h"
#include "writer/writer_server.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

static UNUSED struct ct_procedure procedure;
static UNUSED char directory[200];
static UNUSED char reported[4000];
static UNUSED int stop_pipe[2], ready_pipe[2];
static UNUSED pthread_t thread;
static UNUSED int result;

static UNUSED void note(const char *text, void *user)
{
	(void)user;
	(void)strncat(reported, text, sizeof reported - strlen(reported) - 2);
	(void)strcat(reported, "\n");
}

static UNUSED void be_ready(void *user)
{
	(void)user;
	assert_int_equal(write(ready_pipe[1], "r", 1), 1);
}

static UNUSED void *run(void *argument)
{
	struct ct_writer_options options = { .procedure = &procedure,
					     .run_directory = run_dir,
					     .ready = be_ready,
					     .message = note,
					     .stop_fd = &stop_pipe[0] };

	(void)argument;
	result = ct_writer_run(&options);
	(void)!write(ready_pipe[1], "e", 1); /* it has ended, ready or not */
	return NULL;
}

static UNUSED char start(void)
{
	char word;

	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
	assert_int_equal(read(ready_pipe[0], &word, 1), 1);
	return word;
}

static UNUSED int setup(void **state)
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
		(void)snprintf(procedure.trcout[i].path, sizeof procedure.trcout[i].path,
			       "%s/data%u", room, i);
	}
	(void)snprintf(directory, sizeof directory, "%s/" CT_WRITER_DIRECTORY, run_dir);
	reported[0] = '\0';
	assert_int_equal(pipe(stop_pipe), 0);
	assert_int_equal(pipe(ready_pipe), 0);
	return 0;
}

static UNUSED int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		(void)close(stop_pipe[i]);
		(void)close(ready_pipe[i]);
	}
	leave_room();
	return 0;
}

static UNUSED void wait_for_end(int wanted)
{
	char word;

	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, wanted);
	assert_int_equal(read(ready_pipe[0], &word, 1), 1);
	assert_int_equal(word, 'e');
}

static UNUSED void end(void)
{
	char word;

	assert_int_equal(write(stop_pipe[1], "s", 1), 1);
	wait_for_end(0);
	assert_int_equal(read(stop_pipe[0], &word, 1), 1);
}

static UNUSED int dial(void)
{
	int fd;

	assert_int_equal(ct_client_connect(directory, "WR1", &fd), CTRACE_OK);
	return fd;
}

static UNUSED void ask(int fd, enum ct_verb verb, uint64_t number)
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
static UNUSED struct ct_buf answer;

static UNUSED bool hear(int fd)
{
	bool more = true;
	size_t at = 0;

	ct_buf_clear(&answer);
	while (more) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		struct ct_message message;
		size_t size;
		ssize_t got;

		while (ct_message_parse(answer.data + at, answer.size - at, &message, &size) ==
		       CTRACE_OK) {
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

static UNUSED struct ct_span find(enum ct_field field, unsigned skip)
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

static UNUSED uint64_t status_of_answer(void)
{
	struct ct_span value = find(CT_FIELD_STATUS, 0);
	uint64_t number = UINT64_MAX;

	if (value.size == sizeof number)
		memcpy(&number, value.at, sizeof number);
	return number;
}

#define WRITER_SERVER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static UNUSED int run_writer_server_tests(const struct CMUnitTest *tests, size_t count)
{
	int failed;

	ct_buf_init(&answer);
	failed = _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
	ct_buf_fini(&answer);
	return failed;
}

#endif
