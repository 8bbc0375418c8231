/*
 * operator/ask.h - one question to everybody who is meant, and their answers, one frame after the
 * other.
 *
 * Every verb that talks to running processes or external writers asks in this way: who is asked,
 * the request, a callback for what comes back, one report of who gave no response.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_ASK_H
#define CT_TOOLS_ASK_H

#include "operator/target.h"
#include "operator/wto.h"

struct ask {
	const struct target *target;
	struct wto *wto;       /* reports are operator's messages; NULL: they go to stderr */
	struct ct_buf request; /* frames; a process answers them in order */
	struct ct_peers peers; /* who is asked */
	bool is_quiet;         /* nothing is reported of those who give no response */
};
void ct_ask_init(struct ask *ask, const struct target *target, struct wto *wto);
void ct_ask_fini(struct ask *ask);

/* Finds the target's processes and recovers orphans on the way.  NOT_FOUND, and reports it, when
 * there is none; NOT_ENOUGH_MEMORY, which only stderr reports. */
enum ctrace_status ct_ask_find(struct ask *ask) CT_MUST_USE;
/* Finds the external writers that listen in any run directory. */
enum ctrace_status ct_ask_find_writers(struct ask *ask) CT_MUST_USE;
/* Makes *peer the writer of this name whose socket is in this directory. */
void ct_ask_place_writer(struct ct_peer *peer, const char *directory, const char *name);

/* A frame of the answer to request number `request`; NULL: the peer gave no response, or not all of
 * it. */
typedef void ct_ask_frame(const struct ct_peer *peer, size_t request,
			  const struct ct_message *frame, void *user);
/* Sends the request to all peers, waits for the target's time at most, reports who gave no
 * response, and gives the callback the answers.  Returns how many gave no response. */
uint32_t ct_ask_run(struct ask *ask, ct_ask_frame *frame, void *user);
/* Its parts.  The answers come in the order of the peers. */
void ct_ask_send(struct ask *ask);
uint32_t ct_ask_report(const struct ask *ask);
void ct_ask_fold(const struct ask *ask, ct_ask_frame *frame, void *user);

/* The end of a sentence: why the peer gave no response.  NULL when it did, or has ended meanwhile.
 */
const char *ct_ask_no_response(const struct ct_peer *peer);
/* "1234 KVSERVER", as every verb names a process to people. */
void ct_ask_print_name(FILE *to, const struct ct_peer *peer);
/* "process 1234 ASID 0012 JOBNAME KVSERVER", as operator's messages do. */
void ct_ask_add_process(struct ct_buf *out, const struct ct_peer *peer);
/* Reports on stderr that nobody is there, and a run directory of CTRACE_RUN_DIR that cannot be
 * used. */
void ct_ask_diagnose_nobody(const struct target *target, const char *what);

#endif
