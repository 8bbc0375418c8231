/*
 * test_recovery.c - orphans are delivered by a thread that nobody waits for.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"
#include "lib/start/consumer_thread.h"

#include <sys/syscall.h>
#include <time.h>

#define FAR_NS 5000000000u

struct threads {
	uint32_t ids[32];
	unsigned count;
};

static struct threads find_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct threads threads = { .count = 0 };
	struct dirent *entry;

	assert_non_null(tasks);
	while ((entry = readdir(tasks)) != NULL && threads.count < CT_COUNT(threads.ids))
		if (entry->d_name[0] != '.')
			threads.ids[threads.count++] = (uint32_t)strtoul(entry->d_name, NULL, 10);
	(void)closedir(tasks);
	return threads;
}

static bool has_thread(const struct threads *threads, uint32_t id)
{
	for (unsigned i = 0; i < threads->count; i++)
		if (threads->ids[i] == id)
			return true;
	return false;
}

/* The thread is there when the call returns, unless it has ended already.  It is detached, and may
 * have no name yet. */
static void recover_on_a_thread(void)
{
	const struct timespec pause = { 0, 1000000 };
	struct threads before = find_threads(), after;

	ct_recovery_start(run_dir);
	after = find_threads();
	for (unsigned i = 0; i < after.count; i++)
		while (!has_thread(&before, after.ids[i]) && ct_os_thread_exists(after.ids[i]))
			(void)nanosleep(&pause, NULL);
}

static void emit_and_die(void)
{
	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	hold_consumer_thread();
	for (uint32_t i = 1; i < 50; i++)
		CHILD_CHECK(emit(i) == CTRACE_OK);
	(void)raise(SIGKILL);
}

static void leave_an_orphan(void)
{
	assert_int_equal(run_traced(emit_and_die), -SIGKILL);
	assert_int_equal(count_run_directories(), 1);
	assert_int_equal(read_lines(50), 1);
}

static void open_orphan(struct ct_session *session)
{
	DIR *directory = opendir(run_dir);
	struct dirent *entry;

	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.' && strchr(entry->d_name, '.') != NULL)
			break;
	assert_non_null(entry);
	assert_int_equal(ct_session_load(session, run_dir, entry->d_name, true), CTRACE_OK);
	(void)closedir(directory);
}

static void an_orphan_is_delivered_and_removed(void **state)
{
	(void)state;
	leave_an_orphan();
	recover_on_a_thread();
	assert_int_equal(count_run_directories(), 0);
	assert_lines(0, 50);
}

/* It would never end if it needed the consumer's lock, or the consumer thread. */
static void recover_beside_a_held_consumer_thread(void)
{
	CHILD_CHECK(emit(50) == CTRACE_OK);
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	hold_consumer_thread();
	recover_on_a_thread();
	CHILD_CHECK(count_run_directories() == 1); /* our own */
	release_consumer_thread();
}

static void it_needs_nothing_of_the_consumer_thread(void **state)
{
	(void)state;
	/* Another name: taking over the orphan's own file recovers it, too. */
	leave_an_orphan();
	configure("mftrace.emitter.textfile#file = other.log\n");
	assert_int_equal(run_traced(recover_beside_a_held_consumer_thread), 0);
	assert_int_equal(count_run_directories(), 0);
	assert_lines(0, 51);
}

/* ---- fork, which copies no method of a recovery in the middle ---- */

static struct {
	uint32_t tid; /* of the thread below */
	uint32_t has_begun;
} method;

static void *run_method(void *argument)
{
	(void)argument;
	__atomic_store_n(&method.tid, ct_os_thread_id(), __ATOMIC_RELEASE);
	ct_consumer_thread_begin_method(NULL);
	__atomic_store_n(&method.has_begun, 1, __ATOMIC_SEQ_CST);
	ct_consumer_thread_end_method(NULL);
	return NULL;
}

/* Does that thread wait in futex()? */
static bool sleeps(uint32_t tid)
{
	char path[64];
	long number = -1;
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/self/task/%u/syscall", tid);
	file = fopen(path, "r");
	CHILD_CHECK(file != NULL);
	CHILD_CHECK(fscanf(file, "%ld", &number) >= 0); /* "running" is no number */
	(void)fclose(file);
	return number == SYS_futex;
}

