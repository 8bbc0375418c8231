/*
 * operator/display.h - what DISPLAY TRACE knows of traces, processes and external writers, and how
 * it is printed.
 *
 * Called by the tools, on one thread; pure: what is printed depends on the table alone, its time
 * included.  Who asked for it, and how the answers came, is not known here.  Texts of other
 * processes come out escaped.
 *
 *     display_table.c    the table: rows are added, then put in order
 *     display_line.c     columns, sizes, and values that go on in the next line
 *     print_display.c    DISPLAY TRACE for people
 *     display_json.c     the same facts as one JSON document
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_DISPLAY_H
#define CT_READ_DISPLAY_H

#include "base/base.h"
#include "session/writer_state.h"
#include <ctrace/component.h>

#include <jansson.h>

#define CT_DISPLAY_NONE 0xFFFFFFFFu /* no process, no head, no limit */
/* beside CTRACE_MODE_*: not defined, but a preset waits for it */
#define CT_DISPLAY_MODE_PRE 3u
#define CT_DISPLAY_NAME_SIZE (CTRACE_MAX_COMPONENT + 1u)

struct ct_display_process {
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;
	char jobname[16];
	char program[256];
	/* what it says of its answer, as that there are more traces than it shows; "" */
	char note[200];
};
struct ct_display_trace {
	char name[CT_DISPLAY_NAME_SIZE]; /* "APPXYZ.SUBA" */
	uint32_t process;                /* index; CT_DISPLAY_NONE: of no process (a preset) */
	bool writer_is_active;           /* the process is connected to its writer */
	struct ctrace_display display;
	/* ct_display_arrange()'s */
	/* index of the nearest trace above it that the table has of the same process, or
	 * CT_DISPLAY_NONE */
	uint32_t head;
	uint32_t depth;     /* how many there are above it */
	uint32_t root_size; /* bytes of its name that are the name of the topmost of these */
};

struct ct_display_writer {
	struct ct_writer_state state;
	bool is_silent; /* it runs and has not answered: only its name is known */
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
	uint64_t time_ns; /* when it was asked */
	/* some trace of some process is on, also one that is not in the table: EX=ON */
	bool is_any_on;
	bool failed; /* memory was short: rows are missing */
	struct ct_display_process *processes;
	struct ct_display_trace *traces;
	char (*missing)[CT_DISPLAY_NAME_SIZE]; /* asked for by name, and nobody has it */
	struct ct_display_writer *writers;
	struct ct_display_trcout *trcouts;
	struct ct_display_link *links;
	struct ct_display_rows process_rows, trace_rows, missing_rows, writer_rows, trcout_rows,
		link_rows;
};

/* ---- display_table.c.  Texts are cut and terminated, counts of lists brought into their range: a
 * row may be what a stranger sent. */
void ct_display_init(struct ct_display *display, uint64_t time_ns);
void ct_display_fini(struct ct_display *display);
/* Each may give the row's index, or CT_DISPLAY_NONE; `failed`, when memory is short.  head and
 * depth of a trace are of no account. */
uint32_t ct_display_add_process(struct ct_display *display,
				const struct ct_display_process *process);
uint32_t ct_display_add_trace(struct ct_display *display, const struct ct_display_trace *trace);
uint32_t ct_display_add_writer(struct ct_display *display, const struct ct_display_writer *writer);
void ct_display_add_trcout(struct ct_display *display, const struct ct_display_trcout *trcout);
void ct_display_add_link(struct ct_display *display, const struct ct_display_link *link);
/* No process has a trace of this name.  ct_display_arrange() drops the row when a preset has the
 * name. */
void ct_display_add_missing(struct ct_display *display, const char *name);
/* After the last row and before printing: traces by name, then ASID, each once; connections of a
 * writer by ASID; heads found. */
void ct_display_arrange(struct ct_display *display);
/* Is there a trace of that name, in any case, or that a glob fits? */
bool ct_display_has(const struct ct_display *display, const char *name);

/* What of the arranged table the long form shows.  A trace of depth `asked` or less is shown
 * always. */
