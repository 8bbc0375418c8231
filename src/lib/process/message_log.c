/*
 * message_log.c - writes messages of this process where operators see them: in the run directory,
 * for consoles, and in the hardcopy log.
 *
 * On the control thread, the trigger thread and the thread that ends the process, never in a signal
 * handler.  Several processes write to one file: a line is one write at its end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/process/message_log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/process/process.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

static void file_append(const char *path, struct ct_buf *line, uint64_t limit)
{
	size_t written;
	struct stat info;
	int fd;

	ct_buf_add_char(line, '\n');
	if (line->failed ||
	    ct_os_open_file(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, &fd) != CTRACE_OK)
		return;
	if (ct_os_stat(fd, &info) == CTRACE_OK && (uint64_t)info.st_size > limit)
		(void)!ct_os_truncate(fd, 0);
	(void)!ct_os_append(fd, line->data, line->size, &written);
	ct_os_close(&fd);
}

void ct_message_log_console(const char *text)
{
	const struct ct_session *session = &ct_process.session;
	size_t size = strlen(session->path) - strlen(session->directory);
	char path[sizeof session->path + sizeof CT_MESSAGE_LOG], when[CT_PROCESS_TIME];
	struct ct_buf line;

	if (session->path[0] == '\0')
		return; /* there is no run directory */
	(void)snprintf(path, sizeof path, "%.*s" CT_MESSAGE_LOG, (int)size, session->path);
	ct_process_print_time(when, "%H.%M.%S ");
	ct_buf_init(&line);
	ct_buf_add_text(&line, when);
	ct_escape_add(&line, text, strlen(text));
	file_append(path, &line, CT_MESSAGE_LOG_LIMIT);
	ct_buf_fini(&line);
}

/* One datagram, as systemd documents it for programs without its library. */
static void journal_send(const struct ct_buf *line)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
	struct ct_buf message;
	int fd = ct_os_high(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	ct_buf_init(&message);
	ct_buf_add_text(&message, "PRIORITY=6\nSYSLOG_IDENTIFIER=ctrace\nMESSAGE=");
	ct_buf_add(&message, line->data, line->size);
	ct_buf_add_char(&message, '\n');
	if (fd >= 0 && !line->failed && !message.failed)
		(void)sendto(fd, message.data, message.size, MSG_NOSIGNAL | MSG_DONTWAIT,
			     (const struct sockaddr *)&address, sizeof address);
	ct_os_close(&fd);
	ct_buf_fini(&message);
}

void ct_message_log_add_hardcopy(struct ct_buf *line, const char *when, const char *user,
				 uint32_t pid, char mark, struct ct_span text)
{
	ct_buf_add_format(line, "%s%s %" PRIu32 " %c ", when, user, pid, mark);
	ct_escape_add(line, text.at, text.size);
}

void ct_message_log_hardcopy(const char *user, uint32_t pid, char mark, const char *text)
{
	const struct ct_settings *settings = &ct_process.settings;
	char path[sizeof settings->log] = "", when[CT_PROCESS_TIME] = "";
	struct ct_buf line;
	bool is_journal;

	ct_registry_lock(ct_process.registry);
	memcpy(path, settings->log, settings->log_size);
	ct_registry_unlock(ct_process.registry);
	if (path[0] == '\0')
		return;
	is_journal = ct_name_is(path, strlen(path), "JOURNAL");
	if (!is_journal)
		ct_process_print_time(when, CT_HARDCOPY_TIME);
	ct_buf_init(&line);
	ct_message_log_add_hardcopy(&line, when, user, pid, mark,
				    (struct ct_span){ text, strlen(text) });
	if (is_journal)
		journal_send(&line);
	else
		file_append(path, &line, UINT64_MAX);
	ct_buf_fini(&line);
}

void ct_message_log_process(char out_text[CT_MESSAGE_LOG_PROCESS])
{
	const struct ct_session_head *head = ct_process.session.head;

	(void)snprintf(out_text, CT_MESSAGE_LOG_PROCESS, "process %u JOBNAME %.15s",
		       (unsigned)head->pid, head->jobname);
}
