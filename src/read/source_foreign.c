/*
 * source_foreign.c - the events of a stream file of somebody else's trace.
 *
 * Called by the merge, on one thread.  The files may be hostile or damaged: they are read with pread, never mapped; a damaged packet costs
 * what cannot be read of it, and reading goes on at the next one.  What a stream may cost is bounded by its size.  A file is open only while
 * it is read from.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include "read/foreign.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_SIZE ((size_t)64 << 10)
#define HEAD_WINDOW ((size_t)4 << 10) /* what is read of a packet that will be passed over */
#define EVENT_LIMIT ((size_t)1 << 20) /* bytes of an event, or of what is before the events of a packet */
#define STEPS_PER_BYTE 24u
#define STEPS_AT_LEAST ((uint64_t)1 << 18)
#define COMPONENT_PLACES 256u
#define ORIGIN_LIMIT 4096u /* processes of a trace that are told apart */
#define ORIGIN_PLACES (2 * ORIGIN_LIMIT)
#define PACKET_MAGIC 0xC1FC1FC1u
#define ENDS_INSIDE "the file ends inside a packet"

/* A component: the provider of events, or the tracer. */
struct component {
	struct component *next;
	uint32_t id;
	uint32_t size;
	char name[CTRACE_MAX_COMPONENT + 1];
};

/* What is known of a class of events. */
struct class
{
	bool is_known;
	const struct ct_tsdl_event *event;
	const struct component *component;
	const struct ct_event_type *type;
	const struct ct_catalog_component *catalogued;
	const char *mnemonic; /* or NULL */
	uint32_t event_id;
	uint32_t level;
	uint8_t verdicts[CTRACE_LEVEL_COUNT]; /* one more than enum ct_verdict; 0: not asked yet */
	struct ct_foreign_place *context, *fields;
};

struct process {
	uint32_t pid;
	const struct ct_origin *origin; /* NULL: the place is free */
};

/* What all streams of a trace share. */
struct foreign_trace {
	unsigned users;
	char *folder;
	char *metadata_path;
	struct ct_tsdl *tsdl;
	struct ct_foreign_tree tree;
	struct class *classes;                         /* by the event's index */
	struct ct_foreign_place **headers, **contexts; /* by the stream's index */
	struct component *components[COMPONENT_PLACES];
	uint32_t component_count;
	uint64_t stamp;
	bool has_magic; /* packets begin with it */
	bool has_uuid;  /* and with the UUID behind it */
	unsigned char begin[20];
	bool has_told_cut;
	const struct ct_origin *origin;
	struct process *processes;
	uint32_t process_count;
};

struct foreign_source {
	struct ct_source base;
	struct foreign_trace *trace;
	/* bytes of the file in memory */
	unsigned char *window;
	size_t window_capacity;
	size_t window_size;
	uint64_t window_at;
	uint64_t file_size;
	uint64_t steps;
	/* the packet being read; sizes in bytes, places of events in bits */
	const struct ct_tsdl_stream *stream;
	uint64_t packet_at;
	uint64_t packet_size; /* 0: there is none, or it is not known */
	uint64_t content;     /* bits of it that are there */
	uint64_t at;          /* bit of the next event */
	uint64_t event_at;    /* of the present one, and the clock before it: to read it again */
	struct ct_foreign_clock before_event;
	struct ct_foreign_clock clock;
	uint64_t begin_ns, end_ns; /* 0: not known */
	uint64_t sequence, discarded;
	bool has_sequence, has_discarded; /* of the packet before, at least */
	bool is_cut;
	bool has_ended;
	bool is_seeking; /* no packet was wanted yet */
	uint32_t packet_pid, packet_tid;
	bool has_packet_pid;
	struct ct_foreign_items items, context_items, packet_items;
	struct ct_foreign_scope scopes[CT_SCOPE_COUNT];
	struct ct_event_names names;
	uint32_t last_pid;
	const struct ct_origin *last_origin; /* of last_pid */
};

/* ------------------------------------------------------------------------------------------------------------
 * The trace
 */

static void trace_unref(struct foreign_trace *trace)
{
	if (trace == NULL || --trace->users > 0)
		return;
	for (unsigned i = 0; i < COMPONENT_PLACES; i++) {
		while (trace->components[i] != NULL) {
			struct component *next = trace->components[i]->next;

			free(trace->components[i]);
			trace->components[i] = next;
		}
	}
	ct_foreign_tree_fini(&trace->tree);
	ct_tsdl_destroy(trace->tsdl);
	free(trace->classes);
	free(trace->headers);
	free(trace->contexts);
	free(trace->processes);
	free(trace->folder);
	free(trace->metadata_path);
	free(trace);
}

struct telling {
	struct ct_sources *sources;
	const char *path;
};

static void tell_unknown(struct ct_sources *sources, const char *path, const char *message)
{
	struct ct_read_note note = { .trouble = CT_TROUBLE_UNKNOWN, .path = path, .message = message };

	ct_sources_note(sources, &note);
}

static void tell_complaint(const struct ct_complaint *complaint, void *user)
{
	struct telling *telling = user;
	char message[500];

	(void)snprintf(message, sizeof message, "line %u, column %u: %s%s%s", complaint->line, complaint->column, complaint->message,
		       complaint->expected[0] != '\0' ? "; expected " : "", complaint->expected);
	tell_unknown(telling->sources, telling->path, message);
}

