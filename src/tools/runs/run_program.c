/*
 * run_program.c - runs the program of `ctrace run` as if nobody stood in between.
 *
 * The program is a child in the tool's own process group.  So the terminal sends its signals to
 * both, job control stops and continues both, and the tool passes on only what was sent to it
 * alone.  The keeper, another child, tells these cases apart: a signal to the group reaches it too.
 * It also removes the configuration when the tool is killed.
 *
 * On the tool's one thread, which blocks the signals and reads them from a descriptor.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/cli.h"

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
/* signals whose disposition the program must have as the tool was given it */
static const int kept[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
			    SIGUSR2, SIGCHLD, SIGPIPE, SIGXFSZ };
_Static_assert(CT_COUNT(kept) == CT_COUNT(((struct run_program *)0)->before), "one each");

static void run_report(const char *name, const char *what)
{
	fputs("ctrace run: ", stderr);
	if (name != NULL) {
		ct_tool_print(stderr, name, strlen(name));
		fputs(": ", stderr);
	}
	fprintf(stderr, "%s\n", what);
}

/* -----------------------------------------------------------------------------------------------
 * The keeper
 */

static void config_remove(const struct run_program *run)
{
	(void)unlink(run->config);
	(void)rmdir(run->directory);
}

/* Answers whether a signal has reached this process as well, until the tool has gone. */
static _Noreturn void keeper_run(const struct run_program *run, int fd)
{
	const struct timespec now = { 0 };
	unsigned char number, answer;

	/* It holds nothing open that somebody waits to see closed. */
	for (int i = 0; i < fd; i++)
		if (i > STDERR_FILENO || dup2(fd, i) < 0)
			(void)close(i);
	(void)close_range((unsigned)fd + 1, ~0u, 0);
	while (TEMP_FAILURE_RETRY(read(fd, &number, 1)) == 1) {
		sigset_t one;

		(void)sigemptyset(&one);
		(void)sigaddset(&one, number);
		answer = sigtimedwait(&one, NULL, &now) == number;
		if (TEMP_FAILURE_RETRY(send(fd, &answer, 1, MSG_NOSIGNAL)) != 1)
			break;
	}
	config_remove(run);
	_exit(0);
}

static bool keeper_start(struct run_program *run)
{
	int ends[2];
	sigset_t all;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	(void)sigfillset(&all);
	run->keeper = fork();
	if (run->keeper == 0) {
		(void)sigprocmask(SIG_BLOCK, &all, NULL);
		(void)close(ends[0]);
		keeper_run(run, ends[1]);
	}
	(void)close(ends[1]);
	run->keeper_fd = ends[0];
	if (run->keeper > 0)
		return true;
	(void)close(ends[0]);
	return false;
}

/* A signal to the whole group goes to its youngest members first: what has reached the tool has
 * reached the keeper and the program before. */
static bool keeper_has_it(const struct run_program *run, int number)
{
	unsigned char byte = (unsigned char)number;

	return TEMP_FAILURE_RETRY(send(run->keeper_fd, &byte, 1, MSG_NOSIGNAL)) == 1 &&
	       TEMP_FAILURE_RETRY(read(run->keeper_fd, &byte, 1)) == 1 && byte != 0;
}

static void keeper_end(struct run_program *run)
{
	(void)close(run->keeper_fd);
	(void)TEMP_FAILURE_RETRY(waitpid(run->keeper, NULL, 0));
	config_remove(run); /* somebody may have killed the keeper */
}

/* -----------------------------------------------------------------------------------------------
 * Starting
 */

static bool environment_set(const struct run_program *run)
{
	const char *before = ct_os_environment("LD_PRELOAD");
	char *list = NULL;
	bool is_set;

	if (before == NULL)
		is_set = setenv("LD_PRELOAD", run->preload, 1) == 0;
	else
		is_set = asprintf(&list, "%s:%s", run->preload, before) >= 0 &&
			 setenv("LD_PRELOAD", list, 1) == 0;
	free(list);
	/* run_losses.c reads the directories of processes that have lost events. */
	return is_set && setenv("CTRACE_LEAVE_DIRECTORY", "losses", 0) == 0 &&
	       setenv("MFTRACE_CONFIG", run->config, 1) == 0;
}

static _Noreturn void child_exec(const struct run_program *run, int to_parent)
{
	int error;

	for (size_t i = 0; i < CT_COUNT(kept); i++)
		(void)sigaction(kept[i], &run->before[i], NULL);
	if (environment_set(run)) {
		(void)sigprocmask(SIG_SETMASK, &run->mask_before, NULL);
		(void)execvp(run->words[0], run->words);
	}
	error = errno;
	(void)!write(to_parent, &error, sizeof error);
	_exit(RUN_NOT_FOUND);
}

