/*
 * nats_fetch.c - copies traces from a stream into directories.
 *
 * A message names the file and the offset of its bytes, so the messages are put where they belong.
 * One that comes twice changes nothing.  One that comes too early, because the servers refused the
 * one before and the forwarder sent that again, waits in memory.  A gap that nothing fills is
 * closed: the copy goes on with the next message that begins a packet, and readers see the gap by
 * the packets' numbers.  So it is with a file whose beginning the stream no longer keeps.
 *
 * What comes from the server is not trusted: names are made into one word, offsets and sizes are
 * checked, and links are not followed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_fetch.h"

#include "base/base.h"
#include "format/format.h"
#include "read/binfile_metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT_MS 200    /* for a message */
#define SILENT_MS 3000 /* in which the server of a consumer sends something, or is dead */
#define SUBSCRIBE_TRIES 8u
#define FILES_OPEN 64u
/* What has come is handed over at the latest after so many bytes or so much time. */
#define TAKE_BYTES (UINT64_C(16) << 20)
#define TAKE_MS 300
#define PARTIAL_MS 5000 /* then the rest of a packet is not waited for: its program went down */
/* Messages wait for one that is late.  A forwarder has 16 of half a megabyte under way, and sends
 * all of them again when one is refused. */
#define WAITING_BYTES (64u << 20)
#define WAITING_OVERHEAD 1024u /* of a message */
#define WAITING_MESSAGES 4096u /* of the stream */
#define WAITING_MS 30000       /* of a copy whose parts are handed over */
#define WAITING_LOOK 64u       /* messages between looks at what waits */
/* An archive is made durable and noted at most so often. */
#define NOTE_MS 2000
/* A message is younger than its events by the server's clock, unless that is behind by more. */
#define AHEAD_NS UINT64_C(60000000000)

