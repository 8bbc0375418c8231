/*
 * read/read.h - the way out: sources give events, the merge orders them, the filter drops, a
 * printer prints.
 *
 *     source.c {decode} -> merge.c -> reader.c {catalogue, pairing, filter} -> a printer
 *
 * No printer decodes, no decoder prints.  One thread.  Tools use reader.c; what stands behind it is
 * in source.h.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_H
#define CT_READ_H

#include "lib/ring/ring.h"
#include "read/filter/filter.h"
#include "session/session.h"

/* ---- what a reader has to tell besides the events */
struct ct_read_totals {
	uint64_t events;
	uint64_t discarded;     /* lost before they were written, as the data say */
	uint64_t damaged_bytes; /* skipped */
	uint64_t damages;       /* places */
	/* of these: traces, directories and stream files of which nothing was read */
	uint64_t unread;
};
enum ct_trouble {
	CT_TROUBLE_DAMAGE, /* bytes that could not be read */
	/* a trace, directory or stream file below what was named, of which nothing is read */
	CT_TROUBLE_UNREAD,
	CT_TROUBLE_LOST,    /* events were lost before they were written */
	CT_TROUBLE_MISSING, /* packets are missing */
	CT_TROUBLE_UNKNOWN, /* third-party: something there that ctrace does not read */
	/* nothing is wrong: somebody set the wall clock of the traced program's machine */
	CT_TROUBLE_CLOCK
};
struct ct_read_note {
	enum ct_trouble trouble;
	const char *path;
	uint64_t offset; /* in the file */
	uint64_t bytes;  /* of damage */
	uint64_t events; /* lost; packets that are missing */
	/* between these it happened; 0: not known */
	uint64_t from_ns, to_ns;
	const struct ct_source_process *source_process; /* or NULL */
	const char *message;                            /* a sentence without its subject */
};
typedef void ct_read_report(const struct ct_read_note *note, void *user);

/* ---- reader.c: everything that a tool reads with.  Fill in, open, add, then next until it is
 * false. */
struct ct_reader_options {
	const struct ct_catalog *catalog; /* or NULL */
	const struct ct_filter *filter;   /* or NULL */
	/* views get duration_ns, span_id and depth also when the filter does not ask for them */
	bool has_pairs;
	/* depth counts for nothing: spans of which the filter drops both ends need not be known */
	bool pairs_are_shown;
	ct_read_report *report; /* or NULL */
	/* called often while it reads, or NULL; false: reading ends here */
	bool (*step)(void *user);
	void *user;
};
struct ct_reader;
enum ctrace_status ct_reader_create(const struct ct_reader_options *options,
				    struct ct_reader **out_reader) CT_MUST_USE;
void ct_reader_destroy(struct ct_reader *reader);
/* Adds everything that path names: a trace of ours or of anybody (directory with `metadata`), one
 * stream file of it, a process directory (directory with `session`), a directory holding any of
 * these (also a few levels down), a process id of a live or dead traced process, or what the
 * generations app.ctb_1, app.ctb_2 ... have in common.  NOT_FOUND when it is none of them;
 * UNSUPPORTED when it is a trace that cannot be read. */
enum ctrace_status ct_reader_add(struct ct_reader *reader, const char *path) CT_MUST_USE;
/* The next event that the filter accepts; NULL at the end.  Nothing is added after the first call.
 */
const struct ct_view *ct_reader_next(struct ct_reader *reader);
/* From the first event again: what was read is forgotten, totals too. */
enum ctrace_status ct_reader_rewind(struct ct_reader *reader) CT_MUST_USE;
/* The same with the events from since_ns on alone, if the filter does not begin later: only the end
 * of the files is read then. */
enum ctrace_status ct_reader_rewind_to(struct ct_reader *reader, uint64_t since_ns) CT_MUST_USE;
/* When the first event is, and when the last packet of each stream has begun, of which this is the
 * earliest.  False: something that was added can only be read from its beginning, or what the
 * filter asks for needs all that was before. */
