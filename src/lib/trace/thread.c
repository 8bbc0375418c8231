/*
 * thread.c - a thread's own state: its thread buffers.
 *
 * Runs on traced threads: at a thread's first event and at its end.  The state lives in pages that
 * a forked child sees zeroed, so that a child, however it was made, can never write into its
 * parent's rings.  No malloc: a signal handler may be the first to trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/trace/trace.h"

#include "lib/process/signal_stack.h"

#include <string.h>
#include <sys/mman.h>

#define CHUNK_SIZE ((size_t)256 << 10)
/* glibc allocates memory for a thread's first value of a later key */
#define KEYS_WITHOUT_MALLOC 32u

/* The second half is for a handler that interrupts a call of a thread without thread buffers. */
_Alignas(CT_THREAD_BUFFERS_ALIGN) struct ctrace_thread_buffer
	ct_no_thread_buffers[2 * CT_CHANNEL_LIMIT];
__thread struct ctrace_thread_buffer *ctrace_thread_buffers_self
	__attribute__((tls_model("initial-exec"))) = ct_no_thread_buffers;
__thread struct ct_thread *ct_thread_current __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the free list and the chunk */
static struct ct_thread *free_list;
static unsigned char *chunk_at;
static size_t chunk_left; /* states */
static pthread_key_t end_key;
static bool has_end_key;

static void thread_enter(void)
{
	ct_guard_lock(&lock);
}

static void thread_leave(void)
{
	ct_guard_unlock(&lock);
}

/* The address of a state tells the inline path the clock of the process. */
static bool add_chunk(void)
{
	uintptr_t wanted = ct_clock_source() == CT_CLOCK_COUNTER ? 0 : CTRACE_MONOTONIC_;
	size_t skipped;
	void *address;

	if (ct_os_map(-1, CHUNK_SIZE, false, &address) != CTRACE_OK)
		return false;
	(void)madvise(address, CHUNK_SIZE, MADV_WIPEONFORK);
	skipped = (wanted - (uintptr_t)address) % CT_THREAD_ALIGN;
	chunk_at = (unsigned char *)address + skipped;
	chunk_left = (CHUNK_SIZE - skipped) / CT_THREAD_STRIDE;
	return true;
}

static struct ct_thread *take_state(void)
{
	struct ct_thread *thread = NULL;

	thread_enter();
	if (free_list != NULL) {
		thread = free_list;
		free_list = thread->next_free;
	} else if (chunk_left > 0 || add_chunk()) {
		thread = (struct ct_thread *)(void *)chunk_at;
		chunk_at += CT_THREAD_STRIDE;
		chunk_left--;
	}
	thread_leave();
	return thread;
}

/* At the end of a thread; again when a later destructor of the thread has traced. */
static void end_thread(void *state)
{
	struct ct_thread *thread = state;

	if (thread != ct_thread_current || thread->tid == 0)
		return; /* a forked child must not give its parent's rings back */
	ctrace_thread_buffers_self = ct_no_thread_buffers;
	ct_thread_current = NULL;
	ct_signal_stack_remove();
	ct_thread_buffer_give_back(&thread->common);
	for (size_t i = 0; i < CT_SIDE_ALL; i++)
		ct_thread_buffer_give_back(&thread->side[i]);
	ct_thread_buffer_give_back(&thread->flight);
	ct_thread_buffer_give_back(&thread->imported);
	for (size_t i = 0; i < CT_COUNT(thread->channels); i++)
		ct_thread_buffer_give_back(&thread->channels[i]);
	thread->tid = 0;
	thread_enter();
	thread->next_free = free_list;
	free_list = thread;
	thread_leave();
}

/* Runs when the library is loaded, to get one of the first keys before the program makes many. */
__attribute__((constructor)) static void make_end_key(void)
{
	if (!has_end_key)
		has_end_key = pthread_key_create(&end_key, end_thread) == 0;
}

enum ctrace_status ct_thread_start_up(void)
{
	/* when linked statically, a constructor of the program may run before make_end_key() */
	make_end_key();
	return has_end_key ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
}

/* Must not allocate: a handler may have interrupted malloc.  If the thread gets no destructor, the
 * consumer thread gives its rings back after the thread has ended. */
static void ask_for_end(struct ct_thread *thread)
{
	uint32_t dump_on = __atomic_load_n(&ct_process.settings.dump_on, __ATOMIC_RELAXED) |
			   __atomic_load_n(&ct_process.trigger_dump_on, __ATOMIC_RELAXED);

	if ((end_key < KEYS_WITHOUT_MALLOC || !ct_thread_is_in_handler()) &&
	    pthread_setspecific(end_key, thread) == 0 && (dump_on & CT_DUMP_ON_SIGNAL) != 0)
		ct_signal_stack_set();
}

/* Where ctrace_begin_call_() is not one instruction, a handler in the middle of it may have made
 * the thread's state; the interrupted call then has stored the address from before. */
