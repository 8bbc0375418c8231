/*
 * read/repair/repair_trace.h - a trace under repair: what repair.c, repair_info.c and
 * repair_metadata.c share.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_REPAIR_REPAIR_TRACE_H
#define CT_READ_REPAIR_REPAIR_TRACE_H

#include "read/repair/repair.h"

#include <dirent.h>

struct ct_repair_trace {
	struct ct_repair *repair;
	const char *directory; /* the damaged trace */
	const char *to;        /* the copy */
	int to_fd;
	char *metadata_path;
	struct ct_buf text; /* its metadata, as they are */
	struct ct_trace_info info;
	struct ct_schema *schema;
	uint64_t frequency;   /* of its ticks; 0: unknown */
	struct ct_buf closed; /* the closing mark of the copy */
	uint64_t streams;
};

/* ---- repair.c */
void ct_repair_report_damage(struct ct_repair *repair, const char *path, uint64_t offset,
			     uint64_t bytes, const char *message);
/* errno of an open: may the user not read it? */
bool ct_repair_is_refusal(int error);
const char *ct_repair_refusal_text(int error);
/* "stream.12.zst" -> 12, and whether it is compressed. */
bool ct_repair_stream_name(const char *name, uint32_t *out_id, bool *out_is_compressed);
int ct_repair_is_stream(const struct dirent *entry); /* for scandir() */
/* Returns a negative number and sets errno when the path is not a regular file or cannot be
 * opened. */
int ct_repair_open(const char *path);

/* ---- repair_info.c */
/* Reads the metadata text, and finds out which process wrote the trace and by which clock.  Returns
 * NOT_FOUND when neither metadata nor packets say so. */
enum ctrace_status ct_repair_trace_info(struct ct_repair_trace *trace) CT_MUST_USE;

/* ---- repair_metadata.c */
enum ctrace_status ct_repair_read_classes(struct ct_repair_trace *trace) CT_MUST_USE;
/* Is the trace a copy that lacks packets? */
bool ct_repair_has_gaps(const struct ct_buf *text);
/* Prints the metadata of the copy.  has_gaps: it lacks packets. */
enum ctrace_status ct_repair_write_metadata(struct ct_repair_trace *trace,
					    bool has_gaps) CT_MUST_USE;

#endif
