/*
 * file_run.c - the directory of a run: LOCATION of the processes that one `ctrace run` traces.
 *
 * RUN is the number of the run, and the file CT_FILE_RUN_MARK in the directory has it.  While the
 * run goes on, `ctrace run` has a lock on that file, and CT_FILE_RUN_GOES_ON follows the number.
 * When it has left nothing, CT_FILE_RUN_DONE does.
 * The next run renames the directory and makes another one with its name.  So the name alone does
 * not identify the directory: an event of this run in it would be taken for one of the next run.
 * The directory is LOCATION, or LOCATION.old, whichever has the number; there is no other.
 *
 * Called by TEXTFILE and BINFILE when they open a file, on the thread that consumes, and by
 * start/run_watch.c on the control thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The lock of a `ctrace run` that was killed is free; one that ended in order has taken
 * CT_FILE_RUN_GOES_ON away before. */
static bool mark_is_locked(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static bool rest_is(const char *rest, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(rest, word, size) == 0;
}

static enum ct_file_run_state mark_look(int directory_fd, const char *path, const char *run)
{
	enum ct_file_run_state state = CT_FILE_RUN_UNKNOWN;
	size_t size = 0, number_size = strlen(run);
	char text[CT_FILE_RUN_SIZE];
	struct ct_file_id id;
	bool is_locked;
	int fd;

	if (ct_os_open_known(directory_fd, path, O_RDONLY, &fd, &id) != CTRACE_OK)
		return state;
	is_locked = mark_is_locked(fd);
	if (ct_os_read_at(fd, text, sizeof text, 0, &size) == CTRACE_OK && size >= number_size &&
	    memcmp(text, run, number_size) == 0) {
		if (rest_is(text + number_size, size - number_size, CT_FILE_RUN_GOES_ON))
			state = is_locked ? CT_FILE_RUN_RUNS : CT_FILE_RUN_KILLED;
		else if (size == number_size ||
			 rest_is(text + number_size, size - number_size, CT_FILE_RUN_DONE))
			state = CT_FILE_RUN_ENDED;
	}
	ct_os_close_file(&fd, &id);
	return state;
}

bool ct_file_run_is_at(int directory_fd, const char *path, const char *run)
{
	return mark_look(directory_fd, path, run) != CT_FILE_RUN_UNKNOWN;
}

static enum ct_file_run_state directory_look(const char *directory, const char *run)
{
	char path[CTRACE_EMITTER_PATH_SIZE];
	int size = snprintf(path, sizeof path, "%s/%s", directory, CT_FILE_RUN_MARK);

	return size > 0 && (size_t)size < sizeof path ? mark_look(AT_FDCWD, path, run)
						      : CT_FILE_RUN_UNKNOWN;
}

const char *ct_file_run(const struct ctrace_emitter_context *context, char out[CT_FILE_RUN_SIZE])
{
	const char *run = context->property(context, "RUN");

	if (run == NULL || run[0] == '\0' || strlen(run) >= CT_FILE_RUN_SIZE)
		return NULL;
	memcpy(out, run, strlen(run) + 1);
	return out;
}

static enum ct_file_run_state run_find(const char *location, const char *run,
				       char out_directory[CTRACE_EMITTER_PATH_SIZE])
{
	enum ct_file_run_state state = CT_FILE_RUN_UNKNOWN;
	size_t size = location != NULL ? strlen(location) : 0;

	if (size == 0 || location[0] != '/' ||
	    size + sizeof CT_FILE_RUN_OLD > CTRACE_EMITTER_PATH_SIZE)
		return state;
	memcpy(out_directory, location, size + 1);
	state = directory_look(out_directory, run);
	if (state == CT_FILE_RUN_UNKNOWN) {
		memcpy(out_directory + size, CT_FILE_RUN_OLD, sizeof CT_FILE_RUN_OLD);
		state = directory_look(out_directory, run);
	}
	return state;
}

enum ct_file_run_state ct_file_run_look(const char *location, const char *run)
{
	char directory[CTRACE_EMITTER_PATH_SIZE];

	return run_find(location, run, directory);
}

bool ct_file_run_find(const struct ctrace_emitter_context *context, const char *run,
		      char out_directory[CTRACE_EMITTER_PATH_SIZE])
{
	if (run_find(context->property(context, "LOCATION"), run, out_directory) !=
	    CT_FILE_RUN_UNKNOWN)
		return true;
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

size_t ct_file_run_socket(const char *config, struct sockaddr_un *out_name)
{
	const size_t size = sizeof CT_FILE_RUN_DIRECTORY - 1;
	const size_t prefix = strcspn(CT_FILE_RUN_DIRECTORY, "X");
	const char *end = strrchr(config, '/');

	if (end == NULL || (size_t)(end - config) <= size || end[-(ptrdiff_t)size - 1] != '/' ||
	    memcmp(end - size, CT_FILE_RUN_DIRECTORY, prefix) != 0)
		return 0;
	*out_name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(out_name->sun_path + 1, end - size, size); /* after a NUL: abstract */
	return offsetof(struct sockaddr_un, sun_path) + 1 + size;
}

void ct_file_run_report(const char *config, char what)
{
	struct sockaddr_un name;
	size_t size = ct_file_run_socket(config, &name);
	int fd = size != 0
			 ? ct_os_high(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))
			 : -1;

	if (fd >= 0)
		(void)!sendto(fd, &what, 1, MSG_NOSIGNAL, (const struct sockaddr *)&name,
			      (socklen_t)size);
	ct_os_close(&fd);
}
