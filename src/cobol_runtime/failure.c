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
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define TEXT_SIZE 4096 /* longer messages are worded in memory of their own */
#define CALLED_PROGRAM_NOT_FOUND 173
#define SIGNALS 65
#define DEFERRAL_NS 100000
#define DEFERRALS 1000 /* a program may call the C library without a break */

/* A handler of libcob, the disposition that leads to it, and how often its signal was deferred. */
static struct taken_signal {
	void (*handler)(int);
	struct sigaction action;
	int deferrals;
	int timer; /* while deferrals > 0 */
} taken_signals[SIGNALS];
/* The code of the allocator, and of the library around it. */
static uintptr_t allocator_begin;
static uintptr_t allocator_end;

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
	ctrace_dump_error_(message.text, text_size(message.text));
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

/*
 * libcob's handlers free memory.  That ends well in a program of one thread, as its allocator takes
 * no locks.  This library adds threads, so a handler that interrupts the allocator would wait for a
 * lock of its own thread.  Such a signal is sent again a moment later, when the thread has moved
 * on.
 */

static int allocator_find(struct dl_phdr_info *object, size_t size, void *unused)
{
	uintptr_t allocate = (uintptr_t)malloc;

	(void)size;
	(void)unused;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && allocate >= begin &&
		    allocate - begin < segment->p_memsz) {
			allocator_begin = begin;
			allocator_end = begin + segment->p_memsz;
			return 1;
		}
	}
	return 0;
}

/* Did the signal interrupt the allocator's library, other than in a system call that waits? */
static bool interrupted_allocator(const ucontext_t *context)
{
	uintptr_t place;
	bool waits;

#if defined(__x86_64__)
	static const unsigned char system_call[] = { 0x0f, 0x05 };

	place = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	if (place < allocator_begin || place >= allocator_end)
		return false;
	waits = context->uc_mcontext.gregs[REG_RAX] == -EINTR ||
		memcmp((const void *)place, system_call, sizeof system_call) == 0;
#elif defined(__aarch64__)
	static const uint32_t system_call = 0xd4000001;

	place = (uintptr_t)context->uc_mcontext.pc;
	if (place < allocator_begin || place >= allocator_end)
		return false;
	waits = (int64_t)context->uc_mcontext.regs[0] == -EINTR ||
		memcmp((const void *)place, &system_call, sizeof system_call) == 0;
#elif defined(__s390x__)
	place = (uintptr_t)context->uc_mcontext.psw.addr;
	if (place < allocator_begin || place >= allocator_end)
		return false;
	/* svc has 0x0a and the number of the call, or 0 with the number in a register */
	waits = (int64_t)context->uc_mcontext.gregs[2] == -EINTR ||
		*(const unsigned char *)place == 0x0a;
#else
	(void)context;
	place = 0;
	waits = true;
#endif
	return place != 0 && !waits;
}

/* Those of a fault, and those that the process sends itself, are for this place of the program. */
static bool is_for_this_place(int number, const siginfo_t *info)
{
	if (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
	    number == SIGABRT || number == SIGTRAP)
		return true;
	return info->si_code == SI_TKILL || (info->si_code == SI_USER && info->si_pid == getpid());
}

/* timer_create() is not for handlers, its system call is. */
static bool signal_defer(int number, struct taken_signal *taken)
{
	const struct itimerspec later = { .it_value.tv_nsec = DEFERRAL_NS };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number };

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (taken->deferrals == DEFERRALS)
		return false;
	if (taken->deferrals == 0 &&
	    syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &taken->timer) != 0)
		return false;
	taken->deferrals++;
	/* The kernel has reset the disposition of a handler that is for one signal. */
	return sigaction(number, &taken->action, NULL) == 0 &&
	       syscall(SYS_timer_settime, taken->timer, 0, &later, NULL) == 0;
}

static void signal_deferral_ends(struct taken_signal *taken)
{
	if (taken->deferrals > 0)
		(void)syscall(SYS_timer_delete, taken->timer);
	taken->deferrals = 0;
}

/* libcob frees its state at the end, and a fault may have destroyed what leads to the program. */
static void signal_arrived(int number, siginfo_t *info, void *context)
{
	struct taken_signal *taken = &taken_signals[number];
	struct ct_where where = { .program = { "", 0 } };
	char name[CT_FAULT_NAME];
	int error = errno;

	if (!is_for_this_place(number, info) && interrupted_allocator(context) &&
	    signal_defer(number, taken)) {
		errno = error;
		return;
	}
	signal_deferral_ends(taken);
	errno = error;
	if (!ct_run_unit_is_ending())
		where = ct_program_where_after_fault(name);
	CTRACE(&ct_rts, CTRACE_FATAL, 1030, CTRACE_U32(number),
	       CTRACE_TEXT(where.program.text, where.program.size), CTRACE_U32(where.line));
	ctrace_dump_signal_(number, info, context);
	taken->handler(number);
}

int ct_failure_sigaction(int number, const struct sigaction *action, struct sigaction *former)
{
	bool is_known = number > 0 && number < SIGNALS;
	struct taken_signal before = { .handler = NULL };
	int status;

	if (is_known)
		before = taken_signals[number];
	if (action != NULL && is_known && (action->sa_flags & SA_SIGINFO) == 0 &&
	    action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
		struct taken_signal *taken = &taken_signals[number];

		if (allocator_end == 0)
			(void)dl_iterate_phdr(allocator_find, NULL);
		taken->handler = action->sa_handler;
		taken->action = *action;
		taken->action.sa_flags |= SA_SIGINFO;
		taken->action.sa_sigaction = signal_arrived;
		action = &taken->action;
	}
	status = sigaction(number, action, former);
	if (status == 0 && former != NULL && (former->sa_flags & SA_SIGINFO) != 0 &&
	    former->sa_sigaction == signal_arrived) {
		former->sa_flags &= ~SA_SIGINFO;
		former->sa_handler = before.handler;
	}
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
