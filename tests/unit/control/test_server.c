/*
 * test_server.c - the control thread: who is heard, in what order, and that nobody can keep the
 * others from it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "control_fixture.h"

#include <dlfcn.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* ---- the answers of this test: FLUSH answers its number of bytes, and others wait at the level
 * word */

static uint32_t level_word;   /* 1: closed */
static uint32_t served;       /* requests that have come */
static uint32_t order[10000]; /* atomic */

static void wait_at_level_word(void)
{
	while (__atomic_load_n(&level_word, __ATOMIC_ACQUIRE) != 0)
		ct_os_wait(&level_word, 1, UINT64_MAX);
}

static void set_level_word(uint32_t value)
{
	__atomic_store_n(&level_word, value, __ATOMIC_RELEASE);
	ct_os_wake(&level_word);
}

static void wait_for_served(uint32_t count)
{
	while (__atomic_load_n(&served, __ATOMIC_ACQUIRE) < count)
		fixture_pause();
}

static void answer(const struct ct_message *request, struct ct_buf *out, void *user)
{
	static char text[60000];
	uint64_t number = ct_message_number(request, CT_FIELD_NUMBER, 0);
	uint32_t place = __atomic_fetch_add(&served, 1, __ATOMIC_ACQ_REL);
	struct ct_answer made;

	assert_ptr_equal(user, &served);
	wait_at_level_word();
	if (place < CT_COUNT(order))
		__atomic_store_n(&order[place], (uint32_t)number, __ATOMIC_RELAXED);
	ct_answer_begin(&made, out, request->verb);
	for (; request->verb == CT_VERB_DISPLAY && number > 0; number--) {
		ct_answer_row(&made, sizeof text + 8);
		ct_message_add(out, CT_FIELD_VALUE, text, sizeof text);
	}
	ct_answer_end(&made);
}

static int admitted; /* how often a member is still admitted; atomic */

static bool admit(int fd, struct ct_member *member)
{
	assert_true(fd >= 0 && member->is_member && member->uid == 65534);
	return __atomic_sub_fetch(&admitted, 1, __ATOMIC_RELAXED) >= 0;
}

static void answer_member(const struct ct_message *request, const struct ct_member *member,
			  struct ct_buf *out, void *user)
{
	assert_int_equal(member->uid, 65534);
	answer(request, out, user);
}

static void start(void)
{
	const struct ct_server_options options = { .session = &session,
						   .answer = answer,
						   .admit = admit,
						   .answer_member = answer_member,
						   .user = &served };

	level_word = served = 0;
	assert_int_equal(ct_server_start(&options), CTRACE_OK);
}

static int setup(void **state)
{
	(void)state;
	enter_room();
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	start();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	set_level_word(0);
	ct_server_stop();
	ct_session_close(&session, true);
	leave_room();
	return 0;
}

/* ---- asking ---- */

static void a_request_is_answered_and_counted(void **state)
{
	int fd = connect_to_us();

	(void)state;
	assert_true(is_answered(fd));
	assert_true(is_answered(fd));
	assert_int_equal(__atomic_load_n(&session.head->control_requests, __ATOMIC_RELAXED), 2);
	assert_int_equal(session.head->control_refused, 0);
	(void)close(fd);
}

static unsigned other_threads; /* those of qemu-user or a sanitizer */

static unsigned count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned count = 0;

	assert_non_null(tasks);
	while ((entry = readdir(tasks)) != NULL)
		count += entry->d_name[0] != '.';
	(void)closedir(tasks);
	return count - other_threads;
}

static uint32_t tasks_done;

static void count_task(void *user)
{
	(void)user;
	(void)__atomic_fetch_add(&tasks_done, 1, __ATOMIC_SEQ_CST);
}

/* Stopping does not wait for a thread that sleeps in poll(): it ends when it finds its descriptors
 * closed, and calls nothing more. */
