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
/* bytes of events in a batch of more than one: an output may hold as much in memory */
#define BATCH_BYTES ((size_t)8 << 20)
/* bytes of a run of more than one event: readers hold a run in memory */
#define RUN_BYTES ((size_t)64 << 10)
/* bytes of a batch's runs; an output of limited size gets RUN_BYTES, and takes a batch whole or not
 * at all */
#define RUNS_BYTES (4 * RUN_BYTES)
#define RUN_PIECES 4096u    /* pieces in the runs of a batch */
#define RETRY_NS 100000000u /* a failing destination is tried again after this */

/* A span of a ring whose events count as lost. */
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
	uint32_t least_level; /* least level of events for an emitter with CTRACE_EMITTER_RUNS */
	/* The output is limited in size, or refused a batch, so it gets small batches. */
	bool is_limited;
	/* it failed because it has the size that it may have */
	bool is_full;
	uint64_t retry_at_ns;      /* monotonic; 0: works */
	uint64_t failing_since_ns; /* monotonic; 0: works */
	/* losses of all kinds that were announced to the emitter's lost() */
	uint64_t announced;
	/* the consumer's, whose lock is released while a method runs; NULL: no lock */
	const struct ct_consumer_source *source;
	struct ct_passed *passed; /* by ring: the last span that was passed over.  NULL: none was */
	/* the batch that the running method reads; NULL until the first delivery */
	struct ct_batch *batch;
	/* its events that were overwritten before the present walk began */
	uint64_t overwritten;
	/* atomic: monotonic time at which the running method began.  0: none runs */
	uint64_t call_since_ns;
	/* The running method may be writing events that were counted as lost; the output will be
	 * truncated. */
	bool is_passed_over;
	bool reopen_wanted;
	uint64_t refused;   /* events of the batch that its receiver has refused for good */
	bool has_failed_at; /* the running or last method has named the cause of its failure */
	/* recovering: what the emitter has said of its output before it went on; "": nothing */
	char remark[256];
	/* the last commit has a new path, whose directory is not noted yet */
	bool has_moved;
	struct ct_buf value; /* value of the last property that was read */
	struct ct_buf command_line, working_directory, log_directory;
};
/* place: the caller's memory for the output's position, which outlives the destination. */
void ct_destination_init(struct ct_destination *destination, struct ctrace_place *place,
			 struct ct_session *session, uint32_t index, bool recovering);
void ct_destination_fini(struct ct_destination *destination);
/* Does the emitter take runs?  Then least_level and is_limited are set too.  Returns false also for
 * an unknown emitter. */
bool ct_destination_wants_runs(struct ct_destination *destination);
/* Would the destination take over the output at that path? */
bool ct_destination_wants(struct ct_destination *destination, const char *path);
/* Opens the destination unless it is open or must not be tried yet.  Returns false when it fails,
 * or when it was passed over during the opening; then a batch that was made before is lost. */
bool ct_destination_open(struct ct_destination *destination, bool now);
void ct_destination_close(struct ct_destination *destination); /* keeps its position */
/* closes it if it is to open again with new settings */
void ct_destination_close_if_wanted(struct ct_destination *destination);
/* Closes it for good.  The session then holds the number of losses that the output reports: all
 * that were announced, unless they could not be written. */
void ct_destination_end(struct ct_destination *destination);
/* Does a method run?  While it does, no other code uses the destination's emitter. */
static inline bool ct_destination_is_busy(const struct ct_destination *destination)
{
	return __atomic_load_n(&destination->call_since_ns, __ATOMIC_RELAXED) != 0;
}
/* Has its method been running for longer than the consumer waits? */
bool ct_destination_is_stuck(const struct ct_destination *destination);
/* For a recoverer that has delivered all events: opens an output with CTRACE_EMITTER_ENDS that is
 * still there, so that it is closed as ending.  Returns false when that fails. */
bool ct_destination_open_ending(struct ct_destination *destination);
/* Writes a batch.  Returns OUTPUT_ERROR when none of it counts. */
enum ctrace_status ct_destination_write(struct ct_destination *destination,
					const struct ctrace_batch *batch) CT_MUST_USE;