static enum ctrace_status read_metadata(struct foreign_trace *trace, struct ct_sources *sources)
{
	struct telling telling = { .sources = sources, .path = trace->metadata_path };
	struct ct_buf bytes = { 0 }, text = { 0 };
	const char *message = NULL;
	enum ctrace_status status = ct_os_read_file(trace->metadata_path, CT_TSDL_TEXT_LIMIT, &bytes);

	if (status == CTRACE_OK)
		status = ct_tsdl_text(bytes.data, bytes.size, &text, &message);
	ct_buf_fini(&bytes);
	if (message != NULL)
		tell_unknown(sources, trace->metadata_path, message);
	if (status == CTRACE_OK || status == CTRACE_DAMAGED)
		status = ct_tsdl_parse(text.data, text.size, tell_complaint, &telling, &trace->tsdl);
	ct_buf_fini(&text);
	return status;
}

/* How the bytes of a packet begin that has the usual header: by these one is found again. */
static void find_begin(struct foreign_trace *trace)
{
	const struct ct_tsdl *tsdl = trace->tsdl;
	const struct ct_tsdl_type *header = tsdl->packet_header, *magic, *uuid;
	uint32_t bytes = PACKET_MAGIC;

	if (header == NULL || header->count == 0)
		return;
	magic = header->fields[0].type;
	if (strcmp(header->fields[0].name->text, "magic") != 0 || magic->kind != CT_TSDL_INTEGER || magic->size != 32)
		return;
	bytes = magic->order == CT_ORDER_BE || (magic->order == CT_ORDER_NATIVE && tsdl->is_big) ? htobe32(bytes) : htole32(bytes);
	memcpy(trace->begin, &bytes, sizeof bytes);
	trace->has_magic = true;
	uuid = header->count > 1 ? header->fields[1].type : NULL;
	if (!tsdl->has_uuid || uuid == NULL || strcmp(header->fields[1].name->text, "uuid") != 0 || uuid->kind != CT_TSDL_ARRAY ||
	    uuid->length != 16 || uuid->element->kind != CT_TSDL_INTEGER || uuid->element->size != 8 || uuid->align > 32)
		return;
	memcpy(trace->begin + 4, tsdl->uuid, sizeof tsdl->uuid);
	trace->has_uuid = true;
}

static const struct ct_origin *make_origin(const struct foreign_trace *trace, struct ct_sources *sources, uint32_t pid,
					   const char *program)
{
	const struct ct_tsdl *tsdl = trace->tsdl;
	uint32_t own = (uint32_t)ct_tsdl_env_number(tsdl, "vpid", 0);
	bool is_own = pid == own || pid == 0;
	struct ct_process_key key = {
		.host = ct_tsdl_env_text(tsdl, "hostname", ""),
		.program = program[0] != '\0' ? program
			   : is_own           ? ct_tsdl_env_text(tsdl, "procname", "")
					      : "",
		.jobname = ct_tsdl_env_text(tsdl, "jobname", ""),
		.path = trace->folder,
		.pid = pid != 0 ? pid : own,
		.asid = (uint32_t)ct_tsdl_env_number(tsdl, "asid", 0),
		.started_ns = is_own ? (uint64_t)ct_tsdl_env_number(tsdl, "start_ns", 0) : 0,
		.is_foreign = true,
	};

	return ct_sources_origin(sources, &key);
}

static enum ctrace_status trace_init(struct foreign_trace *trace, struct ct_sources *sources, const char *folder)
{
	enum ctrace_status status;

	trace->users = 1;
	trace->folder = strdup(folder);
	if (trace->folder == NULL || asprintf(&trace->metadata_path, "%s/metadata", folder) < 0)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = read_metadata(trace, sources);
	if (status != CTRACE_OK)
		return status;
	trace->classes = calloc(trace->tsdl->event_count + 1, sizeof *trace->classes);
	trace->headers = calloc(trace->tsdl->stream_count, sizeof(struct ct_foreign_place *));
	trace->contexts = calloc(trace->tsdl->stream_count, sizeof(struct ct_foreign_place *));
	if (trace->classes == NULL || trace->headers == NULL || trace->contexts == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	find_begin(trace);
	trace->origin = make_origin(trace, sources, 0, "");
	return trace->origin != NULL ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
}

static enum ctrace_status trace_open(struct ct_sources *sources, const char *folder, struct foreign_trace **out_trace)
{
	struct foreign_trace *trace = calloc(1, sizeof *trace);
	enum ctrace_status status = trace != NULL ? trace_init(trace, sources, folder) : CTRACE_NOT_ENOUGH_MEMORY;

