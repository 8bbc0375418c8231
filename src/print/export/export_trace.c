/*
 * export_trace.c - traces as clean traces of Common Trace Format 1.8: a directory a process, a
 * stream a thread, named event classes.
 *
 * Called by ctrace export, on one thread.  Any input - rings of dead processes, compressed
 * generations, traces of other tracers - comes out as BINFILE would write it, so that ctrace and
 * every viewer of the format can read it: packets of at most CT_PACKET_CONTENT, and metadata with
 * the names that the catalogue, or the trace itself, has for events and items.  Lost events are
 * counted in the stream that they are missing from.  The metadata is written last: a directory
 * without it is no trace for any reader.  An incomplete export is removed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* bytes in the unfinished packets of all streams together */
#define BUFFER_LIMIT ((size_t)64 << 20)
/* streams that keep their memory between packets */
#define KEPT_STREAMS 256u
#define KEPT_MEMORY (4 * (size_t)CT_PACKET_CONTENT)

/* One thread's. */
struct stream {
	struct trace *trace;
	uint32_t tid;
	struct ct_packet_writer writer;
};

/* One process's. */
struct trace {
	const struct ct_source_process *source_process;
	char *directory;
	struct ct_trace_info info;
	struct ct_schema *schema;
	struct stream **streams;
	uint32_t stream_count;
	uint32_t next_number; /* above the numbers of all streams */
	uint64_t lost;        /* losses that belong to no stream yet */
};

struct exporting {
	char *directory;
	/* trace_end() was called; otherwise closing removes everything */
	bool has_ended;
	bool is_directory_ours; /* it was not there before */
	bool has_one_trace;
	struct ct_tracks *tracks;
	struct trace **traces; /* by source process; NULL: nothing of it yet */
	size_t trace_count;
	struct stream *last; /* the trace of the last event */
	uint64_t lost;       /* losses of no known process */
	size_t buffered;
	const struct ct_read_event *naming; /* whose class is being made */
	const char *names[CT_CLASS_MAX_ITEMS];
	int error;
};

static void export_fail(struct exporting *self, int error)
{
	if (self->error == 0)
		self->error = error != 0 ? error : EIO;
}

/* -----------------------------------------------------------------------------------------------
 * Files
 */

static bool file_write(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		size -= (size_t)written;
	}
	return true;
}

/* Appends to a file of the trace, which is open only meanwhile: there may be any number of
 * threads. */
static void file_append(struct exporting *self, const struct trace *trace, const char *name,
			const struct ct_buf *text, size_t size)
{
	char *path;
	int fd;

	if (text->failed || asprintf(&path, "%s/%s", trace->directory, name) < 0) {
		export_fail(self, ENOMEM);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || !file_write(fd, text->data, size))
		export_fail(self, errno);
	ct_os_close(&fd);
	free(path);
}

/* Keeps letters, digits and a few marks: the name comes from a third-party trace. */
static void add_plain(struct ct_buf *out, const char *text)
{
	for (size_t i = 0; i < 64 && text[i] != '\0'; i++) {
		bool is_plain = (text[i] >= 'a' && text[i] <= 'z') ||
				(text[i] >= 'A' && text[i] <= 'Z') ||
				(text[i] >= '0' && text[i] <= '9') || text[i] == '-' ||
				text[i] == '_' || (text[i] == '.' && i > 0);

		ct_buf_add_char(out, is_plain ? text[i] : '_');
	}
}

static bool directory_is_taken(const struct exporting *self, const char *directory)
{
	for (size_t i = 0; i < self->trace_count; i++)
		if (self->traces[i] != NULL && strcmp(self->traces[i]->directory, directory) == 0)
			return true;
	return false;
}

/* Returns "out/host.program.4711", with "-2" and so on when that name is taken. */
static char *trace_directory(const struct exporting *self,
			     const struct ct_source_process *source_process)
{
	struct ct_buf path;
	char *directory = NULL;

	ct_buf_init(&path);
	for (unsigned i = 1; directory == NULL && !path.failed; i++) {
		ct_buf_clear(&path);
		ct_buf_add_text(&path, self->directory);
		if (!self->has_one_trace) {
			ct_buf_add_char(&path, '/');
			add_plain(&path,
				  source_process->host[0] != '\0' ? source_process->host : "host");
			ct_buf_add_char(&path, '.');
			add_plain(&path, source_process->program[0] != '\0'
						 ? source_process->program
						 : "trace");
			ct_buf_add_format(&path, ".%u", source_process->pid);
			if (i > 1)
				ct_buf_add_format(&path, "-%u", i);
		}
		if (!directory_is_taken(self, ct_buf_text(&path)))
			directory = path.failed ? NULL : strdup(ct_buf_text(&path));
		path.failed |= i == UINT16_MAX;
	}
	ct_buf_fini(&path);
	return directory;
}

