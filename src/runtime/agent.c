/*
 * agent.c - the threads that drain this process's rings.
 *
 * One thread of a traced process is the agent, with all signals blocked.  A busy agent makes a pass each millisecond, so that it never
 * chases a producer's head.  An agent without events closes every thread's window, so that the next event takes the slow path and
 * wakes it, and sleeps; a look each 50 ms finds an event that came in between.  Without any ring it sleeps for ever.  The first thread
 * starts when something needs it, so a process that traces nothing has none.
 *
 * An emitter's method may never return, as on a dead file system.  So the lock is not held while a
 * method runs.  When a method takes too long, a second thread, the standby, becomes the agent.
 * When the method returns, the first thread finishes with that destination and becomes the standby.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/agent.h"

#include "control/server.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define IDLE_NS 50000000u
#define QUIET_PASSES 100u       /* passes without an event before it goes idle */
#define REAP_PASSES 20u         /* idle looks between looks for threads that ended unseen */
#define PAUSE_NS 1000000000u    /* fork waits so long for the lock, which nobody holds for long */
#define TOUCH_NS 3600000000000u /* between two looks that keep our files from cleaners of temporary directories */
#define HOUSE_PASSES 1000u      /* busy passes between two calls of keep_house() */
#define SETTLE_NS ((uint64_t)CT_AGENT_SETTLE_AFTER_MS * 1000000u)

struct agent ct_agent = { .lock = PTHREAD_MUTEX_INITIALIZER };
__thread uint32_t ct_agent_turn __attribute__((tls_model("initial-exec")));

static void *run_agent(void *argument);

/* ---- the lock ---- */

/* A mutex is not fair: without this a busy agent would take it again before another thread wakes. */
static void let_others_go(void)
{
	uint32_t others = __atomic_load_n(&ct_agent.others, __ATOMIC_ACQUIRE);

	if (others == 0)
		return;
	__atomic_store_n(&ct_agent.lets_go, 1, __ATOMIC_SEQ_CST);
	while ((others = __atomic_load_n(&ct_agent.others, __ATOMIC_SEQ_CST)) != 0)
		ct_os_wait(&ct_agent.others, others, CT_AGENT_BUSY_NS);
	__atomic_store_n(&ct_agent.lets_go, 0, __ATOMIC_RELAXED);
}

static void others_went(void)
{
	if (__atomic_sub_fetch(&ct_agent.others, 1, __ATOMIC_SEQ_CST) == 0 && __atomic_load_n(&ct_agent.lets_go, __ATOMIC_SEQ_CST) != 0)
		ct_os_wake(&ct_agent.others);
}

/* Takes the lock without being counted among `others`. */
static void lock_as_agent(void)
{
	ct_guard_enter();
	(void)pthread_mutex_lock(&ct_agent.lock);
}

/* Takes the lock unless it is not free by then; signals are blocked. */
static bool lock_by(uint64_t mono_ns)
{
	bool is_taken;

	(void)__atomic_fetch_add(&ct_agent.others, 1, __ATOMIC_ACQ_REL);
#if defined( \
	__SANITIZE_THREAD__) /* gcc's ThreadSanitizer does not know pthread_mutex_clocklock(), and would report a race for what the lock guards */
	while (!(is_taken = pthread_mutex_trylock(&ct_agent.lock) == 0) && ct_clock_mono_ns() < mono_ns)
		;
#else
	const struct timespec limit = { (time_t)(mono_ns / 1000000000u), (long)(mono_ns % 1000000000u) };

	is_taken = pthread_mutex_clocklock(&ct_agent.lock, CLOCK_MONOTONIC, &limit) == 0;
#endif
	others_went();
	return is_taken;
}

void ct_agent_lock(void)
{
	ct_guard_enter();
	(void)__atomic_fetch_add(&ct_agent.others, 1, __ATOMIC_ACQ_REL);
	(void)pthread_mutex_lock(&ct_agent.lock);
	others_went();
}

void ct_agent_unlock(void)
{
	(void)pthread_mutex_unlock(&ct_agent.lock);
	ct_guard_leave();
}

struct ct_drain *ct_agent_drain(void)
{
	return ct_agent.drain;
}