enum ctrace_status ct_nats_fetch_fail(struct ct_nats_fetcher *fetch, enum ctrace_status status,
				      const char *path, const char *what)
{
	(void)snprintf(fetch->copy->error, CT_NATS_ERROR_SIZE, "%.300s: %.200s", path, what);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * Traces and files
 */

/* A name of a file: no directory, no dot at its beginning. */
static void name_clean(char *out, size_t size, const char *name)
{
	size_t at = 0;

	for (; *name != '\0' && at + 1 < size; name++) {
		unsigned char byte = (unsigned char)*name;
		bool is_plain = byte > ' ' && byte < 127 && byte != '/' && byte != '\\' &&
				(at > 0 || byte != '.');

		out[at++] = is_plain ? (char)byte : '_';
	}
	if (at == 0)
		out[at++] = '_';
	out[at] = '\0';
}

/* Has the directory the trace of that uuid, or none? */
static bool directory_is_of(const char *path, const char *uuid)
{
	char metadata[4200], text[16384], found[33];
	struct ct_trace_info info;
	ssize_t size;
	size_t at;
	int fd;

	(void)snprintf(metadata, sizeof metadata, "%s/" CT_NATS_METADATA, path);
	fd = open(metadata, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT;
	size = read(fd, text, sizeof text);
	(void)close(fd);
	if (size <= 0 || ct_binfile_info_parse(text, (size_t)size, &info, &at) != CTRACE_OK)
		return false;
	for (size_t i = 0; i < sizeof info.uuid; i++)
		(void)snprintf(found + 2 * i, 3, "%02x", info.uuid[i]);
	return strcmp(found, uuid) == 0;
}

static enum ctrace_status trace_make(struct ct_nats_fetcher *fetch,
				     struct ct_nats_copied_trace *trace, const char *host,
				     const char *name)
{
	char clean_host[128], clean_name[128], path[4096];

	name_clean(clean_host, sizeof clean_host, host);
	name_clean(clean_name, sizeof clean_name, name);
	for (unsigned i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof path, "%s/%s.%s%s%.8s", fetch->copy->paths[0],
			       clean_host, clean_name, i > 0 ? "." : "", i > 0 ? trace->uuid : "");
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return ct_nats_fetch_fail(fetch, CTRACE_OS_ERROR, path, strerror(errno));
		if (directory_is_of(path, trace->uuid)) {
			trace->path = strdup(path);
			if (trace->path != NULL)
				ct_nats_clock_read(trace);
			return trace->path != NULL ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
		}
	}
	return ct_nats_fetch_fail(fetch, CTRACE_OS_ERROR, path, "another trace is there");
}

/* The words of a subject from its end: ...<host>.<job>.<trace>.<file>. */
static bool subject_split(const char *subject, char host[128], char uuid[33], char *out_before,
			  size_t size)
{
	const char *dots[4], *at = subject + strlen(subject);
	unsigned count = 0;

	while (at > subject && count < 4)
		if (*--at == '.')
			dots[count++] = at;
	if (count < 4 || dots[0] - dots[1] - 1 != 32 ||
	    strspn(dots[1] + 1, "0123456789abcdef") != 32 || (size_t)(dots[0] - subject) >= size)
		return false;
	(void)snprintf(host, 128, "%.*s", (int)(dots[2] - dots[3] - 1), dots[3] + 1);
	(void)snprintf(uuid, 33, "%.32s", dots[1] + 1);
	(void)snprintf(out_before, size, "%.*s", (int)(dots[0] - subject), subject);
	return true;
}

static enum ctrace_status trace_find(struct ct_nats_fetcher *fetch, natsMsg *message,
				     struct ct_nats_copied_trace **out)
{
	char host[128], uuid[33], before[sizeof(*out)->subject];
	const char *name = NULL;
	struct ct_nats_copied_trace *trace;
	enum ctrace_status status;

	*out = NULL;
	if (!subject_split(natsMsg_GetSubject(message), host, uuid, before, sizeof before) ||
	    natsMsgHeader_Get(message, CT_NATS_NAME, &name) != NATS_OK)
		return CTRACE_OK;
	for (trace = fetch->traces; trace != NULL; trace = trace->next)
		if (strcmp(trace->uuid, uuid) == 0)
			break;
	if (trace == NULL) {
		trace = calloc(1, sizeof *trace);
		if (trace == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		memcpy(trace->uuid, uuid, sizeof uuid);
		memcpy(trace->subject, before, sizeof before);
		status = trace_make(fetch, trace, host, name);
		if (status != CTRACE_OK) {
			free(trace);
			return status;
		}
		trace->next = fetch->traces;
		fetch->traces = trace;
		fetch->copy->traces++;
	}
	*out = trace;
	return CTRACE_OK;
}

struct ct_nats_copied *ct_nats_copied_find(struct ct_nats_copied_trace *trace, const char *name)
{
	struct ct_nats_copied *file;

	for (file = trace->files; file != NULL; file = file->next)
		if (strcmp(file->name, name) == 0)
			return file;
	file = calloc(1, sizeof *file);
	if (file == NULL)
		return NULL;
	(void)snprintf(file->name, sizeof file->name, "%s", name);
	file->fd = -1;
	file->next = trace->files;
	trace->files = file;
	return file;
}

/* Closes the file that was used longest ago. */
static void files_close_one(struct ct_nats_fetcher *fetch)
{
	struct ct_nats_copied *oldest = NULL;

	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL; trace = trace->next)
		for (struct ct_nats_copied *file = trace->files; file != NULL; file = file->next)
			if (file->fd >= 0 && (oldest == NULL || file->used < oldest->used))
				oldest = file;
	if (oldest != NULL) {
		(void)close(oldest->fd);
		oldest->fd = -1;
		fetch->open_count--;
	}
}

static bool file_open(struct ct_nats_fetcher *fetch, const struct ct_nats_copied_trace *trace,
		      struct ct_nats_copied *file, int flags)
{
	char path[4200];

	file->used = ++fetch->uses;
	if (file->fd >= 0)
		return true;
	if (fetch->open_count >= FILES_OPEN)
		files_close_one(fetch);
	(void)snprintf(path, sizeof path, "%s/%s", trace->path, file->name);
	file->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	if (file->fd < 0) {
		(void)ct_nats_fetch_fail(fetch, CTRACE_OS_ERROR, path, strerror(errno));
		return false;
	}
	fetch->open_count++;
	return true;
}

static enum ctrace_status bytes_write(struct ct_nats_fetcher *fetch,
				      const struct ct_nats_copied_trace *trace, int fd,
				      const char *bytes, size_t size, uint64_t offset)
{
	while (size > 0) {
		ssize_t put = pwrite(fd, bytes, size, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, trace->path,
						  strerror(errno));
		bytes += put;
		offset += (uint64_t)put;
		size -= (size_t)put;
	}
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Messages
 */

static uint64_t header_number(natsMsg *message, const char *name)
{
	const char *text = NULL;

	return natsMsgHeader_Get(message, name, &text) == NATS_OK && text != NULL
		       ? strtoull(text, NULL, 10)
		       : 0;
}

static bool header_is_there(natsMsg *message, const char *name)
{
	const char *text = NULL;

	return natsMsgHeader_Get(message, name, &text) == NATS_OK && text != NULL;
}

/* Puts the metadata in place as a whole, so that a reader of the directory never sees a part. */
static enum ctrace_status metadata_put(struct ct_nats_fetcher *fetch,
				       struct ct_nats_copied_trace *trace, const char *bytes,
				       size_t size)
{
	char path[4200], new_path[4210];
	enum ctrace_status status;
	int fd;

	(void)snprintf(path, sizeof path, "%s/" CT_NATS_METADATA, trace->path);
	(void)snprintf(new_path, sizeof new_path, "%s/.metadata.new", trace->path);
	fd = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return ct_nats_fetch_fail(fetch, CTRACE_OS_ERROR, new_path, strerror(errno));
	status = bytes_write(fetch, trace, fd, bytes, size, 0);
	if (close(fd) != 0 && status == CTRACE_OK)
		status = ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, new_path, strerror(errno));
	if (status == CTRACE_OK && rename(new_path, path) != 0)
		status = ct_nats_fetch_fail(fetch, CTRACE_OS_ERROR, path, strerror(errno));
	trace->has_metadata = trace->has_metadata || status == CTRACE_OK;
	if (status == CTRACE_OK && trace->parts_sequence > 0) {
		trace->metadata_sequence = trace->parts_sequence;
		trace->parts_sequence = 0;
	}
	trace->is_hidden = trace->is_hidden && status != CTRACE_OK;
	return status;
}

/* While a trace has nothing new, readers do not find it. */
static void metadata_hide(struct ct_nats_copied_trace *trace, bool hides)
{
	char path[4200], hidden[4200];

	if (trace->is_hidden == hides)
		return;
	(void)snprintf(path, sizeof path, "%s/" CT_NATS_METADATA, trace->path);
	(void)snprintf(hidden, sizeof hidden, "%s/." CT_NATS_METADATA, trace->path);
	trace->is_hidden =
		rename(hides ? path : hidden, hides ? hidden : path) == 0 ? hides : !hides;
}

static enum ctrace_status metadata_take(struct ct_nats_fetcher *fetch,
					struct ct_nats_copied_trace *trace, natsMsg *message)
{
	uint64_t total = header_number(message, CT_NATS_SIZE);
	uint64_t offset = header_number(message, CT_NATS_OFFSET);
	size_t size = (size_t)natsMsg_GetDataLength(message);

	if (total > CT_METADATA_LIMIT || offset > total || size > total - offset)
		return CTRACE_OK; /* not of ctrace */
	if (offset == 0)
		trace->parts_sequence = fetch->sequence;
	if (size == total)
		return metadata_put(fetch, trace, natsMsg_GetData(message), size);
	if (offset == 0) {
		free(trace->parts);
		trace->parts = malloc(total);
		trace->parts_size = total;
		trace->parts_got = 0;
		if (trace->parts == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
	}
	if (trace->parts == NULL || total != trace->parts_size || offset != trace->parts_got)
		return CTRACE_OK; /* its first part came before */
	memcpy(trace->parts + offset, natsMsg_GetData(message), size);
	trace->parts_got += size;
	return trace->parts_got == total ? metadata_put(fetch, trace, trace->parts, total)
					 : CTRACE_OK;
}

/* ".clock" of the copy: "3200000 synchronised", in nanoseconds. */
void ct_nats_clock_read(struct ct_nats_copied_trace *trace)
{
	char path[4200], word[32];
	unsigned long long error_ns;
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/" CT_NATS_CLOCK_FILE, trace->path);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fscanf(file, "%llu %31s", &error_ns, word) == 2) {
		trace->has_clock = true;
		trace->clock_error_ns = error_ns;
		trace->is_unsynchronised = strcmp(word, "unsynchronised") == 0;
	}
	(void)fclose(file);
}

static void clock_take(struct ct_nats_copied_trace *trace, natsMsg *message)
{
	uint64_t error_ns = header_number(message, CT_NATS_CLOCK);
	bool is_unsynchronised = header_is_there(message, CT_NATS_UNSYNCHRONISED);

	if (!header_is_there(message, CT_NATS_CLOCK) ||
	    (trace->has_clock && error_ns <= trace->clock_error_ns &&
	     is_unsynchronised <= trace->is_unsynchronised))
		return;
	trace->has_clock = trace->is_clock_new = true;
	trace->is_unsynchronised |= is_unsynchronised;
	if (error_ns > trace->clock_error_ns)
		trace->clock_error_ns = error_ns;
}

static enum ctrace_status clock_write(struct ct_nats_fetcher *fetch,
				      struct ct_nats_copied_trace *trace)
{
	char path[4200];
	int fd;
	bool is_written;

	if (!trace->is_clock_new)
		return CTRACE_OK;
	(void)snprintf(path, sizeof path, "%s/" CT_NATS_CLOCK_FILE, trace->path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	is_written = fd >= 0 &&
		     dprintf(fd, "%" PRIu64 " %s\n", trace->clock_error_ns,
			     trace->is_unsynchronised ? "unsynchronised" : "synchronised") > 0;
	if (fd >= 0)
		(void)close(fd);
	if (!is_written)
		return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, path, strerror(errno));
	trace->is_clock_new = false;
	return CTRACE_OK;
}

static bool message_is_wanted(const struct ct_nats_fetcher *fetch, natsMsg *message)
{
	uint64_t first = header_number(message, CT_NATS_FIRST);
	uint64_t last = header_number(message, CT_NATS_LAST);

	return last == 0 || (last >= fetch->copy->since_ns && first <= fetch->copy->until_ns);
}

static void file_remove(struct ct_nats_fetcher *fetch, const struct ct_nats_copied_trace *trace,
			struct ct_nats_copied *file)
{
	char path[4200];

	if (file->fd >= 0) {
		(void)close(file->fd);
		file->fd = -1;
		fetch->open_count--;
	}
	(void)snprintf(path, sizeof path, "%s/%s", trace->path, file->name);
	(void)unlink(path);
	file->is_replaced = true;
}

bool ct_nats_name_is_packed(const char *name)
{
	size_t size = strlen(name);

	return size > 4 && strcmp(name + size - 4, ".zst") == 0;
}

/* The file that has the same packets uncompressed: stream.7 for stream.7.zst.  NULL: none. */
static struct ct_nats_copied *file_unpacked(const struct ct_nats_copied_trace *trace,
					    const struct ct_nats_copied *packed)
{
	size_t size = strlen(packed->name) - 4;
	struct ct_nats_copied *file;

	for (file = trace->files; file != NULL; file = file->next)
		if (strncmp(file->name, packed->name, size) == 0 && file->name[size] == '\0')
			break;
	return file;
}

/* A generation that was full was compressed after a part of it had been sent.  The copy keeps one
 * of the two: readers would take the part. */
static enum ctrace_status packed_take(struct ct_nats_fetcher *fetch,
				      struct ct_nats_copied_trace *trace,
				      struct ct_nats_copied *packed, uint64_t total)
{
	struct ct_nats_copied *file;

	if (total == 0 || packed->has.base != 0 || packed->has.end != total)
		return CTRACE_OK;
	packed->is_whole = true;
	file = file_unpacked(trace, packed);
	fetch->is_repeated |= file != NULL && file->is_taken;
	if (file == NULL) {
		char name[sizeof file->name];

		(void)snprintf(name, sizeof name, "%.*s", (int)(strlen(packed->name) - 4),
			       packed->name);
		file = ct_nats_copied_find(trace, name);
	}
	if (file == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (!file->is_replaced)
		file_remove(fetch, trace, file);
	return CTRACE_OK;
}

/* Where the last packet of a file is, now that bytes have come.  A message may end within the head
 * of a packet: such a packet counts as one of a head only, until more comes. */
static void packet_track(struct ct_nats_copied *file, uint64_t offset, bool begins,
			 uint64_t sequence)
{
	struct ct_nats_extent *has = &file->has;
	uint64_t at = has->packet_end;

	if (begins)
		at = offset;
	else if (has->packet_end == has->packet_begin + CT_PACKET_HEAD)
		at = has->packet_begin;
	while (at >= has->floor && at < has->end) {
		unsigned char bytes[CT_PACKET_HEAD];
		struct ct_packet_head head;
		ssize_t size = pread(file->fd, bytes, sizeof bytes, (off_t)(at - has->base));

		if (at != has->packet_begin || has->packet_sequence == 0)
			has->packet_sequence = sequence;
		has->packet_begin = at;
		if (has->end - at < CT_PACKET_HEAD)
			has->packet_end = at + CT_PACKET_HEAD;
		else if (size == (ssize_t)sizeof bytes &&
			 ct_packet_decode_head(bytes, sizeof bytes, &head) == CTRACE_OK &&
			 head.packet_bits / 8 >= CT_PACKET_HEAD)
			has->packet_end = at + head.packet_bits / 8;
		else /* damaged */
			has->packet_begin = has->packet_end = has->end;
		at = has->packet_end;
	}
}

/* How much of the message was handed over before: whole packets. */
static size_t bytes_taken(const struct ct_nats_copied *file, const char *bytes, size_t size,
			  uint64_t offset)
{
	struct ct_packet_head head;
	size_t at = 0;

	if (!file->is_taken || ct_nats_name_is_packed(file->name))
		return 0;
	while (at < size &&
	       ct_packet_decode_head((const unsigned char *)bytes + at, size - at, &head) ==
		       CTRACE_OK &&
	       head.packet_bits / 8 > 0 && head.packet_bits / 8 <= size - at &&
	       offset + at + head.packet_bits / 8 <= file->has.base)
		at += (size_t)(head.packet_bits / 8);
	return at;
}

/* The copy of the file begins with that byte. */
static bool file_begin(struct ct_nats_fetcher *fetch, const struct ct_nats_copied_trace *trace,
		       struct ct_nats_copied *file, uint64_t offset, uint64_t sequence)
{
	if (file->fd >= 0) {
		(void)close(file->fd);
		file->fd = -1;
		fetch->open_count--;
	}
	file->has = (struct ct_nats_extent){ .base = offset, .floor = offset, .end = offset };
	file->has.is_begun = true;
	file->first_sequence = sequence;
	return file_open(fetch, trace, file, O_TRUNC);
}

/* Puts the bytes of a message, which do not begin behind the end of the copy, in their place. */
static enum ctrace_status bytes_put(struct ct_nats_fetcher *fetch,
				    struct ct_nats_copied_trace *trace, struct ct_nats_copied *file,
				    natsMsg *message, uint64_t sequence)
{
	struct ct_nats_extent *has = &file->has;
	uint64_t offset = header_number(message, CT_NATS_OFFSET);
	const char *bytes = natsMsg_GetData(message);
	size_t size = (size_t)natsMsg_GetDataLength(message), before = 0;
	bool begins = header_is_there(message, CT_NATS_BEGINS), is_anew = !has->is_begun;
	enum ctrace_status status;

	if (file->is_taken && begins && offset < has->base)
		before = bytes_taken(file, bytes, size, offset);
	else if (!is_anew && offset < has->floor)
		before = has->floor - offset < size ? (size_t)(has->floor - offset) : size;
	/* A packet begins at the floor, and where the last packet was handed over. */
	begins = begins || (before > 0 && before < size);
	if (before == size && size > 0)
		return CTRACE_OK;
	bytes += before;
	size -= before;
	offset += before;
	/* Without its beginning, a packet cannot be read. */
	if (is_anew && !begins) {
		trace->has_left = true;
		return CTRACE_OK;
	}
	if (!is_anew && offset < has->floor)
		return CTRACE_OK;
	if (!(is_anew ? file_begin(fetch, trace, file, offset, sequence)
		      : file_open(fetch, trace, file, 0)))
		return CTRACE_OS_ERROR;
	if (sequence < file->first_sequence)
		file->first_sequence = sequence;
	if (offset + size > has->end)
		has->end = offset + size;
	if (ct_nats_name_is_packed(file->name))
		has->packet_end = header_number(message, CT_NATS_SIZE);
	status = bytes_write(fetch, trace, file->fd, bytes, size, offset - has->base);
	if (!ct_nats_name_is_packed(file->name))
		packet_track(file, offset, begins, sequence);
	metadata_hide(trace, false);
	trace->is_changed = true;
	if (fetch->new_bytes == 0)
		fetch->new_since_ms = nats_Now();
	fetch->new_bytes += size;
	if (status != CTRACE_OK || !ct_nats_name_is_packed(file->name))
		return status;
	return packed_take(fetch, trace, file, header_number(message, CT_NATS_SIZE));
}

/* -----------------------------------------------------------------------------------------------
 * Messages that came too early
 */

uint64_t ct_nats_waiting_sequence(const struct ct_nats_copied *file)
{
	uint64_t first = file->reopens > 0 ? file->reopens : UINT64_MAX;

	for (const struct ct_nats_waiting *waiting = file->waiting; waiting != NULL;
	     waiting = waiting->next)
		first = waiting->sequence < first ? waiting->sequence : first;
	return first;
}

static uint64_t waiting_cost(const natsMsg *message)
{
	return (uint64_t)natsMsg_GetDataLength(message) + WAITING_OVERHEAD;
}

static void waiting_remove(struct ct_nats_fetcher *fetch, struct ct_nats_copied *file)
{
	struct ct_nats_waiting *waiting = file->waiting;

	file->waiting = waiting->next;
	fetch->waiting_bytes -= waiting_cost(waiting->message);
	natsMsg_Destroy(waiting->message);
	free(waiting);
}

static void waiting_remove_all(struct ct_nats_fetcher *fetch, struct ct_nats_copied *file)
{
	while (file->waiting != NULL)
		waiting_remove(fetch, file);
}

/* Takes the message from the caller. */
static enum ctrace_status waiting_add(struct ct_nats_fetcher *fetch, struct ct_nats_copied *file,
				      natsMsg **message)
{
	struct ct_nats_waiting *waiting = calloc(1, sizeof *waiting), **at = &file->waiting;

	if (waiting == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	waiting->message = *message;
	waiting->offset = header_number(*message, CT_NATS_OFFSET);
	waiting->sequence = fetch->sequence;
	waiting->since_ms = nats_Now();
	fetch->waiting_bytes += waiting_cost(*message);
	*message = NULL;
	while (*at != NULL && (*at)->offset <= waiting->offset)
		at = &(*at)->next;
	waiting->next = *at;
	*at = waiting;
	return CTRACE_OK;
}

/* Puts the messages that need not wait any longer. */
static enum ctrace_status waiting_put(struct ct_nats_fetcher *fetch,
				      struct ct_nats_copied_trace *trace,
				      struct ct_nats_copied *file)
{
	enum ctrace_status status = CTRACE_OK;

	while (status == CTRACE_OK && file->waiting != NULL && file->has.is_begun &&
	       file->waiting->offset <= file->has.end) {
		if (!file->is_replaced)
			status = bytes_put(fetch, trace, file, file->waiting->message,
					   file->waiting->sequence);
		waiting_remove(fetch, file);
	}
	return status;
}

/* Before a gap, the last packet may not be complete. */
static enum ctrace_status packet_cut(struct ct_nats_fetcher *fetch,
				     const struct ct_nats_copied_trace *trace,
				     struct ct_nats_copied *file)
{
	struct ct_nats_extent *has = &file->has;

	if (!has->is_begun || has->end >= has->packet_end || has->packet_begin < has->floor ||
	    ct_nats_name_is_packed(file->name))
		return CTRACE_OK;
	if (!file_open(fetch, trace, file, 0))
		return CTRACE_OS_ERROR;
	has->end = has->packet_end = has->packet_begin;
	if (ftruncate(file->fd, (off_t)(has->end - has->base)) != 0)
		return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, trace->path, strerror(errno));
	return CTRACE_OK;
}

/* Where the first packet of the trace in a message begins.  The size of the message: nowhere. */
static size_t packet_find(const struct ct_nats_copied_trace *trace,
			  const struct ct_nats_copied *file, natsMsg *message)
{
	const unsigned char *bytes = (const unsigned char *)natsMsg_GetData(message);
	size_t size = (size_t)natsMsg_GetDataLength(message), at = 0;
	struct ct_packet_head head;
	char uuid[sizeof trace->uuid];

	if (header_is_there(message, CT_NATS_BEGINS))
		return 0;
	if (ct_nats_name_is_packed(file->name))
		return size;
	for (; (at = ct_packet_find(bytes, size, at)) < size; at++) {
		if (ct_packet_decode_head(bytes + at, size - at, &head) != CTRACE_OK)
			continue;
		for (size_t i = 0; i < sizeof head.uuid; i++)
			(void)snprintf(uuid + 2 * i, 3, "%02x", head.uuid[i]);
		if (strcmp(uuid, trace->uuid) == 0)
			break;
	}
	return at;
}

/* Goes on with the next packet that has come. */
static enum ctrace_status gap_close(struct ct_nats_fetcher *fetch,
				    struct ct_nats_copied_trace *trace, struct ct_nats_copied *file)
{
	struct ct_nats_extent *has = &file->has;
	enum ctrace_status status = packet_cut(fetch, trace, file);
	uint64_t next = 0;

	while (file->waiting != NULL) {
		natsMsg *message = file->waiting->message;
		size_t at = packet_find(trace, file, message);

		next = file->waiting->offset + at;
		if (at < (size_t)natsMsg_GetDataLength(message))
			break;
		trace->has_left = true;
		waiting_remove(fetch, file);
	}
	if (status != CTRACE_OK || file->waiting == NULL)
		return status;
	if (!has->is_begun && !file_begin(fetch, trace, file, next, file->waiting->sequence))
		return CTRACE_OS_ERROR;
	has->base += next - has->end;
	has->end = has->floor = next;
	return waiting_put(fetch, trace, file);
}

/* Has a message waited for too long? */
static bool waiting_is_over(const struct ct_nats_fetcher *fetch, const struct ct_nats_copied *file)
{
	for (const struct ct_nats_waiting *waiting = file->waiting; waiting != NULL;
	     waiting = waiting->next)
		if (waiting->sequence + WAITING_MESSAGES < fetch->sequence ||
		    (fetch->copy->take != NULL && nats_Now() - waiting->since_ms >= WAITING_MS))
			return true;
	return false;
}

static enum ctrace_status waiting_look(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = CTRACE_OK;

	for (struct ct_nats_copied_trace *trace = fetch->traces;
	     trace != NULL && fetch->waiting_bytes > 0; trace = trace->next)
		for (struct ct_nats_copied *file = trace->files;
		     file != NULL && status == CTRACE_OK; file = file->next)
			if (file->waiting != NULL && waiting_is_over(fetch, file))
				status = gap_close(fetch, trace, file);
	return status;
}

/* Closes the gaps of a file.  An archive that goes on reopens them: the late message may come. */
static enum ctrace_status gaps_end(struct ct_nats_fetcher *fetch,
				   struct ct_nats_copied_trace *trace, struct ct_nats_copied *file)
{
	enum ctrace_status status;
	uint64_t first;

	if (file->waiting == NULL)
		return CTRACE_OK;
	first = ct_nats_waiting_sequence(file);
	if (file->has.end < file->has.packet_end && file->has.packet_sequence < first)
		first = file->has.packet_sequence;
	status = packet_cut(fetch, trace, file);
	if (fetch->copy->is_archive) {
		file->had = file->has;
		file->reopens = first;
	}
	while (file->waiting != NULL && status == CTRACE_OK)
		status = gap_close(fetch, trace, file);
	return status;
}

static enum ctrace_status gaps_end_all(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = waiting_look(fetch);

	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next) {
		bool has_left = trace->has_left, reopens = false;

		for (struct ct_nats_copied *file = trace->files;
		     file != NULL && status == CTRACE_OK; file = file->next) {
			status = gaps_end(fetch, trace, file);
			reopens |= file->reopens > 0;
		}
		if (reopens)
			trace->has_left = has_left;
	}
	return status;
}

static void gaps_reopen(struct ct_nats_fetcher *fetch)
{
	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL; trace = trace->next)
		for (struct ct_nats_copied *file = trace->files; file != NULL; file = file->next)
			if (file->reopens > 0)
				file->has = file->had;
}

