/*
 * procedure_file.c - finds the procedure file of an external writer in the folders of CTRACE_PROCLIB.
 *
 * Called by the tool before the writer starts, on its one thread.  A name becomes a path only when it is a writer's, so none leads out of
 * the folders.  What is in the file says where a writer, perhaps root's, puts its data sets, so it is taken only from a place that nobody
 * but this user and root can write to, and what was looked at is what is read; trouble in one folder is not passed over for the next.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROCEDURE_LIMIT 65536u /* bytes of a file, comments included */
#define PROCEDURE_FOLDERS "/etc/ctrace/proclib"
#define PATH_SIZE 4096u

static bool is_trusted(const struct stat *info)
{
	return (info->st_uid == geteuid() || info->st_uid == 0) && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static enum ctrace_status status_of_open(void)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		return CTRACE_NOT_FOUND;
	case EACCES:
	case EPERM:
	case ELOOP: /* a link */
		return CTRACE_DENIED;
	default:
		return CTRACE_OS_ERROR;
	}
}

static enum ctrace_status open_trusted(const char *folder, const char *name, int *out_fd)
{
	enum ctrace_status status = CTRACE_OK;
	struct stat folder_info, info;
	int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (folder_fd < 0)
		return status_of_open();
	fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		status = status_of_open();
	else if (fstat(folder_fd, &folder_info) != 0 || fstat(fd, &info) != 0)
		status = CTRACE_OS_ERROR;
	else if (!is_trusted(&folder_info) || !S_ISREG(info.st_mode) || !is_trusted(&info))
		status = CTRACE_DENIED;
	ct_os_close(&folder_fd);
	if (status != CTRACE_OK)
		ct_os_close(&fd);
	else
		*out_fd = fd;
	return status;
}

static enum ctrace_status read_text(int fd, struct ct_buf *out_text)
{
	enum ctrace_status status;
	size_t size = 0;

	if (!ct_buf_reserve(out_text, PROCEDURE_LIMIT + 1))
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_os_read_at(fd, out_text->data + out_text->size, PROCEDURE_LIMIT + 1, 0, &size);
	if (status == CTRACE_OK && size > PROCEDURE_LIMIT) {
		errno = EFBIG;
		status = CTRACE_OS_ERROR;
	}
	if (status == CTRACE_OK)
		out_text->size += size;
	return status;
}

/* Of a list with colons between; empty ones, which elsewhere mean the current folder, are passed over.  False at its end. */
static bool next_folder(const char **list, struct ct_span *out_folder)
{
	size_t size;

	*list += strspn(*list, ":");
	size = strcspn(*list, ":");
	*out_folder = (struct ct_span){ *list, size };
	*list += size;
	return size != 0;
}

enum ctrace_status ct_procedure_read(const char *name, struct ct_buf *out_text, char out_path[PATH_SIZE])
{
	const char *folders = ct_os_environment("CTRACE_PROCLIB");
	enum ctrace_status status = CTRACE_NOT_FOUND;
	struct ct_span folder;
	char upper[8] = "";
	char path[PATH_SIZE];
	int fd = -1;

	out_path[0] = '\0';
	if (!ct_writer_name_is_valid(name, strlen(name)))
		return CTRACE_NOT_FOUND;
	memcpy(upper, name, strlen(name));
	ct_name_upper(upper, strlen(upper));
	if (folders == NULL)
		folders = PROCEDURE_FOLDERS;
	while (status == CTRACE_NOT_FOUND && next_folder(&folders, &folder)) {
		if (folder.size + 1 + strlen(upper) >= sizeof path)
			continue;
		(void)snprintf(out_path, PATH_SIZE, "%.*s/%s", (int)folder.size, folder.at, upper);
		(void)snprintf(path, sizeof path, "%.*s", (int)folder.size, folder.at);
		status = open_trusted(path, upper, &fd);
	}
	if (status != CTRACE_OK)
		return status;
	status = read_text(fd, out_text);
	ct_os_close(&fd);
	return status;
}
