/*
 * consumer_threads.c - which thread is the consumer thread: started, watched, relieved, stopped,
 * and kept still round a fork.
 *
 * The first thread starts when something needs it, so a process that traces nothing has none.  An
 * emitter's method may never return, as on a dead file system.  So the lock is not held while a
 * method runs.  When a method takes too long, a second thread, the standby, becomes the consumer
 * thread. When the method returns, the first thread finishes with that destination and becomes the
 * standby.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/consumer_thread.h"

#include "lib/control/server.h"
#include "lib/process/aside.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 1000000000u /* fork waits so long for the lock, which nobody holds for long */
#define SETTLE_NS ((uint64_t)CT_CONSUMER_THREAD_SETTLE_AFTER_MS * 1000000u)

struct consumer_thread ct_consumer_thread = { .lock = PTHREAD_MUTEX_INITIALIZER };
__thread uint32_t ct_consumer_thread_turn __attribute__((tls_model("initial-exec")));

static void *run_consumer_thread(void *argument);

/* ---- the lock ---- */

/* A mutex is not fair: without this a busy consumer thread would take it again before another
 * thread wakes. */
static void let_others_go(void)
{
	uint32_t others = __atomic_load_n(&ct_consumer_thread.others, __ATOMIC_ACQUIRE);

	if (others == 0)
		return;
	__atomic_store_n(&ct_consumer_thread.lets_go, 1, __ATOMIC_SEQ_CST);
	while ((others = __atomic_load_n(&ct_consumer_thread.others, __ATOMIC_SEQ_CST)) != 0)
		ct_os_wait(&ct_consumer_thread.others, others, CT_CONSUMER_THREAD_BUSY_NS);
	__atomic_store_n(&ct_consumer_thread.lets_go, 0, __ATOMIC_RELAXED);
}

static void others_went(void)
{
	if (__atomic_sub_fetch(&ct_consumer_thread.others, 1, __ATOMIC_SEQ_CST) == 0 &&
	    __atomic_load_n(&ct_consumer_thread.lets_go, __ATOMIC_SEQ_CST) != 0)
		ct_os_wake(&ct_consumer_thread.others);
}

void ct_consumer_thread_lock_last(void)
{
	let_others_go();
	ct_guard_enter();
	(void)pthread_mutex_lock(&ct_consumer_thread.lock);
}

/* Takes the lock unless it is not free by then; signals are blocked.  The wait is for the mutex's
 * own moments only: ThreadSanitizer does not know pthread_mutex_clocklock(), and the other call
 * goes by a clock that can be set. */
static bool lock_by(uint64_t mono_ns)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	bool is_taken;

	(void)__atomic_fetch_add(&ct_consumer_thread.others, 1, __ATOMIC_ACQ_REL);
	while (!(is_taken = pthread_mutex_trylock(&ct_consumer_thread.lock) == 0) &&
	       ct_clock_mono_ns() < mono_ns)
		(void)syscall(SYS_nanosleep, &pause, NULL);
	others_went();
	return is_taken;
}

void ct_consumer_thread_lock(void)
{
	ct_guard_enter();
	(void)__atomic_fetch_add(&ct_consumer_thread.others, 1, __ATOMIC_ACQ_REL);
	(void)pthread_mutex_lock(&ct_consumer_thread.lock);
	others_went();
}

void ct_consumer_thread_unlock(void)
{
	(void)pthread_mutex_unlock(&ct_consumer_thread.lock);
	ct_guard_leave();
}

struct ct_consumer *ct_consumer_thread_consumer(void)
{
	return ct_consumer_thread.consumer;
}

static uint64_t stuck_ns(void)
{
	return ct_consumer_stuck_ns(
		__atomic_load_n(&ct_process.settings.block_timeout_ns, __ATOMIC_RELAXED));
}

/* ---- the threads ---- */

