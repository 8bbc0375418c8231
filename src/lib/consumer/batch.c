/*
 * batch.c - the events of rings for one destination that takes them decoded, merged by time.
 *
 * Runs under the consumer's lock.  Reads rings, never changes them: an iterator is a position of
 * its own.  Events of overwrite rings are copied, since their producer may come round again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

#include <stdlib.h>
#include <string.h>

#define FEW_RINGS 16u

static enum ctrace_status batch_make_room(struct ct_batch *batch, uint32_t ring_count)
{
	uint32_t capacity = batch->iterator_capacity ? batch->iterator_capacity : FEW_RINGS;
	struct ct_iterator *iterators;
	struct ct_iterator **heap;
	struct ctrace_stream *streams;

	if (ring_count <= batch->iterator_capacity)
		return CTRACE_OK;
	while (capacity < ring_count)
		capacity *= 2;
	iterators = realloc(batch->iterators, capacity * sizeof *iterators);
	if (iterators != NULL)
		batch->iterators = iterators;
	heap = realloc(batch->heap, capacity * sizeof(struct ct_iterator *));
	if (heap != NULL)
		batch->heap = heap;
	streams = realloc(batch->streams, capacity * sizeof *streams);
	if (streams != NULL)
		batch->streams = streams;
	if (iterators == NULL || heap == NULL || streams == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	batch->iterator_capacity = capacity;
	return CTRACE_OK;
}

/* Reserves room for a few rings now, since memory may be short later.  Most of it is never used,
 * and so is not cleared. */
