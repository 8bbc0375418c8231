/*
 * writer/writer_server.h - the interface between the files of the writer server, which is the
 * external writer's main thread:
 *
 *     writer_server.c         its life: the name, the workers, the sockets, the answers
 *     writer_server_links.c   the connected processes, until their data are written
 *
 * The first calls the second; both may send messages to the operator.
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
	bool waits_for_end;   /* an operator that sent WTRSTOP */
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
	bool is_starting; /* waits for processes to connect */
	uint32_t coming;  /* atomic: how many will connect, or COMING_UNKNOWN */
	bool is_deaf;     /* accept() failed for want of descriptors */
	struct ct_trcout_group group;
	int locks[CT_TRCOUT_LIMIT]; /* descriptors of the locked directories */
	uint32_t lock_count;
	bool has_worker;
	uint32_t stop; /* the worker's stop word */
	bool stopping;
	uint32_t stop_release; /* CT_RELEASE_FLUSH or _NOW */
	uint64_t stop_ns;
	uint64_t progress, progress_ns;
	pthread_mutex_t message_lock;
	char message[256];
};

/* ---- writer_server.c */
/* Sends a message to the operator; answers also carry it as the last message.  Any thread. */
void ct_writer_server_report(const char *text, void *writer_server);

/* ---- writer_server_links.c */
/* Adds writer_server->current, a process that has passed its directory.  *out_count: how many of
 * the destinations that it offers are used. */
enum ctrace_status ct_writer_server_add_link(struct ct_writer_server *writer_server,
					     const struct ct_message *request,
					     uint32_t *out_count) CT_MUST_USE;
/* Asks the worker to hand the rings of a link back: CT_RELEASE_FLUSH or _NOW. */
void ct_link_release(struct ct_link *link, uint32_t how);
/* Releases links whose process truncates its own files, so that the others go on. */
void ct_writer_server_part_from_damaged(struct ct_writer_server *writer_server);
/* Removes links that are released and that the worker has handed back. */
void ct_writer_server_remove_done(struct ct_writer_server *writer_server);
/* True when a release or the end waits for the worker. */
bool ct_writer_server_is_waiting(const struct ct_writer_server *writer_server);
/* Begins the end: asks each process to withdraw its rings, which are released according to `how`.
 */
void ct_writer_server_begin_end(struct ct_writer_server *writer_server, uint32_t how);
/* Releases the rings of a process that does not answer, or of a data set that cannot be written,
 * so that the end is not delayed for ever.  The process's own consumer thread gets the rings
 * then. */
void ct_writer_server_press_on(struct ct_writer_server *writer_server);

#endif
