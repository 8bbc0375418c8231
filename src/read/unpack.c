/*
 * unpack.c - decompresses a stream file into a file that can be read at any position.
 *
 * Called by stream_file.c and repair.c, on one thread.  The file may be hostile or damaged: the
 * result is bounded, and each byte is examined once.  A damaged frame is lost entirely: the
 * checksum at its end covers all of it, so no single byte is known to be right.  If the file ends
 * inside a frame, or the bound is reached, the unchecked bytes before that stay, which is reported.
 *
 * The result is a file without a name, on disk if possible, so that long traces need no memory.  It
 * is not read before all frames are checked.  A few bytes may become gigabytes only if the result
 * consists of packets.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"
#include "base/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#define PIECE ((size_t)256 << 10)
#define MAGIC_SIZE 4u
#define FRAME_HEAD 18u /* largest head of a frame */
#define TOO_MUCH "more comes of this than is read; zstd -d unpacks it"
/* Up to these sizes the result need not be packets: bytes in all, and per compressed byte. */
#define FREE_BYTES ((uint64_t)64 << 20)
#define FREE_RATIO 256u
#define MEMORY_LIMIT ((uint64_t)96 << 20) /* where there is no disk to write to */

/* Packets follow one another up to `end`, as far as has been checked. */
struct walk {
	uint64_t end;
	uint64_t last_at; /* where the last of them begins */
};

struct unpacker {
	int from;
	int to;
	uint64_t limit; /* bytes of the result */
	struct ct_unpacked *result;
	ZSTD_DCtx *context;
	unsigned char *in;
	size_t in_size;
	size_t in_at;
	uint64_t offset; /* of in_at in the compressed file */
	bool is_end;     /* of the compressed file */
	/* why the last frame is wrong; NULL: it ends too early */
	const char *wrong;
	unsigned char *out;
	struct walk walk;
};

/* Each compressed stream keeps a file open until its end, and there may be more of them than the
 * usual limit. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Opens a file without a name, on disk if possible; lowers *limit when there is only memory. */
static int output_open(uint64_t *limit)
{
	int fd;

	allow_many_files();
	fd = ct_temporary_open(ct_temporary_directory("/var/tmp"));
	if (fd >= 0)
		return fd;
	if (*limit > MEMORY_LIMIT)
		*limit = MEMORY_LIMIT;
	return memfd_create("ctrace", MFD_CLOEXEC);
}

static void unpack_note_damage(struct unpacker *unpacker, uint64_t at, const char *message)
{
	struct ct_unpacked *result = unpacker->result;

	if (result->damages++ == 0) {
		result->damage_at = at;
		result->message = message;
	}
}

/* Provides at least `size` bytes at in_at, or all that are left in the file. */
static enum ctrace_status input_fill(struct unpacker *unpacker, size_t size)
{
	size_t left = unpacker->in_size - unpacker->in_at;
	enum ctrace_status status;
	size_t got = 0;

	if (left >= size || unpacker->is_end)
		return CTRACE_OK;
	memmove(unpacker->in, unpacker->in + unpacker->in_at, left);
	status = ct_os_read_at(unpacker->from, unpacker->in + left, PIECE - left,
			       unpacker->offset + left, &got);
	if (status != CTRACE_OK)
		return status;
	unpacker->in_at = 0;
	unpacker->in_size = left + got;
	unpacker->is_end = got < PIECE - left;
	return CTRACE_OK;
}

static void input_move_on(struct unpacker *unpacker, size_t size)
{
	unpacker->in_at += size;
	unpacker->offset += size;
}

static enum ctrace_status output_write(struct unpacker *unpacker, size_t size)
{
	enum ctrace_status status = CTRACE_OK;

	if (size > 0)
		status = ct_os_write_at(unpacker->to, unpacker->out, size, unpacker->result->size);
	if (status == CTRACE_OK)
		unpacker->result->size += size;
	return status;
}

/* Does the result so far consist of packets? */
static bool output_is_packets(struct unpacker *unpacker)
{
	while (unpacker->walk.end + CT_PACKET_HEAD <= unpacker->result->size) {
		unsigned char bytes[CT_PACKET_HEAD];
		struct ct_packet_head head;
		size_t got;

		if (ct_os_read_at(unpacker->to, bytes, sizeof bytes, unpacker->walk.end, &got) !=
			    CTRACE_OK ||
		    ct_packet_decode_head(bytes, got, &head) != CTRACE_OK ||
		    head.content_bits / 8 == CT_PACKET_HEAD)
			return false;
		unpacker->walk.last_at = unpacker->walk.end;
		unpacker->walk.end += head.packet_bits / 8;
	}
	return true;
}

/* Stops the decompression of a large result that is not packets: no tracer wrote it. */
static void output_check_size(struct unpacker *unpacker)
{
	uint64_t size = unpacker->result->size;

	if (size > FREE_BYTES && size / FREE_RATIO > unpacker->offset &&
	    !output_is_packets(unpacker))
		unpacker->limit = size;
}

static enum ctrace_status unpack_no_memory(void)
{
	ct_memory_note_lack();
	return CTRACE_NOT_ENOUGH_MEMORY;
}

static enum ctrace_status frame_refuse(struct unpacker *unpacker, size_t error)
{
	ZSTD_ErrorCode code = ZSTD_getErrorCode(error);

	if (code == ZSTD_error_memory_allocation)
		return unpack_no_memory();
	unpacker->wrong = code == ZSTD_error_checksum_wrong
				  ? "the checksum of these compressed bytes is wrong"
				  : "this cannot be decompressed";
	return CTRACE_DAMAGED;
}

/* Decompresses the frame at in_at, whose head states no more than the limit.  Returns DAMAGED when
 * it cannot be read to its end. */
