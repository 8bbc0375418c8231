/*
 * test_connection.c - one connection turn by turn: what is read, served, sent and closed, without a
 * thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../control/control_fixture.h"

#include "session/connection.h"

static struct ct_connection connection;
static int peer;
static unsigned served;
static size_t answer_size; /* bytes of each answer's text */
static bool must_fail;

static ct_server_answer answer;

static void answer(const struct ct_message *request, struct ct_buf *out, void *user)
{
	static char text[60000];
	struct ct_answer made;

	(void)user;
	served++;
	ct_answer_begin(&made, out, request->verb);
	for (size_t left = answer_size; left > 0; left -= left < sizeof text ? left : sizeof text) {
		ct_answer_row(&made, sizeof text + 8);
		ct_message_add(out, CT_FIELD_VALUE, text, left < sizeof text ? left : sizeof text);
	}
	ct_answer_end(&made);
	out->failed = out->failed || must_fail;
}

static const struct ct_server_options options = { .session = &session, .answer = answer };

static int setup(void **state)
{
	int fds[2];

	(void)state;
	served = 0;
	answer_size = 0;
	must_fail = false;
	assert_int_equal(ct_session_create(&session, NULL), CTRACE_OK);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	peer = fds[1];
	ct_connection_open(&connection, fds[0]);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ct_connection_close(&connection);
	(void)close(peer);
	ct_session_close(&session, false);
	return 0;
}

static bool turn(short revents)
{
	return ct_connection_turn(&connection, revents, &options);
}

static void one_request_a_turn(void **state)
{
	(void)state;
	assert_int_equal(ct_connection_events(&connection), POLLIN);
	for (unsigned i = 0; i < 3; i++)
		assert_true(send_request(peer, CT_VERB_FLUSH, 0));
	assert_true(turn(POLLIN));
	assert_int_equal(served, 1);
	/* there is more to do without waiting */
	assert_int_equal(ct_connection_events(&connection), 0);
	assert_true(turn(0));
	assert_true(turn(0));
	assert_int_equal(served, 3);
	assert_true(turn(0)); /* nothing is left */
	assert_int_equal(ct_connection_events(&connection), POLLIN);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(receive_status(peer), CTRACE_OK);
	assert_int_equal(session.head->control_requests, 3);
}

static void only_a_whole_request_counts_as_talking(void **state)
{
	const uint32_t magic = CT_MESSAGE_MAGIC;
	const uint16_t rest[6] = { 2, 042 };
	uint64_t opened = connection.complete_ns;

	(void)state;
	assert_true(opened != 0);
	assert_true(send_all(peer, &magic, sizeof magic));
	assert_true(turn(POLLIN));
	assert_true(connection.complete_ns == opened);
	assert_true(send_all(peer, rest, sizeof rest));
	assert_true(turn(POLLIN));
	assert_int_equal(served, 1);
	assert_true(connection.complete_ns > opened);
}

static void nothing_is_read_while_an_answer_waits(void **state)
{
	char frame[CT_MESSAGE_LIMIT];
	struct ct_message message;
	unsigned turns = 0;

	(void)state;
	answer_size = 2000000;
	assert_true(send_request(peer, CT_VERB_FLUSH, 0) && send_request(peer, CT_VERB_FLUSH, 0));
	assert_true(turn(POLLIN));
	assert_true(ct_connection_waiting(&connection) > 1000000);
	assert_int_equal(ct_connection_events(&connection), POLLOUT);
	assert_true(turn(POLLOUT));
	assert_true(turn(0));
	assert_int_equal(served, 1);
	do {
		assert_true(receive_frame(peer, frame, &message));
		assert_true(turn(POLLOUT) && turns++ < 1000);
	} while ((message.flags & CT_MESSAGE_MORE) != 0);
	assert_true(turn(0));
	assert_int_equal(served, 2);
	assert_true(connection.out.capacity > 65536);
}

static void a_large_buffer_is_given_back(void **state)
{
	static char bytes[65536];
	unsigned turns = 0;

	(void)state;
	answer_size = 1000000;
	assert_true(send_request(peer, CT_VERB_FLUSH, 0));
	assert_true(turn(POLLIN));
	while (ct_connection_waiting(&connection) != 0 && turns++ < 1000) {
		assert_true(receive_some(peer, bytes, sizeof bytes) > 0);
		assert_true(turn(POLLOUT));
	}
	assert_int_equal(connection.out.capacity, 0);
}

static void the_input_is_never_more_than_a_frame(void **state)
{
	struct ct_command command = { .verb = CT_VERB_COMPONENT_PROPERTY };
	static char value[60000];
	struct ct_buf buf;

	(void)state;
	ct_buf_init(&buf);
	command.value = (struct ct_span){ value, sizeof value };
	for (unsigned i = 0; i < 3; i++)
		ct_command_encode(&buf, &command);
	assert_false(buf.failed);
	for (size_t at = 0; at < buf.size; at += 1000) {
		assert_true(
			send_all(peer, buf.data + at, buf.size - at < 1000 ? buf.size - at : 1000));
		assert_true(turn(POLLIN));
		assert_true(connection.in.capacity <= 2 * CT_MESSAGE_LIMIT);
	}
	while (ct_connection_events(&connection) == 0)
		assert_true(turn(0));
	assert_int_equal(served, 3);
	ct_buf_fini(&buf);
}