static void a_thread_that_sleeps_ends_by_itself(void **state)
{
	const struct ct_server_options again = { .session = &session,
						 .answer = answer,
						 .user = &served,
						 .task = count_task,
						 .task_delay_ms = 60000 };
	int fd = connect_to_us();

	(void)state;
	assert_true(is_answered(fd));
	for (int i = 0; i < 20; i++) {
		ct_server_stop();
		assert_false(ct_server_runs());
		assert_int_equal(ct_server_start(&again), CTRACE_OK);
		assert_true(ct_server_runs());
	}
	(void)close(fd);
	ct_server_stop();
	while (count_threads() > 1) /* a hang is stopped by the harness */
		(void)sched_yield();
	assert_int_equal(tasks_done, 0);
	start();
}

static uint32_t poll_hold; /* atomic: 1 the next ppoll() waits, 2 it does, 0 it goes on */

/* Stands before the C library's. */
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	uint32_t wanted = 1;

	if (__atomic_compare_exchange_n(&poll_hold, &wanted, 2, false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST))
		while (__atomic_load_n(&poll_hold, __ATOMIC_SEQ_CST) == 2)
			(void)sched_yield();
	return (int)syscall(SYS_ppoll, fds, count, timeout, mask, (size_t)_NSIG / 8);
}

/* As _FORTIFY_SOURCE calls it. */
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t size)
{
	(void)size;
	return ppoll(fds, count, timeout, mask);
}

/* By then its numbers may be those of other files, here of the next thread. */
static void a_thread_that_was_stopped_just_before_it_sleeps_ends_too(void **state)
{
	(void)state;
	__atomic_store_n(&poll_hold, 1, __ATOMIC_SEQ_CST);
	assert_int_equal(ct_server_later(60000, count_task, NULL), CTRACE_OK);
	while (__atomic_load_n(&poll_hold, __ATOMIC_SEQ_CST) != 2)
		(void)sched_yield();
	ct_server_stop();
	start();
	/* Another thread that was stopped before may still be ending. */
	while (count_threads() != 3) /* a hang is stopped by the harness */
		(void)sched_yield();
	__atomic_store_n(&poll_hold, 0, __ATOMIC_SEQ_CST);
	while (count_threads() > 2) /* a hang is stopped by the harness */
		(void)sched_yield();
}

static void its_first_task_is_done_when_it_is_due(void **state)
{
	const struct ct_server_options options = { .session = &session,
						   .answer = answer,
						   .user = &served,
						   .task = count_task,
						   .task_delay_ms = 1 };

	(void)state;
	ct_server_stop();
	assert_int_equal(ct_server_start(&options), CTRACE_OK);
	while (__atomic_load_n(&tasks_done, __ATOMIC_SEQ_CST) == 0)
		(void)sched_yield();
	ct_server_stop();
	tasks_done = 0;
	start();
}

static bool starter_waits; /* a thread that is started runs before its starter goes on */

