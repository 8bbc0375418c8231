/*
 * test_thread.c - a thread's buffers: made at its first event, given back at its end, wiped in a
 * forked child.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include <sys/syscall.h>

static uint32_t next_number; /* atomic */

static void *emit_three(void *argument)
{
	(void)argument;
	for (int i = 0; i < 3; i++)
		CTRACE(&tracer, CTRACE_INFO, __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED));
	return NULL;
}

static void start_and_join(void *(*body)(void *))
{
	pthread_t thread;

	CHILD_CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
}

static void short_threads(void)
{
	for (int i = 0; i < 2000; i++)
		start_and_join(emit_three);
	CHILD_CHECK(stats().rings == 1);
}

static void short_threads_one_after_another_use_one_ring(void **state)
{
	(void)state;
	assert_int_equal(run_traced(short_threads), 0);
	assert_lines(0, 6000);
}

/* After a call that a handler has interrupted and forked there is none in the child. */
static void a_class_is_noted_where_there_is_a_thread(void **state)
{
	static struct ct_thread thread;

	(void)state;
	ct_thread_note_class(NULL, 1, 2, 3, CT_CLASS_FIRST);
	ct_thread_note_class(&thread, 1, 2, 3, CT_CLASS_FIRST - 1);
	assert_int_equal(*ct_thread_class_slot(&thread, 1, 2, 3), 0);
	ct_thread_note_class(&thread, 1, 2, 3, CT_CLASS_FIRST);
	assert_int_equal(*ct_thread_class_slot(&thread, 1, 2, 3), CT_CLASS_FIRST);
}

static pthread_barrier_t barrier;

static void *emit_together(void *argument)
{
	(void)emit_three(NULL);
	(void)pthread_barrier_wait(&barrier);
	CHILD_CHECK(ct_ring_owner(ct_thread_self()->common.ring) == ct_os_thread_id());
	CHILD_CHECK(ct_thread_self()->tid == ct_os_thread_id());
	(void)pthread_barrier_wait(&barrier);
	(void)argument;
	return NULL;
}

static void threads_at_once(void)
{
	pthread_t threads[20];

	CHILD_CHECK(pthread_barrier_init(&barrier, NULL, 20) == 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 20; i++)
			CHILD_CHECK(pthread_create(&threads[i], NULL, emit_together, NULL) == 0);
		for (int i = 0; i < 20; i++)
			CHILD_CHECK(pthread_join(threads[i], NULL) == 0);
	}
	CHILD_CHECK(stats().rings == 20);
}

static void threads_at_once_have_a_ring_each(void **state)
{
	(void)state;
	configure("ctrace.buffer = 64k\n");
	assert_int_equal(run_traced(threads_at_once), 0);
	assert_lines(0, 180);
}

static void look_at_self(void)
{
	struct ct_thread *self;

	(void)emit(0);
	self = ct_thread_self();
	CHILD_CHECK(self != NULL && ct_thread_self() == self);
	CHILD_CHECK(self->tid == ct_os_thread_id());
	CHILD_CHECK(ctrace_thread_buffers_self == self->inlined);
	/* As a handler leaves it that made the state inside ctrace_begin_call_(). */
	ctrace_thread_buffers_self =
		(struct ctrace_thread_buffer *)((uintptr_t)ct_no_thread_buffers | CTRACE_CALLING_);
	CHILD_CHECK(ct_thread_self() == self && ct_thread_is_calling());
	ctrace_end_call_();
	CHILD_CHECK(ctrace_thread_buffers_self == self->inlined);
	CHILD_CHECK(ct_clock_source() != CT_CLOCK_COUNTER ||
		    self->common.thread_buffer == &self->inlined[0]);
	CHILD_CHECK(self->common.ring != NULL && self->side[0].ring == NULL &&
		    self->flight.ring == NULL);
	for (size_t i = 0; i < CT_COUNT(self->inlined); i++)
		CHILD_CHECK(ct_thread_buffer_thread(&self->inlined[i]) == self);
	ct_thread_locked = 1;
	CHILD_CHECK(ct_thread_self() == self);
	ct_thread_locked = 0;
}

static void a_thread_keeps_its_state(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_at_self), 0);
}

/* Each attempt to attach may start up anew; a key is a rare thing in a process. */
static void start_up_again(void)
{
	pthread_key_t before, after;

	CHILD_CHECK(pthread_key_create(&before, NULL) == 0);
	for (int i = 0; i < 3; i++)
		CHILD_CHECK(ct_thread_start_up() == CTRACE_OK);
	CHILD_CHECK(pthread_key_create(&after, NULL) == 0 && after == before + 1);
	for (int i = 0; i < 3; i++)
		start_and_join(emit_three);
	CHILD_CHECK(stats().rings == 1); /* each thread that ended has given it back */
}

