/*
 * merge.c - the events of all sources, in time order.
 *
 * Called by the tools, on one thread.  A binary heap of sources, each with its next event: memory does not depend on how many events
 * there are.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include <stdlib.h>

static bool is_before(const struct ct_source *a, const struct ct_source *b)
{
	return a->event.time_ns < b->event.time_ns || (a->event.time_ns == b->event.time_ns && a->order < b->order);
}

static void push(struct ct_sources *sources, struct ct_source *source)
{
	struct ct_source **heap = sources->heap;
	size_t at = sources->heap_size++;

	while (at > 0 && is_before(source, heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = source;
}

static struct ct_source *pop(struct ct_sources *sources)
{
	struct ct_source **heap = sources->heap;
	struct ct_source *first = heap[0];
	struct ct_source *last = heap[--sources->heap_size];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= sources->heap_size)
			break;
		if (child + 1 < sources->heap_size && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

static bool start(struct ct_sources *sources)
{
	sources->is_started = true;
	sources->heap_size = 0;
	sources->heap = calloc(sources->count + 1, sizeof(struct ct_source *));
	sources->scratch = calloc(CTRACE_MAX_ITEMS, sizeof *sources->scratch);
	if (sources->heap == NULL || sources->scratch == NULL) {
		ct_sources_damage(sources, "", 0, 0, ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
		return false;
	}
	for (size_t i = 0; i < sources->count; i++)
		if (sources->items[i]->next(sources->items[i], sources))
			push(sources, sources->items[i]);
	return true;
}

bool ct_sources_next(struct ct_sources *sources, struct ctrace_event *out_event)
{
	if (!sources->is_started && !start(sources))
		return false;
	/* The event given last was borrowed until now. */
	if (sources->given != NULL && sources->given->next(sources->given, sources))
		push(sources, sources->given);
	sources->given = NULL;
	if (sources->heap_size == 0)
		return false;
	sources->given = pop(sources);
	sources->totals.events++;
	*out_event = sources->given->event;
	return true;
}