/* Stands before the C library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
		   void *argument)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	int error;

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	error = real(thread, attributes, body, argument);
	while (starter_waits && error == 0 && __atomic_load_n(&tasks_done, __ATOMIC_SEQ_CST) == 0)
		(void)sched_yield();
	return error;
}

static enum ctrace_status asked;

static void ask_for_another(void *user)
{
	asked = ct_server_later(60000, count_task, user);
	count_task(user);
}

static void its_first_task_asks_for_another_before_the_start_has_ended(void **state)
{
	const struct ct_server_options options = {
		.session = &session, .answer = answer, .user = &served, .task = ask_for_another
	};

	(void)state;
	ct_server_stop();
	asked = CTRACE_TIMED_OUT;
	starter_waits = true;
	assert_int_equal(ct_server_start(&options), CTRACE_OK);
	starter_waits = false;
	assert_int_equal(asked, CTRACE_OK);
	ct_server_stop();
	tasks_done = 0;
	start();
}

static mode_t socket_mode(void)
{
	char path[4200];
	struct stat info;

	(void)snprintf(path, sizeof path, "%s/control", session.path);
	assert_int_equal(lstat(path, &info), 0);
	assert_true(S_ISSOCK(info.st_mode));
	return info.st_mode & 07777;
}

static void the_socket_is_the_users_alone_whatever_the_umask_is(void **state)
{
	const mode_t masks[] = { 0, 022, 0777 };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(masks); i++) {
		mode_t before = umask(masks[i]);

		ct_server_stop();
		start();
		(void)umask(before);
		assert_int_equal(socket_mode(), 0600);
	}
}

static void a_directory_with_a_long_path_has_a_socket_too(void **state)
{
	char name[256], longest[4096];
	int fd;

	(void)state;
	ct_server_stop();
	ct_session_close(&session, true);
	memset(name, 'x', 200);
	name[200] = '\0';
	(void)snprintf(longest, sizeof longest, "%s/%s", run_dir, name);
	assert_int_equal(mkdir(longest, 0700), 0);
	assert_int_equal(ct_session_create(&session, longest), CTRACE_OK);
	start();
	fd = connect_to_us();
	assert_true(is_answered(fd));
	(void)close(fd);
}

static void requests_come_in_pieces(void **state)
{
	struct ct_command command = { .verb = CT_VERB_FLUSH, .component = { "app", 3 } };
	struct ct_buf buf;
	int fd = connect_to_us();

	(void)state;
	ct_buf_init(&buf);
	ct_command_encode(&buf, &command);
	for (size_t i = 0; i < buf.size; i++) {
		assert_true(send_all(fd, buf.data + i, 1));
		fixture_pause();
	}
	assert_int_equal(receive_status(fd), CTRACE_OK);
	assert_int_equal(__atomic_load_n(&served, __ATOMIC_ACQUIRE), 1);
	ct_buf_fini(&buf);
	(void)close(fd);
}

static void what_is_no_request_is_answered_and_ends_it(void **state)
{
	const char garbage[] = "GET / HTTP/1.1\r\n\r\n";
	int fd = connect_to_us();
	int other = connect_to_us();

	(void)state;
	assert_true(send_all(fd, garbage, sizeof garbage));
	assert_int_equal(receive_status(fd), CTRACE_DAMAGED);
	assert_true(is_ended(fd));
	assert_true(is_answered(other));
	(void)close(fd);
	(void)close(other);
}

static void another_version_is_reported_and_the_connection_goes_on(void **state)
{
	const struct {
		uint32_t magic;
		uint16_t version, verb;
		uint32_t number, size;
		char body[4];
	} frame = { CT_MESSAGE_MAGIC, 1 /* an older one */, 0x22, 0, 4, "????" };
	int fd = connect_to_us();

	(void)state;
	assert_true(send_all(fd, &frame, sizeof frame));
	assert_int_equal(receive_status(fd), CTRACE_UNSUPPORTED);
	assert_int_equal(__atomic_load_n(&served, __ATOMIC_ACQUIRE), 0);
	assert_true(is_answered(fd));
	(void)close(fd);
}

static void requests_before_the_end_are_answered(void **state)
{
	int fd = connect_to_us();

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_true(send_request(fd, CT_VERB_FLUSH, i));
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(receive_status(fd), CTRACE_OK);
	assert_true(is_ended(fd));
	(void)close(fd);
}

static void who_asks_much_does_not_keep_others_waiting(void **state)
{
	int flooder = connect_to_us();
	int other = connect_to_us();
	struct ct_command command = { .verb = CT_VERB_FLUSH, .number = 7 };
	struct ct_buf flood;
	uint32_t place = 0;

	(void)state;
	ct_buf_init(&flood);
	for (unsigned i = 0; i < 2000; i++)
		ct_command_encode(&flood, &command);
	assert_true(is_answered(other)); /* both are accepted */
	set_level_word(1);
	assert_true(send_all(flooder, flood.data, flood.size));
	wait_for_served(2);
	assert_true(send_request(other, CT_VERB_FLUSH, 8));
	set_level_word(0);
	assert_int_equal(receive_status(other), CTRACE_OK);
	for (unsigned i = 0; i < 2000; i++)
		assert_int_equal(receive_status(flooder), CTRACE_OK);
	ct_buf_fini(&flood);
	while (__atomic_load_n(&order[place], __ATOMIC_RELAXED) != 8)
		place++;
	assert_in_range(place, 1, 4);
	(void)close(flooder);
	(void)close(other);
}

