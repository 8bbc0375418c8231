/*
 * ring_write.c - the producer's half of a ring, out of line.
 *
 * Runs only on the thread that owns the ring, also in its signal handlers; never locks or
 * allocates.  ctrace/ctrace.h writes events into the window that ct_ring_open_window() grants,
 * without coming here.  The consumer's half is ring_read.c; the words that they share are listed in
 * docs/CONCURRENCY.md.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/ring/ring.h"

#include <string.h>

static uint64_t position_of(const struct ct_ring *ring,
			    const struct ctrace_thread_buffer *thread_buffer)
{
	if (thread_buffer->cur == NULL)
		return ring->head->head; /* the thread buffer has just got this ring */
	return (uint64_t)(uintptr_t)thread_buffer->cur + thread_buffer->bias;
}

static void set_window(struct ct_ring *ring, struct ctrace_thread_buffer *thread_buffer,
		       uint64_t position, uint64_t size)
{
	unsigned char *cur = ct_ring_at(ring, position);

	thread_buffer->head = &ring->head->head;
	thread_buffer->bias = position - (uint64_t)(uintptr_t)cur;
	thread_buffer->cur = cur;
	__atomic_store_n(&thread_buffer->end, cur + size, __ATOMIC_RELAXED);
}

/* The first valid position of a ring, while it moves. */
struct oldest {
	uint64_t position;
	uint64_t count;
	struct ct_event_state state;
};

/*
 * Passes over the events of one class, which are all of this size, up to `limit`.  The next
 * position does not depend on what is loaded, so that the processor need not wait for it.  No two
 * events between marks are so far apart that their times could not be told.
 */
static void pass_over_alike(const struct ct_ring *ring, uint32_t number, uint64_t size,
			    uint64_t limit, struct oldest *oldest)
{
	uint64_t last = 0, position = oldest->position;

	while (position < limit && limit - position >= size) {
		uint64_t word = ct_event_word(ct_ring_at(ring, position));

		if ((word & 0xFFFF) != number)
			break;
		last = word;
		position += size;
		oldest->count++;
	}
	if (position == oldest->position)
		return;
	oldest->position = position;
	oldest->state.ticks = ct_event_ticks(oldest->state.ticks, last);
}

/* Passes over events from the oldest on, at least up to `least`.  Only this thread writes here.  If
 * an event is damaged all the same, everything behind it is lost. */
static void pass_over_oldest(const struct ct_ring *ring, const struct ct_class_image *classes,
			     uint64_t least, struct oldest *oldest)
{
	uint64_t end = ring->head->head;
	struct ct_event_shape shape;
	uint32_t number = 0; /* of shape; 0: none */

	while (oldest->position < least) {
		const unsigned char *at = ct_ring_at(ring, oldest->position);
		uint64_t available = end - oldest->position;
		uint32_t next = available >= CT_EVENT_HEAD ? ct_event_word(at) & 0xFFFF : 0;
		struct ct_event event;

		if (available > ring->capacity)
			break;
		if (next >= CT_CLASS_FIRST && next == number) {
			event.size = ct_event_shape_size(&shape, at, available);
			event.is_mark = false;
			oldest->state.ticks =
				ct_event_ticks(oldest->state.ticks, ct_event_word(at));
		} else if (ct_event_decode(classes, at, available, &oldest->state, &event) !=
			   CTRACE_OK) {
			event.size = 0;
		}
		if (event.size == 0)
			break;
		oldest->count += !event.is_mark;
		oldest->position += event.size;
		if (next < CT_CLASS_FIRST)
			continue;
		if (next != number)
			number = ct_event_shape(classes, next, &shape) && !shape.is_long ? next : 0;
		if (number != 0 && shape.counted_width == 0)
			pass_over_alike(ring, number, shape.size, least < end ? least : end,
					oldest);
	}
	if (oldest->position < least)
		oldest->position = end;
}

