/*
 * agent.c - the thread that drains this process's rings.
 *
 * One a traced process, with all signals blocked.  Busy: a pass each millisecond, so that it never chases a producer's head.  Idle for
 * a while: it closes every thread's window, so that the next event comes by the slow path and wakes it, and sleeps; a look each
 * 50 ms covers the event that slipped through in between.  Without any ring it sleeps for ever.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include "control/server.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define BUSY_NS 1000000u
#define IDLE_NS 50000000u
#define QUIET_PASSES 100u /* passes without an event before it goes idle */
#define REAP_PASSES 20u   /* idle looks between looks for threads that ended unseen */
#define STOP_SECONDS 5
#define PAUSE_SECONDS 1

struct agent {
	pthread_mutex_t lock;
	struct ct_drain *drain;
	struct ct_process *process;
	pthread_t thread;
	bool is_running;
	uint32_t stopping;     /* atomic */
	uint32_t flush_wanted; /* atomic: tickets given */
	uint32_t flush_done;   /* atomic: tickets served; sleepers wait on it */
	uint32_t flush_status; /* of the last one served */
	sigset_t mask;         /* of the thread that holds the lock */
	bool was_pending;      /* one of the output's signals, before it took the lock */
	uint32_t others;       /* atomic: threads that want the lock; the agent lets them go first */
	char run_directory[4096];
};
static struct agent agent = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The signals that output can raise.  On a thread of the program they must do nothing: neither end it nor run its handlers. */
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

/* A mutex is not fair: a busy agent would take it again before anybody else wakes. */
static void let_others_go(void)
{
	uint32_t others;

	while ((others = __atomic_load_n(&agent.others, __ATOMIC_ACQUIRE)) != 0)
		ct_os_wait(&agent.others, others, BUSY_NS);
}

static void others_went(void)
{
	if (__atomic_sub_fetch(&agent.others, 1, __ATOMIC_ACQ_REL) == 0)
		ct_os_wake(&agent.others);
}

void ct_agent_lock(void)
{
	sigset_t set = output_signals();
	sigset_t mask;
	bool was_pending = is_pending();

	ct_thread_locked++;
	(void)pthread_sigmask(SIG_BLOCK, &set, &mask);
	(void)__atomic_fetch_add(&agent.others, 1, __ATOMIC_ACQ_REL);
	(void)pthread_mutex_lock(&agent.lock);
	others_went();
	agent.mask = mask;
	agent.was_pending = was_pending;
}

void ct_agent_unlock(void)
{
	const struct timespec now = { 0, 0 };
	sigset_t set = output_signals();
	sigset_t mask = agent.mask;
	bool was_pending = agent.was_pending;

	(void)pthread_mutex_unlock(&agent.lock);
	while (!was_pending && is_pending() && sigtimedwait(&set, NULL, &now) > 0)
		;
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	ct_thread_locked--;
}

struct ct_drain *ct_agent_drain(void)
{
	return agent.drain;
}

static uint32_t pool_count(void *user)
{
	return ct_ring_pool_count(user);
}

static struct ct_ring *pool_ring(void *user, uint32_t index)
{
	return ct_ring_pool_at(user, index);
}

/* ---- a pass ---- */

static struct ct_drain_result pass(bool flush)
{
	struct ct_drain_result result;
	uint32_t adopting = __atomic_load_n(&agent.process->adopting, __ATOMIC_ACQUIRE);

	ct_drain_adopt(agent.drain, adopting);
	ct_drain_pass(agent.drain, flush, &result);
	adopting &= ~ct_drain_adopted(agent.drain);
	if (adopting != 0)
		(void)__atomic_fetch_and(&agent.process->adopting, ~adopting, __ATOMIC_ACQ_REL);
	__atomic_store_n(&agent.process->failing, result.failing, __ATOMIC_RELAXED);
	return result;
}

void ct_agent_pass(bool flush)
{
	if (agent.drain != NULL)
		(void)pass(flush);
}

static struct ct_drain_result serve(void)
{
	uint32_t ticket = __atomic_load_n(&agent.flush_wanted, __ATOMIC_ACQUIRE);
	bool flush = ticket != __atomic_load_n(&agent.flush_done, __ATOMIC_RELAXED);
	struct ct_drain_result result;

