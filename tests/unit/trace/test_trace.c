/*
 * test_trace.c - trace calls: statuses, policies, thread buffers and the accounting that always
 * balances.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include <sched.h>
#include <setjmp.h>

static char big[CTRACE_MAX_ITEM_SIZE];

static enum ctrace_status emit_sized(uint32_t number, size_t size)
{
	const struct ctrace_item item = CTRACE_BIN(big, size);

	return ctrace_emit(&tracer, CTRACE_INFO, number, &item, 1);
}

static void check_balance(uint64_t emitted)
{
	struct ctrace_stats now = stats();

	CHILD_CHECK(now.emitted == emitted);
	CHILD_CHECK(now.emitted == now.delivered + now.pending + lost_total(&now));
}

/* ---- statuses ---- */

static void every_status(void)
{
	static struct ctrace_tracer quiet = CTRACE_TRACER("unit.quiet"),
				    off = CTRACE_TRACER("unit.off");
	static struct ctrace_tracer nameless = CTRACE_TRACER(NULL), empty = CTRACE_TRACER(""),
				    dots = CTRACE_TRACER("a..b");

	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHILD_CHECK(ctrace_emit(&tracer, CTRACE_LEVEL_COUNT, 0, NULL, 0) ==
		    CTRACE_INVALID_TRACE_LEVEL);
	CHILD_CHECK(ctrace_emit(&tracer, CTRACE_LEVEL_NONE, 0, NULL, 0) ==
		    CTRACE_INVALID_TRACE_LEVEL);
	CHILD_CHECK(ctrace_emit(&quiet, CTRACE_WARN, 0, NULL, 0) == CTRACE_NOT_TRACING_LEVEL);
	CHILD_CHECK(ctrace_emit(&quiet, CTRACE_ERROR, 1, NULL, 0) == CTRACE_OK);
	CHILD_CHECK(ctrace_emit(&off, CTRACE_FATAL, 0, NULL, 0) == CTRACE_NOT_TRACE_ENABLED);
	CHILD_CHECK(ctrace_emit(&nameless, CTRACE_FATAL, 0, NULL, 0) ==
		    CTRACE_INVALID_COMPONENT_NAME);
	CHILD_CHECK(ctrace_emit(&empty, CTRACE_FATAL, 0, NULL, 0) == CTRACE_INVALID_COMPONENT_NAME);
	CHILD_CHECK(ctrace_emit(&dots, CTRACE_FATAL, 0, NULL, 0) == CTRACE_INVALID_COMPONENT_NAME);
	CHILD_CHECK(emit_sized(0, SIZE_MAX) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_TOO_LARGE] == 1);
	check_balance(3);
	CHILD_CHECK(ctrace_enabled(&quiet, CTRACE_ERROR) && !ctrace_enabled(&quiet, CTRACE_WARN) &&
		    !ctrace_enabled(&off, CTRACE_FATAL));
	CHILD_CHECK(!ctrace_enabled(&dots, CTRACE_FATAL));
}

static unsigned evaluations;

static uint32_t evaluated(void)
{
	return ++evaluations;
}

/* The first call of each is the one that registers it, or finds that it cannot be. */
static void trace_what_is_off(void)
{
	static struct ctrace_tracer off = CTRACE_TRACER("unit.off"),
				    quiet = CTRACE_TRACER("unit.quiet"),
				    dots = CTRACE_TRACER("a..b");
	static struct ctrace_tracer on = CTRACE_TRACER("unit.on");

	for (int i = 0; i < 3; i++) {
		CTRACE(&off, CTRACE_FATAL, evaluated(), CTRACE_U32(evaluated()));
		CTRACE(&quiet, CTRACE_WARN, evaluated(), CTRACE_U32(evaluated()));
		CTRACE(&dots, CTRACE_FATAL, evaluated(), CTRACE_U32(evaluated()));
		CTRACE(&dots, CTRACE_FATAL, 7, CTRACE_U32(evaluated()));
	}
	CHILD_CHECK(evaluations == 0);
	CTRACE(&on, CTRACE_FATAL, evaluated(), CTRACE_U32(evaluated()));
	CHILD_CHECK(evaluations == 2);
}

static void what_is_off_evaluates_nothing(void **state)
{
	(void)state;
	configure("mftrace.level.unit.quiet = error\nmftrace.level.unit.off = none\n");
	assert_int_equal(run_traced(trace_what_is_off), 0);
}

static void each_status_has_its_cause(void **state)
{
	(void)state;
	configure("mftrace.level.unit.quiet = error\nmftrace.level.unit.off = none\n");
	assert_int_equal(run_traced(every_status), 0);
	assert_lines(0, 2);
}

static void emit_and_look_at_errno(void)
{
	errno = 4711;
	(void)emit(0); /* attaches, makes a ring, opens the file */
	CHILD_CHECK(errno == 4711);
	(void)ctrace_emit(&tracer, 99, 0, NULL, 0);
	(void)emit_sized(0, SIZE_MAX);
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U32(1));
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	(void)stats();
	CHILD_CHECK(errno == 4711);
}

static void errno_is_kept(void **state)
{
	(void)state;
	assert_int_equal(run_traced(emit_and_look_at_errno), 0);
	assert_lines(0, 2);
}

/* Two threads make each tracer known at the same time.  ThreadSanitizer looks at that, too. */
#define ROUNDS 500u

static struct ctrace_tracer shared[ROUNDS];
static uint32_t arrived;

static void *make_tracers_known(void *unused)
{
	(void)emit(0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		(void)__atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
		while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < 2 * (i + 1))
			(void)sched_yield();
		CHILD_CHECK(ctrace_emit(&shared[i], CTRACE_INFO, i, NULL, 0) == CTRACE_OK);
	}
	return unused;
}

