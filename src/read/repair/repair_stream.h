/*
 * read/repair/repair_stream.h - one stream file of a trace under repair.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_REPAIR_REPAIR_STREAM_H
#define CT_READ_REPAIR_REPAIR_STREAM_H

#include "read/repair/repair.h"

struct ct_repair_stream {
	const char *path; /* for reports */
	int fd;           /* the damaged file */
	uint32_t id;      /* of the stream, as in every packet head */
	const uint8_t *uuid;
	const struct ct_schema *schema;
	uint64_t frequency;  /* ticks a second; 0: unknown */
	uint64_t most_ticks; /* a later time is damage */
	/* packets are known to be missing, although the rest is contiguous */
	bool has_gaps;
	int directory_fd; /* the copy's directory... */
	const char *name; /* ...and name; created with its first packet */
	uint64_t written; /* result: bytes of the copy; 0: no copy */
	uint64_t last_at; /* result: offset of the copy's last packet */
};
/* Copies the readable packets.  Returns OK also when there are none, otherwise the reason why the
 * file cannot be read or the copy not be written. */
enum ctrace_status ct_repair_stream(struct ct_repair *repair,
				    struct ct_repair_stream *stream) CT_MUST_USE;

#endif