	let_others_go();
	ct_agent_lock();
	result = pass(flush);
	ct_agent_unlock();
	if (flush) {
		__atomic_store_n(&agent.flush_status, result.failing != 0 ? CTRACE_OUTPUT_ERROR : CTRACE_OK, __ATOMIC_RELAXED);
		__atomic_store_n(&agent.flush_done, ticket, __ATOMIC_RELEASE);
		ct_os_wake(&agent.flush_done);
	}
	return result;
}

/* ---- sleeping ---- */

/* As ct_drain_result.pending. */
static uint64_t pending_bytes(const struct ct_ring_pool *pool)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(pool, i);

		if (!ring->head->is_flight && ct_drain_has(agent.drain, __atomic_load_n(&ring->head->consumer, __ATOMIC_RELAXED)))
			bytes += ct_ring_head_position(ring) - __atomic_load_n(&ring->head->tail, __ATOMIC_RELAXED);
	}
	return bytes;
}

static void close_windows(const struct ct_ring_pool *pool)
{
	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(pool, i);
		struct ctrace_lane *lane = __atomic_load_n(&ring->lane, __ATOMIC_ACQUIRE);

		if (lane != NULL && !ct_ring_has_writer(ring))
			ct_ring_close_window(lane);
	}
}

/* A thread whose last destructor traced after ours ended without giving its ring back. */
static void reap_rings(struct ct_ring_pool *pool)
{
	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		struct ct_ring *ring = ct_ring_pool_at(pool, i);
		uint32_t owner = __atomic_load_n(&ring->head->owner_tid, __ATOMIC_ACQUIRE);

		if (owner != 0 && !ct_os_thread_exists(owner))
			ct_ring_pool_give_back(pool, ring);
	}
}

/* known: what waits in the rings and cannot go on now; only something new is a reason to stay awake. */
static void sleep_until_woken(struct ct_process *process, uint32_t word, uint64_t known)
{
	uint64_t timeout = ct_ring_pool_count(process->pool) == 0 ? UINT64_MAX : IDLE_NS;

	__atomic_store_n(&process->agent_idle, 1, __ATOMIC_SEQ_CST);
	close_windows(process->pool);
	if (pending_bytes(process->pool) == known)
		ct_os_wait(&process->wake_word, word, timeout);
	__atomic_store_n(&process->agent_idle, 0, __ATOMIC_SEQ_CST);
}

void ct_process_wake_agent(void)
{
	__atomic_store_n(&ct_process.agent_idle, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ct_process.wake_word, 1, __ATOMIC_SEQ_CST);
	ct_os_wake(&ct_process.wake_word);
}

static bool is_stopping(void)
{
	return __atomic_load_n(&agent.stopping, __ATOMIC_ACQUIRE) != 0;
}

/* The traces of those who died before us. */
static void recover_others(void)
{
	struct ct_recovery total = { 0 };

	if (agent.run_directory[0] != '\0')
		ct_recover(agent.run_directory, &total, NULL, NULL);
}

static void *run(void *argument)
{
	struct ct_process *process = argument;
	unsigned quiet = 0;
	unsigned looks = 0;
	uint64_t pending = 0; /* held back by FLUSHEVERY or a failing destination */

	recover_others();
	while (!is_stopping()) {
		uint32_t word = __atomic_load_n(&process->wake_word, __ATOMIC_SEQ_CST);
		struct ct_drain_result result = serve();

		quiet = result.delivered == 0 && result.pending == pending ? quiet + 1 : 0;
		pending = result.pending;
		if (is_stopping())
			break;
		if (__atomic_load_n(&agent.flush_wanted, __ATOMIC_ACQUIRE) != agent.flush_done)
			continue;
		if (quiet < QUIET_PASSES && ct_ring_pool_count(process->pool) != 0) {
			ct_os_wait(&process->wake_word, word, BUSY_NS);
		} else {
			sleep_until_woken(process, word, pending);
			if (++looks % REAP_PASSES == 0) {
				reap_rings(process->pool);
				ct_server_check();
			}
			/* Woken by an event or by nothing at all: only an event makes it busy. */
			quiet = pending_bytes(process->pool) == pending ? QUIET_PASSES : 0;
		}
	}
	return NULL;
}

/* ---- life ---- */

enum ctrace_status ct_agent_start(struct ct_process *process, const char *run_directory)
{
	struct ct_drain_source source = { .session = &process->session,
					  .ring_count = pool_count,
					  .ring_at = pool_ring,
					  .user = process->pool,
					  .flight_wanted = &process->session.head->flight_wanted };
	enum ctrace_status status = ct_drain_create(&source, &agent.drain);

