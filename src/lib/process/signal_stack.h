/*
 * lib/process/signal_stack.h - alternate stacks, on which the handler of fatal signals runs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SIGNAL_STACK_H
#define CT_SIGNAL_STACK_H

/* Gives the calling thread an alternate stack, unless it has one.  Async-signal-safe. */
void ct_signal_stack_set(void);
/* At the end of a thread: removes that stack. */
void ct_signal_stack_remove(void);
/* In a handler: the thread returns to the program without that stack.  context: ucontext_t. */
void ct_signal_stack_leave(void *context);

#endif
