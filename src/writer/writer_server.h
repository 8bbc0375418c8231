/*
 * writer/writer_server.h - what the files of the writer server share, which is the external
 * writer's main thread:
 *
 *     writer_server.c         its life: the name, the workers, the rounds
 *     writer_server_serve.c   who calls: the sockets
 *     writer_server_answer.c  what it answers
 *     writer_server_links.c   the processes that are connected, until their data are out
 *
 * Each calls those below it; all may tell the operator something.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_WRITER_WRITER_SERVER_H
#define CT_WRITER_WRITER_SERVER_H

#include "session/connection.h"
#include "writer/ring_consumer.h"

#define CT_WRITER_SERVER_CALLERS (CT_LINK_LIMIT + 32u)

struct ct_caller {
	struct ct_connection connection;
	struct ct_link *link; /* NULL: an operator */
	bool waits_for_end;   /* an operator who said WTRSTOP */
};

struct ct_writer_server {
	const struct ct_writer_options *options;
	struct ct_server_options serve;
	char directory[4096]; /* <run directory>/writer */
	int directory_fd, lock_fd, listen_fd;
	uint64_t start_ns;
	struct ct_caller *callers[CT_WRITER_SERVER_CALLERS];
	uint32_t caller_count;
	struct ct_caller *current;
	struct ct_link *links[CT_LINK_LIMIT];
	uint32_t link_count;
	bool is_deaf; /* it could not accept */
	struct ct_trcout trcouts[CT_TRCOUT_LIMIT];
	int claims[CT_TRCOUT_LIMIT]; /* of their directories */
	uint32_t claim_count;
	uint32_t workers; /* that run */
	uint32_t stop;    /* theirs */
	bool stopping;
	uint32_t stop_release; /* CT_RELEASE_FLUSH or _NOW */
	uint64_t stop_ns;
	uint64_t progress, progress_ns;
	pthread_mutex_t message_lock;
	char message[256];
};

/* ---- writer_server.c */
/* A message for the operator, which answers give as the last one too.  Any thread. */
void ct_writer_server_tell(const char *text, void *writer_server);

/* ---- writer_server_serve.c */
/* Waits until somebody calls or says something, the writer server is told to end, or it is time to
 * look again; and serves all who did. */
void ct_writer_server_serve(struct ct_writer_server *writer_server);
/* The end: who said WTRSTOP hears that the data sets are closed, and sees the socket close. */
void ct_writer_server_hang_up(struct ct_writer_server *writer_server);

/* ---- writer_server_answer.c */
/* To writer_server->current, for a connection. */
void ct_writer_server_answer(const struct ct_message *request, struct ct_buf *out,
			     void *writer_server);
void ct_writer_server_answer_status(struct ct_buf *answer, enum ct_verb verb,
				    enum ctrace_status status, uint64_t number);

/* ---- writer_server_links.c */
/* writer_server->current is a process, and has handed in its directory.  *out_count: how many of
 * the destinations that it offers are used. */
enum ctrace_status ct_writer_server_add_link(struct ct_writer_server *writer_server,
					     const struct ct_message *request,
					     uint32_t *out_count) CT_MUST_USE;
/* Its rings are wanted back: CT_RELEASE_FLUSH or _NOW. */
void ct_link_release(struct ct_link *link, uint32_t how);
/* One process that truncates its own files is not the end of the others. */
void ct_writer_server_part_from_damaged(struct ct_writer_server *writer_server);
/* Those that were released, and that no worker has anything of any more. */
void ct_writer_server_remove_done(struct ct_writer_server *writer_server);
/* Does somebody wait for the workers? */
bool ct_writer_server_is_waiting(const struct ct_writer_server *writer_server);
/* Asks each process to want its rings back; which are released as `how` says. */
void ct_writer_server_begin_end(struct ct_writer_server *writer_server, uint32_t how);
/* Whoever does not answer, or whose data set cannot be written, must not keep us for ever: its own
 * consumer thread has the rings then. */
void ct_writer_server_press_on(struct ct_writer_server *writer_server);

#endif
