/*
 * file_run.c - the directory of a run: LOCATION of the processes that one `ctrace run` traces.
 *
 * RUN is the number of the run, and the file CT_FILE_RUN_MARK in the directory has it.  The next
 * run renames the directory and makes another one with its name.  So the name alone does not
 * identify the directory: an event of this run in it would be taken for one of the next run.  The
 * directory is LOCATION, or LOCATION.old, whichever has the number; there is no other.
 *
 * Called by TEXTFILE and BINFILE when they open a file, on the thread that consumes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool ct_file_run_is_at(int directory_fd, const char *path, const char *run)
{
	char text[CT_FILE_RUN_SIZE];
	size_t size = 0;
	struct ct_file_id id;
	bool is_it;
	int fd;

	if (ct_os_open_known(directory_fd, path, O_RDONLY, &fd, &id) != CTRACE_OK)
		return false;
	is_it = ct_os_read_at(fd, text, sizeof text, 0, &size) == CTRACE_OK &&
		size == strlen(run) && memcmp(text, run, size) == 0;
	ct_os_close_file(&fd, &id);
	return is_it;
}

static bool directory_has(const char *directory, const char *run)
{
	char path[CTRACE_EMITTER_PATH_SIZE];
	int size = snprintf(path, sizeof path, "%s/%s", directory, CT_FILE_RUN_MARK);

	return size > 0 && (size_t)size < sizeof path && ct_file_run_is_at(AT_FDCWD, path, run);
}

const char *ct_file_run(const struct ctrace_emitter_context *context, char out[CT_FILE_RUN_SIZE])
{
	const char *run = context->property(context, "RUN");

	if (run == NULL || run[0] == '\0' || strlen(run) >= CT_FILE_RUN_SIZE)
		return NULL;
	memcpy(out, run, strlen(run) + 1);
	return out;
}

bool ct_file_run_find(const struct ctrace_emitter_context *context, const char *run,
		      char out_directory[CTRACE_EMITTER_PATH_SIZE])
{
	const char *location = context->property(context, "LOCATION");
	size_t size = location != NULL ? strlen(location) : 0;

	if (size != 0 && location[0] == '/' &&
	    size + sizeof CT_FILE_RUN_OLD <= CTRACE_EMITTER_PATH_SIZE) {
		memcpy(out_directory, location, size + 1);
		if (directory_has(out_directory, run))
			return true;
		memcpy(out_directory + size, CT_FILE_RUN_OLD, sizeof CT_FILE_RUN_OLD);
		if (directory_has(out_directory, run))
			return true;
	}
	errno = ENOENT;
	return false;
}

bool ct_file_run_follow(const struct ctrace_emitter_context *context, const char *run,
			char path[CTRACE_EMITTER_PATH_SIZE])
{
	char directory[CTRACE_EMITTER_PATH_SIZE], followed[CTRACE_EMITTER_PATH_SIZE];
	const char *name = strrchr(path, '/');
	int size;

	if (name == NULL || !ct_file_run_find(context, run, directory))
		return false;
	size = snprintf(followed, sizeof followed, "%s%s", directory, name);
	if (size < 0 || (size_t)size >= sizeof followed)
		return false;
	memcpy(path, followed, (size_t)size + 1);
	return true;
}
