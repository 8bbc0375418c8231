/*
 * ctrace/emitter.h - the contract between ctrace and an emitter, which writes events to an output.
 *
 * An emitter is one const struct; the built-in ones use exactly this contract.  A shared object
 * adds another when it is named `<name in lower case>.so`, is in a directory of CTRACE_EMITTERS or
 * in ctrace's own module directory, and exports `const struct ctrace_emitter ctrace_emitter`.
 *
 * All functions of one emitter run on one thread at a time: the traced process's consumer thread,
 * or the thread that recovers the traces of a dead process.  They run inside somebody's program:
 * they must not print, exit, change signal dispositions or delay the traced program.  All signals
 * are blocked.  open() may be called again after close().
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CTRACE_EMITTER_H
#define CTRACE_EMITTER_H

#include <ctrace/event.h>
#include <ctrace/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CTRACE_EMITTER_PATH_SIZE 4096u

enum ctrace_property_kind {
	CTRACE_PROPERTY_TEXT,
	CTRACE_PROPERTY_NUMBER,
	CTRACE_PROPERTY_SWITCH,    /* 0 or 1 */
	CTRACE_PROPERTY_LEVEL,     /* a level's name, or a number */
	CTRACE_PROPERTY_FORMAT,    /* a line with pseudo-variables, as TEXTFILE's FORMAT */
	CTRACE_PROPERTY_FILE,      /* a file's name with pseudo-variables, as TEXTFILE's FILE */
	CTRACE_PROPERTY_DIRECTORY, /* a directory's path */
	CTRACE_PROPERTY_MODE,      /* of files: 0600 or 0640 */
	CTRACE_PROPERTY_ENCODING,  /* of text items, as of mftrace.encoding */
	CTRACE_PROPERTY_GROUP,     /* a group of the machine: a name or a number */
	CTRACE_PROPERTY_COMPRESS,  /* zstd or no */
	CTRACE_PROPERTY_PATH,      /* a file's absolute path */
	CTRACE_PROPERTY_SERVERS,   /* nats://HOST[:PORT][,HOST...], or tls:// */
	CTRACE_PROPERTY_WORD,      /* one part of a subject, or a stream's name */
	CTRACE_PROPERTY_SUBJECT,   /* words with dots between */
	CTRACE_PROPERTY_COPIES,    /* 1 to 5 */
	CTRACE_PROPERTY_AGE,       /* 90s, 30m, 12h or 7d; at least 1m */
	CTRACE_PROPERTY_SIZE,      /* bytes, or a number with K, M, G or T */
	CTRACE_PROPERTY_CAPACITY,  /* the same, at least 1M */
	CTRACE_PROPERTY_DURATION   /* 0s, 90s, 5m, 12h or 7d */
};

/* One row of an emitter's property table; the last row has name NULL.  default_value is text; NULL
 * when unset. */
struct ctrace_property {
	const char *name; /* upper case */
	enum ctrace_property_kind kind;
	const char *default_value;
	const char *help; /* one sentence */
};

/*
 * The emitter's position in its output.  The consumer keeps it beside the rings and commits it
 * together with the ring positions after each successful write().  When a dead process's traces are
 * recovered, open() receives it: with a non-empty path it must continue there and first truncate
 * the output to offset.  A zeroed position means: start afresh.  The emitter defines path, offset
 * and extra; for TEXTFILE they are the open file, its size and its generation.
 */
struct ctrace_place {
	char path[CTRACE_EMITTER_PATH_SIZE]; /* absolute */
	uint64_t offset;
	uint64_t extra;
	/* events that the output reports as lost; only of emitters with CTRACE_EMITTER_RUNS */
	uint64_t lost;
};

/* One ring's share of the output, for emitters that keep one file per ring.  Committed together
 * with ctrace_place. */
struct ctrace_stream {
	uint32_t id; /* 0, 1, ... : the ring's number in the process */
	uint32_t reserved;
	uint64_t offset;   /* in, out: the emitter's own; 0 at first */
	uint64_t sequence; /* in, out: the emitter's own; 0 at first */
	uint64_t extra;    /* in, out: the emitter's own; 0 at first */
	uint64_t lost;     /* running total of events that this ring lost, all reasons */
};