static inline void thread_repair_self(struct ct_thread *thread)
{
	uintptr_t self = (uintptr_t)ctrace_thread_buffers_self;
	uintptr_t calling = self & CTRACE_CALLING_;

	if (__builtin_expect(self - calling != (uintptr_t)thread->inlined, 0))
		ctrace_thread_buffers_self =
			(struct ctrace_thread_buffer *)((uintptr_t)thread->inlined | calling);
}

struct ct_thread *ct_thread_self(void)
{
	struct ct_thread *thread = ct_thread_current;

	if (thread != NULL && thread->tid != 0) {
		thread_repair_self(thread);
		return thread;
	}
	if (ct_thread_locked != 0)
		return NULL;
	thread = take_state();
	if (thread == NULL)
		return NULL;
	thread->tid = ct_os_thread_id();
	ct_thread_current = thread;
	ctrace_thread_buffers_self = thread->inlined;
	ask_for_end(thread);
	return thread;
}

/* The call may have been left between any two stores, so only the ring's head is right.  The next
 * event reads it. */
static void thread_buffer_end_call(struct ct_thread_buffer *thread_buffer)
{
	thread_buffer->busy = false;
	if (thread_buffer->thread_buffer == NULL)
		return;
	ct_ring_close_window(thread_buffer->thread_buffer);
	thread_buffer->thread_buffer->cur = NULL;
}

/* A program that switches stacks inside a handler and returns to the call later must not trace in
 * between. */
void ct_thread_end_calls(struct ct_thread *thread)
{
	thread_buffer_end_call(&thread->common);
	thread_buffer_end_call(&thread->flight);
	thread_buffer_end_call(&thread->imported);
	for (size_t i = 0; i < CT_SIDE_ALL; i++)
		thread_buffer_end_call(&thread->side[i]);
	for (size_t i = 0; i < CT_COUNT(thread->channels); i++)
		thread_buffer_end_call(&thread->channels[i]);
	CTRACE_FENCE_();
	ctrace_thread_buffers_self = thread->inlined;
}

bool ct_thread_is_in_call(void)
{
	const struct ct_thread *thread = ct_thread_current;

	return thread != NULL && thread->tid != 0 && ct_thread_is_calling();
}

/* Makes a ring in private memory that has no reader. */
static struct ct_ring *make_sink(void)
{
	static struct ct_ring sink;
	void *address;

	if (sink.head == NULL &&
	    ct_os_map(-1, CT_RING_HEAD_SIZE + 2 * CT_RING_DEFAULT, false, &address) == CTRACE_OK) {
		sink.head = address;
		sink.data = (unsigned char *)address + CT_RING_HEAD_SIZE;
		sink.capacity = CT_RING_DEFAULT;
		sink.head->capacity = CT_RING_DEFAULT;
		sink.head->overflow = CT_OVERFLOW_OVERWRITE;
	}
	return sink.head != NULL ? &sink : NULL;
}

/* All of the ring is the window: a call that has found its space, but not read where, finds it. */
static void window_redirect(struct ctrace_thread_buffer *thread_buffer, const struct ct_ring *ring)
{
	thread_buffer->cur = ring->data;
	thread_buffer->end = ring->data + ring->capacity;
	thread_buffer->bias = -(uint64_t)(uintptr_t)ring->data;
	thread_buffer->head = &ring->head->head;
}

static void thread_redirect(struct ct_thread_buffer *thread_buffer, struct ct_ring *ring)
{
	thread_buffer->ring = ring;
	thread_buffer->thread_buffer = &thread_buffer->own;
	window_redirect(&thread_buffer->own, ring);
}

/* A handler that forked inside a trace call may return into that call in the child.  What the call
 * still writes goes to a ring without a reader. */
static void thread_redirect_nowhere(struct ct_thread *thread)
{
	struct ct_ring *sink = make_sink();

	if (sink == NULL)
		return;
	thread_redirect(&thread->common, sink);
	for (size_t i = 0; i < CT_SIDE_ALL; i++)
		thread_redirect(&thread->side[i], sink);
	thread_redirect(&thread->flight, sink);
	thread_redirect(&thread->imported, sink);
	for (size_t i = 0; i < CT_COUNT(thread->channels); i++)
		thread_redirect(&thread->channels[i], sink);
	for (size_t i = 0; i < CT_COUNT(thread->inlined); i++)
		window_redirect(&thread->inlined[i], sink);
}

void ct_thread_reset_all(bool is_in_call)
{
	if (is_in_call && ct_thread_current != NULL)
		thread_redirect_nowhere(ct_thread_current);
	(void)pthread_mutex_init(&lock, NULL);
	free_list = NULL;
	chunk_at = NULL;
	chunk_left = 0;
	ct_thread_current = NULL;
	ctrace_thread_buffers_self = ct_no_thread_buffers;
	ct_guard_reset();
}

void ct_thread_leave(void)
{
	ctrace_thread_buffers_self = ct_no_thread_buffers;
	ct_thread_current = NULL;
}
