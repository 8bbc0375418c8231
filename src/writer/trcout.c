/*
 * trcout.c - the TRCOUTs of an external writer, as one group of data sets.  A data set is a
 * directory of Common Trace Format traces, one for each connected process, in segments.
 *
 *     <path>/00000007/KVSERVER.4711/    metadata, stream.<ring>
 *     <path>/lost/CTW.4712/             metadata; stream.lost when the group has lost events
 *
 * Runs on the writer's worker.  One data set of the group is open, and has the events of all
 * threads.  When it is full, the next one is open.  With NOWRAP each has one segment, and when the
 * last one is full, further events are counted and not written.  With WRAP the primary size of each
 * is divided into segments, and the first data set follows the last: the open one loses its oldest
 * segment whenever it needs room, so only the oldest data of the group go.  Segments have ascending
 * numbers in the group.  Those of an earlier run of the writer stay and count, unless DISP=OLD.
 *
 * No data set grows beyond its size.  So a part of it is kept free for the closing marks of the
 * directories that are open.
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
#define TRIES 64u       /* to find room for a batch */
#define BATCH_MOST ((size_t)64 << 10)
#define BATCH_LEAST 1024u
/* The closing mark of a directory, for itself and for each of its streams; and stream.lost */
#define MARK_ROOM 512u
#define MARK_STREAM_ROOM 64u
#define CLOCK_MARK_ROOM 256u /* how the clock has been set, in the metadata */
#define NOTE_NS 1000000000u  /* losses are noted at most so often */

/* A process's trace in a segment. */
struct output {
	struct ct_trcout_group *group;
	struct ct_link *link;
	const struct ctrace_emitter_context *context;
	struct ct_trace_info info;
	struct ct_bin_directory *directory; /* NULL: the group was full when it was opened */
	struct ct_trcout *trcout;           /* with the directory */
	uint32_t segment;                   /* number */
	uint64_t counted;                   /* bytes of the directory that the segment counts */
	uint64_t lost;
	struct ct_event_names *names; /* or NULL */
	/* the former directory, to be compressed once the move is committed; "" */
	char closed[CTRACE_EMITTER_PATH_SIZE];
};

/* An emitter's open() receives only its context, so the worker sets these before each pass. */
static __thread struct ct_trcout_group *selected_group;
static __thread struct ct_link *selected_link;

void ct_trcout_select(struct ct_trcout_group *group, struct ct_link *link)
{
	selected_group = group;
	selected_link = link;
}

static struct ct_trcout *trcout_open(struct ct_trcout_group *group)
{
	return &group->trcout[group->open];
}

static bool group_wraps(const struct ct_trcout_group *group)
{
	return group->procedure->mode == CT_WRITER_WRAP;
}

/* Is it in the spool of a stream?  Then a forwarder sends what is closed, and removes it. */
static bool trcout_is_spooled(const struct ct_trcout *trcout)
{
	return trcout->spec->address[0] != '\0';
}

static void group_report(const struct ct_trcout_group *group, const char *format, ...)
	CT_PRINTF(2, 3);
