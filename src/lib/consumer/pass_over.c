/*
 * pass_over.c - a destination without progress loses its own events, and no other destination
 * does.
 *
 * Runs under the consumer's lock at the end of a pass, and at the end of the process.  The events
 * of a destination that fails, or whose method does not return, wait in the rings while there is
 * room.  When a ring runs full and holds events for a destination that works, the cursor of the
 * failing destination moves to the working one's position.  The events in between count as lost
 * for the failing destination.
 *
 * A method that is running may be reading those events.  Their memory stays mapped, so it reads old
 * bytes or new ones; its output is truncated when it returns (ct_destination_write()).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

#include <stdlib.h>

#define STUCK_NS 1000000000u /* at most */
/* more, for an event that is larger than a batch: 10 MB a second */
#define LARGE_NS_PER_BYTE 100u
#define STUCK_WITHOUT_WAIT_NS 100000000u /* where nobody waits for room */
/* a destination that fails this long no longer keeps a ring from an external writer */
#define HOPELESS_NS 1000000000u

static uint64_t block_timeout_ns(const struct ct_consumer_source *source)
{
	return source->block_timeout_ns != NULL
		       ? __atomic_load_n(source->block_timeout_ns, __ATOMIC_RELAXED)
		       : UINT64_MAX;
}

uint64_t ct_consumer_stuck_ns(uint64_t block_timeout_ns)
{
	uint64_t half = block_timeout_ns / 2;

	return half == 0 ? STUCK_WITHOUT_WAIT_NS : half < STUCK_NS ? half : STUCK_NS;
}

static uint64_t allowed_ns(const struct ct_destination *destination)
{
	uint64_t bytes = destination->batch != NULL ? destination->batch->bytes : 0;

	return bytes > BATCH_BYTES ? bytes * LARGE_NS_PER_BYTE : 0;
}

uint64_t ct_consumer_allowed_ns(const struct ct_consumer *consumer)
{
	uint64_t most = 0;

	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		const struct ct_destination *destination = &consumer->destinations[dest];
		uint64_t allowed =
			ct_destination_is_busy(destination) ? allowed_ns(destination) : 0;

		most = allowed > most ? allowed : most;
	}
	return most;
}

bool ct_destination_is_stuck(const struct ct_destination *destination)
{
	const struct ct_consumer_source *source = destination->source;
	uint64_t since = __atomic_load_n(&destination->call_since_ns, __ATOMIC_RELAXED);

	return since != 0 && source != NULL && source->block_timeout_ns != NULL &&
	       ct_clock_mono_ns() - since >=
		       ct_consumer_stuck_ns(block_timeout_ns(source)) + allowed_ns(destination);
}

uint32_t ct_consumer_stuck(const struct ct_consumer *consumer)
{
	uint32_t mask = 0;

	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++)
		if (consumer->destinations[dest].retry_at_ns != 0 ||
		    ct_destination_is_stuck(&consumer->destinations[dest]))
			mask |= 1u << dest;
	return mask;
}

/* A thread that can get a larger ring is not held up. */
static bool ring_runs_full(const struct ct_ring *ring)
{
	const struct ct_ring_head *head = ring->head;

	return (ct_ring_head_position(ring) - head->tail > ring->capacity / 4 * 3 &&
		!__atomic_load_n(&ring->may_grow, __ATOMIC_RELAXED)) ||
	       __atomic_load_n(&head->waiting, __ATOMIC_RELAXED) != 0 ||
	       __atomic_load_n(&head->turned_away, __ATOMIC_RELAXED) != 0;
}

/* A method may only be slow, so producers wait for it during half of their timeout. */
static bool ring_is_waited_for(const struct ct_consumer *consumer, const struct ct_ring *ring,
			       uint32_t dest)
{
	uint64_t since =
		__atomic_load_n(&consumer->destinations[dest].call_since_ns, __ATOMIC_RELAXED);

	return since != 0 && ring->overflow != CT_OVERFLOW_DISCARD &&
	       ct_clock_mono_ns() - since < block_timeout_ns(&consumer->source) / 2;
}

