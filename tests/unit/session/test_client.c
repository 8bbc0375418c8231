/*
 * test_client.c - an operator's end: who is found, and what becomes of a question when the other
 * end answers, is silent, lies or dies.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../control/control_fixture.h"

#include <pthread.h>

#include "session/socket.h"

#define SILENT_MS 1000u

static struct ct_peers peers;
static struct ct_buf request;

static int setup(void **state)
{
	(void)state;
	enter_room();
	assert_int_equal(setenv("CTRACE_RUN_DIR", run_dir, 1), 0);
	ct_buf_init(&request);
	memset(&peers, 0, sizeof peers);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ct_peers_fini(&peers);
	ct_buf_fini(&request);
	leave_room();
	return 0;
}

static void ask_for(enum ct_verb verb)
{
	struct ct_command command = { .verb = verb };

	ct_command_encode(&request, &command);
}

/* ---- processes: children with a session and a control thread, until the pipe is closed ---- */

struct process {
	pid_t pid;
	int life; /* the pipe's end that keeps it */
};
static int lives[16]; /* of those that there are; a new one must not keep them */
static unsigned life_count;

static void answer(const struct ct_message *message, struct ct_buf *out, void *user)
{
	static char text[60000];
	struct ct_answer made;

	(void)user;
	ct_answer_begin(&made, out, message->verb);
	ct_answer_set_status(&made, message->verb == CT_VERB_RELOAD ? CTRACE_DENIED : CTRACE_OK);
	for (unsigned i = 0; message->verb == CT_VERB_DISPLAY && i < 20; i++) {
		ct_answer_row(&made, sizeof text + 8);
		ct_message_add(out, CT_FIELD_VALUE, text, sizeof text);
	}
	ct_answer_end(&made);
}

static struct process start_process(const char *jobname)
{
	const struct ct_server_options options = { .session = &session, .answer = answer };
	struct process process;
	int life[2], ready[2];
	char byte;

