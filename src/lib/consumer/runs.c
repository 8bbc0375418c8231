/*
 * runs.c - walks the rings for a destination that takes undecoded events, and gives their bytes in
 * runs.
 *
 * Runs under the consumer's lock.  The walk loads each event's head and looks at its class, which
 * gives the event's length and destinations.  It copies nothing, except events of overwrite rings,
 * whose producer may come round again. Behind damage a ring's walk goes on at the next mark,
 * as each event ends where the next begins.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_MOST 512u
#define PIECES_EVENT 4u /* the most that one event takes */
/* between two events of a run: less than half of what 48 bits can tell apart */
#define FAR_TICKS ((uint64_t)1 << 46)
/* An event may be this much earlier than its predecessor, because processors differ.  If it is by
 * more, the counter began anew. */
#define LATE_TICKS ((int64_t)1 << 32)
#define TICKS_MASK (((uint64_t)1 << 48) - 1)
#define CLASSES_MOST (CT_CLASS_TABLE / CT_CLASS_UNIT)

/* Of a class, for the destination of this batch. */
#define KNOWN_IS_OURS 1u    /* its component has this destination */
#define KNOWN_IS_WRITTEN 2u /* and this destination takes events of its level */
/* this is the first of the component's destinations: its events are counted here */
#define KNOWN_IS_FIRST 4u
/* written, and ct_event_shape_size() is enough to pass an event */
#define KNOWN_IS_PLAIN 8u

/* A class as known in the present walk of a ring. */
struct ct_known_class {
	/* the walk that met it last; in another walk only `shape` is valid, if there is one */
	uint64_t walk;
	uint32_t flags; /* KNOWN_* */
	struct ct_event_shape shape;
	uint64_t fill;   /* of the batch that it was met in last: */
	uint32_t count;  /* its place among the counts of that */
	bool is_written; /* it is among the classes of that */
};

enum ctrace_status ct_runs_init(struct ct_runs *runs)
{
	memset(runs, 0, sizeof *runs);
	runs->runs = malloc(RUNS_MOST * sizeof *runs->runs);
	runs->pieces = malloc(RUN_PIECES * sizeof *runs->pieces);
	if (runs->runs != NULL && runs->pieces != NULL)
		return CTRACE_OK;
	ct_runs_fini(runs);
	return CTRACE_NOT_ENOUGH_MEMORY;
}

void ct_runs_fini(struct ct_runs *runs)
{
	free(runs->runs);
	free(runs->pieces);
	free(runs->known);
	free(runs->classes);
	free(runs->definitions);
	free(runs->counts);
	memset(runs, 0, sizeof *runs);
}

/* ---- classes ---- */

/* Room for element `index` of an array; what is new is 0. */
static bool array_reserve(void *array, uint32_t *capacity, uint32_t index, size_t size)
{
	uint32_t wanted = *capacity != 0 ? *capacity : 64;
	char *bigger;

	if (index < *capacity)
		return true;
	while (wanted <= index)
		wanted *= 2;
	bigger = reallocarray(*(void **)array, wanted, size);
	if (bigger == NULL)
		return false;
	memset(bigger + *capacity * size, 0, (wanted - *capacity) * size);
	*(void **)array = bigger;
	*capacity = wanted;
	return true;
}

/* Returns the KNOWN_* flags of a component's events, by its present settings. */
static uint32_t flags_of(struct ct_batch *batch, struct ct_iterator *iterator, uint32_t component,
			 uint32_t level)
{
	uint32_t dests = ct_batch_dests(batch, iterator, component);

	if ((dests & batch->dest_bit) == 0)
		return 0;
	return KNOWN_IS_OURS | (level >= batch->least_level ? KNOWN_IS_WRITTEN : 0u) |
	       ((dests & -dests) == batch->dest_bit ? KNOWN_IS_FIRST : 0u);
}

static bool add_count(struct ct_runs *runs, uint32_t component)
{
	if (!array_reserve(&runs->counts, &runs->count_capacity, runs->count_count,
			   sizeof *runs->counts))
		return false;
	runs->counts[runs->count_count++] = (struct ct_run_count){ .component = component };
	return true;
}