/* Under the lock.  False when no thread can be had. */
static bool start_thread(uint32_t turn)
{
	for (uint32_t i = 0; i < CT_CONSUMER_THREADS; i++) {
		struct consumer_thread_slot *thread = &ct_consumer_thread.threads[i];

		if (thread->is_used && __atomic_load_n(&thread->has_ended, __ATOMIC_ACQUIRE) != 0) {
			(void)pthread_join(thread->id, NULL);
			thread->is_used = false;
		}
		if (thread->is_used)
			continue;
		thread->has_ended = 0;
		thread->turn = turn;
		thread->is_used = ct_os_thread_start(run_consumer_thread, thread, "ctrace-consumer",
						     &thread->id) == CTRACE_OK;
		return thread->is_used;
	}
	return false;
}

static bool is_consumer_thread(void)
{
	return ct_consumer_thread_turn != 0 &&
	       ct_consumer_thread_turn ==
		       __atomic_load_n(&ct_consumer_thread.turn, __ATOMIC_RELAXED);
}

/* Under the lock. */
static void begin_watch(void)
{
	if (!ct_consumer_thread.has_standby)
		ct_consumer_thread.has_standby = start_thread(0);
}

/* Under the lock. */
static void standby_watch(void)
{
	ct_consumer_thread.watch_at_ns = 0;
	if (ct_consumer_thread_runs() && ct_consumer_thread.methods != 0)
		begin_watch();
}

void ct_consumer_thread_watch(void)
{
	ct_consumer_thread_lock();
	standby_watch();
	ct_consumer_thread_unlock();
}

void ct_consumer_thread_wake_standby(void)
{
	(void)__atomic_fetch_add(&ct_consumer_thread.activity, 1, __ATOMIC_RELEASE);
	ct_os_wake(&ct_consumer_thread.activity);
}

/* The method may never return: the standby watches the consumer thread from now on. */
static void before_method(void *user)
{
	(void)user;
	ct_consumer_thread.methods++;
	(void)__atomic_fetch_add(&ct_consumer_thread.running, 1, __ATOMIC_ACQ_REL);
	if (is_consumer_thread()) {
		ct_consumer_thread.method_since_ns = ct_clock_mono_ns();
		if (ct_consumer_thread.method_since_ns >= ct_consumer_thread.watch_at_ns ||
		    stuck_ns() <= SETTLE_NS)
			begin_watch();
	}
	if (ct_consumer_thread.standby_sleeps) {
		ct_consumer_thread.standby_sleeps = false;
		ct_consumer_thread_wake_standby();
	}
	(void)pthread_mutex_unlock(&ct_consumer_thread.lock);
}

static void method_has_ended(void)
{
	if (__atomic_sub_fetch(&ct_consumer_thread.running, 1, __ATOMIC_SEQ_CST) == 0 &&
	    __atomic_load_n(&ct_consumer_thread.is_forking, __ATOMIC_SEQ_CST) != 0)
		ct_os_wake(&ct_consumer_thread.running);
}

static void after_method(void *user)
{
	(void)user;
	method_has_ended();
	(void)pthread_mutex_lock(&ct_consumer_thread.lock);
	if (is_consumer_thread())
		ct_consumer_thread.method_since_ns = 0;
	else if (ct_consumer_thread_is_stopping())
		/* wakes the consumer thread, which waits for this method in finish() */
		ct_consumer_thread_wake_standby();
}

/*
 * Not under the lock, which a recovery must not wait for.  Pairs with wait_for_methods(): either
 * fork sees the method in `running` and waits for it, or this thread sees `is_forking` and begins
 * after the fork.
 */
void ct_consumer_thread_begin_method(void *user)
{
	(void)user;
	for (;;) {
		(void)__atomic_fetch_add(&ct_consumer_thread.running, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&ct_consumer_thread.is_forking, __ATOMIC_SEQ_CST) == 0)
			return;
		method_has_ended();
		ct_os_wait(&ct_consumer_thread.is_forking, 1, UINT64_MAX);
	}
}

void ct_consumer_thread_end_method(void *user)
{
	(void)user;
	method_has_ended();
}

/* ---- standing by ---- */

/* Under the lock: when the consumer thread's method has taken too long, on the monotonic clock.
 * UINT64_MAX: it is in none. */
