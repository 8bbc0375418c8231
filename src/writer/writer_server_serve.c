/*
 * writer_server_serve.c - the sockets of an external writer: connected processes, operators, and
 * strangers.
 *
 * On the writer server's thread, which never waits for one peer.  When connections or descriptors
 * run out, the peer without a request for longest is closed.  Only this user and root are accepted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer_server.h"

#include "session/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUSY_MS 5 /* between rounds while the end of a release is awaited */
#define IDLE_MS 1000
#define ACCEPTED_A_ROUND \
	8u /* a peer that sends its request at once is served before later ones displace it */
#define DEAF_MS 100 /* pause after accept() failed for want of descriptors */

static void caller_remove(struct ct_writer_server *writer_server, uint32_t index)
{
	struct ct_caller *caller = writer_server->callers[index];

	if (caller->link != NULL)
		ct_link_release(caller->link, CT_RELEASE_FLUSH);
	ct_connection_close(&caller->connection);
	free(caller);
	writer_server->callers[index] = writer_server->callers[--writer_server->caller_count];
}

/* Closes the connection without a request for longest, so that idle connections cannot keep a
 * process out.  False: each has a link or waits for the end. */
static bool caller_remove_most_silent(struct ct_writer_server *writer_server)
{
	uint32_t silent = writer_server->caller_count;

	for (uint32_t i = 0; i < writer_server->caller_count; i++) {
		const struct ct_caller *caller = writer_server->callers[i];

		if (caller->link == NULL && !caller->waits_for_end &&
		    (silent == writer_server->caller_count ||
		     caller->connection.complete_ns <
			     writer_server->callers[silent]->connection.complete_ns))
			silent = i;
	}
	if (silent == writer_server->caller_count)
		return false;
	caller_remove(writer_server, silent);
	return true;
}

static bool caller_is_allowed(int fd)
{
	uint32_t uid;

	return ct_socket_peer(fd, &uid) && (uid == geteuid() || uid == 0);
}

static void callers_accept(struct ct_writer_server *writer_server)
{
	for (uint32_t i = 0; i < ACCEPTED_A_ROUND; i++) {
		int fd = ct_os_high(accept4(writer_server->listen_fd, NULL, NULL,
					    SOCK_NONBLOCK | SOCK_CLOEXEC));
		struct ct_caller *caller;

		if (fd < 0) {
			/* Without a free descriptor accept() reports this even when no peer
			 * waits.  Only for the first one has poll() announced a peer. */
			if (i == 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				writer_server->is_deaf = !caller_remove_most_silent(writer_server);
			return;
		}
		caller = caller_is_allowed(fd) &&
					 (writer_server->caller_count < CT_WRITER_SERVER_CALLERS ||
					  caller_remove_most_silent(writer_server))
				 ? calloc(1, sizeof *caller)
				 : NULL;
		if (caller == NULL) {
			ct_os_close(&fd);
			continue;
		}
		ct_connection_open(&caller->connection, fd);
		writer_server->callers[writer_server->caller_count++] = caller;
	}
}

static bool callers_are_busy(const struct ct_writer_server *writer_server)
{
	for (uint32_t i = 0; i < writer_server->caller_count; i++)
		if (ct_connection_events(&writer_server->callers[i]->connection) == 0)
			return true;
	return false;
}

void ct_writer_server_serve(struct ct_writer_server *writer_server)
{
	static struct pollfd fds[CT_WRITER_SERVER_CALLERS + 2];
	uint32_t count = writer_server->caller_count;
	int timeout = callers_are_busy(writer_server)              ? 0
		      : ct_writer_server_is_waiting(writer_server) ? BUSY_MS
		      : writer_server->is_deaf                     ? DEAF_MS
								   : IDLE_MS;

	for (uint32_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){ .fd = writer_server->callers[i]->connection.fd,
					  .events = ct_connection_events(
						  &writer_server->callers[i]->connection) };
	fds[count] = (struct pollfd){ .fd = writer_server->is_deaf ? -1 : writer_server->listen_fd,
				      .events = POLLIN };
	writer_server->is_deaf = false;
	fds[count + 1] =
		(struct pollfd){ .fd = writer_server->stopping ? -1
							       : *writer_server->options->stop_fd,
				 .events = POLLIN };
	if (poll(fds, count + 2, timeout) < 0 && errno != EINTR)
		return;
	for (uint32_t i = count; i > 0; i--) {
		writer_server->current = writer_server->callers[i - 1];
		if (!ct_connection_turn(&writer_server->current->connection, fds[i - 1].revents,
					&writer_server->serve))
			caller_remove(writer_server, i - 1);
	}
	writer_server->current = NULL;
	if ((fds[count].revents & POLLIN) != 0)
		callers_accept(writer_server);
	if (fds[count + 1].revents != 0)
		ct_writer_server_begin_end(writer_server, CT_RELEASE_FLUSH);
}

void ct_writer_server_hang_up(struct ct_writer_server *writer_server)
{
	for (uint32_t i = 0; i < writer_server->caller_count; i++) {
		struct ct_connection *connection = &writer_server->callers[i]->connection;

		if (writer_server->callers[i]->waits_for_end)
			ct_writer_server_answer_status(&connection->out, CT_VERB_WRITER_STOP,
						       CTRACE_OK, 0);
		(void)ct_connection_turn(connection, POLLOUT, &writer_server->serve);
	}
	while (writer_server->caller_count > 0)
		caller_remove(writer_server, writer_server->caller_count - 1);
}
