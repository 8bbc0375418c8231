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

/* What all streams of a trace share. */
struct trace {
	unsigned users;
	char *metadata_path;
	size_t metadata_size;
	struct ct_schema *schema;
	struct ct_trace_info info;
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
	bool has_head; /* head is that of the packet before, at least */
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
			unsigned char *window = realloc(bin->window, capacity);

			if (window == NULL) {
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

static void note_gaps(const struct bin_source *bin, struct ct_sources *sources, const struct ct_packet_head *head, uint64_t at)
{
	if (!bin->has_head)
		return;
	if (head->discarded > bin->head.discarded)
		ct_sources_gap(sources, bin->base.path, at, head->discarded - bin->head.discarded);
	if (head->sequence > bin->head.sequence + 1)
		ct_sources_damage(sources, bin->base.path, at, 0, "packets are missing before this");
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
	bin->packet_at = at;
	bin->is_cut = available < head.packet_bits / 8;
	bin->packet_size = bin->is_cut ? available : head.packet_bits / 8;
	bin->content = content < available ? content : available;
	bin->offset = head_size;
	bin->previous_ns = head.begin_ns;
	return true;
}

/* The event at offset.  DAMAGED when it cannot be read. */
static enum ctrace_status read_event(struct bin_source *bin, struct ct_sources *sources, struct ctrace_event *out)
{
	size_t available;
	const unsigned char *packet = look(bin, sources, bin->packet_at, bin->content, &available);
	enum ctrace_status status;

	if (available < bin->content)
		return CTRACE_DAMAGED;
	status = ct_packet_decode_event(bin->trace->schema, packet, bin->content, &bin->offset, &bin->previous_ns, out,
					sources->scratch);
	/* The trace of a live process: its class came after we had read the metadata. */
	if (status == CTRACE_NOT_FOUND && trace_has_grown(bin->trace) && trace_read(bin->trace, sources) == CTRACE_OK)
		status = ct_packet_decode_event(bin->trace->schema, packet, bin->content, &bin->offset, &bin->previous_ns, out,
						sources->scratch);
	return status == CTRACE_OK ? CTRACE_OK : CTRACE_DAMAGED;
}

static bool bin_next(struct ct_source *source, struct ct_sources *sources)
{
	struct bin_source *bin = (struct bin_source *)source;
	struct ctrace_event event;

	while (!bin->has_ended) {
		if (bin->offset >= bin->content) {
			if (bin->is_cut)
				ct_sources_damage(sources, source->path, bin->packet_at + bin->offset, 0, ENDS_INSIDE);
			bin->is_cut = false;
			bin->has_ended = !next_packet(bin, sources);
			continue;
		}
		if (read_event(bin, sources, &event) != CTRACE_OK) {
			skip_damage(bin, sources, bin->packet_at + bin->offset,
				    bin->is_cut ? ENDS_INSIDE : "this is no event of the trace");
			continue;
		}
		event.pid = bin->head.pid;
		event.tid = bin->head.tid;
		event.stream = (uint32_t)source->order;
		if (ct_source_keep(source, &event))
			return true;
		ct_sources_damage(sources, source->path, bin->packet_at, 0, ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
		bin->has_ended = true;
	}
	/* Nobody asks again. */
	ct_os_close(&bin->unpacked_fd);
	free(bin->window);
	bin->window = NULL;
	bin->window_capacity = bin->window_size = 0;
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
	if (asprintf(&bin->base.path, "%s/%s", folder, name) < 0) {
		free(bin);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	bin->trace = trace;
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

	if (status != CTRACE_OK)
		return status;
	status = only != NULL ? add_stream(sources, trace, folder, only) : add_all_streams(sources, trace, folder);
	trace_unref(trace);
	return status;
}