/* Closes the gap that has been there for the longest time. */
static enum ctrace_status gap_close_oldest(struct ct_nats_fetcher *fetch)
{
	struct ct_nats_copied_trace *of = NULL;
	struct ct_nats_copied *oldest = NULL;
	uint64_t first = UINT64_MAX;

	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL; trace = trace->next)
		for (struct ct_nats_copied *file = trace->files; file != NULL; file = file->next)
			if (file->waiting != NULL && ct_nats_waiting_sequence(file) < first) {
				first = ct_nats_waiting_sequence(file);
				oldest = file;
				of = trace;
			}
	return oldest != NULL ? gap_close(fetch, of, oldest) : CTRACE_OK;
}

/* Are bytes of the beginning of the file likely to come?  A copy that hands over its parts begins
 * at once, where the stream does. */
static bool beginning_comes(const struct ct_nats_fetcher *fetch)
{
	const struct ct_nats_copy *copy = fetch->copy;

	return copy->take == NULL ||
	       (!copy->is_from_now && copy->since_ns == 0 && fetch->link.first_sequence <= 1);
}

static enum ctrace_status bytes_take(struct ct_nats_fetcher *fetch,
				     struct ct_nats_copied_trace *trace, const char *name,
				     natsMsg **message)
{
	uint64_t offset = header_number(*message, CT_NATS_OFFSET);
	uint64_t restarts = header_number(*message, CT_NATS_RESTART);
	uint64_t size = (uint64_t)natsMsg_GetDataLength(*message);
	struct ct_nats_copied *file = ct_nats_copied_find(trace, name);
	enum ctrace_status status;

	if (file == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (file->is_replaced || restarts < file->restarts || offset > INT64_MAX - size)
		return CTRACE_OK;
	if (restarts > file->restarts) {
		waiting_remove_all(fetch, file);
		fetch->is_repeated |= file->is_taken && offset < file->has.base;
		file->restarts = restarts;
		file->has.is_begun = false;
	}
	if (file->has.is_begun ? offset > file->has.end
			       : offset > 0 && !file->is_taken && beginning_comes(fetch)) {
		status = waiting_add(fetch, file, message);
		while (status == CTRACE_OK && fetch->waiting_bytes > WAITING_BYTES)
			status = gap_close_oldest(fetch);
		return status;
	}
	status = bytes_put(fetch, trace, file, *message, fetch->sequence);
	return status == CTRACE_OK ? waiting_put(fetch, trace, file) : status;
}

static bool name_is_stream(const char *name)
{
	return strncmp(name, "stream.", 7) == 0 && strlen(name) < 40 &&
	       strspn(name + 7, "0123456789.abcdefghijklmnopqrstuvwxyz") == strlen(name + 7);
}

/* May take the message from the caller. */
static enum ctrace_status message_take(struct ct_nats_fetcher *fetch, natsMsg **taken)
{
	struct ct_nats_copied_trace *trace;
	natsMsg *message = *taken;
	const char *name = NULL;
	enum ctrace_status status;

	if (natsMsgHeader_Get(message, CT_NATS_FILE, &name) != NATS_OK || name == NULL ||
	    !message_is_wanted(fetch, message))
		return CTRACE_OK;
	status = trace_find(fetch, message, &trace);
	if (status != CTRACE_OK || trace == NULL)
		return status;
	clock_take(trace, message);
	if (trace->first_sequence == 0)
		trace->first_sequence = fetch->sequence;
	trace->last_sequence = fetch->sequence;
	fetch->copy->messages++;
	fetch->copy->bytes += (uint64_t)natsMsg_GetDataLength(message);
	if (strcmp(name, CT_NATS_METADATA) == 0)
		return metadata_take(fetch, trace, message);
	if (name_is_stream(name))
		return bytes_take(fetch, trace, name, taken);
	trace->has_left = true;
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * The stream
 */

/* Metadata that are larger than a message: takes all messages of the subject. */
static enum ctrace_status metadata_take_parts(struct ct_nats_fetcher *fetch,
					      struct ct_nats_copied_trace *trace,
					      const char *subject)
{
	natsSubscription *subscription = NULL;
	enum ctrace_status status = CTRACE_OK;
	uint64_t pending = 1;
	jsSubOptions options;

	(void)jsSubOptions_Init(&options);
	options.Stream = fetch->address.stream;
	options.Ordered = true;
	if (js_SubscribeSync(&subscription, fetch->link.context, subject, NULL, &options, NULL) !=
	    NATS_OK)
		return CTRACE_OK; /* they are left out, and that is reported */
	while (pending > 0 && status == CTRACE_OK) {
		jsMsgMetaData *data = NULL;
		natsMsg *message = NULL;

		if (natsSubscription_NextMsg(&message, subscription, CT_NATS_REQUEST_MS) != NATS_OK)
			break;
		pending = 0;
		if (natsMsg_GetMetaData(&data, message) == NATS_OK) {
			pending = data->NumPending;
			fetch->sequence = data->Sequence.Stream;
		}
		jsMsgMetaData_Destroy(data);
		status = metadata_take(fetch, trace, message);
		natsMsg_Destroy(message);
	}
	natsSubscription_Destroy(subscription);
	return status;
}

/* The metadata that the stream has last. */
static enum ctrace_status metadata_fetch_last(struct ct_nats_fetcher *fetch,
					      struct ct_nats_copied_trace *trace)
{
	char subject[sizeof trace->subject + sizeof CT_NATS_METADATA + 1];
	uint64_t sequence = fetch->sequence;
	natsMsg *message = NULL;
	enum ctrace_status status;

	(void)snprintf(subject, sizeof subject, "%s." CT_NATS_METADATA, trace->subject);
	if (js_GetLastMsg(&message, fetch->link.context, fetch->address.stream, subject, NULL,
			  NULL) != NATS_OK)
		return CTRACE_OK;
	fetch->sequence = natsMsg_GetSequence(message);
	status = header_number(message, CT_NATS_OFFSET) == 0
			 ? metadata_take(fetch, trace, message)
			 : metadata_take_parts(fetch, trace, subject);
	fetch->sequence = sequence;
	natsMsg_Destroy(message);
	return status;
}

/* What the streams of a copy do not have: the clocks, and the metadata of traces whose part of the
 * stream begins behind them. */
static enum ctrace_status metadata_fetch(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = CTRACE_OK;

	for (struct ct_nats_copied_trace *trace = fetch->traces;
	     trace != NULL && status == CTRACE_OK; trace = trace->next) {
		status = clock_write(fetch, trace);
		if (!trace->has_metadata && status == CTRACE_OK)
			status = metadata_fetch_last(fetch, trace);
	}
	return status;
}

/* The servers have messages, and send none, or make no consumer. */
static enum ctrace_status silence_fail(struct ct_nats_fetcher *fetch, natsStatus got)
{
	const char *last = NULL; /* such as a violation of permissions */

	(void)natsConnection_GetLastError(fetch->link.connection, &last);
	if (last == NULL || last[0] == '\0')
		last = got != NATS_OK ? natsStatus_GetText(got) : "no message comes";
	return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->address.stream, last);
}

/* Another consumer would send a few messages, and then wait for the same permission. */
static bool permission_is_missing(const struct ct_nats_fetcher *fetch)
{
	const char *last = NULL;

	(void)natsConnection_GetLastError(fetch->link.connection, &last);
	return last != NULL && strstr(last, "Permissions Violation") != NULL;
}

static enum ctrace_status mark_remove(struct ct_nats_fetcher *fetch,
				      struct ct_nats_copied_trace *trace);

/* Has a file a part of a packet only, or of a compressed file? */
static bool files_are_partial(const struct ct_nats_fetcher *fetch)
{
	for (const struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next)
		for (const struct ct_nats_copied *file = trace->files; file != NULL;
		     file = file->next)
			if (file->has.is_begun && !file->is_replaced &&
			    file->has.end < file->has.packet_end)
				return true;
	return false;
}

static void trace_empty(struct ct_nats_fetcher *fetch, struct ct_nats_copied_trace *trace)
{
	for (struct ct_nats_copied *file = trace->files; file != NULL; file = file->next) {
		bool is_replaced = file->is_replaced;

		if (!file->has.is_begun || is_replaced)
			continue;
		file_remove(fetch, trace, file);
		file->is_replaced = ct_nats_name_is_packed(file->name);
		file->has.base = file->has.floor = file->has.end;
		file->is_taken = true;
	}
	metadata_hide(trace, true);
}

/* Hands over what has come, and removes it. */
static enum ctrace_status parts_take(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = metadata_fetch(fetch);

	if (fetch->new_bytes == 0 ||
	    (files_are_partial(fetch) &&
	     (fetch->waiting_bytes > 0 || nats_Now() - fetch->new_since_ms < PARTIAL_MS)))
		return status;
	for (struct ct_nats_copied_trace *trace = fetch->traces;
	     trace != NULL && status == CTRACE_OK; trace = trace->next)
		if (trace->has_metadata && !trace->is_hidden)
			status = mark_remove(fetch, trace);
	if (status != CTRACE_OK)
		return status;
	fetch->copy->take(fetch->is_repeated, fetch->copy->user);
	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL; trace = trace->next)
		if (trace->has_metadata && !trace->is_hidden)
			trace_empty(fetch, trace);
	fetch->new_bytes = 0;
	fetch->is_repeated = false;
	return CTRACE_OK;
}

