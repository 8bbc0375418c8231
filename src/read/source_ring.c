/*
 * source_ring.c - the events that wait in the rings of a traced process, live or dead.
 *
 * Called by the merge, on one thread.  Session and rings are copied with pread, since their owner may change or truncate them at any
 * time; everything that counts is in the copies.  Only what no destination has taken over yet is given: the rest is in the destinations.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all rings of a process share. */
struct process {
	unsigned users;
	struct ct_session session;
	struct ct_sync sync;
	char **names; /* of components, terminated; made when first needed */
	uint32_t name_count;
	const struct ct_origin *origin;
};

struct ring_source {
	struct ct_source base;
	struct process *process;
	struct ct_ring ring;
	struct ct_cursor_place place;
	uint64_t limit;
	unsigned char *scratch; /* a copied record; only for overwrite rings */
	/* the class that base.verdict is of */
	bool has_class;
	uint32_t class_component, class_event, class_level;
};

static void process_unref(struct process *process)
{
	if (--process->users > 0)
		return;
	for (uint32_t i = 0; process->names != NULL && i < process->name_count; i++)
		free(process->names[i]);
	free(process->names);
	ct_session_close(&process->session, false);
	free(process);
}

static const struct ct_origin *add_origin(struct ct_sources *sources, const struct ct_session *session)
{
	const struct ct_session_head *head = session->head;
	struct ct_process_key key = {
		.host = head->host,
		.program = head->program,
		.jobname = head->jobname,
		.path = session->path,
		.pid = head->pid,
		.asid = head->asid,
		.started_ns = head->start_ns,
	};

	return ct_sources_origin(sources, &key);
}

static enum ctrace_status process_open(struct ct_sources *sources, const char *run_directory, const char *name,
				       struct process **out_process)
{
	struct process *process = calloc(1, sizeof *process);
	enum ctrace_status status;