	if (status != CTRACE_OK)
		return status;
	agent.process = process;
	agent.stopping = 0;
	memcpy(agent.run_directory, run_directory, strlen(run_directory) + 1);
	/* Without the thread events wait in the rings for a flush or the end of the process: better than nothing. */
	agent.is_running = ct_os_thread_start(run, process, "ctrace-agent", &agent.thread) == CTRACE_OK;
	return CTRACE_OK;
}

bool ct_agent_stop(void)
{
	struct timespec limit;

	if (!agent.is_running)
		return true;
	__atomic_store_n(&agent.stopping, 1, __ATOMIC_RELEASE);
	ct_process_wake_agent();
	(void)clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += STOP_SECONDS;
	if (pthread_timedjoin_np(agent.thread, NULL, &limit) != 0)
		return false;
	agent.is_running = false;
	return true;
}

bool ct_agent_pause(void)
{
	struct timespec limit;
	bool is_paused;

	(void)clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += PAUSE_SECONDS;
	(void)__atomic_fetch_add(&agent.others, 1, __ATOMIC_ACQ_REL);
	is_paused = pthread_mutex_timedlock(&agent.lock, &limit) == 0;
	others_went();
	return is_paused;
}

void ct_agent_resume(void)
{
	(void)pthread_mutex_unlock(&agent.lock);
}

void ct_agent_forget(bool is_paused)
{
	(void)pthread_mutex_init(&agent.lock, NULL);
	/* In the middle of a pass it cannot be taken apart: then it stays as it is, and its descriptors close at exec. */
	if (is_paused)
		ct_drain_destroy(agent.drain);
	agent.drain = NULL;
	agent.is_running = false;
	agent.flush_wanted = agent.flush_done = agent.others = 0;
}

/* ---- flushing ---- */

static enum ctrace_status wait_for_ticket(uint32_t ticket, uint64_t timeout_ns)
{
	uint64_t start = ct_clock_mono_ns();

	for (;;) {
		uint32_t done = __atomic_load_n(&agent.flush_done, __ATOMIC_ACQUIRE);
		uint64_t waited = ct_clock_mono_ns() - start;

		if ((int32_t)(done - ticket) >= 0)
			return (enum ctrace_status)__atomic_load_n(&agent.flush_status, __ATOMIC_RELAXED);
		if (waited >= timeout_ns)
			return CTRACE_TIMED_OUT;
		ct_os_wait(&agent.flush_done, done, timeout_ns - waited);
	}
}

/* What external writers have of it now is in their data sets too. */
static enum ctrace_status wait_for_writers(const struct ct_ring_pool *pool, uint64_t start_ns, uint64_t timeout_ns)
{
	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(pool, i);
		uint64_t limit = ct_ring_head_position(ring);

		while (ct_ring_has_writer(ring) && __atomic_load_n(&ring->head->tail, __ATOMIC_ACQUIRE) < limit) {
			if (ct_clock_mono_ns() - start_ns >= timeout_ns)
				return CTRACE_TIMED_OUT;
			ct_os_wait(&ring->head->tail_word, __atomic_load_n(&ring->head->tail_word, __ATOMIC_ACQUIRE), BUSY_NS);
		}
	}
	return CTRACE_OK;
}

enum ctrace_status ctrace_flush(uint32_t timeout_ms)
{
	int kept = errno;
	uint64_t timeout_ns = (uint64_t)timeout_ms * 1000000u;
	uint64_t start = ct_clock_mono_ns();
	enum ctrace_status status = CTRACE_OK;

	if (__atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) == CT_PROCESS_ATTACHED && *ct_process.mark != 0) {
		if (agent.is_running) {
			uint32_t ticket = __atomic_add_fetch(&agent.flush_wanted, 1, __ATOMIC_ACQ_REL);

			ct_process_wake_agent();
			status = wait_for_ticket(ticket, timeout_ns);
		} else if (ct_thread_locked == 0) {
			ct_agent_lock();
			ct_agent_pass(true);
			ct_agent_unlock();
			status = ct_process.failing != 0 ? CTRACE_OUTPUT_ERROR : CTRACE_OK;
		}
		if (status == CTRACE_OK)
			status = wait_for_writers(ct_process.pool, start, timeout_ns);
	}
	errno = kept;
	return status;
}
