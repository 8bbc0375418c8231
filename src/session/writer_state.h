/*
 * session/writer_state.h - the state that an external writer reports to operators.
 *
 * The answers to CT_VERB_WRITER_STATUS have these structures as in memory.  `size` is the first
 * member, so they can grow.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_WRITER_STATE_H
#define CT_SESSION_WRITER_STATE_H

#include <stdint.h>

struct ct_writer_state {
	uint32_t size;
	uint32_t pid;
	uint64_t start_ns;
	char name[16];
	uint8_t nowrap;
	uint8_t compress;
	uint8_t stopping;
	uint8_t is_full; /* NOWRAP: every TRCOUT is full */
	uint32_t trcouts;
	uint32_t links;
	uint32_t reserved;
	uint64_t events; /* written */
	uint64_t bytes;
	uint64_t wrapped_events; /* written, and overwritten since (WRAP) */
	uint64_t full_events;    /* not written for lack of room (NOWRAP) */
	char message[256];       /* its last message for the operator */
};
struct ct_trcout_state {
	uint32_t size;
	uint32_t number; /* 1 to 16 */
	uint64_t limit;  /* bytes */
	uint64_t used;
	uint64_t events;
	uint64_t bytes;
	uint64_t wrapped_events;
	uint64_t full_events;
	uint32_t failing; /* errno */
	uint32_t is_open; /* the one of the group that is written to */
	char path[4096];
};
struct ct_link_state {
	uint32_t size;
	uint32_t pid;
	uint32_t asid;
	uint32_t rings;
	uint64_t events;
	char jobname[16];
	char traces[512]; /* names of the connected traces, blanks between, cut with "..." */
};

#endif
