/*
 * read/read.h - the way out: sources give events, the merge orders them, the filter drops, a printer prints.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_H
#define CT_READ_H

#include "emit/emit.h"
#include "ring/ring.h"
#include "session/session.h"
#include "wire/wire.h"

/* Counts over all sources: what a reader has to tell besides the events. */
struct ct_read_totals {
	uint64_t events;
	uint64_t discarded;     /* lost before they were written, as the data say */
	uint64_t damaged_bytes; /* skipped */
	uint64_t damages;       /* places */
};
/* Told of each damage and each gap.  path, offset in it, a sentence. */
typedef void ct_read_report(const char *path, uint64_t offset, const char *message, void *user);

/* ---- source.c: one stream of events in time order: a stream file of a BINFILE trace, or a ring of a session. */
struct ct_source;
struct ct_sources {
	struct ct_source **items;
	size_t count;
	struct ct_read_totals totals;
	ct_read_report *report;
	void *report_user;
	/* merge.c's */
	struct ct_source **heap; /* those that have an event, earliest first */
	size_t heap_size;
	struct ct_source *given;           /* whose event the caller has */
	struct ctrace_event_item *scratch; /* CTRACE_MAX_ITEMS */
	bool is_started;
};
void ct_sources_init(struct ct_sources *sources, ct_read_report *report, void *user);
void ct_sources_fini(struct ct_sources *sources);
/* Adds everything that path names: a BINFILE trace (folder with `metadata`), one stream file of it, a run folder (folder with `session`),
 * a folder holding any of these (also a few levels down), or a process id of a live or dead traced process.  NOT_FOUND when it is none of them. */
enum ctrace_status ct_sources_add(struct ct_sources *sources, const char *path) CT_MUST_USE;

/* ---- merge.c: the events of all sources in time order; of those of one time first the source that was added first.  The event is borrowed
 * until the next call; false at the end.  No source is added after the first call. */
bool ct_sources_next(struct ct_sources *sources, struct ctrace_event *out_event);

/*
 * ---- source_live.c: follows what the live processes of this user (root: of all users) write into their rings, while they write it and
 * whatever becomes of it: nothing is consumed, and no process notices.  An event that is overwritten before it was seen is counted.
 */
struct ct_live;
struct ct_live_who {
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;
	char jobname[16];
};
struct ct_live_options {
	bool (*wants)(const struct ct_live_who *who, void *user); /* NULL: all */
	ct_read_report *report;                                   /* of a process that cannot be followed; or NULL */
	void *user;
	uint64_t hold_ns; /* so long an event waits for earlier ones of other rings */
	bool from_start;  /* begin with what the rings still hold */
};
struct ct_live_totals {
	uint64_t missed_bytes;  /* written over before they were read */
	uint64_t damaged_bytes; /* no records, or of no component */
	uint64_t lost_events;   /* that the processes lost themselves since they are followed; from_start: ever */
};
enum ctrace_status ct_live_open(const struct ct_live_options *options, struct ct_live **out_live) CT_MUST_USE;
void ct_live_close(struct ct_live *live);
/* Reads what is new.  False when nothing was. */
bool ct_live_look(struct ct_live *live);
/* The next event that has waited long enough, or the next of all.  Borrowed until the next call of this or ct_live_look(). */
bool ct_live_next(struct ct_live *live, bool all, struct ctrace_event *out_event);
int ct_live_fd(const struct ct_live *live); /* readable: a process has come; ct_live_look() at once.  -1: there is none */
void ct_live_count(struct ct_live *live, struct ct_live_totals *out_totals);

/* ---- filter.c */
struct ct_filter {
	const char *component; /* glob, case-insensitive; NULL: all */
	uint32_t level;        /* at or above */
	const char *events;    /* "1,5-8"; NULL: all */
	uint64_t since_ns;
	uint64_t until_ns; /* UINT64_MAX: no end */
};
bool ct_filter_check_events(const char *list); /* the list is well-formed */
bool ct_filter_accepts(const struct ct_filter *filter, const struct ctrace_event *event);
/* "2026-01-31 15:12:27.5", "15:12:27" (today), "-5m", "@1700000000.5". */
bool ct_filter_parse_time(const char *text, uint64_t now_ns, uint64_t *out_ns);

/* ---- print_json.c: an event as one JSON object on a line. */
void ct_json_add(struct ct_buf *out, const struct ctrace_event *event);

#endif
