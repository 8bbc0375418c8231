/*
 * watch_run.c - starts a program for a trigger.
 *
 * The traced program must not notice: it gets no SIGCHLD, its wait() finds no child, and there is
 * no zombie.  So a child that shares our memory and has no signal starts the program and ends, and
 * we wait for that child by its id; the program then belongs to init.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK ((size_t)128 << 10)

extern char **environ;

struct start {
	const char *path;
	char *const *words;
	const posix_spawn_file_actions_t *files;
	const posix_spawnattr_t *attributes;
	int error;
};

static int start_run(void *argument)
{
	struct start *start = argument;
	pid_t pid;

	start->error = posix_spawn(&pid, start->path, start->files, start->attributes, start->words,
				   environ);
	return 0; /* the child ends */
}

static int start_make(struct start *start)
{
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid;

	if (stack == MAP_FAILED)
		return ENOMEM;
	/* Without a signal in the flags the parent gets none. */
	pid = clone(start_run, (char *)stack + STACK, CLONE_VM | CLONE_VFORK, start);
	if (pid < 0)
		start->error = errno;
	while (pid > 0 && waitpid(pid, NULL, (int)__WCLONE) < 0 && errno == EINTR)
		;
	(void)munmap(stack, STACK);
	return start->error;
}

int ct_trigger_run(const char *path, char *const words[])
{
	struct start start = { .path = path, .words = words };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t mask, all;
	int error = posix_spawn_file_actions_init(&files);

	if (error != 0)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error == 0) {
		(void)sigfillset(&all);
		if (!ct_os_thread_mask(&mask))
			(void)sigemptyset(&mask);
		for (int fd = 0; error == 0 && fd < 3; fd++)
			error = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR,
								 0);
		if (error == 0)
			error = posix_spawn_file_actions_addclosefrom_np(&files, 3);
		(void)posix_spawnattr_setsigmask(&attributes, &mask);
		(void)posix_spawnattr_setsigdefault(&attributes, &all);
		(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
								    POSIX_SPAWN_SETSIGDEF |
								    POSIX_SPAWN_SETSID);
		start.files = &files;
		start.attributes = &attributes;
		if (error == 0)
			error = start_make(&start);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return error;
}
