/*
 * source_third_party.c - the events of a stream file of a third-party trace.
 *
 * Called by the merge, on one thread.  The files may be hostile or damaged.  An unreadable event
 * costs the rest of its packet.  A waiting event whose memory was released is read again when its
 * turn comes. third_party_class.c knows the classes, third_party_packets.c finds the packets,
 * third_party_decode.c decodes the bits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include "read/third_party_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct third_party_source {
	struct ct_source base;
	struct ct_third_party_packets packets;
	uint64_t event_at; /* bit of the current event and the clock before it, to read it again */
	struct ct_third_party_clock before_event;
	struct ct_third_party_items items;
	struct ct_event_names names;
	uint32_t last_pid;
	const struct ct_source_process *last_source_process; /* of last_pid */
};

/* -----------------------------------------------------------------------------------------------
 * Events
 */

/* Returns the root place of the stream's header or context. */
static struct ct_third_party_place *stream_root(struct ct_third_party_trace *trace,
						struct ct_third_party_place **roots,
						const struct ct_tsdl_stream *stream)
{
	if (roots[stream->index] == NULL)
		roots[stream->index] = ct_third_party_root(&trace->tree);
	return roots[stream->index];
}

static void decoder_set_scope(struct ct_third_party_decoder *decoder, enum ct_tsdl_scope scope,
			      const struct ct_tsdl_type *type, struct ct_third_party_place *root,
			      uint64_t stamp)
{
	decoder->scopes[scope] =
		(struct ct_third_party_scope){ .type = type, .root = root, .stamp = stamp };
}

/* Returns the class that the header names, or the trace's only class; NULL when there is none. */
static const struct ct_tsdl_event *event_class(const struct ct_third_party_packets *packets,
					       const struct ct_third_party_decoder *decoder)
{
	const struct ct_tsdl *tsdl = packets->trace->tsdl;
	bool has_id = ct_third_party_has(decoder, CT_ROLE_EVENT_ID);
	const struct ct_tsdl_event *declared = ct_tsdl_event(
		tsdl, packets->stream->id, has_id ? decoder->values[CT_ROLE_EVENT_ID] : 0);

	if (declared == NULL && !has_id && tsdl->event_count == 1)
		declared = tsdl->events;
	return declared;
}

static enum ct_third_party_result event_read_contexts(struct ct_third_party_packets *packets,
						      struct ct_third_party_decoder *decoder,
						      const struct ct_third_party_class *class,
						      uint64_t stamp)
{
	struct ct_third_party_trace *trace = packets->trace;
	const struct ct_tsdl_stream *stream = packets->stream;
	enum ct_third_party_result result;

	decoder_set_scope(
		decoder, CT_SCOPE_STREAM_EVENT_CONTEXT, stream->event_context,
		stream->event_context != NULL ? stream_root(trace, trace->contexts, stream) : NULL,
		stamp);
	decoder_set_scope(decoder, CT_SCOPE_EVENT_CONTEXT, class->event->context, class->context,
			  stamp);
	result = ct_third_party_decode(decoder, CT_SCOPE_STREAM_EVENT_CONTEXT);
	return result == CT_THIRD_PARTY_OK ? ct_third_party_decode(decoder, CT_SCOPE_EVENT_CONTEXT)
					   : result;
}

static uint32_t decoder_role_number(const struct ct_third_party_decoder *decoder,
				    enum ct_third_party_role role, enum ct_third_party_role other,
				    uint32_t otherwise)
{
	if (ct_third_party_has(decoder, role))
		return (uint32_t)decoder->values[role];
	return ct_third_party_has(decoder, other) ? (uint32_t)decoder->values[other] : otherwise;
}

/* Remembers the last process, since most events are of the same process as the one before. */
static const struct ct_source_process *find_source_process(struct third_party_source *third_party,
							   struct ct_sources *sources, uint32_t pid,
							   const char *program)
{
	if (third_party->last_source_process == NULL || third_party->last_pid != pid) {
		third_party->last_source_process = ct_third_party_trace_source_process(
			third_party->packets.trace, sources, pid, program);
		third_party->last_pid = pid;
	}
	return third_party->last_source_process;
}

