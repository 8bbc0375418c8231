/*
 * writer/ring_consumer.h - the interface between the files of the external writer's program.
 *
 * The writer server's thread serves sockets.  One worker writes to the TRCOUTs, which are one
 * group; no other thread writes there.  The worker holds the group's lock for a round over all
 * links.  The writer server holds it to add or remove a link or to read counters.
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
	struct ct_sync sync;       /* the consumer updates it */
	struct ct_trace_info info; /* copied when the process connects */
	uint32_t number;           /* this writer's number in the process's session */
	uint32_t held_by;          /* its destination for us */
	uint32_t connection;       /* the number that the process gave this connection */
	uint32_t release;          /* atomic: CT_RELEASE_* */
	uint32_t done;             /* atomic: all its rings are handed back, once it is released */
	/* atomic: the process has truncated its files, so nothing of it is trusted any more */
	uint32_t is_damaged;
	uint32_t rings;       /* that are mapped */
	uint64_t events;      /* atomic: written, or dropped for want of room */
	pthread_mutex_t lock; /* ring, rings */
	struct ct_ring *ring; /* [CT_RING_LIMIT]; head NULL: not mapped */
	struct ct_consumer *consumer;
	bool is_accepted; /* the process has accepted the connection */
	bool is_dropped;  /* the last batch had no room */
};

/* ---- trcout.c: the TRCOUTs and their directories, <path>/<segment>/<JOBNAME>.<pid>/.  On the
 * worker's thread, unless noted. */
struct ct_bin_directory;
struct ct_segment {
	uint32_t number; /* ascending in the group */
	uint64_t bytes;
	uint64_t events;
};
/* a WRAP data set's primary size is divided into so many; one is removed at a time */
#define CT_SEGMENTS 8u
/* beside the segments: a trace without events, which reports what the group has lost */
#define CT_TRCOUT_LOST "lost"
struct ct_trcout {
	const struct ct_trcout_spec *spec;
	uint64_t limit; /* bytes */
	uint64_t used;
	struct ct_segment segment[CT_SEGMENTS + 1]; /* oldest first */
	uint32_t segments;
	/* the first segment since the data set was opened in its turn; older ones may go */
	uint32_t first_segment;
	uint64_t events, bytes, wrapped_events;
	uint64_t full_events; /* while it was open, and no other could be opened */
	uint32_t failing;     /* errno */
	struct ct_bin_directory *note;
};
struct ct_trcout_group {
	const struct ct_procedure *procedure;
	pthread_mutex_t lock; /* by ct_ring_consumer_lock(), except in the worker */
	/* atomic: number of other threads that want the lock; the worker lets them go first */
	uint32_t others;
	pthread_t thread;
	struct ct_trcout trcout[CT_TRCOUT_LIMIT]; /* as in the procedure */
	uint32_t count;
	uint32_t open; /* the one that is written to */
	uint32_t newest_segment;
	uint64_t full_events; /* not written, because there was no room */
	uint64_t noted;       /* losses that the note has */
	uint64_t noted_ns;
	bool is_full;
	uint32_t *stop; /* atomic: 1: the worker ends */
	/* the writer server's, [CT_LINK_LIMIT]; changed under the lock */
	struct ct_link **links;
	uint32_t *link_count;
	void (*message)(const char *text, void *user); /* any thread */
	void *user;
};
/* Locks the directory for this writer as long as *out_fd is open.  TIMED_OUT: another writer has
 * it; DENIED: another user owns it; OS_ERROR.  errno is set, except for DENIED. */
enum ctrace_status ct_trcout_lock_directory(const struct ct_trcout_spec *spec,
					    int *out_fd) CT_MUST_USE;
/* Opens the TRCOUTs of the procedure; their directories are locked.  OS_ERROR, DENIED with errno,
 * for *out_index; BUFFER_TOO_SMALL: all are full. */
enum ctrace_status ct_trcout_group_open(struct ct_trcout_group *group,
					uint32_t *out_index) CT_MUST_USE;
void ct_trcout_group_close(struct ct_trcout_group *group);
/* Returns the size of a batch: a sixteenth of the smallest TRCOUT, so that little room stays
 * unused, at most 64 KiB. */
size_t ct_trcout_batch_bytes(const struct ct_procedure *procedure);
/* The emitter of each link's destination; ct_trcout_select() sets the worker's group and link. */
extern const struct ctrace_emitter ct_trcout_emitter;
void ct_trcout_select(struct ct_trcout_group *group, struct ct_link *link);

/* ---- ring_consumer.c */
struct ct_link_request {
	uint32_t number;
	uint32_t held_by;
	uint32_t connection;
	size_t batch_bytes; /* ct_trcout_batch_bytes() */
};
/* Connects a process: maps and locks its session and creates a consumer for its destination
 * `held_by`.  Takes over the descriptor `directory`, also on failure. */
enum ctrace_status ct_link_create(int directory, const struct ct_link_request *request,
				  struct ct_link **out_link) CT_MUST_USE;
void ct_link_destroy(struct ct_link *link);
/* True when the process has stored that it is connected: rings that it begins to make later are the
 * link's.  The answer to its request comes earlier. */
bool ct_link_is_connected(const struct ct_link *link);
/* For the writer server's thread.  A mutex is not fair: a busy worker would take it again before
 * another thread wakes. */
void ct_ring_consumer_lock(struct ct_trcout_group *group);
void ct_ring_consumer_unlock(struct ct_trcout_group *group);
/* One round over all links.  Returns the number of events it wrote; *out_more: more are waiting
 * already. */
uint64_t ct_ring_consumer_round(struct ct_trcout_group *group, bool *out_more);
/* The worker's thread: runs rounds until *group->stop is set. */
void *ct_ring_consumer_run(void *group);
void ct_link_describe(struct ct_link *link, struct ct_link_state *out);

/* ---- lost_page.c */
/* Sets the link that this thread works on: its pages may be missing.  NULL: none. */
void ct_guard_link(struct ct_link *link);
void ct_guard_start(void);  /* installs the program's handler */
void ct_guard_thread(void); /* for a thread that started with all signals blocked */

#endif