static void begin_a_method_in_a_fork(void)
{
	pthread_t thread;

	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHILD_CHECK(ct_consumer_thread_pause());
	CHILD_CHECK(pthread_create(&thread, NULL, run_method, NULL) == 0);
	while (__atomic_load_n(&method.tid, __ATOMIC_ACQUIRE) == 0 || !sleeps(method.tid))
		CHILD_CHECK(__atomic_load_n(&method.has_begun, __ATOMIC_SEQ_CST) == 0);
	CHILD_CHECK(__atomic_load_n(&ct_consumer_thread.running, __ATOMIC_SEQ_CST) == 0);
	ct_consumer_thread_resume();
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
	CHILD_CHECK(method.has_begun == 1);
}

static void a_method_does_not_begin_in_a_fork(void **state)
{
	(void)state;
	assert_int_equal(run_traced(begin_a_method_in_a_fork), 0);
}

/* Writes the emitter's name of the destination that is in use; gives what it was. */
static void rename_emitter(const char *to, char out_former[32])
{
	struct ct_session session;
	unsigned count = 0;

	open_orphan(&session);
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &session.head->dest[i];

		if (dest->active == 0)
			continue;
		memcpy(out_former, dest->emitter, 32);
		(void)snprintf(dest->emitter, sizeof dest->emitter, "%s", to);
		assert_int_equal(ct_session_persist(&session, dest->emitter, sizeof dest->emitter),
				 CTRACE_OK);
		count++;
	}
	ct_session_close(&session, false);
	assert_int_equal(count, 1);
}

static void one_whose_emitter_is_unknown_is_left(void **state)
{
	char name[32], unknown[32];
	struct ct_session session;

	(void)state;
	leave_an_orphan();
	rename_emitter("NOBODYS", name);
	recover_on_a_thread();
	assert_int_equal(count_run_directories(), 1);
	open_orphan(&session);
	/* nothing was tried, so nothing has failed */
	assert_int_equal(session.head->recover_tries, 0);
	ct_session_close(&session, false);
	rename_emitter(name, unknown);
	assert_string_equal(unknown, "NOBODYS");
	recover_on_a_thread();
	assert_int_equal(count_run_directories(), 0);
	assert_lines(0, 50);
}

static const char module_source[] =
	"#include <ctrace/emitter.h>\n"
	"#include <stdio.h>\n"
	"__attribute__((constructor)) static void note(void)\n"
	"{ FILE *file = fopen(\"loaded\", \"w\"); if (file != 0) fclose(file); }\n"
	"static enum ctrace_status o(const struct ctrace_emitter_context *c, void **s)\n"
	"{ (void)c; (void)s; return CTRACE_FAILURE; }\n"
	"static enum ctrace_status w(void *s, const struct ctrace_batch *b)\n"
	"{ (void)s; (void)b; return CTRACE_FAILURE; }\n"
	"static void c(void *s) { (void)s; }\n"
	"static const struct ctrace_property p[] = { { 0, 0, 0, 0 } };\n"
	"__attribute__((visibility(\"default\"))) const struct ctrace_emitter ctrace_emitter = {\n"
	"	sizeof(struct ctrace_emitter), \"NOTES\", 0, p, o, w, 0, 0, c };\n";

/* As if it had died before it had opened its output. */
static void reset_outputs(void)
{
	struct ct_session session;

	open_orphan(&session);
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &session.head->dest[i];

		dest->active = 0;
		memset(dest->slot, 0, sizeof dest->slot);
		assert_int_equal(ct_dest_put_path(&session, i, ""), CTRACE_OK);
		dest->sequence++;
		assert_int_equal(ct_session_persist(&session, dest, sizeof *dest), CTRACE_OK);
	}
	ct_session_close(&session, false);
}

