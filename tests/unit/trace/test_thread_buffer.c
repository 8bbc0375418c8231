/*
 * test_thread_buffer.c - events of a component with rings of its own: as the inline path writes
 * them, and everything else by way of trace.c.
 *
 * That the inline path is taken at all shows in tests/process/test_instructions.c, which counts its
 * instructions.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../base/still_clock_fixture.h"
#include "../process/process_fixture.h"

#include <sched.h>
#include <sys/resource.h>

#define EVENTS 20000u

static struct ctrace_tracer own = CTRACE_TRACER("own.ring");
static char bytes[CTRACE_MAX_ITEM_SIZE];

static struct ct_thread_buffer *own_thread_buffer(void)
{
	return &ct_thread_self()->channels[ct_level_word_channel(own.level_word)];
}

static void trace_own(uint32_t number)
{
	CTRACE(&own, CTRACE_INFO, number, CTRACE_BIN(bytes, number % 200), CTRACE_U16(number),
	       CTRACE_TEXT("text", 4), CTRACE_I64(-1));
}

static void check_stats(uint64_t emitted, uint64_t lost)
{
	struct ctrace_stats now = stats();

	CHILD_CHECK(now.emitted == emitted && lost_total(&now) == lost);
	CHILD_CHECK(now.emitted == now.delivered + now.pending + lost);
}

/* Everything after the first goes the short way, over the ring's end many times. */
static void trace_many(void)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		trace_own(i);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	check_stats(EVENTS, 0);
}

static void every_event_is_delivered_once(void **state)
{
	(void)state;
	configure(
		"ctrace.buffer.own = 64k\nctrace.overflow.own = block\nctrace.block.timeout = 60s\n");
	assert_int_equal(run_traced(trace_many), 0);
	assert_lines(0, EVENTS);
}

/* The second event is written here, the first in trace.c, one of the other component inline: they
 * are the same bytes but for the time and, where the component is another, the class. */
static void compare_events(void)
{
	static struct ctrace_tracer common = CTRACE_TRACER("unit.common");
	const struct ct_thread_buffer *thread_buffer;
	const unsigned char *event, *first;
	size_t size, bytes_of_7 = 7;

	memset(bytes, 'x', sizeof bytes);
	trace_own(7);
	thread_buffer = own_thread_buffer();
	event = thread_buffer->thread_buffer->cur;
	first = thread_buffer->ring->data + CT_EVENT_MARK;
	size = (size_t)(event - first);
	trace_own(7);
	CHILD_CHECK((size_t)(thread_buffer->thread_buffer->cur - event) == size);
	CHILD_CHECK(memcmp(event, first, 2) == 0 && memcmp(event + 8, first + 8, size - 8) == 0);
	CTRACE(&common, CTRACE_INFO, 7, CTRACE_BIN(bytes, bytes_of_7), CTRACE_U16(7),
	       CTRACE_TEXT("text", 4), CTRACE_I64(-1));
	event = ct_thread_self()->common.ring->data + CT_EVENT_MARK;
	CHILD_CHECK(memcmp(event, first, 2) != 0 && memcmp(event + 8, first + 8, size - 8) == 0);
}

static void an_event_is_the_same_whoever_writes_it(void **state)
{
	(void)state;
	configure(
		"ctrace.buffer.own = 64k\nmftrace.dest.own = es\nmftrace.emitter.textfile#flushevery = 1000\n");
	assert_int_equal(run_traced(compare_events), 0);
}

static void fill_up(void)
{
	const struct ctrace_item item = CTRACE_BIN(bytes, 1000);
	enum ctrace_status status;
	uint64_t emitted = 1;

	trace_own(0);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	ct_consumer_thread_lock(); /* nobody consumes */
	while ((status = ctrace_emit(&own, CTRACE_INFO, 1, &item, 1)) == CTRACE_OK)
		emitted++;
	CHILD_CHECK(status == CTRACE_NOT_ENOUGH_MEMORY);
	ct_consumer_thread_unlock();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	check_stats(emitted + 1, 1);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_DISCARDED] == 1);
	CHILD_CHECK(ctrace_emit(&own, CTRACE_INFO, 2, &item, 1) == CTRACE_OK);
	check_stats(emitted + 2, 1);
}

