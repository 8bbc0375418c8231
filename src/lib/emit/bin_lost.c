/*
 * bin_lost.c - stream.lost: losses of a BINFILE directory that no other stream reports.
 *
 * Called by emit_bin.c and bin_stream.c on the thread that consumes.  What a stream's packets
 * report later is taken back here.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"

#include <fcntl.h>

/* stream.lost of an earlier end of this directory; NULL when there is none. */
static enum ctrace_status find_lost(struct ct_bin_directory *directory,
				    struct ct_bin_stream **out_stream)
{
	struct ct_bin_stream *stream;
	enum ctrace_status status;
	struct stat info;

	*out_stream = NULL;
	if (directory->lost == NULL &&
	    fstatat(directory->fd, "stream.lost", &info, AT_SYMLINK_NOFOLLOW) != 0)
		return CTRACE_OK;
	status = ct_bin_stream_get(directory, CT_BIN_LOST, &stream);
	if (status == CTRACE_OK && !stream->is_loaded)
		status = ct_bin_stream_load(directory, stream,
					    stream->offset != 0 ? stream->offset : INT64_MAX,
					    stream->last_at);
	if (status == CTRACE_OK)
		*out_stream = stream;
	return status;
}

enum ctrace_status ct_bin_settle_lost(struct ct_bin_directory *directory)
{
	struct ct_bin_stream *stream;
	enum ctrace_status status = find_lost(directory, &stream);

	return stream != NULL && stream->cut_due ? ct_bin_stream_cut(directory, stream) : status;
}

void ct_bin_take_back_lost(struct ct_bin_directory *directory, uint64_t reported)
{
	struct ct_bin_stream *stream;
	uint64_t total, least;

	if (reported == 0 || find_lost(directory, &stream) != CTRACE_OK || stream == NULL)
		return;
	least = stream->lost_base + directory->left_out;
	if (stream->lost <= least)
		return;
	total = stream->lost - least > reported ? stream->lost - reported : least;
	stream->offset = stream->sequence = 0;
	stream->events = 0;
	directory->lost_reported -= stream->lost - stream->lost_base;
	stream->lost = stream->lost_base;
	if (ct_bin_stream_cut(directory, stream) == CTRACE_OK && total > stream->lost_base)
		(void)!ct_bin_put_lost(directory, stream, total);
}

static uint64_t stream_lost(const struct ct_bin_stream *stream)
{
	if (stream == NULL)
		return 0;
	return stream->lost > stream->lost_base ? stream->lost : stream->lost_base;
}

static uint64_t count_lost(const struct ct_bin_directory *directory)
{
	uint64_t total = stream_lost(directory->lost);

	for (uint32_t id = 0; id < directory->stream_capacity; id++)
		total += stream_lost(directory->streams[id]);
	return total;
}

enum ctrace_status ct_bin_write_lost(struct ct_bin_directory *directory, uint64_t total)
{
	struct ct_bin_stream *stream;
	enum ctrace_status status;
	uint64_t known;

	(void)!ct_bin_settle(directory, false);
	known = count_lost(directory) - directory->left_out - directory->left_out_before;
	if (total <= known)
		return CTRACE_OK;
	status = ct_bin_stream_get(directory, CT_BIN_LOST, &stream);
	if (status == CTRACE_OK && !stream->is_loaded)
		status = ct_bin_stream_load(directory, stream, 0, 0);
	return status == CTRACE_OK
		       ? ct_bin_put_lost(directory, stream, stream->lost + (total - known))
		       : status;
}

enum ctrace_status ct_bin_write_left_out(struct ct_bin_directory *directory, uint64_t events)
{
	uint64_t reported = directory->lost_reported;
	struct ct_bin_stream *stream;
	enum ctrace_status status;

	if (events == 0)
		return CTRACE_OK;
	status = ct_bin_stream_get(directory, CT_BIN_LOST, &stream);
	if (status != CTRACE_OK)
		return status;
	stream->is_loaded = true;
	status = ct_bin_put_lost(directory, stream, stream->lost + events);
	if (status == CTRACE_OK)
		directory->left_out = events;
	directory->lost_reported = reported;
	return status;
}

void ct_bin_report_lost(struct ct_bin_directory *directory, uint64_t total,
			struct ctrace_place *place)
{
	if (ct_bin_write_lost(directory, total) == CTRACE_OK && place->lost < total)
		place->lost = total;
}