static bool is_stopping(void)
{
	return __atomic_load_n(&ct_agent.stopping, __ATOMIC_ACQUIRE) != 0;
}

static uint64_t stuck_ns(void)
{
	return ct_drain_stuck_ns(__atomic_load_n(&ct_process.settings.block_timeout_ns, __ATOMIC_RELAXED));
}

/* ---- the threads ---- */

/* Under the lock.  False when no thread can be had. */
static bool start_thread(uint32_t turn)
{
	for (uint32_t i = 0; i < CT_AGENT_THREADS; i++) {
		struct agent_thread *thread = &ct_agent.threads[i];

		if (thread->is_used && __atomic_load_n(&thread->has_ended, __ATOMIC_ACQUIRE) != 0) {
			(void)pthread_join(thread->id, NULL);
			thread->is_used = false;
		}
		if (thread->is_used)
			continue;
		thread->has_ended = 0;
		thread->turn = turn;
		thread->is_used = ct_os_thread_start(run_agent, thread, "ctrace-agent", &thread->id) == CTRACE_OK;
		return thread->is_used;
	}
	return false;
}

static bool is_agent(void)
{
	return ct_agent_turn != 0 && ct_agent_turn == __atomic_load_n(&ct_agent.turn, __ATOMIC_RELAXED);
}

/* Under the lock. */
static void begin_watch(void)
{
	if (!ct_agent.has_standby)
		ct_agent.has_standby = start_thread(0);
}

/* Under the lock. */
static void watch(void)
{
	ct_agent.watch_at_ns = 0;
	if (ct_agent_runs() && ct_agent.methods != 0)
		begin_watch();
}

void ct_agent_watch(void)
{
	ct_agent_lock();
	watch();
	ct_agent_unlock();
}

static void wake_standby(void)
{
	(void)__atomic_fetch_add(&ct_agent.activity, 1, __ATOMIC_RELEASE);
	ct_os_wake(&ct_agent.activity);
}

/* The method may never return: the standby watches the agent from now on. */
static void before_method(void *user)
{
	(void)user;
	ct_agent.methods++;
	(void)__atomic_fetch_add(&ct_agent.running, 1, __ATOMIC_ACQ_REL);
	if (is_agent()) {
		ct_agent.method_since_ns = ct_clock_mono_ns();
		if (ct_agent.method_since_ns >= ct_agent.watch_at_ns || stuck_ns() <= SETTLE_NS)
			begin_watch();
	}
	if (ct_agent.standby_sleeps) {
		ct_agent.standby_sleeps = false;
		wake_standby();
	}
	(void)pthread_mutex_unlock(&ct_agent.lock);
}

static void method_has_ended(void)
{
	if (__atomic_sub_fetch(&ct_agent.running, 1, __ATOMIC_SEQ_CST) == 0 &&
	    __atomic_load_n(&ct_agent.is_forking, __ATOMIC_SEQ_CST) != 0)
		ct_os_wake(&ct_agent.running);
}

static void after_method(void *user)
{
	(void)user;
	method_has_ended();
	(void)pthread_mutex_lock(&ct_agent.lock);
	if (is_agent())
		ct_agent.method_since_ns = 0;
	else if (is_stopping())
		wake_standby(); /* wakes the agent, which waits for this method in finish() */
}

/*
 * Not under the lock, which a recovery must not wait for.  Pairs with wait_for_methods(): either
 * fork sees the method in `running` and waits for it, or this thread sees `is_forking` and begins
 * after the fork.
 */
void ct_agent_begin_method(void *user)
{
	(void)user;
	for (;;) {
		(void)__atomic_fetch_add(&ct_agent.running, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&ct_agent.is_forking, __ATOMIC_SEQ_CST) == 0)
			return;
		method_has_ended();
		ct_os_wait(&ct_agent.is_forking, 1, UINT64_MAX);
	}
}

void ct_agent_end_method(void *user)
{
	(void)user;
	method_has_ended();
}

/* An orphan's last batch goes into the file before ours.  Its recovery is a part of opening: if
 * it hangs, only this destination waits. */
static void before_open(void *user, const char *path)
{
	const struct ct_recover_options options = { .is_guest = true, .path = path };
	struct ct_recovery total = { 0 };

	(void)user;
	if (ct_agent.run_directory[0] != '\0')
		ct_recover(ct_agent.run_directory, &options, &total, NULL, NULL);
}

