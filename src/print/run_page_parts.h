/*
 * print/run_page_parts.h - shared by the two files of the page of a run: what run_page.c adds up
 * and run_page_text.c prints.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_RUN_PAGE_PARTS_H
#define CT_PRINT_RUN_PAGE_PARTS_H

#include "print/run_page.h"

#include "base/hash_table.h"

#define RUN_NONE UINT32_MAX
#define RUN_NAME_MOST 1024u /* bytes of a name that are kept */
#define RUN_STATUSES 6u

/* The items of events that the page is made of. */
enum run_item {
	RUN_ITEM_PROGRAM,
	RUN_ITEM_PARAGRAPH,
	RUN_ITEM_SECTION,
	RUN_ITEM_SELECT,
	RUN_ITEM_FILE,
	RUN_ITEM_STATUS,
	RUN_ITEM_BYTES,
	RUN_ITEM_DURATION,
	RUN_ITEM_LINE,
	RUN_ITEM_TEXT,
	RUN_ITEM_SIGNAL,
	RUN_ITEMS
};
struct run_class {
	bool is_used;
	uint32_t event_id, item_count;
	const struct ct_event_type *type;
	const struct ct_event_names *names;
	uint32_t items[RUN_ITEMS]; /* numbers; UINT32_MAX: it has none */
};

struct run_status {
	char text[3];
	uint64_t count;
};
/* A program, a paragraph `of` a program, or a file (`name` in SELECT, `of` the system). */
struct run_row {
	const char *name, *of;
	uint64_t count; /* calls, runs, operations */
	/* of a program: from its entry to its exit; of a file: its operations */
	uint64_t total_ns;
	uint64_t self_ns; /* without programs that it called */
	uint32_t active;  /* entries without an exit */
	bool is_asked;    /* of a file: not only its errors were traced */
	uint64_t bytes, reads, writes;
	struct run_status statuses[RUN_STATUSES]; /* other than 00 */
	uint64_t other_statuses;
};
/* Row 0 is that of what has no room. */
struct run_table {
	struct run_row *rows;
	uint32_t count;
	struct ct_hash_table table;
};

struct run_frame {
	uint32_t program;   /* RUN_NONE: its entry was not traced */
	uint32_t paragraph; /* that runs; RUN_NONE: none */
	uint64_t start_ns, nested_ns;
	uint64_t paragraph_ns, paragraph_nested_ns;
};
struct run_thread {
	uint32_t process, tid;
	const struct ct_source_process *source_process; /* or NULL */
	uint64_t last_ns;
	struct run_frame *frames;
	uint32_t depth, capacity;
	uint64_t beyond; /* entries below CT_RUN_PAGE_DEPTH */
};

struct run_error {
	const char *text, *program;
	uint64_t line, count;
};

struct ct_run_page {
	struct run_table programs, paragraphs, files;
	struct run_thread *threads;
	uint32_t thread_count;
	struct ct_hash_table thread_table;
	struct run_error errors[CT_RUN_PAGE_ERRORS];
	uint32_t error_count;
	uint64_t errors_total;
	uint64_t events, traced;
	struct run_class classes[64];
	struct ct_arena texts;
	const char *unknown_run_time; /* the sentence of an event RTVERSION; NULL: none */
	bool has_gaps;                /* the trace lacks events between those of a thread */
	bool failed;                  /* memory was short: something is not counted */
};
/* Ends what runs still: with its process, or where that end is not known at the last event of its
 * thread. */
void ct_run_page_close(struct ct_run_page *page);

#endif
