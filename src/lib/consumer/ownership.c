/*
 * ownership.c - the consumer of each ring: the consumer thread, an external writer, or the
 * consumer thread in place of a dead writer.
 *
 * Runs under the consumer's lock, in the consumer thread, an external writer's worker or a
 * recoverer. A ring's `held_by` names its consumer, and only that consumer hands the ring over:
 * the consumer thread when no destination has begun with the pending events, a writer when
 * everything committed is written.  For a dead writer, whose lock on the session is gone, the
 * consumer thread takes its rings over.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

/*
 * Positions that a dead consumer prepared but did not publish must not come into force when this
 * one publishes the same number: a ring that the first batch does not move would skip its events.
 */
enum ctrace_status ct_ownership_drop_prepared(const struct ct_consumer_source *source,
					      uint32_t dests)
{
	uint32_t count = source->ring_count(source->user);

	for (uint32_t i = 0; i < count; i++) {
		struct ct_ring *ring = source->ring_at(source->user, i);

		for (uint32_t dest = 0; ring != NULL && dest < CT_DEST_LIMIT; dest++) {
			struct ct_cursor *cursor = &ring->head->cursor[dest];
			enum ctrace_status status;

			if ((dests & 1u << dest) == 0 ||
			    cursor->next_sequence <= source->session->head->dest[dest].sequence)
				continue;
			cursor->next_sequence = 0;
			status = ct_ring_persist(ring, &cursor->next_sequence,
						 sizeof cursor->next_sequence);
			if (status != CTRACE_OK)
				return status;
		}
	}
	return CTRACE_OK;
}

/* The cursor starts at the tail.  The emitter keeps its own position in the stream while another
 * process owns the ring. */
void ct_ownership_start_cursor(struct ct_consumer *consumer, uint32_t ring_index, uint32_t dest)
{
	struct ct_ring *ring = ct_consumer_ring(consumer, ring_index);
	uint64_t sequence = ct_consumer_dest(consumer, dest)->sequence;

	if (ring != NULL) {
		struct ct_cursor_place place =
			ct_place_at_tail(ring, ct_cursor_get(&ring->head->cursor[dest], sequence));

		ct_cursor_reset(&ring->head->cursor[dest], sequence, &place);
	}
}

bool ct_consumer_has(const struct ct_consumer *consumer, uint32_t held_by)
{
	return consumer->source.recovering || held_by == consumer->source.held_by ||
	       (held_by != 0 && held_by < CT_DEST_LIMIT &&
		(consumer->taken_over & 1u << held_by) != 0);
}

/* Starts with a new ring at its tail.  Rings of a dead process or a dead writer go on at their
 * cursors. */
static void start_ring(struct ct_consumer *consumer, uint32_t index, uint32_t held_by)
{
	for (uint32_t seen = consumer->seen; seen != 0; seen &= seen - 1) {
		uint32_t dest = (uint32_t)__builtin_ctz(seen);
		bool stands = consumer->source.recovering ||
			      (dest == held_by && (consumer->taken_over & 1u << dest) != 0);

		if (!stands)
			ct_ownership_start_cursor(consumer, index, dest);
	}
}

/* May the consumer of a known ring have changed?  A damaged process may have fewer rings than
 * before. */
static bool rings_may_have_moved(struct ct_consumer *consumer, uint32_t ring_count)
{
	/* Pairs with the release in ct_ring_note_move(): a thread that sees the new number sees the
	 * changed consumers. */
	uint32_t moves =
		__atomic_load_n(&consumer->source.session->head->ring_moves, __ATOMIC_ACQUIRE);
	bool has_moved = moves != consumer->moves;

	consumer->moves = moves;
	return has_moved || consumer->has_changing || consumer->taken_over != 0 ||
	       consumer->release != CT_RELEASE_AS_WANTED || ring_count < consumer->ring_count;
}