void run_program_hold(struct run_program *run)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	const struct sigaction ignored = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < CT_COUNT(kept); i++)
		(void)sigaction(kept[i], NULL, &run->before[i]);
	/* A child must leave its status behind, also when nobody reads the page. */
	(void)sigaction(SIGCHLD, &usual, NULL);
	(void)sigaction(SIGPIPE, &ignored, NULL);
	/* A write beyond `ulimit -f` fails, and is reported. */
	(void)sigaction(SIGXFSZ, &ignored, NULL);
	(void)sigemptyset(&run->mask);
	(void)sigaddset(&run->mask, SIGCHLD);
	/* A signal that was ignored when the tool was started, as under nohup, stays ignored for
	 * the tool and for the program. */
	for (size_t i = 0; i < CT_COUNT(passed_on); i++)
		if (run->before[i].sa_handler != SIG_IGN)
			(void)sigaddset(&run->mask, passed_on[i]);
	(void)sigprocmask(SIG_BLOCK, &run->mask, &run->mask_before);
}

void run_program_release(const struct run_program *run)
{
	/* No file is left behind: a signal that waits may end the tool now. */
	(void)sigprocmask(SIG_SETMASK, &run->mask_before, NULL);
}

static void signals_restore(const struct run_program *run)
{
	const struct timespec now = { 0 };

	/* The signals that wait came for the program, which has ended.  Later ones are the tool's.
	 */
	while (sigtimedwait(&run->mask, NULL, &now) > 0)
		;
	(void)sigprocmask(SIG_SETMASK, &run->mask_before, NULL);
}

/* A reader of the program's output must see when the program closes it. */
static void streams_leave(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(null, STDOUT_FILENO);
	if (null > STDERR_FILENO)
		(void)close(null);
}

/* Returns false, with errno, when there is no child that has become the program. */
static bool child_start(struct run_program *run)
{
	int ends[2], error = 0;
	ssize_t got;

	run->child = -1;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	run->child = fork();
	if (run->child == 0) {
		(void)close(ends[0]);
		child_exec(run, ends[1]);
	}
	error = errno;
	(void)close(ends[1]);
	got = run->child < 0 ? -1 : TEMP_FAILURE_RETRY(read(ends[0], &error, sizeof error));
	(void)close(ends[0]);
	if (got == 0)
		return true;
	if (run->child > 0)
		(void)TEMP_FAILURE_RETRY(waitpid(run->child, NULL, 0));
	errno = error;
	return false;
}

int run_program_start(struct run_program *run)
{
	int error;

	(void)fflush(NULL);
	run->signals_fd = signalfd(-1, &run->mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signals_fd < 0 || !keeper_start(run)) {
		error = errno;
		config_remove(run);
		run_report(run->words[0], strerror(error));
		return RUN_FAILED;
	}
	if (child_start(run)) {
		streams_leave();
		return 0;
	}
	error = errno;
	(void)close(run->signals_fd);
	keeper_end(run);
	run_report(run->words[0], strerror(error));
	return run->child < 0 ? RUN_FAILED : error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
}

/* -----------------------------------------------------------------------------------------------
 * Waiting
 */

static void signal_pass_on(const struct run_program *run, int number)
{
	/* A program in another group, as after setsid(), has not got it. */
	bool is_ours = getpgid(run->child) == getpgrp();

	if (!keeper_has_it(run, number) || !is_ours)
		(void)kill(run->child, number);
}

/* Returns true when the program has ended. */
static bool signals_take(struct run_program *run)
{
	struct signalfd_siginfo info;
	bool has_ended = false;

	while (read(run->signals_fd, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo != SIGCHLD)
			signal_pass_on(run, (int)info.ssi_signo);
		else
			has_ended |= waitpid(run->child, &run->how, WNOHANG) == run->child;
	}
	return has_ended;
}

void run_program_wait(struct run_program *run)
{
	struct pollfd news[] = { { .fd = run->signals_fd, .events = POLLIN },
				 { .fd = run->follow != NULL ? run->follow_fd : -1,
				   .events = POLLIN } };

	while (!signals_take(run)) {
		int timeout_ms = run->follow != NULL ? (int)run->follow(run->follow_user) : -1;

		(void)poll(news, CT_COUNT(news), timeout_ms);
	}
	(void)close(run->signals_fd);
	keeper_end(run);
	signals_restore(run);
}

int run_program_end(const struct run_program *run)
{
	const struct rlimit none = { 0 };
	int number = WIFSIGNALED(run->how) ? WTERMSIG(run->how) : 0;
	sigset_t one;

	if (number == 0)
		return WEXITSTATUS(run->how);
	(void)fflush(NULL);
	(void)setrlimit(RLIMIT_CORE, &none); /* the program has left its own */
	(void)signal(number, SIG_DFL);
	(void)sigemptyset(&one);
	(void)sigaddset(&one, number);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	(void)raise(number);
	return 128 + number; /* process 1 of a container does not die of it */
}
