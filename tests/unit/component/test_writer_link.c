/*
 * test_link.c - a traced process's side of an external writer: connecting, being asked for its
 * rings, losing the writer.
 *
 * The process is this one, with its consumer thread and control thread; the writer is a thread of
 * the test that speaks the protocol, and holds the lock on the session by which a writer shows that
 * it lives.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../session/session_fixture.h"
#include "lib/control/server.h"
#include "session/socket.h"
#include "lib/trace/trace.h"
#include "lib/component/writer_link.h"

#include <ctrace/ctrace.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>

static struct ctrace_tracer *tracer;
static struct ct_session mapped; /* the writer's image; its lock */
static int listener, writer_end = -1;
static pthread_t thread;
static uint32_t share = 2; /* destinations that the writer uses; 0: it refuses */
static bool locks = true;

/* Until the process has come to it; only to stop what hangs. */
#define UNTIL(condition) \
	do { \
		uint64_t limit = ct_clock_mono_ns() + 60000000000u; \
\
		while (!(condition) && ct_clock_mono_ns() < limit) \
			(void)sched_yield(); \
		assert_true(condition); \
	} while (0)

/* ---- the writer ---- */

static void reply(uint64_t status, uint64_t number)
{
	struct ct_buf bytes;
	size_t at;

	ct_buf_init(&bytes);
	at = ct_message_start(&bytes, CT_VERB_WRITER_CONNECT, CT_MESSAGE_ANSWER);
	ct_message_add_number(&bytes, CT_FIELD_STATUS, status);
	ct_message_add_number(&bytes, CT_FIELD_NUMBER, number);
	assert_int_equal(ct_message_end(&bytes, at), CTRACE_OK);
	(void)!send(writer_end, bytes.data, bytes.size, MSG_NOSIGNAL);
	ct_buf_fini(&bytes);
}

static size_t receive(char *bytes, size_t size, int *out_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { bytes, size };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof control };
	ssize_t got = recvmsg(writer_end, &message, 0);

	if (CMSG_FIRSTHDR(&message) != NULL)
		memcpy(out_fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof *out_fd);
	return got > 0 ? (size_t)got : 0;
}

/* Takes one process in. */
static void *welcome(void *unused)
{
	struct pollfd wait = { .fd = listener, .events = POLLIN };
	struct ct_message message;
	char bytes[4096];
	size_t size = 0, whole;
	int directory = -1;

	(void)unused;
	if (poll(&wait, 1, 60000) != 1)
		return NULL;
	writer_end = accept(listener, NULL, NULL);
	while (ct_message_parse(bytes, size, &message, &whole) == CTRACE_NOT_FOUND)
		size += receive(bytes + size, sizeof bytes - size, &directory);
	assert_int_equal(message.verb, CT_VERB_WRITER_CONNECT);
	assert_true(directory >= 0);
	assert_int_equal(ct_message_number(&message, CT_FIELD_VALUE, 0) +
					 ct_message_number(&message, CT_FIELD_LEVEL, 0) <=
				 CT_DEST_LIMIT,
			 1);
	if (locks)
		assert_int_equal(
			ct_session_map(&mapped, directory,
				       (uint32_t)ct_message_number(&message, CT_FIELD_NUMBER, 0)),
			CTRACE_OK);
	else
		(void)close(directory);
	reply(share != 0 ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY, share);
	return NULL;
}

static void open_writer(const char *name)
{
	char directory[200];
	int fd;

	(void)snprintf(directory, sizeof directory, "%s/" CT_WRITER_DIRECTORY, run_dir);
	(void)mkdir(directory, 0700);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(ct_socket_listen(fd, directory, name, &listener), CTRACE_OK);
	(void)close(fd);
	assert_int_equal(pthread_create(&thread, NULL, welcome, NULL), 0);
}

/* It lets its lock go only after its socket, as an exit does in the other order at worst. */
static void close_writer(void)
{
	(void)close(listener);
	(void)close(writer_end);
	writer_end = -1;
}

static void unlock(void)
{
	ct_session_close(&mapped, false);
}

/* ---- the process ---- */

static struct ct_session_writer *entry(const char *name)
{
	return &ct_process.session.head->writer[ct_writer_number(name)];
}

static void trace(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		CTRACE(tracer, CTRACE_ERROR, 1, CTRACE_U32(i));
}

