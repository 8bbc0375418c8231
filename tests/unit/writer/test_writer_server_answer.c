/*
 * test_writer_server_answer.c - what an external writer answers to operators and strangers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer_server_fixture.h"

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
	assert_string_equal(reported, "");
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
	/* A process that hands in no directory. */
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

int test_writer_server_answer(void)
{
	const struct CMUnitTest tests[] = {
		WRITER_SERVER_TEST(it_tells_its_state),
		WRITER_SERVER_TEST(wtrstop_is_answered_when_it_has_ended),
		WRITER_SERVER_TEST(strangers_are_answered_or_hung_up_on),
	};

	return run_writer_server_tests(tests, CT_COUNT(tests));
}
