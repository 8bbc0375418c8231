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
#include "record/record.h"

#include <signal.h>
#include <unwind.h>

#define FRAMES_LIMIT 256u /* a handler that is deeper than this is taken for the program */

struct walk {
	unsigned frames;
	bool has_interrupted;
};

static _Unwind_Reason_Code look_at(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	int is_interrupted = 0; /* the frame was left by a signal, not by a call */

	(void)_Unwind_GetIPInfo(context, &is_interrupted);
	walk->has_interrupted = is_interrupted != 0;
	return walk->has_interrupted || ++walk->frames == FRAMES_LIMIT ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static bool on_signal_stack(void)
{
	stack_t stack;

	return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

/* The frame of a call of the function below that is under way on this thread, or was left by siglongjmp(); 0: none. */
static __thread uintptr_t asking __attribute__((tls_model("initial-exec")));

bool ct_thread_is_in_handler(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct walk walk = { 0 };

	if (ct_os_thread_is_own())
		return false; /* all signals are blocked */
	if (on_signal_stack())
		return true;
	/* A deeper call while one is under way comes from a handler that interrupted it.  So
	 * handlers in quick succession do not each walk the stack. */
	if (asking != 0 && here < asking)
		return true;
	asking = here;
	(void)_Unwind_Backtrace(look_at, &walk);
	asking = 0;
	return walk.has_interrupted;
}
