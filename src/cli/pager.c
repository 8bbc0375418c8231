/*
 * pager.c - sends what a verb prints on a terminal through the user's pager.
 *
 * Called by verbs that print events, on the tool's only thread, before they print the first.  The
 * pager is a child process that reads a pipe.  An interrupt then does not end the tool, as it does
 * not end the pager; the tool ends in order when the pager closes the pipe.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/cli.h"
#include "cli/progress_line.h"

#define DEFAULT_PAGER "less"
#define DEFAULT_ROWS 24u
#define WORD_LIMIT 32u
#define SHELL_MARKS "|&;<>()$`\\\"'*?[]{}#~=%!\n"

static pid_t pager;

static const char *pager_command(void)
{
	const char *chosen = ct_os_environment("PAGER");

	return chosen != NULL ? chosen : DEFAULT_PAGER;
}

bool pager_is_wanted(void)
{
	return isatty(STDOUT_FILENO) && strcmp(pager_command(), "cat") != 0;
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

static void pager_wait(void)
{
	(void)fflush(stdout);
	(void)close(STDOUT_FILENO);
	(void)close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Splits a command without any mark of the shell into words, in place.  Returns false when the
 * command needs a shell. */
static bool command_split(char *text, char *out_words[WORD_LIMIT + 1])
{
	size_t count = 0;
	char *rest;

	if (text[strcspn(text, SHELL_MARKS)] != '\0')
		return false;
	for (char *word = strtok_r(text, " \t", &rest); word != NULL;
	     word = strtok_r(NULL, " \t", &rest)) {
		if (count == WORD_LIMIT)
			return false;
		out_words[count++] = word;
	}
	out_words[count] = NULL;
	return count > 0;
}

/* Runs in the child, and returns only why the pager cannot be run. */
static int pager_exec(int from)
{
	char *words[WORD_LIMIT + 1], *text = strdup(pager_command());

	(void)signal(SIGINT, SIG_DFL);
	(void)dup2(from, STDIN_FILENO);
	/* The options that git sets: a short text is printed without paging, colours pass, and
	 * the screen stays as it is. */
	(void)setenv("LESS", "FRX", 0);
	if (text != NULL && command_split(text, words))
		(void)execvp(words[0], words);
	else
		(void)execl("/bin/sh", "sh", "-c", pager_command(), (char *)NULL);
	return errno;
}

static bool command_needs_shell(void)
{
	char *words[WORD_LIMIT + 1], *text = strdup(pager_command());
	bool needs = text != NULL && !command_split(text, words);

	free(text);
	return needs;
}

/* Finds the first word of a shell command after its assignments.  Returns 0 when the word cannot
 * be looked up as it stands. */
static size_t program_find(const char **text)
{
	size_t size = 0;

	do {
		*text += size;
		*text += strspn(*text, " \t");
		size = strcspn(*text, " \t|&;<>()\n");
	} while (memchr(*text, '=', size) != NULL);
	for (size_t i = 0; i < size; i++)
		if (strchr(SHELL_MARKS, (*text)[i]) != NULL)
			return 0;
	return size;
}

/* Checks first, because a shell would notice a missing program too late: the text would be lost
 * in a pipe that nobody reads. */
static bool program_is_known(void)
{
	const char *program = pager_command();
	size_t size = program_find(&program);
	char *test;
	bool found;

	if (size == 0)
		return true;
	if (asprintf(
		    &test,
		    "path=$(command -v -- %.*s) && case $path in */*) test -f \"$path\" && test -x \"$path\" ;; esac",
		    (int)size, program) < 0)
		return false;
	found = system(test) == 0;
	free(test);
	return found;
}

bool pager_is_started(void)
{
	return pager > 0;
}

/* The child, until it becomes the pager; then its end of `report` closes. */
static void pager_child_run(int from, int report)
{
	int error = pager_exec(from);

	(void)!write(report, &error, sizeof error);
	_exit(127);
}

/* Returns false when the child has become the pager. */
static bool report_read(int report, int *out_error)
{
	ssize_t got;

	do
		got = read(report, out_error, sizeof *out_error);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof *out_error;
}

/* Starts the pager as the reader of `ends`.  Returns 0, or the error. */
static int pager_spawn(const int ends[2])
{
	int report[2], error = 0;

	if (pipe2(report, O_CLOEXEC) != 0)
		return errno;
	(void)fflush(stdout);
	pager = fork();
	if (pager == 0) {
		(void)close(ends[1]);
		pager_child_run(ends[0], report[1]);
	}
	if (pager < 0)
		error = errno;
	(void)close(report[1]);
	if (pager > 0 && report_read(report[0], &error))
		(void)waitpid(pager, NULL, 0);
	(void)close(report[0]);
	if (error != 0)
		pager = 0;
	return error;
}

/* A missing default pager is not reported: the user did not ask for it. */
static void report_failure(const char *verb, const char *reason)
{
	const char *chosen = ct_os_environment("PAGER");

	if (chosen == NULL)
		return;
	progress_clear();
	fprintf(stderr, "%s: the pager ", verb);
	ct_tool_print(stderr, chosen, strlen(chosen));
	fprintf(stderr, " cannot be run%s%s; the output is printed without one\n",
		reason[0] != '\0' ? ": " : "", reason);
}

void pager_start(const char *verb)
{
	bool has_errors = isatty(STDERR_FILENO);
	int ends[2], error;

	if (pager != 0)
		return;
	if (command_needs_shell() && !program_is_known()) {
		report_failure(verb, "");
		return;
	}
	if (pipe(ends) != 0) {
		report_failure(verb, strerror(errno));
		return;
	}
	error = pager_spawn(ends);
	(void)close(ends[0]);
	if (error == 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		if (has_errors)
			(void)dup2(ends[1], STDERR_FILENO);
		/* a signal ends the reader, not the tool */
		(void)signal(SIGINT, SIG_IGN);
		(void)signal(SIGPIPE, SIG_IGN);
		(void)atexit(pager_wait);
	} else {
		report_failure(verb, strerror(error));
	}
	(void)close(ends[1]);
}