/* ---- a program that takes our numbers ---- */

static void do_nothing(void *unused)
{
	(void)unused;
}

static uint64_t processor_ns(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A file of the program is always ready to be read, and no number is free for a new pair. */
static void a_file_at_the_number_of_its_pair_keeps_it_not_awake(void **state)
{
	const struct timespec half_a_second = { 0, 500000000 };
	struct rlimit limit, none;
	uint64_t before;
	int own = open("own", O_RDWR | O_CREAT, 0600);

	(void)state;
	assert_true(own >= 0);
	assert_int_equal(ct_server_later(20, do_nothing, NULL), CTRACE_OK); /* a round */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int fd = 3; fd < 1024; fd++)
		if (fd != own && fcntl(fd, F_GETFD) >= 0)
			assert_int_equal(dup2(own, fd), fd);
	none = limit;
	none.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	before = processor_ns();
	assert_int_equal(nanosleep(&half_a_second, NULL), 0);
	assert_in_range(processor_ns() - before, 0, 100000000);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	(void)close(own);
}

/* ---- who does not talk, or not listen ---- */

static void one_too_many_ends_the_one_that_is_silent_for_longest(void **state)
{
	const uint32_t magic = CT_MESSAGE_MAGIC;
	int fds[CT_SERVER_CONNECTIONS + 1];

	(void)state;
	for (unsigned i = 0; i < CT_SERVER_CONNECTIONS; i++) {
		fds[i] = connect_to_us();
		assert_true(is_answered(fds[i]));
	}
	assert_true(is_answered(fds[0]));         /* now the second is silent for longest */
	assert_true(send_all(fds[1], &magic, 1)); /* which does not count */
	fds[CT_SERVER_CONNECTIONS] = connect_to_us();
	assert_true(is_answered(fds[CT_SERVER_CONNECTIONS]));
	assert_true(is_ended(fds[1]));
	assert_true(is_answered(fds[0]));
	assert_true(is_answered(fds[2]));
	for (unsigned i = 0; i <= CT_SERVER_CONNECTIONS; i++)
		(void)close(fds[i]);
}

static void a_thousand_silent_ones_keep_nobody_out(void **state)
{
	static int fds[1000];
	struct rlimit limit;
	unsigned descriptors = count_descriptors();

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max < 2000)
		skip();
	limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (unsigned i = 0; i < CT_COUNT(fds); i++) {
		fds[i] = connect_to_us();
		assert_true(fds[i] >= 0);
		if (i % 100 == 50) {
			int fd = connect_to_us();

			assert_true(is_answered(fd));
			(void)close(fd);
		}
	}
	for (unsigned i = 0; i < CT_COUNT(fds); i++)
		(void)close(fds[i]);
	/* The last ones are seen to have gone. */
	for (unsigned i = 0; i < HANGS_MS && count_descriptors() > descriptors; i++)
		fixture_pause();
	assert_int_equal(count_descriptors(), descriptors);
}

static void who_does_not_read_waits_alone(void **state)
{
	int deaf = connect_to_us();
	int other = connect_to_us();

	(void)state;
	assert_true(send_request(deaf, CT_VERB_DISPLAY, 50)); /* 3 MB */
	assert_true(send_request(deaf, CT_VERB_FLUSH, 0));
	wait_for_served(1);
	for (unsigned i = 0; i < 10; i++)
		assert_true(is_answered(other));
	/* its second one is not even read */
	assert_int_equal(__atomic_load_n(&served, __ATOMIC_ACQUIRE), 11);
	for (unsigned i = 0; i < 50; i++) {
		char frame[CT_MESSAGE_LIMIT];
		struct ct_message message;

		assert_true(receive_frame(deaf, frame, &message));
	}
	assert_int_equal(receive_status(deaf), CTRACE_OK);
	(void)close(deaf);
	(void)close(other);
}

