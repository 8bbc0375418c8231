/*
 * unpack.c - a compressed stream file becomes one that can be read at any place.
 *
 * Called by stream_file.c and repair.c, on one thread.  The file may be hostile or damaged: what it
 * becomes is bounded, and each byte is looked at once.  A damaged frame costs all of itself: its
 * checksum covers all of it and stands at its end, so nothing says which bytes are right.  Where
 * the file ends inside a frame, or the bound is reached, what came before stays: it is unchecked,
 * and that is reported.
 *
 * The result is a file without a name, on disk where there is one for such, so that long traces
 * need no memory; nobody reads it before all frames are checked.  A few bytes can become gigabytes:
 * they may, when those are packets.
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
#define FRAME_HEAD 18u /* the most bytes that a frame's head has */
#define TOO_MUCH "more comes of this than is read; zstd -d unpacks it"
/* So much is believed unseen: bytes in all, and of each compressed byte. */
#define FREE_BYTES ((uint64_t)64 << 20)
#define FREE_RATIO 256u
#define MEMORY_LIMIT ((uint64_t)96 << 20) /* where there is no disk to write to */

/* Packets follow each other up to `end`, as far as that was asked for. */
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
	uint64_t offset; /* in the compressed file, of what is at in_at */
	bool is_end;     /* of the compressed file */
	/* why the frame that was read last cannot be right; NULL: it ends too early */
	const char *wrong;
	unsigned char *out;
	struct walk walk;
};

/* Each compressed stream has a file open to its end, and there may be more of them than a process
 * has files as a rule. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* A file without a name, on disk if there is one; *limit becomes smaller when there is only memory.
 */
static int open_nameless(uint64_t *limit)
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

static void note_damage(struct unpacker *unpacker, uint64_t at, const char *message)
{
	struct ct_unpacked *result = unpacker->result;

	if (result->damages++ == 0) {
		result->damage_at = at;
		result->message = message;
	}
}

/* At least `size` bytes at in_at, or all that the file still has. */
static enum ctrace_status fill(struct unpacker *unpacker, size_t size)
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

static void move_on(struct unpacker *unpacker, size_t size)
{
	unpacker->in_at += size;
	unpacker->offset += size;
}

static enum ctrace_status write_out(struct unpacker *unpacker, size_t size)
{
	enum ctrace_status status = CTRACE_OK;

	if (size > 0)
		status = ct_os_write_at(unpacker->to, unpacker->out, size, unpacker->result->size);
	if (status == CTRACE_OK)
		unpacker->result->size += size;
	return status;
}

/* Is what has come so far one packet after the other? */
static bool are_packets(struct unpacker *unpacker)
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

/* What nobody's tracer wrote is not unpacked any further. */
static void check_size(struct unpacker *unpacker)
{
	uint64_t size = unpacker->result->size;

	if (size > FREE_BYTES && size / FREE_RATIO > unpacker->offset && !are_packets(unpacker))
		unpacker->limit = size;
}

static enum ctrace_status lack_memory(void)
{
	ct_memory_note_lack();
	return CTRACE_NOT_ENOUGH_MEMORY;
}

static enum ctrace_status refuse_frame(struct unpacker *unpacker, size_t error)
{
	ZSTD_ErrorCode code = ZSTD_getErrorCode(error);

	if (code == ZSTD_error_memory_allocation)
		return lack_memory();
	unpacker->wrong = code == ZSTD_error_checksum_wrong
				  ? "the checksum of these compressed bytes is wrong"
				  : "this cannot be decompressed";
	return CTRACE_DAMAGED;
}

/* The frame at in_at, whose head claims no more than is allowed.  DAMAGED when it cannot be read to
 * its end. */
static enum ctrace_status unpack_frame(struct unpacker *unpacker)
{
	size_t hint = 1;

	unpacker->wrong = NULL;
	(void)ZSTD_DCtx_reset(unpacker->context, ZSTD_reset_session_only);
	while (hint != 0) {
		enum ctrace_status status = fill(unpacker, 1);
		ZSTD_inBuffer in = { unpacker->in + unpacker->in_at,
				     unpacker->in_size - unpacker->in_at, 0 };
		ZSTD_outBuffer out = { unpacker->out, PIECE, 0 };

		if (status != CTRACE_OK)
			return status;
		if (out.size > unpacker->limit - unpacker->result->size)
			out.size = (size_t)(unpacker->limit - unpacker->result->size);
		hint = ZSTD_decompressStream(unpacker->context, &out, &in);
		status = write_out(unpacker, out.pos);
		if (status != CTRACE_OK)
			return status;
		/* Behind what it could not read, or at the next magic number would be found this
		 * frame again. */
		move_on(unpacker, in.pos != 0 || !ZSTD_isError(hint) ? in.pos : in.size != 0);
		check_size(unpacker);
		if (ZSTD_isError(hint))
			return refuse_frame(unpacker, hint);
		/* the file ends, or the result is as long as it may be */
		if (hint != 0 && in.pos == 0 && out.pos == 0)
			return CTRACE_DAMAGED;
	}
	return CTRACE_OK;
}

