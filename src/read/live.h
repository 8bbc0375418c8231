/*
 * read/live.h - shared by the files that follow live processes.
 *
 *     source_live.c   the processes of the run directories, and their events in order of time
 *     live_process.c  one process: its session, its rings, the names of its components
 *     live_ring.c     one ring: its new events, as far as they are certainly whole
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_LIVE_H
#define CT_READ_LIVE_H

#include "read/read.h"

/* bytes to read of a ring at a time, unless an event is longer */
#define CT_LIVE_CHUNK (1u << 20)

struct ct_live_ring {
	int fd;
	const struct ct_class_image *classes; /* the process's */
	uint32_t index;
	bool is_overwrite;
	uint64_t capacity;
	uint64_t position;           /* next position to read; an event begins there */
	struct ct_event_state state; /* decoder state at that position */
	unsigned stuck;              /* consecutive looks that found no whole event */
	uint64_t lost_at_first;
	uint64_t lost;         /* by the process, since we follow the ring */
	struct ct_buf waiting; /* waiting events, each behind a struct ct_live_stamp */
	size_t first;          /* offset of the first of them */
	size_t chunk;          /* bytes to read at a time */
};
struct ct_live_stamp {
	uint64_t time_ns;
	uint64_t arrival_ns;         /* CLOCK_MONOTONIC, when it was read */
	struct ct_event_state state; /* decoder state before the event */
	uint64_t size;               /* of the event behind this */
};

struct ct_live_process {
	struct ct_live_who who;
	struct ct_file_id id; /* of its directory, since a later process may reuse the name */
	char *path;
	int directory_fd;
	int session_fd;
	struct ct_session_layout layout;
	bool is_all; /* newly opened rings are shown from their beginning */
	struct ct_sync sync;
	uint64_t lost_at_first;
	uint64_t lost; /* of events that reached no ring */
	uint32_t ring_count;
	struct ct_live_ring **rings;   /* NULL: the ring cannot be followed */
	struct ct_class_image classes; /* our copy */
	uint32_t name_count;
	char **names; /* of components; NULL: unknown yet */
	/* state of source_live.c */
	bool is_there;   /* found by the current scan */
	bool is_ignored; /* unwanted, or it cannot be followed */
	bool has_ended;
	bool is_consumed; /* the last look found nothing new */
};

/* The data that a look at a ring needs. */
struct ct_live_look {
	struct ct_buf chunk;           /* CT_LIVE_CHUNK bytes, or what an event needed */
	struct ct_session_head *words; /* buffer for one */
	const struct ct_sync *sync;
	uint64_t now_ns; /* CLOCK_MONOTONIC */
	size_t room;     /* bytes left to keep; the last event may exceed them */
	struct ct_live_totals *totals;
};

/* ---- live_process.c */
/* Called with path and who.uid set.  Returns false when the process is unwanted or has ended, or
 * when it cannot be followed, which is reported to options->report.  Close it in any case. */
bool ct_live_process_open(struct ct_live_process *process, const struct ct_live_options *options,
			  bool is_new, struct ct_session_head *words) CT_MUST_USE;
void ct_live_process_close(struct ct_live_process *process); /* frees it too */
/* Reads new events.  Returns true when there were any. */
bool ct_live_process_look(struct ct_live_process *process, const struct ct_live_options *options,
			  struct ct_live_look *look);
/* Returns the component's name, or NULL. */
const char *ct_live_process_name(struct ct_live_process *process, uint32_t component);

/* ---- live_ring.c */
/* Returns NOT_FOUND, DENIED, OS_ERROR, DAMAGED when it is no ring, or UNSUPPORTED when it is a
 * flight recorder's, which is not followed.  from_start: begin at the oldest event left, otherwise
 * at the end. */
enum ctrace_status ct_live_ring_open(struct ct_live_ring *ring, int directory_fd, uint32_t index,
				     const struct ct_class_image *classes,
				     bool from_start) CT_MUST_USE;
void ct_live_ring_close(struct ct_live_ring *ring);
/* Reads new events, a few chunks at most.  Returns true when there were any. */
bool ct_live_ring_look(struct ct_live_ring *ring, struct ct_live_look *look);
/* Returns the first waiting event, or false.  Borrowed until the next look or pop. */
bool ct_live_ring_first(const struct ct_live_ring *ring, struct ct_live_stamp *out_stamp,
			struct ct_event *out_event);
void ct_live_ring_pop(struct ct_live_ring *ring);

#endif
