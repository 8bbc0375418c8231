/*
 * custody.c - whose a ring is: the agent's, an external writer's, or one's that has died and that the agent finishes.
 *
 * Runs under the drain's lock, in the agent, an external writer's worker or a recoverer.  A ring's `consumer` says who has it, and only
 * that one hands it on: the agent when no destination has begun with what waits in it, a writer when everything that was
 * committed is written.  A writer that has died hands nothing on: its lock on the session is gone, and the agent adopts what it had.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

/*
 * What a dead drain had prepared but not published must not come into force when this one publishes the same number: a ring that the
 * first batch does not move would jump over its events.
 */
enum ctrace_status ct_custody_forget_prepared(const struct ct_drain_source *source, uint32_t dests)
{
	uint32_t count = source->ring_count(source->user);

	for (uint32_t i = 0; i < count; i++) {
		struct ct_ring *ring = source->ring_at(source->user, i);

		for (uint32_t dest = 0; ring != NULL && dest < CT_DEST_LIMIT; dest++) {
			struct ct_cursor *cursor = &ring->head->cursor[dest];
			enum ctrace_status status;

			if ((dests & 1u << dest) == 0 || cursor->next_sequence <= source->session->head->dest[dest].sequence)
				continue;
			cursor->next_sequence = 0;
			status = ct_ring_persist(ring, &cursor->next_sequence, sizeof cursor->next_sequence);
			if (status != CTRACE_OK)
				return status;
		}
	}
	return CTRACE_OK;
}

/* The cursor starts at the tail.  The emitter keeps its own position in the stream while another process owns the ring. */
void ct_custody_start_cursor(struct ct_drain *drain, uint32_t ring_index, uint32_t dest)
{
	struct ct_ring *ring = ct_drain_ring(drain, ring_index);
	uint64_t sequence = ct_drain_dest(drain, dest)->sequence;

	if (ring != NULL) {
		struct ct_cursor_place place = ct_place_at_tail(ring, ct_cursor_get(&ring->head->cursor[dest], sequence));

		ct_cursor_reset(&ring->head->cursor[dest], sequence, &place);
	}
}

bool ct_drain_has(const struct ct_drain *drain, uint32_t consumer)
{
	return drain->source.recovering || consumer == drain->source.consumer ||
	       (consumer != 0 && consumer < CT_DEST_LIMIT && (drain->adopted & 1u << consumer) != 0);
}

/* A ring that has come: nothing before its tail is for us.  A dead process's, and a dead writer's, stand where they were left. */
static void start_ring(struct ct_drain *drain, uint32_t index, uint32_t consumer)
{
	for (uint32_t seen = drain->seen; seen != 0; seen &= seen - 1) {
		uint32_t dest = (uint32_t)__builtin_ctz(seen);
		bool stands = drain->source.recovering || (dest == consumer && (drain->adopted & 1u << dest) != 0);

		if (!stands)
			ct_custody_start_cursor(drain, index, dest);
	}
}

/* May the consumer of a ring that was looked at have changed since?  A damaged process may have fewer rings than before. */
static bool may_have_moved(struct ct_drain *drain, uint32_t ring_count)
{
	/* Pairs with the release in ct_ring_note_move(): who sees the new number sees the words that it is about. */
	uint32_t moves = __atomic_load_n(&drain->source.session->head->ring_moves, __ATOMIC_ACQUIRE);
	bool has_moved = moves != drain->moves;

	drain->moves = moves;
	return has_moved || drain->has_changing || drain->adopted != 0 || drain->release != CT_RELEASE_AS_WANTED ||
	       ring_count < drain->ring_count;
}