	assert_int_equal(pipe2(life, O_CLOEXEC) | pipe2(ready, O_CLOEXEC), 0);
	process.pid = fork();
	if (process.pid == 0) {
		(void)close(life[1]);
		while (life_count > 0)
			(void)close(lives[--life_count]);
		CHILD_CHECK(setenv("CTRACE_JOBNAME", jobname, 1) == 0);
		CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
		CHILD_CHECK(ct_server_start(&options) == CTRACE_OK);
		session.head->is_dormant = CT_AWAKE;
		CHILD_CHECK(write(ready[1], "r", 1) == 1);
		_exit(read(life[0], &byte, 1) == 0 ? 0 : 1);
	}
	assert_true(process.pid > 0);
	(void)close(life[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	process.life = lives[life_count++] = life[1];
	return process;
}

static void end_process(const struct process *process)
{
	int status;

	life_count = 0; /* all of them end now */
	(void)close(process->life);
	assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void find(const struct ct_peer_filter *filter)
{
	ct_peers_fini(&peers);
	assert_int_equal(ct_peers_find(filter, &peers), CTRACE_OK);
}

static void processes_are_found_by_who_they_are(void **state)
{
	const char *const jobs[] = { "PAYROLL", "PAYDAY", "BILLING" };
	struct process processes[3];
	struct ct_peer_filter filter = { 0 };

	(void)state;
	find(&filter);
	assert_int_equal(peers.count, 0);
	for (unsigned i = 0; i < 3; i++)
		processes[i] = start_process(jobs[i]);
	find(&filter);
	assert_int_equal(peers.count, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct ct_peer *peer = &peers.items[i];

		assert_int_equal(peer->asid, i + 1); /* in their order */
		assert_int_equal(peer->pid, processes[i].pid);
		assert_int_equal(peer->uid, geteuid());
		assert_string_equal(peer->jobname, jobs[i]);
		assert_non_null(strstr(peer->program, program_invocation_short_name));
		assert_string_equal(peer->run_directory, run_dir);
	}
	filter.jobname = "pay*";
	find(&filter);
	assert_int_equal(peers.count, 2);
	filter.jobname = NULL;
	filter.asid = 3;
	find(&filter);
	assert_int_equal(peers.count, 1);
	assert_string_equal(peers.items[0].jobname, "BILLING");
	filter.asid = 0;
	filter.pid = (uint32_t)processes[1].pid;
	find(&filter);
	assert_int_equal(peers.count, 1);
	assert_string_equal(peers.items[0].jobname, "PAYDAY");
	filter.asid = 1; /* both must fit */
	find(&filter);
	assert_int_equal(peers.count, 0);
	for (unsigned i = 0; i < 3; i++)
		end_process(&processes[i]);
	filter = (struct ct_peer_filter){ 0 };
	find(&filter); /* their directories are still there */
	assert_int_equal(peers.count, 0);
}

static unsigned count_frames(const struct ct_peer *peer)
{
	struct ct_message message;
	size_t at = 0;
	unsigned count = 0;

	while (ct_client_next(peer, &at, &message))
		count++;
	assert_int_equal(at, peer->answer.size);
	return count;
}

static void all_are_asked_and_answer(void **state)
{
	const struct ct_peer_filter filter = { 0 };
	struct process processes[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		processes[i] = start_process("JOB");
	find(&filter);
	ask_for(CT_VERB_FLUSH);
	ask_for(CT_VERB_DISPLAY); /* 1.2 MB in 20 frames */
	ask_for(CT_VERB_RELOAD);
	for (unsigned round = 0; round < 2; round++) {
		ct_client_ask(&peers, &request, HANGS_MS);
		assert_int_equal(peers.count, 4);
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(peers.items[i].status, CTRACE_OK); /* of the first */
			assert_int_equal(count_frames(&peers.items[i]), 22);
		}
	}
	ct_buf_clear(&request);
	ask_for(CT_VERB_RELOAD);
	ct_client_ask(&peers, &request, HANGS_MS);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(peers.items[i].status, CTRACE_DENIED);
		assert_int_equal(count_frames(&peers.items[i]), 1);
		end_process(&processes[i]);
	}
}

/* The socket comes after the first look for it. */
static void appear(const char *point)
{
	char from[8400], to[8400];

	if (strcmp(point, "client.silent") != 0)
		return;
	(void)snprintf(from, sizeof from, "%s/%s/hidden", run_dir, peers.items[0].directory);
	(void)snprintf(to, sizeof to, "%s/%s/control", run_dir, peers.items[0].directory);
	assert_int_equal(rename(from, to), 0);
	ct_point_set(NULL);
}

static void one_that_wakes_just_then_is_asked_again(void **state)
{
	const struct ct_peer_filter filter = { 0 };
	struct process process = start_process("JOB");
	char from[8400], to[8400];

	(void)state;
	find(&filter);
	ask_for(CT_VERB_FLUSH);
	(void)snprintf(from, sizeof from, "%s/%s/control", run_dir, peers.items[0].directory);
	(void)snprintf(to, sizeof to, "%s/%s/hidden", run_dir, peers.items[0].directory);
	assert_int_equal(rename(from, to), 0);
	ct_point_set(appear);
	ct_client_ask(&peers, &request, HANGS_MS);
	ct_point_set(NULL);
	assert_int_equal(peers.items[0].status, CTRACE_OK);
	end_process(&process);
}

static void one_that_stands_still_costs_the_time_once(void **state)
{
	const struct ct_peer_filter filter = { 0 };
	struct process processes[3];
	uint64_t begin;
	int status;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		processes[i] = start_process("JOB");
	find(&filter);
	assert_int_equal(kill(processes[1].pid, SIGSTOP), 0);
	assert_int_equal(waitpid(processes[1].pid, &status, WUNTRACED), processes[1].pid);
	ask_for(CT_VERB_FLUSH);
	begin = ct_clock_mono_ns();
	ct_client_ask(&peers, &request, SILENT_MS);
	assert_true(ct_clock_mono_ns() - begin >= SILENT_MS * 1000000u);
	assert_int_equal(peers.items[0].status, CTRACE_OK);
	assert_int_equal(peers.items[1].status, CTRACE_TIMED_OUT);
	assert_int_equal(count_frames(&peers.items[1]), 0);
	assert_int_equal(peers.items[2].status, CTRACE_OK);
	assert_int_equal(kill(processes[1].pid, SIGCONT), 0);
	ct_client_ask(&peers, &request, HANGS_MS);
	assert_int_equal(peers.items[1].status, CTRACE_OK);
	for (unsigned i = 0; i < 3; i++)
		end_process(&processes[i]);
}

static void one_that_has_just_ended_is_not_there(void **state)
{
	const struct ct_peer_filter filter = { 0 };
	struct process process = start_process("JOB");

	(void)state;
	find(&filter);
	end_process(&process);
	ask_for(CT_VERB_FLUSH);
	ct_client_ask(&peers, &request, HANGS_MS);
	assert_int_equal(peers.items[0].status, CTRACE_NOT_FOUND);
}

/* ---- liars: a thread that says what the test wants it to say, whatever it is asked ---- */

static int liar_socket;
static pthread_t liar_thread;
static struct ct_buf lie;
static unsigned resets; /* connections that it closes before it reads */
static unsigned connections;

static void *run_liar(void *argument)
{
	(void)argument;
	for (;;) {
		struct pollfd ready = { .fd = liar_socket, .events = POLLIN };
		char bytes[4096];
		int fd;

		(void)poll(&ready, 1, HANGS_MS);
		fd = accept(liar_socket, NULL, NULL);
		if (fd < 0)
			return NULL;
		connections++;
		if (resets > 0) {
			ready.fd = fd;
			(void)poll(&ready, 1, HANGS_MS); /* what it closes on has come */
			resets--;
		} else {
			(void)recv(fd, bytes, sizeof bytes, 0);
			(void)send_all(fd, lie.data, lie.size);
		}
		(void)close(fd);
	}
}

static void start_liar(size_t count)
{
	int directory;
	char path[200];

	(void)snprintf(path, sizeof path, "%s/liar", run_dir);
	assert_int_equal(mkdir(path, 0700), 0);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(ct_socket_listen(directory, path, "control", &liar_socket), CTRACE_OK);
	(void)close(directory);
	ct_buf_init(&lie);
	connections = resets = 0;
	ask_for(CT_VERB_FLUSH);
	peers.items = calloc(count, sizeof *peers.items);
	assert_non_null(peers.items);
	for (; peers.count < count; peers.count++) {
		struct ct_peer *peer = &peers.items[peers.count];

		(void)snprintf(peer->run_directory, sizeof peer->run_directory, "%s", run_dir);
		(void)snprintf(peer->directory, sizeof peer->directory, "liar");
		peer->status = (enum ctrace_status)4711;
	}
}

/* Asks it, and gives what came of it with the first peer. */
static enum ctrace_status hear_liar(void)
{
	assert_int_equal(pthread_create(&liar_thread, NULL, run_liar, NULL), 0);
	ct_client_ask(&peers, &request, HANGS_MS);
	(void)shutdown(liar_socket, SHUT_RDWR);
	assert_int_equal(pthread_join(liar_thread, NULL), 0);
	(void)close(liar_socket);
	ct_buf_fini(&lie);
	return peers.items[0].status;
}

static void one_that_says_nothing_is_gone(void **state)
{
	(void)state;
	start_liar(1);
	assert_int_equal(hear_liar(), CTRACE_NOT_FOUND);
}

static void garbage_is_damage(void **state)
{
	(void)state;
	start_liar(1);
	ct_buf_add_text(&lie, "HTTP/1.1 400 Bad Request");
	assert_int_equal(hear_liar(), CTRACE_DAMAGED);
	assert_int_equal(peers.items[0].answer.size, 0);
}

static void a_half_answer_is_damage(void **state)
{
	(void)state;
	start_liar(1);
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, NULL);
	lie.size--;
	assert_int_equal(hear_liar(), CTRACE_DAMAGED);
}

static void an_answer_without_its_end_is_damage(void **state)
{
	(void)state;
	start_liar(1);
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, NULL);
	ct_message_set_more(&lie, 0);
	assert_int_equal(hear_liar(), CTRACE_DAMAGED);
	assert_int_equal(count_frames(&peers.items[0]), 1);
}

