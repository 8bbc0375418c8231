/*
 * replay.c - gives every file of a directory to a fuzz target, and reports in TAP.
 *
 *     <target> DIRECTORY
 *
 * Linked with one fuzz_*.c in place of libFuzzer, so that what was once found stays found, with any
 * compiler.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;
	uint8_t *data = NULL;
	size_t size = 0, capacity = 0, got;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "rb");
	if (file == NULL)
		return errno;
	do {
		if (size == capacity) {
			capacity = capacity * 2 + 4096;
			data = realloc(data, capacity);
			if (data == NULL)
				abort();
		}
		got = fread(data + size, 1, capacity - size, file);
		size += got;
	} while (got != 0);
	fclose(file);
	/* A block of exactly its size, so that a memory checker sees the first byte read past it.
	 */
	uint8_t *exact = malloc(size + (size == 0));
	if (exact == NULL)
		abort();
	memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int count, done = 0, bad = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	count = scandir(argv[1], &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		if (name[0] != '.') {
			int error = replay(argv[1], name);
			printf("%s %d - %s%s%s\n", error == 0 ? "ok" : "not ok", ++done, name,
			       error == 0 ? "" : ": ", error == 0 ? "" : strerror(error));
			fflush(stdout);
			bad |= error;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	printf("1..%d\n", done);
	return bad != 0 || done == 0;
}