/* -----------------------------------------------------------------------------------------------
 * Names of classes
 */

/* Items without a name have none here either: the metadata numbers them. */
static bool class_name(const char *component, size_t size, uint32_t event_id,
		       struct ct_class_names *out, void *user)
{
	struct exporting *self = user;
	const struct ct_read_event *event = self->naming;
	uint32_t count = event->traced.item_count < CT_CLASS_MAX_ITEMS ? event->traced.item_count
								       : CT_CLASS_MAX_ITEMS;
	char scratch[16];

	(void)component;
	(void)size;
	(void)event_id;
	if (event->type == NULL && event->names == NULL)
		return false;
	out->mnemonic = event->type != NULL ? event->type->mnemonic : event->names->mnemonic;
	for (uint32_t i = 0; i < count; i++) {
		const char *name = ct_read_event_item_name(event, i, scratch);

		self->names[i] = name != scratch ? name : NULL;
	}
	out->items = self->names;
	out->item_count = count;
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * Packets
 */

/* Writes the packets that are complete. */
static void stream_write_packets(struct exporting *self, struct stream *stream)
{
	struct ct_buf *packets = &stream->writer.packets;
	size_t size = stream->writer.in_packet ? stream->writer.packet_at : packets->size;
	char name[32];

	(void)snprintf(name, sizeof name, "stream.%u", stream->writer.stream);
	file_append(self, stream->trace, name, packets, size);
	self->buffered -= size;
	memmove(packets->data, packets->data + size, packets->size - size);
	packets->size -= size;
	stream->writer.packet_at = 0;
	if (packets->size == 0)
		ct_buf_trim(packets, stream->trace->stream_count <= KEPT_STREAMS ? KEPT_MEMORY : 0);
}

static void stream_end_packets(struct exporting *self, struct stream *stream)
{
	if (stream->writer.packets.size == 0)
		return;
	ct_packet_end(&stream->writer);
	stream_write_packets(self, stream);
}

static void streams_end_packets(struct exporting *self)
{
	for (size_t i = 0; i < self->trace_count; i++)
		for (uint32_t k = 0; self->traces[i] != NULL && k < self->traces[i]->stream_count;
		     k++)
			stream_end_packets(self, self->traces[i]->streams[k]);
}

/* -----------------------------------------------------------------------------------------------
 * Traces and streams
 */

static void copy_text(char *to, size_t room, const char *text)
{
	size_t size = strnlen(text, room - 1);

	memcpy(to, text, size);
	to[size] = '\0';
}

static void info_fill(struct ct_trace_info *info, const struct ct_source_process *source_process,
		      uint64_t start_ns)
{
	*info = (struct ct_trace_info){ .pid = source_process->pid,
					.asid = source_process->asid,
					.start_ns = start_ns };
	ct_trace_make_uuid(info->uuid);
	copy_text(info->host, sizeof info->host, source_process->host);
	copy_text(info->program, sizeof info->program, source_process->program);
	copy_text(info->jobname, sizeof info->jobname, source_process->jobname);
	if (source_process->format != NULL)
		copy_text(info->format, sizeof info->format, source_process->format);
}

static void trace_destroy(struct trace *trace)
{
	if (trace == NULL)
		return;
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		ct_buf_fini(&trace->streams[i]->writer.packets);
		free(trace->streams[i]);
	}
	free(trace->streams);
	ct_schema_destroy(trace->schema);
	free(trace->directory);
	free(trace);
}

static struct trace *trace_create(struct exporting *self,
				  const struct ct_source_process *source_process, uint64_t start_ns)
{
	struct trace *trace = calloc(1, sizeof *trace);

	if (trace == NULL || ct_schema_create(&trace->schema) != CTRACE_OK) {
		free(trace);
		return NULL;
	}
	trace->source_process = source_process;
	trace->directory = trace_directory(self, source_process);
	if (trace->directory == NULL) {
		trace_destroy(trace);
		return NULL;
	}
	ct_schema_set_namer(trace->schema, class_name, self);
	info_fill(&trace->info, source_process, start_ns);
	if (ct_os_make_directory(trace->directory) != CTRACE_OK)
		export_fail(self, errno);
	return trace;
}

