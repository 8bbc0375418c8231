/*
 * lib/emit/binfile.h - what the files of the BINFILE emitter share: one directory being written.
 *
 * A BINFILE trace is a directory that is a Common Trace Format 1.8 trace:
 *
 * metadata the text of format/metadata_print.c; event classes are appended as they appear
 * stream.<id> the packets of ring <id>, one after the other stream.lost only when events were lost
 * that no stream accounts for
 *
 * Only committed bytes of these files count: ctrace_place.offset bytes of metadata (extra: the
 * generation), and ctrace_stream.offset bytes of each stream.  ctrace_stream.sequence is the next
 * packet's number; its high 24 bits come from the directory's uuid, so a position in another
 * directory is recognized.  ctrace_stream.extra is the offset of the last packet: its head holds
 * the values that the next packet follows.
 *
 * ctrace reads four comments in the metadata; bin_clock.c writes one of them. A directory that is
 * closed in order gets a closing mark with the size of each stream and the offset of its last
 * packet.  A process that opens the directory without a position goes on from there.  A directory
 * without the mark belongs to a process that did not end in order, and is never replaced: another
 * process that wants its name renames it to `<name>.<process>`.  A directory that follows another
 * begins with the earlier losses of each stream, since viewers want events_discarded to start at 0
 * in each trace.  Events have the class numbers of their process.  A directory whose events were
 * rewritten has a mark that its numbers are its own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_EMIT_BINFILE_H
#define CT_EMIT_BINFILE_H

#include "lib/emit/emit.h"
#include "format/format.h"

#define CT_BIN_LOST UINT32_MAX /* stream id of stream.lost */
#define CT_BIN_STREAM_LIMIT 65536u
#define CT_BIN_OPEN_LIMIT 64u /* stream files kept open */
/* unfinished metadata; viewers skip names with a dot */
#define CT_BIN_TEMPORARY ".metadata.new"

struct ct_bin_stream {
	uint32_t id;
	int fd; /* -1: not open now */
	struct ct_file_id file_id;
	bool is_loaded; /* the members below are known; else only offset, from the closing mark */
	bool cut_due;   /* the file may be longer than offset */
	bool sync_due;
	uint64_t used;     /* number of the last batch that used it */
	uint64_t offset;   /* bytes that count */
	uint64_t last_at;  /* where the last packet of these begins */
	uint64_t sequence; /* of the next packet */
	uint32_t events;   /* in the packets before it, modulo 2^32 */
	uint64_t lost;     /* events that the ring had lost up to the last packet */
	/* of these, before this directory's first packet: its packets count from here */
	uint64_t lost_base;
	uint64_t last_ns; /* of the last event */
	/* the batch under way */
	/* writes its packets, with losses counted from lost_base */
	struct ct_packet_writer writer;
	/* this stream's pieces among the directory's, if there are any */
	size_t first_piece;
	size_t piece_count;
	size_t pending;  /* bytes of the pieces, or of the writer's packets */
	bool is_touched; /* its file was written to */
};

/* The times of a directory when the wall clock is set. */
#define CT_BIN_CLOCK_UNKNOWN UINT32_MAX
struct ct_bin_clock {
	uint32_t steps;    /* of the last event; CT_BIN_CLOCK_UNKNOWN: none was written yet */
	int64_t total_ns;  /* of these */
	uint64_t base_ns;  /* how far the clock was set back before the directory began */
	uint64_t ahead_ns; /* times are ahead of the clock by that much */
	bool has_begun;    /* base_ns is known */
};

/* ---- bin_convert.c: events that are rewritten; text items become UTF-8 */
struct ct_bin_text {
	enum ct_encoding encoding;
	struct ctrace_event event; /* the last converted event */
	struct ctrace_event_item *items;
	uint32_t capacity;
	struct ct_buf bytes;
};
/* Returns the event with converted texts, valid until the next call.  Returns the event itself
 * without an encoding or memory, or for NULL. */
const struct ctrace_event *ct_bin_text_convert(struct ct_bin_text *text,
					       const struct ctrace_event *event);
void ct_bin_text_fini(struct ct_bin_text *text);

/* Events of a part that made room for another one. */
struct ct_bin_left_out {
	uint64_t events, bytes;
	uint64_t begin_ns, end_ns; /* of the first and the last one */
};