static void make_tracers_known_twice(void)
{
	pthread_t threads[2];

	for (uint32_t i = 0; i < ROUNDS; i++)
		shared[i] = (struct ctrace_tracer)CTRACE_TRACER("unit.shared");
	for (int i = 0; i < 2; i++)
		CHILD_CHECK(pthread_create(&threads[i], NULL, make_tracers_known, NULL) == 0);
	for (int i = 0; i < 2; i++)
		CHILD_CHECK(pthread_join(threads[i], NULL) == 0);
	for (uint32_t i = 1; i < ROUNDS; i++)
		CHILD_CHECK(shared[i].component == shared[0].component &&
			    shared[i].level_word == shared[0].level_word);
	check_balance(2 * (uint64_t)ROUNDS + 2);
}

static void two_threads_may_make_one_tracer_known(void **state)
{
	(void)state;
	assert_int_equal(run_traced(make_tracers_known_twice), 0);
}

static void emit_both_ways(void)
{
	for (uint32_t i = 0; i < 20000; i++) {
		if (i % 3 == 0)
			(void)emit(i);
		else
			CTRACE(&tracer, CTRACE_DEBUG + i % 5, i, CTRACE_U32(i), CTRACE_STR("text"));
	}
	check_balance(20000);
}

static void the_inline_and_the_other_way_share_one_ring_and_its_order(void **state)
{
	(void)state;
	assert_int_equal(run_traced(emit_both_ways), 0);
	assert_lines(0, 20000);
}

static void emit_with_another_abi(void)
{
	static struct ctrace_tracer old = { &ctrace_level_word_unregistered, "unit.old", 0,
					    CTRACE_ABI + 1 };

	for (uint32_t i = 0; i < 100; i++)
		CTRACE(&old, CTRACE_INFO, i, CTRACE_U32(i));
	CHILD_CHECK(old.level_word == &ctrace_level_word_unregistered && old.component == 0);
	CHILD_CHECK(ctrace_enabled(&old, CTRACE_INFO));
}

static void a_program_of_another_version_goes_the_long_way(void **state)
{
	(void)state;
	assert_int_equal(run_traced(emit_with_another_abi), 0);
	assert_lines(0, 100);
}

/* ---- policies ---- */

static void fill_under_discard(void)
{
	uint64_t emitted = 0, refused = 0;

	(void)emit((uint32_t)emitted++);
	hold_consumer_thread();
	for (; refused < 10; emitted++)
		refused += emit_sized((uint32_t)emitted, 500) == CTRACE_NOT_ENOUGH_MEMORY;
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_DISCARDED] == refused);
	CHILD_CHECK(stats().delivered == emitted - refused);
	check_balance(emitted);
	put_file("count", &emitted, sizeof emitted);
}

static uint64_t read_count(void)
{
	uint64_t count = 0;
	int fd = open("count", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &count, sizeof count), sizeof count);
	assert_int_equal(close(fd), 0);
	return count;
}

static void discard_drops_the_newest_and_counts_it(void **state)
{
	(void)state;
	configure("ctrace.overflow = discard\nctrace.buffer = 64k\n");
	assert_int_equal(run_traced(fill_under_discard), 0);
	assert_lines(0, (unsigned)read_count() - 10);
}

static void fill_under_block(void)
{
	uint64_t emitted = 0, start;

	(void)emit((uint32_t)emitted++);
	hold_consumer_thread();
	while (emit_sized((uint32_t)emitted, 500) == CTRACE_OK)
		emitted++;
	start = ct_clock_mono_ns();
	for (int i = 0; i < 100; i++) /* they do not wait again: 200 seconds otherwise */
		CHILD_CHECK(emit_sized(0, 500) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(ct_clock_mono_ns() - start < 100000000000u);
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_STALLED] == 101);
	/* and wait again once the output moves */
	CHILD_CHECK(emit_sized((uint32_t)emitted, 500) == CTRACE_OK);
	check_balance(emitted + 1 + 101);
	put_file("count", &emitted, sizeof emitted);
}

static void block_gives_up_when_the_output_makes_no_progress(void **state)
{
	(void)state;
	/* An output whose call takes half of it counts as one that fails. */
	configure("ctrace.overflow = block\nctrace.buffer = 64k\nctrace.block.timeout = 2s\n");
	assert_int_equal(run_traced(fill_under_block), 0);
	assert_lines(0, (unsigned)read_count() + 1);
}

static void *fill_the_ring(void *result)
{
	while (emit_sized(0, 500) == CTRACE_OK)
		(*(uint64_t *)result)++;
	return NULL;
}

static void fill_by_threads_in_turn(void)
{
	uint64_t emitted = 1, start;
	pthread_t thread;

	(void)emit(0);
	hold_consumer_thread();
	start = ct_clock_mono_ns();
	for (int i = 0; i < 20; i++) {
		CHILD_CHECK(pthread_create(&thread, NULL, fill_the_ring, &emitted) == 0);
		CHILD_CHECK(pthread_join(thread, NULL) == 0);
	}
	CHILD_CHECK(ct_clock_mono_ns() - start < 20000000000u); /* 40 seconds if each waits */
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_STALLED] == 20);
	check_balance(emitted + 20);
}

static void the_next_owner_of_a_stalled_ring_does_not_wait_again(void **state)
{
	(void)state;
	configure("ctrace.overflow = block\nctrace.buffer = 64k\nctrace.block.timeout = 2s\n");
	assert_int_equal(run_traced(fill_by_threads_in_turn), 0);
}

static void emit_much(void)
{
	for (uint32_t i = 0; i < 300000; i++)
		CTRACE(&tracer, CTRACE_INFO, i, CTRACE_BIN(big, 40 + i % 100));
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_STALLED] == 0);
	CHILD_CHECK(stats().delivered == 300000);
	check_balance(300000);
}

static void block_loses_nothing_while_the_output_goes_on(void **state)
{
	(void)state;
	configure("ctrace.overflow = block\nctrace.buffer = 64k\nctrace.block.timeout = 60s\n");
	assert_int_equal(run_traced(emit_much), 0);
	assert_lines(0, 300000);
}

