/*
 * test_writer_server_links.c - processes that an external writer takes in, asks for the end, and
 * parts from.
 *
 * The process is this one; its session is mapped a second time, as another process would.  The
 * writer server has the worker's lock, but no worker.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../session/session_fixture.h"
#include "writer/writer_server.h"

#define NUMBER 3u
#define BASE (CT_WRITER_SLOT + 2u)

static struct ct_session session;
static struct ct_procedure procedure;
static struct ct_writer_server *writer_server;
static struct ct_caller caller;
static char reported[1000];

static void note(const char *text, void *user)
{
	(void)user;
	(void)snprintf(reported, sizeof reported, "%s", text);
}

static const struct ct_writer_options options = { .procedure = &procedure,
						  .run_directory = run_dir,
						  .message = note };

static int setup(void **state)
{
	(void)state;
	enter_room();
	reported[0] = '\0';
	writer_server = calloc(1, sizeof *writer_server);
	assert_non_null(writer_server);
	writer_server->options = &options;
	(void)pthread_mutex_init(&writer_server->message_lock, NULL);
	(void)pthread_mutex_init(&writer_server->group.lock, NULL);
	caller = (struct ct_caller){ .connection = { .fd = -1, .passed = -1 } };
	writer_server->callers[writer_server->caller_count++] = &caller;
	writer_server->current = &caller;
	return ct_session_create(&session, run_dir) != CTRACE_OK;
}

static int teardown(void **state)
{
	(void)state;
	while (writer_server->link_count > 0)
		ct_link_destroy(writer_server->links[--writer_server->link_count]);
	ct_buf_fini(&caller.connection.out);
	ct_os_close(&caller.connection.passed);
	free(writer_server);
	ct_session_close(&session, true);
	leave_room();
	return 0;
}

/* As a process says it: its number for the writer, the first of its destinations for it, and how
 * many. */
static enum ctrace_status connect_as(uint64_t number, uint64_t base, uint64_t count,
				     uint32_t *out_count)
{
	struct ct_message message;
	struct ct_buf request;
	enum ctrace_status status;
	size_t at, size;

	ct_buf_init(&request);
	at = ct_message_start(&request, CT_VERB_WRITER_CONNECT, 0);
	ct_message_add_number(&request, CT_FIELD_NUMBER, number);
	ct_message_add_number(&request, CT_FIELD_VALUE, base);
	ct_message_add_number(&request, CT_FIELD_LEVEL, count);
	assert_int_equal(ct_message_end(&request, at), CTRACE_OK);
	assert_int_equal(ct_message_parse(request.data, request.size, &message, &size), CTRACE_OK);
	status = ct_writer_server_add_link(writer_server, &message, out_count);
	ct_buf_fini(&request);
	return status;
}

static void hand_in_directory(void)
{
	ct_os_close(&caller.connection.passed);
	caller.connection.passed = open(session.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(caller.connection.passed > 2);
}

static struct ct_link *take_in(void)
{
	uint32_t count = 0;

	hand_in_directory();
	assert_int_equal(connect_as(NUMBER, BASE, 5, &count), CTRACE_OK);
	assert_int_equal(count, 1); /* the TRCOUTs are one group */
	assert_int_equal(writer_server->link_count, 1);
	assert_ptr_equal(caller.link, writer_server->links[0]);
	assert_int_equal(caller.connection.passed, -1);
	return writer_server->links[0];
}

static void what_no_process_would_say_is_refused(void **state)
{
	static const struct {
		uint64_t number, base, count;
	} rows[] = {
		{ 0, BASE, 1 },
		{ CT_WRITER_LIMIT, BASE, 1 },
		{ NUMBER, CT_WRITER_SLOT - 1, 1 },
		{ NUMBER, BASE, 0 },
		{ NUMBER, CT_DEST_LIMIT, 1 },
		{ NUMBER, BASE, UINT64_MAX },
		{ NUMBER, UINT64_MAX, 1 },
	};
	uint32_t count = 4711;

	(void)state;
	assert_int_equal(connect_as(NUMBER, BASE, 1, &count), CTRACE_DAMAGED); /* no directory */
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		hand_in_directory();
		assert_int_equal(connect_as(rows[i].number, rows[i].base, rows[i].count, &count),
				 CTRACE_DAMAGED);
		assert_int_equal(writer_server->link_count, 0);
	}
	(void)take_in();
	hand_in_directory();
	/* it is connected already */
	assert_int_equal(connect_as(NUMBER + 1, BASE, 1, &count), CTRACE_DAMAGED);
	assert_int_equal(writer_server->link_count, 1);
	assert_int_equal(count, 4711);
}

