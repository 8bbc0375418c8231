/*
 * dump_keep.c - the directory that a process's dumps are made in: their names, and how many stay.
 *
 * What is removed is a directory of this user that has a dump's name and CT_DUMP_ABOUT in it. Links
 * are not followed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/dump/dump.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/process/process.h"

#define PATH_SIZE 4096u
#define UNFINISHED_AGE_S 60 /* the maker has its lock long before */
#define NAMES_TRIED 9u      /* NAME, NAME.2 ... NAME.9 */

/* "PAYROLL.1234.20261126-143205.dump" */
void ct_dump_name(const struct ct_session_head *head, char out[CT_DUMP_NAME_SIZE])
{
	char when[CT_PROCESS_TIME];

	ct_process_print_time(when, "%Y%m%d-%H%M%S");
	(void)snprintf(out, CT_DUMP_NAME_SIZE, "%.*s.%" PRIu32 ".%s.dump",
		       (int)strnlen(head->jobname, sizeof head->jobname), head->jobname, head->pid,
		       when);
	for (char *at = out; *at != '\0'; at++)
		if (*at == '/' || (unsigned char)*at <= ' ')
			*at = '_';
}

enum ctrace_status ct_dump_make_in(const char *directory, const struct ct_session_head *head,
				   struct ct_dump_request *request, char *path, size_t room,
				   struct ct_dump_result *out_result)
{
	char name[CT_DUMP_NAME_SIZE];
	enum ctrace_status status;
	int size;

	ct_dump_name(head, name);
	size = snprintf(path, room, "%s%s%s", directory, directory[0] != '\0' ? "/" : "", name);
	if (size < 0 || (size_t)size + sizeof ".9" > room) {
		errno = ENAMETOOLONG;
		return CTRACE_OUTPUT_ERROR;
	}
	request->path = path;
	for (unsigned again = 2;; again++) {
		errno = 0;
		status = ct_dump_make(request, out_result);
		if (status != CTRACE_OUTPUT_ERROR || errno != EEXIST || again > NAMES_TRIED)
			return status;
		(void)snprintf(path + size, room - (size_t)size, ".%u", again);
	}
}

/* True for "x.20261126-143205.dump", and ".2" behind it. */
static bool name_is_dump(const char *name)
{
	const char *at = strstr(name, ".dump");

	if (name[0] == '.' || at == NULL || at - name < 16 || at[-7] != '-' || at[-16] != '.')
		return false;
	return at[5] == '\0' || (at[5] == '.' && at[6] >= '0' && at[6] <= '9' && at[7] == '\0');
}

struct kept {
	uint32_t count;
	uint64_t bytes;
	struct timespec oldest_time;
	char oldest[256];
};

/* Returns the bytes of the dump's files; 0: it is none. */
static uint64_t dump_measure(int directory_fd, const char *name, struct timespec *out_time)
{
	uint64_t bytes = 0;
	struct dirent *entry;
	struct stat info;
	DIR *directory;
	int fd = openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (fstat(fd, &info) != 0 || info.st_uid != geteuid() ||
	    fstatat(fd, CT_DUMP_ABOUT, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
	    (directory = fdopendir(fd)) == NULL) {
		ct_os_close(&fd);
		return 0;
	}
	*out_time = info.st_mtim;
	while ((entry = readdir(directory)) != NULL)
		if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(info.st_mode))
			bytes += (uint64_t)info.st_size;
	(void)closedir(directory);
	return bytes;
}

static bool time_is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void dumps_look(int directory_fd, const char *except, struct kept *out)
{
	int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	*out = (struct kept){ .count = 0 };
	if (directory == NULL) {
		ct_os_close(&fd);
		return;
	}
	while ((entry = readdir(directory)) != NULL) {
		struct timespec changed;
		uint64_t bytes;

		if (!name_is_dump(entry->d_name))
			continue;
		bytes = dump_measure(directory_fd, entry->d_name, &changed);
		if (bytes == 0)
			continue;
		out->count++;
		out->bytes += bytes;
		if (strcmp(entry->d_name, except) != 0 &&
		    (out->oldest[0] == '\0' || time_is_before(&changed, &out->oldest_time))) {
			out->oldest_time = changed;
			(void)snprintf(out->oldest, sizeof out->oldest, "%s", entry->d_name);
		}
	}
	(void)closedir(directory);
}

bool ct_dump_remove(int directory_fd, const char *name)
{
	int fd = openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		(void)unlinkat(fd, entry->d_name, 0);
	if (directory != NULL)
		(void)closedir(directory);
	else
		ct_os_close(&fd);
	return unlinkat(directory_fd, name, AT_REMOVEDIR) == 0;
}

/* True for ".x.dump.new.1234", and ".x.dump.2.new.1234". */
static bool name_is_unfinished(const char *name)
{
	const char *dump = strstr(name, ".dump"), *end = strstr(name, ".new.");

	return name[0] == '.' && dump != NULL && end > dump && end[5] != '\0' &&
	       strspn(end + 5, "0123456789") == strlen(end + 5);
}

static bool dump_is_abandoned(int directory_fd, const char *name)
{
	int fd = openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	bool is_abandoned = fd >= 0 && fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
			    info.st_mtim.tv_sec < time(NULL) - UNFINISHED_AGE_S &&
			    flock(fd, LOCK_EX | LOCK_NB) == 0;

	ct_os_close(&fd);
	return is_abandoned;
}

void ct_dump_sweep(const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_SIZE] = ".";
	struct dirent *entry;
	DIR *directory;

	if (slash != NULL && (size_t)(slash - path) < sizeof parent)
		(void)snprintf(parent, sizeof parent, "%.*s",
			       slash == path ? 1 : (int)(slash - path), path);
	directory = opendir(parent);
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (name_is_unfinished(entry->d_name) &&
		    dump_is_abandoned(dirfd(directory), entry->d_name))
			(void)ct_dump_remove(dirfd(directory), entry->d_name);
	if (directory != NULL)
		(void)closedir(directory);
}

uint32_t ct_dump_make_room(const char *path, uint32_t keep, uint64_t size, const char *except)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t removed = 0;
	struct kept kept;

	while (fd >= 0) {
		dumps_look(fd, except, &kept);
		if (kept.oldest[0] == '\0' || (kept.count <= keep && kept.bytes <= size) ||
		    !ct_dump_remove(fd, kept.oldest))
			break;
		removed++;
	}
	ct_os_close(&fd);
	return removed;
}
