/*
 * guard.c - what holds while a thread is inside one of ctrace's own locked sections: no signal handler runs, no cancellation acts.
 *
 * Entered before the first of ctrace's locks is taken and left after the last one is released, by the thread itself.  A handler of the
 * program that ran in between could wait for a lock that its own thread holds; a cancelled thread would leave the lock locked for ever.
 * The calls here are system calls, so none of this is for the path of an event that has a ring.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

__thread uint32_t ct_thread_locked __attribute__((tls_model("initial-exec")));

/* What the thread had before it entered.  Valid while ct_thread_locked is not 0. */
static __thread struct {
	sigset_t mask;
	int cancel_state;
	bool was_pending;
} before __attribute__((tls_model("initial-exec")));

/* The signals that our own output raises on this thread: they must neither end the program nor run its handlers. */
static sigset_t output_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGXFSZ);
	(void)sigaddset(&set, SIGPIPE);
	return set;
}

static bool is_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && (sigismember(&pending, SIGXFSZ) == 1 || sigismember(&pending, SIGPIPE) == 1);
}

void ct_guard_enter(void)
{
	sigset_t all, mask;
	int cancel_state;

	/* A thread of our own has all signals blocked for life, and nobody can cancel it. */
	if (ct_thread_locked != 0 || ct_os_thread_is_own()) {
		ct_thread_locked++;
		return;
	}
	/* A cancellation or a handler may still act between these calls: nothing is held yet. */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	before.mask = mask;
	before.cancel_state = cancel_state;
	before.was_pending = is_pending();
	ct_thread_locked = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void ct_guard_leave(void)
{
	const struct timespec now = { 0, 0 };
	sigset_t set = output_signals();
	sigset_t mask;
	int cancel_state;
	int kept = errno;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (ct_thread_locked != 1 || ct_os_thread_is_own()) {
		ct_thread_locked -= ct_thread_locked != 0;
		return;
	}
	while (!before.was_pending && is_pending() && sigtimedwait(&set, NULL, &now) > 0)
		;
	/* Handlers that run from the next call on may enter themselves: what this thread had is read first. */
	mask = before.mask;
	cancel_state = before.cancel_state;
	ct_thread_locked = 0;
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	(void)pthread_setcancelstate(cancel_state, &cancel_state);
	errno = kept;
}

void ct_guard_mask(sigset_t *out_mask)
{
	if (ct_thread_locked != 0 && !ct_os_thread_is_own())
		*out_mask = before.mask;
	else
		(void)pthread_sigmask(SIG_SETMASK, NULL, out_mask);
}

void ct_guard_forget(void)
{
	if (ct_thread_locked == 0)
		return;
	ct_thread_locked = 1;
	ct_guard_leave();
}

int ct_cancel_off(void)
{
	int state = PTHREAD_CANCEL_ENABLE;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

void ct_cancel_restore(const int *state)
{
	int former;

	(void)pthread_setcancelstate(*state, &former);
}

void ct_guard_lock(pthread_mutex_t *mutex)
{
	ct_guard_enter();
	(void)pthread_mutex_lock(mutex);
}

void ct_guard_unlock(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_unlock(mutex);
	ct_guard_leave();
}
