/*
 * read/repair/repair_stream.h - one stream file of a trace that is repaired.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_REPAIR_STREAM_H
#define CT_REPAIR_STREAM_H

#include "read/repair/repair.h"

struct ct_repair_stream {
	const char *path; /* for reports */
	int fd;           /* what is read */
	uint32_t id;      /* of the stream: every packet of it says so */
	const uint8_t *uuid;
	const struct ct_schema *schema;
	uint64_t frequency;  /* ticks a second; 0: nobody knows */
	uint64_t most_ticks; /* later ones are no time */
	/* packets are known to be missing in it, though what is there follows at once */
	bool has_gaps;
	int directory_fd; /* where the copy goes... */
	const char *name; /* ...and its name; it is made when there is a first packet to be in it */
	uint64_t written; /* given back: bytes of the copy; 0: there is none */
	uint64_t last_at; /* given back: where the last packet of the copy begins */
};
/* OK also when nothing in it was good; else why the copy cannot be written, or the file not be
 * read. */
enum ctrace_status ct_repair_stream(struct ct_repair *repair,
				    struct ct_repair_stream *stream) CT_MUST_USE;

#endif