enum ctrace_status ct_batch_init(struct ct_batch *batch, struct ct_session *session)
{
	memset(batch, 0, sizeof *batch);
	batch->session = session;
	batch->events = malloc(BATCH_EVENTS * sizeof *batch->events);
	batch->items = malloc(BATCH_ITEMS * sizeof *batch->items);
	ct_buf_init(&batch->scratch);
	batch->first_sizes = malloc(BATCH_EVENTS * sizeof *batch->first_sizes);
	if (ct_runs_init(&batch->runs) != CTRACE_OK || batch->first_sizes == NULL ||
	    batch->events == NULL || batch->items == NULL ||
	    batch_make_room(batch, FEW_RINGS) != CTRACE_OK) {
		ct_batch_fini(batch);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	return CTRACE_OK;
}

void ct_batch_fini(struct ct_batch *batch)
{
	ct_runs_fini(&batch->runs);
	free(batch->events);
	free(batch->items);
	ct_arena_fini(&batch->copies);
	ct_buf_fini(&batch->scratch);
	free(batch->first_sizes);
	free(batch->iterators);
	free(batch->heap);
	free(batch->streams);
	memset(batch, 0, sizeof *batch);
}

enum ctrace_status ct_batch_start(struct ct_batch *batch, uint32_t dest, uint32_t ring_count,
				  const struct ct_sync *sync)
{
	enum ctrace_status status = batch_make_room(batch, ring_count);

	if (status != CTRACE_OK)
		return status;
	if (sync != NULL)
		ct_sync_copy(sync, &batch->sync);
	else
		ct_shared_sync_copy(&batch->session->head->sync, &batch->sync);
	batch->dest_bit = 1u << dest;
	batch->iterator_count = 0;
	batch->runs.run_count = 0;
	batch->wants_runs = false;
	batch->classes = ct_session_classes(batch->session);
	ct_batch_empty(batch);
	return CTRACE_OK;
}

/* ---- one ring ---- */

static void iterator_pass_event(struct ct_iterator *iterator)
{
	ct_ring_pass(&iterator->place, &iterator->event);
	iterator->moved = true;
}

void ct_batch_skip_to_mark(struct ct_iterator *iterator)
{
	uint64_t position = iterator->place.position, limit = iterator->limit;

	/* Positions that cannot belong to one ring are no way to a mark. */
	if (limit - position <= iterator->ring->capacity)
		limit = ct_ring_next_mark(iterator->ring->head->anchors, position, limit);
	ct_batch_skip_damage(iterator, limit - position);
}

/* Copies an event of an overwrite ring out of scratch memory, which the next event reuses.  Returns
 * false without memory. */
static bool batch_keep_copy(struct ct_batch *batch, struct ct_event *event)
{
	size_t behind = (size_t)(event->data - (const unsigned char *)batch->scratch.data);
	unsigned char *copy = ct_arena_take(&batch->copies, event->size);

	if (copy == NULL)
		return false;
	memcpy(copy, batch->scratch.data, event->size);
	event->data = copy + behind;
	return true;
}

/* Moves to the next event for this destination.  Returns false at the limit.  An event that cannot
 * be copied for lack of memory counts as damaged. */
static bool iterator_find_event(struct ct_batch *batch, struct ct_iterator *iterator)
{
	bool copies = iterator->ring->overflow == CT_OVERFLOW_OVERWRITE;

	ct_batch_count_components(batch);
	iterator->has_event = false;
	while (iterator->place.position < iterator->limit) {
		ct_buf_clear(&batch->scratch);
		switch (ct_ring_peek(iterator->ring, &batch->classes, &iterator->place,
				     iterator->limit, &batch->scratch, &iterator->event)) {
		case CTRACE_OK:
			break;
		case CTRACE_NOT_FOUND:
			iterator->moved = true;
			continue;
		case CTRACE_NOT_ENOUGH_MEMORY:
			ct_batch_skip_damage(iterator, iterator->event.size);
			continue;
		default:
			ct_batch_skip_to_mark(iterator);
			continue;
		}
		if (!iterator->event.is_mark) {
			if (iterator->event.head.component >= batch->component_count) {
				ct_batch_skip_to_mark(iterator);
				continue;
			}
			iterator->dests =
				ct_batch_dests(batch, iterator, iterator->event.head.component);
			if ((iterator->dests & batch->dest_bit) != 0) {
				iterator->has_event =
					!copies || batch_keep_copy(batch, &iterator->event);
				if (iterator->has_event)
					return true;
				ct_batch_skip_damage(iterator, iterator->event.size);
				continue;
			}
		}
		iterator_pass_event(iterator);
	}
	return false;
}

/* ---- the merge: a heap of iterators, earliest event first ---- */

static bool iterator_is_before(const struct ct_iterator *a, const struct ct_iterator *b)
{
	return a->event.ticks < b->event.ticks ||
	       (a->event.ticks == b->event.ticks && a->ring->index < b->ring->index);
}

static void heap_sift_down(struct ct_batch *batch, uint32_t at)
{
	struct ct_iterator **heap = batch->heap;

	for (;;) {
		uint32_t first = at;
		uint32_t child = 2 * at + 1;
		struct ct_iterator *swap;

		if (child < batch->heap_count && iterator_is_before(heap[child], heap[first]))
			first = child;
		if (child + 1 < batch->heap_count &&
		    iterator_is_before(heap[child + 1], heap[first]))
			first = child + 1;
		if (first == at)
			return;
		swap = heap[at];
		heap[at] = heap[first];
		heap[first] = swap;
		at = first;
	}
}

void ct_batch_push(struct ct_batch *batch, struct ct_iterator *iterator)
{
	uint32_t at = batch->heap_count++;

	while (at > 0 && iterator_is_before(iterator, batch->heap[(at - 1) / 2])) {
		batch->heap[at] = batch->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	batch->heap[at] = iterator;
}

struct ct_iterator *ct_batch_pop(struct ct_batch *batch)
{
	struct ct_iterator *first = batch->heap_count > 0 ? batch->heap[0] : NULL;

	if (first != NULL) {
		batch->heap[0] = batch->heap[--batch->heap_count];
		heap_sift_down(batch, 0);
	}
	return first;
}

void ct_batch_add_ring(struct ct_batch *batch, struct ct_ring *ring,
		       const struct ct_cursor_place *from, uint64_t limit, uint32_t only)
{
	struct ct_iterator *iterator = &batch->iterators[batch->iterator_count++];

	memset(iterator, 0, sizeof *iterator);
	iterator->ring = ring;
	iterator->place = *from;
	iterator->overwritten_before = from->overwritten;
	iterator->limit = limit;
	iterator->stream = UINT32_MAX;
	iterator->only = only;
}

/* ---- the batch ---- */

static void batch_add_event(struct ct_batch *batch, struct ct_iterator *iterator)
{
	const struct ct_event *from = &iterator->event;
	const struct ct_component_entry *entry = &batch->session->components[from->head.component];
	struct ctrace_event *event = &batch->events[batch->event_count++];
	size_t name_size;

	batch->first_sizes[batch->event_count - 1] =
		(iterator->dests & -iterator->dests) == batch->dest_bit ? (uint32_t)from->size : 0;
	batch->bytes += from->size;
	event->time_ns = ct_sync_date(&batch->sync, from->ticks, &event->clock);
	event->component = ct_session_text(
		batch->session, __atomic_load_n(&entry->name, __ATOMIC_ACQUIRE), &name_size);
	event->component_size = (uint32_t)name_size;
	event->component_id = from->head.component;
	event->event_id = from->head.event_id;
	event->level = from->head.level;
	event->pid = batch->session->head->pid;
	event->tid = from->tid;
	event->stream = ct_batch_stream(batch, iterator);
	event->item_count = from->item_count;
	event->items = batch->items + batch->item_count;
	ct_event_items(from, batch->items + batch->item_count);
	batch->item_count += from->item_count;
}

/* Could some next event lack room? */
static bool batch_is_full(const struct ct_batch *batch)
{
	return batch->event_count >= BATCH_EVENTS ||
	       batch->item_count > BATCH_ITEMS - CTRACE_MAX_ITEMS ||
	       (batch->event_count > 0 && batch->bytes + batch->heap[0]->event.size > BATCH_BYTES);
}

void ct_batch_fill(struct ct_batch *batch)
{
	ct_batch_empty(batch);
	for (uint32_t i = 0; i < batch->iterator_count; i++)
		if (iterator_find_event(batch, &batch->iterators[i]))
			ct_batch_push(batch, &batch->iterators[i]);
	while (batch->heap_count > 0 && !batch_is_full(batch)) {
		struct ct_iterator *first = batch->heap[0];

		batch_add_event(batch, first);
		iterator_pass_event(first);
		if (iterator_find_event(batch, first))
			heap_sift_down(batch, 0);
		else
			(void)ct_batch_pop(batch);
	}
}

uint64_t ct_batch_count(struct ct_batch *batch, uint64_t enough)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < batch->iterator_count && count < enough; i++) {
		struct ct_iterator walker = batch->iterators[i];

		while (count < enough) {
			ct_arena_fini(&batch->copies);
			if (!iterator_find_event(batch, &walker))
				break;
			iterator_pass_event(&walker);
			count++;
		}
	}
	ct_arena_fini(&batch->copies);
	return count;
}
