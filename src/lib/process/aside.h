/*
 * lib/process/aside.h - work on files for a thread of the program, on a thread of its own.
 *
 * A file system may never answer.  A thread of the program waits for it within its patience: all
 * that a process waits in vain is at most ctrace.block.timeout times 5, the end of the process
 * included.  docs/CONCURRENCY.md lists the work, and what has no limit.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_ASIDE_H
#define CT_ASIDE_H

#include "base/base.h"

/* One piece of work: the first member of a struct from malloc(), which has all that it needs. */
struct ct_aside {
	/* On its own thread; on the calling one if that is ours, or no thread can be had.  The
	 * calling thread waits: locks that it holds are not taken. */
	void (*work)(struct ct_aside *self);
	void (*destroy)(struct ct_aside *self); /* of what was given up; NULL: free() */
	uint32_t state;                         /* atomic; aside.c's */
};
/* True: it is done, and the memory is the caller's.  False: it is given up, or was not begun,
 * because an earlier one still hangs; it may be done later.  The memory is not the caller's any
 * more.  Any thread, under no lock; not in a signal handler. */
bool ct_aside_run(struct ct_aside *self) CT_MUST_USE;

/* The patience that is left, for other waits of the thread that ends the process.  The last one,
 * for the outputs, gets at least ctrace.block.timeout once. */
uint64_t ct_aside_patience_ns(bool is_last);
/* One of these waits was in vain. */
void ct_aside_waited(uint64_t ns);
/* In a forked child. */
void ct_aside_forked(void);

#endif
