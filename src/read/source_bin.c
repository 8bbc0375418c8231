/*
 * source_bin.c - the events of a stream file of a BINFILE trace.
 *
 * Called by the merge, on one thread.  The files may be hostile or damaged, or grow while they are
 * read.  An unreadable event costs the rest of its packet.  A waiting event whose memory was
 * released is read again when its turn comes. binfile_trace.c knows the classes, binfile_packets.c
 * finds the packets, stream_file.c reads the bytes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include "read/binfile_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_EVENT "this is no event of the trace"

struct bin_source {
	struct ct_source base;
	struct ct_binfile_trace *trace;
	struct ct_binfile_packets packets;
	size_t event_at; /* offset of the current event and the state before it, to read it again */
	struct ct_event_state before_event;
	uint32_t class_number; /* class of the previous event, which base.event describes */
	bool is_placed;        /* the first packet that the reader wants was looked for */
	bool has_ended;
};

/* -----------------------------------------------------------------------------------------------
 * Events
 */

/* Returns NULL when even the current metadata lack the class. */
static const struct ct_binfile_class *class_find(struct bin_source *bin, struct ct_sources *sources,
						 uint32_t number)
{
	const struct ct_binfile_class *known = ct_binfile_class(bin->trace, sources, number);

	/* A live process may have added the class since the metadata were read. */
	if (__builtin_expect(known == NULL, 0) && ct_binfile_trace_grow(bin->trace, sources))
		known = ct_binfile_class(bin->trace, sources, number);
	return known;
}

/* Decodes as much of the event at `at` as event_fill() needs: mostly its size. */
static enum ctrace_status event_decode(struct bin_source *bin, const struct ct_binfile_class *known,
				       const unsigned char *at, size_t left, struct ct_event *out)
{
	struct ct_event_state *state = &bin->packets.clock.state;
	size_t size = known->shape.size != 0 ? ct_event_shape_size(&known->shape, at, left) : 0;

	if (size == 0)
		return ct_event_decode(&bin->trace->image, at, left, state, out) == CTRACE_OK
			       ? CTRACE_OK
			       : CTRACE_DAMAGED;
	state->ticks = ct_event_ticks(state->ticks, ct_event_word(at));
	out->size = size;
	out->item_count = known->class->item_count;
	out->items = (const unsigned char *)known->class->items;
	out->data = at + CT_EVENT_HEAD;
	out->data_size = size - CT_EVENT_HEAD;
	return CTRACE_OK;
}

/* Sets the class of the source's event.  Each generic event carries its own. */
static void event_set_class(struct bin_source *bin, const struct ct_sources *sources,
			    const struct ct_event *decoded, const struct ct_binfile_class *known)
{
	struct ct_read_event *event = &bin->base.event;
	bool is_generic = known->number == CT_CLASS_ANY;

	event->traced.component = is_generic ? decoded->component : known->class->component;
	event->traced.component_size =
		is_generic ? (uint32_t)decoded->component_size : known->component_size;
	event->traced.event_id = is_generic ? decoded->head.event_id : known->class->event_id;
	event->traced.level = is_generic ? decoded->head.level : known->class->level;
	event->names = known->names;
	event->definition = known->class->definition;
	event->scope = is_generic ? 0 : sources->scope;
	event->component = known->component;
	event->type = known->type;
	bin->base.filter_result = known->filter_result;
	bin->class_number = known->number;
}

static enum ctrace_status event_fill(struct bin_source *bin, struct ct_sources *sources,
				     const struct ct_event *decoded,
				     const struct ct_binfile_class *known)
{
	struct ct_source *base = &bin->base;
	struct ct_read_event *event = &base->event;

	if (known->number != bin->class_number || known->number == CT_CLASS_ANY)
		event_set_class(bin, sources, decoded, known);
	event->traced.time_ns = ct_packet_clock_time(&bin->packets.clock);
	event->size = decoded->size;
	event->traced.item_count = 0;
	if (known->filter_result == CT_FILTER_RESULT_NEVER)
		return CTRACE_OK;
	if (decoded->item_count > base->item_capacity &&
	    !ct_source_reserve(base, decoded->item_count))
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_event_items(decoded, base->items);
	event->traced.items = base->items;
	event->traced.item_count = decoded->item_count;
	if (known->number == CT_CLASS_ANY)
		base->filter_result = ct_sources_class(sources, event);
	return CTRACE_OK;
}