/* ---- bin_limit.c: LIMITSIZE */
#define CT_BIN_PARTS 64u /* of a process */
struct ct_bin_part {
	bool is_known;   /* it was begun by this emitter */
	uint32_t number; /* in the order of their beginnings */
	struct ct_bin_left_out events;
	struct ct_bin_left_out left_out; /* to make room for it */
};
struct ct_bin_limit {
	uint64_t total; /* bytes; 0: no limit */
	uint32_t used;  /* the highest generation */
	uint32_t begun; /* parts, ever */
	struct ct_bin_part parts[CT_BIN_PARTS];
};
struct ct_bin_directory;
/* Bytes of a part while the traces are at their limit. */
uint64_t ct_bin_limit_small(const struct ct_bin_limit *limit);
/* The directory has its size.  Returns true when it may become larger. */
bool ct_bin_limit_extend(const struct ct_bin_limit *limit, struct ct_bin_directory *directory);
void ct_bin_limit_count(struct ct_bin_limit *limit, uint32_t generation,
			const struct ctrace_batch *batch);
/* Returns the generation after the present one, and what that leaves out. */
uint32_t ct_bin_limit_next(struct ct_bin_limit *limit, uint32_t present,
			   const struct ct_bin_directory *directory,
			   struct ct_bin_left_out *out_left_out);
void ct_bin_limit_begin(struct ct_bin_limit *limit, uint32_t generation,
			const struct ct_bin_left_out *left_out);
void ct_bin_left_out_add(struct ct_bin_left_out *sum, const struct ct_bin_left_out *more);
/* The line: events, bytes, time of the first and of the last one. */
#define CT_BIN_MARK_LEFT_OUT "/* left out\n"
void ct_bin_left_out_print(struct ct_buf *out, const struct ct_bin_left_out *left_out);
bool ct_bin_left_out_find(const char *text, size_t size, struct ct_bin_left_out *out);

struct ct_bin_directory {
	char path[CTRACE_EMITTER_PATH_SIZE];
	int fd;
	int metadata_fd;
	struct ct_file_id directory_id;
	struct ct_file_id metadata_id;
	uint32_t owner_pid; /* the process that opened it; a forked child only frees the memory */
	struct ct_trace_info info;
	/* offset of the clock's lines in the metadata; 0: they cannot be rewritten */
	uint64_t clock_at;
	uint64_t clock_span_ns; /* length of the trace when they were last written */
	struct ct_schema *schema;
	/* bit set of class numbers that the metadata had when the directory was opened; or NULL */
	unsigned char *found;
	uint32_t printed;       /* classes of the schema that are in the metadata */
	uint64_t metadata_size; /* bytes that count */
	bool metadata_cut_due;
	uint64_t looked_at_ns; /* monotonic: the last ct_bin_directory_look() that found it */
	/* The batch is written without such a look: NOT_FOUND when a stream's file is not there. */
	bool looks_late;
	bool metadata_sync_due;
	bool was_changed;  /* a stream lacks bytes that count: events go to another directory */
	bool was_closed;   /* in order, before it was opened */
	bool is_ended;     /* has its closing mark */
	bool is_recovered; /* of a dead process: gets no closing mark unless it had one */
	/* least number of events that it and the directories before it report as lost */
	uint64_t lost_reported;
	/* events in stream.lost that no ring has lost: left out here, and in all directories */
	uint64_t left_out, left_out_before;
	uint64_t size; /* of all files, about */
	/* a batch beyond it is refused, except the first if it is not strict; 0: no limit */
	uint64_t size_limit;
	bool limit_is_strict;
	const struct ctrace_emitter_context *context; /* of who writes; NULL: not known yet */
	struct ct_file_access access;                 /* of its files */
	struct ct_bin_stream **streams;               /* by id; NULL: unknown */
	uint32_t stream_capacity;
	struct ct_bin_stream *lost;   /* stream.lost */
	struct ct_bin_stream **bound; /* the streams of the present batch, by index in it */
	uint32_t bound_capacity;
	uint32_t open_count;
	uint64_t batch;
	/* metadata of the present batch: steps of the clock, new classes */
	struct ct_buf text;
	struct ct_bin_text *texts;               /* the emitter's; or NULL */
	struct ct_bin_clock clock, clock_before; /* a failed batch restores clock_before */
	struct ct_buf heads;                     /* of the present batch's packets */
	struct iovec *pieces;
	size_t piece_count, piece_capacity;
	/* bin_convert.c's */
	bool converts;            /* never reset */
	bool has_own_numbers;     /* its metadata have the mark */
	struct ct_schema *source; /* when it converts: the classes of the process */
	struct ctrace_event_item *items;
	struct ct_buf scratch;
};

/* ---- bin_convert.c */
/* Rewrites the events of a batch into packets of the bound streams. */
enum ctrace_status ct_bin_convert(struct ct_bin_directory *directory,
				  const struct ctrace_batch *batch) CT_MUST_USE;

