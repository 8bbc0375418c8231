/*
 * source_ring.c - the events that wait in the rings of a traced process, live or dead.
 *
 * Called by the merge, on one thread.  Session and rings are copied with pread, since their owner
 * may change or truncate them at any time; only the copies are used.  Returns only events that the
 * consumer has not consumed: the destinations have the others.
 *
 * The waiting events of a ring are copied when the ring is added, since a live process goes on
 * writing.  When the copies reach COPIES_LIMIT bytes, further rings are read through a window when
 * their turn comes: a user may have thousands of sparse rings of a gigabyte each.  A live process
 * may consume or overwrite a part of such a ring before it is read; that is reported.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPIES_LIMIT (CT_SOURCES_HOLD / 2)
#define WINDOW ((size_t)64 << 10)

/* The data that all rings of a process share. */
struct process {
	unsigned users;
	struct ct_session session;
	struct ct_sync sync;
	char **names; /* of components, terminated; made when first needed */
	struct ctrace_definition *definitions; /* of those that have a name; zeros: none */
	uint32_t name_count;
	const struct ct_source_process *source_process;
};

struct ring_source {
	struct ct_source base;
	struct process *process;
	uint32_t index;
	uint64_t capacity;
	bool is_overwrite;
	uint64_t position; /* behind the current event */
	uint64_t limit;
	uint64_t event_at;                        /* position of the current event */
	struct ct_event_state state, event_state; /* decoder states at these two positions */
	/* The bytes from position window_at on. */
	unsigned char *window; /* NULL: none */
	size_t window_size;
	uint64_t window_at;
	bool is_copy; /* the window holds the whole ring content, and stays */
	uint64_t marks[CT_RING_ANCHORS];
	/* the class of base.filter_result */
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
	free(process->definitions);
	ct_session_close(&process->session, false);
	free(process);
}

static const struct ct_source_process *add_source_process(struct ct_sources *sources,
							  const struct ct_session *session)
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
		.is_big = CTRACE_IS_BIG_,
	};
	uint64_t start = ct_place_process_start(head->pid);

	/* Another process may have its number, or it may be of another process name space. */
	if (start != 0 && start == head->process_start)
		key.ended_ns = ct_clock_wall_ns();

	return ct_sources_source_process(sources, &key);
}

