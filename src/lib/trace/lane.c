/*
 * lane.c - which of a thread's rings an event goes into.
 *
 * Runs on the thread that traces, in signal handlers too.  A thread has a lane for the common ring, one for each route of components with rings of their
 * own, one for signal handlers that interrupt a trace call, one for the flight recorder and one for entries that were captured.  The inline path of
 * ctrace.h uses those of routes, as far as an event asks for nothing but its ring.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/trace/trace.h"

#include <string.h>

#define ASK_EVENTS 32u              /* events in side rings, between two that ask whether the interrupted call still goes on */
#define ROUTE_FLIGHT CT_ROUTE_LIMIT /* the ring of the flight recorder: no component's route */
#define GROW_AGAIN_NS 1000000000u   /* no room for a larger ring: not asked for again before */
#define ROUND_NS 100000000u         /* a ring that comes round within this is too small: ctrace tail looks each 50 ms */
#define TICK_TRIES (1u << 20)       /* looks at the clock, which moves on */

_Static_assert(CT_ROUTE_LIMIT == CTRACE_LANES_, "the inline path goes by routes");

static enum ctrace_status lose(enum ctrace_loss reason, uint32_t component)
{
	ct_trace_count_lost(reason, component);
	return CTRACE_NOT_ENOUGH_MEMORY;
}

static bool is_side(const struct ct_thread *thread, const struct ct_lane *lane)
{
	return lane >= thread->side && lane < thread->side + CT_SIDE_LANES;
}

static struct ct_ring_kind kind_of(const struct ct_process *process, uint32_t route)
{
	struct ct_ring_kind kind = { .route = route,
				     .overflow = __atomic_load_n(&process->settings.overflow, __ATOMIC_RELAXED),
				     .capacity = __atomic_load_n(&process->settings.buffer, __ATOMIC_RELAXED) };

	if (route == ROUTE_FLIGHT) {
		kind.overflow = CT_OVERFLOW_OVERWRITE;
		kind.capacity = __atomic_load_n(&process->settings.flight_buffer, __ATOMIC_RELAXED);
		kind.is_flight = true;
	} else if (route != 0) {
		struct ct_route own = ct_route_at(process->registry, route);

		if (own.buffer != 0)
			kind.capacity = own.buffer;
		if (own.overflow != CT_OVERFLOW_AUTO)
			kind.overflow = own.overflow;
		kind.writer = own.writer;
	}
	return kind;
}

/* May the inline path write there?  Not where an event may be the recorder's, or pull its trigger. */
static bool is_plain(const struct ct_process *process, uint32_t route)
{
	return ct_clock_source() == CT_CLOCK_TSC &&
	       (route == 0 || (ct_route_at(process->registry, route).flight_level == CTRACE_LEVEL_NONE &&
			       __atomic_load_n(&process->settings.flight_trigger, __ATOMIC_RELAXED) >= CTRACE_LEVEL_COUNT));
}

/* A handler must not wait, so the first side ring is as large as the program's.  A handler
 * within a handler traces little: its ring is small. */
static struct ct_ring_kind side_kind(const struct ct_process *process, bool is_first)
{
	return (struct ct_ring_kind){ .overflow = CT_OVERFLOW_DISCARD,
				      .capacity =
					      is_first ? __atomic_load_n(&process->settings.buffer, __ATOMIC_RELAXED) : CT_RING_SIDE,
				      .is_side = true };
}

/* The capacity of the ring after one of `capacity` bytes, for an event of `size` bytes: 0 for the first. */
static size_t next_capacity(const struct ct_ring_kind *full, size_t capacity, size_t size)
{
	size_t next = capacity == 0 ? CT_RING_MIN : capacity * CT_RING_GROWTH;

	while (next < full->full && next / 2 < size)
		next *= 2;
	return next < full->full ? next : full->full;
}

/* Its next event goes behind what is in the ring. */
static void lane_set_ring(struct ct_lane *lane, struct ct_ring *ring)
{
	ct_ring_close_window(lane->lane);
	lane->lane->cur = NULL;
	lane->stalled = false;
	lane->ring = ring;
	lane->lap_end = ct_ring_head_position(ring) + ring->capacity;
	lane->lap_at_ns = ct_clock_mono_ns();
}

enum ctrace_status ct_lane_attach(struct ct_process *process, struct ct_thread *thread, struct ct_lane *lane, uint32_t component,
				  uint32_t route, size_t size)
{
	struct ct_ring_kind kind = side_kind(process, lane == thread->side);
	bool is_routes = lane == &thread->common || (lane >= thread->routes && lane < thread->routes + CT_ROUTE_LIMIT);
	bool is_inlined = is_routes && is_plain(process, route);
	struct ct_ring *ring;

	if (!is_side(thread, lane))
		kind = kind_of(process, lane == &thread->flight ? ROUTE_FLIGHT : route);
	kind.is_captured = lane == &thread->captured;
	kind.full = kind.capacity;
	if (is_routes || lane == &thread->flight)
		kind.capacity = next_capacity(&kind, 0, size);
	ring = ct_ring_pool_take(process->pool, &kind, thread->tid);
	if (ring == NULL)
		return lose(CTRACE_LOSS_NO_RING, component);
	lane->lane = is_inlined ? &thread->inlined[route] : &lane->own;
	lane_set_ring(lane, ring);
	lane->kind = kind;
	lane->grow_at_ns = 0;
	lane->is_flight = kind.is_flight;
	/* The agent closes its window to be woken. */
	if (is_inlined)
		__atomic_store_n(&ring->lane, lane->lane, __ATOMIC_RELEASE);
	/* An agent that had no ring sleeps until it is woken; the event comes right behind.  Otherwise the event wakes it if it sleeps: a thread
	 * that wakes it here may have to wait for it, where both are on one processor. */
	if (ring->index == 0)
		ct_process_wake_agent();
	return CTRACE_OK;
}

