/*
 * read/source.h - what the files of the reader share: what a source is, and the set of them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_SOURCE_H
#define CT_READ_SOURCE_H

#include "read/read.h"

/* One stream of events in time order: a stream file, or a ring.  Each kind of source embeds it
 * first. */
struct ct_sources;
struct ct_source {
	/* Makes source->view the next event; false at the end.  The view and what it points to live
	 * until the next call.  Sets of the view: event, source process, names, component, type;
	 * the rest is the reader's.  An event whose filter result is CT_FILTER_RESULT_NEVER needs
	 * no items. */
	bool (*next)(struct ct_source *source, struct ct_sources *sources);
	void (*destroy)(struct ct_source *source);
	/* Gives memory back that the view points into: the view is stale then, but for its time.
	 * restore() makes it whole again; false when that cannot be: it is no event any more. NULL:
	 * it never holds much. */
	void (*release)(struct ct_source *source, struct ct_sources *sources);
	bool (*restore)(struct ct_source *source, struct ct_sources *sources);
	/* When its first event is, and when its last packet begins, without reading all of it;
	 * false: that cannot be known.  Left as they are where there is no event.  NULL: never. */
	bool (*ends)(struct ct_source *source, struct ct_sources *sources, uint64_t *out_first_ns,
		     uint64_t *out_last_ns);
	/* How many bytes were read, of how many.  NULL: nobody knows. */
	uint64_t (*progress)(const struct ct_source *source, uint64_t *out_size);
	bool is_stale;
	char *path;   /* for reports */
	size_t order; /* in which it was added */
	struct ct_view view;
	enum ct_filter_result filter_result; /* of the view's class */
	struct ctrace_event_item *items;     /* of the event: ct_source_reserve() */
	size_t item_capacity;
};

/* Everything that was named. */
/* A directory that was added: because it was named, or for another one's name. */
struct ct_source_directory {
	struct ct_file_id id;
	bool is_implied;
};

struct ct_sources {
	struct ct_source_directory *directories;
	size_t directory_count;
	struct ct_source **items;
	size_t count;
	struct ct_read_totals totals;
	ct_read_report *report;
	void *report_user;
	struct ct_source_process **source_processes; /* source_process->index is the place here */
	size_t source_process_count;
	/* What the reader wants to know of: */
	const struct ct_catalog *catalog; /* or NULL */
	const struct ct_filter *filter;   /* or NULL */
	/* events with a pairing are needed whatever the filter says */
	bool has_pairs;
	bool pairs_are_shown; /* but of those only spans of which it may accept an end */
	bool may_seek;        /* what lies before since_ns need not be read */
	uint64_t since_ns, until_ns;
	size_t may_hold; /* CT_SOURCES_HOLD */
	size_t held;     /* bytes that sources hold in release()'s sense: ct_sources_hold() */
	size_t released; /* the source that was asked last to give some back */
	size_t copied;   /* bytes of rings that were copied whole */
	/* or NULL: called each CT_SOURCES_STEP events that were read; false: reading ends here */
	bool (*step)(void *user);
	void *step_user;
	/* merge.c's */
	struct ct_source **heap; /* those that have an event, earliest first */
	size_t heap_size;
	bool is_given; /* the caller has the first one's event */
	bool is_started;
	bool is_stopped; /* step() wanted it */
};

/* ---- source.c */
void ct_sources_init(struct ct_sources *sources, ct_read_report *report, void *user);
void ct_sources_fini(struct ct_sources *sources);
/* as ct_reader_add() */
enum ctrace_status ct_sources_add(struct ct_sources *sources, const char *path) CT_MUST_USE;
/* Takes the source, which is destroyed when there is no memory for it. */
enum ctrace_status ct_sources_take(struct ct_sources *sources,
				   struct ct_source *source) CT_MUST_USE;
void ct_source_fini(struct ct_source *source); /* what every kind has */
/* A source is about to hold so many bytes more: others give theirs back when all together hold too
 * many. */
#define CT_SOURCES_HOLD ((size_t)96 << 20)
void ct_sources_hold(struct ct_sources *sources, const struct ct_source *source, size_t bytes);
/* Room for count items in source->items; false without memory. */
bool ct_source_reserve(struct ct_source *source, size_t count);
/* A new source process, with copies of the texts; those of one process (host, pid, started) share
 * one.  Lives as long as the sources. */
struct ct_process_key {
	const char *host, *program, *jobname, *path, *format; /* NULL counts as "" */
	uint32_t pid, asid;
	uint64_t started_ns; /* 0: not known */
	bool is_third_party;
};
/* NULL without memory */
const struct ct_source_process *ct_sources_source_process(struct ct_sources *sources,
							  const struct ct_process_key *key);
/* For each class of events once: sets component and type of the view, of which event.component,
 * event_id, level and names are set, and says what the filter makes of such events, and the
 * pairing. */
enum ct_filter_result ct_sources_class(const struct ct_sources *sources, struct ct_view *view);
/* Tells of something, and counts it. */
void ct_sources_note(struct ct_sources *sources, const struct ct_read_note *note);
/* The short form for bytes that could not be read. */
void ct_sources_damage(struct ct_sources *sources, const char *path, uint64_t offset,
		       uint64_t bytes, const char *message);

/* The short form for a step of the wall clock. */
struct ct_clock_step {
	int64_t by_ns; /* negative: back; 0: the trace began after it */
	uint64_t at_ns;
	uint64_t ahead_ns; /* the times of the trace run on: they are so much ahead of the clock */
};
void ct_sources_clock(struct ct_sources *sources, const char *path,
		      const struct ct_source_process *source_process,
		      const struct ct_clock_step *step);

/* "12 events were discarded before this" */
void ct_source_lost_text(char *out, size_t size, uint64_t events);

#define CT_SOURCES_STEP 16384u
/* ---- merge.c: the views of all sources in time order; of those of one time first the source that
 * was added first.  Those that no one wants are counted and passed over.  Borrowed until the next
 * call; NULL at the end.  No source is added after the first call. */
/* Finds the first event of each source, which are in the heap then; the first ct_sources_next()
 * does it too.  False without memory. */
bool ct_sources_start(struct ct_sources *sources);
struct ct_view *ct_sources_next(struct ct_sources *sources);

/* ---- source_bin.c */
/* Adds the stream files of the BINFILE trace in directory, compressed ones too: all, or the one
 * named.  UNSUPPORTED when its metadata are not ours. */
enum ctrace_status ct_source_bin_add(struct ct_sources *sources, const char *directory,
				     const char *only) CT_MUST_USE;

/* ---- closing_mark.c */
/* Reports the stream files of a closed trace - all, or the one named - that are missing or empty
 * (CT_TROUBLE_UNREAD), or end between two packets (CT_TROUBLE_DAMAGE), although the closing mark in
 * the metadata counts more bytes.  Reports nothing of a directory without a mark, of one that was
 * gone on with behind it, and of one that its process is replacing.  uuid: of the trace. */
void ct_closing_mark_check(const char *directory, const char *only, const uint8_t uuid[16],
			   ct_read_report *report, void *user);

/* ---- source_third_party.c: the same for any other trace of Common Trace Format 1.8. UNSUPPORTED,
 * with a report of what it is that ctrace cannot read, when its metadata cannot be understood. */
enum ctrace_status ct_source_third_party_add(struct ct_sources *sources, const char *directory,
					     const char *only) CT_MUST_USE;

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
/* Adds the rings of a process directory that hold something. */
enum ctrace_status ct_source_ring_add(struct ct_sources *sources, const char *run_directory,
				      const char *name) CT_MUST_USE;

#endif
