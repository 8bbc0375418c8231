/*
 * console_logs.c - follows the writers' logs, <run directory>/writer/NAME.log.
 *
 * Called by ctrace console before each prompt.  A log that has become shorter was begun anew and is
 * shown from its begin.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/console_logs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run_directory.h"
#include "writer/writer.h"

#define SHOWN_AT_ONCE 65536u /* bytes of a log; the rest comes before the next prompt */

static bool name_is_log(const char *name)
{
	size_t size = strlen(name);

	return size > 4 && size < sizeof((struct console_log *)NULL)->name &&
	       strcmp(name + size - 4, ".log") == 0;
}

/* The log of that name, followed from now on when it was not; NULL: there are too many. */
static struct console_log *log_find(struct console_logs *logs, const char *name)
{
	struct console_log *log;

	for (size_t i = 0; i < logs->count; i++)
		if (strcmp(logs->items[i].name, name) == 0)
			return &logs->items[i];
	if (logs->count == CONSOLE_LOGS)
		return NULL;
	log = &logs->items[logs->count++];
	memset(log, 0, sizeof *log);
	memcpy(log->name, name, strlen(name) + 1);
	return log;
}

/* "17.25.01 " */
static bool line_has_time(const char *line, size_t size)
{
	static const char form[] = "00.00.00 ";

	for (size_t i = 0; i < sizeof form - 1; i++)
		if (i >= size ||
		    (form[i] == '0' ? line[i] < '0' || line[i] > '9' : line[i] != form[i]))
			return false;
	return true;
}

/* Is this the line that the console has said already?  Once. */
static bool line_is_expected(struct console_logs *logs, const struct console_log *log,
			     const char *line, size_t size)
{
	for (size_t i = 0; i < CT_COUNT(logs->expected); i++) {
		struct wto_said *said = &logs->expected[i];
		size_t length = strlen(said->text);

		if (length == 0 || size < length || memcmp(said->text, line, length) != 0 ||
		    !ct_name_is(log->name, strlen(log->name) - 4, said->writer))
			continue;
		/* one that was cut is a beginning */
		if (size != length && length + 1 != sizeof said->text)
			continue;
		said->text[0] = '\0';
		return true;
	}
	return false;
}

/* With the writer's name before it, and its own time before that where it has one. */
static void print_line(const struct console_log *log, const struct wto *wto, const char *line,
		       size_t size)
{
	const struct wto plain = { 0 };
	size_t time_size = line_has_time(line, size) ? 9 : 0;
	char text[4096];
	int length = snprintf(text, sizeof text, "%.*s%.*s: %.*s", (int)time_size, line,
			      (int)(strlen(log->name) - 4), log->name, (int)(size - time_size),
			      line + time_size);

	ct_wto_line(time_size != 0 ? &plain : wto, text,
		    (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Whole lines only; the rest is not complete yet. */
static void log_show_lines(struct console_logs *logs, struct console_log *log,
			   const struct wto *wto, const char *text, size_t size)
{
	const char *end;

	while (size != 0 && (end = memchr(text, '\n', size)) != NULL) {
		size_t line = (size_t)(end - text);

		size_t time_size = line_has_time(text, line) ? 9 : 0;

		if (!line_is_expected(logs, log, text + time_size, line - time_size))
			print_line(log, wto, text, line);
		log->shown += (off_t)line + 1;
		text += line + 1;
		size -= line + 1;
	}
}

/* wto NULL: only notes how far it goes. */
static void log_follow(struct console_logs *logs, struct console_log *log, const struct wto *wto)
{
	static char text[SHOWN_AT_ONCE];
	struct stat info;
	ssize_t size = 0;
	int fd;

	if (ct_os_open_file(logs->directory_fd, log->name, O_RDONLY, &fd) != CTRACE_OK)
		return;
	if (fstat(fd, &info) == 0) {
		if (wto == NULL)
			log->shown = info.st_size;
		else if (info.st_size < log->shown)
			log->shown = 0;
		if (wto != NULL && info.st_size > log->shown)
			size = pread(fd, text, sizeof text, log->shown);
	}
	ct_os_close(&fd);
	if (size > 0)
		log_show_lines(logs, log, wto, text, (size_t)size);
	if (size == (ssize_t)sizeof text && memchr(text, '\n', sizeof text) == NULL)
		log->shown += size; /* no line is so long */
}

static void logs_follow(struct console_logs *logs, const struct wto *wto)
{
	int fd = openat(logs->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (directory == NULL) {
		ct_os_close(&fd);
		return;
	}
	while ((entry = readdir(directory)) != NULL) {
		struct console_log *log =
			name_is_log(entry->d_name) ? log_find(logs, entry->d_name) : NULL;

		if (log != NULL)
			log_follow(logs, log, wto);
	}
	(void)closedir(directory);
}

void ct_console_logs_open(struct console_logs *logs)
{
	char path[4096];

	memset(logs, 0, sizeof *logs);
	if (ct_run_directory_open(CT_WRITER_DIRECTORY, path, &logs->directory_fd) != CTRACE_OK) {
		logs->directory_fd = -1;
		return;
	}
	logs_follow(logs, NULL);
}

void ct_console_logs_close(struct console_logs *logs)
{
	ct_os_close(&logs->directory_fd);
}

void ct_console_logs_expect(struct console_logs *logs, struct wto *wto)
{
	unsigned first = wto->said_count > WTO_SAID ? wto->said_count - WTO_SAID : 0;

	for (unsigned i = first; i < wto->said_count; i++)
		logs->expected[logs->next_expected++ % WTO_SAID] = wto->said[i % WTO_SAID];
	wto->said_count = 0;
}

void ct_console_logs_show(struct console_logs *logs, const struct wto *wto)
{
	if (logs->directory_fd >= 0)
		logs_follow(logs, wto);
}
