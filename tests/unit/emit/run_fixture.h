/*
 * tests/unit/emit/run_fixture.h - events for an emitter that takes runs: what the consumer would
 * have found in rings.
 *
 *     status = write_as_runs(&ct_emit_binfile, self, &batch);     batch has events, of streams
 *
 * Their ticks are their times, but that nobody sets them.  Classes are of one table for the whole
 * test program, as those of a process are.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef RUN_FIXTURE_H
#define RUN_FIXTURE_H

#include "format/format.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define RUN_COMPONENTS 64u
#define RUN_STREAMS 256u

struct run_room {
	struct ct_classes classes;
	const char *names[RUN_COMPONENTS];
	unsigned name_count;
	uint64_t last_ticks[RUN_STREAMS]; /* of each stream, by id */
};

static inline struct run_room *run_room(void)
{
	static struct run_room *room;

	if (room == NULL) {
		room = calloc(1, sizeof *room);
		assert(room != NULL);
		room->classes.table = aligned_alloc(4096, CT_CLASS_TABLE);
		assert(room->classes.table != NULL);
		memset(room->classes.table, 0, CT_CLASS_TABLE);
		ct_class_table_start(room->classes.table, CT_CLASS_TABLE);
	}
	return room;
}

/* Another process: its counter has nothing to do with that of the one before. */
static inline void run_begin(void)
{
	memset(run_room()->last_ticks, 0, sizeof run_room()->last_ticks);
}

static inline uint32_t run_component(struct run_room *room, const char *name)
{
	unsigned i = 0;

	while (i < room->name_count && strcmp(room->names[i], name) != 0)
		i++;
	assert(i < RUN_COMPONENTS);
	if (i == room->name_count)
		room->names[room->name_count++] = strdup(name);
	return i;
}

static inline struct ctrace_item run_item(const struct ctrace_event_item *item)
{
	return (struct ctrace_item){ .data = item->data,
				     .size = item->size,
				     .type = item->type,
				     .is_counted = !ct_item_is_integer(item->type, item->size) };
}

struct run_gathering {
	struct ctrace_run *runs;
	struct ctrace_piece *pieces;
	struct ctrace_run_class *classes;
	uint32_t run_count, piece_count, class_count;
};

static inline void run_note_class(struct run_gathering *g, struct run_room *room, uint32_t number,
				  uint32_t component)
{
	for (uint32_t i = 0; i < g->class_count; i++)
		if (g->classes[i].number == number)
			return;
	if (number != CT_CLASS_ANY)
		g->classes[g->class_count++] = (struct ctrace_run_class){
			.number = number,
			.component = room->names[component],
			.component_size = (uint32_t)strlen(room->names[component])
		};
}

/* The bytes of the event, in memory of their own; with its component's name where it has no class.
 */
static inline unsigned char *run_encode(struct run_gathering *g, const struct ctrace_event *event,
					uint64_t ticks, size_t *out_size)
{
	struct run_room *room = run_room();
	struct ct_event_head head = { run_component(room, event->component), event->event_id,
				      event->level };
	struct ctrace_item *items = calloc(event->item_count + 1, sizeof *items);
	uint32_t *descriptors = calloc(event->item_count + 1, sizeof *descriptors);
	size_t name = strlen(event->component) + 1, size;
	unsigned char *bytes;
	uint32_t number;

	for (uint32_t i = 0; i < event->item_count; i++) {
		items[i] = run_item(&event->items[i]);
		descriptors[i] = ct_class_item(&items[i]);
	}
	number = ct_class_find(&room->classes, &head, descriptors, event->item_count);
	size = ct_event_size(number, items, event->item_count);
	assert(size != 0);
	bytes = malloc(size + name);
	ct_event_encode(bytes, number, ticks, &head, items, event->item_count);
	if (number == CT_CLASS_ANY) {
		memmove(bytes + CT_EVENT_ANY_NAME + name, bytes + CT_EVENT_ANY_NAME,
			size - CT_EVENT_ANY_NAME);
		memcpy(bytes + CT_EVENT_ANY_NAME, event->component, name);
		size += name;
	}
	run_note_class(g, room, number, head.component);
	free(items);
	free(descriptors);
	*out_size = size;
	return bytes;
}

/* Each event is a piece; one of another thread, or too far away, begins a run. */
static inline void run_gather(struct run_gathering *g, const struct ctrace_batch *batch,
			      uint32_t stream)
{
	struct ctrace_run *run = NULL;
	uint64_t *last = &run_room()->last_ticks[batch->streams[stream].id % RUN_STREAMS],
		 shift = 0;

	for (uint32_t i = 0; i < batch->event_count; i++) {
		const struct ctrace_event *event = &batch->events[i];
		const struct ctrace_clock *clock = event->clock;
		uint64_t ticks = event->time_ns + (clock != NULL ? clock->set_back_ns : 0) + shift,
			 size;
		unsigned char *bytes;

		if (event->stream != stream)
			continue;
		/* As the consumer gives them: never back.  A batch whose times are set back is as
		 * far apart as it says. */
		if (ticks < *last && run == NULL) {
			shift = *last + 1 - ticks;
			ticks += shift;
		}
		if (ticks < *last)
			ticks = *last;
		*last = ticks;
		bytes = run_encode(g, event, ticks, &size);
		if (run == NULL || run->tid != event->tid || run->clock != clock ||
		    run->size + size > CT_PACKET_CONTENT) {
			run = &g->runs[g->run_count++];
			*run = (struct ctrace_run){ .stream = stream,
						    .tid = event->tid,
						    .pieces = &g->pieces[g->piece_count],
						    .begin_ticks = ticks,
						    .begin_ns = event->time_ns,
						    .clock = clock };
		}
		g->pieces[g->piece_count++] = (struct ctrace_piece){ bytes, size };
		run->piece_count++;
		run->event_count++;
		run->size += size;
		run->end_ticks = ticks;
		run->end_ns = run->begin_ns + (ticks - run->begin_ticks);
	}
}

static inline enum ctrace_status write_as_runs(const struct ctrace_emitter *emitter, void *self,
					       const struct ctrace_batch *batch)
{
	struct run_gathering g = { .runs = calloc(batch->event_count, sizeof *g.runs),
				   .pieces = calloc(batch->event_count, sizeof *g.pieces),
				   .classes = calloc(batch->event_count, sizeof *g.classes) };
	struct ctrace_batch runs = *batch;
	enum ctrace_status status;

	for (uint32_t stream = 0; stream < batch->stream_count; stream++)
		run_gather(&g, batch, stream);
	runs.events = NULL;
	runs.runs = g.runs;
	runs.run_count = g.run_count;
	runs.classes = g.classes;
	runs.class_count = g.class_count;
	runs.class_table = run_room()->classes.table;
	runs.class_table_size = CT_CLASS_TABLE;
	status = emitter->write(self, &runs);
	for (uint32_t i = 0; i < g.piece_count; i++)
		free((void *)(uintptr_t)g.pieces[i].data);
	free(g.runs);
	free(g.pieces);
	free(g.classes);
	return status;
}

#endif
