/*
 * source_foreign.c - the events of a stream file of somebody else's trace.
 *
 * Called by the merge, on one thread.  The files may be hostile or damaged: what cannot be read as an event costs the rest of its packet.
 * An event that waits for its turn is read again when its memory was wanted meanwhile.  What its class is is foreign_class.c's, where
 * packets are foreign_packets.c's, what its bits mean foreign_decode.c's.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include "read/foreign_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct foreign_source {
	struct ct_source base;
	struct ct_foreign_packets packets;
	uint64_t event_at; /* of the present event, and the clock before it: to read it again */
	struct ct_foreign_clock before_event;
	struct ct_foreign_items items;
	struct ct_event_names names;
	uint32_t last_pid;
	const struct ct_origin *last_origin; /* of last_pid */
};

/* ------------------------------------------------------------------------------------------------------------
 * Events
 */

/* A place of the trace for the stream's header or context. */
static struct ct_foreign_place *stream_root(struct ct_foreign_trace *trace, struct ct_foreign_place **roots,
					    const struct ct_tsdl_stream *stream)
{
	if (roots[stream->index] == NULL)
		roots[stream->index] = ct_foreign_root(&trace->tree);
	return roots[stream->index];
}

static void set_scope(struct ct_foreign_decoder *decoder, enum ct_tsdl_scope scope, const struct ct_tsdl_type *type,
		      struct ct_foreign_place *root, uint64_t stamp)
{
	decoder->scopes[scope] = (struct ct_foreign_scope){ .type = type, .root = root, .stamp = stamp };
}

/* The class that the header says, or the only one there is; NULL when there is none. */
static const struct ct_tsdl_event *event_of(const struct ct_foreign_packets *packets, const struct ct_foreign_decoder *decoder)
{
	const struct ct_tsdl *tsdl = packets->trace->tsdl;
	bool has_id = ct_foreign_has(decoder, CT_ROLE_EVENT_ID);
	const struct ct_tsdl_event *event = ct_tsdl_event(tsdl, packets->stream->id, has_id ? decoder->values[CT_ROLE_EVENT_ID] : 0);

	if (event == NULL && !has_id && tsdl->event_count == 1)
		event = tsdl->events;
	return event;
}

static enum ct_foreign_result read_contexts(struct ct_foreign_packets *packets, struct ct_foreign_decoder *decoder,
					    const struct ct_foreign_class *class, uint64_t stamp)
{
	struct ct_foreign_trace *trace = packets->trace;
	const struct ct_tsdl_stream *stream = packets->stream;
	enum ct_foreign_result result;

	set_scope(decoder, CT_SCOPE_STREAM_EVENT_CONTEXT, stream->event_context,
		  stream->event_context != NULL ? stream_root(trace, trace->contexts, stream) : NULL, stamp);
	set_scope(decoder, CT_SCOPE_EVENT_CONTEXT, class->event->context, class->context, stamp);
	result = ct_foreign_decode(decoder, CT_SCOPE_STREAM_EVENT_CONTEXT);
	return result == CT_FOREIGN_OK ? ct_foreign_decode(decoder, CT_SCOPE_EVENT_CONTEXT) : result;
}

static uint32_t role_number(const struct ct_foreign_decoder *decoder, enum ct_foreign_role role, enum ct_foreign_role other,
			    uint32_t otherwise)
{
	if (ct_foreign_has(decoder, role))
		return (uint32_t)decoder->values[role];
	return ct_foreign_has(decoder, other) ? (uint32_t)decoder->values[other] : otherwise;
}

/* Most events are of the process of the one before. */
static const struct ct_origin *find_origin(struct foreign_source *foreign, struct ct_sources *sources, uint32_t pid,
					   const char *program)
{
	if (foreign->last_origin == NULL || foreign->last_pid != pid) {
		foreign->last_origin = ct_foreign_trace_origin(foreign->packets.trace, sources, pid, program);
		foreign->last_pid = pid;
	}
	return foreign->last_origin;
}

/* The view of the event whose header and contexts were read; its items follow. */
static void fill_view(struct foreign_source *foreign, struct ct_sources *sources, const struct ct_foreign_decoder *decoder,
		      struct ct_foreign_class *class)
{
	struct ct_foreign_packets *packets = &foreign->packets;
	struct ct_view *view = &foreign->base.view;
	uint32_t pid = role_number(decoder, CT_ROLE_PID, CT_ROLE_VPID, packets->packet_pid);
	bool has_pid = packets->has_packet_pid || ct_foreign_has(decoder, CT_ROLE_PID) || ct_foreign_has(decoder, CT_ROLE_VPID);