static uint32_t pool_count(void *user)
{
	return ct_ring_pool_count(user);
}

static struct ct_ring *pool_ring(void *user, uint32_t index)
{
	return ct_ring_pool_at(user, index);
}

static void hold_moves(void *user)
{
	ct_ring_pool_lock(user);
}

static void allow_moves(void *user)
{
	ct_ring_pool_unlock(user);
}

/* ---- starting the first thread ---- */

static enum ctrace_status make_drain(struct ct_process *process)
{
	struct ct_drain_source source = { .session = &process->session,
					  .ring_count = pool_count,
					  .ring_at = pool_ring,
					  .hold_moves = hold_moves,
					  .allow_moves = allow_moves,
					  .user = process->pool,
					  .before_method = before_method,
					  .after_method = after_method,
					  .before_open = before_open,
					  .block_timeout_ns = &process->settings.block_timeout_ns,
					  .flight_wanted = &process->session.head->flight_wanted };

	return ct_drain_create(&source, &ct_agent.drain);
}

/* Under the lock.  Without memory for a drain the next who needs it tries again; meanwhile events wait in the rings. */
static void start_deferred(void)
{
	if (!ct_agent.is_deferred || make_drain(ct_agent.process) != CTRACE_OK)
		return;
	/* Without the thread events wait in the rings for a flush or the end of the process: better than nothing. */
	__atomic_store_n(&ct_agent.has_agent, start_thread(1), __ATOMIC_RELEASE);
	/* Publish: pairs with the acquire load in ct_agent_need(), whose caller then sees the agent. */
	__atomic_store_n(&ct_agent.is_deferred, false, __ATOMIC_RELEASE);
}

void ct_agent_begin(void)
{
	ct_agent_lock();
	start_deferred();
	ct_agent_unlock();
}

static void begin_as_task(void *unused)
{
	(void)unused;
	__atomic_store_n(&ct_agent.is_asked_for, false, __ATOMIC_RELAXED);
	ct_agent_begin();
}

static bool is_deferred(void)
{
	return __atomic_load_n(&ct_agent.is_deferred, __ATOMIC_ACQUIRE);
}

void ct_agent_need(void)
{
	if (!is_deferred())
		return;
	/* Starting a thread is not for signal handlers, and the lock is not for those that have a later one. */
	if (ct_thread_locked == 0 && !ct_thread_is_in_handler())
		ct_agent_begin();
	else if (!__atomic_exchange_n(&ct_agent.is_asked_for, true, __ATOMIC_RELAXED) &&
		 ct_server_later(0, begin_as_task, NULL) != CTRACE_OK)
		__atomic_store_n(&ct_agent.is_asked_for, false, __ATOMIC_RELAXED);
}

/* ---- a pass ---- */

/* Opens the destinations in use, so that trace calls can report a file that cannot be written.
 * False: another thread is the agent now. */
static bool open_outputs(void)
{
	uint32_t wanted = __atomic_load_n(&ct_agent.process->open_wanted, __ATOMIC_ACQUIRE);
	uint32_t turn = ct_agent.turn;
	uint32_t failing;

	if (wanted == __atomic_load_n(&ct_agent.open_done, __ATOMIC_RELAXED))
		return true;
	failing = ct_drain_open(ct_agent.drain);
	if (turn != ct_agent.turn)
		return false;
	__atomic_store_n(&ct_agent.process->failing, failing, __ATOMIC_RELAXED);
	__atomic_store_n(&ct_agent.open_done, wanted, __ATOMIC_RELEASE);
	ct_os_wake(&ct_agent.open_done);
	return true;
}

static struct ct_drain_result pass(bool flush)
{
	struct ct_drain_result result;
	uint32_t adopting = __atomic_load_n(&ct_agent.process->adopting, __ATOMIC_ACQUIRE);

	ct_drain_adopt(ct_agent.drain, adopting);
	if (!open_outputs())
		return (struct ct_drain_result){ .is_superseded = true };
	ct_drain_pass(ct_agent.drain, flush, &result);
	if (result.is_superseded)
		return result;
	adopting &= ~ct_drain_adopted(ct_agent.drain);
	if (adopting != 0)
		(void)__atomic_fetch_and(&ct_agent.process->adopting, ~adopting, __ATOMIC_ACQ_REL);
	__atomic_store_n(&ct_agent.process->failing, result.failing, __ATOMIC_RELAXED);
	return result;
}