static void starting_up_takes_one_key(void **state)
{
	(void)state;
	assert_int_equal(run_traced(start_up_again), 0);
}

static void *be_refused(void *argument)
{
	ct_thread_locked = 1;
	*(struct ct_thread **)argument = ct_thread_self();
	ct_thread_locked = 0;
	return NULL;
}

static void first_event_inside_a_lock(void)
{
	struct ct_thread *got = (struct ct_thread *)&got;
	pthread_t thread;

	(void)emit(0);
	CHILD_CHECK(pthread_create(&thread, NULL, be_refused, &got) == 0);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
	CHILD_CHECK(got == NULL);
}

static void inside_our_own_locks_a_new_thread_gets_none(void **state)
{
	(void)state;
	assert_int_equal(run_traced(first_event_inside_a_lock), 0);
}

static void without_memory(void)
{
	pthread_t thread;

	(void)emit(next_number++);
	/* States come by the chunk: use up the rest of the first one. */
	for (size_t i = 0; i < ((size_t)256 << 10) / sizeof(struct ct_thread) + 1; i++) {
		ct_os_fail(CT_OS_MAP, 0, 1, ENOMEM); /* the next state's chunk, or the next ring */
		CHILD_CHECK(pthread_create(&thread, NULL, emit_three, NULL) == 0);
		CHILD_CHECK(pthread_join(thread, NULL) == 0);
		ct_os_fail(CT_OS_MAP, 0, 0, 0);
	}
	CHILD_CHECK(stats().emitted ==
		    1 + 3 * (((size_t)256 << 10) / sizeof(struct ct_thread) + 1));
}

static void short_memory_is_counted(void **state)
{
	(void)state;
	assert_int_equal(run_traced(without_memory), 0);
}

/* ---- destructors of thread-specific data, which may run after ours ---- */

static pthread_key_t keys[8];

static void emit_in_destructor(void *value)
{
	(void)emit((uint32_t)(uintptr_t)value);
}

static void *set_keys(void *argument)
{
	(void)argument;
	for (uintptr_t i = 0; i < 8; i++)
		CHILD_CHECK(pthread_setspecific(keys[i], (void *)(i + 1)) == 0);
	(void)emit(0);
	return NULL;
}

static void trace_in_destructors(void)
{
	for (int i = 0; i < 4; i++)
		CHILD_CHECK(pthread_key_create(&keys[i], emit_in_destructor) == 0);
	(void)ct_process_attach(); /* ours is in the middle */
	for (int i = 4; i < 8; i++)
		CHILD_CHECK(pthread_key_create(&keys[i], emit_in_destructor) == 0);
	start_and_join(set_keys);
	CHILD_CHECK(stats().emitted == 9);
	CHILD_CHECK(stats().rings == 1);
}

static void events_of_other_destructors_are_recorded(void **state)
{
	(void)state;
	assert_int_equal(run_traced(trace_in_destructors), 0);
	assert_lines(0, 9);
}

/* ---- fork ---- */

static void fork_and_look(void)
{
	struct ct_thread *parents;
	int status;
	pid_t pid;

	(void)emit(0);
	parents = ct_thread_self();
	CHILD_CHECK(parents->common.thread_buffer->cur != NULL);
	/* no handlers */
#if defined(SYS_fork)
	pid = (pid_t)syscall(SYS_fork);
#else
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
	if (pid == 0) {
		/* However a child was made, it cannot write where its parent writes. */
		_exit(parents->tid == 0 && parents->common.thread_buffer == NULL &&
				      parents->inlined[0].end == NULL &&
				      parents->common.ring == NULL
			      ? 0
			      : 1);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHILD_CHECK(parents->tid == ct_os_thread_id());
	pid = fork(); /* calls ct_thread_reset_all() */
	if (pid == 0)
		_exit(ctrace_thread_buffers_self == ct_no_thread_buffers && ct_thread_locked == 0
			      ? 0
			      : 1);
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	(void)emit(1);
}

static void a_forked_child_sees_its_parents_thread_buffers_wiped(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_and_look), 0);
	assert_lines(0, 2);
}

