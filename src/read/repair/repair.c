/*
 * repair.c - finds damaged BINFILE traces and writes the readable part of each as an undamaged
 * trace.
 *
 * Called by src/tools/cmd_repair.c, on one thread, with directories and files that may be hostile:
 * links inside a named directory are not followed, nothing there is changed, and the copy consists
 * of files that were not there before.  The metadata are printed anew from what could be understood
 * of them; repair_stream.c copies the packets.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/repair/repair.h"

#include "lib/emit/binfile.h"
#include "read/binfile_metadata.h"
#include "read/repair/repair_stream.h"
#include "read/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_SEARCH ((size_t)2 << 20) /* of a stream file, for its first head */
#define COMPRESSED ".zst"
#define DEPTH 4u /* directory levels below the named one */
#define NAMES_TRIED 100u
#define NS_A_SECOND 1000000000u
/* since 1970: viewers count signed nanoseconds, not all exactly */
#define LATEST_NS ((uint64_t)1 << 62)

struct trace {
	struct ct_repair *repair;
	const char *directory; /* the damaged trace */
	const char *to;        /* the copy */
	int to_fd;
	char *metadata_path;
	struct ct_buf text; /* its metadata, as they are */
	struct ct_trace_info info;
	struct ct_schema *schema;
	uint64_t frequency;   /* of its ticks; 0: unknown */
	struct ct_buf closed; /* the closing mark of the copy */
	uint64_t streams;
};

static void repair_report_damage(struct ct_repair *repair, const char *path, uint64_t offset,
				 uint64_t bytes, const char *message)
{
	const struct ct_repair_note note = {
		.path = path, .offset = offset, .bytes = bytes, .message = message
	};

	repair->damages++;
	repair->report(&note, repair->user);
}

/* Reports bytes that the copy lacks. */
static void repair_report_lost(struct ct_repair *repair, const char *path, uint64_t offset,
			       uint64_t bytes, const char *message)
{
	repair->lost_bytes += bytes;
	repair_report_damage(repair, path, offset, bytes, message);
}

/* Reports a path of which the copy has nothing. */
static void repair_report_unread(struct ct_repair *repair, const char *path, const char *why)
{
	const struct ct_repair_note note = { .path = path, .message = why, .is_unread = true };

	repair->unread++;
	repair->damages++;
	repair->report(&note, repair->user);
}

static bool is_refusal(int error)
{
	return error == EACCES || error == EPERM;
}

static const char *refusal_text(int error)
{
	return is_refusal(error) ? "permission denied"
	       : error == EINVAL ? "it is no regular file"
				 : strerror(error);
}

/* -----------------------------------------------------------------------------------------------
 * Stream files
 */

/* "stream.12.zst" -> 12, and whether it is compressed. */
static bool parse_stream_name(const char *name, uint32_t *out_id, bool *out_is_compressed)
{
	size_t size = strlen(name), suffix = sizeof COMPRESSED - 1;

	*out_is_compressed = size > suffix && strcmp(name + size - suffix, COMPRESSED) == 0;
	return ct_bin_stream_name_parse(name, size - (*out_is_compressed ? suffix : 0), out_id);
}

static int is_stream(const struct dirent *entry)
{
	bool is_compressed;
	uint32_t id;

	return parse_stream_name(entry->d_name, &id, &is_compressed);
}

/* Returns a negative number and sets errno when the path is not a regular file or cannot be
 * opened. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;

	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		ct_os_close(&fd);
		errno = EINVAL;
	}
	return fd;
}

/* Opens the file; if it is compressed, returns a file with the decompressed bytes instead. */
static int open_stream(struct ct_repair *repair, const char *path, bool is_compressed)
{
	int fd = open_regular(path);
	struct ct_unpacked unpacked = { .fd = -1 };
	enum ctrace_status status;

	if (fd < 0)
		repair_report_unread(repair, path, refusal_text(errno));
	if (fd < 0 || !is_compressed)
		return fd;
	status = ct_unpack(fd, CT_UNPACK_LIMIT, &unpacked);
	ct_os_close(&fd);
	if (status != CTRACE_OK)
		repair_report_damage(repair, path, 0, 0, ctrace_status_text(status));
	else if (unpacked.damages > 0)
		repair_report_lost(repair, path, unpacked.damage_at, unpacked.damaged_bytes,
				   unpacked.message);
	return unpacked.fd;
}