static void a_file_destination_blocks_unless_reported_otherwise(void **state)
{
	(void)state;
	configure("ctrace.buffer = 64k\nctrace.block.timeout = 60s\n");
	assert_int_equal(run_traced(emit_much), 0);
	assert_lines(0, 300000);
}

static void fill_without_a_file(void)
{
	(void)emit(0);
	hold_consumer_thread();
	for (uint32_t i = 0; i < 1000; i++)
		(void)emit_sized(i, 500);
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_STALLED] == 0);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_DISCARDED] > 0);
	check_balance(1001);
}

static void without_a_file_destination_nothing_waits(void **state)
{
	(void)state;
	put_file(
		"config",
		"mftrace.level=debug\nmftrace.dest=es\nctrace.buffer=64k\nctrace.block.timeout=60s\n",
		strlen("mftrace.level=debug\nmftrace.dest=es\nctrace.buffer=64k\nctrace.block.timeout=60s\n"));
	assert_int_equal(run_traced(fill_without_a_file), 0);
}

static void fill_under_overwrite(void)
{
	uint64_t emitted = 0;
	struct ctrace_stats now;

	/* opens its destination, for which it needs the consumer */
	(void)emit((uint32_t)emitted++);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	hold_consumer_thread();
	for (; emitted < 20000; emitted++)
		CHILD_CHECK(emit_sized((uint32_t)emitted, 100) == CTRACE_OK);
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	now = stats();
	CHILD_CHECK(now.lost[CTRACE_LOSS_OVERWRITTEN] > 18000);
	CHILD_CHECK(now.delivered > 100 && now.pending == 0);
	check_balance(emitted);
	now.delivered--;
	put_file("count", &now.delivered, sizeof now.delivered);
}

static void overwrite_keeps_the_newest_and_counts_the_rest(void **state)
{
	(void)state;
	configure("ctrace.overflow = overwrite\nctrace.buffer = 32k\n");
	assert_int_equal(run_traced(fill_under_overwrite), 0);
	(void)read_lines(20000);
	assert_int_equal(seen[0], 1); /* delivered before the consumer was held */
	for (unsigned i = 1; i < 20000; i++)
		assert_int_equal(seen[i], i >= 20000 - (unsigned)read_count());
}

static void *emit_many(void *argument)
{
	const uint32_t *first = argument;

	for (uint32_t i = 0; i < 5000; i++)
		CTRACE(&tracer, CTRACE_INFO, *first + i, CTRACE_BIN(big, 40));
	return NULL;
}

static void change_the_policy(void)
{
	const uint32_t first[] = { 0, 5000 };
	const char *const lines[] = { "ctrace.overflow = discard", "ctrace.overflow = overwrite" };

	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		CHILD_CHECK(ctrace_configure(lines[i]) == CTRACE_OK);
		CHILD_CHECK(pthread_create(&thread, NULL, emit_many,
					   (void *)(uintptr_t)&first[i]) == 0);
		CHILD_CHECK(pthread_join(thread, NULL) == 0);
	}
	CHILD_CHECK(ct_ring_pool_count(ct_process.pool) == 2);
	CHILD_CHECK(ct_ring_pool_at(ct_process.pool, 0)->head->overflow == CT_OVERFLOW_DISCARD);
	CHILD_CHECK(ct_ring_pool_at(ct_process.pool, 1)->head->overflow == CT_OVERFLOW_OVERWRITE);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	check_balance(10000);
}

static void a_ring_keeps_the_policy_it_was_made_with(void **state)
{
	(void)state;
	configure("ctrace.buffer = 32k\n");
	assert_int_equal(run_traced(change_the_policy), 0);
}

/* ---- sizes ---- */

static void emit_half_a_ring(void)
{
	size_t largest = (64 << 10) / 2 - CT_EVENT_HEAD - 2;

	for (uint32_t i = 0; i < 50; i++)
		CHILD_CHECK(emit_sized(i, largest) == CTRACE_OK);
	CHILD_CHECK(emit_sized(0, largest + 1) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_TOO_LARGE] == 1);
	CTRACE(&tracer, CTRACE_INFO, 0, CTRACE_BIN(big, largest + 1));
	CTRACE(&tracer, CTRACE_INFO, 0, CTRACE_BIN(big, (size_t)1 << 40));
	CHILD_CHECK(stats().lost[CTRACE_LOSS_TOO_LARGE] == 3);
	check_balance(53);
}

static void an_event_of_half_a_ring_is_the_largest(void **state)
{
	(void)state;
	configure("ctrace.buffer = 64k\n");
	assert_int_equal(run_traced(emit_half_a_ring), 0);
	assert_lines(0, 50);
}

/* ---- thread buffers ---- */

/* A handler does not wait for the pool's lock: its event then counts as lost, and comes again. */
static uint32_t busy;

/* Each handler interrupts the call that the one before it is in, until there is no thread buffer
 * left. */
static void interrupt_again(void)
{
	struct ct_thread *thread = ct_thread_self();
	struct ct_thread_buffer *thread_buffer = ct_thread_buffer_find_side(thread, false);
	static uint32_t number = 2;

	if (thread_buffer == NULL) {
		CHILD_CHECK(emit(99) == CTRACE_NOT_ENOUGH_MEMORY);
		return;
	}
	while (emit(number) != CTRACE_OK)
		busy++;
	number++;
	CHILD_CHECK(ct_thread_is_in_call()); /* still in the middle of it */
	CHILD_CHECK(thread_buffer->ring != NULL && thread_buffer->ring->head->is_side);
	ct_thread_buffer_enter(thread_buffer);
	in_handler(interrupt_again);
	ct_thread_buffer_leave(thread_buffer);
}

static void trace_inline(void)
{
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U32(1));
}

