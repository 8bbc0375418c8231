/*
 * stack.c - calls a function on a stack of ctrace's own.
 *
 * Any thread of the program may have to attach or to load a module.  It may have a small stack: a
 * few kilobytes for signal handlers, 16 KiB for a small thread.  Reading a configuration and
 * loading a module need more.  All signals are blocked meanwhile and cancellation is off, so
 * nothing jumps out of such a call.  The first thread mostly has the room, and then stays on its
 * own stack.  Called at most a few times in the life of a process, and by commands.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

/* A few instructions that do nothing outside valgrind, which must know every stack. */
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(bottom, top) 0u
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

#define STACK_SIZE ((size_t)1 << 20) /* untouched pages cost nothing */
#define STACK_SIZE_MIN ((size_t)128 << 10)
/* below the stack; at least one page on any machine */
#define GUARD_SIZE ((size_t)64 << 10)

/* At the upper end of the stack, so that the caller's stack need not hold it. */
struct call {
	void (*body)(void *argument);
	void *argument;
	int kept_errno;
	bool has_begun;
	ucontext_t caller, called;
	const void *
		caller_bottom; /* the caller's stack and its size, as AddressSanitizer knows them */
	size_t caller_size;
};

/*
 * These functions are NULL unless the program is built with AddressSanitizer; ctrace itself need
 * not be.  AddressSanitizer must know the present stack of a thread.  When instrumented code
 * unwinds on an unknown stack, it warns, and later reports false errors.
 */
__attribute__((weak)) void __sanitizer_start_switch_fiber(void **out_state, const void *bottom,
							  size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *state, const void **out_bottom,
							   size_t *out_size);

/* out_state NULL: the stack that the thread leaves ends. */
static void stack_announce_switch(void **out_state, const void *bottom, size_t size)
{
	if (__sanitizer_start_switch_fiber != NULL)
		__sanitizer_start_switch_fiber(out_state, bottom, size);
}

/* state NULL: the stack is new. */
static void stack_finish_switch(void *state, const void **out_bottom, size_t *out_size)
{
	if (__sanitizer_finish_switch_fiber != NULL)
		__sanitizer_finish_switch_fiber(state, out_bottom, out_size);
}

static __thread struct call *current __attribute__((tls_model("initial-exec")));

static void stack_run(void)
{
	struct call *call = current;

	current = NULL;
	stack_finish_switch(NULL, &call->caller_bottom, &call->caller_size);
	errno = call->kept_errno;
	call->body(call->argument);
	call->kept_errno = errno;
	stack_announce_switch(NULL, call->caller_bottom, call->caller_size);
}

/* Where the first thread's stack begins.  A loader that does not define it leaves it NULL. */
extern void *__libc_stack_end __attribute__((weak));

#define FIRST_STACK_USED ((size_t)1 << 20) /* at most, by the callers of such a call */

/* True on the first thread's stack while that has room.  The kernel extends it up to its limit, a
 * quarter of which may hold the program's arguments. */
static bool stack_has_room(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t top = &__libc_stack_end != NULL ? (uintptr_t)__libc_stack_end : 0;
	struct rlimit limit;

	return here < top && top - here < FIRST_STACK_USED &&
	       getrlimit(RLIMIT_STACK, &limit) == 0 &&
	       limit.rlim_cur / 4 * 3 >= FIRST_STACK_USED + STACK_SIZE;
}

/* A free stack of STACK_SIZE bytes, or NULL.  It serves attaching and ending, which need one
 * each. */
static void *spare;

/* Maps the largest stack that memory allows.  Returns NULL without memory. */
static void *stack_make(size_t *out_size)
{
	void *found = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQUIRE);

	if (found != NULL) {
		*out_size = STACK_SIZE;
		return found;
	}
	for (size_t size = STACK_SIZE; size >= STACK_SIZE_MIN; size /= 2) {
		void *address =
			mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

		if (address == MAP_FAILED)
			continue;
		if (mprotect(address, GUARD_SIZE, PROT_NONE) == 0) {
			*out_size = size;
			return address;
		}
		(void)munmap(address, size);
	}
	return NULL;
}

static void stack_release(void *stack, size_t size)
{
	void *none = NULL;

	if (size != STACK_SIZE || !__atomic_compare_exchange_n(&spare, &none, stack, false,
							       __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		(void)munmap(stack, size);
}

static void stack_call(char *stack, size_t size, void (*body)(void *argument), void *argument)
{
	size_t offset = (size - sizeof(struct call)) & ~(size_t)63;
	struct call *call = (void *)(stack + offset);
	unsigned known = VALGRIND_STACK_REGISTER(stack + GUARD_SIZE, stack + size);
	void *state = NULL;

	call->body = body;
	call->argument = argument;
	call->kept_errno = errno;
	call->has_begun = false;
	(void)getcontext(&call->called);
	call->called.uc_stack.ss_sp = stack + GUARD_SIZE;
	call->called.uc_stack.ss_size = offset - GUARD_SIZE;
	call->called.uc_link = &call->caller;
	makecontext(&call->called, stack_run, 0);
	current = call;
	stack_announce_switch(&state, stack + GUARD_SIZE, offset - GUARD_SIZE);
	/* Returns a second time when stack_run() ends. swapcontext() would do the same, but
	 * AddressSanitizer warns about each call of it. */
	(void)getcontext(&call->caller);
	if (!call->has_begun) {
		call->has_begun = true;
		(void)setcontext(&call->called);
	}
	stack_finish_switch(state, NULL, NULL);
	VALGRIND_STACK_DEREGISTER(known);
	errno = call->kept_errno;
	if (current == call) { /* no switch is possible: rt_sigprocmask(2) is forbidden */
		current = NULL;
		body(argument);
	}
}

void ct_on_own_stack(void (*body)(void *argument), void *argument)
{
	int kept = errno;
	size_t size = 0;
	struct ct_shield shield;
	int cancel_state;
	bool has_room = stack_has_room();
	char *stack = has_room ? NULL : stack_make(&size);

	errno = kept;
	if (stack == NULL && !has_room) {
		body(argument);
		return;
	}
	cancel_state = ct_cancel_off();
	ct_shield_begin(&shield);
	if (stack != NULL)
		stack_call(stack, size, body, argument);
	else
		body(argument);
	kept = errno;
	if (stack != NULL)
		stack_release(stack, size);
	ct_shield_end(&shield);
	ct_cancel_restore(&cancel_state);
	errno = kept;
}