static void group_report(const struct ct_trcout_group *group, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	group->message(text, group->user);
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
	(void)snprintf(out, 4200, "%s/%08u", trcout->spec->path, number);
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

/* Removes the traces in a directory of ours, and the directory if it is empty then. */
static void traces_remove(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (directory == NULL)
		ct_os_close(&fd);
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.')
			trace_remove(dirfd(directory), entry->d_name);
	if (directory != NULL)
		(void)closedir(directory);
	(void)rmdir(path);
}

static void segment_remove_oldest(struct ct_trcout *trcout)
{
	char path[4200];

	segment_path(trcout, trcout->segment[0].number, path);
	traces_remove(path);
	trcout->used -= trcout->segment[0].bytes;
	trcout->wrapped_events += trcout->segment[0].events;
	trcout->segments--;
	memmove(trcout->segment, trcout->segment + 1, trcout->segments * sizeof trcout->segment[0]);
}

static void segment_add(struct ct_trcout_group *group, struct ct_trcout *trcout)
{
	if (trcout->segments == CT_COUNT(trcout->segment))
		segment_remove_oldest(trcout);
	trcout->segment[trcout->segments++] =
		(struct ct_segment){ .number = ++group->newest_segment };
}

/* -----------------------------------------------------------------------------------------------
 * Room in the group
 */

/* Bytes that the open directories may add to a data set when they are closed. */
static uint64_t group_kept_free(const struct ct_trcout_group *group)
{
	uint64_t kept = 2 * MARK_ROOM; /* and the note of what is lost */

	for (uint32_t i = 0; group->link_count != NULL && i < *group->link_count; i++)
		kept += MARK_ROOM +
			MARK_STREAM_ROOM * (uint64_t)__atomic_load_n(&group->links[i]->rings,
								     __ATOMIC_RELAXED);
	return kept;
}

/* Bytes that must be free before a directory is created: its metadata, with what each stream of
 * the directory before had lost. */
static uint64_t directory_room(const struct ct_trace_info *info, uint32_t streams)
{
	struct ct_buf text;
	uint64_t size;

	ct_buf_init(&text);
	ct_schema_print_trace(&text, info);
	size = text.failed ? UINT64_MAX
			   : text.size + MARK_ROOM + CLOCK_MARK_ROOM +
				     MARK_STREAM_ROOM * (uint64_t)streams;
	ct_buf_fini(&text);
	return size;
}

static uint64_t trcout_room(const struct ct_trcout_group *group, const struct ct_trcout *trcout)
{
	uint64_t taken = trcout->used + group_kept_free(group);

	return taken < trcout->limit ? trcout->limit - taken : 0;
}

size_t ct_trcout_batch_bytes(const struct ct_procedure *procedure)
{
	uint64_t size = BATCH_MOST;

	for (uint32_t i = 0; i < procedure->trcout_count; i++)
		if (procedure->trcout[i].primary / 16 < size)
			size = procedure->trcout[i].primary / 16;
	return size > BATCH_LEAST ? (size_t)size : BATCH_LEAST;
}

static uint64_t segment_size(int parent_fd, const char *name);

/* A forwarder has removed traces that were sent, and segments without one.  Returns true when less
 * is used than before. */
static bool segments_measure(struct ct_trcout *trcout)
{
	uint64_t before = trcout->used;
	uint32_t kept = 0;
	char path[4200];

	(void)snprintf(path, sizeof path, "%s/" CT_TRCOUT_LOST, trcout->spec->path);
	trcout->used = segment_size(AT_FDCWD, path);
	for (uint32_t i = 0; i < trcout->segments; i++) {
		struct ct_segment *segment = &trcout->segment[i];

		segment_path(trcout, segment->number, path);
		segment->bytes = segment_size(AT_FDCWD, path);
		if (segment->bytes == 0 && i + 1 < trcout->segments)
			continue;
		trcout->used += segment->bytes;
		trcout->segment[kept++] = *segment;
	}
	trcout->segments = kept;
	return trcout->used < before;
}

static void group_advance(struct ct_trcout_group *group)
{
	group->open = (group->open + 1) % group->count;
	segment_add(group, trcout_open(group));
	trcout_open(group)->first_segment = segment_newest(trcout_open(group))->number;
}

/* Makes more room in the open data set, or opens the next one.  What a forwarder has removed is not
 * lost, so this looks for it first.  Returns false when the group has none, or when the open one is
 * empty already.  An empty newest segment is not enough for that: it may have been added when the
 * one before reached its size, and that one has the rest of the room. */
static bool group_make_more_room(struct ct_trcout_group *group)
{
	struct ct_trcout *trcout = trcout_open(group);

	if (trcout_is_spooled(trcout) && segments_measure(trcout))
		return true;
	if (!group_wraps(group)) {
		if (group->open + 1 == group->count)
			return false;
		group_advance(group);
		return true;
	}
	if (trcout->segments > 1 &&
	    (group->count == 1 || trcout->segment[0].number < trcout->first_segment)) {
		segment_remove_oldest(trcout);
		return true;
	}
	if (trcout->segments == 1 && segment_newest(trcout)->bytes == 0)
		return false;
	if (group->count > 1)
		group_advance(group);
	else
		segment_add(group, trcout);
	return true;
}

/* Begins a new segment when the newest has its size: WRAP removes the oldest, and only a closed
 * segment of a spool is sent as a whole, and removed.  False: a spool has no more segments. */
static bool trcout_divide(struct ct_trcout_group *group, struct ct_trcout *trcout)
{
	if (trcout_is_spooled(trcout) && trcout->segments == CT_COUNT(trcout->segment))
		(void)segments_measure(trcout);
	if ((!group_wraps(group) && !trcout_is_spooled(trcout)) ||
	    segment_newest(trcout)->bytes < trcout->limit / CT_SEGMENTS)
		return true;
	if (!group_wraps(group) && trcout->segments == CT_COUNT(trcout->segment))
		return false;
	segment_add(group, trcout);
	return true;
}

/* NOWRAP: a group that was full goes on when a forwarder has made room for a segment. */
static bool group_is_emptied(struct ct_trcout_group *group)
{
	struct ct_trcout *trcout = trcout_open(group);

	if (!trcout_is_spooled(trcout))
		return false;
	(void)segments_measure(trcout);
	if (trcout_room(group, trcout) < trcout->limit / CT_SEGMENTS)
		return false;
	group->is_full = false;
	return true;
}

/* Makes room for the next batch.  False: there is none. */
static bool group_make_room(struct ct_trcout_group *group)
{
	if (!trcout_divide(group, trcout_open(group)))
		return false;
	while (trcout_room(group, trcout_open(group)) == 0)
		if (!group_make_more_room(group))
			return false;
	return true;
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

/* Finds the segments of a data set and removes the oldest beyond the limit. */
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

/* Removes the notes of earlier runs that lost nothing. */
static void notes_prune(const struct ct_trcout *trcout)
{
	char path[4200];
	DIR *directory;
	struct dirent *entry;
	struct stat info;

	(void)snprintf(path, sizeof path, "%s/" CT_TRCOUT_LOST, trcout->spec->path);
	directory = opendir(path);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		char lost[300];

		(void)snprintf(lost, sizeof lost, "%s/stream.lost", entry->d_name);
		if (entry->d_name[0] != '.' &&
		    fstatat(dirfd(directory), lost, &info, AT_SYMLINK_NOFOLLOW) != 0)
			trace_remove(dirfd(directory), entry->d_name);
	}
	if (directory != NULL)
		(void)closedir(directory);
}

/* DISP=OLD: removes what an earlier run has written. */
static void segments_remove(struct ct_trcout *trcout)
{
	char path[4200];

	while (trcout->segments > 0)
		segment_remove_oldest(trcout);
	(void)snprintf(path, sizeof path, "%s/" CT_TRCOUT_LOST, trcout->spec->path);
	traces_remove(path);
	trcout->used = trcout->wrapped_events = 0;
}

/* -----------------------------------------------------------------------------------------------
 * What the group has lost: a trace without events, so that every reader reports the losses.  It
 * also makes a data set that no process has written to a trace that can be opened.
 */

static void note_describe(const struct ct_trcout_group *group, struct ct_trace_info *out)
{
	*out = (struct ct_trace_info){ .pid = (uint32_t)getpid(),
				       .start_ns = ct_clock_wall_ns(),
				       .program = "ctrace" };
	(void)snprintf(out->jobname, sizeof out->jobname, "%s", group->procedure->name);
	(void)gethostname(out->host, sizeof out->host - 1);
}

static enum ctrace_status note_open(struct ct_trcout_group *group, struct ct_trcout *trcout,
				    const struct ct_trace_info *info)
{
	const struct ct_bin_open_mode mode = { .info = info };
	enum ctrace_status status = CTRACE_TIMED_OUT;
	struct ct_buf path;

	ct_buf_init(&path);
	for (unsigned i = 0; i < CANDIDATES && status == CTRACE_TIMED_OUT; i++) {
		ct_buf_clear(&path);
		ct_buf_add_format(&path, "%s/" CT_TRCOUT_LOST "/%s.%u", trcout->spec->path,
				  group->procedure->name, info->pid);
		if (i != 0)
			ct_buf_add_format(&path, ".%u", i);
		status = path.failed ? CTRACE_NOT_ENOUGH_MEMORY
				     : ct_bin_directory_create(ct_buf_text(&path), &mode,
							       &trcout->note);
	}
	ct_buf_fini(&path);
	if (status == CTRACE_OK && trcout_is_spooled(trcout))
		status = ct_spool_put_address(trcout->note->path, trcout->spec->address);
	if (status == CTRACE_OK)
		trcout->used += trcout->note->size;
	return status;
}

static void group_note_lost(struct ct_trcout_group *group)
{
	struct ct_bin_directory *note = NULL;
	uint64_t total = group->full_events;

	for (uint32_t i = 0; i < group->count; i++) {
		note = note != NULL ? note : group->trcout[i].note;
		total += group->trcout[i].wrapped_events;
	}
	if (note == NULL || total == group->noted || ct_bin_directory_look(note) != CT_BIN_HERE)
		return;
	ct_bin_take_back_lost(note, UINT64_MAX); /* one packet has the whole total */
	if (ct_bin_write_lost(note, total) == CTRACE_OK)
		group->noted = total;
	group->noted_ns = ct_clock_mono_ns();
}

static void group_note_lost_in_turn(struct ct_trcout_group *group)
{
	if (ct_clock_mono_ns() - group->noted_ns >= NOTE_NS)
		group_note_lost(group);
}

void ct_trcout_group_close(struct ct_trcout_group *group)
{
	group_note_lost(group);
	for (uint32_t i = 0; i < group->count; i++) {
		ct_bin_directory_close(group->trcout[i].note);
		group->trcout[i].note = NULL;
	}
}

/* -----------------------------------------------------------------------------------------------
 * Opening
 */

/* The lock is on the directory itself: a lock file in it would be one more file for every reader
 * to ignore.  A file system without locks counts as unlocked. */
enum ctrace_status ct_trcout_lock_directory(const struct ct_trcout_spec *spec, int *out_fd)
{
	const char *path = spec->path;
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

static enum ctrace_status trcout_find(struct ct_trcout_group *group, struct ct_trcout *trcout)
{
	const struct ct_trcout_spec *spec = trcout->spec;
	enum ctrace_status status = ct_os_make_directory(spec->path);
	char path[4200];
	DIR *directory;

	if (status != CTRACE_OK)
		return status;
	directory = opendir(spec->path);
	if (directory == NULL)
		return CTRACE_OS_ERROR;
	trcout->limit = spec->primary + (group_wraps(group) ? 0 : 15 * spec->secondary);
	segments_find(trcout, directory);
	(void)closedir(directory);
	if (spec->is_rewritten)
		segments_remove(trcout);
	notes_prune(trcout);
	(void)snprintf(path, sizeof path, "%s/" CT_TRCOUT_LOST, spec->path);
	trcout->used += segment_size(AT_FDCWD, path);
	if (trcout->segments != 0 && segment_newest(trcout)->number > group->newest_segment)
		group->newest_segment = segment_newest(trcout)->number;
	return access(spec->path, W_OK) == 0 ? CTRACE_OK : CTRACE_DENIED;
}

/* The open data set is the one with the newest segment.  Its segments that are newer than those of
 * all others belong to the present round. */
static void group_find_open(struct ct_trcout_group *group)
{
	uint32_t newest_other = 0;
	struct ct_trcout *trcout;

	for (uint32_t i = 0; i < group->count; i++)
		if (group->trcout[i].segments != 0 &&
		    segment_newest(&group->trcout[i])->number == group->newest_segment)
			group->open = i;
	trcout = trcout_open(group);
	if (trcout->segments == 0)
		segment_add(group, trcout);
	for (uint32_t i = 0; i < group->count; i++)
		if (i != group->open && group->trcout[i].segments != 0 &&
		    segment_newest(&group->trcout[i])->number > newest_other)
			newest_other = segment_newest(&group->trcout[i])->number;
	trcout->first_segment = segment_newest(trcout)->number;
	for (uint32_t i = trcout->segments; i > 0 && trcout->segment[i - 1].number > newest_other;
	     i--)
		trcout->first_segment = trcout->segment[i - 1].number;
}

/* NOWRAP: continues in the first data set with room for a note, a directory and a batch, or without
 * events. */
static bool group_has_room(struct ct_trcout_group *group, uint64_t note_room)
{
	if (group_wraps(group))
		return true;
	for (group->open = 0; group->open < group->count; group->open++) {
		struct ct_trcout *trcout = trcout_open(group);

		if (trcout->segments == 0)
			segment_add(group, trcout);
		if (segment_newest(trcout)->bytes == 0 ||
		    trcout_room(group, trcout) >=
			    ct_trcout_batch_bytes(group->procedure) + 2 * note_room)
			return true;
	}
	group->open = group->count - 1;
	return false;
}

enum ctrace_status ct_trcout_group_open(struct ct_trcout_group *group, uint32_t *out_index)
{
	enum ctrace_status status = CTRACE_OK;
	struct ct_trace_info note;
	uint64_t note_room;

	note_describe(group, &note);
	note_room = directory_room(&note, 0);
	group->count = group->procedure->trcout_count;
	for (*out_index = 0; *out_index < group->count; (*out_index)++) {
		struct ct_trcout *trcout = &group->trcout[*out_index];

		trcout->spec = &group->procedure->trcout[*out_index];
		status = trcout_find(group, trcout);
		if (status != CTRACE_OK)
			return status;
	}
	*out_index = 0;
	group_find_open(group);
	if (!group_has_room(group, note_room))
		return CTRACE_BUFFER_TOO_SMALL;
	while (trcout_room(group, trcout_open(group)) < note_room && group_make_more_room(group))
		;
	/* A data set that is full has entries to be opened by. */
	for (*out_index = 0; *out_index < group->count && status == CTRACE_OK; (*out_index)++)
		if (trcout_room(group, &group->trcout[*out_index]) >= note_room)
			status = note_open(group, &group->trcout[*out_index], &note);
	*out_index -= status != CTRACE_OK;
	return status;
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

/* Has the open data set room for a directory of the process? */
static bool output_has_room(const struct output *output)
{
	uint32_t streams = __atomic_load_n(&output->link->rings, __ATOMIC_RELAXED);

	return trcout_room(output->group, trcout_open(output->group)) >=
	       directory_room(&output->info, streams);
}

static enum ctrace_status output_create_directory(struct output *output,
						  struct ct_bin_directory **out_directory)
{
	const struct ct_bin_open_mode mode = { .info = &output->info, .from = output->directory };
	enum ctrace_status status = CTRACE_TIMED_OUT;
	char segment[4200];
	struct ct_buf path;

	ct_bin_info_clock(&output->info, output->context);
	segment_path(trcout_open(output->group), segment_newest(trcout_open(output->group))->number,
		     segment);
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
	if (status == CTRACE_OK && trcout_is_spooled(trcout_open(output->group)))
		status = ct_spool_put_address((*out_directory)->path,
					      trcout_open(output->group)->spec->address);
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

/* Counts what the directory has grown, or shrunk, since its bytes were counted. */
static void output_count_size(struct output *output, uint64_t size)
{
	uint64_t grown = size - output->counted; /* may be less than nothing */
	struct ct_trcout *trcout = output->trcout;

	output->counted = size;
	for (uint32_t i = 0; i < trcout->segments; i++)
		if (trcout->segment[i].number == output->segment) {
			trcout->used += grown;
			trcout->segment[i].bytes += grown;
		}
}

/* Writes the losses that no packet has reported. */
static void output_write_lost(struct output *output)
{
	if (output->lost > 0 && ct_bin_directory_look(output->directory) == CT_BIN_HERE)
		ct_bin_report_lost(output->directory, output->lost, output->context->place);
}

/* Closes the directory; its losses are written already. */
static void output_close_directory(struct output *output)
{
	struct ct_bin_directory *directory = output->directory;
	char path[sizeof directory->path];

	memcpy(path, directory->path, sizeof path);
	if (output->group->procedure->compress)
		memcpy(output->closed, directory->path, sizeof output->closed);
	if (ct_bin_directory_look(directory) == CT_BIN_HERE)
		ct_bin_directory_set_clock(directory, output->context, CT_BIN_CLOCK_LAST);
	ct_bin_directory_close(directory);
	output->directory = NULL;
	output_count_size(output, trace_size(AT_FDCWD, path)); /* with its closing mark */
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

static void output_use(struct output *output, struct ct_bin_directory *directory)
{
	output->directory = directory;
	output->trcout = trcout_open(output->group);
	output->segment = segment_newest(output->trcout)->number;
	output->counted = 0;
	output_count_size(output, directory->size);
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
	if (before != NULL) {
		ct_bin_directory_set_clock(before, output->context, CT_BIN_CLOCK_LAST);
		ct_bin_directory_end(before);
	}
	output->directory = next;
	output_note_place(output);
	status = context->commit != NULL ? context->commit(context) : CTRACE_OK;
	output->directory = before;
	if (status != CTRACE_OK) {
		if (before != NULL) {
			output_note_place(output);
			ct_bin_directory_reopen(before);
		}
		ct_bin_directory_discard(next);
		return status;
	}
	if (before != NULL)
		output_close_directory(output);
	output_use(output, next);
	return CTRACE_OK;
}

static enum ctrace_status group_fail(struct ct_trcout_group *group, enum ctrace_status status)
{
	uint32_t error = errno != 0 ? (uint32_t)errno : EIO;

	if (__atomic_exchange_n(&trcout_open(group)->failing, error, __ATOMIC_RELAXED) != error)
		group_report(group, "CTR102E TRCOUT%02u CANNOT BE WRITTEN: %s",
			     group->procedure->number[group->open], strerror((int)error));
	return status;
}

static enum ctrace_status output_open(const struct ctrace_emitter_context *context, void **out_self)
{
	struct output *output = calloc(1, sizeof *output);
	struct ct_bin_directory *directory;
	enum ctrace_status status;

	if (output == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	output->group = selected_group;
	output->link = selected_link;
	output->context = context;
	output->info = output->link->info;
	ct_event_names_load_when_set();
	output->names = ct_event_names_open(NULL);
	*out_self = output;
	/* A full group gets no directory; what comes is counted. */
	if (!group_make_room(output->group))
		return CTRACE_OK;
	while (!output_has_room(output))
		if (!group_make_more_room(output->group))
			return CTRACE_OK;
	status = output_create_directory(output, &directory);
	if (status != CTRACE_OK) {
		(void)group_fail(output->group, status);
		ct_event_names_close(output->names);
		free(output);
		*out_self = NULL;
		return status;
	}
	output_use(output, directory);
	output_note_place(output);
	return CTRACE_OK;
}

/* There is no room: counts the events with the other losses of their ring. */
static void output_drop(struct output *output, const struct ctrace_batch *batch)
{
	struct ct_trcout_group *group = output->group;

	for (uint32_t i = 0; i < batch->run_count; i++) {
		const struct ctrace_run *run = &batch->runs[i];
		struct ct_ring_head *head = output->link->ring[batch->streams[run->stream].id].head;

		if (head != NULL)
			__atomic_store_n(&head->unwritten, head->unwritten + run->event_count,
					 __ATOMIC_RELAXED);
	}
	group->full_events += batch->event_count;
	trcout_open(group)->full_events += batch->event_count;
	if (!group->is_full)
		group_report(
			group,
			"CTR101W TRCOUT%02u IS FULL: %s. WHAT COMES NOW IS COUNTED AND NOT WRITTEN",
			group->procedure->number[group->open], trcout_open(group)->spec->path);
	group->is_full = true;
}

/* Writes the batch, in the open data set or, if it has no room, in the next one.
 * BUFFER_TOO_SMALL: in none. */
static enum ctrace_status output_put(struct output *output, const struct ctrace_batch *batch)
{
	struct ct_trcout_group *group = output->group;
	enum ctrace_status status = CTRACE_BUFFER_TOO_SMALL;

	/* Smaller batches may still fit, but what is there is to have no gaps. */
	if (group->is_full && !group_wraps(group) && !group_is_emptied(group))
		return status;
	for (unsigned i = 0; i < TRIES && group_make_room(group); i++) {
		const struct ct_trcout *trcout = trcout_open(group);
		enum ct_bin_presence presence = output->directory != NULL
							? ct_bin_directory_look(output->directory)
							: CT_BIN_GONE;
		bool moves = presence == CT_BIN_GONE || output->trcout != trcout ||
			     output->segment != segment_newest(trcout_open(group))->number;

		status = CTRACE_OK;
		if (presence == CT_BIN_UNCLEAR)
			return CTRACE_OS_ERROR;
		if (moves)
			status = output_has_room(output) ? output_move_on(output)
							 : CTRACE_BUFFER_TOO_SMALL;
		if (status == CTRACE_OK) {
			output->directory->limit_is_strict = true;
			output->directory->size_limit =
				output->directory->size + trcout_room(group, trcout);
			status = ct_bin_write(output->directory, batch);
		}
		if (status != CTRACE_BUFFER_TOO_SMALL || !group_make_more_room(group))
			return status;
	}
	return status;
}

static enum ctrace_status output_write(void *self, const struct ctrace_batch *batch)
{
	struct output *output = self;
	struct ct_trcout_group *group = output->group;
	enum ctrace_status status;
	uint64_t before;

	output_compress_closed(output);
	errno = 0;
	status = output_put(output, batch);
	output->link->is_dropped = status == CTRACE_BUFFER_TOO_SMALL;
	if (output->link->is_dropped) {
		output_drop(output, batch);
		group_note_lost_in_turn(group);
		return CTRACE_OK;
	}
	if (status != CTRACE_OK)
		return group_fail(group, status == CTRACE_NOT_ENOUGH_MEMORY ? status
									    : CTRACE_OUTPUT_ERROR);
	__atomic_store_n(&output->trcout->failing, 0, __ATOMIC_RELAXED);
	if (batch->run_count > 0)
		ct_bin_directory_set_clock(output->directory, output->context,
					   batch->runs[batch->run_count - 1].end_ns);
	before = output->counted;
	output_count_size(output, output->directory->size);
	output->trcout->bytes += output->counted - before;
	segment_newest(output->trcout)->events += batch->event_count;
	output->trcout->events += batch->event_count;
	output_note_place(output);
	group_note_lost_in_turn(group);
	return CTRACE_OK;
}

static void output_note_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT])
{
	((struct output *)self)->lost = ct_loss_total(totals);
}

static enum ctrace_status output_sync(void *self)
{
	struct output *output = self;

	return output->directory == NULL || ct_bin_sync(output->directory) == CTRACE_OK
		       ? CTRACE_OK
		       : CTRACE_OUTPUT_ERROR;
}

static void output_close(void *self)
{
	struct output *output = self;

	if (output->directory != NULL) {
		output_write_lost(output);
		output_close_directory(output);
	}
	output_compress_closed(output);
	group_note_lost(output->group);
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
