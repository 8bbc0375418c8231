/*
 * read/source.h - what the files of the reader share: what a source is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_SOURCE_H
#define CT_READ_SOURCE_H

#include "read/read.h"

/* One stream of events.  Each kind of source embeds it first. */
struct ct_source {
	/* Makes source->event the next event; false at the end.  The event and what it points to live until the next call. */
	bool (*next)(struct ct_source *source, struct ct_sources *sources);
	void (*destroy)(struct ct_source *source);
	char *path;   /* for reports */
	size_t order; /* in which it was added */
	struct ctrace_event event;
	struct ctrace_event_item *items; /* of the event */
	size_t item_capacity;
};

/* ---- source.c */
/* Takes the source, which is destroyed when there is no memory for it. */
enum ctrace_status ct_sources_take(struct ct_sources *sources, struct ct_source *source) CT_MUST_USE;
void ct_source_fini(struct ct_source *source); /* what every kind has */
/* Makes event, whose items are sources->scratch, the source's.  False when there is no memory. */
bool ct_source_keep(struct ct_source *source, const struct ctrace_event *event);
/* Counts and reports bytes that could not be read. */
void ct_sources_damage(struct ct_sources *sources, const char *path, uint64_t offset, uint64_t bytes, const char *message);
/* Counts and reports events that were lost before they were written. */
void ct_sources_gap(struct ct_sources *sources, const char *path, uint64_t offset, uint64_t events);

/* ---- source_bin.c */
/* Adds the stream files of the BINFILE trace in folder, compressed ones too: all, or the one named.  UNSUPPORTED when its metadata are not
 * ours. */
enum ctrace_status ct_source_bin_add(struct ct_sources *sources, const char *folder, const char *only) CT_MUST_USE;

/* ---- unpack.c */
#define CT_UNPACK_LIMIT ((uint64_t)4 << 30)
struct ct_unpacked {
	int fd; /* a file without a name */
	uint64_t size;
	uint64_t damages; /* places; the first: */
	uint64_t damage_at;
	const char *message;
	uint64_t damaged_bytes; /* of the compressed file, in all */
};
/* What zstd frames hold that can be read, at most `limit` bytes.  NOT_ENOUGH_MEMORY, OS_ERROR. */
enum ctrace_status ct_unpack(int from, uint64_t limit, struct ct_unpacked *out) CT_MUST_USE;

/* ---- source_ring.c */
/* Adds the rings of a run folder that hold something. */
enum ctrace_status ct_source_ring_add(struct ct_sources *sources, const char *run_directory, const char *name) CT_MUST_USE;

#endif
