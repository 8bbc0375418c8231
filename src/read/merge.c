/*
 * merge.c - the events of all sources, in time order.
 *
 * Called by the tools, on one thread.  A binary heap holds the sources, each with its next event,
 * so memory does not depend on the number of events.  When there are very many sources,
 * ct_sources_hold() releases the memory of waiting ones.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include <stdlib.h>

static bool source_is_before(const struct ct_source *a, const struct ct_source *b)
{
	return a->event.traced.time_ns < b->event.traced.time_ns ||
	       (a->event.traced.time_ns == b->event.traced.time_ns && a->order < b->order);
}

static void heap_push(struct ct_sources *sources, struct ct_source *source)
{
	struct ct_source **heap = sources->heap;
	size_t at = sources->heap_size++;

	while (at > 0 && source_is_before(source, heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = source;
}

/* Moves the first source to the position of its event. */
static void heap_sink(struct ct_sources *sources)
{
	struct ct_source **heap = sources->heap;
	struct ct_source *source = heap[0];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= sources->heap_size)
			break;
		if (child + 1 < sources->heap_size &&
		    source_is_before(heap[child + 1], heap[child]))
			child++;
		if (source_is_before(source, heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = source;
}

/* Moves the first source, which exists, to its next event, or removes it from the heap. */
static void heap_advance(struct ct_sources *sources)
{
	struct ct_source *source = sources->heap[0];

	if (!source->next(source, sources))
		sources->heap[0] = sources->heap[--sources->heap_size];
	if (sources->heap_size > 1)
		heap_sink(sources);
}

static bool merge_start(struct ct_sources *sources)
{
	sources->is_started = true;
	sources->is_given = false;
	sources->heap_size = 0;
	sources->heap = calloc(sources->count + 1, sizeof(struct ct_source *));
	if (sources->heap == NULL) {
		ct_sources_damage(sources, "", 0, 0, ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
		return false;
	}
	for (size_t i = 0; i < sources->count; i++)
		if (sources->items[i]->next(sources->items[i], sources))
			heap_push(sources, sources->items[i]);
	return true;
}

static bool source_is_wanted(struct ct_source *source, struct ct_sources *sources)
{
	if (source->filter_result == CT_FILTER_RESULT_NEVER)
		return false;
	return !source->is_stale || source->restore(source, sources);
}

bool ct_sources_start(struct ct_sources *sources)
{
	return sources->is_started || merge_start(sources);
}

struct ct_read_event *ct_sources_next(struct ct_sources *sources)
{
	struct ct_source *first;

	if (!sources->is_started && !merge_start(sources))
		return NULL;
	do {
		/* The caller has finished with the event returned last. */
		if (sources->is_given)
			heap_advance(sources);
		sources->is_given = sources->heap_size > 0 && !sources->is_stopped;
		if (!sources->is_given)
			return NULL;
		first = sources->heap[0];
		first->event.sequence = ++sources->totals.events;
		if (first->event.sequence % CT_SOURCES_STEP == 0 && sources->step != NULL &&
		    !sources->step(sources->step_user))
			sources->is_stopped = true;
	} while (!source_is_wanted(first, sources));
	first->event.is_after_loss = first->has_loss;
	first->has_loss = false;
	return &first->event;
}
