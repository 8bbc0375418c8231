/*
 * tools/runs/run_follow.h - ctrace run --tail: prints events while the program runs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_RUNS_RUN_FOLLOW_H
#define CT_TOOLS_RUNS_RUN_FOLLOW_H

#include "print/print.h"

struct run_follow;
/* config: the path by which a process of the run is known, valid until the close.  Returns NULL
 * after a report. */
struct run_follow *run_follow_open(const char *config);
void run_follow_close(struct run_follow *follow);
/* Readable when a process appears; -1: none. */
int run_follow_fd(const struct run_follow *follow);
/* Prints what is new.  Returns in how many milliseconds to call it again. */
unsigned run_follow_step(void *follow);
/* The program has ended. */
void run_follow_end(struct run_follow *follow);
/* Prints an event of the finished trace if it was not printed before.  In the trace's order. */
void run_follow_rest(struct run_follow *follow, const struct ct_read_event *event);

#endif
