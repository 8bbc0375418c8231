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
#include "nats_parts.h"

#include "base/base.h"
#include "format/format.h"
#include "read/binfile_metadata.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNDER_WAY 64 /* messages */
#define BODY_MAX ((size_t)512 << 10)
#define HEADERS_SIZE 2048 /* bytes that the headers and the subject take at most */
#define ACKNOWLEDGE_MS 30000
#define REFUSED_MS 10000 /* for so long, a forwarder that does not follow tries again */
#define METADATA_MAX CT_METADATA_LIMIT
#define PATH_DEPTH 2u /* directories below a path */
#define NOTE_BEGIN (2 * CT_NATS_TEXT + 80)

struct sum {
	uint64_t value; /* FNV-1a */
};

struct file {
	struct file *next;
	char name[64];
	uint64_t sent;  /* bytes that were sent */
	struct sum sum; /* of these */
	uint64_t noted; /* bytes that the server has acknowledged */
	struct sum noted_sum;
	uint64_t limit;  /* bytes that may be sent in this pass */
	uint64_t seen;   /* its length in the last pass */
	int64_t changed; /* the time of its last change, when it was compared last */
	/* how often it was begun again; of the metadata: the bytes of the streams that were sent
	 * when it was sent last */
	uint64_t restarts;
	uint64_t noted_restarts;
};

struct trace {
	struct trace *next;
	char *path;
	struct ct_trace_info info;
	char uuid[33];
	bool is_open;  /* a process has it open */
	bool is_begun; /* its note was read */
	bool is_noted; /* the note is that of the present state */
	struct file *files;
	struct file metadata;
};

struct forward {
	struct ct_nats_copy *copy;
	struct ct_nats_address address;
	struct ct_nats_link link;
	struct trace *traces;
	unsigned char *body; /* BODY_MAX bytes */
	size_t body_max;
	uint32_t under_way;
	int failed;              /* atomic: a message was not acknowledged */
	int has_refusal;         /* atomic: refusal is set */
	char refusal[256];       /* why the first message of them failed */
	uint64_t reconnects;     /* of the connection, when the stream was looked at last */
	int64_t unsettled_since; /* ms since 1970; 0: all was acknowledged */
	bool has_sent;           /* in this pass */
	bool has_skipped;        /* in this pass: something cannot be read, see copy->error */
};

static enum ctrace_status forward_fail(struct forward *forward, enum ctrace_status status,
				       const char *path, const char *what)
{
	(void)snprintf(forward->copy->error, CT_NATS_ERROR_SIZE, "%.300s: %.200s", path, what);
	return status;
}

static struct sum sum_add(struct sum sum, const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum.value = (sum.value ^ bytes[i]) * UINT64_C(0x100000001B3);
	return sum;
}

static const struct sum sum_empty = { UINT64_C(0xCBF29CE484222325) };

/* -----------------------------------------------------------------------------------------------
 * The note: how far each file is sent
 */

static void note_path(const struct forward *forward, const struct trace *trace, char *out,
		      size_t size)
{
	(void)snprintf(out, size, "%s/.forwarded.%s", trace->path, forward->address.stream);
}

/* By number: what is sent last is kept longest. */
static bool name_is_before(const char *one, const char *other)
{
	size_t size = strcspn(one + 7, "."), other_size = strcspn(other + 7, ".");

	return size != other_size ? size < other_size : strcmp(one, other) < 0;
}

static struct file *file_find(struct trace *trace, const char *name)
{
	struct file *file, **at = &trace->files;

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
	file->sum = file->noted_sum = sum_empty;
	file->next = *at;
	*at = file;
	return file;
}

static bool name_is_stream(const char *name)
{
	return strncmp(name, "stream.", 7) == 0 && strlen(name) < 40 &&
	       ((name[7] >= '0' && name[7] <= '9') || strcmp(name, "stream.lost") == 0);
}