/* ---- emit_bin.c */
/* Fills in the process's data for a directory's metadata. */
void ct_bin_info_fill(struct ct_trace_info *info, const struct ctrace_emitter_context *context);

/* ---- bin_lock.c: the lock of an open directory */
/* Opens a file of the directory and locks it.  Returns TIMED_OUT when another process, or this one,
 * has the lock.  On OK the name refers to the locked file. */
enum ctrace_status ct_bin_lock_open(int directory_fd, const char *name, int flags, int *out_fd,
				    struct ct_file_id *out_id) CT_MUST_USE;
/* sets -1; closes nothing when the program has closed the descriptor */
void ct_bin_lock_close(int *fd, const struct ct_file_id *id);
/* The sessions of this process: each copy of the library has one of its own. */
void ct_bin_lock_note_session(const struct ct_trace_info *info);
bool ct_bin_lock_knows_session(const struct ct_trace_info *info);

/* ---- bin_create.c: the choice between beginning, continuing and replacing a directory */
struct ct_bin_open_mode {
	const struct ct_trace_info *info;
	/* the previous directory, whose losses by stream the new one notes; or NULL */
	struct ct_bin_directory *from;
	/* what the directory replaces and therefore counts as left out; or NULL */
	const struct ct_bin_left_out *left_out;
	struct ct_file_access access;
	/* the run in whose directory it must be, or NULL */
	const char *run;
	/* may continue a directory that this process closed; one without a commit is begun anew */
	bool may_continue;
	bool may_replace_own; /* the generations came round */
	/* may take the name of another process's directory that is not open: replaces it if it was
	 * closed in order, else renames it; but never that of another session of this process */
	bool may_replace_others;
	/* the name is a variant of the wanted one: this process's directory there is replaced only
	 * if it was closed */
	bool is_beside;
};
/* Begins (or continues) the directory at path.  Returns TIMED_OUT when it is open elsewhere, is not
 * a directory of ours, or the mode does not allow it. */
enum ctrace_status ct_bin_directory_create(const char *path, const struct ct_bin_open_mode *mode,
					   struct ct_bin_directory **out_directory) CT_MUST_USE;
/* Removes what the process of a directory left half replaced beside it when it was killed. */
void ct_bin_hidden_remove(struct ct_bin_directory *directory);
/* Continues at a place, even if another process has renamed the directory; then the path of
 * *out_directory is the new name. */
enum ctrace_status ct_bin_directory_resume(const struct ctrace_place *place,
					   const struct ct_trace_info *info,
					   struct ct_bin_directory **out_directory) CT_MUST_USE;

/* ---- bin_directory.c: the directory and its metadata */
enum ctrace_status ct_bin_directory_new(const char *path, const struct ct_trace_info *info,
					struct ct_bin_directory **out_directory) CT_MUST_USE;
/* writes nothing; keeps errno */
void ct_bin_directory_free(struct ct_bin_directory *directory);
/* the directory */
enum ctrace_status ct_bin_directory_open(struct ct_bin_directory *directory) CT_MUST_USE;
/* Opens and locks the metadata, and reads them.  Returns NOT_FOUND when there are none. */
enum ctrace_status ct_bin_metadata_open(struct ct_bin_directory *directory,
					struct ct_buf *out) CT_MUST_USE;
/* Replaces the metadata as a whole, or not at all.  metadata_fd is the old file, if any. is_anew:
 * they begin another trace, so existing streams are removed. */
enum ctrace_status ct_bin_metadata_put(struct ct_bin_directory *directory,
				       const struct ct_buf *text, bool is_anew) CT_MUST_USE;
/* if metadata_cut_due */
enum ctrace_status ct_bin_metadata_cut(struct ct_bin_directory *directory) CT_MUST_USE;
/* Replaces the metadata by metadata with the closing mark, because no viewer could read an
 * incomplete mark.  Called while the place is still in this directory.  On failure the directory
 * has no mark. */
void ct_bin_directory_end(struct ct_bin_directory *directory);
/* the directory is written to again: the mark no longer counts */
void ct_bin_directory_reopen(struct ct_bin_directory *directory);
void ct_bin_directory_close(struct ct_bin_directory *directory); /* in order, with a closing mark */
/* Closes the files and releases the lock of a directory with its closing mark.
 * ct_bin_directory_look() opens it again. */
