/*
 * user_file.c - a small text file of the user's: options, groups.
 *
 * Called while the command line is read, on the tool's only thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/user_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SIZE_LIMIT ((size_t)1 << 20)

__attribute__((format(printf, 3, 4))) static bool fail(struct user_file_failure *failure,
						       uint32_t line, const char *format, ...)
{
	va_list values;

	failure->line = line;
	va_start(values, format);
	(void)vsnprintf(failure->why, sizeof failure->why, format, values);
	va_end(values);
	return false;
}

static bool file_fail_unread(struct user_file_failure *failure, const char *path, const char *what,
			     enum ctrace_status status, int error)
{
	struct stat info;

	if (status == CTRACE_NOT_FOUND)
		return fail(failure, 0, "there is no such file");
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return fail(failure, 0, "a directory; a file of %s is expected", what);
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		return fail(
			failure, 0,
			"no regular file, as a file of %s has to be: not a pipe, a device or a socket",
			what);
	if (status == CTRACE_DENIED || status == CTRACE_OS_ERROR)
		return fail(failure, 0, "%s", strerror(error));
	return fail(failure, 0, "%s", ctrace_status_text(status));
}

/* Returns the line of the first NUL byte; 0 when there is none. */
static uint32_t text_line_of_nul(const struct ct_buf *text)
{
	const char *nul = text->size > 0 ? memchr(text->data, '\0', text->size) : NULL;
	uint32_t line = 1;

	for (const char *at = text->data; nul != NULL && at < nul; at++)
		line += *at == '\n';
	return nul != NULL ? line : 0;
}

static void text_drop_mark(struct ct_buf *text)
{
	static const char mark[] = "\xEF\xBB\xBF";
	size_t size = sizeof mark - 1;

	if (text->size < size || memcmp(text->data, mark, size) != 0)
		return;
	text->size -= size;
	memmove(text->data, text->data + size, text->size);
}

bool user_file_read(const char *path, const char *what, struct ct_buf *out_text,
		    struct user_file_failure *out_failure)
{
	enum ctrace_status status;
	uint32_t nul_line;

	errno = 0;
	status = ct_os_read_file(path, SIZE_LIMIT, out_text);
	if (status != CTRACE_OK)
		return file_fail_unread(out_failure, path, what, status, errno);
	nul_line = text_line_of_nul(out_text);
	if (nul_line != 0)
		return fail(out_failure, nul_line, "a NUL byte is in this line: no file of %s",
			    what);
	text_drop_mark(out_text);
	return true;
}
