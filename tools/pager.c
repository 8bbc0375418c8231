/*
 * pager.c - what a verb prints on a terminal goes through the user's pager.
 *
 * Called by verbs that print events, on the tool's only thread, before they print the first.  The pager is a child that reads a pipe; the tool
 * outlives an interrupt then, as its reader does, and ends in order when the reader closes the pipe.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "pager.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#define DEFAULT_PAGER "less"
#define DEFAULT_ROWS 24u

static pid_t pager;

static const char *command(void)
{
	const char *chosen = ct_os_environment("PAGER");

	return chosen != NULL ? chosen : DEFAULT_PAGER;
}

bool pager_is_wanted(void)
{
	return isatty(STDOUT_FILENO) && strcmp(command(), "cat") != 0;
}

bool pager_is_worth(const char *text, size_t size)
{
	struct winsize window = { 0 };
	size_t rows = 0, columns = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0)
		window.ws_row = DEFAULT_ROWS;
	for (size_t i = 0; i < size && rows < window.ws_row; i++) {
		columns++;
		if (text[i] == '\n' || (window.ws_col != 0 && columns > window.ws_col)) {
			rows++;
			columns = 0;
		}
	}
	return rows + 1 > window.ws_row; /* the prompt has a row, too */
}

static void wait_for_pager(void)
{
	(void)fflush(stdout);
	(void)close(STDOUT_FILENO);
	(void)close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

static void become_pager(int from)
{
	(void)signal(SIGINT, SIG_DFL);
	(void)dup2(from, STDIN_FILENO);
	/* As git and others do: short texts are printed as ever, colours pass, the screen is left as it is. */
	(void)setenv("LESS", "FRX", 0);
	(void)execl("/bin/sh", "sh", "-c", command(), (char *)NULL);
	_exit(127);
}

/* Is there such a program?  Otherwise the text would be lost in a pipe that nobody reads. */
static bool is_there(void)
{
	char *test;
	bool found;

	if (asprintf(&test, "set -- %s && command -v -- \"$1\" >/dev/null 2>&1", command()) < 0)
		return false;
	found = system(test) == 0;
	free(test);
	return found;
}

bool pager_is_started(void)
{
	return pager > 0;
}

void pager_start(void)
{
	bool has_errors = isatty(STDERR_FILENO);
	int ends[2];

	if (pager != 0 || !is_there() || pipe(ends) != 0)
		return;
	(void)fflush(stdout);
	pager = fork();
	if (pager == 0) {
		(void)close(ends[1]);
		become_pager(ends[0]);
	}
	(void)close(ends[0]);
	if (pager > 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		if (has_errors)
			(void)dup2(ends[1], STDERR_FILENO);
		(void)signal(SIGINT, SIG_IGN); /* it is the reader's */
		(void)signal(SIGPIPE, SIG_IGN);
		(void)atexit(wait_for_pager);
	} else {
		pager = 0;
	}
	(void)close(ends[1]);
}
