/*
 * consumer.c - the consumer's side of the rings: gather a batch for each destination, write it,
 * commit, free the rings.
 *
 * Runs under the consumer's lock, which is released while an emitter's method runs: on the
 * consumer thread of a traced process, or in a recoverer.  Never waits for a producer.  An event
 * leaves its ring only after it is in every destination that its component has, or is counted as
 * lost for it (pass_over.c).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_NEVER_BYTES \
	((uint64_t)64 << 10) /* FLUSHEVERY=0: bytes that may wait in the rings \
			      */
/* tries to read all heads, before threads are kept from moving to other rings */
#define LOOKS 4u

static struct ct_batch *make_batch(struct ct_session *session)
{
	struct ct_batch *batch = calloc(1, sizeof *batch);

	if (batch != NULL && ct_batch_init(batch, session) == CTRACE_OK)
		return batch;
	free(batch);
	return NULL;
}

enum ctrace_status ct_consumer_create(const struct ct_consumer_source *source,
				      struct ct_consumer **out_consumer)
{
	struct ct_consumer *consumer = calloc(1, sizeof *consumer);
	enum ctrace_status status;

	if (consumer == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = source->recovering ? ct_ownership_drop_prepared(source, UINT32_MAX) : CTRACE_OK;
	if (status == CTRACE_OK)
		status = ct_batch_init(&consumer->scan, source->session);
	if (status == CTRACE_OK) {
		consumer->spare = make_batch(source->session);
		if (consumer->spare == NULL) {
			ct_batch_fini(&consumer->scan);
			status = CTRACE_NOT_ENOUGH_MEMORY;
		}
	}
	if (status != CTRACE_OK) {
		free(consumer);
		return status;
	}
	consumer->source = *source;
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		ct_destination_init(&consumer->destinations[i], &consumer->places[i],
				    source->session, i, source->recovering);
		consumer->destinations[i].source = &consumer->source;
		if (i == source->held_by && source->emitter != NULL)
			consumer->destinations[i].emitter = source->emitter;
		/* A dead process's cursors are used as they are. */
		if (source->recovering && source->session->head->dest[i].active != 0)
			consumer->seen |= 1u << i;
	}
	*out_consumer = consumer;
	return CTRACE_OK;
}

void ct_consumer_destroy(struct ct_consumer *consumer)
{
	bool is_used = false;

	if (consumer == NULL)
		return;
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		is_used |= ct_destination_is_busy(&consumer->destinations[i]);
		ct_destination_fini(&consumer->destinations[i]);
	}
	ct_batch_fini(&consumer->scan);
	if (consumer->spare != NULL)
		ct_batch_fini(consumer->spare);
	free(consumer->spare);
	if (!is_used)
		free(consumer);
}

/* ---- starting a destination ---- */

/* A destination's first event: nothing before the tails was for it. */
static void start_destination(struct ct_consumer *consumer, uint32_t dest)
{
	struct ct_dest *state = ct_consumer_dest(consumer, dest);

	for (uint32_t i = 0; i < consumer->ring_count; i++)
		ct_ownership_start_cursor(consumer, i, dest);
	__atomic_store_n(&state->active, 1, __ATOMIC_RELEASE);
	/* A recoverer that dies half-way is recovered too.  Its successor uses the cursors only if
	 * `active` is set. */
	(void)!ct_session_persist(consumer->source.session, &state->active, sizeof state->active);
	consumer->seen |= 1u << dest;
}

struct ct_cursor_place ct_consumer_place(const struct ct_consumer *consumer,
					 const struct ct_ring *ring, uint32_t dest)
{
	struct ct_cursor_place place = ct_cursor_get(&ring->head->cursor[dest],
						     ct_consumer_dest(consumer, dest)->sequence);
	bool is_there =
		place.position >= ring->head->tail && place.position <= ct_ring_head_position(ring);

	return is_there ? place : ct_place_at_tail(ring, place);
}

/* ---- freeing rings ---- */

/*
 * The earliest place of all destinations: before it nobody needs the ring.  Its count of
 * overwritten events belongs to its position: with the count of a faster destination, the events
 * behind it that are overwritten already would count twice.
 */