/* Fills the event from its header and contexts; the items follow. */
static void event_fill(struct third_party_source *third_party, struct ct_sources *sources,
		       const struct ct_third_party_decoder *decoder,
		       struct ct_third_party_class *class)
{
	struct ct_third_party_packets *packets = &third_party->packets;
	struct ct_read_event *event = &third_party->base.event;
	uint32_t pid = decoder_role_number(decoder, CT_ROLE_PID, CT_ROLE_VPID, packets->packet_pid);
	bool has_pid = packets->has_packet_pid || ct_third_party_has(decoder, CT_ROLE_PID) ||
		       ct_third_party_has(decoder, CT_ROLE_VPID);

	event->source_process =
		has_pid && pid != packets->trace->source_process->pid
			? find_source_process(third_party, sources, pid, decoder->program)
			: packets->trace->source_process;
	event->traced.time_ns = ct_third_party_ns(packets->clock.clock, packets->clock.ticks);
	event->traced.component = class->component->name;
	event->traced.component_size = class->component->size;
	event->traced.component_id = class->component->id;
	event->traced.event_id = class->event_id;
	event->traced.level = class->level;
	event->traced.pid = has_pid ? pid : event->source_process->pid;
	event->traced.tid =
		decoder_role_number(decoder, CT_ROLE_TID, CT_ROLE_VTID, packets->packet_tid);
	third_party->base.filter_result = ct_third_party_class_filter_result(sources, class);
	event->component = class->catalogued;
	event->type = class->type;
	event->scope = sources->scope;
	third_party->names.mnemonic = class->mnemonic;
	event->names = &third_party->names;
}

/* Completes the items: those of the event, then of its contexts, then of its packet. */
static enum ct_third_party_result items_finish(struct third_party_source *third_party,
					       struct ct_sources *sources)
{
	struct ct_third_party_packets *packets = &third_party->packets;
	struct ct_third_party_items *items = &third_party->items;
	struct ct_read_event *event = &third_party->base.event;

	ct_third_party_items_finish(&packets->context_items);
	ct_third_party_items_append(items, &packets->context_items, false);
	ct_third_party_items_append(items, &packets->packet_items, false);
	if (items->has_no_memory)
		return CT_THIRD_PARTY_NO_MEMORY;
	ct_third_party_items_finish(items);
	event->traced.items = items->items;
	event->traced.item_count = items->count;
	third_party->names.items = items->names;
	third_party->names.item_count = items->count;
	if (items->is_cut && !packets->trace->has_reported_cut) {
		packets->trace->has_reported_cut = true;
		ct_third_party_report(
			sources, third_party->base.path,
			"events of more than 4096 items, or with one of more than 65536 bytes: the rest of them is left out");
	}
	return CT_THIRD_PARTY_OK;
}

static enum ct_third_party_result event_read_fields(struct third_party_source *third_party,
						    struct ct_sources *sources,
						    struct ct_third_party_decoder *decoder,
						    const struct ct_third_party_class *class)
{
	struct ct_third_party_packets *packets = &third_party->packets;
	bool is_wanted = third_party->base.filter_result != CT_FILTER_RESULT_NEVER;
	enum ct_third_party_result result;

	decoder->items = is_wanted ? &third_party->items : NULL;
	decoder_set_scope(decoder, CT_SCOPE_EVENT_FIELDS, class->event->fields, class->fields,
			  decoder->scopes[CT_SCOPE_EVENT_HEADER].stamp);
	result = ct_third_party_decode(decoder, CT_SCOPE_EVENT_FIELDS);
	if (result != CT_THIRD_PARTY_OK)
		return result;
	if (decoder->at == third_party->event_at)
		return ct_third_party_bad(decoder, "an event takes no bits");
	packets->at = decoder->at;
	third_party->base.event.traced.item_count = 0;
	return is_wanted ? items_finish(third_party, sources) : CT_THIRD_PARTY_OK;
}

