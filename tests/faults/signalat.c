/*
 * signalat.c - a preloaded library that sends a signal at a chosen moment: before or after a call.
 *
 *     LD_PRELOAD=build/tests/libsignalat.so SIGNAL_AT=own:fork:1:after SIGNAL=9 ctrace show
 * nats://...
 *
 *     SIGNAL_AT=who:call:number:before|after
 *                     who: "own", the process that was started, or "child", one that it has forked.
 *                     The number counts the calls of that name there, from 1
 *     SIGNAL=number   what is sent to the process that was started; negative: to its group
 *     SIGNAL_SEEN=file  gets a line for each moment that is passed
 *     SIGNAL_FROM=characters  moments count from when one of these was read from stdin
 *
 * A child that has sent the signal goes on when the process that was started is gone.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
#define CALLS(X) \
	X(pid_t, fork, (void), ()) \
	X(int, pipe2, (int ends[2], int flags), (ends, flags)) \
	X(int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends)) \
	X(pid_t, setsid, (void), ()) \
	X(int, dup2, (int from, int to), (from, to)) \
	X(char *, mkdtemp, (char *path), (path)) \
	X(int, mkdir, (const char *path, mode_t mode), (path, mode)) \
	X(int, rmdir, (const char *path), (path)) \
	X(int, unlinkat, (int at, const char *path, int flags), (at, path, flags)) \
	X(int, renameat, (int from_at, const char *from, int to_at, const char *to), (from_at, from, to_at, to)) \
	X(int, renameat2, (int from_at, const char *from, int to_at, const char *to, unsigned flags), (from_at, from, to_at, to, flags)) \
	X(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t offset), (fd, data, size, offset)) \
	X(ssize_t, send, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags)) \
	X(ssize_t, recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags)) \
	X(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old)) \
	X(int, sigaction, (int number, const struct sigaction *new, struct sigaction *old), (number, new, old)) \
	X(int, ppoll, (struct pollfd *fds, nfds_t items, const struct timespec *limit, const sigset_t *mask), (fds, items, limit, mask))
/* clang-format on */

static pid_t own;
static const char *armed_by; /* NULL: the start */
static bool is_armed, is_sent;

/* `number` counts the calls of that name in this process. */
static void moment(const char *call, unsigned number, const char *when)
{
	const char *at = getenv("SIGNAL_AT"), *seen = getenv("SIGNAL_SEEN");
	char label[80];
	int saved = errno;
	int size = snprintf(label, sizeof label, "%s:%s:%u:%s\n", getpid() == own ? "own" : "child",
			    call, number, when);
	int fd;

	if (seen != NULL &&
	    (fd = open(seen, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) >= 0) {
		(void)!write(fd, label, (size_t)size);
		(void)close(fd);
	}
	label[size - 1] = '\0';
	if (at != NULL && !is_sent && strcmp(at, label) == 0) {
		int signal_number = atoi(getenv("SIGNAL"));

		is_sent = true;
		(void)kill(signal_number < 0 ? -own : own, abs(signal_number));
		while (getpid() != own && kill(own, 0) == 0)
			usleep(1000);
	}
	errno = saved;
}

#define WRAP(result, name, parameters, arguments) \
	result name parameters \
	{ \
		static __typeof__(&name) next; \
		static unsigned count; \
		static pid_t counted_by; \
		result got; \
		if (next == NULL) \
			next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
		if (own == 0 || !is_armed) \
			return next arguments; \
		if (counted_by != getpid()) \
			count = 0; \
		counted_by = getpid(); \
		moment(#name, ++count, "before"); \
		got = next arguments; \
		if (counted_by == getpid()) \
			moment(#name, count, "after"); \
		return got; \
	}
CALLS(WRAP)

ssize_t read(int fd, void *data, size_t size)
{
	static __typeof__(&read) next;
	static unsigned count;
	ssize_t got;

	if (next == NULL)
		next = (__typeof__(&read))dlsym(RTLD_NEXT, "read");
	if (own != 0 && is_armed && (armed_by != NULL || getpid() != own))
		moment("read", ++count, "before");
	got = next(fd, data, size);
	if (armed_by != NULL && fd == STDIN_FILENO && got == 1 &&
	    strchr(armed_by, *(char *)data) != NULL)
		is_armed = true;
	return got;
}

__attribute__((constructor)) static void start(void)
{
	own = getpid();
	armed_by = getenv("SIGNAL_FROM");
	is_armed = armed_by == NULL;
}
