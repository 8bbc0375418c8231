/*
 * trcout.c - a TRCOUT of an external writer: a directory of Common Trace Format traces, one for
 * each connected process, in segments.
 *
 *     <path>/00000007/KVSERVER.4711/    metadata, stream.<ring>
 *
 * Runs on the TRCOUT's worker.  With WRAP the primary size is divided into segments.  When the last
 * segment is full, the oldest is removed, so at least seven eighths of the newest data stay.  With
 * NOWRAP there is one segment.  When primary and secondary extents are full, further events are
 * counted and not written.  Segments of an earlier run of the writer stay and count.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/ring_consumer.h"

#include "lib/emit/binfile.h"
#include "lib/emit/spool.h"
#include "compress/compress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define CANDIDATES 100u /* names tried for one process */

/* A process's trace in a segment. */
struct output {
	struct ct_trcout *trcout;
	struct ct_link *link;
	const struct ctrace_emitter_context *context;
	struct ct_trace_info info;
	struct ct_bin_directory *directory;
	uint32_t segment; /* number */
	uint64_t lost;
	struct ct_event_names *names; /* or NULL */
	/* the former directory, to be compressed once the move is committed; "" */
	char closed[CTRACE_EMITTER_PATH_SIZE];
};

/* An emitter's open() receives only its context, so the worker sets these before each pass. */
static __thread struct ct_trcout *selected_trcout;
static __thread struct ct_link *selected_link;

void ct_trcout_select(struct ct_trcout *trcout, struct ct_link *link)
{
	selected_trcout = trcout;
	selected_link = link;
}

static const struct ct_trcout_spec *spec_of(const struct ct_trcout *trcout)
{
	return &trcout->procedure->trcout[trcout->index];
}

static void trcout_report(const struct ct_trcout *trcout, const char *format, ...) CT_PRINTF(2, 3);
static void trcout_report(const struct ct_trcout *trcout, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	trcout->message(text, trcout->user);
}

/* -----------------------------------------------------------------------------------------------
 * Segments
 */

static struct ct_segment *segment_newest(struct ct_trcout *trcout)
{
	return &trcout->segment[trcout->segments - 1];
}

static void segment_path(const struct ct_trcout *trcout, uint32_t number, char out[4200])
{
	(void)snprintf(out, 4200, "%s/%08u", spec_of(trcout)->path, number);
}

/* Removes a trace of ours: only files with our names, and the directory if it is empty then. */
static void trace_remove(int parent_fd, const char *name)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (directory == NULL) {
		ct_os_close(&fd);
		return;
	}
	while ((entry = readdir(directory)) != NULL)
		if (strcmp(entry->d_name, "metadata") == 0 ||
		    strcmp(entry->d_name, CT_BIN_TEMPORARY) == 0 ||
		    strncmp(entry->d_name, "stream.", 7) == 0 ||
		    strncmp(entry->d_name, ".stream.", 8) == 0 ||
		    strncmp(entry->d_name, ".forwarded.", 11) == 0 ||
		    strcmp(entry->d_name, CT_SPOOL_ADDRESS) == 0 ||
		    strcmp(entry->d_name, CT_SPOOL_ENDED) == 0)
			(void)unlinkat(dirfd(directory), entry->d_name, 0);
	(void)closedir(directory);
	(void)unlinkat(parent_fd, name, AT_REMOVEDIR);
}

