/*
 * ctrace/emitter.h - how events leave: the contract between ctrace and an emitter.
 *
 * An emitter is one const struct.  The built-in ones use exactly this contract; a shared object
 * named
 * `<name in lower case>.so` in a directory of CTRACE_EMITTERS (or in ctrace's own module directory)
 * adds another by exporting `const struct ctrace_emitter ctrace_emitter`.
 *
 * All functions of one emitter run on one thread at a time: the traced process's consumer thread,
 * or whoever recovers the traces of a dead one.  They run inside somebody's program: they must not
 * print, exit, change signal dispositions, or hold the traced program up; all signals are blocked.
 * open() may be called again after close().
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
	CTRACE_PROPERTY_COMPRESS   /* zstd or no */
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
 * Where an emitter stands in its output.  Kept by the consumer beside the rings, committed together
 * with the ring positions after each successful write(), and given back to open() when a dead
 * process's traces are recovered: open() with a non-empty path must continue there and first cut
 * the output back to offset.  A zeroed place means: start afresh. The meaning of path, offset and
 * extra is the emitter's own; TEXTFILE: the open file, its size, its generation.
 */
struct ctrace_place {
	char path[CTRACE_EMITTER_PATH_SIZE]; /* absolute */
	uint64_t offset;
	uint64_t extra;
	/* events that the output reports as lost; only of emitters with CTRACE_EMITTER_RUNS */
	uint64_t lost;
};

/* A ring's share of the output, for emitters that keep one file a ring.  Committed as ctrace_place
 * is. */
struct ctrace_stream {
	uint32_t id; /* 0, 1, ... : the ring's number in the process */
	uint32_t reserved;
	uint64_t offset;   /* in, out: the emitter's own; 0 at first */
	uint64_t sequence; /* in, out: the emitter's own; 0 at first */
	uint64_t extra;    /* in, out: the emitter's own; 0 at first */
	uint64_t lost;     /* running total of events that this ring lost, all reasons */
};

/* The counter that gives events their ticks: so many a second, and where it stood when. */
struct ctrace_counter {
	uint64_t frequency; /* 0: not known yet */
	uint64_t ticks;
	uint64_t wall_ns; /* since 1970 */
};

/* What an emitter is told when it opens.  Borrowed until close(). */
struct ctrace_emitter_context {
	size_t size;
	/* The value of one of the emitter's properties as text: set by the user, else its default,
	 * else NULL.  Names are case-insensitive.  Borrowed until the next call. */
	const char *(*property)(const struct ctrace_emitter_context *context, const char *name);
	/* The same as a number: ON, YES, TRUE ... = 1, OFF, NO ... = 0, decimal or 0x digits,
	 * anything else 0. */
	uint64_t (*number)(const struct ctrace_emitter_context *context, const char *name);
	uint32_t pid; /* the traced process; not always the caller */
	uint32_t asid;
	const char *jobname;
	const char *program;      /* base name of its executable without extension: $(APPNAME) */
	const char *command_line; /* arguments joined by blanks */
	const char *host;
	const char *system;            /* "Linux 6.1.0" */
	const char *directory;         /* MFTRACE_LOGS of the traced process, or "" */
	const char *working_directory; /* its current directory when it attached; absolute */
	uint64_t start_ns;             /* when it attached, since 1970 */
	bool recovering;               /* the traced process is dead */
	struct ctrace_place *place;
	/* Makes the present content of place count, with no event delivered: to be called by
	 * write() after it has made a new file or directory and set place to it, before the first
	 * byte of an event goes there.  A process killed later continues in the new one.  On any
	 * status but OK the old place counts. */
	enum ctrace_status (*commit)(const struct ctrace_emitter_context *context);
	/* Names what cannot be opened or written, for `ctrace list`, `ctrace stats` and `ctrace
	 * doctor`: a path, a socket.  To be called by open() or write() before it returns a
	 * failure; without it they show errno alone.  Keeps errno. */
	void (*failed_at)(const struct ctrace_emitter_context *context, const char *what);
	/* What the counter ticks, as well as it has been measured until now.  NULL: events have no
	 * ticks. */
	void (*counter)(const struct ctrace_emitter_context *context, struct ctrace_counter *out);
	bool ending; /* for close(): no event follows in this process */
};