static enum ctrace_status process_open(struct ct_sources *sources, const char *run_directory,
				       const char *name, struct process **out_process)
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
	ct_shared_sync_copy(&process->session.head->sync, &process->sync);
	process->name_count = process->session.head->component_count;
	process->names = calloc((size_t)process->name_count + 1, sizeof(char *));
	process->definitions =
		calloc((size_t)process->name_count + 1, sizeof *process->definitions);
	if (process->names == NULL || process->definitions == NULL) {
		process_unref(process);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	process->source_process = add_source_process(sources, &process->session);
	if (process->source_process == NULL) {
		process_unref(process);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	*out_process = process;
	return CTRACE_OK;
}

static const char *process_component_name(struct process *process, uint32_t component)
{
	size_t size;
	const char *name;

	if (component >= process->name_count)
		return NULL;
	if (process->names[component] == NULL) {
		const struct ct_component_entry *entry = &process->session.components[component];

		name = ct_session_text(&process->session, entry->name, &size);
		if (size == 0)
			return NULL;
		(void)!ct_session_definition(&process->session, entry,
					     &process->definitions[component]);
		process->names[component] =
			strndup(name, size <= CTRACE_MAX_COMPONENT ? size : CTRACE_MAX_COMPONENT);
	}
	return process->names[component];
}

/* -----------------------------------------------------------------------------------------------
 * One ring
 */

/* Rings hold runs of like events, so the result of the last lookup mostly holds. */
static void class_look_up(struct ring_source *source, struct ct_sources *sources)
{
	struct ct_read_event *event = &source->base.event;

	if (source->has_class && source->class_component == event->traced.component_id &&
	    source->class_event == event->traced.event_id &&
	    source->class_level == event->traced.level)
		return;
	source->base.filter_result = ct_sources_class(sources, event);
	source->class_component = event->traced.component_id;
	source->class_event = event->traced.event_id;
	source->class_level = event->traced.level;
	source->has_class = true;
}

static bool items_reserve(struct ring_source *source, struct ct_sources *sources, uint32_t count)
{
	struct ct_source *base = &source->base;

	if (count > base->item_capacity)
		ct_sources_hold(sources, base, (count - base->item_capacity) * sizeof *base->items);
	return ct_source_reserve(base, count);
}

static bool event_fill(struct ring_source *source, struct ct_sources *sources,
		       const struct ct_event *decoded)
{
	const char *component = process_component_name(source->process, decoded->head.component);
	struct ct_source *base = &source->base;

	if (component == NULL || !items_reserve(source, sources, decoded->item_count))
		return false;
	base->event.traced = (struct ctrace_event){
		.time_ns = ct_sync_wall_ns(&source->process->sync, decoded->ticks),
		.component = component,
		.component_size = (uint32_t)strlen(component),
		.component_id = decoded->head.component,
		.event_id = decoded->head.event_id,
		.level = decoded->head.level,
		.pid = source->process->session.head->pid,
		.tid = decoded->tid,
		.stream = (uint32_t)base->order,
		.item_count = decoded->item_count,
		.items = base->items,
	};
	base->event.source_process = source->process->source_process;
	base->event.scope = sources->scope;
	base->event.definition =
		ct_definition_or_null(&source->process->definitions[decoded->head.component]);
	class_look_up(source, sources);
	if (base->filter_result != CT_FILTER_RESULT_NEVER)
		ct_event_items(decoded, base->items);
	return true;
}

/* ---- the window ---- */

static void window_drop(struct ring_source *source, struct ct_sources *sources)
{
	if (source->window != NULL)
		sources->held -= source->window_size;
	free(source->window);
	source->window = NULL;
	source->window_size = 0;
}

/* Skips the bytes that a live process may have overwritten while the window was read.  Its head,
 * read now, bounds how far it can have come. */
static void window_skip_reused(struct ring_source *source, struct ct_sources *sources, int fd)
{
	uint64_t from = source->position, next = from;
	struct ct_ring_head now;
	size_t got;

	if (ct_os_read_at(fd, &now, sizeof now, 0, &got) != CTRACE_OK || got != sizeof now)
		return;
	if (now.tail > next) {
		next = now.tail;
		source->state = ct_ring_tail_state(&now);
	}
	if (source->is_overwrite && now.oldest > next) {
		next = now.oldest;
		source->state = now.oldest_state;
	}
	if (next > source->limit)
		next = source->limit;
	source->position = next;
	/* Before the start the skipped part is no loss: it is as if the ring had been added
	 * later. */
	if (next > from && sources->is_started)
		ct_sources_damage(
			sources, source->base.path, from, next - from,
			"the process has delivered or overwritten this while it was read");
}

static enum ctrace_status window_read(struct ring_source *source, struct ct_sources *sources,
				      size_t size)
{
	uint64_t at = source->position, end = at;
	enum ctrace_status status;
	int fd;

	window_drop(source, sources);
	ct_sources_hold(sources, &source->base, size);
	source->window = malloc(size);
	source->window_size = source->window != NULL ? size : 0;
	source->window_at = at;
	sources->held -= size - source->window_size;
	if (source->window == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	/* The file is open only while it is read: a process may have more rings than we may have
	 * descriptors. */
	status = ct_ring_open(&source->process->session, source->index, &fd);
	if (status == CTRACE_OK) {
		status = ct_ring_read_data(fd, source->capacity, at, at + size, source->window,
					   &end);
		if (status == CTRACE_OK)
			window_skip_reused(source, sources, fd);
		ct_os_close(&fd);
	}
	sources->held -= source->window_size - (size_t)(end - at);
	source->window_size = (size_t)(end - at); /* the rest of a file that was cut is missing */
	if (status != CTRACE_OK)
		window_drop(source, sources);
	return status;
}

static size_t least_size(uint64_t a, uint64_t b)
{
	return (size_t)(a < b ? a : b);
}

/* Decodes the event at the source's position from the window. */
static enum ctrace_status event_decode(struct ring_source *source, size_t size,
				       struct ct_event *out)
{
	const unsigned char *at = source->window + (source->position - source->window_at);
	struct ct_class_image classes = ct_session_classes(&source->process->session);
	struct ct_event_state state = source->state;
	enum ctrace_status status = ct_event_decode(&classes, at, size, &state, out);

	/* A live process may have added or completed the class since its session was copied. */
	if (status == CTRACE_DAMAGED && ct_session_load_classes(&source->process->session)) {
		state = source->state;
		classes = ct_session_classes(&source->process->session);
		status = ct_event_decode(&classes, at, size, &state, out);
	}
	return status;
}

/* Reads the event at the source's position.  Returns NOT_FOUND at the end, and when the file is
 * gone. */
static enum ctrace_status ring_read_event(struct ring_source *source, struct ct_sources *sources,
					  struct ct_event *out)
{
	size_t wanted = WINDOW;

	while (source->position < source->limit) {
		uint64_t waits = source->limit - source->position;
		uint64_t at = source->position - source->window_at;
		size_t has = source->window != NULL && at <= source->window_size
				     ? source->window_size - (size_t)at
				     : 0;
		enum ctrace_status status = CTRACE_BUFFER_TOO_SMALL;

		if (has > 0)
			status = event_decode(source, least_size(has, waits), out);
		if (status == CTRACE_OK || has >= waits || source->is_copy ||
		    (has > 0 && status == CTRACE_DAMAGED))
			return status == CTRACE_BUFFER_TOO_SMALL ? CTRACE_DAMAGED : status;
		/* The event is not whole in the window, or there is no window. */
		if (has > 0 && at == 0)
			wanted = 4 * has;
		status = window_read(source, sources, least_size(waits, wanted));
		if (status != CTRACE_OK)
			return status;
		/* The file was cut here. */
		if (source->position == source->window_at && source->window_size <= has &&
		    source->window_size < least_size(waits, wanted))
			return CTRACE_DAMAGED;
	}
	return CTRACE_NOT_FOUND;
}

static void items_drop(struct ring_source *source, struct ct_sources *sources)
{
	struct ct_source *base = &source->base;

	sources->held -= base->item_capacity * sizeof *base->items;
	free(base->items);
	base->items = NULL;
	base->item_capacity = 0;
}

/* ---- the source ---- */

static void event_pass(struct ring_source *source, const struct ct_event *decoded)
{
	source->position += decoded->size;
	source->state = (struct ct_event_state){ .ticks = decoded->ticks, .tid = decoded->tid };
}

/* Each event's position follows from the size of the one before, so events are found again at the
 * next mark.  Returns false when there is none. */
static bool ring_skip_damage(struct ring_source *source, struct ct_sources *sources,
			     enum ctrace_status status)
{
	uint64_t from = source->position, next = source->limit;

	if (from >= next)
		return false;
	if (status == CTRACE_DAMAGED)
		next = ct_ring_next_mark(source->marks, from, next);
	ct_sources_damage(
		sources, source->base.path, from, next - from,
		status != CTRACE_DAMAGED ? "this cannot be read any more: the ring is gone"
		: next == source->limit  ? "this is no event; nothing behind it can be read"
					 : "this is no event; what is behind these bytes is read");
	source->position = next;
	return next < source->limit;
}

static bool ring_next(struct ct_source *base, struct ct_sources *sources)
{
	struct ring_source *source = (struct ring_source *)base;
	enum ctrace_status status;
	struct ct_event decoded;

	base->is_stale = false;
	while ((status = ring_read_event(source, sources, &decoded)) == CTRACE_OK ||
	       ring_skip_damage(source, sources, status)) {
		if (status != CTRACE_OK)
			continue;
		source->event_at = source->position;
		source->event_state = source->state;
		event_pass(source, &decoded);
		if (decoded.is_mark)
			continue;
		if (event_fill(source, sources, &decoded))
			return true;
		ct_sources_damage(sources, base->path, source->event_at, decoded.size,
				  "this event is of no component");
	}
	window_drop(source, sources);
	items_drop(source, sources);
	return false;
}

/* Drops the items, and the window unless it is a copy. ring_restore() reads the event again. */
static void ring_release(struct ct_source *base, struct ct_sources *sources)
{
	struct ring_source *source = (struct ring_source *)base;

	if (source->window == NULL)
		return;
	if (!source->is_copy)
		window_drop(source, sources);
	items_drop(source, sources);
	base->is_stale = true;
}

static bool ring_restore(struct ct_source *base, struct ct_sources *sources)
{
	struct ring_source *source = (struct ring_source *)base;
	uint64_t behind = source->position;
	struct ct_event_state behind_state = source->state;
	struct ct_event decoded;

	base->is_stale = false;
	source->position = source->event_at;
	source->state = source->event_state;
	if (ring_read_event(source, sources, &decoded) == CTRACE_OK &&
	    source->position == source->event_at && !decoded.is_mark &&
	    event_fill(source, sources, &decoded)) {
		event_pass(source, &decoded);
		return true;
	}
	/* The event is gone, which was reported. */
	if (source->position < behind) {
		source->position = behind;
		source->state = behind_state;
	}
	return false;
}

static void ring_destroy(struct ct_source *base)
{
	struct ring_source *source = (struct ring_source *)base;

	free(source->window);
	process_unref(source->process);
	ct_source_fini(base);
	free(source);
}

/* Copies the waiting events at once, unless the copies would exceed COPIES_LIMIT. */
static enum ctrace_status ring_copy(struct ring_source *source, struct ct_sources *sources,
				    size_t *copied)
{
	uint64_t waits = source->limit - source->position;
	enum ctrace_status status;

	if (waits > COPIES_LIMIT - *copied)
		return CTRACE_OK;
	*copied += (size_t)waits;
	status = window_read(source, sources, (size_t)waits);
	source->is_copy = status == CTRACE_OK && source->window_size == waits;
	return status;
}

static enum ctrace_status ring_add(struct ct_sources *sources, struct process *process,
				   uint32_t index, const struct ct_ring_head *head)
{
	struct ring_source *source = calloc(1, sizeof *source);
	enum ctrace_status status;

	if (source == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	source->base.next = ring_next;
	source->base.destroy = ring_destroy;
	source->base.release = ring_release;
	source->base.restore = ring_restore;
	source->process = process;
	process->users++;
	source->index = index;
	source->capacity = head->capacity;
	source->is_overwrite = head->overflow == CT_OVERFLOW_OVERWRITE;
	source->position =
		source->is_overwrite && head->oldest > head->tail ? head->oldest : head->tail;
	source->state =
		source->position == head->tail ? ct_ring_tail_state(head) : head->oldest_state;
	source->limit = head->head;
	memcpy(source->marks, head->anchors, sizeof source->marks);
	status = asprintf(&source->base.path, "%s/ring.%u", process->session.path, index) < 0
			 ? CTRACE_NOT_ENOUGH_MEMORY
			 : CTRACE_OK;
	if (status != CTRACE_OK)
		source->base.path = NULL;
	else
		status = ring_copy(source, sources, &sources->copied);
	if (status != CTRACE_OK) {
		window_drop(source, sources);
		ring_destroy(&source->base);
		return status;
	}
	return ct_sources_take(sources, &source->base);
}

/* -----------------------------------------------------------------------------------------------
 * A process
 */

/* A ring whose file cannot be read is unread; a ring with a bad head is damage. */
static void report_ring(struct ct_sources *sources, const struct process *process, uint32_t index,
			enum ctrace_status status)
{
	struct ct_read_note note = { .kind = CT_NOTE_UNREAD };
	char message[CT_UNREADABLE_SIZE];
	char *path;

	if (asprintf(&path, "%s/ring.%u", process->session.path, index) < 0)
		return;
	note.path = path;
	note.message = ct_path_unreadable(path, message);
	if (note.message == NULL) {
		note.kind = status == CTRACE_DAMAGED ? CT_NOTE_DAMAGE : CT_NOTE_UNREAD;
		note.message = ctrace_status_text(status);
	}
	ct_sources_note(sources, &note);
	free(path);
}

/* Adds the ring if events wait in it. */
static enum ctrace_status ring_inspect(struct ct_sources *sources, struct process *process,
				       uint32_t index, uint64_t *lost)
{
	struct ct_ring_head head;
	struct ct_ring ring = { .head = &head };
	enum ctrace_status status;
	int fd;

	status = ct_ring_open(&process->session, index, &fd);
	if (status != CTRACE_OK)
		return status;
	status = ct_ring_read_head(fd, index, &head);
	ct_os_close(&fd);
	if (status != CTRACE_OK)
		return status;
	*lost += ct_ring_lost_total(&ring);
	return head.tail != head.head ? ring_add(sources, process, index, &head) : CTRACE_OK;
}

static enum ctrace_status add_rings(struct ct_sources *sources, struct process *process,
				    uint64_t *lost)
{
	uint32_t count = process->session.head->ring_count;

	for (uint32_t i = 0; i < count && i < CT_RING_LIMIT; i++) {
		enum ctrace_status status = ring_inspect(sources, process, i, lost);

		if (status == CTRACE_NOT_ENOUGH_MEMORY)
			return status;
		/* NOT_FOUND is nothing of a private ring, or when the process has ended meanwhile:
		 * the directory gets another name before its files are removed. */
		if (status == CTRACE_NOT_FOUND &&
		    (process->session.head->ring_place[i] != CT_RING_IN_DIRECTORY ||
		     access(process->session.path, F_OK) != 0))
			continue;
		if (status != CTRACE_OK)
			report_ring(sources, process, i, status);
	}
	return CTRACE_OK;
}

static void report_lost(struct ct_sources *sources, const struct process *process, uint64_t events)
{
	char message[64];
	struct ct_read_note note = {
		.kind = CT_NOTE_LOST,
		.path = process->session.path,
		.events = events,
		.source_process = process->source_process,
		.message = message,
	};

	ct_source_lost_text(message, sizeof message, events);
	ct_sources_note(sources, &note);
}

static void report_clock_steps(struct ct_sources *sources, const struct process *process)
{
	const struct ct_sync *sync = &process->sync;

	for (uint32_t i = 1; i < sync->epoch_count; i++) {
		const struct ctrace_clock *clock = &sync->epochs[i].clock,
					  *before = &sync->epochs[i - 1].clock;
		struct ct_clock_step step = { .by_ns = (int64_t)((uint64_t)clock->total_ns -
								 (uint64_t)before->total_ns),
					      .at_ns = clock->set_at_ns };

		if (step.by_ns != 0)
			ct_sources_clock(sources, process->session.path, process->source_process,
					 &step);
	}
}

enum ctrace_status ct_source_ring_add(struct ct_sources *sources, const char *run_directory,
				      const char *name)
{
	struct process *process;
	uint64_t lost = 0;
	enum ctrace_status status = process_open(sources, run_directory, name, &process);

	if (status != CTRACE_OK)
		return status;
	lost = ct_loss_total(process->session.head->lost);
	status = add_rings(sources, process, &lost);
	if (lost > 0)
		report_lost(sources, process, lost);
	report_clock_steps(sources, process);
	process_unref(process);
	return status;
}