static void segment_remove_oldest(struct ct_trcout *trcout)
{
	char path[4200];
	DIR *directory;
	struct dirent *entry;
	int fd;

	segment_path(trcout, trcout->segment[0].number, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	directory = fd >= 0 ? fdopendir(fd) : NULL;
	if (directory == NULL)
		ct_os_close(&fd);
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.')
			trace_remove(dirfd(directory), entry->d_name);
	if (directory != NULL)
		(void)closedir(directory);
	(void)rmdir(path);
	trcout->used -= trcout->segment[0].bytes;
	trcout->wrapped_events += trcout->segment[0].events;
	trcout->segments--;
	memmove(trcout->segment, trcout->segment + 1, trcout->segments * sizeof trcout->segment[0]);
}

static void segment_add(struct ct_trcout *trcout, uint32_t number)
{
	if (trcout->segments == CT_COUNT(trcout->segment))
		segment_remove_oldest(trcout);
	trcout->segment[trcout->segments++] = (struct ct_segment){ .number = number };
}

/* -----------------------------------------------------------------------------------------------
 * Segments of an earlier run
 */

static uint64_t trace_size(int parent_fd, const char *name)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	struct stat info;
	uint64_t size = 0;

	if (directory == NULL) {
		ct_os_close(&fd);
		return 0;
	}
	while ((entry = readdir(directory)) != NULL)
		if (fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(info.st_mode))
			size += (uint64_t)info.st_size;
	(void)closedir(directory);
	return size;
}

static uint64_t segment_size(int parent_fd, const char *name)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	uint64_t size = 0;

	if (directory == NULL) {
		ct_os_close(&fd);
		return 0;
	}
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.')
			size += trace_size(dirfd(directory), entry->d_name);
	(void)closedir(directory);
	return size;
}

/* A forwarder has removed traces that were sent, and segments without one. */
static void segments_measure(struct ct_trcout *trcout)
{
	uint32_t kept = 0;

	trcout->used = 0;
	for (uint32_t i = 0; i < trcout->segments; i++) {
		struct ct_segment *segment = &trcout->segment[i];
		char path[4200];

		segment_path(trcout, segment->number, path);
		segment->bytes = segment_size(AT_FDCWD, path);
		if (segment->bytes == 0 && i + 1 < trcout->segments)
			continue;
		trcout->used += segment->bytes;
		trcout->segment[kept++] = *segment;
	}
	trcout->segments = kept;
}

/* Makes room for the next batch.  False: there is none. */
static bool segment_make_room(struct ct_trcout *trcout)
{
	bool is_spooled = spec_of(trcout)->address[0] != '\0';
	bool wraps = trcout->procedure->mode == CT_WRITER_WRAP;

	if (!wraps && !is_spooled)
		return trcout->used < trcout->limit;
	if (is_spooled &&
	    (trcout->used >= trcout->limit || trcout->segments == CT_COUNT(trcout->segment)))
		segments_measure(trcout);
	if (segment_newest(trcout)->bytes >= trcout->limit / CT_SEGMENTS) {
		/* Only a closed segment is sent as a whole, and removed. */
		if (!wraps && trcout->segments == CT_COUNT(trcout->segment))
			return false;
		segment_add(trcout, segment_newest(trcout)->number + 1);
	}
	while (wraps && trcout->segments > 1 && trcout->used >= trcout->limit)
		segment_remove_oldest(trcout);
	return wraps || trcout->used < trcout->limit;
}

static bool segment_parse_name(const char *name, uint32_t *out_number)
{
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	*out_number = (uint32_t)number;
	return strlen(name) == 8 && *end == '\0' && name[0] >= '0' && name[0] <= '9' && number > 0;
}

static int segment_compare(const void *a, const void *b)
{
	uint32_t first = ((const struct ct_segment *)a)->number,
		 second = ((const struct ct_segment *)b)->number;

	return (first > second) - (first < second);
}

/* Finds the segments and removes the oldest beyond the limit. */
static void segments_find(struct ct_trcout *trcout, DIR *directory)
{
	struct dirent *entry;
	uint32_t number;

	while ((entry = readdir(directory)) != NULL) {
		if (!segment_parse_name(entry->d_name, &number))
			continue;
		if (trcout->segments == CT_COUNT(trcout->segment)) {
			qsort(trcout->segment, trcout->segments, sizeof trcout->segment[0],
			      segment_compare);
			segment_remove_oldest(trcout);
		}
		trcout->segment[trcout->segments].number = number;
		trcout->segment[trcout->segments].bytes =
			segment_size(dirfd(directory), entry->d_name);
		trcout->used += trcout->segment[trcout->segments++].bytes;
	}
	qsort(trcout->segment, trcout->segments, sizeof trcout->segment[0], segment_compare);
}