static void answers_that_nobody_reads_are_thrown_away_in_the_end(void **state)
{
	int deaf[7];
	int other = connect_to_us();
	unsigned ended = 0;

	(void)state;
	for (unsigned i = 0; i < CT_COUNT(deaf); i++) {
		deaf[i] = connect_to_us();
		assert_true(send_request(deaf[i], CT_VERB_DISPLAY, 50));
	}
	wait_for_served(CT_COUNT(deaf));
	assert_true(is_answered(other));
	for (unsigned i = 0; i < CT_COUNT(deaf); i++) {
		struct pollfd peer = { .fd = deaf[i], .events = 0 };

		ended += poll(&peer, 1, 0) == 1;
		(void)close(deaf[i]);
	}
	assert_in_range(ended, 1, 3); /* 21 MB were too much, 16 are not */
	(void)close(other);
}

/* ---- others ---- */

static int connect_as_another(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "control" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	CHILD_CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
	return fd;
}

static void ask_as_another(void)
{
	char byte;
	int fd;

	CHILD_CHECK(chdir(session.path) == 0 && setuid(65534) == 0);
	fd = connect_as_another();
	CHILD_CHECK(send(fd, "C", 1, MSG_NOSIGNAL) == 1 || errno == EPIPE);
	CHILD_CHECK(receive_some(fd, &byte, 1) == 0);
}

static void open_to_others(void)
{
	char path[4200];

	(void)snprintf(path, sizeof path, "%s/control", session.path);
	assert_int_equal(chmod(room, 0755) | chmod(run_dir, 0755) | chmod(session.path, 0755) |
				 chmod(path, 0666),
			 0);
}

static void connect_often_as_another(void)
{
	CHILD_CHECK(chdir(session.path) == 0 && setuid(65534) == 0);
	for (unsigned i = 0; i < 2 * CT_SERVER_CONNECTIONS; i++)
		CHILD_CHECK(is_answered(connect_as_another()));
}

static void members_do_not_displace_the_user(void **state)
{
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip();
	open_to_others();
	fd = connect_to_us();
	assert_true(is_answered(fd));
	__atomic_store_n(&admitted, INT_MAX, __ATOMIC_RELAXED);
	run_child(connect_often_as_another);
	__atomic_store_n(&admitted, 0, __ATOMIC_RELAXED);
	assert_true(is_answered(fd));
	(void)close(fd);
}

static void ask_twice_as_another(void)
{
	int fd;

	CHILD_CHECK(chdir(session.path) == 0 && setuid(65534) == 0);
	fd = connect_as_another();
	CHILD_CHECK(is_answered(fd));
	CHILD_CHECK(send_request(fd, CT_VERB_FLUSH, 1) && receive_status(fd) == CTRACE_DENIED);
}

static void a_member_is_judged_at_each_request(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	open_to_others();
	__atomic_store_n(&admitted, 2, __ATOMIC_RELAXED); /* the connection, and one request */
	run_child(ask_twice_as_another);
	__atomic_store_n(&admitted, 0, __ATOMIC_RELAXED);
}

static void another_user_is_refused_and_counted(void **state)
{
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip();
	open_to_others();
	for (unsigned i = 0; i < 3; i++)
		run_child(ask_as_another);
	fd = connect_to_us();
	assert_true(is_answered(fd));
	assert_int_equal(__atomic_load_n(&session.head->control_refused, __ATOMIC_RELAXED), 3);
	assert_int_equal(__atomic_load_n(&session.head->control_requests, __ATOMIC_RELAXED), 1);
	(void)close(fd);
}

/* ---- work for the thread ---- */

static uint32_t called;
static uint32_t caller;

static bool hear(int fd, void *user)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);

	assert_ptr_equal(user, &called);
	__atomic_store_n(&caller, ct_os_thread_id(), __ATOMIC_RELAXED);
	__atomic_add_fetch(&called, 1, __ATOMIC_ACQ_REL);
	return got == 1;
}

