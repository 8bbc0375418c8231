/*
 * text_seen.c - lines that a dead process has written to a text file, and not committed.
 *
 * Called by emit_text.c in a recoverer.  Normally these lines are cut off before the recoverer
 * delivers their events again.  Where another process has appended to the file since, they cannot
 * be cut.  They are remembered instead, and an event whose line is there is not written again.
 * Lines are distinguished by a 64-bit hash; of equal lines each stands for one event.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"
#include "base/hash_table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_SIZE 16384u
/* bytes behind the place that are looked at */
#define SCAN_LIMIT (CT_LINE_MAX + ((uint64_t)64 << 20))
#define LINE_LIMIT 65536u /* far more than a batch has */

static const char label[] = "# ProcessId        = ";

/* The line that is being read. */
struct scan {
	struct ct_text_seen *seen;
	uint32_t pid;
	bool is_own; /* what is read was written by pid */
	uint64_t hash;
	size_t size;
	char start[64]; /* terminated */
};

static void scan_begin_line(struct scan *scan)
{
	scan->hash = CT_HASH_START;
	scan->size = 0;
	memset(scan->start, 0, sizeof scan->start);
}

static void seen_add(struct ct_text_seen *seen, uint64_t hash)
{
	if (seen->count == seen->capacity) {
		size_t capacity = seen->capacity != 0 ? seen->capacity * 2 : 256;
		uint64_t *hashes = capacity <= LINE_LIMIT
					   ? reallocarray(seen->hashes, capacity, sizeof *hashes)
					   : NULL;

		if (hashes == NULL)
			return;
		seen->hashes = hashes;
		seen->capacity = capacity;
	}
	seen->hashes[seen->count++] = hash;
}

/* A header names the process whose lines follow. */
static void scan_end_line(struct scan *scan)
{
	if (scan->size == sizeof CT_TEXT_HEADER_MARK - 2 &&
	    memcmp(scan->start, CT_TEXT_HEADER_MARK, scan->size) == 0)
		scan->is_own = false;
	else if (strncmp(scan->start, label, sizeof label - 1) == 0)
		scan->is_own = strtoul(scan->start + sizeof label - 1, NULL, 10) == scan->pid;
	else if (scan->is_own && scan->start[0] != '#')
		seen_add(scan->seen, scan->hash);
}

static uint64_t hash_add(uint64_t hash, char c)
{
	return ct_hash_bytes(hash, &c, 1);
}

static void scan_bytes(struct scan *scan, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n') {
			scan_end_line(scan);
			scan_begin_line(scan);
			continue;
		}
		if (scan->size < sizeof scan->start - 1)
			scan->start[scan->size] = bytes[i];
		scan->size++;
		scan->hash = hash_add(scan->hash, bytes[i]);
	}
}

void ct_text_seen_load(struct ct_text_seen *seen, const char *path, uint64_t from, uint32_t pid)
{
	struct scan scan = { .seen = seen, .pid = pid, .is_own = from > 0 };
	char window[WINDOW_SIZE];
	size_t got = sizeof window;
	int fd;

	if (ct_os_open_file(AT_FDCWD, path, O_RDONLY, &fd) != CTRACE_OK)
		return;
	scan_begin_line(&scan);
	for (uint64_t at = from; got == sizeof window && at < from + SCAN_LIMIT; at += got) {
		if (ct_os_read_at(fd, window, sizeof window, at, &got) != CTRACE_OK)
			break;
		scan_bytes(&scan, window, got);
	}
	ct_os_close(&fd);
}

bool ct_text_seen_take(struct ct_text_seen *seen, const char *line, size_t size)
{
	uint64_t hash = CT_HASH_START;

	if (seen->count == 0)
		return false;
	for (size_t i = 0; i + 1 < size; i++)
		hash = hash_add(hash, line[i]);
	for (size_t i = 0; i < seen->count; i++) {
		if (seen->hashes[i] == hash) {
			seen->hashes[i] = seen->hashes[--seen->count];
			return true;
		}
	}
	return false;
}

void ct_text_seen_fini(struct ct_text_seen *seen)
{
	free(seen->hashes);
	*seen = (struct ct_text_seen){ 0 };
}
