/*
 * source_bin.c - the events of a stream file of a BINFILE trace.
 *
 * Called by the merge, on one thread.  The files may be hostile, damaged, or grow while they are read: they are read with pread, never
 * mapped; a damaged place costs what cannot be read there, and reading goes on at the next packet.  A file is open only while it
 * is read from, so a trace of any number of streams can be merged; only a compressed one, which is decompressed when it is first read,
 * stays open until its end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include "read/packet_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define METADATA_LIMIT ((size_t)64 << 20)
#define WINDOW_SIZE ((size_t)64 << 10)
#define COMPRESSED ".zst"

/* What is known of a class's events before they are decoded. */
struct class_note {
	bool is_known;
	enum ct_verdict verdict;
	uint32_t component_size;
	const struct ct_class *class;
	struct ct_event_names *names; /* what the metadata call it, or NULL; never moves: views point to it */
	const struct ct_catalog_component *component;
	const struct ct_event_type *type;
};

/* What all streams of a trace share. */
struct trace {
	unsigned users;
	char *metadata_path;
	size_t metadata_size;
	struct ct_schema *schema;
	struct ct_trace_info info;
	const struct ct_origin *origin;
	struct class_note *notes; /* by class id; made when a class is first met */
	uint32_t note_count;
};

struct bin_source {
	struct ct_source base;
	struct trace *trace;
	int unpacked_fd; /* what the compressed file has become; -1: it is none, or that has failed */
	bool is_unpacked;
	/* bytes of the file in memory */
	unsigned char *window;
	size_t window_capacity;
	size_t window_size;
	uint64_t window_at;
	/* the packet being read */
	struct ct_packet_head head;
	uint64_t packet_at;
	uint64_t packet_size;
	size_t content; /* bytes of it that are there */
	bool is_cut;    /* the file ends inside it */
	size_t offset;  /* of the next event */
	uint64_t previous_ns;
	size_t event_at; /* of the present event, and the time before it: to read it again */
	uint64_t before_event_ns;
	bool has_head; /* head is that of the packet before, at least */
	bool is_placed; /* packet_at is where the reader wants to begin */
	bool has_ended;
};

/* ------------------------------------------------------------------------------------------------------------
 * The trace
 */

static void trace_unref(struct trace *trace)
{
	if (trace == NULL || --trace->users > 0)
		return;
	ct_schema_destroy(trace->schema);
	for (uint32_t id = 0; id < trace->note_count; id++)
		free(trace->notes[id].names);
	free(trace->notes);
	free(trace->metadata_path);
	free(trace);
}

/* Reads the metadata, again when they have grown meanwhile: classes are only ever added. */
static enum ctrace_status trace_read(struct trace *trace, struct ct_sources *sources)
{
	struct ct_trace_info info;
	struct ct_buf text;
	enum ctrace_status status;
	size_t at = 0;

	ct_buf_init(&text);
	status = ct_os_read_file(trace->metadata_path, METADATA_LIMIT, &text);
	if (status == CTRACE_OK)
		status = ct_schema_parse_trace(text.data, text.size, &info, &at) == CTRACE_OK ? CTRACE_OK : CTRACE_UNSUPPORTED;
	if (status == CTRACE_OK) {
		trace->metadata_size = text.size;
		if (ct_schema_parse(trace->schema, text.data, text.size, &trace->info, &at) != CTRACE_OK)
			ct_sources_damage(sources, trace->metadata_path, at, text.size - at, "not understood from here on");
	}
	ct_buf_fini(&text);
	return status;
}

static bool trace_has_grown(const struct trace *trace)
{
	struct stat info;

	return stat(trace->metadata_path, &info) == 0 && (uint64_t)info.st_size > trace->metadata_size;
}

static enum ctrace_status trace_find_origin(struct trace *trace, struct ct_sources *sources, const char *folder)
{
	const struct ct_trace_info *info = &trace->info;
	struct ct_process_key key = {
		.host = info->host,
		.program = info->program,
		.jobname = info->jobname,
		.path = folder,
		.pid = info->pid,
		.asid = info->asid,
		.started_ns = info->start_ns,
	};

