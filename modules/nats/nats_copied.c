/*
 * nats_copied.c - the copy of a trace from a stream: its directory, its metadata, its files.
 *
 * A message names the file and the offset of its bytes, which are put where they belong; one that
 * comes twice changes nothing.  What comes from the server is not trusted: names are made into one
 * word, offsets and sizes are checked, and links are not followed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_fetch.h"

#include "base/base.h"
#include "format/format.h"
#include "lib/emit/binfile.h"
#include "read/binfile_metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_OPEN 64u

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

static bool path_is_used(const struct ct_nats_fetcher *fetch, const char *path)
{
	for (const struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next)
		if (strcmp(trace->path, path) == 0)
			return true;
	return false;
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
		if (directory_is_of(path, trace->uuid) && !path_is_used(fetch, path)) {
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

/* A trace belongs to its host as well: who may publish for one cannot change the traces of another.
 */
static struct ct_nats_copied_trace *trace_of(const struct ct_nats_fetcher *fetch, const char *host,
					     const char *uuid)
{
	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL; trace = trace->next)
		if (strcmp(trace->uuid, uuid) == 0 && strcmp(trace->host, host) == 0)
			return trace;
	return NULL;
}

bool ct_nats_subject_host(const char *subject, char out[128])
{
	char whole[1100], uuid[33], before[1100];

	(void)snprintf(whole, sizeof whole, "%s." CT_NATS_METADATA, subject);
	return subject_split(whole, out, uuid, before, sizeof before);
}

struct ct_nats_copied_trace *ct_nats_trace_known(const struct ct_nats_fetcher *fetch,
						 const char *subject)
{
	struct ct_nats_copied_trace *trace = NULL;
	char host[128], uuid[33], before[sizeof trace->subject];

	if (subject_split(subject, host, uuid, before, sizeof before))
		trace = trace_of(fetch, host, uuid);
	return trace;
}