/* What the note is about: this trace, in this stream, under these subjects.  A stream that was made
 * anew has none of the bytes, and neither has another server's stream of that name. */
static void note_begin(const struct forward *forward, const struct trace *trace, char *out,
		       size_t size)
{
	(void)snprintf(out, size, "%s in %lld as %s.%s\n", trace->uuid,
		       (long long)forward->link.created, forward->address.subject,
		       forward->address.cluster);
}

static void note_read(const struct forward *forward, struct trace *trace)
{
	char path[4200], name[64], begin[NOTE_BEGIN], found[NOTE_BEGIN];
	unsigned long long sent, sum, restarts;
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
	while (fscanf(note, "%63s %llu %llx %llu\n", name, &sent, &sum, &restarts) == 4) {
		bool is_known = strcmp(name, CT_NATS_METADATA) == 0 || name_is_stream(name);
		struct file *file = is_known ? file_find(trace, name) : NULL;

		if (file == NULL)
			continue;
		file->sent = file->noted = sent;
		file->sum.value = file->noted_sum.value = sum;
		file->restarts = file->noted_restarts = restarts;
	}
	(void)fclose(note);
}

static void note_add(struct ct_buf *text, const struct file *file)
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

static void file_take_note(struct file *file)
{
	file->noted = file->sent;
	file->noted_sum = file->sum;
	file->noted_restarts = file->restarts;
}

static enum ctrace_status note_write(struct forward *forward, struct trace *trace)
{
	char path[4200], new_path[4240], begin[NOTE_BEGIN];
	struct ct_buf text;
	bool is_written;

