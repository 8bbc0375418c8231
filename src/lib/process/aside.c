/*
 * aside.c - work on files for a thread of the program, on a thread of its own.
 *
 * A thread that is given up sleeps in the kernel, and holds nothing that exit() needs: no lock of
 * libc, the loader or the consumer.  When it wakes it frees its work and ends.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/process/aside.h"

#include <stdlib.h>

#include "lib/process/process.h"

#define TIMEOUTS 5u /* times ctrace.block.timeout; one of them is left for the outputs */

#define UNATTACHED_NS 1000000000u /* there are no settings yet */

enum { RUNNING, DONE, GIVEN_UP };

static uint64_t waited_ns; /* atomic: in vain */
static uint32_t given_up;  /* atomic: pieces of work that have not ended */

uint64_t ct_aside_patience_ns(bool is_last)
{
	uint64_t timeout_ns =
		__atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) == CT_PROCESS_NEW
			? UNATTACHED_NS
			: __atomic_load_n(&ct_process.settings.block_timeout_ns, __ATOMIC_RELAXED);
	uint64_t all_ns = (TIMEOUTS - 1) * timeout_ns;
	uint64_t waited = __atomic_load_n(&waited_ns, __ATOMIC_RELAXED);

	return (waited < all_ns ? all_ns - waited : 0) + (is_last ? timeout_ns : 0);
}

void ct_aside_waited(uint64_t ns)
{
	(void)__atomic_fetch_add(&waited_ns, ns, __ATOMIC_RELAXED);
}

/* A piece of work has ended after all.  When it was the last, the file system answers again: what
 * was waited in vain is forgotten, unless another thread adds to it just now. */
static void given_up_leave(void)
{
	uint64_t waited = __atomic_load_n(&waited_ns, __ATOMIC_SEQ_CST);

	if (__atomic_sub_fetch(&given_up, 1, __ATOMIC_SEQ_CST) == 0)
		(void)__atomic_compare_exchange_n(&waited_ns, &waited, 0, false, __ATOMIC_SEQ_CST,
						  __ATOMIC_RELAXED);
}

static void aside_destroy(struct ct_aside *self)
{
	if (self->destroy != NULL)
		self->destroy(self);
	else
		free(self);
}

static void *aside_thread(void *argument)
{
	struct ct_aside *self = argument;

	self->work(self);
	/* The caller joins the thread before it frees the memory. */
	if (__atomic_exchange_n(&self->state, DONE, __ATOMIC_ACQ_REL) != GIVEN_UP) {
		ct_os_wake(&self->state);
		return NULL;
	}
	aside_destroy(self);
	given_up_leave();
	return NULL;
}

/* Returns false when it has ended after all.  The wait counts before the thread can see that it is
 * given up, because the thread resets the count. */
static bool aside_give_up(struct ct_aside *self, uint64_t patience_ns)
{
	uint32_t running = RUNNING;

	(void)__atomic_fetch_add(&given_up, 1, __ATOMIC_SEQ_CST);
	(void)__atomic_fetch_add(&waited_ns, patience_ns, __ATOMIC_SEQ_CST);
	if (__atomic_compare_exchange_n(&self->state, &running, GIVEN_UP, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		ct_point("aside.given-up");
		return true;
	}
	/* No thread resets the count to 0 in between: given_up is not 0. */
	(void)__atomic_fetch_sub(&waited_ns, patience_ns, __ATOMIC_SEQ_CST);
	given_up_leave();
	return false;
}

bool ct_aside_run(struct ct_aside *self)
{
	uint64_t patience_ns = ct_aside_patience_ns(false);
	pthread_t thread;

	if (ct_os_thread_is_own()) {
		self->work(self);
		return true;
	}
	if (__atomic_load_n(&given_up, __ATOMIC_RELAXED) != 0) {
		aside_destroy(self);
		return false;
	}
	self->state = RUNNING;
	if (ct_os_thread_start(aside_thread, self, "ctrace-files", &thread) != CTRACE_OK) {
		self->work(self);
		return true;
	}
	if (!ct_os_wait_until(&self->state, DONE, patience_ns) &&
	    aside_give_up(self, patience_ns)) {
		(void)pthread_detach(thread);
		return false;
	}
	(void)pthread_join(thread, NULL);
	return true;
}

void ct_aside_forked(void)
{
	waited_ns = 0;
	given_up = 0;
}