static void look_at_ring(struct ct_consumer *consumer, uint32_t index)
{
	struct ct_ring *ring = consumer->source.ring_at(consumer->source.user, index);
	/* Pairs with the release store in ring_hand_over(): the former consumer's stores are
	 * visible. */
	uint32_t held_by =
		ring != NULL ? __atomic_load_n(&ring->head->held_by, __ATOMIC_ACQUIRE) : 0;
	bool has = ring != NULL && ct_consumer_has(consumer, held_by);
	bool had = consumer->rings[index] != NULL;

	consumer->rings[index] = has ? ring : NULL;
	if (!has)
		return;
	if (!had) {
		consumer->idle_at[index] = UINT64_MAX;
		start_ring(consumer, index, held_by);
	}
	if (ring->overflow == CT_OVERFLOW_OVERWRITE)
		consumer->overwriting[consumer->overwriting_count++] = index;
	consumer->has_changing |= __atomic_load_n(&ring->head->wanted, __ATOMIC_RELAXED) != held_by;
}

/* Finds the rings of this pass.  Rings that change hands meanwhile wait for the next pass. */
void ct_ownership_take(struct ct_consumer *consumer)
{
	uint32_t count;

	/* Read before the rings and their limits: a pass that began before the process ended has
	 * not seen the last events. */
	consumer->release = consumer->source.release != NULL
				    ? __atomic_load_n(consumer->source.release, __ATOMIC_ACQUIRE)
				    : CT_RELEASE_AS_WANTED;
	count = consumer->source.ring_count(consumer->source.user);
	consumer->looks_at_all = rings_may_have_moved(consumer, count);
	if (consumer->looks_at_all) {
		consumer->ring_count = consumer->overwriting_count = 0;
		consumer->has_changing = false;
	}
	for (uint32_t i = consumer->ring_count; i < count; i++)
		look_at_ring(consumer, i);
	consumer->looks_at_all |= consumer->has_changing;
	consumer->ring_count = count;
}

/* Does a destination have, or is it writing, some of the events behind the tail? */
static bool ring_is_begun(const struct ct_consumer *consumer, const struct ct_ring *ring)
{
	for (uint32_t seen = consumer->seen; seen != 0; seen &= seen - 1) {
		uint32_t dest = (uint32_t)__builtin_ctz(seen);

		if ((ct_destination_is_busy(&consumer->destinations[dest]) &&
		     !consumer->destinations[dest].is_passed_over) ||
		    ct_cursor_get(&ring->head->cursor[dest],
				  ct_consumer_dest(consumer, dest)->sequence)
				    .position > ring->head->tail)
			return true;
	}
	return false;
}

static void ring_hand_over(struct ct_consumer *consumer, uint32_t index, uint32_t held_by)
{
	struct ct_ring *ring = consumer->rings[index];

	consumer->rings[index] = NULL;
	/* Past this line the ring belongs to the other consumer: pairs with the acquire load in
	 * ct_ownership_take(). */
	__atomic_store_n(&ring->head->held_by, held_by, __ATOMIC_RELEASE);
	ct_ring_note_move(consumer->source.session);
}

/* The consumer thread hands a ring to an external writer as soon as no destination has begun with
 * its pending events. */
void ct_ownership_give_to_writers(struct ct_consumer *consumer)
{
	if (!consumer->looks_at_all || consumer->source.held_by != 0 || consumer->source.recovering)
		return;
	for (uint32_t i = 0; i < consumer->ring_count; i++) {
		struct ct_ring *ring = consumer->rings[i];
		uint32_t wanted =
			ring != NULL ? __atomic_load_n(&ring->head->wanted, __ATOMIC_ACQUIRE) : 0;

		if (wanted == 0 || ring->head->held_by != 0)
			continue;
		/* A destination that makes no progress must not keep the ring from the writer. */
		ct_consumer_pass_over_hopeless(consumer, ring);
		if (!ring_is_begun(consumer, ring))
			ring_hand_over(consumer, i, wanted);
	}
}

/* The consumer of a writer's rings gives them back when everything committed before this pass is
 * written. */