static void trace_as_a_signal_handler_would(void)
{
	struct ct_thread *thread;

	(void)emit(0);
	thread = ct_thread_self();
	CHILD_CHECK(ctrace_thread_buffers_self == thread->inlined);
	ctrace_begin_call_(); /* in the middle of a call */
	in_handler(trace_inline);
	in_handler(interrupt_again);
	CHILD_CHECK(ct_thread_is_in_call());
	ctrace_end_call_();
	CHILD_CHECK(stats().lost[CTRACE_LOSS_NESTED] == 1 + busy);
	CHILD_CHECK(emit(2 + CT_SIDE_THREAD_BUFFERS) == CTRACE_OK);
	check_balance(4 + CT_SIDE_THREAD_BUFFERS + busy);
}

static void handlers_inside_calls_take_side_rings_and_one_too_many_is_counted(void **state)
{
	(void)state;
	/* no call reports a busy machine's output as failing */
	configure("ctrace.block.timeout = 60s\n");
	assert_int_equal(run_traced(trace_as_a_signal_handler_would), 0);
	assert_lines(0, 3 + CT_SIDE_THREAD_BUFFERS);
}

/* As siglongjmp() leaves it that a handler calls which interrupted a call, or interrupted a
 * handler's. */
static void leave_calls(void)
{
	struct ct_thread *thread;
	uint32_t number = 1;

	(void)emit(0);
	thread = ct_thread_self();
	ctrace_begin_call_();
	for (size_t i = 0; i < CT_SIDE_THREAD_BUFFERS; i++)
		thread->side[i].busy = true;
	/* Where no thread buffer is left the first event asks, */
	CTRACE(&tracer, CTRACE_INFO, number++, CTRACE_U32(1));
	CHILD_CHECK(ctrace_thread_buffers_self == thread->inlined &&
		    ct_thread_buffer_find_side(thread, false) == &thread->side[0]);
	CHILD_CHECK(thread->side[0].ring == NULL);
	/* else one of the next; what comes before it is not lost. */
	ctrace_begin_call_();
	while (ct_thread_is_in_call() && number < 100)
		CTRACE(&tracer, CTRACE_INFO, number++, CTRACE_U32(1));
	while (number < 100)
		CTRACE(&tracer, CTRACE_INFO, number++, CTRACE_U32(1));
	CHILD_CHECK(ctrace_thread_buffers_self == thread->inlined && thread->side_events < 64);
	check_balance(100);
}

static void a_call_that_was_left_does_not_keep_its_thread_from_its_ring(void **state)
{
	(void)state;
	assert_int_equal(run_traced(leave_calls), 0);
	assert_lines(0, 100);
}

static sigjmp_buf after_fault;
static uint32_t survived;

static void survive(int number)
{
	survived++;
	siglongjmp(after_fault, number);
}

/* As a program does that tests whether it can read an address. */
static void emit_from_bad_address(void)
{
	static const char *const volatile bad = (const char *)16;
	const struct ctrace_item item = CTRACE_TEXT(bad, 8);

	if (sigsetjmp(after_fault, 1) == 0)
		(void)ctrace_emit(&tracer, CTRACE_INFO, 1, &item, 1);
	if (sigsetjmp(after_fault, 1) == 0)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_TEXT(bad, 8));
}

static void *first_is_bad(void *unused)
{
	emit_from_bad_address();
	CHILD_CHECK(emit(1) == CTRACE_OK);
	return unused;
}

static void fault_in_first_events(void)
{
	pthread_t thread;

	(void)signal(SIGSEGV, survive);
	(void)first_is_bad(NULL); /* of the process */
	CHILD_CHECK(pthread_create(&thread, NULL, first_is_bad, NULL) == 0);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
	ctrace_begin_call_(); /* in a side ring */
	(void)first_is_bad(NULL);
	CHILD_CHECK(survived == 6);
	check_balance(3);
}

/* The memory of an event is read with the signals as the program has them, also when the event
 * makes a ring. */
static void a_fault_in_a_first_event_is_for_the_program(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fault_in_first_events), 0);
}

static uint32_t emitted_in_handler;

static void fill_up_in_handler(void)
{
	while (emit_sized(emitted_in_handler, 500) == CTRACE_OK)
		emitted_in_handler++;
}

static void fill_the_side_ring(void)
{
	uint32_t emitted;

	(void)emit(0);
	emitted_in_handler = 1;
	hold_consumer_thread();
	ctrace_begin_call_();
	in_handler(fill_up_in_handler);
	ctrace_end_call_();
	release_consumer_thread();
	emitted = emitted_in_handler;
	CHILD_CHECK(stats().lost[CTRACE_LOSS_DISCARDED] == 1); /* never waits */
	check_balance(emitted + 1);
	put_file("count", &(uint64_t){ emitted }, sizeof(uint64_t));
}

static void in_a_handler_block_means_discard_and_count(void **state)
{
	(void)state;
	configure("ctrace.overflow = block\nctrace.block.timeout = 60s\n");
	assert_int_equal(run_traced(fill_the_side_ring), 0);
	assert_lines(0, (unsigned)read_count());
}

static void trace_inside_our_own_locks(void)
{
	(void)emit(0);
	ct_thread_locked = 1;
	CHILD_CHECK(emit(1) == CTRACE_OK); /* has its ring: needs no lock */
	{
		static struct ctrace_tracer fresh = CTRACE_TRACER("unit.fresh");

		CHILD_CHECK(ctrace_emit(&fresh, CTRACE_INFO, 99, NULL, 0) ==
			    CTRACE_NOT_ENOUGH_MEMORY);
	}
	ct_thread_locked = 0;
	check_balance(3);
}

static void inside_our_own_locks_what_needs_one_is_counted(void **state)
{
	(void)state;
	assert_int_equal(run_traced(trace_inside_our_own_locks), 0);
	assert_lines(0, 2);
}

static void trace_without_memory(void)
{
	/* attached, without a ring */
	CHILD_CHECK(ctrace_configure("mftrace.level = debug") == CTRACE_OK);
	ct_os_fail(CT_OS_MAP, 0, 50, ENOMEM);
	for (int i = 0; i < 100 && emit(99) != CTRACE_OK; i++)
		;
	CHILD_CHECK(stats().lost[CTRACE_LOSS_NO_RING] >= 1);
	CHILD_CHECK(emit(0) == CTRACE_OK);
}