/* Sets the source to the event at offset.  Returns DAMAGED, without moving, when it cannot be
 * read. */
static enum ctrace_status bin_read_event(struct bin_source *bin, struct ct_sources *sources)
{
	struct ct_binfile_packets *packets = &bin->packets;
	const struct ct_binfile_class *known;
	struct ct_event decoded;
	size_t available;
	const unsigned char *packet = ct_stream_file_look(
		&packets->file, sources, packets->packet_at, packets->content, &available);
	const unsigned char *at;
	enum ctrace_status status;

	bin->event_at = packets->offset;
	bin->before_event = packets->clock.state;
	if (available < packets->content || packets->content - packets->offset < CT_EVENT_HEAD)
		return CTRACE_DAMAGED;
	at = packet + packets->offset;
	known = class_find(bin, sources, ct_event_word(at) & 0xFFFF);
	status = known != NULL ? event_decode(bin, known, at, packets->content - packets->offset,
					      &decoded)
			       : CTRACE_DAMAGED;
	if (status == CTRACE_OK)
		status = event_fill(bin, sources, &decoded, known);
	if (status == CTRACE_OK)
		packets->offset += decoded.size;
	else
		packets->clock.state = bin->before_event;
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * The source
 */

/* bin_restore() reads the waiting event again when its turn comes. */
static void bin_release(struct ct_source *source, struct ct_sources *sources)
{
	struct bin_source *bin = (struct bin_source *)source;

	if (bin->packets.file.window == NULL || bin->has_ended)
		return;
	ct_stream_file_release(&bin->packets.file, sources);
	source->is_stale = true;
}

static bool bin_restore(struct ct_source *source, struct ct_sources *sources)
{
	struct bin_source *bin = (struct bin_source *)source;
	struct ct_binfile_packets *packets = &bin->packets;

	source->is_stale = false;
	packets->offset = bin->event_at;
	packets->clock.state = bin->before_event;
	if (bin_read_event(bin, sources) == CTRACE_OK)
		return true;
	/* The file has changed. */
	ct_binfile_packets_skip(packets, sources, packets->packet_at + bin->event_at, NO_EVENT);
	return false;
}

/* False at the end of the file. */
static bool bin_next_packet(struct bin_source *bin, struct ct_sources *sources)
{
	struct ct_binfile_packets *packets = &bin->packets;

	if (packets->is_cut && !packets->file.has_failed)
		ct_sources_damage(sources, bin->base.path, packets->packet_at + packets->offset, 0,
				  CT_STREAM_ENDS_INSIDE);
	packets->is_cut = false;
	if (!ct_binfile_packets_next(packets, sources))
		return false;
	bin->base.event.traced.pid = packets->head.pid;
	bin->base.event.traced.tid = packets->head.tid;
	return true;
}

/* Skips the packets before the reader's start time. */
static void bin_seek(struct bin_source *bin, struct ct_sources *sources)
{
	if (!bin->is_placed && sources->may_seek && sources->since_ns > 0)
		ct_binfile_packets_seek(&bin->packets, sources);
	bin->is_placed = true;
}

static bool bin_next(struct ct_source *source, struct ct_sources *sources)
{
	struct bin_source *bin = (struct bin_source *)source;
	struct ct_binfile_packets *packets = &bin->packets;
	enum ctrace_status status;

	source->is_stale = false;
	while (!bin->has_ended) {
		if (packets->offset >= packets->content) {
			bin_seek(bin, sources);
			bin->has_ended = !ct_binfile_packets_grow(packets, sources) &&
					 !bin_next_packet(bin, sources);
			continue;
		}
		status = bin_read_event(bin, sources);
		if (status == CTRACE_OK && source->event.traced.time_ns <= sources->until_ns)
			return true;
		if (status == CTRACE_OK) {
			bin->has_ended = true; /* later events follow */
			continue;
		}
		if (status == CTRACE_DAMAGED && ct_binfile_packets_grow(packets, sources))
			continue;
		if (packets->file.has_failed) {
			bin->has_ended = true; /* the reason was reported */
			continue;
		}
		if (status == CTRACE_DAMAGED) {
			ct_binfile_packets_skip(packets, sources,
						packets->packet_at + packets->offset,
						packets->is_cut ? CT_STREAM_ENDS_INSIDE : NO_EVENT);
			continue;
		}
		ct_sources_damage(sources, source->path, packets->packet_at, 0,
				  ctrace_status_text(status));
		bin->has_ended = true;
	}
	/* The merge does not call again. */
	ct_stream_file_release(&packets->file, sources);
	ct_stream_file_fini(&packets->file);
	return false;
}

static bool bin_ends(struct ct_source *source, struct ct_sources *sources, uint64_t *out_first_ns,
		     uint64_t *out_last_ns)
{
	return ct_binfile_packets_ends(&((struct bin_source *)source)->packets, sources,
				       out_first_ns, out_last_ns);
}

static uint64_t bin_progress(const struct ct_source *source, uint64_t *out_size)
{
	const struct bin_source *bin = (const struct bin_source *)source;
	uint64_t at = bin->packets.packet_at + bin->packets.offset;

	*out_size = bin->packets.file.size;
	return bin->has_ended || at > *out_size ? *out_size : at;
}

static void bin_destroy(struct ct_source *source)
{
	struct bin_source *bin = (struct bin_source *)source;

	ct_stream_file_fini(&bin->packets.file);
	ct_binfile_trace_unref(bin->trace);
	ct_source_fini(source);
	free(bin);
}

/* -----------------------------------------------------------------------------------------------
 * Adding
 */

static enum ctrace_status add_stream(struct ct_sources *sources, struct ct_binfile_trace *trace,
				     const char *directory, const char *name)
{
	struct bin_source *bin = calloc(1, sizeof *bin);

	if (bin == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	bin->base.next = bin_next;
	bin->base.destroy = bin_destroy;
	bin->base.release = bin_release;
	bin->base.restore = bin_restore;
	bin->base.ends = bin_ends;
	bin->base.progress = bin_progress;
	if (asprintf(&bin->base.path, "%s/%s", directory, name) < 0) {
		free(bin);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	ct_stream_file_init(&bin->packets.file, &bin->base, true);
	bin->packets.trace = bin->trace = trace;
	bin->base.event.source_process = trace->source_process;
	bin->base.event.traced.stream = (uint32_t)sources->count;
	trace->users++;
	return ct_sources_take(sources, &bin->base);
}

static int is_stream(const struct dirent *entry)
{
	return strncmp(entry->d_name, "stream.", 7) == 0;
}

static enum ctrace_status add_all_streams(struct ct_sources *sources,
					  struct ct_binfile_trace *trace, const char *directory)
{
	enum ctrace_status status = CTRACE_OK;
	struct dirent **entries;
	int count = scandir(directory, &entries, is_stream, versionsort);

	if (count < 0)
		return errno == EACCES ? CTRACE_DENIED : CTRACE_OS_ERROR;
	for (int i = 0; i < count; i++) {
		/* A file exists twice when it could not be removed after compression. */
		if (status == CTRACE_OK && !ct_stream_file_is_second(directory, entries[i]->d_name))
			status = add_stream(sources, trace, directory, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return status;
}

static void report_shortage(const struct ct_read_note *note, void *user)
{
	ct_sources_note(user, note);
}

enum ctrace_status ct_source_bin_add(struct ct_sources *sources, const char *directory,
				     const char *only)
{
	struct ct_binfile_trace *trace;
	enum ctrace_status status = ct_binfile_trace_open(sources, directory, &trace);

	if (status == CTRACE_OK && only != NULL && strncmp(only, "stream.", 7) != 0) {
		ct_binfile_trace_unref(trace);
		return CTRACE_NOT_FOUND;
	}
	if (status != CTRACE_OK)
		return status;
	status = only != NULL ? add_stream(sources, trace, directory, only)
			      : add_all_streams(sources, trace, directory);
	if (status == CTRACE_OK)
		ct_closing_mark_check(directory, only, trace->info.uuid, report_shortage, sources);
	ct_binfile_trace_unref(trace);
	return status;
}