static struct ct_cursor_place slowest_place(const struct ct_consumer *consumer,
					    const struct ct_ring *ring)
{
	struct ct_cursor_place slowest = { .position = UINT64_MAX };

	for (uint32_t seen = consumer->seen; seen != 0; seen &= seen - 1) {
		struct ct_cursor_place place =
			ct_consumer_place(consumer, ring, (uint32_t)__builtin_ctz(seen));

		if (place.position < slowest.position)
			slowest = place;
		else if (place.position == slowest.position &&
			 place.overwritten > slowest.overwritten)
			slowest.overwritten = place.overwritten;
	}
	if (slowest.position == UINT64_MAX)
		return ct_place_at_tail(ring, (struct ct_cursor_place){ 0 });
	if (slowest.overwritten < ring->head->overwritten)
		slowest.overwritten = ring->head->overwritten;
	return slowest;
}

static void persist_consumer_words(struct ct_ring *ring)
{
	(void)!ct_ring_persist(ring, &ring->head->tail,
			       offsetof(struct ct_ring_head, cursor) -
				       offsetof(struct ct_ring_head, tail));
}

void ct_consumer_free_ring(struct ct_consumer *consumer, struct ct_ring *ring)
{
	struct ct_cursor_place place = slowest_place(consumer, ring);

	consumer->delivered += place.count - ring->head->consumed;
	consumer->gone += place.overwritten - ring->head->overwritten;
	ct_ring_consume(ring, &place);
	persist_consumer_words(ring);
}

/* Another thread may have handed some rings over while a method ran. */
static void free_rings_of(struct ct_consumer *consumer, const struct ct_batch *batch)
{
	for (uint32_t i = 0; i < batch->iterator_count; i++) {
		struct ct_ring *ring = batch->iterators[i].ring;

		if (ct_consumer_ring(consumer, ring->index) == ring)
			ct_consumer_free_ring(consumer, ring);
	}
}

/* At the end of a pass: nothing more is coming. */
static void free_active_rings(struct ct_consumer *consumer)
{
	for (uint32_t i = 0; i < consumer->active_count; i++) {
		uint32_t index = consumer->active[i];
		struct ct_ring *ring = ct_consumer_ring(consumer, index);

		if (ring == NULL)
			continue;
		ct_consumer_free_ring(consumer, ring);
		ct_ring_wake(ring);
		consumer->idle_at[index] = ring->head->tail == consumer->limits[index]
						   ? consumer->limits[index]
						   : UINT64_MAX;
	}
}

/* ---- one destination ---- */

/* Called before the commit: a recoverer that is killed in between counts twice, not never. */
static void count_damage(struct ct_consumer *consumer, struct ct_iterator *iterator)
{
	struct ct_ring_head *head = iterator->ring->head;
	uint32_t index = iterator->ring->index;

	if (iterator->damaged != 0 && consumer->damaged_to[index] < iterator->place.position) {
		consumer->damaged += iterator->damaged;
		consumer->damaged_to[index] = iterator->place.position;
		__atomic_store_n(&head->undelivered, head->undelivered + iterator->damaged_events,
				 __ATOMIC_RELAXED);
		if (consumer->source.recovering) {
			head->unreadable += iterator->damaged;
			persist_consumer_words(iterator->ring);
		}
	}
	iterator->damaged = iterator->damaged_events = 0;
}

static void count_component(const struct ct_session *session, uint32_t component, uint64_t events,
			    uint64_t bytes)
{
	struct ct_component_entry *entry = &session->components[component];

	if (events == 0)
		return;
	(void)__atomic_fetch_add(&entry->delivered, events, __ATOMIC_RELAXED);
	(void)__atomic_fetch_add(&entry->bytes, bytes, __ATOMIC_RELAXED);
}

/* Counts the delivered events of each component.  Several consumers may count for one component. */
static void count_components(const struct ct_batch *batch)
{
	if (batch->wants_runs) {
		for (uint32_t i = 0; i < batch->runs.count_count; i++) {
			const struct ct_run_count *count = &batch->runs.counts[i];

			count_component(batch->session, count->component, count->events,
					count->bytes);
		}
		return;
	}
	for (uint32_t i = 0, next; i < batch->event_count; i = next) {
		uint64_t events = 0, bytes = 0;

		for (next = i; next < batch->event_count &&
			       batch->events[next].component_id == batch->events[i].component_id;
		     next++) {
			events += batch->first_sizes[next] != 0;
			bytes += batch->first_sizes[next];
		}
		count_component(batch->session, batch->events[i].component_id, events, bytes);
	}
}