/* The lock is on the directory itself: a lock file in it would be one more file for every reader
 * to ignore.  A file system without locks counts as unlocked. */
enum ctrace_status ct_trcout_lock_directory(const struct ct_trcout *trcout, int *out_fd)
{
	const char *path = spec_of(trcout)->path;
	enum ctrace_status status = ct_os_make_directory(path);
	struct stat info;
	int fd;

	if (status != CTRACE_OK)
		return status;
	fd = ct_os_high(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (fd < 0 || fstat(fd, &info) != 0) {
		ct_os_close(&fd);
		return CTRACE_OS_ERROR;
	}
	/* Another owner could replace the files that this writer removes by links. */
	status = info.st_uid == geteuid() || info.st_uid == 0 ? CTRACE_OK : CTRACE_DENIED;
	if (status == CTRACE_OK && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		errno = EBUSY;
		status = CTRACE_TIMED_OUT;
	}
	if (status != CTRACE_OK)
		ct_os_close(&fd);
	else
		*out_fd = fd;
	return status;
}

enum ctrace_status ct_trcout_open(struct ct_trcout *trcout)
{
	const struct ct_trcout_spec *spec = spec_of(trcout);
	enum ctrace_status status = ct_os_make_directory(spec->path);
	DIR *directory;

	if (status != CTRACE_OK)
		return status;
	directory = opendir(spec->path);
	if (directory == NULL)
		return CTRACE_OS_ERROR;
	trcout->limit = spec->primary;
	if (trcout->procedure->mode == CT_WRITER_NOWRAP)
		trcout->limit += 15 * spec->secondary;
	segments_find(trcout, directory);
	(void)closedir(directory);
	if (trcout->segments == 0)
		segment_add(trcout, 1);
	return access(spec->path, W_OK) == 0 ? CTRACE_OK : CTRACE_DENIED;
}

/* -----------------------------------------------------------------------------------------------
 * A process's trace
 */

/* The environment of the process sets the job name: it may hold any bytes. */
static void add_jobname(struct ct_buf *out, const char *jobname)
{
	for (const char *at = jobname; *at != '\0'; at++)
		ct_buf_add_char(out,
				strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@#$_-", *at) != NULL
					? *at
					: '_');
}

static enum ctrace_status output_create_directory(struct output *output,
						  struct ct_bin_directory **out_directory)
{
	const struct ct_bin_open_mode mode = { .info = &output->info, .from = output->directory };
	enum ctrace_status status = CTRACE_TIMED_OUT;
	char segment[4200];
	struct ct_buf path;

