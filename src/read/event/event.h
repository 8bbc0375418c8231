/*
 * read/event/event.h - an event as readers see it: its process, the names of the event and its
 * items, their values as text.
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

/* ---- the source of an event: a process, or a stream of a third-party trace */
struct ct_source_process {
	/* 0, 1, ... in the order of addition; unique for each process */
	uint32_t index;
	const char *path;
	const char *host; /* "" when unknown, as all of these texts */
	const char *program;
	const char *jobname;
	const char *format; /* format of its lines: BINFILE's FORMAT */
	uint32_t pid;
	uint32_t asid;
	uint64_t started_ns; /* 0: unknown */
	/* Wall clock: the process ended then, or lived when it was read; 0: unknown.  Spans that no
	 * event has ended end then. */
	uint64_t ended_ns;
	/* Times within what its BINFILEs have left out to stay at LIMITSIZE, one for each. */
	uint64_t *left_out_ns;
	uint32_t left_out_count;
	bool is_third_party; /* written by another tracer */
	/* The program is of a big-endian machine: native numbers in its records begin with their
	 * most significant byte. */
	bool is_big;
};

/* The names that the trace itself gives an event and its items: a third-party trace, or a BINFILE
 * that was written with a catalogue. */
struct ct_event_names {
	const char *mnemonic;     /* NULL: none */
	const char *const *items; /* NULL: none */
	uint32_t item_count;
	bool is_open; /* its events may also have items with other names */
};

/* An event as readers see it.  Borrowed until the next event is read. */
#define CT_NO_DURATION UINT64_MAX
struct ct_read_event {
	struct ctrace_event traced;
	/* bytes of the event in its packet; 0: unknown */
	size_t size;
	const struct ct_source_process *source_process;
	const struct ct_event_names *names;           /* or NULL */
	const struct ctrace_definition *definition;   /* of its trace, or NULL */
	const struct ct_catalog_component *component; /* its entry in the catalogue, or NULL */
	const struct ct_event_type *type;             /* or NULL */
	/* Not 0: all events of this scope with the same pointers component and names->mnemonic, id
	 * and level have one type.  Each reading of a reader is a scope of its own; 0 is none. */
	uint32_t scope;
	/* number in merged order, from 1; counts filtered events too */
	uint64_t sequence;
	uint64_t duration_ns; /* of the span that this event ends, or CT_NO_DURATION */
	/* Events of its stream before it were lost: ct_read_event_follows_gap(). */
	bool is_after_loss;
	/* the span that it begins or ends, from 1; 0: none.  Set if the reader pairs */
	uint64_t span_id;
	uint32_t depth; /* open spans of its thread around it */
	/* of duration_ns, what no span of its thread within took; set if that is */
	uint64_t self_ns;
	/* The event that began the span that this one ends, if its catalogue names the span and the
	 * reader infers ends; or NULL.  It has no names of the trace's own. */
	const struct ct_read_event *begun;
	/* The event itself reports the whole span: it has the role of a duration, and the span
	 * began that long before it. */
	bool is_whole;
	/* No event of the trace: the end of a span that has no exit, as the catalogue infers it.
	 * It has the id and the items of the event that began the span, the time when it ended, and
	 * the sequence of the event that ended it. */
	bool is_inferred;
};
/* Does the trace lack events between one of the same thread at last_ns and this one? */
bool ct_read_event_follows_gap(const struct ct_read_event *event, uint64_t last_ns);
/* Returns "OPEN", or the number. */
const char *ct_read_event_mnemonic(const struct ct_read_event *event, char scratch[16]);
/* Returns "rows" or "data1": the catalogue's name, else the trace's own, else the number from 1. */
const char *ct_read_event_item_name(const struct ct_read_event *event, uint32_t index,
				    char scratch[16]);
/* Returns how the catalogue prints the item, or NULL.  The record of a component is chosen by other
 * items of the event. */
const struct ct_argument *ct_read_event_argument(const struct ct_read_event *event, uint32_t index);
/* The values that ASIDLIST and JOBLIST compare: the item that the catalogue names, else the
 * process's. */
uint32_t ct_read_event_asid(const struct ct_read_event *event);
void ct_read_event_jobname(const struct ct_read_event *event, char out[17]);

/* ---- value.c: prints an item for people, as the catalogue or its type prescribes.  The text is
 * escaped, and quoted only if format requires it.  is_big: that of the event's source process. */
void ct_value_add(struct ct_buf *out, const struct ct_line_format *format,
		  const struct ctrace_event_item *item,
		  const struct ct_argument *argument, /* or NULL */
		  bool is_big);
/* Is the item shown as a COBOL record?  The catalogue must name a copybook, and the item be bytes.
 * argument may be NULL. */
bool ct_value_is_record(const struct ctrace_event_item *item, const struct ct_argument *argument);
/* Adds a record, one line a field, with `indent` blanks before each:
 * "  05 CUST-NAME            \"ADA LOVELACE\"".  */
void ct_value_add_record(struct ct_buf *out, const struct ctrace_event_item *item,
			 const struct ct_argument *argument, bool is_big, unsigned indent);

/* ---- time_text.c */
/* "2026-01-31 15:12:27.5", "15:12:27" (today), "-5m", "@1700000000.5". */
bool ct_filter_parse_time(const char *text, uint64_t now_ns, uint64_t *out_ns);
/* Returns the digits of a second, at least `digits`, that distinguish the two times; unchanged when
 * they are equal. */
unsigned ct_text_digits(unsigned digits, uint64_t before_ns, uint64_t time_ns);

#endif
