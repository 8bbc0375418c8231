/*
 * lib/consumer/delivery.h - what the files of the consumer share.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONSUMER_DELIVERY_H
#define CT_CONSUMER_DELIVERY_H

#include "lib/consumer/consumer.h"

#define BATCH_EVENTS 1024u
#define BATCH_ITEMS (8192u + CTRACE_MAX_ITEMS)
/* of events, unless it has one only: so much of them an output may hold in memory */
#define BATCH_BYTES ((size_t)8 << 20)
/* of a run, unless it has one event only: what readers hold at a time */
#define RUN_BYTES ((size_t)64 << 10)
/* of the runs of a batch; one for an output of limited size, which takes it whole or not at all */
#define RUNS_BYTES (4 * RUN_BYTES)
#define RUN_PIECES 4096u    /* of the runs of a batch */
#define RETRY_NS 100000000u /* a failing destination is tried again after this */

/* Positions of a ring whose events count as lost. */
struct ct_passed {
	uint64_t from, to;
};

/* ---- destination.c: one destination of the session */
struct ct_destination {
	const struct ctrace_emitter *emitter; /* NULL: not looked up yet */
	void *self;                           /* NULL: not open */
	struct ctrace_emitter_context context;
	struct ctrace_place *place;
	struct ct_session *session;
	uint32_t index;
	bool recovering;
	uint64_t flush_every;
	uint32_t least_level; /* of events that an emitter with CTRACE_EMITTER_RUNS gets */
	/* its output takes only so much; or did not take a batch: then it gets small ones */
	bool is_limited;
	uint64_t retry_at_ns;      /* monotonic; 0: works */
	uint64_t failing_since_ns; /* monotonic; 0: works */
	/* losses of all kinds that the emitter's lost() was called for */
	uint64_t announced;
	/* of the consumer, whose lock is released while a method runs; NULL: no lock */
	const struct ct_consumer_source *source;
	struct ct_passed *passed; /* by ring: where it was passed over last.  NULL: it never was */
	/* what the method that runs reads; NULL until the first delivery */
	struct ct_batch *batch;
	/* events that it lacks because they were overwritten, when the present walk began */
	uint64_t overwritten;
	uint64_t call_since_ns; /* atomic: monotonic; a method runs since then.  0: none */
	/* events that the running method may be writing were counted as lost: the output will be
	 * cut back */
	bool is_passed_over;
	bool reopen_wanted;
	bool has_failed_at; /* the running method, or the last one, has named what it failed at */
	/* the last commit has another path, whose directory is not noted yet */
	bool has_moved;
	struct ct_buf value; /* the last property asked for */
	struct ct_buf command_line, working_directory, log_directory;
};
/* place: the caller's memory for where its output is, which outlives the destination. */
void ct_destination_init(struct ct_destination *destination, struct ctrace_place *place,
			 struct ct_session *session, uint32_t index, bool recovering);
void ct_destination_fini(struct ct_destination *destination);
/* Does it get runs?  Then least_level and is_limited are right too.  False also when there is no
 * such emitter. */
bool ct_destination_wants_runs(struct ct_destination *destination);
/* Would it take over the output at that path? */
bool ct_destination_wants(struct ct_destination *destination, const char *path);
/* Opens it unless it is open or must not be tried yet.  False: it fails, or was passed over
 * while it was opened: a batch that was made before is lost. */
bool ct_destination_open(struct ct_destination *destination, bool now);
void ct_destination_close(struct ct_destination *destination); /* keeps its place */
/* it opens again with new settings */
void ct_destination_close_if_wanted(struct ct_destination *destination);
/* Closes it for good.  The session then has the number of losses that the output reports: all that
 * were announced, unless they could not be written. */
void ct_destination_end(struct ct_destination *destination);
/* The mark of a method that runs: nothing else touches the destination's emitter meanwhile. */
static inline bool ct_destination_is_busy(const struct ct_destination *destination)
{
	return __atomic_load_n(&destination->call_since_ns, __ATOMIC_RELAXED) != 0;
}
/* Has a method of it been running for longer than its consumer waits? */
bool ct_destination_is_stuck(const struct ct_destination *destination);
/* Writes a batch; OUTPUT_ERROR when nothing of it counts. */
enum ctrace_status ct_destination_write(struct ct_destination *destination,
					const struct ctrace_batch *batch) CT_MUST_USE;
/* Announces the losses, if the output does not report all of them yet. */
void ct_destination_announce(struct ct_destination *destination,
			     const uint64_t totals[CTRACE_LOSS_COUNT]);
