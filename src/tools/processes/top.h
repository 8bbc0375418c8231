/*
 * tools/processes/top.h - what the files of ctrace top share.
 *
 *     cmd_top.c     options, and the loop: gather, show, wait for a key or the time
 *     top_rates.c   rows of rates from two collections of numbers; the plain text of a batch
 *     top_screen.c  the terminal: the only file that knows curses
 *     top_stream.c  the numbers of what comes to a stream (top_stream.h)
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_PROCESSES_TOP_H
#define CT_TOOLS_PROCESSES_TOP_H

#include "tools/processes/stats.h"

enum top_sort {
	TOP_BY_EVENTS,
	TOP_BY_BYTES,
	TOP_BY_LOST,
	TOP_BY_TOTAL,
	TOP_BY_NAME,
	TOP_BY_PID,
	TOP_SORT_COUNT
};

/* A component of a process. */
struct top_row {
	char host[256]; /* of a stream; "": this machine */
	uint32_t pid;
	uint64_t start_ns; /* of the process: a pid is used again */
	char jobname[16];
	char program[256];
	char component[CTRACE_MAX_COMPONENT + 1];
	uint32_t level;
	double events, bytes; /* a second */
	/* a second; of the process as a whole: what is lost is not counted by component */
	double lost;
	uint64_t total;  /* events so far */
	char dests[160]; /* "TEXTFILE BINFILE", the writer's name too */
};
struct top_rows {
	struct top_row *items;
	size_t count;
	size_t processes;
	/* they have hosts, but neither levels nor destinations */
	bool are_of_stream;
	double events, bytes, lost; /* of everything, also what the filter leaves out */
	uint64_t wall_ns;
	bool has_failed; /* memory was short */
};
struct top_view {
	enum top_sort sort;
	bool is_reversed;
	bool is_busy_only; /* rows in which nothing happens are left out */
	/* part of the name of the component, job, program or host; a glob when it has * or ?; NULL:
	 * all */
	const char *pattern;
};

/* ---- top_rates.c */
/* before: an earlier collection; NULL: rates are 0.  The caller frees rows->items. */
void ct_top_rows(const struct stats *now, const struct stats *before, const struct top_view *view,
		 struct top_rows *out_rows);
bool ct_top_sort_parse(const char *word, enum top_sort *out_sort);
const char *ct_top_sort_name(enum top_sort sort);
/* "0", "1.25", "12.3k", "456M": three digits and a unit, at most 5 columns, as durations are shown
 * elsewhere. */
void ct_top_number(char out[16], double number);
#define TOP_EVENTS_WIDTH 8 /* of the columns of rates: their titles' */
#define TOP_BYTES_WIDTH 7
#define TOP_LOST_WIDTH 6
void ct_top_print(FILE *to, const struct top_rows *rows);
/* one line; false when memory is short */
bool ct_top_print_json(FILE *to, const struct top_rows *rows);
/* Returns "-" for rows of a stream, which does not say them. */
const char *ct_top_level(const struct top_rows *rows, const struct top_row *row);

/* ---- top_screen.c */
/* What the user wants. */
enum top_wish {
	TOP_NOTHING,
	TOP_QUIT,
	TOP_REFRESH,
	TOP_LEVEL,
	TOP_LEVEL_EVERYWHERE,
	TOP_REDRAW,
	TOP_FASTER,
	TOP_SLOWER
};
struct top_screen {
	struct top_view view;
	char pattern[64];
	size_t pattern_size;
	bool is_typing; /* the pattern */
	bool has_help;
	bool is_paused;
	size_t first;    /* row at the top */
	size_t selected; /* row */
	/* finds the selected row again after each collection; pid 0: none is selected */
	struct top_row selected_row;
	uint32_t wanted_level; /* of TOP_LEVEL */
	char message[512];     /* shown until the next key */
	double interval;       /* seconds, to be shown */
};
/* Returns false, and reports it, when this is no terminal that can be drawn on. */
bool ct_top_screen_open(struct top_screen *screen);
void ct_top_screen_close(void);
void ct_top_screen_draw(struct top_screen *screen, const struct top_rows *rows);
/* Takes one key, if there is one. */
enum top_wish ct_top_screen_key(struct top_screen *screen, const struct top_rows *rows);

#endif
