/*
 * stream_events.c - what comes to a stream as events, each once, with the losses.
 *
 * Called for each part of a followed stream, on the thread that follows.  A part that may have
 * events of an earlier one is compared by time: each thread's events come in the order of their
 * times, so those that are not later than its latest one have been taken.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/streams/stream_events.h"

#include <stdlib.h>
#include <string.h>

struct stream_thread {
	uint32_t process;
	uint64_t thread;
	uint64_t time_ns; /* of its latest event */
	uint64_t came_ns;
};

/* How many events a stream file has lost, as its packets say. */
struct stream_loss {
	char *path;
	uint64_t count;
	uint64_t came_ns;
};

/* -----------------------------------------------------------------------------------------------
 * Threads
 */

static uint32_t thread_hash(const struct stream_thread *thread)
{
	return ct_name_hash((const char *)&thread->thread, sizeof thread->thread) ^ thread->process;
}

static bool thread_is(const void *items, uint32_t number, const void *key)
{
	const struct stream_thread *thread = (const struct stream_thread *)items + number;
	const struct stream_thread *wanted = key;

	return thread->process == wanted->process && thread->thread == wanted->thread;
}

/* Notes the time of the event.  Returns false when it is of a part that may have come before, and
 * not later than its thread's latest event. */
static bool thread_note(struct stream_events *events, uint32_t process,
			const struct ctrace_event *traced, bool is_repeated)
{
	struct stream_thread key = { .process = process, .thread = traced->tid };
	uint32_t hash = thread_hash(&key);
	uint32_t at =
		ct_hash_table_find(&events->thread_table, hash, thread_is, events->threads, &key);
	struct stream_thread *threads;

	if (at == CT_HASH_TABLE_NONE) {
		threads = ct_hash_table_reserve_items(&events->thread_table, events->threads,
						      sizeof *threads);
		if (threads == NULL)
			return true;
		events->threads = threads;
		at = events->thread_table.count;
		key.time_ns = is_repeated ? events->forgotten_ns : 0;
		threads[at] = key;
		ct_hash_table_add(&events->thread_table, hash, at);
	}
	events->threads[at].came_ns = events->now_ns;
	if (is_repeated && traced->time_ns <= events->threads[at].time_ns)
		return false;
	if (traced->time_ns > events->threads[at].time_ns)
		events->threads[at].time_ns = traced->time_ns;
	return true;
}

struct forget {
	struct stream_events *events;
	uint64_t before_ns;
};

static bool thread_keeps(void *item, uint32_t *out_hash, void *user)
{
	const struct stream_thread *thread = item;
	const struct forget *forget = user;

	*out_hash = thread_hash(thread);
	if (thread->came_ns >= forget->before_ns)
		return true;
	if (thread->time_ns > forget->events->forgotten_ns)
		forget->events->forgotten_ns = thread->time_ns;
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * Losses
 */

static bool loss_is(const void *items, uint32_t number, const void *path)
{
	return strcmp(((const struct stream_loss *)items)[number].path, path) == 0;
}

static void loss_add(struct stream_events *events, uint32_t hash, const char *path, uint64_t count)
{
	char *copy = strdup(path);
	struct stream_loss *losses =
		copy != NULL ? ct_hash_table_reserve_items(&events->loss_table, events->losses,
							   sizeof *losses)
			     : NULL;
	uint32_t at = events->loss_table.count;

	if (losses == NULL) {
		free(copy);
		return;
	}
	events->losses = losses;
	losses[at] =
		(struct stream_loss){ .path = copy, .count = count, .came_ns = events->now_ns };
	ct_hash_table_add(&events->loss_table, hash, at);
}

/* A stream file has the same path in each part.  What is sent again counts nothing new. */
static void loss_note(const char *path, const struct ct_source_process *process, uint64_t count,
		      void *user)
{
	struct stream_events *events = user;
	uint32_t hash = ct_name_hash(path, strlen(path));
	uint32_t at = ct_hash_table_find(&events->loss_table, hash, loss_is, events->losses, path);
	struct stream_loss *loss;

	if (!ct_peer_filter_wants(&events->filter, process->pid, process->asid, process->jobname))
		return;
	if (at == CT_HASH_TABLE_NONE) {
		loss_add(events, hash, path, count);
		return;
	}
	loss = &events->losses[at];
	loss->came_ns = events->now_ns;
	if (count <= loss->count)
		return;
	events->lost(process, count - loss->count, events->user);
	loss->count = count;
}

static bool loss_keeps(void *item, uint32_t *out_hash, void *user)
{
	const struct stream_loss *loss = item;
	const struct forget *forget = user;

	*out_hash = ct_name_hash(loss->path, strlen(loss->path));
	if (loss->came_ns >= forget->before_ns)
		return true;
	free(loss->path);
	return false;
}

void stream_events_forget(struct stream_events *events, uint64_t before_ns)
{
	struct forget forget = { .events = events, .before_ns = before_ns };

	ct_hash_table_keep(&events->thread_table, events->threads, sizeof *events->threads,
			   thread_keeps, &forget);
	ct_hash_table_keep(&events->loss_table, events->losses, sizeof *events->losses, loss_keeps,
			   &forget);
}

/* -----------------------------------------------------------------------------------------------
 * A part
 */

static void part_report(const struct ct_read_note *note, void *user)
{
	const struct stream_events *events = user;

	/* loss_note() counts losses; gaps are those of the whole trace, and each part would
	 * repeat them. */
	if (note->kind == CT_NOTE_DAMAGE || note->kind == CT_NOTE_UNREAD)
		events->report(note->path, note->offset, note->message, events->user);
}

static bool event_take(struct stream_events *events, const struct ct_read_event *event,
		       bool is_repeated)
{
	struct ct_source_process process = *event->source_process;

	if (!ct_peer_filter_wants(&events->filter, process.pid, process.asid, process.jobname))
		return true;
	/* The numbers of a part's reader mean nothing in the next part. */
	process.index =
		ct_name_hash(process.host, strlen(process.host)) ^ (process.pid * 0x9E3779B1u);
	return !thread_note(events, process.index, &event->traced, is_repeated) ||
	       events->take(event, &process, events->user);
}

void stream_events_take(struct stream_events *events, const char *directory, bool is_repeated)
{
	const struct ct_reader_options options = { .report = part_report,
						   .lost = loss_note,
						   .user = events };
	const struct ct_read_event *event;
	struct ct_reader *reader;

	events->now_ns = ct_clock_mono_ns();
	if (ct_reader_create(&options, &reader) != CTRACE_OK)
		return;
	if (ct_reader_add(reader, directory) == CTRACE_OK)
		while ((event = ct_reader_next(reader)) != NULL &&
		       event_take(events, event, is_repeated))
			;
	ct_reader_destroy(reader);
}

void stream_events_fini(struct stream_events *events)
{
	for (uint32_t i = 0; i < events->loss_table.count; i++)
		free(events->losses[i].path);
	free(events->losses);
	free(events->threads);
	ct_hash_table_fini(&events->loss_table);
	ct_hash_table_fini(&events->thread_table);
}