enum ctrace_status ct_destination_sync(struct ct_destination *destination) CT_MUST_USE;
/* Publishes what ct_cursor_prepare() prepared for events that the destination will not get.  The
 * place of its output stays. */
enum ctrace_status ct_destination_pass_over(struct ct_destination *destination,
					    uint64_t lost) CT_MUST_USE;
/* A new generation, at a place that is committed before there is an event in it.  NOT_FOUND when it
 * is not open. */
enum ctrace_status ct_destination_rotate(struct ct_destination *destination) CT_MUST_USE;
/* Notes a failure (errno) and when to try again. */
void ct_destination_failed(struct ct_destination *destination);
/* Nothing waits for it: what it failed to write, an external writer took over.  One that is open
 * does not fail any more. */
void ct_destination_has_all(struct ct_destination *destination);
/* Writes the place beside the rings and publishes: what ct_cursor_prepare() prepared is in force.
 */
enum ctrace_status ct_destination_commit(struct ct_destination *destination,
					 uint64_t delivered) CT_MUST_USE;
/* false: silent, or only its own process could */
bool ct_destination_writes(const struct ct_destination *destination);

/* ---- runs.c: what a batch has for an emitter with CTRACE_EMITTER_RUNS */
struct ct_known_class;
/* What was delivered of a component. */
struct ct_run_count {
	uint32_t component;
	uint64_t events;
	uint64_t bytes;
};
struct ct_runs {
	struct ctrace_run *runs;
	struct ctrace_piece *pieces;
	struct ctrace_run_class *classes;
	struct ct_run_count *counts;
	uint32_t run_count;
	uint32_t piece_count;
	uint32_t class_count, class_capacity;
	uint32_t count_count, count_capacity;
	struct ctrace_run *open; /* the one that events are added to; NULL: none */
	/* ticks from which on time goes on in another way than in that */
	uint64_t line_end;
	struct ct_known_class *known; /* by number */
	uint32_t known_count;
	uint64_t walk; /* of one ring */
	uint64_t fill; /* of one batch */
};

/* ---- batch.c: the next events for a destination, merged by time; runs.c: runs of them, ring by
 * ring */
struct ct_iterator {
	struct ct_ring *ring;
	struct ct_cursor_place place; /* of `event`, or of the end */
	uint64_t overwritten_before;  /* place.overwritten at the beginning of the walk */
	uint64_t limit;
	struct ct_event event;
	/* the ring is an external writer's: the destination of all that is in it, as a mask; 0:
	 * each event's own */
	uint32_t only;
	uint32_t dests;  /* of the event's component */
	uint32_t stream; /* index into the batch's streams, or UINT32_MAX */
	bool moved;
	bool has_event;
	uint64_t damaged; /* bytes */
	uint64_t damaged_events;
};
struct ct_batch {
	struct ct_session *session;
	struct ct_sync sync;
	struct ct_iterator *iterators;
	struct ct_iterator **heap; /* those that have an event, earliest first */
	uint32_t iterator_count;
	uint32_t iterator_capacity;
	uint32_t heap_count;
	uint32_t dest_bit;
	uint32_t component_count;
	uint32_t seen; /* destinations of every event that was passed */
	bool wants_runs;
	uint32_t least_level; /* of events in runs */
	size_t most_bytes;    /* of these, unless it has one event only */
	struct ct_runs runs;
	struct ctrace_event *events;
	struct ctrace_event_item *items;
	struct ctrace_stream *streams;
	struct ct_arena copies; /* of events of overwrite rings */
	struct ct_buf scratch;
	struct ct_class_view classes;
	/* of each event: its bytes in the ring, when this is the first of its destinations; else 0
	 */
	uint32_t *first_sizes;
	uint32_t event_count;
	uint32_t item_count;
	uint32_t stream_count;
	size_t bytes; /* of the events, in the rings */
};
enum ctrace_status ct_batch_init(struct ct_batch *batch, struct ct_session *session) CT_MUST_USE;
void ct_batch_fini(struct ct_batch *batch);
/* Starts a walk for one destination, by a clock (NULL: the session's); then add each ring; then
 * fill until it gives no events. */
enum ctrace_status ct_batch_start(struct ct_batch *batch, uint32_t dest, uint32_t ring_count,
				  const struct ct_sync *sync) CT_MUST_USE;
