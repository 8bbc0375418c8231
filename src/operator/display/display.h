/*
 * operator/display/display.h - the table of traces, processes and external writers behind DISPLAY
 * TRACE, and its printers.
 *
 * Called by the tools, on one thread.  Pure: the output depends on the table alone, its time
 * included.  The table does not know who asked, nor how the answers came.  Texts of other processes
 * come out escaped.
 *
 *     display_table.c    the table: rows are added, then put in order
 *     display_line.c     columns, sizes, and values that continue on the next line
 *     print_display.c    DISPLAY TRACE for people
 *     display_json.c     the same facts as one JSON document
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_DISPLAY_DISPLAY_H
#define CT_OPERATOR_DISPLAY_DISPLAY_H

#include "base/base.h"
#include "session/writer_state.h"
#include <ctrace/component.h>

#include <jansson.h>

/* no process, no head, no limit: the field's comment says which */
#define CT_DISPLAY_NONE 0xFFFFFFFFu
/* besides CTRACE_MODE_*: the trace is not defined, but a preset waits for it */
#define CT_DISPLAY_MODE_PRE 3u
#define CT_DISPLAY_NAME_SIZE (CTRACE_MAX_COMPONENT + 1u)

struct ct_display_process {
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;
	char jobname[16];
	char program[256];
	/* a remark of the process about its answer, as that it has more traces; "": none */
	char note[200];
};
struct ct_display_trace {
	char name[CT_DISPLAY_NAME_SIZE]; /* "APPXYZ.SUBA" */
	/* the index of its process; CT_DISPLAY_NONE: the row is a preset */
	uint32_t process;
	bool writer_is_active; /* the process is connected to its writer */
	uint64_t rings;        /* of the trace's size and policy, if it has a size */
	uint64_t ring_bytes;
	bool is_storage; /* its events stay in storage */
	struct ctrace_display display;
	/* set by ct_display_arrange() */
	/* index of the nearest trace above it of the same process in the table, or
	 * CT_DISPLAY_NONE */
	uint32_t head;
	uint32_t depth; /* how many traces are above it */
	/* how many bytes of its name are the name of the topmost trace above it */
	uint32_t root_size;
};

struct ct_display_writer {
	struct ct_writer_state state;
	/* the process runs and has not answered: only its name is known */
	bool is_silent;
};
struct ct_display_trcout {
	uint32_t writer; /* index */
	struct ct_trcout_state state;
};
struct ct_display_link {
	uint32_t writer; /* index */
	struct ct_link_state state;
};

struct ct_display_rows {
	size_t capacity;
	uint32_t count;
};
struct ct_display {
	uint64_t time_ns; /* when the processes were asked */
	/* a trace of some process is on, even if it is not in the table: EX=ON */
	bool is_any_on;
	bool failed; /* memory was short: rows are missing */
	struct ct_display_process *processes;
	struct ct_display_trace *traces;
	/* names that were asked for and that no process has */
	char (*missing)[CT_DISPLAY_NAME_SIZE];
	struct ct_display_writer *writers;
	struct ct_display_trcout *trcouts;
	struct ct_display_link *links;
	struct ct_display_rows process_rows, trace_rows, missing_rows, writer_rows, trcout_rows,
		link_rows;
};

/*
 * ---- display_table.c.  Rows may come from hostile processes: texts are cut and terminated, and
 * counts of lists are limited to their range.
 */
void ct_display_init(struct ct_display *display, uint64_t time_ns);
void ct_display_fini(struct ct_display *display);
/* Each returns the row's index; CT_DISPLAY_NONE, and sets `failed`, when memory is short.  The
 * head and depth of a trace are ignored. */
uint32_t ct_display_add_process(struct ct_display *display,
				const struct ct_display_process *process);
uint32_t ct_display_add_trace(struct ct_display *display, const struct ct_display_trace *trace);
uint32_t ct_display_add_writer(struct ct_display *display, const struct ct_display_writer *writer);
void ct_display_add_trcout(struct ct_display *display, const struct ct_display_trcout *trcout);
void ct_display_add_link(struct ct_display *display, const struct ct_display_link *link);
/* Adds a name that no process has a trace of.  ct_display_arrange() drops the row when a preset
 * has the name. */
void ct_display_add_missing(struct ct_display *display, const char *name);
/* Called after the last row and before printing.  Sorts traces by name, then ASID, and keeps
 * each once; sorts connections of a writer by ASID; finds heads. */
void ct_display_arrange(struct ct_display *display);