void ct_bin_directory_rest(struct ct_bin_directory *directory);
/* removes a directory in which nothing counts */
void ct_bin_directory_discard(struct ct_bin_directory *directory);
enum ct_bin_presence {
	CT_BIN_HERE,   /* and open, with its lock */
	CT_BIN_GONE,   /* it was removed, or taken over while our descriptors were closed */
	CT_BIN_UNCLEAR /* the file system does not answer (errno); the caller tries again */
};
enum ct_bin_presence ct_bin_directory_look(struct ct_bin_directory *directory);
/* Does its path still name it?  Returns false when it was renamed, removed or replaced. */
bool ct_bin_directory_is_in_place(const struct ct_bin_directory *directory);

/* ---- bin_pack.c: compressing directories that are closed for good.  On the thread that consumes,
 * unless it says otherwise. */
/* Takes over a directory with its closing mark, and closes it in any case.  is_last: of a process
 * that ends; it waits for ct_bin_pack_end(). */
void ct_bin_pack(struct ct_bin_directory *directory, bool is_last);
/* Frees a name: closes a waiting directory uncompressed, and stops compressing one soon. */
void ct_bin_pack_let_go(const char *path);

/* ---- bin_mark.c: comments in the metadata, a line a stream: "stream.7 12345", "stream.7 12345
 * 12000" */
#define CT_BIN_MARK_CLOSED "/* closed\n"    /* bytes that count; offset of the last packet */
#define CT_BIN_MARK_LOST "/* lost before\n" /* events */
/* no lines: class numbers differ from the process's */
#define CT_BIN_MARK_OWN_NUMBERS "/* own numbers\n"
#define CT_BIN_MARK_END "*/\n"
struct ct_bin_mark {
	uint64_t value;
	uint64_t last_at; /* 0: not in the text */
};
/* nothing for a value of 0 */
void ct_bin_mark_add(struct ct_buf *out, uint32_t id, const struct ct_bin_mark *mark);
/* Finds the last mark of a kind in the text, and its end.  Returns NULL when there is none. */
const char *ct_bin_mark_find(const char *text, size_t size, const char *mark, size_t *out_end);
/* Parses the line at *at and moves *at on; it starts behind the mark's head.  Returns NOT_FOUND at
 * the end of the mark, DAMAGED for any other text. */
enum ctrace_status ct_bin_mark_next(const char **at, const char *text_end, uint32_t *out_id,
				    struct ct_bin_mark *out_mark) CT_MUST_USE;
/* Stores the values of the metadata's marks in the directory's streams. */
enum ctrace_status ct_bin_marks_take(struct ct_bin_directory *directory, const char *text,
				     size_t size) CT_MUST_USE;

/* ---- bin_clock.c: the meaning of ticks, and steps of the wall clock */
/* Describes the ticks of a trace that begins now. */
void ct_bin_info_clock(struct ct_trace_info *info, const struct ctrace_emitter_context *context);
/* Rewrites the clock's description when the trace has doubled in length since, or for UINT64_MAX:
 * viewers know no other time.  On failure the old description stays. */
#define CT_BIN_CLOCK_LAST UINT64_MAX
void ct_bin_directory_set_clock(struct ct_bin_directory *directory,
				const struct ctrace_emitter_context *context, uint64_t now_ns);
/* finds the clock's lines in the metadata */
void ct_bin_directory_find_clock(struct ct_bin_directory *directory, const struct ct_buf *text);
#define CT_BIN_MARK_CLOCK "/* clock set\n"
struct ct_bin_clock_mark {
	/* negative: back; 0: a trace goes on with the times of another, or began after a step */
	int64_t by_ns;
	uint64_t at_ns;    /* time of the first event after it in the stream */
	uint64_t ahead_ns; /* from there on */
	uint64_t base_ns;
};
/* Returns an event's time in its stream.  Notes a step in the metadata. */
uint64_t ct_bin_clock_time(struct ct_bin_clock *clock, const struct ctrace_event *event,
			   struct ct_buf *metadata);
/* Continues the times of the previous directory, and notes that in the new metadata. */
void ct_bin_clock_inherit(struct ct_bin_clock *clock, const struct ct_bin_clock *from,
			  struct ct_buf *metadata);
void ct_bin_clock_mark_add(struct ct_buf *out, const struct ct_bin_clock_mark *mark);
/* Finds the next mark behind *at and moves *at on.  Returns false when there is none. */
bool ct_bin_clock_mark_next(const char *text, size_t size, size_t *at,
			    struct ct_bin_clock_mark *out);
/* Loads the clock from the marks of a directory that is continued. */
void ct_bin_clock_take(struct ct_bin_clock *clock, const char *text, size_t size);

