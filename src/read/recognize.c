/*
 * recognize.c - describes to the user a path that is no trace.
 *
 * Called by the tools once for a path that cannot be read as a trace, on one thread.  The file may
 * be anything: only its first bytes are read, and only if it is a regular file.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_SIZE 4096u

/* The first bytes of known kinds of files. */
static const struct {
	const char *bytes;
	size_t size;
	const char *what;
} beginnings[] = {
#define BEGINNING(bytes, what) \
	{ \
		bytes, sizeof(bytes) - 1, what \
	}
	BEGINNING("# -MFTRACE Text Emitter-",
		  "a text file of the TEXTFILE emitter; read it with a text tool, as less"),
	BEGINNING(
		"\177ELF",
		"a program or a library, no trace; name what it traced, or the id of its process"),
	BEGINNING("(\265/\375", "a compressed file; unpack it with zstd -d"),
	BEGINNING("\037\213", "a compressed file; unpack it with gunzip"),
	BEGINNING("component:", "a catalogue; give it with --catalog"),
	BEGINNING("mftrace.", "a configuration file, no trace"),
	BEGINNING("{", "a JSON document, which is not read"),
	BEGINNING("[", "a JSON document, which is not read"),
	BEGINNING("time,time_ns,", "a table of ctrace export, which is not read"),
	BEGINNING("<!DOCTYPE", "a page for a browser, no trace"),
	BEGINNING("<", "an XML document, no trace"),
#undef BEGINNING
};

static bool has_suffix(const char *path, const char *suffix)
{
	size_t size = strlen(path), suffix_size = strlen(suffix);

	return size > suffix_size && strcasecmp(path + size - suffix_size, suffix) == 0;
}

static const char *bytes_beginning(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < CT_COUNT(beginnings); i++)
		if (size >= beginnings[i].size &&
		    memcmp(bytes, beginnings[i].bytes, beginnings[i].size) == 0)
			return beginnings[i].what;
	return NULL;
}

static bool name_is_stream(const char *name)
{
	return strncmp(name, "stream.", 7) == 0 && name[7] >= '0' && name[7] <= '9';
}

static bool name_is_text(const char *name)
{
	return has_suffix(name, ".log");
}

/* Is it a stream of a trace whose metadata may not be read?  The stream itself is not at fault. */
static bool has_closed_metadata(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *metadata;
	bool is_closed;

	if (!name_is_stream(slash != NULL ? slash + 1 : path))
		return false;
	if (asprintf(&metadata, "%.*smetadata", slash != NULL ? (int)(slash + 1 - path) : 0, path) <
	    0)
		return false;
	is_closed = faccessat(AT_FDCWD, metadata, R_OK, AT_EACCESS) != 0 && errno == EACCES;
	free(metadata);
	return is_closed;
}

/* A file beside a process directory's session is a part of that directory. */
static bool is_part_of_run_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	struct stat info;
	char *session;
	bool found;

	if (strcmp(name, "session") != 0 && strncmp(name, "ring.", 5) != 0)
		return false;
	if (asprintf(&session, "%.*ssession", (int)(name - path), path) < 0)
		return false;
	found = stat(session, &info) == 0 && S_ISREG(info.st_mode);
	free(session);
	return found;
}

static const char *recognize_bytes(const char *path, const unsigned char *bytes, size_t size)
{
	const char *what = bytes_beginning(bytes, size);

	if (size == 0)
		return "an empty file";
	if (what != NULL)
		return what;
	if (has_suffix(path, ".ctb"))
		return "a file, and no trace that ctrace can read: what its BINFILE emitter writes are directories";
	if (memchr(bytes, '\0', size) == NULL)
		return "a text file, no trace";
	return "a file, and no trace that ctrace can read";
}

static const char *recognize_file(const char *path)
{
	unsigned char bytes[LOOK_SIZE];
	const char *what;
	size_t size = 0;
	int fd;

	if (is_part_of_run_directory(path))
		return "a part of a process directory; name the directory";
	if (has_closed_metadata(path))
		return "permission denied: the file metadata beside it may not be read";
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return strerror(errno);
	if (ct_os_read_at(fd, bytes, sizeof bytes, 0, &size) == CTRACE_OK)
		what = recognize_bytes(path, bytes, size);
	else
		what = strerror(errno);
	ct_os_close(&fd);
	return what;
}

static bool directory_has_entry(const char *path, bool (*is_wanted)(const char *name))
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool found = false;

	while (directory != NULL && !found && (entry = readdir(directory)) != NULL)
		found = is_wanted(entry->d_name);
	if (directory != NULL)
		(void)closedir(directory);
	return found;
}

bool ct_path_has_streams(const char *path)
{
	return directory_has_entry(path, name_is_stream);
}

/* Returns the error of opening a trace's metadata or a process directory's session; 0 when it can
 * be opened or does not exist. */
static int file_refusal(const char *directory, const char *name, int flags)
{
	int fd, error = 0;
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != ENXIO) /* ENXIO: a socket */
		error = errno;
	ct_os_close(&fd);
	free(path);
	return error;
}

const char *ct_path_unreadable(const char *path, char out[CT_UNREADABLE_SIZE])
{
	struct stat info;
	const char *why;

	if (lstat(path, &info) != 0)
		why = strerror(errno);
	else if (S_ISLNK(info.st_mode))
		why = "it is a link, and links are not followed";
	else if (!S_ISREG(info.st_mode))
		why = "it is no regular file";
	else if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
		why = strerror(errno);
	else
		return NULL;
	(void)snprintf(out, CT_UNREADABLE_SIZE, "it cannot be read: %s", why);
	return out;
}

static const char *recognize_refusal(const char *path)
{
	int error = faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS) != 0 ? errno : 0;

	if (error == EACCES)
		return "permission denied: the directory may not be read";
	if (error != 0)
		return strerror(error);
	error = file_refusal(path, "metadata", 0);
	if (error == EACCES)
		return "permission denied: its file metadata may not be read";
	if (error == 0)
		error = file_refusal(path, "session", O_NOFOLLOW); /* as source_ring.c reads it */
	if (error == EACCES)
		return "permission denied: its file session may not be read";
	if (error == ELOOP)
		return "its file session is a link, and links are not followed";
	return error != 0 ? strerror(error) : NULL;
}

static const char *recognize_directory(const char *path)
{
	const char *refusal = recognize_refusal(path);

	if (refusal != NULL)
		return refusal;
	if (ct_path_has_streams(path))
		return "a trace that lacks its file metadata; ctrace repair can make one that has it";
	return directory_has_entry(path, name_is_text)
		       ? "a directory that holds no trace; its text files are read with a text tool, as less"
		       : "a directory that holds no trace";
}

const char *ct_path_recognize(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return errno == ENOENT || errno == ENOTDIR ? NULL : strerror(errno);
	if (S_ISDIR(info.st_mode))
		return recognize_directory(path);
	if (S_ISREG(info.st_mode))
		return recognize_file(path);
	return "no file and no directory, so no trace";
}
