/*
 * handler.c - finds out whether the calling code is a signal handler.
 *
 * The slow paths of a trace call ask: before the process attaches, before they wait for a lock or
 * the output, and when the thread is inside another call.  The kernel puts a frame of its own
 * between a handler and the code that it interrupted, and the compiler's unwinder knows such a
 * frame.  The unwinder reads the stack and mapped tables: it takes no lock, allocates nothing, and
 * calls nothing of the program.  A handler that was compiled without unwind tables is not found.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <pthread.h>
#include <signal.h>
#include <unwind.h>

#define FRAMES_LIMIT 256u /* a handler deeper than this goes undetected */

struct walk {
	unsigned frames;
	bool has_interrupted;
};

static _Unwind_Reason_Code frame_look_at(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	/* A signal interrupted the frame; it made no call.  The last frame is reported too, when it
	 * has no unwind table: code that the program has made itself. */
	int is_interrupted = 0;

	(void)_Unwind_GetIPInfo(context, &is_interrupted);
	walk->has_interrupted = is_interrupted != 0;
	return walk->has_interrupted || ++walk->frames == FRAMES_LIMIT ? _URC_END_OF_STACK
								       : _URC_NO_REASON;
}

bool ct_os_on_signal_stack(void)
{
	stack_t stack;

	return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

/* Signals are blocked during the walk: no handler interrupts it with a walk of its own, or leaves
 * it by siglongjmp().  Signals for a fault of the walk itself stay as the program has them, so that
 * its crash handler runs. */
static bool has_interrupted_frame(void)
{
	struct walk walk = { 0 };
	sigset_t all, mask;

	(void)sigfillset(&all);
	ct_os_signals_remove_faults(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &mask);
	(void)_Unwind_Backtrace(frame_look_at, &walk);
	ct_point("handler.walked");
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return walk.has_interrupted;
}

static _Unwind_Reason_Code walk_end(struct _Unwind_Context *context, void *argument)
{
	(void)context;
	(void)argument;
	return _URC_END_OF_STACK;
}

/* The unwinder's one-time work takes a lock, and a handler may be the first to need the unwinder.
 * The first frame does it: the others would only cost time and pages. */
__attribute__((constructor)) static void prepare_walk(void)
{
	(void)_Unwind_Backtrace(walk_end, NULL);
}

bool ct_thread_is_in_handler(void)
{
	if (ct_os_thread_is_own())
		return false; /* all signals are blocked */
	return ct_os_on_signal_stack() || has_interrupted_frame();
}
