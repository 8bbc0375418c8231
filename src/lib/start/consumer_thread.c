/*
 * consumer_thread.c - what the consumer thread does: passes over the rings of this process, and
 * sleeping between them.
 *
 * One thread of a traced process is the consumer thread (consumer_threads.c), with all signals
 * blocked.  A busy consumer thread makes a pass each millisecond, so that it never chases a
 * producer's head.  A consumer thread without events closes every thread's window, so that the next
 * event takes the slow path and wakes it, and sleeps; a look each 50 ms finds an event that came in
 * between.  Without any ring it sleeps until it is woken; where there is no control thread it looks
 * each second whether the program lives.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/consumer_thread.h"

#include "lib/control/server.h"

#define IDLE_NS 50000000u
#define QUIET_PASSES 100u /* passes without an event before it goes idle */
#define REAP_PASSES 20u   /* idle looks between looks for threads that ended unseen */
/* between two looks that keep our files from cleaners of temporary directories */
#define TOUCH_NS 3600000000000u
#define ALONE_NS 1000000000u /* between two looks without a ring and a control thread */
#define HOUSE_PASSES 1000u   /* busy passes between two calls of keep_house() */

/* ---- a pass ---- */

/* Opens the destinations in use, so that trace calls can report a file that cannot be written.
 * False: another thread is the consumer thread now. */
static bool open_outputs(void)
{
	uint32_t wanted =
		__atomic_load_n(&ct_consumer_thread.process->open_wanted, __ATOMIC_ACQUIRE);
	uint32_t turn = ct_consumer_thread.turn;
	uint32_t failing;

	if (wanted == __atomic_load_n(&ct_consumer_thread.open_done, __ATOMIC_RELAXED))
		return true;
	failing = ct_consumer_open(ct_consumer_thread.consumer);
	if (turn != ct_consumer_thread.turn)
		return false;
	__atomic_store_n(&ct_consumer_thread.process->failing, failing, __ATOMIC_RELAXED);
	__atomic_store_n(&ct_consumer_thread.open_done, wanted, __ATOMIC_RELEASE);
	ct_os_wake(&ct_consumer_thread.open_done);
	return true;
}

static struct ct_consumer_result pass(bool flush)
{
	struct ct_consumer_result result;
	uint32_t taking_over =
		__atomic_load_n(&ct_consumer_thread.process->taking_over, __ATOMIC_ACQUIRE);

	ct_consumer_take_over(ct_consumer_thread.consumer, taking_over);
	if (!open_outputs())
		return (struct ct_consumer_result){ .is_superseded = true };
	ct_consumer_pass(ct_consumer_thread.consumer, flush, &result);
	if (result.is_superseded)
		return result;
	taking_over &= ~ct_consumer_taken_over(ct_consumer_thread.consumer);
	if (taking_over != 0)
		(void)__atomic_fetch_and(&ct_consumer_thread.process->taking_over, ~taking_over,
					 __ATOMIC_ACQ_REL);
	__atomic_store_n(&ct_consumer_thread.process->failing, result.failing, __ATOMIC_RELAXED);
	return result;
}

void ct_consumer_thread_pass(bool flush)
{
	if (ct_consumer_thread.consumer != NULL)
		(void)pass(flush);
}

/* Makes one pass and serves requests of other threads: flush, rotation, opening. */
static struct ct_consumer_result consumer_thread_serve(bool is_last)
{
	struct ct_consumer_result result;
	uint32_t ticket, turn;
	bool flush, rotates;

	ct_consumer_thread_lock_last();
	ticket = __atomic_load_n(&ct_consumer_thread.flush_wanted, __ATOMIC_ACQUIRE);
	flush = ticket != __atomic_load_n(&ct_consumer_thread.flush_done, __ATOMIC_RELAXED);
	turn = ct_consumer_thread.turn;
	/* Looked at before the pass, so that everything committed before the request is delivered
	 * first. */
	rotates = ct_consumer_thread.rotation.state == ROTATION_WANTED;
	result = pass(flush || is_last || rotates);
	if (!result.is_superseded && rotates &&
	    ct_consumer_thread.rotation.state == ROTATION_WANTED)
		ct_consumer_thread_run_rotation();
	result.is_superseded |= turn != ct_consumer_thread.turn;
	if (flush && !result.is_superseded) {
		__atomic_store_n(&ct_consumer_thread.flush_status,
				 result.failing != 0 ? CTRACE_OUTPUT_ERROR : CTRACE_OK,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&ct_consumer_thread.flush_done, ticket, __ATOMIC_RELEASE);
		ct_os_wake(&ct_consumer_thread.flush_done);
	}
	ct_consumer_thread_unlock();
	return result;
}

