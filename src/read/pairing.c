/*
 * pairing.c - pairs exits with entries: spans, their durations and their nesting depth.
 *
 * Called by the reader for every event in merged order, on one thread.  An exit ends the innermost
 * span of its process, thread, component and entry id.  If the catalogue names an argument for it,
 * it ends the last span that began with the same value in that argument, on any thread.  Spans of
 * one thread are expected to be nested: when an outer span ends, those within it no longer count as
 * open, but their exits are still recognized.  Memory is bounded and an event takes a fixed number
 * of steps on average: when CT_PAIRING_OPEN spans are open, the oldest is dropped.
 *
 * Where events of a thread are missing, its spans whose end is inferred end with the last event
 * before the gap: whatever ran in the gap, it was not these alone.
 *
 * A span whose type has `until` ends, as is inferred, at the next event that `until` lists, when
 * the span around it ends, or with the trace.  Such an end is an event of its own, which
 * ct_pairing_next_inferred() returns; it is a copy of the event that began the span.
 *
 *     buckets -> the last span of each key -> earlier ones of the same key     finds an exit's span
 *     threads -> the innermost span of each thread -> those around it          counts the depth
 *     oldest -> ... -> newest                                                  drops the oldest
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS (2 * CT_PAIRING_OPEN)

/* Indexes in the arrays, from 1; 0 is none. */
typedef uint32_t place;

struct key {
	uint64_t component; /* a hash, since names do not outlive their event */
	uint64_t value;     /* a hash of the argument, or the thread */
	uint32_t source_process;
	uint32_t entry_id;
};

struct span {
	struct key key;
	uint64_t id;
	uint64_t time_ns;
	place thread; /* 0: it is not, or no longer, in a thread's nest */
	place around; /* the next outer span of its thread; in a free span: the next free one */
	place within;
	place earlier; /* of the same key */
	place later;
	place chain; /* the next key of the bucket; valid in the last span of a key */
	place chain_back;
	place older, newer; /* of a span in the list of inferred ends: newer is the next of them */
	const struct ct_event_type *type; /* of its entry */
	uint64_t within_ns;               /* what spans right within it took */
	uint64_t counted_ns;              /* of its time, in a span around it that a gap ended */
	uint64_t end_ns;                  /* of an inferred end */
	uint32_t depth;                   /* likewise */
	struct kept *kept;                /* stays when the span is freed; or NULL */
	bool is_kept;                     /* kept is of this span */
};

/* A copy of the event that began a span. */
struct kept {
	struct ct_read_event event;
	struct ctrace_event_item items[CT_INFERRED_ITEMS];
	size_t size;
	char bytes[CT_INFERRED_BYTES];
};

/* A thread with open spans. */
struct thread {
	uint32_t source_process;
	uint32_t tid;
	uint32_t depth;
	place innermost; /* in a free thread: the next free one */
	place chain;
	uint64_t last_ns; /* of its events */
	const struct ct_source_process *process;
};

struct ct_pairing_state {
	struct span *spans;
	struct thread *threads;
	place *span_buckets;
	place *thread_buckets;
	uint32_t span_count, thread_count; /* high-water marks */
	place free_span, free_thread;
	uint32_t open;
	place oldest, newest;
	uint64_t last_id;
	bool has_inferred;             /* the events of inferred ends are wanted */
	place first_ended, last_ended; /* inferred ends that are not taken yet */
	uint64_t seed; /* so that a hostile trace cannot put all keys into one bucket */
};

/* One event may infer the ends of all open spans, which are not taken yet when it begins one. */
#define SPAN_PLACES (CT_PAIRING_OPEN + 2)

enum ctrace_status ct_pairing_create(bool has_inferred, struct ct_pairing_state **out_state)
{
	struct ct_pairing_state *state = calloc(1, sizeof *state);

