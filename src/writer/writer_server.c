/*
 * writer_server.c - the life of an external writer: takes its name, starts its workers, serves
 * requests until its end, and removes its socket.
 *
 * ct_writer_run() serves sockets on the calling thread; the workers write (ring_consumer.c).  A
 * process connects and passes its directory's descriptor.  Its socket stays open as long as both
 * live.  When it closes, the process has ended: the writer writes the events left in its rings and
 * then recovers its directory.  To end, the writer asks each process to withdraw its rings, writes
 * the committed events (FLUSH) or not (NOFLUSH), hands the rings back and exits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer_server.h"

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

void ct_writer_server_tell(const char *text, void *user)
{
	struct ct_writer_server *writer_server = user;

	(void)pthread_mutex_lock(&writer_server->message_lock);
	(void)snprintf(writer_server->message, sizeof writer_server->message, "%.255s", text);
	writer_server->options->message(text, writer_server->options->user);
	(void)pthread_mutex_unlock(&writer_server->message_lock);
}

/* ---- the name ---- */

/* True when no other user can put a socket there under our name. */
static bool directory_is_private(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
	       (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static enum ctrace_status server_take_name(struct ct_writer_server *writer_server)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[CTRACE_MAX_NAME + 8];
	enum ctrace_status status = ct_os_make_directory(writer_server->directory);

	if (status == CTRACE_NOT_FOUND) /* a file, or a link to nowhere */
		return CTRACE_DENIED;
	if (status != CTRACE_OK)
		return status;
	writer_server->directory_fd =
		open(writer_server->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (writer_server->directory_fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? CTRACE_DENIED : CTRACE_OS_ERROR;
	if (!directory_is_private(writer_server->directory_fd))
		return CTRACE_DENIED;
	(void)snprintf(name, sizeof name, "%s.lock", writer_server->options->procedure->name);
	status = ct_os_open_file(writer_server->directory_fd, name, O_RDWR | O_CREAT,
				 &writer_server->lock_fd);
	if (status != CTRACE_OK)
		return status;
	if (fcntl(writer_server->lock_fd, F_OFD_SETLK, &lock) != 0)
		return CTRACE_TIMED_OUT;
	return ct_socket_listen(writer_server->directory_fd, writer_server->directory,
				writer_server->options->procedure->name, &writer_server->listen_fd);
}

static void server_leave_name(struct ct_writer_server *writer_server)
{
	if (writer_server->listen_fd >= 0)
		(void)unlinkat(writer_server->directory_fd, writer_server->options->procedure->name,
			       0);
	ct_os_close(&writer_server->listen_fd);
	ct_os_close(&writer_server->lock_fd);
	ct_os_close(&writer_server->directory_fd);
	while (writer_server->lock_count > 0)
		ct_os_close(&writer_server->locks[--writer_server->lock_count]);
}

static int server_fail_to_start(struct ct_writer_server *writer_server, enum ctrace_status status)
{
	const char *name = writer_server->options->procedure->name;
	const char *why = status == CTRACE_OS_ERROR ? strerror(errno)
			  : status == CTRACE_DENIED
				  ? "it is no directory of this user's, or others may write to it"
				  : ctrace_status_text(status);
	char text[4400];

	if (status == CTRACE_TIMED_OUT)
		(void)snprintf(text, sizeof text,
			       "CTR105E CTRACE WRITER %s IS RUNNING ALREADY (%s)", name,
			       writer_server->directory);
	else
		(void)snprintf(text, sizeof text, "CTR106E CTRACE WRITER %s: %s: %s", name,
			       writer_server->directory, why);
	ct_writer_server_tell(text, writer_server);
	server_leave_name(writer_server);
	return 1;
}

/* ---- the workers ---- */

static bool server_lock_directory(struct ct_writer_server *writer_server,
				  const struct ct_trcout *trcout)
{
	if (ct_trcout_lock_directory(trcout, &writer_server->locks[writer_server->lock_count]) !=
	    CTRACE_OK)
		return false;
	writer_server->lock_count++;
	return true;
}

static bool workers_start(struct ct_writer_server *writer_server)
{
	const struct ct_procedure *procedure = writer_server->options->procedure;

	for (uint32_t i = 0; i < procedure->trcout_count; i++) {
		struct ct_trcout *trcout = &writer_server->trcouts[i];
		char text[4400];

		*trcout = (struct ct_trcout){ .procedure = procedure,
					      .index = i,
					      .stop = &writer_server->stop,
					      .links = writer_server->links,
					      .link_count = &writer_server->link_count,
					      .message = ct_writer_server_tell,
					      .user = writer_server };
		(void)pthread_mutex_init(&trcout->lock, NULL);
		errno = 0;
		if (!server_lock_directory(writer_server, trcout) ||
		    ct_trcout_open(trcout) != CTRACE_OK) {
			(void)snprintf(text, sizeof text,
				       "CTR103E TRCOUT%02u CANNOT BE OPENED: %s: %s",
				       procedure->number[i], procedure->trcout[i].path,
				       errno != 0 ? strerror(errno) : "it is not ours");
			ct_writer_server_tell(text, writer_server);
			return false;
		}
		if (ct_os_thread_start(ct_ring_consumer_run, trcout, "ctrace-trcout",
				       &trcout->thread) != CTRACE_OK) {
			ct_writer_server_tell("CTR104E NO THREAD FOR A TRCOUT", writer_server);
			return false;
		}
		writer_server->workers++;
	}
	return true;
}

static void workers_stop(struct ct_writer_server *writer_server)
{
	__atomic_store_n(&writer_server->stop, 1, __ATOMIC_RELEASE);
	ct_os_wake(&writer_server->stop);
	for (uint32_t i = 0; i < writer_server->workers; i++) {
		ct_os_wake(&writer_server->stop);
		(void)pthread_join(writer_server->trcouts[i].thread, NULL);
	}
}

/* ---- life ---- */

/* Makes processes connect that named this writer before it started. */
static void server_call_processes(struct ct_writer_server *writer_server)
{
	const struct ct_peer_filter everybody = { 0 };
	struct ct_peers peers;
	struct ct_buf request;
	size_t start;

	ct_buf_init(&request);
	start = ct_message_start(&request, CT_VERB_WRITER_UP, 0);
	ct_message_add_text(&request, CT_FIELD_VALUE, writer_server->options->procedure->name);
	if (ct_message_end(&request, start) == CTRACE_OK &&
	    ct_peers_find(&everybody, &peers) == CTRACE_OK) {
		ct_client_ask(&peers, &request, UP_MS);
		ct_peers_fini(&peers);
	}
	ct_buf_fini(&request);
}

static int server_run(struct ct_writer_server *writer_server)
{
	enum ctrace_status status = server_take_name(writer_server);

	if (status != CTRACE_OK)
		return server_fail_to_start(writer_server, status);
	if (!workers_start(writer_server)) {
		workers_stop(writer_server);
		server_leave_name(writer_server);
		return 1;
	}
	writer_server->options->ready(writer_server->options->user);
	server_call_processes(writer_server);
	while (!writer_server->stopping || writer_server->link_count != 0) {
		ct_writer_server_serve(writer_server);
		ct_writer_server_part_from_damaged(writer_server);
		ct_writer_server_remove_done(writer_server);
		if (writer_server->stopping)
			ct_writer_server_press_on(writer_server);
	}
	workers_stop(writer_server);
	ct_writer_server_hang_up(writer_server);
	server_leave_name(writer_server);
	return 0;
}

/* A link takes three descriptors, and some for each data set that it writes to. */
static void descriptors_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int ct_writer_run(const struct ct_writer_options *options)
{
	struct ct_writer_server *writer_server = calloc(1, sizeof *writer_server);
	int result;

	if (writer_server == NULL)
		return 1;
	descriptors_raise_limit();
	ct_guard_start();
	writer_server->options = options;
	writer_server->serve = (struct ct_server_options){ .takes_descriptor = true,
							   .answer = ct_writer_server_answer,
							   .user = writer_server };
	writer_server->directory_fd = writer_server->lock_fd = writer_server->listen_fd = -1;
	writer_server->start_ns = ct_clock_wall_ns();
	(void)pthread_mutex_init(&writer_server->message_lock, NULL);
	(void)snprintf(writer_server->directory, sizeof writer_server->directory,
		       "%s/" CT_WRITER_DIRECTORY, options->run_directory);
	result = server_run(writer_server);
	free(writer_server);
	return result;
}