/* ---- sleeping ---- */

/* As ct_consumer_result.pending. */
static uint64_t pending_bytes(const struct ct_ring_pool *pool)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(pool, i);

		if (!ring->head->kept &&
		    ct_consumer_has(ct_consumer_thread.consumer,
				    __atomic_load_n(&ring->head->held_by, __ATOMIC_RELAXED)))
			bytes += ct_ring_head_position(ring) -
				 __atomic_load_n(&ring->head->tail, __ATOMIC_RELAXED);
	}
	return bytes;
}

/* all: also buffers whose events wake no thread.  The next event opens a window, which begins with
 * a mark. */
static void close_windows(const struct ct_ring_pool *pool, bool all)
{
	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(pool, i);
		struct ctrace_thread_buffer *thread_buffer =
			__atomic_load_n(&ring->thread_buffer, __ATOMIC_ACQUIRE);

		if (thread_buffer != NULL && (all || !ct_ring_has_writer(ring)))
			ct_ring_close_window(thread_buffer);
	}
}

/* A thread whose last destructor traced after ours ended without giving its ring back. */
static void reap_rings(struct ct_ring_pool *pool)
{
	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		struct ct_ring *ring = ct_ring_pool_at(pool, i);
		uint32_t owner = ct_ring_owner(ring);

		if (owner != 0 && !ct_os_thread_exists(owner))
			ct_ring_pool_reap(pool, ring, owner);
	}
}

/* known: pending bytes that cannot be delivered now; only new bytes are a reason to stay awake. */
static void sleep_until_woken(struct ct_process *process, uint32_t word, uint64_t known,
			      uint64_t timeout)
{
	__atomic_store_n(&process->consumer_thread_idle, 1, __ATOMIC_SEQ_CST);
	close_windows(process->pool, false);
	if (pending_bytes(process->pool) == known)
		ct_os_wait(&process->wake_word, word, timeout);
	__atomic_store_n(&process->consumer_thread_idle, 0, __ATOMIC_SEQ_CST);
}

void ct_consumer_thread_wake(void)
{
	ct_consumer_thread_need();
	if (ct_consumer_thread_is_deferred())
		return; /* the next event tries again; the consumer thread begins with a pass */
	__atomic_store_n(&ct_process.consumer_thread_idle, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ct_process.wake_word, 1, __ATOMIC_SEQ_CST);
	ct_os_wake(&ct_process.wake_word);
}

/* ---- being the consumer thread ---- */

static bool is_my_turn(uint32_t turn)
{
	return __atomic_load_n(&ct_consumer_thread.turn, __ATOMIC_ACQUIRE) == turn;
}

/* Each second or so: work that nobody waits for. */
static void keep_house(struct ct_process *process)
{
	static uint64_t touched_ns;
	uint64_t now = ct_clock_mono_ns();

	reap_rings(process->pool);
	(void)ct_session_heal(&process->session);
	(void)ct_ring_pool_heal(process->pool);
	ct_server_check();
	ct_last_thread_look();
	if (now - touched_ns < TOUCH_NS)
		return;
	touched_ns = now;
	/* 48 bits of ticks are good for half a day without a mark. */
	close_windows(process->pool, true);
	ct_session_touch(&process->session);
}

/* Under the lock. */
void ct_consumer_thread_close_outputs(void)
{
	ct_consumer_give_up(ct_consumer_thread.consumer);
	ct_consumer_close(ct_consumer_thread.consumer);
}

/* Starts the recovery of others when the process has lived for a while: once, whichever thread
 * comes first. */
static void recover_once(void)
{
	uint64_t at = __atomic_load_n(&ct_consumer_thread.recover_at_ns, __ATOMIC_RELAXED);

	if (at == 0 || ct_clock_mono_ns() < at)
		return;
	if (__atomic_exchange_n(&ct_consumer_thread.recover_at_ns, 0, __ATOMIC_RELAXED) != 0)
		ct_recovery_start(ct_consumer_thread.run_directory);
}

static void recover_as_task(void *unused)
{
	(void)unused;
	recover_once();
}