static void a_full_ring_follows_its_policy(void **state)
{
	(void)state;
	configure("ctrace.buffer.own = 64k\nctrace.overflow.own = discard\n");
	assert_int_equal(run_traced(fill_up), 0);
}

/* ---- growing */

static struct ctrace_tracer common = CTRACE_TRACER("unit.grows");

static enum ctrace_status emit_kilobyte(uint32_t number)
{
	const struct ctrace_item item = CTRACE_BIN(bytes, 1000);

	return ctrace_emit(&common, CTRACE_INFO, number, &item, 1);
}

/* The consumer thread has put a larger ring in stock. */
static void await_stock(void)
{
	(void)alarm(60);
	while (ct_ring_pool_count(ct_process.pool) < 2)
		(void)sched_yield();
	(void)alarm(0);
}

/* Nobody consumes: the thread goes on in larger rings, and loses nothing before the last of them is
 * full. */
static void fill_rings(void)
{
	static const size_t capacities[] = { 32 << 10, 1 << 20 };
	const struct ct_thread_buffer *thread_buffer;
	uint32_t next = 0;

	CHILD_CHECK(emit_kilobyte(next++) == CTRACE_OK);
	thread_buffer = &ct_thread_self()->common;
	await_stock();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	hold_consumer_thread();
	for (size_t i = 0; i < CT_COUNT(capacities); i++) {
		const struct ct_ring *ring = thread_buffer->ring;
		enum ctrace_status status = CTRACE_OK;

		CHILD_CHECK(ring->capacity == capacities[i]);
		while (thread_buffer->ring == ring && (status = emit_kilobyte(next)) == CTRACE_OK)
			next++;
		CHILD_CHECK(status == (i == 1 ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK));
		CHILD_CHECK((ct_ring_owner(ring) == 0) == (i < 1));
		CHILD_CHECK(ct_ring_head_position(ring) > capacities[i] - 4096); /* it was full */
	}
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().rings == 2 && ct_process.session.head->late_rings == 0);
	check_stats(next + 1, 1);
	put_file("count", &next, sizeof next);
}

static void a_thread_that_fills_its_ring_goes_on_in_a_larger_one(void **state)
{
	uint32_t count = 0;
	FILE *file;

	(void)state;
	configure("ctrace.overflow = discard\n");
	assert_int_equal(run_traced(fill_rings), 0);
	file = fopen("count", "r");
	assert_non_null(file);
	assert_int_equal(fread(&count, sizeof count, 1, file), 1);
	(void)fclose(file);
	assert_lines(0, count);
}

/* Nothing waits for a clock that stands still more than once. */
static void grow_by_a_still_clock(void)
{
	struct ct_thread_buffer *thread_buffer;
	size_t capacity;
	unsigned growths = 0;

	CHILD_CHECK(emit_kilobyte(0) == CTRACE_OK);
	thread_buffer = &ct_thread_self()->common;
	await_stock();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	hold_consumer_thread();
	clock_stop();
	capacity = thread_buffer->ring->capacity;
	for (uint32_t i = 1; emit_kilobyte(i) == CTRACE_OK; i++) {
		growths += thread_buffer->ring->capacity != capacity;
		capacity = thread_buffer->ring->capacity;
	}
	CHILD_CHECK(growths >= 2 && still_readings < (1u << 18));
	clock_go();
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
}

static void a_clock_that_stands_still_is_waited_for_once(void **state)
{
	(void)state;
	configure("ctrace.clock = monotonic\nctrace.overflow = discard\nctrace.buffer = 8m\n");
	assert_int_equal(run_traced(grow_by_a_still_clock), 0);
}

/* The consumer keeps up.  A ring that comes round within a moment is too small for those who look
 * into it; one that takes its time is not. */
