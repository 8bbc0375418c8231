/*
 * salvage_metadata.c - the classes of a trace whose metadata are damaged.
 *
 * Called by salvage.c, on one thread, with text that may be hostile.  The parser stops at the first thing that it does not
 * understand; here it is set on the next block behind that.  A class that cannot be read has no number, so no event is read by it.  Each
 * byte is parsed once, but for the trace-wide part.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/salvage.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK "\nevent {\n"
#define RESCUES 4096u /* blocks that parsing is set on again: hostile text costs so much and no more */

static void tell(struct ct_salvage *salvage, const char *path, uint64_t offset, uint64_t bytes, const char *message)
{
	const struct ct_salvage_note note = { .path = path, .offset = offset, .bytes = bytes, .message = message };

	salvage->damages++;
	salvage->report(&note, salvage->user);
}

/* The text to parse, with room before it for the trace-wide part: that can be put before any of its blocks, over what is done with. */
struct work {
	struct ct_buf front; /* the trace-wide part */
	char *bytes;
	size_t size; /* of the text, which begins at bytes + front.size */
};

/* The next block at or after `from`; the text's size when there is none. */
static size_t find_block(const struct work *work, size_t from)
{
	const char *text = work->bytes + work->front.size;
	const char *found = from < work->size ? memmem(text + from, work->size - from, BLOCK, sizeof BLOCK - 1) : NULL;

	return found != NULL ? (size_t)(found + 1 - text) : work->size;
}

/* The generic class belongs to the trace-wide part. */
static bool is_generic(const struct work *work, size_t block)
{
	static const char beginning[] = "event {\n\tname = \"ctrace:any\";";

	return work->size - block >= sizeof beginning - 1 &&
	       memcmp(work->bytes + work->front.size + block, beginning, sizeof beginning - 1) == 0;
}

/* Parses from the block at `at` on; *at becomes where that ends. */
static enum ctrace_status parse_from(struct work *work, struct ct_schema *schema, size_t *at)
{
	struct ct_trace_info info;
	char *start = work->bytes + *at; /* front.size before the block */
	size_t end = 0;
	enum ctrace_status status;

	memcpy(start, work->front.data, work->front.size);
	status = ct_schema_parse(schema, start, work->front.size + work->size - *at, &info, &end);
	end = end > work->front.size ? end - work->front.size : 0;
	*at += end;
	return status;
}

/* What is found at and behind `at`, which could not be read. */
static enum ctrace_status rescue(struct ct_salvage *salvage, const char *path, struct work *work, struct ct_schema *schema, size_t at)
{
	enum ctrace_status status = CTRACE_DAMAGED;
	size_t damage_at = at;

	for (unsigned i = 0; i < RESCUES && status == CTRACE_DAMAGED; i++) {
		size_t block = find_block(work, at);

		at = block + 1;
		if (block == work->size)
			break;
		if (is_generic(work, block))
			continue;
		tell(salvage, path, damage_at, block - damage_at, "not understood");
		at = block;
		status = parse_from(work, schema, &at);
		damage_at = at;
		salvage->lost_classes += status == CTRACE_DAMAGED;
	}
	if (status == CTRACE_DAMAGED) {
		tell(salvage, path, damage_at, work->size - damage_at, "not understood from here on");
		status = CTRACE_OK;
	}
	return status;
}

enum ctrace_status ct_salvage_classes(struct ct_salvage *salvage, const char *path, const char *text, size_t size,
				      struct ct_schema *schema, struct ct_trace_info *info)
{
	enum ctrace_status status;
	struct ct_trace_info found;
	struct work work = { .size = size };
	size_t at = 0;

	status = ct_schema_parse(schema, text, size, &found, &at);
	/* The classes are told from the trace-wide part by the end of that: without it, what stands there is not known. */
	if (status == CTRACE_OK || ct_schema_parse_trace(text, size, &found, &(size_t){ 0 }) == CTRACE_OK) {
		*info = found;
		salvage->lost_classes += status == CTRACE_DAMAGED;
	}
	if (status != CTRACE_DAMAGED)
		return status;
	ct_buf_init(&work.front);
	ct_schema_print_trace(&work.front, info);
	work.bytes = work.front.failed ? NULL : malloc(work.front.size + size + 1);
	if (work.bytes == NULL) {
		ct_buf_fini(&work.front);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	memcpy(work.bytes + work.front.size, text, size);
	status = rescue(salvage, path, &work, schema, at);
	free(work.bytes);
	ct_buf_fini(&work.front);
	return status;
}
