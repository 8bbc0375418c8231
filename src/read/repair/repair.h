/*
 * read/repair/repair.h - what is good of damaged BINFILE traces, written as traces without damage.
 *
 * Used by `ctrace repair`, on one thread.  What is read may be hostile; what is written holds
 * nothing that a reader would stumble over: packets whose every event decodes, in the order of
 * their numbers and times.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_REPAIR_H
#define CT_REPAIR_H

#include "format/format.h"

/* A place that could not be read, or was changed so that it can be. */
struct ct_repair_note {
	const char *path;
	uint64_t offset; /* in the file; of a compressed one, in what it holds */
	uint64_t bytes;  /* that are not in the copy */
	const char *message;
	bool is_unread; /* nothing of the path was read: neither offset nor bytes are known */
};
typedef void ct_repair_report(const struct ct_repair_note *note, void *user);

struct ct_repair {
	ct_repair_report *report;
	void *user;
	/* A file to take in the place of what a trace lacks; NULL: that of another generation of
	 * the process, if there is one. */
	const char *metadata;
	/* sums */
	uint64_t traces;   /* written */
	uint64_t streams;  /* in them */
	uint64_t packets;  /* copied whole */
	uint64_t events;   /* in all that was written */
	uint64_t repaired; /* packets that are there, without what was wrong in them */
	uint64_t damages;  /* places */
	/* of these: traces, directories and stream files of which nothing was read */
	uint64_t unread;
	uint64_t lost_bytes;   /* of stream files */
	uint64_t lost_classes; /* of events, that the metadata do not tell of any more */
};

/* Writes what is good of the path - a trace, a directory that traces are in (generations, a data
 * set), or one stream file - below the directory `to`, which is there, under the path's last name.
 * NOT_FOUND: there is no BINFILE trace in it; OK also when little or nothing of it was good: the
 * sums say so.  Else why the output cannot be written. */
enum ctrace_status ct_repair_path(struct ct_repair *repair, const char *path,
				  const char *to) CT_MUST_USE;

/* ---- repair_clock.c: what the ticks of a trace are, by the heads of its packets */
/* Heads that go on from each other evenly. */
struct ct_repair_chain {
	uint64_t heads;
	uint64_t begin_ticks, end_ticks;
	uint64_t begin_ns, end_ns;
};
struct ct_repair_clock {
	struct ct_repair_chain last; /* the one that the next head may go on with */
	struct ct_repair_chain best;
};
/* The heads of a stream, in their order. */
void ct_repair_clock_add(struct ct_repair_clock *clock, const struct ct_packet_head *head);
/* Does the metadata's clock go as that of the packets?  Other metadata than the trace's own must
 * have its wall time too.  True also when there are too few packets to know. */
bool ct_repair_clock_agrees(const struct ct_repair_clock *clock, const struct ct_trace_info *info,
			    bool is_own);
/* Sets the clock of *info to that of the packets.  Gives its frequency; 0: the packets do not say
 * it, and only one time is right. */
uint64_t ct_repair_clock_set(const struct ct_repair_clock *clock, struct ct_trace_info *info);
/* What so many ticks are; frequency: not 0. */
uint64_t ct_repair_span_ns(uint64_t frequency, uint64_t ticks);
/* Can so many ticks be so many nanoseconds? */
bool ct_repair_is_span(uint64_t frequency, uint64_t ticks, uint64_t ns);

/* ---- repair_metadata.c: what is shared with it */
/* The classes in a metadata text, also when it does not say who made the trace. */
enum ctrace_status ct_repair_classes(struct ct_repair *repair, const char *path,
				     struct ct_span text, struct ct_schema *schema) CT_MUST_USE;

#endif