/* Counts and passes over old events until everything up to `limit` may be overwritten. */
static void drop_oldest(struct ct_ring *ring, const struct ct_class_image *classes, uint64_t limit)
{
	struct ct_ring_head *head = ring->head;
	struct oldest oldest = { head->oldest, head->oldest_count, head->oldest_state };

	if (oldest.position + ring->capacity >= limit)
		return;
	pass_over_oldest(ring, classes, limit - ring->capacity, &oldest);
	/* The consumer copies first and looks at oldest afterwards (ct_ring_peek): the fence keeps
	 * the producer's data stores behind this store. */
	__atomic_store_n(&head->oldest_version, head->oldest_version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&head->oldest_count, oldest.count, __ATOMIC_RELAXED);
	__atomic_store_n(&head->oldest_state.ticks, oldest.state.ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&head->oldest_state.tid, oldest.state.tid, __ATOMIC_RELAXED);
	__atomic_store_n(&head->oldest, oldest.position, __ATOMIC_RELAXED);
	__atomic_store_n(&head->oldest_version, head->oldest_version + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Returns how many bytes may be written from `position` on. */
static uint64_t free_space(const struct ct_ring *ring, uint64_t position)
{
	uint64_t from = ring->head->overflow == CT_OVERFLOW_OVERWRITE
				? ring->head->oldest
				/* Pairs with the release store in ct_ring_consume(): the space it
				   freed is no longer being read. */
				: __atomic_load_n(&ring->head->tail, __ATOMIC_ACQUIRE);
	uint64_t used = position - from;

	/* an impossible tail: nothing is free */
	return used <= ring->capacity ? ring->capacity - used : 0;
}

/* Writes the mark at the beginning of a window.  From there on a reader knows times and the thread
 * without anything before the mark. */
static void put_mark(struct ct_ring *ring, uint64_t position, uint32_t tid)
{
	struct ct_ring_head *head = ring->head;
	uint64_t ticks = ct_clock_ticks();

	if (head->is_imported)
		/* imported entries are older than now, but not older than this */
		ticks = ring->last_ticks;
	ct_event_encode_mark(ct_ring_at(ring, position), ticks, tid);
	__atomic_store_n(&head->anchors[head->anchor_count % CT_RING_ANCHORS], position,
			 __ATOMIC_RELAXED);
	/* Publish: pairs with the acquire load in ct_ring_head_position(), after which a reader
	 * also finds the anchor. */
	__atomic_store_n(&head->anchor_count, head->anchor_count + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&head->head, position + CT_EVENT_MARK, __ATOMIC_RELEASE);
}

/* Returns room for an event of `size` bytes, and for more if there is space.  At most a quarter of
 * the ring, because no reader can use the bytes of the window. */
static uint64_t window_size(const struct ct_ring *ring, uint64_t size, uint64_t free)
{
	uint64_t limit = ring->capacity / 4 < CT_RING_WINDOW ? ring->capacity / 4 : CT_RING_WINDOW;

	if (limit > free)
		limit = free;
	return size > limit ? size : limit;
}

/* Returns how many bytes to free under overwrite: enough that not every window has to drop events.
 */
static uint64_t space_to_drop(const struct ct_ring *ring, uint64_t needed)
{
	uint64_t want = needed + ring->capacity / 16;

	return want < ring->capacity ? want : ring->capacity;
}

bool ct_ring_fits(const struct ct_ring *ring, const struct ctrace_thread_buffer *thread_buffer,
		  size_t size)
{
	uint64_t needed = CT_EVENT_MARK + size;

	if (ring->head->overflow == CT_OVERFLOW_OVERWRITE)
		needed = space_to_drop(ring, needed);
	return size <= ring->capacity / 2 &&
	       free_space(ring, position_of(ring, thread_buffer)) >= needed;
}

bool ct_ring_open_window(struct ct_ring *ring, struct ctrace_thread_buffer *thread_buffer,
			 const struct ct_class_image *classes, uint32_t tid, size_t size)
{
	uint64_t position = position_of(ring, thread_buffer);
	uint64_t free;

	if (size > ring->capacity / 2)
		return false;
	if (ring->head->overflow == CT_OVERFLOW_OVERWRITE)
		drop_oldest(ring, classes, position + space_to_drop(ring, CT_EVENT_MARK + size));
	free = free_space(ring, position);
	if (free < CT_EVENT_MARK + size)
		return false;
	size = window_size(ring, size, free - CT_EVENT_MARK);
	/* Stored before anything is written there: a reader of the old bytes checks it afterwards
	 * (read/live_ring.c). */
	__atomic_store_n(&ring->head->window, position + CT_EVENT_MARK + size, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* A handler may have left a wait by siglongjmp(). */
	__atomic_store_n(&ring->head->waiting, 0, __ATOMIC_RELAXED);
	put_mark(ring, position, tid);
	set_window(ring, thread_buffer, position + CT_EVENT_MARK, size);
	return true;
}

void ct_ring_close_window(struct ctrace_thread_buffer *thread_buffer)
{
	__atomic_store_n(&thread_buffer->end, NULL, __ATOMIC_RELAXED);
}

bool ct_ring_wait_for_space(struct ct_ring *ring, uint64_t tail_seen, uint64_t timeout_ns)
{
	uint64_t start = ct_clock_mono_ns();
	struct ct_ring_head *head = ring->head;
	bool is_over = false, has_moved;

	for (;;) {
		uint64_t waited = ct_clock_mono_ns() - start;
		uint32_t word;

		/* Pairs with ct_ring_wake(): the consumer moves tail_word first and looks at
		 * `waiting` after that.  Only the producer takes it back: a wake-up for the last
		 * wait may come as late as this. */
		__atomic_store_n(&head->waiting, 1, __ATOMIC_SEQ_CST);
		word = __atomic_load_n(&head->tail_word, __ATOMIC_SEQ_CST);
		has_moved = __atomic_load_n(&head->tail, __ATOMIC_ACQUIRE) != tail_seen;
		if (has_moved || is_over || waited >= timeout_ns)
			break;
		is_over = !ct_os_wait(&head->tail_word, word, timeout_ns - waited);
	}
	__atomic_store_n(&head->waiting, 0, __ATOMIC_RELAXED);
	return has_moved;
}

/* This thread is the only writer. */
static void counter_add_one(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

void ct_ring_count_lost(struct ct_ring *ring, enum ctrace_loss reason, uint32_t dests)
{
	/* The destinations' counts come first: if the thread is killed in between, they report no
	 * fewer losses than the process has counted. */
	for (; dests != 0; dests &= dests - 1)
		counter_add_one(&ring->head->lost_to[__builtin_ctz(dests)]);
	counter_add_one(&ring->head->lost[reason]);
}
