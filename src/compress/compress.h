/*
 * compress/compress.h - compressing files of closed BINFILE directories: what the module "zstd"
 * offers, and the external writer has linked.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COMPRESS_H
#define CT_COMPRESS_H

#include "base/base.h"

/* while it is made; viewers pass over names with a dot */
#define CT_COMPRESS_TEMPORARY(NAME) "." NAME ".new"

/* name becomes name.zst, whole or not at all, for the same readers.  stop: atomic; not 0: let it go
 * (TIMED_OUT).  Only where nobody closes descriptors of others: in a program of ours, or on a
 * thread with descriptors of its own. */
enum ctrace_status ct_compress_file(int directory_fd, const char *name, const uint32_t *stop);

/* What the module exports as `ct_compress_module`. */
struct ct_compress_module {
	size_t size; /* of this struct as the module knows it */
	enum ctrace_status (*file)(int directory_fd, const char *name, const uint32_t *stop);
};
#define CT_COMPRESS_MODULE "ct_compress_module"

#endif