void ct_agent_pass(bool flush)
{
	if (ct_agent.drain != NULL)
		(void)pass(flush);
}

/* One pass, and what other threads wait for: a flush, a rotation, opening. */
static struct ct_drain_result serve(bool is_last)
{
	struct ct_drain_result result;
	uint32_t ticket, turn;
	bool flush, rotates;

	let_others_go();
	lock_as_agent();
	ticket = __atomic_load_n(&ct_agent.flush_wanted, __ATOMIC_ACQUIRE);
	flush = ticket != __atomic_load_n(&ct_agent.flush_done, __ATOMIC_RELAXED);
	turn = ct_agent.turn;
	/* Looked at before the pass, so that everything committed before the request is delivered first. */
	rotates = ct_agent.rotation.state == ROTATION_WANTED;
	result = pass(flush || is_last || rotates);
	if (!result.is_superseded && rotates && ct_agent.rotation.state == ROTATION_WANTED)
		ct_agent_run_rotation();
	result.is_superseded |= turn != ct_agent.turn;
	if (flush && !result.is_superseded) {
		__atomic_store_n(&ct_agent.flush_status, result.failing != 0 ? CTRACE_OUTPUT_ERROR : CTRACE_OK, __ATOMIC_RELAXED);
		__atomic_store_n(&ct_agent.flush_done, ticket, __ATOMIC_RELEASE);
		ct_os_wake(&ct_agent.flush_done);
	}
	ct_agent_unlock();
	return result;
}

/* ---- sleeping ---- */

/* As ct_drain_result.pending. */
static uint64_t pending_bytes(const struct ct_ring_pool *pool)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(pool, i);

		if (!ring->head->is_flight && ct_drain_has(ct_agent.drain, __atomic_load_n(&ring->head->consumer, __ATOMIC_RELAXED)))
			bytes += ct_ring_head_position(ring) - __atomic_load_n(&ring->head->tail, __ATOMIC_RELAXED);
	}
	return bytes;
}