static struct ct_ring *newest_ring(void)
{
	uint32_t at = ct_ring_pool_count(ct_process.pool) - 1;

	/* A ring that is ready may be newer, and nothing has been in it. */
	while (!ct_ring_is_used(ct_ring_pool_at(ct_process.pool, at)->head))
		at--;
	return ct_ring_pool_at(ct_process.pool, at);
}

static int setup_group(void **state)
{
	char path[200];

	(void)state;
	enter_room();
	(void)snprintf(path, sizeof path, "%s/config", room);
	put_file(path, "mftrace.dest = ES\nmftrace.level = debug\n", 40);
	assert_int_equal(setenv("MFTRACE_CONFIG", path, 1), 0);
	assert_int_equal(setenv("CTRACE_RUN_DIR", run_dir, 1), 0);
	assert_int_equal(ctrace_tracer_get("link.test", &tracer), CTRACE_OK);
	return 0;
}

static int teardown_group(void **state)
{
	(void)state;
	leave_room();
	return 0;
}

static void without_a_writer_it_is_noted(void **state)
{
	(void)state;
	assert_int_equal(ct_writer_set("link.test", 9, "nobody"), CTRACE_OK);
	assert_true(ct_writer_number("NOBODY") != 0);
	assert_false(ct_writer_is_connected("NOBODY"));
	trace(10);
	assert_int_equal(newest_ring()->head->held_by, 0);
	assert_int_equal(ctrace_flush(60000), CTRACE_OK);
	assert_true(ct_ring_is_empty(newest_ring()));
	ct_writer_reset("link.test", 9);
}

static uint64_t pending(const struct ct_ring *ring)
{
	const struct ct_class_image classes = ct_session_classes(&ct_process.session);

	return ct_ring_count_pending(ring, &classes);
}

