/*
 * handler.c - is the calling code a signal handler?
 *
 * The slow paths of a trace call ask: before they wait for the output, and when the thread is
 * inside another call.  The kernel puts a frame of its own between a handler and the code that it
 * interrupted, and the compiler's unwinder knows such a frame.  The unwinder reads the stack and
 * mapped tables: it takes no lock, allocates nothing, and calls nothing of the program.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/trace/trace.h"

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
	int is_interrupted = 0; /* a signal interrupted the frame; it made no call */

	(void)_Unwind_GetIPInfo(context, &is_interrupted);
	walk->has_interrupted = is_interrupted != 0;
	return walk->has_interrupted || ++walk->frames == FRAMES_LIMIT ? _URC_END_OF_STACK
								       : _URC_NO_REASON;
}

static bool on_signal_stack(void)
{
	stack_t stack;

	return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

/* Signals are blocked during the walk: no handler interrupts it with a walk of its own, or leaves
 * it by siglongjmp().  Signals for a fault of the walk itself stay unblocked, so that the program's
 * crash handler runs. */
static bool has_interrupted_frame(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	struct walk walk = { 0 };
	sigset_t all, mask;

	(void)sigfillset(&all);
	for (size_t i = 0; i < CT_COUNT(faults); i++)
		(void)sigdelset(&all, faults[i]);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
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

/* The first frame does it: the others would only cost time and pages. */
void ct_thread_prepare_walk(void)
{
	(void)_Unwind_Backtrace(walk_end, NULL);
}

bool ct_thread_is_in_handler(void)
{
	if (ct_os_thread_is_own())
		return false; /* all signals are blocked */
	return on_signal_stack() || has_interrupted_frame();
}