/* Bytes that are written as they are. */
struct ctrace_piece {
	const void *data;
	size_t size;
};

/* Events of one ring and one thread as they stand in the ring, each behind the one before it in
 * time: what a packet of a Common Trace Format stream can hold.  An event is 64 bits, the number of
 * its class and 48 bits of ticks, and its items' bytes: src/format/format.h.  Between begin and
 * end, time goes on evenly. */
struct ctrace_run {
	uint32_t stream; /* which of the batch's streams it is of */
	uint32_t tid;
	uint32_t event_count;
	uint32_t piece_count;
	const struct ctrace_piece *pieces;
	size_t size;                     /* of all pieces */
	uint64_t begin_ticks, end_ticks; /* of the first event and the last */
	uint64_t begin_ns, end_ns;       /* since 1970 */
	const struct ctrace_clock *clock;
};

/* A class that events of the runs have. */
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
	bool flush; /* somebody waits: leave nothing in memory */
	/* For emitters with CTRACE_EMITTER_RUNS, which get no `events`: event_count is that of the
	 * runs, and of what LEVEL leaves out. */
	const struct ctrace_run *runs; /* those of a stream stand together, in their order */
	uint32_t run_count;
	uint32_t class_count;
	const struct ctrace_run_class *classes;
	const void *class_table; /* of the process that traced; its bytes may be hostile */
	size_t class_table_size;
};

#define CTRACE_EMITTER_FILE 1u /* writes files; can continue where a dead process stopped */
/* accepts everything and writes nothing: not opened, nothing is decoded for it */
#define CTRACE_EMITTER_SILENT 2u
#define CTRACE_EMITTER_LIVE_ONLY 4u /* only the process itself can deliver (its standard error) */
/* gets events as they are in the ring, none below its property LEVEL; see struct ctrace_run */
#define CTRACE_EMITTER_RUNS 8u
/* its output is of limited size: gets batches of at most 64 KiB, but for larger events */
#define CTRACE_EMITTER_LIMITED 16u

struct ctrace_emitter {
	size_t size;      /* sizeof(struct ctrace_emitter) it was built with */
	const char *name; /* upper case: "TEXTFILE" */
	uint32_t flags;
	const struct ctrace_property *properties;

	/* Mandatory.  Makes an instance.  On any status but OK *out_self is not set; it is tried
	 * again later, so an error that can heal (full disk, missing directory) must not be
	 * remembered. */
	enum ctrace_status (*open)(const struct ctrace_emitter_context *context, void **out_self);

	/* Mandatory.  All or nothing: OK means every event of the batch is in the output (a
	 * write(2) for a file) and place and streams say where it ends.  On any other status the
	 * output must be cut back to where place and streams stood before, or to the place that
	 * commit() made count meanwhile, and the same events come again later. */
	enum ctrace_status (*write)(void *self, const struct ctrace_batch *batch);

	/* Optional.  Events were lost, by reason, since the last call; cumulative totals.  Called
	 * before write() and close(). */
	void (*lost)(void *self, const uint64_t totals[CTRACE_LOSS_COUNT]);

	/* Optional.  Somebody asked that the output be as durable as it gets (fsync). */
	enum ctrace_status (*flush)(void *self);

	/* Mandatory.  Ends the output and frees the instance; may raise place->lost.  In a forked
	 * child of the process that opened it, close() gives back what the instance holds, and
	 * leaves the output as it is. */
	void (*close)(void *self);

	/* Optional; an emitter that was built before it was added lacks it.  An operator wants a
	 * new generation: the next event begins one, where the emitter keeps several
	 * (MAXGENERATION), or in a new file where the present one has been renamed.  OK when it
	 * will be so; UNSUPPORTED when there is nothing that it could begin. */
	enum ctrace_status (*rotate)(void *self);
};

#ifdef __cplusplus
}
#endif
#endif
