/*
 * test_flush.c - who waits for the consumer thread waits no longer than asked, whatever hangs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"
#include "lib/start/consumer_thread.h"

#include <sched.h>

/* ---- a module whose write() returns when the test lets it ---- */

static uint32_t gate; /* 0 closed and nobody there, 1 somebody is in write(), 2 open */

static void wait_at_gate(void)
{
	if (__atomic_load_n(&gate, __ATOMIC_SEQ_CST) == 0) {
		__atomic_store_n(&gate, 1, __ATOMIC_SEQ_CST);
		ct_os_wake(&gate);
	}
	while (__atomic_load_n(&gate, __ATOMIC_SEQ_CST) == 1)
		ct_os_wait(&gate, 1, UINT64_MAX);
}

static void wait_until_it_hangs(void)
{
	while (__atomic_load_n(&gate, __ATOMIC_SEQ_CST) == 0)
		ct_os_wait(&gate, 0, UINT64_MAX);
}

static void open_gate(void)
{
	__atomic_store_n(&gate, 2, __ATOMIC_SEQ_CST);
	ct_os_wake(&gate);
}

static const char module_source[] =
	"#include <ctrace/emitter.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"static int self;\n"
	"static enum ctrace_status o(const struct ctrace_emitter_context *c, void **s)\n"
	"{ (void)c; *s = &self; return CTRACE_OK; }\n"
	"static enum ctrace_status w(void *s, const struct ctrace_batch *b)\n"
	"{ void *at = 0; (void)s; (void)b; sscanf(getenv(\"GATE\"), \"%p\", &at);\n"
	"	((void (*)(void))at)(); return CTRACE_OK; }\n"
	"static void c(void *s) { (void)s; }\n"
	"static const struct ctrace_property p[] = { { 0, 0, 0, 0 } };\n"
	"__attribute__((visibility(\"default\"))) const struct ctrace_emitter ctrace_emitter = {\n"
	"	sizeof(struct ctrace_emitter), \"HANGS\", 0, p, o, w, 0, 0, c };\n";

static void make_module_that_hangs(void)
{
	char text[32];

	make_module("hangs", module_source);
	(void)snprintf(text, sizeof text, "%p", (void *)wait_at_gate);
	assert_int_equal(setenv("GATE", text, 1), 0);
	configure("mftrace.dest = hangs\n");
	gate = 0;
}

/* ---- a held consumer thread ---- */

static void ask_a_held_consumer_thread(void)
{
	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHILD_CHECK(ct_consumer_thread_flush(60000000000u) == CTRACE_OK);
	hold_consumer_thread();
	(void)emit(1);
	CHILD_CHECK(ct_consumer_thread_flush(0) == CTRACE_TIMED_OUT);
	CHILD_CHECK(ct_consumer_thread_flush(20000000u) == CTRACE_TIMED_OUT);
	ct_consumer_thread_ask_open();
	ct_consumer_thread_await_open(0);
	ct_consumer_thread_ask_open();
	ct_consumer_thread_await_open(20000000u);
	release_consumer_thread();
	/* What nobody waited for is done all the same. */
	ct_consumer_thread_ask_open();
	ct_consumer_thread_await_open(UINT64_MAX);
	CHILD_CHECK(ct_consumer_thread_flush(60000000000u) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 2);
}

static void a_held_consumer_thread_keeps_nobody_longer_than_asked(void **state)
{
	(void)state;
	assert_int_equal(run_traced(ask_a_held_consumer_thread), 0);
	assert_lines(0, 2);
}

static void flush_under_a_lock(void)
{
	CHILD_CHECK(emit(0) == CTRACE_OK);
	ct_consumer_thread_lock();
	/* the consumer thread could not serve it */
	CHILD_CHECK(ct_consumer_thread_flush(UINT64_MAX) == CTRACE_TIMED_OUT);
	ct_consumer_thread_ask_open();
	ct_consumer_thread_await_open(UINT64_MAX);
	ct_consumer_thread_unlock();
}

static void who_holds_a_lock_waits_for_nobody(void **state)
{
	(void)state;
	assert_int_equal(run_traced(flush_under_a_lock), 0);
	assert_lines(0, 1);
}

/* FILE is absolute, so that no other directory is tried in its place. */
static void configure_path(void)
{
	char text[200];

	(void)snprintf(text, sizeof text, "mftrace.emitter.textfile#file = %s/out/trace.log\n",
		       room);
	configure(text);
}

