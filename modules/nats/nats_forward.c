/*
 * nats_forward.c - copies trace directories into a stream.
 *
 * A pass goes over the directories: first it looks how long the streams are, then it sends the
 * metadata if they have changed, then the new bytes of the streams.  So a reader has the class of
 * each event before the event.  Some messages are under way at once; when the server has
 * acknowledged all of them, how far each file is sent is noted in a file of the directory, and a
 * forwarder that starts again goes on there.  When one failed, all since the last note are sent
 * again: the server drops those that it has, and a reader puts the others where they already are.
 *
 * Of a directory that a process has open, the bytes count that were there a pass ago: newer ones
 * may not be committed yet.  A process that was killed may leave bytes that are not committed, and
 * its recovery replaces them.  So each file has a checksum of what was sent; when a file has
 * changed although no process has it open, and the sum differs, it is sent again from its
 * beginning.
 *
 * A note counts for the trace and the stream that it names.  Everything is sent again to a stream
 * that was made anew, because the servers lost the old one or somebody removed it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_forward.h"

#include "base/base.h"
#include "format/format.h"
#include "lib/emit/binfile.h"
#include "read/binfile_metadata.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEADERS_SIZE 2048 /* bytes that the headers and the subject take at most */
#define REFUSED_MS 10000  /* for so long, a forwarder that does not follow tries again */
#define IDLE_MS 10000     /* for so long, the connection for a spool stays open without a trace */
#define LEADER_MS 5000    /* the servers of a new stream choose a leader in less */
#define RETRY_MS 1000     /* between passes while messages are not acknowledged */
#define METADATA_MAX CT_METADATA_LIMIT
#define PATH_DEPTH 2u /* directories below a path */

/* -----------------------------------------------------------------------------------------------
 * Files
 */

