/*
 * read/source.h - what the reader's files share: a source of events, and the set of sources.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_SOURCE_H
#define CT_READ_SOURCE_H

#include "read/read.h"

/* One stream of events in time order: a stream file, or a ring.  Each kind of source has it as its
 * first member. */
struct ct_sources;
struct ct_source {
	/* Sets source->event to the next event; returns false at the end.  The event and its data
	 * live until the next call.  Sets its traced event, source process, names, component and
	 * type; the rest is the reader's.  An event whose filter result is CT_FILTER_RESULT_NEVER
	 * needs no items. */
	bool (*next)(struct ct_source *source, struct ct_sources *sources);
	void (*destroy)(struct ct_source *source);
	/* release() frees memory that the event points to.  The event is stale then, except for its
	 * time.  restore() reads the event again and returns false when that fails: the event is
	 * gone.  NULL: the source never holds much. */
	void (*release)(struct ct_source *source, struct ct_sources *sources);
	bool (*restore)(struct ct_source *source, struct ct_sources *sources);
	/* Reports the time of the first event and the beginning of the last packet, without reading
	 * everything.  Leaves both unchanged when there is no event.  Returns false when they
	 * cannot be known.  NULL: never known. */
	bool (*ends)(struct ct_source *source, struct ct_sources *sources, uint64_t *out_first_ns,
		     uint64_t *out_last_ns);
	/* Returns the number of bytes read, and the size.  NULL: unknown. */
	uint64_t (*progress)(const struct ct_source *source, uint64_t *out_size);
	bool is_stale;
	bool has_loss; /* before the event; the merge resets it */
	char *path;    /* for reports */
	size_t order;  /* in which it was added */
	struct ct_read_event event;
	enum ct_filter_result filter_result; /* of the event's class */
	struct ctrace_event_item *items;     /* of the event: ct_source_reserve() */
	size_t item_capacity;
};

/* A directory that was added because the user named it, or (implied) because it belongs to the name
 * of another. */
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
	struct ct_source_process **source_processes; /* source_process->index is its index here */
	size_t source_process_count;
	uint32_t scope; /* of its events */
	/* What the reader asks for: */
	const struct ct_catalog *catalog; /* or NULL */
	const struct ct_filter *filter;   /* or NULL */
	/* events with a pairing are read even if the filter refuses them */
	bool has_pairs;
	bool pairs_are_shown; /* but only spans with an end that the filter may accept */
	bool may_seek;        /* events before since_ns need not be read */
	uint64_t since_ns, until_ns;
	size_t may_hold; /* CT_SOURCES_HOLD */
	size_t held;     /* bytes that release() could free: ct_sources_hold() */
	size_t released; /* the source that was last asked to release memory */
	size_t copied;   /* bytes of rings that were copied whole */
	/* or NULL: called after every CT_SOURCES_STEP events; false ends the reading */
	bool (*step)(void *user);
	/* or NULL: called at each packet of a BINFILE (read.h) */
	void (*lost)(const char *path, const struct ct_source_process *source_process,
		     uint64_t count, void *user);
	void *step_user; /* for both */
	/* merge.c's state */
	struct ct_source **heap; /* the sources that have an event, earliest first */
	size_t heap_size;
	bool is_given; /* the caller holds the event of the first source */
	bool is_started;
	bool is_stopped; /* step() returned false */
};

/* ---- source.c */
void ct_sources_init(struct ct_sources *sources, ct_read_report *report, void *user);
void ct_sources_fini(struct ct_sources *sources);
/* as ct_reader_add() */
enum ctrace_status ct_sources_add(struct ct_sources *sources, const char *path) CT_MUST_USE;
/* Takes ownership of the source, and destroys it when there is no memory. */
enum ctrace_status ct_sources_take(struct ct_sources *sources,
				   struct ct_source *source) CT_MUST_USE;
void ct_source_fini(struct ct_source *source); /* the part that every kind has */
/* Announces that a source is about to hold `bytes` more.  Other sources release theirs when all
 * together hold too many. */
#define CT_SOURCES_HOLD ((size_t)96 << 20)
void ct_sources_hold(struct ct_sources *sources, const struct ct_source *source, size_t bytes);
/* Makes room for count items in source->items.  Returns false without memory. */
bool ct_source_reserve(struct ct_source *source, size_t count);
/* Identifies a process.  Sources of one process (host, pid, started) share one source process,
 * which has copies of the texts and lives as long as the sources. */
