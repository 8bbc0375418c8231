/*
 * fork.c - what a child process may keep of its parent's tracing.
 *
 * A child keeps the registry, and at first its parent's level words: they are in memory that both
 * map.  Until it traces its first event it has no run directory, no ring and no consumer thread, so
 * that fork-and-exec costs nothing; then it gets its own (ct_process_attach()).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/start.h"

#include "lib/dump/dump.h"
#include "lib/watch/watch.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread bool prepared;                  /* the handlers below hold the locks */
static __thread bool has_process;               /* and those of the attached process among them */
static __thread bool consumer_thread_is_paused; /* the consumer's among these */
/* fork was called by a signal handler that interrupted a trace call */
static __thread bool is_in_call;

/* On the forking thread: nobody is in the middle of a change when the memory is copied.  A signal
 * handler that forks inside our own locked section must not take the locks again: its child traces
 * no more. */
static void before_fork(void)
{
	if (ct_thread_locked != 0)
		return;
	ct_attach_lock();
	prepared = true; /* signals are blocked: a handler that forks clears it */
	is_in_call = ct_thread_is_in_call();
	consumer_thread_is_paused = false;
	has_process = ct_process_has_session();
	if (!has_process)
		return;
	consumer_thread_is_paused = ct_consumer_thread_pause();
	ct_trigger_lock();
	ct_bin_pack_lock();
	ct_table_lock();
	ct_registry_lock(ct_process.registry);
	ct_ring_pool_lock_whole(ct_process.pool);
}

static void after_fork_in_parent(void)
{
	if (!prepared)
		return;
	/* By what was taken, not by the state: the process may have ended its tracing meanwhile. */
	if (has_process) {
		ct_ring_pool_unlock(ct_process.pool);
		ct_registry_unlock(ct_process.registry);
		ct_table_unlock();
		ct_emitter_unlock();
		ct_trigger_unlock();
		if (consumer_thread_is_paused)
			ct_consumer_thread_resume();
	}
	prepared = false;
	ct_attach_unlock();
}

_Static_assert(offsetof(struct ct_session_head, bell) / 4096 ==
		       (offsetof(struct ct_session_head, is_dormant) + sizeof(uint32_t) - 1) / 4096,
	       "the child gets both with one page, also of the smallest size");

/* The child of a dormant process gets a session of its own at its first trace call, also when that
 * is not recorded: operators find sessions.  So the page of the bell becomes the child's, and its
 * own bell is rung.  Without memory the child hears its parent's. */
static void part_from_bell(struct ct_session_head *head)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)&head->bell & ~(uintptr_t)(size - 1)), *copy;

	if (ct_os_map(-1, size, false, &copy) != CTRACE_OK)
		return;
	memcpy(copy, page, size);
	if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, page) == MAP_FAILED) {
		(void)munmap(copy, size);
		return;
	}
	/* The parent may have woken meanwhile; the tracers of this child have not. */
	head->is_dormant = CT_DORMANT;
	head->bell.level = 0;
}

void ct_fork_reset(bool consumer_thread_was_paused)
{
	bool has_registry = ct_process.registry != NULL;

	ct_guard_enter(); /* until everything is made anew; ct_thread_reset_all() leaves it */
	/* Whoever held these does not exist here.  The pool is made anew when the child attaches.
	 */
	ct_attach_unlock_in_child(prepared);
	ct_bin_pack_forked(prepared && has_process);
	prepared = false;
	ct_emitter_unlock_in_child();
	ct_table_unlock_in_child();
	if (has_registry)
		ct_registry_unlock_in_child(ct_process.registry);
	if (is_in_call && ct_process.pool != NULL)
		ct_ring_pool_detach(ct_process.pool);
	ct_thread_reset_all(is_in_call);
	is_in_call = false;
	ct_consumer_thread_reset(consumer_thread_was_paused);
	ct_trigger_forked();
	ct_dump_forked();
	ct_server_reset();
	ct_session_reset_loaded();
	ct_last_thread_reset();
	if (ct_process.state != CT_PROCESS_CLONED) {
		memset(ct_process.lost_unattached, 0, sizeof ct_process.lost_unattached);
		memset(ct_process.lost_early, 0, sizeof ct_process.lost_early);
	}
	ct_process.failing = ct_process.consumer_thread_idle = 0;
	if (ct_process.state == CT_PROCESS_DORMANT ||
	    (ct_process.state == CT_PROCESS_CLONED &&
	     ct_process.session.head->is_dormant == CT_DORMANT))
		part_from_bell(ct_process.session.head);
	if (ct_process_has_session() || ct_process.state == CT_PROCESS_CLONED)
		__atomic_store_n(&ct_process.state, CT_PROCESS_FORKED, __ATOMIC_RELEASE);
}

static void after_fork_in_child(void)
{
	bool is_whole = prepared;
	bool was_paused = is_whole && consumer_thread_is_paused && ct_process_has_session();

	consumer_thread_is_paused = false;
	ct_fork_reset(was_paused);
	ct_last_thread_begin();
	if (!is_whole && ct_process.state != CT_PROCESS_NEW)
		ct_process.state = CT_PROCESS_FAILED;
	ct_os_thread_child();
}

/* When the library is loaded, not when the process attaches: a fork must wait for another thread
 * that attaches just then. */
__attribute__((constructor)) static void install_handlers(void)
{
	(void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	ct_last_thread_begin();
}