/* Which traces of the arranged table the long form shows.  A trace of depth `asked` or less is
 * always shown. */
struct ct_display_form {
	/* 0; 1: SUB= was given, so its sublevel is shown below the trace */
	uint32_t asked;
	/* SUBLEVEL: how many levels below `asked` are shown; CT_DISPLAY_NONE: all */
	uint32_t levels;
	/* N=: the most of these levels' traces for each trace; CT_DISPLAY_NONE: all */
	uint32_t limit;
};
/* Returns true if the trace's depth is within `asked` and `levels`.  Traces below `asked` count
 * against the limit. */
bool ct_display_shows(const struct ct_display_form *form, const struct ct_display_trace *trace);
/* Returns the writer's name that follows `last` ("": the first) in order of names, among those
 * that `which` selects; NULL at the end. */
struct ct_display_writers;
const char *ct_display_next_writer(const struct ct_display *display,
				   const struct ct_display_writers *which, const char *last);
/* Returns true if the trace names this writer and is not connected to it. */
bool ct_display_waits(const struct ct_display_trace *trace, const char *writer);
/* Returns a writer's state for people: "ACTIVE", "STOPPING", "FAILING", "FULL". */
const char *ct_display_writer_status(const struct ct_display *display, uint32_t writer);
/* Returns the index after the last trace below traces[root]. */
uint32_t ct_display_end_of(const struct ct_display *display, uint32_t root);

/* ---- display_line.c.  A value uses columns up to CT_DISPLAY_COLUMNS and continues on the next
 * line. */
#define CT_DISPLAY_COLUMNS 71u
/* Appends a text, escaped unless it is plain.  Returns its number of columns. */
unsigned ct_display_add_text(struct ct_buf *out, const char *text);
void ct_display_add_blanks(struct ct_buf *out, unsigned count);
/* Ends a line and removes blanks at its end. */
void ct_display_end_line(struct ct_buf *out);
/* Appends a keyword in column 5 and its value from column 16.  A long value continues on the
 * next line, broken after a comma or blank if there is one. */
void ct_display_add_detail(struct ct_buf *out, const char *keyword, const char *value);
/* "0008M": 4 digits and K, M or G, rounded up */
void ct_display_add_size(struct ct_buf *out, uint64_t bytes);
const char *ct_display_mode(uint32_t mode); /* "ON", "OFF", "MIN", "PRE"; "?" */
/* Appends MODE, BUFFER, HEAD and SUBS of a trace.  `mode` may end in marks; its column is at
 * least mode_width wide. */
void ct_display_add_columns(struct ct_buf *out, const struct ctrace_display *shown,
			    const char *mode, int mode_width);

/* ---- print_display.c */
/*
 * Prints the three lines of status.  ctrace has no system, address space, branch or master trace,
 * so these are always OFF.  EX, explicit trace, is what ctrace does: ON when is_any_on.
 */
void ct_display_print_head(const struct ct_display *display, struct ct_buf *out);
void ct_display_print_long(const struct ct_display *display, const struct ct_display_form *form,
			   struct ct_buf *out);

/* Printed after either form: the remarks of processes about their answers. */
void ct_display_print_notes(const struct ct_display *display, struct ct_buf *out);
/* Prints two traces a line, each once for all processes that have it. */
void ct_display_print_short(const struct ct_display *display, struct ct_buf *out);

/* Which writers: names or globs in any case; count 0: all. */
struct ct_display_writers {
	const char *const *only;
	size_t count;
};
/*
 * Prints the writers that answered, with their connections; writers that traces name and that do
 * not run, with the traces that wait; and the writers of `only` that are no globs.  The title
 * comes with the first of them.
 */
void ct_display_print_writers(const struct ct_display *display,
			      const struct ct_display_writers *which, struct ct_buf *out);

/* ---- display_json.c: one document and a newline.  Returns NOT_ENOUGH_MEMORY. */
struct ct_display_json {
	bool has_traces; /* the document has "traces" */
	/* its traces; NULL: the short form, traces without a head */
	const struct ct_display_form *form;
	/* the document has "writers": these; NULL: it has none */
	const struct ct_display_writers *writers;
};
enum ctrace_status ct_display_json(const struct ct_display *display,
				   const struct ct_display_json *what,
				   struct ct_buf *out) CT_MUST_USE;
/* Returns a writer's data sets as an array; NULL when memory is short. */
json_t *ct_display_json_trcouts(const struct ct_display *display, uint32_t writer);

#endif