static enum ctrace_status frame_unpack(struct unpacker *unpacker)
{
	size_t hint = 1;

	unpacker->wrong = NULL;
	(void)ZSTD_DCtx_reset(unpacker->context, ZSTD_reset_session_only);
	while (hint != 0) {
		enum ctrace_status status = input_fill(unpacker, 1);
		ZSTD_inBuffer in = { unpacker->in + unpacker->in_at,
				     unpacker->in_size - unpacker->in_at, 0 };
		ZSTD_outBuffer out = { unpacker->out, PIECE, 0 };

		if (status != CTRACE_OK)
			return status;
		if (out.size > unpacker->limit - unpacker->result->size)
			out.size = (size_t)(unpacker->limit - unpacker->result->size);
		hint = ZSTD_decompressStream(unpacker->context, &out, &in);
		status = output_write(unpacker, out.pos);
		if (status != CTRACE_OK)
			return status;
		/* Moves past the unreadable bytes, otherwise the search would find this frame
		 * again. */
		input_move_on(unpacker, in.pos != 0 || !ZSTD_isError(hint) ? in.pos : in.size != 0);
		output_check_size(unpacker);
		if (ZSTD_isError(hint))
			return frame_refuse(unpacker, hint);
		/* the file ends, or the result has reached its limit */
		if (hint != 0 && in.pos == 0 && out.pos == 0)
			return CTRACE_DAMAGED;
	}
	return CTRACE_OK;
}

/* Moves to the next position where a frame may begin, or to the end. */
static enum ctrace_status frame_find(struct unpacker *unpacker)
{
	static const unsigned char magic[MAGIC_SIZE] = { 0x28, 0xB5, 0x2F, 0xFD };

	for (;;) {
		enum ctrace_status status = input_fill(unpacker, MAGIC_SIZE);
		size_t left = unpacker->in_size - unpacker->in_at;
		const unsigned char *start = unpacker->in + unpacker->in_at;
		const unsigned char *found;

		if (status != CTRACE_OK)
			return status;
		found = left >= MAGIC_SIZE ? memmem(start, left, magic, MAGIC_SIZE) : NULL;
		if (found != NULL) {
			input_move_on(unpacker, (size_t)(found - start));
			return CTRACE_OK;
		}
		if (left < MAGIC_SIZE || unpacker->is_end) {
			input_move_on(unpacker, left);
			return CTRACE_OK;
		}
		input_move_on(unpacker, left - (MAGIC_SIZE - 1));
	}
}

static bool frame_is_over_limit(const struct unpacker *unpacker)
{
	unsigned long long size = ZSTD_getFrameContentSize(unpacker->in + unpacker->in_at,
							   unpacker->in_size - unpacker->in_at);

	return size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR &&
	       size > unpacker->limit - unpacker->result->size;
}

static const char *frame_message(const struct unpacker *unpacker)
{
	if (unpacker->wrong != NULL)
		return unpacker->wrong;
	return unpacker->result->size == unpacker->limit
		       ? TOO_MUCH
		       : "the compressed file ends inside a frame";
}

/* Removes the output of a wrong frame, and an unfinished packet before it, since the next frame
 * does not continue that packet.  walk: the checked packets before the frame. */
static enum ctrace_status frame_drop(struct unpacker *unpacker, uint64_t start,
				     const struct walk *walk)
{
	unpacker->result->size = start;
	unpacker->walk = *walk;
	if (output_is_packets(unpacker)) {
		if (unpacker->walk.end > start)
			unpacker->walk.end = unpacker->walk.last_at;
		unpacker->result->size = unpacker->walk.end;
	}
	return ct_os_truncate(unpacker->to, unpacker->result->size);
}

/* Returns OK also when some of it is damaged: the result counts the damage. */
static enum ctrace_status unpack_all(struct unpacker *unpacker)
{
	struct ct_unpacked *result = unpacker->result;
	enum ctrace_status status = input_fill(unpacker, FRAME_HEAD);

	while (status == CTRACE_OK && unpacker->in_at < unpacker->in_size) {
		uint64_t at = unpacker->offset, start = result->size;
		const struct walk walk = unpacker->walk;

		if (result->size == unpacker->limit || frame_is_over_limit(unpacker)) {
			unpack_note_damage(unpacker, at, TOO_MUCH);
			return CTRACE_OK;
		}
		status = frame_unpack(unpacker);
		if (status == CTRACE_DAMAGED) {
			unpack_note_damage(unpacker, at, frame_message(unpacker));
			status = unpacker->wrong != NULL ? frame_drop(unpacker, start, &walk)
							 : CTRACE_OK;
			if (status == CTRACE_OK)
				status = frame_find(unpacker);
			result->damaged_bytes += unpacker->offset - at;
		}
		if (status == CTRACE_OK)
			status = input_fill(unpacker, FRAME_HEAD);
	}
	return status;
}

enum ctrace_status ct_unpack(int from, uint64_t limit, struct ct_unpacked *out)
{
	struct ct_unpacked result = { .fd = output_open(&limit) };
	struct unpacker unpacker = {
		.from = from, .to = result.fd, .limit = limit, .result = &result
	};
	enum ctrace_status status;

	if (result.fd < 0)
		return CTRACE_OS_ERROR;
	unpacker.context = ZSTD_createDCtx();
	unpacker.in = malloc(PIECE);
	unpacker.out = malloc(PIECE);
	if (unpacker.context != NULL && unpacker.in != NULL && unpacker.out != NULL)
		status = unpack_all(&unpacker);
	else
		status = unpack_no_memory();
	(void)ZSTD_freeDCtx(unpacker.context);
	free(unpacker.in);
	free(unpacker.out);
	if (status == CTRACE_OK)
		*out = result;
	else
		ct_os_close(&result.fd);
	return status;
}
