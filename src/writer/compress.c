/*
 * compress.c - a stream file that nobody writes any more becomes a smaller one.
 *
 * Runs on a TRCOUT's worker.  The compressed file gets its name only when it is whole and on the disk, and the other goes only then: whoever
 * dies in between leaves one of them, or both with the same content.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL 3
#define PIECE ((size_t)256 << 10)

/* One piece of input, or the end: all that comes of it is written. */
static enum ctrace_status put(ZSTD_CCtx *context, ZSTD_inBuffer *in, bool is_last, int to, unsigned char *out)
{
	size_t left;

	do {
		ZSTD_outBuffer piece = { out, PIECE, 0 };
		size_t written = 0;

		left = ZSTD_compressStream2(context, &piece, in, is_last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return CTRACE_FAILURE;
		if (piece.pos != 0 && (ct_os_append(to, out, piece.pos, &written) != CTRACE_OK || written != piece.pos))
			return CTRACE_OS_ERROR;
	} while (is_last ? left != 0 : in->pos < in->size);
	return CTRACE_OK;
}

static enum ctrace_status compress(int from, int to)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	unsigned char *in = malloc(PIECE), *out = malloc(PIECE);
	enum ctrace_status status = context != NULL && in != NULL && out != NULL ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
	uint64_t offset = 0;
	size_t got = 1;

	if (status == CTRACE_OK && (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL)) ||
				    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))))
		status = CTRACE_FAILURE;
	while (status == CTRACE_OK && got != 0) {
		status = ct_os_read_at(from, in, PIECE, offset, &got);
		offset += got;
		if (status == CTRACE_OK)
			status = put(context, &(ZSTD_inBuffer){ in, got, 0 }, got == 0, to, out);
	}
	(void)ZSTD_freeCCtx(context);
	free(in);
	free(out);
	return status == CTRACE_OK ? ct_os_sync(to) : status;
}

enum ctrace_status ct_compress_file(int folder_fd, const char *name)
{
	char made[64], final[64];
	enum ctrace_status status;
	int from, to;

	if (snprintf(made, sizeof made, ".%s.new", name) >= (int)sizeof made ||
	    snprintf(final, sizeof final, "%s.zst", name) >= (int)sizeof final)
		return CTRACE_DENIED;
	status = ct_os_open_file(folder_fd, name, O_RDONLY, &from);
	if (status != CTRACE_OK)
		return status;
	status = ct_os_open_file(folder_fd, made, O_WRONLY | O_CREAT | O_TRUNC, &to);
	if (status != CTRACE_OK)
		goto undo_from;
	status = compress(from, to);
	if (status == CTRACE_OK && renameat(folder_fd, made, folder_fd, final) != 0)
		status = CTRACE_OS_ERROR;
	if (status == CTRACE_OK)
		(void)unlinkat(folder_fd, name, 0);
	else
		(void)unlinkat(folder_fd, made, 0);
	ct_os_close(&to);
undo_from:
	ct_os_close(&from);
	return status;
}
