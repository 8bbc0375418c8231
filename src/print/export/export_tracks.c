/*
 * export_tracks.c - processes and threads as tracks of a picture, and which spans can be drawn on
 * them.
 *
 * Called by the exporters of pictures, on one thread.  A span takes two bits.  A thread has its
 * track and, during the first reading, its open spans: at most OPEN_LIMIT; beyond that the oldest
 * is dropped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_LIMIT 1024u
/* above all process ids of Linux, below what viewers take for negative */
#define MADE_UP_PID 1000000000u

struct ct_open_span {
	uint64_t id;
	bool is_crossing;
};

/* What is known of a span so far. */
enum state { STATE_NONE, STATE_BEGUN, STATE_NESTED, STATE_CROSSING };

/* What is known of a process. */
struct process {
	uint32_t pid;
	bool has_pid;
	bool has_track;
};

struct ct_tracks {
	struct ct_track **tracks;
	size_t count;
	struct ct_hash_table table; /* by source process and thread */
	uint8_t *states;            /* four spans a byte */
	size_t states_size;
	uint64_t begin_ns;
	bool has_begun;
	struct ct_span_names *names;
	struct process *processes; /* by source process */
	size_t process_count;
};

bool ct_read_event_ends_span(const struct ct_read_event *event)
{
	return event->span_id != 0 && event->duration_ns != CT_NO_DURATION;
}

bool ct_read_event_begins_span(const struct ct_read_event *event)
{
	return event->span_id != 0 && event->duration_ns == CT_NO_DURATION;
}

enum ctrace_status ct_tracks_create(struct ct_tracks **out_tracks)
{
	*out_tracks = calloc(1, sizeof **out_tracks);
	if (*out_tracks == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (ct_span_names_create(&(*out_tracks)->names) == CTRACE_OK)
		return CTRACE_OK;
	free(*out_tracks);
	return CTRACE_NOT_ENOUGH_MEMORY;
}

void ct_tracks_destroy(struct ct_tracks *tracks)
{
	if (tracks == NULL)
		return;
	for (size_t i = 0; i < tracks->count; i++) {
		free(tracks->tracks[i]->open);
		free(tracks->tracks[i]);
	}
	free(tracks->tracks);
	ct_hash_table_fini(&tracks->table);
	free(tracks->states);
	free(tracks->processes);
	ct_span_names_destroy(tracks->names);
	free(tracks);
}

/* -----------------------------------------------------------------------------------------------
 * Processes
 */

static struct process *process_find(struct ct_tracks *tracks,
				    const struct ct_source_process *source_process)
{
	if (source_process->index >= tracks->process_count) {
		size_t count = 2 * (size_t)source_process->index + 8;
		struct process *processes =
			reallocarray(tracks->processes, count, sizeof *processes);

		if (processes == NULL)
			return NULL;
		memset(processes + tracks->process_count, 0,
		       (count - tracks->process_count) * sizeof *processes);
		tracks->processes = processes;
		tracks->process_count = count;
	}
	return &tracks->processes[source_process->index];
}

static bool pid_is_taken(const struct ct_tracks *tracks, uint32_t pid)
{
	for (size_t i = 0; i < tracks->process_count; i++)
		if (tracks->processes[i].has_pid && tracks->processes[i].pid == pid)
			return true;
	return false;
}

uint32_t ct_tracks_pid(struct ct_tracks *tracks, const struct ct_source_process *source_process)
{
	struct process *process = process_find(tracks, source_process);
	uint32_t pid = source_process->pid;

	if (process != NULL && process->has_pid)
		return process->pid;
	if (process == NULL || pid == 0 || pid >= MADE_UP_PID || pid_is_taken(tracks, pid))
		pid = MADE_UP_PID + source_process->index;
	if (process != NULL) {
		process->pid = pid;
		process->has_pid = true;
	}
	return pid;
}

/* -----------------------------------------------------------------------------------------------
 * Threads
 */

static uint32_t track_hash(const struct ct_read_event *event)
{
	return (uint32_t)(((uint64_t)event->source_process->index << 32 | event->traced.tid) *
				  0x9E3779B97F4A7C15u >>
			  32);
}

static bool track_matches(const void *items, uint32_t number, const void *key)
{
	const struct ct_track *track = ((struct ct_track *const *)items)[number];
	const struct ct_read_event *event = key;

	return track->source_process_index == event->source_process->index &&
	       track->tid == event->traced.tid;
}

struct ct_track *ct_tracks_find(struct ct_tracks *tracks, const struct ct_read_event *event)
{
	const struct ct_source_process *source_process = event->source_process;
	uint32_t found = ct_hash_table_find(&tracks->table, track_hash(event), track_matches,
					    tracks->tracks, event);
	struct process *process;
	struct ct_track **all, *track;

