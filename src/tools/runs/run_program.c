/*
 * run_program.c - runs the program of `ctrace run` as if nobody stood in between.
 *
 * The program is a child in the tool's own process group.  So the terminal sends its signals to
 * both, job control stops and continues both, and the tool passes on only what was sent to it
 * alone.  The keeper, another child, tells these cases apart: a signal to the group reaches it too.
 * It also removes the configuration when the tool is killed.
 *
 * While the program runs, its orphans become children of the tool (PR_SET_CHILD_SUBREAPER).  So the
 * kernel reports whether it has left processes running, and /proc need not be searched for them.
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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "tools/runs/run_report.h"

/* Not those that the kernel sends for what the tool itself does, nor what no process can block. */
#define PASSED_ON \
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGALRM, SIGABRT, \
		SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGWINCH
static const int passed_on[] = { PASSED_ON };
/* signals whose disposition the program must have as the tool was given it */
static const int kept[] = { PASSED_ON, SIGCHLD, SIGPIPE, SIGXFSZ };
_Static_assert(CT_COUNT(kept) == CT_COUNT(((struct run_program *)0)->before), "one each");

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
	/* Without the handlers for fork() of the library in the tool: the keeper calls none of it.
	 */
	run->keeper = _Fork();
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
	ct_os_close(&run->keeper_fd);
	(void)TEMP_FAILURE_RETRY(waitpid(run->keeper, NULL, 0));
	config_remove(run); /* somebody may have killed the keeper */
}

/* -----------------------------------------------------------------------------------------------
 * Starting
 */

/* Puts two words with a colon between them, or the one that there is. */
static bool list_set(const char *name, const char *first, const char *last)
{
	char *list = NULL;
	bool is_set = first == NULL || last == NULL || asprintf(&list, "%s:%s", first, last) >= 0;

	is_set = is_set && setenv(name, list != NULL ? list : first != NULL ? first : last, 1) == 0;
	free(list);
	return is_set;
}

/* A program with AddressSanitizer ends when another library is loaded before its run time.  That
 * check is of no use here: the library that is loaded first calls libc only. */
static bool environment_set(const struct run_program *run)
{
	return list_set("LD_PRELOAD", run->preload, ct_os_environment("LD_PRELOAD")) &&
	       list_set("ASAN_OPTIONS", ct_os_environment("ASAN_OPTIONS"),
			"verify_asan_link_order=0") &&
	       /* run_losses.c reads the directories of processes that have lost events. */
	       setenv("CTRACE_LEAVE_DIRECTORY", "losses", 0) == 0 &&
	       setenv("MFTRACE_CONFIG", run->config, 1) == 0;
}

static void dispositions_restore(const struct run_program *run)
{
	for (size_t i = 0; i < CT_COUNT(kept); i++)
		(void)sigaction(kept[i], &run->before[i], NULL);
}

/* Returns the environment of the program, or NULL with errno.  The tool keeps its own. */
static char **environment_make(const struct run_program *run)
{
	char **own = environ, **made = NULL;
	size_t count = 0;

	while (own[count] != NULL)
		count++;
	environ = reallocarray(NULL, count + 1, sizeof *environ);
	if (environ != NULL) {
		memcpy(environ, own, (count + 1) * sizeof *environ);
		made = environment_set(run) ? environ : NULL;
	}
	environ = own;
	return made;
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
	dispositions_restore(run);
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

/* Returns false, with errno, when there is no child that has become the program.  The child borrows
 * the tool's memory, so none is copied, and writes its error there. */
static bool child_start(struct run_program *run)
{
	char **environment = environment_make(run);
	volatile int error = 0;
	pid_t child = -1;

	if (environment != NULL)
		child = vfork();
	if (child == 0) {
		dispositions_restore(run);
		(void)sigprocmask(SIG_SETMASK, &run->mask_before, NULL);
		(void)execvpe(run->words[0], run->words, environment);
		error = errno;
		_exit(RUN_NOT_FOUND);
	}
	run->child = child;
	if (child < 0)
		error = errno;
	if (error == 0)
		return true;
	if (child > 0)
		(void)TEMP_FAILURE_RETRY(waitpid(child, NULL, 0));
	errno = error;
	return false;
}

int run_program_start(struct run_program *run)
{
	int error, was_subreaper = 0;

	(void)fflush(NULL);
	run->signals_fd = signalfd(-1, &run->mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signals_fd < 0 || !keeper_start(run)) {
		error = errno;
		config_remove(run);
		(void)run_report(run->words[0], strerror(error));
		return RUN_FAILED;
	}
	(void)prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (child_start(run)) {
		streams_leave();
		return 0;
	}
	error = errno;
	/* The program may run in place of the tool. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, was_subreaper);
	(void)close(run->signals_fd);
	keeper_end(run);
	(void)run_report(run->words[0], strerror(error));
	/* The environment of a traced run is larger. */
	if (run->child < 0 || error == E2BIG || error == ENOMEM)
		return RUN_FAILED;
	return error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
}

int run_program_exec(char **words)
{
	int error;

	(void)fflush(NULL);
	(void)execvp(words[0], words);
	error = errno;
	run_report_now(words[0], strerror(error));
	return error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
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

/* A shell that waits for the tool is to notice that the program has stopped itself, and continues
 * the tool.  Without one, whoever has stopped the program continues it alone, and would leave the
 * tool stopped. */
static void stop_too(const struct run_program *run, int number)
{
	int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	pid_t own = getpgrp(), group = getpgid(run->child);
	pid_t in_front = terminal >= 0 ? tcgetpgrp(terminal) : -1;

	if (in_front > 0 && (in_front == own || in_front == group)) {
		(void)raise(SIGSTOP);
		/* A shell has a group of its own, which has had the terminal. */
		if (in_front == group && tcgetpgrp(terminal) == own)
			(void)tcsetpgrp(terminal, group);
		(void)kill(in_front == own ? run->child : -group, SIGCONT);
	} else if (number == SIGTSTP && group == own && keeper_has_it(run, number)) {
		/* The whole group was stopped, and is continued. */
		(void)raise(SIGSTOP);
	}
	ct_os_close(&terminal);
}

/* Also the orphans, which a subreaper is given.  Returns true when the program has ended. */
static bool children_collect(struct run_program *run)
{
	bool has_ended = false;
	pid_t one;
	int how;

	while ((one = waitpid(-1, &how, WNOHANG | WUNTRACED)) > 0) {
		if (one != run->child)
			continue;
		if (WIFSTOPPED(how)) {
			stop_too(run, WSTOPSIG(how));
			continue;
		}
		run->how = how;
		has_ended = true;
	}
	run->has_left = one == 0;
	return has_ended;
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
			has_ended |= children_collect(run);
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
	/* It ends while the tool goes on. */
	ct_os_close(&run->keeper_fd);
	signals_restore(run);
}

bool run_program_has_left(struct run_program *run)
{
	keeper_end(run);
	(void)children_collect(run);
	return run->has_left;
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
