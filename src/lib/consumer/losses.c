/*
 * losses.c - what destinations have lost, and which output reports it.
 *
 * Runs under the consumer's lock, in the consumer thread, an external writer's worker or a
 * recoverer.  Losses are counted by producers (lib/trace/trace.c), by pass_over.c, and by rings
 * that were overwritten.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

/*
 * Counts overwritten events by the destination's own positions, not by the tail: the producer may
 * be overwriting events that are in the batch..
 */
uint64_t ct_losses_overwritten(const struct ct_consumer *consumer, uint32_t dest)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < consumer->overwriting_count; i++) {
		const struct ct_ring *ring = ct_consumer_ring(consumer, consumer->overwriting[i]);

		if (ring != NULL && (dest < CT_WRITER_SLOT || ring->head->held_by == dest))
			total += ct_consumer_place(consumer, ring, dest).overwritten;
	}
	return total;
}

/* Adds the overwritten events that its present walk has met. */
static uint64_t sum_overwritten_in(const struct ct_destination *destination,
				   const struct ct_batch *batch)
{
	uint64_t total = destination->overwritten;

	for (uint32_t i = 0; i < batch->iterator_count; i++)
		total += batch->iterators[i].place.overwritten -
			 batch->iterators[i].overwritten_before;
	return total;
}

/* Returns a ring's losses for a writer's present output; the cursor holds the losses before that..
 */
static uint64_t lost_in_ring(struct ct_consumer *consumer, const struct ct_ring *ring,
			     uint32_t dest)
{
	uint64_t sequence = ct_consumer_dest(consumer, dest)->sequence;

	return __atomic_load_n(&ring->head->lost_to[dest], __ATOMIC_RELAXED) +
	       (dest < CT_WRITER_SLOT ? 0
				      : ct_cursor_get(&ring->head->cursor[dest], sequence).lost);
}

/* Counts losses of threads that were killed after they counted in the ring, and before they counted
 * for the destination. */
static uint64_t count_unfinished(struct ct_consumer *consumer, uint32_t dest,
				 const uint64_t totals[CTRACE_LOSS_COUNT])
{
	uint64_t counted = totals[CTRACE_LOSS_DISCARDED] + totals[CTRACE_LOSS_STALLED] +
			   totals[CTRACE_LOSS_TOO_LARGE];
	uint64_t in_rings = 0;

	for (uint32_t i = 0; i < consumer->source.ring_count(consumer->source.user); i++) {
		const struct ct_ring *ring = consumer->source.ring_at(consumer->source.user, i);

		in_rings += ring != NULL ? lost_in_ring(consumer, ring, dest) : 0;
	}
	return in_rings > counted ? in_rings - counted : 0;
}

/* Nobody knows for which destination an event was that cannot be read. */
static uint64_t count_damaged(const struct ct_consumer *consumer)
{
	uint64_t damaged = 0;

	for (uint32_t i = 0; i < consumer->source.ring_count(consumer->source.user); i++) {
		const struct ct_ring *ring = consumer->source.ring_at(consumer->source.user, i);

		damaged += ring != NULL ? ring->head->undelivered : 0;
	}
	return damaged;
}

/* Sums a destination's losses by reason: in the rings of this consumer, and before there was a
 * ring.  batch: its batch that is about to be written; NULL: takes the totals of its last commit.
 */
static void losses_sum(struct ct_consumer *consumer, const struct ct_destination *destination,
		       const struct ct_batch *batch, uint64_t out_totals[CTRACE_LOSS_COUNT])
{
	struct ct_dest *dest = ct_consumer_dest(consumer, destination->index);
	const struct ct_session_head *head = consumer->source.session->head;

	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++) {
		out_totals[reason] = __atomic_load_n(&dest->lost[reason], __ATOMIC_RELAXED);
		/* Losses without a component are announced to each of the process's own
		 * destinations. */
		if (destination->index < CT_WRITER_SLOT)
			out_totals[reason] +=
				__atomic_load_n(&head->lost_to_all[reason], __ATOMIC_RELAXED);
	}
	if (consumer->source.recovering || consumer->release != CT_RELEASE_AS_WANTED)
		out_totals[CTRACE_LOSS_DISCARDED] +=
			count_unfinished(consumer, destination->index, out_totals);
	out_totals[CTRACE_LOSS_UNDELIVERABLE] += ct_dest_current(dest)->lost;
	if (consumer->source.recovering && destination->index < CT_WRITER_SLOT)
		out_totals[CTRACE_LOSS_DAMAGED] += count_damaged(consumer);
	out_totals[CTRACE_LOSS_OVERWRITTEN] +=
		batch != NULL ? sum_overwritten_in(destination, batch)
			      : ct_losses_overwritten(consumer, destination->index);
}

