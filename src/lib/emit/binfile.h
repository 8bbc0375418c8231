/*
 * lib/emit/binfile.h - what the files of the BINFILE emitter share: one directory being written.
 *
 * A BINFILE trace is a directory that is a Common Trace Format 1.8 trace:
 *
 *      metadata       wire/metadata.c's text; event classes are appended as they appear
 *      stream.<id>    the packets of ring <id>, whole and one behind the other
 *      stream.lost    only when events were lost that no stream accounts for
 *
 * What counts of these files is what the consumer has committed: ctrace_place.offset bytes of
 * metadata (extra: the generation), and ctrace_stream.offset bytes of each stream.
 * ctrace_stream.sequence is the next packet's number, its 24 high bits are of the directory's uuid:
 * so a place that belongs to another directory is recognized.  ctrace_stream.extra is where the
 * last packet begins: its head says what the next one follows.
 *
 * ctrace reads four comments in the metadata; bin_clock.c writes one of them.  A directory that is
 * closed in order gets a closing mark with the size of each stream, and where its last packet
 * begins: a process that opens it without a place goes on from there.  A directory without one
 * belongs to a process that did not end in order, and is never replaced: another process that wants
 * its name renames it to `<name>.<process>`.  A directory that follows another begins with what
 * each stream had lost before it, since viewers want events_discarded to start at 0 in each trace.
 * Events have the class numbers of their process.  A directory in which they were written anew says
 * that its numbers are its own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BINFILE_H
#define CT_BINFILE_H

#include "lib/emit/emit.h"
#include "format/format.h"

#define CT_BIN_LOST UINT32_MAX /* stream id of stream.lost */
#define CT_BIN_STREAM_LIMIT 65536u
#define CT_BIN_OPEN_LIMIT 64u  /* stream files kept open */
#define CT_BIN_BESIDE_LIMIT 9u /* names tried beside one that is taken */
/* metadata that are not whole yet; viewers pass over names with a dot */
#define CT_BIN_TEMPORARY ".metadata.new"

struct ct_bin_stream {
	uint32_t id;
	int fd; /* -1: not open now */
	struct ct_file_id file_id;
	bool is_loaded; /* what follows is known; otherwise only offset, from the closing mark */
	bool cut_due;   /* the file may be longer than offset */
	bool sync_due;
	uint64_t used;      /* the batch that used it last */
	uint64_t offset;    /* bytes that count */
	uint64_t last_at;   /* where the last packet of these begins */
	uint64_t sequence;  /* of the next packet */
	uint64_t lost;      /* events of the ring lost before the last packet's */
	uint64_t lost_base; /* of these before this directory's first: packets count from here */
	uint64_t last_ns;   /* of the last event */
	/* the batch under way */
	/* of its packets; what was lost is without lost_base there */
	struct ct_packet_writer writer;
	/* of the directory's pieces: those that are of this stream, when there are any */
	size_t first_piece;
	size_t piece_count;
	size_t pending;  /* bytes of the pieces, or of the writer's packets */
	bool is_touched; /* its file was written to */
};

/* How the times of a directory go on when somebody sets the wall clock. */
#define CT_BIN_CLOCK_UNKNOWN UINT32_MAX
struct ct_bin_clock {
	uint32_t steps;    /* of the last event; CT_BIN_CLOCK_UNKNOWN: none was written yet */
	int64_t total_ns;  /* of these */
	uint64_t base_ns;  /* what the clock had been set back by before the directory began */
	uint64_t ahead_ns; /* times are ahead of the clock by that much */
	bool has_begun;    /* base_ns is known */
};

/* ---- bin_convert.c: events that are written anew; text items become UTF-8 */
struct ct_bin_text {
	enum ct_encoding encoding;
	struct ctrace_event event; /* the one that was converted last */
	struct ctrace_event_item *items;
	uint32_t capacity;
	struct ct_buf bytes;
};
/* The event with its texts converted, until the next call; the event itself without an encoding or
 * memory, or for NULL. */