static void look_at_ring(struct ct_drain *drain, uint32_t index)
{
	struct ct_ring *ring = drain->source.ring_at(drain->source.user, index);
	/* Pairs with the release store in give(): what its last consumer did to it is done. */
	uint32_t consumer = ring != NULL ? __atomic_load_n(&ring->head->consumer, __ATOMIC_ACQUIRE) : 0;
	bool has = ring != NULL && ct_drain_has(drain, consumer);
	bool had = drain->rings[index] != NULL;

	drain->rings[index] = has ? ring : NULL;
	if (!has)
		return;
	if (!had) {
		drain->idle_at[index] = UINT64_MAX;
		start_ring(drain, index, consumer);
	}
	if (ring->overflow == CT_OVERFLOW_OVERWRITE)
		drain->overwriting[drain->overwriting_count++] = index;
	drain->has_changing |= __atomic_load_n(&ring->head->wanted, __ATOMIC_RELAXED) != consumer;
}

/* Which rings this pass works on: what others take or give meanwhile waits for the next. */
void ct_custody_take(struct ct_drain *drain)
{
	uint32_t count;

	/* Before the rings and their limits are looked at: of a process that has ended, a pass that began earlier has not seen the last events. */
	drain->release =
		drain->source.release != NULL ? __atomic_load_n(drain->source.release, __ATOMIC_ACQUIRE) : CT_RELEASE_AS_WANTED;
	count = drain->source.ring_count(drain->source.user);
	drain->looks_at_all = may_have_moved(drain, count);
	if (drain->looks_at_all) {
		drain->ring_count = drain->overwriting_count = 0;
		drain->has_changing = false;
	}
	for (uint32_t i = drain->ring_count; i < count; i++)
		look_at_ring(drain, i);
	drain->looks_at_all |= drain->has_changing;
	drain->ring_count = count;
}

/* Has some destination a part of what is behind the tail, or is it writing one? */
static bool is_begun(const struct ct_drain *drain, const struct ct_ring *ring)
{
	for (uint32_t seen = drain->seen; seen != 0; seen &= seen - 1) {
		uint32_t dest = (uint32_t)__builtin_ctz(seen);

		if ((ct_destination_is_busy(&drain->destinations[dest]) && !drain->destinations[dest].is_passed_over) ||
		    ct_cursor_get(&ring->head->cursor[dest], ct_drain_dest(drain, dest)->sequence).position > ring->head->tail)
			return true;
	}
	return false;
}

static void give(struct ct_drain *drain, uint32_t index, uint32_t consumer)
{
	struct ct_ring *ring = drain->rings[index];

	drain->rings[index] = NULL;
	/* Past this line it is the other's: pairs with the acquire load in ct_custody_take(). */
	__atomic_store_n(&ring->head->consumer, consumer, __ATOMIC_RELEASE);
	ct_ring_note_move(drain->source.session);
}

/* The agent lets an external writer have a ring as soon as no destination has begun with what waits in it. */
void ct_custody_give_to_writers(struct ct_drain *drain)
{
	if (!drain->looks_at_all || drain->source.consumer != 0 || drain->source.recovering)
		return;
	for (uint32_t i = 0; i < drain->ring_count; i++) {
		struct ct_ring *ring = drain->rings[i];
		uint32_t wanted = ring != NULL ? __atomic_load_n(&ring->head->wanted, __ATOMIC_ACQUIRE) : 0;

		if (wanted == 0 || ring->head->consumer != 0)
			continue;
		/* A destination that makes no progress must not keep the ring from the writer. */
		ct_drain_pass_over_hopeless(drain, ring);
		if (!is_begun(drain, ring))
			give(drain, i, wanted);
	}
}

