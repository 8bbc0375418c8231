/*
 * station.c - an external writer's life: it takes its name, starts its workers, serves until it is to end, and leaves.
 *
 * ct_writer_run() serves sockets on the calling thread and leaves writing to the workers (intake.c).  A process connects and hands in its
 * folder's descriptor; its socket stays open as long as both live.  When it closes, the process has ended: what waits in its rings is
 * written, and then its folder is recovered.  When the writer is to end, it asks each process to want its rings back, writes what was
 * committed (FLUSH) or not (NOFLUSH), gives the rings back and goes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/station.h"

#include "session/client.h"
#include "session/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define UP_MS 300u

void ct_station_tell(const char *text, void *user)
{
	struct ct_station *station = user;

	(void)pthread_mutex_lock(&station->message_lock);
	(void)snprintf(station->message, sizeof station->message, "%.255s", text);
	station->options->message(text, station->options->user);
	(void)pthread_mutex_unlock(&station->message_lock);
}

/* ---- the name ---- */

/* Nobody else may put a socket there that takes our name. */
static bool is_private(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static enum ctrace_status take_name(struct ct_station *station)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[CTRACE_MAX_NAME + 8];
	enum ctrace_status status = ct_os_make_folder(station->folder);

	if (status == CTRACE_NOT_FOUND) /* a file, or a link to nowhere */
		return CTRACE_DENIED;
	if (status != CTRACE_OK)
		return status;
	station->folder_fd = open(station->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (station->folder_fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? CTRACE_DENIED : CTRACE_OS_ERROR;
	if (!is_private(station->folder_fd))
		return CTRACE_DENIED;
	(void)snprintf(name, sizeof name, "%s.lock", station->options->procedure->name);
	status = ct_os_open_file(station->folder_fd, name, O_RDWR | O_CREAT, &station->lock_fd);
	if (status != CTRACE_OK)
		return status;
	if (fcntl(station->lock_fd, F_OFD_SETLK, &lock) != 0)
		return CTRACE_TIMED_OUT;
	return ct_socket_listen(station->folder_fd, station->folder, station->options->procedure->name, &station->listen_fd);
}

static void leave_name(struct ct_station *station)
{
	if (station->listen_fd >= 0)
		(void)unlinkat(station->folder_fd, station->options->procedure->name, 0);
	ct_os_close(&station->listen_fd);
	ct_os_close(&station->lock_fd);
	ct_os_close(&station->folder_fd);
	while (station->claim_count > 0)
		ct_os_close(&station->claims[--station->claim_count]);
}

static int fail_to_start(struct ct_station *station, enum ctrace_status status)
{
	const char *name = station->options->procedure->name;
	const char *why = status == CTRACE_OS_ERROR ? strerror(errno)
			  : status == CTRACE_DENIED ? "it is no folder of this user's, or others may write to it"
						    : ctrace_status_text(status);
	char text[4400];

	if (status == CTRACE_TIMED_OUT)
		(void)snprintf(text, sizeof text, "CTR105E CTRACE WRITER %s IS RUNNING ALREADY (%s)", name, station->folder);
	else
		(void)snprintf(text, sizeof text, "CTR106E CTRACE WRITER %s: %s: %s", name, station->folder, why);
	ct_station_tell(text, station);
	leave_name(station);
	return 1;
}

/* ---- the workers ---- */

static bool claim(struct ct_station *station, const struct ct_trcout *trcout)
{
	if (ct_trcout_claim(trcout, &station->claims[station->claim_count]) != CTRACE_OK)
		return false;
	station->claim_count++;
	return true;
}

static bool start_workers(struct ct_station *station)
{
	const struct ct_procedure *procedure = station->options->procedure;

	for (uint32_t i = 0; i < procedure->trcout_count; i++) {
		struct ct_trcout *trcout = &station->trcouts[i];
		char text[4400];

		*trcout = (struct ct_trcout){ .procedure = procedure,
					      .index = i,
					      .stop = &station->stop,
					      .links = station->links,
					      .link_count = &station->link_count,
					      .message = ct_station_tell,
					      .user = station };
		(void)pthread_mutex_init(&trcout->lock, NULL);
		errno = 0;
		if (!claim(station, trcout) || ct_trcout_open(trcout) != CTRACE_OK) {
			(void)snprintf(text, sizeof text, "CTR103E TRCOUT%02u CANNOT BE OPENED: %s: %s", procedure->number[i],
				       procedure->trcout[i].path, errno != 0 ? strerror(errno) : "it is not ours");
			ct_station_tell(text, station);
			return false;
		}
		if (ct_os_thread_start(ct_intake_run, trcout, "ctrace-trcout", &trcout->thread) != CTRACE_OK) {
			ct_station_tell("CTR104E NO THREAD FOR A TRCOUT", station);
			return false;
		}
		station->workers++;
	}
	return true;
}

static void stop_workers(struct ct_station *station)
{
	__atomic_store_n(&station->stop, 1, __ATOMIC_RELEASE);
	ct_os_wake(&station->stop);
	for (uint32_t i = 0; i < station->workers; i++) {
		ct_os_wake(&station->stop);
		(void)pthread_join(station->trcouts[i].thread, NULL);
	}
}

/* ---- life ---- */

/* Who named us before we came connects now. */
static void call_processes(struct ct_station *station)
{
	const struct ct_peer_filter everybody = { 0 };
	struct ct_peers peers;
	struct ct_buf request;
	size_t start;

	ct_buf_init(&request);
	start = ct_message_start(&request, CT_VERB_WRITER_UP, 0);
	ct_message_add_text(&request, CT_FIELD_VALUE, station->options->procedure->name);
	if (ct_message_end(&request, start) == CTRACE_OK && ct_peers_find(&everybody, &peers) == CTRACE_OK) {
		ct_client_ask(&peers, &request, UP_MS);
		ct_peers_fini(&peers);
	}
	ct_buf_fini(&request);
}

static int run(struct ct_station *station)
{
	enum ctrace_status status = take_name(station);

	if (status != CTRACE_OK)
		return fail_to_start(station, status);
	if (!start_workers(station)) {
		stop_workers(station);
		leave_name(station);
		return 1;
	}
	station->options->ready(station->options->user);
	call_processes(station);
	while (!station->stopping || station->link_count != 0) {
		ct_station_serve(station);
		ct_station_part_from_damaged(station);
		ct_station_remove_done(station);
		if (station->stopping)
			ct_station_press_on(station);
	}
	stop_workers(station);
	ct_station_hang_up(station);
	leave_name(station);
	return 0;
}

/* A link takes three descriptors, and some for each data set that it writes to. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int ct_writer_run(const struct ct_writer_options *options)
{
	struct ct_station *station = calloc(1, sizeof *station);
	int result;

	if (station == NULL)
		return 1;
	raise_limit();
	ct_guard_start();
	station->options = options;
	station->serve = (struct ct_server_options){ .takes_descriptor = true, .answer = ct_station_answer, .user = station };
	station->folder_fd = station->lock_fd = station->listen_fd = -1;
	station->start_ns = ct_clock_wall_ns();
	(void)pthread_mutex_init(&station->message_lock, NULL);
	(void)snprintf(station->folder, sizeof station->folder, "%s/" CT_WRITER_FOLDER, options->run_directory);
	result = run(station);
	free(station);
	return result;
}
