/*
 * emit/binfile.h - what the files of the BINFILE emitter share: one folder being written.
 *
 * A BINFILE trace is a folder that is a Common Trace Format 1.8 trace:
 *
 *      metadata       wire/metadata.c's text; event classes are appended as they appear
 *      stream.<id>    the packets of ring <id>, whole and one behind the other
 *      stream.lost    only when events were lost that no stream accounts for
 *
 * What counts of these files is what the drain has committed: ctrace_place.offset bytes of metadata (extra: the generation), and
 * ctrace_stream.offset bytes of each stream.  ctrace_stream.sequence is the next packet's number, its 24 high bits are
 * of the folder's uuid: so the place of a stream in another folder is known for what it is.
 *
 * Two comments in the metadata are for us.  A folder that is closed in order gets a closing mark with the size of each stream: who
 * opens it without a place goes on from there.  One that follows another begins with what each stream had lost before it, since viewers
 * want events_discarded to start at 0 in each trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BINFILE_H
#define CT_BINFILE_H

#include "emit/emit.h"
#include "wire/wire.h"

#define CT_BIN_LOST UINT32_MAX /* stream id of stream.lost */
#define CT_BIN_STREAM_LIMIT 65536u
#define CT_BIN_OPEN_LIMIT 64u /* stream files kept open */
#define CT_BIN_CACHE 1024u    /* a power of two */

struct ct_bin_stream {
	uint32_t id;
	int fd; /* -1: not open now */
	struct ct_file_id file_id;
	bool is_loaded; /* what follows is known; otherwise only offset, from the closing mark */
	bool cut_due;   /* the file may be longer than offset */
	bool sync_due;
	uint64_t used;      /* the batch that used it last */
	uint64_t offset;    /* bytes that count */
	uint64_t sequence;  /* of the next packet */
	uint64_t lost;      /* events of the ring lost before the last packet's */
	uint64_t lost_base; /* of these before this folder's first: packets count from here */
	uint64_t last_ns;   /* of the last event */
	/* the batch under way */
	struct ct_buf packets;
	struct ct_packet_head head; /* of the packet being filled */
	size_t packet_at;
	uint64_t previous_ns;
	uint64_t next_sequence;
	uint64_t next_lost;
	bool in_packet;
	bool is_touched; /* its file was written to */
};

struct ct_bin_cache_entry {
	uint32_t component_id;
	uint32_t event_id;
	const struct ct_class *class; /* NULL: free */
};

struct ct_bin_folder {
	char path[CTRACE_EMITTER_PATH_SIZE];
	int fd;
	int metadata_fd;
	struct ct_file_id folder_id;
	struct ct_file_id metadata_id;
	uint32_t owner_pid; /* the process that opened it: a forked child only forgets it */
	struct ct_trace_info info;
	struct ct_schema *schema;
	uint32_t printed;       /* classes that are in the metadata */
	uint64_t metadata_size; /* bytes that count */
	bool metadata_cut_due;
	bool metadata_sync_due;
	uint64_t size;                  /* of all files, about */
	struct ct_bin_stream **streams; /* by id; NULL: unknown */
	uint32_t stream_capacity;
	struct ct_bin_stream *lost;   /* stream.lost */
	struct ct_bin_stream **bound; /* those of the batch under way, by index in it */
	uint32_t bound_capacity;
	uint32_t open_count;
	uint64_t batch;
	struct ct_buf text; /* metadata of new classes */
	struct ct_bin_cache_entry cache[CT_BIN_CACHE];
};

/* ---- emit_bin.c */
/* Who traces, for a folder's metadata. */
void ct_bin_info_fill(struct ct_trace_info *info, const struct ctrace_emitter_context *context);