/* The module is there, and `ctrace recover` would load it: no thread of a traced process does. */
static void one_whose_emitter_is_a_module_is_left(void **state)
{
	const struct ct_recover_options taking_over = { .is_guest = true, .path = "/any.log" };
	struct ct_recovery total = { 0 };
	char name[32];

	(void)state;
	make_module("notes", module_source);
	leave_an_orphan();
	rename_emitter("NOTES", name);
	recover_on_a_thread();
	assert_int_equal(count_run_directories(), 1);
	assert_int_not_equal(access("loaded", F_OK), 0);
	reset_outputs();
	ct_recover(run_dir, &taking_over, &total, NULL, NULL);
	assert_int_equal(count_run_directories(), 1);
	assert_int_not_equal(access("loaded", F_OK), 0);
	(void)recover();
	assert_int_equal(access("loaded", F_OK), 0);
	assert_int_equal(unsetenv("CTRACE_EMITTERS"), 0);
}

static uint64_t tries(uint64_t *out_at_ns)
{
	struct ct_session session;
	uint64_t count;

	open_orphan(&session);
	count = session.head->recover_tries;
	*out_at_ns = session.head->recover_at_ns;
	ct_session_close(&session, false);
	return count;
}

static void set_time(uint64_t at_ns)
{
	struct ct_session session;

	open_orphan(&session);
	session.head->recover_at_ns = at_ns;
	assert_int_equal(ct_session_persist(&session, &session.head->recover_at_ns, sizeof at_ns),
			 CTRACE_OK);
	ct_session_close(&session, false);
}

/* FILE is absolute, so that no other directory is tried in its place. */
static void configure_path(void)
{
	char text[200];

	(void)snprintf(text, sizeof text, "mftrace.emitter.textfile#file = %s/out/trace.log\n",
		       room);
	configure(text);
}

static void one_that_failed_is_not_tried_before_its_time(void **state)
{
	uint64_t first_ns, at_ns;

	(void)state;
	configure_path();
	assert_int_equal(mkdir("out", 0700), 0);
	leave_an_orphan();
	assert_int_equal(rename("out/trace.log", "kept"), 0);
	/* in the place of the file: it cannot be opened */
	assert_int_equal(mkdir("out/trace.log", 0700), 0);
	recover_on_a_thread();
	assert_int_equal(tries(&first_ns), 1);
	assert_true(first_ns > ct_clock_wall_ns() + FAR_NS);
	assert_int_equal(rmdir("out/trace.log"), 0);
	assert_int_equal(rename("kept", "out/trace.log"), 0);
	recover_on_a_thread(); /* it would work by now */
	assert_int_equal(tries(&at_ns), 1);
	assert_true(at_ns == first_ns);
	assert_int_equal(read_lines(50), 1);
	set_time(ct_clock_wall_ns());
	recover_on_a_thread();
	assert_int_equal(count_run_directories(), 0);
	assert_lines(0, 50);
}

/* Set back: a time that no failure can have noted. */
static void a_clock_that_was_set_back_keeps_nobody_waiting(void **state)
{
	(void)state;
	leave_an_orphan();
	set_time(ct_clock_wall_ns() + 1000000 * (uint64_t)FAR_NS);
	recover_on_a_thread();
	assert_int_equal(count_run_directories(), 0);
	assert_lines(0, 50);
}

static void who_is_asked_to_recover_does_not_wait_for_the_time(void **state)
{
	(void)state;
	leave_an_orphan();
	set_time(ct_clock_wall_ns() + FAR_NS);
	recover_on_a_thread();
	assert_int_equal(count_run_directories(), 1);
	assert_int_equal(recover().recovered, 1);
	assert_int_equal(count_run_directories(), 0);
	assert_lines(0, 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_recovery(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_orphan_is_delivered_and_removed),
		TEST(it_needs_nothing_of_the_consumer_thread),
		TEST(a_method_does_not_begin_in_a_fork),
		TEST(one_whose_emitter_is_unknown_is_left),
		TEST(one_whose_emitter_is_a_module_is_left),
		TEST(one_that_failed_is_not_tried_before_its_time),
		TEST(a_clock_that_was_set_back_keeps_nobody_waiting),
		TEST(who_is_asked_to_recover_does_not_wait_for_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
