/*
 * spool.c - the spool: the directory in which traces for NATS wait until a forwarder has sent them.
 *
 * CTRACE_SPOOL names it; else it is /var/spool/ctrace, where that exists, or a directory of the
 * user's state.  A directory that is not the user's own, such as /var/spool/ctrace, has a directory
 * for each user, named by the number.  Only its owner may write to a spool: whoever can replace a
 * trace can choose where the forwarder sends it.
 *
 * Called by emit_nats.c on the thread that consumes, and by the tool.  Reads the environment.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static bool path_set(char out[CTRACE_EMITTER_PATH_SIZE], const char *first, const char *rest)
{
	int size = snprintf(out, CTRACE_EMITTER_PATH_SIZE, "%s%s", first, rest);

	if (size > 0 && (size_t)size < CT_SPOOL_PATH_SIZE && out[0] == '/')
		return true;
	errno = out[0] == '/' ? ENAMETOOLONG : EINVAL;
	return false;
}

bool ct_spool_root(char out[CTRACE_EMITTER_PATH_SIZE])
{
	const char *named = ct_os_environment("CTRACE_SPOOL");
	const char *state = ct_os_environment("XDG_STATE_HOME");
	const char *home = ct_os_environment("HOME");

	if (named != NULL)
		return path_set(out, named, "");
	if (access(CT_SPOOL_SHARED, W_OK | X_OK) == 0)
		return path_set(out, CT_SPOOL_SHARED, "");
	if (state != NULL && state[0] == '/')
		return path_set(out, state, "/ctrace/spool");
	if (home != NULL && home[0] == '/')
		return path_set(out, home, "/.local/state/ctrace/spool");
	(void)path_set(out, CT_SPOOL_SHARED, "");
	errno = ENOENT;
	return false;
}

bool ct_spool_is_shared(const struct stat *info)
{
	return info->st_uid != geteuid() || (info->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

bool ct_spool_is_own(const struct stat *info)
{
	return S_ISDIR(info->st_mode) && !ct_spool_is_shared(info);
}

enum ctrace_status ct_spool_make(char path[CTRACE_EMITTER_PATH_SIZE],
				 char out_why[CT_PRIVATE_WHY_SIZE])
{
	enum ctrace_status status = ct_os_make_directory(path);
	int error = errno;
	struct stat info;
	size_t size;

	out_why[0] = '\0';
	if (status != CTRACE_OK || stat(path, &info) != 0) {
		/* A file, or a link to nowhere. */
		if (lstat(path, &info) == 0 && !S_ISDIR(info.st_mode))
			(void)!ct_private_inspect(path, out_why);
		errno = error;
		return status != CTRACE_OK ? status : CTRACE_OS_ERROR;
	}
	if (!ct_spool_is_shared(&info))
		return CTRACE_OK;
	/* Whoever may rename our directory there could put another in its place. */
	if (info.st_uid != 0 && info.st_uid != geteuid())
		return ct_private_inspect(path, out_why);
	if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0) {
		(void)snprintf(out_why, CT_PRIVATE_WHY_SIZE,
			       "others may replace what is in it (mode %04o, of user %u); chmod +t",
			       (unsigned)info.st_mode & 07777u, (unsigned)info.st_uid);
		errno = EPERM;
		return CTRACE_DENIED;
	}
	size = strlen(path);
	(void)snprintf(path + size, CTRACE_EMITTER_PATH_SIZE - size, "/%u", (unsigned)geteuid());
	return ct_private_make(path, CTRACE_EMITTER_PATH_SIZE, out_why);
}

/* ---- what waits there ---- */

/* A directory with metadata is a trace. */
static void directory_measure(int parent_fd, const char *name, unsigned depth,
			      struct ct_spool_state *out)
{
	int fd = ct_os_high(openat(parent_fd, name,
				   O_RDONLY | O_DIRECTORY | O_CLOEXEC |
					   (parent_fd != AT_FDCWD ? O_NOFOLLOW : 0)));
	DIR *directory = fd >= 0 ? ct_os_directory_stream(fd) : NULL;
	const struct dirent *entry;