	if (status == CTRACE_OK)
		*out_trace = trace;
	else
		trace_unref(trace);
	return status;
}

/* ------------------------------------------------------------------------------------------------------------
 * Classes of events
 */

static const struct component *find_component(struct foreign_trace *trace, const char *name, size_t size, uint64_t *steps)
{
	struct component *component, **place;

	if (size > CTRACE_MAX_COMPONENT)
		size = CTRACE_MAX_COMPONENT;
	place = &trace->components[ct_name_hash(name, size) % COMPONENT_PLACES];
	for (component = *place; component != NULL; component = component->next) {
		if (component->size == size && memcmp(component->name, name, size) == 0)
			return component;
		*steps -= *steps > 0;
	}
	component = calloc(1, sizeof *component);
	if (component == NULL)
		return NULL;
	component->id = ++trace->component_count;
	component->size = (uint32_t)size;
	memcpy(component->name, name, size);
	component->next = *place;
	*place = component;
	return component;
}

static bool is_number(const char *text, uint32_t *out_number)
{
	size_t size = strlen(text);
	unsigned long value;

	if (size == 0 || size > 10 || strspn(text, "0123456789") != size)
		return false;
	value = strtoul(text, NULL, 10);
	*out_number = (uint32_t)value;
	return value <= UINT32_MAX;
}

/* What events are of whose names do not say it. */
static const char *tracer_name(const struct ct_tsdl *tsdl)
{
	const char *tracer = ct_tsdl_env_text(tsdl, "tracer_name", "");

	if (strcmp(ct_tsdl_env_text(tsdl, "domain", ""), "kernel") == 0)
		return "kernel";
	return tracer[0] != '\0' ? tracer : "trace";
}

/* "shop:order" is the component shop's order; "MY.COMP:12" is MY.COMP's event 12. */
static bool split_name(struct foreign_trace *trace, struct class *class, uint64_t *steps)
{
	const char *name = class->event->name, *colon = strrchr(name, ':');
	uint32_t number;

	class->event_id = (uint32_t) class->event->id;
	if (colon != NULL && is_number(colon + 1, &number)) {
		class->event_id = number;
	} else {
		colon = strchr(name, ':');
		class->mnemonic = colon != NULL ? colon + 1 : name;
		if (class->mnemonic[0] == '\0')
			class->mnemonic = NULL;
	}
	if (colon != NULL && colon > name) {
		class->component = find_component(trace, name, (size_t)(colon - name), steps);
	} else {
		name = tracer_name(trace->tsdl);
		class->component = find_component(trace, name, strlen(name), steps);
	}
	return class->component != NULL;
}

/* LTTng's level, and syslog's, as ours. */
static uint32_t level_of(int64_t level)
{
	if (level < 0)
		return CTRACE_INFO;
	if (level <= 2)
		return CTRACE_FATAL;
	if (level == 3)
		return CTRACE_ERROR;
	if (level == 4)
		return CTRACE_WARN;
	return level <= 6 ? CTRACE_INFO : CTRACE_DEBUG;
}

/* NULL without memory. */
static struct class *find_class(struct foreign_trace *trace, const struct ct_tsdl_event *event, uint64_t *steps)
{
	struct class *class = &trace->classes[event->index];

	if (class->is_known)
		return class;
	class->event = event;
	class->level = level_of(event->level);
	if (!split_name(trace, class, steps))
		return NULL;
	class->context = event->context != NULL ? ct_foreign_root(&trace->tree) : NULL;
	class->fields = event->fields != NULL ? ct_foreign_root(&trace->tree) : NULL;
	class->is_known = (event->context == NULL || class->context != NULL) && (event->fields == NULL || class->fields != NULL);
	return class->is_known ? class : NULL;
}

/* What the reader wants of such events of this level. */
static enum ct_verdict verdict_of(const struct ct_sources *sources, struct class *class, uint32_t level)
{
	/* Which names items have, only each event can say. */
	const struct ct_event_names names = { .mnemonic = class->mnemonic, .is_open = true };
	struct ct_view view = { .event = { .component = class->component->name,
					   .component_size = class->component->size,
					   .event_id = class->event_id,
					   .level = level },
				.names = &names };