/* Announces the losses, if the output does not report all of them yet. */
void ct_destination_announce(struct ct_destination *destination,
			     const uint64_t totals[CTRACE_LOSS_COUNT]);
enum ctrace_status ct_destination_sync(struct ct_destination *destination) CT_MUST_USE;
/* Publishes positions from ct_cursor_prepare() behind events that the destination will not get. The
 * output's position stays. */
enum ctrace_status ct_destination_pass_over(struct ct_destination *destination,
					    uint64_t lost) CT_MUST_USE;
/* Begins a new generation, whose position is committed before it holds an event.  Returns NOT_FOUND
 * when the destination is not open. */
enum ctrace_status ct_destination_rotate(struct ct_destination *destination) CT_MUST_USE;
/* Notes a failure (errno) and when to try again. */
void ct_destination_failed(struct ct_destination *destination);
/* The same, of a commit: what was written for it is cut off before the next try. */
void ct_destination_uncommitted(struct ct_destination *destination);
/* No event is pending for it: an external writer took over the events that it failed to write.  If
 * it is open, it no longer fails. */
void ct_destination_has_all(struct ct_destination *destination);
/* Writes the position beside the rings and publishes: positions from ct_cursor_prepare() come into
 * force. */
enum ctrace_status ct_destination_commit(struct ct_destination *destination,
					 uint64_t delivered) CT_MUST_USE;
/* false: silent, or only its own process could write */
bool ct_destination_writes(const struct ct_destination *destination);

/* ---- runs.c: the form of a batch for an emitter with CTRACE_EMITTER_RUNS */
struct ct_known_class;
/* Totals of the delivered events of a component. */
struct ct_run_count {
	uint32_t component;
	uint64_t events;
	uint64_t bytes;
};
struct ct_runs {
	struct ctrace_run *runs;
	struct ctrace_piece *pieces;
	struct ctrace_run_class *classes;
	struct ctrace_definition *definitions; /* of the classes' components */
	struct ct_run_count *counts;
	uint32_t run_count;
	uint32_t piece_count;
	uint32_t class_count, class_capacity, definition_capacity;
	uint32_t count_count, count_capacity;
	struct ctrace_run *open; /* the run that events are added to; NULL: none */
	/* ticks at which a different line of the clock begins */
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
	struct ct_cursor_place place; /* position of `event`, or of the end */
	uint64_t overwritten_before;  /* place.overwritten at the beginning of the walk */
	uint64_t limit;
	struct ct_event event;
	/* in an external writer's ring: the destination of all its events, as a mask; 0: each
	 * event's own */
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
	struct ct_iterator **heap; /* iterators that have an event, earliest first */
	uint32_t iterator_count;
	uint32_t iterator_capacity;
	uint32_t heap_count;
	uint32_t dest_bit;
	uint32_t component_count;
	uint32_t seen; /* mask of destinations of all events that were passed */
	bool wants_runs;
	uint32_t least_level; /* of events in runs */
	size_t most_bytes;    /* bytes of runs that have more than one event */
	struct ct_runs runs;
	struct ctrace_event *events;
	struct ctrace_event_item *items;
	struct ctrace_stream *streams;
	struct ct_arena copies; /* of events of overwrite rings */
	struct ct_buf scratch;
	struct ct_class_image classes;
	/* by event: its bytes in the ring if this is the first of its destinations; else 0 */
	uint32_t *first_sizes;
	uint32_t event_count;
	uint32_t item_count;
	uint32_t stream_count;
	size_t bytes; /* of the events, in the rings */
};
enum ctrace_status ct_batch_init(struct ct_batch *batch, struct ct_session *session) CT_MUST_USE;
void ct_batch_fini(struct ct_batch *batch);
/* Starts a walk for one destination, by a clock (NULL: the session's).  The caller then adds each
 * ring, and fills until no events come. */
enum ctrace_status ct_batch_start(struct ct_batch *batch, uint32_t dest, uint32_t ring_count,
				  const struct ct_sync *sync) CT_MUST_USE;
/* only: the destinations of all events of the ring, as a mask; 0: those of each event's component.
 */
void ct_batch_add_ring(struct ct_batch *batch, struct ct_ring *ring,
		       const struct ct_cursor_place *from, uint64_t limit, uint32_t only);