	if (found != CT_HASH_TABLE_NONE) {
		track = tracks->tracks[found];
		track->source_process = source_process;
		return track;
	}
	all = ct_hash_table_reserve_items(&tracks->table, tracks->tracks,
					  sizeof(struct ct_track *));
	if (all == NULL)
		return NULL;
	tracks->tracks = all;
	track = calloc(1, sizeof *track);
	if (track == NULL)
		return NULL;
	process = process_find(tracks, source_process);
	*track = (struct ct_track){ .source_process = source_process,
				    .source_process_index = source_process->index,
				    .tid = event->traced.tid,
				    .last_ns = tracks->begin_ns,
				    .index = (uint32_t)tracks->count };
	track->is_first = process == NULL || !process->has_track;
	if (process != NULL)
		process->has_track = true;
	ct_hash_table_add(&tracks->table, track_hash(event), (uint32_t)tracks->count);
	all[tracks->count++] = track;
	return track;
}

/* -----------------------------------------------------------------------------------------------
 * Spans
 */

static enum state span_get_state(const struct ct_tracks *tracks, uint64_t span_id)
{
	size_t at = (size_t)(span_id / 4);

	if (span_id >= CT_TRACK_SPANS || at >= tracks->states_size)
		return STATE_NONE;
	return (enum state)(tracks->states[at] >> (span_id % 4 * 2) & 3);
}

static void span_set_state(struct ct_tracks *tracks, uint64_t span_id, enum state state)
{
	size_t at = (size_t)(span_id / 4);
	unsigned shift = (unsigned)(span_id % 4 * 2);

	if (span_id >= CT_TRACK_SPANS)
		return;
	if (at >= tracks->states_size) {
		size_t size = at < 4096 ? 8192 : 2 * at;
		uint8_t *states = realloc(tracks->states, size);

		if (states == NULL)
			return;
		memset(states + tracks->states_size, 0, size - tracks->states_size);
		tracks->states = states;
		tracks->states_size = size;
	}
	tracks->states[at] =
		(uint8_t)((tracks->states[at] & ~(3u << shift)) | (unsigned)state << shift);
}

static void span_begin(struct ct_tracks *tracks, struct ct_track *track, uint64_t span_id)
{
	if (track->open_count == OPEN_LIMIT) {
		memmove(track->open, track->open + 1, (OPEN_LIMIT - 1) * sizeof *track->open);
		track->open_count--;
	}
	if (track->open_count == track->open_capacity) {
		uint32_t capacity = track->open_capacity != 0 ? 2 * track->open_capacity : 8;
		struct ct_open_span *open = reallocarray(track->open, capacity, sizeof *open);

		if (open == NULL)
			return;
		track->open = open;
		track->open_capacity = capacity;
	}
	track->open[track->open_count++] = (struct ct_open_span){ .id = span_id };
	span_set_state(tracks, span_id, STATE_BEGUN);
}

/* A span that began inside and is still open crosses this one, if it ever ends. */
static void span_end(struct ct_tracks *tracks, struct ct_track *track, uint64_t span_id)
{
	uint32_t at = track->open_count;
	bool is_crossing;

	while (at > 0 && track->open[at - 1].id != span_id)
		at--;
	if (at == 0) {
		/* It began on another thread, too long ago, or before the trace. */
		if (span_get_state(tracks, span_id) == STATE_BEGUN)
			span_set_state(tracks, span_id, STATE_CROSSING);
		return;
	}
	at--;
	is_crossing = track->open[at].is_crossing;
	span_set_state(tracks, span_id, is_crossing ? STATE_CROSSING : STATE_NESTED);
	for (uint32_t i = at + 1; i < track->open_count; i++) {
		track->open[i].is_crossing |= !is_crossing;
		track->open[i - 1] = track->open[i];
	}
	track->open_count--;
}

void ct_tracks_look(struct ct_tracks *tracks, const struct ct_read_event *event)
{
	struct ct_track *track;

	if (!tracks->has_begun)
		tracks->begin_ns = event->traced.time_ns;
	tracks->has_begun = true;
	if (event->span_id == 0)
		return;
	track = ct_tracks_find(tracks, event);
	if (track == NULL)
		return;
	if (event->is_whole) {
		ct_span_names_look(tracks->names, event);
		span_set_state(tracks, event->span_id, STATE_NESTED);
	} else if (ct_read_event_begins_span(event)) {
		ct_span_names_look(tracks->names, event);
		span_begin(tracks, track, event->span_id);
	} else {
		span_end(tracks, track, event->span_id);
	}
}

/* An inferred end of a thread that is long silent is earlier than the other threads' last event. */
struct ct_track_time ct_tracks_time(struct ct_track *track, const struct ct_read_event *event,
				    uint64_t *last_ns)
{
	struct ct_track_time time;

	if (event->traced.time_ns > *last_ns)
		*last_ns = event->traced.time_ns;
	time.end_ns = event->is_inferred ? event->traced.time_ns : *last_ns;
	if (time.end_ns < track->last_ns)
		time.end_ns = track->last_ns;
	time.begin_ns = time.end_ns;
	if (event->is_whole && event->duration_ns < time.end_ns - track->last_ns)
		time.begin_ns -= event->duration_ns;
	else if (event->is_whole)
		time.begin_ns = track->last_ns;
	track->last_ns = time.end_ns;
	return time;
}

enum ct_span_way ct_tracks_way(const struct ct_tracks *tracks, uint64_t span_id)
{
	enum state state = span_get_state(tracks, span_id);