static void open_what_cannot_be(void)
{
	/* The first call knows: the consumer thread has tried by then. */
	CHILD_CHECK(emit(0) == CTRACE_OUTPUT_ERROR);
	CHILD_CHECK(ct_consumer_thread_flush(60000000000u) == CTRACE_OUTPUT_ERROR);
	CHILD_CHECK(rmdir("out/trace.log") == 0);
	CHILD_CHECK(ct_consumer_thread_flush(60000000000u) == CTRACE_OK);
	CHILD_CHECK(emit(1) == CTRACE_OK);
}

static void an_output_that_cannot_be_opened_is_the_answer(void **state)
{
	(void)state;
	configure_path();
	assert_int_equal(mkdir("out", 0700), 0);
	assert_int_equal(mkdir("out/trace.log", 0700), 0); /* in the place of the file */
	assert_int_equal(run_traced(open_what_cannot_be), 0);
	assert_lines(0, 2);
}

/* ---- a module that hangs ---- */

static void go_on_while_it_hangs(void)
{
	(void)emit(0);
	wait_until_it_hangs();
	CHILD_CHECK(stats().emitted == 1);
	for (uint32_t i = 1; i < 100; i++)
		(void)emit(i);
	/* The standby serves it: TEXTFILE has them, the other fails. */
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OUTPUT_ERROR);
	CHILD_CHECK(read_lines(100) == 100);
	CHILD_CHECK(stats().emitted == 100);
	for (uint32_t i = 0; i < 3; i++)
		CHILD_CHECK(ctrace_flush(60000) == CTRACE_OUTPUT_ERROR);
	CHILD_CHECK(emit(100) == CTRACE_OUTPUT_ERROR);
	open_gate();
	while (ctrace_flush(60000) != CTRACE_OK)
		;
	CHILD_CHECK(stats().delivered == 101);
}

static void a_module_that_hangs_holds_up_itself(void **state)
{
	(void)state;
	make_module_that_hangs();
	assert_int_equal(run_traced(go_on_while_it_hangs), 0);
	assert_int_equal(unsetenv("CTRACE_EMITTERS"), 0);
	assert_lines(0, 101);
}

/* Under the consumer thread's lock: what the standby saw of methods that run. */
static unsigned looks_at_methods, late_looks;

/* On the standby's thread, which has just looked: nobody takes over meanwhile. */
static void check_next_look(const char *name)
{
	if (strcmp(name, "consumer_thread.watched") != 0)
		return;
	ct_consumer_thread_lock();
	if (ct_consumer_thread.method_since_ns != 0) {
		looks_at_methods++;
		late_looks += ct_consumer_thread.look_at_ns >
			      ct_consumer_thread.method_since_ns + 1000000000u;
	}
	ct_consumer_thread_unlock();
}

/* Has the standby seen a method that runs?  Or has it become the consumer thread before, because
 * this machine is busy? */
static bool has_looked(uint32_t turn, bool *out_has_seen)
{
	bool has_changed;

	ct_consumer_thread_lock();
	*out_has_seen = looks_at_methods > 0;
	has_changed = ct_consumer_thread.turn != turn;
	ct_consumer_thread_unlock();
	return *out_has_seen || has_changed;
}

/* A producer that waits for room since the method began has two seconds: the standby has to look
 * after one. */
static void hang_between_two_looks(void)
{
	bool has_seen;

	ct_point_set(check_next_look);
	for (uint32_t n = 0; has_looked(UINT32_MAX, &has_seen) && !has_seen; n++) {
		uint32_t turn = __atomic_load_n(&ct_consumer_thread.turn, __ATOMIC_ACQUIRE);

		__atomic_store_n(&gate, 0, __ATOMIC_SEQ_CST);
		(void)emit(n);
		wait_until_it_hangs();
		while (!has_looked(turn, &has_seen))
			(void)sched_yield();
		open_gate();
		while (ctrace_flush(60000) != CTRACE_OK)
			;
	}
	CHILD_CHECK(late_looks == 0);
}

static void a_method_is_overdue_wherever_the_standbys_looks_fall(void **state)
{
	(void)state;
	make_module_that_hangs();
	configure("mftrace.dest = hangs\nctrace.block.timeout = 2s\n");
	assert_int_equal(run_traced(hang_between_two_looks), 0);
	assert_int_equal(unsetenv("CTRACE_EMITTERS"), 0);
}

/* It never returns: the process ends all the same, after ctrace.block.timeout x 5. */
static void end_while_it_hangs(void)
{
	(void)emit(0);
	wait_until_it_hangs();
	for (uint32_t i = 1; i < 100; i++)
		(void)emit(i);
}