	if (class->verdicts[level] == 0) {
		class->verdicts[level] = (uint8_t)((unsigned)ct_sources_class(sources, &view) + 1);
		class->catalogued = view.component;
		class->type = view.type;
	}
	return (enum ct_verdict)(class->verdicts[level] - 1);
}

/* ------------------------------------------------------------------------------------------------------------
 * Processes
 */

static const struct ct_origin *find_origin(struct foreign_source *foreign, struct ct_sources *sources, uint32_t pid,
					   const char *program)
{
	struct foreign_trace *trace = foreign->trace;
	struct process *process;
	uint32_t at = pid * 2654435761u;

	if (foreign->last_origin != NULL && foreign->last_pid == pid)
		return foreign->last_origin;
	if (trace->processes == NULL)
		trace->processes = calloc(ORIGIN_PLACES, sizeof *trace->processes);
	if (trace->processes == NULL)
		return trace->origin;
	while (process = &trace->processes[at % ORIGIN_PLACES], process->origin != NULL && process->pid != pid)
		at++;
	if (process->origin == NULL) {
		const struct ct_origin *origin = trace->process_count < ORIGIN_LIMIT ? make_origin(trace, sources, pid, program) : NULL;

		if (origin == NULL)
			return trace->origin;
		trace->process_count++;
		*process = (struct process){ .pid = pid, .origin = origin };
	}
	foreign->last_pid = pid;
	foreign->last_origin = process->origin;
	return process->origin;
}

/* ------------------------------------------------------------------------------------------------------------
 * The file
 */

static enum ctrace_status read_window(struct foreign_source *foreign, uint64_t at, size_t size)
{
	enum ctrace_status status;
	struct stat info;
	int fd = open(foreign->base.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	foreign->window_size = 0;
	foreign->window_at = at;
	if (fd < 0)
		return CTRACE_OS_ERROR;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		ct_os_close(&fd);
		return CTRACE_OS_ERROR;
	}
	if (foreign->file_size == 0 && info.st_size > 0) {
		foreign->file_size = (uint64_t)info.st_size;
		foreign->steps = STEPS_AT_LEAST +
				 (foreign->file_size < UINT64_MAX / (2 * STEPS_PER_BYTE) ? foreign->file_size : 0) * STEPS_PER_BYTE;
	}
	/* Once over the file is nothing; what makes us go back and forth pays for it. */
	foreign->steps -= foreign->steps < size / 16 ? foreign->steps : size / 16;
	status = ct_os_read_at(fd, foreign->window, size, at, &foreign->window_size);
	if (status != CTRACE_OK)
		foreign->window_size = 0;
	ct_os_close(&fd);
	return status;
}

/* A window of this size; false without memory. */
static bool reserve_window(struct foreign_source *foreign, struct ct_sources *sources, size_t capacity)
{
	unsigned char *window;

	if (capacity <= foreign->window_capacity)
		return true;
	ct_sources_hold(sources, &foreign->base, capacity - foreign->window_capacity);
	window = realloc(foreign->window, capacity);
	if (window == NULL) {
		sources->held -= capacity - foreign->window_capacity;
		return false;
	}
	foreign->window = window;
	foreign->window_capacity = capacity;
	return true;
}

/* The bytes from `at`, `size` of them or as many as the file has. */
static const unsigned char *look(struct foreign_source *foreign, struct ct_sources *sources, uint64_t at, size_t size,
				 size_t *out_available)
{
	size_t capacity = size > WINDOW_SIZE / 2 ? 2 * size : WINDOW_SIZE;
	size_t wanted = foreign->is_seeking && size <= HEAD_WINDOW ? HEAD_WINDOW : capacity;

	*out_available = 0;
	if (at < foreign->window_at || at - foreign->window_at > foreign->window_size ||
	    size > foreign->window_size - (size_t)(at - foreign->window_at)) {
		if (!reserve_window(foreign, sources, capacity) || read_window(foreign, at, wanted) != CTRACE_OK)
			return foreign->window;
	}
	*out_available = foreign->window_size - (size_t)(at - foreign->window_at);
	return foreign->window + (at - foreign->window_at);
}

/* ------------------------------------------------------------------------------------------------------------
 * Decoding
 */

/* What is to be read in one go, from the bit `at` of the packet on. */
typedef enum ct_foreign_result read_part(struct foreign_source *foreign, struct ct_sources *sources,
					 struct ct_foreign_decoder *decoder);

/* Reads it, with as many bytes as it turns out to need.  The clock is moved only when that succeeds. */
static enum ct_foreign_result read_bytes(struct foreign_source *foreign, struct ct_sources *sources, struct ct_foreign_decoder *decoder,
					 uint64_t at, uint64_t end, read_part *read)
{
	struct ct_foreign_clock before = foreign->clock;
	enum ct_foreign_result result;
	size_t wanted = 1;

	for (;;) {
		size_t available;
		uint64_t limit;

		decoder->bytes = look(foreign, sources, foreign->packet_at + at / 8, wanted, &available);
		decoder->first = at / 8;
		limit = (at / 8 + available) * 8;
		decoder->limit = limit < end ? limit : end;
		decoder->end = end;
		decoder->at = at;
		decoder->roles = 0;
		decoder->level = CTRACE_LEVEL_NONE;
		decoder->program[0] = '\0';
		foreign->clock = before;
		if (available == 0 && at < end) {
			decoder->message = "the file cannot be read here";
			result = CT_FOREIGN_BAD;
			break;
		}
		result = read(foreign, sources, decoder);
		if (result != CT_FOREIGN_MORE)
			break;
		wanted = 2 * available;
		if (wanted > EVENT_LIMIT || available < wanted / 4) {
			decoder->message = "this is larger than an event that ctrace reads";
			result = CT_FOREIGN_BAD;
			break;
		}
	}
	if (result != CT_FOREIGN_OK)
		foreign->clock = before;
	return result;
}

static void decoder_init(struct ct_foreign_decoder *decoder, struct foreign_source *foreign)
{
	decoder->tsdl = foreign->trace->tsdl;
	decoder->tree = &foreign->trace->tree;
	decoder->steps = &foreign->steps;
	decoder->clock = &foreign->clock;
	decoder->message = "";
	memcpy(decoder->scopes, foreign->scopes, sizeof decoder->scopes);
}

/* ------------------------------------------------------------------------------------------------------------
 * Packets
 */

static enum ct_foreign_result bad(struct ct_foreign_decoder *decoder, const char *message)
{
	decoder->message = message;
	return CT_FOREIGN_BAD;
}

static bool is_of_trace(const struct foreign_source *foreign, const struct ct_foreign_decoder *decoder)
{
	const struct ct_tsdl *tsdl = foreign->trace->tsdl;

	if (ct_foreign_has(decoder, CT_ROLE_MAGIC) && decoder->values[CT_ROLE_MAGIC] != PACKET_MAGIC)
		return false;
	return !ct_foreign_has(decoder, CT_ROLE_UUID) || !tsdl->has_uuid || memcmp(decoder->uuid, tsdl->uuid, sizeof tsdl->uuid) == 0;
}

/* A place for the scope's values, which belong to this stream alone. */
static void prepare_scope(struct foreign_source *foreign, struct ct_foreign_decoder *decoder, enum ct_tsdl_scope scope,
			  const struct ct_tsdl_type *type)
{
	struct ct_foreign_scope *own = &foreign->scopes[scope];

	if (own->type != type) {
		own->type = type;
		own->root = NULL;
	}
	if (type != NULL && own->root == NULL)
		own->root = ct_foreign_root(&foreign->trace->tree);
	own->stamp = foreign->trace->stamp;
	decoder->scopes[scope] = *own;
}

/* The packet's header and context. */
static enum ct_foreign_result read_head(struct foreign_source *foreign, struct ct_sources *sources, struct ct_foreign_decoder *decoder)
{
	const struct ct_tsdl *tsdl = foreign->trace->tsdl;
	const struct ct_tsdl_stream *stream = &tsdl->streams[0];
	enum ct_foreign_result result;