static void without_a_ring_events_are_counted_until_one_can_be_had(void **state)
{
	(void)state;
	assert_int_equal(run_traced(trace_without_memory), 0);
	(void)read_lines(1);
	assert_int_equal(seen[0], 1);
}

static void trace_by_channels(void)
{
	static struct ctrace_tracer own = CTRACE_TRACER("own.ring");
	const struct ct_thread *thread;

	for (uint32_t i = 0; i < 100; i += 2) {
		CTRACE(&tracer, CTRACE_INFO, i, CTRACE_U32(i));
		CTRACE(&own, CTRACE_INFO, i + 1, CTRACE_U32(i));
	}
	thread = ct_thread_self();
	CHILD_CHECK(ct_level_word_channel(own.level_word) != 0 &&
		    ct_level_word_channel(own.level_word) < CT_CHANNEL_LIMIT);
	CHILD_CHECK(thread->channels[ct_level_word_channel(own.level_word)].kind.full == 128 << 10);
	CHILD_CHECK(thread->channels[ct_level_word_channel(own.level_word)].ring->head->overflow ==
		    CT_OVERFLOW_DISCARD);
	CHILD_CHECK(thread->common.kind.full == 1 << 20);
	CHILD_CHECK(thread->common.ring->capacity == CT_RING_MIN); /* it has not filled more */
	check_balance(100);
}

static void a_component_may_have_rings_of_its_own(void **state)
{
	(void)state;
	configure("ctrace.buffer.own = 128k\nctrace.overflow.own = discard\n");
	assert_int_equal(run_traced(trace_by_channels), 0);
	assert_lines(0, 100);
}

static void trace_into_the_recorder(void)
{
	for (uint32_t i = 0; i < 50; i++)
		CTRACE(&tracer, CTRACE_DEBUG, i, CTRACE_U32(i));
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 0 && stats().pending == 50);
	CTRACE(&tracer, CTRACE_ERROR, 50, CTRACE_U32(50));
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 51);
	for (uint32_t i = 0; i < 50; i++)
		CTRACE(&tracer, CTRACE_DEBUG, 99, CTRACE_U32(i)); /* stays in it */
	check_balance(101);
}

static void the_recorder_keeps_what_is_below_until_the_trigger(void **state)
{
	(void)state;
	configure(
		"mftrace.level.unit = info\nctrace.flight.level.unit = debug\nctrace.flight.trigger = error\n");
	assert_int_equal(run_traced(trace_into_the_recorder), 0);
	assert_lines(0, 51);
}

static void overfill_the_recorder(void)
{
	struct ctrace_stats now;

	for (uint32_t i = 0; i < 20000; i++)
		CTRACE(&tracer, CTRACE_DEBUG, i, CTRACE_BIN(big, 100));
	now = stats();
	CHILD_CHECK(now.delivered == 0);
	CHILD_CHECK(now.pending < 1000); /* what the ring holds; the rest is gone, and said to be */
	CHILD_CHECK(now.lost[CTRACE_LOSS_OVERWRITTEN] == 20000 - now.pending);
	CTRACE(&tracer, CTRACE_ERROR, 20000, CTRACE_U32(50));
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == now.pending + 1);
	check_balance(20001);
}

static void what_a_recorder_has_overwritten_is_counted_also_before_the_trigger(void **state)
{
	(void)state;
	configure(
		"mftrace.level.unit = info\nctrace.flight.level.unit = debug\nctrace.flight.trigger = error\nctrace.flight.buffer = 64k\n");
	assert_int_equal(run_traced(overfill_the_recorder), 0);
}

/* ---- imported entries ---- */

static enum ctrace_status emit_imported(struct ctrace_tracer *of, uint32_t number, uint64_t *ticks)
{
	struct ct_event_head head = { .event_id = number, .level = CTRACE_INFO };
	size_t size = ct_event_size(CT_CLASS_ANY, NULL, 0);
	struct ct_reservation reservation;
	enum ctrace_status status;

	CHILD_CHECK(ctrace_enabled(of, CTRACE_INFO)); /* registers it */
	head.component = of->component;
	status = ct_trace_reserve_imported(head.component, size, ticks, &reservation);
	if (status != CTRACE_OK)
		return status;
	ct_event_encode(reservation.at, CT_CLASS_ANY, *ticks, &head, NULL, 0);
	return ct_trace_commit(&reservation, head.component, CTRACE_INFO);
}

static void *capture_after_another(void *argument)
{
	uint64_t ticks = 1;

	CHILD_CHECK(emit_imported(&tracer, 4, &ticks) == CTRACE_OK);
	CHILD_CHECK(ct_thread_self()->imported.ring == argument); /* which that one gave back */
	CHILD_CHECK(ticks == 2000);
	return NULL;
}

static void *capture(void *argument)
{
	const struct ct_thread *thread;
	uint64_t ticks = 1000;

	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHILD_CHECK(emit_imported(&tracer, 1, &ticks) == CTRACE_OK && ticks == 1000);
	thread = ct_thread_self();
	CHILD_CHECK(thread->imported.ring != thread->common.ring &&
		    thread->imported.ring->head->is_imported == 1);
	CHILD_CHECK(thread->common.ring->head->is_imported == 0);
	ticks = 500;
	CHILD_CHECK(emit_imported(&tracer, 2, &ticks) == CTRACE_OK && ticks == 1000);
	ticks = 2000;
	CHILD_CHECK(emit_imported(&tracer, 3, &ticks) == CTRACE_OK && ticks == 2000);
	*(struct ct_ring **)argument = thread->imported.ring;
	return NULL;
}