	ct_bin_info_clock(&output->info, output->context);
	segment_path(output->trcout, segment_newest(output->trcout)->number, segment);
	ct_buf_init(&path);
	for (unsigned i = 0; i < CANDIDATES && status == CTRACE_TIMED_OUT; i++) {
		ct_buf_clear(&path);
		ct_buf_add_format(&path, "%s/", segment);
		add_jobname(&path, output->info.jobname);
		ct_buf_add_format(&path, i == 0 ? ".%u" : ".%u.%u", output->info.pid, i);
		status = path.failed ? CTRACE_NOT_ENOUGH_MEMORY
				     : ct_bin_directory_create(ct_buf_text(&path), &mode,
							       out_directory);
	}
	ct_buf_fini(&path);
	if (status == CTRACE_OK)
		ct_event_names_use(output->names, (*out_directory)->schema);
	if (status == CTRACE_OK && spec_of(output->trcout)->address[0] != '\0')
		status = ct_spool_put_address((*out_directory)->path,
					      spec_of(output->trcout)->address);
	if (status == CTRACE_TIMED_OUT)
		errno = EBUSY;
	return status;
}

/* Compresses the streams of a closed directory; a stream that cannot be compressed stays. */
static void output_compress_closed(struct output *output)
{
	DIR *directory = output->closed[0] != '\0' ? opendir(output->closed) : NULL;
	struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (strncmp(entry->d_name, "stream.", 7) == 0 &&
		    strchr(entry->d_name + 7, '.') == NULL)
			(void)ct_compress_file(dirfd(directory), entry->d_name,
					       &(const uint32_t){ 0 });
	if (directory != NULL)
		(void)closedir(directory);
	output->closed[0] = '\0';
}

static void output_count_size(struct output *output, uint64_t before)
{
	uint64_t grown = output->directory->size - before;
	struct ct_trcout *trcout = output->trcout;

	trcout->used += grown;
	trcout->bytes += grown;
	for (uint32_t i = 0; i < trcout->segments; i++)
		if (trcout->segment[i].number == output->segment)
			trcout->segment[i].bytes += grown;
}

/* Writes the losses that no packet has reported. */
static void output_write_lost(struct output *output)
{
	uint64_t before = output->directory->size;

	if (output->lost > 0 && ct_bin_directory_look(output->directory) == CT_BIN_HERE)
		ct_bin_report_lost(output->directory, output->lost, output->context->place);
	output_count_size(output, before);
}

/* Closes the directory; its losses are written already. */
static void output_close_directory(struct output *output)
{
	struct ct_bin_directory *directory = output->directory;

	if (output->trcout->procedure->compress)
		memcpy(output->closed, directory->path, sizeof output->closed);
	if (ct_bin_directory_look(directory) == CT_BIN_HERE)
		ct_bin_directory_set_clock(directory, output->context, CT_BIN_CLOCK_LAST);
	ct_bin_directory_close(directory);
	output->directory = NULL;
}

static void output_note_place(const struct output *output)
{
	struct ctrace_place *place = output->context->place;

	if (strcmp(place->path, output->directory->path) != 0)
		memcpy(place->path, output->directory->path, strlen(output->directory->path) + 1);
	place->offset = output->directory->metadata_size;
	place->extra = 1;
	place->lost = output->directory->lost_reported;
}

/* Continues the trace in the newest segment.  The new directory is committed before it holds an
 * event. */
static enum ctrace_status output_move_on(struct output *output)
{
	const struct ctrace_emitter_context *context = output->context;
	struct ct_bin_directory *before = output->directory, *next;
	enum ctrace_status status;

	status = output_create_directory(output, &next);
	if (status != CTRACE_OK)
		return status;
	ct_bin_directory_set_clock(before, output->context, CT_BIN_CLOCK_LAST);
	ct_bin_directory_end(before);
	output->directory = next;
	output_note_place(output);
	status = context->commit != NULL ? context->commit(context) : CTRACE_OK;
	output->directory = before;
	if (status != CTRACE_OK) {
		output_note_place(output);
		ct_bin_directory_reopen(before);
		ct_bin_directory_discard(next);
		return status;
	}
	output_close_directory(output);
	output->directory = next;
	output->segment = segment_newest(output->trcout)->number;
	output_count_size(output, 0);
	return CTRACE_OK;
}

static enum ctrace_status trcout_fail(struct ct_trcout *trcout, enum ctrace_status status)
{
	uint32_t error = errno != 0 ? (uint32_t)errno : EIO;

	if (__atomic_exchange_n(&trcout->failing, error, __ATOMIC_RELAXED) != error)
		trcout_report(trcout, "CTR102E TRCOUT%02u CANNOT BE WRITTEN: %s",
			      trcout->procedure->number[trcout->index], strerror((int)error));
	return status;
}

static enum ctrace_status output_open(const struct ctrace_emitter_context *context, void **out_self)
{
	struct output *output = calloc(1, sizeof *output);
	enum ctrace_status status;

