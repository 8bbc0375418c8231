/*
 * bench_process.c - runs a command, its output to a file, and tells what it took: seconds, MiB at
 * most in memory, status.
 *
 *     bench_process OUTPUT COMMAND [ARGUMENT...]
 *
 * A small program of its own, since the most memory that the kernel tells of a process is also that
 * of whoever started it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double start;
	pid_t pid;
	int error, status;

	if (argc < 3) {
		fputs("usage: bench_process OUTPUT COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	if (posix_spawn_file_actions_init(&actions) != 0 ||
	    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, argv[1],
					     O_WRONLY | O_CREAT | O_TRUNC, 0600) != 0)
		return 2;
	start = now();
	error = posix_spawnp(&pid, argv[2], &actions, NULL, argv + 2, environ);
	if (error != 0) {
		fprintf(stderr, "%s: %s\n", argv[2], strerror(error));
		return 2;
	}
	if (wait4(pid, &status, 0, &usage) != pid)
		return 2;
	printf("%.6f %.3f %d\n", now() - start, (double)usage.ru_maxrss / 1024,
	       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