static void capture_in_two_threads(void)
{
	struct ct_ring *ring = NULL;
	pthread_t thread;

	CHILD_CHECK(pthread_create(&thread, NULL, capture, &ring) == 0 &&
		    pthread_join(thread, NULL) == 0);
	CHILD_CHECK(ct_ring_owner(ring) == 0);
	CHILD_CHECK(pthread_create(&thread, NULL, capture_after_another, ring) == 0 &&
		    pthread_join(thread, NULL) == 0);
	CHILD_CHECK(stats().rings == 2);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	check_balance(5);
}

static void time_does_not_go_back_in_a_ring_of_imported_entries(void **state)
{
	(void)state;
	assert_int_equal(run_traced(capture_in_two_threads), 0);
	assert_lines(0, 5);
}

static void capture_by_channels(void)
{
	static struct ctrace_tracer own = CTRACE_TRACER("own.ring");
	const struct ct_thread_buffer *thread_buffer;

	for (uint32_t i = 0; i < 100; i += 2) {
		uint64_t ticks = 1000 + i, others = 500 + i;

		CHILD_CHECK(emit_imported(&tracer, i, &ticks) == CTRACE_OK && ticks == 1000 + i);
		thread_buffer = &ct_thread_self()->imported;
		CHILD_CHECK(thread_buffer->ring->capacity == 1 << 20 &&
			    thread_buffer->ring->head->overflow == CT_OVERFLOW_AUTO);
		CHILD_CHECK(emit_imported(&own, i + 1, &others) == CTRACE_OK && others == 500 + i);
		CHILD_CHECK(thread_buffer->ring->capacity == 128 << 10 &&
			    thread_buffer->ring->head->overflow == CT_OVERFLOW_DISCARD);
	}
	CHILD_CHECK(stats().rings == 2);
	check_balance(100);
}

static void imported_entries_go_by_the_policy_of_their_component(void **state)
{
	(void)state;
	configure("ctrace.buffer.own = 128k\nctrace.overflow.own = discard\n");
	assert_int_equal(run_traced(capture_by_channels), 0);
	assert_lines(0, 100);
}

static void capture_into_the_recorder(void)
{
	uint64_t ticks = 1;

	CHILD_CHECK(emit_imported(&tracer, 0, &ticks) == CTRACE_OK);
	CHILD_CHECK(ct_thread_self()->imported.ring->head->kept == 1);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	/* its own level pulls no trigger */
	CHILD_CHECK(stats().delivered == 0 && stats().pending == 1);
	CTRACE(&tracer, CTRACE_WARN, 1);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 2);
	check_balance(2);
}

static void imported_entries_that_only_the_recorder_wants_stay_in_it(void **state)
{
	(void)state;
	configure(
		"mftrace.level.unit = warn\nctrace.flight.level.unit = debug\nctrace.flight.trigger = info\n");
	assert_int_equal(run_traced(capture_into_the_recorder), 0);
	assert_lines(0, 2);
}

static void capture_in_handler(void)
{
	uint64_t ticks = 1;

	CHILD_CHECK(emit_imported(&tracer, 99, &ticks) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(ct_thread_is_in_call());
	CHILD_CHECK(emit(1) == CTRACE_OK); /* events of a handler go their own way */
}

static void capture_inside_a_capture(void)
{
	uint64_t ticks = 1;

	CHILD_CHECK(emit_imported(&tracer, 0, &ticks) == CTRACE_OK);
	ct_thread_buffer_enter(&ct_thread_self()->imported);
	in_handler(capture_in_handler);
	ct_thread_buffer_leave(&ct_thread_self()->imported);
	ct_thread_locked = 1;
	CHILD_CHECK(emit_imported(&tracer, 2, &ticks) == CTRACE_OK); /* needs no lock */
	ct_thread_locked = 0;
	CHILD_CHECK(stats().lost[CTRACE_LOSS_NESTED] == 1);
	check_balance(4);
}

static void a_capture_inside_a_capture_is_counted(void **state)
{
	(void)state;
	assert_int_equal(run_traced(capture_inside_a_capture), 0);
	assert_lines(0, 3);
}

/* ---- output that fails ---- */

static void trace_into_a_wall(void)
{
	CHILD_CHECK(emit(0) == CTRACE_OUTPUT_ERROR); /* the first call says so already */
	CHILD_CHECK(emit(1) == CTRACE_OUTPUT_ERROR);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OUTPUT_ERROR);
	CHILD_CHECK(stats().pending == 2);
	CHILD_CHECK(unlink("out") == 0 && mkdir("out", 0700) == 0);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(emit(2) == CTRACE_OK);
	check_balance(3);
}

static void failing_output_is_reported_and_loses_nothing(void **state)
{
	char text[1024];

	(void)state;
	/* An absolute FILE has no other directory to go to; a file stands where its directory
	 * should be. */
	(void)snprintf(text, sizeof text, "mftrace.emitter.textfile#file = %s/out/trace.log\n",
		       room);
	configure(text);
	put_file("out", "", 0);
	assert_int_equal(run_traced(trace_into_a_wall), 0);
	assert_lines(0, 3);
}

static void make_classes(void)
{
	const struct ctrace_item items[2] = { CTRACE_U32(1), CTRACE_TEXT("ab", 2) };
	const struct ctrace_item others[2] = { CTRACE_U32(2), CTRACE_TEXT("cd", 2) };
	struct ctrace_item many[CT_CLASS_MAX_ITEMS + 1];
	struct ct_event_head head = { .event_id = 7, .level = CTRACE_INFO };
	uint32_t class, of_one;

	CHILD_CHECK(emit(0) == CTRACE_OK); /* component 0 is there */
	class = ct_trace_class(&head, items, 2);
	CHILD_CHECK(class >= CT_CLASS_FIRST);
	CHILD_CHECK(ct_trace_class(&head, others, 2) == class);
	of_one = ct_trace_class(&head, items, 1);
	CHILD_CHECK(of_one >= CT_CLASS_FIRST && of_one != class);
	head.event_id = 8;
	CHILD_CHECK(ct_trace_class(&head, items, 2) != class);
	for (size_t i = 0; i < CT_COUNT(many); i++)
		many[i] = items[0];
	CHILD_CHECK(ct_trace_class(&head, many, CT_COUNT(many)) == CT_CLASS_ANY);
}

