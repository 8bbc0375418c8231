/*
 * test_control.c - the control socket of a traced process: real operators, floods, half requests,
 * other users, forks.
 *
 * The test speaks the frames of the protocol itself, so that it can speak them wrongly.  While it
 * does, the child traces.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

/* One level is set: a process without any would be dormant. */
#define QUIET_CONFIG \
	"mftrace.level = none\n" \
	"mftrace.level.elsewhere = fatal\n" \
	"mftrace.dest = textfile\n" \
	"mftrace.emitter.textfile#location = out\n"
#define HANGS_MS 30000
#define LIMIT 65536u

/* ---- frames ---- */

enum { VERB_LEVEL = 1, VERB_FLUSH = 34 };
enum {
	FIELD_STATUS = 1,
	FIELD_COMPONENT = 3,
	FIELD_LEVEL = 9,
	FIELD_NUMBER = 10,
	FIELD_OLD = 11,
	FIELD_NEW = 12
};
enum {
	STATUS_OK = 0,
	STATUS_NOT_FOUND = 16,
	STATUS_DAMAGED = 17,
	STATUS_UNSUPPORTED = 20,
	STATUS_NONE = 99
};

struct frame {
	uint32_t magic;
	uint16_t version;
	uint16_t verb;
	uint32_t flags;
	uint32_t size;
	char fields[1024];
};
#define HEAD offsetof(struct frame, fields)

static void begin(struct frame *frame, uint16_t verb)
{
	memset(frame, 0, sizeof *frame);
	frame->magic = 0x4C525443;
	frame->version = 2;
	frame->verb = verb;
}

static void add(struct frame *frame, uint16_t field, const void *data, size_t size)
{
	uint32_t bytes = (uint32_t)size;

	assert_true(frame->size + 8 + size <= sizeof frame->fields);
	memcpy(frame->fields + frame->size, &field, 2);
	memcpy(frame->fields + frame->size + 4, &bytes, 4);
	memcpy(frame->fields + frame->size + 8, data, size);
	frame->size += 8 + bytes;
}

static void make_level(struct frame *frame, const char *component, uint64_t level)
{
	begin(frame, VERB_LEVEL);
	add(frame, FIELD_COMPONENT, component, strlen(component));
	add(frame, FIELD_LEVEL, &level, sizeof level);
}