/* only: the destinations of all its events, as a mask; 0: each one's component's. */
void ct_batch_add_ring(struct ct_batch *batch, struct ct_ring *ring,
		       const struct ct_cursor_place *from, uint64_t limit, uint32_t only);
void ct_batch_fill(struct ct_batch *batch);      /* decoded events */
void ct_batch_fill_runs(struct ct_batch *batch); /* runs.c: the bytes of events */
enum ctrace_status ct_runs_init(struct ct_runs *runs) CT_MUST_USE;
void ct_runs_fini(struct ct_runs *runs);
/* What both have. */
/* runs.c: its index among the batch's streams */
uint32_t ct_batch_stream(struct ct_batch *batch, struct ct_iterator *iterator);
static inline void ct_batch_empty(struct ct_batch *batch)
{
	batch->event_count = batch->item_count = batch->stream_count = batch->heap_count = 0;
	batch->bytes = 0;
	for (uint32_t i = 0; i < batch->iterator_count; i++)
		batch->iterators[i].stream = UINT32_MAX;
	ct_arena_fini(&batch->copies);
}
/* Components that there are.  A session that is another process's says what it likes. */
static inline void ct_batch_count_components(struct ct_batch *batch)
{
	uint32_t count = __atomic_load_n(&batch->session->head->component_count, __ATOMIC_ACQUIRE);

	batch->component_count = count < CT_COMPONENT_LIMIT ? count : CT_COMPONENT_LIMIT;
}
/* Where events of a component go, which is noted. */
static inline uint32_t ct_batch_dests(struct ct_batch *batch, struct ct_iterator *iterator,
				      uint32_t component)
{
	uint32_t dests = iterator->only;

	if (dests == 0)
		dests = __atomic_load_n(&batch->session->components[component].dests,
					__ATOMIC_RELAXED);
	batch->seen |= dests;
	iterator->ring->bound |= dests;
	return dests;
}
/* Bytes that are no event. */
static inline void ct_batch_skip_damage(struct ct_iterator *iterator, uint64_t bytes)
{
	iterator->damaged += bytes;
	iterator->damaged_events++;
	iterator->place.position += bytes;
	iterator->place.count++;
	iterator->moved = true;
}
/* How many events the walk would give, up to `enough`; does not move. */
uint64_t ct_batch_count(struct ct_batch *batch, uint64_t enough);

/* ---- consumer.c */
struct ct_consumer {
	struct ct_consumer_source source;
	struct ct_destination destinations[CT_DEST_LIMIT];
	/* theirs: a page each, which is touched when the destination is opened */
	struct ctrace_place places[CT_DEST_LIMIT];
	/* for the first destination, so that a consumer can always serve one */
	struct ct_batch *spare;
	/* for looking at events only; each destination has a batch of its own */
	struct ct_batch scan;
	uint32_t turn;    /* raised when another thread goes on with this consumer */
	uint32_t noticed; /* destinations of the events that this pass has walked over */
	/* destinations that some event was for; each has a cursor in every ring */
	uint32_t seen;
	uint32_t adopted; /* of these, were external writers' that have died */
	/* of those that were adopted: one more than `sequence` had become; 0: none was */
	uint64_t finished[CT_DEST_LIMIT];
	uint32_t release;                     /* CT_RELEASE_*: as it was when this pass began */
	uint32_t ring_count;                  /* rings that have been looked at */
	struct ct_ring *rings[CT_RING_LIMIT]; /* those of this pass; NULL: somebody else's */
	/* A pass loads one word of each ring, its head.  It works on the rings that have something.
	 */
	uint32_t active_count;
	/* numbers of the rings whose head was beyond their tail when this pass began */
	uint32_t active[CT_RING_LIMIT];
	uint32_t overwriting_count;
	uint32_t overwriting[CT_RING_LIMIT]; /* numbers of the rings with the policy overwrite */
	/* head of a ring whose last event every destination has; else UINT64_MAX */
	uint64_t idle_at[CT_RING_LIMIT];
	/* this pass looks at the consumer of each ring, because one may have changed */
	bool looks_at_all;
	bool has_changing; /* a ring is to have another consumer, which it could not get yet */
	/* ring_moves of the session, when all consumers were looked at last */
	uint32_t moves;
	uint64_t delivered;             /* events that every destination has, or that are gone */
	uint64_t gone;                  /* of these, overwritten */
	uint64_t damaged;               /* bytes that could not be read */
	uint64_t undeliverable;         /* events whose destination went with their process */
	uint64_t written;               /* events that destinations took: once for each */
	uint64_t limits[CT_RING_LIMIT]; /* their heads when this pass began */
	/* damage before this position is counted: each destination finds it */
	uint64_t damaged_to[CT_RING_LIMIT];
};

