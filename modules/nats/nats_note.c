/*
 * nats_note.c - how far each file of a trace is sent: a note in the trace's directory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_forward.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTE_BEGIN (2 * CT_NATS_TEXT + 80)

enum ctrace_status ct_nats_forward_fail(struct ct_nats_forwarder *forward,
					enum ctrace_status status, const char *path,
					const char *what)
{
	(void)snprintf(forward->copy->error, CT_NATS_ERROR_SIZE, "%.300s: %.200s", path, what);
	return status;
}

static void note_path(const struct ct_nats_forwarder *forward, const struct ct_nats_trace *trace,
		      char *out, size_t size)
{
	(void)snprintf(out, size, "%s/.forwarded.%s", trace->path, forward->address.stream);
}

/* By number: what is sent last is kept longest. */
static bool name_is_before(const char *one, const char *other)
{
	size_t size = strcspn(one + 7, "."), other_size = strcspn(other + 7, ".");

	return size != other_size ? size < other_size : strcmp(one, other) < 0;
}

struct ct_nats_file *ct_nats_file_find(struct ct_nats_trace *trace, const char *name)
{
	struct ct_nats_file *file, **at = &trace->files;

	if (strcmp(name, CT_NATS_METADATA) == 0)
		return &trace->metadata;
	while (*at != NULL && name_is_before((*at)->name, name))
		at = &(*at)->next;
	if (*at != NULL && strcmp((*at)->name, name) == 0)
		return *at;
	file = calloc(1, sizeof *file);
	if (file == NULL)
		return NULL;
	(void)snprintf(file->name, sizeof file->name, "%s", name);
	file->sum = file->acknowledged_sum = CT_NATS_SUM_EMPTY;
	file->next = *at;
	*at = file;
	return file;
}

bool ct_nats_name_is_stream(const char *name)
{
	return strncmp(name, "stream.", 7) == 0 && strlen(name) < 40 &&
	       ((name[7] >= '0' && name[7] <= '9') || strcmp(name, "stream.lost") == 0);
}

/* What the note is about: this trace, in this stream, under these subjects.  A stream that was made
 * anew has none of the bytes, and neither has another server's stream of that name. */
static void note_begin(const struct ct_nats_forwarder *forward, const struct ct_nats_trace *trace,
		       char *out, size_t size)
{
	(void)snprintf(out, size, "%s in %lld as %s.%s\n", trace->uuid,
		       (long long)forward->link.created, forward->address.subject,
		       forward->address.cluster);
}

void ct_nats_note_read(const struct ct_nats_forwarder *forward, struct ct_nats_trace *trace)
{
	char path[4200], name[64], begin[NOTE_BEGIN], found[NOTE_BEGIN];
	unsigned long long sent, sum, restarts, sequence;
	FILE *note;

	trace->is_begun = true;
	note_path(forward, trace, path, sizeof path);
	note = fopen(path, "re");
	if (note == NULL)
		return;
	note_begin(forward, trace, begin, sizeof begin);
	if (fgets(found, sizeof found, note) == NULL || strcmp(found, begin) != 0) {
		(void)fclose(note);
		return;
	}
	if (fscanf(note, "last %llu %159s\n", &sequence, trace->place.id) == 2)
		trace->place.sequence = sequence;
	while (fscanf(note, "%63s %llu %llx %llu\n", name, &sent, &sum, &restarts) == 4) {
		bool is_known = strcmp(name, CT_NATS_METADATA) == 0 || ct_nats_name_is_stream(name);
		struct ct_nats_file *file = is_known ? ct_nats_file_find(trace, name) : NULL;

		if (file == NULL)
			continue;
		file->sent = file->acknowledged = sent;
		file->sum.value = file->acknowledged_sum.value = sum;
		file->restarts = file->acknowledged_restarts = restarts;
	}
	(void)fclose(note);
}

static void note_add(struct ct_buf *text, const struct ct_nats_file *file)
{
	ct_buf_add_format(text, "%s %llu %llx %llu\n", file->name, (unsigned long long)file->sent,
			  (unsigned long long)file->sum.value, (unsigned long long)file->restarts);
}

static bool file_write(const char *path, const char *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	ssize_t put;

	if (fd < 0)
		return false;
	put = write(fd, data, size);
	if (put >= 0 && (size_t)put < size)
		errno = ENOSPC;
	return close(fd) == 0 && put == (ssize_t)size;
}

/* Returns false with errno. */
static bool note_write(const struct ct_nats_forwarder *forward, const struct ct_nats_trace *trace,
		       const char *path)
{
	char new_path[4240], begin[NOTE_BEGIN];
	struct ct_buf text;
	bool is_written;
	int error;

	/* Another forwarder may write the same note at the same time. */
	(void)snprintf(new_path, sizeof new_path, "%s.%ld.new", path, (long)getpid());
	note_begin(forward, trace, begin, sizeof begin);
	ct_buf_init(&text);
	ct_buf_add_format(&text, "%slast %llu %s\n", begin,
			  (unsigned long long)trace->place.sequence,
			  trace->place.id[0] != '\0' ? trace->place.id : "-");
	note_add(&text, &trace->metadata);
	for (const struct ct_nats_file *file = trace->files; file != NULL; file = file->next)
		note_add(&text, file);
	errno = ENOMEM;
	is_written = !text.failed && file_write(new_path, text.data, text.size) &&
		     rename(new_path, path) == 0;
	error = errno;
	ct_buf_fini(&text);
	if (!is_written)
		(void)unlink(new_path);
	errno = error;
	return is_written;
}

/* A spool without room for a note: the messages go on, and the traces that are complete are removed
 * without one.  A forwarder that starts again sends the others from their last notes. */
static void room_report(struct ct_nats_forwarder *forward, const char *path, int error)
{
	if (forward->has_reported_room)
		return;
	forward->has_reported_room = true;
	(void)snprintf(forward->copy->error, CT_NATS_ERROR_SIZE,
		       "%.300s: %s; sending goes on, and complete traces are removed; when tracing "
		       "does not go on, make room on the file system of the spool",
		       path, strerror(error));
	ct_nats_report(forward->copy);
}

enum ctrace_status ct_nats_notes_write(struct ct_nats_forwarder *forward)
{
	char path[4200];

	for (struct ct_nats_trace *trace = forward->traces; trace != NULL; trace = trace->next) {
		if (trace->is_noted)
			continue;
		note_path(forward, trace, path, sizeof path);
		if (note_write(forward, trace, path)) {
			trace->is_noted = true;
			forward->has_reported_room = false;
		} else if (forward->copy->is_spool && (errno == ENOSPC || errno == EDQUOT)) {
			room_report(forward, path, errno);
		} else {
			return ct_nats_forward_fail(forward, CTRACE_OS_ERROR, path,
						    strerror(errno));
		}
	}
	return CTRACE_OK;
}
