/*
 * tools/runs/run_trace.h - where the trace of `ctrace run` is, and the configuration that its
 * programs read.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_RUNS_RUN_TRACE_H
#define CT_TOOLS_RUNS_RUN_TRACE_H

#include <limits.h>

#include "base/base.h"

/* ---- run_trace.c: a directory with a BINFILE of each process that the run traces. */
struct run_trace {
	char path[PATH_MAX - 64]; /* absolute */
	const char *shown;        /* as the user names it */
	int fd;                   /* locked while the run goes on */
	int mark;                 /* locked while the program runs */
	bool has_old;             /* the trace of an earlier run was renamed to NAME.old */
	char run[33];             /* the run's number; the mark in the directory has it */
};
/* Makes the directory; renames one of an earlier run.  Returns false after a report. */
bool run_trace_open(struct run_trace *trace, const char *name);
/* The program has ended: processes that it has left go on tracing, though this tool ends. */
void run_trace_end(struct run_trace *trace);
/* No process of the run and no event of it is left.  Who replaces the trace need not look for
 * them. */
void run_trace_done(const struct run_trace *trace);
/* Removes the directory if nothing is in it.  No event waits for it. */
void run_trace_discard(struct run_trace *trace);
/* Does the directory have a trace? */
bool run_trace_has_some(const struct run_trace *trace);

/* ---- run_wanted.c: what the options ask for. */
struct run_wanted {
	const char *level;       /* NULL: debug */
	const char *user_config; /* --config; NULL: MFTRACE_CONFIG, if set */
	const char *file_names;  /* NAME,...; NULL: all */
	/* false, all of them: what is traced by default */
	bool files, calls, paragraphs, statements;
	uint64_t limit_kb; /* of the trace; 0: none */
	bool records, io;  /* records are of files: those are traced, too */
};
/* The tables of the page. */
enum run_part { RUN_PROGRAMS, RUN_PARAGRAPHS, RUN_FILES, RUN_PARTS };
bool run_wants(const struct run_wanted *wanted, enum run_part part);
uint32_t run_wanted_level(const struct run_wanted *wanted);
/* Returns a sentence: why the part was not traced, and which option traces it.  NULL when it was
 * traced. */
#define RUN_UNTRACED_SIZE 128u
const char *run_wanted_untraced(const struct run_wanted *wanted, enum run_part part,
				char out[RUN_UNTRACED_SIZE]);

/* ---- run_config.c: the configuration that the programs of the run read. */
struct run_config {
	struct ct_buf text;            /* the user's part */
	char directory[PATH_MAX - 64]; /* private */
	char path[PATH_MAX];           /* in it */
	int lock;                      /* of the directory, until the tool ends */
	int unseen_fd; /* receives a byte of each program that the trace has not; -1: none */
};
/* How many programs could not read the file, and how many runs there were inside this one: together
 * the most that a socket keeps for sure, or more. */
#define RUN_UNSEEN_MOST 10u
struct run_unseen {
	unsigned unread, inner;
};
void run_config_unseen(const struct run_config *config, struct run_unseen *out_unseen);
/* Reads the user's file.  words: the program and its arguments, for mftrace.application.  Returns
 * false after a report. */
bool run_config_read(struct run_config *config, const struct run_wanted *wanted, char **words);
/* Writes the file.  Returns false after a report; then nothing is left. */
bool run_config_write(struct run_config *config, const struct run_wanted *wanted,
		      const struct run_trace *trace);

#endif