static bool send_all(int fd, const void *data, size_t size)
{
	for (const char *at = data; size > 0;) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

static bool send_frame(int fd, const struct frame *frame)
{
	return send_all(fd, frame, HEAD + frame->size);
}

static bool receive_all(int fd, void *data, size_t size)
{
	for (char *at = data; size > 0;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		ssize_t got = poll(&ready, 1, HANGS_MS) == 1 ? recv(fd, at, size, 0) : -1;

		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

/* The status of the next answer; its fields as they came.  STATUS_NONE: the connection has ended.
 */
static uint64_t receive_answer(int fd, char fields[LIMIT], uint32_t *out_size)
{
	struct frame head;
	uint64_t status;

	if (!receive_all(fd, &head, HEAD))
		return STATUS_NONE;
	assert_int_equal(head.magic, 0x4C525443);
	assert_true(head.size >= 16 && head.size <= LIMIT - HEAD);
	if (!receive_all(fd, fields, head.size))
		return STATUS_NONE;
	memcpy(&status, fields + 8, sizeof status); /* the first field is the status */
	*out_size = head.size;
	return status;
}

static uint64_t receive_status(int fd)
{
	static char fields[LIMIT];
	uint32_t size;

	return receive_answer(fd, fields, &size);
}

/* How many of the answer's fields are of this kind and have this text. */
static unsigned count_text(const char *fields, uint32_t size, uint16_t wanted, const char *text)
{
	unsigned count = 0;

	for (uint32_t at = 0; at + 8 <= size;) {
		uint16_t field;
		uint32_t bytes;

		memcpy(&field, fields + at, 2);
		memcpy(&bytes, fields + at + 4, 4);
		count += field == wanted && bytes == strlen(text) &&
			 memcmp(fields + at + 8, text, bytes) == 0;
		at += 8 + bytes;
	}
	return count;
}

/* ---- the child's socket ---- */

static void nap(void)
{
	const struct timespec pause = { 0, 1000000 };

	(void)nanosleep(&pause, NULL);
}

/* Connects to the process; whoever is turned away while its socket is made, or while the queue is
 * full, tries again. */
static int connect_to(pid_t pid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof address.sun_path, "run/%d.0/control", (int)pid);
	for (unsigned i = 0; i < HANGS_MS; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		assert_true(fd >= 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
			return fd;
		(void)close(fd);
		nap();
	}
	fail_msg("nobody listens");
	return -1;
}

/* One request on a connection of its own. */
static uint64_t ask(pid_t pid, const struct frame *frame)
{
	for (unsigned i = 0; i < 100; i++) {
		int fd = connect_to(pid);
		uint64_t status = send_frame(fd, frame) ? receive_status(fd) : STATUS_NONE;

		(void)close(fd);
		if (status != STATUS_NONE)
			return status;
	}
	return STATUS_NONE;
}

static void is_served(pid_t pid)
{
	const uint64_t ms = 900;
	struct frame frame;

	begin(&frame, VERB_FLUSH);
	add(&frame, FIELD_NUMBER, &ms, sizeof ms);
	assert_int_equal(ask(pid, &frame), STATUS_OK);
}

/* The sockets that the process holds. Other descriptors come and go by themselves, for a ring that
 * grows, say. */
static unsigned count_sockets(pid_t pid)
{
	char path[64], target[64];
	unsigned count = 0;
	struct dirent *entry;
	DIR *directory;

	(void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL) {
		ssize_t size = readlinkat(dirfd(directory), entry->d_name, target, sizeof target);

		count += size > 7 && memcmp(target, "socket:", 7) == 0;
	}
	(void)closedir(directory);
	return count;
}

static void sockets_are(pid_t pid, unsigned expected)
{
	for (unsigned i = 0; i < HANGS_MS && count_sockets(pid) != expected; i++)
		nap(); /* until it sees that we have closed */
	assert_int_equal(count_sockets(pid), expected);
}

/* ---- the children ---- */

static struct ctrace_tracer one = CTRACE_TRACER("app.one");
static struct ctrace_tracer two = CTRACE_TRACER("app.two");

enum { STATE, GO_ON, ONE, TWO, EMITTED };

static void set_state(uint64_t state)
{
	__atomic_store_n(&shared->number[STATE], state, __ATOMIC_RELEASE);
}

static bool goes_on(void)
{
	return __atomic_load_n(&shared->number[GO_ON], __ATOMIC_ACQUIRE) == 0;
}

static void wait_for(unsigned word, uint64_t value)
{
	for (unsigned i = 0;
	     i < HANGS_MS && __atomic_load_n(&shared->number[word], __ATOMIC_ACQUIRE) < value; i++)
		nap();
	assert_true(__atomic_load_n(&shared->number[word], __ATOMIC_ACQUIRE) >= value);
}

static uint64_t lost(const struct ctrace_stats *stats)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		sum += stats->lost[i];
	return sum;
}

/* Traces until it is told to stop, and counts what was recorded by the level in force. */
static void trace(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };
	uint64_t recorded = 0;

	/* when a check fails, nobody tells it to stop */
	REQUIRE(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	REQUIRE(ctrace_tracer_get("app.one", &(struct ctrace_tracer *){ NULL }) == CTRACE_OK);
	REQUIRE(ctrace_tracer_get("app.two", &(struct ctrace_tracer *){ NULL }) == CTRACE_OK);
	set_state(1);
	while (goes_on()) {
		bool is_one = ctrace_emit(&one, CTRACE_INFO, 1, NULL, 0) == CTRACE_OK;
		bool is_two = ctrace_emit(&two, CTRACE_INFO, 2, NULL, 0) == CTRACE_OK;

		recorded += is_one + is_two;
		__atomic_store_n(&shared->number[ONE], shared->number[ONE] + is_one,
				 __ATOMIC_RELEASE);
		__atomic_store_n(&shared->number[TWO], shared->number[TWO] + is_two,
				 __ATOMIC_RELEASE);
		if (!is_one && !is_two)
			nap();
	}
	REQUIRE(ctrace_flush(10000) == CTRACE_OK);
	ctrace_stats_get(&stats);
	REQUIRE(stats.emitted == recorded && stats.delivered + lost(&stats) == recorded &&
		stats.pending == 0);
	shared->number[EMITTED] = stats.delivered;
}

static pid_t start(const char *config)
{
	pid_t pid;

	scenario_begin(config);
	pid = scenario_start(trace);
	wait_for(STATE, 1);
	return pid;
}

static void finish(pid_t pid)
{
	int status;

	__atomic_store_n(&shared->number[GO_ON], 1, __ATOMIC_RELEASE);
	status = scenario_wait(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), shared->number[EMITTED]);
	assert_int_equal(scenario_directories(), 0);
	scenario_end();
}

/* ---- what operators do ---- */

static void an_operator_switches_a_tracer_while_it_runs(void **state)
{
	static char fields[LIMIT];
	pid_t pid = start(QUIET_CONFIG);
	struct frame frame;
	uint32_t size;
	int fd = connect_to(pid);

	(void)state;
	assert_int_equal(shared->number[ONE] + shared->number[TWO], 0);
	make_level(&frame, "app.one", CTRACE_INFO);
	assert_true(send_frame(fd, &frame));
	assert_int_equal(receive_answer(fd, fields, &size), STATUS_OK);
	assert_int_equal(count_text(fields, size, FIELD_COMPONENT, "app.one"), 1);
	assert_int_equal(count_text(fields, size, FIELD_OLD, "NONE"), 1);
	assert_int_equal(count_text(fields, size, FIELD_NEW, "INFO"), 1);
	wait_for(ONE, 10);
	assert_int_equal(shared->number[TWO], 0);
	make_level(&frame, "app.*", CTRACE_ERROR);
	assert_true(send_frame(fd, &frame));
	assert_int_equal(receive_answer(fd, fields, &size), STATUS_OK);
	assert_int_equal(count_text(fields, size, FIELD_NEW, "ERROR"), 2);
	make_level(&frame, "APP", CTRACE_DEBUG); /* above them, which have their own */
	assert_true(send_frame(fd, &frame));
	assert_int_equal(receive_answer(fd, fields, &size), STATUS_OK);
	make_level(&frame, "*.t?o", CTRACE_DEBUG);
	assert_true(send_frame(fd, &frame));
	assert_int_equal(receive_answer(fd, fields, &size), STATUS_OK);
	wait_for(TWO, 10);
	make_level(&frame, "nobody", CTRACE_DEBUG);
	assert_true(send_frame(fd, &frame));
	assert_int_equal(receive_answer(fd, fields, &size), STATUS_NOT_FOUND);
	(void)close(fd);
	finish(pid);
}

static void requests_that_are_none_change_nothing(void **state)
{
	const char garbage[] = "\0\0\0\0GET / HTTP/1.0\r\n\r\n";
	pid_t pid = start(QUIET_CONFIG);
	unsigned sockets = count_sockets(pid);
	struct frame frame;
	int fds[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		fds[i] = connect_to(pid);
	make_level(&frame, "app.one", CTRACE_INFO);
	/* half a request, and no more */
	assert_true(send_all(fds[0], &frame, HEAD + frame.size - 1));
	assert_true(send_all(fds[1], garbage, sizeof garbage));
	assert_int_equal(receive_status(fds[1]), STATUS_DAMAGED);
	assert_int_equal(receive_status(fds[1]), STATUS_NONE);
	frame.version = 1;
	assert_true(send_frame(fds[2], &frame));
	assert_int_equal(receive_status(fds[2]), STATUS_UNSUPPORTED);
	make_level(&frame, "app.one", 99); /* no level */
	assert_true(send_frame(fds[3], &frame));
	assert_int_equal(receive_status(fds[3]), STATUS_DAMAGED);
	frame.size = 65521; /* more than a frame may have */
	assert_true(send_all(fds[3], &frame, HEAD));
	assert_int_equal(receive_status(fds[3]), STATUS_DAMAGED);
	(void)shutdown(fds[0], SHUT_WR);
	assert_int_equal(receive_status(fds[0]), STATUS_NONE);
	is_served(pid);
	for (unsigned i = 0; i < 4; i++)
		(void)close(fds[i]);
	sockets_are(pid, sockets);
	assert_int_equal(shared->number[ONE], 0);
	finish(pid);
}

static void one_byte_at_a_time_is_a_request_in_the_end(void **state)
{
	pid_t pid = start(QUIET_CONFIG);
	struct frame frame;
	int fd = connect_to(pid);

	(void)state;
	make_level(&frame, "app.one", CTRACE_INFO);
	for (size_t i = 0; i < HEAD + frame.size; i++) {
		assert_true(send_all(fd, (const char *)&frame + i, 1));
		if (i % 10 == 0)
			is_served(pid); /* others do not wait for it */
	}
	assert_int_equal(receive_status(fd), STATUS_OK);
	wait_for(ONE, 1);
	(void)close(fd);
	finish(pid);
}

static void a_thousand_silent_connections_keep_no_operator_out(void **state)
{
	static int fds[1000];
	const struct rlimit limit = { 4096, 4096 };
	pid_t pid = start(LINES_CONFIG);
	unsigned sockets;
	struct timespec before, after;

	(void)state;
	wait_for(ONE, 10); /* its file is open */
	sockets = count_sockets(pid);
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		fail_msg("1000 descriptors are more than this machine allows");
	for (unsigned i = 0; i < 1000; i++) {
		fds[i] = connect_to(pid);
		if (i % 2 == 0)
			(void)!send(fds[i], "CTRL", 1 + i % 4, MSG_NOSIGNAL);
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &before);
	is_served(pid);
	(void)clock_gettime(CLOCK_MONOTONIC, &after);
	(void)printf("# answered after %ld ms among 1000 silent ones\n",
		     (after.tv_sec - before.tv_sec) * 1000 +
			     (after.tv_nsec - before.tv_nsec) / 1000000);
	assert_in_range(count_sockets(pid), sockets, sockets + 40); /* most were closed again */
	for (unsigned i = 0; i < 1000; i++)
		(void)close(fds[i]);
	is_served(pid);
	sockets_are(pid, sockets);
	finish(pid);
}

/* ---- floods ---- */

static uint32_t flooding; /* requests answered */

static void *flood(void *argument)
{
	const pid_t pid = *(const pid_t *)argument;
	enum { REQUESTS = 100000, BATCH = 500 };
	static char batch[BATCH * (HEAD + 64)];
	size_t size = 0;
	int fd = connect_to(pid);
	struct frame frame;

	make_level(&frame, "app.two", CTRACE_INFO);
	for (unsigned i = 0; i < BATCH; i++) {
		memcpy(batch + size, &frame, HEAD + frame.size);
		size += HEAD + frame.size;
	}
	for (unsigned done = 0; done < REQUESTS; done += BATCH) {
		if (!send_all(fd, batch, size))
			break;
		for (unsigned i = 0; i < BATCH; i++)
			flooding += receive_status(fd) == STATUS_OK;
	}
	(void)close(fd);
	return NULL;
}

static void a_hundred_thousand_requests_disturb_nobody(void **state)
{
	pid_t pid = start(LINES_CONFIG "mftrace.emitter.textfile#flushevery = 0\n");
	unsigned sockets;
	pthread_t thread;
	struct timespec before, after;
	long longest = 0;

	(void)state;
	wait_for(ONE, 10);
	sockets = count_sockets(pid);
	flooding = 0;
	assert_int_equal(pthread_create(&thread, NULL, flood, &pid), 0);
	for (unsigned i = 0; i < 20; i++) {
		long took;
		struct frame frame;

		make_level(&frame, "app.one", CTRACE_INFO);
		(void)clock_gettime(CLOCK_MONOTONIC, &before);
		assert_int_equal(ask(pid, &frame), STATUS_OK);
		(void)clock_gettime(CLOCK_MONOTONIC, &after);
		took = (after.tv_sec - before.tv_sec) * 1000 +
		       (after.tv_nsec - before.tv_nsec) / 1000000;
		longest = took > longest ? took : longest;
		nap();
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	(void)printf("# another operator waited %ld ms at most\n", longest);
	assert_int_equal(flooding, 100000);
	sockets_are(pid, sockets);
	finish(pid); /* what it traced meanwhile is complete, or counted */
}

/* ---- other users ---- */

static void ask_as_another_user(void)
{
	struct frame frame;
	pid_t pid = (pid_t)shared->number[10];
	int fd;

	REQUIRE(setuid(65534) == 0);
	fd = connect_to(pid);
	make_level(&frame, "app.one", CTRACE_INFO);
	(void)send_frame(fd, &frame);
	REQUIRE(receive_status(fd) == STATUS_NONE);
	_exit(0); /* it has not traced, and its destructors are not to */
}

static void another_user_is_turned_away(void **state)
{
	pid_t pid = start(QUIET_CONFIG);
	char path[100];

	(void)state;
	if (geteuid() != 0) {
		finish(pid);
		skip();
	}
	shared->number[10] = (uint64_t)pid;
	assert_int_equal(chmod(".", 0755) | chmod("run", 0755), 0);
	(void)snprintf(path, sizeof path, "run/%d.0", (int)pid);
	assert_int_equal(chmod(path, 0755), 0);
	(void)snprintf(path, sizeof path, "run/%d.0/control", (int)pid);
	assert_int_equal(chmod(path, 0666), 0); /* only the check of who it is remains */
	for (unsigned i = 0; i < 3; i++)
		scenario_run(ask_as_another_user);
	is_served(pid);
	assert_int_equal(shared->number[ONE], 0);
	finish(pid);
}

static void the_socket_is_private(void **state)
{
	const mode_t before = umask(0);
	pid_t pid = start(QUIET_CONFIG);
	char path[100];
	struct stat info;

	(void)state;
	(void)umask(before);
	(void)snprintf(path, sizeof path, "run/%d.0/control", (int)pid);
	assert_int_equal(lstat(path, &info), 0);
	assert_int_equal(info.st_mode, S_IFSOCK | 0600);
	(void)snprintf(path, sizeof path, "run/%d.0", (int)pid);
	assert_int_equal(lstat(path, &info), 0);
	assert_int_equal(info.st_mode, S_IFDIR | 0700);
	finish(pid);
}

/* ---- what programs do ---- */

static void close_what_there_is(void)
{
	int mine;

	REQUIRE(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	REQUIRE(ctrace_emit(&one, CTRACE_INFO, 1, NULL, 0) == CTRACE_OK);
	for (int i = 3; i < 1024; i++)
		(void)close(i);
	mine = open("mine", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	REQUIRE(mine >= 3);
	set_state(1);
	while (goes_on())
		nap();
	REQUIRE(write(mine, "mine", 4) == 4);
}

static void a_process_that_closed_everything_is_reached_again(void **state)
{
	pid_t pid;
	struct stat info;
	int status;

	(void)state;
	scenario_begin(LINES_CONFIG);
	pid = scenario_start(close_what_there_is);
	wait_for(STATE, 1);
	for (unsigned i = 0; i < 5; i++)
		is_served(pid);
	__atomic_store_n(&shared->number[GO_ON], 1, __ATOMIC_RELEASE);
	status = scenario_wait(pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(stat("mine", &info), 0);
	assert_int_equal(info.st_size, 4);
	scenario_end();
}

static void fork_and_trace(void)
{
	pid_t pid;
	int inherited = dup(0); /* the child's stays as it is */

	REQUIRE(inherited >= 0);
	REQUIRE(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	REQUIRE(ctrace_emit(&one, CTRACE_INFO, 1, NULL, 0) == CTRACE_OK);
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0) {
		REQUIRE(fcntl(inherited, F_GETFD) >= 0 && fcntl(0, F_GETFD) >= 0);
		REQUIRE(ctrace_emit(&one, CTRACE_INFO, 2, NULL, 0) == CTRACE_OK);
		shared->number[10] = (uint64_t)getpid();
		set_state(1);
		while (goes_on())
			nap();
		exit(0);
	}
	while (goes_on())
		nap();
	REQUIRE(scenario_wait(pid) == 0);
}

static void parent_and_child_are_reached_each_for_itself(void **state)
{
	static char fields[LIMIT];
	struct frame frame;
	uint32_t size;
	pid_t pids[2];
	int fd, status;

	(void)state;
	scenario_begin(LINES_CONFIG);
	pids[0] = scenario_start(fork_and_trace);
	wait_for(STATE, 1);
	pids[1] = (pid_t)shared->number[10];
	for (unsigned i = 0; i < 2; i++) {
		make_level(&frame, "app.one", i == 0 ? CTRACE_ERROR : CTRACE_FATAL);
		fd = connect_to(pids[i]);
		assert_true(send_frame(fd, &frame));
		assert_int_equal(receive_answer(fd, fields, &size), STATUS_OK);
		/* the other's change is not its own */
		assert_int_equal(count_text(fields, size, FIELD_OLD, "DEBUG"), 1);
		(void)close(fd);
	}
	__atomic_store_n(&shared->number[GO_ON], 1, __ATOMIC_RELEASE);
	status = scenario_wait(pids[0]);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(scenario_directories(), 0);
	scenario_end();
}

static void keep_to_itself(void)
{
	REQUIRE(ctrace_emit(&one, CTRACE_INFO, 1, NULL, 0) == CTRACE_OK);
	REQUIRE(access("run", F_OK) != 0 || scenario_directories() == 0);
}

static void a_process_that_does_not_attach_has_no_socket(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG "ctrace.attach = off\n");
	scenario_run(keep_to_itself);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operator_switches_a_tracer_while_it_runs),
		cmocka_unit_test(requests_that_are_none_change_nothing),
		cmocka_unit_test(one_byte_at_a_time_is_a_request_in_the_end),
		cmocka_unit_test(a_thousand_silent_connections_keep_no_operator_out),
		cmocka_unit_test(a_hundred_thousand_requests_disturb_nobody),
		cmocka_unit_test(another_user_is_turned_away),
		cmocka_unit_test(the_socket_is_private),
		cmocka_unit_test(a_process_that_closed_everything_is_reached_again),
		cmocka_unit_test(parent_and_child_are_reached_each_for_itself),
		cmocka_unit_test(a_process_that_does_not_attach_has_no_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
