/*
 * manners.c - what C code in a COBOL program may do to its process: manner("how").
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void *flush_always(void *unused)
{
	for (;;)
		(void)fflush(NULL);
	return unused;
}

static void *allocate_always(void *unused)
{
	for (;;)
		free(malloc(1000));
	return unused;
}

static void *fork_often(void *unused)
{
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		(void)waitpid(child, NULL, 0);
	}
	return unused;
}

static void *move_always(void *unused)
{
	for (int i = 0; i < 1000; i++)
		if (chdir("/") != 0)
			abort();
	return unused;
}

static void *exit_soon(void *unused)
{
	exit(5);
	return unused;
}

/* joins: the thread ends, and the program continues after it */
static void thread_run(void *(*body)(void *), int joins)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL) != 0)
		abort();
	if (joins)
		(void)pthread_join(thread, NULL);
}

static void fork_and_follow(void)
{
	int status;
	pid_t child;

	(void)fflush(NULL);
	child = fork();
	if (child == 0)
		return;
	(void)waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static void spawn(int uses_vfork)
{
	char *const arguments[] = { "/bin/true", NULL };
	int status;
	pid_t child = uses_vfork ? vfork() : fork();

	if (child == 0) {
		(void)execv(arguments[0], arguments);
		_exit(9);
	}
	(void)waitpid(child, &status, 0);
	if (status != 0)
		printf("exec: %x\n", status);
}

static void limit(int resource, rlim_t most)
{
	const struct rlimit limit = { most, most };

	(void)setrlimit(resource, &limit);
}

static void close_from(int first)
{
	for (int fd = first; fd < 1024; fd++)
		(void)close(fd);
}

static void block_all(void)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
}

int manner(const char *how)
{
	char name[21] = { 0 };

	memcpy(name, how, 20);
	name[strcspn(name, " ")] = '\0';
#define MANNER(text, action) \
	else if (strcmp(name, text) == 0) \
	{ \
		action; \
	}
	if (strcmp(name, "nothing") == 0)
		return 0;
	MANNER("thread-flushes", thread_run(flush_always, 0))
	MANNER("thread-allocates", thread_run(allocate_always, 0))
	MANNER("thread-forks", thread_run(fork_often, 1))
	MANNER("thread-moves", thread_run(move_always, 1))
	MANNER("thread-exits", thread_run(exit_soon, 1))
	MANNER("flushes", (void)fflush(NULL))
	MANNER("fork-child-goes-on", fork_and_follow())
	MANNER("spawns", spawn(0))
	MANNER("vforks", spawn(1))
	MANNER("moves", if (chdir("/") != 0) abort())
	MANNER("daemon", if (daemon(1, 1) != 0) abort())
	MANNER("closes", close_from(40))
	MANNER("few-descriptors", limit(RLIMIT_NOFILE, 40))
	MANNER("little-memory", limit(RLIMIT_AS, (rlim_t)500 << 20))
	MANNER("umask", (void)umask(0777))
	MANNER("blocks-signals", block_all())
	MANNER("buffers-output", (void)setvbuf(stdout, NULL, _IOFBF, 100))
	MANNER("exits", exit(3))
	MANNER("quick-exits", quick_exit(4))
	MANNER("aborts", abort())
	MANNER("terminates", (void)raise(SIGTERM))
	MANNER("hangs-up", (void)raise(SIGHUP))
	MANNER("kills", (void)raise(SIGKILL))
	MANNER("faults", (void)raise(SIGSEGV))
	else abort();
	return 0;
}
