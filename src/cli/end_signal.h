/*
 * cli/end_signal.h - reports SIGINT and SIGTERM to a verb that goes on until it is stopped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_END_SIGNAL_H
#define CT_CLI_END_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* True when SIGINT or SIGTERM has come.  The verb may set and clear it too. */
extern volatile sig_atomic_t ct_end_wanted;
/* Blocks both signals except while the verb waits with the mask *out_while_waiting (ppoll()).
 * So no signal is overlooked between a look at ct_end_wanted and the wait. */
void ct_end_catch(sigset_t *out_while_waiting);
/* Waits until due_ns of the monotonic clock, until a signal comes, or until the reader of
 * standard output has gone, which also sets ct_end_wanted. */
void ct_end_wait(uint64_t due_ns, const sigset_t *while_waiting);
/* Returns true if the reader of standard output has gone.  The failed write is then cleared, and
 * is no error. */
bool ct_end_reader_gone(void);

#endif