/* Frames without end, each of which says that there are more. */
static void flood(struct ct_buf *out, size_t bytes)
{
	static const char text[60000];

	while (out->size < bytes) {
		size_t start =
			ct_message_start(out, CT_VERB_FLUSH, CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);

		ct_message_add_number(out, CT_FIELD_STATUS, CTRACE_OK);
		ct_message_add(out, CT_FIELD_MESSAGE, text, sizeof text);
		assert_int_equal(ct_message_end(out, start), CTRACE_OK);
	}
}

static size_t bytes_kept(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < peers.count; i++)
		kept += peers.items[i].answer.size;
	return kept;
}

static void one_that_floods_us_is_given_up(void **state)
{
	(void)state;
	start_liar(1);
	flood(&lie, 2 * CT_CLIENT_KEEPS);
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, NULL);
	assert_int_equal(hear_liar(), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(bytes_kept(), 0);
}

/* Each says less than may be kept; all together do not. */
static void a_crowd_that_floods_us_is_held_to_the_same_limit(void **state)
{
	size_t ok = 0;

	(void)state;
	start_liar(40);
	flood(&lie, CT_CLIENT_KEEPS / 8);
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, NULL);
	(void)hear_liar();
	for (size_t i = 0; i < peers.count; i++) {
		const struct ct_peer *peer = &peers.items[i];

		assert_true(peer->status == CTRACE_OK ||
			    (peer->status == CTRACE_NOT_ENOUGH_MEMORY && peer->answer.size == 0));
		ok += peer->status == CTRACE_OK;
	}
	assert_true(ok > 0);
	assert_true(bytes_kept() <= CT_CLIENT_KEEPS);
}

