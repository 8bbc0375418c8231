/*
 * own_ring.c - ctrace_emit(): the usual event of a component that has a ring of its own, and the way on for all others.
 *
 * Runs on the thread that traces, in signal handlers too.  A component trace with a buffer size comes here with every event, so this does
 * what the inline path does for the common ring and nothing else: no lock, no system call, no waiting.  A first event, a full
 * ring, a failing destination, a call that a signal handler interrupted: trace.c sees to those.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "record/record.h"

/* The lane of a component whose gate lets the event through; NULL when its ring is not one of its own, or not to be used as it is. */
static inline struct ct_lane *find_lane(const struct ctrace_tracer *tracer, uint32_t level)
{
	const struct ctrace_gate *gate = ctrace_gate_(tracer);
	uint32_t route = __atomic_load_n(&gate->route, __ATOMIC_ACQUIRE);
	struct ct_thread *thread = ct_thread_current;
	struct ct_lane *lane;

	/* A tracer that is not registered has a route beyond the limit.  In a forked child its parent's lanes are zero: not plain. */
	if (route - 1 >= CT_ROUTE_LIMIT - 1 || tracer->abi != CTRACE_ABI || level >= CTRACE_LEVEL_COUNT ||
	    level < __atomic_load_n(&gate->level, __ATOMIC_RELAXED) || thread == NULL)
		return NULL;
	lane = &thread->routes[route];
	return lane->is_plain && !lane->busy ? lane : NULL;
}

/* Does anything of the process ask for more than the event? */
static inline bool is_ordinary(const struct ct_process *process)
{
	return (__atomic_load_n(&process->failing, __ATOMIC_RELAXED) | __atomic_load_n(&process->open_wanted, __ATOMIC_RELAXED)) == 0 &&
	       process->settings.flight_trigger >= CTRACE_LEVEL_COUNT;
}

static inline void put_items(unsigned char *at, const struct ctrace_item *items, uint32_t item_count)
{
	unsigned char *data = at + 4 * (size_t)item_count;

	for (uint32_t i = 0; i < item_count; i++) {
		ctrace_put_u32_(at + 4 * (size_t)i, (items[i].type & 0xFF) | items[i].size << 8);
		data = ctrace_put_item_(data, &items[i]);
	}
}

enum ctrace_status ctrace_emit(struct ctrace_tracer *tracer, uint32_t level, uint32_t event_id, const struct ctrace_item *items,
			       uint32_t item_count)
{
	struct ct_lane *lane = find_lane(tracer, level);
	unsigned char *at;
	size_t size;

	if (__builtin_expect(lane == NULL, 0) || __builtin_expect(!is_ordinary(&ct_process), 0))
		return ct_trace_emit(tracer, level, event_id, items, item_count);
	size = ct_record_size(items, item_count);
	/* From here on a signal handler goes to the side ring. */
	lane->busy = true;
	CTRACE_FENCE_();
	at = lane->lane.cur;
	if (__builtin_expect(size == 0 || at == NULL || (uintptr_t)at + size > (uintptr_t)lane->lane.end, 0)) {
		lane->busy = false;
		return ct_trace_emit(tracer, level, event_id, items, item_count);
	}
	ctrace_take_ahead_(at);
	put_items(ctrace_put_head_(at, tracer, &lane->lane, level, event_id, item_count, size), items, item_count);
	CTRACE_FENCE_();
	lane->lane.cur = at + size;
	/* Publish: pairs with the acquire load in ct_ring_head_position().  Past this line the record survives SIGKILL. */
	__atomic_store_n(lane->lane.head, (uint64_t)(uintptr_t)lane->lane.cur + lane->lane.bias, __ATOMIC_RELEASE);
	CTRACE_FENCE_();
	lane->busy = false;
	if (__builtin_expect(__atomic_load_n(&ct_process.agent_idle, __ATOMIC_RELAXED) != 0, 0) && !ct_ring_has_writer(lane->ring))
		ct_process_wake_agent();
	return CTRACE_OK;
}