enum ctrace_status ct_nats_trace_find(struct ct_nats_fetcher *fetch, natsMsg *message,
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
	trace = trace_of(fetch, host, uuid);
	if (trace == NULL) {
		trace = calloc(1, sizeof *trace);
		if (trace == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		memcpy(trace->uuid, uuid, sizeof uuid);
		memcpy(trace->host, host, sizeof host);
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

bool ct_nats_file_open(struct ct_nats_fetcher *fetch, const struct ct_nats_copied_trace *trace,
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

uint64_t ct_nats_header_number(natsMsg *message, const char *name)
{
	const char *text = NULL;
	uint64_t number;

	/* Whoever may send has chosen it.  A time of 2262 is the largest number that counts. */
	if (natsMsgHeader_Get(message, name, &text) != NATS_OK || text == NULL ||
	    text[strspn(text, "0123456789")] != '\0')
		return 0;
	number = strtoull(text, NULL, 10);
	return number <= INT64_MAX ? number : 0;
}

bool ct_nats_header_is_there(natsMsg *message, const char *name)
{
	const char *text = NULL;

	return natsMsgHeader_Get(message, name, &text) == NATS_OK && text != NULL;
}

static void refuse(struct ct_nats_fetcher *fetch, struct ct_nats_copied_trace *trace,
		   const char *why)
{
	fetch->copy->refused++;
	if (trace->is_refused)
		return;
	trace->is_refused = true;
	ct_nats_notice(fetch->copy, "%.200s: message %llu of the stream is not taken: %s",
		       strrchr(trace->path, '/') + 1, (unsigned long long)fetch->sequence, why);
}

/* Do the metadata name the trace and the host of their subject? */
static bool metadata_are_of(const struct ct_nats_copied_trace *trace, const char *bytes,
			    size_t size)
{
	struct ct_trace_info info;
	char host[sizeof trace->host], uuid[sizeof trace->uuid];
	size_t at;

	if (ct_binfile_info_parse(bytes, size, &info, &at) != CTRACE_OK)
		return true; /* readers report it */
	for (size_t i = 0; i < sizeof info.uuid; i++)
		(void)snprintf(uuid + 2 * i, 3, "%02x", info.uuid[i]);
	ct_nats_host_token(host, sizeof host, info.host);
	return strcmp(uuid, trace->uuid) == 0 && strcmp(host, trace->host) == 0;
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

static bool name_is_wanted(const char *wanted, const char *name)
{
	return strcmp(wanted, "*") == 0 || strcasecmp(wanted, name) == 0;
}

/* Several names have one word in subjects, so the address decides by those in the metadata. */
static bool trace_is_other(const struct ct_nats_fetcher *fetch, natsMsg *message)
{
	struct ct_trace_info info;
	size_t at;

	return ct_binfile_info_parse(natsMsg_GetData(message),
				     (size_t)natsMsg_GetDataLength(message), &info,
				     &at) == CTRACE_OK &&
	       (!name_is_wanted(fetch->address.host, info.host) ||
		!name_is_wanted(fetch->address.job, info.jobname));
}

static enum ctrace_status metadata_whole(struct ct_nats_fetcher *fetch,
					 struct ct_nats_copied_trace *trace, const char *bytes,
					 size_t size)
{
	if (metadata_are_of(trace, bytes, size))
		return metadata_put(fetch, trace, bytes, size);
	refuse(fetch, trace,
	       "its metadata are those of another host or trace than its subject names");
	trace->has_left = true;
	return CTRACE_OK;
}

enum ctrace_status ct_nats_metadata_take(struct ct_nats_fetcher *fetch,
					 struct ct_nats_copied_trace *trace, natsMsg *message)
{
	uint64_t total = ct_nats_header_number(message, CT_NATS_SIZE);
	uint64_t offset = ct_nats_header_number(message, CT_NATS_OFFSET);
	size_t size = (size_t)natsMsg_GetDataLength(message);

	if (total == 0 || total > CT_METADATA_LIMIT || offset > total || size > total - offset)
		return CTRACE_OK; /* not of ctrace */
	if (offset == 0 && trace_is_other(fetch, message)) {
		trace->is_other = trace->has_left = true;
		return CTRACE_OK;
	}
	if (offset == 0)
		trace->parts_sequence = fetch->sequence;
	trace->is_complete = ct_nats_header_is_there(message, CT_NATS_COMPLETE);
	if (size == total)
		return metadata_whole(fetch, trace, natsMsg_GetData(message), size);
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
	return trace->parts_got == total ? metadata_whole(fetch, trace, trace->parts, total)
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

void ct_nats_clock_take(struct ct_nats_copied_trace *trace, natsMsg *message)
{
	uint64_t error_ns = ct_nats_header_number(message, CT_NATS_CLOCK);
	bool is_unsynchronised = ct_nats_header_is_there(message, CT_NATS_UNSYNCHRONISED);

	if (!ct_nats_header_is_there(message, CT_NATS_CLOCK) ||
	    (trace->has_clock && error_ns <= trace->clock_error_ns &&
	     is_unsynchronised <= trace->is_unsynchronised))
		return;
	trace->has_clock = trace->is_clock_new = true;
	trace->is_unsynchronised |= is_unsynchronised;
	if (error_ns > trace->clock_error_ns)
		trace->clock_error_ns = error_ns;
}

enum ctrace_status ct_nats_clock_write(struct ct_nats_fetcher *fetch,
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

bool ct_nats_file_begin(struct ct_nats_fetcher *fetch, const struct ct_nats_copied_trace *trace,
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
	return ct_nats_file_open(fetch, trace, file, O_TRUNC);
}

enum ctrace_status ct_nats_bytes_put(struct ct_nats_fetcher *fetch,
				     struct ct_nats_copied_trace *trace,
				     struct ct_nats_copied *file, natsMsg *message,
				     uint64_t sequence)
{
	struct ct_nats_extent *has = &file->has;
	uint64_t offset = ct_nats_header_number(message, CT_NATS_OFFSET);
	const char *bytes = natsMsg_GetData(message);
	size_t size = (size_t)natsMsg_GetDataLength(message), before = 0;
	bool begins = ct_nats_header_is_there(message, CT_NATS_BEGINS), is_anew = !has->is_begun;
	enum ctrace_status status;

	if (file->is_taken && begins && offset < has->base)
		before = bytes_taken(file, bytes, size, offset);
	else if (!is_anew && offset < has->floor)
		before = has->floor - offset < size ? (size_t)(has->floor - offset) : size;
	/* Behind a gap that was closed without it: the stream's copy is the only one. */
	if (before > 0 && !file->is_taken)
		trace->has_left = true;
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
	if (!(is_anew ? ct_nats_file_begin(fetch, trace, file, offset, sequence)
		      : ct_nats_file_open(fetch, trace, file, 0)))
		return CTRACE_OS_ERROR;
	if (sequence < file->first_sequence)
		file->first_sequence = sequence;
	if (offset + size > has->end)
		has->end = offset + size;
	if (ct_nats_name_is_packed(file->name))
		has->packet_end = ct_nats_header_number(message, CT_NATS_SIZE);
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
	return packed_take(fetch, trace, file, ct_nats_header_number(message, CT_NATS_SIZE));
}

void ct_nats_trace_empty(struct ct_nats_fetcher *fetch, struct ct_nats_copied_trace *trace)
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

void ct_nats_packed_end(struct ct_nats_fetcher *fetch, struct ct_nats_copied_trace *trace)
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

/* -----------------------------------------------------------------------------------------------
 * The closing mark
 */

/* The file of the copy with the packets of that one. */
static const struct ct_nats_copied *file_whole(const struct ct_nats_copied_trace *trace,
					       const char *name)
{
	const struct ct_nats_copied *file;
	char packed[sizeof file->name + 4];

	(void)snprintf(packed, sizeof packed, "%s.zst", name);
	for (file = trace->files; file != NULL; file = file->next)
		if (!file->is_replaced && (strcmp(file->name, name) == 0 ||
					   (file->is_whole && strcmp(file->name, packed) == 0)))
			break;
	return file;
}

/* Returns true when the closing mark at `at` names a size that the copy does not have.  Counts the
 * bytes that are missing at the ends of files; *out_name is one of these files. */
static bool mark_differs(const struct ct_nats_copied_trace *trace, bool knows_all, const char *at,
			 const char *end, uint64_t *out_missing, char out_name[24])
{
	struct ct_bin_mark mark;
	bool differs = false;
	uint32_t id;

	*out_missing = 0;
	at += sizeof CT_BIN_MARK_CLOSED - 1;
	while (ct_bin_mark_next(&at, end, &id, &mark) == CTRACE_OK) {
		const struct ct_nats_copied *file;
		char name[24] = "stream.lost";

		if (id != CT_BIN_LOST)
			(void)snprintf(name, sizeof name, "stream.%" PRIu32, id);
		file = file_whole(trace, name);
		if (file != NULL &&
		    (file->is_whole || (file->has.base == 0 && file->has.end == mark.value)))
			continue;
		differs = true;
		/* A file of which nothing is there may have been removed in order before. */
		if (file == NULL ? !knows_all : file->has.end >= mark.value)
			continue;
		*out_missing += mark.value - (file != NULL ? file->has.end : 0);
		memcpy(out_name, name, sizeof name);
	}
	return differs;
}

/* Reads the metadata of the copy.  Returns the closing mark in it, and its end; NULL: none. */
static const char *mark_read(const struct ct_nats_copied_trace *trace, struct ct_buf *out_text,
			     const char **out_end)
{
	char path[4200];
	const char *mark;
	size_t end = 0;

	ct_buf_init(out_text);
	(void)snprintf(path, sizeof path, "%s/" CT_NATS_METADATA, trace->path);
	if (ct_os_read_file(path, CT_METADATA_LIMIT, out_text) != CTRACE_OK || out_text->size == 0)
		return NULL;
	mark = ct_bin_mark_find(out_text->data, out_text->size, CT_BIN_MARK_CLOSED, &end);
	*out_end = out_text->data + end;
	return mark;
}

bool ct_nats_copy_is_closed(const struct ct_nats_copied_trace *trace)
{
	const char *end, *mark;
	struct ct_buf text;
	uint64_t missing;
	bool is_closed;
	char name[24];

	mark = mark_read(trace, &text, &end);
	is_closed = mark != NULL && !mark_differs(trace, false, mark, end, &missing, name);
	ct_buf_fini(&text);
	return is_closed;
}

enum ctrace_status ct_nats_mark_remove(struct ct_nats_fetcher *fetch,
				       struct ct_nats_copied_trace *trace)
{
	enum ctrace_status status = CTRACE_OK;
	const char *end, *mark;
	struct ct_buf text;
	uint64_t missing;
	bool differs;
	char name[24];

	mark = mark_read(trace, &text, &end);
	differs = mark != NULL && mark_differs(trace, fetch->copy->is_archive && trace->is_whole,
					       mark, end, &missing, name);
	if (differs && trace->is_complete && missing > 0 && fetch->copy->take == NULL &&
	    fetch->copy->until_ns == UINT64_MAX) {
		/* Everything had been sent before these metadata: readers report what is not there.
		 */
		fetch->copy->incomplete++;
		ct_nats_notice(
			fetch->copy,
			"%.200s: the end is missing: %llu bytes of %s; the servers have lost "
			"them, or somebody has removed them",
			strrchr(trace->path, '/') + 1, (unsigned long long)missing, name);
	} else if (differs) {
		size_t before = (size_t)(mark - text.data);
		size_t behind = text.size - (size_t)(end - text.data);

		memmove(text.data + before, end, behind);
		status = metadata_put(fetch, trace, text.data, before + behind);
	}
	ct_buf_fini(&text);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * What the copy has
 */

static const struct ct_nats_copied *file_known(const struct ct_nats_copied_trace *trace,
					       const char *name)
{
	const struct ct_nats_copied *file = trace->files;

	while (file != NULL && strcmp(file->name, name) != 0)
		file = file->next;
	return file;
}

bool ct_nats_copy_has(const struct ct_nats_copied_trace *trace, const char *name, natsMsg *message,
		      uint64_t size)
{
	uint64_t offset = ct_nats_header_number(message, CT_NATS_OFFSET);
	uint64_t restarts = ct_nats_header_number(message, CT_NATS_RESTART);
	const struct ct_nats_copied *file = file_known(trace, name);

	if (strcmp(name, CT_NATS_METADATA) == 0)
		return trace->has_metadata;
	if (file == NULL && ct_nats_name_is_packed(name) && trace->is_closed) {
		char unpacked[sizeof file->name];

		(void)snprintf(unpacked, sizeof unpacked, "%.*s", (int)(strlen(name) - 4), name);
		return file_known(trace, unpacked) != NULL;
	}
	if (file == NULL || restarts > file->restarts)
		return false;
	return file->is_replaced || restarts < file->restarts ||
	       (file->has.is_begun && offset + size >= offset && offset + size <= file->has.end);
}

/* Returns true when the bytes of the message are not those of the copy at that place. */
static bool bytes_differ(struct ct_nats_fetcher *fetch, const struct ct_nats_copied_trace *trace,
			 struct ct_nats_copied *file, natsMsg *message)
{
	const struct ct_nats_extent *has = &file->has;
	uint64_t offset = ct_nats_header_number(message, CT_NATS_OFFSET);
	const char *bytes = natsMsg_GetData(message);
	size_t left = (size_t)natsMsg_GetDataLength(message);
	char mine[4096];

	if (file->is_replaced || has->base != has->floor || offset < has->base ||
	    ct_nats_header_number(message, CT_NATS_RESTART) < file->restarts ||
	    !ct_nats_file_open(fetch, trace, file, 0))
		return false; /* it is not known */
	while (left > 0) {
		size_t part = left < sizeof mine ? left : sizeof mine;

		if (pread(file->fd, mine, part, (off_t)(offset - has->base)) != (ssize_t)part ||
		    memcmp(mine, bytes, part) != 0)
			return true;
		offset += part;
		bytes += part;
		left -= part;
	}
	return false;
}

bool ct_nats_closed_refuse(struct ct_nats_fetcher *fetch, struct ct_nats_copied_trace *trace,
			   const char *name, natsMsg *message)
{
	bool changes =
		!ct_nats_copy_has(trace, name, message, (uint64_t)natsMsg_GetDataLength(message));
	struct ct_nats_copied *file;

	/* Earlier metadata come again when the servers went back: what differs is not looked at. */
	if (!changes && strcmp(name, CT_NATS_METADATA) != 0) {
		file = ct_nats_copied_find(trace, name);
		changes = file != NULL && file->has.is_begun &&
			  bytes_differ(fetch, trace, file, message);
	}
	if (changes)
		refuse(fetch, trace, "it would change a trace that was complete");
	return changes;
}