static void connected_its_rings_are_the_writers(void **state)
{
	uint32_t slots;

	(void)state;
	for (uint32_t i = CT_WRITER_SLOT; i < CT_DEST_LIMIT; i++)
		assert_int_equal(ct_dest_put_path(&ct_process.session, i, "/tmp/of/another/writer"),
				 CTRACE_OK);
	for (uint32_t i = CT_WRITER_SLOT; i < CT_DEST_LIMIT; i++)
		ct_process.session.head->dest[i].sequence++;
	open_writer("WR1");
	assert_int_equal(ct_writer_set("link.test", 9, "WR1"), CTRACE_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(ct_writer_is_connected("WR1") && ct_writer_is_connected("wr1"));
	slots = entry("WR1")->slots;
	assert_true((slots & 0xFF) >= CT_WRITER_SLOT && slots >> 8 == 2);
	trace(5);
	assert_in_range(newest_ring()->head->held_by, slots & 0xFF, (slots & 0xFF) + 1);
	assert_int_equal(pending(newest_ring()), 5); /* nobody but the writer consumes it */
	/* Where its predecessor wrote is nothing to it, nor to whoever adopts from it. */
	for (uint32_t i = slots & 0xFF; i < (slots & 0xFF) + 2; i++)
		assert_string_equal(ct_dest_path(&ct_process.session, i), "");
	assert_int_equal(ctrace_flush(20), CTRACE_TIMED_OUT);
}

/* Its parent's link is not its own: its events would come between its parent's. */
static void a_forked_child_has_no_link(void **state)
{
	struct ct_session_writer *parents = entry("WR1");
	uint32_t slots = parents->slots;
	pid_t child = fork();
	int how;

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		ct_process.taking_over = 1; /* another thread's, in the parent */
		_exit(ct_process_attach() != NULL /* calls ct_writer_forked() */ &&
				      entry("WR1")->slots == 0 && ct_process.taking_over == 0 &&
				      !ct_writer_is_connected("WR1")
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
	assert_int_equal(parents->slots, slots);
	assert_true(ct_writer_is_connected("WR1"));
}

static void asked_for_its_rings_it_wants_them_back(void **state)
{
	struct ct_ring *ring = newest_ring();
	struct ct_message message;
	struct ct_buf bytes;
	char answer[256];
	size_t at, size;
	ssize_t got;

	(void)state;
	ct_buf_init(&bytes);
	at = ct_message_start(&bytes, CT_VERB_WRITER_STOP, 0);
	assert_int_equal(ct_message_end(&bytes, at), CTRACE_OK);
	assert_int_equal(send(writer_end, bytes.data, bytes.size, 0), (ssize_t)bytes.size);
	ct_buf_fini(&bytes);
	got = recv(writer_end, answer, sizeof answer, 0);
	assert_true(got > 0);
	assert_int_equal(ct_message_parse(answer, (size_t)got, &message, &size), CTRACE_OK);
	assert_int_equal(message.flags, CT_MESSAGE_ANSWER);
	assert_int_equal(entry("WR1")->slots, 0);
	assert_int_equal(ring->head->wanted, 0);
	assert_int_not_equal(ring->head->held_by, 0); /* until the writer gives it */
	__atomic_store_n(&ring->head->held_by, 0, __ATOMIC_RELEASE);
	close_writer();
	unlock();
	UNTIL(ct_ring_is_empty(ring)); /* the consumer thread has it */
	UNTIL(__atomic_load_n(&ct_process.taking_over, __ATOMIC_ACQUIRE) == 0);
}

static void do_nothing(void *user)
{
	(void)user;
}

static void a_writer_that_is_gone_is_gone_only_when_its_lock_is_free(void **state)
{
	struct ct_ring *ring;

	(void)state;
	open_writer("WR1");
	ct_writer_up("WR1", 3);
	assert_int_equal(pthread_join(thread, NULL), 0);
	UNTIL(ct_writer_is_connected("WR1"));
	ring = newest_ring();
	UNTIL(__atomic_load_n(&ring->head->held_by, __ATOMIC_ACQUIRE) != 0);
	trace(7);
	close_writer();
	UNTIL(!ct_writer_is_connected("WR1"));
	UNTIL(__atomic_load_n(&ring->head->wanted, __ATOMIC_ACQUIRE) == 0);
	/* Two looks at the lock take longer than that; nothing may have happened. */
	for (int i = 0; i < 10; i++)
		assert_int_equal(ctrace_flush(20), CTRACE_TIMED_OUT);
	assert_int_equal(pending(ring), 7);
	/* However often it, or its like, says that it is up: there is room for what else is to be
	 * done. */
	for (int i = 0; i < 1000; i++)
		ct_writer_up("WR1", 3);
	assert_int_equal(ct_server_later(0, do_nothing, NULL), CTRACE_OK);
	unlock();
	UNTIL(ct_ring_is_empty(ring));
	UNTIL(__atomic_load_n(&ring->head->held_by, __ATOMIC_ACQUIRE) == 0);
}

static void a_writer_without_a_lock_is_none(void **state)
{
	(void)state;
	locks = false;
	open_writer("WR2");
	assert_int_equal(ct_writer_set("link.test", 9, "WR2"), CTRACE_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(ct_writer_is_connected("WR2"));
	close_writer();
	locks = true;
}

static void a_writer_that_refuses_is_none(void **state)
{
	(void)state;
	share = 0;
	open_writer("WR3");
	assert_int_equal(ct_writer_set("link.test", 9, "WR3"), CTRACE_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(ct_writer_is_connected("WR3"));
	close_writer();
	unlock();
	share = 2;
}

static void there_are_fifteen_names(void **state)
{
	char name[8];

	(void)state;
	for (int i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof name, "N%d", i);
		if (ct_writer_set("link.test", 9, name) != CTRACE_OK)
			break;
	}
	assert_int_equal(ct_writer_set("link.test", 9, "ONEMORE"), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(ct_writer_set("link.test", 9, "N1"), CTRACE_OK);
	assert_int_equal(ct_writer_set("link.test", 9, ""), CTRACE_OK);
	assert_int_equal(ct_registry_configured(ct_process.registry, tracer->component).writer, 0);
	ct_writer_reset("link.test", 9);
	assert_int_equal(ct_registry_configured(ct_process.registry, tracer->component).writer,
			 CT_WRITER_UNSET);
}

int test_writer_link(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_writer_it_is_noted),
		cmocka_unit_test(connected_its_rings_are_the_writers),
		cmocka_unit_test(a_forked_child_has_no_link),
		cmocka_unit_test(asked_for_its_rings_it_wants_them_back),
		cmocka_unit_test(a_writer_that_is_gone_is_gone_only_when_its_lock_is_free),
		cmocka_unit_test(a_writer_without_a_lock_is_none),
		cmocka_unit_test(a_writer_that_refuses_is_none),
		cmocka_unit_test(there_are_fifteen_names),
	};

	return cmocka_run_group_tests(tests, setup_group, teardown_group);
}