static void come_round(void)
{
	struct ct_thread_buffer *thread_buffer;
	uint32_t next = 0;

	CHILD_CHECK(emit_kilobyte(next++) == CTRACE_OK);
	thread_buffer = &ct_thread_self()->common;
	for (; next < 200; next++) {
		thread_buffer->lap_at_ns = 0;
		CHILD_CHECK(emit_kilobyte(next) == CTRACE_OK && ctrace_flush(60000) == CTRACE_OK);
	}
	CHILD_CHECK(thread_buffer->ring->capacity == 32 << 10);
	for (; next < 300; next++) {
		thread_buffer->lap_at_ns = ct_clock_mono_ns() + 3600000000000u;
		CHILD_CHECK(emit_kilobyte(next) == CTRACE_OK && ctrace_flush(60000) == CTRACE_OK);
	}
	CHILD_CHECK(thread_buffer->ring->capacity == 256 << 10);
	check_stats(300, 0);
}

static void a_ring_that_comes_round_soon_is_too_small(void **state)
{
	(void)state;
	configure("ctrace.buffer = 256k\n");
	assert_int_equal(run_traced(come_round), 0);
	assert_lines(0, 300);
}

/* The next thread takes the small ring, and finds the largest for an event that needs it. */
static void *fill_as_another(void *unused)
{
	const struct ctrace_item large[] = { CTRACE_BIN(bytes, 60000), CTRACE_BIN(bytes, 60000) };

	CHILD_CHECK(emit_kilobyte(0) == CTRACE_OK);
	CHILD_CHECK(ct_thread_self()->common.ring->capacity == 32 << 10);
	CHILD_CHECK(ctrace_emit(&common, CTRACE_INFO, 1, large, 2) == CTRACE_OK);
	CHILD_CHECK(ct_thread_self()->common.ring->capacity == 256 << 10);
	return unused;
}

static void begin_large(void)
{
	const struct ctrace_item large[] = { CTRACE_BIN(bytes, 60000), CTRACE_BIN(bytes, 60000) };
	pthread_t thread;

	CHILD_CHECK(ctrace_emit(&common, CTRACE_INFO, 2, large, 2) == CTRACE_OK);
	CHILD_CHECK(ct_thread_self()->common.ring->capacity == 256 << 10);
	CHILD_CHECK(pthread_create(&thread, NULL, fill_as_another, NULL) == 0 &&
		    pthread_join(thread, NULL) == 0);
	CHILD_CHECK(stats().rings <= 3);
	CHILD_CHECK(pthread_create(&thread, NULL, fill_as_another, NULL) == 0 &&
		    pthread_join(thread, NULL) == 0);
	/* both of the former thread's are used again, or the one in stock */
	CHILD_CHECK(stats().rings <= 4);
	check_stats(5, 0);
}

static void a_ring_is_as_large_as_the_event_needs_and_is_used_again(void **state)
{
	(void)state;
	configure("ctrace.buffer = 256k\n");
	assert_int_equal(run_traced(begin_large), 0);
}

/* No file can be larger: the thread goes on with what it has, by its policy, and grows when it can.
 */
static void grow_without_room(void)
{
	struct rlimit before, limit;
	struct ct_thread_buffer *thread_buffer;
	uint32_t next = 0;

	CHILD_CHECK(emit_kilobyte(next++) == CTRACE_OK);
	thread_buffer = &ct_thread_self()->common;
	/* Before the consumer thread makes one that is larger still. */
	CHILD_CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
	limit = before;
	limit.rlim_cur = CT_RING_HEAD_SIZE + CT_RING_DEFAULT;
	CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	await_stock();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	hold_consumer_thread();
	while (emit_kilobyte(next) == CTRACE_OK)
		next++;
	CHILD_CHECK(next > 1000 && next < 1100);
	CHILD_CHECK(thread_buffer->ring->capacity == CT_RING_DEFAULT);
	CHILD_CHECK(!thread_buffer->ring->may_grow);
	CHILD_CHECK(thread_buffer->grow_at_ns != 0 &&
		    emit_kilobyte(next) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
	thread_buffer->grow_at_ns = 1; /* it has waited for long enough */
	CHILD_CHECK(emit_kilobyte(next++) == CTRACE_OK && thread_buffer->ring->capacity == 8 << 20);
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	check_stats(next + 2, 2);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_DISCARDED] == 2);
}

