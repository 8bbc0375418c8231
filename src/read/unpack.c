/*
 * unpack.c - a compressed stream file becomes one that can be read at any place.
 *
 * Called by source_bin.c, on one thread.  The file may be hostile or damaged: what it becomes is bounded, a frame that cannot be read costs
 * what is left of it, and each byte is looked at once.  The result is a file without a name, on disk where there is one for such, so that
 * long traces need no memory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define PIECE ((size_t)256 << 10)
#define MAGIC_SIZE 4u
#define FRAME_HEAD 18u /* the most bytes that a frame's head has */

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
	unsigned char *out;
};

static int open_nameless(void)
{
	const char *folder = ct_os_environment("TMPDIR");
	int fd = open(folder != NULL ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : memfd_create("ctrace", MFD_CLOEXEC);
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
	status = ct_os_read_at(unpacker->from, unpacker->in + left, PIECE - left, unpacker->offset + left, &got);
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

/* The frame at in_at, whose head claims no more than is allowed.  DAMAGED when it cannot be read to its end. */
static enum ctrace_status unpack_frame(struct unpacker *unpacker)
{
	size_t hint = 1;

	(void)ZSTD_DCtx_reset(unpacker->context, ZSTD_reset_session_only);
	while (hint != 0) {
		enum ctrace_status status = fill(unpacker, 1);
		ZSTD_inBuffer in = { unpacker->in + unpacker->in_at, unpacker->in_size - unpacker->in_at, 0 };
		ZSTD_outBuffer out = { unpacker->out, PIECE, 0 };

		if (status != CTRACE_OK)
			return status;
		if (out.size > unpacker->limit - unpacker->result->size)
			out.size = (size_t)(unpacker->limit - unpacker->result->size);
		hint = ZSTD_decompressStream(unpacker->context, &out, &in);
		status = write_out(unpacker, out.pos);
		if (status != CTRACE_OK)
			return status;
		/* Behind what it could not read, or at the next magic number would be found this frame again. */
		move_on(unpacker, in.pos != 0 || !ZSTD_isError(hint) ? in.pos : in.size != 0);
		if (ZSTD_isError(hint))
			return CTRACE_DAMAGED;
		if (hint != 0 && in.pos == 0 && out.pos == 0) /* the file ends, or the result is as long as it may be */
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
	unsigned long long size = ZSTD_getFrameContentSize(unpacker->in + unpacker->in_at, unpacker->in_size - unpacker->in_at);

	return size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR && size > unpacker->limit - unpacker->result->size;
}

static const char *message_of(const struct unpacker *unpacker)
{
	if (unpacker->result->size == unpacker->limit)
		return "more comes of this than is read";
	return unpacker->is_end && unpacker->in_at == unpacker->in_size ? "the compressed file ends inside a frame"
									: "this cannot be decompressed";
}

/* OK also when some of it is damaged: the result says so. */
static enum ctrace_status unpack_all(struct unpacker *unpacker)
{
	struct ct_unpacked *result = unpacker->result;
	enum ctrace_status status = fill(unpacker, FRAME_HEAD);

	while (status == CTRACE_OK && unpacker->in_at < unpacker->in_size) {
		uint64_t at = unpacker->offset;

		if (result->size == unpacker->limit || claims_too_much(unpacker)) {
			note_damage(unpacker, at, "more comes of this than is read");
			return CTRACE_OK;
		}
		status = unpack_frame(unpacker);
		if (status == CTRACE_DAMAGED) {
			note_damage(unpacker, at, message_of(unpacker));
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
	struct ct_unpacked result = { .fd = open_nameless() };
	struct unpacker unpacker = { .from = from, .to = result.fd, .limit = limit, .result = &result };
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	if (result.fd < 0)
		return CTRACE_OS_ERROR;
	unpacker.context = ZSTD_createDCtx();
	unpacker.in = malloc(PIECE);
	unpacker.out = malloc(PIECE);
	if (unpacker.context != NULL && unpacker.in != NULL && unpacker.out != NULL)
		status = unpack_all(&unpacker);
	(void)ZSTD_freeDCtx(unpacker.context);
	free(unpacker.in);
	free(unpacker.out);
	if (status == CTRACE_OK)
		*out = result;
	else
		ct_os_close(&result.fd);
	return status;
}