static bool parts_are_due(const struct ct_nats_fetcher *fetch)
{
	return fetch->copy->take != NULL &&
	       (fetch->new_bytes >= TAKE_BYTES ||
		(fetch->new_bytes > 0 && nats_Now() - fetch->new_since_ms >= TAKE_MS));
}

static enum ctrace_status message_consume(struct ct_nats_fetcher *fetch, natsMsg *message,
					  uint64_t *out_pending)
{
	jsMsgMetaData *data = NULL;
	enum ctrace_status status;

	if (natsMsg_GetMetaData(&data, message) == NATS_OK) {
		*out_pending = data->NumPending;
		fetch->sequence = data->Sequence.Stream;
		fetch->is_changed = true;
	}
	jsMsgMetaData_Destroy(data);
	status = message_take(fetch, &message);
	natsMsg_Destroy(message);
	return status;
}

/* How many messages are to come.  One, when the consumer does not answer. */
static uint64_t consumer_pending(natsSubscription *subscription)
{
	jsConsumerInfo *info = NULL;
	uint64_t pending = 1;
	jsOptions request;

	(void)jsOptions_Init(&request);
	request.Wait = SILENT_MS;
	if (natsSubscription_GetConsumerInfo(&info, subscription, &request, NULL) == NATS_OK)
		pending = info->NumPending + (uint64_t)info->NumAckPending;
	jsConsumerInfo_Destroy(info);
	return pending;
}