/* all: also those whose events wake nobody.  What comes next opens a window, and so begins with a mark. */
static void close_windows(const struct ct_ring_pool *pool, bool all)
{
	for (uint32_t i = 0; i < ct_ring_pool_count(pool); i++) {
		const struct ct_ring *ring = ct_ring_pool_at(pool, i);
		struct ctrace_lane *lane = __atomic_load_n(&ring->lane, __ATOMIC_ACQUIRE);

		if (lane != NULL && (all || !ct_ring_has_writer(ring)))
			ct_ring_close_window(lane);
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

/* known: what waits in the rings and cannot go on now; only something new is a reason to stay awake. */
static void sleep_until_woken(struct ct_process *process, uint32_t word, uint64_t known, uint64_t timeout)
{
	__atomic_store_n(&process->agent_idle, 1, __ATOMIC_SEQ_CST);
	close_windows(process->pool, false);
	if (pending_bytes(process->pool) == known)
		ct_os_wait(&process->wake_word, word, timeout);
	__atomic_store_n(&process->agent_idle, 0, __ATOMIC_SEQ_CST);
}

void ct_process_wake_agent(void)
{
	ct_agent_need();
	if (is_deferred())
		return; /* the next event tries again; the agent begins with a pass */
	__atomic_store_n(&ct_process.agent_idle, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&ct_process.wake_word, 1, __ATOMIC_SEQ_CST);
	ct_os_wake(&ct_process.wake_word);
}

/* ---- being the agent ---- */

static bool is_my_turn(uint32_t turn)
{
	return __atomic_load_n(&ct_agent.turn, __ATOMIC_ACQUIRE) == turn;
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
	if (now - touched_ns < TOUCH_NS)
		return;
	touched_ns = now;
	/* 48 bits of ticks are good for half a day without a mark. */
	close_windows(process->pool, true);
	ct_session_touch(&process->session);
}

/* Under the lock. */
static void close_outputs(void)
{
	ct_drain_give_up(ct_agent.drain);
	ct_drain_close(ct_agent.drain);
}

/* Starts the recovery of others when the process has lived for a while: once, whichever thread comes first. */
static void recover_once(void)
{
	uint64_t at = __atomic_load_n(&ct_agent.recover_at_ns, __ATOMIC_RELAXED);

	if (at == 0 || ct_clock_mono_ns() < at)
		return;
	if (__atomic_exchange_n(&ct_agent.recover_at_ns, 0, __ATOMIC_RELAXED) != 0)
		ct_recovery_start(ct_agent.run_directory);
}

static void recover_as_task(void *unused)
{
	(void)unused;
	recover_once();
}

void ct_agent_settle(void *unused)
{
	(void)unused;
	ct_agent_watch();
	(void)!ct_server_later(CT_AGENT_RECOVER_AFTER_MS - CT_AGENT_SETTLE_AFTER_MS, recover_as_task, NULL);
}

/* How long an idle agent sleeps at most. */
static uint64_t idle_ns(const struct ct_process *process)
{
	uint64_t now = ct_clock_mono_ns();
	uint64_t at = __atomic_load_n(&ct_agent.recover_at_ns, __ATOMIC_RELAXED);

	if (ct_ring_pool_count(process->pool) != 0)
		return IDLE_NS;
	if (at == 0)
		return UINT64_MAX;
	return at > now ? at - now : 0;
}

/*
 * The last passes: they deliver what the destinations take before stop_by_ns.  An earlier agent may
 * still be in a method, and goes on with its destination when the method returns.
 */
static void finish(uint32_t turn)
{
	for (;;) {
		struct ct_drain_result result = serve(true);
		uint32_t activity = __atomic_load_n(&ct_agent.activity, __ATOMIC_ACQUIRE);
		uint64_t now = ct_clock_mono_ns();

		if (result.is_superseded || !is_my_turn(turn))
			return;
		if (!ct_drain_is_busy(ct_agent.drain) || now >= ct_agent.stop_by_ns)
			break;
		ct_os_wait(&ct_agent.activity, activity, ct_agent.stop_by_ns - now < IDLE_NS ? ct_agent.stop_by_ns - now : IDLE_NS);
	}
	ct_agent_lock();
	if (is_my_turn(turn))
		close_outputs();
	if (is_my_turn(turn)) {
		__atomic_store_n(&ct_agent.has_agent, false, __ATOMIC_RELEASE);
		__atomic_store_n(&ct_agent.finished, 1, __ATOMIC_RELEASE);
	}
	ct_agent_unlock();
	ct_os_wake(&ct_agent.finished);
	wake_standby();
}

static void be_agent(struct ct_process *process, uint32_t turn)
{
	unsigned quiet = 0;
	unsigned looks = 0;
	unsigned passes = 0;
	uint64_t pending = 0; /* held back by FLUSHEVERY or a failing destination */

	while (!is_stopping()) {
		uint32_t word = __atomic_load_n(&process->wake_word, __ATOMIC_SEQ_CST);
		struct ct_drain_result result = serve(false);

		if (result.is_superseded || !is_my_turn(turn))
			return;
		quiet = result.delivered == 0 && result.pending == pending ? quiet + 1 : 0;
		pending = result.pending;
		if (is_stopping())
			break;
		recover_once();
		if (__atomic_load_n(&ct_agent.flush_wanted, __ATOMIC_ACQUIRE) !=
		    __atomic_load_n(&ct_agent.flush_done, __ATOMIC_RELAXED))
			continue;
		if (++passes % HOUSE_PASSES == 0)
			keep_house(process);
		if (quiet < QUIET_PASSES && ct_ring_pool_count(process->pool) != 0) {
			ct_os_wait(&process->wake_word, word, CT_AGENT_BUSY_NS);
			/* Not at once: the thread that took the last one may be on this processor, and has its event to trace. */
			ct_ring_pool_stock(process->pool);
		} else {
			sleep_until_woken(process, word, pending, idle_ns(process));
			if (++looks % REAP_PASSES == 0)
				keep_house(process);
			/* Woken by an event or by nothing at all: only an event makes it busy. */
			quiet = pending_bytes(process->pool) == pending ? QUIET_PASSES : 0;
		}
	}
	finish(turn);
}

/* ---- standing by ---- */

/* Under the lock: when the agent's method has taken too long, on the monotonic clock.  UINT64_MAX: it is in none. */
static uint64_t overdue_at(void)
{
	if (!ct_agent.has_agent || ct_agent.method_since_ns == 0)
		return UINT64_MAX;
	return ct_agent.method_since_ns + stuck_ns() + ct_drain_allowed_ns(ct_agent.drain);
}

/* Under the lock.  Returns the turn that this thread takes. */
static uint32_t take_over(void)
{
	ct_agent.has_standby = false;
	ct_agent.method_since_ns = 0;
	ct_drain_supersede(ct_agent.drain);
	__atomic_store_n(&ct_agent.turn, ct_agent.turn + 1, __ATOMIC_RELEASE);
	return ct_agent.turn;
}

/* Under the lock.  Returns the turn that this thread takes; 0: the agent is well, and ct_agent.look_at_ns says when to look again. */
static uint32_t look_at_agent(uint64_t now, uint64_t *seen)
{
	uint64_t overdue = overdue_at(), period_end = now + stuck_ns();

	if (overdue <= now)
		return take_over();
	/* No method began since the last look, and none runs: the next one wakes us. */
	ct_agent.standby_sleeps = ct_agent.methods == *seen && ct_agent.method_since_ns == 0;
	*seen = ct_agent.methods;
	/* Not a whole period later when a method runs: a producer that has waited since it began would have no time left.  Not later than that
	 * either: ctrace.block.timeout may become shorter. */
	ct_agent.look_at_ns = overdue < period_end ? overdue : period_end;
	if (ct_agent.standby_sleeps)
		ct_agent.look_at_ns = UINT64_MAX;
	return 0;
}

/* Watches the agent.  Returns the turn that this thread takes; 0: the end. */
static uint32_t stand_by(void)
{
	uint64_t methods = UINT64_MAX;

	while (__atomic_load_n(&ct_agent.finished, __ATOMIC_ACQUIRE) == 0) {
		uint32_t activity = __atomic_load_n(&ct_agent.activity, __ATOMIC_ACQUIRE);
		uint64_t now, look_at;
		uint32_t turn;

		ct_agent_lock();
		now = ct_clock_mono_ns();
		turn = look_at_agent(now, &methods);
		look_at = ct_agent.look_at_ns;
		ct_agent_unlock();
		if (turn != 0)
			return turn;
		ct_point("agent.watched");
		ct_os_wait(&ct_agent.activity, activity, look_at == UINT64_MAX ? UINT64_MAX : look_at - now);
	}
	return 0;
}

/* A thread is the agent or stands by, in turns.  A thread that comes back from a method ends when there is a standby already. */
static void *run_agent(void *argument)
{
	struct agent_thread *thread = argument;
	uint32_t turn = thread->turn;
	bool stands_by = turn == 0;

	for (;;) {
		if (turn != 0) {
			ct_agent_turn = turn;
			be_agent(ct_agent.process, turn);
			ct_agent_turn = 0;
			ct_agent_lock();
			stands_by = !ct_agent.has_standby;
			if (stands_by)
				ct_agent.has_standby = true;
			ct_agent_unlock();
		}
		turn = stands_by ? stand_by() : 0;
		if (turn == 0)
			break;
	}
	__atomic_store_n(&thread->has_ended, 1, __ATOMIC_RELEASE);
	ct_os_wake(&thread->has_ended);
	return NULL;
}

/* ---- life ---- */

void ct_agent_start(struct ct_process *process, const char *run_directory)
{
	ct_agent.process = process;
	ct_agent.stopping = ct_agent.finished = 0;
	ct_agent.open_done = process->open_wanted;
	ct_agent.recover_at_ns = run_directory[0] != '\0' ? ct_clock_mono_ns() + (uint64_t)CT_AGENT_RECOVER_AFTER_MS * 1000000u : 0;
	memcpy(ct_agent.run_directory, run_directory, strlen(run_directory) + 1);
	ct_agent.turn = 1;
	ct_agent.watch_at_ns = ct_clock_mono_ns() + SETTLE_NS;
	/* A trace call that finds the agent asleep wakes it, which starts the thread. */
	process->agent_idle = 1;
	__atomic_store_n(&ct_agent.is_deferred, true, __ATOMIC_RELEASE);
}

/* Those that have ended, or are about to: nobody waits for them. */
static void detach_threads(void)
{
	for (uint32_t i = 0; i < CT_AGENT_THREADS; i++) {
		struct agent_thread *thread = &ct_agent.threads[i];

		if (thread->is_used)
			(void)pthread_detach(thread->id);
		thread->is_used = false;
	}
}

bool ct_agent_runs(void)
{
	return __atomic_load_n(&ct_agent.has_agent, __ATOMIC_ACQUIRE);
}

static bool has_losses(const struct ct_session_head *head)
{
	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		if (__atomic_load_n(&head->lost[reason], __ATOMIC_RELAXED) != 0)
			return true;
	return false;
}

/* Has nothing needed the agent, and is there nothing to deliver?  for_ever: then nobody starts it any more. */
static bool look_unneeded(bool for_ever)
{
	bool is;

	if (!is_deferred())
		return false;
	ct_agent_lock();
	is = ct_agent.is_deferred && ct_ring_pool_count(ct_agent.process->pool) == 0 && !has_losses(ct_agent.process->session.head);
	if (is && for_ever)
		ct_agent.is_deferred = false;
	ct_agent_unlock();
	return is;
}

bool ct_agent_is_unneeded(void)
{
	return look_unneeded(false);
}

bool ct_agent_stop(void)
{
	uint64_t now = ct_clock_mono_ns();

	if (look_unneeded(true))
		return true; /* there is nothing to stop */
	ct_agent_need();
	if (!ct_agent_runs()) {
		ct_agent_lock();
		ct_agent_pass(true);
		if (ct_agent.drain != NULL)
			close_outputs();
		ct_agent_unlock();
		return true;
	}
	ct_agent.stop_by_ns = now + CT_AGENT_TIMEOUTS * __atomic_load_n(&ct_process.settings.block_timeout_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&ct_agent.stopping, 1, __ATOMIC_RELEASE);
	ct_process_wake_agent();
	wake_standby();
	/* There may be no standby yet, and the control thread has ended. */
	if (!ct_os_wait_until(&ct_agent.finished, 1, SETTLE_NS) && lock_by(ct_agent.stop_by_ns)) {
		watch();
		(void)pthread_mutex_unlock(&ct_agent.lock);
	}
	/* The agent gives up by itself at that time.  If it has not a second later, it hangs outside of any method. */
	if (!ct_os_wait_until(&ct_agent.finished, 1, ct_agent.stop_by_ns - now + PAUSE_NS - SETTLE_NS))
		return false;
	if (!ct_drain_is_busy(ct_agent.drain))
		detach_threads();
	return true;
}

/* A method may hold a lock of libc, which nobody would release in the child.  A method that
 * takes long waits for the system, and holds none. */
static void wait_for_methods(void)
{
	uint64_t start = ct_clock_mono_ns();
	uint64_t limit = stuck_ns();
	uint32_t running;

	__atomic_store_n(&ct_agent.is_forking, 1, __ATOMIC_SEQ_CST);
	while ((running = __atomic_load_n(&ct_agent.running, __ATOMIC_SEQ_CST)) != 0) {
		uint64_t waited = ct_clock_mono_ns() - start;

		if (waited >= limit)
			break;
		ct_os_wait(&ct_agent.running, running, limit - waited);
	}
}

bool ct_agent_pause(void)
{
	bool is_paused = lock_by(ct_clock_mono_ns() + PAUSE_NS);

	if (is_paused)
		wait_for_methods();
	return is_paused;
}

void ct_agent_resume(void)
{
	__atomic_store_n(&ct_agent.is_forking, 0, __ATOMIC_RELEASE);
	ct_os_wake(&ct_agent.is_forking);
	(void)pthread_mutex_unlock(&ct_agent.lock);
}

void ct_agent_forget(bool is_paused)
{
	struct agent fresh = { .lock = PTHREAD_MUTEX_INITIALIZER };

	/* In the middle of a change it cannot be taken apart: then it stays as it is. */
	if (is_paused)
		ct_drain_destroy(ct_agent.drain);
	ct_agent = fresh;
	ct_agent_turn = 0;
}