static void who_comes_at_the_end_is_not_taken_in(void **state)
{
	uint32_t count = 0;

	(void)state;
	ct_writer_server_begin_end(writer_server, CT_RELEASE_FLUSH);
	assert_true(ct_writer_server_is_waiting(writer_server));
	hand_in_directory();
	assert_int_equal(connect_as(NUMBER, BASE, 1, &count), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(writer_server->link_count, 0);
}

static void it_goes_when_the_worker_is_done_with_it(void **state)
{
	struct ct_link *link = take_in();

	(void)state;
	link->done = 1; /* nothing was to be done yet */
	ct_writer_server_remove_done(writer_server);
	assert_int_equal(writer_server->link_count, 1);
	assert_false(ct_writer_server_is_waiting(writer_server));
	ct_link_release(link, CT_RELEASE_FLUSH);
	assert_true(ct_writer_server_is_waiting(writer_server));
	link->done = 0;
	ct_writer_server_remove_done(writer_server);
	assert_int_equal(writer_server->link_count, 1);
	link->done = 1;
	ct_writer_server_remove_done(writer_server);
	assert_int_equal(writer_server->link_count, 0);
	assert_null(caller.link);
	assert_true(caller.connection.is_ending);
	assert_false(ct_writer_server_is_waiting(writer_server));
}

static void who_truncates_its_files_is_parted_from(void **state)
{
	struct ct_link *link = take_in();

	(void)state;
	ct_writer_server_part_from_damaged(writer_server);
	assert_string_equal(reported, "");
	assert_int_equal(link->release, CT_RELEASE_AS_WANTED);
	link->is_damaged = 1;
	ct_writer_server_part_from_damaged(writer_server);
	assert_non_null(strstr(reported, "CTR107E PROCESS "));
	assert_string_equal(writer_server->message, reported);
	assert_int_equal(link->release, CT_RELEASE_NOW);
	reported[0] = '\0';
	ct_writer_server_part_from_damaged(writer_server); /* told once */
	assert_string_equal(reported, "");
}

static void processes_are_asked_and_then_pressed(void **state)
{
	struct ct_link *link = take_in();
	struct ct_message message;
	size_t size;

	(void)state;
	ct_writer_server_begin_end(writer_server, CT_RELEASE_FLUSH);
	assert_int_equal(ct_message_parse(caller.connection.out.data, caller.connection.out.size,
					  &message, &size),
			 CTRACE_OK);
	assert_int_equal(message.verb, CT_VERB_WRITER_STOP);
	assert_int_equal(size, caller.connection.out.size);
	/* the first word holds, and nobody is asked again */
	ct_writer_server_begin_end(writer_server, CT_RELEASE_NOW);
	assert_int_equal(writer_server->stop_release, CT_RELEASE_FLUSH);
	assert_int_equal(size, caller.connection.out.size);
	ct_writer_server_press_on(writer_server);
	/* this machine did not stand still meanwhile */
	if (ct_clock_mono_ns() - writer_server->stop_ns < 1000000000u)
		assert_int_equal(link->release, CT_RELEASE_AS_WANTED);
	writer_server->stop_ns -= 1100000000u; /* it does not answer for a second */
	ct_writer_server_press_on(writer_server);
	assert_int_equal(link->release, CT_RELEASE_FLUSH);
	writer_server->progress_ns -= 5100000000u;
	link->events = 1; /* slow, but it moves */
	ct_writer_server_press_on(writer_server);
	assert_int_equal(link->release, CT_RELEASE_FLUSH);
	writer_server->progress_ns -= 5100000000u;
	ct_writer_server_press_on(writer_server);
	assert_int_equal(link->release, CT_RELEASE_NOW);
}

#define LINKS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int test_writer_server_links(void)
{
	const struct CMUnitTest tests[] = {
		LINKS_TEST(what_no_process_would_say_is_refused),
		LINKS_TEST(who_comes_at_the_end_is_not_taken_in),
		LINKS_TEST(it_goes_when_the_worker_is_done_with_it),
		LINKS_TEST(who_truncates_its_files_is_parted_from),
		LINKS_TEST(processes_are_asked_and_then_pressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
