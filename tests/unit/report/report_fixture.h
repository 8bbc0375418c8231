/*
 * report_fixture.h - what the tests of a report share: events to pack, and the way back from what
 * was packed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "print/report/report_parts.h"
#include <stdlib.h>
#include <string.h>

/* What a finished column holds. */
struct unpacked {
	unsigned char *bytes;
	size_t size, at;
};

__attribute__((unused)) static struct unpacked unpack(const void *packed, size_t packed_size,
						      size_t limit)
{
	struct unpacked column = { .bytes = malloc(limit + 1) };
	uLongf size = limit + 1;

	assert_non_null(column.bytes);
	assert_int_equal(uncompress(column.bytes, &size, packed, packed_size), Z_OK);
	column.size = size;
	return column;
}

__attribute__((unused)) static struct unpacked unpack_column(struct ct_column *column)
{
	struct unpacked unpacked;

	assert_int_equal(ct_column_finish(column), CTRACE_OK);
	unpacked = unpack(column->packed.data, column->packed.size, column->size);
	assert_int_equal(unpacked.size, column->size);
	return unpacked;
}

__attribute__((unused)) static uint64_t next_number(struct unpacked *column)
{
	uint64_t value = 0;
	unsigned shift = 0;
	unsigned char byte;

	do {
		assert_true(column->at < column->size);
		byte = column->bytes[column->at++];
		value |= (uint64_t)(byte & 0x7F) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

__attribute__((unused)) static int64_t next_difference(struct unpacked *column)
{
	uint64_t value = next_number(column);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

__attribute__((unused)) static void assert_next(struct unpacked *column, const void *bytes,
						size_t size)
{
	assert_true(column->size - column->at >= size);
	assert_memory_equal(column->bytes + column->at, bytes, size);
	column->at += size;
}

__attribute__((unused)) static void assert_end(struct unpacked *column)
{
	assert_int_equal(column->at, column->size);
	free(column->bytes);
}

__attribute__((unused)) static const struct ct_source_process report_source_process = {
	.path = "/tmp/app.ctb",
	.host = "asterix",
	.program = "app",
	.jobname = "APPJOB",
	.pid = 77,
	.asid = 0x2A
};

__attribute__((unused)) static struct ct_read_event make_event(const char *component,
							       uint32_t event_id, uint64_t time_ns)
{
	return (struct ct_read_event){
		.traced = { .time_ns = time_ns,
			    .component = component,
			    .component_size = (uint32_t)strlen(component),
			    .event_id = event_id,
			    .level = CTRACE_INFO,
			    .pid = 77,
			    .tid = 78 },
		.source_process = &report_source_process,
		.duration_ns = CT_NO_DURATION,
	};
}

#endif