static enum ctrace_status messages_take(struct ct_nats_fetcher *fetch,
					natsSubscription *subscription, bool *out_is_silent)
{
	struct ct_nats_copy *copy = fetch->copy;
	enum ctrace_status status = CTRACE_OK;
	int64_t heard_ms = nats_Now();

	while (status == CTRACE_OK && copy->goes_on(copy->user)) {
		natsMsg *message = NULL;
		natsStatus got = natsSubscription_NextMsg(&message, subscription, NEXT_MS);
		uint64_t pending = 1;

		if (got == NATS_OK)
			status = message_consume(fetch, message, &pending);
		else if (got == NATS_TIMEOUT)
			pending = consumer_pending(subscription);
		else
			return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->address.stream,
						  natsStatus_GetText(got));
		if (got == NATS_OK || pending == 0)
			heard_ms = nats_Now();
		if (nats_Now() - heard_ms >= SILENT_MS) {
			*out_is_silent = true;
			return status;
		}
		if (pending == 0 && !copy->follows)
			break;
		if (status == CTRACE_OK && (got != NATS_OK || fetch->sequence % WAITING_LOOK == 0))
			status = waiting_look(fetch);
		if (status == CTRACE_OK && copy->take != NULL &&
		    (pending == 0 || parts_are_due(fetch)))
			status = parts_take(fetch);
		else if (pending == 0 && status == CTRACE_OK)
			status = metadata_fetch(fetch);
		if (status == CTRACE_OK && copy->is_archive && fetch->is_changed &&
		    nats_Now() - fetch->noted_ms >= NOTE_MS)
			status = ct_nats_archive_note(fetch);
	}
	if (status == CTRACE_OK)
		status = gaps_end_all(fetch);
	if (status == CTRACE_OK && copy->take != NULL)
		status = parts_take(fetch);
	return status == CTRACE_OK ? metadata_fetch(fetch) : status;
}