	if (state == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	state->spans = calloc(SPAN_PLACES, sizeof *state->spans);
	state->threads = calloc(CT_PAIRING_OPEN + 1, sizeof *state->threads);
	state->span_buckets = calloc(BUCKETS, sizeof *state->span_buckets);
	state->thread_buckets = calloc(BUCKETS, sizeof *state->thread_buckets);
	if (state->spans == NULL || state->threads == NULL || state->span_buckets == NULL ||
	    state->thread_buckets == NULL) {
		ct_pairing_destroy(state);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	state->has_inferred = has_inferred;
	state->seed = (ct_clock_ticks() ^ (uintptr_t)state) * 0x9E3779B97F4A7C15u;
	*out_state = state;
	return CTRACE_OK;
}

void ct_pairing_destroy(struct ct_pairing_state *state)
{
	if (state == NULL)
		return;
	for (size_t i = 0; state->spans != NULL && i < SPAN_PLACES; i++)
		free(state->spans[i].kept);
	free(state->spans);
	free(state->threads);
	free(state->span_buckets);
	free(state->thread_buckets);
	free(state);
}

/* -----------------------------------------------------------------------------------------------
 * Keys
 */

static uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0xFF51AFD7ED558CCDu;
	return hash ^ hash >> 32;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t word;

	for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
		memcpy(&word, at, sizeof word);
		hash = hash_mix(hash, le64toh(word));
	}
	for (word = size; size > 0; size--)
		word = word << 8 | at[size - 1];
	return hash_mix(hash, word);
}

/* Ignores case: bit 5 of every byte is set. */
static inline __attribute__((always_inline)) uint64_t hash_name(uint64_t hash, const char *name,
								size_t size)
{
	for (size_t at = 0; at < size; at += sizeof hash) {
		size_t left = size - at;
		uint64_t word = 0;

		memcpy(&word, name + at, left < sizeof word ? left : sizeof word);
		hash = hash_mix(hash, le64toh(word) | 0x2020202020202020u);
	}
	return hash_mix(hash, size);
}

static place *span_bucket(const struct ct_pairing_state *state, const struct key *key)
{
	uint64_t hash = hash_mix(hash_mix(hash_mix(state->seed, key->component), key->value),
				 (uint64_t)key->source_process << 32 | key->entry_id);

	return &state->span_buckets[hash % BUCKETS];
}

static bool key_is_same(const struct key *a, const struct key *b)
{
	return a->component == b->component && a->value == b->value &&
	       a->source_process == b->source_process && a->entry_id == b->entry_id;
}

static bool item_is_integer(const struct ctrace_event_item *item)
{
	bool has_width = item->size >= 1 && item->size <= 8;

	return item->type == CTRACE_TYPE_ADDRESS ||
	       (has_width && item->type != CTRACE_TYPE_BINARY && item->type != CTRACE_TYPE_TEXT &&
		item->type != CTRACE_TYPE_UTF8 && item->type < CTRACE_TYPE_COUNT);
}

static uint64_t component_hash(const struct ct_pairing_state *state,
			       const struct ct_read_event *event)
{
	return hash_name(state->seed, event->traced.component, event->traced.component_size);
}

static uint64_t item_hash(const struct ct_pairing_state *state,
			  const struct ctrace_event_item *item)
{
	if (item_is_integer(item))
		return hash_mix(state->seed + 1, item->value);
	return hash_bytes(state->seed + 2, item->data, item->data != NULL ? item->size : 0);
}

/* Returns false when the event lacks the argument that identifies its span. */
static bool key_make(const struct ct_pairing_state *state, const struct ct_read_event *event,
		     struct key *out)
{
	const struct ct_event_type *type = event->type;