static struct trace *trace_find(struct exporting *self,
				const struct ct_source_process *source_process, uint64_t start_ns)
{
	if (source_process->index >= self->trace_count) {
		size_t count = 2 * (size_t)source_process->index + 8;
		struct trace **traces = reallocarray(self->traces, count, sizeof(struct trace *));

		if (traces == NULL)
			return NULL;
		memset(traces + self->trace_count, 0,
		       (count - self->trace_count) * sizeof(struct trace *));
		self->traces = traces;
		self->trace_count = count;
	}
	if (self->traces[source_process->index] == NULL)
		self->traces[source_process->index] = trace_create(self, source_process, start_ns);
	return self->traces[source_process->index];
}

/* Returns the number that the stream had in the input, so that events of one time keep their
 * order; else the next free number. */
static uint32_t stream_free_number(const struct trace *trace, uint32_t wanted)
{
	if (wanted >= trace->next_number)
		return wanted;
	for (uint32_t i = 0; i < trace->stream_count; i++)
		if (trace->streams[i]->writer.stream == wanted)
			return trace->next_number;
	return wanted;
}

static struct stream *stream_create(struct trace *trace, uint32_t tid, uint32_t wanted)
{
	struct stream *stream = calloc(1, sizeof *stream);
	struct stream **streams;

	if (stream == NULL)
		return NULL;
	if ((trace->stream_count & (trace->stream_count + 1)) == 0) { /* 0, 1, 3, 7...: full */
		streams = reallocarray(trace->streams, 2 * (size_t)trace->stream_count + 1,
				       sizeof(struct stream *));
		if (streams == NULL) {
			free(stream);
			return NULL;
		}
		trace->streams = streams;
	}
	stream->trace = trace;
	stream->tid = tid;
	stream->writer.info = &trace->info;
	stream->writer.stream = stream_free_number(trace, wanted);
	if (stream->writer.stream >= trace->next_number)
		trace->next_number = stream->writer.stream + 1;
	trace->streams[trace->stream_count++] = stream;
	return stream;
}

static struct stream *stream_find(struct exporting *self, const struct ct_read_event *event)
{
	struct ct_track *track = ct_tracks_find(self->tracks, event);
	struct trace *trace;

	if (track == NULL)
		return NULL;
	if (track->data == NULL) {
		trace = trace_find(self, event->source_process, event->traced.time_ns);
		track->data = trace != NULL ? stream_create(trace, event->traced.tid,
							    event->traced.stream)
					    : NULL;
	}
	return track->data;
}

/* -----------------------------------------------------------------------------------------------
 * The exporter
 */

/* Returns true if the directory is empty or does not exist. */
static bool directory_is_empty(const char *directory)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;
	bool has_entries = false;

	if (stream == NULL)
		return errno == ENOENT;
	while ((entry = readdir(stream)) != NULL && !has_entries)
		has_entries = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	(void)closedir(stream);
	if (has_entries)
		errno = ENOTEMPTY;
	return !has_entries;
}

static void trace_add(void *user, const struct ct_read_event *event)
{
	struct exporting *self = user;
	struct stream *stream = stream_find(self, event);
	size_t size;

	if (stream == NULL) {
		export_fail(self, ENOMEM);
		return;
	}
	stream->writer.lost += stream->trace->lost + self->lost;
	stream->trace->lost = self->lost = 0;
	self->naming = event;
	size = stream->writer.packets.size;
	ct_packet_write(&stream->writer,
			ct_schema_class(stream->trace->schema, &event->traced, event->definition),
			&event->traced);
	self->buffered += stream->writer.packets.size - size;
	if (stream->writer.packet_at > 0)
		stream_write_packets(self, stream);
	self->last = stream;
	if (self->buffered > BUFFER_LIMIT)
		streams_end_packets(self);
}

/* A source reports losses when it continues after its last event, which was the last event
 * added. */