/* The counter behind the events' ticks: its frequency in ticks a second, one pair of ticks and wall
 * time, and which clock it is, with the reason: "tsc: the kernel keeps time by it". */
struct ctrace_counter {
	uint64_t frequency; /* 0: not known yet */
	uint64_t ticks;
	uint64_t wall_ns; /* since 1970 */
	char clock[77];
};

/* The arguments of open().  Borrowed until close(). */
struct ctrace_emitter_context {
	size_t size;
	/* Returns a property's value as text: the user's setting, else the default, else NULL.
	 * Names are case-insensitive.  Borrowed until the next call. */
	const char *(*property)(const struct ctrace_emitter_context *context, const char *name);
	/* Returns a property's value as a number: ON, YES, TRUE ... = 1; OFF, NO ... = 0;
	 * decimal or 0x digits; 0 for any other text. */
	uint64_t (*number)(const struct ctrace_emitter_context *context, const char *name);
	uint32_t pid; /* the traced process; not always the caller */
	uint32_t asid;
	const char *jobname;
	const char *program;      /* base name of its executable without extension: $(APPNAME) */
	const char *command_line; /* arguments joined by blanks */
	const char *host;
	const char *system;    /* "Linux 6.1.0" */
	const char *directory; /* MFTRACE_LOGS of the traced process, or "" */
	/* its current directory when it attached; absolute, or "": it had been removed */
	const char *working_directory;
	uint64_t start_ns; /* when it attached, since 1970 */
	bool recovering;   /* the traced process is dead */
	struct ctrace_place *place;
	/* Commits the present content of place, with no event delivered.  write() calls it after
	 * it has made a new file or directory and set place to it, before it writes the first
	 * event there.  A process that is killed later continues in the new one.  On any status
	 * but OK the old place stays committed. */
	enum ctrace_status (*commit)(const struct ctrace_emitter_context *context);
	/* Names the path or socket that cannot be opened or written, for `ctrace list`, `ctrace
	 * stats` and `ctrace doctor`.  open() or write() calls it before it returns a failure;
	 * without it they show errno alone, else both.  A text that does not begin with a slash and
	 * has a reason after ": " is shown without errno.  Keeps errno. */
	void (*failed_at)(const struct ctrace_emitter_context *context, const char *what);
	/* Fills *out with the counter as measured so far.  NULL: events have no ticks. */
	void (*counter)(const struct ctrace_emitter_context *context, struct ctrace_counter *out);
	bool ending; /* for close(): no event follows in this process */
	/* for close(): the output has events that were not committed; the next open() begins
	 * before them */
	bool uncommitted;
	/* So many events of the batch were refused by the receiver, and never will be accepted:
	 * they count as lost, for the reason undeliverable, and not as delivered.  write() calls it
	 * before it returns OK; the destination is shown as failing, with `what` as of failed_at,
	 * until a batch is written of which nothing is refused. */
	void (*refused)(const struct ctrace_emitter_context *context, uint64_t events,
			const char *what);
};

/* Bytes that are written as they are. */
struct ctrace_piece {
	const void *data;
	size_t size;
};

/* Events of one ring and one thread as they are in the ring, in time order: what one packet of a
 * Common Trace Format stream can hold.  An event is 64 bits (16 bits class number, 48 bits
 * ticks) and its items' bytes.  Between begin and end, time advances evenly. */
struct ctrace_run {
	uint32_t stream; /* index of its stream in the batch */
	uint32_t tid;
	uint32_t event_count;
	uint32_t piece_count;
	const struct ctrace_piece *pieces;
	size_t size;                     /* of all pieces */
	uint64_t begin_ticks, end_ticks; /* of the first and the last event */
	uint64_t begin_ns, end_ns;       /* since 1970 */
	const struct ctrace_clock *clock;
};

/* FMTTAB and USERDATA of CTRACE DEFINE.  Readers of the trace get both. */
struct ctrace_definition {
	char fmttab[16];            /* FMTTAB, terminated; "": NONE */
	unsigned char userdata[16]; /* USERDATA; zeros: NOUSERDATA */
};

