/*
 * cli/line_store.h - lines that wait to be printed: any number of them in bounded memory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_LINE_STORE_H
#define CT_CLI_LINE_STORE_H

#include "base/base.h"

/* Lines that do not fit into memory go to a file without a name.  A line may contain newlines. */
struct line_store {
	/* how many of the last lines are kept, at least; UINT64_MAX: all */
	uint64_t wanted;
	struct line_spool {
		struct ct_buf memory; /* bytes that are not in the file yet */
		int fd;
		uint64_t filed; /* bytes */
		uint64_t count;
	} spools[2]; /* the older lines, and the lines that come now */
	/* why the file could not be made or written: later lines are lost */
	int write_errno;
};
void line_store_init(struct line_store *store, uint64_t wanted);
void line_store_fini(struct line_store *store);
void line_store_add(struct line_store *store, const void *line, size_t size);
/* Passes the last `wanted` lines, or fewer, to `take`; with is_backward the newest comes first.
 * Ends when `take` returns false.  Returns false, with errno, when the file could not be read. */
typedef bool line_store_take(const char *line, size_t size, void *user);
bool line_store_each(struct line_store *store, bool is_backward, line_store_take *take, void *user);

#endif