/* ---- bin_files.c: the stream files of a directory */
/* "stream.12" -> 12, "stream.lost" -> CT_BIN_LOST. Returns false for other names. */
bool ct_bin_stream_name_parse(const char *name, size_t size, uint32_t *out_id);
/* Returns the stream of that id, made when it is unknown. */
enum ctrace_status ct_bin_stream_get(struct ct_bin_directory *directory, uint32_t id,
				     struct ct_bin_stream **out_stream) CT_MUST_USE;
/* Returns NULL for an unknown stream. */
static inline struct ct_bin_stream *ct_bin_stream_at(const struct ct_bin_directory *directory,
						     uint32_t id)
{
	return id == CT_BIN_LOST                 ? directory->lost
	       : id < directory->stream_capacity ? directory->streams[id]
						 : NULL;
}
/* Opens the stream's file unless its descriptor still refers to it.  Called before each use. */
enum ctrace_status ct_bin_stream_open(struct ct_bin_directory *directory,
				      struct ct_bin_stream *stream) CT_MUST_USE;
/* Finds the state in which the stream goes on.  offset: bytes that count; last_at: offset of the
 * last packet in them, if known. */
enum ctrace_status ct_bin_stream_load(struct ct_bin_directory *directory,
				      struct ct_bin_stream *stream, uint64_t offset,
				      uint64_t last_at) CT_MUST_USE;
/* Cuts a stream's file back to its offset. */
enum ctrace_status ct_bin_stream_cut(struct ct_bin_directory *directory,
				     struct ct_bin_stream *stream) CT_MUST_USE;
/* Loads all streams.  cuts: truncates each to the bytes that count, also if it had no events since
 * the directory was opened. */
enum ctrace_status ct_bin_settle(struct ct_bin_directory *directory, bool cuts) CT_MUST_USE;
enum ctrace_status ct_bin_sync(struct ct_bin_directory *directory) CT_MUST_USE;
/* the directory has no streams afterwards */
void ct_bin_streams_free(struct ct_bin_directory *directory);
/* Called for each existing stream file with its name and id (CT_BIN_LOST: stream.lost). */
typedef void ct_bin_each_stream(struct ct_bin_directory *directory, const char *name, uint32_t id,
				void *user);
bool ct_bin_directory_each_stream(struct ct_bin_directory *directory, ct_bin_each_stream *each,
				  void *user);
/* ct_bin_stream_note sets the bool that user points to */
ct_bin_each_stream ct_bin_stream_remove, ct_bin_stream_note;
bool ct_bin_directory_remove_streams(struct ct_bin_directory *directory); /* also compressed ones */
/* has it compressed streams?  Then no process continues it */
bool ct_bin_directory_is_packed(struct ct_bin_directory *directory);

/* ---- bin_stream.c: a batch */
/* All or nothing, as ctrace_emitter.write.  BUFFER_TOO_SMALL: it would pass size_limit. */
enum ctrace_status ct_bin_write(struct ct_bin_directory *directory,
				const struct ctrace_batch *batch) CT_MUST_USE;
/* Adds the classes of the batch.  Returns DAMAGED when one of them cannot have its number here;
 * skips_damaged: leaves that one out. */
enum ctrace_status ct_bin_take_classes(struct ct_schema *schema, const struct ctrace_batch *batch,
				       bool skips_damaged) CT_MUST_USE;
/* Appends a packet to stream.lost, so that its total becomes `total`. */
enum ctrace_status ct_bin_put_lost(struct ct_bin_directory *directory, struct ct_bin_stream *stream,
				   uint64_t total) CT_MUST_USE;

/* ---- bin_lost.c: losses that no other stream reports */
/* Cuts off the bytes of stream.lost that do not count.  No place refers to this stream. */
enum ctrace_status ct_bin_settle_lost(struct ct_bin_directory *directory) CT_MUST_USE;
/* Writes to stream.lost how many events of `total` no stream reports. */
enum ctrace_status ct_bin_write_lost(struct ct_bin_directory *directory,
				     uint64_t total) CT_MUST_USE;
/* Does the same before the directory is closed.  On success the place records it. */
void ct_bin_report_lost(struct ct_bin_directory *directory, uint64_t total,
			struct ctrace_place *place);
/* Reports in stream.lost what the directory leaves out. */
enum ctrace_status ct_bin_write_left_out(struct ct_bin_directory *directory,
					 uint64_t events) CT_MUST_USE;
/* Subtracts losses that stream.lost reported at an earlier close, and that packets now report, here
 * or in the next directory. */
void ct_bin_take_back_lost(struct ct_bin_directory *directory, uint64_t reported);

#endif