void ct_batch_fill(struct ct_batch *batch);      /* decoded events */
void ct_batch_fill_runs(struct ct_batch *batch); /* runs.c: the bytes of events */
enum ctrace_status ct_runs_init(struct ct_runs *runs) CT_MUST_USE;
void ct_runs_fini(struct ct_runs *runs);
/* batch.c: the heap of iterators, by event.ticks.  Pop returns NULL when it is empty. */
void ct_batch_push(struct ct_batch *batch, struct ct_iterator *iterator);
struct ct_iterator *ct_batch_pop(struct ct_batch *batch);
/* runs.c: the index of the ring's stream in the batch */
uint32_t ct_batch_stream(struct ct_batch *batch, struct ct_iterator *iterator);
static inline void ct_batch_empty(struct ct_batch *batch)
{
	batch->event_count = batch->item_count = batch->stream_count = batch->heap_count = 0;
	batch->bytes = 0;
	for (uint32_t i = 0; i < batch->iterator_count; i++)
		batch->iterators[i].stream = UINT32_MAX;
	ct_arena_fini(&batch->copies);
}
/* Counts the components.  Another process's session may hold any number, so it is checked. */
static inline void ct_batch_count_components(struct ct_batch *batch)
{
	uint32_t count = __atomic_load_n(&batch->session->head->component_count, __ATOMIC_ACQUIRE);

	batch->component_count = count < CT_COMPONENT_LIMIT ? count : CT_COMPONENT_LIMIT;
}
/* Returns the destinations of a component's events, and notes them. */
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
/* Skips damaged bytes. */
static inline void ct_batch_skip_damage(struct ct_iterator *iterator, uint64_t bytes)
{
	iterator->damaged += bytes;
	iterator->damaged_events++;
	iterator->place.position += bytes;
	iterator->place.count++;
	iterator->moved = true;
}
/* Events behind damage are found from the next mark on, because each size leads to the next event.
 */
void ct_batch_skip_to_mark(struct ct_iterator *iterator);
/* Returns how many events the walk would give, at most `enough`.  Does not move. */
uint64_t ct_batch_count(struct ct_batch *batch, uint64_t enough);