/* Begins behind the last message that was taken. */
static natsStatus consumer_make(struct ct_nats_fetcher *fetch, natsSubscription **out)
{
	jsOptions request;
	jsSubOptions options;

	(void)jsOptions_Init(&request);
	request.Wait = SILENT_MS;
	(void)jsSubOptions_Init(&options);
	options.Stream = fetch->address.stream;
	options.Ordered = true;
	if (fetch->sequence > 0) {
		options.Config.DeliverPolicy = js_DeliverByStartSequence;
		options.Config.OptStartSeq = fetch->sequence + 1;
	} else if (fetch->copy->since_ns > AHEAD_NS && fetch->copy->since_ns < INT64_MAX) {
		options.Config.DeliverPolicy = js_DeliverByStartTime;
		options.Config.OptStartTime = (int64_t)(fetch->copy->since_ns - AHEAD_NS);
	}
	return js_SubscribeSync(out, fetch->link.context, fetch->filter, &request, &options, NULL);
}

void ct_nats_fetch_renumber(struct ct_nats_fetcher *fetch)
{
	fetch->sequence = 0;
	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next) {
		trace->first_sequence = trace->last_sequence = trace->metadata_sequence =
			trace->parts_sequence = trace->pruned = 0;
		for (struct ct_nats_copied *file = trace->files; file != NULL; file = file->next) {
			waiting_remove_all(fetch, file);
			file->restarts = file->first_sequence = 0;
			if (ct_nats_name_is_packed(file->name) && !file->is_whole)
				file->has.is_begun = false;
		}
	}
}