static uint64_t overdue_at(void)
{
	if (!ct_consumer_thread.has_consumer_thread || ct_consumer_thread.method_since_ns == 0)
		return UINT64_MAX;
	return ct_consumer_thread.method_since_ns + stuck_ns() +
	       ct_consumer_allowed_ns(ct_consumer_thread.consumer);
}

/* Under the lock.  Returns the turn that this thread takes. */
static uint32_t standby_take_over(void)
{
	ct_consumer_thread.has_standby = false;
	ct_consumer_thread.method_since_ns = 0;
	ct_consumer_supersede(ct_consumer_thread.consumer);
	__atomic_store_n(&ct_consumer_thread.turn, ct_consumer_thread.turn + 1, __ATOMIC_RELEASE);
	return ct_consumer_thread.turn;
}

/* Under the lock.  Returns the turn that this thread takes; 0: the consumer thread is well, and
 * ct_consumer_thread.look_at_ns is the time of the next check. */
static uint32_t look_at_consumer_thread(uint64_t now, uint64_t *seen)
{
	uint64_t overdue = overdue_at(), period_end = now + stuck_ns();

	if (overdue <= now)
		return standby_take_over();
	/* No method began since the last look, and none runs: the next one wakes us. */
	ct_consumer_thread.standby_sleeps =
		ct_consumer_thread.methods == *seen && ct_consumer_thread.method_since_ns == 0;
	*seen = ct_consumer_thread.methods;
	/* Not a whole period later when a method runs: a producer that has waited since it began
	 * would have no time left.  Not later than that either: ctrace.block.timeout may become
	 * shorter. */
	ct_consumer_thread.look_at_ns = overdue < period_end ? overdue : period_end;
	if (ct_consumer_thread.standby_sleeps)
		ct_consumer_thread.look_at_ns = UINT64_MAX;
	return 0;
}

/* Watches the consumer thread.  Returns the turn that this thread takes; 0: the end. */
static uint32_t standby_run(void)
{
	uint64_t methods = UINT64_MAX;

	while (__atomic_load_n(&ct_consumer_thread.finished, __ATOMIC_ACQUIRE) == 0) {
		uint32_t activity = __atomic_load_n(&ct_consumer_thread.activity, __ATOMIC_ACQUIRE);
		uint64_t now, look_at;
		uint32_t turn;

		ct_consumer_thread_lock();
		now = ct_clock_mono_ns();
		turn = look_at_consumer_thread(now, &methods);
		look_at = ct_consumer_thread.look_at_ns;
		ct_consumer_thread_unlock();
		if (turn != 0)
			return turn;
		ct_point("consumer_thread.watched");
		ct_os_wait(&ct_consumer_thread.activity, activity,
			   look_at == UINT64_MAX ? UINT64_MAX : look_at - now);
	}
	return 0;
}

/* A thread is the consumer thread or stands by, in turns.  A thread that comes back from a method
 * ends when there is a standby already. */
static void *run_consumer_thread(void *argument)
{
	struct consumer_thread_slot *thread = argument;
	uint32_t turn = thread->turn;
	bool stands_by = turn == 0;

	for (;;) {
		if (turn != 0) {
			ct_consumer_thread_turn = turn;
			ct_consumer_thread_be(ct_consumer_thread.process, turn);
			ct_consumer_thread_turn = 0;
			ct_consumer_thread_lock();
			stands_by = !ct_consumer_thread.has_standby;
			if (stands_by)
				ct_consumer_thread.has_standby = true;
			ct_consumer_thread_unlock();
		}
		turn = stands_by ? standby_run() : 0;
		if (turn == 0)
			break;
	}
	__atomic_store_n(&thread->has_ended, 1, __ATOMIC_RELEASE);
	ct_os_wake(&thread->has_ended);
	return NULL;
}

/* ---- starting the first thread ---- */

/* An orphan's last batch goes into the file before ours.  Its recovery is a part of opening: if
 * it hangs, only this destination waits. */
