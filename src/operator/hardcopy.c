/*
 * hardcopy.c - the hardcopy log of operators, a file or the journal.
 *
 * Called by the operator's tools, on their one thread, for each command and each line of an answer.
 * A line of the file is written at once, by one write at its end, so that the lines of several
 * consoles stay whole:
 *
 *     2026-01-31 14.25.01 anna 4711 > TRACE CT,ON,COMP=SHOP
 *     2026-01-31 14.25.01 anna 4711   *01 ITT006A SPECIFY OPERAND(S) FOR TRACE CT COMMAND
 *
 * A log that cannot be written any more is reported once on standard error, and the command goes
 * on.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/hardcopy.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/own_setting.h"
#include "cli/service.h"
#include "lib/process/message_log.h"
#include "lib/process/process.h"

static struct {
	char path[4096]; /* "": there is no log */
	char user[64];
	bool is_journal;
	bool has_failed; /* reported once */
	int fd;
} hardcopy = { .fd = -1 };

bool ct_hardcopy_open(char why[200])
{
	const struct passwd *user;

	ct_hardcopy_close();
	if (!ct_own_setting(CT_VERB_LOG, hardcopy.path, sizeof hardcopy.path))
		return true;
	user = getpwuid(geteuid()); /* only now: libc's services may abort without memory */
	if (user != NULL)
		(void)snprintf(hardcopy.user, sizeof hardcopy.user, "%s", user->pw_name);
	else
		(void)snprintf(hardcopy.user, sizeof hardcopy.user, "%u", (unsigned)geteuid());
	hardcopy.is_journal = ct_name_is(hardcopy.path, strlen(hardcopy.path), "JOURNAL");
	if (hardcopy.is_journal)
		return true;
	hardcopy.fd = ct_os_high(
		open(hardcopy.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (hardcopy.fd >= 0)
		return true;
	(void)snprintf(why, 200, "ctrace.log = %.100s: %s", hardcopy.path, strerror(errno));
	return false;
}

void ct_hardcopy_close(void)
{
	ct_os_close(&hardcopy.fd);
	hardcopy.path[0] = '\0';
	hardcopy.is_journal = hardcopy.has_failed = false;
}

static void line_write(char mark, const char *text, size_t size)
{
	char when[CT_PROCESS_TIME] = "";
	struct ct_buf line;

	if (!hardcopy.is_journal)
		ct_process_print_time(when, CT_HARDCOPY_TIME);
	ct_buf_init(&line);
	ct_message_log_add_hardcopy(&line, when, hardcopy.user, (uint32_t)getpid(), mark,
				    (struct ct_span){ text, size });
	if (hardcopy.is_journal) {
		ct_systemd_journal(ct_buf_text(&line));
	} else {
		ct_buf_add_char(&line, '\n');
		if (!line.failed && !ct_tool_write(hardcopy.fd, line.data, line.size) &&
		    !hardcopy.has_failed) {
			hardcopy.has_failed = true;
			fprintf(stderr, "ctrace: not all is logged: ctrace.log = %s: %s\n",
				hardcopy.path, strerror(errno));
		}
	}
	ct_buf_fini(&line);
}

static bool hardcopy_is_open(void)
{
	return hardcopy.is_journal || hardcopy.fd >= 0;
}

void ct_hardcopy_command(const char *text, size_t size)
{
	while (size != 0 && ct_is_blank(text[size - 1]))
		size--;
	if (hardcopy_is_open() && size != 0)
		line_write('>', text, size);
}

void ct_hardcopy_answer(const char *text, size_t size)
{
	while (hardcopy_is_open() && size != 0) {
		const char *end = memchr(text, '\n', size);
		size_t line = end != NULL ? (size_t)(end - text) : size;

		line_write(' ', text, line);
		line += end != NULL;
		text += line;
		size -= line;
	}
}
