/*
 * process.c - one traced process: attaching it when first needed, and the calls that lib/start
 * implements.
 *
 * Called on any thread of the program.  ct_process_wake_consumer_thread() and
 * ct_process_open_first() are async-signal-safe.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/process/process.h"

#include <errno.h>
#include <time.h>

struct ct_process ct_process;

struct ct_process *ct_process_attach(void)
{
	uint32_t state = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE);
	bool is_attached;
	int kept = errno;

	if (__builtin_expect(state == CT_PROCESS_ATTACHED, 1)) {
		if (__builtin_expect(*ct_process.mark != 0, 1))
			return &ct_process;
		/* The child was made without the fork handlers. */
		ct_process_steps.reset_parent();
		state = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE);
	}
	/* Inside ctrace's own locks, or in a signal handler that interrupted such code, it cannot
	 * attach. */
	if (ct_thread_locked != 0 || state == CT_PROCESS_CLOSED || state == CT_PROCESS_FAILED)
		return NULL;
	is_attached = ct_process_steps.attach();
	errno = kept;
	return is_attached ? &ct_process : NULL;
}

void ct_process_wake_consumer_thread(void)
{
	ct_process_steps.wake();
}

bool ct_process_open_first(void)
{
	return ct_process_steps.open_first();
}

void ct_process_await_first(void)
{
	ct_process_steps.await_first();
}

/* localtime_r() has a lock of libc that the child of a fork finds locked for ever.  fork takes the
 * registry's lock, so it never comes in the middle. */
void ct_process_print_time(char out[CT_PROCESS_TIME], const char *form)
{
	struct ct_registry *registry = ct_process.registry; /* tools have none */
	time_t now = time(NULL);
	struct tm local;

	out[0] = '\0';
	if (registry != NULL)
		ct_registry_lock(registry);
	if (localtime_r(&now, &local) != NULL)
		(void)strftime(out, CT_PROCESS_TIME, form, &local);
	if (registry != NULL)
		ct_registry_unlock(registry);
}

enum ctrace_status ct_process_flush(uint32_t timeout_ms)
{
	return ct_process_steps.flush(timeout_ms);
}
