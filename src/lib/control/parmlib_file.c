/*
 * parmlib_file.c - finds a member in the directories of CTRACE_PARMLIB.
 *
 * Called by CTRACE DEFINE, TRACE CT and `ctrace parmlib`, on any thread.  Only a valid member name
 * becomes a path, so no path leads out of the directories.  It does not wait for a file that is not
 * regular, and does not read a file that everybody may write to.  After an error in one directory
 * the next is not searched.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 4096u

/* The reason for a status of ct_os_read_file() and its errno.  CTRACE_RSN_MEMBER_NOT_FOUND:
 * search the next directory. */
static uint32_t file_read_reason(enum ctrace_status status)
{
	switch (status) {
	case CTRACE_OK:
		return 0;
	case CTRACE_NOT_FOUND:
		return CTRACE_RSN_MEMBER_NOT_FOUND;
	case CTRACE_DENIED: /* also: not a regular file, or everybody may write to it */
		return CTRACE_RSN_MEMBER_NOT_READABLE;
	case CTRACE_NOT_ENOUGH_MEMORY:
		return CTRACE_RSN_MEMBER_ALLOCATION;
	default:
		break;
	}
	if (errno == EFBIG)
		return CTRACE_RSN_MEMBER_TOO_LARGE;
	if (errno == ENAMETOOLONG)
		return CTRACE_RSN_MEMBER_NOT_FOUND;
	return errno == EMFILE || errno == ENFILE ? CTRACE_RSN_MEMBER_ALLOCATION
						  : CTRACE_RSN_MEMBER_IO;
}

static bool is_directory(struct ct_span directory)
{
	char path[PATH_SIZE];
	struct stat info;

	(void)snprintf(path, sizeof path, "%.*s", (int)directory.size, directory.at);
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Takes a directory from a list with colons.  Empty entries, which elsewhere mean the current
 * directory, are skipped.  False at the end. */
static bool directory_next(const char **list, struct ct_span *out_directory)
{
	size_t size;

	*list += strspn(*list, ":");
	size = strcspn(*list, ":");
	*out_directory = (struct ct_span){ *list, size };
	*list += size;
	return size != 0;
}

/* Reads the first member found, leaving its path in `path`. */
static uint32_t member_read(const char *member, const char *directories, struct ct_buf *out_text,
			    char path[PATH_SIZE])
{
	bool has_directory = false;
	struct ct_span directory;
	char place[PATH_SIZE];

	while (directory_next(&directories, &directory)) {
		uint32_t reason;

		if (directory.size + 1 + strlen(member) >= PATH_SIZE)
			continue;
		(void)snprintf(path, PATH_SIZE, "%.*s/%s", (int)directory.size, directory.at,
			       member);
		(void)snprintf(place, sizeof place, "%.*s", (int)directory.size, directory.at);
		reason = file_read_reason(ct_os_read_trusted(place, member, CT_OS_NAMED,
							     CT_PARMLIB_LIMIT + 1, out_text));
		if (reason != CTRACE_RSN_MEMBER_NOT_FOUND)
			return reason;
		has_directory = has_directory || is_directory(directory);
	}
	path[0] = '\0';
	return has_directory ? CTRACE_RSN_MEMBER_NOT_FOUND : CTRACE_RSN_MEMBER_ALLOCATION;
}

uint32_t ct_parmlib_read_any(const char *member, struct ct_buf *out_text, char out_path[PATH_SIZE])
{
	const char *directories = ct_os_environment("CTRACE_PARMLIB");
	struct ct_buf text;
	uint32_t reason;

	out_path[0] = '\0';
	if (!ct_trace_name_is_valid(member, strlen(member)))
		return CTRACE_RSN_MEMBER_NAME;
	if (directories == NULL)
		return CTRACE_RSN_MEMBER_ALLOCATION;
	ct_buf_init(&text);
	reason = member_read(member, directories, &text, out_path);
	if (reason == 0)
		ct_buf_add(out_text, text.data, text.size);
	ct_buf_fini(&text);
	return reason == 0 && out_text->failed ? CTRACE_RSN_MEMBER_ALLOCATION : reason;
}

uint32_t ct_parmlib_read(const char *member, struct ct_buf *out_text, char out_path[PATH_SIZE])
{
	out_path[0] = '\0';
	if (strncmp(member, "CT", 2) != 0)
		return CTRACE_RSN_MEMBER_NAME;
	return ct_parmlib_read_any(member, out_text, out_path);
}
