/*
 * compress.c - compresses a stream file that is no longer written.
 *
 * The module "zstd", which bin_pack.c loads into a traced process, and a part of the external
 * writer's program (trcout.c).  Runs on a thread that the traced program does not wait for.  The
 * compressed file gets its name only when it is whole and on the disk, and the original is removed
 * only then.  So a process that dies in between leaves one of them, or both with the same content.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "compress/compress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL 3
#define PIECE ((size_t)256 << 10)
#define FRAME ((uint64_t)1 << 20) /* a wrong bit destroys only its frame */

struct job {
	const uint32_t *stop;
	int from, to;
	ZSTD_CCtx *context;
	unsigned char *in, *out;
};

static bool job_is_stopped(const struct job *job)
{
	return __atomic_load_n(job->stop, __ATOMIC_ACQUIRE) != 0;
}

/* Compresses one piece of input, and ends the frame after the last piece of it.  Writes all
 * output. */
static enum ctrace_status job_put(const struct job *job, ZSTD_inBuffer *in, bool is_last)
{
	size_t left;

	do {
		ZSTD_outBuffer piece = { job->out, PIECE, 0 };
		size_t written = 0;

		left = ZSTD_compressStream2(job->context, &piece, in,
					    is_last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return CTRACE_FAILURE;
		if (piece.pos != 0 &&
		    (ct_os_append(job->to, job->out, piece.pos, &written) != CTRACE_OK ||
		     written != piece.pos))
			return CTRACE_OS_ERROR;
	} while (is_last ? left != 0 : in->pos < in->size);
	return CTRACE_OK;
}

static enum ctrace_status job_compress_pieces(const struct job *job)
{
	enum ctrace_status status = CTRACE_OK;
	uint64_t offset = 0;
	size_t got = 1;

	while (status == CTRACE_OK && got != 0) {
		if (job_is_stopped(job))
			return CTRACE_TIMED_OUT;
		status = ct_os_read_at(job->from, job->in, PIECE, offset, &got);
		offset += got;
		/* An empty file is an empty frame. */
		if (status == CTRACE_OK && (got != 0 || offset % FRAME != 0 || offset == 0))
			status = job_put(job, &(ZSTD_inBuffer){ job->in, got, 0 },
					 got == 0 || offset % FRAME == 0);
	}
	return status;
}

static enum ctrace_status compress(struct job *job)
{
	enum ctrace_status status;

	job->context = ZSTD_createCCtx();
	job->in = malloc(PIECE);
	job->out = malloc(PIECE);
	status = job->context != NULL && job->in != NULL && job->out != NULL
			 ? CTRACE_OK
			 : CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK &&
	    (ZSTD_isError(ZSTD_CCtx_setParameter(job->context, ZSTD_c_compressionLevel, LEVEL)) ||
	     ZSTD_isError(ZSTD_CCtx_setParameter(job->context, ZSTD_c_checksumFlag, 1))))
		status = CTRACE_FAILURE;
	if (status == CTRACE_OK)
		status = job_compress_pieces(job);
	(void)ZSTD_freeCCtx(job->context);
	free(job->in);
	free(job->out);
	if (status == CTRACE_OK && job_is_stopped(job))
		status = CTRACE_TIMED_OUT;
	return status == CTRACE_OK ? ct_os_sync(job->to) : status;
}

/* Gives the new file the same readers. */
static enum ctrace_status job_copy_access(const struct job *job)
{
	struct stat info;

	if (fstat(job->from, &info) != 0 || fchown(job->to, (uid_t)-1, info.st_gid) != 0 ||
	    fchmod(job->to, info.st_mode & 0777) != 0)
		return CTRACE_OS_ERROR;
	return CTRACE_OK;
}

enum ctrace_status ct_compress_file(int directory_fd, const char *name, const uint32_t *stop)
{
	struct job job = { .stop = stop };
	char made[64], final[64];
	enum ctrace_status status;

	if (snprintf(made, sizeof made, CT_COMPRESS_TEMPORARY("%s"), name) >= (int)sizeof made ||
	    snprintf(final, sizeof final, "%s.zst", name) >= (int)sizeof final)
		return CTRACE_DENIED;
	status = ct_os_open_file(directory_fd, name, O_RDONLY, &job.from);
	if (status != CTRACE_OK)
		return status;
	status = ct_os_open_file(directory_fd, made, O_WRONLY | O_CREAT | O_TRUNC, &job.to);
	if (status != CTRACE_OK)
		goto undo_from;
	status = job_copy_access(&job);
	if (status == CTRACE_OK)
		status = compress(&job);
	ct_point("compress.made");
	if (status == CTRACE_OK && renameat(directory_fd, made, directory_fd, final) != 0)
		status = CTRACE_OS_ERROR;
	if (status == CTRACE_OK)
		(void)unlinkat(directory_fd, name, 0);
	else
		(void)unlinkat(directory_fd, made, 0);
	ct_os_close(&job.to);
undo_from:
	ct_os_close(&job.from);
	return status;
}

__attribute__((visibility("default"))) const struct ct_compress_module ct_compress_module = {
	.size = sizeof(struct ct_compress_module),
	.file = ct_compress_file,
};