/* So many events of the batch were refused; which of them is not known. */
static void count_refused(struct ct_batch *batch, uint64_t refused)
{
	for (uint32_t i = 0; i < batch->iterator_count && refused > 0; i++) {
		uint64_t *counter = &batch->iterators[i].ring->head->passed_over, lost = 0;

		for (uint32_t at = 0; at < batch->event_count && lost < refused; at++)
			lost += batch->events[at].stream == batch->iterators[i].stream;
		__atomic_store_n(counter, *counter + lost, __ATOMIC_RELAXED);
		refused -= lost;
	}
}

static enum ctrace_status batch_commit(struct ct_consumer *consumer, uint32_t dest)
{
	struct ct_batch *batch = consumer->destinations[dest].batch;
	uint64_t sequence = ct_consumer_dest(consumer, dest)->sequence;
	bool is_dropped = consumer->source.is_dropped != NULL && *consumer->source.is_dropped;
	enum ctrace_status status = CTRACE_OK;

	for (uint32_t i = 0; i < batch->iterator_count && status == CTRACE_OK; i++) {
		struct ct_iterator *iterator = &batch->iterators[i];
		struct ct_cursor *cursor = &iterator->ring->head->cursor[dest];

		if (!iterator->moved)
			continue;
		count_damage(consumer, iterator);
		if (iterator->stream != UINT32_MAX) {
			iterator->place.offset = batch->streams[iterator->stream].offset;
			iterator->place.stream_sequence = batch->streams[iterator->stream].sequence;
			iterator->place.stream_extra = batch->streams[iterator->stream].extra;
		}
		ct_cursor_prepare(cursor, sequence, &iterator->place);
		status = ct_ring_persist(iterator->ring, cursor, sizeof *cursor);
	}
	if (status == CTRACE_OK)
		status = ct_destination_commit(&consumer->destinations[dest],
					       is_dropped ? 0 : batch->event_count);
	if (status != CTRACE_OK)
		return status;
	if (!batch->wants_runs)
		count_refused(batch, consumer->destinations[dest].refused);
	if (!consumer->source.recovering && !is_dropped)
		count_components(batch);
	for (uint32_t i = 0; i < batch->iterator_count; i++)
		batch->iterators[i].moved = false;
	return CTRACE_OK;
}

/* Events that waited for a destination when an operator put their component in storage: their ring
 * is consumed, so they are lost. */
static void count_put_in_storage(struct ct_consumer *consumer, uint32_t dest, uint64_t events)
{
	struct ct_session_head *head = consumer->source.session->head;

	(void)__atomic_fetch_add(&head->lost[CTRACE_LOSS_UNDELIVERABLE], events, __ATOMIC_RELAXED);
	(void)__atomic_fetch_add(&head->dest[dest].lost[CTRACE_LOSS_UNDELIVERABLE], events,
				 __ATOMIC_RELAXED);
}

/* On return all of the batch is in the destination, or nothing is. */
static enum ctrace_status write_batch(struct ct_consumer *consumer, uint32_t dest, bool flush)
{
	struct ct_destination *destination = &consumer->destinations[dest];
	const struct ct_batch *batch = destination->batch;
	struct ctrace_batch out = {
		.size = sizeof out,
		.events = batch->events,
		.event_count = batch->event_count,
		.streams = batch->streams,
		.stream_count = batch->stream_count,
		.flush = flush,
	};
	enum ctrace_status status;

	if (batch->wants_runs) {
		out.events = NULL;
		out.runs = batch->runs.runs;
		out.run_count = batch->runs.run_count;
		out.classes = batch->runs.classes;
		out.class_count = batch->runs.class_count;
		out.class_table = batch->classes.bytes;
		out.class_table_size = batch->classes.size;
		out.definitions = batch->runs.definitions;
	}

