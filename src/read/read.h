/*
 * read/read.h - the read side: sources decode events, the merge orders them, the filter selects, a
 * printer prints.
 *
 *     source.c {decode} -> merge.c -> reader.c {catalogue, pairing, filter} -> a printer
 *
 * No printer decodes, no decoder prints.  One thread.  Tools use reader.c; source.h declares the
 * parts behind it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_H
#define CT_READ_H

#include "lib/ring/ring.h"
#include "read/filter/filter.h"
#include "session/session.h"

/* ---- what a reader reports besides the events */
struct ct_read_totals {
	uint64_t events;
	uint64_t discarded;     /* lost before they were written, as the data count them */
	uint64_t damaged_bytes; /* skipped */
	uint64_t damages;       /* places */
	/* of these: traces, directories and stream files of which nothing was read */
	uint64_t unread;
};
enum ct_note_kind {
	CT_NOTE_DAMAGE, /* bytes that could not be read */
	/* a trace, directory or stream file of which nothing is read */
	CT_NOTE_UNREAD,
	CT_NOTE_LOST,    /* events were lost before they were written */
	CT_NOTE_MISSING, /* packets are missing */
	CT_NOTE_UNKNOWN, /* third-party: a part that ctrace cannot read */
	/* no damage: the wall clock of the traced machine was set */
	CT_NOTE_CLOCK
};
struct ct_read_note {
	enum ct_note_kind kind;
	const char *path;
	uint64_t offset; /* in the file */
	uint64_t bytes;  /* damaged */
	uint64_t events; /* lost events or missing packets */
	/* time range of the loss; 0: unknown */
	uint64_t from_ns, to_ns;
	const struct ct_source_process *source_process; /* or NULL */
	const char *message;                            /* a sentence without its subject */
};
typedef void ct_read_report(const struct ct_read_note *note, void *user);

/* ---- reader.c: the reader that tools use.  Fill in the options, create, add, then call next until
 * NULL. */
struct ct_reader_options {
	const struct ct_catalog *catalog; /* or NULL */
	const struct ct_filter *filter;   /* or NULL */
	/* compute duration_ns, span_id and depth even if the filter does not use them */
	bool has_pairs;
	/* return inferred ends too, before the event that ends the span; needs has_pairs */
	bool has_inferred;
	/* depth does not matter: spans of which the filter drops both ends are ignored */
	bool pairs_are_shown;
	ct_read_report *report; /* or NULL */
	/* or NULL: called at each packet of a BINFILE with the count of events that its stream file
	 * has lost up to there */
	void (*lost)(const char *path, const struct ct_source_process *source_process,
		     uint64_t count, void *user);
	/* or NULL: called often while reading; false ends the reading */
	bool (*step)(void *user);
	void *user;
};
struct ct_reader;
enum ctrace_status ct_reader_create(const struct ct_reader_options *options,
				    struct ct_reader **out_reader) CT_MUST_USE;
void ct_reader_destroy(struct ct_reader *reader);
/* Adds everything that path names: a trace of ctrace or another tracer (directory with `metadata`),
 * one stream file of it, a process directory (directory with `session`), a directory holding any of
 * these (also a few levels down), a process id of a live or dead traced process, or the common name
 * of the generations app.ctb_1, app.ctb_2 ...  Returns NOT_FOUND when it is none of them;
 * UNSUPPORTED when it is a trace that cannot be read. */
enum ctrace_status ct_reader_add(struct ct_reader *reader, const char *path) CT_MUST_USE;
/* Returns the next event that the filter accepts; NULL at the end.  Add nothing after the first
 * call. */
const struct ct_read_event *ct_reader_next(struct ct_reader *reader);
/* Starts again from the first event, and resets the totals. */
enum ctrace_status ct_reader_rewind(struct ct_reader *reader) CT_MUST_USE;
/* Starts again from since_ns, or from the filter's begin if that is later.  Reads only the end of
 * the files. */
enum ctrace_status ct_reader_rewind_to(struct ct_reader *reader, uint64_t since_ns) CT_MUST_USE;
/* Reports the time of the first event, and when the latest last packet of a stream begins.  Returns
 * false when a source can only be read from its beginning, or when the filter needs all earlier
 * events. */
bool ct_reader_ends(struct ct_reader *reader, uint64_t *out_first_ns, uint64_t *out_last_ns);
/* Returns the share that has been read, in thousandths; 0: unknown. */
unsigned ct_reader_progress(const struct ct_reader *reader);
/* What the lines of a list must distinguish, judged by the first events. Does not disturb
 * reading. */
struct ct_reader_survey {
	bool has_hosts, has_processes, has_threads; /* there are several of them */
	/* digits of a second that distinguish neighbouring times: 3, 6 or 9 */
	unsigned digits;
	bool is_whole; /* the survey met no damage */
};
void ct_reader_survey(const struct ct_reader *reader, struct ct_reader_survey *out);
/* Called after the filter accepted no event: adds a sentence about a name or value in it that no
 * event has, and the one that was probably meant.  Returns false when nothing stands out. */