static void look_whether_in_call(void)
{
	struct ct_thread *thread;

	CHILD_CHECK(!ct_thread_is_in_call());
	(void)emit(0);
	CHILD_CHECK(!ct_thread_is_in_call());
	thread = ct_thread_self();
	ctrace_begin_call_();
	CHILD_CHECK(ct_thread_is_in_call());
	ctrace_end_call_();
	CHILD_CHECK(!ct_thread_is_in_call());
	ct_thread_buffer_enter(&thread->channels[5]);
	CHILD_CHECK(ct_thread_is_in_call());
	ct_thread_buffer_enter(&thread->side[0]); /* a handler */
	ct_thread_buffer_leave(&thread->side[0]);
	CHILD_CHECK(ct_thread_is_in_call());
	ct_thread_buffer_leave(&thread->channels[5]);
	CHILD_CHECK(!ct_thread_is_in_call());
}

static void a_thread_knows_whether_it_is_inside_a_call(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_whether_in_call), 0);
}

static void fork_in_the_middle_of_a_call(void)
{
	struct ctrace_thread_buffer *thread_buffer;
	unsigned char *cur;
	uint64_t head;
	int status;
	pid_t pid;

	(void)emit(0);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	/* a call has begun: a handler interrupts it, and forks */
	cur = ctrace_reserve_(tracer.level_word, &thread_buffer, 32);
	CHILD_CHECK(cur != NULL);
	head = *thread_buffer->head;
	pid = fork();
	if (pid == 0) {
		/* The handler returns in the child: the call puts its event and commits it. */
		memset(cur, 0xFF, 32);
		ctrace_commit_(thread_buffer, cur + 32);
		CTRACE(&tracer, CTRACE_INFO, 2);
		CHILD_CHECK(stats().emitted == 1);
		exit(0);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHILD_CHECK(*thread_buffer->head == head && cur[0] == 0); /* nothing of it came here */
	ctrace_end_call_();
	(void)emit(1);
}

static void a_call_that_ends_in_a_forked_child_goes_nowhere(void **state)
{
	(void)state;
	if (!CTRACE_HAS_INLINE_)
		skip(); /* the call is in the library, where no handler of a test comes */
	assert_int_equal(run_traced(fork_in_the_middle_of_a_call), 0);
	assert_lines(0, 3);
}

static void fork_in_the_middle_of_a_capture(void)
{
	struct ct_event_head head = { .event_id = 99, .level = CTRACE_INFO };
	size_t size = ct_event_size(CT_CLASS_ANY, NULL, 0);
	struct ct_reservation reservation;
	uint64_t ticks = 1;
	int status;
	pid_t pid;

	(void)emit(0);
	head.component = tracer.component;
	CHILD_CHECK(ct_trace_reserve_imported(head.component, size, &ticks, &reservation) ==
		    CTRACE_OK);
	pid = fork(); /* in a handler */
	if (pid == 0) {
		ct_event_encode(reservation.at, CT_CLASS_ANY, ticks, &head, NULL, 0);
		(void)ct_trace_commit(&reservation, head.component, CTRACE_INFO);
		(void)emit(2);
		CHILD_CHECK(stats().emitted == 1);
		exit(0);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	head.event_id = 1;
	ct_event_encode(reservation.at, CT_CLASS_ANY, ticks, &head, NULL, 0);
	CHILD_CHECK(ct_trace_commit(&reservation, head.component, CTRACE_INFO) == CTRACE_OK);
	CHILD_CHECK(stats().emitted == 2);
}

static void a_capture_that_ends_in_a_forked_child_goes_nowhere(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_in_the_middle_of_a_capture), 0);
	assert_lines(0, 3);
}

static void leave_and_trace(void)
{
	(void)emit(0);
	ct_thread_leave();
	CHILD_CHECK(ctrace_thread_buffers_self == ct_no_thread_buffers);
	(void)emit(1); /* with a new state */
	CHILD_CHECK(stats().rings == 2);
}

static void a_thread_that_left_begins_anew(void **state)
{
	(void)state;
	assert_int_equal(run_traced(leave_and_trace), 0);
	assert_lines(0, 2);
}

int test_thread(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_is_noted_where_there_is_a_thread),
		cmocka_unit_test_setup_teardown(short_threads_one_after_another_use_one_ring,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(threads_at_once_have_a_ring_each, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_thread_keeps_its_state, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(starting_up_takes_one_key, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(inside_our_own_locks_a_new_thread_gets_none,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(short_memory_is_counted, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(events_of_other_destructors_are_recorded,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_forked_child_sees_its_parents_thread_buffers_wiped, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_thread_that_left_begins_anew, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_thread_knows_whether_it_is_inside_a_call,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_call_that_ends_in_a_forked_child_goes_nowhere,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_capture_that_ends_in_a_forked_child_goes_nowhere,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
