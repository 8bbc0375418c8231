/*
 * lib/start/consumer_thread.h - shared by the files about the consumer thread: its threads, and
 * the threads that wait for it.
 *
 *     consumer_thread.c          what the consumer thread does: passes, sleeping
 *     consumer_threads.c  which thread is the consumer thread: started, watched, relieved, stopped
 *     flush.c          waiting until something is delivered or opened
 *     rotate.c         a new generation of the output, on request
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_START_CONSUMER_THREAD_H
#define CT_START_CONSUMER_THREAD_H

#include "lib/start/start.h"

#define CT_CONSUMER_THREAD_BUSY_NS 1000000u /* between passes while there are events */
/* the output may take this many times ctrace.block.timeout for a rotation */
#define CT_CONSUMER_THREAD_TIMEOUTS 5u
#define CT_CONSUMER_THREADS (CT_EMITTER_LIMIT + 2u)

/* In the order in which a rotation goes through them. */
enum rotation_state {
	ROTATION_FREE,
	ROTATION_WANTED,
	ROTATION_RUNNING,
	ROTATION_DONE,
	ROTATION_ABANDONED
};

struct consumer_thread {
	pthread_mutex_t lock;
	struct ct_consumer *consumer;
	struct ct_process *process;
	/* under the lock */
	struct consumer_thread_slot {
		pthread_t id;
		uint32_t turn; /* the turn that it begins with; 0: it stands by */
		bool is_used;
		uint32_t has_ended; /* atomic */
	} threads[CT_CONSUMER_THREADS];
	bool has_standby;
	bool standby_sleeps; /* until activity is raised */
	/* monotonic; the present consumer thread's method began then.  0: it is in none */
	uint64_t method_since_ns;
	uint64_t methods; /* begun, ever */
	/* monotonic; the standby's next look.  UINT64_MAX: when activity is raised */
	uint64_t look_at_ns;
	/* monotonic; the standby ignores methods until then.  0: it watches each */
	uint64_t watch_at_ns;
	uint64_t stop_by_ns; /* monotonic; when stopping: the output may take until then */
	/* monotonic; from then on the consumer thread starts the recovery thread.  0: started, or
	 * not wanted */
	uint64_t recover_at_ns;
	struct rotation {
		/* enum rotation_state; sleepers wait on it.  Written under the lock, atomic */
		uint32_t state;
		uint32_t mask, done;
		enum ctrace_status status;
	} rotation;
	/* atomic */
	bool has_consumer_thread; /* a thread is the consumer thread */
	bool is_deferred;         /* nothing has needed the consumer thread, so it is not started */
	bool is_asked_for;        /* the control thread is to start it */
	/* number of the present consumer thread, from 1; raised under the lock when another takes
	 * over */
	uint32_t turn;
	/* ct_process.open_wanted at the last opening of destinations; sleepers wait on it */
	uint32_t open_done;
	uint32_t stopping;
	/* after stopping: everything that can be delivered is; sleepers wait on it */
	uint32_t finished;
	uint32_t flush_wanted; /* tickets given */
	uint32_t flush_done;   /* tickets served; sleepers wait on it */
	uint32_t flush_status; /* of the last one served */
	/* threads that want the lock; the consumer thread lets them take it first */
	uint32_t others;
	/* methods that run; fork sleeps on it, since they may be inside locks of libc */
	uint32_t running;
	/* 1: a fork is under way; methods of recoveries begin after it, and sleep on this */
	uint32_t is_forking;
	uint32_t lets_go;  /* 1: the consumer thread sleeps on `others` */
	uint32_t activity; /* raised to wake the standby, which sleeps on it */
	char run_directory[4096];
};
extern struct consumer_thread ct_consumer_thread;
/* The turn of a thread that is, or still believes it is, the consumer thread; else 0. */
extern __thread uint32_t ct_consumer_thread_turn __attribute__((tls_model("initial-exec")));

/* ---- consumer_thread.c */
/* The calling thread is the consumer thread until it is stopped, or another one has the turn. */
void ct_consumer_thread_be(struct ct_process *process, uint32_t turn);
void ct_consumer_thread_close_outputs(void); /* under the lock, when the process ends */

/* ---- consumer_threads.c */
/* Takes the lock when no other thread wants it.  A mutex is not fair: a busy consumer thread would
 * take it again before another thread wakes. */
void ct_consumer_thread_lock_last(void);
void ct_consumer_thread_wake_standby(void);
static inline bool ct_consumer_thread_is_stopping(void)
{
	return __atomic_load_n(&ct_consumer_thread.stopping, __ATOMIC_ACQUIRE) != 0;
}
static inline bool ct_consumer_thread_is_deferred(void)
{
	return __atomic_load_n(&ct_consumer_thread.is_deferred, __ATOMIC_ACQUIRE);
}
bool ct_consumer_thread_runs(void); /* a thread is the consumer thread */
/* Has nothing needed the consumer thread, and was nothing traced or lost?  for_ever: if so, it is
 * never started.  Under no lock. */
bool ct_consumer_thread_is_unneeded(bool for_ever);
/* Starts the first thread if that was deferred.  Any thread.  In a signal handler or under a lock,
 * the control thread starts it a moment later. */
void ct_consumer_thread_need(void);
/* Enclose a method of a recoverer's consumer: fork waits for the method, and the method waits for
 * fork, but neither waits for the lock. */
void ct_consumer_thread_begin_method(void *user);
void ct_consumer_thread_end_method(void *user);
/* rotate.c: on the consumer thread, under the lock: the rotation that is wanted. */
void ct_consumer_thread_run_rotation(void);

#endif
