/*
 * lib/process/process.h - one traced process: its state, and how the directories below lib/start
 * call into it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PROCESS_H
#define CT_PROCESS_H

#include "lib/registry/registry.h"
#include "lib/ring/ring.h"

struct ct_target;

/* The state of one traced process.  Made by ct_process_attach(), never freed. */
enum ct_process_state {
	CT_PROCESS_NEW = 0,
	CT_PROCESS_ATTACHED = 1,
	CT_PROCESS_CLOSED = 2, /* after the library's destructor */
	CT_PROCESS_FORKED = 3, /* a child that has not traced yet: follows its parent's levels */
	/* no memory for a session: everything is counted, nothing recorded */
	CT_PROCESS_FAILED = 4,
	/* a child that was made without the fork handlers, and has traced in signal handlers only:
	 * it still has its parent's session, and writes nothing to it */
	CT_PROCESS_CLONED = 5,
	/* attached, with nothing to trace: no thread, no socket, no ring */
	CT_PROCESS_DORMANT = 6
};
struct ct_process {
	uint32_t state; /* enum ct_process_state, atomic */
	/* 1: the consumer thread sleeps; wake it through ct_process_wake_consumer_thread() */
	uint32_t consumer_thread_idle;
	/* mask of destinations that fail now; written by the consumer, read by trace calls */
	uint32_t failing;
	/* mask of destinations that are files; `block` is their default policy */
	uint32_t file_dests;
	uint64_t lost_unattached[CTRACE_LOSS_COUNT]; /* without a session, or after it */
	/* by level: events in signal handlers before the process attached.  Most of their levels
	 * are not compared yet. */
	uint64_t lost_early[CTRACE_LEVEL_COUNT];
	/* 1; a forked child sees 0, however it was made */
	const uint32_t *mark;
	struct ct_session session;
	struct ct_registry *registry;
	struct ct_ring_pool *pool;
	const struct ct_target *target; /* where commands take effect (lib/control/control.h) */
	struct ct_classes classes;      /* of session.classes */
	uint32_t wake_word;             /* the consumer thread sleeps on it; raised to wake it */
	/* atomic: raised when a destination may be in use and not open; the consumer thread
	 * compares it with open_done */
	uint32_t open_wanted;
	uint32_t is_unopened; /* atomic: the process is attached, and has had no event yet */
	/* mask of destinations of dead external writers: the consumer thread finishes their work,
	 * and clears it */
	uint32_t taking_over;
	/* atomic: what triggers add to ctrace.dump.on, a mask of enum ct_dump_on */
	uint32_t trigger_dump_on;
	struct ct_settings settings; /* last: most of its pages stay untouched */
};
/* Hidden, so that trace calls load it without indirection. */
extern struct ct_process ct_process __attribute__((visibility("hidden")));

/* Functions of lib/start that lower directories need.  lib/start defines the one table, so the
 * calls point down in the source, and the table is valid before any constructor runs. */
struct ct_process_steps {
	/* on the calling thread, which holds no lock of ctrace; returns false when it failed, or
	 * when this thread is attaching */
	bool (*attach)(void);
	/* likewise; leaves a process that is not dormant.  Returns false where it cannot wake */
	bool (*rouse)(void);
	void (*reset_parent)(void); /* in a child that was made without the fork handlers */
	void (*wake)(void);
	bool (*open_first)(void);
	void (*await_first)(void);
	enum ctrace_status (*flush)(uint32_t timeout_ms);
};
extern const struct ct_process_steps ct_process_steps __attribute__((visibility("hidden")));

/* Returns the attached process: session, configuration, consumer thread.  Returns NULL when that
 * failed or the library has closed.  Any thread; takes the attach lock the first time.  A signal
 * handler attaches nothing: it gets NULL, and the next call outside of handlers attaches.  A
 * dormant process wakes when its bell has been rung, and stays dormant in a signal handler. */
struct ct_process *ct_process_attach(void);
/* Moves lost_early to the session of the attached process, where readers find it; without the
 * levels that no component traces.  Any thread, async-signal-safe. */
void ct_process_hand_over_losses(void);
/* The same, for what may change the process: it is not dormant afterwards.  Returns NULL also in a
 * signal handler and inside ctrace's own locks, where it cannot wake.  An operator's request that
 * was left to it has been carried out, or the wait for that has taken ctrace.block.timeout. */
struct ct_process *ct_process_rouse(void);
/* Returns true when the process has a session.  Any thread. */
static inline bool ct_process_has_session(void)
{
	uint32_t state = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE);

	return state == CT_PROCESS_ATTACHED || state == CT_PROCESS_DORMANT;
}
/* Returns true when a trace call is to wake this dormant process, or to attach the child of one. */
static inline bool ct_process_hears_bell(void)
{
	uint32_t state = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE);
	const struct ct_session_head *head = ct_process.session.head;

	return (state == CT_PROCESS_DORMANT || state == CT_PROCESS_FORKED) &&
	       __atomic_load_n(&head->bell.level, __ATOMIC_ACQUIRE) != CTRACE_LEVEL_NONE &&
	       __atomic_load_n(&head->is_dormant, __ATOMIC_RELAXED) == CT_DORMANT;
}
/* The level word that the tracer of a component is to load. */
static inline const struct ctrace_level_word *ct_process_level_word(uint32_t component)
{
	return __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) == CT_PROCESS_DORMANT
		       ? &ct_process.session.head->bell
		       : &ct_registry_entry(ct_process.registry, component)->level_word;
}
/* Wakes the consumer thread.  Async-signal-safe. */
void ct_process_wake_consumer_thread(void);
/* Called for an event that is about to be recorded, on any thread.  The first call has the consumer
 * thread open the destinations that are in use.  Returns true when ct_process_await_first() is to
 * be called after the event is recorded: it waits until they are open, at most
 * ctrace.block.timeout.  So the first trace call reports a file that cannot be written, and a
 * program without events makes no file.  In a signal handler the call only clears is_unopened. */
bool ct_process_open_first(void) CT_MUST_USE;
void ct_process_await_first(void);
/* Prints the local time, as strftime() does with this form.  Any thread of a traced process, and
 * tools. */
#define CT_PROCESS_TIME 32
void ct_process_print_time(char out[CT_PROCESS_TIME], const char *form);
/* ctrace_flush(). */
enum ctrace_status ct_process_flush(uint32_t timeout_ms) CT_MUST_USE;

#endif
