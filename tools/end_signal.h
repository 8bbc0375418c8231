/*
 * end_signal.h - how a verb that goes on until it is stopped hears that it is to end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_END_SIGNAL_H
#define CT_TOOLS_END_SIGNAL_H

#include <signal.h>

/* SIGINT or SIGTERM has come; the verb may set and clear it too. */
extern volatile sig_atomic_t ct_end_wanted;
/* From now on they come only while the verb waits with the mask that this gives (ppoll()), so that none is overlooked between looking at
 * ct_end_wanted and waiting. */
void ct_end_catch(sigset_t *out_while_waiting);

#endif
