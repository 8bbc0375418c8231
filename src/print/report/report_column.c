/*
 * report_column.c - a column of a report: bytes that are packed while they come, so that memory
 * holds what will stand in the page.
 *
 * Called by report_pack.c for each event; most calls only append to a small buffer.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

/* The fastest: a level more costs a third of the time and saves a twentieth of the page. */
#define LEVEL 1
#define ROOM 65536u

enum ctrace_status ct_column_init(struct ct_column *column)
{
	memset(column, 0, sizeof *column);
	ct_buf_init(&column->packed);
	column->pending = malloc(CT_COLUMN_PENDING);
	if (column->pending == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (deflateInit(&column->stream, LEVEL) != Z_OK) {
		ct_memory_note_lack();
		free(column->pending);
		column->pending = NULL;
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	column->is_open = true;
	return CTRACE_OK;
}

void ct_column_fini(struct ct_column *column)
{
	if (column->is_open)
		(void)deflateEnd(&column->stream);
	column->is_open = false;
	free(column->pending);
	column->pending = NULL;
	ct_buf_fini(&column->packed);
}

static void column_pack(struct ct_column *column, const unsigned char *bytes, size_t size,
			int flush)
{
	z_stream *stream = &column->stream;
	int status;

	if (column->failed)
		return;
	stream->next_in = (unsigned char *)(uintptr_t)bytes; /* zlib does not write to it */
	stream->avail_in = (uInt)size;
	do {
		if (!ct_buf_reserve(&column->packed, ROOM)) {
			column->failed = true;
			return;
		}
		stream->next_out = (unsigned char *)column->packed.data + column->packed.size;
		stream->avail_out = ROOM;
		status = deflate(stream, flush);
		column->packed.size += ROOM - stream->avail_out;
	} while (stream->avail_out == 0 && status != Z_STREAM_END);
	column->failed |= status == Z_STREAM_ERROR;
}

static void column_pack_pending(struct ct_column *column)
{
	column_pack(column, column->pending, column->fill, Z_NO_FLUSH);
	column->fill = 0;
}

void ct_column_add(struct ct_column *column, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	column->size += size;
	while (size > CT_COLUMN_PENDING - column->fill) {
		size_t part = CT_COLUMN_PENDING - column->fill;

		memcpy(column->pending + column->fill, at, part);
		column->fill += part;
		at += part;
		size -= part;
		column_pack_pending(column);
	}
	if (size > 0)
		memcpy(column->pending + column->fill, at, size);
	column->fill += size;
}

size_t ct_number_put(unsigned char out[10], uint64_t value)
{
	size_t size = 0;

	while (value >= 0x80) {
		out[size++] = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	out[size++] = (unsigned char)value;
	return size;
}

void ct_column_add_number(struct ct_column *column, uint64_t value)
{
	unsigned char bytes[10];

	ct_column_add(column, bytes, ct_number_put(bytes, value));
}

void ct_column_add_difference(struct ct_column *column, int64_t value)
{
	ct_column_add_number(column, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

enum ctrace_status ct_column_finish(struct ct_column *column)
{
	column_pack(column, column->pending, column->fill, Z_FINISH);
	column->fill = 0;
	return column->failed ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}
