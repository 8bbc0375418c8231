/*
 * test_writer_server.c - an external writer begins and ends: its name, its directory and its data
 * sets are its alone.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer_server_fixture.h"

static void there_is_one_of_a_name(void **state)
{
	struct ct_writer_options second = { .procedure = &procedure,
					    .run_directory = run_dir,
					    .message = note,
					    .stop_fd = &stop_pipe[0] };
	int fd;

	(void)state;
	assert_int_equal(start(), 'r');
	assert_int_equal(ct_writer_run(&second), 1);
	assert_non_null(strstr(reported, "CTR105E CTRACE WRITER WR1 IS RUNNING ALREADY"));
	fd = dial(); /* the first still is */
	ask(fd, CT_VERB_WRITER_STATUS, 0);
	assert_true(hear(fd));
	(void)close(fd);
	end();
	reported[0] = '\0';
	assert_false(ct_writer_is_alive(directory, "WR1"));
	assert_int_equal(start(), 'r'); /* and when it has ended another may come */
	assert_true(ct_writer_is_alive(directory, "WR1"));
	end();
}

static void a_data_set_that_cannot_be_is_said_before_it_is_ready(void **state)
{
	(void)state;
	put_file(procedure.trcout[1].path, "a file", 6);
	assert_int_equal(start(), 'e');
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 1);
	assert_non_null(strstr(reported, "CTR103E TRCOUT03 CANNOT BE OPENED"));
	assert_int_equal(access("run/writer/WR1", F_OK), -1);
}

static void a_data_set_has_one_writer(void **state)
{
	int lock;
	const struct ct_trcout_spec *spec = &procedure.trcout[1];

	(void)state;
	assert_int_equal(ct_trcout_lock_directory(spec, &lock), CTRACE_OK);
	assert_int_equal(start(), 'e');
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 1);
	assert_non_null(strstr(reported, "CTR103E TRCOUT03 CANNOT BE OPENED"));
	(void)close(lock);
	reported[0] = '\0';
	assert_int_equal(start(), 'r');
	assert_int_equal(ct_trcout_lock_directory(spec, &lock), CTRACE_TIMED_OUT);
	end();
	assert_int_equal(ct_trcout_lock_directory(spec, &lock), CTRACE_OK);
	(void)close(lock);
}

/* Who may write there could take the writer's name before it, or its lock. */
static void a_directory_that_others_may_write_to_is_not_used(void **state)
{
	(void)state;
	assert_int_equal(mkdir(directory, 0700), 0);
	assert_int_equal(chmod(directory, 0770), 0);
	assert_int_equal(start(), 'e');
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 1);
	assert_non_null(strstr(reported, "CTR106E CTRACE WRITER WR1: "));
	assert_non_null(strstr(reported, directory));
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(symlink(room, directory), 0);
	assert_int_equal(start(), 'e');
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 1);
	assert_int_equal(unlink(directory), 0);
	reported[0] = '\0';
	assert_int_equal(start(), 'r');
	end();
	assert_string_equal(reported, "");
}

int test_writer_server(void)
{
	const struct CMUnitTest tests[] = {
		WRITER_SERVER_TEST(there_is_one_of_a_name),
		WRITER_SERVER_TEST(a_data_set_that_cannot_be_is_said_before_it_is_ready),
		WRITER_SERVER_TEST(a_data_set_has_one_writer),
		WRITER_SERVER_TEST(a_directory_that_others_may_write_to_is_not_used),
	};

	return run_writer_server_tests(tests, CT_COUNT(tests));
}