	view->origin = has_pid && pid != packets->trace->origin->pid ? find_origin(foreign, sources, pid, decoder->program)
								     : packets->trace->origin;
	view->event.time_ns = ct_foreign_ns(packets->clock.clock, packets->clock.ticks);
	view->event.component = class->component->name;
	view->event.component_size = class->component->size;
	view->event.component_id = class->component->id;
	view->event.event_id = class->event_id;
	view->event.level = class->level;
	view->event.pid = has_pid ? pid : view->origin->pid;
	view->event.tid = role_number(decoder, CT_ROLE_TID, CT_ROLE_VTID, packets->packet_tid);
	foreign->base.verdict = ct_foreign_class_verdict(sources, class);
	view->component = class->catalogued;
	view->type = class->type;
	view->is_of_class = true;
	foreign->names.mnemonic = class->mnemonic;
	view->names = &foreign->names;
}

/* Items of the event, then those of its contexts, then those of its packet. */
static enum ct_foreign_result finish_items(struct foreign_source *foreign, struct ct_sources *sources)
{
	struct ct_foreign_packets *packets = &foreign->packets;
	struct ct_foreign_items *items = &foreign->items;
	struct ct_view *view = &foreign->base.view;

	ct_foreign_items_finish(&packets->context_items);
	ct_foreign_items_append(items, &packets->context_items, false);
	ct_foreign_items_append(items, &packets->packet_items, false);
	if (items->has_no_memory)
		return CT_FOREIGN_NO_MEMORY;
	ct_foreign_items_finish(items);
	view->event.items = items->items;
	view->event.item_count = items->count;
	foreign->names.items = items->names;
	foreign->names.item_count = items->count;
	if (items->is_cut && !packets->trace->has_told_cut) {
		packets->trace->has_told_cut = true;
		ct_foreign_tell(sources, foreign->base.path,
				"events of more than 4096 items, or with one of more than 65536 bytes: the rest of them is left out");
	}
	return CT_FOREIGN_OK;
}

static enum ct_foreign_result read_fields(struct foreign_source *foreign, struct ct_sources *sources,
					  struct ct_foreign_decoder *decoder, const struct ct_foreign_class *class)
{
	struct ct_foreign_packets *packets = &foreign->packets;
	bool is_wanted = foreign->base.verdict != CT_VERDICT_NEVER;
	enum ct_foreign_result result;

	decoder->items = is_wanted ? &foreign->items : NULL;
	set_scope(decoder, CT_SCOPE_EVENT_FIELDS, class->event->fields, class->fields, decoder->scopes[CT_SCOPE_EVENT_HEADER].stamp);
	result = ct_foreign_decode(decoder, CT_SCOPE_EVENT_FIELDS);
	if (result != CT_FOREIGN_OK)
		return result;
	if (decoder->at == foreign->event_at)
		return ct_foreign_bad(decoder, "an event takes no bits");
	packets->at = decoder->at;
	foreign->base.view.event.item_count = 0;
	return is_wanted ? finish_items(foreign, sources) : CT_FOREIGN_OK;
}

/* The event at event_at becomes the view. */
static enum ct_foreign_result read_one(void *user, struct ct_sources *sources, struct ct_foreign_decoder *decoder)
{
	struct foreign_source *foreign = user;
	struct ct_foreign_packets *packets = &foreign->packets;
	struct ct_foreign_trace *trace = packets->trace;
	const struct ct_tsdl_stream *stream = packets->stream;
	uint64_t stamp = ++trace->stamp;
	const struct ct_tsdl_event *event;
	enum ct_foreign_result result;
	struct ct_foreign_class *class;

	ct_foreign_items_clear(&foreign->items);
	ct_foreign_items_clear(&packets->context_items);
	decoder->items = &packets->context_items;
	set_scope(decoder, CT_SCOPE_EVENT_HEADER, stream->event_header,
		  stream->event_header != NULL ? stream_root(trace, trace->headers, stream) : NULL, stamp);
	result = ct_foreign_decode(decoder, CT_SCOPE_EVENT_HEADER);
	if (result != CT_FOREIGN_OK)
		return result;
	event = event_of(packets, decoder);
	if (event == NULL)
		return ct_foreign_bad(decoder, "the metadata do not describe an event of this number");
	if (event->is_unknown)
		return ct_foreign_bad(decoder, "what the metadata say of this event is not understood");
	class = ct_foreign_class(trace, event, &packets->steps);
	result = class != NULL ? read_contexts(packets, decoder, class, stamp) : CT_FOREIGN_NO_MEMORY;
	if (result != CT_FOREIGN_OK)
		return result;
	fill_view(foreign, sources, decoder, class);
	return read_fields(foreign, sources, decoder, class);
}

/* True: it is the view.  False: it could not be read, and that was said. */
static bool read_event(struct foreign_source *foreign, struct ct_sources *sources)
{
	struct ct_foreign_packets *packets = &foreign->packets;
	struct ct_foreign_decoder decoder;
	enum ct_foreign_result result;

	foreign->before_event = packets->clock;
	foreign->event_at = packets->at;
	result = ct_foreign_packets_read(packets, sources, &decoder, packets->at, packets->content, read_one, foreign);
	if (result == CT_FOREIGN_OK)
		return true;
	if (result == CT_FOREIGN_NO_MEMORY)
		packets->steps = 0;
	ct_foreign_packets_skip(packets, sources, packets->packet_at + foreign->event_at / 8,
				result == CT_FOREIGN_NO_MEMORY ? ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY)
				: packets->is_cut              ? CT_STREAM_ENDS_INSIDE
							       : decoder.message);
	return false;
}

