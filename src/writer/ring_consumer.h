/*
 * writer/ring_consumer.h - the interface between the files of the external writer's program.
 *
 * The writer server's thread serves sockets.  Each TRCOUT has a worker; no other thread writes
 * there.  The worker holds the TRCOUT's lock for a round over all links.  The writer server holds
 * it to add or remove a link or to read counters.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_WRITER_RING_CONSUMER_H
#define CT_WRITER_RING_CONSUMER_H

#include "lib/consumer/consumer.h"
#include "writer/writer.h"

#include <pthread.h>

#define CT_LINK_LIMIT 1024u /* processes */

/* A traced process. */
struct ct_link {
	struct ct_session session;
	/* each consumer updates it; one worker at a time, under `lock` */
	struct ct_sync sync;
	struct ct_trace_info info; /* copied when the process connects */
	uint32_t number;           /* this writer's number in the process's session */
	uint32_t base;             /* its destinations for our TRCOUTs: base to base + count - 1 */
	uint32_t count;
	uint32_t release; /* atomic: CT_RELEASE_* */
	/* atomic: mask of TRCOUTs that have handed back all its rings, once it is released */
	uint32_t done;
	/* atomic: the process has truncated its files, so nothing of it is trusted any more */
	uint32_t is_damaged;
	uint32_t rings;       /* that are mapped */
	uint64_t events;      /* atomic: written, or dropped for want of room */
	pthread_mutex_t lock; /* ring, rings, sync's copies */
	struct ct_ring *ring; /* [CT_RING_LIMIT]; head NULL: not mapped */
	struct ct_consumer *consumer[CT_TRCOUT_LIMIT];
	struct ct_sync clocks[CT_TRCOUT_LIMIT];
	bool is_dropped[CT_TRCOUT_LIMIT]; /* the last batch had no room */
};

/* ---- trcout.c: one TRCOUT and its directory, <path>/<segment>/<JOBNAME>.<pid>/.  On its
 * worker's thread, unless noted. */
struct ct_segment {
	uint32_t number;
	uint64_t bytes;
	uint64_t events;
};
/* a WRAP data set's primary size is divided into so many; one is removed at a time */
#define CT_SEGMENTS 8u
struct ct_trcout {
	const struct ct_procedure *procedure;
	uint32_t index;       /* in the procedure */
	pthread_mutex_t lock; /* by ct_ring_consumer_lock(), except in its worker */
	/* atomic: number of other threads that want the lock; the worker lets them go first */
	uint32_t others;
	pthread_t thread;
	uint64_t limit; /* bytes */
	uint64_t used;
	struct ct_segment segment[CT_SEGMENTS + 1]; /* oldest first */
	uint32_t segments;
	uint64_t events, bytes, wrapped_events, full_events;
	uint32_t failing; /* errno */
	bool is_full;
	uint32_t *stop; /* atomic: 1: the worker ends */
	/* the writer server's, [CT_LINK_LIMIT]; changed under every TRCOUT's lock */
	struct ct_link **links;
	uint32_t *link_count;
	void (*message)(const char *text, void *user); /* any thread */
	void *user;
};
/* Locks the directory for this writer as long as *out_fd is open.  TIMED_OUT: another writer has
 * it; DENIED: another user owns it; OS_ERROR.  errno is set, except for DENIED. */
enum ctrace_status ct_trcout_lock_directory(const struct ct_trcout *trcout,
					    int *out_fd) CT_MUST_USE;
/* Reads the segments that are there; they stay and count.  OS_ERROR, DENIED with errno. */
enum ctrace_status ct_trcout_open(struct ct_trcout *trcout) CT_MUST_USE;
/* The emitter of each destination; ct_trcout_select() sets the worker's TRCOUT and link. */
extern const struct ctrace_emitter ct_trcout_emitter;
void ct_trcout_select(struct ct_trcout *trcout, struct ct_link *link);

/* ---- ring_consumer.c */
/* Connects a process: maps and locks its session and creates a consumer for each of its
 * destinations base to base + count - 1.  Takes over the descriptor `directory`, also on
 * failure. */
enum ctrace_status ct_link_create(int directory, uint32_t number, uint32_t base, uint32_t count,
				  struct ct_link **out_link) CT_MUST_USE;
void ct_link_destroy(struct ct_link *link);
/* For the writer server's thread.  A mutex is not fair: a busy worker would take it again before
 * another thread wakes. */
void ct_ring_consumer_lock(struct ct_trcout *trcout);
void ct_ring_consumer_unlock(struct ct_trcout *trcout);
/* One round of a TRCOUT over all links.  Returns the number of events it wrote; *out_more: more
 * are waiting already. */
uint64_t ct_ring_consumer_round(struct ct_trcout *trcout, bool *out_more);
/* The worker's thread: runs rounds until *trcout->stop is set. */
void *ct_ring_consumer_run(void *trcout);
void ct_link_describe(struct ct_link *link, struct ct_link_state *out);

/* ---- lost_page.c */
/* Sets the link that this thread works on: its pages may be missing.  NULL: none. */
void ct_guard_link(struct ct_link *link);
void ct_guard_start(void);  /* installs the program's handler */
void ct_guard_thread(void); /* for a thread that started with all signals blocked */

#endif
