/*
 * fuzz_cte.c - any bytes as a buffer of component trace entries.
 *
 * What must hold: the check and the walk agree; each entry's data lie in the buffer, between its
 * two lengths; entries stand one behind the other from the begin; what is left behind the last is
 * zeros; a refusal names the place; and a buffer that is cut, or changed after the check, is walked
 * within its bounds all the same.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static uint16_t load_u16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static void check_entry(const uint8_t *at, size_t taken, const struct ct_cte *entry)
{
	must(taken >= CTRACE_CTE_OVERHEAD && taken == load_u16(at) &&
	     taken == load_u16(at + taken - 2));
	must(entry->data >= at + 16 && entry->data + entry->size == at + taken - 2);
	must(memcmp(&entry->entry_id, at + 4, 4) == 0 && memcmp(&entry->time, at + 8, 8) == 0);
}

/* Walks to the end, and gives how it ended and where. */
static enum ctrace_status walk(const uint8_t *data, size_t size, size_t *out_count,
			       size_t *out_offset)
{
	enum ctrace_status status;
	struct ct_cte entry;

	*out_count = *out_offset = 0;
	for (;;) {
		size_t before = *out_offset;

		status = ct_cte_next(data, size, out_offset, &entry);
		if (status != CTRACE_OK) {
			must(*out_offset == before && before <= size);
			return status;
		}
		must(*out_offset <= size);
		check_entry(data + before, *out_offset - before, &entry);
		(void)ct_tod_wall_ns(entry.time);
		(*out_count)++;
	}
}

static void check_whole(const uint8_t *data, size_t size)
{
	size_t count, offset, checked = SIZE_MAX;
	uint64_t bad_offset = UINT64_MAX;
	enum ctrace_status status = walk(data, size, &count, &offset);

	if (ct_cte_check(data, size, &checked, &bad_offset)) {
		must(status == CTRACE_NOT_FOUND && checked == count && bad_offset == UINT64_MAX);
		for (; offset < size; offset++)
			must(data[offset] == 0);
	} else {
		must(status == CTRACE_DAMAGED && bad_offset == offset && checked == SIZE_MAX);
	}
}

/* Its owner changes it between the check and the walk. */
static void check_changed(const uint8_t *data, size_t size)
{
	size_t count, offset;
	uint8_t *copy;

	if (size == 0)
		return;
	copy = malloc(size);
	must(copy != NULL);
	memcpy(copy, data, size);
	for (size_t i = 0; i < size && i < 64; i++) {
		copy[i] = (uint8_t)~copy[i];
		(void)walk(copy, size, &count, &offset);
		copy[i] = data[i];
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_whole(data, size);
	check_whole(data, size / 2);
	check_whole(data + size / 3, size - size / 3);
	check_changed(data, size);
	return 0;
}
