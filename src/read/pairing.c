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
 *     buckets -> the last span of each key -> earlier ones of the same key     finds an exit's span
 *     threads -> the innermost span of each thread -> those around it          counts the depth
 *     oldest -> ... -> newest                                                  drops the oldest
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"

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
	place older, newer;
};

/* A thread with open spans. */
struct thread {
	uint32_t source_process;
	uint32_t tid;
	uint32_t depth;
	place innermost; /* in a free thread: the next free one */
	place chain;
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
	uint64_t seed; /* so that a hostile trace cannot put all keys into one bucket */
};

enum ctrace_status ct_pairing_create(struct ct_pairing_state **out_state)
{
	struct ct_pairing_state *state = calloc(1, sizeof *state);

	if (state == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	state->spans = calloc(CT_PAIRING_OPEN + 1, sizeof *state->spans);
	state->threads = calloc(CT_PAIRING_OPEN + 1, sizeof *state->threads);
	state->span_buckets = calloc(BUCKETS, sizeof *state->span_buckets);
	state->thread_buckets = calloc(BUCKETS, sizeof *state->thread_buckets);
	if (state->spans == NULL || state->threads == NULL || state->span_buckets == NULL ||
	    state->thread_buckets == NULL) {
		ct_pairing_destroy(state);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	state->seed = (ct_clock_ticks() ^ (uintptr_t)state) * 0x9E3779B97F4A7C15u;
	*out_state = state;
	return CTRACE_OK;
}

void ct_pairing_destroy(struct ct_pairing_state *state)
{
	if (state == NULL)
		return;
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
		hash = hash_mix(hash, word);
	}
	for (word = size; size > 0; size--)
		word = word << 8 | at[size - 1];
	return hash_mix(hash, word);
}

/* Ignores case: bit 5 of every byte is set. */
static uint64_t hash_name(uint64_t hash, const char *name, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof hash) {
		size_t left = size - at;
		uint64_t word = 0;

		memcpy(&word, name + at, left < sizeof word ? left : sizeof word);
		hash = hash_mix(hash, word | 0x2020202020202020u);
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

/* Returns false when the event lacks the argument that identifies its span. */
static bool key_make(const struct ct_pairing_state *state, const struct ct_read_event *event,
		     struct key *out)
{
	const struct ct_event_type *type = event->type;
	const struct ctrace_event_item *item;

	out->component =
		hash_name(state->seed, event->traced.component, event->traced.component_size);
	out->source_process = event->source_process->index;
	out->entry_id = type->pairing == CT_PAIR_ENTRY ? event->traced.event_id : type->pair_id;
	out->value = event->traced.tid;
	if (type->match < 0)
		return true;
	if ((uint32_t)type->match >= event->traced.item_count)
		return false;
	item = &event->traced.items[type->match];
	if (item_is_integer(item))
		out->value = hash_mix(state->seed + 1, item->value);
	else
		out->value = hash_bytes(state->seed + 2, item->data,
					item->data != NULL ? item->size : 0);
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

/* Removes the span and those within it from their thread's nest. */
static void span_unwind(struct ct_pairing_state *state, place at)
{
	struct span *span = &state->spans[at];

	while (span->thread != 0)
		span_leave_thread(state, &state->spans[state->threads[span->thread].innermost]);
}

static uint32_t event_depth(const struct ct_pairing_state *state, const struct ct_read_event *event)
{
	place thread = state->open != 0
			       ? thread_find(state, event->source_process->index, event->traced.tid)
			       : 0;

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

static void span_remove(struct ct_pairing_state *state, place at)
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
	span->around = state->free_span;
	state->free_span = at;
	state->open--;
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

static place span_add(struct ct_pairing_state *state, const struct key *key, uint64_t time_ns)
{
	place at;

	if (state->open == CT_PAIRING_OPEN)
		span_remove(state, state->oldest);
	at = state->free_span;
	if (at != 0)
		state->free_span = state->spans[at].around;
	else
		at = ++state->span_count;
	state->spans[at] = (struct span){
		.key = *key, .time_ns = time_ns, .id = ++state->last_id, .older = state->newest
	};
	*(state->newest != 0 ? &state->spans[state->newest].newer : &state->oldest) = at;
	state->newest = at;
	state->open++;
	span_insert_last(state, at);
	return at;
}

/* -----------------------------------------------------------------------------------------------
 * Events
 */

/* A span that an argument identifies may end on another thread, so it is in no thread's nest. */
static void span_begin(struct ct_pairing_state *state, struct ct_read_event *event,
		       const struct key *key)
{
	place at = span_add(state, key, event->traced.time_ns);

	event->span_id = state->spans[at].id;
	event->depth = event_depth(state, event);
	if (event->type->match < 0)
		span_enter_thread(state, at, event->traced.tid);
}

static void span_end(struct ct_pairing_state *state, struct ct_read_event *event,
		     const struct key *key)
{
	place at = span_find(state, key);
	const struct span *span = &state->spans[at];

	if (at != 0) {
		event->span_id = span->id;
		event->duration_ns = event->traced.time_ns > span->time_ns
					     ? event->traced.time_ns - span->time_ns
					     : 0;
		span_unwind(state, at);
		span_remove(state, at);
	}
	event->depth = event_depth(state, event);
}

void ct_pairing_note(struct ct_pairing_state *state, struct ct_read_event *event)
{
	enum ct_pairing pairing = event->type != NULL ? event->type->pairing : CT_PAIR_NONE;
	struct key key;

	event->duration_ns = CT_NO_DURATION;
	event->span_id = 0;
	if (pairing == CT_PAIR_NONE || !key_make(state, event, &key))
		event->depth = event_depth(state, event);
	else if (pairing == CT_PAIR_ENTRY)
		span_begin(state, event, &key);
	else
		span_end(state, event, &key);
}
