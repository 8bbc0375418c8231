/*
 * thread_buffer.c - which of a thread's rings an event goes into.
 *
 * Runs on the thread that traces, in signal handlers too. A thread has a thread buffer for the
 * common ring, one for each channel of components with rings of their own, side buffers for signal
 * handlers that interrupt a trace call, one for the flight recorder and one for imported entries.
 * The inline path of ctrace.h uses the buffers of channels, for events that need nothing but a
 * ring.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/trace/trace.h"

#include <errno.h>
#include <string.h>

/* every so many events in side rings, one checks whether the interrupted call still runs */
#define ASK_EVENTS 32u
/* the flight recorder's ring, which is no component's channel */
#define CHANNEL_FLIGHT CT_CHANNEL_LIMIT
/* pause before the next try after there was no room for a larger ring */
#define GROW_AGAIN_NS 1000000000u
#define TICK_TRIES (1u << 17) /* reads of the clock before it must have moved: 10 ms or more */

_Static_assert(CT_CHANNEL_LIMIT == CTRACE_THREAD_BUFFERS_, "the inline path goes by channels");

static enum ctrace_status attach_count_lost(enum ctrace_loss reason, uint32_t component)
{
	ct_trace_count_lost(reason, component);
	return CTRACE_NOT_ENOUGH_MEMORY;
}

static bool thread_buffer_is_side(const struct ct_thread *thread,
				  const struct ct_thread_buffer *thread_buffer)
{
	return thread_buffer >= thread->side && thread_buffer < thread->side + CT_SIDE_ALL;
}

static struct ct_ring_kind kind_of(const struct ct_process *process, uint32_t channel)
{
	struct ct_ring_kind kind = {
		.channel = channel,
		.overflow = __atomic_load_n(&process->settings.overflow, __ATOMIC_RELAXED),
		.capacity = __atomic_load_n(&process->settings.buffer, __ATOMIC_RELAXED)
	};

	if (channel == CHANNEL_FLIGHT) {
		kind.overflow = CT_OVERFLOW_OVERWRITE;
		kind.capacity = __atomic_load_n(&process->settings.flight_buffer, __ATOMIC_RELAXED);
		kind.kept = CT_KEPT_FLIGHT;
	} else if (channel != 0) {
		struct ct_channel own = ct_channel_at(process->registry, channel);

		if (own.buffer != 0)
			kind.capacity = own.buffer;
		if (own.overflow != CT_OVERFLOW_AUTO)
			kind.overflow = own.overflow;
		kind.writer = own.writer;
		if (own.is_storage) {
			kind.overflow = CT_OVERFLOW_OVERWRITE;
			kind.kept = CT_KEPT_STORAGE;
		}
	}
	return kind;
}

/* May the inline path write there?  Not if an event may go to the flight recorder, or pull its
 * trigger. */
static bool channel_is_plain(const struct ct_process *process, uint32_t channel)
{
	return (CTRACE_HAS_MONOTONIC_ || ct_clock_source() == CT_CLOCK_COUNTER) &&
	       (channel == 0 ||
		(ct_channel_at(process->registry, channel).flight_level == CTRACE_LEVEL_NONE &&
		 __atomic_load_n(&process->settings.flight_trigger, __ATOMIC_RELAXED) >=
			 CTRACE_LEVEL_COUNT));
}

/* A handler must not wait, so the first side ring is as large as the program's. A nested handler
 * traces little, so its ring is small. */
static struct ct_ring_kind side_kind(const struct ct_process *process, size_t number)
{
	bool is_first = number == 0;

	if (number >= CT_SIDE_THREAD_BUFFERS)
		return (struct ct_ring_kind){ .overflow = CT_OVERFLOW_OVERWRITE,
					      .capacity = CT_RING_SIDE,
					      .is_side = true,
					      .kept = CT_KEPT_STORAGE };
	return (struct ct_ring_kind){
		.overflow = CT_OVERFLOW_DISCARD,
		.capacity = is_first ? __atomic_load_n(&process->settings.buffer, __ATOMIC_RELAXED)
				     : CT_RING_SIDE,
		.is_side = true
	};
}

/* The next event goes behind the ring's content. */
static void thread_buffer_set_ring(struct ct_thread_buffer *thread_buffer, struct ct_ring *ring)
{
	ct_ring_close_window(thread_buffer->thread_buffer);
	thread_buffer->thread_buffer->cur = NULL;
	thread_buffer->ring = ring;
	thread_buffer->lap_end = ct_ring_head_position(ring) + ring->capacity;
	thread_buffer->lap_at_ns = ct_clock_mono_ns();
}