static void wait_for_called(uint32_t count)
{
	for (unsigned i = 0; i < HANGS_MS && __atomic_load_n(&called, __ATOMIC_ACQUIRE) < count;
	     i++)
		fixture_pause();
	assert_int_equal(__atomic_load_n(&called, __ATOMIC_ACQUIRE), count);
}

static void a_watched_descriptor_is_heard_until_it_ends(void **state)
{
	int pair[2];
	int fd = connect_to_us();

	(void)state;
	called = 0;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(ct_server_watch(pair[0], hear, &called), CTRACE_OK);
	assert_true(is_answered(fd));
	assert_int_equal(__atomic_load_n(&called, __ATOMIC_ACQUIRE), 0);
	assert_int_equal(write(pair[1], "a", 1), 1);
	wait_for_called(1);
	assert_int_equal(write(pair[1], "b", 1), 1);
	wait_for_called(2);
	assert_int_not_equal(__atomic_load_n(&caller, __ATOMIC_RELAXED), ct_os_thread_id());
	(void)close(pair[1]);
	wait_for_called(3);
	assert_true(is_answered(fd)); /* and not again */
	assert_true(is_answered(fd));
	assert_int_equal(__atomic_load_n(&called, __ATOMIC_ACQUIRE), 3);
	(void)close(pair[0]);
	(void)close(fd);
}

static void note(void *user)
{
	uint32_t place = __atomic_load_n(&called, __ATOMIC_RELAXED);

	order[place] = (uint32_t)(uintptr_t)user;
	__atomic_store_n(&called, place + 1, __ATOMIC_RELEASE);
}

static void tasks_come_when_they_are_due(void **state)
{
	uint64_t begin = ct_clock_mono_ns();

	(void)state;
	called = 0;
	assert_int_equal(ct_server_later(60, note, (void *)2), CTRACE_OK);
	assert_int_equal(ct_server_later(0, note, (void *)1), CTRACE_OK);
	assert_int_equal(ct_server_later(90, note, (void *)3), CTRACE_OK);
	wait_for_called(3);
	assert_true(ct_clock_mono_ns() - begin >= 90000000u);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(order[i], i + 1);
}

static void without_a_thread_nothing_is_taken(void **state)
{
	(void)state;
	ct_server_stop();
	assert_int_equal(ct_server_later(0, note, NULL), CTRACE_TIMED_OUT);
	assert_int_equal(ct_server_watch(0, hear, NULL), CTRACE_TIMED_OUT);
	ct_server_check();
}

/* ---- life ---- */

static unsigned find_thread(unsigned *out_switches)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(tasks)) != NULL) {
		char path[300], line[200];
		bool is_ours = false;
		FILE *file;

		(void)snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
		if (entry->d_name[0] == '.' || (file = fopen(path, "r")) == NULL)
			continue;
		while (fgets(line, sizeof line, file) != NULL) {
			is_ours = is_ours || strncmp(line, "Name:\tctrace-control", 20) == 0;
			if (is_ours)
				(void)sscanf(line, "voluntary_ctxt_switches: %u", out_switches);
		}
		count += is_ours;
		(void)fclose(file);
	}
	(void)closedir(tasks);
	return count;
}

/* A thread that was stopped while it slept ends by itself, some time after that. */
static void wait_for_threads(unsigned count, unsigned *out_switches)
{
	while (find_thread(out_switches) != count)
		(void)sched_yield();
}

static void an_idle_thread_sleeps(void **state)
{
	const struct timespec pause = { 0, 500000000 };
	int fd = connect_to_us();
	unsigned before = 0, after = 0;

	(void)state;
	assert_true(is_answered(fd));
	for (unsigned i = 0; i < 20; i++)
		fixture_pause(); /* it goes to sleep */
	wait_for_threads(1, &before);
	(void)nanosleep(&pause, NULL);
	assert_int_equal(find_thread(&after), 1);
	assert_int_equal(after, before);
	(void)close(fd);
}