/* Moves to the next place where a frame may begin, or to the end. */
static enum ctrace_status find_frame(struct unpacker *unpacker)
{
	static const unsigned char magic[MAGIC_SIZE] = { 0x28, 0xB5, 0x2F, 0xFD };

	for (;;) {
		enum ctrace_status status = fill(unpacker, MAGIC_SIZE);
		size_t left = unpacker->in_size - unpacker->in_at;
		const unsigned char *start = unpacker->in + unpacker->in_at;
		const unsigned char *found;

		if (status != CTRACE_OK)
			return status;
		found = left >= MAGIC_SIZE ? memmem(start, left, magic, MAGIC_SIZE) : NULL;
		if (found != NULL) {
			move_on(unpacker, (size_t)(found - start));
			return CTRACE_OK;
		}
		if (left < MAGIC_SIZE || unpacker->is_end) {
			move_on(unpacker, left);
			return CTRACE_OK;
		}
		move_on(unpacker, left - (MAGIC_SIZE - 1));
	}
}

static bool claims_too_much(const struct unpacker *unpacker)
{
	unsigned long long size = ZSTD_getFrameContentSize(unpacker->in + unpacker->in_at,
							   unpacker->in_size - unpacker->in_at);

	return size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR &&
	       size > unpacker->limit - unpacker->result->size;
}

static const char *message_of(const struct unpacker *unpacker)
{
	if (unpacker->wrong != NULL)
		return unpacker->wrong;
	return unpacker->result->size == unpacker->limit
		       ? TOO_MUCH
		       : "the compressed file ends inside a frame";
}

/* Takes back what came of a frame that is not right, and a packet that it would have gone on with:
 * what comes next is none of that packet. walk: how far the packets were known when the frame
 * began. */
static enum ctrace_status drop_frame(struct unpacker *unpacker, uint64_t start,
				     const struct walk *walk)
{
	unpacker->result->size = start;
	unpacker->walk = *walk;
	if (are_packets(unpacker)) {
		if (unpacker->walk.end > start)
			unpacker->walk.end = unpacker->walk.last_at;
		unpacker->result->size = unpacker->walk.end;
	}
	return ct_os_truncate(unpacker->to, unpacker->result->size);
}

/* OK also when some of it is damaged: the result says so. */
static enum ctrace_status unpack_all(struct unpacker *unpacker)
{
	struct ct_unpacked *result = unpacker->result;
	enum ctrace_status status = fill(unpacker, FRAME_HEAD);

	while (status == CTRACE_OK && unpacker->in_at < unpacker->in_size) {
		uint64_t at = unpacker->offset, start = result->size;
		const struct walk walk = unpacker->walk;

		if (result->size == unpacker->limit || claims_too_much(unpacker)) {
			note_damage(unpacker, at, TOO_MUCH);
			return CTRACE_OK;
		}
		status = unpack_frame(unpacker);
		if (status == CTRACE_DAMAGED) {
			note_damage(unpacker, at, message_of(unpacker));
			status = unpacker->wrong != NULL ? drop_frame(unpacker, start, &walk)
							 : CTRACE_OK;
			if (status == CTRACE_OK)
				status = find_frame(unpacker);
			result->damaged_bytes += unpacker->offset - at;
		}
		if (status == CTRACE_OK)
			status = fill(unpacker, FRAME_HEAD);
	}
	return status;
}

enum ctrace_status ct_unpack(int from, uint64_t limit, struct ct_unpacked *out)
{
	struct ct_unpacked result = { .fd = open_nameless(&limit) };
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
		status = lack_memory();
	(void)ZSTD_freeDCtx(unpacker.context);
	free(unpacker.in);
	free(unpacker.out);
	if (status == CTRACE_OK)
		*out = result;
	else
		ct_os_close(&result.fd);
	return status;
}
