/*
 * guard.c - sections of code in which a thread may hold ctrace's own locks: no signal handler runs
 * there, and no cancellation acts.
 *
 * Entered before the first of ctrace's locks is taken and left after the last one is released, by
 * the thread itself.  A handler of the program that ran in between could wait for a lock that its
 * own thread holds; a cancelled thread would leave the lock locked for ever. The calls here are
 * system calls, so none of this is for the path of an event that has a ring.  A command that takes
 * many locks one after the other has one shield around all of its sections: then only the shield
 * makes system calls.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

__thread uint32_t ct_thread_locked __attribute__((tls_model("initial-exec")));

/* What the thread had before it entered.  Valid while ct_thread_locked is not 0, and no shield is
 * around the section. */
static __thread struct {
	sigset_t mask;
	int cancel_state;
} before __attribute__((tls_model("initial-exec")));

/* The mask of the outermost shield.  NULL: the thread has none. */
static __thread const sigset_t *shield_mask __attribute__((tls_model("initial-exec")));

/* The signals that were pending before the first output of the section, or of the shield around it:
 * they are the program's. */
static __thread struct {
	sigset_t pending;
	bool is_known;
} output __attribute__((tls_model("initial-exec")));

static bool is_shielded(void)
{
	return ct_os_thread_is_own() || shield_mask != NULL;
}

void ct_guard_output(void)
{
	bool is_blocked = ct_thread_locked != 0 || shield_mask != NULL;

	if (!is_blocked || output.is_known || ct_os_thread_is_own())
		return;
	if (sigpending(&output.pending) != 0)
		(void)sigemptyset(&output.pending);
	output.is_known = true;
}

/* Our own output raises SIGXFSZ and SIGPIPE on this thread: they must neither end the program nor
 * run its handlers. */
static void discard_signals_of_output(void)
{
	static const int output_signals[] = { SIGXFSZ, SIGPIPE };
	const struct timespec now = { 0, 0 };
	sigset_t pending, ours;
	bool has_ours = false;

	if (!output.is_known || sigpending(&pending) != 0)
		return;
	output.is_known = false;
	(void)sigemptyset(&ours);
	for (size_t i = 0; i < CT_COUNT(output_signals); i++) {
		if (sigismember(&pending, output_signals[i]) != 1 ||
		    sigismember(&output.pending, output_signals[i]) == 1)
			continue;
		(void)sigaddset(&ours, output_signals[i]);
		has_ours = true;
	}
	while (has_ours && sigtimedwait(&ours, NULL, &now) > 0)
		;
}

static void block_signals(sigset_t *out_mask)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, out_mask);
}

/* Signals are blocked first and allowed again last: a handler that leaves by siglongjmp() finds
 * cancellation as it was. */
void ct_guard_enter(void)
{
	sigset_t mask;
	int cancel_state;

	/* A thread of our own has all signals blocked for life, and nobody can cancel it; one
	 * behind a shield for as long as that stands. */
	if (ct_thread_locked != 0 || is_shielded()) {
		ct_thread_locked++;
		return;
	}
	/* A cancellation may still act between these calls: nothing is held yet. */
	block_signals(&mask);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	before.mask = mask;
	before.cancel_state = cancel_state;
	ct_thread_locked = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void ct_guard_leave(void)
{
	int kept = errno;
	sigset_t mask;
	int cancel_state;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (ct_thread_locked != 1 || is_shielded()) {
		ct_thread_locked -= ct_thread_locked != 0;
		return;
	}
	discard_signals_of_output();
	/* Handlers that run in the last call may enter themselves: what this thread had is read
	 * first. */
	mask = before.mask;
	cancel_state = before.cancel_state;
	ct_thread_locked = 0;
	(void)pthread_setcancelstate(cancel_state, &cancel_state);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	errno = kept;
}

void ct_guard_mask(sigset_t *out_mask)
{
	if (shield_mask != NULL)
		*out_mask = *shield_mask;
	else if (ct_thread_locked != 0 && !ct_os_thread_is_own())
		*out_mask = before.mask;
	else
		(void)pthread_sigmask(SIG_SETMASK, NULL, out_mask);
}

/* ---- shields ---- */

/* Handlers that run in the last call find no shield. */
static void allow_signals(const sigset_t *mask)
{
	int kept = errno;

	discard_signals_of_output();
	shield_mask = NULL;
	(void)pthread_sigmask(SIG_SETMASK, mask, NULL);
	errno = kept;
}

void ct_shield_begin(struct ct_shield *shield)
{
	shield->is_outermost = !is_shielded();
	if (!shield->is_outermost)
		return;
	block_signals(&shield->mask);
	shield_mask = &shield->mask;
}

void ct_shield_end(const struct ct_shield *shield)
{
	if (shield->is_outermost)
		allow_signals(&shield->mask);
}

const sigset_t *ct_shield_lift(void)
{
	const sigset_t *mask = shield_mask;

	if (mask != NULL)
		allow_signals(mask);
	return mask;
}

void ct_shield_restore(const sigset_t *lifted)
{
	if (lifted == NULL)
		return;
	block_signals(NULL);
	shield_mask = lifted;
}

/* ---- */

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