static void before_open(void *user, const char *path)
{
	const struct ct_recover_options options = { .is_guest = true, .path = path };
	struct ct_recovery total = { 0 };

	(void)user;
	if (ct_consumer_thread.run_directory[0] != '\0')
		ct_recover(ct_consumer_thread.run_directory, &options, &total, NULL, NULL);
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
	ct_ring_pool_hold(user);
}

static void allow_moves(void *user)
{
	ct_ring_pool_release(user);
}

static enum ctrace_status make_consumer(struct ct_process *process)
{
	struct ct_consumer_source source = { .session = &process->session,
					     .ring_count = pool_count,
					     .ring_at = pool_ring,
					     .hold_moves = hold_moves,
					     .allow_moves = allow_moves,
					     .user = process->pool,
					     .before_method = before_method,
					     .after_method = after_method,
					     .before_open = before_open,
					     .block_timeout_ns =
						     &process->settings.block_timeout_ns,
					     .flight_wanted =
						     &process->session.head->flight_wanted };

	return ct_consumer_create(&source, &ct_consumer_thread.consumer);
}

/* Under the lock.  Without memory for a consumer the next who needs it tries again; meanwhile
 * events wait in the rings. */
static void start_deferred(void)
{
	if (!ct_consumer_thread.is_deferred ||
	    make_consumer(ct_consumer_thread.process) != CTRACE_OK)
		return;
	/* Without the thread events wait in the rings for a flush or the end of the process: better
	 * than nothing. */
	__atomic_store_n(&ct_consumer_thread.has_consumer_thread, start_thread(1),
			 __ATOMIC_RELEASE);
	/* Publish: pairs with the acquire load in ct_consumer_thread_need(), whose caller then sees
	 * the consumer thread. */
	__atomic_store_n(&ct_consumer_thread.is_deferred, false, __ATOMIC_RELEASE);
}

void ct_consumer_thread_begin(void)
{
	ct_consumer_thread_lock();
	start_deferred();
	ct_consumer_thread_unlock();
}

static void begin_as_task(void *unused)
{
	(void)unused;
	__atomic_store_n(&ct_consumer_thread.is_asked_for, false, __ATOMIC_RELAXED);
	ct_consumer_thread_begin();
}

void ct_consumer_thread_need(void)
{
	if (!ct_consumer_thread_is_deferred())
		return;
	/* Starting a thread is not for signal handlers, and the lock is not for those that have a
	 * later one. */
	if (ct_thread_locked == 0 && !ct_thread_is_in_handler())
		ct_consumer_thread_begin();
	else if (!__atomic_exchange_n(&ct_consumer_thread.is_asked_for, true, __ATOMIC_RELAXED) &&
		 ct_server_later(0, begin_as_task, NULL) != CTRACE_OK)
		__atomic_store_n(&ct_consumer_thread.is_asked_for, false, __ATOMIC_RELAXED);
}

/* ---- life ---- */

void ct_consumer_thread_start(struct ct_process *process, const char *run_directory)
{
	ct_consumer_thread.process = process;
	ct_consumer_thread.stopping = ct_consumer_thread.finished = 0;
	ct_consumer_thread.open_done = process->open_wanted;
	ct_consumer_thread.recover_at_ns =
		run_directory[0] != '\0'
			? ct_clock_mono_ns() +
				  (uint64_t)CT_CONSUMER_THREAD_RECOVER_AFTER_MS * 1000000u
			: 0;
	memcpy(ct_consumer_thread.run_directory, run_directory, strlen(run_directory) + 1);
	ct_consumer_thread.turn = 1;
	ct_consumer_thread.watch_at_ns = ct_clock_mono_ns() + SETTLE_NS;
	/* A trace call that finds the consumer thread asleep wakes it, which starts the thread. */
	process->consumer_thread_idle = 1;
	__atomic_store_n(&ct_consumer_thread.is_deferred, true, __ATOMIC_RELEASE);
}