const struct ctrace_event *ct_bin_text_convert(struct ct_bin_text *text,
					       const struct ctrace_event *event);
void ct_bin_text_fini(struct ct_bin_text *text);

struct ct_bin_directory {
	char path[CTRACE_EMITTER_PATH_SIZE];
	int fd;
	int metadata_fd;
	struct ct_file_id directory_id;
	struct ct_file_id metadata_id;
	uint32_t owner_pid; /* the process that opened it: a forked child only forgets it */
	struct ct_trace_info info;
	/* where in the metadata the lines of the clock are; 0: there are none that can be written
	 * anew */
	uint64_t clock_at;
	uint64_t clock_span_ns; /* of the trace when they were written last, from its beginning */
	struct ct_schema *schema;
	/* a bit for each number of a class that was in the metadata when the directory was opened;
	 * or NULL */
	unsigned char *found;
	uint32_t printed;       /* classes of the schema that are in the metadata */
	uint64_t metadata_size; /* bytes that count */
	bool metadata_cut_due;
	bool metadata_sync_due;
	bool was_closed;   /* in order, before it was opened */
	bool is_ended;     /* has its closing mark */
	bool is_recovered; /* of a dead process: gets no closing mark unless it had one */
	/* events that it and the directories before it report as lost; at least */
	uint64_t lost_told;
	uint64_t size; /* of all files, about */
	/* a batch that would make it larger is refused, but for the first; 0: none */
	uint64_t size_limit;
	struct ct_file_access access;   /* of its files */
	struct ct_bin_stream **streams; /* by id; NULL: unknown */
	uint32_t stream_capacity;
	struct ct_bin_stream *lost;   /* stream.lost */
	struct ct_bin_stream **bound; /* those of the batch under way, by index in it */
	uint32_t bound_capacity;
	uint32_t open_count;
	uint64_t batch;
	/* metadata of the batch under way: steps of the clock, new classes */
	struct ct_buf text;
	struct ct_bin_text *texts;               /* the emitter's; or NULL */
	struct ct_bin_clock clock, clock_before; /* what a batch that fails goes back to */
	struct ct_buf heads;                     /* of the packets of the batch under way */
	struct iovec *pieces;
	size_t piece_count, piece_capacity;
	/* bin_convert.c's */
	bool converts;            /* once it does, it goes on so */
	bool has_own_numbers;     /* its metadata say so */
	struct ct_schema *source; /* when it does: the classes of the process */
	struct ctrace_event_item *items;
	struct ct_buf scratch;
};

/* ---- bin_convert.c */
/* Writes the events of a batch anew: into packets of the streams that are bound. */
enum ctrace_status ct_bin_convert(struct ct_bin_directory *directory,
				  const struct ctrace_batch *batch) CT_MUST_USE;

/* ---- emit_bin.c */
/* Who traces, for a directory's metadata. */
void ct_bin_info_fill(struct ct_trace_info *info, const struct ctrace_emitter_context *context);

/* ---- bin_lock.c: who has a directory open */
/* Opens a file of the directory and locks it.  TIMED_OUT: another process has it, or this one has
 * it already.  Past a return with OK the name leads to the file that is locked. */
enum ctrace_status ct_bin_lock_open(int directory_fd, const char *name, int flags, int *out_fd,
				    struct ct_file_id *out_id) CT_MUST_USE;
/* sets -1; nothing for a descriptor that was closed behind our back */
void ct_bin_lock_close(int *fd, const struct ct_file_id *id);

/* ---- bin_claim.c: whose a directory is */
struct ct_bin_claim {
	const struct ct_trace_info *info;
	/* the directory that the new one follows: it notes what the streams of that had lost; or
	 * NULL */
	struct ct_bin_directory *from;
	struct ct_file_access access;
	/* a directory that this process closed; one that it did not get to commit to is begun anew
	 */
	bool may_continue;
	bool may_replace_own; /* a generation come round */
	/* of a process that does not have it open any more: replaced when that closed it, else
	 * renamed */
	bool may_replace_others;
	/* the name is one beside the wanted one: an own directory there is replaced only when it
	 * was closed */
	bool is_beside;
};
/* Begins (or continues) the directory at path.  TIMED_OUT: somebody has it open, what is there is
 * not ours, or the claim does not allow it. */