/* Another process's session may hold any size, so it is limited to that of a name. */
static const char *name_of(const struct ct_batch *batch, uint32_t component, size_t *out_size)
{
	const struct ct_component_entry *entry = &batch->session->components[component];
	const char *name = ct_session_text(
		batch->session, __atomic_load_n(&entry->name, __ATOMIC_ACQUIRE), out_size);

	*out_size =
		strnlen(name, *out_size <= CTRACE_MAX_COMPONENT ? *out_size : CTRACE_MAX_COMPONENT);
	return name;
}

/* For the emitter: the class, and the name and the definition of its component. */
static bool add_class(struct ct_batch *batch, const struct ct_known_class *known, uint32_t number)
{
	const struct ct_component_entry *entry =
		&batch->session->components[known->shape.head.component];
	struct ct_runs *runs = &batch->runs;
	struct ctrace_definition *definition;
	struct ctrace_run_class *class;
	size_t size;

	if (!array_reserve(&runs->classes, &runs->class_capacity, runs->class_count,
			   sizeof *runs->classes) ||
	    !array_reserve(&runs->definitions, &runs->definition_capacity, runs->class_count,
			   sizeof *runs->definitions))
		return false;
	definition = &runs->definitions[runs->class_count];
	if (!ct_session_definition(batch->session, entry, definition))
		*definition = (struct ctrace_definition){ .fmttab = "" };
	class = &runs->classes[runs->class_count++];
	class->number = number;
	class->component = name_of(batch, known->shape.head.component, &size);
	class->component_size = (uint32_t)size;
	return true;
}

/* Done once a batch. */
static bool class_meet(struct ct_batch *batch, struct ct_known_class *known, uint32_t number)
{
	struct ct_runs *runs = &batch->runs;

	if (known->fill != runs->fill) {
		if (!add_count(runs, known->shape.head.component))
			return false;
		known->fill = runs->fill;
		known->count = runs->count_count - 1;
		known->is_written = false;
	}
	if ((known->flags & KNOWN_IS_WRITTEN) != 0 && !known->is_written)
		known->is_written = add_class(batch, known, number);
	return (known->flags & KNOWN_IS_WRITTEN) == 0 || known->is_written;
}

/* IS_FULL also for lack of memory: the positions stay, and the next pass tries again. */
enum step { GO_ON, IS_FULL, IS_DAMAGED };

/* Looks at the class for the first time in this walk. */
static enum step look_up_new(struct ct_batch *batch, struct ct_iterator *iterator, uint32_t number,
			     struct ct_known_class **out)
{
	struct ct_runs *runs = &batch->runs;
	struct ct_known_class *known;

	if (number >= CLASSES_MOST ||
	    !array_reserve(&runs->known, &runs->known_count, number, sizeof *runs->known))
		return IS_FULL;
	known = &runs->known[number];
	/* An entry is never changed once it has its number: what was read of it stays right. */
	if ((known->shape.size == 0 && !ct_event_shape(&batch->classes, number, &known->shape)) ||
	    known->shape.head.component >= batch->component_count)
		return IS_DAMAGED;
	known->flags =
		flags_of(batch, iterator, known->shape.head.component, known->shape.head.level);
	if ((known->flags & KNOWN_IS_WRITTEN) != 0 && !known->shape.is_long)
		known->flags |= KNOWN_IS_PLAIN;
	if (!class_meet(batch, known, number))
		return IS_FULL;
	known->walk = runs->walk;
	*out = known;
	return GO_ON;
}

static inline enum step look_up(struct ct_batch *batch, struct ct_iterator *iterator,
				uint32_t number, struct ct_known_class **out)
{
	struct ct_runs *runs = &batch->runs;

	if (number >= runs->known_count || runs->known[number].walk != runs->walk)
		return look_up_new(batch, iterator, number, out);
	*out = &runs->known[number];
	return GO_ON;
}

/* ---- runs ---- */

