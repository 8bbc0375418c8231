/*
 * session/client.h - an operator's end of the control sockets: one request to many processes at
 * once.
 *
 * Runs in tools, on one thread.  All processes are asked at the same time, so a hundred cost little
 * more than one, and those that do not answer cost the timeout once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_CLIENT_H
#define CT_SESSION_CLIENT_H

#include "session/message.h"

/* A process that can be asked, or an external writer, of which only directory and jobname are
 * known. */
struct ct_peer {
	char run_directory[4096];
	char directory[256]; /* "1234.0", at whose socket `control` a process answers; "writer" */
	bool is_writer;      /* answers at the socket named after its jobname */
	bool is_done;        /* must not be asked again */
	bool is_cut;         /* ct_directory_is_cut(): it can only be refused */
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;
	char jobname[16];
	char program[256];
	/* of a process whose session this user may not read: its answer to CT_VERB_IDENTIFY */
	struct ct_buf known;
	/* after ct_client_ask() */
	/* OK: `answer` is whole; TIMED_OUT; NOT_FOUND: nobody listens (it has just ended); DENIED;
	 * DAMAGED; UNSUPPORTED: it uses another version; NOT_ENOUGH_MEMORY: all answers together
	 * became too long, and this was the longest; or CT_FIELD_STATUS of its first frame */
	enum ctrace_status status;
	/* all frames, one behind the other; also kept when its first frame reports an error */
	struct ct_buf answer;
};
struct ct_peers {
	struct ct_peer *items; /* in order of ASID */
	size_t count;
};
/* Selects among the live processes in every run directory that this user may read, and in that of
 * another user who lets this one operate them (ct_directory_is_operated()). */
struct ct_peer_filter {
	uint32_t pid;        /* 0: any */
	uint32_t asid;       /* 0: any */
	const char *jobname; /* glob, any case; NULL: any */
};
/* Does the filter want the process with these?  jobname: up to 16 bytes, terminated if shorter. */
bool ct_peer_filter_wants(const struct ct_peer_filter *filter, uint32_t pid, uint32_t asid,
			  const char *jobname);
enum ctrace_status ct_peers_find(const struct ct_peer_filter *filter,
				 struct ct_peers *out) CT_MUST_USE;
void ct_peers_fini(struct ct_peers *peers);
#define CT_CLIENT_KEEPS ((size_t)16 << 20) /* bytes of answers, of all peers together */
#define CT_CLIENT_RING_MS 1000u
/* Sends `request` to each peer and gathers the answers, for at most timeout_ms in all.  The request
 * is one frame or several, one behind the other, which are answered in order.  A dormant process is
 * rung, and has CT_CLIENT_RING_MS to wake; then the request is left to it, and the answer says so.
 * It is not woken for what its session answers.  One that has no socket is asked again for as long,
 * while it lives: it begins or ends. */
void ct_client_ask(struct ct_peers *peers, const struct ct_buf *request, unsigned timeout_ms);
/* Gives the next frame of an answer; *at starts at 0.  Returns false at the end. */
bool ct_client_next(const struct ct_peer *peer, size_t *at, struct ct_message *out);

/* ---- dormant.c: in place of a dormant process */
/* Answers the whole request in peer->answer.  False: only the process can. */
bool ct_dormant_answer(struct ct_peer *peer, const struct ct_buf *request);
/* Refuses every request to a dormant process that has changed its user: nobody can wake it. Returns
 * false for another process. */
bool ct_dormant_refuse(struct ct_peer *peer, const char *directory, const struct ct_buf *request);
/* Leaves the request to the process, whose bell was rung, and answers that.  Statuses as
 * ct_bell_leave(); FAILURE: nothing is left of a question, and the answer says so. */
enum ctrace_status ct_dormant_leave(struct ct_peer *peer, const char *directory,
				    const struct ct_buf *request) CT_MUST_USE;

/* Connects to a Unix stream socket `name` in a directory, whatever the length of the path.
 * Nonblocking, close-on-exec; NOT_FOUND when nobody listens, DENIED when the peer is neither this
 * user nor root. */
enum ctrace_status ct_client_connect(const char *directory, const char *name,
				     int *out_fd) CT_MUST_USE;

#endif