	if (output == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	output->trcout = selected_trcout;
	output->link = selected_link;
	output->context = context;
	output->info = output->link->info;
	ct_event_names_load_when_set();
	output->names = ct_event_names_open(NULL);
	(void)segment_make_room(output->trcout);
	status = output_create_directory(output, &output->directory);
	if (status != CTRACE_OK) {
		(void)trcout_fail(output->trcout, status);
		ct_event_names_close(output->names);
		free(output);
		return status;
	}
	output->segment = segment_newest(output->trcout)->number;
	output_count_size(output, 0);
	output_note_place(output);
	*out_self = output;
	return CTRACE_OK;
}

/* NOWRAP, and full: counts the events with the other losses of their ring. */
static void output_drop(struct output *output, const struct ctrace_batch *batch)
{
	struct ct_trcout *trcout = output->trcout;

	for (uint32_t i = 0; i < batch->run_count; i++) {
		const struct ctrace_run *run = &batch->runs[i];
		struct ct_ring_head *head = output->link->ring[batch->streams[run->stream].id].head;

		if (head != NULL)
			__atomic_store_n(&head->unwritten, head->unwritten + run->event_count,
					 __ATOMIC_RELAXED);
	}
	trcout->full_events += batch->event_count;
	if (!trcout->is_full)
		trcout_report(
			trcout,
			"CTR101W TRCOUT%02u IS FULL: %s. WHAT COMES NOW IS COUNTED AND NOT WRITTEN",
			trcout->procedure->number[trcout->index], spec_of(trcout)->path);
	trcout->is_full = true;
}

static enum ctrace_status output_write(void *self, const struct ctrace_batch *batch)
{
	struct output *output = self;
	struct ct_trcout *trcout = output->trcout;
	enum ctrace_status status = CTRACE_OK;
	enum ct_bin_presence presence;
	uint64_t before;

	output_compress_closed(output);
	output->link->is_dropped[trcout->index] = !segment_make_room(trcout);
	if (output->link->is_dropped[trcout->index]) {
		output_drop(output, batch);
		return CTRACE_OK;
	}
	errno = 0;
	presence = ct_bin_directory_look(output->directory);
	if (presence == CT_BIN_UNCLEAR)
		status = CTRACE_OS_ERROR;
	else if (output->segment != segment_newest(trcout)->number || presence == CT_BIN_GONE)
		status = output_move_on(output);
	before = output->directory->size;
	if (status == CTRACE_OK)
		status = ct_bin_write(output->directory, batch);
	if (status != CTRACE_OK)
		return trcout_fail(
			trcout, status == CTRACE_NOT_ENOUGH_MEMORY ? status : CTRACE_OUTPUT_ERROR);
	__atomic_store_n(&trcout->failing, 0, __ATOMIC_RELAXED);
	if (batch->run_count > 0)
		ct_bin_directory_set_clock(output->directory, output->context,
					   batch->runs[batch->run_count - 1].end_ns);
	output_count_size(output, before);
	segment_newest(trcout)->events += batch->event_count;
	trcout->events += batch->event_count;
	output_note_place(output);
	return CTRACE_OK;
}

static void output_note_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT])
{
	struct output *output = self;

	output->lost = 0;
	for (size_t i = 0; i < CTRACE_LOSS_COUNT; i++)
		output->lost += totals[i];
}

static enum ctrace_status output_sync(void *self)
{
	struct output *output = self;

	return ct_bin_sync(output->directory) == CTRACE_OK ? CTRACE_OK : CTRACE_OUTPUT_ERROR;
}

static void output_close(void *self)
{
	struct output *output = self;

	output_write_lost(output);
	output_close_directory(output);
	output_compress_closed(output);
	ct_event_names_close(output->names);
	free(output);
}

static const struct ctrace_property properties[] = { { 0 } };

const struct ctrace_emitter ct_trcout_emitter = {
	.size = sizeof(struct ctrace_emitter),
	.name = "BINFILE", /* BINFILE continues it when the process's traces are recovered */
	.flags = CTRACE_EMITTER_FILE | CTRACE_EMITTER_RUNS | CTRACE_EMITTER_LIMITED,
	.properties = properties,
	.open = output_open,
	.write = output_write,
	.lost = output_note_lost,
	.flush = output_sync,
	.close = output_close,
};
