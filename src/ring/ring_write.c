/*
 * ring_write.c - the producer's half of a ring, out of line.
 *
 * Runs only on the thread that owns the ring, also in its signal handlers; never locks or allocates.  ctrace/ctrace.h writes
 * records into the window that ct_ring_open_window() grants, without coming here.  The consumer's half is ring_read.c; the words
 * that they share are listed in docs/CONCURRENCY.md.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ring/ring.h"

#include <string.h>

static uint64_t position_of(const struct ct_ring *ring, const struct ctrace_lane *lane)
{
	if (lane->cur == NULL)
		return ring->head->head; /* a lane that was just given this ring */
	return (uint64_t)(uintptr_t)lane->cur + lane->bias;
}

static void set_window(struct ct_ring *ring, struct ctrace_lane *lane, uint64_t position, uint64_t size)
{
	unsigned char *cur = ring->data + (position & (ring->capacity - 1));

	if (size > CT_RING_WINDOW)
		size = CT_RING_WINDOW;
	lane->head = &ring->head->head;
	lane->bias = position - (uint64_t)(uintptr_t)cur;
	lane->cur = cur;
	__atomic_store_n(&lane->end, cur + size, __ATOMIC_RELAXED);
}

/* Counts and passes over old events until everything up to `limit` may be overwritten. */
static void drop_oldest(struct ct_ring *ring, uint64_t limit)
{
	struct ct_ring_head *head = ring->head;
	uint64_t oldest = head->oldest;
	uint64_t count = head->oldest_count;

	while (oldest + ring->capacity < limit) {
		struct ct_record record;
		size_t offset = oldest & (ring->capacity - 1);

		/* Nobody but this thread writes here; a record that is damaged all the same ends the walk at the ring's end. */
		if (ct_record_decode(ring->data + offset, ring->capacity - offset, &record) != CTRACE_OK) {
			oldest += ring->capacity - offset;
			continue;
		}
		count += !record.is_padding;
		oldest += record.size;
	}
	/* The consumer copies first and looks at oldest afterwards (ct_ring_peek): the fence keeps our data stores behind this. */
	__atomic_store_n(&head->oldest_version, head->oldest_version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&head->oldest_count, count, __ATOMIC_RELAXED);
	__atomic_store_n(&head->oldest, oldest, __ATOMIC_RELAXED);
	__atomic_store_n(&head->oldest_version, head->oldest_version + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Bytes from position on that may be written. */
static uint64_t free_space(const struct ct_ring *ring, uint64_t position)
{
	uint64_t from = ring->head->overflow == CT_OVERFLOW_OVERWRITE
				? ring->head->oldest
				/* Pairs with the release store in ct_ring_consume(): what it freed is no longer being read. */
				: __atomic_load_n(&ring->head->tail, __ATOMIC_ACQUIRE);
	uint64_t used = position - from;

	return used <= ring->capacity ? ring->capacity - used : 0; /* a tail that cannot be: nothing is free */
}

bool ct_ring_open_window(struct ct_ring *ring, struct ctrace_lane *lane, size_t size)
{
	uint64_t position = position_of(ring, lane);
	uint64_t to_end = ring->capacity - (position & (ring->capacity - 1));
	uint64_t padding = size > to_end ? to_end : 0;
	uint64_t free;

	if (size > ring->capacity / 2)
		return false;
	if (ring->head->overflow == CT_OVERFLOW_OVERWRITE) {
		uint64_t want = padding + size + ring->capacity / 16;

		drop_oldest(ring, position + (want < ring->capacity ? want : ring->capacity));
	}
	free = free_space(ring, position);
	if (free < padding + size)
		return false;
	if (padding != 0) {
		ct_record_encode_padding(ring->data + (position & (ring->capacity - 1)), padding);
		position += padding;
		free -= padding;
		to_end = ring->capacity;
		__atomic_store_n(&ring->head->head, position, __ATOMIC_RELEASE);
	}
	set_window(ring, lane, position, free < to_end ? free : to_end);
	return true;
}

void ct_ring_close_window(struct ctrace_lane *lane)
{
	__atomic_store_n(&lane->end, NULL, __ATOMIC_RELAXED);
}

bool ct_ring_wait_for_space(struct ct_ring *ring, uint64_t tail_seen, uint64_t timeout_ns)
{
	uint64_t start = ct_clock_mono_ns();
	struct ct_ring_head *head = ring->head;

	for (;;) {
		uint32_t word = __atomic_load_n(&head->tail_word, __ATOMIC_ACQUIRE);
		uint64_t waited = ct_clock_mono_ns() - start;

		if (__atomic_load_n(&head->tail, __ATOMIC_ACQUIRE) != tail_seen)
			return true;
		if (waited >= timeout_ns)
			return false;
		/* Pairs with the consumer's exchange in ct_ring_consume(): it moves tail_word, then looks whether anybody waits. */
		__atomic_store_n(&head->waiting, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&head->tail_word, __ATOMIC_SEQ_CST) == word)
			ct_os_wait(&head->tail_word, word, timeout_ns - waited);
	}
}

/* This thread is the only writer. */
static void add_one(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

void ct_ring_count_lost(struct ct_ring *ring, enum ctrace_loss reason, uint32_t dests)
{
	add_one(&ring->head->lost[reason]);
	for (; dests != 0; dests &= dests - 1)
		add_one(&ring->head->lost_to[__builtin_ctz(dests)]);
}