/* Those that have ended, or are about to: nobody waits for them. */
static void detach_threads(void)
{
	for (uint32_t i = 0; i < CT_CONSUMER_THREADS; i++) {
		struct consumer_thread_slot *thread = &ct_consumer_thread.threads[i];

		if (thread->is_used)
			(void)pthread_detach(thread->id);
		thread->is_used = false;
	}
}

bool ct_consumer_thread_runs(void)
{
	return __atomic_load_n(&ct_consumer_thread.has_consumer_thread, __ATOMIC_ACQUIRE);
}

static bool has_losses(const struct ct_session_head *head)
{
	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		if (__atomic_load_n(&head->lost[reason], __ATOMIC_RELAXED) != 0)
			return true;
	return false;
}

bool ct_consumer_thread_is_unneeded(bool for_ever)
{
	bool is;

	if (!ct_consumer_thread_is_deferred())
		return false;
	ct_consumer_thread_lock();
	is = ct_consumer_thread.is_deferred &&
	     ct_ring_pool_count(ct_consumer_thread.process->pool) == 0 &&
	     !has_losses(ct_consumer_thread.process->session.head);
	if (is && for_ever)
		ct_consumer_thread.is_deferred = false;
	ct_consumer_thread_unlock();
	return is;
}

bool ct_consumer_thread_stop(void)
{
	uint64_t now = ct_clock_mono_ns();

	if (ct_consumer_thread_is_unneeded(true))
		return true; /* there is nothing to stop */
	ct_consumer_thread_need();
	if (!ct_consumer_thread_runs()) {
		ct_consumer_thread_lock();
		ct_consumer_thread_pass(true);
		if (ct_consumer_thread.consumer != NULL)
			ct_consumer_thread_close_outputs();
		ct_consumer_thread_unlock();
		return true;
	}
	ct_consumer_thread.stop_by_ns = now + ct_aside_patience_ns(true);
	__atomic_store_n(&ct_consumer_thread.stopping, 1, __ATOMIC_RELEASE);
	ct_consumer_thread_wake();
	ct_consumer_thread_wake_standby();
	/* There may be no standby yet, and the control thread has ended. */
	if (!ct_os_wait_until(&ct_consumer_thread.finished, 1, SETTLE_NS) &&
	    lock_by(ct_consumer_thread.stop_by_ns)) {
		standby_watch();
		(void)pthread_mutex_unlock(&ct_consumer_thread.lock);
	}
	/* The consumer thread gives up by itself at that time.  If it has not a second later, it
	 * hangs outside of any method. */
	if (!ct_os_wait_until(&ct_consumer_thread.finished, 1,
			      ct_consumer_thread.stop_by_ns - now + PAUSE_NS - SETTLE_NS))
		return false;
	if (!ct_consumer_is_busy(ct_consumer_thread.consumer))
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

	__atomic_store_n(&ct_consumer_thread.is_forking, 1, __ATOMIC_SEQ_CST);
	while ((running = __atomic_load_n(&ct_consumer_thread.running, __ATOMIC_SEQ_CST)) != 0) {
		uint64_t waited = ct_clock_mono_ns() - start;

		if (waited >= limit ||
		    !ct_os_wait(&ct_consumer_thread.running, running, limit - waited))
			break;
	}
}

bool ct_consumer_thread_pause(void)
{
	bool is_paused = lock_by(ct_clock_mono_ns() + PAUSE_NS);

	if (is_paused)
		wait_for_methods();
	return is_paused;
}

void ct_consumer_thread_resume(void)
{
	__atomic_store_n(&ct_consumer_thread.is_forking, 0, __ATOMIC_RELEASE);
	ct_os_wake(&ct_consumer_thread.is_forking);
	(void)pthread_mutex_unlock(&ct_consumer_thread.lock);
}

void ct_consumer_thread_reset(bool is_paused)
{
	struct consumer_thread fresh = { .lock = PTHREAD_MUTEX_INITIALIZER };

	/* In the middle of a change it cannot be taken apart: then it stays as it is. */
	if (is_paused)
		ct_consumer_destroy(ct_consumer_thread.consumer);
	ct_consumer_thread = fresh;
	ct_consumer_thread_turn = 0;
}
