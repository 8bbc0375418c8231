/*
 * lib/process/signal_stack.h - alternate stacks, on which the handler of fatal signals runs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SIGNAL_STACK_H
#define CT_SIGNAL_STACK_H

#include <signal.h>
#include <stdbool.h>

/* Gives the calling thread an alternate stack, unless it has one.  Async-signal-safe. */
void ct_signal_stack_set(void);
/* At the end of a thread: removes that stack. */
void ct_signal_stack_remove(void);
/* Returns true for the stack that ct_signal_stack_set() gave to the calling thread.
 * Async-signal-safe. */
bool ct_signal_stack_is_own(const stack_t *stack);

#endif