/* Marks the metadata of a copy that lacks packets.  Without this mark, a gap in such a copy looks
 * like a wrong number. */
static const char gaps_mark[] = "/* ctrace repair: packets are missing */\n";

static bool has_gaps_mark(const struct ct_buf *text)
{
	return text->size > 0 &&
	       memmem(text->data, text->size, gaps_mark, sizeof gaps_mark - 1) != NULL;
}

static enum ctrace_status repair_stream(struct trace *trace, const char *name)
{
	struct ct_repair_stream stream = { .uuid = trace->info.uuid,
					   .frequency = trace->frequency,
					   .most_ticks = ct_trace_ticks(&trace->info, LATEST_NS),
					   .schema = trace->schema,
					   .directory_fd = trace->to_fd,
					   .has_gaps = has_gaps_mark(&trace->text) };
	enum ctrace_status status = CTRACE_OK;
	char *path, plain[32];
	bool is_compressed;

	if (!parse_stream_name(name, &stream.id, &is_compressed))
		return CTRACE_OK;
	if (asprintf(&path, "%s/%s", trace->directory, name) < 0)
		return CTRACE_NOT_ENOUGH_MEMORY;
	(void)snprintf(plain, sizeof plain, "%.*s",
		       (int)(strlen(name) - (is_compressed ? sizeof COMPRESSED - 1 : 0)), name);
	stream.path = path;
	stream.name = plain;
	stream.fd = open_stream(trace->repair, path, is_compressed);
	if (stream.fd >= 0)
		status = ct_repair_stream(trace->repair, &stream);
	ct_os_close(&stream.fd);
	free(path);
	if (stream.written > 0) {
		ct_bin_mark_add(&trace->closed, stream.id,
				&(struct ct_bin_mark){ stream.written, stream.last_at });
		trace->streams++;
	}
	return status;
}

/* Is it the compressed twin of a plain file?  Both exist when the plain one could not be removed
 * after compression. */
static bool is_second(struct dirent **entries, int count, const char *name)
{
	size_t size = strlen(name) - (sizeof COMPRESSED - 1);
	bool is_compressed;
	uint32_t id;

	if (!parse_stream_name(name, &id, &is_compressed) || !is_compressed)
		return false;
	for (int i = 0; i < count; i++)
		if (strlen(entries[i]->d_name) == size &&
		    memcmp(entries[i]->d_name, name, size) == 0)
			return true;
	return false;
}

static void report_shortage(const struct ct_read_note *found, void *user)
{
	if (found->trouble == CT_TROUBLE_UNREAD)
		repair_report_unread(user, found->path, found->message);
	else
		repair_report_lost(user, found->path, found->offset, found->bytes, found->message);
}

static enum ctrace_status repair_streams(struct trace *trace, const char *only)
{
	enum ctrace_status status = CTRACE_OK;
	struct dirent **entries;
	int count;

