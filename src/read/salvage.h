/*
 * read/salvage.h - what is good of damaged BINFILE traces, written as traces without damage.
 *
 * Used by `ctrace salvage`, on one thread.  What is read may be hostile; what is written holds nothing that a reader would stumble
 * over: packets whose every event decodes, in the order of their numbers and times.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SALVAGE_H
#define CT_SALVAGE_H

#include "wire/wire.h"

/* A place that could not be read, or was changed so that it can be. */
struct ct_salvage_note {
	const char *path;
	uint64_t offset; /* in the file; of a compressed one, in what it holds */
	uint64_t bytes;  /* that are not in the copy */
	const char *message;
	bool is_unread; /* nothing of the path was read: neither offset nor bytes are known */
};
typedef void ct_salvage_report(const struct ct_salvage_note *note, void *user);

struct ct_salvage {
	ct_salvage_report *report;
	void *user;
	/* A file to take in the place of what a trace lacks; NULL: that of another generation of the process, if there is one. */
	const char *metadata;
	/* sums */
	uint64_t traces;       /* written */
	uint64_t streams;      /* in them */
	uint64_t packets;      /* copied whole */
	uint64_t events;       /* in all that was written */
	uint64_t mended;       /* packets that are there, without what was wrong in them */
	uint64_t damages;      /* places */
	uint64_t unread;       /* of these: traces, folders and stream files of which nothing was read */
	uint64_t lost_bytes;   /* of stream files */
	uint64_t lost_classes; /* of events, that the metadata do not tell of any more */
};

/* Writes what is good of the path - a trace, a folder that traces are in (generations, a data set), or one stream file - below the folder
 * `to`, which is there, under the path's last name.  NOT_FOUND: there is no BINFILE trace in it; OK also when little or nothing of it
 * was good: the sums say so.  Else why the output cannot be written. */
enum ctrace_status ct_salvage_path(struct ct_salvage *salvage, const char *path, const char *to) CT_MUST_USE;

/* ---- salvage_metadata.c: what is shared with it */
#define CT_SALVAGE_LOST_CLASS "(damaged)" /* the component of classes that stand where one could not be read */
/* The classes in a metadata text, damaged ones as such: so that the others keep their ids.  *info is given when the text does not say who
 * made the trace. */
enum ctrace_status ct_salvage_classes(struct ct_salvage *salvage, const char *path, const char *text, size_t size,
				      struct ct_schema *schema, struct ct_trace_info *info) CT_MUST_USE;

#endif