static int file_open(const struct ct_nats_trace *trace, const char *name)
{
	char path[4200];

	(void)snprintf(path, sizeof path, "%s/%s", trace->path, name);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static bool bytes_read(int fd, unsigned char *out, size_t size, uint64_t offset)
{
	while (size > 0) {
		ssize_t got = pread(fd, out, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		out += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

/* Does a process have the trace open?  It locks the metadata. */
static bool trace_is_open(int metadata)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(metadata, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Something of the trace cannot be read: the rest is sent all the same. */
static void trace_skip(struct ct_nats_forwarder *forward, const struct ct_nats_trace *trace,
		       const char *name, const char *why)
{
	(void)snprintf(forward->copy->error, CT_NATS_ERROR_SIZE, "%.300s/%s: %.100s", trace->path,
		       name, why);
	forward->has_skipped = true;
	if (forward->copy->follows)
		ct_nats_report(forward->copy);
}

/* As many whole packets as the body has room for.  The first part of a larger one. */
static struct ct_nats_chunk chunk_cut(const unsigned char *bytes, size_t size, size_t most)
{
	struct ct_nats_chunk chunk = { .bytes = bytes };
	struct ct_packet_head head;

	while (chunk.size < size &&
	       ct_packet_decode_head(bytes + chunk.size, size - chunk.size, &head) == CTRACE_OK) {
		size_t packet = head.packet_bits / 8;

		if (chunk.size > 0 && packet > most - chunk.size)
			return chunk;
		if (packet > size - chunk.size && packet <= most)
			return chunk; /* it is not complete */
		if (chunk.size == 0) {
			chunk.begins = true;
			chunk.first_ns = head.begin_ns;
		}
		chunk.last_ns = head.end_ns > chunk.last_ns ? head.end_ns : chunk.last_ns;
		chunk.size += packet < most ? packet : most;
		if (packet > most)
			return chunk;
	}
	if (chunk.size == 0 && size >= CT_PACKET_HEAD) /* the rest of a large one, or damaged */
		chunk.size = size < most ? size : most;
	return chunk;
}

static enum ctrace_status file_send(struct ct_nats_forwarder *forward, struct ct_nats_trace *trace,
				    struct ct_nats_file *file)
{
	bool is_packed = strchr(file->name, 'z') != NULL; /* stream.7.zst */
	int fd;
	enum ctrace_status status = CTRACE_OK;

	if (file->limit <= file->sent)
		return CTRACE_OK;
	fd = file_open(trace, file->name);
	if (fd < 0 && errno != ENOENT)
		trace_skip(forward, trace, file->name, strerror(errno));
	while (fd >= 0 && status == CTRACE_OK && file->sent < file->limit &&
	       __atomic_load_n(&forward->failed, __ATOMIC_RELAXED) == 0 &&
	       forward->copy->goes_on(forward->copy->user)) {
		uint64_t left = file->limit - file->sent;
		size_t size = left < forward->body_max ? (size_t)left : forward->body_max;
		struct ct_nats_chunk chunk = { .bytes = forward->body, .size = size };
		struct ct_packet_head head;
		bool is_settled = true;

		if (!bytes_read(fd, forward->body, size, file->sent)) {
			trace_skip(forward, trace, file->name, strerror(EIO));
			break;
		}
		if (!is_packed)
			chunk = chunk_cut(forward->body, size, forward->body_max);
		/* Nobody completes the last packet: it is sent as it is. */
		if (chunk.size == 0 && !trace->is_open && size == left) {
			chunk.size = size;
			chunk.begins =
				ct_packet_decode_head(forward->body, size, &head) == CTRACE_OK;
		}
		if (chunk.size == 0)
			break;
		chunk.offset = file->sent;
		chunk.version = file->restarts;
		chunk.begins = chunk.begins || (is_packed && file->sent == 0);
		chunk.packed_size = is_packed ? file->limit : 0;
		file->sent += chunk.size;
		file->sum = chunk.sum = ct_nats_sum_add(file->sum, chunk.bytes, chunk.size);
		status = ct_nats_message_send(forward, trace, file->name, &chunk);
		if (status == CTRACE_OK && forward->under_way >= UNDER_WAY)
			status = ct_nats_messages_settle(forward, &is_settled);
		if (!is_settled) /* the pass ends; each wait takes half a minute */
			__atomic_store_n(&forward->failed, 1, __ATOMIC_RELAXED);
	}
	if (fd >= 0)
		(void)close(fd);
	return status;
}

/* The file is no longer what was sent: from the beginning. */
static void file_compare(struct ct_nats_forwarder *forward, const struct ct_nats_trace *trace,
			 struct ct_nats_file *file, const struct stat *stat)
{
	int64_t changed = (int64_t)stat->st_mtim.tv_sec * 1000000000 + stat->st_mtim.tv_nsec;
	struct ct_nats_sum sum = CT_NATS_SUM_EMPTY;
	uint64_t at = 0;
	bool is_same;
	int fd;

	if (trace->is_open || changed == file->changed)
		return;
	fd = file_open(trace, file->name);
	is_same = (fd >= 0 || file->sent == 0) &&
		  ct_nats_sum_go_on(forward, fd, &at, file->sent, &sum) &&
		  sum.value == file->sum.value;
	if (fd >= 0)
		(void)close(fd);
	file->changed = changed;
	if (is_same)
		return;
	file->sent = file->acknowledged = 0;
	file->sum = file->acknowledged_sum = CT_NATS_SUM_EMPTY;
	file->restarts = ++file->acknowledged_restarts;
}

/* How long the streams are. */
static enum ctrace_status streams_look(struct ct_nats_forwarder *forward,
				       struct ct_nats_trace *trace)
{
	DIR *directory = opendir(trace->path);
	const struct dirent *entry;

	if (directory == NULL)
		return CTRACE_OK; /* it was removed */
	while ((entry = readdir(directory)) != NULL) {
		struct stat stat;
		struct ct_nats_file *file;

		if (!ct_nats_name_is_stream(entry->d_name) ||
		    fstatat(dirfd(directory), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(stat.st_mode))
			continue;
		file = ct_nats_file_find(trace, entry->d_name);
		if (file == NULL) {
			(void)closedir(directory);
			return ct_nats_forward_fail(forward, CTRACE_NOT_ENOUGH_MEMORY, trace->path,
						    "not enough memory");
		}
		file_compare(forward, trace, file, &stat);
		file->limit = (uint64_t)stat.st_size;
		if (trace->is_open && file->limit > file->seen)
			file->limit = file->seen;
		file->seen = (uint64_t)stat.st_size;
	}
	(void)closedir(directory);
	return CTRACE_OK;
}

static uint64_t streams_sent(const struct ct_nats_trace *trace)
{
	uint64_t sent = 0;

	for (const struct ct_nats_file *file = trace->files; file != NULL; file = file->next)
		sent += file->sent;
	return sent;
}

/* Are the metadata due behind the packets?  A stream that keeps only the last messages discards
 * those before. */
static bool metadata_are_due(const struct ct_nats_forwarder *forward,
			     const struct ct_nats_trace *trace)
{
	uint64_t since = streams_sent(trace) - trace->metadata.restarts;
	uint64_t limit = (uint64_t)forward->link.max_bytes / 4;

	return since != 0 && (!trace->is_open || (limit > 0 && since > limit));
}

/* Sends the metadata if they have changed since, or are due. */
static enum ctrace_status metadata_send(struct ct_nats_forwarder *forward,
					struct ct_nats_trace *trace, const unsigned char *bytes,
					size_t size, bool is_complete)
{
	struct ct_nats_sum sum = ct_nats_sum_add(CT_NATS_SUM_EMPTY, bytes, size);
	enum ctrace_status status = CTRACE_OK;

	if (__atomic_load_n(&forward->failed, __ATOMIC_RELAXED) != 0 ||
	    (size == trace->metadata.sent && sum.value == trace->metadata.sum.value &&
	     !metadata_are_due(forward, trace)))
		return CTRACE_OK;
	trace->metadata.restarts = streams_sent(trace);
	for (size_t at = 0; status == CTRACE_OK && at < size;) {
		size_t part = size - at < forward->body_max ? size - at : forward->body_max;
		struct ct_nats_chunk chunk = {
			.bytes = bytes + at,
			.size = part,
			.offset = at,
			.total = size,
			.version = sum.value + trace->metadata.restarts,
			.sum = sum,
			.is_complete = is_complete,
		};

		status = ct_nats_message_send(forward, trace, CT_NATS_METADATA, &chunk);
		at += part;
	}
	trace->metadata.sent = size;
	trace->metadata.sum = sum;
	return status;
}

/* Is the trace closed, and has each byte of it been sent?  Files may have been cut since. */
static bool trace_is_whole(const struct ct_nats_trace *trace, const char *text, size_t size)
{
	size_t end = 0;
	const char *mark = ct_bin_mark_find(text, size, CT_BIN_MARK_CLOSED, &end);
	bool is_whole = !trace->is_open && mark != NULL && end == size;
	uint64_t marked = 0, sent = 0;
	bool is_packed = false;
	struct ct_bin_mark value;
	uint32_t id;

	if (is_whole)
		mark += sizeof CT_BIN_MARK_CLOSED - 1;
	while (is_whole && ct_bin_mark_next(&mark, text + end, &id, &value) == CTRACE_OK)
		marked += value.value;

	for (const struct ct_nats_file *file = trace->files; file != NULL; file = file->next) {
		is_packed = is_packed || strchr(file->name, 'z') != NULL;
		is_whole = is_whole && file->sent == file->limit;
		sent += file->sent;
	}
	return is_whole && (is_packed || sent >= marked);
}

static enum ctrace_status trace_send(struct ct_nats_forwarder *forward, struct ct_nats_trace *trace)
{
	enum ctrace_status status = CTRACE_OK;
	bool is_complete;
	int fd = file_open(trace, CT_NATS_METADATA);
	struct stat stat;
	unsigned char *text;
	size_t at;

	if (fd < 0) { /* ENOENT: not yet, or removed */
		if (errno != ENOENT)
			trace_skip(forward, trace, CT_NATS_METADATA, strerror(errno));
		return CTRACE_OK;
	}
	trace->is_open = trace_is_open(fd);
	trace->is_sent = false;
	if (fstat(fd, &stat) != 0 || stat.st_size <= 0 || (size_t)stat.st_size > METADATA_MAX) {
		(void)close(fd);
		return CTRACE_OK;
	}
	text = malloc((size_t)stat.st_size);
	if (text == NULL) {
		(void)close(fd);
		return ct_nats_forward_fail(forward, CTRACE_NOT_ENOUGH_MEMORY, trace->path,
					    "not enough memory");
	}
	if (bytes_read(fd, text, (size_t)stat.st_size, 0) &&
	    ct_binfile_info_parse((const char *)text, (size_t)stat.st_size, &trace->info, &at) ==
		    CTRACE_OK) {
		char uuid[sizeof trace->uuid];

		for (size_t i = 0; i < sizeof trace->info.uuid; i++)
			(void)snprintf(uuid + 2 * i, 3, "%02x", trace->info.uuid[i]);
		if (strcmp(uuid, trace->uuid) != 0) { /* a generation that is used again */
			ct_nats_trace_reset(trace);
			memcpy(trace->uuid, uuid, sizeof uuid);
		}
		if (!trace->is_begun) {
			ct_nats_note_read(forward, trace);
			ct_nats_trace_compare(forward, trace);
		}
		trace->is_complete =
			forward->copy->is_spool && !trace->is_open &&
			ct_nats_spool_is_complete(trace, (const char *)text, (size_t)stat.st_size);
		status = streams_look(forward, trace);
		if (status == CTRACE_OK && forward->copy->verifies && !trace->is_verified)
			status = ct_nats_trace_verify(forward, trace);
		if (status == CTRACE_OK) {
			is_complete =
				trace_is_whole(trace, (const char *)text, (size_t)stat.st_size);
			status = metadata_send(forward, trace, text, (size_t)stat.st_size,
					       is_complete);
		}
		for (struct ct_nats_file *file = trace->files; file != NULL && status == CTRACE_OK;
		     file = file->next)
			status = file_send(forward, trace, file);
		/* Nothing comes behind the metadata that say so. */
		is_complete = trace_is_whole(trace, (const char *)text, (size_t)stat.st_size);
		if (status == CTRACE_OK && is_complete && metadata_are_due(forward, trace) &&
		    !ct_nats_messages_wait(forward)) {
			is_complete = false;
			__atomic_store_n(&forward->failed, 1, __ATOMIC_RELAXED);
		}
		if (status == CTRACE_OK)
			status = metadata_send(forward, trace, text, (size_t)stat.st_size,
					       is_complete);
		trace->is_sent = status == CTRACE_OK;
	} else if (!trace->is_open) {
		trace_skip(forward, trace, CT_NATS_METADATA, "these are no metadata of ctrace");
	}
	free(text);
	(void)close(fd);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * Traces
 */

enum ctrace_status ct_nats_trace_add(struct ct_nats_forwarder *forward, const char *path)
{
	struct ct_nats_trace *trace, **end = &forward->traces;

	for (; *end != NULL; end = &(*end)->next) {
		if (strcmp((*end)->path, path) != 0)
			continue;
		(*end)->is_there = true;
		return CTRACE_OK;
	}
	trace = calloc(1, sizeof *trace);
	if (trace == NULL || (trace->path = strdup(path)) == NULL) {
		free(trace);
		return ct_nats_forward_fail(forward, CTRACE_NOT_ENOUGH_MEMORY, path,
					    "not enough memory");
	}
	(void)snprintf(trace->metadata.name, sizeof trace->metadata.name, CT_NATS_METADATA);
	trace->is_acknowledged = trace->is_noted = trace->is_there = true;
	*end = trace;
	forward->copy->traces++;
	return CTRACE_OK;
}

void ct_nats_trace_free(struct ct_nats_trace *trace)
{
	while (trace->files != NULL) {
		struct ct_nats_file *file = trace->files;

		trace->files = file->next;
		free(file);
	}
	free(trace->path);
	free(trace);
}

/* A trace, or a directory with some. */
static enum ctrace_status path_look(struct ct_nats_forwarder *forward, const char *path,
				    unsigned depth)
{
	enum ctrace_status status = CTRACE_OK;
	char inner[4200];
	DIR *directory;
	const struct dirent *entry;

	(void)snprintf(inner, sizeof inner, "%s/" CT_NATS_METADATA, path);
	if (access(inner, F_OK) == 0)
		return ct_nats_trace_add(forward, path);
	directory = opendir(path);
	if (directory == NULL) {
		if (depth < PATH_DEPTH && errno == ENOENT)
			return CTRACE_OK; /* it was removed */
		status = ct_nats_forward_fail(forward, CTRACE_NOT_FOUND, path, strerror(errno));
		if (depth == PATH_DEPTH)
			return status;
		forward->has_skipped = true; /* the other directories count */
		if (forward->copy->follows)
			ct_nats_report(forward->copy);
		return CTRACE_OK;
	}
	while (status == CTRACE_OK && (entry = readdir(directory)) != NULL) {
		struct stat stat;

		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(directory), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISDIR(stat.st_mode) || depth == 0)
			continue;
		(void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
		status = path_look(forward, inner, depth - 1);
	}
	(void)closedir(directory);
	return status;
}

static enum ctrace_status pass(struct ct_nats_forwarder *forward, bool *out_is_settled)
{
	enum ctrace_status status = CTRACE_OK;

	forward->has_sent = forward->has_skipped = false;
	if (forward->copy->is_spool)
		status = ct_nats_spool_look(forward);
	for (size_t i = 0;
	     i < forward->copy->path_count && status == CTRACE_OK && !forward->copy->is_spool; i++)
		status = path_look(forward, forward->copy->paths[i], PATH_DEPTH);
	for (struct ct_nats_trace *trace = forward->traces; trace != NULL && status == CTRACE_OK;
	     trace = trace->next)
		if (trace->since_ms == 0)
			status = trace_send(forward, trace);
	if (status == CTRACE_OK)
		status = ct_nats_messages_settle(forward, out_is_settled);
	return status;
}

/* After a pass whose messages were not all acknowledged: reports why.  A forwarder that does not
 * follow gives up after a while. */
static enum ctrace_status pass_failed(struct ct_nats_forwarder *forward, int64_t begun_ms)
{
	struct ct_nats_copy *copy = forward->copy;
	enum ctrace_status status = ct_nats_stream_check(forward);
	bool has_no_leader = false;

	if (status == CTRACE_OK) {
		bool is_refused = __atomic_load_n(&forward->has_refusal, __ATOMIC_ACQUIRE) != 0;
		const char *last = ct_nats_refusal(forward->link.connection);
		const char *why = is_refused ? forward->refusal
				  : last != NULL
					  ? last
					  : "the servers do not answer; more than half of those "
					    "that keep the stream have to run";

		has_no_leader = strstr(why, "No responders") != NULL;
		(void)snprintf(copy->error, CT_NATS_ERROR_SIZE,
			       "stream %.100s: messages are not acknowledged: %.200s%s",
			       forward->address.stream, why,
			       has_no_leader ? ": it has other subjects, or its servers choose a "
					       "leader"
					     : "");
	}
	__atomic_store_n(&forward->has_refusal, 0, __ATOMIC_RELEASE);
	if (forward->unsettled_since == 0)
		forward->unsettled_since = begun_ms;
	if (!copy->follows && nats_Now() - forward->unsettled_since >= REFUSED_MS)
		return CTRACE_OUTPUT_ERROR;
	if (copy->follows && (!has_no_leader || nats_Now() - forward->unsettled_since >= LEADER_MS))
		ct_nats_report(copy);
	return CTRACE_OK;
}

static int64_t processor_ms(void)
{
	struct timespec used;

	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0
		       ? used.tv_sec * 1000 + used.tv_nsec / 1000000
		       : 0;
}

/* Waits before the next pass.  A directory may have thousands of finished traces: a follower with
 * nothing to send takes a tenth of a processor at most.  used_ms: what the pass took of one; the
 * time in which it waited for servers does not count.  After a pass that failed, it does not send
 * the same at once. */
static void passes_wait(const struct ct_nats_copy *copy, int64_t used_ms, bool is_settled)
{
	int64_t rest_ms = is_settled ? 9 * used_ms : RETRY_MS;
	int64_t end_ms = nats_Now() + (copy->follows ? rest_ms : 0);

	while (ct_nats_wait(copy) && nats_Now() < end_ms)
		;
}

/* Until everything is sent; with `follows`, until goes_on() returns false. */
static enum ctrace_status passes(struct ct_nats_forwarder *forward)
{
	struct ct_nats_copy *copy = forward->copy;
	bool is_settled = false, was_open = true;
	int64_t idle_since = nats_Now();
	enum ctrace_status status = CTRACE_OK;

	while (status == CTRACE_OK && copy->goes_on(copy->user)) {
		uint64_t reconnects = ct_nats_reconnects(forward);
		int64_t begun_ms = nats_Now(), used_ms = processor_ms();

		/* Servers may have come back without the stream, or with an earlier state of it. */
		if ((reconnects != forward->reconnects || begun_ms >= forward->look_at_ms) &&
		    ct_nats_stream_check(forward) == CTRACE_OK)
			forward->reconnects = reconnects;
		status = pass(forward, &is_settled);
		if (status == CTRACE_OK && !is_settled)
			status = pass_failed(forward, begun_ms);
		else
			forward->unsettled_since = 0;
		if (status != CTRACE_OK)
			break;
		if (copy->traces == 0 && !copy->follows)
			return forward->has_skipped
				       ? CTRACE_NOT_FOUND
				       : ct_nats_forward_fail(forward, CTRACE_NOT_FOUND,
							      copy->paths[0], "there is no trace");
		/* A second pass sends what was there in the first one, of open traces too. */
		if (!copy->follows && is_settled && !forward->has_sent && !was_open)
			return forward->has_skipped ? CTRACE_NOT_FOUND : CTRACE_OK;
		was_open = false;
		if (!copy->is_spool || forward->traces != NULL)
			idle_since = nats_Now();
		else if (nats_Now() - idle_since >= IDLE_MS)
			break;
		if (!is_settled || !forward->has_sent)
			passes_wait(copy, processor_ms() - used_ms, is_settled);
	}
	if (status == CTRACE_OK && !copy->follows)
		return ct_nats_forward_fail(
			forward, CTRACE_OUTPUT_ERROR, forward->address.stream,
			"stopped before everything was sent; call ctrace forward again");
	return status;
}

enum ctrace_status ct_nats_forward(struct ct_nats_copy *copy)
{
	struct ct_nats_forwarder forward = { .copy = copy, .lock = PTHREAD_MUTEX_INITIALIZER };
	jsOptions options;
	enum ctrace_status status =
		ct_nats_address_parse(copy->address, true, &forward.address, copy->error);

	if (status != CTRACE_OK)
		return status;
	if (strcmp(forward.address.host, "*") != 0 || strcmp(forward.address.job, "*") != 0) {
		(void)snprintf(
			copy->error, CT_NATS_ERROR_SIZE,
			"host= and job= in the address are for readers; every trace is sent under "
			"its own host and job");
		return CTRACE_SYNTAX_ERROR;
	}
	forward.body = malloc(BODY_MAX);
	if (forward.body == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	do {
		status = ct_nats_link_open(&forward.link, &forward.address, true, copy->error);
	} while (status == CTRACE_OUTPUT_ERROR && copy->follows && ct_nats_retry(copy));
	if (status == CTRACE_OK) {
		int64_t most = forward.link.payload_max - HEADERS_SIZE;

		forward.body_max =
			most < (int64_t)BODY_MAX ? (size_t)(most > 4096 ? most : 4096) : BODY_MAX;
		jsCtx_Destroy(forward.link.context);
		forward.link.context = NULL;
		(void)jsOptions_Init(&options);
		options.PublishAsync.MaxPending = UNDER_WAY;
		options.PublishAsync.AckHandler = ct_nats_publish_ended;
		options.PublishAsync.AckHandlerClosure = &forward;
		options.PublishAsync.StallWait = ACKNOWLEDGE_MS;
		options.Wait = CT_NATS_REQUEST_MS;
		if (natsConnection_JetStream(&forward.link.context, forward.link.connection,
					     &options) != NATS_OK)
			status = CTRACE_NOT_ENOUGH_MEMORY;
		else
			status = passes(&forward);
		ct_nats_link_close(&forward.link);
	}
	while (forward.traces != NULL) {
		struct ct_nats_trace *trace = forward.traces;

		forward.traces = trace->next;
		ct_nats_trace_free(trace);
	}
	free(forward.body);
	return status;
}
