/*
 * rotate.c - a new generation of the output, on an operator's request.
 *
 * The control thread, or any other but the consumer thread's, asks for it under no lock.  The
 * consumer thread makes it, since a method of the output may not return.  What was committed before
 * goes to the present generation.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/consumer_thread.h"

void ct_consumer_thread_run_rotation(void)
{
	struct rotation *rotation = &ct_consumer_thread.rotation;

	/* Who waits for the rotation reads it without the lock. */
	__atomic_store_n(&rotation->state, ROTATION_RUNNING, __ATOMIC_RELEASE);
	rotation->status =
		ct_consumer_rotate(ct_consumer_thread.consumer, rotation->mask, &rotation->done);
	if (rotation->state == ROTATION_ABANDONED)
		__atomic_store_n(&rotation->state, ROTATION_FREE, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&rotation->state, ROTATION_DONE, __ATOMIC_RELEASE);
	ct_os_wake(&rotation->state);
}

/* Under the lock: one rotation at a time. */
static bool rotation_request(uint32_t mask)
{
	if (ct_consumer_thread.rotation.state != ROTATION_FREE)
		return false;
	ct_consumer_thread.rotation = (struct rotation){ .state = ROTATION_WANTED, .mask = mask };
	return true;
}

enum ctrace_status ct_consumer_thread_rotate(uint32_t mask, uint32_t *out_done)
{
	struct rotation *rotation = &ct_consumer_thread.rotation;
	uint64_t limit = CT_CONSUMER_THREAD_TIMEOUTS *
			 __atomic_load_n(&ct_process.settings.block_timeout_ns, __ATOMIC_RELAXED);
	enum ctrace_status status = CTRACE_TIMED_OUT;
	bool is_mine;

	*out_done = 0;
	if (__atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) != CT_PROCESS_ATTACHED ||
	    !ct_consumer_thread_runs())
		return CTRACE_NOT_FOUND;
	ct_consumer_thread_lock();
	is_mine = rotation_request(mask);
	ct_consumer_thread_unlock();
	if (!is_mine)
		return CTRACE_TIMED_OUT;
	ct_consumer_thread_wake();
	(void)ct_os_wait_until(&rotation->state, ROTATION_DONE, limit);
	ct_consumer_thread_lock();
	if (rotation->state == ROTATION_DONE) {
		status = rotation->status;
		*out_done = rotation->done;
	}
	rotation->state = rotation->state == ROTATION_RUNNING ? ROTATION_ABANDONED : ROTATION_FREE;
	ct_consumer_thread_unlock();
	return status;
}