/* ------------------------------------------------------------------------------------------------------------
 * The source
 */

/* The event that waits is read again when its turn comes. */
static void foreign_release(struct ct_source *source, struct ct_sources *sources)
{
	struct foreign_source *foreign = (struct foreign_source *)source;
	struct ct_foreign_packets *packets = &foreign->packets;

	if (packets->file.window == NULL || packets->has_ended)
		return;
	ct_stream_file_release(&packets->file, sources);
	ct_foreign_items_fini(&foreign->items);
	ct_foreign_items_fini(&packets->context_items);
	source->is_stale = true;
}

static bool foreign_restore(struct ct_source *source, struct ct_sources *sources)
{
	struct foreign_source *foreign = (struct foreign_source *)source;
	struct ct_foreign_packets *packets = &foreign->packets;
	uint64_t steps = packets->steps;
	bool is_read;

	source->is_stale = false;
	packets->at = foreign->event_at;
	packets->clock = foreign->before_event;
	is_read = read_event(foreign, sources);
	if (is_read)
		packets->steps = steps; /* it is not the file's doing */
	return is_read;
}

static bool foreign_next(struct ct_source *source, struct ct_sources *sources)
{
	struct foreign_source *foreign = (struct foreign_source *)source;
	struct ct_foreign_packets *packets = &foreign->packets;

	source->is_stale = false;
	while (ct_foreign_packets_begin(packets, sources)) {
		if (packets->at >= packets->content) {
			if (packets->is_cut)
				ct_sources_damage(sources, source->path, packets->packet_at + packets->at / 8, 0,
						  CT_STREAM_ENDS_INSIDE);
			packets->has_ended = !ct_foreign_packets_next(packets, sources) || packets->has_ended;
			continue;
		}
		if (!read_event(foreign, sources))
			continue;
		if (source->view.event.time_ns <= sources->until_ns)
			return true;
		packets->has_ended = true; /* what follows is later still */
	}
	/* Nobody asks again. */
	ct_stream_file_release(&packets->file, sources);
	return false;
}

static void foreign_destroy(struct ct_source *source)
{
	struct foreign_source *foreign = (struct foreign_source *)source;
	struct ct_foreign_packets *packets = &foreign->packets;

	ct_foreign_items_fini(&foreign->items);
	ct_foreign_packets_fini(packets);
	ct_foreign_trace_unref(packets->trace);
	ct_source_fini(source);
	free(foreign);
}

/* ------------------------------------------------------------------------------------------------------------
 * Adding
 */

static enum ctrace_status add_stream(struct ct_sources *sources, struct ct_foreign_trace *trace, const char *name)
{
	struct foreign_source *foreign = calloc(1, sizeof *foreign);

	if (foreign == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	foreign->base.next = foreign_next;
	foreign->base.destroy = foreign_destroy;
	foreign->base.release = foreign_release;
	foreign->base.restore = foreign_restore;
	if (asprintf(&foreign->base.path, "%s/%s", trace->folder, name) < 0) {
		free(foreign);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	ct_foreign_packets_init(&foreign->packets, trace, &foreign->base);
	foreign->base.view.origin = trace->origin;
	foreign->base.view.event.stream = (uint32_t)sources->count;
	foreign->names.is_open = true;
	trace->users++;
	return ct_sources_take(sources, &foreign->base);
}

static bool is_regular(const char *folder, const char *name)
{
	struct stat info;
	char *path;
	bool is;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return true; /* that there is no memory will be said */
	/* What the system refuses to look at cannot be opened either, and that is reported. */
	is = stat(path, &info) == 0 ? S_ISREG(info.st_mode) : errno != ENOENT && errno != ELOOP && errno != EACCES;
	free(path);
	return is;
}

static int may_be_stream(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata") != 0;
}

static enum ctrace_status add_all_streams(struct ct_sources *sources, struct ct_foreign_trace *trace)
{
	enum ctrace_status status = CTRACE_OK;
	struct dirent **entries;
	int count = scandir(trace->folder, &entries, may_be_stream, versionsort);

	if (count < 0)
		return errno == EACCES ? CTRACE_DENIED : CTRACE_OS_ERROR;
	for (int i = 0; i < count; i++) {
		if (status == CTRACE_OK && is_regular(trace->folder, entries[i]->d_name))
			status = add_stream(sources, trace, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return status;
}

enum ctrace_status ct_source_foreign_add(struct ct_sources *sources, const char *folder, const char *only)
{
	struct ct_foreign_trace *trace;
	enum ctrace_status status = ct_foreign_trace_open(sources, folder, &trace);

	if (status != CTRACE_OK)
		return status;
	status = only != NULL ? add_stream(sources, trace, only) : add_all_streams(sources, trace);
	ct_foreign_trace_unref(trace);
	return status;
}
