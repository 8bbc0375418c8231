/*
 * fuzz_repair.c - a damaged BINFILE trace, any bytes: metadata up to the first magic number of a
 * packet, the rest is a stream file.  What is repaired is repaired again, and must be without
 * damage then.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/repair/repair.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* absolute: the engine finds its corpus by relative paths, so nothing changes the working directory
 */
static char directory[64];
static char trace[80], first_copy[80], second_copy[80];

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void ignore(const struct ct_repair_note *note, void *user)
{
	(void)user;
	require(note->path != NULL && note->message != NULL);
}

static void write_file(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s", trace, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

static void reset(const char *to)
{
	static const char *const names[] = { "t/metadata", "t/stream.0", "t", "" };
	char path[128];

	for (size_t i = 0; i < CT_COUNT(names); i++) {
		(void)snprintf(path, sizeof path, "%s/%s", to, names[i]);
		(void)remove(path);
	}
}

static struct ct_repair repair(const char *from, const char *to)
{
	struct ct_repair run = { .report = ignore };

	require(ct_os_make_directory(to) == CTRACE_OK);
	(void)!ct_repair_path(&run, from, to);
	return run;
}

static void leave_directory(void)
{
	reset(directory); /* the trace is in it, as in a copy */
}

static void enter_directory(void)
{
	const char *parent = getenv("TMPDIR");

	if (directory[0] != '\0')
		return;
	(void)snprintf(directory, sizeof directory, "%.40s/repair.XXXXXX",
		       parent != NULL && parent[0] == '/' ? parent : "/tmp");
	require(mkdtemp(directory) != NULL);
	(void)snprintf(trace, sizeof trace, "%s/t", directory);
	(void)snprintf(first_copy, sizeof first_copy, "%s/first", directory);
	(void)snprintf(second_copy, sizeof second_copy, "%s/second", directory);
	require(ct_os_make_directory(trace) == CTRACE_OK);
	(void)atexit(leave_directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *packets = size > 0 ? memmem(data, size, "\xC1\x1F\xFC\xC1", 4) : NULL;
	size_t metadata_size = packets != NULL ? (size_t)(packets - data) : size;
	struct ct_repair first, second;

	enter_directory();
	write_file("metadata", data, metadata_size);
	write_file("stream.0", data + metadata_size, size - metadata_size);
	first = repair(trace, first_copy);
	if (first.traces > 0) {
		char copied[96];

		(void)snprintf(copied, sizeof copied, "%s/t", first_copy);
		second = repair(copied, second_copy);
		require(second.damages == 0 && second.repaired == 0 && second.lost_classes == 0);
		require(second.traces == 1 && second.events == first.events &&
			second.packets >= first.packets + first.repaired);
		reset(second_copy);
	}
	reset(first_copy);
	return 0;
}
