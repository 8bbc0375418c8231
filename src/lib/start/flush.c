/*
 * flush.c - waiting for the consumer thread: until events are delivered, until outputs are open.
 *
 * Called on any thread of the program or the control thread, under no lock.  Nobody waits longer
 * than asked.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/consumer_thread.h"

#include <errno.h>

enum ctrace_status ct_consumer_thread_flush(uint64_t timeout_ns)
{
	uint32_t ticket;

	if (ct_consumer_thread_turn != 0 || ct_thread_locked != 0)
		/* called by an emitter: the consumer thread would wait for itself */
		return CTRACE_TIMED_OUT;
	if (ct_consumer_thread_is_unneeded(false))
		return CTRACE_OK;
	ct_consumer_thread_need();
	if (!ct_consumer_thread_runs()) {
		ct_consumer_thread_lock();
		ct_consumer_thread_pass(true);
		ct_consumer_thread_unlock();
		return ct_process.failing != 0 ? CTRACE_OUTPUT_ERROR : CTRACE_OK;
	}
	ticket = __atomic_add_fetch(&ct_consumer_thread.flush_wanted, 1, __ATOMIC_ACQ_REL);
	ct_consumer_thread_wake();
	if (!ct_os_wait_until(&ct_consumer_thread.flush_done, ticket, timeout_ns))
		return CTRACE_TIMED_OUT;
	return (enum ctrace_status)__atomic_load_n(&ct_consumer_thread.flush_status,
						   __ATOMIC_RELAXED);
}

void ct_consumer_thread_ask_open(void)
{
	(void)__atomic_fetch_add(&ct_process.open_wanted, 1, __ATOMIC_ACQ_REL);
	if (ct_consumer_thread_turn == 0 && ct_thread_locked == 0)
		ct_consumer_thread_wake();
}

/* Waits for the newest ticket, which is not older than the caller's. */
void ct_consumer_thread_await_open(uint64_t timeout_ns)
{
	uint32_t ticket = __atomic_load_n(&ct_process.open_wanted, __ATOMIC_ACQUIRE);

	if (ct_consumer_thread_turn == 0 && ct_thread_locked == 0 && ct_consumer_thread_runs())
		(void)ct_os_wait_until(&ct_consumer_thread.open_done, ticket, timeout_ns);
}

/* Waits until external writers have written what was in their rings when the wait began. */
static enum ctrace_status wait_for_writers(const struct ct_ring_pool *pool, uint64_t start_ns,
					   uint64_t timeout_ns)
{
	uint64_t slept_ns = 0;

	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(pool, i);
		uint64_t limit = ct_ring_head_position(ring);

		while (ct_ring_has_writer(ring) &&
		       __atomic_load_n(&ring->head->tail, __ATOMIC_ACQUIRE) < limit) {
			if (slept_ns >= timeout_ns || ct_clock_mono_ns() - start_ns >= timeout_ns)
				return CTRACE_TIMED_OUT;
			if (!ct_os_wait(&ring->head->tail_word,
					__atomic_load_n(&ring->head->tail_word, __ATOMIC_ACQUIRE),
					CT_CONSUMER_THREAD_BUSY_NS))
				slept_ns += CT_CONSUMER_THREAD_BUSY_NS;
		}
	}
	return CTRACE_OK;
}

enum ctrace_status ctrace_flush(uint32_t timeout_ms)
{
	CT_CANCEL_OFF();
	int kept = errno;
	uint64_t timeout_ns = (uint64_t)timeout_ms * 1000000u;
	uint64_t start = ct_clock_mono_ns();
	enum ctrace_status status = CTRACE_OK;

	if (__atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) == CT_PROCESS_ATTACHED &&
	    *ct_process.mark != 0) {
		status = ct_consumer_thread_flush(timeout_ns);
		if (status == CTRACE_OK)
			status = wait_for_writers(ct_process.pool, start, timeout_ns);
	}
	errno = kept;
	return status;
}