	note_path(forward, trace, path, sizeof path);
	/* Another forwarder may write the same note at the same time. */
	(void)snprintf(new_path, sizeof new_path, "%s.%ld.new", path, (long)getpid());
	note_begin(forward, trace, begin, sizeof begin);
	ct_buf_init(&text);
	ct_buf_add_format(&text, "%s", begin);
	note_add(&text, &trace->metadata);
	for (const struct file *file = trace->files; file != NULL; file = file->next)
		note_add(&text, file);
	is_written = !text.failed && file_write(new_path, text.data, text.size);
	ct_buf_fini(&text);
	if (!is_written || rename(new_path, path) != 0) {
		int error = errno;

		(void)unlink(new_path);
		return forward_fail(forward, CTRACE_OS_ERROR, path, strerror(error));
	}
	file_take_note(&trace->metadata);
	for (struct file *file = trace->files; file != NULL; file = file->next)
		file_take_note(file);
	trace->is_noted = true;
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Messages
 */

static void publish_failed(jsCtx *context, jsPubAckErr *error, void *user)
{
	struct forward *forward = user;

	(void)context;
	if (__atomic_load_n(&forward->has_refusal, __ATOMIC_ACQUIRE) == 0) {
		(void)snprintf(forward->refusal, sizeof forward->refusal, "%s",
			       error->ErrText != NULL ? error->ErrText
						      : natsStatus_GetText(error->Err));
		__atomic_store_n(&forward->has_refusal, 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&forward->failed, 1, __ATOMIC_RELAXED);
}

static void back_to_note(struct file *file)
{
	file->sent = file->noted;
	file->sum = file->noted_sum;
	file->restarts = file->noted_restarts;
}

/* Forgets what was sent of the trace.  Its note is read again. */
static void trace_reset(struct trace *trace)
{
	while (trace->files != NULL) {
		struct file *file = trace->files;

		trace->files = file->next;
		free(file);
	}
	trace->metadata = (struct file){ .name = CT_NATS_METADATA };
	trace->is_begun = false;
	trace->is_noted = true;
}

/* Makes the stream again when it is gone.  What an earlier stream had, this one has not. */
static enum ctrace_status stream_check(struct forward *forward)
{
	int64_t created = forward->link.created;
	enum ctrace_status status =
		ct_nats_stream_look(&forward->link, &forward->address, true, forward->copy->error);

	if (status == CTRACE_OK && forward->link.created != created)
		for (struct trace *trace = forward->traces; trace != NULL; trace = trace->next)
			trace_reset(trace);
	return status;
}

static uint64_t reconnects_of(const struct forward *forward)
{
	natsStatistics *statistics = NULL;
	uint64_t reconnects = 0;

	if (natsStatistics_Create(&statistics) == NATS_OK &&
	    natsConnection_GetStats(forward->link.connection, statistics) == NATS_OK)
		(void)natsStatistics_GetCounts(statistics, NULL, NULL, NULL, NULL, &reconnects);
	natsStatistics_Destroy(statistics);
	return reconnects;
}

/* Drops the messages whose acknowledgements do not come: they would count as under way. */
static void messages_drop(struct forward *forward)
{
	natsMsgList list;

	if (js_PublishAsyncGetPendingList(&list, forward->link.context) == NATS_OK)
		natsMsgList_Destroy(&list);
}

/* Waits until the server has all messages.  False: some have to be sent again. */
static enum ctrace_status messages_settle(struct forward *forward, bool *out_is_settled)
{
	jsPubOptions options;
	natsStatus status;
	enum ctrace_status result = CTRACE_OK;

	(void)jsPubOptions_Init(&options);
	options.MaxWait = ACKNOWLEDGE_MS;
	status = forward->under_way > 0 ? js_PublishAsyncComplete(forward->link.context, &options)
					: NATS_OK;
	forward->under_way = 0;
	if (status != NATS_OK)
		messages_drop(forward);
	*out_is_settled = __atomic_exchange_n(&forward->failed, 0, __ATOMIC_RELAXED) == 0 &&
			  status == NATS_OK;
	for (struct trace *trace = forward->traces; trace != NULL; trace = trace->next) {
		if (trace->is_noted)
			continue;
		if (*out_is_settled && result == CTRACE_OK) {
			result = note_write(forward, trace);
		} else {
			back_to_note(&trace->metadata);
			for (struct file *file = trace->files; file != NULL; file = file->next)
				back_to_note(file);
			trace->is_noted = true;
		}
	}
	return result;
}

static natsStatus header_number(natsMsg *message, const char *name, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	return natsMsgHeader_Set(message, name, text);
}

struct chunk {
	const unsigned char *bytes;
	size_t size;
	uint64_t offset;
	uint64_t total;       /* metadata: of all parts */
	uint64_t packed_size; /* of the whole file */
	bool begins;          /* with a packet */
	uint64_t first_ns, last_ns;
	uint64_t version; /* part of the message's id */
};

static natsStatus message_make(const struct forward *forward, const struct trace *trace,
			       const char *name, const struct chunk *chunk, natsMsg **out)
{
	char subject[1400], host[256], job[64], token[64], cluster[CT_NATS_TEXT];
	const char *base = strrchr(trace->path, '/');
	natsStatus status;

	ct_nats_token(host, sizeof host, trace->info.host);
	ct_nats_token(job, sizeof job, trace->info.jobname);
	ct_nats_token(cluster, sizeof cluster,
		      forward->address.cluster[0] != '\0' ? forward->address.cluster : "default");
	(void)snprintf(token, sizeof token, "%s", name);
	for (char *at = token; *at != '\0'; at++)
		*at = *at == '.' ? '-' : *at;
	(void)snprintf(subject, sizeof subject, "%s.%s.%s.%s.%s.%s", forward->address.subject,
		       cluster, host, job, trace->uuid, token);
	status = natsMsg_Create(out, subject, NULL, (const char *)chunk->bytes, (int)chunk->size);
	if (status != NATS_OK)
		return status;
	status = natsMsgHeader_Set(*out, CT_NATS_FILE, name);
	if (status == NATS_OK)
		status = natsMsgHeader_Set(*out, CT_NATS_NAME,
					   base != NULL ? base + 1 : trace->path);
	if (status == NATS_OK)
		status = header_number(*out, CT_NATS_OFFSET, chunk->offset);
	if (status == NATS_OK && chunk->total > 0)
		status = header_number(*out, CT_NATS_SIZE, chunk->total);
	if (status == NATS_OK && chunk->packed_size > 0)
		status = header_number(*out, CT_NATS_SIZE, chunk->packed_size);
	if (status == NATS_OK && chunk->begins)
		status = natsMsgHeader_Set(*out, CT_NATS_BEGINS, "yes");
	if (status == NATS_OK && chunk->total == 0 && chunk->version > 0)
		status = header_number(*out, CT_NATS_RESTART, chunk->version);
	if (status == NATS_OK && chunk->last_ns > 0)
		status = header_number(*out, CT_NATS_FIRST, chunk->first_ns);
	if (status == NATS_OK && chunk->last_ns > 0)
		status = header_number(*out, CT_NATS_LAST, chunk->last_ns);
	if (status != NATS_OK)
		natsMsg_Destroy(*out);
	return status;
}

/* Sends one message; it is acknowledged later. */
static enum ctrace_status message_send(struct forward *forward, struct trace *trace,
				       const char *name, const struct chunk *chunk)
{
	jsPubOptions options;
	natsMsg *message = NULL;
	char id[160];
	natsStatus status = message_make(forward, trace, name, chunk, &message);

	if (status == NATS_OK) {
		(void)jsPubOptions_Init(&options);
		/* A later message of that offset may have more bytes, and is no duplicate. */
		(void)snprintf(id, sizeof id, "%s/%s/%llu/%llx/%zx", trace->uuid, name,
			       (unsigned long long)chunk->offset,
			       (unsigned long long)chunk->version, chunk->size);
		options.MsgId = id;
		/* Another stream may have the subject. */
		options.ExpectStream = forward->address.stream;
		trace->is_noted = false;
		status = js_PublishMsgAsync(forward->link.context, &message, &options);
		natsMsg_Destroy(message);
		if (status != NATS_OK) /* too many are under way for too long */
			__atomic_store_n(&forward->failed, 1, __ATOMIC_RELAXED);
	} else {
		return forward_fail(forward, CTRACE_NOT_ENOUGH_MEMORY, trace->path,
				    natsStatus_GetText(status));
	}
	forward->under_way++;
	forward->has_sent = true;
	forward->copy->messages++;
	forward->copy->bytes += chunk->size;
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Files
 */

static int file_open(const struct trace *trace, const char *name)
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
static void trace_skip(struct forward *forward, const struct trace *trace, const char *name,
		       const char *why)
{
	(void)snprintf(forward->copy->error, CT_NATS_ERROR_SIZE, "%.300s/%s: %.100s", trace->path,
		       name, why);
	forward->has_skipped = true;
	if (forward->copy->follows)
		ct_nats_report(forward->copy);
}

/* As many whole packets as the body has room for.  The first part of a larger one. */
static struct chunk chunk_cut(const unsigned char *bytes, size_t size, size_t most)
{
	struct chunk chunk = { .bytes = bytes };
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

static enum ctrace_status file_send(struct forward *forward, struct trace *trace, struct file *file)
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
		struct chunk chunk = { .bytes = forward->body, .size = size };
		bool is_settled = true;

		if (!bytes_read(fd, forward->body, size, file->sent)) {
			trace_skip(forward, trace, file->name, strerror(EIO));
			break;
		}
		if (!is_packed)
			chunk = chunk_cut(forward->body, size, forward->body_max);
		if (chunk.size == 0)
			break;
		chunk.offset = file->sent;
		chunk.version = file->restarts;
		chunk.begins = chunk.begins || (is_packed && file->sent == 0);
		chunk.packed_size = is_packed ? file->limit : 0;
		status = message_send(forward, trace, file->name, &chunk);
		file->sent += chunk.size;
		file->sum = sum_add(file->sum, chunk.bytes, chunk.size);
		if (status == CTRACE_OK && forward->under_way >= UNDER_WAY)
			status = messages_settle(forward, &is_settled);
		if (!is_settled) /* the pass ends; each wait takes half a minute */
			__atomic_store_n(&forward->failed, 1, __ATOMIC_RELAXED);
	}
	if (fd >= 0)
		(void)close(fd);
	return status;
}

/* The file is no longer what was sent: from the beginning. */
static void file_compare(struct forward *forward, const struct trace *trace, struct file *file,
			 const struct stat *stat)
{
	int64_t changed = (int64_t)stat->st_mtim.tv_sec * 1000000000 + stat->st_mtim.tv_nsec;
	struct sum sum = sum_empty;
	uint64_t at = 0;
	int fd;

	if (trace->is_open || changed == file->changed)
		return;
	fd = file_open(trace, file->name);
	while (fd >= 0 && at < file->sent) {
		size_t size = file->sent - at < BODY_MAX ? (size_t)(file->sent - at) : BODY_MAX;

		if (!bytes_read(fd, forward->body, size, at))
			break;
		sum = sum_add(sum, forward->body, size);
		at += size;
	}
	if (fd >= 0)
		(void)close(fd);
	file->changed = changed;
	if (at == file->sent && sum.value == file->sum.value)
		return;
	file->sent = file->noted = 0;
	file->sum = file->noted_sum = sum_empty;
	file->restarts = ++file->noted_restarts;
}

/* How long the streams are. */
static enum ctrace_status streams_look(struct forward *forward, struct trace *trace)
{
	DIR *directory = opendir(trace->path);
	const struct dirent *entry;

	if (directory == NULL)
		return CTRACE_OK; /* it was removed */
	while ((entry = readdir(directory)) != NULL) {
		struct stat stat;
		struct file *file;

		if (!name_is_stream(entry->d_name) ||
		    fstatat(dirfd(directory), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(stat.st_mode))
			continue;
		file = file_find(trace, entry->d_name);
		if (file == NULL) {
			(void)closedir(directory);
			return forward_fail(forward, CTRACE_NOT_ENOUGH_MEMORY, trace->path,
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

static uint64_t streams_sent(const struct trace *trace)
{
	uint64_t sent = 0;

	for (const struct file *file = trace->files; file != NULL; file = file->next)
		sent += file->sent;
	return sent;
}

/* Are the metadata due behind the packets?  A stream that keeps only the last messages discards
 * those before. */
static bool metadata_are_due(const struct forward *forward, const struct trace *trace)
{
	uint64_t since = streams_sent(trace) - trace->metadata.restarts;
	uint64_t limit = (uint64_t)forward->link.max_bytes / 4;

	return since != 0 && (!trace->is_open || (limit > 0 && since > limit));
}

/* Sends the metadata if they have changed since, or are due. */
static enum ctrace_status metadata_send(struct forward *forward, struct trace *trace,
					const unsigned char *bytes, size_t size)
{
	struct sum sum = sum_add(sum_empty, bytes, size);
	enum ctrace_status status = CTRACE_OK;

	if (__atomic_load_n(&forward->failed, __ATOMIC_RELAXED) != 0 ||
	    (size == trace->metadata.sent && sum.value == trace->metadata.sum.value &&
	     !metadata_are_due(forward, trace)))
		return CTRACE_OK;
	trace->metadata.restarts = streams_sent(trace);
	for (size_t at = 0; status == CTRACE_OK && at < size;) {
		size_t part = size - at < forward->body_max ? size - at : forward->body_max;
		struct chunk chunk = {
			.bytes = bytes + at,
			.size = part,
			.offset = at,
			.total = size,
			.version = sum.value + trace->metadata.restarts,
		};

		status = message_send(forward, trace, CT_NATS_METADATA, &chunk);
		at += part;
	}
	trace->metadata.sent = size;
	trace->metadata.sum = sum;
	return status;
}

static enum ctrace_status trace_send(struct forward *forward, struct trace *trace)
{
	enum ctrace_status status = CTRACE_OK;
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
	if (fstat(fd, &stat) != 0 || stat.st_size <= 0 || (size_t)stat.st_size > METADATA_MAX) {
		(void)close(fd);
		return CTRACE_OK;
	}
	text = malloc((size_t)stat.st_size);
	if (text == NULL) {
		(void)close(fd);
		return forward_fail(forward, CTRACE_NOT_ENOUGH_MEMORY, trace->path,
				    "not enough memory");
	}
	if (bytes_read(fd, text, (size_t)stat.st_size, 0) &&
	    ct_binfile_info_parse((const char *)text, (size_t)stat.st_size, &trace->info, &at) ==
		    CTRACE_OK) {
		char uuid[sizeof trace->uuid];

		for (size_t i = 0; i < sizeof trace->info.uuid; i++)
			(void)snprintf(uuid + 2 * i, 3, "%02x", trace->info.uuid[i]);
		if (strcmp(uuid, trace->uuid) != 0) { /* a generation that is used again */
			trace_reset(trace);
			memcpy(trace->uuid, uuid, sizeof uuid);
		}
		if (!trace->is_begun)
			note_read(forward, trace);
		status = streams_look(forward, trace);
		if (status == CTRACE_OK)
			status = metadata_send(forward, trace, text, (size_t)stat.st_size);
		for (struct file *file = trace->files; file != NULL && status == CTRACE_OK;
		     file = file->next)
			status = file_send(forward, trace, file);
		if (status == CTRACE_OK)
			status = metadata_send(forward, trace, text, (size_t)stat.st_size);
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

static enum ctrace_status trace_add(struct forward *forward, const char *path)
{
	struct trace *trace, **end = &forward->traces;

	for (; *end != NULL; end = &(*end)->next)
		if (strcmp((*end)->path, path) == 0)
			return CTRACE_OK;
	trace = calloc(1, sizeof *trace);
	if (trace == NULL || (trace->path = strdup(path)) == NULL) {
		free(trace);
		return forward_fail(forward, CTRACE_NOT_ENOUGH_MEMORY, path, "not enough memory");
	}
	(void)snprintf(trace->metadata.name, sizeof trace->metadata.name, CT_NATS_METADATA);
	trace->is_noted = true;
	*end = trace;
	forward->copy->traces++;
	return CTRACE_OK;
}

/* A trace, or a directory with some. */
static enum ctrace_status path_look(struct forward *forward, const char *path, unsigned depth)
{
	enum ctrace_status status = CTRACE_OK;
	char inner[4200];
	DIR *directory;
	const struct dirent *entry;

	(void)snprintf(inner, sizeof inner, "%s/" CT_NATS_METADATA, path);
	if (access(inner, F_OK) == 0)
		return trace_add(forward, path);
	directory = opendir(path);
	if (directory == NULL) {
		if (depth < PATH_DEPTH && errno == ENOENT)
			return CTRACE_OK; /* it was removed */
		status = forward_fail(forward, CTRACE_NOT_FOUND, path, strerror(errno));
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

static enum ctrace_status pass(struct forward *forward, bool *out_is_settled)
{
	enum ctrace_status status = CTRACE_OK;

	forward->has_sent = forward->has_skipped = false;
	for (size_t i = 0; i < forward->copy->path_count && status == CTRACE_OK; i++)
		status = path_look(forward, forward->copy->paths[i], PATH_DEPTH);
	for (struct trace *trace = forward->traces; trace != NULL && status == CTRACE_OK;
	     trace = trace->next)
		status = trace_send(forward, trace);
	if (status == CTRACE_OK)
		status = messages_settle(forward, out_is_settled);
	return status;
}

/* After a pass whose messages were not all acknowledged: reports why.  A forwarder that does not
 * follow gives up after a while. */
static enum ctrace_status pass_failed(struct forward *forward, int64_t begun_ms)
{
	struct ct_nats_copy *copy = forward->copy;
	enum ctrace_status status = stream_check(forward);

	if (status == CTRACE_OK) {
		bool is_refused = __atomic_load_n(&forward->has_refusal, __ATOMIC_ACQUIRE) != 0;
		const char *last = NULL; /* such as a violation of permissions */

		(void)natsConnection_GetLastError(forward->link.connection, &last);
		(void)snprintf(copy->error, CT_NATS_ERROR_SIZE,
			       "stream %.200s: messages are not acknowledged: %.200s",
			       forward->address.stream,
			       is_refused                        ? forward->refusal
			       : last != NULL && last[0] != '\0' ? last
								 : "Timeout");
	}
	__atomic_store_n(&forward->has_refusal, 0, __ATOMIC_RELEASE);
	if (forward->unsettled_since == 0)
		forward->unsettled_since = begun_ms;
	if (!copy->follows && nats_Now() - forward->unsettled_since >= REFUSED_MS)
		return CTRACE_OUTPUT_ERROR;
	if (copy->follows)
		ct_nats_report(copy);
	return CTRACE_OK;
}

/* Waits before the next pass.  A directory may have thousands of finished traces: a follower with
 * nothing to send takes a tenth of a processor at most. */
static void passes_wait(const struct ct_nats_copy *copy, int64_t pass_ms)
{
	int64_t end_ms = nats_Now() + (copy->follows ? 9 * pass_ms : 0);

	while (ct_nats_wait(copy) && nats_Now() < end_ms)
		;
}

/* Until everything is sent; with `follows`, until goes_on() returns false. */
static enum ctrace_status passes(struct forward *forward)
{
	struct ct_nats_copy *copy = forward->copy;
	bool is_settled = false, was_open = true;
	enum ctrace_status status = CTRACE_OK;

	while (status == CTRACE_OK && copy->goes_on(copy->user)) {
		uint64_t reconnects = reconnects_of(forward);
		int64_t begun_ms = nats_Now();

		/* Servers may have come back without the stream. */
		if (reconnects != forward->reconnects && stream_check(forward) == CTRACE_OK)
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
				       : forward_fail(forward, CTRACE_NOT_FOUND, copy->paths[0],
						      "there is no trace");
		/* A second pass sends what was there in the first one, of open traces too. */
		if (!copy->follows && is_settled && !forward->has_sent && !was_open)
			return forward->has_skipped ? CTRACE_NOT_FOUND : CTRACE_OK;
		was_open = false;
		if (!is_settled || !forward->has_sent)
			passes_wait(copy, nats_Now() - begun_ms);
	}
	if (status == CTRACE_OK && !copy->follows)
		return forward_fail(
			forward, CTRACE_OUTPUT_ERROR, forward->address.stream,
			"stopped before everything was sent; call ctrace forward again");
	return status;
}

enum ctrace_status ct_nats_forward(struct ct_nats_copy *copy)
{
	struct forward forward = { .copy = copy };
	jsOptions options;
	enum ctrace_status status =
		ct_nats_address_parse(copy->address, true, &forward.address, copy->error);

	if (status != CTRACE_OK)
		return status;
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
		options.PublishAsync.ErrHandler = publish_failed;
		options.PublishAsync.ErrHandlerClosure = &forward;
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
		struct trace *trace = forward.traces;

		forward.traces = trace->next;
		while (trace->files != NULL) {
			struct file *file = trace->files;

			trace->files = file->next;
			free(file);
		}
		free(trace->path);
		free(trace);
	}
	free(forward.body);
	return status;
}