	trace->origin = ct_sources_origin(sources, &key);
	return trace->origin != NULL ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
}

static enum ctrace_status trace_open(struct ct_sources *sources, const char *folder, struct trace **out_trace)
{
	struct trace *trace = calloc(1, sizeof *trace);
	enum ctrace_status status;

	if (trace == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	trace->users = 1;
	status = asprintf(&trace->metadata_path, "%s/metadata", folder) < 0 ? CTRACE_NOT_ENOUGH_MEMORY
									    : ct_schema_create(&trace->schema);
	if (status == CTRACE_OK)
		status = trace_read(trace, sources);
	if (status == CTRACE_OK)
		status = trace_find_origin(trace, sources, folder);
	if (status != CTRACE_OK) {
		trace_unref(trace);
		return status;
	}
	*out_trace = trace;
	return CTRACE_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 * The file
 */

static bool is_compressed(const char *name)
{
	size_t size = strlen(name), suffix = strlen(COMPRESSED);

	return size > suffix && strcmp(name + size - suffix, COMPRESSED) == 0;
}

/* Negative, with errno, when there is none that is a regular file. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;

	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		ct_os_close(&fd);
		errno = EINVAL;
	}
	return fd;
}

static void unpack(struct bin_source *bin, struct ct_sources *sources)
{
	int fd = open_regular(bin->base.path);
	struct ct_unpacked unpacked = { .fd = -1 };
	enum ctrace_status status = CTRACE_OS_ERROR;

	if (fd >= 0)
		status = ct_unpack(fd, CT_UNPACK_LIMIT, &unpacked);
	ct_os_close(&fd);
	if (status != CTRACE_OK)
		ct_sources_damage(sources, bin->base.path, 0, 0, ctrace_status_text(status));
	else if (unpacked.damages > 0)
		ct_sources_damage(sources, bin->base.path, unpacked.damage_at, unpacked.damaged_bytes, unpacked.message);
	bin->unpacked_fd = unpacked.fd;
	bin->is_unpacked = true;
}

/* A writer may have compressed it since we found it: then that is read, at the same places. */
static bool has_become_compressed(struct bin_source *bin)
{
	char *path;

	if (errno != ENOENT || is_compressed(bin->base.path) || asprintf(&path, "%s" COMPRESSED, bin->base.path) < 0)
		return false;
	if (access(path, F_OK) != 0) {
		free(path);
		return false;
	}
	free(bin->base.path);
	bin->base.path = path;
	return true;
}

static int open_stream(struct bin_source *bin, struct ct_sources *sources)
{
	int fd;

	if (!bin->is_unpacked && !is_compressed(bin->base.path)) {
		fd = open_regular(bin->base.path);
		if (fd >= 0 || !has_become_compressed(bin))
			return fd;
	}
	if (!bin->is_unpacked)
		unpack(bin, sources);
	return bin->unpacked_fd;
}

static enum ctrace_status read_window(struct bin_source *bin, struct ct_sources *sources, uint64_t at, size_t size)
{
	enum ctrace_status status;
	int fd = open_stream(bin, sources);

	bin->window_size = 0;
	bin->window_at = at;
	if (fd < 0)
		return CTRACE_OS_ERROR;
	status = ct_os_read_at(fd, bin->window, size, at, &bin->window_size);
	if (status != CTRACE_OK)
		bin->window_size = 0;
	if (fd != bin->unpacked_fd)
		ct_os_close(&fd);
	return status;
}

/* The bytes from `at`, `size` of them or as many as the file has. */
static const unsigned char *look(struct bin_source *bin, struct ct_sources *sources, uint64_t at, size_t size, size_t *out_available)
{
	/* Twice what is asked for: so however a hostile file makes us start again a little further on, it is read twice at most. */
	size_t capacity = size > WINDOW_SIZE / 2 ? 2 * size : WINDOW_SIZE;

	if (at < bin->window_at || at - bin->window_at > bin->window_size || size > bin->window_size - (size_t)(at - bin->window_at)) {
		if (capacity > bin->window_capacity) {
			unsigned char *window;

			ct_sources_hold(sources, &bin->base, capacity - bin->window_capacity);
			window = realloc(bin->window, capacity);

			if (window == NULL) {
				sources->held -= capacity - bin->window_capacity;
				*out_available = 0;
				return bin->window;
			}
			bin->window = window;
			bin->window_capacity = capacity;
		}
		if (read_window(bin, sources, at, bin->window_capacity) != CTRACE_OK) {
			*out_available = 0;
			return bin->window;
		}
	}
	*out_available = bin->window_size - (size_t)(at - bin->window_at);
	return bin->window + (at - bin->window_at);
}

/* ------------------------------------------------------------------------------------------------------------
 * Packets
 */

static bool is_of_trace(const struct bin_source *bin, const struct ct_packet_head *head)
{
	return memcmp(head->uuid, bin->trace->info.uuid, sizeof head->uuid) == 0;
}

/* The next place at or after `from` where a packet of this trace begins, or the end of the file. */
static uint64_t find_packet(struct bin_source *bin, struct ct_sources *sources, uint64_t from)
{
	for (;;) {
		size_t available, found, head_size;
		const unsigned char *bytes = look(bin, sources, from, WINDOW_SIZE / 2, &available);
		struct ct_packet_head head;

		if (available < CT_PACKET_HEAD)
			return from + available;
		found = ct_packet_find(bytes, available, 0);
		if (found == available) {
			/* A head may begin in the last bytes. */
			from += available - (CT_PACKET_HEAD - 1);
			continue;
		}
		if (ct_packet_decode_head(bytes + found, available - found, &head, &head_size) == CTRACE_OK && is_of_trace(bin, &head))
			return from + found;
		from += found + 1;
	}
}

#define ENDS_INSIDE "the file ends inside a packet"

/* Nothing can be read at `at`: goes on with the next packet that can, behind the beginning of the present one. */
static void skip_damage(struct bin_source *bin, struct ct_sources *sources, uint64_t at, const char *message)
{
	/* What was no event may be a head, when a damaged size made the packet before it swallow it. */
	uint64_t next = find_packet(bin, sources, at > bin->packet_at ? at : at + 1);

	ct_sources_damage(sources, bin->base.path, at, next - at, message);
	bin->packet_at = next;
	bin->packet_size = bin->content = bin->offset = 0;
	bin->is_cut = false;
}

static void note_gap(const struct bin_source *bin, struct ct_sources *sources, const struct ct_packet_head *next, uint64_t at,
		     enum ct_trouble trouble, uint64_t events)
{
	char message[64] = "packets are missing before this";
	struct ct_read_note note = {
		.trouble = trouble,
		.path = bin->base.path,
		.offset = at,
		.events = events,
		.from_ns = bin->head.end_ns,
		.to_ns = next->begin_ns,
		.origin = bin->trace->origin,
		.message = message,
	};

	if (trouble == CT_TROUBLE_LOST)
		ct_source_lost_text(message, sizeof message, events);
	ct_sources_note(sources, &note);
}

static void note_gaps(const struct bin_source *bin, struct ct_sources *sources, const struct ct_packet_head *head, uint64_t at)
{
	if (!bin->has_head)
		return;
	if (head->discarded > bin->head.discarded)
		note_gap(bin, sources, head, at, CT_TROUBLE_LOST, head->discarded - bin->head.discarded);
	if (head->sequence > bin->head.sequence + 1)
		note_gap(bin, sources, head, at, CT_TROUBLE_MISSING, head->sequence - bin->head.sequence - 1);
}

/* Makes what follows the present packet the present one.  False at the end of the file. */
static bool next_packet(struct bin_source *bin, struct ct_sources *sources)
{
	uint64_t at = bin->packet_at + bin->packet_size;
	struct ct_packet_head head;
	size_t available, head_size, content;
	const unsigned char *bytes = look(bin, sources, at, CT_PACKET_HEAD, &available);

	if (available == 0)
		return false;
	if (ct_packet_decode_head(bytes, available, &head, &head_size) != CTRACE_OK || !is_of_trace(bin, &head)) {
		bin->packet_at = at;
		skip_damage(bin, sources, at, available < CT_PACKET_HEAD ? ENDS_INSIDE : "this is no packet of the trace");
		return true;
	}
	content = (size_t)(head.content_bits / 8);
	(void)look(bin, sources, at, (size_t)(head.packet_bits / 8), &available);
	note_gaps(bin, sources, &head, at);
	bin->head = head;
	bin->has_head = true;
	bin->base.view.event.pid = head.pid;
	bin->base.view.event.tid = head.tid;
	bin->packet_at = at;
	bin->is_cut = available < head.packet_bits / 8;
	bin->packet_size = bin->is_cut ? available : head.packet_bits / 8;
	bin->content = content < available ? content : available;
	bin->offset = head_size;
	bin->previous_ns = head.begin_ns;
	return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * Events
 */

/* Room for a note on each class that there is, and on those of this trace that the metadata gain meanwhile. */
static bool reserve_notes(struct trace *trace, uint32_t class_id)
{
	uint32_t count = ct_schema_count(trace->schema);
	struct class_note *notes;

	if (class_id < trace->note_count)
		return true;
	notes = reallocarray(trace->notes, count, sizeof *notes);
	if (notes == NULL)
		return false;
	memset(notes + trace->note_count, 0, (count - trace->note_count) * sizeof *notes);
	trace->notes = notes;
	trace->note_count = count;
	return true;
}

/* Up to the last item that has a name of its own; 0: none has. */
static uint32_t count_named(const struct ct_class_names *names)
{
	uint32_t count = names->item_count;

	while (count > 0 && names->items[count - 1] == NULL)
		count--;
	return count;
}

/* In one block; an item between named ones that has no name gets its number.  NULL when the class has none, or without memory. */
static struct ct_event_names *copy_names(const struct ct_class *class)
{
	typedef char number[16];
	uint32_t count = class->names != NULL ? count_named(class->names) : 0;
	struct ct_event_names *names =
		class->names != NULL ? malloc(sizeof *names + count * (sizeof(const char *) + sizeof(number))) : NULL;
	const char **items;
	number *numbers;

	if (names == NULL)
		return NULL;
	items = (const char **)(names + 1);
	numbers = (number *)(items + count);
	for (uint32_t i = 0; i < count; i++) {
		items[i] = class->names->items[i] != NULL ? class->names->items[i] : numbers[i];
		(void)snprintf(numbers[i], sizeof(number), "data%u", i + 1);
	}
	*names = (struct ct_event_names){
		.mnemonic = class->names->mnemonic, .items = count > 0 ? items : NULL, .item_count = count
	};
	return names;
}

/* What the reader makes of the class; NULL when the metadata lack it.  A generic event is looked up by itself: look_up_generic(). */
static struct class_note *find_note(struct bin_source *bin, const struct ct_sources *sources, uint32_t class_id)
{
	struct trace *trace = bin->trace;
	const struct ct_class *class;
	struct class_note *note;
	struct ct_view view;

	if (class_id < trace->note_count && trace->notes[class_id].is_known)
		return &trace->notes[class_id];
	class = ct_schema_find(trace->schema, class_id);
	if (class == NULL || !reserve_notes(trace, class_id))
		return NULL;
	note = &trace->notes[class_id];
	*note = (struct class_note){ .is_known = true, .class = class, .component_size = (uint32_t)strlen(class->component) };
	note->names = copy_names(class);
	view = (struct ct_view){ .names = note->names,
				 .event = { .component = class->component,
					    .component_size = note->component_size,
					    .event_id = class->event_id,
					    .level = class->level } };
	note->verdict = class_id == CT_CLASS_GENERIC ? CT_VERDICT_MAYBE : ct_sources_class(sources, &view);
	note->component = view.component;
	note->type = view.type;
	return note;
}

/* The class came after we had read the metadata, as it may in the trace of a live process. */
static struct class_note *find_new_note(struct bin_source *bin, struct ct_sources *sources, uint32_t class_id)
{
	/* The notes point to names of the schema, which stays as it is but for what is added. */
	if (!trace_has_grown(bin->trace) || trace_read(bin->trace, sources) != CTRACE_OK)
		return NULL;
	return find_note(bin, sources, class_id);
}

static size_t items_of(const struct ct_class *class)
{
	return class->id == CT_CLASS_GENERIC ? CTRACE_MAX_ITEMS : class->item_count;
}

static enum ctrace_status read_items(struct bin_source *bin, struct ct_sources *sources, const unsigned char *packet,
				     const struct class_note *note)
{
	struct ct_source *base = &bin->base;
	struct ct_view *view = &base->view;
	enum ctrace_status status;

	if (note->verdict == CT_VERDICT_NEVER) {
		view->event.item_count = 0;
		return ct_packet_skip_items(note->class, packet, bin->content, &bin->offset);
	}
	if (!ct_source_reserve(base, items_of(note->class)))
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_packet_decode_items(note->class, packet, bin->content, &bin->offset, &view->event, base->items);
	if (status == CTRACE_OK && note->class->id == CT_CLASS_GENERIC)
		base->verdict = ct_sources_class(sources, view);
	return status;
}

/* Makes the event at offset the view.  DAMAGED when it cannot be read: offset is where it was. */
static enum ctrace_status read_event(struct bin_source *bin, struct ct_sources *sources)
{
	struct ct_source *base = &bin->base;
	struct ct_view *view = &base->view;
	const struct class_note *note;
	size_t available, start = bin->offset;
	const unsigned char *packet = look(bin, sources, bin->packet_at, bin->content, &available);
	uint64_t time_ns = bin->previous_ns;
	uint32_t class_id, level;
	enum ctrace_status status = CTRACE_DAMAGED;

	bin->event_at = start;
	bin->before_event_ns = bin->previous_ns;
	if (available < bin->content || ct_packet_decode_event_head(packet, bin->content, &bin->offset, &time_ns, &class_id, &level) !=
						CTRACE_OK)
		return CTRACE_DAMAGED;
	note = find_note(bin, sources, class_id);
	if (note == NULL)
		note = find_new_note(bin, sources, class_id);
	if (note != NULL) {
		view->event.component = note->class->component;
		view->event.component_size = note->component_size;
		view->event.event_id = note->class->event_id;
		view->event.time_ns = time_ns;
		view->event.level = level;
		view->event.items = base->items;
		view->names = note->names;
		view->is_of_class = class_id != CT_CLASS_GENERIC;
		view->component = note->component;
		view->type = note->type;
		base->verdict = note->verdict;
		status = read_items(bin, sources, packet, note);
	}
	if (status == CTRACE_OK) {
		view->event.items = base->items;
		bin->previous_ns = time_ns;
	} else {
		bin->offset = start;
	}
	return status;
}

/* What lies before the time that the reader wants to begin with is not read. */
static void seek(struct bin_source *bin, struct ct_sources *sources)
{
	struct ct_packet_place place;
	int fd = sources->may_seek && sources->since_ns > 0 ? open_stream(bin, sources) : -1;

	bin->is_placed = true;
	if (fd < 0)
		return;
	if (ct_packet_index_find(fd, bin->trace->info.uuid, sources->since_ns, &place) == CTRACE_OK) {
		bin->packet_at = place.offset;
		bin->head = place.before;
		bin->has_head = place.has_before;
	}
	if (fd != bin->unpacked_fd)
		ct_os_close(&fd);
}

static void release_window(struct bin_source *bin, struct ct_sources *sources)
{
	sources->held -= bin->window_capacity;
	free(bin->window);
	bin->window = NULL;
	bin->window_capacity = bin->window_size = 0;
}

/* The event that waits is read again when its turn comes. */
static void bin_release(struct ct_source *source, struct ct_sources *sources)
{
	struct bin_source *bin = (struct bin_source *)source;

	if (bin->window == NULL || bin->has_ended)
		return;
	release_window(bin, sources);
	source->is_stale = true;
}

static bool bin_restore(struct ct_source *source, struct ct_sources *sources)
{
	struct bin_source *bin = (struct bin_source *)source;

	source->is_stale = false;
	bin->offset = bin->event_at;
	bin->previous_ns = bin->before_event_ns;
	if (read_event(bin, sources) == CTRACE_OK)
		return true;
	/* The file is not what it was. */
	skip_damage(bin, sources, bin->packet_at + bin->event_at, "this is no event of the trace");
	return false;
}

static bool bin_next(struct ct_source *source, struct ct_sources *sources)
{
	struct bin_source *bin = (struct bin_source *)source;
	enum ctrace_status status;

	source->is_stale = false;
	if (!bin->is_placed)
		seek(bin, sources);
	while (!bin->has_ended) {
		if (bin->offset >= bin->content) {
			if (bin->is_cut)
				ct_sources_damage(sources, source->path, bin->packet_at + bin->offset, 0, ENDS_INSIDE);
			bin->is_cut = false;
			bin->has_ended = !next_packet(bin, sources);
			continue;
		}
		status = read_event(bin, sources);
		if (status == CTRACE_OK && source->view.event.time_ns <= sources->until_ns)
			return true;
		if (status == CTRACE_OK) {
			bin->has_ended = true; /* what follows is later still */
			continue;
		}
		if (status == CTRACE_DAMAGED) {
			skip_damage(bin, sources, bin->packet_at + bin->offset,
				    bin->is_cut ? ENDS_INSIDE : "this is no event of the trace");
			continue;
		}
		ct_sources_damage(sources, source->path, bin->packet_at, 0, ctrace_status_text(status));
		bin->has_ended = true;
	}
	/* Nobody asks again. */
	ct_os_close(&bin->unpacked_fd);
	release_window(bin, sources);
	return false;
}

static void bin_destroy(struct ct_source *source)
{
	struct bin_source *bin = (struct bin_source *)source;

	ct_os_close(&bin->unpacked_fd);
	free(bin->window);
	trace_unref(bin->trace);
	ct_source_fini(source);
	free(bin);
}

/* ------------------------------------------------------------------------------------------------------------
 * Adding
 */

static enum ctrace_status add_stream(struct ct_sources *sources, struct trace *trace, const char *folder, const char *name)
{
	struct bin_source *bin = calloc(1, sizeof *bin);

	if (bin == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	bin->unpacked_fd = -1;
	bin->base.next = bin_next;
	bin->base.destroy = bin_destroy;
	bin->base.release = bin_release;
	bin->base.restore = bin_restore;
	if (asprintf(&bin->base.path, "%s/%s", folder, name) < 0) {
		free(bin);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	bin->trace = trace;
	bin->base.view.origin = trace->origin;
	bin->base.view.event.stream = (uint32_t)sources->count;
	trace->users++;
	return ct_sources_take(sources, &bin->base);
}

static int is_stream(const struct dirent *entry)
{
	return strncmp(entry->d_name, "stream.", 7) == 0;
}

/* A file that was compressed and could not be removed afterwards is there twice. */
static bool is_second(const char *folder, const char *name)
{
	char *path;
	bool found;

	if (!is_compressed(name) || asprintf(&path, "%s/%.*s", folder, (int)(strlen(name) - strlen(COMPRESSED)), name) < 0)
		return false;
	found = access(path, F_OK) == 0;
	free(path);
	return found;
}

static enum ctrace_status add_all_streams(struct ct_sources *sources, struct trace *trace, const char *folder)
{
	enum ctrace_status status = CTRACE_OK;
	struct dirent **entries;
	int count = scandir(folder, &entries, is_stream, versionsort);

	if (count < 0)
		return CTRACE_OS_ERROR;
	for (int i = 0; i < count; i++) {
		if (status == CTRACE_OK && !is_second(folder, entries[i]->d_name))
			status = add_stream(sources, trace, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return status;
}

enum ctrace_status ct_source_bin_add(struct ct_sources *sources, const char *folder, const char *only)
{
	struct trace *trace;
	enum ctrace_status status = trace_open(sources, folder, &trace);

	if (status == CTRACE_OK && only != NULL && strncmp(only, "stream.", 7) != 0) {
		trace_unref(trace);
		return CTRACE_NOT_FOUND;
	}
	if (status != CTRACE_OK)
		return status;
	status = only != NULL ? add_stream(sources, trace, folder, only) : add_all_streams(sources, trace, folder);
	trace_unref(trace);
	return status;
}