struct ct_process_key {
	const char *host, *program, *jobname, *path, *format; /* NULL counts as "" */
	uint32_t pid, asid;
	uint64_t started_ns; /* 0: unknown */
	uint64_t ended_ns;   /* as in struct ct_source_process */
	bool is_third_party;
	bool is_big;
};
/* NULL without memory */
const struct ct_source_process *ct_sources_source_process(struct ct_sources *sources,
							  const struct ct_process_key *key);
/* Records that events of the process at about that time are not in its traces.  Without memory,
 * or when they are too many, it is not known. */
#define CT_LEFT_OUT_MOST 64u
void ct_sources_left_out(struct ct_sources *sources, const struct ct_source_process *source_process,
			 uint64_t time_ns);
/* Called once for each class of events.  The event has traced.component, event_id, level and names.
 * Sets its component and type, and returns the filter result of such events, which pairing may
 * widen. */
enum ct_filter_result ct_sources_class(const struct ct_sources *sources,
				       struct ct_read_event *event);
/* Reports a note, and counts it. */
void ct_sources_note(struct ct_sources *sources, const struct ct_read_note *note);
/* Reports bytes that could not be read. */
void ct_sources_damage(struct ct_sources *sources, const char *path, uint64_t offset,
		       uint64_t bytes, const char *message);

/* A step of the wall clock, which ct_sources_clock() reports. */
struct ct_clock_step {
	int64_t by_ns; /* negative: back; 0: the trace began after it */
	uint64_t at_ns;
	uint64_t ahead_ns; /* how far the trace's times run ahead of the clock */
};
void ct_sources_clock(struct ct_sources *sources, const char *path,
		      const struct ct_source_process *source_process,
		      const struct ct_clock_step *step);

/* "12 events were discarded before this" */
void ct_source_lost_text(char *out, size_t size, uint64_t events);

#define CT_SOURCES_STEP 16384u
/* ---- merge.c: the events of all sources in time order; at equal times the source that was added
 * first comes first.  Unwanted events are counted and skipped.  An event is borrowed until the next
 * call; NULL at the end.  No source is added after the first call. */
/* Finds the first event of each source and fills the heap.  The first ct_sources_next() does it
 * too.  Returns false without memory. */
bool ct_sources_start(struct ct_sources *sources);
struct ct_read_event *ct_sources_next(struct ct_sources *sources);

/* ---- source_bin.c */
/* Adds the stream files of the BINFILE trace in directory, compressed ones too: all, or only the
 * named one.  Returns UNSUPPORTED when the metadata are not of a BINFILE trace. */
enum ctrace_status ct_source_bin_add(struct ct_sources *sources, const char *directory,
				     const char *only) CT_MUST_USE;

/* ---- closing_mark.c */
/* The process that writes to the trace of this file, as the kernel names it here; 0: none. */
pid_t ct_metadata_lock_holder(int directory_fd, const char *path);
/* Reports the stream files of a closed trace (all, or only the named one) that are shorter than the
 * closing mark in the metadata counts.  A missing or empty file is CT_NOTE_UNREAD; a file that
 * ends between two packets is CT_NOTE_DAMAGE.  Reports nothing when there is no mark, when the
 * trace was continued behind it, or while its process replaces the directory.  uuid: of the
 * trace. */
void ct_closing_mark_check(const char *directory, const char *only, const uint8_t uuid[16],
			   ct_read_report *report, void *user);

/* ---- source_third_party.c: the same for any other trace of Common Trace Format 1.8.  Returns
 * UNSUPPORTED, and reports the reason, when its metadata cannot be understood. */
enum ctrace_status ct_source_third_party_add(struct ct_sources *sources, const char *directory,
					     const char *only) CT_MUST_USE;

/* ---- unpack.c */
#define CT_UNPACK_LIMIT ((uint64_t)4 << 30)
struct ct_unpacked {
	int fd; /* a file without a name */
	uint64_t size;
	uint64_t damages; /* damaged positions; the first: */
	uint64_t damage_at;
	const char *message;
	uint64_t damaged_bytes; /* of the compressed file, in all */
};
/* Decompresses the readable zstd frames, up to `limit` bytes.  Fails only with NOT_ENOUGH_MEMORY or
 * OS_ERROR. */
enum ctrace_status ct_unpack(int from, uint64_t limit, struct ct_unpacked *out) CT_MUST_USE;

/* ---- source_ring.c */
/* Adds the rings of a process directory that are not empty. */
enum ctrace_status ct_source_ring_add(struct ct_sources *sources, const char *run_directory,
				      const char *name) CT_MUST_USE;

#endif