uint32_t ct_batch_stream(struct ct_batch *batch, struct ct_iterator *iterator)
{
	struct ctrace_stream *stream;

	if (iterator->stream != UINT32_MAX)
		return iterator->stream;
	iterator->stream = batch->stream_count++;
	stream = &batch->streams[iterator->stream];
	*stream = (struct ctrace_stream){
		.id = iterator->ring->index,
		.offset = iterator->place.offset,
		.sequence = iterator->place.stream_sequence,
		.extra = iterator->place.stream_extra,
		/* What the destination has lost of this ring's events so far. */
		.lost = __atomic_load_n(
				&iterator->ring->head->lost_to[__builtin_ctz(batch->dest_bit)],
				__ATOMIC_RELAXED) +
			iterator->place.overwritten + iterator->place.lost,
	};
	return iterator->stream;
}

static void end_run(struct ct_batch *batch)
{
	struct ctrace_run *run = batch->runs.open;

	if (run == NULL)
		return;
	batch->runs.open = NULL;
	run->end_ns = ct_sync_wall_ns(&batch->sync, run->end_ticks);
	if (run->end_ns < run->begin_ns)
		run->end_ns = run->begin_ns;
}

static struct ctrace_run *begin_run(struct ct_batch *batch, struct ct_iterator *iterator,
				    uint64_t ticks)
{
	struct ct_runs *runs = &batch->runs;
	struct ctrace_run *run = &runs->runs[runs->run_count++];

	*run = (struct ctrace_run){
		.stream = ct_batch_stream(batch, iterator),
		.tid = iterator->place.state.tid,
		.pieces = runs->pieces + runs->piece_count,
		.begin_ticks = ticks,
		.end_ticks = ticks,
	};
	run->begin_ns = ct_sync_date(&batch->sync, ticks, &run->clock);
	runs->line_end = ct_sync_line_end(&batch->sync, ticks);
	runs->open = run;
	return run;
}

static void add_piece(struct ct_runs *runs, const void *data, size_t size)
{
	struct ctrace_run *run = runs->open;

	run->size += size;
	if (run->piece_count > 0) {
		struct ctrace_piece *last = &runs->pieces[runs->piece_count - 1];

		if ((const unsigned char *)last->data + last->size == (const unsigned char *)data) {
			last->size += size;
			return;
		}
	}
	runs->pieces[runs->piece_count++] = (struct ctrace_piece){ data, size };
	run->piece_count++;
}

/* Returns the run for the event. */
static inline struct ctrace_run *run_for(struct ct_batch *batch, struct ct_iterator *iterator,
					 size_t size, uint64_t ticks)
{
	struct ct_runs *runs = &batch->runs;
	struct ctrace_run *run = runs->open;

	if (run != NULL && ticks < runs->line_end && run->size + size <= RUN_BYTES &&
	    ticks - run->end_ticks < FAR_TICKS)
		return run;
	end_run(batch);
	return begin_run(batch, iterator, ticks);
}

/* The first bytes of an event, with another time.  NULL without memory. */
static unsigned char *copy_head(struct ct_batch *batch, const unsigned char *at, size_t size,
				uint64_t ticks)
{
	unsigned char *head = ct_arena_take(&batch->copies, size);

	if (head == NULL)
		return NULL;
	memcpy(head, at, size);
	for (unsigned i = 0; i < 6; i++)
		head[2 + i] = (unsigned char)(ticks >> 8 * i);
	return head;
}

/* An event without a class gets the name of its component, which no ring has.  Its first bytes are
 * a copy where its time is another one. */
static void add_any(struct ct_batch *batch, const unsigned char *first, const unsigned char *at,
		    const struct ct_event *event)
{
	size_t size;
	const char *name = name_of(batch, event->head.component, &size);

	add_piece(&batch->runs, first, CT_EVENT_ANY_NAME);
	add_piece(&batch->runs, name, size);
	add_piece(&batch->runs, "", 1);
	add_piece(&batch->runs, at + CT_EVENT_ANY_NAME, event->size - CT_EVENT_ANY_NAME);
}

/* ---- the walk ---- */

static bool has_pieces(const struct ct_runs *runs)
{
	return runs->run_count + 1 < RUNS_MOST && runs->piece_count + PIECES_EVENT < RUN_PIECES;
}

static bool has_room(const struct ct_batch *batch, size_t size)
{
	return has_pieces(&batch->runs) &&
	       (batch->bytes == 0 || batch->bytes + size <= batch->most_bytes);
}