/* The servers may have made the stream anew, whose messages have other numbers. */
static void stream_compare(struct ct_nats_fetcher *fetch)
{
	int64_t created = fetch->link.created;

	if (ct_nats_stream_look(&fetch->link, &fetch->address, false, fetch->copy->error) ==
		    CTRACE_OK &&
	    fetch->link.created != created)
		ct_nats_fetch_renumber(fetch);
}

/* A server has the consumer alone.  The servers may choose one that is dead, and one may die: then
 * another consumer goes on. */
static enum ctrace_status consumers_take(struct ct_nats_fetcher *fetch)
{
	struct ct_nats_copy *copy = fetch->copy;
	enum ctrace_status status = CTRACE_OK;
	natsStatus got = NATS_OK;

	for (unsigned tries = 0;
	     (tries < SUBSCRIBE_TRIES || copy->follows) && copy->goes_on(copy->user); tries++) {
		natsSubscription *subscription = NULL;
		uint64_t sequence = fetch->sequence;
		bool is_silent = false;

		got = consumer_make(fetch, &subscription);
		if (got == NATS_TIMEOUT || got == NATS_NO_RESPONDERS)
			continue;
		if (got != NATS_OK)
			return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, fetch->address.stream,
						  ct_nats_reason(got));
		status = messages_take(fetch, subscription, &is_silent);
		natsSubscription_Destroy(subscription);
		if (status != CTRACE_OK || !is_silent)
			return status;
		if (permission_is_missing(fetch))
			return silence_fail(fetch, got);
		if (fetch->sequence != sequence)
			tries = 0;
		stream_compare(fetch);
	}
	return copy->goes_on(copy->user) ? silence_fail(fetch, got) : status;
}

static enum ctrace_status stream_fetch(struct ct_nats_fetcher *fetch)
{
	char cluster[CT_NATS_TEXT] = "*", host[CT_NATS_TEXT], job[CT_NATS_TEXT];
	const struct ct_nats_address *address = &fetch->address;

	if (address->cluster[0] != '\0')
		ct_nats_token(cluster, sizeof cluster, address->cluster);
	ct_nats_token(host, sizeof host, address->host);
	ct_nats_token(job, sizeof job, address->job);
	(void)snprintf(fetch->filter, sizeof fetch->filter, "%s.%s.%s.%s.*.*", address->subject,
		       cluster, strcmp(address->host, "*") != 0 ? host : "*",
		       strcmp(address->job, "*") != 0 ? job : "*");
	if (fetch->copy->is_archive) {
		enum ctrace_status status = ct_nats_archive_open(fetch);

		if (status != CTRACE_OK)
			return status;
	}
	if (fetch->copy->is_from_now)
		fetch->sequence = fetch->link.last_sequence;
	return consumers_take(fetch);
}