void ct_consumer_thread_settle(void *unused)
{
	(void)unused;
	ct_session_note_start(&ct_process.session);
	ct_consumer_thread_watch();
	ct_run_watch(NULL);
	ct_last_thread_watch(NULL);
	(void)!ct_server_later(CT_CONSUMER_THREAD_RECOVER_AFTER_MS -
				       CT_CONSUMER_THREAD_SETTLE_AFTER_MS,
			       recover_as_task, NULL);
}

/* How long an idle consumer thread sleeps at most. */
static uint64_t idle_ns(const struct ct_process *process)
{
	uint64_t now = ct_clock_mono_ns();
	uint64_t at = __atomic_load_n(&ct_consumer_thread.recover_at_ns, __ATOMIC_RELAXED);

	if (ct_ring_pool_count(process->pool) != 0)
		return IDLE_NS;
	if (at == 0)
		return ct_server_runs() ? UINT64_MAX : ALONE_NS;
	return at > now ? at - now : 0;
}

/*
 * The last passes: they deliver what the destinations take before stop_by_ns.  An earlier consumer
 * thread may still be in a method, and goes on with its destination when the method returns.
 */
static void consumer_thread_finish(uint32_t turn)
{
	for (;;) {
		struct ct_consumer_result result = consumer_thread_serve(true);
		uint32_t activity = __atomic_load_n(&ct_consumer_thread.activity, __ATOMIC_ACQUIRE);
		uint64_t now = ct_clock_mono_ns();

		if (result.is_superseded || !is_my_turn(turn))
			return;
		if (!ct_consumer_is_busy(ct_consumer_thread.consumer) ||
		    now >= ct_consumer_thread.stop_by_ns)
			break;
		ct_os_wait(&ct_consumer_thread.activity, activity,
			   ct_consumer_thread.stop_by_ns - now < IDLE_NS
				   ? ct_consumer_thread.stop_by_ns - now
				   : IDLE_NS);
	}
	ct_consumer_thread_lock();
	if (is_my_turn(turn))
		ct_consumer_thread_close_outputs();
	if (is_my_turn(turn)) {
		__atomic_store_n(&ct_consumer_thread.has_consumer_thread, false, __ATOMIC_RELEASE);
		__atomic_store_n(&ct_consumer_thread.finished, 1, __ATOMIC_RELEASE);
	}
	ct_consumer_thread_unlock();
	ct_os_wake(&ct_consumer_thread.finished);
	ct_consumer_thread_wake_standby();
}

void ct_consumer_thread_be(struct ct_process *process, uint32_t turn)
{
	unsigned quiet = 0;
	unsigned looks = 0;
	unsigned passes = 0;
	uint64_t pending = 0; /* held back by FLUSHEVERY or a failing destination */

	while (!ct_consumer_thread_is_stopping()) {
		uint32_t word = __atomic_load_n(&process->wake_word, __ATOMIC_SEQ_CST);
		struct ct_consumer_result result = consumer_thread_serve(false);

		if (result.is_superseded || !is_my_turn(turn))
			return;
		quiet = result.delivered == 0 && result.pending == pending ? quiet + 1 : 0;
		pending = result.pending;
		if (ct_consumer_thread_is_stopping())
			break;
		recover_once();
		if (__atomic_load_n(&ct_consumer_thread.flush_wanted, __ATOMIC_ACQUIRE) !=
		    __atomic_load_n(&ct_consumer_thread.flush_done, __ATOMIC_RELAXED))
			continue;
		if (++passes % HOUSE_PASSES == 0)
			keep_house(process);
		if (quiet < QUIET_PASSES && ct_ring_pool_count(process->pool) != 0) {
			ct_os_wait(&process->wake_word, word, CT_CONSUMER_THREAD_BUSY_NS);
			/* Not at once: the thread that took the last one may be on this processor,
			 * and has its event to trace. */
			ct_ring_pool_stock(process->pool);
		} else {
			sleep_until_woken(process, word, pending, idle_ns(process));
			ct_ring_pool_stock(process->pool);
			if (++looks % REAP_PASSES == 0 || ct_ring_pool_count(process->pool) == 0)
				keep_house(process);
			/* Only new events make it busy; it may have woken without one. */
			quiet = pending_bytes(process->pool) == pending ? QUIET_PASSES : 0;
		}
	}
	consumer_thread_finish(turn);
}
