/*
 * nats_standing.c - ends an attempt to connect to a server that stands still.
 *
 * libnats 3.4 waits for a server's first answer without an end: it reads on, at full speed, when
 * the time for it is over, and a signal does not end that.  So a thread looks at the attempt, and
 * shuts down its socket when that is older than an attempt may be: the read ends, and libnats goes
 * on with the next server.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTORS 1024
#define STANDING_MS (CT_NATS_CONNECT_MS + 1000)

/* The attempt's own socket is one that was not there before it. */
struct standing {
	int done_fd; /* an eventfd: the attempt is over */
	/* by descriptor, 0: none: the sockets before the attempt, and new ones at the last look */
	ino_t before[DESCRIPTORS], attempt[DESCRIPTORS];
};

static ino_t socket_at(int fd)
{
	int domain = 0;
	socklen_t size = sizeof domain;
	struct stat info;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
	    (domain != AF_INET && domain != AF_INET6) || fstat(fd, &info) != 0)
		return 0;
	return info.st_ino;
}

static void *standing_run(void *user)
{
	struct standing *standing = user;
	struct pollfd done = { .fd = standing->done_fd, .events = POLLIN };

	while (poll(&done, 1, STANDING_MS) == 0)
		for (int fd = 0; fd < DESCRIPTORS; fd++) {
			ino_t now = socket_at(fd);

			if (now != 0 && now == standing->attempt[fd])
				(void)shutdown(fd, SHUT_RDWR);
			standing->attempt[fd] = now != standing->before[fd] ? now : 0;
		}
	return NULL;
}

natsStatus ct_nats_connect_watched(natsConnection **out_connection, natsOptions *options)
{
	struct standing standing = { .done_fd = eventfd(0, EFD_CLOEXEC) };
	sigset_t all, mask;
	pthread_t thread;
	natsStatus status;
	bool is_watched;

	for (int fd = 0; fd < DESCRIPTORS; fd++)
		standing.before[fd] = socket_at(fd);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	is_watched = standing.done_fd >= 0 &&
		     pthread_create(&thread, NULL, standing_run, &standing) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	status = natsConnection_Connect(out_connection, options);
	if (is_watched) {
		(void)eventfd_write(standing.done_fd, 1);
		(void)pthread_join(thread, NULL);
	}
	if (standing.done_fd >= 0)
		(void)close(standing.done_fd);
	return status;
}