/* ---- bin_folder.c: finding, beginning, continuing and ending a folder */
struct ct_bin_claim {
	const struct ct_trace_info *info;
	bool may_continue;       /* a folder that this process closed; one that it did not get to commit to is begun anew */
	bool may_replace_own;    /* a generation come round */
	bool may_replace_others; /* of a process that does not have it open any more */
};
/* Begins (or continues) the folder at path.  TIMED_OUT: somebody has it open, what is there is not ours, or the claim does not allow it. */
enum ctrace_status ct_bin_folder_create(const char *path, const struct ct_bin_claim *claim,
					struct ct_bin_folder **out_folder) CT_MUST_USE;
/* Continues where a place says. */
enum ctrace_status ct_bin_folder_resume(const struct ctrace_place *place, const struct ct_trace_info *info,
					struct ct_bin_folder **out_folder) CT_MUST_USE;
void ct_bin_folder_close(struct ct_bin_folder *folder);   /* in order, with a closing mark */
void ct_bin_folder_discard(struct ct_bin_folder *folder); /* removes it; nothing in it counts */
/* Calls for each stream file that is there, with its name and id (CT_BIN_LOST: stream.lost).  False when the folder cannot be read. */
typedef void ct_bin_each_stream(struct ct_bin_folder *folder, const char *name, uint32_t id, void *user);
bool ct_bin_folder_each_stream(struct ct_bin_folder *folder, ct_bin_each_stream *each, void *user);
bool ct_bin_folder_is_gone(struct ct_bin_folder *folder); /* somebody removed it */
/* Does its path still name it?  False when it was renamed, removed or replaced. */
bool ct_bin_folder_is_in_place(struct ct_bin_folder *folder);
/* Notes in a new folder what the streams of the one that it follows had lost. */
enum ctrace_status ct_bin_folder_inherit(struct ct_bin_folder *folder, struct ct_bin_folder *from) CT_MUST_USE;

/* ---- bin_mark.c: comments in the metadata, a line a stream: "stream.7 12345" */
#define CT_BIN_MARK_CLOSED "/* closed\n"    /* bytes that count */
#define CT_BIN_MARK_LOST "/* lost before\n" /* events */
#define CT_BIN_MARK_END "*/\n"
/* "stream.12" -> 12, "stream.lost" -> CT_BIN_LOST.  False for names that are not ours. */
bool ct_bin_stream_name_parse(const char *name, size_t size, uint32_t *out_id);
void ct_bin_mark_add(struct ct_buf *out, uint32_t id, uint64_t value);
/* The last of our comments of a kind in the text, and where it ends; NULL when it has none. */
const char *ct_bin_mark_find(const char *text, size_t size, const char *mark, size_t *out_end);
/* Notes in the folder's streams what the marks in its metadata say. */
enum ctrace_status ct_bin_marks_take(struct ct_bin_folder *folder, const char *text, size_t size) CT_MUST_USE;

/* ---- bin_stream.c: packets */
/* All or nothing, as ctrace_emitter.write. */
enum ctrace_status ct_bin_write(struct ct_bin_folder *folder, const struct ctrace_batch *batch, uint32_t least_level) CT_MUST_USE;
/* The stream of that id, made when it is unknown. */
enum ctrace_status ct_bin_stream_get(struct ct_bin_folder *folder, uint32_t id, struct ct_bin_stream **out_stream) CT_MUST_USE;
/* Looks also into the stream files that had no events since the folder was opened. */
void ct_bin_load_untouched(struct ct_bin_folder *folder);
/* Accounts for lost events that no stream does: writes what is missing of `total` to stream.lost. */
enum ctrace_status ct_bin_write_lost(struct ct_bin_folder *folder, uint64_t total) CT_MUST_USE;
enum ctrace_status ct_bin_sync(struct ct_bin_folder *folder) CT_MUST_USE;
/* Cuts a stream's file back to its offset. */
enum ctrace_status ct_bin_stream_cut(struct ct_bin_folder *folder, struct ct_bin_stream *stream) CT_MUST_USE;
void ct_bin_streams_free(struct ct_bin_folder *folder);

#endif
