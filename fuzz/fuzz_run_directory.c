/*
 * fuzz_run_directory.c - the process directory of a process that died, with anything written into
 * it: read as ctrace show reads it.
 *
 * The input is a list of changes to a directory that a real process left: one byte what - 0
 * session, 1 ring.0: bytes are written; 2, 3: the file is cut -, four bytes offset, and for the
 * first two one byte length and so many bytes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/print.h"
#include "read/read.h"

#include <ctrace/ctrace.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXTENTS 64u

/* A file of the directory as the process left it: what is in it, without its holes. */
struct image {
	char path[512];
	off_t size;
	size_t extent_count;
	struct {
		off_t at;
		size_t size;
		char *bytes;
	} extents[EXTENTS];
};
static struct image images[2];
static char directory[256];

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void leave_a_directory(const char *run_directory)
{
	static struct ctrace_tracer tracer = CTRACE_TRACER("FUZZ.RUN");
	pid_t pid;
	int status;

	require(setenv("CTRACE_RUN_DIR", run_directory, 1) == 0 &&
		setenv("MFTRACE_CONFIG", "/dev/null", 1) == 0);
	pid = fork();
	require(pid >= 0);
	if (pid == 0) {
		/* What only the flight recorder takes goes nowhere: all of it stays in the ring. */
		if (chdir(run_directory) != 0 ||
		    ctrace_configure("ctrace.flight.level.FUZZ = debug") != CTRACE_OK)
			_exit(1);
		for (int i = 0; i < 20; i++)
			CTRACE(&tracer, CTRACE_INFO, 7, CTRACE_TEXT("some text", 9),
			       CTRACE_U32(17));
		_exit(0);
	}
	require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void find_directory(const char *run_directory)
{
	DIR *entries = opendir(run_directory);
	struct dirent *entry;

	require(entries != NULL);
	while ((entry = readdir(entries)) != NULL)
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			(void)snprintf(directory, sizeof directory, "%s/%.64s", run_directory,
				       entry->d_name);
	(void)closedir(entries);
	require(directory[0] != '\0');
}

static void keep_image(struct image *image, const char *name)
{
	struct stat info;
	off_t at = 0;
	int fd;

	(void)snprintf(image->path, sizeof image->path, "%s/%s", directory, name);
	fd = open(image->path, O_RDONLY | O_CLOEXEC);
	require(fd >= 0 && fstat(fd, &info) == 0);
	image->size = info.st_size;
	while ((at = lseek(fd, at, SEEK_DATA)) >= 0 && image->extent_count < EXTENTS) {
		off_t end = lseek(fd, at, SEEK_HOLE);
		size_t size = (size_t)(end - at);
		char *bytes = malloc(size);

		require(bytes != NULL && pread(fd, bytes, size, at) == (ssize_t)size);
		image->extents[image->extent_count].at = at;
		image->extents[image->extent_count].size = size;
		image->extents[image->extent_count++].bytes = bytes;
		at = end;
	}
	require(image->extent_count > 0 && image->extent_count < EXTENTS && close(fd) == 0);
}

static void restore(const struct image *image)
{
	int fd = open(image->path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	require(fd >= 0 && ftruncate(fd, image->size) == 0);
	for (size_t i = 0; i < image->extent_count; i++)
		require(pwrite(fd, image->extents[i].bytes, image->extents[i].size,
			       image->extents[i].at) == (ssize_t)image->extents[i].size);
	require(close(fd) == 0);
}

static void remove_everything(void)
{
	char command[512];

	(void)snprintf(command, sizeof command, "rm -rf '%.*s'",
		       (int)(strrchr(directory, '/') - directory), directory);
	require(system(command) == 0);
}

static void prepare(void)
{
	static char run_directory[64] = "/tmp/ctrace-fuzz-run.XXXXXX";

	require(mkdtemp(run_directory) != NULL);
	leave_a_directory(run_directory);
	find_directory(run_directory);
	require(atexit(remove_everything) == 0);
	keep_image(&images[0], "session");
	keep_image(&images[1], "ring.0");
}

static void write_change(const struct image *image, uint32_t offset, const uint8_t *bytes,
			 size_t size)
{
	int fd = open(image->path, O_WRONLY | O_CLOEXEC);

	require(fd >= 0);
	require(pwrite(fd, bytes, size, offset % image->size) == (ssize_t)size);
	require(close(fd) == 0);
}

static void apply_changes(const uint8_t *data, size_t size)
{
	while (size >= 6) {
		const struct image *image = &images[data[0] & 1];
		uint32_t offset;
		size_t length = data[5];

		memcpy(&offset, data + 1, 4);
		if ((data[0] & 2) != 0) {
			require(truncate(image->path, offset % image->size) == 0);
			data += 5;
			size -= 5;
			continue;
		}
		if (length > size - 6)
			length = size - 6;
		write_change(image, offset, data + 6, length);
		data += 6 + length;
		size -= 6 + length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_reader *reader;
	const struct ct_read_event *event;
	struct ct_buf line;
	unsigned shown = 0;

	if (directory[0] == '\0')
		prepare();
	restore(&images[0]);
	restore(&images[1]);
	apply_changes(data, size);
	ct_buf_init(&line);
	require(ct_reader_create(&(struct ct_reader_options){ .report = NULL }, &reader) ==
		CTRACE_OK);
	if (ct_reader_add(reader, directory) == CTRACE_OK) {
		while ((event = ct_reader_next(reader)) != NULL) {
			shown++;
			ct_buf_clear(&line);
			ct_json_add_line(&line, event);
		}
	}
	require(size > 0 || shown == 20);
	ct_reader_destroy(reader);
	ct_buf_fini(&line);
	return 0;
}