/* Sets the source to the event at event_at. */
static enum ct_third_party_result event_read(void *user, struct ct_sources *sources,
					     struct ct_third_party_decoder *decoder)
{
	struct third_party_source *third_party = user;
	struct ct_third_party_packets *packets = &third_party->packets;
	struct ct_third_party_trace *trace = packets->trace;
	const struct ct_tsdl_stream *stream = packets->stream;
	uint64_t stamp = ++trace->stamp;
	const struct ct_tsdl_event *declared;
	enum ct_third_party_result result;
	struct ct_third_party_class *class;

	ct_third_party_items_clear(&third_party->items);
	ct_third_party_items_clear(&packets->context_items);
	decoder->items = &packets->context_items;
	decoder_set_scope(decoder, CT_SCOPE_EVENT_HEADER, stream->event_header,
			  stream->event_header != NULL ? stream_root(trace, trace->headers, stream)
						       : NULL,
			  stamp);
	result = ct_third_party_decode(decoder, CT_SCOPE_EVENT_HEADER);
	if (result != CT_THIRD_PARTY_OK)
		return result;
	declared = event_class(packets, decoder);
	if (declared == NULL)
		return ct_third_party_bad(decoder,
					  "the metadata do not describe an event of this number");
	if (declared->is_unknown)
		return ct_third_party_bad(decoder,
					  "what the metadata say of this event is not understood");
	class = ct_third_party_class(trace, declared, &packets->steps);
	result = class != NULL ? event_read_contexts(packets, decoder, class, stamp)
			       : CT_THIRD_PARTY_NO_MEMORY;
	if (result != CT_THIRD_PARTY_OK)
		return result;
	event_fill(third_party, sources, decoder, class);
	return event_read_fields(third_party, sources, decoder, class);
}

/* Reads the next event.  Returns false when it cannot be read, which was reported. */
static bool third_party_read_event(struct third_party_source *third_party,
				   struct ct_sources *sources)
{
	struct ct_third_party_packets *packets = &third_party->packets;
	struct ct_third_party_decoder decoder;
	enum ct_third_party_result result;

	third_party->before_event = packets->clock;
	third_party->event_at = packets->at;
	result = ct_third_party_packets_read(packets, sources, &decoder, packets->at,
					     packets->content, event_read, third_party);
	if (result == CT_THIRD_PARTY_OK)
		return true;
	if (result == CT_THIRD_PARTY_NO_MEMORY)
		packets->steps = 0;
	ct_third_party_packets_skip(
		packets, sources, packets->packet_at + third_party->event_at / 8,
		result == CT_THIRD_PARTY_NO_MEMORY ? ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY)
		: packets->is_cut                  ? CT_STREAM_ENDS_INSIDE
						   : decoder.message);
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * The source
 */

/* third_party_restore() reads the waiting event again when its turn comes. */
static void third_party_release(struct ct_source *source, struct ct_sources *sources)
{
	struct third_party_source *third_party = (struct third_party_source *)source;
	struct ct_third_party_packets *packets = &third_party->packets;

	if (packets->file.window == NULL || packets->has_ended)
		return;
	ct_stream_file_release(&packets->file, sources);
	ct_third_party_items_fini(&third_party->items);
	ct_third_party_items_fini(&packets->context_items);
	source->is_stale = true;
}

static bool third_party_restore(struct ct_source *source, struct ct_sources *sources)
{
	struct third_party_source *third_party = (struct third_party_source *)source;
	struct ct_third_party_packets *packets = &third_party->packets;
	uint64_t steps = packets->steps;
	bool is_read;

	source->is_stale = false;
	packets->at = third_party->event_at;
	packets->clock = third_party->before_event;
	is_read = third_party_read_event(third_party, sources);
	if (is_read)
		packets->steps = steps; /* the second reading is not the file's fault */
	return is_read;
}

