/*
 * guard.c - sections of code in which a thread may hold ctrace's own locks: no signal handler runs
 * there, and no cancellation acts.
 *
 * A thread enters a section before it takes its first ctrace lock, and leaves it after it releases
 * the last.  A handler of the program that ran in between could wait for a lock that its own thread
 * holds.  A cancelled thread would leave the lock locked for ever.  Sections cost system calls, so
 * the path of an event whose thread has a ring has none.  A command that takes many locks in turn
 * puts one shield around all of its sections; then only the shield makes system calls.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

__thread uint32_t ct_thread_locked __attribute__((tls_model("initial-exec")));

/* The thread's state before it entered.  Valid inside a section without a shield around it. */
static __thread struct {
	sigset_t mask;
	int cancel_state;
} before __attribute__((tls_model("initial-exec")));

/* The mask of the outermost shield; NULL without a shield. */
static __thread const sigset_t *shield_mask __attribute__((tls_model("initial-exec")));

/* The signals that were pending before the first output of the section, or of the shield around it.
 * They belong to the program. */
static __thread struct {
	sigset_t pending;
	bool is_known;
} output __attribute__((tls_model("initial-exec")));

static bool thread_is_shielded(void)
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
static void output_discard_signals(void)
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

static void signals_block(sigset_t *out_mask)
{
	sigset_t all;

	ct_os_signals_fill(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, out_mask);
}

/* Signals are blocked first and allowed again last: a handler that leaves by siglongjmp() finds
 * cancellation as it was. */
void ct_guard_enter(void)
{
	sigset_t mask;
	int cancel_state;

	/* Our own threads have all signals blocked for life, and nobody can cancel them.  A shield
	 * does the same for a while. */
	if (ct_thread_locked != 0 || thread_is_shielded()) {
		ct_thread_locked++;
		return;
	}
	/* A cancellation may still act between these calls: the thread holds nothing yet. */
	signals_block(&mask);
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
	if (ct_thread_locked != 1 || thread_is_shielded()) {
		ct_thread_locked -= ct_thread_locked != 0;
		return;
	}
	output_discard_signals();
	/* Handlers that run during the last call may enter a section themselves, so the state is
	 * read first. */
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

/* Handlers that run during the last call must find no shield. */
static void signals_allow(const sigset_t *mask)
{
	int kept = errno;

	output_discard_signals();
	shield_mask = NULL;
	(void)pthread_sigmask(SIG_SETMASK, mask, NULL);
	errno = kept;
}

void ct_shield_begin(struct ct_shield *shield)
{
	shield->is_outermost = !thread_is_shielded();
	if (!shield->is_outermost)
		return;
	signals_block(&shield->mask);
	shield_mask = &shield->mask;
}

void ct_shield_end(const struct ct_shield *shield)
{
	if (shield->is_outermost)
		signals_allow(&shield->mask);
}

const sigset_t *ct_shield_lift(void)
{
	const sigset_t *mask = shield_mask;

	if (mask != NULL)
		signals_allow(mask);
	return mask;
}

void ct_shield_restore(const sigset_t *lifted)
{
	if (lifted == NULL)
		return;
	signals_block(NULL);
	shield_mask = lifted;
}

/* ---- */

void ct_guard_reset(void)
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

bool ct_guard_lock_in_trace(pthread_mutex_t *mutex)
{
	ct_guard_enter();
	if (pthread_mutex_trylock(mutex) == 0)
		return true;
	if (ct_thread_is_in_handler()) {
		ct_guard_leave();
		return false;
	}
	(void)pthread_mutex_lock(mutex);
	return true;
}

void ct_guard_unlock(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_unlock(mutex);
	ct_guard_leave();
}