/* An honest one among them keeps its own. */
static void who_says_little_is_heard_all_the_same(void **state)
{
	const struct ct_peer_filter filter = { 0 };
	struct process process = start_process("JOB");
	struct ct_peer honest;

	(void)state;
	find(&filter);
	assert_int_equal(peers.count, 1);
	honest = peers.items[0];
	ct_peers_fini(&peers);
	start_liar(21);
	peers.items[10] = honest;
	flood(&lie, CT_CLIENT_KEEPS / 4);
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, NULL);
	(void)hear_liar();
	assert_int_equal(peers.items[10].status, CTRACE_OK);
	assert_int_equal(count_frames(&peers.items[10]), 1);
	assert_true(bytes_kept() <= CT_CLIENT_KEEPS);
	end_process(&process);
}

static void a_request_is_no_answer(void **state)
{
	size_t begin;

	(void)state;
	start_liar(1);
	begin = ct_message_start(&lie, CT_VERB_FLUSH, 0);
	ct_message_add_number(&lie, CT_FIELD_STATUS, CTRACE_OK); /* whatever else it says */
	assert_int_equal(ct_message_end(&lie, begin), CTRACE_OK);
	assert_int_equal(hear_liar(), CTRACE_DAMAGED);
}

static void an_answer_of_another_version_is_reported(void **state)
{
	(void)state;
	start_liar(1);
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, NULL);
	lie.data[4]++;
	assert_int_equal(hear_liar(), CTRACE_UNSUPPORTED);
}

static void a_status_that_there_is_not_is_damage(void **state)
{
	(void)state;
	start_liar(1);
	ct_answer_whole(&lie, CT_VERB_FLUSH, (enum ctrace_status)4711, NULL);
	assert_int_equal(hear_liar(), CTRACE_DAMAGED);
}

static void what_comes_behind_the_answer_is_cut_off(void **state)
{
	(void)state;
	start_liar(1);
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, "all");
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, "too much");
	ct_buf_add_text(&lie, "and garbage");
	assert_int_equal(hear_liar(), CTRACE_OK);
	assert_int_equal(count_frames(&peers.items[0]), 1);
}

static void one_that_was_not_heard_asks_again(void **state)
{
	(void)state;
	start_liar(1);
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, NULL);
	resets = 3;
	assert_int_equal(hear_liar(), CTRACE_OK);
	assert_int_equal(connections, 4);
}

static void but_not_for_ever(void **state)
{
	(void)state;
	start_liar(1);
	resets = 1000;
	assert_int_equal(hear_liar(), CTRACE_NOT_FOUND);
	assert_in_range(connections, 10, 100);
}