static void a_module_that_never_returns_does_not_keep_the_process(void **state)
{
	(void)state;
	make_module_that_hangs();
	configure("mftrace.dest = hangs\nctrace.block.timeout = 0.1\n");
	assert_int_equal(run_traced(end_while_it_hangs), 0);
	assert_int_equal(unsetenv("CTRACE_EMITTERS"), 0);
	assert_lines(0, 100);
}

/* The file named ten hours; the process was told of four seconds since.  So the module is passed
 * over after two of them, and the program waits for room no longer than that: nothing of TEXTFILE's
 * is lost. */
static void fill_with_a_shorter_timeout(void)
{
	char message[256];
	unsigned diagnostics;
	uint32_t n;

	(void)emit(0);
	wait_until_it_hangs();
	configure(
		"mftrace.dest = hangs\nctrace.overflow = block\nctrace.buffer = 65536\nctrace.block.timeout = 4s\n");
	CHILD_CHECK(ct_reload("", &diagnostics, message) == CTRACE_OK);
	for (n = 1; n < 20000; n++)
		(void)emit(n);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OUTPUT_ERROR);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_STALLED] == 0);
	CHILD_CHECK(read_lines(n) == n);
	open_gate();
}

static void a_timeout_that_is_read_again_reaches_the_consumer_thread(void **state)
{
	(void)state;
	make_module_that_hangs();
	configure(
		"mftrace.dest = hangs\nctrace.overflow = block\nctrace.buffer = 65536\nctrace.block.timeout = 36000s\n");
	assert_int_equal(run_traced(fill_with_a_shorter_timeout), 0);
	assert_int_equal(unsetenv("CTRACE_EMITTERS"), 0);
}

/* ---- a consumer thread that took over ---- */

static void emit_and_die(void)
{
	CHILD_CHECK(emit(0) == CTRACE_OK);
	(void)raise(SIGKILL);
}

/* Its directory, in the run directory; moved out of it to `aside` and back. */
static void move_orphan(bool away)
{
	char from[600], to[600];
	DIR *directory = opendir(away ? run_dir : "aside");
	struct dirent *entry;

	while ((entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.' && strchr(entry->d_name, '.') != NULL)
			break;
	(void)snprintf(from, sizeof from, "%s/%s", away ? run_dir : "aside", entry->d_name);
	(void)snprintf(to, sizeof to, "%s/%s", away ? "aside" : run_dir, entry->d_name);
	(void)closedir(directory);
	if (rename(from, to) != 0)
		abort();
}

static void take_over_and_look(void)
{
	uint64_t until_ns;

	(void)emit(0);
	wait_until_it_hangs();
	/* another thread is the consumer thread now */
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OUTPUT_ERROR);
	while (count_run_directories() != 1)
		/* it recovers the first orphan */
		CHILD_CHECK(ctrace_flush(60000) == CTRACE_OUTPUT_ERROR);
	move_orphan(false);
	open_gate();
	while (ctrace_flush(60000) != CTRACE_OK)
		;
	__atomic_store_n(&gate, 0, __ATOMIC_SEQ_CST);
	(void)emit(1);
	wait_until_it_hangs();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OUTPUT_ERROR); /* and again another one */
	for (until_ns = ct_clock_mono_ns() + 1500000000u; ct_clock_mono_ns() < until_ns;)
		CHILD_CHECK(ctrace_flush(60000) == CTRACE_OUTPUT_ERROR);
	CHILD_CHECK(count_run_directories() == 2); /* the second orphan is there */
	open_gate();
}

/* One recovery in the life of a process, however often the consumer thread changes: each that hung
 * would be one thread more. */
static void a_process_recovers_once(void **state)
{
	(void)state;
	assert_int_equal(mkdir("aside", 0700), 0);
	assert_int_equal(run_traced(emit_and_die), -SIGKILL);
	move_orphan(true);
	assert_int_equal(run_traced(emit_and_die), -SIGKILL);
	make_module_that_hangs();
	/* Another name: taking over the orphan's own file recovers it, too. */
	configure("mftrace.dest = hangs\nmftrace.emitter.textfile#file = other.log\n");
	assert_int_equal(run_traced(take_over_and_look), 0);
	assert_int_equal(unsetenv("CTRACE_EMITTERS"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_flush(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_held_consumer_thread_keeps_nobody_longer_than_asked),
		TEST(who_holds_a_lock_waits_for_nobody),
		TEST(an_output_that_cannot_be_opened_is_the_answer),
		TEST(a_module_that_hangs_holds_up_itself),
		TEST(a_module_that_never_returns_does_not_keep_the_process),
		TEST(a_process_recovers_once),
		TEST(a_timeout_that_is_read_again_reaches_the_consumer_thread),
		TEST(a_method_is_overdue_wherever_the_standbys_looks_fall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