enum ctrace_status ct_bin_directory_create(const char *path, const struct ct_bin_claim *claim,
					   struct ct_bin_directory **out_directory) CT_MUST_USE;
/* Continues where a place says, also when another process has renamed the directory; the path of
 * *out_directory is the new name then. */
enum ctrace_status ct_bin_directory_resume(const struct ctrace_place *place,
					   const struct ct_trace_info *info,
					   struct ct_bin_directory **out_directory) CT_MUST_USE;
/* "<path>.<pid>", from number 2 on "<path>.<pid>.<number>".  False, with errno, when that is too
 * long. */
bool ct_bin_name_beside(const char *path, uint32_t pid, unsigned number,
			char out[CTRACE_EMITTER_PATH_SIZE]) CT_MUST_USE;

/* ---- bin_directory.c: the directory and its metadata */
enum ctrace_status ct_bin_directory_new(const char *path, const struct ct_trace_info *info,
					struct ct_bin_directory **out_directory) CT_MUST_USE;
/* as it is; keeps errno */
void ct_bin_directory_free(struct ct_bin_directory *directory);
/* the directory */
enum ctrace_status ct_bin_directory_open(struct ct_bin_directory *directory) CT_MUST_USE;
/* Opens the metadata with their lock, and reads them.  NOT_FOUND when there are none. */
enum ctrace_status ct_bin_metadata_open(struct ct_bin_directory *directory,
					struct ct_buf *out) CT_MUST_USE;
/* Puts metadata in the place of what is there, which metadata_fd is unless there are none: whole,
 * or not at all.  is_anew: of another trace, so streams that are there go. */
enum ctrace_status ct_bin_metadata_put(struct ct_bin_directory *directory,
				       const struct ct_buf *text, bool is_anew) CT_MUST_USE;
/* if that is due */
enum ctrace_status ct_bin_metadata_cut(struct ct_bin_directory *directory) CT_MUST_USE;
/* Puts metadata with the closing mark in the place of those without: a mark that is cut short
 * would be no metadata for any viewer.  To be called while the place still is in this directory.
 * Where it cannot be done the directory has no mark. */
void ct_bin_directory_end(struct ct_bin_directory *directory);
/* it is written to after all: the mark does not count */
void ct_bin_directory_reopen(struct ct_bin_directory *directory);
void ct_bin_directory_close(struct ct_bin_directory *directory); /* in order, with a closing mark */
/* It has its closing mark: its files and its lock are let go.  ct_bin_directory_look() opens the
 * directory again. */
void ct_bin_directory_rest(struct ct_bin_directory *directory);
/* removes it; nothing in it counts */
void ct_bin_directory_discard(struct ct_bin_directory *directory);
enum ct_bin_presence {
	CT_BIN_HERE,   /* and open, with its lock */
	CT_BIN_GONE,   /* somebody removed it, or took it over while our descriptors were closed */
	CT_BIN_UNCLEAR /* the file system does not answer (errno): to be tried again */
};
enum ct_bin_presence ct_bin_directory_look(struct ct_bin_directory *directory);
/* Does its path still name it?  False when it was renamed, removed or replaced. */
bool ct_bin_directory_is_in_place(const struct ct_bin_directory *directory);

/* ---- bin_pack.c: compressing directories that are closed for good.  On the thread that consumes,
 * unless it says otherwise. */
/* Takes over a directory with its closing mark, and closes it in any case.  is_last: of a process
 * that ends; it waits for ct_bin_pack_end(). */
void ct_bin_pack(struct ct_bin_directory *directory, bool is_last);
/* The name is wanted: a directory there that waits is closed as it is, and one that is being
 * compressed soon. */