static void events_of_one_shape_have_one_class(void **state)
{
	(void)state;
	assert_int_equal(run_traced(make_classes), 0);
}

static void reserve_and_commit(void)
{
	struct ct_event_head head = { .event_id = 1, .level = CTRACE_INFO };
	size_t size = ct_event_size(CT_CLASS_ANY, NULL, 0);
	struct ct_reservation reservation;

	CHILD_CHECK(emit(0) == CTRACE_OK);
	head.component = tracer.component;
	CHILD_CHECK(ct_trace_reserve(head.component, CTRACE_INFO, 0, &reservation) ==
		    CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_TOO_LARGE] == 1);
	CHILD_CHECK(ct_trace_reserve(head.component, CTRACE_INFO, size, &reservation) == CTRACE_OK);
	CHILD_CHECK(reservation.size == size && !reservation.is_first);
	CHILD_CHECK(ct_thread_is_in_call());
	check_balance(2); /* it is none before it is committed */
	ct_event_encode(reservation.at, CT_CLASS_ANY, ct_clock_ticks(), &head, NULL, 0);
	CHILD_CHECK(ct_trace_commit(&reservation, head.component, CTRACE_INFO) == CTRACE_OK);
	CHILD_CHECK(!ct_thread_is_in_call());
	check_balance(3);
}

static void reserved_space_is_an_event_when_it_is_committed(void **state)
{
	(void)state;
	assert_int_equal(run_traced(reserve_and_commit), 0);
	assert_lines(0, 2);
}

static void emit_at_a_site(void)
{
	const struct ctrace_item items[] = { CTRACE_U32(1), CTRACE_TEXT("ab", 2) };
	static struct ctrace_tracer off = CTRACE_TRACER("unit.off");
	static struct ctrace_site site, untouched;

	errno = 4711;
	CHILD_CHECK(ctrace_emit_at_(&site, &off, CTRACE_INFO, 0, items, 2) ==
		    CTRACE_NOT_TRACE_ENABLED);
	CHILD_CHECK(ctrace_emit_at_(&site, &tracer, CTRACE_LEVEL_COUNT, 0, items, 2) ==
		    CTRACE_INVALID_TRACE_LEVEL);
	CHILD_CHECK(memcmp(&site, &untouched, sizeof site) == 0); /* no event, no class */
	CHILD_CHECK(ctrace_emit_at_(&site, &tracer, CTRACE_INFO, 0, items, 2) == CTRACE_OK);
	CHILD_CHECK(errno == 4711);
	CHILD_CHECK(site.level_word == tracer.level_word && site.event_id == 0 &&
		    site.level == CTRACE_INFO);
	CHILD_CHECK(site.class_number ==
		    ct_trace_class(&(struct ct_event_head){ .component = tracer.component,
							    .level = CTRACE_INFO },
				   items, 2));
	/* The site stays as it is: other threads may read it. */
	CHILD_CHECK(ctrace_emit_at_(&site, &tracer, CTRACE_WARN, 1, items, 2) == CTRACE_OK);
	CHILD_CHECK(site.event_id == 0 && site.level == CTRACE_INFO);
	check_balance(2);
}

static void a_site_learns_the_class_of_its_first_event(void **state)
{
	(void)state;
	configure("mftrace.level.unit.off = none\n");
	assert_int_equal(run_traced(emit_at_a_site), 0);
	assert_lines(0, 2);
}

static void ask_the_slow_way(void)
{
	static struct ctrace_tracer quiet = CTRACE_TRACER("unit.quiet"),
				    dots = CTRACE_TRACER("a..b");

	errno = 4711;
	CHILD_CHECK(quiet.level_word == &ctrace_level_word_unregistered);
	CHILD_CHECK(ctrace_enabled_slow_(&quiet, CTRACE_ERROR));
	CHILD_CHECK(quiet.level_word != &ctrace_level_word_unregistered); /* known from now on */
	CHILD_CHECK(!ctrace_enabled_slow_(&quiet, CTRACE_WARN));
	CHILD_CHECK(!ctrace_enabled_slow_(&quiet, CTRACE_LEVEL_COUNT));
	CHILD_CHECK(!ctrace_enabled_slow_(&dots, CTRACE_FATAL));
	CHILD_CHECK(errno == 4711);
	check_balance(0);
}

static void asking_whether_a_level_is_on_makes_the_tracer_known(void **state)
{
	(void)state;
	configure("mftrace.level.unit.quiet = error\n");
	assert_int_equal(run_traced(ask_the_slow_way), 0);
}

static void count_lost(void)
{
	const struct ct_session_head *head;

	ct_trace_count_lost(CTRACE_LOSS_CLOSED, CT_COMPONENT_NONE); /* there is no session yet */
	CHILD_CHECK(ct_process.lost_unattached[CTRACE_LOSS_CLOSED] == 1);
	CHILD_CHECK(emit(0) == CTRACE_OK);
	head = ct_process.session.head;
	ct_trace_count_lost(CTRACE_LOSS_NO_RING, CT_COMPONENT_NONE);
	CHILD_CHECK(head->lost[CTRACE_LOSS_NO_RING] == 1);
	CHILD_CHECK(head->lost_to_all[CTRACE_LOSS_NO_RING] == 1);
	ct_trace_count_lost(CTRACE_LOSS_NO_RING, 0);
	CHILD_CHECK(head->lost[CTRACE_LOSS_NO_RING] == 2);
	CHILD_CHECK(head->lost_to_all[CTRACE_LOSS_NO_RING] == 1);
}

static void a_lost_event_is_counted_for_whom_it_was_meant(void **state)
{
	(void)state;
	assert_int_equal(run_traced(count_lost), 0);
}