static bool third_party_next(struct ct_source *source, struct ct_sources *sources)
{
	struct third_party_source *third_party = (struct third_party_source *)source;
	struct ct_third_party_packets *packets = &third_party->packets;

	source->is_stale = false;
	while (ct_third_party_packets_begin(packets, sources)) {
		if (packets->at >= packets->content) {
			if (packets->is_cut)
				ct_sources_damage(sources, source->path,
						  packets->packet_at + packets->at / 8, 0,
						  CT_STREAM_ENDS_INSIDE);
			packets->has_ended = !ct_third_party_packets_next(packets, sources) ||
					     packets->has_ended;
			continue;
		}
		if (!third_party_read_event(third_party, sources))
			continue;
		if (source->event.traced.time_ns <= sources->until_ns)
			return true;
		packets->has_ended = true; /* later events follow */
	}
	/* The merge does not call again. */
	ct_stream_file_release(&packets->file, sources);
	return false;
}

static void third_party_destroy(struct ct_source *source)
{
	struct third_party_source *third_party = (struct third_party_source *)source;
	struct ct_third_party_packets *packets = &third_party->packets;

	ct_third_party_items_fini(&third_party->items);
	ct_third_party_packets_fini(packets);
	ct_third_party_trace_unref(packets->trace);
	ct_source_fini(source);
	free(third_party);
}

/* -----------------------------------------------------------------------------------------------
 * Adding
 */

static enum ctrace_status add_stream(struct ct_sources *sources, struct ct_third_party_trace *trace,
				     const char *name)
{
	struct third_party_source *third_party = calloc(1, sizeof *third_party);

	if (third_party == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	third_party->base.next = third_party_next;
	third_party->base.destroy = third_party_destroy;
	third_party->base.release = third_party_release;
	third_party->base.restore = third_party_restore;
	if (asprintf(&third_party->base.path, "%s/%s", trace->directory, name) < 0) {
		free(third_party);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	ct_third_party_packets_init(&third_party->packets, trace, &third_party->base);
	third_party->base.event.source_process = trace->source_process;
	third_party->base.event.traced.stream = (uint32_t)sources->count;
	third_party->names.is_open = true;
	trace->users++;
	return ct_sources_take(sources, &third_party->base);
}

static bool is_regular(const char *directory, const char *name)
{
	struct stat info;
	char *path;
	bool is;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return true; /* the lack of memory is reported later */
	/* A file that stat() fails on cannot be opened either, and that is reported. */
	is = stat(path, &info) == 0 ? S_ISREG(info.st_mode)
				    : errno != ENOENT && errno != ELOOP && errno != EACCES;
	free(path);
	return is;
}

static int may_be_stream(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata") != 0;
}

static enum ctrace_status add_all_streams(struct ct_sources *sources,
					  struct ct_third_party_trace *trace)
{
	enum ctrace_status status = CTRACE_OK;
	struct dirent **entries;
	int count = scandir(trace->directory, &entries, may_be_stream, versionsort);

	if (count < 0)
		return errno == EACCES ? CTRACE_DENIED : CTRACE_OS_ERROR;
	for (int i = 0; i < count; i++) {
		if (status == CTRACE_OK && is_regular(trace->directory, entries[i]->d_name))
			status = add_stream(sources, trace, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return status;
}

enum ctrace_status ct_source_third_party_add(struct ct_sources *sources, const char *directory,
					     const char *only)
{
	struct ct_third_party_trace *trace;
	enum ctrace_status status = ct_third_party_trace_open(sources, directory, &trace);

	if (status != CTRACE_OK)
		return status;
	status = only != NULL ? add_stream(sources, trace, only) : add_all_streams(sources, trace);
	ct_third_party_trace_unref(trace);
	return status;
}