/* Returns the working destinations that have events in this ring, or had one turned away for lack
 * of room.? */
static uint32_t find_held_up(const struct ct_consumer *consumer, const struct ct_ring *ring,
			     uint32_t stuck)
{
	uint32_t mask =
		(ring->bound | __atomic_load_n(&ring->head->turned_away, __ATOMIC_RELAXED)) &
		~stuck;
	uint32_t held_up = 0;

	for (; mask != 0; mask &= mask - 1) {
		uint32_t dest = (uint32_t)__builtin_ctz(mask);

		if (consumer->destinations[dest].emitter == NULL ||
		    ct_destination_writes(&consumer->destinations[dest]))
			held_up |= 1u << dest;
	}
	return held_up;
}

/* The position up to which each destination that works has had this ring's events. */
static uint64_t find_target(const struct ct_consumer *consumer, const struct ct_ring *ring,
			    uint64_t limit, uint32_t stuck)
{
	for (uint32_t seen = consumer->seen & ~stuck; seen != 0; seen &= seen - 1) {
		uint64_t position =
			ct_consumer_place(consumer, ring, (uint32_t)__builtin_ctz(seen)).position;

		if (position < limit)
			limit = position;
	}
	return limit;
}

/* Returns the last spans in which a destination was passed over, by ring.  NULL: memory is short.
 */
static struct ct_passed *passed_of(struct ct_consumer *consumer, uint32_t dest,
				   const struct ct_ring *ring)
{
	struct ct_destination *destination = &consumer->destinations[dest];

	if (destination->passed == NULL)
		destination->passed = calloc(CT_RING_LIMIT, sizeof *destination->passed);
	return destination->passed != NULL ? &destination->passed[ring->index % CT_RING_LIMIT]
					   : NULL;
}

/* Has another of these destinations lost the event, so that it counts as lost already? */
static bool event_is_counted(const struct ct_consumer *consumer, const struct ct_ring *ring,
			     uint32_t others, uint64_t position)
{
	for (; others != 0; others &= others - 1) {
		const struct ct_passed *passed =
			consumer->destinations[__builtin_ctz(others)].passed;

		if (passed == NULL)
			continue;
		passed += ring->index % CT_RING_LIMIT;
		if (position >= passed->from && position < passed->to)
			return true;
	}
	return false;
}

/* Moves the cursor of one destination to target.  Returns how many events that destination
 * loses; those that no other has lost before count as lost for the process, in *counter. */
static uint64_t cursor_pass_over(struct ct_consumer *consumer, struct ct_ring *ring, uint32_t dest,
				 uint64_t target, uint64_t *counter)
{
	struct ct_cursor *cursor = &ring->head->cursor[dest];
	struct ct_cursor_place place = ct_consumer_place(consumer, ring, dest);
	uint32_t components =
		__atomic_load_n(&consumer->source.session->head->component_count, __ATOMIC_ACQUIRE);
	uint64_t from = place.position, lost = 0, counted = 0;
	struct ct_passed *passed = passed_of(consumer, dest, ring);
	struct ct_class_image classes = ct_session_classes(consumer->source.session);
	struct ct_buf scratch;

	ct_buf_init(&scratch);
	while (place.position < target) {
		struct ct_event event;
		enum ctrace_status status;
		uint64_t position;
		uint32_t dests;

		ct_buf_clear(&scratch);
		status = ct_ring_peek(ring, &classes, &place, target, &scratch, &event);
		if (status == CTRACE_NOT_FOUND)
			/* overwritten: the position is behind the event, which is counted */
			continue;
		/* Damaged: the next delivery counts that, when there is one. */
		if (status != CTRACE_OK || (!event.is_mark && event.head.component >= components)) {
			ct_buf_fini(&scratch);
			return 0;
		}
		position = place.position;
		ct_ring_pass(&place, &event);
		if (event.is_mark)
			continue;
		dests = __atomic_load_n(
			&consumer->source.session->components[event.head.component].dests,
			__ATOMIC_RELAXED);
		if ((dests & 1u << dest) == 0)
			continue;
		lost++;
		counted += event_is_counted(consumer, ring, dests & ~(1u << dest), position);
	}
	ct_buf_fini(&scratch);
	if (passed != NULL) {
		passed->from = passed->to == from ? passed->from : from;
		passed->to = place.position;
	}
	place.lost += lost;
	ct_cursor_prepare(cursor, ct_consumer_dest(consumer, dest)->sequence, &place);
	__atomic_store_n(counter, *counter + lost - counted, __ATOMIC_RELAXED);
	if (ct_destination_is_busy(&consumer->destinations[dest]))
		consumer->destinations[dest].is_passed_over = true;
	return lost;
}

