/*
 * repair_fixture.h - what the tests of repairing share: what was told, and a copy that is read
 * again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_REPAIR_FIXTURE_H
#define CT_REPAIR_FIXTURE_H

#include "../read/read_fixture.h"
#include "read/repair/repair.h"

struct reported {
	unsigned notes;
	uint64_t bytes;
	uint64_t last_offset;
	char last_path[256];
	char last_message[128];
};

static UNUSED void note_keep(const struct ct_repair_note *note, void *user)
{
	struct reported *reported = user;

	reported->notes++;
	reported->bytes += note->bytes;
	reported->last_offset = note->offset;
	(void)snprintf(reported->last_path, sizeof reported->last_path, "%s", note->path);
	(void)snprintf(reported->last_message, sizeof reported->last_message, "%s", note->message);
}

/* Repairs the path into a directory `to` that is made for it. */
static UNUSED struct ct_repair repair(const char *path, const char *to, struct reported *reported)
{
	struct ct_repair run = { .report = note_keep, .user = reported };

	memset(reported, 0, sizeof *reported);
	assert_int_equal(ct_os_make_directory(to), CTRACE_OK);
	assert_int_equal(ct_repair_path(&run, path, to), CTRACE_OK);
	assert_int_equal(run.damages, reported->notes);
	return run;
}

/* The head of the n-th packet of a file. */
static UNUSED struct ct_packet_head head_of_packet(const char *path, unsigned number, long *out_at)
{
	struct ct_buf file = { 0 };
	struct ct_packet_head head = { 0 };
	size_t at = 0;

	assert_int_equal(ct_os_read_file(path, (size_t)1 << 28, &file), CTRACE_OK);
	for (unsigned i = 0; i <= number; i++) {
		at += i == 0 ? 0 : head.packet_bits / 8;
		assert_true(at < file.size);
		assert_int_equal(ct_packet_decode_head((unsigned char *)file.data + at,
						       file.size - at, &head),
				 CTRACE_OK);
	}
	*out_at = (long)at;
	ct_buf_fini(&file);
	return head;
}

/* Replaces a field of the head of the n-th packet. */
static UNUSED void patch_head_u32(const char *path, unsigned number, long field, uint32_t value)
{
	long at;

	(void)head_of_packet(path, number, &at);
	patch_file(path, at + field, &(const uint32_t){ htole32(value) }, sizeof value);
}

static UNUSED void patch_head_u64(const char *path, unsigned number, long field, uint64_t value)
{
	long at;

	(void)head_of_packet(path, number, &at);
	patch_file(path, at + field, &(const uint64_t){ htole64(value) }, sizeof value);
}

#define FIELD_MAGIC 0
#define FIELD_STREAM 24
#define FIELD_BEGIN 32 /* ticks */
#define FIELD_CONTENT 40
#define FIELD_BEGIN_NS 48
#define FIELD_END_NS 56
#define FIELD_END 64 /* ticks */
#define FIELD_SEQUENCE 72
#define FIELD_DISCARDED 80

#endif