/* ---- consumer.c */
struct ct_consumer {
	struct ct_consumer_source source;
	struct ct_destination destinations[CT_DEST_LIMIT];
	/* positions of outputs: a page each, which is touched when the destination is opened */
	struct ctrace_place places[CT_DEST_LIMIT];
	/* reserved for the first destination, so that a consumer can always serve one */
	struct ct_batch *spare;
	/* only for looking at events; each destination has a batch of its own */
	struct ct_batch scan;
	uint32_t turn;    /* raised when another thread goes on with this consumer */
	uint32_t noticed; /* destinations of the events that this pass has walked over */
	/* mask of destinations that had an event; each has a cursor in every ring */
	uint32_t seen;
	uint32_t taken_over; /* of these, taken over from dead external writers */
	/* of taken-over destinations: the final `sequence` plus 1; 0: none was finished */
	uint64_t finished[CT_DEST_LIMIT];
	uint32_t release;    /* CT_RELEASE_*, as read when this pass began */
	uint32_t ring_count; /* rings that were looked at */
	/* rings of this pass; NULL: the ring has another consumer */
	struct ct_ring *rings[CT_RING_LIMIT];
	/* A pass loads one word of each ring, its head, and works only on rings with events. */
	uint32_t active_count;
	/* numbers of the rings whose head was beyond their tail when this pass began */
	uint32_t active[CT_RING_LIMIT];
	uint32_t overwriting_count;
	uint32_t overwriting[CT_RING_LIMIT]; /* numbers of the rings with the policy overwrite */
	/* by ring: its head if every destination has the last event; else UINT64_MAX */
	uint64_t idle_at[CT_RING_LIMIT];
	/* this pass checks the consumer of each ring, because one may have changed */
	bool looks_at_all;
	bool has_changing; /* a ring is to change its consumer, and could not yet */
	/* ring_moves of the session, when all consumers were last checked */
	uint32_t moves;
	/* events that every destination has, or that were overwritten */
	uint64_t delivered;
	uint64_t gone;                  /* of these, overwritten */
	uint64_t damaged;               /* bytes that could not be read */
	uint64_t undeliverable;         /* events whose destination ended with the process */
	uint64_t written;               /* events that destinations accepted: once for each */
	uint64_t limits[CT_RING_LIMIT]; /* their heads when this pass began */
	uint64_t dated;                 /* ticks after these were read: no event is later */
	/* damage before this position is counted already; every destination meets it */
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

/* Returns the position at the tail.  The emitter's own position in its stream stays. */
static inline struct ct_cursor_place ct_place_at_tail(const struct ct_ring *ring,
						      struct ct_cursor_place place)
{
	place.position = ring->head->tail;
	place.count = ring->head->consumed;
	place.overwritten = ring->head->overwritten;
	place.state = ct_ring_tail_state(ring->head);
	return place;
}

/* Returns the position of a destination in a ring.  An impossible cursor was never started or is
 * damaged; then it is the tail, and at worst the events in between come again. */
struct ct_cursor_place ct_consumer_place(const struct ct_consumer *consumer,
					 const struct ct_ring *ring, uint32_t dest);

/* Frees the bytes of a ring before the earliest position of all destinations.  A waiting producer
 * wakes when a quarter of the ring is free, or when nothing more is to come. */
void ct_consumer_free_ring(struct ct_consumer *consumer, struct ct_ring *ring);

/* ---- pass_over.c: destinations that make no progress */
/* The mask of destinations that fail, or whose method does not return. */
uint32_t ct_consumer_stuck(const struct ct_consumer *consumer);
/* In rings that run full: counts, for a destination without progress, the events that the other
 * destinations have had as lost. */
void ct_consumer_pass_over_stuck(struct ct_consumer *consumer);
/* Counts events for a destination that is full as lost (`unwritten`): at once in rings whose
 * threads do not wait, in others after ctrace.block.timeout. */
void ct_consumer_pass_over_full(struct ct_consumer *consumer);
/* The same for one ring that an external writer is to get, full or not, and for destinations that
 * have failed for long. */
void ct_consumer_pass_over_hopeless(struct ct_consumer *consumer, struct ct_ring *ring);

/* ---- losses.c: losses of destinations */
/* Returns how many events were overwritten before the destination had them, in this consumer's
 * rings. */
uint64_t ct_losses_overwritten(const struct ct_consumer *consumer, uint32_t dest);
/* Moves the losses of an external writer that died before it wrote anything to the destinations
 * that get the events of its rings.  They report the losses. */
void ct_losses_take_over(struct ct_consumer *consumer, uint32_t dest);
/* Announces its losses to the destination, unless its output reports all of them. */
void ct_losses_report(struct ct_consumer *consumer, struct ct_destination *destination,
		      const struct ct_batch *batch);
/* Announces losses to a destination if its output, as last committed, does not report all of them.
 */
void ct_consumer_announce_to(struct ct_consumer *consumer, uint32_t dest);

/* ---- ownership.c: which consumer owns a ring */
/* Puts a destination's cursor at the tail of a ring, unless the ring has another consumer. */
void ct_ownership_start_cursor(struct ct_consumer *consumer, uint32_t ring_index, uint32_t dest);
/* Discards positions that a dead consumer prepared for these destinations but did not publish. */
enum ctrace_status ct_ownership_drop_prepared(const struct ct_consumer_source *source,
					      uint32_t dests) CT_MUST_USE;
/* Steps of a pass: find the rings it works on; hand rings to writers; give rings back; end finished
 * taken-over destinations. */
void ct_ownership_take(struct ct_consumer *consumer);
void ct_ownership_give_to_writers(struct ct_consumer *consumer);
void ct_ownership_give_back(struct ct_consumer *consumer);
void ct_ownership_end_taken_over(struct ct_consumer *consumer);
/* Reports losses that threads counted late for taken-over destinations which are finished and have
 * no new writer: a thread may have read the ring's consumer earlier than it counts the event. */
void ct_ownership_report_late(struct ct_consumer *consumer);
/* Returns the destination of all events in an external writer's ring, as a mask.  Returns 0, each
 * event's own, also when the writer died before it wrote anything. */
uint32_t ct_ownership_only(const struct ct_consumer *consumer, const struct ct_ring *ring);

#endif