enum ctrace_status ct_thread_buffer_attach(struct ct_process *process, struct ct_thread *thread,
					   struct ct_thread_buffer *thread_buffer,
					   uint32_t component, uint32_t channel, size_t size)
{
	struct ct_ring_kind kind;
	bool is_channels = thread_buffer == &thread->common ||
			   (thread_buffer >= thread->channels &&
			    thread_buffer < thread->channels + CT_CHANNEL_LIMIT);
	bool is_inlined = is_channels && channel_is_plain(process, channel);
	struct ct_ring *ring;

	if (thread_buffer_is_side(thread, thread_buffer))
		kind = side_kind(process, (size_t)(thread_buffer - thread->side));
	else
		kind = kind_of(process,
			       thread_buffer == &thread->flight ? CHANNEL_FLIGHT : channel);
	kind.is_imported = thread_buffer == &thread->imported;
	kind.full = kind.capacity;
	if (is_channels || thread_buffer == &thread->flight)
		kind.capacity = ct_ring_next_capacity(0, kind.full, size);
	ring = ct_ring_pool_take(process->pool, &kind, thread->tid);
	if (ring == NULL)
		return attach_count_lost(errno == EBUSY ? CTRACE_LOSS_NESTED : CTRACE_LOSS_NO_RING,
					 component);
	thread_buffer->thread_buffer = is_inlined ? &thread->inlined[channel] : &thread_buffer->own;
	thread_buffer_set_ring(thread_buffer, ring);
	thread_buffer->kind = kind;
	thread_buffer->grow_at_ns = 0;
	thread_buffer->is_kept = kind.kept != CT_KEPT_NOT;
	/* The consumer thread closes its window to be woken. */
	if (is_inlined)
		__atomic_store_n(&ring->thread_buffer, thread_buffer->thread_buffer,
				 __ATOMIC_RELEASE);
	/* Without any ring the consumer thread sleeps until it is woken; the event follows at once.
	 * With a ring, the event itself wakes the consumer thread.  Waking it here could make this
	 * thread wait for it if both share a processor. */
	if (ring->index == 0)
		ct_process_wake_consumer_thread();
	return CTRACE_OK;
}

/* Every record of the larger ring must have a later time than those of the smaller: readers sort by
 * time.  A clock that stands still is waited for once. */
static void wait_for_tick(uint64_t ticks)
{
	static bool stands_still;
	unsigned tries = __atomic_load_n(&stands_still, __ATOMIC_RELAXED) ? TICK_TRIES - 1 : 0;
	bool has_moved = false;

	while (!has_moved && tries++ < TICK_TRIES)
		has_moved = ct_clock_ticks() != ticks;
	if (!has_moved)
		__atomic_store_n(&stands_still, true, __ATOMIC_RELAXED);
}

/* The thread's former ring is left only when the larger one is in place: a signal handler may leave
 * by siglongjmp() at any point of this. */
static void move_to(struct ct_thread_buffer *thread_buffer, struct ct_ring *larger)
{
	struct ct_ring *former = thread_buffer->ring;

	if (__atomic_load_n(&former->thread_buffer, __ATOMIC_RELAXED) ==
	    thread_buffer->thread_buffer)
		__atomic_store_n(&larger->thread_buffer, thread_buffer->thread_buffer,
				 __ATOMIC_RELEASE);
	thread_buffer_set_ring(thread_buffer, larger);
	CTRACE_FENCE_();
	ct_ring_pool_leave(former);
}

/* Returns false when no larger ring is ready and none can be made. */
static bool take_larger(struct ct_process *process, struct ct_thread_buffer *thread_buffer,
			size_t size)
{
	uint64_t ticks = ct_clock_ticks();
	struct ct_ring_kind kind = thread_buffer->kind;
	struct ct_ring *former = thread_buffer->ring, *larger;

	larger = ct_ring_pool_take_ready(process->pool, former, &kind, size);
	if (larger != NULL) {
		move_to(thread_buffer, larger);
		wait_for_tick(ticks);
		return true;
	}
	kind.capacity = ct_ring_next_capacity(former->capacity, kind.full, size);
	if (kind.channel != 0 && kind.kept == CT_KEPT_NOT)
		kind.writer = ct_channel_at(process->registry, kind.channel).writer;
	/* Signals stay blocked, as while a ring is made. */
	ct_guard_enter();
	larger = ct_ring_pool_grow(process->pool, former, &kind);
	if (larger != NULL)
		move_to(thread_buffer, larger);
	ct_guard_leave();
	wait_for_tick(ticks);
	return larger != NULL;
}

/* Does the ring come round too soon with this record? */
static bool comes_round_soon(struct ct_thread_buffer *thread_buffer, size_t size)
{
	uint64_t head = ct_ring_head_position(thread_buffer->ring);
	uint64_t now;
	bool is_soon;

	if (head + size <= thread_buffer->lap_end)
		return false;
	now = ct_clock_mono_ns();
	is_soon = now < thread_buffer->lap_at_ns + CT_RING_ROUND_NS;
	thread_buffer->lap_end = head + thread_buffer->ring->capacity;
	thread_buffer->lap_at_ns = now;
	return is_soon;
}

