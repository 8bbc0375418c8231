/*
 * thread_queue.c - messages addressed to threads: the changes of notify.c and the commands of
 * deferred.c.
 *
 * Each of the two files has a list of messages.  One lock protects both lists and the other data of
 * the two files; no other lock is taken under it.  Any thread appends a message.  The addressed
 * thread takes it out under the lock, and handles it under no lock.
 *
 * A thread may take out and spend a message in a signal handler that interrupted malloc.  So the
 * next append frees it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include <pthread.h>
#include <stdlib.h>

uint32_t ct_notify_waiting;
__thread uint32_t ct_notify_installed __attribute__((tls_model("initial-exec")));
static __thread bool is_forking __attribute__((tls_model("initial-exec")));
/* from before fork() */
static __thread int cancel_state __attribute__((tls_model("initial-exec")));

static struct {
	pthread_mutex_t lock;
	uint32_t progress; /* atomic: incremented under the lock; waiting threads sleep on it */
	struct ct_thread_message *spent; /* to be freed */
	bool is_fork_safe;               /* atomic: written under the lock */
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER };

void ct_thread_queue_lock(void)
{
	ct_guard_lock(&queue.lock);
}

void ct_thread_queue_unlock(void)
{
	ct_guard_unlock(&queue.lock);
}

bool ct_thread_queue_is_closed(void)
{
	return ct_thread_locked != 0 || is_forking;
}

/* ---- fork ---- */

/*
 * fork() finds and leaves the lock free.  These handlers run outside the runtime's, which read
 * ct_thread_locked as the sign of a signal handler.  So ct_thread_locked stays clear, and
 * is_forking keeps signal handlers away.
 */
static void queue_lock_for_fork(void)
{
	cancel_state = ct_cancel_off();
	is_forking = true;
	CTRACE_FENCE_();
	pthread_mutex_lock(&queue.lock);
}

static void queue_unlock_after_fork(void)
{
	pthread_mutex_unlock(&queue.lock);
	CTRACE_FENCE_();
	is_forking = false;
	ct_cancel_restore(&cancel_state);
}

static void queue_unlock_in_child(void)
{
	ct_notify_forked();
	ct_deferred_forked();
	queue_unlock_after_fork();
}

bool ct_thread_queue_set_up(void)
{
	if (!ct_thread_queue_is_set_up() &&
	    pthread_atfork(queue_lock_for_fork, queue_unlock_after_fork, queue_unlock_in_child) ==
		    0)
		__atomic_store_n(&queue.is_fork_safe, true, __ATOMIC_RELAXED);
	return ct_thread_queue_is_set_up();
}

bool ct_thread_queue_is_set_up(void)
{
	return __atomic_load_n(&queue.is_fork_safe, __ATOMIC_RELAXED);
}

/* ---- messages ---- */

struct ct_thread_message **ct_thread_queue_find(struct ct_thread_message **link, const void *thread)
{
	while (*link != NULL && (*link)->thread != thread)
		link = &(*link)->next;
	return link;
}

void ct_thread_queue_append(struct ct_thread_message **list, struct ct_thread_message *message)
{
	while (queue.spent != NULL) {
		struct ct_thread_message *spent = queue.spent;

		queue.spent = spent->next;
		free(spent);
	}
	while (*list != NULL)
		list = &(*list)->next;
	message->next = NULL;
	*list = message;
	(void)__atomic_add_fetch(&ct_notify_waiting, 1, __ATOMIC_RELAXED);
}

struct ct_thread_message *ct_thread_queue_take_out(struct ct_thread_message **link)
{
	struct ct_thread_message *message = *link;

	*link = message->next;
	(void)__atomic_sub_fetch(&ct_notify_waiting, 1, __ATOMIC_RELAXED);
	return message;
}

void ct_thread_queue_spend(struct ct_thread_message *message)
{
	message->next = queue.spent;
	queue.spent = message;
}

/* ---- progress ---- */

bool ct_thread_queue_wait(uint64_t end_ns)
{
	uint32_t word = __atomic_load_n(&queue.progress, __ATOMIC_RELAXED);
	uint64_t now_ns = ct_clock_mono_ns();
	bool is_in_time;

	if (now_ns >= end_ns)
		return false;
	ct_thread_queue_unlock();
	is_in_time = ct_os_wait(&queue.progress, word, end_ns - now_ns);
	ct_thread_queue_lock();
	return is_in_time;
}

void ct_thread_queue_wake(void)
{
	(void)__atomic_fetch_add(&queue.progress, 1, __ATOMIC_RELEASE);
	ct_os_wake(&queue.progress);
}
