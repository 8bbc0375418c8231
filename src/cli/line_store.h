/*
 * cli/line_store.h - lines that wait to be printed: any number of them in bounded memory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_LINE_STORE_H
#define CT_TOOLS_LINE_STORE_H

#include "base/base.h"

/* What does not fit into memory goes to a file without a name.  A line may have several ends of
 * line in it. */
struct line_store {
	/* so many of the last ones are kept, maybe twice as many; UINT64_MAX: all */
	uint64_t wanted;
	struct line_spool {
		struct ct_buf memory; /* what is not in the file yet */
		int fd;
		uint64_t filed; /* bytes */
		uint64_t count;
	} spools[2];     /* older ones, and those that come now */
	int write_errno; /* the file could not be made or written: what came since is lost */
};
void line_store_init(struct line_store *store, uint64_t wanted);
void line_store_fini(struct line_store *store);
void line_store_add(struct line_store *store, const void *line, size_t size);
/* Calls `take` with the last `wanted` lines, or fewer; from the last one when it goes backward.
 * Ends when it returns false.  False when the file could not be read: errno. */
typedef bool line_store_take(const char *line, size_t size, void *user);
bool line_store_each(struct line_store *store, bool is_backward, line_store_take *take, void *user);

#endif
