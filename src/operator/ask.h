/*
 * operator/ask.h - asks one question of many peers, and passes on their answers frame by frame.
 *
 * Every verb that talks to running processes or external writers uses it: it names the peers, the
 * request and a callback for answers, and peers that gave no response are reported once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_ASK_H
#define CT_OPERATOR_ASK_H

#include "operator/target.h"
#include "operator/wto.h"

struct ask {
	const struct target *target;
	/* where reports go as operator's messages; NULL: to stderr */
	struct wto *wto;
	struct ct_buf request; /* frames; a process answers them in order */
	struct ct_peers peers; /* the peers that are asked */
	bool is_quiet;         /* peers without a response are not reported */
};
void ct_ask_init(struct ask *ask, const struct target *target, struct wto *wto);
void ct_ask_fini(struct ask *ask);

/* Finds the target's processes and recovers orphans on the way.  Returns NOT_FOUND, and reports
 * it, when there is no process; NOT_ENOUGH_MEMORY, which only stderr reports. */
enum ctrace_status ct_ask_find(struct ask *ask) CT_MUST_USE;
/* Finds the external writers that listen in any run directory. */
enum ctrace_status ct_ask_find_writers(struct ask *ask) CT_MUST_USE;
/* Makes *peer the writer of this name whose socket is in this directory. */
void ct_ask_place_writer(struct ct_peer *peer, const char *directory, const char *name);

/* One frame of the answer to request number `request`; NULL when the peer's answer is missing or
 * incomplete. */
typedef void ct_ask_frame(const struct ct_peer *peer, size_t request,
			  const struct ct_message *frame, void *user);
/* Sends the request to all peers, waits for at most the target's time, reports peers without a
 * response, and passes all answers to the callback.  Returns how many peers gave no response. */
uint32_t ct_ask_run(struct ask *ask, ct_ask_frame *frame, void *user);
/* The steps of ct_ask_run().  Answers come in the order of the peers. */
void ct_ask_send(struct ask *ask);
uint32_t ct_ask_report(const struct ask *ask);
void ct_ask_fold(const struct ask *ask, ct_ask_frame *frame, void *user);

/* Returns the end of a sentence: the reason why the peer gave no response; NULL when the peer
 * answered or has ended since. */
const char *ct_ask_no_response(const struct ct_peer *peer);
/* Prints "1234 KVSERVER", as every verb names a process to people. */
void ct_ask_print_name(FILE *to, const struct ct_peer *peer);
/* Appends "process 1234 ASID 0012 JOBNAME KVSERVER", as operator's messages name a process. */
void ct_ask_add_process(struct ct_buf *out, const struct ct_peer *peer);
/* Adds to a message which run directories are refused, and why. */
void ct_ask_add_refused(struct ct_buf *out);
/* Reports on stderr that there is no such process or writer, and that the run directory of
 * CTRACE_RUN_DIR cannot be used, if so. */
void ct_ask_diagnose_nobody(const struct target *target, const char *what);

#endif
