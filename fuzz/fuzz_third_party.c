/*
 * fuzz_third_party.c - a third-party trace, any bytes: the first four say how many of the next are
 * its metadata, the others are a stream file.
 *
 * It is read to its end, whole and once more under memory so short that each stream is asked to
 * give its own back.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void put(const char *directory, const char *name, const void *data, size_t size)
{
	char path[4096];
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	(void)close(fd);
}

static unsigned touched;

/* Every byte of it is there. */
static void touch(const struct ct_read_event *event)
{
	require(event->source_process != NULL && event->traced.level < CTRACE_LEVEL_COUNT &&
		event->traced.item_count <= CTRACE_MAX_ITEMS);
	require(strlen(event->traced.component) == event->traced.component_size);
	require(event->names != NULL && event->names->item_count == event->traced.item_count);
	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		const struct ctrace_event_item *item = &event->traced.items[i];

		require(item->size <= CTRACE_MAX_ITEM_SIZE);
		for (uint32_t at = 0; at < item->size; at++)
			touched += ((const unsigned char *)item->data)[at];
		touched += (unsigned)strlen(event->names->items[i]);
	}
}

static void report(const struct ct_read_note *note, void *user)
{
	(void)user;
	touched += (unsigned)strlen(note->message) + (unsigned)strlen(note->path);
}

static uint64_t read_all(const char *directory, size_t may_hold)
{
	struct ct_sources sources;
	const struct ct_read_event *event;
	uint64_t events = 0;

	ct_sources_init(&sources, report, NULL);
	sources.may_hold = may_hold;
	if (ct_source_third_party_add(&sources, directory, NULL) == CTRACE_OK) {
		while ((event = ct_sources_next(&sources)) != NULL) {
			touch(event);
			events++;
		}
	}
	ct_sources_fini(&sources);
	return events;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char directory[256];
	const char *parent = getenv("TMPDIR");
	uint32_t metadata;

	if (size < 4)
		return 0;
	memcpy(&metadata, data, sizeof metadata);
	if (metadata > size - 4)
		metadata = (uint32_t)(size - 4);
	if (directory[0] == '\0') {
		(void)snprintf(directory, sizeof directory, "%s/fuzz.XXXXXX",
			       parent != NULL ? parent : "/tmp");
		require(mkdtemp(directory) != NULL);
	}
	put(directory, "metadata", data + 4, metadata);
	put(directory, "a", data + 4 + metadata, size - 4 - metadata);
	put(directory, "b", data + 4 + metadata, size - 4 - metadata);
	require(read_all(directory, CT_SOURCES_HOLD) == read_all(directory, 1));
	return 0;
}
