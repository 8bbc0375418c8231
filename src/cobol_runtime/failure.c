/*
 * failure.c - run-time errors, warnings and signals: mf.rts.
 *
 * libcob words a message from a format and arguments.  The hook words it first and passes it on as
 * one text.  A signal arrives here on its way to libcob's own handler (got.c, run_unit.c).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/failure.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 4096 /* longer messages are worded in memory of their own */
#define CALLED_PROGRAM_NOT_FOUND 173
#define SIGNALS 65

static void (*signal_handlers[SIGNALS])(int);

/* A message, worded.  text is stored, or memory of its own, or NULL when there was no memory. */
struct message {
	char *text;
	char stored[TEXT_SIZE];
};

__attribute__((format(printf, 2, 0))) static void
message_word(struct message *message, const char *format, va_list arguments)
{
	va_list again;
	int size;

	va_copy(again, arguments);
	size = vsnprintf(message->stored, sizeof message->stored, format, arguments);
	message->text = message->stored;
	if (size >= (int)sizeof message->stored) {
		char *text = malloc((size_t)size + 1);

		if (text != NULL) {
			(void)vsnprintf(text, (size_t)size + 1, format, again);
			message->text = text;
		}
	}
	va_end(again);
}

static void message_release(struct message *message)
{
	if (message->text != message->stored)
		free(message->text);
}

static size_t text_size(const char *text)
{
	size_t size = strlen(text);

	return size <= CTRACE_MAX_ITEM_SIZE ? size : CTRACE_MAX_ITEM_SIZE;
}

void cob_runtime_error(const char *format, ...)
{
	struct ct_where where = ct_program_where();
	struct ct_name source = ct_program_source();
	struct message message;
	uint32_t number = ct_program_is_searched_for() ? CALLED_PROGRAM_NOT_FOUND : 0;
	va_list arguments;
	int error = errno;

	va_start(arguments, format);
	message_word(&message, format, arguments);
	va_end(arguments);
	/* The vendor's items come first: class 3 is an error of the run time. */
	CTRACE(&ct_rts, CTRACE_ERROR, 255, CTRACE_U32(3), CTRACE_U32(number), CTRACE_U32(1),
	       CTRACE_TEXT(where.program.text, where.program.size),
	       CTRACE_TEXT(message.text, text_size(message.text)),
	       CTRACE_TEXT(source.text, source.size), CTRACE_U32(where.line));
	errno = error;
	ct_calls_find();
	PASS(cob_runtime_error, "%s", message.text);
	message_release(&message);
}

void cob_runtime_warning(const char *format, ...)
{
	struct ct_where where = ct_program_where();
	struct ct_name source = ct_program_source();
	struct message message;
	va_list arguments;
	int error = errno;

	va_start(arguments, format);
	message_word(&message, format, arguments);
	va_end(arguments);
	CTRACE(&ct_rts, CTRACE_WARN, 1020, CTRACE_TEXT(where.program.text, where.program.size),
	       CTRACE_TEXT(message.text, text_size(message.text)),
	       CTRACE_TEXT(source.text, source.size), CTRACE_U32(where.line));
	errno = error;
	ct_calls_find();
	PASS(cob_runtime_warning, "%s", message.text);
	message_release(&message);
}

/* -----------------------------------------------------------------------------------------------
 * Signals
 */

/* libcob frees its state at the end, and a fault may have destroyed what leads to the program. */
static void signal_arrived(int number)
{
	struct ct_where where = { .program = { "", 0 } };
	char name[CT_FAULT_NAME];

	if (!ct_run_unit_is_ending())
		where = ct_program_where_after_fault(name);
	CTRACE(&ct_rts, CTRACE_FATAL, 1030, CTRACE_U32(number),
	       CTRACE_TEXT(where.program.text, where.program.size), CTRACE_U32(where.line));
	signal_handlers[number](number);
}

int ct_failure_sigaction(int number, const struct sigaction *action, struct sigaction *former)
{
	bool is_known = number > 0 && number < SIGNALS;
	void (*before)(int) = is_known ? signal_handlers[number] : NULL;
	struct sigaction ours;
	int status;

	if (action != NULL && is_known && (action->sa_flags & SA_SIGINFO) == 0 &&
	    action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
		ours = *action;
		ours.sa_handler = signal_arrived;
		signal_handlers[number] = action->sa_handler;
		action = &ours;
	}
	status = sigaction(number, action, former);
	if (status == 0 && former != NULL && former->sa_handler == signal_arrived)
		former->sa_handler = before;
	return status;
}

/* Is the function part of libcob? */
static bool handler_is_of_libcob(void (*handler)(int))
{
	void *cob_function = (void *)(uintptr_t)atomic_load(&ct_cob_init);
	Dl_info info;
	Dl_info libcob;

	return dladdr((void *)(uintptr_t)handler, &info) != 0 &&
	       dladdr(cob_function, &libcob) != 0 && info.dli_fbase == libcob.dli_fbase;
}

void ct_failure_take_over(void)
{
	for (int number = 1; number < SIGNALS; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
		    action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
		    handler_is_of_libcob(action.sa_handler))
			(void)ct_failure_sigaction(number, &action, NULL);
	}
}
