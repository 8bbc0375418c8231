/*
 * print/export/export.h - traces for other tools: one exporter a format, all with one interface.
 *
 *     exporter->open, [look at each event, begin again], add each event, end, close
 *
 * Called by ctrace export, on its one thread.  Memory is bounded whatever the trace's size.  An
 * exporter that must know all events before it writes the first reads them twice: look() gathers
 * what it needs.  The first write that fails is kept, and end() returns it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_EXPORT_H
#define CT_PRINT_EXPORT_H

#include "print/distinct.h"
#include "print/print.h"
#include "read/read.h"

struct ct_export_options {
	int fd; /* of a document; not closed */
	/* of Common Trace Format: made when it is missing, and must be empty */
	const char *directory;
	/* the directory itself is the trace, instead of containing one for each process */
	bool has_one_trace;
	bool is_lines; /* json: one object a line instead of an array */
	/* csv: a list of items and fields of records, for the columns; NULL: all items, as names
	 * and data1 ... */
	const char *columns;
	bool has_args;     /* chrome: both ends of a span have their items as args */
	bool is_unguarded; /* csv: texts that a spreadsheet would compute stay as they are */
	const struct ct_export_otlp_options *otlp;
};

/* What only OTLP has. */
struct ct_export_otlp_options {
	const char *url; /* of a receiver; NULL: a document */
	bool has_logs, has_traces;
	/* Returns a property of the destination OTLP that the user has set; else NULL. */
	const char *(*property)(const void *user, const char *name);
	const void *user;
	/* Has the user asked for the end? */
	bool (*is_interrupted)(void);
};

struct ct_exporter {
	const char *name;  /* the word of --format */
	bool is_directory; /* writes a directory, not a document */
	bool is_binary;    /* not to be written to a terminal */
	bool has_pairs;    /* wants durations and spans */
	bool has_inferred; /* wants inferred ends, too: it draws spans */
	enum ctrace_status (*open)(const struct ct_export_options *options, void **out_self);
	/* NULL: the exporter needs one reading only */
	void (*look)(void *self, const struct ct_read_event *event);
	void (*add)(void *self, const struct ct_read_event *event);
	/* events between the last one and the next are missing; NULL: not reported to the
	 * exporter */
	void (*lost)(void *self, const struct ct_read_note *note);
	/* Returns OS_ERROR, with errno, when the output could not be written. */
	enum ctrace_status (*end)(void *self);
	/* Returns the directory of temporary files when end() failed there; NULL otherwise. */
	const char *(*spool)(const void *self);
	/* Returns a sentence about what open() or end() could not do, without a full stop; NULL:
	 * there is none.  After a failed open(), self is NULL. */
	const char *(*failure)(const void *self);
	void (*close)(void *self);
};
extern const struct ct_exporter ct_export_trace;      /* export_trace.c: Common Trace Format 1.8 */
extern const struct ct_exporter ct_export_chrome;     /* export_chrome.c */
extern const struct ct_exporter ct_export_perfetto;   /* export_perfetto.c */
extern const struct ct_exporter ct_export_speedscope; /* export_speedscope.c */
extern const struct ct_exporter ct_export_csv;        /* export_csv.c */
extern const struct ct_exporter ct_export_json;       /* export_json.c */
/* export_otlp.c: logs and spans of OpenTelemetry: JSON, and protobuf with a length before each
 * message.  Both go to a receiver as well. */
extern const struct ct_exporter ct_export_otlp;
extern const struct ct_exporter ct_export_otlp_protobuf;
/* The module "otlp" exports this as `ct_otlp_module`: both exporters. */
#define CT_OTLP_MODULE "ct_otlp_module"
struct ct_otlp_module {
	size_t size; /* of this struct as the module knows it */
	const struct ct_exporter *json, *protobuf;
};
/* Finds an exporter by its name or an unambiguous beginning of it; NULL: none, or several. */
const struct ct_exporter *ct_exporter_find(const char *name);
const struct ct_exporter *ct_exporter_at(size_t index); /* NULL past the end */

/* ---- export.c: a document being written.  The first failure sticks. */
struct ct_export_out {
	int fd;
	int error; /* errno; 0: all is well */
	struct ct_buf text;
};
void ct_export_out_init(struct ct_export_out *out, int fd);
void ct_export_out_fini(struct ct_export_out *out);
/* writes the text if it has grown large */
void ct_export_out_offer(struct ct_export_out *out);
/* writes the rest of the text */
enum ctrace_status ct_export_out_end(struct ct_export_out *out) CT_MUST_USE;
/* Adds a JSON string in ASCII.  A byte that is not UTF-8 becomes the character with its number. */
void ct_export_add_string(struct ct_buf *out, const char *text, size_t size);
/* Adds the last `digits` digits of a number, with leading zeros. */
void ct_export_add_digits(struct ct_buf *out, uint64_t number, unsigned digits);
/* "2026-01-31T15:12:27.500000000Z" */
void ct_export_add_time(struct ct_buf *out, uint64_t time_ns);
/* Adds an event's own name: "payroll OPEN", or "payroll 17". */
void ct_export_add_name(struct ct_buf *out, const struct ct_read_event *event);
/* Adds an item's value for a program: a number if it is one, else text.  Returns true for a
 * number. */
