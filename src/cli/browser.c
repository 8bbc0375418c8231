/*
 * browser.c - shows a file in the user's browser.
 *
 * Called by ctrace open on the tool's only thread, after everything else is done.  The browser is
 * a child process in a session of its own, so it survives the tool and its terminal.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/allocate.h"
#include "cli/cli.h"

#define DESKTOP_BROWSERS "xdg-open:x-www-browser"
#define WORD_LIMIT 16u
/* A browser that still runs after this time counts as started. */
#define PATIENCE_MS 2000
#define STEP_MS 10

extern char **environ;

/* -----------------------------------------------------------------------------------------------
 * Whether a browser can be seen
 */

static void browser_diagnose(const char *verb, const char *what)
{
	(void)fflush(stdout);
	fprintf(stderr, "%s: %s\n", verb, what);
}

static void ssh_diagnose(const char *verb, const char *path)
{
	char full[PATH_MAX], host[HOST_NAME_MAX + 1] = "";

	browser_diagnose(
		verb, "this is a session over SSH, so no browser is started. On your own machine:");
	(void)gethostname(host, sizeof host - 1);
	fputs("    scp ", stderr);
	ct_tool_print(stderr, host, strlen(host));
	fputc(':', stderr);
	if (realpath(path, full) != NULL)
		path = full;
	ct_tool_print(stderr, path, strlen(path));
	fputs(" .\n", stderr);
}

bool browser_is_reachable(const char *verb, const char *path)
{
	if (ct_os_environment("SSH_CONNECTION") != NULL || ct_os_environment("SSH_TTY") != NULL) {
		ssh_diagnose(verb, path);
		return false;
	}
	if (ct_os_environment("BROWSER") != NULL || ct_os_environment("DISPLAY") != NULL ||
	    ct_os_environment("WAYLAND_DISPLAY") != NULL)
		return true;
	browser_diagnose(
		verb,
		"there is no display, so no browser is started. Open the page in a browser, or set"
		" BROWSER to a command that shows it.");
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * The page's address
 */

/* Returns file:// and the absolute path, to be freed; NULL, with errno, when there is none. */
static char *url_create(const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "-._~/";
	char full[PATH_MAX], *url = NULL;
	size_t size = 0;
	FILE *to;

	if (realpath(path, full) == NULL || (to = open_memstream(&url, &size)) == NULL)
		return NULL;
	fputs("file://", to);
	for (const char *from = full; *from != '\0'; from++) {
		if (strchr(plain, *from) != NULL)
			fputc(*from, to);
		else
			fprintf(to, "%%%02X", (unsigned)(unsigned char)*from);
	}
	if (allocate_close_stream(to))
		return url;
	free(url);
	return NULL;
}

/* -----------------------------------------------------------------------------------------------
 * One command of BROWSER
 */

struct command {
	char *words[WORD_LIMIT + 2];
	char *made; /* the word in which %s was replaced; NULL: none */
};

static bool word_replace(struct command *command, size_t at, const char *mark, const char *url)
{
	char *word = command->words[at];

	if (asprintf(&command->made, "%.*s%s%s", (int)(mark - word), word, url, mark + 2) < 0) {
		command->made = NULL;
		return false;
	}
	command->words[at] = command->made;
	return true;
}

/* Splits the text, in place, at blanks; %s stands for the address, which is otherwise the last
 * word.  No shell reads the command, so no character of an address can be one of a shell. */
static bool command_init(struct command *command, char *text, char *url)
{
	size_t count = 0;
	char *rest;

	*command = (struct command){ 0 };
	for (char *word = strtok_r(text, " \t", &rest); word != NULL;
	     word = strtok_r(NULL, " \t", &rest)) {
		const char *mark = strstr(word, "%s");

		if (count == WORD_LIMIT)
			return false;
		command->words[count++] = word;
		if (mark != NULL && command->made == NULL &&
		    !word_replace(command, count - 1, mark, url))
			return false;
	}
	if (count > 0 && command->made == NULL)
		command->words[count] = url;
	return count > 0;
}

/* Starts the command without the terminal: browsers print many messages of their own.
 * Returns 0, or the error. */
static int command_spawn(const struct command *command, pid_t *out_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&files);

	if (error != 0)
		return error;
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && error == 0; fd++)
		error = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (error == 0)
		error = posix_spawnp(out_pid, command->words[0], &files, &attributes,
				     command->words, environ);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&files);
	return error;
}

/* Returns the status of a command that ends soon; 0 for one that goes on. */
static int command_wait(pid_t pid)
{
	static const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
	int status = 0;

	for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += STEP_MS) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		(void)nanosleep(&step, NULL);
	}
	return 0;
}

static void command_diagnose(const char *verb, const char *program, int error, int status)
{
	(void)fflush(stdout);
	fprintf(stderr, "%s: the browser ", verb);
	ct_tool_print(stderr, program, strlen(program));
	if (error != 0)
		fprintf(stderr, " cannot be run: %s\n", strerror(error));
	else if (WIFSIGNALED(status))
		fprintf(stderr, " died of signal %d\n", WTERMSIG(status));
	else
		fprintf(stderr, " ended with exit status %d\n", WEXITSTATUS(status));
}

/* Runs one command.  A default that is not installed is no error of the user's: `is_default`. */
static bool command_run(const char *verb, char *text, char *url, bool is_default)
{
	struct command command;
	int error = 0, status = 0;
	bool is_started = false;
	pid_t pid = 0;

	if (command_init(&command, text, url)) {
		error = command_spawn(&command, &pid);
		status = error == 0 ? command_wait(pid) : 0;
		is_started = error == 0 && status == 0;
		if (!is_started && !(is_default && error == ENOENT))
			command_diagnose(verb, command.words[0], error, status);
	}
	free(command.made);
	return is_started;
}

bool browser_start(const char *verb, const char *path)
{
	const char *chosen = ct_os_environment("BROWSER");
	char *list = strdup(chosen != NULL ? chosen : DESKTOP_BROWSERS);
	char *url = url_create(path), *rest = NULL;
	bool is_started = false;

	if (list != NULL && url != NULL) {
		for (char *text = strtok_r(list, ":", &rest); text != NULL && !is_started;
		     text = strtok_r(NULL, ":", &rest))
			is_started = command_run(verb, text, url, chosen == NULL);
		if (!is_started)
			browser_diagnose(
				verb,
				"no browser could be started; open the page in one, or set BROWSER"
				" to a command that shows it");
	}
	free(url);
	free(list);
	return is_started;
}