static void it_stops_and_starts_again(void **state)
{
	unsigned ignored = 0;
	char path[4200];
	int fd = connect_to_us();

	(void)state;
	assert_true(is_answered(fd));
	(void)snprintf(path, sizeof path, "%s/control", session.path);
	ct_server_stop();
	ct_server_stop();
	assert_true(is_ended(fd));
	wait_for_threads(0, &ignored);
	assert_false(exists(path));
	(void)close(fd);
	start();
	fd = connect_to_us();
	assert_true(is_answered(fd));
	(void)close(fd);
}

static int ahead_s; /* of this program's wall clock */

/* Stands before the C library's, also for what is tested. */
int clock_gettime(clockid_t clock, struct timespec *out)
{
	int result = (int)syscall(SYS_clock_gettime, clock, out);

	if (clock == CLOCK_REALTIME)
		out->tv_sec += __atomic_load_n(&ahead_s, __ATOMIC_RELAXED);
	return result;
}

static void stop_with_a_clock_that_is_set(void)
{
	int fd;

	(void)alarm(60); /* the old limit is an hour away */
	ct_server_reset();
	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	start();
	fd = connect_to_us();
	set_level_word(1);
	CHILD_CHECK(fd >= 0 && send_request(fd, CT_VERB_FLUSH, 1));
	wait_for_served(1);
	__atomic_store_n(&ahead_s, 3600, __ATOMIC_RELAXED);
	ct_server_stop();
}

/* As when it is set back while the thread is waited for: the limit seems to be an hour away. */
static void a_thread_that_does_not_end_is_waited_for_briefly_whatever_the_clock_says(void **state)
{
	(void)state;
	run_child(stop_with_a_clock_that_is_set);
}

static void a_session_without_a_directory_has_none(void **state)
{
	struct ct_session private;
	struct ct_server_options options = { .session = &private, .answer = answer };
	unsigned ignored = 0;

	(void)state;
	ct_server_stop();
	wait_for_threads(0, &ignored);
	assert_int_equal(ct_session_create(&private, NULL), CTRACE_OK);
	assert_int_equal(ct_server_start(&options), CTRACE_OK);
	assert_int_equal(find_thread(&ignored), 0);
	ct_session_close(&private, true);
}

/* Who comes while the socket is made anew is turned away unheard, and comes again, as
 * ct_client_ask() does. */
static bool are_we_answered(void)
{
	for (unsigned i = 0; i < 100; i++) {
		int fd = connect_to_us();
		bool is = is_answered(fd);

		(void)close(fd);
		if (is)
			return true;
	}
	return false;
}

