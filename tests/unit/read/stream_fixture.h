/*
 * stream_fixture.h - what the tests of stream files share: one of a BINFILE trace whose packets are
 * known, and what reading it gives.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_STREAM_FIXTURE_H
#define CT_STREAM_FIXTURE_H

#include "read_fixture.h"

#include <zstd.h>

#define PACKETS 20u
#define PER_PACKET 10u
#define COUNT (PACKETS * PER_PACKET)

/* Offsets of the packets of t.ctb/stream.0. */
static UNUSED size_t packet_at[PACKETS + 1];

static UNUSED void make(struct fixture *f)
{
	struct ct_buf bytes = { 0 };
	size_t at = 0;
	struct ct_packet_head head;

	make_trace(f, "t.ctb", 0, COUNT, PER_PACKET);
	assert_int_equal(ct_os_read_file("t.ctb/stream.0", (size_t)1 << 20, &bytes), CTRACE_OK);
	for (unsigned i = 0; i < PACKETS; i++) {
		packet_at[i] = at;
		assert_int_equal(ct_packet_decode_head((unsigned char *)bytes.data + at,
						       bytes.size - at, &head),
				 CTRACE_OK);
		at += head.packet_bits / 8;
	}
	packet_at[PACKETS] = at;
	assert_int_equal(at, bytes.size);
	ct_buf_fini(&bytes);
}

/* Reads t.ctb; which numbers come is in seen, and that they come in order is asserted. */
static UNUSED void read_all(bool seen[COUNT], struct reading *r)
{
	unsigned number, last = 0;

	memset(seen, 0, COUNT);
	reading_init(r);
	assert_int_equal(ct_sources_add(&r->sources, "t.ctb"), CTRACE_OK);
	while ((number = next_number(r)) != UINT32_MAX) {
		assert_true(number < COUNT && !seen[number] && (number == 0 || number > last));
		seen[number] = true;
		last = number;
	}
	ct_sources_fini(&r->sources);
}

static UNUSED void assert_missing(const bool seen[COUNT], unsigned first, unsigned count)
{
	for (unsigned i = 0; i < COUNT; i++)
		if (seen[i] != (i < first || i >= first + count))
			fail_msg("event %u %s", i, seen[i] ? "is there" : "is missing");
}

static UNUSED void put_file(const char *path, const struct ct_buf *bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_false(bytes->failed);
	assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
	assert_int_equal(fclose(file), 0);
}

/* Makes name.zst in t.ctb, as a writer does; gives its size. */
static UNUSED size_t compress_stream(const char *name)
{
	char path[64];
	struct ct_buf bytes = { 0 }, packed = { 0 };
	size_t size;

	(void)snprintf(path, sizeof path, "t.ctb/%s", name);
	assert_int_equal(ct_os_read_file(path, (size_t)8 << 20, &bytes), CTRACE_OK);
	assert_true(ct_buf_reserve(&packed, ZSTD_compressBound(bytes.size)));
	packed.size = ZSTD_compress(packed.data, packed.capacity, bytes.data, bytes.size, 3);
	assert_false(ZSTD_isError(packed.size));
	(void)snprintf(path, sizeof path, "t.ctb/%s.zst", name);
	put_file(path, &packed);
	size = packed.size;
	ct_buf_fini(&packed);
	ct_buf_fini(&bytes);
	return size;
}

#endif