static bool is_own(const struct ct_ring *ring)
{
	return ring->overflow != CT_OVERFLOW_OVERWRITE &&
	       __atomic_load_n(&ring->head->held_by, __ATOMIC_RELAXED) == 0;
}

/* Passes over events of one ring, up to `limit` at most.  Returns false when the destination has
 * what the others have. */
static bool pass_over_in(struct ct_consumer *consumer, struct ct_ring *ring, uint32_t dest,
			 uint64_t limit, uint32_t stuck, uint64_t *lost)
{
	uint64_t target = find_target(consumer, ring, limit, stuck);

	if (ct_consumer_place(consumer, ring, dest).position >= target)
		return false;
	*lost += cursor_pass_over(consumer, ring, dest, target, &ring->head->passed_over);
	return true;
}

static void pass_over_full(struct ct_consumer *consumer, uint32_t dest, uint32_t stuck)
{
	uint64_t lost = 0;
	bool is_moved = false;

	for (uint32_t i = 0; i < consumer->active_count; i++) {
		struct ct_ring *ring = ct_consumer_ring(consumer, consumer->active[i]);

		if (ring != NULL && is_own(ring) && ring_runs_full(ring) &&
		    !ring_is_waited_for(consumer, ring, dest) &&
		    find_held_up(consumer, ring, stuck) != 0)
			is_moved |=
				pass_over_in(consumer, ring, dest,
					     consumer->limits[consumer->active[i]], stuck, &lost);
	}
	if (is_moved)
		(void)!ct_destination_pass_over(&consumer->destinations[dest], lost);
}

static void pass_over_of_full(struct ct_consumer *consumer, uint32_t dest)
{
	struct ct_destination *destination = &consumer->destinations[dest];
	bool is_waited_for = ct_clock_mono_ns() - destination->failing_since_ns <
			     block_timeout_ns(&consumer->source);
	uint64_t lost = 0;
	bool is_moved = false;

	for (uint32_t i = 0; i < consumer->active_count; i++) {
		uint32_t index = consumer->active[i];
		struct ct_ring *ring = ct_consumer_ring(consumer, index);

		if (ring == NULL || !is_own(ring) ||
		    (ring->overflow != CT_OVERFLOW_DISCARD && is_waited_for) ||
		    ct_consumer_place(consumer, ring, dest).position >= consumer->limits[index])
			continue;
		lost += cursor_pass_over(consumer, ring, dest, consumer->limits[index],
					 &ring->head->unwritten);
		is_moved = true;
	}
	if (is_moved)
		(void)!ct_destination_pass_over(destination, lost);
}

void ct_consumer_pass_over_full(struct ct_consumer *consumer)
{
	if (consumer->source.recovering)
		return;
	for (uint32_t left = consumer->seen; left != 0; left &= left - 1) {
		uint32_t dest = (uint32_t)__builtin_ctz(left);

		if (consumer->destinations[dest].is_full &&
		    !ct_destination_is_busy(&consumer->destinations[dest]))
			pass_over_of_full(consumer, dest);
	}
}

/* Returns those of the mask that have failed for HOPELESS_NS, or whose method runs. */
static uint32_t find_hopeless(const struct ct_consumer *consumer, uint32_t stuck)
{
	uint64_t now = ct_clock_mono_ns();
	uint32_t mask = 0;

	for (; stuck != 0; stuck &= stuck - 1) {
		const struct ct_destination *destination =
			&consumer->destinations[__builtin_ctz(stuck)];

		if (ct_destination_is_busy(destination) ||
		    (destination->failing_since_ns != 0 &&
		     now - destination->failing_since_ns >= HOPELESS_NS))
			mask |= stuck & -stuck;
	}
	return mask;
}

