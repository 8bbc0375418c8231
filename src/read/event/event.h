/*
 * read/event/event.h - an event as a reader has it: whose it is, what it and its items are called,
 * their values as text.
 *
 * Pure, one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_EVENT_H
#define CT_READ_EVENT_H

#include "catalog/catalog.h"
#include "format/format.h"
#include "lib/emit/emit.h"

/* ---- who made an event: one process's trace, or one stream of somebody else's */
struct ct_source_process {
	/* 0, 1, ... in the order in which they were added: distinct for each process */
	uint32_t index;
	const char *path;
	const char *host; /* "" when it is not known; so all of these */
	const char *program;
	const char *jobname;
	const char *format; /* what its lines are to be: BINFILE's FORMAT */
	uint32_t pid;
	uint32_t asid;
	bool is_third_party; /* another tracer made it */
};

/* What the trace itself calls an event and its items: a third-party trace, or a BINFILE that was
 * written with a catalogue. */
struct ct_event_names {
	const char *mnemonic;     /* NULL: none */
	const char *const *items; /* NULL: none */
	uint32_t item_count;
	bool is_open; /* its events may have items of other names too */
};

/* An event as a reader has it.  Borrowed until the next one is asked for. */
#define CT_NO_DURATION UINT64_MAX
struct ct_view {
	struct ctrace_event event;
	const struct ct_source_process *source_process;
	const struct ct_event_names *names;           /* or NULL */
	const struct ct_catalog_component *component; /* what the catalogue says of it, or NULL */
	const struct ct_event_type *type;             /* or NULL */
	/* of the same component and names->mnemonic (pointers), id and level there is one type, as
	 * long as the reader lives */
	bool is_of_class;
	/* of all events that were read, from 1, in merged order: what was filtered out counts too
	 */
	uint64_t sequence;
	uint64_t duration_ns; /* of the span that this event ends; CT_NO_DURATION */
	/* the span that it begins or ends, from 1; 0: none.  Set when the reader pairs */
	uint64_t span_id;
	uint32_t depth; /* how many spans of its thread are open around it */
};
/* "OPEN", or the number. */
const char *ct_view_mnemonic(const struct ct_view *view, char scratch[16]);
/* "rows", or "data1": the catalogue's, else the trace's own, else the number from 1. */
const char *ct_view_item_name(const struct ct_view *view, uint32_t index, char scratch[16]);
/* What ASIDLIST and JOBLIST go by: the catalogue's item for it, else the process's. */
uint32_t ct_view_asid(const struct ct_view *view);
void ct_view_jobname(const struct ct_view *view, char out[17]);

/* ---- value.c: an item as the catalogue says, or as its type says: text for people.  Escaped, not
 * quoted unless format says so. */
void ct_value_add(struct ct_buf *out, const struct ct_line_format *format,
		  const struct ctrace_event_item *item,
		  const struct ct_argument *argument); /* or NULL */
/* Is it shown as a COBOL record: the catalogue names a copybook for it, and it is bytes and no
 * number. */
/* or NULL */
bool ct_value_is_record(const struct ctrace_event_item *item, const struct ct_argument *argument);
/* A record: a line a field, `indent` blanks before each: "  05 CUST-NAME            \"ADA
 * LOVELACE\"".  */
void ct_value_add_record(struct ct_buf *out, const struct ctrace_event_item *item,
			 const struct ct_argument *argument, unsigned indent);

/* ---- time_text.c */
/* "2026-01-31 15:12:27.5", "15:12:27" (today), "-5m", "@1700000000.5". */
bool ct_filter_parse_time(const char *text, uint64_t now_ns, uint64_t *out_ns);
/* So many digits of a second, at least `digits`, tell the two times apart; as many as before when
 * they are the same. */
unsigned ct_text_digits(unsigned digits, uint64_t before_ns, uint64_t time_ns);

#endif
