/*
 * ring_read.c - the consumer's half of a ring.
 *
 * Runs on the consumer thread of the traced process, or in a recoverer of a dead one's rings: one
 * consumer at a time (the consumer's lock, or the session's).  Never waits for the producer, which
 * may have died inside an event, or may write anything into its ring by error.  So each word of
 * the head is read once and checked before use, and no walk is longer than the ring.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/ring/ring.h"

#include <string.h>

/* bytes copied first of an event that the producer may overwrite; most events are shorter */
#define FIRST_COPY ((size_t)512)

uint64_t ct_ring_head_position(const struct ct_ring *ring)
{
	/* Pairs with the release store in ctrace_commit_(): everything before it is written. */
	return __atomic_load_n(&ring->head->head, __ATOMIC_ACQUIRE);
}

/* Reads a consistent set of oldest, its count and its state. */
static void read_oldest(const struct ct_ring *ring, uint64_t *out_oldest, uint64_t *out_count,
			struct ct_event_state *out_state)
{
	const struct ct_ring_head *head = ring->head;

	for (int tries = 0; tries < 1000; tries++) {
		uint64_t version = __atomic_load_n(&head->oldest_version, __ATOMIC_ACQUIRE);

		*out_count = __atomic_load_n(&head->oldest_count, __ATOMIC_RELAXED);
		*out_oldest = __atomic_load_n(&head->oldest, __ATOMIC_RELAXED);
		out_state->ticks = __atomic_load_n(&head->oldest_state.ticks, __ATOMIC_RELAXED);
		out_state->tid = __atomic_load_n(&head->oldest_state.tid, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if ((version & 1) == 0 &&
		    __atomic_load_n(&head->oldest_version, __ATOMIC_RELAXED) == version)
			return;
	}
	/* The producer died between the stores.  It writes the position last, so the values are off
	 * by that one step at most. */
}

static bool move_to_oldest(const struct ct_ring *ring, struct ct_cursor_place *place)
{
	struct ct_event_state state = { 0 };
	uint64_t oldest, count;

	read_oldest(ring, &oldest, &count, &state);
	if (place->position >= oldest)
		return false;
	place->position = oldest;
	place->overwritten += count - place->count;
	place->count = count;
	place->state = state;
	return true;
}

/* The producer may be writing where this reads.  A torn copy is detected afterwards and discarded.
 */
__attribute__((no_sanitize("thread"))) void
ct_ring_copy_racing(unsigned char *to, const unsigned char *from, size_t size)
{
	typedef uint64_t word __attribute__((aligned(1), may_alias));
	size_t i = 0;

	for (; i + sizeof(word) <= size; i += sizeof(word))
		*(word *)(to + i) = *(const volatile word *)(from + i);
	for (; i < size; i++)
		to[i] = *(const volatile unsigned char *)(from + i);
}

/*
 * Copies `size` bytes, which may be an event, and decodes the copy.  Without memory it looks at
 * the event in the ring, only for its size; that may be torn.
 */
static enum ctrace_status decode_copy(const struct ct_ring *ring,
				      const struct ct_class_image *classes,
				      struct ct_cursor_place *place, size_t size,
				      struct ct_buf *scratch, struct ct_event *out)
{
	const unsigned char *at = ct_ring_at(ring, place->position);
	bool has_memory = ct_buf_reserve(scratch, size);
	struct ct_event_state state;
	enum ctrace_status status;

	if (has_memory)
		ct_ring_copy_racing((unsigned char *)scratch->data, at, size);
	/* Pairs with the fence in drop_oldest(): if we saw one of its later data stores, we see its
	 * oldest. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (move_to_oldest(ring, place))
		return CTRACE_NOT_FOUND;
	state = place->state;
	status = ct_event_decode(classes, has_memory ? (const unsigned char *)scratch->data : at,
				 size, &state, out);
	if (status != CTRACE_OK)
		return CTRACE_DAMAGED;
	return has_memory ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
}

static enum ctrace_status peek_racing(const struct ct_ring *ring,
				      const struct ct_class_image *classes,
				      struct ct_cursor_place *place, size_t available,
				      struct ct_buf *scratch, struct ct_event *out)
{
	size_t size = available < FIRST_COPY ? available : FIRST_COPY;
	enum ctrace_status status = decode_copy(ring, classes, place, size, scratch, out);

	while (status == CTRACE_DAMAGED && size < available) {
		/* the event is longer, or it is damaged */
		size = size < available / 8 ? size * 8 : available;
		status = decode_copy(ring, classes, place, size, scratch, out);
	}
	return status;
}

