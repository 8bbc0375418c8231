/*
 * nats_archive.c - an archive of a stream that is continued.
 *
 * The note of an archive, the file .archived, says up to which message of the stream the archive
 * has all, and which bytes of each file it has.  It is written when these are on the disk, and
 * takes the place of the last note as a whole.  So an archive that was killed goes on at its note;
 * the messages behind that change nothing when they come again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_fetch.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE ".archived"
#define NEW_NOTE ".archived.new"
#define FIRST_LINE "ctrace archive 3\n"

/* -----------------------------------------------------------------------------------------------
 * The note
 */

/* A compressed file that is not complete is copied again from its first message: the copy does not
 * keep a part of it. */
bool ct_nats_file_is_noted(const struct ct_nats_copied *file)
{
	return (file->has.is_begun && (file->is_whole || !ct_nats_name_is_packed(file->name))) ||
	       file->is_replaced;
}

/* The last message before which everything is in the archive. */
static uint64_t archive_sequence(const struct ct_nats_fetcher *fetch)
{
	uint64_t sequence = fetch->sequence;

	for (const struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next) {
		if (!trace->has_metadata && trace->first_sequence > 0 &&
		    trace->first_sequence <= sequence)
			sequence = trace->first_sequence - 1;
		if (trace->parts_sequence > 0 && trace->parts_sequence <= sequence)
			sequence = trace->parts_sequence - 1;
		for (const struct ct_nats_copied *file = trace->files; file != NULL;
		     file = file->next) {
			uint64_t waiting = ct_nats_waiting_sequence(file);

			if (waiting <= sequence)
				sequence = waiting - 1;
			if (file->has.is_begun && !ct_nats_file_is_noted(file) &&
			    file->first_sequence <= sequence)
				sequence = file->first_sequence - 1;
		}
	}
	return sequence;
}

static void note_print(struct ct_buf *out, const struct ct_nats_fetcher *fetch, uint64_t sequence)
{
	ct_buf_add_format(out, FIRST_LINE "%s %" PRId64 " %" PRIu64 " %s\n", fetch->address.stream,
			  fetch->link.created, sequence, fetch->filter);
	ct_buf_add_format(out, "last %" PRIu64 " %" PRId64 " %s\n", fetch->last.sequence,
			  fetch->last.time, fetch->last.id);
	for (const struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next) {
		const char *slash = strrchr(trace->path, '/');

		if (!trace->has_metadata)
			continue;
		ct_buf_add_format(out, "trace %s %s %" PRIu64 " %" PRIu64 " %d %d %s\n",
				  trace->uuid, slash != NULL ? slash + 1 : trace->path,
				  trace->first_sequence, trace->metadata_sequence, trace->has_left,
				  trace->is_whole, trace->subject);
		for (const struct ct_nats_copied *file = trace->files; file != NULL;
		     file = file->next)
			if (ct_nats_file_is_noted(file))
				ct_buf_add_format(out,
						  "file %s %" PRIu64 " %" PRIu64 " %" PRIu64
						  " %" PRIu64 " %d %d %d\n",
						  file->name, file->has.base, file->has.floor,
						  file->has.end, file->restarts, file->has.is_begun,
						  file->is_whole, file->is_replaced);
	}
}

/* Puts the note in the place of the last one.  Everything else of the archive is on the disk. */
static enum ctrace_status note_write(struct ct_nats_fetcher *fetch, uint64_t sequence)
{
	struct ct_buf text;
	size_t at = 0;
	bool is_written;
	int fd;

	ct_buf_init(&text);
	note_print(&text, fetch, sequence);
	fd = openat(fetch->directory, NEW_NOTE,
		    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	is_written = fd >= 0 && !text.failed;
	while (is_written && at < text.size) {
		ssize_t put = TEMP_FAILURE_RETRY(write(fd, text.data + at, text.size - at));

		is_written = put > 0;
		at += is_written ? (size_t)put : 0;
	}
	is_written = is_written && fsync(fd) == 0;
	if (fd >= 0 && close(fd) != 0)
		is_written = false;
	ct_buf_fini(&text);
	if (!is_written || renameat(fetch->directory, NEW_NOTE, fetch->directory, NOTE) != 0 ||
	    fsync(fetch->directory) != 0)
		return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->copy->paths[0],
					  strerror(errno));
	return CTRACE_OK;
}

