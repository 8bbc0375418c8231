/*
 * print/export/export.h - traces for other tools: one exporter a format, all of one shape.
 *
 *     exporter->open, [look at each event, begin again], add each event, end, close
 *
 * Called by ctrace export, on its one thread.  Memory is bounded whatever the trace's size: what an
 * exporter must know of all events before it writes the first, it gathers in a reading of its own
 * (look).  What cannot be written sticks, and end() says so.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_EXPORT_H
#define CT_READ_EXPORT_H

#include "print/distinct.h"
#include "print/print.h"
#include "read/read.h"

struct ct_export_options {
	int fd; /* of a document; not closed */
	/* of Common Trace Format: made when it is not there, and must be empty */
	const char *directory;
	/* the directory is the trace, instead of having one in it for each process */
	bool has_one_trace;
	bool is_lines; /* json: one object a line instead of an array */
	/* csv: items and fields of records, commas between, in the place of names and data1 ...;
	 * NULL: all items */
	const char *columns;
	bool has_args;     /* chrome: both ends of a span have their items */
	bool is_unguarded; /* csv: texts that a spreadsheet would compute stay as they are */
};

struct ct_exporter {
	const char *name;  /* as --format has it */
	bool is_directory; /* writes a directory, not a document */
	bool is_binary;    /* nothing for a terminal */
	bool has_pairs;    /* wants durations and spans */
	enum ctrace_status (*open)(const struct ct_export_options *options, void **out_self);
	void (*look)(void *self, const struct ct_view *view); /* NULL: one reading is enough */
	void (*add)(void *self, const struct ct_view *view);
	/* events are missing between the last one and the next; or NULL */
	void (*lost)(void *self, const struct ct_read_note *note);
	/* OS_ERROR: errno says why it could not be written */
	enum ctrace_status (*end)(void *self);
	/* Returns the directory of temporary files when end() failed there; NULL otherwise. */
	const char *(*spool)(const void *self);
	void (*close)(void *self);
};
extern const struct ct_exporter ct_export_trace;      /* export_trace.c: Common Trace Format 1.8 */
extern const struct ct_exporter ct_export_chrome;     /* export_chrome.c */
extern const struct ct_exporter ct_export_perfetto;   /* export_perfetto.c */
extern const struct ct_exporter ct_export_speedscope; /* export_speedscope.c */
extern const struct ct_exporter ct_export_csv;        /* export_csv.c */
extern const struct ct_exporter ct_export_json;       /* export_json.c */
/* or by its first letters; NULL: none, or several */
const struct ct_exporter *ct_exporter_find(const char *name);
const struct ct_exporter *ct_exporter_at(size_t index); /* NULL past the last */

/* ---- export.c: a document being written.  The first failure sticks. */
struct ct_export_out {
	int fd;
	int error; /* errno; 0: all is well */
	struct ct_buf text;
};
void ct_export_out_init(struct ct_export_out *out, int fd);
void ct_export_out_fini(struct ct_export_out *out);
/* writes when much has come together */
void ct_export_out_offer(struct ct_export_out *out);
/* writes what is left */
enum ctrace_status ct_export_out_end(struct ct_export_out *out) CT_MUST_USE;
/* A JSON string, in ASCII; a byte that is no UTF-8 is the character of its number. */
void ct_export_add_string(struct ct_buf *out, const char *text, size_t size);
/* The last digits of a number, zeros before it. */
void ct_export_add_digits(struct ct_buf *out, uint64_t number, unsigned digits);
/* "2026-01-31T15:12:27.500000000Z" */
void ct_export_add_time(struct ct_buf *out, uint64_t time_ns);
/* What the event itself is called in a picture: "payroll OPEN", or "payroll 17". */
void ct_export_add_name(struct ct_buf *out, const struct ct_view *view);
/* An item's value for a program: numbers as such when they are, else text.  True: it is a number.
 */
bool ct_export_add_value(struct ct_buf *out, const struct ct_view *view, uint32_t index);

/* ---- export_names.c: what spans are called.  Each is looked at before the first is asked for, at
 * its beginning. */
struct ct_span_names;
enum ctrace_status ct_span_names_create(struct ct_span_names **out_names) CT_MUST_USE;
void ct_span_names_destroy(struct ct_span_names *names);
/* begins a span */
void ct_span_names_look(struct ct_span_names *names, const struct ct_view *view);
/* The number of the span's name, the same at both its ends; to be asked for once at each.
 * CT_DISTINCT_NONE: the beginning was not asked for, or memory is short. */
uint32_t ct_span_names_find(struct ct_span_names *names, const struct ct_view *view);
/* borrowed until the next find */
const char *ct_span_names_text(const struct ct_span_names *names, uint32_t name, size_t *out_size);
uint32_t ct_span_names_count(const struct ct_span_names *names);

/* ---- export_tracks.c: processes and threads as tracks of a picture, and which spans can be drawn
 * on them.
 *
 * On a track spans nest.  A span that ends after one that was begun later, or on another thread,
 * has to leave its thread's track; one of which only an end was seen cannot be drawn at all.  Both
 * are known only at the end: so spans are looked at first. */
enum ct_span_way {
	CT_SPAN_ALONE,   /* half of it is missing: an instant */
	CT_SPAN_NESTED,  /* on its thread's track */
	CT_SPAN_CROSSING /* on a track of its own */
};
/* those beyond are CT_SPAN_ALONE: a quarter of a byte each */
#define CT_TRACK_SPANS ((uint64_t)1 << 29)
struct ct_track {
	/* as it was found last: a reader that begins again has others, with the same indexes */
	const struct ct_source_process *source_process;
	uint32_t source_process_index;
	uint32_t tid;
	uint32_t index; /* 0, 1, ... as they were first seen */
	bool is_told;   /* the exporter's: it has named the track */
	bool is_first;  /* the first one of its process that was seen */
	void *data;     /* the exporter's, who frees it */
	/* while looking: spans that are open, the innermost last */
	struct ct_open_span *open;
	uint32_t open_count, open_capacity;
};
struct ct_tracks;
enum ctrace_status ct_tracks_create(struct ct_tracks **out_tracks) CT_MUST_USE;
void ct_tracks_destroy(struct ct_tracks *tracks);
void ct_tracks_look(struct ct_tracks *tracks, const struct ct_view *view);
/* The track of the event's thread; NULL without memory. */
struct ct_track *ct_tracks_find(struct ct_tracks *tracks, const struct ct_view *view);
enum ct_span_way ct_tracks_way(const struct ct_tracks *tracks, uint64_t span_id);
/* What the event is called: a span that is drawn, by its name, the same at both its ends; anything
 * else as ct_export_add_name() has it. */
void ct_tracks_add_name(struct ct_tracks *tracks, struct ct_buf *out, const struct ct_view *view);
struct ct_span_names *ct_tracks_names(struct ct_tracks *tracks); /* of spans that are drawn */
/* when the first event was; 0: there was none */
uint64_t ct_tracks_begin_ns(const struct ct_tracks *tracks);
/* "rts32 on asterix" */
void ct_tracks_add_process(struct ct_tracks *tracks, struct ct_buf *out,
			   const struct ct_source_process *source_process);
/* A process id that no other process of the picture has: its own when it can be. */
uint32_t ct_tracks_pid(struct ct_tracks *tracks, const struct ct_source_process *source_process);
bool ct_view_begins_span(const struct ct_view *view);
bool ct_view_ends_span(const struct ct_view *view);

#endif