	return state == STATE_NESTED     ? CT_SPAN_NESTED
	       : state == STATE_CROSSING ? CT_SPAN_CROSSING
					 : CT_SPAN_ALONE;
}

void ct_tracks_add_name(struct ct_tracks *tracks, struct ct_buf *out,
			const struct ct_read_event *event)
{
	uint32_t name = CT_DISTINCT_NONE;
	const char *text;
	size_t size;

	if (ct_tracks_way(tracks, event->span_id) != CT_SPAN_ALONE)
		name = ct_span_names_find(tracks->names, event);
	if (name == CT_DISTINCT_NONE) {
		ct_export_add_name(out, event);
		return;
	}
	text = ct_span_names_text(tracks->names, name, &size);
	ct_buf_add(out, text, size);
}

struct ct_span_names *ct_tracks_names(struct ct_tracks *tracks)
{
	return tracks->names;
}

void ct_tracks_add_process(struct ct_tracks *tracks, struct ct_buf *out,
			   const struct ct_source_process *source_process)
{
	ct_buf_add_text(out,
			source_process->program[0] != '\0' ? source_process->program : "process");
	if (source_process->pid != 0 &&
	    source_process->pid != ct_tracks_pid(tracks, source_process))
		ct_buf_add_format(out, " %u", source_process->pid);
	if (source_process->host[0] != '\0')
		ct_buf_add_format(out, " on %s", source_process->host);
}

uint64_t ct_tracks_begin_ns(const struct ct_tracks *tracks)
{
	return tracks->begin_ns;
}