	if (directory == NULL) {
		ct_os_close(&fd);
		return;
	}
	while ((entry = readdir(directory)) != NULL && out->traces < CT_SPOOL_TRACES) {
		struct stat info;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISDIR(info.st_mode) && depth > 0)
			directory_measure(dirfd(directory), entry->d_name, depth - 1, out);
		if (!S_ISREG(info.st_mode))
			continue;
		out->bytes += (uint64_t)info.st_blocks * 512;
		out->traces += strcmp(entry->d_name, "metadata") == 0;
	}
	(void)closedir(directory);
}

bool ct_spool_measure(const char *path, struct ct_spool_state *out)
{
	struct stat info;

	*out = (struct ct_spool_state){ .bytes = 0 };
	if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode) || access(path, R_OK | X_OK) != 0)
		return false;
	directory_measure(AT_FDCWD, path, CT_SPOOL_DEPTH + 1, out);
	return true;
}

void ct_spool_disk(const char *path, uint64_t *out_size, uint64_t *out_free)
{
	struct statvfs disk;

	*out_size = *out_free = UINT64_MAX;
	/* Some file systems in user space report no blocks at all. */
	if (statvfs(path, &disk) != 0 || disk.f_blocks == 0)
		return;
	*out_size = (uint64_t)disk.f_blocks * disk.f_frsize;
	*out_free = (uint64_t)disk.f_bavail * disk.f_frsize;
}

bool ct_spool_is_served(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[CTRACE_EMITTER_PATH_SIZE + 16];
	int fd;
	bool is_served;

	(void)snprintf(name, sizeof name, "%s/" CT_SPOOL_LOCK, path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	is_served = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	ct_os_close(&fd);
	return is_served;
}

/* ---- the address ---- */

void ct_spool_boot(char out[CT_SPOOL_BOOT_SIZE])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, out, CT_SPOOL_BOOT_SIZE - 1) : 0;

	ct_os_close(&fd);
	out[got > 0 ? got : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

enum ctrace_status ct_spool_put_address(const char *trace, const char *address)
{
	char text[CT_SPOOL_ADDRESS_SIZE + CT_SPOOL_BOOT_SIZE + 2], boot[CT_SPOOL_BOOT_SIZE];
	struct ct_file_id id, directory_id;
	enum ctrace_status status;
	int directory, fd, size;

	ct_spool_boot(boot);
	size = snprintf(text, sizeof text, "%s\n%s\n", address, boot);
	status = ct_os_open_directory(AT_FDCWD, trace, &directory, &directory_id);
	if (status != CTRACE_OK)
		return status;
	(void)unlinkat(directory, CT_SPOOL_ADDRESS ".new", 0);
	status = ct_os_open_known(directory, CT_SPOOL_ADDRESS ".new", O_WRONLY | O_CREAT | O_EXCL,
				  &fd, &id);
	if (status == CTRACE_OK) {
		status = ct_os_write_at(fd, text, (size_t)size, 0);
		ct_os_close_file(&fd, &id);
	}
	if (status == CTRACE_OK)
		status = ct_os_rename(directory, CT_SPOOL_ADDRESS ".new", CT_SPOOL_ADDRESS);
	ct_os_close_file(&directory, &directory_id);
	return status;
}

bool ct_spool_get_address(const char *trace, char out_address[CT_SPOOL_ADDRESS_SIZE],
			  char out_boot[CT_SPOOL_BOOT_SIZE])
{
	char path[CTRACE_EMITTER_PATH_SIZE + 32];
	struct ct_buf text;
	const char *end;
	bool is_whole;

	(void)snprintf(path, sizeof path, "%s/" CT_SPOOL_ADDRESS, trace);
	ct_buf_init(&text);
	is_whole = ct_os_read_file(path, CT_SPOOL_ADDRESS_SIZE + 64, &text) == CTRACE_OK &&
		   (end = strchr(ct_buf_text(&text), '\n')) != NULL &&
		   (size_t)(end - text.data) < CT_SPOOL_ADDRESS_SIZE;
	if (is_whole) {
		(void)snprintf(out_address, CT_SPOOL_ADDRESS_SIZE, "%.*s", (int)(end - text.data),
			       text.data);
		(void)snprintf(out_boot, CT_SPOOL_BOOT_SIZE, "%.*s", (int)strcspn(end + 1, "\n"),
			       end + 1);
	}
	ct_buf_fini(&text);
	return is_whole;
}