static inline struct ct_ring *ct_consumer_ring(const struct ct_consumer *consumer, uint32_t index)
{
	return consumer->rings[index];
}

static inline struct ct_dest *ct_consumer_dest(const struct ct_consumer *consumer, uint32_t index)
{
	return &consumer->source.session->head->dest[index];
}

/* At the tail; where the emitter stands in its stream stays. */
static inline struct ct_cursor_place ct_place_at_tail(const struct ct_ring *ring,
						      struct ct_cursor_place place)
{
	place.position = ring->head->tail;
	place.count = ring->head->consumed;
	place.overwritten = ring->head->overwritten;
	place.state = ct_ring_tail_state(ring->head);
	return place;
}

/* Where a destination is in a ring.  A cursor that cannot be was never started, or is damaged:
 * it stands at the tail, and at worst what is between the two comes again. */
struct ct_cursor_place ct_consumer_place(const struct ct_consumer *consumer,
					 const struct ct_ring *ring, uint32_t dest);

/* The bytes of a ring before the earliest place of all destinations may be written again.  A
 * producer that waits wakes when it has a quarter of the ring, or when nothing more is to come. */
void ct_consumer_free_ring(struct ct_consumer *consumer, struct ct_ring *ring);

/* ---- pass_over.c: what a destination that makes no progress costs */
/* The mask of destinations that fail, or whose method does not return. */
uint32_t ct_consumer_stuck(const struct ct_consumer *consumer);
/* In rings that run full: counts as lost for a destination without progress what the other
 * destinations have had. */
void ct_consumer_pass_over_stuck(struct ct_consumer *consumer);
/* The same for a ring that an external writer is to have, whether it runs full or not, and for
 * destinations without hope. */
void ct_consumer_pass_over_hopeless(struct ct_consumer *consumer, struct ct_ring *ring);

/* ---- losses.c: what destinations have lost */
/* Events that were overwritten before the destination had them, in the rings of this consumer. */
uint64_t ct_losses_overwritten(const struct ct_consumer *consumer, uint32_t dest);
/* What a destination has lost, by reason: in the rings of this consumer, and before there was a
 * ring.  batch: its batch that is about to be written, or NULL: then what its last commit says. */
void ct_losses_sum(struct ct_consumer *consumer, const struct ct_destination *destination,
		   const struct ct_batch *batch, uint64_t out_totals[CTRACE_LOSS_COUNT]);
/* Losses of an external writer that has no output, because it died before it had written anything:
 * the destinations that get the events of these rings report them. */
void ct_losses_take_over(struct ct_consumer *consumer, uint32_t dest);
/* Announces it to the destination, if its output does not report all of it yet. */
void ct_losses_report(struct ct_consumer *consumer, struct ct_destination *destination,
		      const struct ct_batch *batch);
/* Reports losses to a destination whose output, as it was committed last, does not report all of
 * them. */
void ct_consumer_announce_to(struct ct_consumer *consumer, uint32_t dest);

/* ---- ownership.c: whose a ring is */
/* Puts a destination's cursor at the tail of a ring; one that is not ours is left alone. */
void ct_ownership_start_cursor(struct ct_consumer *consumer, uint32_t ring_index, uint32_t dest);
/* What a dead consumer had prepared for these destinations, but not published, is forgotten. */
enum ctrace_status ct_ownership_forget_prepared(const struct ct_consumer_source *source,
						uint32_t dests) CT_MUST_USE;
/* The steps of a pass: which rings it works on; those that writers may have now; those to be given
 * back; adopted destinations that are done with. */
void ct_ownership_take(struct ct_consumer *consumer);
void ct_ownership_give_to_writers(struct ct_consumer *consumer);
void ct_ownership_give_back(struct ct_consumer *consumer);
void ct_ownership_end_adopted(struct ct_consumer *consumer);
/* Reports what threads have lost for adopted destinations that are done with, and that no writer
 * has since: a thread may have seen that its ring was the writer's, and count the event later. */
void ct_ownership_report_late(struct ct_consumer *consumer);
/* The destination of everything in an external writer's ring, as a mask.  0, each event's own, also
 * for that of one that died before it had written anything. */
uint32_t ct_ownership_only(const struct ct_consumer *consumer, const struct ct_ring *ring);

#endif