static enum ctrace_status note_refuse(struct ct_nats_fetcher *fetch, const char *what)
{
	(void)snprintf(fetch->copy->error, CT_NATS_ERROR_SIZE,
		       "%.200s: %.200s; name a new directory", fetch->copy->paths[0], what);
	return CTRACE_OUTPUT_ERROR;
}

static bool text_is_name(const char *text)
{
	return text[0] != '.' && strchr(text, '/') == NULL;
}

/* "trace UUID NAME FIRST METADATA LEFT WHOLE SUBJECT" */
static struct ct_nats_copied_trace *trace_parse(struct ct_nats_fetcher *fetch, const char *line)
{
	struct ct_nats_copied_trace *trace = calloc(1, sizeof *trace);
	char name[256], subject[sizeof trace->subject];
	int has_left, is_whole;

	if (trace == NULL ||
	    sscanf(line, "trace %32[0-9a-f] %255s %" SCNu64 " %" SCNu64 " %d %d %1023[^\n]",
		   trace->uuid, name, &trace->first_sequence, &trace->metadata_sequence, &has_left,
		   &is_whole, subject) != 7 ||
	    !text_is_name(name) || !ct_nats_subject_host(subject, trace->host) ||
	    asprintf(&trace->path, "%s/%s", fetch->copy->paths[0], name) < 0) {
		free(trace);
		return NULL;
	}
	(void)snprintf(trace->subject, sizeof trace->subject, "%s", subject);
	trace->has_left = has_left != 0;
	trace->is_whole = is_whole != 0;
	trace->has_metadata = true;
	ct_nats_clock_read(trace);
	trace->next = fetch->traces;
	fetch->traces = trace;
	return trace;
}

/* "file NAME BASE FLOOR END RESTARTS BEGUN WHOLE REPLACED" */
static bool file_parse(struct ct_nats_copied_trace *trace, const char *line)
{
	struct ct_nats_copied *file, found = { .fd = -1 };
	int is_begun, is_whole, is_replaced;

	if (trace == NULL ||
	    sscanf(line, "file %63s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %d %d %d",
		   found.name, &found.has.base, &found.has.floor, &found.has.end, &found.restarts,
		   &is_begun, &is_whole, &is_replaced) != 8 ||
	    !text_is_name(found.name) || found.has.base > found.has.floor ||
	    found.has.floor > found.has.end)
		return false;
	file = ct_nats_copied_find(trace, found.name);
	if (file == NULL)
		return false;
	file->has = found.has;
	file->has.packet_begin = file->has.packet_end = found.has.end;
	file->restarts = found.restarts;
	file->has.is_begun = is_begun != 0;
	file->is_whole = is_whole != 0;
	file->is_replaced = is_replaced != 0;
	return true;
}

