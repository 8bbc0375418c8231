/*
 * cli/end_signal.h - how a verb that goes on until it is stopped hears that it is to end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_END_SIGNAL_H
#define CT_TOOLS_END_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* SIGINT or SIGTERM has come; the verb may set and clear it too. */
extern volatile sig_atomic_t ct_end_wanted;
/* From now on they come only while the verb waits with the mask that this gives (ppoll()), so that
 * none is overlooked between looking at ct_end_wanted and waiting. */
void ct_end_catch(sigset_t *out_while_waiting);
/* Until due_ns of the monotonic clock, or a signal comes, or nobody reads standard output any more,
 * which sets ct_end_wanted too. */
void ct_end_wait(uint64_t due_ns, const sigset_t *while_waiting);
/* Was standard output for nobody?  Then that is forgotten, and no error. */
bool ct_end_reader_gone(void);

#endif