	ct_closing_mark_check(trace->directory, only, trace->info.uuid, report_shortage,
			      trace->repair);
	if (only != NULL)
		return repair_stream(trace, only);
	count = scandir(trace->directory, &entries, is_stream, versionsort);
	if (count < 0 && !is_refusal(errno))
		return CTRACE_OS_ERROR;
	if (count < 0) {
		repair_report_unread(trace->repair, trace->directory, refusal_text(errno));
		return CTRACE_OK;
	}
	for (int i = 0; i < count; i++)
		if (status == CTRACE_OK && !is_second(entries, count, entries[i]->d_name))
			status = repair_stream(trace, entries[i]->d_name);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * Metadata
 */

/* The first bytes of a stream file, compressed or not. */
static void read_beginning(const char *path, bool is_compressed, void *out, size_t *out_size)
{
	struct ct_unpacked unpacked = { .fd = -1 };
	int fd = open_regular(path);

	*out_size = 0;
	if (fd >= 0 && is_compressed) {
		(void)!ct_unpack(fd, HEAD_SEARCH, &unpacked);
		ct_os_close(&fd);
		fd = unpacked.fd;
	}
	if (fd >= 0 && ct_os_read_at(fd, out, HEAD_SEARCH, 0, out_size) != CTRACE_OK)
		*out_size = 0;
	ct_os_close(&fd);
}

/* The facts in the packet heads at a stream's beginning. */
struct answer {
	struct ct_packet_head head; /* the first */
	bool found;
	bool agrees; /* one has the uuid that was asked for */
	struct ct_repair_clock clock;
};

static void ask_bytes(const unsigned char *bytes, size_t size, uint32_t id, const uint8_t uuid[16],
		      struct answer *answer)
{
	for (size_t at = ct_packet_find(bytes, size, 0); at < size;
	     at = ct_packet_find(bytes, size, at + 1)) {
		struct ct_packet_head head;

		if (ct_packet_decode_head(bytes + at, size - at, &head) != CTRACE_OK ||
		    head.stream_instance != id)
			continue;
		answer->agrees |= memcmp(head.uuid, uuid, sizeof head.uuid) == 0;
		ct_repair_clock_add(&answer->clock, &head);
		if (!answer->found)
			answer->head = head;
		answer->found = true;
	}
}

static void ask_stream(const char *directory, const char *name, const uint8_t uuid[16],
		       struct answer *answer)
{
	unsigned char *bytes = malloc(HEAD_SEARCH);
	bool is_compressed;
	char *path = NULL;
	size_t size;
	uint32_t id;

	if (bytes != NULL && asprintf(&path, "%s/%s", directory, name) >= 0 &&
	    parse_stream_name(name, &id, &is_compressed)) {
		read_beginning(path, is_compressed, bytes, &size);
		ask_bytes(bytes, size, id, uuid, answer);
	}
	free(path);
	free(bytes);
}

/* Finds out from the packets which process wrote them. */
static struct answer ask_packets(const char *directory, const uint8_t uuid[16])
{
	struct answer answer = { .found = false };
	struct dirent **entries;
	int count = scandir(directory, &entries, is_stream, versionsort);

