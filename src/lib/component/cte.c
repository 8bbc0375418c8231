/*
 * cte.c - component trace entries: made by the application, read by ctrace_write_buffer().
 *
 * ctrace_tod() and ctrace_cte_add() may be called anywhere, also in a signal handler.  The reader
 * trusts nothing: the buffer belongs to the application and may be wrong or change during the call.
 * It copies each header once, checks the copy and uses the copy.  It touches no byte outside the
 * buffer.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <string.h>

#define HEAD_SIZE sizeof(struct ctrace_cte)
#define TAIL_SIZE sizeof(uint16_t)
#define US_1900_TO_1970 (UINT64_C(2208988800) * 1000000u)

_Static_assert(HEAD_SIZE == 16 && HEAD_SIZE + TAIL_SIZE == CTRACE_CTE_OVERHEAD,
	       "a CTE is 16 bytes, the data, and its length again");
_Static_assert(CTRACE_MAX_CTE_DATA + CTRACE_CTE_OVERHEAD <= UINT16_MAX,
	       "its length fits in its length field");

/* ---- time ---- */

uint64_t ctrace_tod(void)
{
	uint64_t ns = ct_clock_wall_ns();
	uint64_t rest = ns % 1000u;

	/* Rounded up, so that ct_tod_wall_ns() returns the same nanoseconds. */
	return (ns / 1000u + US_1900_TO_1970) << 12 | (rest * 4096u + 999u) / 1000u;
}

uint64_t ct_tod_wall_ns(uint64_t tod)
{
	uint64_t us = tod >> 12;

	return us < US_1900_TO_1970
		       ? 0
		       : (us - US_1900_TO_1970) * 1000u + ((tod & 0xFFFu) * 1000u >> 12);
}

/* ---- the application's half ---- */

bool ctrace_cte_add(void *buffer, size_t size, size_t *used, uint32_t entry_id, const void *data,
		    size_t data_size)
{
	struct ctrace_cte head = { .offset = HEAD_SIZE, .entry_id = entry_id };
	unsigned char *at;

	if (data == NULL)
		data_size = 0;
	if (buffer == NULL || used == NULL || data_size > CTRACE_MAX_CTE_DATA || *used > size ||
	    size - *used < data_size + CTRACE_CTE_OVERHEAD)
		return false;
	head.length = (uint16_t)(data_size + CTRACE_CTE_OVERHEAD);
	head.time = ctrace_tod();
	at = (unsigned char *)buffer + *used;
	memcpy(at, &head, HEAD_SIZE);
	if (data_size != 0)
		memcpy(at + HEAD_SIZE, data, data_size);
	memcpy(at + HEAD_SIZE + data_size, &head.length, TAIL_SIZE);
	*used += head.length;
	return true;
}

/* ---- the reader ---- */

static bool bytes_are_zero(const unsigned char *at, size_t size)
{
	return size == 0 || (at[0] == 0 && memcmp(at, at + 1, size - 1) == 0);
}

static bool cte_is_whole(const unsigned char *at, size_t available, const struct ctrace_cte *head)
{
	uint16_t again;

	if (head->length < CTRACE_CTE_OVERHEAD || head->length > available)
		return false;
	if (head->offset < HEAD_SIZE || head->offset > head->length - TAIL_SIZE)
		return false;
	memcpy(&again, at + head->length - TAIL_SIZE, TAIL_SIZE);
	return again == head->length;
}

enum ctrace_status ct_cte_next(const void *buffer, size_t size, size_t *offset, struct ct_cte *out)
{
	const unsigned char *at = (const unsigned char *)buffer + *offset;
	size_t available = size - *offset;
	struct ctrace_cte head = { .length = 0 };

	memcpy(&head, at, available < HEAD_SIZE ? available : HEAD_SIZE);
	if (head.length == 0)
		return bytes_are_zero(at, available) ? CTRACE_NOT_FOUND : CTRACE_DAMAGED;
	if (!cte_is_whole(at, available, &head))
		return CTRACE_DAMAGED;
	*out = (struct ct_cte){ .entry_id = head.entry_id,
				.time = head.time,
				.data = at + head.offset,
				.size = head.length - TAIL_SIZE - head.offset };
	*offset += head.length;
	return CTRACE_OK;
}

bool ct_cte_check(const void *buffer, size_t size, size_t *out_count, uint64_t *out_bad_offset)
{
	size_t count = 0, offset = 0;
	enum ctrace_status status;
	struct ct_cte entry;

	while ((status = ct_cte_next(buffer, size, &offset, &entry)) == CTRACE_OK)
		count++;
	if (status == CTRACE_DAMAGED)
		*out_bad_offset = offset;
	else
		*out_count = count;
	return status != CTRACE_DAMAGED;
}