void ct_bin_pack_let_go(const char *path);

/* ---- bin_mark.c: comments in the metadata, a line a stream: "stream.7 12345", "stream.7 12345
 * 12000" */
#define CT_BIN_MARK_CLOSED "/* closed\n"    /* bytes that count; where the last packet begins */
#define CT_BIN_MARK_LOST "/* lost before\n" /* events */
/* no lines: classes have not the numbers of the process's */
#define CT_BIN_MARK_OWN_NUMBERS "/* own numbers\n"
#define CT_BIN_MARK_END "*/\n"
struct ct_bin_mark {
	uint64_t value;
	uint64_t last_at; /* 0: not in the text */
};
/* nothing for a value of 0 */
void ct_bin_mark_add(struct ct_buf *out, uint32_t id, const struct ct_bin_mark *mark);
/* The last of our comments of a kind in the text, and where it ends; NULL when it has none. */
const char *ct_bin_mark_find(const char *text, size_t size, const char *mark, size_t *out_end);
/* The line at *at, which moves on: behind the mark's head first.  NOT_FOUND: the end of the mark;
 * DAMAGED: no line of a mark. */
enum ctrace_status ct_bin_mark_next(const char **at, const char *text_end, uint32_t *out_id,
				    struct ct_bin_mark *out_mark) CT_MUST_USE;
/* Notes in the directory's streams what the marks in its metadata say. */
enum ctrace_status ct_bin_marks_take(struct ct_bin_directory *directory, const char *text,
				     size_t size) CT_MUST_USE;

/* ---- bin_clock.c: what ticks are, and steps of the wall clock */
/* What the ticks of a trace that begins now are. */
void ct_bin_info_clock(struct ct_trace_info *info, const struct ctrace_emitter_context *context);
/* Writes that anew when the trace has become twice as long since, or for UINT64_MAX: viewers know
 * no other time.  Where it cannot be done it stays as it is. */
#define CT_BIN_CLOCK_LAST UINT64_MAX
void ct_bin_directory_set_clock(struct ct_bin_directory *directory,
				const struct ctrace_emitter_context *context, uint64_t now_ns);
/* where its lines are in the metadata */
void ct_bin_directory_find_clock(struct ct_bin_directory *directory, const struct ct_buf *text);
#define CT_BIN_MARK_CLOCK "/* clock set\n"
struct ct_bin_clock_mark {
	/* negative: back; 0: a trace goes on with the times of another, or began after a step */
	int64_t by_ns;
	uint64_t at_ns;    /* the first event after it, as the stream has it */
	uint64_t ahead_ns; /* from there on */
	uint64_t base_ns;
};
/* The time that an event gets in its stream.  Notes a step in the metadata. */
uint64_t ct_bin_clock_time(struct ct_bin_clock *clock, const struct ctrace_event *event,
			   struct ct_buf *metadata);
/* Goes on with the times of the directory before, and notes so in the new one's metadata. */
void ct_bin_clock_inherit(struct ct_bin_clock *clock, const struct ct_bin_clock *from,
			  struct ct_buf *metadata);
void ct_bin_clock_mark_add(struct ct_buf *out, const struct ct_bin_clock_mark *mark);
/* The next mark in the metadata behind *at, which moves on.  False when there is none. */
bool ct_bin_clock_mark_next(const char *text, size_t size, size_t *at,
			    struct ct_bin_clock_mark *out);
/* The directory is gone on with: what the marks in its metadata say. */
void ct_bin_clock_take(struct ct_bin_clock *clock, const char *text, size_t size);

/* ---- bin_files.c: the stream files of a directory */
/* "stream.12" -> 12, "stream.lost" -> CT_BIN_LOST.  False for names that are not ours. */
bool ct_bin_stream_name_parse(const char *name, size_t size, uint32_t *out_id);
/* The stream of that id, made when it is unknown. */
enum ctrace_status ct_bin_stream_get(struct ct_bin_directory *directory, uint32_t id,
				     struct ct_bin_stream **out_stream) CT_MUST_USE;
