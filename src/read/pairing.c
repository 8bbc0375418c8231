/*
 * pairing.c - which exit belongs to which entry: spans, how long they took, and how deep they are
 * in each other.
 *
 * Called by the reader for every event in merged order, on one thread.  An exit ends the innermost
 * span of its process, thread, component and entry id; or, when the catalogue names an argument for
 * it, the last one that began with the same value in it, on whatever thread. Spans of one thread
 * are expected to be nested: when an outer one ends, those within it no longer count as open around
 * what follows, though their exits are still known when they come.  Memory is bounded and each
 * event takes a fixed number of steps: when there are CT_PAIRING_OPEN spans, the oldest is given
 * up.
 *
 *     buckets -> the last span of each key -> earlier ones of the same key           what an exit
 * looks for threads -> the innermost span of each thread -> those around it                depth
 *     oldest -> ... -> newest                                                        which one is
 * given up
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS (2 * CT_PAIRING_OPEN)

/* Places in the arrays, from 1; 0 is none. */
typedef uint32_t place;

struct key {
	uint64_t component; /* a hash: names of other components do not stay */
	uint64_t value;     /* a hash of the argument, or the thread */
	uint32_t source_process;
	uint32_t entry_id;
};

struct span {
	struct key key;
	uint64_t id;
	uint64_t time_ns;
	place thread; /* 0: it counts no more, or never did */
	place around; /* the next one out in its thread; in a free span: the next free one */
	place within;
	place earlier; /* of its key */
	place later;
	place chain; /* the next key of the bucket; valid in the last of a key */
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
	uint32_t span_count, thread_count; /* ever used */
	place free_span, free_thread;
	uint32_t open;
	place oldest, newest;
	uint64_t last_id;
	uint64_t seed; /* so that nobody can make all keys fall into one bucket */
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

static uint64_t mix(uint64_t hash, uint64_t value)
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
		hash = mix(hash, word);
	}
	for (word = size; size > 0; size--)
		word = word << 8 | at[size - 1];
	return mix(hash, word);
}

/* Setting bit 5 of every byte makes the cases of a letter equal. */
static uint64_t hash_name(uint64_t hash, const char *name, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof hash) {
		size_t left = size - at;
		uint64_t word = 0;

		memcpy(&word, name + at, left < sizeof word ? left : sizeof word);
		hash = mix(hash, word | 0x2020202020202020u);
	}
	return mix(hash, size);
}

static place *bucket_of(const struct ct_pairing_state *state, const struct key *key)
{
	uint64_t hash = mix(mix(mix(state->seed, key->component), key->value),
			    (uint64_t)key->source_process << 32 | key->entry_id);

	return &state->span_buckets[hash % BUCKETS];
}

static bool is_same_key(const struct key *a, const struct key *b)
{
	return a->component == b->component && a->value == b->value &&
	       a->source_process == b->source_process && a->entry_id == b->entry_id;
}

static bool is_integer(const struct ctrace_event_item *item)
{
	bool has_width = item->size >= 1 && item->size <= 8;

	return item->type == CTRACE_TYPE_ADDRESS ||
	       (has_width && item->type != CTRACE_TYPE_BINARY && item->type != CTRACE_TYPE_TEXT &&
		item->type != CTRACE_TYPE_UTF8 && item->type < CTRACE_TYPE_COUNT);
}

/* False: the event has not got the argument that it would be known by. */
static bool make_key(const struct ct_pairing_state *state, const struct ct_view *view,
		     struct key *out)
{
	const struct ct_event_type *type = view->type;
	const struct ctrace_event_item *item;

	out->component = hash_name(state->seed, view->event.component, view->event.component_size);
	out->source_process = view->source_process->index;
	out->entry_id = type->pairing == CT_PAIR_ENTRY ? view->event.event_id : type->pair_id;
	out->value = view->event.tid;
	if (type->match < 0)
		return true;
	if ((uint32_t)type->match >= view->event.item_count)
		return false;
	item = &view->event.items[type->match];
	if (is_integer(item))
		out->value = mix(state->seed + 1, item->value);
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
	return &state->thread_buckets[mix(state->seed, (uint64_t)source_process << 32 | tid) %
				      BUCKETS];
}

static place find_thread(const struct ct_pairing_state *state, uint32_t source_process,
			 uint32_t tid)
{
	place at = *thread_bucket(state, source_process, tid);

	while (at != 0 && (state->threads[at].source_process != source_process ||
			   state->threads[at].tid != tid))
		at = state->threads[at].chain;
	return at;
}

/* There is always room: a thread has a span at least, and no span has two. */
static place add_thread(struct ct_pairing_state *state, uint32_t source_process, uint32_t tid)
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

static void remove_thread(struct ct_pairing_state *state, place at)
{
	struct thread *thread = &state->threads[at];
	place *link = thread_bucket(state, thread->source_process, thread->tid);

	while (*link != at)
		link = &state->threads[*link].chain;
	*link = thread->chain;
	thread->innermost = state->free_thread;
	state->free_thread = at;
}

