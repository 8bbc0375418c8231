/*
 * read_fixture.h - what the readers' tests share: traces to read, written by the BINFILE emitter,
 * and what reading them gives.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_FIXTURE_H
#define CT_READ_FIXTURE_H

#include "../emit/bin_fixture.h"
#include "read/source.h"

/* What reading gave. */
struct reading {
	struct ct_sources sources;
	unsigned reports;
	char last_path[256];
	char last_message[256];
	uint64_t last_offset;
};

static UNUSED void note_report(const struct ct_read_note *note, void *user)
{
	struct reading *r = user;

	r->reports++;
	r->last_offset = note->offset;
	(void)snprintf(r->last_path, sizeof r->last_path, "%s", note->path);
	(void)snprintf(r->last_message, sizeof r->last_message, "%s", note->message);
}

static UNUSED void reading_init(struct reading *r)
{
	memset(r, 0, sizeof *r);
	ct_sources_init(&r->sources, note_report, r);
}

/* The next event's first item, a text, as a number: of "number 17." 17; UINT_MAX at the end. */
static UNUSED unsigned next_number(struct reading *r)
{
	const struct ct_read_event *event = ct_sources_next(&r->sources);
	char text[32];

	if (event == NULL)
		return UINT32_MAX;
	assert_true(event->traced.item_count >= 1);
	(void)snprintf(text, sizeof text, "%.*s", (int)event->traced.items[0].size,
		       (const char *)event->traced.items[0].data);
	assert_memory_equal(text, "number ", 7);
	return (unsigned)strtoul(text + 7, NULL, 10);
}

/* The next event, copied; its items are borrowed. */
static UNUSED bool next_event(struct reading *r, struct ctrace_event *out)
{
	const struct ct_read_event *event = ct_sources_next(&r->sources);

	if (event != NULL)
		*out = event->traced;
	return event != NULL;
}

/* Asserts that reading gives exactly these numbers, without damage. */
static UNUSED void assert_reads(const char *path, unsigned first, unsigned count)
{
	struct reading r;

	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, path), CTRACE_OK);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(next_number(&r), first + i);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.sources.totals.events, count);
	assert_int_equal(r.sources.totals.damages, 0);
	ct_sources_fini(&r.sources);
}

/* A trace `name` of count numbered events from `first`, `per_packet` in a packet, in one stream. */
static UNUSED void make_trace(struct fixture *f, const char *name, unsigned first, unsigned count,
			      unsigned per_packet)
{
	struct ctrace_stream stream = { .id = 0 };
	char properties[64];

	(void)snprintf(properties, sizeof properties, "FILE=%s\n", name);
	memset(&f->place, 0, sizeof f->place);
	fixture_open(f, properties);
	for (unsigned i = 0; i < count; i += per_packet)
		assert_int_equal(write_numbered(f, &stream, first + i,
						i + per_packet <= count ? per_packet : count - i),
				 CTRACE_OK);
	fixture_close(f);
}

/* Replaces size bytes of a file at offset; a negative offset counts from its end. */
static UNUSED void patch_file(const char *path, long offset, const void *data, size_t size)
{
	FILE *file = fopen(path, "r+");

	assert_non_null(file);
	assert_int_equal(fseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET), 0);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

#endif