	out->component = component_hash(state, event);
	out->source_process = event->source_process->index;
	out->entry_id = type->pairing == CT_PAIR_EXIT ? type->pair_id : event->traced.event_id;
	out->value = event->traced.tid;
	if (type->match < 0)
		return true;
	if ((uint32_t)type->match >= event->traced.item_count)
		return false;
	out->value = item_hash(state, &event->traced.items[type->match]);
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * Threads
 */

static place *thread_bucket(const struct ct_pairing_state *state, uint32_t source_process,
			    uint32_t tid)
{
	return &state->thread_buckets[hash_mix(state->seed, (uint64_t)source_process << 32 | tid) %
				      BUCKETS];
}

static place thread_find(const struct ct_pairing_state *state, uint32_t source_process,
			 uint32_t tid)
{
	place at = *thread_bucket(state, source_process, tid);

	while (at != 0 && (state->threads[at].source_process != source_process ||
			   state->threads[at].tid != tid))
		at = state->threads[at].chain;
	return at;
}

/* There is always room: each thread has at least one span, and each span one thread. */
static place thread_add(struct ct_pairing_state *state, uint32_t source_process, uint32_t tid)
{
	place *bucket = thread_bucket(state, source_process, tid);
	place at = state->free_thread;

	if (at != 0)
		state->free_thread = state->threads[at].innermost;
	else
		at = ++state->thread_count;
	state->threads[at] =
		(struct thread){ .source_process = source_process, .tid = tid, .chain = *bucket };
	*bucket = at;
	return at;
}

static void thread_remove(struct ct_pairing_state *state, place at)
{
	struct thread *thread = &state->threads[at];
	place *link = thread_bucket(state, thread->source_process, thread->tid);

	while (*link != at)
		link = &state->threads[*link].chain;
	*link = thread->chain;
	thread->innermost = state->free_thread;
	state->free_thread = at;
}

/* Removes the span from its thread's nest. */
static void span_leave_thread(struct ct_pairing_state *state, struct span *span)
{
	struct thread *thread = &state->threads[span->thread];

	if (span->within != 0)
		state->spans[span->within].around = span->around;
	else
		thread->innermost = span->around;
	if (span->around != 0)
		state->spans[span->around].within = span->within;
	if (--thread->depth == 0)
		thread_remove(state, span->thread);
	span->thread = 0;
}

static void span_enter_thread(struct ct_pairing_state *state, place at, uint32_t tid)
{
	struct span *span = &state->spans[at];
	place found = thread_find(state, span->key.source_process, tid);
	struct thread *thread;

	span->thread = found != 0 ? found : thread_add(state, span->key.source_process, tid);
	thread = &state->threads[span->thread];
	span->around = thread->innermost;
	span->within = 0;
	if (span->around != 0)
		state->spans[span->around].within = at;
	thread->innermost = at;
	thread->depth++;
}

/* Returns the thread of the event if it has open spans, and notes the event's time there. */
static place event_thread(struct ct_pairing_state *state, const struct ct_read_event *event)
{
	place at = state->open != 0
			   ? thread_find(state, event->source_process->index, event->traced.tid)
			   : 0;

	if (at != 0) {
		state->threads[at].last_ns = event->traced.time_ns;
		state->threads[at].process = event->source_process;
	}
	return at;
}

static inline uint32_t event_depth(struct ct_pairing_state *state,
				   const struct ct_read_event *event)
{
	place thread = event_thread(state, event);

	return thread != 0 ? state->threads[thread].depth : 0;
}

/* -----------------------------------------------------------------------------------------------
 * Spans
 */

static place span_find(const struct ct_pairing_state *state, const struct key *key)
{
	place at = *span_bucket(state, key);

	while (at != 0 && !key_is_same(&state->spans[at].key, key))
		at = state->spans[at].chain;
	return at;
}

/* Replaces the key's last span by `with` in the bucket's chain; 0 removes the key. */
static void span_replace_last(struct ct_pairing_state *state, const struct span *span, place with)
{
	place next = with != 0 ? with : span->chain;

	if (with != 0) {
		state->spans[with].chain = span->chain;
		state->spans[with].chain_back = span->chain_back;
	}
	if (span->chain_back != 0)
		state->spans[span->chain_back].chain = next;
	else
		*span_bucket(state, &span->key) = next;
	if (span->chain != 0)
		state->spans[span->chain].chain_back = with != 0 ? with : span->chain_back;
}

static void span_free(struct ct_pairing_state *state, place at)
{
	state->spans[at].around = state->free_span;
	state->free_span = at;
}

/* Removes the span from all that finds it. */
static void span_detach(struct ct_pairing_state *state, place at)
{
	struct span *span = &state->spans[at];

	if (span->thread != 0)
		span_leave_thread(state, span);
	if (span->later == 0)
		span_replace_last(state, span, span->earlier);
	else
		state->spans[span->later].earlier = span->earlier;
	if (span->earlier != 0)
		state->spans[span->earlier].later = span->later;
	*(span->older != 0 ? &state->spans[span->older].newer : &state->oldest) = span->newer;
	*(span->newer != 0 ? &state->spans[span->newer].older : &state->newest) = span->older;
	state->open--;
}

static void span_remove(struct ct_pairing_state *state, place at)
{
	span_detach(state, at);
	span_free(state, at);
}

static uint64_t time_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Ends a span in its thread's nest that has no exit, and keeps it until it is taken. */
static void span_infer_end(struct ct_pairing_state *state, place at, uint64_t time_ns)
{
	struct span *span = &state->spans[at];

	if (span->around != 0)
		state->spans[span->around].within_ns += time_between(span->time_ns, time_ns);
	span->depth = state->threads[span->thread].depth - 1;
	span->end_ns = time_ns;
	span_detach(state, at);
	span->newer = 0;
	*(state->last_ended != 0 ? &state->spans[state->last_ended].newer : &state->first_ended) =
		at;
	state->last_ended = at;
}

/* A span whose end is not known leaves to the span around it what was within it. */
static void span_leave_within(struct ct_pairing_state *state, struct span *span)
{
	if (span->around != 0)
		state->spans[span->around].within_ns += span->within_ns;
	span_leave_thread(state, span);
}

/* Removes the spans within a span from their thread's nest; those without an exit end. */
static void span_unwind_within(struct ct_pairing_state *state, place at, uint64_t time_ns)
{
	const struct span *span = &state->spans[at];

	while (span->thread != 0 && span->within != 0) {
		place innermost = state->threads[span->thread].innermost;

		if (ct_event_type_is_inferred(state->spans[innermost].type))
			span_infer_end(state, innermost, time_ns);
		else
			span_leave_within(state, &state->spans[innermost]);
	}
}

static void ended_release(struct ct_pairing_state *state)
{
	while (state->first_ended != 0) {
		place at = state->first_ended;

		state->first_ended = state->spans[at].newer;
		span_free(state, at);
	}
	state->last_ended = 0;
}

static void span_insert_last(struct ct_pairing_state *state, place at)
{
	struct span *span = &state->spans[at];
	place before = span_find(state, &span->key);
	place *bucket = span_bucket(state, &span->key);

	span->earlier = before;
	if (before != 0) {
		state->spans[before].later = at;
		span_replace_last(state, &state->spans[before], at);
		return;
	}
	span->chain = *bucket;
	if (span->chain != 0)
		state->spans[span->chain].chain_back = at;
	*bucket = at;
}

static place span_add(struct ct_pairing_state *state, const struct key *key,
		      const struct ct_read_event *event)
{
	struct kept *kept;
	place at;

	if (state->open == CT_PAIRING_OPEN)
		span_remove(state, state->oldest);
	at = state->free_span;
	if (at != 0)
		state->free_span = state->spans[at].around;
	else
		at = ++state->span_count;
	kept = state->spans[at].kept;
	state->spans[at] = (struct span){ .key = *key,
					  .time_ns = event->traced.time_ns,
					  .type = event->type,
					  .kept = kept,
					  .id = ++state->last_id,
					  .older = state->newest };
	*(state->newest != 0 ? &state->spans[state->newest].newer : &state->oldest) = at;
	state->newest = at;
	state->open++;
	span_insert_last(state, at);
	return at;
}

/* -----------------------------------------------------------------------------------------------
 * Events
 */

/* Returns the place of the copy; NULL when it is cut to nothing. */
static const void *kept_add(struct kept *kept, const void *data, uint32_t *size)
{
	char *at = kept->bytes + kept->size;

	if (*size > sizeof kept->bytes - kept->size)
		*size = (uint32_t)(sizeof kept->bytes - kept->size);
	if (*size > 0)
		memcpy(at, data, *size);
	kept->size += *size;
	return at;
}

/* Without memory the span has no inferred end. */
static void span_keep_event(struct span *span, const struct ct_read_event *event)
{
	struct kept *kept = span->kept != NULL ? span->kept : calloc(1, sizeof *kept);
	struct ctrace_event *traced;

	if (kept == NULL)
		return;
	span->kept = kept;
	kept->event = *event;
	kept->event.is_after_loss = false;
	kept->event.names = NULL;
	kept->event.scope = 0;
	kept->size = 0;
	traced = &kept->event.traced;
	if (traced->component_size >= sizeof kept->bytes)
		traced->component_size = sizeof kept->bytes - 1;
	traced->component = kept_add(kept, traced->component, &traced->component_size);
	kept->bytes[kept->size++] = '\0';
	if (traced->item_count > CT_INFERRED_ITEMS)
		traced->item_count = CT_INFERRED_ITEMS;
	for (uint32_t i = 0; i < traced->item_count; i++) {
		kept->items[i] = event->traced.items[i];
		if (kept->items[i].data != NULL)
			kept->items[i].data =
				kept_add(kept, kept->items[i].data, &kept->items[i].size);
	}
	traced->items = kept->items;
	traced->clock = NULL;
	span->is_kept = true;
}

/* A span that an argument pairs with its exit may end on another thread, so it is in no thread's
 * nest. */
static void span_begin(struct ct_pairing_state *state, struct ct_read_event *event,
		       const struct key *key)
{
	place at = span_add(state, key, event);

	event->span_id = state->spans[at].id;
	event->depth = event_depth(state, event);
	if (event->type->match < 0 || event->type->pairing == CT_PAIR_UNTIL) {
		span_enter_thread(state, at, event->traced.tid);
		state->threads[state->spans[at].thread].last_ns = event->traced.time_ns;
	}
	if (state->has_inferred &&
	    (ct_event_type_is_inferred(event->type) || event->type->span_name_count > 0))
		span_keep_event(&state->spans[at], event);
}

static void span_end(struct ct_pairing_state *state, struct ct_read_event *event,
		     const struct key *key)
{
	place at = span_find(state, key);
	const struct span *span = &state->spans[at];

	if (at != 0) {
		span_unwind_within(state, at, event->traced.time_ns);
		event->span_id = span->id;
		event->begun = span->is_kept ? &span->kept->event : NULL;
		event->duration_ns = time_between(span->time_ns, event->traced.time_ns);
		event->self_ns = time_between(span->within_ns, event->duration_ns);
		if (span->thread != 0 && span->around != 0)
			state->spans[span->around].within_ns +=
				time_between(span->counted_ns, event->duration_ns);
		span_remove(state, at);
	}
	event->depth = event_depth(state, event);
}

/* -----------------------------------------------------------------------------------------------
 * Ends without an exit
 */

/* spans around a span that are looked at; those that the event ends do not count */
#define UNTIL_LOOKED_AT 64u

static bool span_has_until(const struct ct_pairing_state *state, const struct span *span,
			   const struct ct_read_event *event)
{
	for (uint32_t i = 0; i < span->type->until_count; i++) {
		const struct ct_until *until = &span->type->until[i];

		if (until->event_id != event->traced.event_id)
			continue;
		return until->match < 0 || (uint32_t)until->match >= event->traced.item_count ||
		       item_hash(state, &event->traced.items[until->match]) == span->key.value;
	}
	return false;
}

/* Returns the outermost span that the event ends; 0: none.  An entry of the same component that the
 * event does not end shields the spans around it: what the called program does ends no paragraph
 * of its caller. */
static place until_find(struct ct_pairing_state *state, const struct ct_read_event *event)
{
	uint64_t component = component_hash(state, event);
	place thread = event_thread(state, event);
	place found = 0;
	uint32_t looked_at = 0;

	for (place at = thread != 0 ? state->threads[thread].innermost : 0;
	     at != 0 && looked_at < UNTIL_LOOKED_AT; at = state->spans[at].around) {
		const struct span *span = &state->spans[at];
		bool is_own = span->key.component == component;

		if (is_own && span_has_until(state, span, event)) {
			found = at;
			looked_at = 0;
		} else if (is_own && span->type->pairing == CT_PAIR_ENTRY) {
			break;
		} else {
			looked_at++;
		}
	}
	return found;
}

static void event_end_others(struct ct_pairing_state *state, const struct ct_read_event *event)
{
	place at = until_find(state, event);

	if (at == 0)
		return;
	span_unwind_within(state, at, event->traced.time_ns);
	span_infer_end(state, at, event->traced.time_ns);
}

/* -----------------------------------------------------------------------------------------------
 * Gaps
 */

/* Ends the thread's spans whose end is inferred.  Others stay: their exit is yet to come, and the
 * innermost was not running alone in the gap. */
static void thread_cut(struct ct_pairing_state *state, place thread, uint64_t time_ns)
{
	uint64_t last_ns = state->threads[thread].last_ns;
	place innermost = 0, next;
	uint32_t stay = 0;

	for (place at = state->threads[thread].innermost; at != 0; at = next) {
		struct span *span = &state->spans[at], *within = &state->spans[span->within];

		next = span->around;
		if (!ct_event_type_is_inferred(span->type)) {
			innermost = innermost != 0 ? innermost : at;
			stay++;
			continue;
		}
		if (span->within != 0) {
			uint64_t whole_ns = time_between(within->time_ns, last_ns);

			span->within_ns += time_between(within->counted_ns, whole_ns);
			within->counted_ns = whole_ns;
		}
		span_infer_end(state, at, last_ns);
		span->depth -= stay;
	}
	if (innermost != 0)
		state->spans[innermost].within_ns += time_between(last_ns, time_ns);
}

static void event_cut(struct ct_pairing_state *state, const struct ct_read_event *event)
{
	place at;

	if (!event->is_after_loss && event->source_process->left_out_count == 0)
		return;
	at = thread_find(state, event->source_process->index, event->traced.tid);
	if (at != 0 && ct_read_event_follows_gap(event, state->threads[at].last_ns))
		thread_cut(state, at, event->traced.time_ns);
}

/* What runs still ends with its process; where that end is not known, at the thread's last event.
 */
static uint64_t thread_end_ns(const struct thread *thread)
{
	uint64_t ended_ns = thread->process != NULL ? thread->process->ended_ns : 0;

	return ended_ns > thread->last_ns ? ended_ns : thread->last_ns;
}

/* Newer spans of a thread are within older ones. */
void ct_pairing_finish(struct ct_pairing_state *state)
{
	uint64_t end_ns;
	place next;

	ended_release(state);
	for (place at = state->newest; at != 0; at = next) {
		const struct span *span = &state->spans[at];

		next = span->older;
		if (span->thread == 0 || !ct_event_type_is_inferred(span->type))
			continue;
		end_ns = thread_end_ns(&state->threads[span->thread]);
		span_unwind_within(state, at, end_ns);
		span_infer_end(state, at, end_ns);
	}
}

struct ct_read_event *ct_pairing_next_inferred(struct ct_pairing_state *state)
{
	while (state->first_ended != 0) {
		place at = state->first_ended;
		struct span *span = &state->spans[at];
		struct ct_read_event *event = span->is_kept ? &span->kept->event : NULL;

		state->first_ended = span->newer;
		if (state->first_ended == 0)
			state->last_ended = 0;
		span_free(state, at);
		if (event == NULL)
			continue;
		event->traced.time_ns = span->end_ns;
		event->span_id = span->id;
		event->depth = span->depth;
		event->duration_ns = time_between(span->time_ns, span->end_ns);
		event->self_ns = time_between(span->within_ns, event->duration_ns);
		event->is_inferred = true;
		return event;
	}
	return NULL;
}

/* -----------------------------------------------------------------------------------------------
 * All events
 */

/* The event itself has the duration of the span that it ends. */
static void event_be_whole(struct ct_pairing_state *state, struct ct_read_event *event,
			   uint32_t duration)
{
	const struct ctrace_event_item *item = &event->traced.items[duration];
	place thread = event_thread(state, event);

	event->depth = thread != 0 ? state->threads[thread].depth : 0;
	if (duration >= event->traced.item_count || !item_is_integer(item) ||
	    item->value > event->traced.time_ns)
		return;
	event->duration_ns = event->self_ns = item->value;
	event->span_id = ++state->last_id;
	event->is_whole = true;
	if (thread != 0) {
		struct span *around = &state->spans[state->threads[thread].innermost];
		uint64_t most_ns = time_between(around->time_ns, event->traced.time_ns);

		around->within_ns += item->value < most_ns ? item->value : most_ns;
	}
}

void ct_pairing_note(struct ct_pairing_state *state, struct ct_read_event *event)
{
	const struct ct_event_type *type = event->type;
	enum ct_pairing pairing = type != NULL ? type->pairing : CT_PAIR_NONE;
	struct key key;

	event->duration_ns = CT_NO_DURATION;
	event->span_id = 0;
	event->is_whole = event->is_inferred = false;
	event->begun = NULL;
	if (state->first_ended != 0)
		ended_release(state);
	if (state->open != 0)
		event_cut(state, event);
	if (type != NULL && type->is_until)
		event_end_others(state, event);
	if (pairing == CT_PAIR_NONE && type != NULL && type->roles[CT_ARGUMENT_ROLE_DURATION] != 0)
		event_be_whole(state, event, type->roles[CT_ARGUMENT_ROLE_DURATION] - 1);
	else if (pairing == CT_PAIR_NONE || !key_make(state, event, &key))
		event->depth = event_depth(state, event);
	else if (pairing == CT_PAIR_EXIT)
		span_end(state, event, &key);
	else
		span_begin(state, event, &key);
}
