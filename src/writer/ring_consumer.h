/*
 * writer/ring_consumer.h - what the files of the external writer's program share.
 *
 * The writer server's thread serves sockets; each TRCOUT has a worker, which alone writes there.  A
 * TRCOUT's lock is held by its worker for a round over all links, and by the writer server to add
 * or remove a link or to read counters.
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
	/* brought up to date by who consumes; one worker at a time, under `lock` */
	struct ct_sync sync;
	struct ct_trace_info info; /* who it is, copied when it was taken in */
	uint32_t number;           /* ours, in its session */
	uint32_t base;             /* its destinations for our TRCOUTs: base + index */
	uint32_t count;
	uint32_t release; /* atomic: CT_RELEASE_* */
	/* atomic: mask of TRCOUTs that have nothing of it any more, once it is released */
	uint32_t done;
	/* atomic: the process has truncated its files; nothing of it can be believed any more */
	uint32_t is_damaged;
	uint32_t rings;       /* mapped */
	uint64_t events;      /* atomic: written, or dropped for want of room */
	pthread_mutex_t lock; /* ring, rings, sync's copies */
	struct ct_ring *ring; /* [CT_RING_LIMIT]; head NULL: it could not be mapped */
	struct ct_consumer *consumer[CT_TRCOUT_LIMIT];
	struct ct_sync clocks[CT_TRCOUT_LIMIT];
	bool is_dropped[CT_TRCOUT_LIMIT]; /* the last batch had no room */
};

/* ---- trcout.c: one TRCOUT and its directory, <path>/<segment>/<JOBNAME>.<pid>/.  On its worker's
 * thread, unless it says otherwise. */
struct ct_segment {
	uint32_t number;
	uint64_t bytes;
	uint64_t events;
};
/* that a WRAP data set of its primary size is divided into: that part of it goes at a time */
#define CT_SEGMENTS 8u
struct ct_trcout {
	const struct ct_procedure *procedure;
	uint32_t index;       /* in the procedure */
	pthread_mutex_t lock; /* ct_ring_consumer_lock(), but for its worker */
	/* atomic: who wants the lock besides the worker, which lets them go first */
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
/* Makes the directory ours as long as *out_fd is open.  TIMED_OUT: another writer has it; DENIED:
 * it is another user's; OS_ERROR; with errno, but for DENIED. */
enum ctrace_status ct_trcout_claim(const struct ct_trcout *trcout, int *out_fd) CT_MUST_USE;
/* Looks at what is in the directory already, which stays and counts.  OS_ERROR, DENIED with errno.
 */
enum ctrace_status ct_trcout_open(struct ct_trcout *trcout) CT_MUST_USE;
/* The emitter of the destination; which TRCOUT and link it is for is the worker's
 * (ct_trcout_select()). */
extern const struct ctrace_emitter ct_trcout_emitter;
void ct_trcout_select(struct ct_trcout *trcout, struct ct_link *link);

/* ---- ring_consumer.c */
/* Takes a process in whose directory is open at `directory` (taken over, whatever the answer is):
 * its session mapped and locked, a consumer for each destination that it gives us, base to base +
 * count - 1. */
enum ctrace_status ct_link_create(int directory, uint32_t number, uint32_t base, uint32_t count,
				  struct ct_link **out_link) CT_MUST_USE;
void ct_link_destroy(struct ct_link *link);
/* For the writer server's thread: a mutex is not fair, and a worker that is busy would take it
 * again before anybody else wakes. */
void ct_ring_consumer_lock(struct ct_trcout *trcout);
void ct_ring_consumer_unlock(struct ct_trcout *trcout);
/* One round of a TRCOUT over all links; how many events it took, and whether more wait already. */
uint64_t ct_ring_consumer_round(struct ct_trcout *trcout, bool *out_more);
/* The worker's thread: rounds until *trcout->stop. */
void *ct_ring_consumer_run(void *trcout);
void ct_link_describe(struct ct_link *link, struct ct_link_state *out);

/* ---- lost_page.c */
/* From now on a page of the link that this thread works on may be missing.  NULL: it works on none.
 */
void ct_guard_link(struct ct_link *link);
void ct_guard_start(void);  /* the program's handler */
void ct_guard_thread(void); /* for a thread that was started with all signals blocked */

#endif