void ct_ownership_give_back(struct ct_consumer *consumer)
{
	uint32_t release = consumer->release;

	if (!consumer->looks_at_all || consumer->source.recovering)
		return;
	for (uint32_t i = 0; i < consumer->ring_count; i++) {
		struct ct_ring *ring = consumer->rings[i];
		uint32_t wanted =
			ring != NULL ? __atomic_load_n(&ring->head->wanted, __ATOMIC_ACQUIRE) : 0;

		/* Read once: a damaged process may store anything there. */
		uint32_t held_by =
			ring != NULL ? __atomic_load_n(&ring->head->held_by, __ATOMIC_RELAXED) : 0;

		if (held_by == 0 || !ct_consumer_has(consumer, held_by))
			continue;
		if (release != CT_RELEASE_AS_WANTED || (consumer->taken_over & 1u << held_by) != 0)
			wanted = 0;
		if (wanted == held_by ||
		    (ring->head->tail != consumer->limits[i] && release != CT_RELEASE_NOW))
			continue;
		/* Reports losses after its last event. */
		ct_losses_report(consumer, &consumer->destinations[held_by], NULL);
		ring_hand_over(consumer, i, 0);
	}
}

uint32_t ct_consumer_ring_count(const struct ct_consumer *consumer)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < consumer->ring_count; i++)
		count += consumer->rings[i] != NULL;
	return count;
}

uint32_t ct_ownership_only(const struct ct_consumer *consumer, const struct ct_ring *ring)
{
	uint32_t held_by = __atomic_load_n(&ring->head->held_by, __ATOMIC_RELAXED) % CT_DEST_LIMIT;

	if (held_by == 0 || (held_by != consumer->source.held_by &&
			     ct_dest_path(consumer->source.session, held_by)[0] == '\0'))
		return 0;
	return 1u << held_by;
}

/* ---- rings of dead external writers ---- */

uint32_t ct_consumer_taken_over(const struct ct_consumer *consumer)
{
	return consumer->taken_over;
}

void ct_consumer_take_over(struct ct_consumer *consumer, uint32_t mask)
{
	mask &= ~consumer->taken_over;
	for (uint32_t dest = CT_WRITER_SLOT; dest < CT_DEST_LIMIT; dest++)
		if (ct_destination_is_busy(&consumer->destinations[dest]))
			/* left from an earlier writer: the next pass tries again */
			mask &= ~(1u << dest);
	if (mask == 0)
		return;
	for (uint32_t dest = CT_WRITER_SLOT; dest < CT_DEST_LIMIT; dest++) {
		if ((mask & 1u << dest) == 0)
			continue;
		ct_destination_fini(&consumer->destinations[dest]);
		ct_destination_init(&consumer->destinations[dest], &consumer->places[dest],
				    consumer->source.session, dest, true);
		consumer->destinations[dest].source = &consumer->source;
		consumer->taken_over |= 1u << dest;
		consumer->seen |= 1u << dest;
	}
	(void)!ct_ownership_drop_prepared(&consumer->source, mask);
}

static void destination_report_and_end(struct ct_consumer *consumer, uint32_t dest)
{
	ct_losses_take_over(consumer, dest);
	ct_consumer_announce_to(consumer, dest);
	ct_destination_end(&consumer->destinations[dest]);
	consumer->destinations[dest].retry_at_ns = 0;
	consumer->finished[dest] = ct_consumer_dest(consumer, dest)->sequence + 1;
}

void ct_ownership_report_late(struct ct_consumer *consumer)
{
	for (uint32_t dest = CT_WRITER_SLOT; dest < CT_DEST_LIMIT; dest++)
		if (consumer->finished[dest] != 0 &&
		    consumer->finished[dest] == ct_consumer_dest(consumer, dest)->sequence + 1 &&
		    !ct_destination_is_busy(&consumer->destinations[dest]))
			destination_report_and_end(consumer, dest);
}

/* Ends taken-over destinations that no ring needs any more. */
void ct_ownership_end_taken_over(struct ct_consumer *consumer)
{
	uint32_t in_use = 0;

	if (consumer->taken_over == 0)
		return;
	for (uint32_t i = 0; i < consumer->ring_count; i++)
		if (consumer->rings[i] != NULL)
			in_use |= 1u << consumer->rings[i]->head->held_by % CT_DEST_LIMIT;
	for (uint32_t dest = CT_WRITER_SLOT; dest < CT_DEST_LIMIT; dest++) {
		if ((consumer->taken_over & ~in_use & 1u << dest) == 0 ||
		    ct_destination_is_busy(&consumer->destinations[dest]))
			continue;
		destination_report_and_end(consumer, dest);
		consumer->taken_over &= ~(1u << dest);
		consumer->seen &= ~(1u << dest);
	}
}