/* The consumer has freed the position, and the producer may have written there since. */
static bool move_to_tail(const struct ct_ring *ring, struct ct_cursor_place *place)
{
	const struct ct_ring_head *head = ring->head;

	if (__atomic_load_n(&head->window, __ATOMIC_ACQUIRE) - place->position <= ring->capacity)
		return false;
	for (int tries = 0; tries < 1000; tries++) {
		uint64_t tail = __atomic_load_n(&head->tail, __ATOMIC_ACQUIRE);
		uint64_t count = __atomic_load_n(&head->consumed, __ATOMIC_RELAXED);
		struct ct_event_state state = ct_ring_tail_state(head);

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&head->tail, __ATOMIC_RELAXED) != tail)
			continue;
		if (tail - place->position > UINT64_MAX / 2)
			break; /* not a ring's words */
		place->overwritten += count > place->count ? count - place->count : 0;
		place->count = count;
		place->position = tail;
		place->state = state;
		break;
	}
	return true;
}

size_t ct_ring_copy_aside(const struct ct_ring *ring, struct ct_cursor_place *place, uint64_t limit,
			  size_t most, struct ct_buf *out)
{
	uint64_t waits = limit - place->position;
	size_t size = waits < most ? (size_t)waits : most;

	ct_buf_clear(out);
	if (waits > ring->capacity || !ct_buf_reserve(out, size))
		size = 0;
	else
		ct_ring_copy_racing((unsigned char *)out->data, ct_ring_at(ring, place->position),
				    size);
	/* As in decode_copy(); the window is moved before anything is written into it. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (ring->overflow == CT_OVERFLOW_OVERWRITE ? move_to_oldest(ring, place)
						    : move_to_tail(ring, place))
		return 0;
	return size;
}

uint64_t ct_ring_next_mark(const uint64_t marks[CT_RING_ANCHORS], uint64_t position, uint64_t limit)
{
	for (unsigned i = 0; i < CT_RING_ANCHORS; i++) {
		uint64_t mark = __atomic_load_n(&marks[i], __ATOMIC_RELAXED);

		if (mark > position && mark < limit)
			limit = mark;
	}
	return limit;
}

/* Can both positions belong to one ring?  If not, a walk between them would not end. */
static bool is_within(const struct ct_ring *ring, uint64_t position, uint64_t limit)
{
	return limit - position <= ring->capacity;
}

enum ctrace_status ct_ring_peek(const struct ct_ring *ring, const struct ct_class_image *classes,
				struct ct_cursor_place *place, uint64_t limit,
				struct ct_buf *scratch, struct ct_event *out)
{
	bool is_overwrite = ring->overflow == CT_OVERFLOW_OVERWRITE;
	struct ct_event_state state;

	if (is_overwrite && move_to_oldest(ring, place))
		return CTRACE_NOT_FOUND;
	if (!is_within(ring, place->position, limit))
		return CTRACE_DAMAGED;
	if (is_overwrite)
		return peek_racing(ring, classes, place, limit - place->position, scratch, out);
	state = place->state;
	if (ct_event_decode(classes, ct_ring_at(ring, place->position), limit - place->position,
			    &state, out) != CTRACE_OK)
		return CTRACE_DAMAGED;
	return CTRACE_OK;
}

/* The slot of the present tail does not change until the tail has moved, so the tail always has a
 * valid slot. */
static void move_tail(struct ct_ring_head *head, const struct ct_cursor_place *place)
{
	struct ct_tail_state *slot = &head->tail_state[head->tail_state[0].position == head->tail];

	__atomic_store_n(&slot->position, UINT64_MAX, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	slot->state = place->state;
	__atomic_store_n(&slot->position, place->position, __ATOMIC_RELEASE);
	/* Past this line the producer may write there: pairs with the acquire load in free_space().
	 */
	__atomic_store_n(&head->tail, place->position, __ATOMIC_RELEASE);
}

struct ct_event_state ct_ring_tail_state(const struct ct_ring_head *head)
{
	for (unsigned i = 0; i < CT_COUNT(head->tail_state); i++)
		if (__atomic_load_n(&head->tail_state[i].position, __ATOMIC_ACQUIRE) == head->tail)
			return head->tail_state[i].state;
	return (struct ct_event_state){ 0 };
}

void ct_ring_consume(struct ct_ring *ring, const struct ct_cursor_place *place)
{
	struct ct_ring_head *head = ring->head;

	__atomic_store_n(&head->consumed, place->count, __ATOMIC_RELAXED);
	__atomic_store_n(&head->overwritten, place->overwritten, __ATOMIC_RELAXED);
	if (head->tail == place->position)
		return;
	move_tail(head, place);
	__atomic_store_n(&head->turned_away, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&head->tail_word, head->tail_word + 1, __ATOMIC_SEQ_CST);
	ring->owes_wake = true;
	/* One system call for many batches. */
	if (ct_ring_head_position(ring) - place->position <= ring->capacity - ring->capacity / 4)
		ct_ring_wake(ring);
}

void ct_ring_wake(struct ct_ring *ring)
{
	if (!ring->owes_wake)
		return;
	ring->owes_wake = false;
	if (__atomic_load_n(&ring->head->waiting, __ATOMIC_SEQ_CST) != 0)
		ct_os_wake(&ring->head->tail_word);
}

bool ct_ring_is_empty(const struct ct_ring *ring)
{
	return ct_ring_head_position(ring) == __atomic_load_n(&ring->head->tail, __ATOMIC_ACQUIRE);
}

uint64_t ct_ring_lost_total(const struct ct_ring *ring)
{
	return __atomic_load_n(&ring->head->overwritten, __ATOMIC_RELAXED) +
	       ct_loss_total(ring->head->lost);
}

static struct ct_cursor_place tail_of(const struct ct_ring *ring)
{
	return (struct ct_cursor_place){
		.position = __atomic_load_n(&ring->head->tail, __ATOMIC_ACQUIRE),
		.count = __atomic_load_n(&ring->head->consumed, __ATOMIC_RELAXED),
		.state = ct_ring_tail_state(ring->head)
	};
}

uint64_t ct_ring_count_overwritten(const struct ct_ring *ring)
{
	struct ct_cursor_place place = tail_of(ring);

	if (ring->overflow == CT_OVERFLOW_OVERWRITE)
		(void)move_to_oldest(ring, &place);
	return place.overwritten;
}

/* The producer may be writing there.  An event counts only if nothing was overwritten since it was
 * read. */
static uint64_t count_racing(const struct ct_ring *ring, const struct ct_class_image *classes,
			     struct ct_cursor_place *place, uint64_t limit)
{
	uint64_t count = 0;

	while (place->position < limit && is_within(ring, place->position, limit)) {
		struct ct_event_state state = place->state;
		struct ct_event event;
		enum ctrace_status status =
			ct_event_decode(classes, ct_ring_at(ring, place->position),
					limit - place->position, &state, &event);

		/* As in peek_racing(). */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (move_to_oldest(ring, place)) {
			count = 0;
			continue;
		}
		if (status != CTRACE_OK) {
			place->position =
				ct_ring_next_mark(ring->head->anchors, place->position, limit);
			continue;
		}
		count += !event.is_mark;
		ct_ring_pass(place, &event);
	}
	return count;
}

uint64_t ct_ring_count_pending(const struct ct_ring *ring, const struct ct_class_image *classes)
{
	uint64_t limit = ct_ring_head_position(ring);
	struct ct_cursor_place place = tail_of(ring);
	uint64_t count = 0;

	if (ring->overflow == CT_OVERFLOW_OVERWRITE) {
		(void)move_to_oldest(ring, &place);
		return count_racing(ring, classes, &place, limit);
	}
	while (place.position < limit && is_within(ring, place.position, limit)) {
		struct ct_event event;

		if (ct_event_decode(classes, ct_ring_at(ring, place.position),
				    limit - place.position, &place.state, &event) != CTRACE_OK) {
			place.position =
				ct_ring_next_mark(ring->head->anchors, place.position, limit);
			continue;
		}
		count += !event.is_mark;
		place.position += event.size;
	}
	return count;
}

struct ct_cursor_place ct_cursor_get(const struct ct_cursor *cursor, uint64_t dest_sequence)
{
	uint64_t next_sequence = __atomic_load_n(&cursor->next_sequence, __ATOMIC_ACQUIRE);

	return next_sequence != 0 && next_sequence <= dest_sequence ? cursor->next : cursor->now;
}

/* Sets `next`, which is in force from next_sequence on.  In this order only the last store changes
 * the position in force, so a SIGKILL between two stores does no harm. */
static void cursor_set_next(struct ct_cursor *cursor, uint64_t dest_sequence,
			    const struct ct_cursor_place *next, uint64_t next_sequence)
{
	cursor->now = ct_cursor_get(cursor, dest_sequence);
	__atomic_store_n(&cursor->next_sequence, 0, __ATOMIC_RELEASE);
	/* keeps the compiler from moving the next stores up */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	cursor->next = *next;
	__atomic_store_n(&cursor->next_sequence, next_sequence, __ATOMIC_RELEASE);
}

void ct_cursor_prepare(struct ct_cursor *cursor, uint64_t dest_sequence,
		       const struct ct_cursor_place *next)
{
	cursor_set_next(cursor, dest_sequence, next, dest_sequence + 1);
}

/* A destination that has published nothing uses `now`; no sequence would put `next` in force.  It
 * has written nothing either, so only the position counts, and it is stored last. */
static void cursor_set_now(struct ct_cursor *cursor, const struct ct_cursor_place *place)
{
	struct ct_cursor_place rest = *place;

	rest.position = cursor->now.position;
	__atomic_store_n(&cursor->next_sequence, 0, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	cursor->now = rest;
	__atomic_store_n(&cursor->now.position, place->position, __ATOMIC_RELEASE);
}

void ct_cursor_reset(struct ct_cursor *cursor, uint64_t dest_sequence,
		     const struct ct_cursor_place *place)
{
	if (dest_sequence == 0)
		cursor_set_now(cursor, place);
	else
		cursor_set_next(cursor, dest_sequence, place, dest_sequence);
}