	(void)sources;
	foreign->trace->stamp++;
	ct_foreign_items_clear(&foreign->context_items);
	decoder->items = &foreign->context_items;
	prepare_scope(foreign, decoder, CT_SCOPE_PACKET_HEADER, tsdl->packet_header);
	decoder->scopes[CT_SCOPE_PACKET_CONTEXT].type = NULL;
	result = ct_foreign_decode(decoder, CT_SCOPE_PACKET_HEADER);
	if (result == CT_FOREIGN_OK && !is_of_trace(foreign, decoder))
		return bad(decoder, "this is no packet of the trace");
	if (result != CT_FOREIGN_OK)
		return result;
	ct_foreign_items_clear(&foreign->context_items); /* nobody wants what else a header may hold */
	if (ct_foreign_has(decoder, CT_ROLE_STREAM_ID))
		stream = ct_tsdl_stream(tsdl, decoder->values[CT_ROLE_STREAM_ID]);
	if (stream == NULL)
		return bad(decoder, "the packet is of a stream that the metadata do not describe");
	foreign->stream = stream;
	prepare_scope(foreign, decoder, CT_SCOPE_PACKET_CONTEXT, stream->packet_context);
	return ct_foreign_decode(decoder, CT_SCOPE_PACKET_CONTEXT);
}

/* The next place from `from` on where a packet of the trace may begin, or the end of the file. */
static uint64_t find_packet(struct foreign_source *foreign, struct ct_sources *sources, uint64_t from)
{
	const struct foreign_trace *trace = foreign->trace;
	size_t size = trace->has_uuid ? sizeof trace->begin : 4;

	while (trace->has_magic && from < foreign->file_size) {
		size_t available;
		const unsigned char *bytes = look(foreign, sources, from, WINDOW_SIZE / 2, &available);
		const unsigned char *found = available >= size ? memmem(bytes, available, trace->begin, size) : NULL;

		if (found != NULL)
			return from + (uint64_t)(found - bytes);
		if (available < size)
			break;
		from += available - (size - 1);
	}
	return foreign->file_size;
}

static bool begins_packet(struct foreign_source *foreign, struct ct_sources *sources, uint64_t at)
{
	size_t available;
	const unsigned char *bytes;

	if (at >= foreign->file_size || !foreign->trace->has_magic)
		return at == foreign->file_size || !foreign->trace->has_magic;
	bytes = look(foreign, sources, at, 4, &available);
	return available >= 4 && memcmp(bytes, foreign->trace->begin, 4) == 0;
}

/* Nothing can be read at `at`: goes on where this packet ends, or else with whatever looks like the next one. */
static void skip_damage(struct foreign_source *foreign, struct ct_sources *sources, uint64_t at, const char *message)
{
	uint64_t next = foreign->packet_at + foreign->packet_size;

	if (at > foreign->file_size)
		at = foreign->file_size;
	if (foreign->packet_size == 0 || next < at || !begins_packet(foreign, sources, next))
		next = find_packet(foreign, sources, at > foreign->packet_at ? at : foreign->packet_at + 1);
	if (foreign->steps == 0)
		next = foreign->file_size;
	ct_sources_damage(sources, foreign->base.path, at, next - at, message);
	foreign->packet_at = next;
	foreign->packet_size = foreign->content = foreign->at = 0;
	foreign->is_cut = false;
	foreign->has_ended = foreign->steps == 0;
}

static void note_gap(struct foreign_source *foreign, struct ct_sources *sources, enum ct_trouble trouble, uint64_t events,
		     uint64_t from_ns)
{
	char message[64] = "packets are missing before this";
	struct ct_read_note note = {
		.trouble = trouble,
		.path = foreign->base.path,
		.offset = foreign->packet_at,
		.events = events,
		.from_ns = from_ns,
		.to_ns = trouble == CT_TROUBLE_LOST ? foreign->end_ns : foreign->begin_ns,
		.origin = foreign->trace->origin,
		.message = message,
	};

	if (trouble == CT_TROUBLE_LOST)
		ct_source_lost_text(message, sizeof message, events);
	ct_sources_note(sources, &note);
}

/* The counters run over all of the stream; before its first packet they are 0. */
static void note_gaps(struct foreign_source *foreign, struct ct_sources *sources, const struct ct_foreign_decoder *decoder,
		      uint64_t from_ns)
{
	uint64_t sequence = decoder->values[CT_ROLE_SEQUENCE], discarded = decoder->values[CT_ROLE_DISCARDED];
	bool has_sequence = ct_foreign_has(decoder, CT_ROLE_SEQUENCE);
	bool is_first = !foreign->has_sequence && !foreign->has_discarded && (!has_sequence || sequence == 0);

	if (has_sequence && foreign->has_sequence && sequence > foreign->sequence + 1)
		note_gap(foreign, sources, CT_TROUBLE_MISSING, sequence - foreign->sequence - 1, from_ns);
	if (ct_foreign_has(decoder, CT_ROLE_DISCARDED)) {
		if ((foreign->has_discarded || is_first) && discarded > foreign->discarded)
			note_gap(foreign, sources, CT_TROUBLE_LOST, discarded - foreign->discarded, from_ns);
		foreign->discarded = discarded;
		foreign->has_discarded = true;
	}
	foreign->sequence = sequence;
	foreign->has_sequence = has_sequence;
}

/* Its sizes, when they can be. */
static const char *measure(struct foreign_source *foreign, const struct ct_foreign_decoder *decoder)
{
	uint64_t left = (foreign->file_size - foreign->packet_at) * 8;
	uint64_t packet = left, content;

	if (ct_foreign_has(decoder, CT_ROLE_PACKET_SIZE))
		packet = decoder->values[CT_ROLE_PACKET_SIZE];
	else if (ct_foreign_has(decoder, CT_ROLE_CONTENT_SIZE))
		packet = CT_ALIGN_UP(decoder->values[CT_ROLE_CONTENT_SIZE], (uint64_t)8);
	content = ct_foreign_has(decoder, CT_ROLE_CONTENT_SIZE) ? decoder->values[CT_ROLE_CONTENT_SIZE] : packet;
	if (packet % 8 != 0 || packet < decoder->at || packet < content)
		return "the packet has sizes that cannot be";
	foreign->is_cut = packet > left;
	foreign->packet_size = foreign->is_cut ? left / 8 : packet / 8;
	if (content < decoder->at)
		return "the packet was never completed";
	foreign->content = content < left ? content : left;
	foreign->at = decoder->at;
	return NULL;
}

/* What the context says of all its events. */
static void keep_context(struct foreign_source *foreign, const struct ct_foreign_decoder *decoder)
{
	foreign->has_packet_pid = ct_foreign_has(decoder, CT_ROLE_PID);
	foreign->packet_pid = foreign->has_packet_pid ? (uint32_t)decoder->values[CT_ROLE_PID] : 0;
	foreign->packet_tid = ct_foreign_has(decoder, CT_ROLE_TID) ? (uint32_t)decoder->values[CT_ROLE_TID] : 0;
	ct_foreign_items_finish(&foreign->context_items);
	ct_foreign_items_clear(&foreign->packet_items);
	ct_foreign_items_append(&foreign->packet_items, &foreign->context_items, true);
	ct_foreign_items_finish(&foreign->packet_items);
	foreign->begin_ns = ct_foreign_has(decoder, CT_ROLE_BEGIN) ? ct_foreign_ns(foreign->clock.clock, foreign->clock.ticks) : 0;
	foreign->end_ns = ct_foreign_has(decoder, CT_ROLE_END)
				  ? ct_foreign_ns(foreign->clock.clock != NULL ? foreign->clock.clock : foreign->trace->tsdl->clock,
						  decoder->values[CT_ROLE_END])
				  : 0;
}

/* Makes what follows the present packet the present one.  False at the end of the file. */
static bool next_packet(struct foreign_source *foreign, struct ct_sources *sources)
{
	struct ct_foreign_decoder decoder;
	enum ct_foreign_result result;
	uint64_t before_ns = foreign->end_ns;
	const char *message = NULL;

	foreign->packet_at += foreign->packet_size;
	foreign->packet_size = foreign->content = foreign->at = 0;
	foreign->is_cut = false;
	if (foreign->packet_at >= foreign->file_size)
		return false;
	decoder_init(&decoder, foreign);
	result = read_bytes(foreign, sources, &decoder, 0, (foreign->file_size - foreign->packet_at) * 8, read_head);
	if (result == CT_FOREIGN_OK)
		message = measure(foreign, &decoder);
	else
		message = result == CT_FOREIGN_BAD ? decoder.message : ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY);
	if (message != NULL) {
		skip_damage(foreign, sources, foreign->packet_at, message);
		return true;
	}
	keep_context(foreign, &decoder);
	note_gaps(foreign, sources, &decoder, before_ns);
	/* Without the time at which it begins, those of the next packet could not be told. */
	if (sources->may_seek && foreign->begin_ns != 0 && foreign->end_ns != 0 && foreign->end_ns < sources->since_ns)
		foreign->at = foreign->content;
	else
		foreign->is_seeking = false;
	return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * Events
 */

/* A place of the trace for the stream's header or context. */
static struct ct_foreign_place *stream_root(struct foreign_trace *trace, struct ct_foreign_place **roots,
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
static const struct ct_tsdl_event *event_of(const struct foreign_source *foreign, const struct ct_foreign_decoder *decoder)
{
	const struct ct_tsdl *tsdl = foreign->trace->tsdl;
	bool has_id = ct_foreign_has(decoder, CT_ROLE_EVENT_ID);
	const struct ct_tsdl_event *event = ct_tsdl_event(tsdl, foreign->stream->id, has_id ? decoder->values[CT_ROLE_EVENT_ID] : 0);

	if (event == NULL && !has_id && tsdl->event_count == 1)
		event = tsdl->events;
	return event;
}

static enum ct_foreign_result read_contexts(struct foreign_source *foreign, struct ct_foreign_decoder *decoder,
					    const struct class *class, uint64_t stamp)
{
	struct foreign_trace *trace = foreign->trace;
	const struct ct_tsdl_stream *stream = foreign->stream;
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

/* The view of the event whose header and contexts were read; its items follow. */
static void fill_view(struct foreign_source *foreign, struct ct_sources *sources, const struct ct_foreign_decoder *decoder,
		      struct class *class)
{
	struct ct_view *view = &foreign->base.view;
	uint32_t pid = role_number(decoder, CT_ROLE_PID, CT_ROLE_VPID, foreign->packet_pid);
	bool has_pid = foreign->has_packet_pid || ct_foreign_has(decoder, CT_ROLE_PID) || ct_foreign_has(decoder, CT_ROLE_VPID);

	view->origin = has_pid && pid != foreign->trace->origin->pid ? find_origin(foreign, sources, pid, decoder->program)
								     : foreign->trace->origin;
	view->event.time_ns = ct_foreign_ns(foreign->clock.clock, foreign->clock.ticks);
	view->event.component = class->component->name;
	view->event.component_size = class->component->size;
	view->event.component_id = class->component->id;
	view->event.event_id = class->event_id;
	view->event.level = decoder->level < CTRACE_LEVEL_COUNT ? decoder->level : class->level;
	view->event.pid = has_pid ? pid : view->origin->pid;
	view->event.tid = role_number(decoder, CT_ROLE_TID, CT_ROLE_VTID, foreign->packet_tid);
	foreign->base.verdict = verdict_of(sources, class, view->event.level);
	view->component = class->catalogued;
	view->type = class->type;
	foreign->names.mnemonic = class->mnemonic;
	view->names = &foreign->names;
}

/* Items of the event, then those of its contexts, then those of its packet. */
static enum ct_foreign_result finish_items(struct foreign_source *foreign, struct ct_sources *sources)
{
	struct ct_foreign_items *items = &foreign->items;
	struct ct_view *view = &foreign->base.view;

	ct_foreign_items_finish(&foreign->context_items);
	ct_foreign_items_append(items, &foreign->context_items, false);
	ct_foreign_items_append(items, &foreign->packet_items, false);
	if (items->has_no_memory)
		return CT_FOREIGN_NO_MEMORY;
	ct_foreign_items_finish(items);
	view->event.items = items->items;
	view->event.item_count = items->count;
	foreign->names.items = items->names;
	foreign->names.item_count = items->count;
	if (items->is_cut && !foreign->trace->has_told_cut) {
		foreign->trace->has_told_cut = true;
		tell_unknown(sources, foreign->base.path,
			     "events of more than 4096 items, or with one of more than 65536 bytes: the rest of them is left out");
	}
	return CT_FOREIGN_OK;
}

static enum ct_foreign_result read_fields(struct foreign_source *foreign, struct ct_sources *sources,
					  struct ct_foreign_decoder *decoder, const struct class *class)
{
	bool is_wanted = foreign->base.verdict != CT_VERDICT_NEVER;
	enum ct_foreign_result result;

	decoder->items = is_wanted ? &foreign->items : NULL;
	set_scope(decoder, CT_SCOPE_EVENT_FIELDS, class->event->fields, class->fields, decoder->scopes[CT_SCOPE_EVENT_HEADER].stamp);
	result = ct_foreign_decode(decoder, CT_SCOPE_EVENT_FIELDS);
	if (result != CT_FOREIGN_OK)
		return result;
	if (decoder->at == foreign->event_at)
		return bad(decoder, "an event takes no bits");
	foreign->at = decoder->at;
	foreign->base.view.event.item_count = 0;
	return is_wanted ? finish_items(foreign, sources) : CT_FOREIGN_OK;
}

/* The event at event_at becomes the view. */
static enum ct_foreign_result read_one(struct foreign_source *foreign, struct ct_sources *sources, struct ct_foreign_decoder *decoder)
{
	struct foreign_trace *trace = foreign->trace;
	const struct ct_tsdl_stream *stream = foreign->stream;
	uint64_t stamp = ++trace->stamp;
	const struct ct_tsdl_event *event;
	enum ct_foreign_result result;
	struct class *class;

	ct_foreign_items_clear(&foreign->items);
	ct_foreign_items_clear(&foreign->context_items);
	decoder->items = &foreign->context_items;
	set_scope(decoder, CT_SCOPE_EVENT_HEADER, stream->event_header,
		  stream->event_header != NULL ? stream_root(trace, trace->headers, stream) : NULL, stamp);
	result = ct_foreign_decode(decoder, CT_SCOPE_EVENT_HEADER);
	if (result != CT_FOREIGN_OK)
		return result;
	event = event_of(foreign, decoder);
	if (event == NULL)
		return bad(decoder, "the metadata do not describe an event of this number");
	if (event->is_unknown)
		return bad(decoder, "what the metadata say of this event is not understood");
	class = find_class(trace, event, &foreign->steps);
	result = class != NULL ? read_contexts(foreign, decoder, class, stamp) : CT_FOREIGN_NO_MEMORY;
	if (result != CT_FOREIGN_OK)
		return result;
	fill_view(foreign, sources, decoder, class);
	return read_fields(foreign, sources, decoder, class);
}

/* True: it is the view.  False: it could not be read, and that was said. */
static bool read_event(struct foreign_source *foreign, struct ct_sources *sources)
{
	struct ct_foreign_decoder decoder;
	enum ct_foreign_result result;

	foreign->before_event = foreign->clock;
	foreign->event_at = foreign->at;
	decoder_init(&decoder, foreign);
	result = read_bytes(foreign, sources, &decoder, foreign->at, foreign->content, read_one);
	if (result == CT_FOREIGN_OK)
		return true;
	if (result == CT_FOREIGN_NO_MEMORY)
		foreign->steps = 0;
	skip_damage(foreign, sources, foreign->packet_at + foreign->event_at / 8,
		    result == CT_FOREIGN_NO_MEMORY ? ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY)
		    : foreign->is_cut              ? ENDS_INSIDE
						   : decoder.message);
	return false;
}

static void release_window(struct foreign_source *foreign, struct ct_sources *sources)
{
	sources->held -= foreign->window_capacity;
	free(foreign->window);
	foreign->window = NULL;
	foreign->window_capacity = foreign->window_size = 0;
}

/* The event that waits is read again when its turn comes. */
static void foreign_release(struct ct_source *source, struct ct_sources *sources)
{
	struct foreign_source *foreign = (struct foreign_source *)source;

	if (foreign->window == NULL || foreign->has_ended)
		return;
	release_window(foreign, sources);
	ct_foreign_items_fini(&foreign->items);
	ct_foreign_items_fini(&foreign->context_items);
	source->is_stale = true;
}

static bool foreign_restore(struct ct_source *source, struct ct_sources *sources)
{
	struct foreign_source *foreign = (struct foreign_source *)source;
	uint64_t steps = foreign->steps;
	bool is_read;

	source->is_stale = false;
	foreign->at = foreign->event_at;
	foreign->clock = foreign->before_event;
	is_read = read_event(foreign, sources);
	if (is_read)
		foreign->steps = steps; /* it is not the file's doing */
	return is_read;
}

/* The first look at the file says how large it is. */
static bool is_there(struct foreign_source *foreign, struct ct_sources *sources)
{
	size_t available;

	if (foreign->file_size == 0) {
		(void)look(foreign, sources, 0, 1, &available);
		foreign->has_ended = foreign->file_size == 0;
	}
	return !foreign->has_ended;
}

static bool foreign_next(struct ct_source *source, struct ct_sources *sources)
{
	struct foreign_source *foreign = (struct foreign_source *)source;

	source->is_stale = false;
	while (is_there(foreign, sources)) {
		if (foreign->at >= foreign->content) {
			if (foreign->is_cut)
				ct_sources_damage(sources, source->path, foreign->packet_at + foreign->at / 8, 0, ENDS_INSIDE);
			foreign->has_ended = !next_packet(foreign, sources) || foreign->has_ended;
			continue;
		}
		if (!read_event(foreign, sources))
			continue;
		if (source->view.event.time_ns <= sources->until_ns)
			return true;
		foreign->has_ended = true; /* what follows is later still */
	}
	/* Nobody asks again. */
	release_window(foreign, sources);
	return false;
}

static void foreign_destroy(struct ct_source *source)
{
	struct foreign_source *foreign = (struct foreign_source *)source;

	free(foreign->window);
	ct_foreign_items_fini(&foreign->items);
	ct_foreign_items_fini(&foreign->context_items);
	ct_foreign_items_fini(&foreign->packet_items);
	trace_unref(foreign->trace);
	ct_source_fini(source);
	free(foreign);
}

/* ------------------------------------------------------------------------------------------------------------
 * Adding
 */

static enum ctrace_status add_stream(struct ct_sources *sources, struct foreign_trace *trace, const char *name)
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
	foreign->trace = trace;
	foreign->base.view.origin = trace->origin;
	foreign->base.view.event.stream = (uint32_t)sources->count;
	foreign->names.is_open = true;
	foreign->is_seeking = true;
	trace->users++;
	return ct_sources_take(sources, &foreign->base);
}

static bool is_regular(const char *folder, const char *name)
{
	struct stat info;
	char *path;
	bool is;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return false;
	is = stat(path, &info) == 0 && S_ISREG(info.st_mode);
	free(path);
	return is;
}

static int may_be_stream(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata") != 0;
}

static enum ctrace_status add_all_streams(struct ct_sources *sources, struct foreign_trace *trace)
{
	enum ctrace_status status = CTRACE_OK;
	struct dirent **entries;
	int count = scandir(trace->folder, &entries, may_be_stream, versionsort);

	if (count < 0)
		return CTRACE_OS_ERROR;
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
	struct foreign_trace *trace;
	enum ctrace_status status = trace_open(sources, folder, &trace);

	if (status != CTRACE_OK)
		return status;
	status = only != NULL ? add_stream(sources, trace, only) : add_all_streams(sources, trace);
	trace_unref(trace);
	return status;
}