static bool file_cut(const struct ct_nats_fetcher *fetch, const char *path, uint64_t size)
{
	int fd = openat(fetch->directory, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	bool is_cut = fd >= 0 && ftruncate(fd, (off_t)size) == 0;

	if (fd >= 0)
		(void)close(fd);
	return is_cut;
}

/* Has the directory what the note says?  Bytes behind that come again: readers of an archive that
 * is killed meanwhile shall not take them for what they do not follow. */
static bool trace_is_there(const struct ct_nats_fetcher *fetch,
			   const struct ct_nats_copied_trace *trace)
{
	const char *name = strrchr(trace->path, '/') + 1;
	char path[600];
	struct stat info;

	(void)snprintf(path, sizeof path, "%.255s/" CT_NATS_METADATA, name);
	if (fstatat(fetch->directory, path, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	for (const struct ct_nats_copied *file = trace->files; file != NULL; file = file->next) {
		(void)snprintf(path, sizeof path, "%.255s/%.63s", name, file->name);
		uint64_t size = file->has.end - file->has.base;

		if (!file->has.is_begun || file->is_replaced)
			continue;
		if (fstatat(fetch->directory, path, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		    (uint64_t)info.st_size < size)
			return false;
		if ((uint64_t)info.st_size > size && !file_cut(fetch, path, size))
			return false;
	}
	return true;
}

static enum ctrace_status note_parse(struct ct_nats_fetcher *fetch, FILE *note)
{
	struct ct_nats_copied_trace *trace = NULL;
	char *line = NULL, stream[CT_NATS_TEXT], filter[sizeof fetch->filter];
	size_t room = 0;
	int64_t created;
	const char *wrong = NULL;
	enum ct_nats_kept kept;

	if (getline(&line, &room, note) < 0 || strcmp(line, FIRST_LINE) != 0 ||
	    getline(&line, &room, note) < 0 ||
	    sscanf(line, "%255s %" SCNd64 " %" SCNu64 " %1399[^\n]", stream, &created,
		   &fetch->sequence, filter) != 4 ||
	    getline(&line, &room, note) < 0 ||
	    sscanf(line, "last %" SCNu64 " %" SCNd64 " %159[^\n]", &fetch->last.sequence,
		   &fetch->last.time, fetch->last.id) < 2)
		wrong = "its file " NOTE " is damaged";
	else if (strcmp(stream, fetch->address.stream) != 0 || strcmp(filter, fetch->filter) != 0)
		wrong = "it is the archive of another stream, or of other hosts or jobs";
	while (wrong == NULL && getline(&line, &room, note) >= 0) {
		if (strncmp(line, "trace ", 6) == 0)
			trace = trace_parse(fetch, line);
		if (trace == NULL || (strncmp(line, "trace ", 6) != 0 && !file_parse(trace, line)))
			wrong = "its file " NOTE " is damaged";
	}
	free(line);
	for (trace = fetch->traces; trace != NULL && wrong == NULL; trace = trace->next)
		if (!trace_is_there(fetch, trace))
			wrong = "a trace of the archive is missing or shorter than its file " NOTE
				" says";
	if (wrong != NULL)
		return note_refuse(fetch, wrong);
	for (trace = fetch->traces; trace != NULL; trace = trace->next)
		trace->is_closed = ct_nats_copy_is_closed(trace);
	if (created != fetch->link.created) {
		ct_nats_fetch_renumber(fetch, true);
		return CTRACE_OK;
	}
	kept = ct_nats_place_look(&fetch->link, &fetch->address, &fetch->last, fetch->copy);
	if (kept != CT_NATS_KEPT) {
		ct_nats_lost_notice(&fetch->link, &fetch->address, &fetch->last, kept,
				    "are in the archive; it takes what the stream has now",
				    fetch->copy);
		ct_nats_fetch_renumber(fetch, false);
	}
	return CTRACE_OK;
}

enum ctrace_status ct_nats_archive_open(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status;
	FILE *note;
	int fd;

	fetch->directory = open(fetch->copy->paths[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fetch->directory < 0)
		return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->copy->paths[0],
					  strerror(errno));
	if (flock(fetch->directory, LOCK_EX | LOCK_NB) != 0)
		return note_refuse(fetch, "another ctrace archive writes there");
	fd = openat(fetch->directory, NOTE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? note_write(fetch, 0)
				       : ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR,
							    fetch->copy->paths[0], strerror(errno));
	note = fdopen(fd, "r");
	if (note == NULL) {
		(void)close(fd);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	status = note_parse(fetch, note);
	(void)fclose(note);
	if (status == CTRACE_OK && fetch->copy->prunes)
		status = ct_nats_prune_open(fetch);
	return status;
}

void ct_nats_archive_close(struct ct_nats_fetcher *fetch)
{
	if (fetch->directory >= 0)
		(void)close(fetch->directory);
}

enum ctrace_status ct_nats_archive_note(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = CTRACE_OK;

	for (struct ct_nats_copied_trace *trace = fetch->traces;
	     trace != NULL && status == CTRACE_OK; trace = trace->next) {
		status = ct_nats_clock_write(fetch, trace);
		if (!trace->is_closed && trace->is_changed && trace->is_complete)
			trace->is_closed = ct_nats_copy_is_closed(trace);
	}
	if (status != CTRACE_OK)
		return status;
	/* One call for all files: those that were closed meanwhile count too. */
	if (syncfs(fetch->directory) != 0)
		return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->copy->paths[0],
					  strerror(errno));
	status = note_write(fetch, archive_sequence(fetch));
	if (status == CTRACE_OK && fetch->copy->prunes)
		status = ct_nats_prune(fetch);
	/* The next note tries again. */
	if (status == CTRACE_OUTPUT_ERROR && fetch->copy->prunes && fetch->copy->follows) {
		ct_nats_report(fetch->copy);
		status = CTRACE_OK;
	}
	fetch->is_changed = false;
	fetch->noted_ms = nats_Now();
	return status;
}
