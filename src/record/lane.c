/*
 * lane.c - which of a thread's rings an event goes into.
 *
 * Runs on the thread that traces, in signal handlers too.  A thread has a lane for the common ring, one for each route of components with rings of their
 * own, one for signal handlers that interrupt a trace call, one for the flight recorder and one for entries that were captured.  The inline path of
 * ctrace.h uses those of routes, as far as an event asks for nothing but its ring.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "record/record.h"

#include <string.h>

#define ASK_EVENTS 32u              /* events in side rings, between two that ask whether the interrupted call still goes on */
#define ROUTE_FLIGHT CT_ROUTE_LIMIT /* the ring of the flight recorder: no component's route */

_Static_assert(CT_ROUTE_LIMIT == CTRACE_ROUTES_, "the inline path goes by routes");

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

enum ctrace_status ct_lane_attach(struct ct_process *process, struct ct_thread *thread, struct ct_lane *lane, uint32_t component,
				  uint32_t route)
{
	struct ct_ring_kind kind = side_kind(process, lane == thread->side);
	bool is_routes = lane == &thread->common || (lane >= thread->routes && lane < thread->routes + CT_ROUTE_LIMIT);
	struct ct_ring *ring;

	if (!is_side(thread, lane))
		kind = kind_of(process, lane == &thread->flight ? ROUTE_FLIGHT : route);
	kind.is_captured = lane == &thread->captured;
	ring = ct_ring_pool_take(process->pool, &kind, thread->tid);
	if (ring == NULL)
		return lose(CTRACE_LOSS_NO_RING, component);
	lane->lane.cur = NULL;
	lane->lane.all = thread->inlined;
	lane->stalled = false;
	lane->is_flight = kind.is_flight;
	lane->ring = ring;
	if (is_routes && is_plain(process, route)) {
		/* The agent closes its window to be woken. */
		__atomic_store_n(&ring->lane, &lane->lane, __ATOMIC_RELEASE);
		thread->inlined[route] = &lane->lane;
	}
	/* An agent that had no ring sleeps until it is woken; the event comes right behind. */
	ct_process_wake_agent();
	return CTRACE_OK;
}

enum ctrace_status ct_lane_lead_captured(struct ct_process *process, struct ct_thread *thread, uint32_t component, uint32_t route)
{
	struct ct_lane *lane = &thread->captured;

	if (route != 0 && CTRACE_INFO < ct_route_output_level(process->registry, component))
		route = ROUTE_FLIGHT;
	if (lane->ring != NULL && lane->ring->head->route == route)
		return CTRACE_OK;
	if (ct_thread_locked != 0)
		return lose(CTRACE_LOSS_NESTED, component);
	ct_lane_give_back(lane);
	return ct_lane_attach(process, thread, lane, component, route);
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
	if (ctrace_lanes_self == NULL) {
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
	lane->before = ctrace_lanes_self;
	ctrace_lanes_self = NULL;
	CTRACE_FENCE_();
}

void ct_lane_leave(struct ct_lane *lane)
{
	/* A forked child that ends its parent's call finds this wiped, and so does not stay on its parent's lanes. */
	struct ctrace_lane **before = lane->before;

	CTRACE_FENCE_();
	lane->busy = false;
	CTRACE_FENCE_();
	ctrace_lanes_self = before;
}

void ct_lane_give_back(struct ct_lane *lane)
{
	struct ct_ring *ring = lane->ring;

	ct_ring_close_window(&lane->lane);
	if (ring != NULL)
		ct_ring_pool_give_back(ct_process.pool, ring);
	memset(lane, 0, sizeof *lane);
}