static void damage_is_answered_and_then_it_ends(void **state)
{
	(void)state;
	assert_true(send_request(peer, CT_VERB_FLUSH, 0));
	assert_true(send_all(peer, "garbage", 7));
	assert_true(turn(POLLIN));
	assert_false(turn(0));
	assert_int_equal(receive_status(peer), CTRACE_OK);
	assert_int_equal(receive_status(peer), CTRACE_DAMAGED);
	assert_int_equal(served, 1);
}

static void the_end_of_the_peer_is_the_end(void **state)
{
	const uint32_t magic = CT_MESSAGE_MAGIC;
	unsigned turns = 0;

	(void)state;
	assert_true(send_all(peer, &magic, sizeof magic));
	(void)shutdown(peer, SHUT_WR);
	while (turn(POLLIN))
		assert_true(turns++ < 10);
	assert_int_equal(served, 0);
}

static void memory_that_is_short_ends_it(void **state)
{
	(void)state;
	must_fail = true;
	assert_true(send_request(peer, CT_VERB_FLUSH, 0));
	assert_false(turn(POLLIN));
}

static void a_descriptor_of_the_programs_own_is_left_alone(void **state)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd = connection.fd;

	(void)state;
	assert_true(send_request(peer, CT_VERB_FLUSH, 0));
	assert_int_equal(dup2(null, fd), fd);
	assert_false(turn(POLLIN));
	ct_connection_close(&connection);
	assert_true(fcntl(fd, F_GETFD) >= 0); /* still open */
	assert_int_equal(served, 0);
	(void)close(fd);
	(void)close(null);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static unsigned count_open(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Who passes several leaves one here, and none that nobody closes. */
static void of_several_descriptors_one_is_taken(void **state)
{
	const struct ct_server_options takes = { .session = &session,
						 .answer = answer,
						 .takes_descriptor = true };
	const uint32_t magic = CT_MESSAGE_MAGIC;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))];
	struct iovec part = { (void *)(uintptr_t)&magic, sizeof magic };
	unsigned before = count_open();
	int fds[3] = { peer, peer, peer };

	(void)state;
	for (size_t count = 3; count > 1; count--) {
		struct msghdr message = { .msg_iov = &part,
					  .msg_iovlen = 1,
					  .msg_control = control };
		struct cmsghdr *head = (struct cmsghdr *)(void *)control;

		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		memset(control, 0, sizeof control);
		*head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(count * sizeof(int)),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(head), fds, count * sizeof(int));
		assert_int_equal(sendmsg(peer, &message, 0), (ssize_t)sizeof magic);
		assert_true(ct_connection_turn(&connection, POLLIN, &takes));
		assert_true(connection.passed >= 0);
		assert_int_equal(count_open(), before + 1);
		assert_int_equal(close(connection.passed), 0);
		connection.passed = -1;
		ct_buf_clear(&connection.in);
	}
}

static ct_server_answer answer_number;

/* Its user's bytes go back. */
static void answer_number(const struct ct_message *request, struct ct_buf *out, void *user)
{
	struct ct_answer made;

	ct_answer_begin(&made, out, request->verb);
	ct_message_add_number(out, CT_FIELD_NUMBER,
			      *(const unsigned *)user +
				      ct_message_number(request, CT_FIELD_NUMBER, 0));
	ct_answer_end(&made);
}

static void an_answer_is_made_from_the_request_and_the_servers_user(void **state)
{
	unsigned user = 4700;
	const struct ct_server_options numbers = { .session = &session,
						   .answer = answer_number,
						   .user = &user };
	char frame[CT_MESSAGE_LIMIT];
	struct ct_message message;

	(void)state;
	assert_true(send_request(peer, CT_VERB_FLUSH, 11));
	assert_true(ct_connection_turn(&connection, POLLIN, &numbers));
	assert_true(receive_frame(peer, frame, &message));
	assert_int_equal(message.verb, CT_VERB_FLUSH);
	assert_int_equal(ct_message_number(&message, CT_FIELD_NUMBER, 0), 4711);
	assert_int_equal(ct_connection_waiting(&connection), 0);
}

int test_connection(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_request_a_turn),
		TEST(only_a_whole_request_counts_as_talking),
		TEST(nothing_is_read_while_an_answer_waits),
		TEST(a_large_buffer_is_given_back),
		TEST(the_input_is_never_more_than_a_frame),
		TEST(damage_is_answered_and_then_it_ends),
		TEST(the_end_of_the_peer_is_the_end),
		TEST(memory_that_is_short_ends_it),
		TEST(a_descriptor_of_the_programs_own_is_left_alone),
		TEST(of_several_descriptors_one_is_taken),
		TEST(an_answer_is_made_from_the_request_and_the_servers_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