	if (!ct_destination_open(destination, flush))
		return CTRACE_OUTPUT_ERROR;
	if (!ct_destination_writes(destination)) {
		/* A destination that writes nothing is silent, or it is the standard error of a
		 * dead process; then its events are undeliverable. */
		bool gone = destination->recovering &&
			    (destination->emitter->flags & CTRACE_EMITTER_LIVE_ONLY) != 0;

		if (gone)
			consumer->undeliverable += batch->event_count;
		if (dest == CT_EMITTER_STORAGE)
			count_put_in_storage(consumer, dest, batch->event_count);
		return CTRACE_OK;
	}
	ct_losses_report(consumer, destination, batch);
	status = ct_destination_write(destination, &out);
	if (status == CTRACE_OK)
		consumer->written += batch->event_count;
	return status;
}

/* Does FLUSHEVERY want more before it writes? */
static bool destination_holds_back(const struct ct_destination *destination)
{
	uint64_t bytes = 0;

	if (destination->flush_every == 1 || destination->self == NULL)
		return false;
	for (uint32_t i = 0; i < destination->batch->iterator_count; i++) {
		const struct ct_iterator *iterator = &destination->batch->iterators[i];
		uint64_t waiting = iterator->limit - iterator->place.position;

		bytes += waiting;
		/* Events that are long due, and events that block a producer, are written all the
		 * same. */
		if ((waiting > iterator->ring->capacity / 4 &&
		     !__atomic_load_n(&iterator->ring->may_grow, __ATOMIC_RELAXED)) ||
		    __atomic_load_n(&iterator->ring->head->waiting, __ATOMIC_RELAXED) != 0)
			return false;
	}
	if (destination->flush_every == 0)
		return bytes < FLUSH_NEVER_BYTES;
	return ct_batch_count(destination->batch, destination->flush_every) <
	       destination->flush_every;
}

/* Adds the rings from the destination's positions on; NULL: from their tails on. */
static void add_rings(struct ct_consumer *consumer, struct ct_batch *batch,
		      const struct ct_destination *destination)
{
	for (uint32_t i = 0; i < consumer->active_count; i++) {
		uint32_t index = consumer->active[i];
		struct ct_ring *ring = ct_consumer_ring(consumer, index);
		struct ct_cursor_place place = { 0 };

		if (ring == NULL)
			continue;
		place = destination != NULL ? ct_consumer_place(consumer, ring, destination->index)
					    : ct_place_at_tail(ring, place);
		if (place.position < consumer->limits[index])
			ct_batch_add_ring(batch, ring, &place, consumer->limits[index],
					  ct_ownership_only(consumer, ring));
	}
}

/* Starts a walk with its batch. */
static bool start_batch(struct ct_consumer *consumer, struct ct_destination *destination)
{
	if (destination->batch == NULL) {
		destination->batch = consumer->spare != NULL ? consumer->spare
							     : make_batch(destination->session);
		consumer->spare = NULL;
	}
	if (destination->batch != NULL &&
	    ct_batch_start(destination->batch, destination->index, consumer->active_count,
			   consumer->source.sync) == CTRACE_OK)
		return true;
	errno = ENOMEM;
	ct_destination_failed(destination);
	return false;
}

/* The lock is released in write_batch().  Everything that other threads may have changed is read
 * again after it. */
static void deliver_batches(struct ct_consumer *consumer, uint32_t dest, bool flush)
{
	struct ct_destination *destination = &consumer->destinations[dest];
	struct ct_batch *batch;

	if (destination->retry_at_ns != 0 && !flush &&
	    ct_clock_mono_ns() < destination->retry_at_ns)
		return;
	if (!start_batch(consumer, destination))
		return;
	batch = destination->batch;
	batch->seen = 0;
	batch->wants_runs = ct_destination_wants_runs(destination);
	batch->least_level = destination->least_level;
	batch->most_bytes = !destination->is_limited            ? RUNS_BYTES
			    : consumer->source.batch_bytes != 0 ? consumer->source.batch_bytes
								: RUN_BYTES;
	add_rings(consumer, batch, destination);
	if (batch->iterator_count == 0)
		ct_destination_has_all(destination);
	if (batch->iterator_count == 0 || (!flush && destination_holds_back(destination)))
		return;
	destination->overwritten = ct_losses_overwritten(consumer, dest);
	do {
		if (batch->wants_runs)
			ct_batch_fill_runs(batch);
		else
			ct_batch_fill(batch);
		if (batch->event_count > 0 && write_batch(consumer, dest, flush) != CTRACE_OK)
			return;
		if (batch_commit(consumer, dest) != CTRACE_OK) {
			ct_destination_uncommitted(destination);
			return;
		}
		/* A producer may be waiting.  But nothing is freed while there are events for a
		 * destination without cursors. */
		if ((batch->seen & ~consumer->seen) == 0)
			free_rings_of(consumer, batch);
	} while (batch->event_count > 0);
}

