/*
 * session/connection.h - one operator's connection to a traced process: what came in, what is still
 * to go out.
 *
 * Control thread only.  A connection whose descriptor the program has closed behind our back is
 * never read or written again: its number may be a file of the program's own by now.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_CONNECTION_H
#define CT_SESSION_CONNECTION_H

#include "session/message.h"
#include "session/session.h"

/* Answers one request: appends one or more frames to `answer`.  On the server's thread. */
typedef void ct_server_answer(const struct ct_message *request, struct ct_buf *answer, void *user);
struct ct_server_options {
	/* its directory, and its head: the refused are counted in control_refused; NULL: not
	 * counted */
	struct ct_session *session;
	bool takes_descriptor; /* one may come along with a request: ct_connection.passed */
	ct_server_answer *answer;
	void *user;
	void (*task)(void *user); /* called once on the thread after task_delay_ms; NULL: none */
	unsigned task_delay_ms;
};

struct ct_connection {
	int fd; /* -1: none */
	struct ct_file_id id;
	int passed;           /* a descriptor that came along; -1: none */
	uint64_t complete_ns; /* when its last whole request came, or it itself */
	bool is_ending;       /* nothing more is read; it closes when what is to go out is out */
	bool has_frame;       /* there may be another whole frame in `in` */
	struct ct_buf in;
	size_t in_at; /* what is before it was served */
	struct ct_buf out;
	size_t out_at; /* what is before it was sent */
};
/* Takes over a connected socket. */
void ct_connection_open(struct ct_connection *connection, int fd);
void ct_connection_close(struct ct_connection *connection);
/* What to poll for; 0: nothing, there is something to do already. */
short ct_connection_events(const struct ct_connection *connection);
/* One turn: sends what waits, or else reads, serves at most one request and sends its answer.
 * revents: what poll() said.  False: it is to be closed. */
bool ct_connection_turn(struct ct_connection *connection, short revents,
			const struct ct_server_options *options);
/* Bytes that wait for its peer. */
size_t ct_connection_waiting(const struct ct_connection *connection);

#endif