/* A record of the larger ring has a later time than any of the smaller: readers go by time. */
static void wait_for_tick(uint64_t ticks)
{
	for (unsigned tries = 0; tries < TICK_TRIES && ct_clock_ticks() == ticks; tries++)
		;
}

/* False: none can be had. */
static bool take_larger(struct ct_process *process, struct ct_lane *lane, size_t size)
{
	uint64_t ticks = ct_clock_ticks();
	struct ct_ring_kind kind = lane->kind;
	struct ct_ring *former = lane->ring, *larger;

	kind.capacity = next_capacity(&kind, former->capacity, size);
	if (kind.route != 0 && !kind.is_flight)
		kind.writer = ct_route_at(process->registry, kind.route).writer;
	/* As making a ring does. */
	ct_guard_enter();
	larger = ct_ring_pool_grow(process->pool, former, &kind);
	if (larger != NULL) {
		if (__atomic_load_n(&former->lane, __ATOMIC_RELAXED) == lane->lane)
			__atomic_store_n(&larger->lane, lane->lane, __ATOMIC_RELEASE);
		lane_set_ring(lane, larger);
	}
	ct_guard_leave();
	wait_for_tick(ticks);
	return larger != NULL;
}

/* Does the ring come round with this record, sooner than it should? */
static bool comes_round_soon(struct ct_lane *lane, size_t size)
{
	uint64_t head = ct_ring_head_position(lane->ring);
	uint64_t now;
	bool is_soon;

	if (head + size <= lane->lap_end)
		return false;
	now = ct_clock_mono_ns();
	is_soon = now < lane->lap_at_ns + ROUND_NS;
	lane->lap_end = head + lane->ring->capacity;
	lane->lap_at_ns = now;
	return is_soon;
}

void ct_lane_grow(struct ct_process *process, struct ct_lane *lane, size_t size)
{
	while (lane->ring->capacity < lane->kind.full && size <= lane->kind.full / 2 && ct_thread_locked == 0 &&
	       (!ct_ring_fits(lane->ring, lane->lane, size) || comes_round_soon(lane, size))) {
		if (lane->grow_at_ns != 0 && ct_clock_mono_ns() < lane->grow_at_ns)
			return;
		lane->grow_at_ns = 0;
		if (!take_larger(process, lane, size)) {
			lane->grow_at_ns = ct_clock_mono_ns() + GROW_AGAIN_NS;
			/* The consumer goes by the room that there is. */
			__atomic_store_n(&lane->ring->may_grow, false, __ATOMIC_RELAXED);
			return;
		}
	}
}

enum ctrace_status ct_lane_lead_captured(struct ct_process *process, struct ct_thread *thread, uint32_t component, uint32_t route,
					 size_t size)
{
	struct ct_lane *lane = &thread->captured;

	if (route != 0 && CTRACE_INFO < ct_route_output_level(process->registry, component))
		route = ROUTE_FLIGHT;
	if (lane->ring != NULL && lane->ring->head->route == route)
		return CTRACE_OK;
	if (ct_thread_locked != 0)
		return lose(CTRACE_LOSS_NESTED, component);
	ct_lane_give_back(lane);
	return ct_lane_attach(process, thread, lane, component, route, size);
}

struct ct_lane *ct_lane_find_side(struct ct_thread *thread)
{
	for (size_t i = 0; i < CT_SIDE_LANES; i++)
		if (!thread->side[i].busy)
			return &thread->side[i];
	return NULL;
}

/*
 * The thread is in the middle of a trace call.  Was that call left by siglongjmp()?  The answer
 * takes microseconds, which handlers in quick succession do not have.  So only each ASK_EVENTS-th
 * event asks, and each event that finds no side lane.  Until then the program's events go into a
 * side ring.
 */
static bool was_left(struct ct_thread *thread)
{
	bool asks = ++thread->side_events % ASK_EVENTS == 0 || ct_lane_find_side(thread) == NULL;

	return asks && !ct_thread_is_in_handler();
}

struct ct_lane *ct_lane_choose(struct ct_process *process, struct ct_thread *thread, uint32_t component, uint32_t level, uint32_t route)
{
	if (ct_thread_is_calling()) {
		if (!was_left(thread))
			return ct_lane_find_side(thread);
		ct_thread_end_calls(thread);
	}
	if (route == 0)
		return &thread->common;
	return level < ct_route_output_level(process->registry, component) ? &thread->flight : &thread->routes[route % CT_ROUTE_LIMIT];
}

void ct_lane_enter(struct ct_lane *lane)
{
	lane->busy = true;
	lane->is_nested = ct_thread_is_calling();
	ctrace_begin_call_();
	CTRACE_FENCE_();
}

void ct_lane_leave(struct ct_lane *lane)
{
	bool is_nested = lane->is_nested;

	CTRACE_FENCE_();
	lane->busy = false;
	CTRACE_FENCE_();
	if (!is_nested)
		ctrace_end_call_();
}

void ct_lane_give_back(struct ct_lane *lane)
{
	struct ct_ring *ring = lane->ring;

	if (lane->lane != NULL)
		memset(lane->lane, 0, sizeof *lane->lane);
	if (ring != NULL)
		ct_ring_pool_give_back(ct_process.pool, ring);
	memset(lane, 0, sizeof *lane);
}
