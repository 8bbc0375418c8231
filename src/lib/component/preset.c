/*
 * preset.c - presets: requests for traces that are not defined yet, kept for all processes of the
 * run directory.
 *
 *     <run directory>/preset/APPXYZ.ASID(0005)     a member's text; upper-case name of the trace
 *
 * Called by TRACE CT and DEFINE, on the thread that gives the command, attached, under no lock.  A
 * preset is renamed to its name when it is complete, so that no reader sees half of one; of two
 * writers, the later counts.  A symbolic link or another user's file in the place of a file or the
 * directory is refused and left alone.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY "preset"

static enum ctrace_status status_of_errno(void)
{
	return errno == ENOENT                     ? CTRACE_NOT_FOUND
	       : errno == EACCES || errno == EPERM ? CTRACE_DENIED
						   : CTRACE_OS_ERROR;
}

/* ---- places ---- */

/* Makes the file name for a trace.  A name from another interface may contain characters that
 * lead out of the directory. */
static bool preset_file_name(const char *name, char out[CT_TRACE_NAME_SIZE])
{
	size_t size = strnlen(name, CT_TRACE_NAME_SIZE);

	if (size == 0 || size >= CT_TRACE_NAME_SIZE || name[0] == '.' || strchr(name, '/') != NULL)
		return false;
	memcpy(out, name, size + 1);
	ct_name_upper(out, size);
	return true;
}

/* True when no other user can put a preset there. */
static bool directory_is_private(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & 022) == 0;
}

static enum ctrace_status preset_open_directory(bool make, int *out_fd)
{
	char path[4096 + sizeof "/" DIRECTORY];
	int fd;

	if (!ct_space_run_directory(path))
		return make ? CTRACE_DENIED : CTRACE_NOT_FOUND;
	memcpy(path + strlen(path), "/" DIRECTORY, sizeof "/" DIRECTORY);
	/* Each DEFINE comes here and mostly finds nothing: this check takes no descriptor. */
	if (!make && access(path, F_OK) != 0 && errno == ENOENT)
		return CTRACE_NOT_FOUND;
	if (make && mkdir(path, 0700) == 0)
		(void)chmod(path, 0700); /* whatever the umask is */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? CTRACE_DENIED : status_of_errno();
	fd = ct_os_high(fd);
	if (fd < 0)
		return CTRACE_OS_ERROR;
	if (!directory_is_private(fd)) {
		ct_os_close(&fd);
		return CTRACE_DENIED;
	}
	*out_fd = fd;
	return CTRACE_OK;
}

/* Opens the directory and makes the preset's file name. */
static enum ctrace_status preset_open(const char *name, bool make,
				      char out_file_name[CT_TRACE_NAME_SIZE], int *out_directory_fd)
{
	if (!preset_file_name(name, out_file_name))
		return CTRACE_INVALID_COMPONENT_NAME;
	return preset_open_directory(make, out_directory_fd);
}

/* ---- putting ---- */

static enum ctrace_status preset_write_file(int directory_fd, const char *name,
					    const struct ct_buf *text)
{
	enum ctrace_status status;
	int fd;

	status = ct_os_open_file(directory_fd, name, O_WRONLY | O_CREAT | O_EXCL, &fd);
	if (status != CTRACE_OK)
		return status;
	status = ct_os_write_at(fd, text->data, text->size, 0);
	ct_os_close(&fd);
	return status;
}

/* A link or another user's file stays unchanged. */
static enum ctrace_status preset_check_owner(int directory_fd, const char *name)
{
	int fd;
	enum ctrace_status status = ct_os_open_file(directory_fd, name, O_RDONLY, &fd);

	if (status == CTRACE_OK)
		ct_os_close(&fd);
	return status == CTRACE_NOT_FOUND ? CTRACE_OK : status;
}

static enum ctrace_status preset_put_file(int directory_fd, const char *name,
					  const struct ct_buf *text)
{
	char temporary[64];
	enum ctrace_status status = preset_check_owner(directory_fd, name);

	if (status != CTRACE_OK)
		return status;
	(void)snprintf(temporary, sizeof temporary, ".new-%u-%llx", (unsigned)ct_os_thread_id(),
		       (unsigned long long)ct_clock_mono_ns());
	status = preset_write_file(directory_fd, temporary, text);
	if (status == CTRACE_OK && renameat(directory_fd, temporary, directory_fd, name) != 0)
		status = status_of_errno();
	if (status != CTRACE_OK)
		(void)unlinkat(directory_fd, temporary, 0);
	return status;
}

enum ctrace_status ct_preset_put(const char *name, const struct ct_trace_request *request)
{
	char file_name[CT_TRACE_NAME_SIZE];
	enum ctrace_status status;
	struct ct_buf text;
	int directory_fd;

	status = preset_open(name, true, file_name, &directory_fd);
	if (status != CTRACE_OK)
		return status;
	ct_buf_init(&text);
	ct_parmlib_print(request, &text);
	status = text.failed ? CTRACE_NOT_ENOUGH_MEMORY
			     : preset_put_file(directory_fd, file_name, &text);
	ct_buf_fini(&text);
	ct_os_close(&directory_fd);
	return status;
}

/* ---- getting ---- */

static enum ctrace_status preset_read_file(int directory_fd, const char *name, struct ct_buf *out)
{
	enum ctrace_status status;
	size_t size;
	int fd;

	status = ct_os_open_file(directory_fd, name, O_RDONLY, &fd);
	if (status != CTRACE_OK)
		return status;
	if (!ct_buf_reserve(out, CT_PARMLIB_LIMIT + 1u))
		status = CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK)
		status = ct_os_read_at(fd, out->data, CT_PARMLIB_LIMIT + 1u, 0, &size);
	if (status == CTRACE_OK)
		out->size = size;
	ct_os_close(&fd);
	return status;
}

/* Parses one request that ct_preset_put() wrote.  A truncated text is longer than a member may
 * be. */
static enum ctrace_status preset_parse(const struct ct_buf *text, struct ct_trace_request *out)
{
	enum ctrace_status status = CTRACE_DAMAGED;
	struct ct_parmlib member = { 0 };

	if (ct_parmlib_parse(text->data, text->size, &member, NULL, NULL) == 0 &&
	    member.count == 1) {
		*out = member.requests[0];
		status = CTRACE_OK;
	}
	ct_parmlib_fini(&member);
	return status;
}

enum ctrace_status ct_preset_get(const char *name, struct ct_trace_request *out)
{
	char file_name[CT_TRACE_NAME_SIZE];
	enum ctrace_status status;
	struct ct_buf text;
	int directory_fd;

	status = preset_open(name, false, file_name, &directory_fd);
	if (status != CTRACE_OK)
		return status;
	ct_buf_init(&text);
	status = preset_read_file(directory_fd, file_name, &text);
	if (status == CTRACE_OK)
		status = preset_parse(&text, out);
	ct_buf_fini(&text);
	ct_os_close(&directory_fd);
	return status;
}

/* ---- deleting ---- */

enum ctrace_status ct_preset_delete(const char *name)
{
	char file_name[CT_TRACE_NAME_SIZE];
	enum ctrace_status status;
	int directory_fd;

	status = preset_open(name, false, file_name, &directory_fd);
	if (status != CTRACE_OK)
		return status;
	status = preset_check_owner(directory_fd, file_name);
	if (status == CTRACE_OK && unlinkat(directory_fd, file_name, 0) != 0)
		status = status_of_errno();
	ct_os_close(&directory_fd);
	return status;
}