static void without_room_for_a_larger_ring_the_policy_counts(void **state)
{
	(void)state;
	configure("ctrace.overflow = discard\nctrace.buffer = 8m\n");
	assert_int_equal(run_traced(grow_without_room), 0);
}

static void grow_in_handler(void)
{
	for (uint32_t i = 1; i < 100; i++)
		CHILD_CHECK(emit_kilobyte(i) == CTRACE_OK);
}

static void interrupt_and_grow(void)
{
	CHILD_CHECK(emit_kilobyte(0) == CTRACE_OK);
	await_stock();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	hold_consumer_thread();
	in_handler(grow_in_handler);
	CHILD_CHECK(ct_thread_self()->common.ring->capacity == 1 << 20 &&
		    ct_thread_self()->side[0].ring == NULL);
	/* Inside one of our locks no ring can be had. */
	ct_guard_enter();
	for (uint32_t i = 100; i < 1400; i++)
		(void)emit_kilobyte(i);
	CHILD_CHECK(ct_thread_self()->common.ring->capacity == 1 << 20);
	ct_guard_leave();
	release_consumer_thread();
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().emitted == 1400 && stats().lost[CTRACE_LOSS_DISCARDED] > 100);
}

static void a_handler_grows_as_the_program_does(void **state)
{
	(void)state;
	configure("ctrace.overflow = discard\nctrace.buffer = 8m\n");
	assert_int_equal(run_traced(interrupt_and_grow), 0);
}

static void trace_one(void)
{
	trace_own(1);
	CHILD_CHECK(ct_thread_self()->side[0].ring != NULL && ct_thread_is_in_call());
}

static void trace_three(void)
{
	trace_own(3);
	CHILD_CHECK(ct_thread_is_in_call());
}

/* As a signal handler finds it that interrupts the writing of an event. */
static void trace_in_the_middle(void)
{
	trace_own(0);
	ctrace_begin_call_(); /* inline, */
	in_handler(trace_one);
	ctrace_end_call_();
	ct_thread_buffer_enter(own_thread_buffer()); /* and out of line */
	in_handler(trace_three);
	ct_thread_buffer_leave(own_thread_buffer());
	trace_own(2);
	check_stats(4, 0);
}

static void inside_a_call_the_side_ring_is_used(void **state)
{
	(void)state;
	configure("ctrace.buffer.own = 64k\n");
	assert_int_equal(run_traced(trace_in_the_middle), 0);
	assert_lines(0, 4);
}

static void refuse(void)
{
	const struct ctrace_item huge = { .data = bytes,
					  .size = CTRACE_TOO_LONG_,
					  .type = CTRACE_TYPE_BINARY };

	trace_own(0);
	errno = 4711;
	CHILD_CHECK(ctrace_emit(&own, CTRACE_LEVEL_COUNT, 1, NULL, 0) ==
		    CTRACE_INVALID_TRACE_LEVEL);
	CHILD_CHECK(ctrace_emit(&own, CTRACE_INFO, 1, &huge, 1) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(ctrace_level_set("own", CTRACE_ERROR) == CTRACE_OK);
	CHILD_CHECK(ctrace_emit(&own, CTRACE_INFO, 1, NULL, 0) == CTRACE_NOT_TRACING_LEVEL);
	CHILD_CHECK(ctrace_level_set("own", CTRACE_LEVEL_NONE) == CTRACE_OK);
	CHILD_CHECK(ctrace_emit(&own, CTRACE_INFO, 1, NULL, 0) == CTRACE_NOT_TRACE_ENABLED);
	CHILD_CHECK(errno == 4711);
	check_stats(2, 1);
}

static void what_is_refused_gets_the_same_answers(void **state)
{
	(void)state;
	configure("ctrace.buffer.own = 64k\n");
	assert_int_equal(run_traced(refuse), 0);
	assert_lines(0, 1);
}

/* With a flight recorder, what is below the threshold must not get into the ring that is delivered.
 */
static void trace_below(void)
{
	CTRACE(&own, CTRACE_WARN, 0, CTRACE_U32(0));
	for (uint32_t i = 1; i < 10; i++)
		trace_own(i);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 1 && stats().pending == 9);
}