void ct_losses_report(struct ct_consumer *consumer, struct ct_destination *destination,
		      const struct ct_batch *batch)
{
	uint64_t totals[CTRACE_LOSS_COUNT];

	losses_sum(consumer, destination, batch, totals);
	ct_destination_announce(destination, totals);
}

void ct_losses_take_over(struct ct_consumer *consumer, uint32_t dest)
{
	const uint32_t own = (1u << CT_WRITER_SLOT) - 1;
	struct ct_dest *state = ct_consumer_dest(consumer, dest);
	uint64_t announced = ct_dest_current(state)->announced, sum = 0, due;

	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		sum += __atomic_load_n(&state->lost[reason], __ATOMIC_RELAXED);
	due = sum - announced;
	if (sum <= announced || ct_dest_path(consumer->source.session, dest)[0] != '\0')
		return;
	/* Rings that this consumer has just given back count, too.  A ring that it has not walked
	 * yet is done when the process ends. */
	for (uint32_t i = 0; i < consumer->ring_count; i++) {
		const struct ct_ring *ring = consumer->source.ring_at(consumer->source.user, i);
		uint32_t left = ring != NULL ? ring->bound & own : 0;
		uint64_t lost = left != 0 ? lost_in_ring(consumer, ring, dest) : 0;
		enum ctrace_loss reason = CTRACE_LOSS_DISCARDED;

		lost = lost < due ? lost : due; /* all, unless this was done before */
		due -= lost;
		if (lost != 0 && ring->overflow != CT_OVERFLOW_DISCARD)
			reason = CTRACE_LOSS_STALLED;
		for (; lost != 0 && left != 0; left &= left - 1)
			(void)__atomic_fetch_add(
				&ct_consumer_dest(consumer, (uint32_t)__builtin_ctz(left))
					 ->lost[reason],
				lost, __ATOMIC_RELAXED);
	}
	consumer->destinations[dest].place->lost = consumer->destinations[dest].announced =
		sum - due;
	(void)!ct_destination_commit(&consumer->destinations[dest], 0);
}

/* Has it lost more than its output reports? */
static bool owes_losses(struct ct_consumer *consumer, struct ct_destination *destination,
			uint64_t reported, uint64_t out_totals[CTRACE_LOSS_COUNT])
{
	const struct ct_dest *state = ct_consumer_dest(consumer, destination->index);
	uint64_t sum = 0, own = state->active;

	/* Where a writer has no output, the process's destinations report them. */
	if (state->emitter[0] == '\0' ||
	    (destination->index >= CT_WRITER_SLOT &&
	     ct_dest_path(consumer->source.session, destination->index)[0] == '\0'))
		return false;
	losses_sum(consumer, destination, NULL, out_totals);
	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++) {
		sum += out_totals[reason];
		own += state->lost[reason];
	}
	return own != 0 && sum > reported;
}

void ct_consumer_announce_to(struct ct_consumer *consumer, uint32_t dest)
{
	struct ct_destination *destination = &consumer->destinations[dest];
	uint64_t totals[CTRACE_LOSS_COUNT];

	if (!owes_losses(consumer, destination,
			 ct_dest_current(ct_consumer_dest(consumer, dest))->announced, totals))
		return;
	if (ct_destination_open(destination, true) && ct_destination_writes(destination))
		ct_destination_announce(destination, totals);
}

void ct_consumer_announce(struct ct_consumer *consumer)
{
	for (uint32_t dest = CT_WRITER_SLOT; dest < CT_DEST_LIMIT; dest++)
		ct_losses_take_over(consumer, dest);
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++)
		ct_consumer_announce_to(consumer, dest);
}

bool ct_consumer_owes_losses(struct ct_consumer *consumer)
{
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		struct ct_destination *destination = &consumer->destinations[dest];
		const struct ctrace_emitter *emitter = destination->emitter;
		uint64_t reported = ct_dest_current(ct_consumer_dest(consumer, dest))->announced;
		uint64_t totals[CTRACE_LOSS_COUNT];

		/* A failing destination has not written its last announcement. */
		if (destination->retry_at_ns == 0 && destination->announced > reported)
			reported = destination->announced;
		/* A recoverer can report them if the emitter can, and if the output exists without
		 * the process. */
		if (emitter != NULL && emitter->lost != NULL &&
		    (emitter->flags & (CTRACE_EMITTER_SILENT | CTRACE_EMITTER_LIVE_ONLY)) == 0 &&
		    owes_losses(consumer, destination, reported, totals))
			return true;
	}
	return false;
}