/* Returns false when another thread has taken over this consumer. */
static bool consumer_deliver(struct ct_consumer *consumer, uint32_t dest, bool flush)
{
	struct ct_destination *destination = &consumer->destinations[dest];
	uint32_t turn = consumer->turn;

	if (ct_destination_is_busy(destination))
		return true;
	ct_destination_close_if_wanted(destination);
	if (consumer->turn != turn)
		return false;
	deliver_batches(consumer, dest, flush);
	if (destination->batch != NULL)
		consumer->noticed |= destination->batch->seen;
	return consumer->turn == turn;
}

/* ---- the pass ---- */

/* Marks a destination whose method does not return as failing, for readers. */
static void note_stuck(struct ct_consumer *consumer)
{
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		struct ct_destination *destination = &consumer->destinations[dest];
		struct ct_dest *state = ct_consumer_dest(consumer, dest);
		uint64_t since = __atomic_load_n(&destination->call_since_ns, __ATOMIC_RELAXED);

		if (!ct_destination_is_stuck(destination) || state->stuck_since_ns != 0)
			continue;
		if (state->failing == 0)
			state->failures++;
		__atomic_store_n(&state->failing, ETIMEDOUT, __ATOMIC_RELAXED);
		__atomic_store_n(&state->stuck_since_ns,
				 ct_clock_wall_ns() - (ct_clock_mono_ns() - since),
				 __ATOMIC_RELAXED);
	}
}

/* Loads the heads of all rings once: how far this pass goes, and which rings have events.  Returns
 * false when a thread moved to another ring meanwhile. */
static bool look_at_heads(struct ct_consumer *consumer)
{
	const uint32_t *moves = &consumer->source.session->head->ring_moves;
	/* Pairs with the release in ct_ring_note_move(). */
	uint32_t before = __atomic_load_n(moves, __ATOMIC_ACQUIRE);

	consumer->active_count = 0;
	for (uint32_t i = 0; i < consumer->ring_count; i++) {
		const struct ct_ring *ring = ct_consumer_ring(consumer, i);

		consumer->limits[i] =
			ring != NULL ? ct_ring_head_position(ring) : consumer->idle_at[i];
		if (consumer->limits[i] != consumer->idle_at[i])
			consumer->active[consumer->active_count++] = i;
		if (i == 0)
			ct_point("consumer.looked");
	}
	return __atomic_load_n(moves, __ATOMIC_ACQUIRE) == before;
}

/*
 * A pass with an event of a thread's larger ring must have all events of its smaller ring.  A
 * thread commits its last event in the smaller ring, notes the move, and then commits in the
 * larger ring.  A pass that sees the latter finds the number changed and loads the heads again.
 */
static void take_limits(struct ct_consumer *consumer)
{
	for (unsigned looks = 0; looks < LOOKS; looks++)
		if (look_at_heads(consumer))
			return;
	if (consumer->source.hold_moves == NULL)
		return;
	consumer->source.hold_moves(consumer->source.user);
	(void)look_at_heads(consumer);
	consumer->source.allow_moves(consumer->source.user);
}

/* Rings in storage keep what they have; without a trigger those of the flight recorder, too. */
static void leave_kept_rings(struct ct_consumer *consumer, bool flight)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < consumer->active_count; i++) {
		uint32_t kept = ct_consumer_ring(consumer, consumer->active[i])->kept;

		if (kept == CT_KEPT_NOT || (kept == CT_KEPT_FLIGHT && flight))
			consumer->active[count++] = consumer->active[i];
	}
	consumer->active_count = count;
}

