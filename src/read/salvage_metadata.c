/*
 * salvage_metadata.c - the classes of a trace whose metadata are damaged.
 *
 * Called by salvage.c, on one thread, with text that may be hostile.  The parser stops at the first thing that it does not
 * understand; here it is set on the next block behind that.  Ids run on, so a class that cannot be read leaves one without
 * items in its place, which no event is read by.  Each byte is parsed once, but for the trace-wide part.
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

/* The number behind "\tid = " in the block; 0 when it has none. */
static uint32_t block_id(const struct work *work, size_t at)
{
	static const char mark[] = "\n\tid = ";
	const char *block = work->bytes + work->front.size + at;
	size_t size = find_block(work, at) - at;
	const char *found = memmem(block, size, mark, sizeof mark - 1);
	uint32_t id = 0;

	if (found == NULL)
		return 0;
	found += sizeof mark - 1;
	while (found < block + size && *found >= '0' && *found <= '9' && id <= CT_CLASS_LIMIT)
		id = id * 10 + (uint32_t)(*found++ - '0');
	return id <= CT_CLASS_LIMIT ? id : 0;
}

/* Stands where a class could not be read. */
static enum ctrace_status add_lost_classes(struct ct_salvage *salvage, struct ct_schema *schema, uint32_t id)
{
	enum ctrace_status status = CTRACE_OK;

	while (ct_schema_count(schema) < id && status == CTRACE_OK) {
		const struct ct_class class = { .id = ct_schema_count(schema),
						.event_id = ct_schema_count(schema),
						.component = CT_SALVAGE_LOST_CLASS };

		status = ct_schema_add(schema, &class);
		salvage->lost_classes++;
	}
	return status;
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
		uint32_t id = block < work->size ? block_id(work, block) : 0;

		at = block + 1;
		if (block == work->size)
			break;
		/* The generic class has a block too, and so may have what was read already. */
		if (id < ct_schema_count(schema))
			continue;
		tell(salvage, path, damage_at, block - damage_at, "not understood");
		status = add_lost_classes(salvage, schema, id);
		if (status != CTRACE_OK)
			return status;
		at = block;
		status = parse_from(work, schema, &at);
		damage_at = at;
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
	if (status == CTRACE_OK || ct_schema_parse_trace(text, size, &found, &(size_t){ 0 }) == CTRACE_OK)
		*info = found;
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
