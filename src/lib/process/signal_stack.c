/*
 * signal_stack.c - alternate stacks, on which the handler of fatal signals runs.
 *
 * A thread whose stack is exhausted has no room for a handler.  With fatal-signal in ctrace.dump.on
 * a thread gets an alternate stack at its first event.  A stack that the program has set stays in
 * force, before and after.  lib/dump/crash.c runs no handler of the program on it.  A handler of
 * the program for another signal runs on it if it has SA_ONSTACK, so the stack is not small.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/process/signal_stack.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/base.h"

#define STACK_SIZE ((size_t)128 << 10) /* untouched pages cost nothing */
#define GUARD_SIZE ((size_t)64 << 10)  /* below the stack; at least one page on any machine */

/*
 * Linux 4.7: the stack is not set while a handler runs on it.  Without this flag sigreturn(2) could
 * not remove it, as the thread still stands on it when the kernel looks.
 */
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

static __thread char *own_stack __attribute__((tls_model("initial-exec"))); /* with its guard */

void ct_signal_stack_set(void)
{
	int kept_errno = errno;
	stack_t stack;
	char *memory;

	if (own_stack != NULL || sigaltstack(NULL, &stack) != 0 ||
	    (stack.ss_flags & SS_DISABLE) == 0)
		return;
	memory = mmap(NULL, GUARD_SIZE + STACK_SIZE, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (memory != MAP_FAILED) {
		stack = (stack_t){ .ss_sp = memory + GUARD_SIZE,
				   .ss_flags = (int)SS_AUTODISARM,
				   .ss_size = STACK_SIZE };
		if (mprotect(stack.ss_sp, STACK_SIZE, PROT_READ | PROT_WRITE) == 0 &&
		    sigaltstack(&stack, NULL) == 0)
			own_stack = memory;
		else
			(void)munmap(memory, GUARD_SIZE + STACK_SIZE);
	}
	errno = kept_errno;
}

bool ct_signal_stack_is_own(const stack_t *stack)
{
	return own_stack != NULL && stack->ss_sp == own_stack + GUARD_SIZE;
}

void ct_signal_stack_remove(void)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	int kept_errno = errno;
	stack_t stack;

	/* A handler that ends its thread may stand on the stack: it is left. */
	if (own_stack == NULL || (uintptr_t)&stack - (uintptr_t)own_stack < GUARD_SIZE + STACK_SIZE)
		return;
	if (sigaltstack(NULL, &stack) == 0 &&
	    (!ct_signal_stack_is_own(&stack) || sigaltstack(&none, NULL) == 0)) {
		(void)munmap(own_stack, GUARD_SIZE + STACK_SIZE);
		own_stack = NULL;
	}
	errno = kept_errno;
}