/* Who has a writer's rings gives them back when what was committed before this pass is written. */
void ct_custody_give_back(struct ct_drain *drain)
{
	uint32_t release = drain->release;

	if (!drain->looks_at_all || drain->source.recovering)
		return;
	for (uint32_t i = 0; i < drain->ring_count; i++) {
		struct ct_ring *ring = drain->rings[i];
		uint32_t wanted = ring != NULL ? __atomic_load_n(&ring->head->wanted, __ATOMIC_ACQUIRE) : 0;

		/* Read once: a damaged process may write there what it likes. */
		uint32_t consumer = ring != NULL ? __atomic_load_n(&ring->head->consumer, __ATOMIC_RELAXED) : 0;

		if (consumer == 0 || !ct_drain_has(drain, consumer))
			continue;
		if (release != CT_RELEASE_AS_WANTED || (drain->adopted & 1u << consumer) != 0)
			wanted = 0;
		if (wanted == consumer || (ring->head->tail != drain->limits[i] && release != CT_RELEASE_NOW))
			continue;
		/* What it lost after its last event. */
		ct_losses_report(drain, &drain->destinations[consumer], NULL);
		give(drain, i, 0);
	}
}

uint32_t ct_drain_ring_count(const struct ct_drain *drain)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < drain->ring_count; i++)
		count += drain->rings[i] != NULL;
	return count;
}

uint32_t ct_custody_only(const struct ct_drain *drain, const struct ct_ring *ring)
{
	uint32_t consumer = __atomic_load_n(&ring->head->consumer, __ATOMIC_RELAXED) % CT_DEST_LIMIT;

	if (consumer == 0 || (consumer != drain->source.consumer && ct_dest_path(drain->source.session, consumer)[0] == '\0'))
		return 0;
	return 1u << consumer;
}

/* ---- what external writers left that have died ---- */

uint32_t ct_drain_adopted(const struct ct_drain *drain)
{
	return drain->adopted;
}

void ct_drain_adopt(struct ct_drain *drain, uint32_t mask)
{
	mask &= ~drain->adopted;
	for (uint32_t dest = CT_WRITER_SLOT; dest < CT_DEST_LIMIT; dest++)
		if (ct_destination_is_busy(&drain->destinations[dest]))
			mask &= ~(1u << dest); /* left from an earlier writer: the next pass tries again */
	if (mask == 0)
		return;
	for (uint32_t dest = CT_WRITER_SLOT; dest < CT_DEST_LIMIT; dest++) {
		if ((mask & 1u << dest) == 0)
			continue;
		ct_destination_fini(&drain->destinations[dest]);
		ct_destination_init(&drain->destinations[dest], &drain->places[dest], drain->source.session, dest, true);
		drain->destinations[dest].source = &drain->source;
		drain->adopted |= 1u << dest;
		drain->seen |= 1u << dest;
	}
	(void)!ct_custody_forget_prepared(&drain->source, mask);
}

static void report_and_end(struct ct_drain *drain, uint32_t dest)
{
	ct_losses_take_over(drain, dest);
	ct_drain_announce_to(drain, dest);
	ct_destination_end(&drain->destinations[dest]);
	drain->destinations[dest].retry_at_ns = 0;
	drain->finished[dest] = ct_drain_dest(drain, dest)->sequence + 1;
}

void ct_custody_report_late(struct ct_drain *drain)
{
	for (uint32_t dest = CT_WRITER_SLOT; dest < CT_DEST_LIMIT; dest++)
		if (drain->finished[dest] == ct_drain_dest(drain, dest)->sequence + 1 &&
		    !ct_destination_is_busy(&drain->destinations[dest]))
			report_and_end(drain, dest);
}

/* A destination that none of our rings is for any more. */
void ct_custody_end_adopted(struct ct_drain *drain)
{
	uint32_t in_use = 0;

	if (drain->adopted == 0)
		return;
	for (uint32_t i = 0; i < drain->ring_count; i++)
		if (drain->rings[i] != NULL)
			in_use |= 1u << drain->rings[i]->head->consumer % CT_DEST_LIMIT;
	for (uint32_t dest = CT_WRITER_SLOT; dest < CT_DEST_LIMIT; dest++) {
		if ((drain->adopted & ~in_use & 1u << dest) == 0 || ct_destination_is_busy(&drain->destinations[dest]))
			continue;
		report_and_end(drain, dest);
		drain->adopted &= ~(1u << dest);
		drain->seen &= ~(1u << dest);
	}
}
