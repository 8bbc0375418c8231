/*
 * operate_process.c - starting other programs, on the processor where they belong.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void *operate_share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		bench_die("mmap");
	return memory;
}

/* The pipes to other programs must not get the numbers of standard streams. */
static void open_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		bench_die("/dev/null");
	(void)close(fd);
}

static void __attribute__((noreturn))
become(const char *const arguments[], unsigned processor, int in, int out, bool is_quiet)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin_self(processor);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    (is_quiet && dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO) < 0))
		_exit(3);
	(void)execv(arguments[0], (char *const *)(uintptr_t)arguments);
	perror(arguments[0]);
	_exit(3);
}

struct operate_process operate_start(const char *const arguments[], unsigned processor,
				     bool is_quiet)
{
	struct operate_process process;
	int in[2], out[2];

	open_standard();
	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		bench_die("pipe2");
	process.pid = fork();
	if (process.pid < 0)
		bench_die("fork");
	if (process.pid == 0)
		become(arguments, processor, in[0], out[1], is_quiet);
	(void)close(in[0]);
	(void)close(out[1]);
	process.in = in[1];
	process.out = out[0];
	return process;
}

void operate_read_line(const struct operate_process *process, char *line, size_t size)
{
	size_t used = 0;

	while (used + 1 < size && read(process->out, line + used, 1) == 1 && line[used] != '\n')
		used++;
	if (used + 1 >= size || line[used] != '\n') {
		fprintf(stderr, "bench_operate: process %d has nothing to say\n",
			(int)process->pid);
		exit(2);
	}
	line[used] = '\0';
}

static void await(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		bench_die("waitpid");
	if (status != 0) {
		fprintf(stderr, "bench_operate: process %d ended with %x\n", (int)pid,
			(unsigned)status);
		exit(2);
	}
}

void operate_end(struct operate_process *process, int signal)
{
	if (signal != 0)
		(void)kill(process->pid, signal);
	(void)close(process->in);
	(void)close(process->out);
	await(process->pid);
}

void operate_in_child(void (*body)(void *argument), void *argument)
{
	pid_t child = fork();

	if (child < 0)
		bench_die("fork");
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		body(argument);
		exit(0);
	}
	await(child);
}