void ct_thread_buffer_grow(struct ct_process *process, struct ct_thread_buffer *thread_buffer,
			   size_t size)
{
	while (thread_buffer->ring->capacity < thread_buffer->kind.full &&
	       size <= thread_buffer->kind.full / 2 && ct_thread_locked == 0 &&
	       (!ct_ring_fits(thread_buffer->ring, thread_buffer->thread_buffer, size) ||
		comes_round_soon(thread_buffer, size))) {
		if (thread_buffer->grow_at_ns != 0 &&
		    ct_clock_mono_ns() < thread_buffer->grow_at_ns)
			return;
		thread_buffer->grow_at_ns = 0;
		if (!take_larger(process, thread_buffer, size)) {
			thread_buffer->grow_at_ns = ct_clock_mono_ns() + GROW_AGAIN_NS;
			/* From now on the consumer treats the ring as unable to grow. */
			__atomic_store_n(&thread_buffer->ring->may_grow, false, __ATOMIC_RELAXED);
			return;
		}
	}
}

/* Is the event for the flight recorder only?  A command may raise the level of the component after
 * the trace call has compared its own.  So a lower level is not enough: in a channel without a
 * flight recorder nobody would deliver the event.  Channel 0 has none. */
static bool event_is_for_flight(const struct ct_process *process, uint32_t component,
				uint32_t channel, uint32_t level)
{
	return ct_channel_at(process->registry, channel).flight_level != CTRACE_LEVEL_NONE &&
	       level < ct_channel_output_level(process->registry, component);
}

enum ctrace_status ct_thread_buffer_lead_imported(struct ct_process *process,
						  struct ct_thread *thread, uint32_t component,
						  uint32_t channel, size_t size)
{
	struct ct_thread_buffer *thread_buffer = &thread->imported;

	if (event_is_for_flight(process, component, channel, CTRACE_INFO))
		channel = CHANNEL_FLIGHT;
	if (thread_buffer->ring != NULL && thread_buffer->ring->head->channel == channel)
		return CTRACE_OK;
	if (ct_thread_locked != 0)
		return attach_count_lost(CTRACE_LOSS_NESTED, component);
	ct_thread_buffer_give_back(thread_buffer);
	return ct_thread_buffer_attach(process, thread, thread_buffer, component, channel, size);
}

struct ct_thread_buffer *ct_thread_buffer_find_side(struct ct_thread *thread, bool is_storage)
{
	size_t end = is_storage ? CT_SIDE_ALL : CT_SIDE_THREAD_BUFFERS;

	for (size_t i = is_storage ? CT_SIDE_THREAD_BUFFERS : 0; i < end; i++)
		if (!thread->side[i].busy)
			return &thread->side[i];
	return NULL;
}

/*
 * The thread is inside a trace call.  Was that call left by siglongjmp()?  The check takes
 * microseconds, too long for handlers in quick succession.  So only every ASK_EVENTS-th event
 * checks, and each event that finds no side thread buffer.  Until then the program's events go
 * into a side ring.
 */
static bool call_was_left(struct ct_thread *thread)
{
	bool asks = ++thread->side_events % ASK_EVENTS == 0 ||
		    ct_thread_buffer_find_side(thread, false) == NULL;

	return asks && !ct_thread_is_in_handler();
}

struct ct_thread_buffer *ct_thread_buffer_choose(struct ct_process *process,
						 struct ct_thread *thread, uint32_t component,
						 uint32_t level, uint32_t channel)
{
	if (ct_thread_is_calling()) {
		if (!call_was_left(thread))
			return ct_thread_buffer_find_side(
				thread, ct_channel_at(process->registry, channel).is_storage);
		ct_thread_end_calls(thread);
	}
	if (channel == 0)
		return &thread->common;
	return event_is_for_flight(process, component, channel, level)
		       ? &thread->flight
		       : &thread->channels[channel % CT_CHANNEL_LIMIT];
}

void ct_thread_buffer_enter(struct ct_thread_buffer *thread_buffer)
{
	thread_buffer->busy = true;
	thread_buffer->is_nested = ct_thread_is_calling();
	ctrace_begin_call_();
	CTRACE_FENCE_();
}

void ct_thread_buffer_leave(struct ct_thread_buffer *thread_buffer)
{
	bool is_nested = thread_buffer->is_nested;

	CTRACE_FENCE_();
	thread_buffer->busy = false;
	CTRACE_FENCE_();
	if (!is_nested)
		ctrace_end_call_();
}

void ct_thread_buffer_give_back(struct ct_thread_buffer *thread_buffer)
{
	struct ct_ring *ring = thread_buffer->ring;

	if (thread_buffer->thread_buffer != NULL)
		memset(thread_buffer->thread_buffer, 0, sizeof *thread_buffer->thread_buffer);
	if (ring != NULL)
		ct_ring_pool_give_back(ct_process.pool, ring);
	memset(thread_buffer, 0, sizeof *thread_buffer);
}