/* NULL when it is unknown. */
static inline struct ct_bin_stream *ct_bin_stream_at(const struct ct_bin_directory *directory,
						     uint32_t id)
{
	return id == CT_BIN_LOST                 ? directory->lost
	       : id < directory->stream_capacity ? directory->streams[id]
						 : NULL;
}
/* Opens the stream's file unless its descriptor still is that file: to be called before each use.
 */
enum ctrace_status ct_bin_stream_open(struct ct_bin_directory *directory,
				      struct ct_bin_stream *stream) CT_MUST_USE;
/* Where it goes on.  offset: bytes that count; last_at: where the last packet of these begins, if
 * that is known. */
enum ctrace_status ct_bin_stream_load(struct ct_bin_directory *directory,
				      struct ct_bin_stream *stream, uint64_t offset,
				      uint64_t last_at) CT_MUST_USE;
/* Cuts a stream's file back to its offset. */
enum ctrace_status ct_bin_stream_cut(struct ct_bin_directory *directory,
				     struct ct_bin_stream *stream) CT_MUST_USE;
/* Loads all streams; cuts: cuts off what does not count, also in streams that had no events since
 * the directory was opened. */
enum ctrace_status ct_bin_settle(struct ct_bin_directory *directory, bool cuts) CT_MUST_USE;
enum ctrace_status ct_bin_sync(struct ct_bin_directory *directory) CT_MUST_USE;
/* the directory has no streams afterwards */
void ct_bin_streams_free(struct ct_bin_directory *directory);
/* Calls for each stream file that is there, with its name and id (CT_BIN_LOST: stream.lost).  False
 * when the directory cannot be read. */
typedef void ct_bin_each_stream(struct ct_bin_directory *directory, const char *name, uint32_t id,
				void *user);
bool ct_bin_directory_each_stream(struct ct_bin_directory *directory, ct_bin_each_stream *each,
				  void *user);
/* the latter sets the bool that user points to */
ct_bin_each_stream ct_bin_stream_remove, ct_bin_stream_note;
bool ct_bin_directory_remove_streams(struct ct_bin_directory *directory); /* also compressed ones */
/* has compressed streams: nobody goes on in such a directory */
bool ct_bin_directory_is_packed(struct ct_bin_directory *directory);

/* ---- bin_stream.c: a batch */
/* All or nothing, as ctrace_emitter.write.  BUFFER_TOO_SMALL: it would pass size_limit. */
enum ctrace_status ct_bin_write(struct ct_bin_directory *directory,
				const struct ctrace_batch *batch) CT_MUST_USE;
/* The classes of the batch.  DAMAGED: one of them cannot have its number here; skips_damaged: that
 * one is left out. */
enum ctrace_status ct_bin_take_classes(struct ct_schema *schema, const struct ctrace_batch *batch,
				       bool skips_damaged) CT_MUST_USE;
/* Appends a packet to stream.lost, so that its total becomes `total`. */
enum ctrace_status ct_bin_put_lost(struct ct_bin_directory *directory, struct ct_bin_stream *stream,
				   uint64_t total) CT_MUST_USE;

/* ---- bin_lost.c: losses that no other stream reports */
/* Cuts off what does not count of stream.lost, to which no place leads. */
enum ctrace_status ct_bin_settle_lost(struct ct_bin_directory *directory) CT_MUST_USE;
/* Accounts for lost events that no stream does: writes what is missing of `total` to stream.lost.
 */
enum ctrace_status ct_bin_write_lost(struct ct_bin_directory *directory,
				     uint64_t total) CT_MUST_USE;
/* The same before the directory is closed.  The place says so when it has succeeded. */
void ct_bin_report_lost(struct ct_bin_directory *directory, uint64_t total,
			struct ctrace_place *place);
/* So many of what stream.lost reported when the directory was closed before, packets report again,
 * here or in the directory that follows. */
void ct_bin_take_back_lost(struct ct_bin_directory *directory, uint64_t told);

#endif
