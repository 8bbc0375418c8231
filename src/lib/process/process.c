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
#include <string.h>
#include <time.h>

struct ct_process ct_process;

/* The child was made without the fork handlers, and has one thread.  The counts are its parent's.
 */
static void process_note_clone(void)
{
	memset(ct_process.lost_unattached, 0, sizeof ct_process.lost_unattached);
	memset(ct_process.lost_early, 0, sizeof ct_process.lost_early);
	__atomic_store_n(&ct_process.state, CT_PROCESS_CLONED, __ATOMIC_RELEASE);
}

/* Returns false where the process cannot wake. */
static bool process_wake(void)
{
	int kept = errno;
	bool is_awake = ct_thread_locked == 0 && ct_process_steps.rouse();

	errno = kept;
	return is_awake;
}

struct ct_process *ct_process_attach(void)
{
	uint32_t state = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE);
	bool is_attached;
	int kept = errno;

	if (__builtin_expect(state == CT_PROCESS_ATTACHED, 1) || state == CT_PROCESS_DORMANT) {
		if (__builtin_expect(*ct_process.mark != 0, 1)) {
			if (state == CT_PROCESS_DORMANT && ct_process_hears_bell())
				(void)process_wake();
			return &ct_process;
		}
		process_note_clone();
		state = CT_PROCESS_CLONED;
	}
	/* Inside ctrace's own locks it cannot attach.  In a signal handler it must not: attaching
	 * allocates, loads modules and starts threads, and the interrupted code may hold the locks
	 * for all of that. */
	if (ct_thread_locked != 0 || state == CT_PROCESS_CLOSED || state == CT_PROCESS_FAILED ||
	    ct_thread_is_in_handler())
		return NULL;
	if (state == CT_PROCESS_CLONED)
		ct_process_steps.reset_parent();
	is_attached = ct_process_steps.attach();
	errno = kept;
	return is_attached ? &ct_process : NULL;
}

void ct_process_hand_over_losses(void)
{
	struct ct_session_head *head = ct_process.session.head;
	uint32_t lowest = ct_registry_lowest_level(ct_process.registry);

	for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++) {
		uint64_t count =
			__atomic_exchange_n(&ct_process.lost_early[level], 0, __ATOMIC_SEQ_CST);

		if (count == 0 || level < lowest)
			continue;
		(void)__atomic_fetch_add(&head->lost[CTRACE_LOSS_NESTED], count, __ATOMIC_RELAXED);
		(void)__atomic_fetch_add(&head->lost_to_all[CTRACE_LOSS_NESTED], count,
					 __ATOMIC_RELAXED);
	}
}

struct ct_process *ct_process_rouse(void)
{
	struct ct_process *process = ct_process_attach();
	bool is_dormant = process != NULL &&
			  __atomic_load_n(&process->state, __ATOMIC_ACQUIRE) == CT_PROCESS_DORMANT;

	return is_dormant && !process_wake() ? NULL : process;
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