/* A class of events in the runs. */
struct ctrace_run_class {
	uint32_t number;
	uint32_t component_size;
	const char *component; /* not always terminated: component_size bytes */
};

struct ctrace_batch {
	size_t size;
	const struct ctrace_event *events; /* in time order, as far as the consumer could see */
	uint32_t event_count;              /* at least 1 */
	/* only those that have events here; event.stream is an index into this array */
	struct ctrace_stream *streams;
	uint32_t stream_count;
	bool flush; /* a caller waits: leave nothing in memory */
	/* For emitters with CTRACE_EMITTER_RUNS, which get no `events`.  event_count counts the
	 * events of the runs and those that LEVEL leaves out. */
	const struct ctrace_run *runs; /* those of a stream stand together, in their order */
	uint32_t run_count;
	uint32_t class_count;
	const struct ctrace_run_class *classes;
	const void *class_table; /* of the traced process; its bytes may be hostile */
	size_t class_table_size;
	/* class_count definitions, those of the classes' components; one of zeros has neither
	 * FMTTAB nor USERDATA.  NULL: there is none.  Absent where `size` ends before it. */
	const struct ctrace_definition *definitions;
};

#define CTRACE_EMITTER_FILE 1u /* writes files; can continue where a dead process stopped */
/* accepts everything and writes nothing: ctrace neither opens it nor decodes events for it */
#define CTRACE_EMITTER_SILENT 2u
#define CTRACE_EMITTER_LIVE_ONLY 4u /* only the process itself can deliver (its standard error) */
/* receives events as they are in the ring, none below its property LEVEL; see struct ctrace_run */
#define CTRACE_EMITTER_RUNS 8u
/* its output is of limited size: batches have at most 64 KiB, except for a single larger event */
#define CTRACE_EMITTER_LIMITED 16u
/* its output outlives the process until somebody takes it away: a recoverer opens and closes the
 * output, with `ending`, also when no event is left for it */
#define CTRACE_EMITTER_ENDS 32u

struct ctrace_emitter {
	size_t size;      /* sizeof(struct ctrace_emitter) it was built with */
	const char *name; /* upper case: "TEXTFILE" */
	uint32_t flags;
	const struct ctrace_property *properties;

	/* Mandatory.  Creates an instance.  On any status but OK *out_self is not set and ctrace
	 * tries again later, so the emitter must not remember an error that can heal (full disk,
	 * missing directory). */
	enum ctrace_status (*open)(const struct ctrace_emitter_context *context, void **out_self);

	/* Mandatory.  All or nothing.  OK means: every event of the batch is in the output (by
	 * write(2) for a file), and place and streams are at its end.  On any other status the
	 * emitter must truncate the output to the position in place and streams before the call,
	 * or to the one that commit() committed meanwhile; the same events come again later.
	 * BUFFER_TOO_SMALL, also from open(): the output has the size that it may have, until
	 * somebody makes room.  The events count as lost, for the reason no-room, at once where
	 * no thread waits for a full ring, else after ctrace.block.timeout. */
	enum ctrace_status (*write)(void *self, const struct ctrace_batch *batch);

	/* Optional.  Reports lost events: cumulative totals by reason.  Called before write()
	 * and close(). */
	void (*lost)(void *self, const uint64_t totals[CTRACE_LOSS_COUNT]);

	/* Optional.  Makes the output as durable as it gets (fsync). */
	enum ctrace_status (*flush)(void *self);

	/* Mandatory.  Ends the output and frees the instance; may raise place->lost.  In a
	 * forked child of the process that opened it, close() only releases the instance's
	 * resources and leaves the output unchanged. */
	void (*close)(void *self);

	/* Optional; NULL in an emitter built before it existed.  An operator asks for a new
	 * generation. The next event begins one when the emitter keeps several (MAXGENERATION),
	 * or goes to a new file when the present one has been renamed.  OK: so it will be;
	 * UNSUPPORTED: nothing can be begun anew. */
	enum ctrace_status (*rotate)(void *self);
};

#ifdef __cplusplus
}
#endif
#endif