/* By how much an event is after the one before it. */
static inline int64_t time_after(const struct ct_iterator *iterator, uint64_t word)
{
	return (int64_t)(((word >> 16) - iterator->place.state.ticks) << 16) >> 16;
}

static inline void pass(struct ct_iterator *iterator, size_t size, uint64_t ticks)
{
	iterator->place.position += size;
	iterator->place.count++;
	iterator->place.state.ticks = ticks;
	iterator->moved = true;
}

/* counted: the place among the counts of what its component has. */
static inline void count_event(struct ct_batch *batch, uint32_t counted, uint32_t flags,
			       size_t size)
{
	batch->bytes += size;
	batch->event_count++;
	if ((flags & KNOWN_IS_FIRST) != 0) {
		batch->runs.counts[counted].events++;
		batch->runs.counts[counted].bytes += size;
	}
}

/* A mark of another thread, or of a counter that began anew, ends the run. */
static void pass_mark(struct ct_batch *batch, struct ct_iterator *iterator,
		      const struct ct_event *mark)
{
	uint64_t before = iterator->place.state.ticks;
	int64_t back = (int64_t)(before - mark->ticks);

	if (mark->tid != iterator->place.state.tid || back > LATE_TICKS)
		end_run(batch);
	ct_ring_pass(&iterator->place, mark);
	if (back > 0 && back <= LATE_TICKS)
		iterator->place.state.ticks = before;
	iterator->moved = true;
}

/* Finds the event's destinations and its index among the counts: by its class, or for an event
 * without a class, by its component. */
static enum step look_up_event(struct ct_batch *batch, struct ct_iterator *iterator,
			       const struct ct_event *event, uint32_t *out_flags,
			       uint32_t *out_counted)
{
	struct ct_runs *runs = &batch->runs;
	struct ct_known_class *known;
	enum step found;

	if (event->number == CT_CLASS_ANY) {
		size_t size;

		if (event->head.component >= batch->component_count)
			return IS_DAMAGED;
		*out_flags = flags_of(batch, iterator, event->head.component, event->head.level);
		*out_counted = runs->count_count;
		(void)name_of(batch, event->head.component, &size);
		if (size == 0)
			return IS_DAMAGED;
		return (*out_flags & KNOWN_IS_FIRST) == 0 || add_count(runs, event->head.component)
			       ? GO_ON
			       : IS_FULL;
	}
	found = look_up(batch, iterator, event->number, &known);
	if (found != GO_ON)
		return found;
	*out_flags = known->flags;
	*out_counted = known->count;
	return GO_ON;
}

/* A mark, an event without a class, one of a class with several items of a size of their own, one
 * that comes late, or one that may be overwritten meanwhile, of which `at` is a copy that does not
 * stay. */
static enum step step_decoded(struct ct_batch *batch, struct ct_iterator *iterator,
			      const unsigned char *at, bool copies, const struct ct_event *event)
{
	bool is_any = event->number == CT_CLASS_ANY, is_late;
	const unsigned char *first;
	uint32_t flags, counted;
	uint64_t ticks, word;
	enum step found;
	int64_t after;

	if (event->is_mark) {
		pass_mark(batch, iterator, event);
		return GO_ON;
	}
	if (!has_room(batch, event->size))
		return IS_FULL;
	found = look_up_event(batch, iterator, event, &flags, &counted);
	if (found != GO_ON)
		return found;
	word = ct_event_word(at);
	after = time_after(iterator, word);
	is_late = after < 0 && after >= -LATE_TICKS;
	ticks = iterator->place.state.ticks;
	if (after < -LATE_TICKS) {
		end_run(batch);
		ticks = ticks >= -(uint64_t)after ? ticks + (uint64_t)after : word >> 16;
	} else if (after > 0) {
		ticks += (uint64_t)after;
	}
	if ((flags & KNOWN_IS_WRITTEN) != 0) {
		size_t head_size = is_any ? CT_EVENT_ANY_NAME : CT_EVENT_HEAD;
		struct ctrace_run *run;

		if (copies) {
			unsigned char *copy = ct_arena_take(&batch->copies, event->size);

			if (copy == NULL)
				return IS_FULL;
			at = memcpy(copy, at, event->size);
		}
		/* Viewers refuse a stream in which time goes back. */
		first = is_late ? copy_head(batch, at, head_size, ticks) : at;
		if (first == NULL)
			return IS_FULL;
		run = run_for(batch, iterator, event->size, ticks);
		if (is_any) {
			add_any(batch, first, at, event);
		} else {
			add_piece(&batch->runs, first, head_size);
			if (event->size > head_size)
				add_piece(&batch->runs, at + head_size, event->size - head_size);
		}
		run->event_count++;
		run->end_ticks = ticks;
	}
	if ((flags & KNOWN_IS_OURS) != 0)
		count_event(batch, counted, flags, event->size);
	pass(iterator, event->size, ticks);
	return GO_ON;
}

