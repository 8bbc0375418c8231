/*
 * read/repair/repair.h - copies the readable part of damaged BINFILE traces into undamaged traces.
 *
 * Used by `ctrace repair`, on one thread.  The input may be hostile.  The output is clean: every
 * event of its packets decodes, and the packets are in the order of their numbers and times.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_REPAIR_H
#define CT_READ_REPAIR_H

#include "format/format.h"

/* A position in a file that could not be read, or that was changed to be readable. */
struct ct_repair_note {
	const char *path;
	uint64_t offset; /* in the file, after decompression */
	uint64_t bytes;  /* missing from the copy */
	const char *message;
	bool is_unread; /* nothing of the path was read, so offset and bytes are unknown */
};
typedef void ct_repair_report(const struct ct_repair_note *note, void *user);

struct ct_repair {
	ct_repair_report *report;
	void *user;
	/* Stands in for metadata that a trace lacks; NULL: those of another generation of the
	 * process, if there is one. */
	const char *metadata;
	/* totals */
	uint64_t traces;   /* written */
	uint64_t streams;  /* in them */
	uint64_t packets;  /* copied whole */
	uint64_t events;   /* in all that was written */
	uint64_t repaired; /* packets copied after a correction */
	uint64_t damages;  /* places */
	/* of these: traces, directories and stream files of which nothing was read */
	uint64_t unread;
	uint64_t lost_bytes;   /* of stream files */
	uint64_t lost_classes; /* of events, which the metadata no longer describe */
};

/* Copies the readable part of `path` below the existing directory `to`, under the path's last name.
 * The path is a trace, a directory of traces (generations, a data set) or one stream file.  Returns
 * OK also when little or nothing was readable: the totals count it.  Returns NOT_FOUND when the
 * path holds no BINFILE trace, otherwise the reason why the output cannot be written. */
enum ctrace_status ct_repair_path(struct ct_repair *repair, const char *path,
				  const char *to) CT_MUST_USE;

/* ---- repair_clock.c: the clock of a trace, computed from its packet heads */
/* Packet heads whose times fit one steady clock. */
struct ct_repair_chain {
	uint64_t heads;
	uint64_t begin_ticks, end_ticks;
	uint64_t begin_ns, end_ns;
};
struct ct_repair_clock {
	struct ct_repair_chain last; /* the chain that the next head may extend */
	struct ct_repair_chain best;
};
/* Adds a packet head.  Called for the heads of a stream in their order. */
void ct_repair_clock_add(struct ct_repair_clock *clock, const struct ct_packet_head *head);
/* Does the clock of the metadata run like that of the packets?  Metadata of another trace must
 * agree about the wall time too.  Returns true also when there are too few packets to know. */
bool ct_repair_clock_agrees(const struct ct_repair_clock *clock, const struct ct_trace_info *info,
			    bool is_own);
/* Sets the clock of *info to that of the packets.  Returns its frequency, or 0 when the packets do
 * not reveal it: then only one time is right. */
uint64_t ct_repair_clock_set(const struct ct_repair_clock *clock, struct ct_trace_info *info);
/* Converts ticks to nanoseconds; frequency is not 0. */
uint64_t ct_repair_span_ns(uint64_t frequency, uint64_t ticks);
/* Do the ticks take about `ns` nanoseconds? */
bool ct_repair_is_span(uint64_t frequency, uint64_t ticks, uint64_t ns);

/* ---- repair_metadata.c */
/* Adds the classes of a metadata text to the schema, also when the trace-wide part is damaged. */
enum ctrace_status ct_repair_classes(struct ct_repair *repair, const char *path,
				     struct ct_span text, struct ct_schema *schema) CT_MUST_USE;

#endif