bool ct_reader_ends(struct ct_reader *reader, uint64_t *out_first_ns, uint64_t *out_last_ns);
/* How much has been read, of 1000; 0: not known. */
unsigned ct_reader_progress(const struct ct_reader *reader);
/* What the lines of a list have to tell apart, from a look at the first events; reading is as
 * before. */
struct ct_reader_survey {
	bool has_hosts, has_processes, has_threads; /* there are several */
	/* of a second: 3, 6 or 9 tell the times of neighbours apart */
	unsigned digits;
	bool is_whole; /* nothing of what was looked at could not be read */
};
void ct_reader_survey(const struct ct_reader *reader, struct ct_reader_survey *out);
/* After a scan in which the filter accepted nothing: adds which name or value in it no event has,
 * and which was probably meant.  False: nothing stands out. */
bool ct_reader_hint(const struct ct_reader *reader, struct ct_buf *out);
const struct ct_read_totals *ct_reader_totals(const struct ct_reader *reader);
/* NULL past the last */
const struct ct_source_process *ct_reader_source_process(const struct ct_reader *reader,
							 size_t index);
/* A live event (ct_live_next()) as a view: catalogue, pairing and filter.  NULL when the filter
 * drops it.  source_process->index tells processes apart. */
const struct ct_view *ct_reader_take(struct ct_reader *reader, const struct ctrace_event *event,
				     const struct ct_source_process *source_process);

/* ---- recognize.c: what a path is at which no trace was found: "a text file, no trace", or why it
 * cannot be looked at.  NULL: there is nothing of that name. */
const char *ct_path_recognize(const char *path);
/* Why a file of a process directory cannot be read, "it cannot be read: Permission denied"; links
 * are not followed.  NULL: it can be read. */
#define CT_UNREADABLE_SIZE 128
const char *ct_path_unreadable(const char *path, char out[CT_UNREADABLE_SIZE]);
/* Has the directory files that are named like the streams of a BINFILE trace? */
bool ct_path_has_streams(const char *path);

/* ---- pairing.c: which exit belongs to which entry.  Bounded: at most CT_PAIRING_OPEN spans are
 * open at once, the oldest are given up. */
#define CT_PAIRING_OPEN 65536u
struct ct_pairing_state;
enum ctrace_status ct_pairing_create(struct ct_pairing_state **out_state) CT_MUST_USE;
void ct_pairing_destroy(struct ct_pairing_state *state);
/* Sets duration_ns, span_id and depth of the view; to be called for every event whose type has a
 * pairing, in merged order, and for others that want their depth. */
void ct_pairing_note(struct ct_pairing_state *state, struct ct_view *view);

/*
 * ---- source_live.c: follows what the live processes of this user (root: of all users) write into
 * their rings, while they write it and whatever becomes of it: nothing is consumed, and no process
 * notices.  An event that is overwritten before it was seen is counted.
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
		       void *user); /* of a process that cannot be followed; or NULL */
	void *user;
	uint64_t hold_ns; /* so long an event waits for earlier ones of other rings */
	bool from_start;  /* begin with what the rings still hold */
};
struct ct_live_totals {
	uint64_t processes;     /* that are followed now */
	uint64_t missed_bytes;  /* written over before they were read */
	uint64_t damaged_bytes; /* no records, or of no component */
	/* that the processes lost themselves since they are followed; from_start: ever */
	uint64_t lost_events;
};
enum ctrace_status ct_live_open(const struct ct_live_options *options,
				struct ct_live **out_live) CT_MUST_USE;
void ct_live_close(struct ct_live *live);
/* Reads what is new.  False when nothing was. */
bool ct_live_look(struct ct_live *live);
/* The next event that has waited long enough, or the next of all, and whose it is (out_who may be
 * NULL).  Borrowed until the next call of this or ct_live_look(). */
bool ct_live_next(struct ct_live *live, bool all, struct ctrace_event *out_event,
		  const struct ct_live_who **out_who);
/* readable: a process has come; ct_live_look() at once.  -1: there is none */
int ct_live_fd(const struct ct_live *live);
void ct_live_count(struct ct_live *live, struct ct_live_totals *out_totals);

#endif