static enum step step_slowly(struct ct_batch *batch, struct ct_iterator *iterator)
{
	bool copies = iterator->ring->overflow == CT_OVERFLOW_OVERWRITE;

	ct_buf_clear(&batch->scratch);
	switch (ct_ring_peek(iterator->ring, &batch->classes, &iterator->place, iterator->limit,
			     &batch->scratch, &iterator->event)) {
	case CTRACE_OK:
		return step_decoded(batch, iterator,
				    copies ? (const unsigned char *)batch->scratch.data
					   : ct_ring_at(iterator->ring, iterator->place.position),
				    copies, &iterator->event);
	case CTRACE_NOT_FOUND:
		/* The next events may be another thread's. */
		end_run(batch);
		iterator->moved = true;
		return GO_ON;
	case CTRACE_NOT_ENOUGH_MEMORY:
		return IS_FULL;
	default:
		return IS_DAMAGED;
	}
}

/* The usual event: of a class that was met, inside the ring, no earlier than the one before. */
static enum step event_step(struct ct_batch *batch, struct ct_iterator *iterator)
{
	struct ct_runs *runs = &batch->runs;
	uint64_t available = iterator->limit - iterator->place.position, word, ticks;
	int64_t after;
	const unsigned char *at = ct_ring_at(iterator->ring, iterator->place.position);
	struct ct_known_class *known;
	struct ctrace_run *run;
	enum step found;
	uint32_t number;
	size_t size;