static void more_than_there_are_places_for_have_their_turn(void **state)
{
	(void)state;
	start_liar(300);
	ct_answer_whole(&lie, CT_VERB_FLUSH, CTRACE_OK, NULL);
	assert_int_equal(hear_liar(), CTRACE_OK);
	assert_int_equal(connections, 300);
	for (size_t i = 0; i < peers.count; i++)
		assert_int_equal(peers.items[i].status, CTRACE_OK);
}

/* ---- who may answer ---- */

static void listen_as_another(void)
{
	int directory = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd;

	CHILD_CHECK(setuid(65534) == 0);
	CHILD_CHECK(ct_socket_listen(directory, run_dir, "control", &fd) == CTRACE_OK);
	(void)raise(SIGSTOP);
}

static void another_users_socket_in_our_directory_is_not_believed(void **state)
{
	int fd = 4711;
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(room, 0755) | chmod(run_dir, 0777), 0);
	pid = fork();
	if (pid == 0) {
		listen_as_another();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ct_client_connect(run_dir, "control", &fd), CTRACE_DENIED);
	assert_int_equal(fd, 4711);
	/* Root may ask a user's process where it belongs. */
	assert_int_equal(chown(run_dir, 65534, (gid_t)-1), 0);
	assert_int_equal(ct_client_connect(run_dir, "control", &fd), CTRACE_OK);
	(void)close(fd);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void a_directory_that_is_none_is_reported(void **state)
{
	int fd = 4711;

	(void)state;
	assert_int_equal(ct_client_connect("nothing", "control", &fd), CTRACE_NOT_FOUND);
	assert_int_equal(symlink(run_dir, "link"), 0);
	assert_int_not_equal(ct_client_connect("link", "control", &fd), CTRACE_OK);
	assert_int_equal(ct_client_connect(run_dir, "control", &fd), CTRACE_NOT_FOUND);
	assert_int_equal(fd, 4711);
}

static void a_filter_wants_what_all_of_its_parts_want(void **state)
{
	const char unterminated[16] = "SIXTEENLETTERSAB"; /* as a session keeps it */
	struct ct_peer_filter filter = { .jobname = "KV*" };

	(void)state;
	assert_true(ct_peer_filter_wants(&filter, 7, 9, "KVSERVER"));
	assert_false(ct_peer_filter_wants(&filter, 7, 9, "PAYROLL"));
	filter.pid = 7;
	assert_true(ct_peer_filter_wants(&filter, 7, 9, "KV"));
	assert_false(ct_peer_filter_wants(&filter, 8, 9, "KV"));
	filter.asid = 10;
	assert_false(ct_peer_filter_wants(&filter, 7, 9, "KV"));
	filter = (struct ct_peer_filter){ .jobname = "*AB" };
	assert_true(ct_peer_filter_wants(&filter, 7, 9, unterminated));
	filter.jobname = NULL;
	assert_true(ct_peer_filter_wants(&filter, 7, 9, ""));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int test_client(void)
{
	const struct CMUnitTest tests[] = {
		TEST(processes_are_found_by_who_they_are),
		TEST(a_filter_wants_what_all_of_its_parts_want),
		TEST(all_are_asked_and_answer),
		TEST(one_that_wakes_just_then_is_asked_again),
		TEST(one_that_stands_still_costs_the_time_once),
		TEST(one_that_has_just_ended_is_not_there),
		TEST(one_that_says_nothing_is_gone),
		TEST(garbage_is_damage),
		TEST(a_half_answer_is_damage),
		TEST(an_answer_without_its_end_is_damage),
		TEST(one_that_floods_us_is_given_up),
		TEST(a_crowd_that_floods_us_is_held_to_the_same_limit),
		TEST(who_says_little_is_heard_all_the_same),
		TEST(a_request_is_no_answer),
		TEST(an_answer_of_another_version_is_reported),
		TEST(a_status_that_there_is_not_is_damage),
		TEST(what_comes_behind_the_answer_is_cut_off),
		TEST(one_that_was_not_heard_asks_again),
		TEST(but_not_for_ever),
		TEST(more_than_there_are_places_for_have_their_turn),
		TEST(another_users_socket_in_our_directory_is_not_believed),
		TEST(a_directory_that_is_none_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