	if (process == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_session_load(&process->session, run_directory, name, false);
	if (status != CTRACE_OK) {
		free(process);
		return status;
	}
	process->users = 1;
	ct_sync_copy(&process->session.head->sync, &process->sync);
	process->name_count = process->session.head->component_count;
	process->names = calloc((size_t)process->name_count + 1, sizeof(char *));
	if (process->names == NULL) {
		process_unref(process);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	process->origin = add_origin(sources, &process->session);
	if (process->origin == NULL) {
		process_unref(process);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	*out_process = process;
	return CTRACE_OK;
}

static const char *component_name(struct process *process, uint32_t component)
{
	size_t size;
	const char *name;

	if (component >= process->name_count)
		return NULL;
	if (process->names[component] == NULL) {
		name = ct_session_text(&process->session, process->session.components[component].name, &size);
		if (size == 0)
			return NULL;
		process->names[component] = strndup(name, size <= CTRACE_MAX_COMPONENT ? size : CTRACE_MAX_COMPONENT);
	}
	return process->names[component];
}

/* ------------------------------------------------------------------------------------------------------------
 * One ring
 */

/* Rings hold no classes, but runs of like events: what was found out of the last one mostly holds. */
static void look_up_class(struct ring_source *source, struct ct_sources *sources)
{
	struct ct_view *view = &source->base.view;

	if (source->has_class && source->class_component == view->event.component_id && source->class_event == view->event.event_id &&
	    source->class_level == view->event.level)
		return;
	source->base.verdict = ct_sources_class(sources, view);
	source->class_component = view->event.component_id;
	source->class_event = view->event.event_id;
	source->class_level = view->event.level;
	source->has_class = true;
}

static bool fill_event(struct ring_source *source, struct ct_sources *sources, const struct ct_record *record)
{
	const char *component = component_name(source->process, record->head.component);
	struct ct_source *base = &source->base;

	if (component == NULL || !ct_source_reserve(base, record->item_count))
		return false;
	base->view.event = (struct ctrace_event){
		.time_ns = ct_sync_wall_ns(&source->process->sync, record->head.ticks),
		.component = component,
		.component_size = (uint32_t)strlen(component),
		.component_id = record->head.component,
		.event_id = record->head.event_id,
		.level = record->head.level,
		.pid = source->process->session.head->pid,
		.tid = record->head.tid,
		.stream = (uint32_t)base->order,
		.item_count = record->item_count,
		.items = base->items,
	};
	base->view.origin = source->process->origin;
	base->view.is_of_class = true;
	look_up_class(source, sources);
	if (base->verdict != CT_VERDICT_NEVER)
		ct_record_items(record, base->items);
	return true;
}

static bool ring_next(struct ct_source *base, struct ct_sources *sources)
{
	struct ring_source *source = (struct ring_source *)base;

	while (source->place.position < source->limit) {
		uint64_t at = source->place.position;
		struct ct_record record;
		enum ctrace_status status = ct_ring_peek(&source->ring, &source->place, source->limit, source->scratch, &record);

		if (status == CTRACE_NOT_FOUND)
			continue; /* overwritten: the place has moved on, and the ring counts it */
		if (status == CTRACE_OK) {
			source->place.position += record.size;
			source->place.count += !record.is_padding;
			if (record.is_padding)
				continue;
			if (fill_event(source, sources, &record))
				return true;
			ct_sources_damage(sources, base->path, at, record.size, "this record is of no component");
			continue;
		}
		/* What follows cannot be found: sizes chain. */
		ct_sources_damage(sources, base->path, at, source->limit - at, "this is no record; nothing behind it can be read");
		source->place.position = source->limit;
	}
	return false;
}

static void ring_destroy(struct ct_source *base)
{
	struct ring_source *source = (struct ring_source *)base;

	ct_ring_close(&source->ring);
	free(source->scratch);
	process_unref(source->process);
	ct_source_fini(base);
	free(source);
}

/*
 * The head was copied before the data.  A live process may have gone on in between, and written where the copy of the head still
 * sees undelivered records: what its head says now tells how far that can have come.
 */
static void skip_reused(struct ring_source *source)
{
	struct ct_ring_head now;
	struct ct_ring_head *head = source->ring.head;
	size_t got;

	if (ct_os_read_at(source->ring.fd, &now, sizeof now, 0, &got) != CTRACE_OK || got != sizeof now)
		return;
	if (now.tail > source->place.position && (now.tail & 7) == 0) {
		source->place.position = now.tail;
		source->place.count = now.consumed;
		source->place.overwritten = now.overwritten;
	}
	if (now.oldest > head->oldest && (now.oldest & 7) == 0) {
		head->oldest = now.oldest;
		head->oldest_count = now.oldest_count;
	}
}

static enum ctrace_status add_ring(struct ct_sources *sources, struct process *process, struct ct_ring *ring, uint32_t index)
{
	struct ring_source *source = calloc(1, sizeof *source);

	if (source == NULL) {
		ct_ring_close(ring);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	source->base.next = ring_next;
	source->base.destroy = ring_destroy;
	source->process = process;
	process->users++;
	source->ring = *ring;
	source->place = (struct ct_cursor_place){ .position = ring->head->tail,
						  .count = ring->head->consumed,
						  .overwritten = ring->head->overwritten };
	source->limit = ring->head->head;
	skip_reused(source);
	if (asprintf(&source->base.path, "%s/ring.%u", process->session.path, index) < 0)
		source->base.path = NULL;
	if (ring->head->overflow == CT_OVERFLOW_OVERWRITE)
		source->scratch = malloc(CT_RECORD_MAX);
	if (source->base.path == NULL || (ring->head->overflow == CT_OVERFLOW_OVERWRITE && source->scratch == NULL)) {
		ring_destroy(&source->base);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	return ct_sources_take(sources, &source->base);
}

/* ------------------------------------------------------------------------------------------------------------
 * A process
 */

static void report_ring(struct ct_sources *sources, const struct process *process, uint32_t index, const char *message)
{
	char *path;

	if (asprintf(&path, "%s/ring.%u", process->session.path, index) < 0)
		return;
	ct_sources_damage(sources, path, 0, 0, message);
	free(path);
}

static enum ctrace_status add_rings(struct ct_sources *sources, struct process *process, uint64_t *lost)
{
	uint32_t count = process->session.head->ring_count;

	for (uint32_t i = 0; i < count && i < CT_RING_LIMIT; i++) {
		struct ct_ring ring;
		enum ctrace_status status = ct_ring_load(&ring, &process->session, i);

		if (status == CTRACE_NOT_FOUND)
			continue; /* a live process that ended meanwhile */
		if (status != CTRACE_OK) {
			report_ring(sources, process, i, ctrace_status_text(status));
			continue;
		}
		*lost += ct_ring_lost_total(&ring);
		if (ring.head->tail == ring.head->head) {
			ct_ring_close(&ring);
			continue;
		}
		status = add_ring(sources, process, &ring, i);
		if (status != CTRACE_OK)
			return status;
	}
	return CTRACE_OK;
}

static void note_lost(struct ct_sources *sources, const struct process *process, uint64_t events)
{
	char message[64];
	struct ct_read_note note = {
		.trouble = CT_TROUBLE_LOST,
		.path = process->session.path,
		.events = events,
		.origin = process->origin,
		.message = message,
	};

	ct_source_lost_text(message, sizeof message, events);
	ct_sources_note(sources, &note);
}

enum ctrace_status ct_source_ring_add(struct ct_sources *sources, const char *run_directory, const char *name)
{
	struct process *process;
	uint64_t lost = 0;
	enum ctrace_status status = process_open(sources, run_directory, name, &process);

	if (status != CTRACE_OK)
		return status;
	for (size_t i = 0; i < CTRACE_LOSS_COUNT; i++)
		lost += process->session.head->lost[i];
	status = add_rings(sources, process, &lost);
	if (lost > 0)
		note_lost(sources, process, lost);
	process_unref(process);
	return status;
}