bool ct_reader_hint(const struct ct_reader *reader, struct ct_buf *out);
/* The caller knows when a process ended: sets ended_ns of the newest source process with that id.
 */
void ct_reader_process_ended(struct ct_reader *reader, uint32_t pid, uint64_t ended_ns);
const struct ct_read_totals *ct_reader_totals(const struct ct_reader *reader);
/* NULL past the last */
const struct ct_source_process *ct_reader_source_process(const struct ct_reader *reader,
							 size_t index);
/* Returns the next end of a span that the event of the last ct_reader_take() has inferred and the
 * filter accepts; NULL: no other.  It comes before that event, and is valid until the next call.
 * Only with has_inferred. */
const struct ct_read_event *ct_reader_take_inferred(struct ct_reader *reader);
/* Completes an event that the caller has read, as a live one (ct_live_next()): catalogue, pairing
 * and filter.  names: those that the trace itself gives, or NULL.  Returns NULL when the filter
 * drops it.  source_process->index identifies the process. */
const struct ct_read_event *ct_reader_take(struct ct_reader *reader,
					   const struct ctrace_event *traced,
					   const struct ct_event_names *names,
					   const struct ct_source_process *source_process);

/* ---- recognize.c: describes a path that is no trace: "a text file, no trace", or why it cannot be
 * read.  Returns NULL when the path does not exist. */
const char *ct_path_recognize(const char *path);
/* Describes why a file of a process directory cannot be read, "it cannot be read: Permission
 * denied"; links are not followed.  Returns NULL when it can be read. */
#define CT_UNREADABLE_SIZE 128
const char *ct_path_unreadable(const char *path, char out[CT_UNREADABLE_SIZE]);
/* Does the directory have files with names of BINFILE streams? */
bool ct_path_has_streams(const char *path);

/* ---- pairing.c: pairs exits with entries.  At most CT_PAIRING_OPEN spans are open at once; beyond
 * that the oldest are dropped. */
#define CT_PAIRING_OPEN 65536u
struct ct_pairing_state;
/* has_inferred: ct_pairing_next_inferred() is going to be called. */
enum ctrace_status ct_pairing_create(bool has_inferred,
				     struct ct_pairing_state **out_state) CT_MUST_USE;
void ct_pairing_destroy(struct ct_pairing_state *state);
/* Sets duration_ns, self_ns, span_id and depth of the event.  Call it in merged order for every
 * event whose type has a pairing or ends other spans, and for every other event whose depth is
 * wanted. */
void ct_pairing_note(struct ct_pairing_state *state, struct ct_read_event *event);
/* Ends the spans whose end can be inferred, at the last event of their thread: the trace ends. */
void ct_pairing_finish(struct ct_pairing_state *state);
/* Returns the next of the inferred ends since the last ct_pairing_note() or ct_pairing_finish(),
 * the innermost first; NULL when there is none.  Borrowed until the next call of those. */
struct ct_read_event *ct_pairing_next_inferred(struct ct_pairing_state *state);
/* an inferred end has so many items, and so many bytes of their data; the rest is cut */
#define CT_INFERRED_ITEMS 16u
#define CT_INFERRED_BYTES 512u

/*
 * ---- source_live.c: follows the rings of the live processes of this user (root: of all users).
 * Consumes nothing, and no process notices.  Events that are overwritten before they were read are
 * counted.
 */
struct ct_live;
struct ct_live_who {
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;
	char jobname[16];
	char host[256];
	char program[256];
};
struct ct_live_options {
	bool (*wants)(const struct ct_live_who *who, void *user); /* NULL: all */
	void (*report)(const char *path, uint64_t offset, const char *message,
		       void *user); /* called for a process that cannot be followed; or NULL */
	void *user;
	uint64_t hold_ns; /* how long an event waits for earlier ones of other rings */
	bool from_start;  /* begin with the events still in the rings */
};
struct ct_live_totals {
	uint64_t processes;     /* followed now */
	uint64_t missed_bytes;  /* overwritten before they were read */
	uint64_t damaged_bytes; /* not events, or of no component */
	/* lost by the processes since they are followed; from_start: in all */
	uint64_t lost_events;
};
enum ctrace_status ct_live_open(const struct ct_live_options *options,
				struct ct_live **out_live) CT_MUST_USE;
void ct_live_close(struct ct_live *live);
/* Reads new events.  Returns false when there were none. */
bool ct_live_look(struct ct_live *live);
/* Returns the next event that has waited long enough (all: any event) and its process (out_who may
 * be NULL).  Borrowed until the next call of this or ct_live_look(). */
bool ct_live_next(struct ct_live *live, bool all, struct ctrace_event *out_event,
		  const struct ct_live_who **out_who);
/* Returns a descriptor that becomes readable when a process appears: call ct_live_look() then. -1:
 * none. */
int ct_live_fd(const struct ct_live *live);
void ct_live_count(struct ct_live *live, struct ct_live_totals *out_totals);

#endif
