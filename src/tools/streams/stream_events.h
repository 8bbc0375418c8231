/*
 * tools/streams/stream_events.h - what comes to a stream as events, each once, with the losses.
 *
 * stream_follow() hands over parts of a stream; some events may be in two parts.  One thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_STREAMS_STREAM_EVENTS_H
#define CT_TOOLS_STREAMS_STREAM_EVENTS_H

#include "base/hash_table.h"
#include "read/read.h"
#include "session/client.h"

struct stream_thread;
struct stream_loss;

/* The caller sets the first members; the others are zero at first. */
struct stream_events {
	struct ct_peer_filter filter; /* events and losses of other processes are left out */
	/* Called for each event, once.  The index of the process is the same in each part: a hash
	 * of its host and pid.  Returns false to leave out the rest of the part. */
	bool (*take)(const struct ct_read_event *event, const struct ct_source_process *process,
		     void *user);
	/* Called with the number of events that the process has lost since the first packet of the
	 * same stream file, or since the last call. */
	void (*lost)(const struct ct_source_process *process, uint64_t events, void *user);
	/* Called for what cannot be read. */
	void (*report)(const char *path, uint64_t offset, const char *message, void *user);
	void *user;
	/* when each thread traced its latest event */
	struct stream_thread *threads;
	struct ct_hash_table thread_table;
	uint64_t forgotten_ns; /* the latest event of a thread that is forgotten */
	/* how many events each stream file has lost */
	struct stream_loss *losses;
	struct ct_hash_table loss_table;
	uint64_t now_ns; /* monotonic: when the part came */
};
/* Reads a part.  is_repeated: some of its events may have been in an earlier part. */
void stream_events_take(struct stream_events *events, const char *directory, bool is_repeated);
/* Forgets threads and files of which nothing has come since that time of the monotonic clock.  An
 * event of a forgotten thread that comes again is left out, as is any event of an unknown thread in
 * a repeated part that is as old. */
void stream_events_forget(struct stream_events *events, uint64_t before_ns);
void stream_events_fini(struct stream_events *events);

#endif