static void a_flight_recorder_is_left_alone(void **state)
{
	(void)state;
	configure(
		"ctrace.buffer.own = 64k\nmftrace.level.own = warn\nctrace.flight.level.own = debug\nctrace.flight.trigger = off\n");
	assert_int_equal(run_traced(trace_below), 0);
	assert_lines(0, 1);
}

/* A trace call that has compared its level goes on when the trace has been switched off since: the
 * event is delivered, and not left in a flight recorder that nobody has. */
static void trace_while_it_is_switched_off(void)
{
	struct ct_event_head head = { .event_id = 1, .level = CTRACE_INFO };
	struct ct_reservation reservation;
	uint32_t number;

	trace_own(0);
	head.component = own.component;
	number = ct_trace_class(&head, NULL, 0);
	CHILD_CHECK(ctrace_level_set("own", CTRACE_LEVEL_NONE) == CTRACE_OK);
	CHILD_CHECK(ct_trace_reserve(head.component, CTRACE_INFO, ct_event_size(number, NULL, 0),
				     &reservation) == CTRACE_OK);
	ct_event_encode(reservation.at, number, ct_clock_ticks(), &head, NULL, 0);
	CHILD_CHECK(ct_trace_commit(&reservation, head.component, CTRACE_INFO) == CTRACE_OK);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(stats().delivered == 2 && stats().pending == 0);
}

static void an_event_that_is_under_way_when_the_trace_goes_off_is_delivered(void **state)
{
	(void)state;
	configure("ctrace.buffer.own = 64k\n");
	assert_int_equal(run_traced(trace_while_it_is_switched_off), 0);
	assert_lines(0, 2);
}

/* The child's first event must not go into its parent's ring. */
static void trace_in_a_child(void)
{
	const struct ct_ring *parents;
	pid_t pid;
	int status;

	trace_own(0);
	trace_own(1);
	parents = own_thread_buffer()->ring;
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	check_stats(2, 0);
	pid = fork();
	CHILD_CHECK(pid >= 0);
	if (pid == 0) {
		uint64_t head = ct_ring_head_position(parents);

		trace_own(2);
		CHILD_CHECK(ct_ring_head_position(parents) == head ||
			    own_thread_buffer()->ring->head->head != head);
		check_stats(1, 0);
		exit(0);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	check_stats(2, 0);
}

static void a_forked_child_has_its_own(void **state)
{
	(void)state;
	configure("ctrace.buffer.own = 64k\nmftrace.emitter.textfile#file = trace.$(PID).log\n");
	assert_int_equal(run_traced(trace_in_a_child), 0);
	assert_lines(0, 3);
}

int test_thread_buffer(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_event_is_delivered_once, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(an_event_is_the_same_whoever_writes_it,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_full_ring_follows_its_policy, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_thread_that_fills_its_ring_goes_on_in_a_larger_one, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_clock_that_stands_still_is_waited_for_once,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_ring_that_comes_round_soon_is_too_small,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_ring_is_as_large_as_the_event_needs_and_is_used_again, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(without_room_for_a_larger_ring_the_policy_counts,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_handler_grows_as_the_program_does, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(inside_a_call_the_side_ring_is_used, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_refused_gets_the_same_answers,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_flight_recorder_is_left_alone, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			an_event_that_is_under_way_when_the_trace_goes_off_is_delivered,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_forked_child_has_its_own, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