static void recall_class(void)
{
	const struct ctrace_item item = CTRACE_U32(1);
	struct ct_event_head head = { .event_id = 5, .level = CTRACE_INFO };
	uint16_t *slot;

	CHILD_CHECK(ctrace_emit(&tracer, CTRACE_INFO, 5, &item, 1) == CTRACE_OK);
	head.component = tracer.component;
	slot = ct_thread_class_slot(ct_thread_self(), head.component, 5, 1);
	CHILD_CHECK(*slot >= CT_CLASS_FIRST && *slot == ct_trace_class(&head, &item, 1));
	CHILD_CHECK(ct_thread_class_slot(ct_thread_self(), head.component, 6, 1) != slot);
	CHILD_CHECK(ct_thread_class_slot(ct_thread_self(), head.component, 5, 0) != slot);
	CHILD_CHECK(ct_thread_class_slot(ct_thread_self(), head.component + 1, 5, 1) != slot);
}

static void a_thread_keeps_the_class_of_its_last_such_event(void **state)
{
	(void)state;
	assert_int_equal(run_traced(recall_class), 0);
}

static void count_before_attaching(void)
{
	CHILD_CHECK(ct_trace_count_unattached(CTRACE_LEVEL_COUNT) == CTRACE_INVALID_TRACE_LEVEL);
	CHILD_CHECK(ct_trace_count_unattached(CTRACE_WARN) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(ct_process.lost_early[CTRACE_WARN] == 1);
	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHILD_CHECK(ct_process.lost_early[CTRACE_WARN] == 0);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_NESTED] == 1);
	/* another thread has attached the process meanwhile */
	CHILD_CHECK(ct_trace_count_unattached(CTRACE_WARN) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_NESTED] == 2);
}

static void an_event_before_the_process_attached_is_counted(void **state)
{
	(void)state;
	assert_int_equal(run_traced(count_before_attaching), 0);
}

static void hear_bell(void)
{
	CHILD_CHECK(!ctrace_enabled(&tracer, CTRACE_FATAL));
	CHILD_CHECK(ct_process.state == CT_PROCESS_DORMANT);
	CHILD_CHECK(ct_trace_hear_bell(tracer.component) == CTRACE_OK);
	CHILD_CHECK(ct_process.state == CT_PROCESS_DORMANT); /* it was not rung */
	ct_process.session.head->bell.level = 0;
	ct_thread_locked++; /* where it cannot wake */
	CHILD_CHECK(ct_trace_hear_bell(tracer.component) == CTRACE_NOT_ENOUGH_MEMORY);
	ct_thread_locked--;
	CHILD_CHECK(ct_process.session.head->lost[CTRACE_LOSS_NESTED] == 1);
	CHILD_CHECK(ct_trace_hear_bell(tracer.component) == CTRACE_OK);
	CHILD_CHECK(ct_process.state == CT_PROCESS_ATTACHED);
	CHILD_CHECK(ct_process.session.head->lost[CTRACE_LOSS_NESTED] == 1);
}

static void an_event_wakes_a_dormant_process_whose_bell_was_rung(void **state)
{
	(void)state;
	configure("mftrace.level = none\n");
	assert_int_equal(run_traced(hear_bell), 0);
}

/* It is jumped to, as in ctrace_put_head_(). */
static void the_inline_clock_changes_no_register_but_its_own(void **state)
{
	(void)state;
#if CTRACE_HAS_MONOTONIC_
	uint64_t back, time_ns, c = 1, s = 2, d = 3, before = ct_clock_mono_ns();
	void (*clock)(void) = ctrace_monotonic_;

	__asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
			 "jmp *%5\n"
			 "1:"
			 : "=&a"(back), "=&d"(time_ns), "+c"(c), "+S"(s), "+D"(d)
			 : "r"(clock)
			 : "cc", "memory");
	assert_in_range(time_ns, before, ct_clock_mono_ns());
	assert_true(back != 0 && c == 1 && s == 2 && d == 3);
#endif
}

int test_trace(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_status_has_its_cause, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_off_evaluates_nothing, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(errno_is_kept, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_fault_in_a_first_event_is_for_the_program,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(two_threads_may_make_one_tracer_known,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			the_inline_and_the_other_way_share_one_ring_and_its_order, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_program_of_another_version_goes_the_long_way,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(discard_drops_the_newest_and_counts_it,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			the_next_owner_of_a_stalled_ring_does_not_wait_again, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(block_gives_up_when_the_output_makes_no_progress,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(block_loses_nothing_while_the_output_goes_on,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_file_destination_blocks_unless_reported_otherwise,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(without_a_file_destination_nothing_waits,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(overwrite_keeps_the_newest_and_counts_the_rest,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_ring_keeps_the_policy_it_was_made_with,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_event_of_half_a_ring_is_the_largest,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_call_that_was_left_does_not_keep_its_thread_from_its_ring, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			handlers_inside_calls_take_side_rings_and_one_too_many_is_counted,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(in_a_handler_block_means_discard_and_count,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(inside_our_own_locks_what_needs_one_is_counted,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			without_a_ring_events_are_counted_until_one_can_be_had, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_component_may_have_rings_of_its_own,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_recorder_keeps_what_is_below_until_the_trigger,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			what_a_recorder_has_overwritten_is_counted_also_before_the_trigger,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(time_does_not_go_back_in_a_ring_of_imported_entries,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			imported_entries_go_by_the_policy_of_their_component, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			imported_entries_that_only_the_recorder_wants_stay_in_it, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_capture_inside_a_capture_is_counted,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(failing_output_is_reported_and_loses_nothing,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(reserved_space_is_an_event_when_it_is_committed,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_site_learns_the_class_of_its_first_event,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(asking_whether_a_level_is_on_makes_the_tracer_known,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(events_of_one_shape_have_one_class, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_lost_event_is_counted_for_whom_it_was_meant,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_thread_keeps_the_class_of_its_last_such_event,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_event_before_the_process_attached_is_counted,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			an_event_wakes_a_dormant_process_whose_bell_was_rung, fixture_setup,
			fixture_teardown),
		cmocka_unit_test(the_inline_clock_changes_no_register_but_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