	for (int i = 0; i < count; i++) {
		if (!answer.agrees)
			ask_stream(directory, entries[i]->d_name, uuid, &answer);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return answer;
}

/* Takes over the text if it is the metadata of a trace.  Unless the user named the file
 * (is_chosen), it must be of the process that wrote the packets. */
static bool borrow_from(struct trace *trace, const char *path, uint32_t pid, bool is_chosen)
{
	struct ct_trace_info info;
	struct ct_buf text;
	size_t at = 0;
	bool is_taken;

	ct_buf_init(&text);
	is_taken = ct_os_read_file(path, CT_METADATA_LIMIT, &text) == CTRACE_OK && text.size > 0 &&
		   ct_binfile_info_parse(text.data, text.size, &info, &at) == CTRACE_OK &&
		   (is_chosen || info.pid == pid);
	if (is_taken) {
		ct_buf_fini(&trace->text);
		trace->text = text;
		trace->info = info;
		trace->info.pid = pid;
	} else {
		ct_buf_fini(&text);
	}
	return is_taken;
}

/* "app.ctb_2" -> "app.ctb": the common stem of a trace's generations. */
static size_t stem_size(const char *name)
{
	size_t size = strlen(name), digits = size;

	while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits < size && digits > 1 && name[digits - 1] == '_' ? digits - 1 : size;
}

/* Does the link of an open file lead to the metadata of that directory, perhaps removed since? */
static bool is_metadata_of(const char *link, const char *directory)
{
	static const char name[] = "/metadata", gone[] = "/metadata (deleted)";
	size_t size = strlen(directory);

	return strncmp(link, directory, size) == 0 &&
	       (strcmp(link + size, name) == 0 || strcmp(link + size, gone) == 0);
}

/* A process that still writes the trace still has the metadata file open, even if its name is
 * gone. */
static bool borrow_from_process(struct trace *trace, uint32_t pid)
{
	char *directory = realpath(trace->directory, NULL), path[64], link[PATH_MAX];
	const struct dirent *entry;
	bool is_taken = false;
	DIR *files;

	(void)snprintf(path, sizeof path, "/proc/%u/fd", pid);
	files = directory != NULL ? opendir(path) : NULL;
	while (files != NULL && !is_taken && (entry = readdir(files)) != NULL) {
		ssize_t size = readlinkat(dirfd(files), entry->d_name, link, sizeof link - 1);

		if (size < 0)
			continue;
		link[size] = '\0';
		(void)snprintf(path, sizeof path, "/proc/%u/fd/%.16s", pid, entry->d_name);
		is_taken = is_metadata_of(link, directory) && borrow_from(trace, path, pid, false);
	}
	if (files != NULL)
		(void)closedir(files);
	free(directory);
	return is_taken;
}

/* Another generation of the same process has the same classes of events.  Their order is the same
 * only as far as the program traces in the same order, so the loan is reported.  Every event of the
 * copy decodes by these classes. */
static bool borrow_from_generation(struct trace *trace, uint32_t pid)
{
	const char *slash = strrchr(trace->directory, '/'),
		   *name = slash != NULL ? slash + 1 : trace->directory;
	char *parent = slash != NULL
			       ? strndup(trace->directory, (size_t)(slash - trace->directory + 1))
			       : strdup("./");
	struct dirent **entries;
	bool is_taken = false;
	int count;

	count = parent != NULL ? scandir(parent, &entries, NULL, versionsort) : -1;
	for (int i = 0; i < count; i++) {
		const char *other = entries[i]->d_name;
		char *path = NULL;

		if (!is_taken && strcmp(other, name) != 0 && stem_size(other) == stem_size(name) &&
		    strncmp(other, name, stem_size(name)) == 0 &&
		    asprintf(&path, "%s%s/metadata", parent, other) >= 0)
			is_taken = borrow_from(trace, path, pid, false);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(parent);
	return is_taken;
}

/* Returns a text for people that names the source of other metadata; NULL when there are none. */
static const char *borrow_metadata(struct trace *trace, uint32_t pid)
{
	if (trace->repair->metadata != NULL)
		return borrow_from(trace, trace->repair->metadata, pid, true)
			       ? "cannot be read, and is taken from the file that was named"
			       : NULL;
	if (borrow_from_process(trace, pid))
		return "cannot be read, and is taken from the process, which has it open";
	return borrow_from_generation(trace, pid)
		       ? "cannot be read, and is taken from another generation of the same process"
		       : NULL;
}

/* status, error: the result of reading the file. */
static void report_maker_unknown(struct trace *trace, size_t at, enum ctrace_status status,
				 int error)
{
	char message[160];

	if (status == CTRACE_OK && trace->text.size > 0)
		(void)snprintf(message, sizeof message,
			       "who made the trace is not understood, and taken from the packets");
	else
		(void)snprintf(message, sizeof message,
			       "%s: who made the trace is taken from the packets",
			       status == CTRACE_OK          ? "the file is empty"
			       : status == CTRACE_NOT_FOUND ? "there is no such file"
							    : refusal_text(error));
	repair_report_damage(trace->repair, trace->metadata_path, at, 0, message);
}

/* Viewers compute times by the metadata alone.  is_own, is_borrowed: the metadata are the trace's
 * own, or borrowed; if neither, the clock is unknown. */
static void set_clock(struct trace *trace, const struct ct_repair_clock *clock, bool is_own,
		      bool is_borrowed)
{
	if ((is_own || is_borrowed) && ct_repair_clock_agrees(clock, &trace->info, is_own)) {
		trace->frequency = trace->info.frequency != 0 ? trace->info.frequency : NS_A_SECOND;
		return;
	}
	if (is_own)
		repair_report_damage(trace->repair, trace->metadata_path, 0, 0,
				     "its clock is not that of the packets, and is repaired");
	trace->frequency = ct_repair_clock_set(clock, &trace->info);
}

static enum ctrace_status read_metadata(struct trace *trace)
{
	enum ctrace_status status =
		ct_os_read_file(trace->metadata_path, CT_METADATA_LIMIT, &trace->text);
	int error = errno;
	const char *borrowed = NULL;
	struct answer answer;
	size_t at = 0;
	bool knows;

	/* A read error is not damage: going on would invent metadata. */
	if (status == CTRACE_NOT_ENOUGH_MEMORY || status == CTRACE_OS_ERROR)
		return status;
	/* An unreadable file is not damage either. */
	if (status == CTRACE_DENIED && is_refusal(errno) && trace->repair->metadata == NULL)
		return status;
	knows = status == CTRACE_OK && ct_binfile_info_parse(trace->text.data, trace->text.size,
							     &trace->info, &at) == CTRACE_OK;
	answer = ask_packets(trace->directory, trace->info.uuid);
	if (!knows && !answer.found)
		return CTRACE_NOT_FOUND;
	if (!knows && (trace->text.size == 0 || trace->repair->metadata != NULL))
		borrowed = borrow_metadata(trace, answer.head.pid);
	if (borrowed != NULL) {
		repair_report_damage(trace->repair, trace->metadata_path, 0, 0, borrowed);
	} else if (!knows) {
		report_maker_unknown(trace, at, status, error);
		trace->info = (struct ct_trace_info){ .pid = answer.head.pid };
	} else if (answer.found && !answer.agrees) {
		repair_report_damage(trace->repair, trace->metadata_path, 0, 0,
				     "the uuid is not that of the packets, and is repaired");
	}
	if (!knows || (answer.found && !answer.agrees))
		memcpy(trace->info.uuid, answer.head.uuid, sizeof answer.head.uuid);
	set_clock(trace, &answer.clock, knows, borrowed != NULL);
	return CTRACE_OK;
}

/* Classes do not depend on the process that wrote them. */
static enum ctrace_status read_classes(struct trace *trace)
{
	enum ctrace_status status = ct_schema_create(&trace->schema);

	/* read_metadata() has reported why there is no text. */
	if (status != CTRACE_OK || trace->text.size == 0)
		return status;
	return ct_repair_classes(trace->repair, trace->metadata_path,
				 (struct ct_span){ trace->text.data, trace->text.size },
				 trace->schema);
}

/* A comment in the metadata counts the losses of the streams before this trace.  It is copied
 * unchanged if it is one comment. */
static void add_lost_mark(struct ct_buf *out, const struct ct_buf *text)
{
	size_t end = 0;
	const char *mark =
		text->size > 0 ? ct_bin_mark_find(text->data, text->size, CT_BIN_MARK_LOST, &end)
			       : NULL;
	size_t size;

	if (mark == NULL)
		return;
	size = end - (size_t)(mark - text->data);
	if (memmem(mark + 2, size - 2, "*/", 2) == mark + size - (sizeof CT_BIN_MARK_END - 1))
		ct_buf_add(out, mark, size);
}

/* Copies the marks of steps of the wall clock. */
static void add_clock_marks(struct ct_buf *out, const struct ct_buf *text)
{
	struct ct_bin_clock_mark mark;

	for (size_t at = 0; ct_bin_clock_mark_next(text->data, text->size, &at, &mark);)
		ct_bin_clock_mark_add(out, &mark);
}

static enum ctrace_status write_metadata(struct trace *trace, bool has_gaps)
{
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	struct ct_buf out;
	size_t end;
	int fd = -1;

	ct_buf_init(&out);
	ct_schema_print_trace(&out, &trace->info);
	add_lost_mark(&out, &trace->text);
	add_clock_marks(&out, &trace->text);
	/* The process may find the copy at the path of its directory. */
	if (trace->text.size > 0 && ct_bin_mark_find(trace->text.data, trace->text.size,
						     CT_BIN_MARK_OWN_NUMBERS, &end) != NULL)
		ct_buf_add_text(&out, CT_BIN_MARK_OWN_NUMBERS CT_BIN_MARK_END);
	if (has_gaps || has_gaps_mark(&trace->text))
		ct_buf_add_text(&out, gaps_mark);
	for (uint32_t i = 1; i < ct_schema_count(trace->schema); i++)
		ct_schema_print_class(&out, ct_schema_at(trace->schema, i));
	ct_buf_add_text(&out, CT_BIN_MARK_CLOSED);
	ct_buf_add(&out, trace->closed.data, trace->closed.size);
	ct_buf_add_text(&out, CT_BIN_MARK_END);
	if (!out.failed)
		status =
			ct_os_open_file(trace->to_fd, "metadata", O_WRONLY | O_CREAT | O_EXCL, &fd);
	if (status == CTRACE_OK)
		status = ct_os_write_at(fd, out.data, out.size, 0);
	ct_os_close(&fd);
	ct_buf_fini(&out);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * A trace
 */

static enum ctrace_status open_copy(struct trace *trace)
{
	enum ctrace_status status = ct_os_make_directory(trace->to);

	if (status != CTRACE_OK)
		return status;
	trace->to_fd = open(trace->to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return trace->to_fd >= 0 ? CTRACE_OK : CTRACE_OS_ERROR;
}

static enum ctrace_status copy_trace(struct trace *trace, const char *only)
{
	uint64_t damages = trace->repair->damages, lost_bytes = trace->repair->lost_bytes,
		 unread = trace->repair->unread;
	enum ctrace_status status = read_metadata(trace);

	if (status == CTRACE_DENIED) {
		repair_report_unread(trace->repair, trace->metadata_path, refusal_text(errno));
		return CTRACE_OK;
	}
	if (status == CTRACE_OK)
		status = read_classes(trace);
	if (status == CTRACE_OK)
		status = open_copy(trace);
	if (status == CTRACE_OK)
		status = repair_streams(trace, only);
	if (status != CTRACE_OK)
		return status;
	/* Any lack of memory may have cost a packet, so the copy is not trusted. */
	if (ct_memory_has_lacked())
		return CTRACE_NOT_ENOUGH_MEMORY;
	/* Viewers refuse a trace without streams. A trace that never had streams is still
	 * copied. */
	if (trace->streams == 0 && trace->repair->damages > damages) {
		(void)rmdir(trace->to);
		return CTRACE_OK;
	}
	status = write_metadata(trace, trace->repair->lost_bytes > lost_bytes ||
					       trace->repair->unread > unread);
	if (status != CTRACE_OK)
		return status;
	trace->repair->traces++;
	trace->repair->streams += trace->streams;
	return CTRACE_OK;
}

static bool is_written(const char *name)
{
	bool is_compressed;
	uint32_t id;

	return strcmp(name, "metadata") == 0 || parse_stream_name(name, &id, &is_compressed);
}

/* Removes a half-written copy. Must work without memory, which scandir() and opendir() would
 * need. */
static void copy_discard(const struct trace *trace)
{
	union {
		struct dirent64 entry;
		char bytes[4096];
	} room;
	ssize_t size;

	while (lseek(trace->to_fd, 0, SEEK_SET) == 0 &&
	       (size = getdents64(trace->to_fd, &room, sizeof room)) > 0) {
		bool has_removed = false;

		for (ssize_t at = 0; at < size;) {
			const struct dirent64 *entry = (const struct dirent64 *)(room.bytes + at);

			has_removed |= is_written(entry->d_name) &&
				       unlinkat(trace->to_fd, entry->d_name, 0) == 0;
			at += entry->d_reclen;
		}
		if (!has_removed)
			break;
	}
	(void)rmdir(trace->to);
}

static enum ctrace_status repair_trace(struct ct_repair *repair, const char *directory,
				       const char *only, const char *to)
{
	struct trace trace = { .repair = repair, .directory = directory, .to = to, .to_fd = -1 };
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	uint64_t events = repair->events, packets = repair->packets;

	if (asprintf(&trace.metadata_path, "%s/metadata", directory) >= 0) {
		status = copy_trace(&trace, only);
		free(trace.metadata_path);
	}
	if (status != CTRACE_OK && trace.to_fd >= 0) {
		int error = errno;

		copy_discard(&trace);
		repair->events = events;
		repair->packets = packets;
		errno = error;
	}
	ct_os_close(&trace.to_fd);
	ct_schema_destroy(trace.schema);
	ct_buf_fini(&trace.text);
	ct_buf_fini(&trace.closed);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * Directories of traces
 */

static bool is_trace(const char *directory)
{
	struct dirent **entries;
	struct stat info;
	bool found = false;
	char *path;
	int count;

	if (asprintf(&path, "%s/metadata", directory) < 0)
		return false;
	found = lstat(path, &info) == 0 && S_ISREG(info.st_mode);
	free(path);
	count = found ? -1 : scandir(directory, &entries, is_stream, NULL);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return found || count > 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static enum ctrace_status repair_directory(struct ct_repair *repair, const char *directory,
					   const char *to, const struct stat *written,
					   unsigned depth);

/* True for a directory that is neither a link nor the output directory. */
static bool is_to_be_read(struct ct_repair *repair, const char *path, const struct stat *written)
{
	struct stat info;

	if (lstat(path, &info) != 0) {
		if (errno != ENOENT)
			repair_report_unread(repair, path, refusal_text(errno));
		return false;
	}
	return S_ISDIR(info.st_mode) &&
	       (info.st_dev != written->st_dev || info.st_ino != written->st_ino);
}

/* Repairs one entry of a directory that the user named. */
static enum ctrace_status repair_entry(struct ct_repair *repair, const char *path, const char *to,
				       const struct stat *written, unsigned depth)
{
	enum ctrace_status status = repair_directory(repair, path, to, written, depth);

	if (status != CTRACE_NOT_FOUND || !is_trace(path))
		return status;
	repair_report_unread(repair, path, "no BINFILE trace, or nothing of it can be read");
	return CTRACE_OK;
}

static enum ctrace_status repair_directory(struct ct_repair *repair, const char *directory,
					   const char *to, const struct stat *written,
					   unsigned depth)
{
	enum ctrace_status status = CTRACE_NOT_FOUND, one;
	struct dirent **entries;
	int count;

	if (is_trace(directory))
		return repair_trace(repair, directory, NULL, to);
	count = depth > 0 ? scandir(directory, &entries, is_visible, versionsort) : 0;
	if (count < 0) {
		repair_report_unread(repair, directory, refusal_text(errno));
		return CTRACE_OK;
	}
	for (int i = 0; i < count; i++) {
		char *path = NULL, *path_to = NULL;

		if ((status == CTRACE_OK || status == CTRACE_NOT_FOUND) &&
		    asprintf(&path, "%s/%s", directory, entries[i]->d_name) >= 0 &&
		    asprintf(&path_to, "%s/%s", to, entries[i]->d_name) >= 0 &&
		    is_to_be_read(repair, path, written)) {
			one = repair_entry(repair, path, path_to, written, depth - 1);
			status = one == CTRACE_NOT_FOUND ? status : one;
		}
		free(path);
		free(path_to);
		free(entries[i]);
	}
	if (depth > 0)
		free(entries);
	return status;
}

/* Returns a free path in the directory `to`: the last name of `path`, numbered if it is taken. */
static char *choose_name(const char *path, const char *to)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : "trace";
	char *chosen;

	for (unsigned i = 1; i <= NAMES_TRIED; i++) {
		struct stat info;

		if ((i == 1 ? asprintf(&chosen, "%s/%s", to, name)
			    : asprintf(&chosen, "%s/%s.%u", to, name, i)) < 0)
			return NULL;
		if (lstat(chosen, &info) != 0)
			return chosen;
		free(chosen);
	}
	return NULL;
}

/* Repairs one stream file and the metadata of its trace. */
static enum ctrace_status repair_file(struct ct_repair *repair, char *path, const char *to)
{
	char *slash = strrchr(path, '/'), *copy;
	enum ctrace_status status;
	bool is_compressed;
	uint32_t id;

	if (slash == NULL || slash == path || !parse_stream_name(slash + 1, &id, &is_compressed))
		return CTRACE_NOT_FOUND;
	*slash = '\0';
	copy = choose_name(path, to);
	status = copy != NULL ? repair_trace(repair, path, slash + 1, copy)
			      : CTRACE_NOT_ENOUGH_MEMORY;
	free(copy);
	return status;
}

enum ctrace_status ct_repair_path(struct ct_repair *repair, const char *path, const char *to)
{
	enum ctrace_status status = CTRACE_NOT_FOUND;
	struct stat info, written;
	char *resolved = realpath(path, NULL), *copy;

	if (resolved == NULL)
		return errno == ENOENT || errno == ENOTDIR ? CTRACE_NOT_FOUND : CTRACE_OS_ERROR;
	if (stat(to, &written) != 0 || stat(resolved, &info) != 0) {
		free(resolved);
		return CTRACE_OS_ERROR;
	}
	if (S_ISREG(info.st_mode)) {
		status = repair_file(repair, resolved, to);
	} else if (S_ISDIR(info.st_mode)) {
		copy = choose_name(resolved, to);
		status = copy != NULL ? repair_directory(repair, resolved, copy, &written, DEPTH)
				      : CTRACE_NOT_ENOUGH_MEMORY;
		free(copy);
	}
	free(resolved);
	return status;
}
