/*
 * writer/station.h - what the files of the station share, which is the external writer's main thread:
 *
 *     station.c         its life: the name, the workers, the rounds
 *     station_serve.c   who calls: the sockets
 *     station_answer.c  what it answers
 *     station_links.c   the processes that are connected, until their data are out
 *
 * Each calls those below it; all may tell the operator something.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_WRITER_STATION_H
#define CT_WRITER_STATION_H

#include "session/connection.h"
#include "writer/intake.h"

#define CT_STATION_CALLERS (CT_LINK_LIMIT + 32u)

struct ct_caller {
	struct ct_connection connection;
	struct ct_link *link; /* NULL: an operator */
	bool waits_for_end;   /* an operator who said WTRSTOP */
};

struct ct_station {
	const struct ct_writer_options *options;
	struct ct_server_options serve;
	char folder[4096]; /* <run directory>/writer */
	int folder_fd, lock_fd, listen_fd;
	uint64_t start_ns;
	struct ct_caller *callers[CT_STATION_CALLERS];
	uint32_t caller_count;
	struct ct_caller *current;
	struct ct_link *links[CT_LINK_LIMIT];
	uint32_t link_count;
	bool is_deaf; /* it could not accept */
	struct ct_trcout trcouts[CT_TRCOUT_LIMIT];
	int claims[CT_TRCOUT_LIMIT]; /* of their folders */
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

/* ---- station.c */
/* A message for the operator, which answers give as the last one too.  Any thread. */
void ct_station_tell(const char *text, void *station);

/* ---- station_serve.c */
/* Waits until somebody calls or says something, the station is told to end, or it is time to look again; and serves all who did. */
void ct_station_serve(struct ct_station *station);
/* The end: who said WTRSTOP hears that the data sets are closed, and sees the socket close. */
void ct_station_hang_up(struct ct_station *station);

/* ---- station_answer.c */
/* To station->current, for a connection. */
void ct_station_answer(const struct ct_message *request, struct ct_buf *out, void *station);
void ct_station_answer_status(struct ct_buf *answer, enum ct_verb verb, enum ctrace_status status, uint64_t number);

/* ---- station_links.c */
/* station->current is a process, and has handed in its folder.  *out_count: how many of the destinations that it offers are used. */
enum ctrace_status ct_station_add_link(struct ct_station *station, const struct ct_message *request, uint32_t *out_count) CT_MUST_USE;
/* Its rings are wanted back: CT_RELEASE_FLUSH or _NOW. */
void ct_link_release(struct ct_link *link, uint32_t how);
/* One process that truncates its own files is not the end of the others. */
void ct_station_part_from_damaged(struct ct_station *station);
/* Those that were released, and that no worker has anything of any more. */
void ct_station_remove_done(struct ct_station *station);
/* Does somebody wait for the workers? */
bool ct_station_is_waiting(const struct ct_station *station);
/* Asks each process to want its rings back; which are released as `how` says. */
void ct_station_begin_end(struct ct_station *station, uint32_t how);
/* Whoever does not answer, or whose data set cannot be written, must not keep us for ever: its own agent has the rings then. */
void ct_station_press_on(struct ct_station *station);

#endif
