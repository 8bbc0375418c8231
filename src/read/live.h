/*
 * read/live.h - what the files that follow live processes share.
 *
 *     source_live.c   the processes of the run directories, and their events in order of time
 *     live_process.c  one process: its session, its rings, the names of its components
 *     live_ring.c     one ring: what is new in it, as long as it surely is whole
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_LIVE_H
#define CT_READ_LIVE_H

#include "read/read.h"

/* bytes that are read of a ring at a time, unless an event has more */
#define CT_LIVE_CHUNK (1u << 20)

struct ct_live_ring {
	int fd;
	const struct ct_class_view *classes; /* the process's */
	uint32_t index;
	bool is_overwrite;
	uint64_t capacity;
	uint64_t position;           /* of what is to be read next; an event begins there */
	struct ct_event_state state; /* of reading, there */
	unsigned stuck;              /* looks at which nothing whole was there */
	uint64_t lost_at_first;
	uint64_t lost;         /* by the process, since the ring is followed */
	struct ct_buf waiting; /* events that were read, each behind a struct ct_live_stamp */
	size_t first;          /* where the first of them begins */
	size_t chunk;          /* bytes that are read at a time */
};
struct ct_live_stamp {
	uint64_t time_ns;
	uint64_t arrival_ns;         /* CLOCK_MONOTONIC, when it was read */
	struct ct_event_state state; /* of reading, before it */
	uint64_t size;               /* of the event behind this */
};

struct ct_live_process {
	struct ct_live_who who;
	struct ct_file_id id; /* of its directory: a later process may have one of the same name */
	char *path;
	int directory_fd;
	int session_fd;
	struct ct_session_layout layout;
	bool is_all; /* rings that are opened are shown from their beginning */
	struct ct_sync sync;
	uint64_t lost_at_first;
	uint64_t lost; /* of events that reached no ring */
	uint32_t ring_count;
	struct ct_live_ring **rings;  /* NULL: it cannot be followed */
	struct ct_class_view classes; /* a copy, ours */
	uint32_t name_count;
	char **names; /* of components; NULL: not known yet */
	/* source_live.c's */
	bool is_there;   /* in the scan that is being made */
	bool is_ignored; /* not wanted, or it cannot be followed */
	bool has_ended;
	bool is_consumed; /* at the last look nothing was new */
};

/* What a look at a ring needs. */
struct ct_live_look {
	struct ct_buf chunk;           /* CT_LIVE_CHUNK bytes, or what an event needed */
	struct ct_session_head *words; /* room for one */
	const struct ct_sync *sync;
	uint64_t now_ns; /* CLOCK_MONOTONIC */
	size_t room;     /* bytes that may still be kept; an event more is */
	struct ct_live_totals *totals;
};

/* ---- live_process.c */
/* path and who.uid are set.  False when it is not to be followed: not wanted, ended, or told to
 * options->report why.  Close it in any case. */
bool ct_live_process_open(struct ct_live_process *process, const struct ct_live_options *options,
			  bool is_new, struct ct_session_head *words) CT_MUST_USE;
void ct_live_process_close(struct ct_live_process *process); /* frees it too */
/* Takes what is new.  True when something was. */
bool ct_live_process_look(struct ct_live_process *process, const struct ct_live_options *options,
			  struct ct_live_look *look);
/* NULL when it has none */
const char *ct_live_process_name(struct ct_live_process *process, uint32_t component);

/* ---- live_ring.c */
/* NOT_FOUND, DENIED, OS_ERROR; DAMAGED: it is no ring; UNSUPPORTED: it is not to be followed (a
 * flight recorder's).  from_start: from the oldest that can be found in it, else from its end. */
enum ctrace_status ct_live_ring_open(struct ct_live_ring *ring, int directory_fd, uint32_t index,
				     const struct ct_class_view *classes,
				     bool from_start) CT_MUST_USE;
void ct_live_ring_close(struct ct_live_ring *ring);
/* Takes what is new, a few chunks at most.  True when something was. */
bool ct_live_ring_look(struct ct_live_ring *ring, struct ct_live_look *look);
/* The first event that waits; false when none does.  Borrowed until the next look or pop. */
bool ct_live_ring_first(const struct ct_live_ring *ring, struct ct_live_stamp *out_stamp,
			struct ct_event *out_event);
void ct_live_ring_pop(struct ct_live_ring *ring);

#endif
