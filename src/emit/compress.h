/*
 * emit/compress.h - compressing files of closed BINFILE folders: what the module "zstd" offers, and the external writer has linked.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COMPRESS_H
#define CT_COMPRESS_H

#include "base/base.h"

#define CT_COMPRESS_TEMPORARY(NAME) "." NAME ".new" /* while it is made; viewers pass over names with a dot */

/* A traced program may close our descriptors, and get their numbers for files of its own. */
struct ct_compress_end {
	int fd;
	struct ct_file_id id;
};
/* What others see of a file that is being compressed.  All 0 at first. */
struct ct_compress_work {
	uint32_t stop; /* atomic; not 0: let it go */
	struct ct_compress_end from, to;
};
/* name becomes name.zst, whole or not at all, for the same readers.  TIMED_OUT: it was to be let go. */
enum ctrace_status ct_compress_file(int folder_fd, const char *name, struct ct_compress_work *work);

/* What the module exports as `ct_compress_module`. */
struct ct_compress_module {
	size_t size; /* of this struct as the module knows it */
	enum ctrace_status (*file)(int folder_fd, const char *name, struct ct_compress_work *work);
};
#define CT_COMPRESS_MODULE "ct_compress_module"

#endif