void ct_consumer_pass_over_stuck(struct ct_consumer *consumer)
{
	uint32_t stuck = ct_consumer_stuck(consumer) & consumer->seen;

	for (uint32_t left = consumer->source.recovering ? 0 : stuck; left != 0; left &= left - 1)
		pass_over_full(consumer, (uint32_t)__builtin_ctz(left), stuck);
}

void ct_consumer_pass_over_hopeless(struct ct_consumer *consumer, struct ct_ring *ring)
{
	uint32_t stuck = find_hopeless(consumer, ct_consumer_stuck(consumer) & consumer->seen);

	for (uint32_t left = is_own(ring) ? stuck : 0; left != 0; left &= left - 1) {
		uint32_t dest = (uint32_t)__builtin_ctz(left);
		uint64_t lost = 0;

		if ((consumer->seen & ~stuck) == 0 &&
		    !ct_destination_is_busy(&consumer->destinations[dest]))
			/* no destination has begun with the ring, so it is handed over as it is */
			continue;
		if (pass_over_in(consumer, ring, dest, ct_ring_head_position(ring), stuck, &lost))
			(void)!ct_destination_pass_over(&consumer->destinations[dest], lost);
	}
}

/* ---- the end of the process ---- */

/* Returns the destinations that lack events of the ring. */
static uint32_t find_destinations_behind(const struct ct_consumer *consumer,
					 const struct ct_ring *ring)
{
	uint32_t mask = 0;

	for (uint32_t seen = consumer->seen; seen != 0; seen &= seen - 1)
		if (ct_consumer_place(consumer, ring, (uint32_t)__builtin_ctz(seen)).position <
		    ct_ring_head_position(ring))
			mask |= seen & -seen;
	return mask;
}

/* All events of these rings are counted and no thread writes to them, so a recovery must not report
 * them as gone. */
static void settle_private_rings(const struct ct_consumer *consumer)
{
	for (uint32_t i = 0; i < consumer->ring_count; i++) {
		const struct ct_ring *ring = ct_consumer_ring(consumer, i);
		uint32_t owner = ring != NULL ? ct_ring_owner(ring) : 0;

		if (ring != NULL && ring->place == CT_RING_PRIVATE &&
		    (owner == 0 || owner == ct_os_thread_id() || !ct_os_thread_exists(owner)))
			__atomic_store_n(&consumer->source.session->head->ring_place[ring->index],
					 CT_RING_SETTLED, __ATOMIC_RELAXED);
	}
}

void ct_consumer_give_up(struct ct_consumer *consumer)
{
	uint64_t lost[CT_DEST_LIMIT] = { 0 };
	uint32_t moved = 0;
	bool is_counted = true;

	for (uint32_t i = 0; i < consumer->ring_count; i++) {
		struct ct_ring *ring = ct_consumer_ring(consumer, i);
		uint32_t behind;

		if (ring == NULL || ring->place != CT_RING_PRIVATE)
			continue;
		behind = ring->kept ? 0 : find_destinations_behind(consumer, ring);
		moved |= behind;
		for (; behind != 0; behind &= behind - 1) {
			uint32_t dest = (uint32_t)__builtin_ctz(behind);

			lost[dest] +=
				cursor_pass_over(consumer, ring, dest, ct_ring_head_position(ring),
						 &ring->head->passed_over);
		}
	}
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++)
		if ((moved & 1u << dest) != 0)
			is_counted &= ct_destination_pass_over(&consumer->destinations[dest],
							       lost[dest]) == CTRACE_OK;
	if (is_counted)
		settle_private_rings(consumer);
	for (uint32_t i = 0; i < consumer->ring_count; i++)
		if (ct_consumer_ring(consumer, i) != NULL) {
			ct_consumer_free_ring(consumer, ct_consumer_ring(consumer, i));
			ct_ring_wake(ct_consumer_ring(consumer, i));
		}
}