/*
 * Walks events that no destination has walked.  Needed only without a destination, or when one
 * fails and so does not see what follows.  Otherwise each delivery notes the other destinations of
 * its events.
 */
static void look_for_destinations(struct ct_consumer *consumer)
{
	struct ct_batch *batch = &consumer->scan;

	batch->seen = 0;
	if (ct_batch_start(batch, 0, consumer->active_count, consumer->source.sync) != CTRACE_OK)
		return;
	batch->dest_bit = 0;
	add_rings(consumer, batch, NULL);
	if (batch->iterator_count > 0)
		ct_batch_fill(batch);
	consumer->noticed |= batch->seen;
}

static bool deliver_to(struct ct_consumer *consumer, uint32_t dests, bool flush)
{
	for (; dests != 0; dests &= dests - 1)
		if (!consumer_deliver(consumer, (uint32_t)__builtin_ctz(dests), flush))
			return false;
	return true;
}

static bool deliver_new(struct ct_consumer *consumer, bool flush)
{
	uint32_t found;

	if (consumer->seen == 0 || ct_consumer_stuck(consumer) != 0 ||
	    ct_consumer_is_busy(consumer))
		look_for_destinations(consumer);
	found = consumer->noticed & ~consumer->seen;
	/* Starts all of them together: a ring must not be freed for the first before the others
	 * have a cursor in it. */
	for (uint32_t left = found; left != 0; left &= left - 1)
		start_destination(consumer, (uint32_t)__builtin_ctz(left));
	return deliver_to(consumer, found, flush);
}

static uint64_t count_pending(struct ct_consumer *consumer)
{
	uint64_t pending = 0;

	for (uint32_t i = 0; i < consumer->active_count; i++) {
		const struct ct_ring *ring = ct_consumer_ring(consumer, consumer->active[i]);

		if (ring != NULL && !ring->kept)
			pending += ct_ring_head_position(ring) - ring->head->tail;
	}
	return pending;
}

void ct_consumer_pass(struct ct_consumer *consumer, bool flush,
		      struct ct_consumer_result *out_result)
{
	struct ct_consumer_result result = { 0 };
	uint64_t before = consumer->delivered, gone_before = consumer->gone;
	uint32_t wanted;
	bool flight;

	if (consumer->source.sync != NULL)
		ct_sync_update(consumer->source.sync, consumer->dated);
	else if (!consumer->source.recovering)
		ct_shared_sync_update(&consumer->source.session->head->sync, consumer->dated);
	ct_ownership_take(consumer);
	ct_ownership_give_to_writers(consumer);
	take_limits(consumer);
	consumer->dated = consumer->source.sync != NULL ? ct_sync_now(consumer->source.sync)
							: ct_clock_ticks();
	/* Loaded after the limits: a pass that sees the event that pulled the trigger sees the
	 * trigger too, and delivers the history first. */
	wanted = __atomic_load_n(consumer->source.flight_wanted, __ATOMIC_ACQUIRE);
	flight = wanted != 0;
	leave_kept_rings(consumer, flight);
	consumer->noticed = 0;
	if (!deliver_to(consumer, consumer->seen, flush) || !deliver_new(consumer, flush)) {
		*out_result = (struct ct_consumer_result){ .is_superseded = true };
		return;
	}
	note_stuck(consumer);
	ct_consumer_pass_over_full(consumer);
	ct_consumer_pass_over_stuck(consumer);
	free_active_rings(consumer);
	ct_ownership_give_back(consumer);
	ct_ownership_end_taken_over(consumer);
	result.delivered = consumer->delivered - before;
	result.gone = consumer->gone - gone_before;
	result.pending = count_pending(consumer);
	result.failing = ct_consumer_stuck(consumer);
	/* Reset only now: a process that dies in between is recovered with its history.  Stays set
	 * if the trigger was pulled again. */
	if (flight && result.failing == 0)
		(void)__atomic_compare_exchange_n(consumer->source.flight_wanted, &wanted, 0, false,
						  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	result.damaged = consumer->damaged;
	result.undeliverable = consumer->undeliverable;
	result.written = consumer->written;
	*out_result = result;
}

void ct_consumer_supersede(struct ct_consumer *consumer)
{
	consumer->turn++;
}