/* It is open around nothing any more. */
static void leave_thread(struct ct_pairing_state *state, struct span *span)
{
	struct thread *thread = &state->threads[span->thread];

	if (span->within != 0)
		state->spans[span->within].around = span->around;
	else
		thread->innermost = span->around;
	if (span->around != 0)
		state->spans[span->around].within = span->within;
	if (--thread->depth == 0)
		remove_thread(state, span->thread);
	span->thread = 0;
}

static void enter_thread(struct ct_pairing_state *state, place at, uint32_t tid)
{
	struct span *span = &state->spans[at];
	place found = find_thread(state, span->key.source_process, tid);
	struct thread *thread;

	span->thread = found != 0 ? found : add_thread(state, span->key.source_process, tid);
	thread = &state->threads[span->thread];
	span->around = thread->innermost;
	span->within = 0;
	if (span->around != 0)
		state->spans[span->around].within = at;
	thread->innermost = at;
	thread->depth++;
}

/* The span ends, and those within it count no more. */
static void unwind(struct ct_pairing_state *state, place at)
{
	struct span *span = &state->spans[at];

	while (span->thread != 0)
		leave_thread(state, &state->spans[state->threads[span->thread].innermost]);
}

static uint32_t depth_of(const struct ct_pairing_state *state, const struct ct_view *view)
{
	place thread = state->open != 0
			       ? find_thread(state, view->source_process->index, view->event.tid)
			       : 0;

	return thread != 0 ? state->threads[thread].depth : 0;
}

/* -----------------------------------------------------------------------------------------------
 * Spans
 */

static place find_span(const struct ct_pairing_state *state, const struct key *key)
{
	place at = *bucket_of(state, key);

	while (at != 0 && !is_same_key(&state->spans[at].key, key))
		at = state->spans[at].chain;
	return at;
}

/* In the bucket's chain, the key's last span is `with` from now on, or there is none. */
static void replace_last(struct ct_pairing_state *state, const struct span *span, place with)
{
	place next = with != 0 ? with : span->chain;

	if (with != 0) {
		state->spans[with].chain = span->chain;
		state->spans[with].chain_back = span->chain_back;
	}
	if (span->chain_back != 0)
		state->spans[span->chain_back].chain = next;
	else
		*bucket_of(state, &span->key) = next;
	if (span->chain != 0)
		state->spans[span->chain].chain_back = with != 0 ? with : span->chain_back;
}

static void remove_span(struct ct_pairing_state *state, place at)
{
	struct span *span = &state->spans[at];

	if (span->thread != 0)
		leave_thread(state, span);
	if (span->later == 0)
		replace_last(state, span, span->earlier);
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

static void insert_last(struct ct_pairing_state *state, place at)
{
	struct span *span = &state->spans[at];
	place before = find_span(state, &span->key);
	place *bucket = bucket_of(state, &span->key);

	span->earlier = before;
	if (before != 0) {
		state->spans[before].later = at;
		replace_last(state, &state->spans[before], at);
		return;
	}
	span->chain = *bucket;
	if (span->chain != 0)
		state->spans[span->chain].chain_back = at;
	*bucket = at;
}

static place add_span(struct ct_pairing_state *state, const struct key *key, uint64_t time_ns)
{
	place at;

	if (state->open == CT_PAIRING_OPEN)
		remove_span(state, state->oldest);
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
	insert_last(state, at);
	return at;
}

/* -----------------------------------------------------------------------------------------------
 * Events
 */

/* Spans that are known by an argument may end on another thread: they are in no thread's nest. */
static void begin_span(struct ct_pairing_state *state, struct ct_view *view, const struct key *key)
{
	place at = add_span(state, key, view->event.time_ns);

	view->span_id = state->spans[at].id;
	view->depth = depth_of(state, view);
	if (view->type->match < 0)
		enter_thread(state, at, view->event.tid);
}

static void end_span(struct ct_pairing_state *state, struct ct_view *view, const struct key *key)
{
	place at = find_span(state, key);
	const struct span *span = &state->spans[at];

	if (at != 0) {
		view->span_id = span->id;
		view->duration_ns = view->event.time_ns > span->time_ns
					    ? view->event.time_ns - span->time_ns
					    : 0;
		unwind(state, at);
		remove_span(state, at);
	}
	view->depth = depth_of(state, view);
}

void ct_pairing_note(struct ct_pairing_state *state, struct ct_view *view)
{
	enum ct_pairing pairing = view->type != NULL ? view->type->pairing : CT_PAIR_NONE;
	struct key key;

	view->duration_ns = CT_NO_DURATION;
	view->span_id = 0;
	if (pairing == CT_PAIR_NONE || !make_key(state, view, &key))
		view->depth = depth_of(state, view);
	else if (pairing == CT_PAIR_ENTRY)
		begin_span(state, view, &key);
	else
		end_span(state, view, &key);
}