/* In a child, which can close what it likes: nothing of it is the test's. */
static void close_everything(void)
{
	int mine[40];

	ct_server_reset();
	level_word = 0;
	(void)ct_session_close(&session, false);
	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	start();
	for (unsigned round = 0; round < 5; round++) {
		CHILD_CHECK(are_we_answered());
		for (int i = 3; i < 1024; i++)
			(void)close(i);
		/* The numbers are the program's own files now. */
		for (unsigned i = 0; i < CT_COUNT(mine); i++)
			mine[i] = open("mine", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		ct_server_check();
		CHILD_CHECK(are_we_answered());
		for (unsigned i = 0; i < CT_COUNT(mine); i++)
			CHILD_CHECK(mine[i] >= 0 && write(mine[i], "x", 1) == 1);
		for (unsigned i = 0; i < CT_COUNT(mine); i++)
			(void)close(mine[i]);
	}
	ct_server_stop();
}

static void what_the_program_closes_is_made_anew_and_nothing_else_is_touched(void **state)
{
	struct stat info;

	(void)state;
	run_child(close_everything);
	assert_int_equal(stat("mine", &info), 0);
	assert_int_equal(info.st_size, 5 * 40);
}

static void use_up_descriptors(void)
{
	struct rlimit limit = { 64, 64 };
	int fds[64];
	unsigned count = 0;
	pid_t pid;
	int status;

	while (fds[0] = open("/dev/null", O_RDONLY), fds[0] < 3)
		; /* what is below is not for us */
	(void)close(fds[0]);
	ct_server_reset();
	(void)ct_session_close(&session, false);
	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	start();
	CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while (count < CT_COUNT(fds) && (fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		count++;
	CHILD_CHECK(count > 4 && count < CT_COUNT(fds));
	(void)close(fds[0]);
	/* One descriptor is free: who is silent on it makes room for the next. */
	pid = fork();
	if (pid == 0) {
		ct_server_reset();
		for (unsigned i = 1; i < count; i++)
			(void)close(fds[i]);
		for (unsigned i = 0; i < 5; i++)
			CHILD_CHECK(connect_to_us() >= 0); /* and stays */
		CHILD_CHECK(is_answered(connect_to_us()));
		_exit(0);
	}
	CHILD_CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHILD_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void without_a_free_descriptor_the_silent_one_makes_room(void **state)
{
	(void)state;
	run_child(use_up_descriptors);
}

/* Descriptors before the fork: the library's handler, if it is in this program, closes some. */
static unsigned before;

static void look_at_a_fork(void)
{
	ct_server_reset();
	/* it listens, can be woken by a pair, and talks to the test */
	CHILD_CHECK(count_descriptors() == before - 4);
	ct_server_reset();
	ct_server_stop();
	CHILD_CHECK(count_descriptors() == before - 4);
	CHILD_CHECK(ct_server_later(0, note, NULL) == CTRACE_TIMED_OUT);
}

static void a_forked_child_keeps_nothing_and_the_parent_goes_on(void **state)
{
	int fd = connect_to_us();

	(void)state;
	assert_true(is_answered(fd));
	while (open("/dev/null", O_RDONLY) < 3)
		; /* the server's descriptors are nobody's standard input */
	before = count_descriptors();
	run_child(look_at_a_fork);
	assert_true(is_answered(fd));
	assert_int_equal(socket_mode(), 0600);
	(void)close(fd);
	fd = connect_to_us();
	assert_true(is_answered(fd));
	(void)close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int test_server(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_is_answered_and_counted),
		TEST(a_thread_that_sleeps_ends_by_itself),
		TEST(a_thread_that_was_stopped_just_before_it_sleeps_ends_too),
		TEST(its_first_task_is_done_when_it_is_due),
		TEST(its_first_task_asks_for_another_before_the_start_has_ended),
		TEST(the_socket_is_the_users_alone_whatever_the_umask_is),
		TEST(a_directory_with_a_long_path_has_a_socket_too),
		TEST(requests_come_in_pieces),
		TEST(what_is_no_request_is_answered_and_ends_it),
		TEST(another_version_is_reported_and_the_connection_goes_on),
		TEST(requests_before_the_end_are_answered),
		TEST(a_file_at_the_number_of_its_pair_keeps_it_not_awake),
		TEST(who_asks_much_does_not_keep_others_waiting),
		TEST(one_too_many_ends_the_one_that_is_silent_for_longest),
		TEST(a_thousand_silent_ones_keep_nobody_out),
		TEST(members_do_not_displace_the_user),
		TEST(a_member_is_judged_at_each_request),
		TEST(who_does_not_read_waits_alone),
		TEST(answers_that_nobody_reads_are_thrown_away_in_the_end),
		TEST(another_user_is_refused_and_counted),
		TEST(a_watched_descriptor_is_heard_until_it_ends),
		TEST(tasks_come_when_they_are_due),
		TEST(without_a_thread_nothing_is_taken),
		TEST(an_idle_thread_sleeps),
		TEST(it_stops_and_starts_again),
		TEST(a_thread_that_does_not_end_is_waited_for_briefly_whatever_the_clock_says),
		TEST(a_session_without_a_directory_has_none),
		TEST(what_the_program_closes_is_made_anew_and_nothing_else_is_touched),
		TEST(without_a_free_descriptor_the_silent_one_makes_room),
		TEST(a_forked_child_keeps_nothing_and_the_parent_goes_on),
	};

	other_threads = count_threads() - 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