	if (available < CT_EVENT_HEAD)
		return IS_DAMAGED;
	word = ct_event_word(at);
	number = word & 0xFFFF;
	if (number < CT_CLASS_FIRST)
		return step_slowly(batch, iterator);
	found = look_up(batch, iterator, number, &known);
	if (found != GO_ON)
		return found;
	if (known->shape.is_long)
		return step_slowly(batch, iterator);
	size = ct_event_shape_size(&known->shape, at, available);
	if (size == 0)
		return IS_DAMAGED;
	after = time_after(iterator, word);
	if (after < 0)
		return step_slowly(batch, iterator);
	ticks = iterator->place.state.ticks + (uint64_t)after;
	if ((known->flags & KNOWN_IS_WRITTEN) != 0) {
		if (!has_room(batch, size))
			return IS_FULL;
		run = run_for(batch, iterator, size, ticks);
		add_piece(runs, at, size);
		run->event_count++;
		run->end_ticks = ticks;
	}
	if ((known->flags & KNOWN_IS_OURS) != 0)
		count_event(batch, known->count, known->flags, size);
	pass(iterator, size, ticks);
	return GO_ON;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t left_of(size_t most, size_t taken)
{
	return most - least(most, taken);
}

/* The class when it was met in this walk and is plain; else NULL. */
static inline const struct ct_known_class *find_plain(const struct ct_runs *runs, uint32_t number)
{
	const struct ct_known_class *known = &runs->known[number];

	return number < runs->known_count && known->walk == runs->walk &&
			       (known->flags & KNOWN_IS_PLAIN) != 0
		       ? known
		       : NULL;
}

static inline void count_all(struct ct_runs *runs, const struct ct_known_class *known,
			     uint32_t events, size_t bytes)
{
	if (known == NULL || (known->flags & KNOWN_IS_FIRST) == 0)
		return;
	runs->counts[known->count].events += events;
	runs->counts[known->count].bytes += bytes;
}

/* Takes as many events from `at` on as fit the open run unchanged; most do.  Returns false when
 * none does. */
static bool ring_walk_on(struct ct_batch *batch, struct ct_iterator *iterator)
{
	struct ct_runs *runs = &batch->runs;
	struct ctrace_run *run = runs->open;
	const struct ct_known_class *known = NULL;
	const unsigned char *at = ct_ring_at(iterator->ring, iterator->place.position);
	size_t most = iterator->limit - iterator->place.position;
	/* before the events of the class that the last ones had */
	size_t done = 0, done_before = 0;
	uint32_t number = UINT32_MAX, events = 0, events_before = 0;
	uint64_t ticks = iterator->place.state.ticks, end;

	if (run == NULL || !has_pieces(runs))
		return false;
	end = least(run->end_ticks + FAR_TICKS, runs->line_end);
	most = least(most, least(left_of(RUN_BYTES, run->size),
				 left_of(batch->most_bytes, batch->bytes)));

	while (most - done >= CT_EVENT_HEAD) {
		uint64_t word = ct_event_word(at + done), now;
		size_t size;

		if ((word & 0xFFFF) != number) {
			count_all(runs, known, events - events_before, done - done_before);
			events_before = events;
			done_before = done;
			number = word & 0xFFFF;
			known = find_plain(runs, number);
			if (known == NULL)
				break;
		}
		size = ct_event_shape_size(&known->shape, at + done, most - done);
		now = ticks + (((word >> 16) - ticks) & TICKS_MASK);
		if (size == 0 || now >= end)
			break;
		ticks = now;
		done += size;
		events++;
	}
	if (done == 0)
		return false;
	count_all(runs, known, events - events_before, done - done_before);
	add_piece(runs, at, done);
	run->event_count += events;
	run->end_ticks = ticks;
	batch->bytes += done;
	batch->event_count += events;
	iterator->place.position += done;
	iterator->place.count += events;
	iterator->place.state.ticks = ticks;
	return true;
}

/* False: the batch is full. */
static bool ring_walk(struct ct_batch *batch, struct ct_iterator *iterator)
{
	bool copies = iterator->ring->overflow == CT_OVERFLOW_OVERWRITE;
	enum step done = GO_ON;

	batch->runs.walk++;
	if (!copies && iterator->limit - iterator->place.position > iterator->ring->capacity)
		ct_batch_skip_to_mark(iterator);
	while (done != IS_FULL && iterator->place.position < iterator->limit) {
		if (copies)
			done = step_slowly(batch, iterator);
		else if (!ring_walk_on(batch, iterator))
			done = event_step(batch, iterator);
		if (done == IS_DAMAGED) {
			end_run(batch);
			ct_batch_skip_to_mark(iterator);
			done = GO_ON;
		}
	}
	end_run(batch);
	return done != IS_FULL;
}

/* The time of the ring's next event. */
static uint64_t begin_ticks(struct ct_batch *batch, const struct ct_iterator *iterator)
{
	struct ct_cursor_place place = iterator->place;
	struct ct_event event;

	ct_buf_clear(&batch->scratch);
	if (ct_ring_peek(iterator->ring, &batch->classes, &place, iterator->limit, &batch->scratch,
			 &event) == CTRACE_OK)
		return event.ticks;
	return place.state.ticks; /* overwritten: of the oldest that is left */
}

/* A thread that gets another ring leaves events in the one before.  They come first, so that a
 * destination that takes only some of its events takes the earliest. */
void ct_batch_fill_runs(struct ct_batch *batch)
{
	struct ct_runs *runs = &batch->runs;
	struct ct_iterator *iterator;

	ct_batch_empty(batch);
	ct_batch_count_components(batch);
	runs->run_count = runs->piece_count = runs->class_count = runs->count_count = 0;
	runs->fill++;
	for (uint32_t i = 0; i < batch->iterator_count; i++) {
		iterator = &batch->iterators[i];
		if (iterator->place.position >= iterator->limit)
			continue;
		if (!iterator->has_event)
			iterator->event.ticks = begin_ticks(batch, iterator);
		iterator->has_event = true;
		ct_batch_push(batch, iterator);
	}
	do {
		iterator = ct_batch_pop(batch);
		if (iterator == NULL)
			break;
		iterator->has_event = false;
	} while (ring_walk(batch, iterator));
}