/* The file of the copy with the packets of that one. */
static const struct ct_nats_copied *file_whole(const struct ct_nats_copied_trace *trace,
					       const char *name)
{
	const struct ct_nats_copied *file;
	char packed[sizeof file->name + 4];

	(void)snprintf(packed, sizeof packed, "%s.zst", name);
	for (file = trace->files; file != NULL; file = file->next)
		if ((strcmp(file->name, name) == 0 && !file->is_replaced) ||
		    (file->is_whole && strcmp(file->name, packed) == 0))
			break;
	return file;
}

/* Does the closing mark name a size that the copy has not?  A line is "stream.7 12345 12000". */
static bool mark_differs(const struct ct_nats_copied_trace *trace, const char *line,
			 const char *end)
{
	while (line < end) {
		unsigned long long size;
		char name[64];
		const struct ct_nats_copied *file;
		int used = 0;

		if (sscanf(line, "%63s %llu%*[^\n]%n", name, &size, &used) < 2 &&
		    sscanf(line, "%63s %llu%n", name, &size, &used) < 2)
			return false;
		file = file_whole(trace, name);
		if (file == NULL ||
		    (!file->is_whole && (file->has.base != 0 || file->has.end != size)))
			return true;
		line = memchr(line, '\n', (size_t)(end - line));
		line = line != NULL ? line + 1 : end;
	}
	return false;
}

static const char mark[] = "/* closed\n", mark_end[] = "*/\n";

/* The metadata of the copy as a string, which the caller frees; NULL: none. */
static char *metadata_read(const struct ct_nats_copied_trace *trace)
{
	char path[4200], *text;
	struct stat info;
	int fd;

	(void)snprintf(path, sizeof path, "%s/" CT_NATS_METADATA, trace->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	text = fstat(fd, &info) == 0 ? calloc(1, (size_t)info.st_size + 1) : NULL;
	if (text != NULL && read(fd, text, (size_t)info.st_size) != info.st_size) {
		free(text);
		text = NULL;
	}
	(void)close(fd);
	return text;
}

bool ct_nats_copy_is_closed(const struct ct_nats_copied_trace *trace)
{
	char *text = metadata_read(trace);
	const char *begin = text != NULL ? strstr(text, mark) : NULL;
	const char *end = begin != NULL ? strstr(begin, mark_end) : NULL;
	bool is_closed = end != NULL && !mark_differs(trace, begin + strlen(mark), end);

	free(text);
	return is_closed;
}

/* The closing mark says how long the streams were.  Of a part of a trace it would be wrong. */
static enum ctrace_status mark_remove(struct ct_nats_fetcher *fetch,
				      struct ct_nats_copied_trace *trace)
{
	char *text = metadata_read(trace);
	char *begin = text != NULL ? strstr(text, mark) : NULL;
	char *end = begin != NULL ? strstr(begin, mark_end) : NULL;
	enum ctrace_status status = CTRACE_OK;

	if (end != NULL && mark_differs(trace, begin + strlen(mark), end)) {
		end += strlen(mark_end);
		memmove(begin, end, strlen(end) + 1);
		status = metadata_put(fetch, trace, text, strlen(text));
	}
	free(text);
	return status;
}

/* Of a file that is there compressed in part, the copy keeps what is not compressed. */
static void packed_end(struct ct_nats_fetcher *fetch, struct ct_nats_copied_trace *trace)
{
	for (struct ct_nats_copied *file = trace->files; file != NULL; file = file->next) {
		const struct ct_nats_copied *other =
			ct_nats_name_is_packed(file->name) && !file->is_whole
				? file_unpacked(trace, file)
				: NULL;

		if (other != NULL && other->has.is_begun)
			file_remove(fetch, trace, file);
	}
}

/* What a copy that is not continued needs.  Traces without metadata are removed: they cannot be
 * read. */
static enum ctrace_status traces_end(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = CTRACE_OK;

	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next) {
		char path[4200];

		packed_end(fetch, trace);
		/* An earlier run may have removed the closing mark, and the last bytes came after
		 * it. */
		if (fetch->copy->is_archive && trace->has_metadata && trace->is_changed &&
		    !ct_nats_copy_is_closed(trace) && status == CTRACE_OK)
			status = metadata_fetch_last(fetch, trace);
		if (trace->has_metadata && status == CTRACE_OK)
			status = mark_remove(fetch, trace);
		if (trace->has_metadata)
			continue;
		for (const struct ct_nats_copied *file = trace->files; file != NULL;
		     file = file->next) {
			(void)snprintf(path, sizeof path, "%s/%s", trace->path, file->name);
			(void)unlink(path);
		}
		(void)snprintf(path, sizeof path, "%s/" CT_NATS_CLOCK_FILE, trace->path);
		(void)unlink(path);
		(void)rmdir(trace->path);
		fetch->copy->traces--;
		fetch->copy->left_out++;
	}
	return status;
}

enum ctrace_status ct_nats_fetch(struct ct_nats_copy *copy)
{
	struct ct_nats_fetcher fetch = { .copy = copy, .directory = -1 };
	enum ctrace_status status =
		ct_nats_address_parse(copy->address, true, &fetch.address, copy->error);

	if (status != CTRACE_OK)
		return status;
	do {
		status = ct_nats_link_open(&fetch.link, &fetch.address, false, copy->error);
	} while (status == CTRACE_OUTPUT_ERROR && copy->follows && ct_nats_retry(copy));
	if (status != CTRACE_OK)
		return status;
	status = stream_fetch(&fetch);
	if (status == CTRACE_OK)
		status = traces_end(&fetch);
	gaps_reopen(&fetch);
	if (status == CTRACE_OK && copy->is_archive)
		status = ct_nats_archive_note(&fetch);
	ct_nats_archive_close(&fetch);
	ct_nats_link_close(&fetch.link);
	while (fetch.traces != NULL) {
		struct ct_nats_copied_trace *trace = fetch.traces;

		fetch.traces = trace->next;
		while (trace->files != NULL) {
			struct ct_nats_copied *file = trace->files;

			trace->files = file->next;
			waiting_remove_all(&fetch, file);
			if (file->fd >= 0)
				(void)close(file->fd);
			free(file);
		}
		free(trace->parts);
		free(trace->path);
		free(trace);
	}
	return status;
}
