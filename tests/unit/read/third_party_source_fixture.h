/*
 * third_party_source_fixture.h - what the tests of a third-party trace's streams share: traces in
 * files, and what reading them gives and tells.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_THIRD_PARTY_SOURCE_FIXTURE_H
#define CT_THIRD_PARTY_SOURCE_FIXTURE_H

#include "read_fixture.h"

#include "read/third_party_parts.h"

#define BARECTF_PACKET 256u
#define BARECTF_PACKETS 6u
#define BARECTF_EVENTS 30u
#define HEAD \
	"typealias integer { size = 8; } := u8; typealias integer { size = 32; } := u32; trace { byte_order = le; };"

/* A file of tests/golden/third_party/, into the test's directory. */
static UNUSED void copy(const char *trace, const char *name)
{
	struct ct_buf bytes = { 0 };
	char path[4096];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/tests/golden/third_party/%s/trace/%s",
		       getenv("CTRACE_SOURCE"), trace, name);
	assert_int_equal(ct_os_read_file(path, (size_t)1 << 20, &bytes), CTRACE_OK);
	(void)mkdir("t", 0700);
	(void)snprintf(path, sizeof path, "t/%s", name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
	assert_int_equal(fclose(file), 0);
	ct_buf_fini(&bytes);
}

static UNUSED void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static UNUSED void make_third_party(const char *metadata, const void *bytes, size_t size)
{
	(void)mkdir("t", 0700);
	write_file("t/metadata", metadata, strlen(metadata));
	write_file("t/stream", bytes, size);
}

static UNUSED void patch(const char *path, uint64_t at, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ct_os_write_at(fd, text, strlen(text), at), CTRACE_OK);
	ct_os_close(&fd);
}

/* What was told: "trouble offset+bytes events message", a line each. */
static UNUSED char reported[4096];

static UNUSED void note_keep(const struct ct_read_note *note, void *user)
{
	static const char *const troubles[] = { [CT_NOTE_DAMAGE] = "damage",
						[CT_NOTE_UNREAD] = "unread",
						[CT_NOTE_LOST] = "lost",
						[CT_NOTE_MISSING] = "missing",
						[CT_NOTE_UNKNOWN] = "unknown" };
	size_t size = strlen(reported);

	(void)user;
	(void)snprintf(reported + size, sizeof reported - size, "%s %llu+%llu %llu %s\n",
		       troubles[note->kind], (unsigned long long)note->offset,
		       (unsigned long long)note->bytes, (unsigned long long)note->events,
		       note->message);
}

static UNUSED struct ct_sources sources;

static UNUSED void open_sources(const char *directory, const char *only)
{
	reported[0] = '\0';
	ct_sources_init(&sources, note_keep, NULL);
	assert_int_equal(ct_source_third_party_add(&sources, directory, only), CTRACE_OK);
}

/* How many events there are, and a sum over everything in them. */
static UNUSED unsigned read_all(uint64_t *out_sum)
{
	const struct ct_read_event *event;
	unsigned count = 0;
	uint64_t sum = 0;

	while (event = ct_sources_next(&sources), event != NULL) {
		count++;
		sum = sum * 31 + event->traced.time_ns + event->traced.event_id;
		assert_int_equal(event->names->item_count, event->traced.item_count);
		for (uint32_t i = 0; i < event->traced.item_count; i++)
			sum = sum * 31 +
			      ct_name_hash(event->traced.items[i].data,
					   event->traced.items[i].size) +
			      ct_name_hash(event->names->items[i], strlen(event->names->items[i]));
	}
	if (out_sum != NULL)
		*out_sum = sum;
	ct_sources_fini(&sources);
	return count;
}

static UNUSED const struct ctrace_event_item *item_of(const struct ct_read_event *event,
						      const char *name)
{
	for (uint32_t i = 0; i < event->traced.item_count; i++)
		if (strcmp(event->names->items[i], name) == 0)
			return &event->traced.items[i];
	fail_msg("no item %s", name);
	return NULL;
}

static UNUSED void assert_text(const struct ct_read_event *event, const char *name,
			       const char *text)
{
	const struct ctrace_event_item *item = item_of(event, name);

	assert_int_equal(item->size, strlen(text));
	assert_memory_equal(item->data, text, item->size);
}

#endif