static void trace_lost(void *user, const struct ct_read_note *note)
{
	struct exporting *self = user;
	struct trace *trace;

	if (note->source_process == NULL) {
		self->lost += note->events;
		return;
	}
	if (self->last != NULL && self->last->trace->source_process == note->source_process) {
		self->last->writer.lost += note->events;
		return;
	}
	trace = trace_find(self, note->source_process, note->from_ns);
	if (trace == NULL)
		export_fail(self, ENOMEM);
	else
		trace->lost += note->events;
}

/* Counts losses after the last event of a stream, or in a process without events. */
static void trace_report_last_losses(struct exporting *self, struct trace *trace)
{
	if (trace->stream_count == 0 && trace->lost > 0 && stream_create(trace, 0, 0) == NULL)
		export_fail(self, ENOMEM);
	if (trace->stream_count == 0)
		return;
	trace->streams[0]->writer.lost += trace->lost;
	trace->lost = 0;
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		struct stream *stream = trace->streams[i];
		struct ct_packet_writer *writer = &stream->writer;
		size_t size = writer->packets.size;

		if (writer->lost > writer->reported)
			ct_packet_begin(writer, trace->source_process->pid, stream->tid,
					writer->last_ns != 0 ? writer->last_ns
							     : trace->info.start_ns);
		self->buffered += writer->packets.size - size;
		stream_end_packets(self, stream);
	}
}

static void trace_write_metadata(struct exporting *self, struct trace *trace)
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_schema_print_trace(&text, &trace->info);
	for (uint32_t i = 1; i < ct_schema_count(trace->schema); i++)
		ct_schema_print_class(&text, ct_schema_at(trace->schema, i));
	file_append(self, trace, "metadata", &text, text.size);
	ct_buf_fini(&text);
}

static void trace_discard(const struct trace *trace)
{
	int directory = open(trace->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (directory < 0)
		return;
	for (uint32_t k = 0; k < trace->stream_count; k++) {
		char name[32];

		(void)snprintf(name, sizeof name, "stream.%u", trace->streams[k]->writer.stream);
		(void)unlinkat(directory, name, 0);
	}
	(void)unlinkat(directory, "metadata", 0);
	ct_os_close(&directory);
}

/* Removes everything that a failed or abandoned export has written.  Works without memory. */
static void export_discard(struct exporting *self)
{
	for (size_t i = 0; i < self->trace_count; i++) {
		const struct trace *trace = self->traces[i];

		if (trace == NULL)
			continue;
		trace_discard(trace);
		if (!self->has_one_trace)
			(void)rmdir(trace->directory);
	}
	if (self->is_directory_ours)
		(void)rmdir(self->directory);
}

static enum ctrace_status trace_end(void *user)
{
	struct exporting *self = user;

	self->has_ended = true;
	for (size_t i = 0; i < self->trace_count; i++) {
		struct trace *trace = self->traces[i];

		if (trace == NULL)
			continue;
		trace->lost += self->lost;
		self->lost = 0;
		trace_report_last_losses(self, trace);
		if (self->error == 0)
			trace_write_metadata(self, trace);
	}
	/* After any lack of memory an event may be missing. */
	if (ct_memory_has_lacked())
		export_fail(self, ENOMEM);
	if (self->error == 0)
		return CTRACE_OK;
	export_discard(self);
	errno = self->error;
	return self->error == ENOMEM ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OS_ERROR;
}

static void trace_close(void *user)
{
	struct exporting *self = user;

	if (self == NULL)
		return;
	if (!self->has_ended)
		export_discard(self);
	for (size_t i = 0; i < self->trace_count; i++)
		trace_destroy(self->traces[i]);
	free(self->traces);
	ct_tracks_destroy(self->tracks);
	free(self->directory);
	free(self);
}

static enum ctrace_status trace_open(const struct ct_export_options *options, void **out_self)
{
	struct exporting *self;

	if (!directory_is_empty(options->directory))
		return CTRACE_OS_ERROR;
	self = calloc(1, sizeof *self);
	if (self == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	self->directory = strdup(options->directory);
	self->is_directory_ours = access(options->directory, F_OK) != 0;
	self->has_one_trace = options->has_one_trace;
	if (self->directory == NULL || ct_tracks_create(&self->tracks) != CTRACE_OK) {
		trace_close(self);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	*out_self = self;
	return CTRACE_OK;
}

const struct ct_exporter ct_export_trace = {
	.name = "common-trace-format",
	.is_directory = true,
	.open = trace_open,
	.add = trace_add,
	.lost = trace_lost,
	.end = trace_end,
	.close = trace_close,
};
