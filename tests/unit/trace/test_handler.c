/*
 * test_handler.c - is the calling code a signal handler?  And what a handler does then.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#define HANDLED 500u

static bool answers[3];

static void ask(void)
{
	answers[0] = ct_thread_is_in_handler();
}

static void ask_deeper(void)
{
	answers[1] = ct_thread_is_in_handler();
	in_handler(ask);
	answers[2] = ct_thread_is_in_handler();
}

static void the_program_is_in_none(void **state)
{
	(void)state;
	assert_false(ct_thread_is_in_handler());
	in_handler(ask);
	assert_false(ct_thread_is_in_handler());
}

static void a_handler_is_one_also_within_another(void **state)
{
	(void)state;
	memset(answers, 0, sizeof answers);
	in_handler(ask_deeper);
	assert_true(answers[0]);
	assert_true(answers[1]);
	assert_true(answers[2]);
}

static void ask_on_signal(int number)
{
	(void)number;
	ask();
}

static void a_handler_with_a_stack_of_its_own_is_one(void **state)
{
	const struct sigaction action = { .sa_handler = ask_on_signal, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = 65536 }, former;

	(void)state;
	answers[0] = false;
	stack.ss_sp = malloc(stack.ss_size);
	assert_non_null(stack.ss_sp);
	assert_int_equal(sigaltstack(&stack, &former), 0);
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	assert_int_equal(raise(SIGUSR2), 0);
	assert_true(answers[0]);
	assert_false(ct_thread_is_in_handler());
	assert_int_equal(sigaltstack(&former, NULL), 0);
	free(stack.ss_sp);
}

static sigjmp_buf way_out;

static void leave(void)
{
	ask();
	siglongjmp(way_out, 1);
}

static void one_that_was_left_by_a_jump_is_none(void **state)
{
	(void)state;
	answers[0] = false;
	if (sigsetjmp(way_out, 1) == 0)
		in_handler(leave);
	handler_body = NULL;
	assert_true(answers[0]);
	assert_false(ct_thread_is_in_handler());
}

static bool interrupts;

static void interrupt_the_walk(const char *name)
{
	if (strcmp(name, "handler.walked") != 0 || !interrupts)
		return;
	interrupts = false;
	assert_int_equal(raise(SIGUSR2), 0);
}

static __attribute__((noinline)) bool ask_far_below(void)
{
	volatile char depth[16384];

	depth[0] = 0;
	ask();
	return depth[0] == 0 && answers[0];
}

/* A handler that comes while the program asks, asks itself and leaves: the program's later calls
 * are in no handler. */
static void a_question_that_was_left_by_a_jump_is_forgotten(void **state)
{
	const struct sigaction action = { .sa_handler = run_handler_body };

	(void)state;
	answers[0] = false;
	interrupts = true;
	handler_body = leave;
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	ct_point_set(interrupt_the_walk);
	if (sigsetjmp(way_out, 1) == 0)
		(void)ct_thread_is_in_handler();
	ct_point_set(NULL);
	handler_body = NULL;
	assert_false(interrupts);
	assert_true(answers[0]);
	assert_false(ask_far_below());
	in_handler(ask);
	assert_true(answers[0]);
}

/* ---- what a handler does when the program's ring is full ---- */

static uint32_t next;

static void emit_in_handler(void)
{
	for (uint32_t i = 0; i < HANDLED; i++)
		CHILD_CHECK(emit(next++) == CTRACE_OK);
}

/* No pass makes room meanwhile: who waited would come back with a loss, ten seconds later. */
static void fill_and_interrupt(void)
{
	const struct ct_ring *ring;

	CHILD_CHECK(emit(next++) == CTRACE_OK);
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	hold_consumer_thread();
	ring = ct_thread_current->common.ring;
	while (ring->capacity - (ct_ring_head_position(ring) - ring->head->tail) > 1024)
		CHILD_CHECK(emit(next++) == CTRACE_OK);
	in_handler(emit_in_handler);
	CHILD_CHECK(ring->head->waiting == 0);
	CHILD_CHECK(ct_thread_current->side[0].ring != NULL);
	CHILD_CHECK(ct_ring_head_position(ct_thread_current->side[0].ring) > 0);
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == next);
	(void)fprintf(fopen("count", "w"), "%u", next);
}

static void a_handler_that_finds_the_ring_full_does_not_wait(void **state)
{
	unsigned count = 0;
	FILE *file;

	(void)state;
	/* A destination that a busy machine delays for half of the timeout would be passed over. */
	configure("ctrace.overflow = block\nctrace.buffer = 32768\n"
		  "ctrace.block.timeout = 10000\n");
	assert_int_equal(run_traced(fill_and_interrupt), 0);
	file = fopen("count", "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%u", &count), 1);
	(void)fclose(file);
	assert_true(count > HANDLED);
	assert_lines(0, count);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_handler(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_program_is_in_none),
		TEST(a_handler_is_one_also_within_another),
		TEST(a_handler_with_a_stack_of_its_own_is_one),
		TEST(one_that_was_left_by_a_jump_is_none),
		TEST(a_question_that_was_left_by_a_jump_is_forgotten),
		TEST(a_handler_that_finds_the_ring_full_does_not_wait),
	};

	/* It calls handlers itself, later, so that no frame of a signal is on the stack. */
	if (IS_THREAD_SANITIZED) {
		(void)puts("1..0 # SKIP ThreadSanitizer");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
