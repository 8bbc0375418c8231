/*
 * station_serve.c - who calls an external writer: processes that stay, operators that ask, and strangers.
 *
 * On the station's thread, which never waits for one of them: who is silent gives way to who calls, when there is no room or no descriptor.  Only
 * this user and root are heard.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/station.h"

#include "session/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUSY_MS 5 /* between looks while somebody waits for the workers */
#define IDLE_MS 1000
#define ACCEPTED_A_ROUND 8u /* who came with a request is heard before a crowd pushes it out */
#define DEAF_MS 100         /* where nobody can be heard for want of descriptors */

static void remove_caller(struct ct_station *station, uint32_t index)
{
	struct ct_caller *caller = station->callers[index];

	if (caller->link != NULL)
		ct_link_release(caller->link, CT_RELEASE_FLUSH);
	ct_connection_close(&caller->connection);
	free(caller);
	station->callers[index] = station->callers[--station->caller_count];
}

/* A crowd that says nothing must not keep a process out.  False: there is none who is not linked, or waits for the end. */
static bool remove_most_silent(struct ct_station *station)
{
	uint32_t silent = station->caller_count;

	for (uint32_t i = 0; i < station->caller_count; i++) {
		const struct ct_caller *caller = station->callers[i];

		if (caller->link == NULL && !caller->waits_for_end &&
		    (silent == station->caller_count ||
		     caller->connection.complete_ns < station->callers[silent]->connection.complete_ns))
			silent = i;
	}
	if (silent == station->caller_count)
		return false;
	remove_caller(station, silent);
	return true;
}

static bool may_call(int fd)
{
	uint32_t uid;

	return ct_socket_peer(fd, &uid) && (uid == geteuid() || uid == 0);
}

static void accept_callers(struct ct_station *station)
{
	for (uint32_t i = 0; i < ACCEPTED_A_ROUND; i++) {
		int fd = ct_os_high(accept4(station->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
		struct ct_caller *caller;

		if (fd < 0) {
			/* Without a descriptor this is answered also when nobody else is there; of the first one poll() has told. */
			if (i == 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				station->is_deaf = !remove_most_silent(station);
			return;
		}
		caller = may_call(fd) && (station->caller_count < CT_STATION_CALLERS || remove_most_silent(station))
				 ? calloc(1, sizeof *caller)
				 : NULL;
		if (caller == NULL) {
			ct_os_close(&fd);
			continue;
		}
		ct_connection_open(&caller->connection, fd);
		station->callers[station->caller_count++] = caller;
	}
}

static bool is_busy(const struct ct_station *station)
{
	for (uint32_t i = 0; i < station->caller_count; i++)
		if (ct_connection_events(&station->callers[i]->connection) == 0)
			return true;
	return false;
}

void ct_station_serve(struct ct_station *station)
{
	static struct pollfd fds[CT_STATION_CALLERS + 2];
	uint32_t count = station->caller_count;
	int timeout = is_busy(station) ? 0 : ct_station_is_waiting(station) ? BUSY_MS : station->is_deaf ? DEAF_MS : IDLE_MS;

	for (uint32_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){ .fd = station->callers[i]->connection.fd,
					  .events = ct_connection_events(&station->callers[i]->connection) };
	fds[count] = (struct pollfd){ .fd = station->is_deaf ? -1 : station->listen_fd, .events = POLLIN };
	station->is_deaf = false;
	fds[count + 1] = (struct pollfd){ .fd = station->stopping ? -1 : *station->options->stop_fd, .events = POLLIN };
	if (poll(fds, count + 2, timeout) < 0 && errno != EINTR)
		return;
	for (uint32_t i = count; i > 0; i--) {
		station->current = station->callers[i - 1];
		if (!ct_connection_turn(&station->current->connection, fds[i - 1].revents, &station->serve))
			remove_caller(station, i - 1);
	}
	station->current = NULL;
	if ((fds[count].revents & POLLIN) != 0)
		accept_callers(station);
	if (fds[count + 1].revents != 0)
		ct_station_begin_end(station, CT_RELEASE_FLUSH);
}

void ct_station_hang_up(struct ct_station *station)
{
	for (uint32_t i = 0; i < station->caller_count; i++) {
		struct ct_connection *connection = &station->callers[i]->connection;

		if (station->callers[i]->waits_for_end)
			ct_station_answer_status(&connection->out, CT_VERB_WRITER_STOP, CTRACE_OK, 0);
		(void)ct_connection_turn(connection, POLLOUT, &station->serve);
	}
	while (station->caller_count > 0)
		remove_caller(station, station->caller_count - 1);
}
