/*
 * kvserver.c - a key-value server on a Unix socket, with component trace.
 *
 *     cc -O2 -o kvserver kvserver.c kvline.c kvtrace.c kvoperator.c kvstore.c $(pkg-config --cflags
 * --libs ctrace) -pthread CTRACE_PARMLIB=$PWD MFTRACE_CONFIG=kvserver.cfg ./kvserver kv.socket
 * CTKVSRV0
 *
 * CTKVSRV0 is the parmlib member that says what is traced from the start; without one nothing is
 * until an operator says so.  The server ends on SIGTERM or SIGINT.  Its protocol is lines of at
 * most 4,096 bytes, each answered by one line:
 *
 *     GET key             VALUE value, or NONE
 *     PUT key value       OK; the value is the rest of the line
 *     DEL key             OK, or NONE
 *     COUNT               COUNT n
 *     TRACE ...           kvoperator.c
 *
 * Look first at work() and serve(): a fixed number of threads serve one connection each; who comes
 * when all are taken waits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "kvserver.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define WORKERS 32

static struct worker {
	pthread_t thread;
	int fd; /* of its connection, -1: none */
} workers[WORKERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* fd and stopping */
static bool stopping;
static int listener;
static _Atomic uint32_t connections;

static void serve(int fd)
{
	struct kv_connection connection = { .fd = fd,
					    .number = atomic_fetch_add(&connections, 1) + 1 };

	kv_trace_line(&connection, KV_ENTRY_BEGIN, 0, 0);
	for (;;) {
		ssize_t got = recv(fd, connection.line + connection.filled,
				   KV_LINE - connection.filled, 0);

		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		if (got < 0)
			continue;
		connection.filled += (size_t)got;
		if (!kv_answer_lines(&connection))
			break;
	}
	kv_trace_line(&connection, KV_ENTRY_END, 0, 0);
}

/* Makes a connection known to stop_workers(), or none.  False: the server is ending. */
static bool set_connection(struct worker *worker, int fd)
{
	bool goes_on;

	pthread_mutex_lock(&lock);
	goes_on = !stopping;
	worker->fd = fd;
	pthread_mutex_unlock(&lock);
	return goes_on;
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (bool goes_on = true; goes_on;) {
		int fd = accept(listener, NULL, NULL);

		goes_on = set_connection(worker, fd);
		if (fd < 0) {
			if (goes_on && errno != EINTR)
				/* no descriptor, no memory: others may give one back */
				poll(NULL, 0, 10);
			continue;
		}
		if (goes_on) {
			serve(fd);
			goes_on = set_connection(worker, -1);
		}
		close(fd);
	}
	return NULL;
}

static unsigned start_workers(void)
{
	unsigned count = 0;

	for (; count < WORKERS; count++) {
		workers[count].fd = -1;
		if (pthread_create(&workers[count].thread, NULL, work, &workers[count]) != 0)
			break;
	}
	return count;
}

/* Ends accept() and every recv() and send(), then waits for the threads. */
static void stop_workers(unsigned count)
{
	pthread_mutex_lock(&lock);
	stopping = true;
	shutdown(listener, SHUT_RDWR);
	for (unsigned i = 0; i < count; i++)
		if (workers[i].fd >= 0)
			shutdown(workers[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < count; i++)
		pthread_join(workers[i].thread, NULL);
}

/* ---- the program */
static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mode_t mask = umask(077); /* only its user may connect */

	if (strlen(path) >= sizeof(address.sun_path)) {
		fprintf(stderr, "kvserver: %s: a socket's path has at most %zu bytes\n", path,
			sizeof(address.sun_path) - 1);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path));
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, SOMAXCONN) != 0) {
		fprintf(stderr, "kvserver: %s: %s\n", path, strerror(errno));
		return -1;
	}
	umask(mask);
	return fd;
}

/* Were all entries written?  emitted = delivered + lost, once nothing is pending.  Entries in
 * storage are not written: those stay pending, and the overwritten ones are not losses. */
static void tell_counts(void)
{
	struct ctrace_stats stats = { .size = sizeof(stats) };
	uint64_t lost = 0;

	if (ctrace_flush(10000) != CTRACE_OK)
		fprintf(stderr, "kvserver: the trace's output does not take everything\n");
	ctrace_stats_get(&stats);
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		if (i != CTRACE_LOSS_OVERWRITTEN)
			lost += stats.lost[i];
	printf("entries: %llu emitted, %llu delivered, %llu lost\n",
	       (unsigned long long)stats.emitted, (unsigned long long)stats.delivered,
	       (unsigned long long)lost);
}

int main(int argc, char **argv)
{
	sigset_t ending;
	unsigned count;
	int number;

	if (argc < 2 || argc > 3) {
		fprintf(stderr,
			"usage: %s SOCKET [MEMBER]   MEMBER: of CTRACE_PARMLIB, what to trace from the start\n",
			argv[0]);
		return 2;
	}
	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGINT);
	/* of every thread, so that sigwait() gets them */
	pthread_sigmask(SIG_BLOCK, &ending, NULL);
	listener = listen_at(argv[1]);
	if (listener < 0)
		return 1;
	kv_trace_start(argv[2]);
	count = start_workers();
	if (count > 0) {
		printf("ready on %s\n", argv[1]);
		fflush(stdout);
		sigwait(&ending, &number);
	}
	stop_workers(count);
	kv_trace_stop();
	unlink(argv[1]);
	tell_counts();
	return count > 0 ? 0 : 1;
}
