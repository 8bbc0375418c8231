/*
 * session/connection.h - one operator's connection to a traced process: its unserved input and
 * unsent output.
 *
 * Control thread only.  A connection whose descriptor the program has closed is never read or
 * written again: its number may be the program's own file by now.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_CONNECTION_H
#define CT_SESSION_CONNECTION_H

#include "session/message.h"
#include "session/session.h"

/* A peer; a member if it is neither this user nor root. */
struct ct_member {
	bool is_member; /* false: this user, or root */
	bool commands;  /* false: a member who only displays */
	uint32_t uid, pid;
};
/* Returns whether this member is let in, and sets `commands`.  uid and pid are set.  Called when it
 * connects, and before each of its requests. */
typedef bool ct_server_admit(int fd, struct ct_member *member);
/* As ct_server_answer, for a request of a member. */
typedef void ct_server_answer_member(const struct ct_message *request,
				     const struct ct_member *member, struct ct_buf *answer,
				     void *user);
/* Answers one request: appends one or more frames to `answer`.  On the server's thread. */
typedef void ct_server_answer(const struct ct_message *request, struct ct_buf *answer, void *user);
struct ct_server_options {
	/* for its directory, and for control_refused in its head, which counts refused connections;
	 * NULL: not counted */
	struct ct_session *session;
	bool takes_descriptor; /* a request may carry a descriptor: ct_connection.passed */
	ct_server_answer *answer;
	/* NULL, both: only this user and root are let in */
	ct_server_admit *admit;
	ct_server_answer_member *answer_member;
	void *user;
	/* called first of all on the thread; NULL: none */
	void (*begin)(void *user);
	void (*task)(void *user); /* called once on the thread after task_delay_ms; NULL: none */
	unsigned task_delay_ms;
};

struct ct_connection {
	int fd; /* -1: none */
	struct ct_file_id id;
	struct ct_member member;
	int passed;           /* the descriptor of a request; -1: none */
	uint64_t complete_ns; /* time of its last whole request, or else of the connection */
	bool is_ending;       /* no more is read; it closes when its output is sent */
	bool has_frame;       /* there may be another whole frame in `in` */
	struct ct_buf in;
	size_t in_at; /* the bytes before it are served */
	struct ct_buf out;
	size_t out_at; /* the bytes before it are sent */
};
/* Takes over a connected socket. */
void ct_connection_open(struct ct_connection *connection, int fd);
void ct_connection_close(struct ct_connection *connection);
/* Returns the events to poll for; 0 when there is work already. */
short ct_connection_events(const struct ct_connection *connection);
/* One turn: sends what waits, or else reads, serves at most one request and sends its answer.
 * revents: from poll().  Returns false when the caller must close the connection. */
bool ct_connection_turn(struct ct_connection *connection, short revents,
			const struct ct_server_options *options);
/* Returns the number of bytes that wait for the peer. */
size_t ct_connection_waiting(const struct ct_connection *connection);

#endif
