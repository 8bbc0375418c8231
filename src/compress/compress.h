/*
 * compress/compress.h - compressing files of closed BINFILE directories, in the module "zstd" and
 * in the external writer.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COMPRESS_H
#define CT_COMPRESS_H

#include "base/base.h"

/* the name of an incomplete file; viewers skip names that begin with a dot */
#define CT_COMPRESS_TEMPORARY(NAME) "." NAME ".new"

/* Replaces the file `name` by name.zst for the same readers, whole or not at all. stop: atomic; not
 * 0: give up (TIMED_OUT).  Only for a program of ours, or a thread with its own table of
 * descriptors, because no other code may close them. */
enum ctrace_status ct_compress_file(int directory_fd, const char *name, const uint32_t *stop);

/* What the module exports as `ct_compress_module`. */
struct ct_compress_module {
	size_t size; /* of this struct, in the module's version */
	enum ctrace_status (*file)(int directory_fd, const char *name, const uint32_t *stop);
};
#define CT_COMPRESS_MODULE "ct_compress_module"

#endif