struct ct_display_form {
	uint32_t asked;  /* 0; 1: SUB= was given, so that its sublevel is shown below the trace */
	uint32_t levels; /* SUBLEVEL: how many levels below what was asked; CT_DISPLAY_NONE: all */
	uint32_t limit;  /* N=: at most so many of these for each trace; CT_DISPLAY_NONE: all */
};
/* As far as asked and levels go.  What is below `asked` counts against the limit. */
bool ct_display_shows(const struct ct_display_form *form, const struct ct_display_trace *trace);
/* The next writer's name behind `last` ("": the first) in order of names, of those that `which`
 * means; NULL at the end. */
struct ct_display_writers;
const char *ct_display_next_writer(const struct ct_display *display,
				   const struct ct_display_writers *which, const char *last);
/* The trace names this writer, and is not connected to it. */
bool ct_display_waits(const struct ct_display_trace *trace, const char *writer);
/* What people read of a writer's state: "ACTIVE", "STOPPING", "FAILING", "FULL". */
const char *ct_display_writer_status(const struct ct_display *display, uint32_t writer);
/* The index behind the last trace that is below traces[root]. */
uint32_t ct_display_end_of(const struct ct_display *display, uint32_t root);

/* ---- display_line.c.  Values go to CT_DISPLAY_COLUMNS at most, and on below. */
#define CT_DISPLAY_COLUMNS 71u
/* Escaped where it is not plain.  Gives the columns that it takes. */
unsigned ct_display_add_text(struct ct_buf *out, const char *text);
void ct_display_add_blanks(struct ct_buf *out, unsigned count);
/* Ends a line: blanks at its end are taken away. */
void ct_display_end_line(struct ct_buf *out);
/* A keyword in column 5 and its value from column 16; what is too long goes on below, broken behind
 * a comma or blank where there is one. */
void ct_display_add_detail(struct ct_buf *out, const char *keyword, const char *value);
/* "0008M": 4 digits and K, M or G, rounded up */
void ct_display_add_size(struct ct_buf *out, uint64_t bytes);
const char *ct_display_mode(uint32_t mode); /* "ON", "OFF", "MIN", "PRE"; "?" */
/* MODE, BUFFER, HEAD and SUBS of a trace; `mode` may have marks behind it, and is as wide as
 * mode_width at least. */
void ct_display_add_columns(struct ct_buf *out, const struct ctrace_display *shown,
			    const char *mode, int mode_width);

/* ---- print_display.c */
/*
 * The three lines of status.  System trace, address space trace, branch trace and master trace are
 * not what this is: they are always OFF. EX, explicit trace, is what ctrace does: ON when
 * is_any_on.
 */
void ct_display_print_head(const struct ct_display *display, struct ct_buf *out);
void ct_display_print_long(const struct ct_display *display, const struct ct_display_form *form,
			   struct ct_buf *out);

/* After either form: what processes have said of their answers. */
void ct_display_print_notes(const struct ct_display *display, struct ct_buf *out);
/* One line for two traces, whatever the number of processes. */
void ct_display_print_short(const struct ct_display *display, struct ct_buf *out);

/* only: names or globs, any case; count 0: all. */
struct ct_display_writers {
	const char *const *only;
	size_t count;
};
/*
 * The writers that answered, with who is connected; those that traces name and that do not run,
 * with who waits; and those of `only` that are no globs.  The title comes with the first of them.
 */
void ct_display_print_writers(const struct ct_display *display,
			      const struct ct_display_writers *which, struct ct_buf *out);

/* ---- display_json.c: one document and a newline.  NOT_ENOUGH_MEMORY. */
struct ct_display_json {
	bool has_traces; /* the document has "traces" */
	/* of them; NULL: the short form, traces without a head */
	const struct ct_display_form *form;
	const struct ct_display_writers *writers; /* it has "writers": these; NULL: it has not */
};
enum ctrace_status ct_display_json(const struct ct_display *display,
				   const struct ct_display_json *what,
				   struct ct_buf *out) CT_MUST_USE;
/* A writer's data sets as an array; NULL when memory is short. */
json_t *ct_display_json_trcouts(const struct ct_display *display, uint32_t writer);

#endif