bool ct_export_add_value(struct ct_buf *out, const struct ct_read_event *event, uint32_t index);

/* ---- export_names.c: names of spans.  All events are looked at before a name is asked for. */
struct ct_span_names;
enum ctrace_status ct_span_names_create(struct ct_span_names **out_names) CT_MUST_USE;
void ct_span_names_destroy(struct ct_span_names *names);
/* called for each event that begins a span, or is a whole one */
void ct_span_names_look(struct ct_span_names *names, const struct ct_read_event *event);
/* Returns the number of the span's name, which is the same at both ends; called once at each
 * end. Returns CT_DISTINCT_NONE when it was not called at the beginning, or memory is short. */
uint32_t ct_span_names_find(struct ct_span_names *names, const struct ct_read_event *event);
/* borrowed until the next call of ct_span_names_find() */
const char *ct_span_names_text(const struct ct_span_names *names, uint32_t name, size_t *out_size);
uint32_t ct_span_names_count(const struct ct_span_names *names);

/*
 * ---- export_tracks.c: processes and threads as tracks of a picture, and which spans can be drawn
 * on them.
 *
 * On a track spans nest.  A span that ends after one that began later, or on another thread, has to
 * leave its thread's track.  A span without its beginning cannot be drawn at all.  Both are known
 * only at the end, so the first reading looks at all spans.
 */
enum ct_span_way {
	CT_SPAN_ALONE,   /* one end is missing: drawn as an instant */
	CT_SPAN_NESTED,  /* on its thread's track */
	CT_SPAN_CROSSING /* on a track of its own */
};
/* spans beyond the limit are CT_SPAN_ALONE; each span takes a quarter of a byte */
#define CT_TRACK_SPANS ((uint64_t)1 << 29)
struct ct_track {
	/* as found last: a reader that begins again has other pointers, but the same indexes */
	const struct ct_source_process *source_process;
	uint32_t source_process_index;
	uint32_t tid;
	uint32_t index;   /* 0, 1, ... in order of appearance */
	bool is_reported; /* set by the exporter when it has named the track */
	bool is_first;    /* the first track of its process */
	void *data;       /* the exporter's, and freed by it */
	uint64_t last_ns; /* of the last event of the thread that ct_tracks_time() had */
	/* during the first reading: open spans, the innermost last */
	struct ct_open_span *open;
	uint32_t open_count, open_capacity;
};
struct ct_tracks;
enum ctrace_status ct_tracks_create(struct ct_tracks **out_tracks) CT_MUST_USE;
void ct_tracks_destroy(struct ct_tracks *tracks);
void ct_tracks_look(struct ct_tracks *tracks, const struct ct_read_event *event);
/* Returns the track of the event's thread; NULL without memory. */
struct ct_track *ct_tracks_find(struct ct_tracks *tracks, const struct ct_read_event *event);
enum ct_span_way ct_tracks_way(const struct ct_tracks *tracks, uint64_t span_id);
/* Adds the event's name: of a span that is drawn, the span's name, which is the same at both
 * ends; of any other event, as ct_export_add_name() adds it. */
void ct_tracks_add_name(struct ct_tracks *tracks, struct ct_buf *out,
			const struct ct_read_event *event);
struct ct_span_names *ct_tracks_names(struct ct_tracks *tracks); /* of spans that are drawn */
/* When a whole span of a thread began and ended, or, twice, the time of any other event.  Nothing
 * on a track is drawn before what is there already: a whole span is cut at its beginning, and other
 * times never fall below *last_ns, which becomes the greatest time. */
struct ct_track_time {
	uint64_t begin_ns, end_ns;
};
struct ct_track_time ct_tracks_time(struct ct_track *track, const struct ct_read_event *event,
				    uint64_t *last_ns);
/* Returns the time of the first event; 0: there was none. */
uint64_t ct_tracks_begin_ns(const struct ct_tracks *tracks);
/* Adds "rts32 on asterix". */
void ct_tracks_add_process(struct ct_tracks *tracks, struct ct_buf *out,
			   const struct ct_source_process *source_process);
/* Returns a process id that is unique in the picture: the process's own if possible. */
uint32_t ct_tracks_pid(struct ct_tracks *tracks, const struct ct_source_process *source_process);
bool ct_read_event_begins_span(const struct ct_read_event *event);
bool ct_read_event_ends_span(const struct ct_read_event *event);

#endif
