/*
 * distinct.c - distinct things, numbered in the order in which they came: classes of events, threads, fields, names of spans.
 *
 * Called for each event: a look-up is a hash of a short key and, nearly always, one comparison.  A trace may be hostile: there are at most
 * CT_DISTINCT_LIMIT things, and keys that are made to collide cost time, never more than the table is long.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/distinct.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 64u /* a power of two, as all capacities */

void ct_distinct_fini(struct ct_distinct *table)
{
	ct_buf_fini(&table->keys);
	free(table->ends);
	free(table->slots);
	memset(table, 0, sizeof *table);
}

static uint32_t hash_of(const unsigned char *key, size_t size)
{
	uint64_t hash = 0xCBF29CE484222325u ^ size;
	uint64_t word;

	while (size >= sizeof word) {
		memcpy(&word, key, sizeof word);
		hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
		hash ^= hash >> 32;
		key += sizeof word;
		size -= sizeof word;
	}
	while (size-- > 0)
		hash = (hash ^ *key++) * 0x100000001B3u;
	hash *= 0x9E3779B97F4A7C15u;
	return (uint32_t)(hash >> 32);
}

const char *ct_distinct_key(const struct ct_distinct *table, uint32_t index, size_t *out_size)
{
	size_t start = index == 0 ? 0 : table->ends[index - 1];

	*out_size = table->ends[index] - start;
	return table->keys.data + start;
}

static bool is_key(const struct ct_distinct *table, uint32_t index, const void *key, size_t size)
{
	size_t have_size;
	const char *have = ct_distinct_key(table, index, &have_size);

	return have_size == size && (size == 0 || memcmp(have, key, size) == 0);
}

/* Where the key is, or would be. */
static uint32_t *slot_of(const struct ct_distinct *table, const void *key, size_t size)
{
	uint32_t at = hash_of(key, size) & (table->capacity - 1);

	while (table->slots[at] != 0 && !is_key(table, table->slots[at] - 1, key, size))
		at = (at + 1) & (table->capacity - 1);
	return &table->slots[at];
}

static bool grow(struct ct_distinct *table)
{
	uint32_t capacity = table->capacity == 0 ? CAPACITY_FIRST : table->capacity * 2;
	uint32_t *slots = calloc(capacity, sizeof *slots);
	size_t *ends = slots != NULL ? realloc(table->ends, capacity * sizeof *ends) : NULL;

	if (ends == NULL) {
		free(slots);
		return false;
	}
	free(table->slots);
	table->slots = slots;
	table->ends = ends;
	table->capacity = capacity;
	for (uint32_t i = 0; i < table->count; i++) {
		size_t size;
		const char *key = ct_distinct_key(table, i, &size);

		*slot_of(table, key, size) = i + 1;
	}
	return true;
}

uint32_t ct_distinct_find(struct ct_distinct *table, const void *key, size_t size, bool *out_is_new)
{
	uint32_t *slot;

	*out_is_new = false;
	if (table->count * 2 >= table->capacity && !grow(table))
		return CT_DISTINCT_NONE;
	slot = slot_of(table, key, size);
	if (*slot != 0)
		return *slot - 1;
	if (table->count == CT_DISTINCT_LIMIT)
		return CT_DISTINCT_NONE;
	ct_buf_add(&table->keys, key, size);
	if (table->keys.failed) {
		table->keys.failed = false;
		return CT_DISTINCT_NONE;
	}
	table->ends[table->count] = table->keys.size;
	*slot = ++table->count;
	*out_is_new = true;
	return table->count - 1;
}
