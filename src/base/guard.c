/*
 * guard.c - the mark of a thread that is inside one of ctrace's own locked sections.
 *
 * Raised before a lock is taken and lowered after it is given back, by the thread itself; read by signal handlers on the same
 * thread, which would wait for themselves if they took the lock.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

__thread uint32_t ct_thread_locked __attribute__((tls_model("initial-exec")));

void ct_guard_lock(pthread_mutex_t *mutex)
{
	ct_thread_locked++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	(void)pthread_mutex_lock(mutex);
}

void ct_guard_unlock(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_unlock(mutex);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ct_thread_locked--;
}
