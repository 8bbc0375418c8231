/*
 * distinct.c - distinct things, numbered in the order in which they came: classes of events,
 * threads, fields, names of spans.
 *
 * Called for each event: a look-up is a hash of a short key and, nearly always, one comparison.  A
 * trace may be hostile, so there are at most CT_DISTINCT_LIMIT things.  Keys that are made to
 * collide cost time, at most one comparison for each thing in the table.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/distinct.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

void ct_distinct_fini(struct ct_distinct *table)
{
	ct_buf_fini(&table->keys);
	free(table->ends);
	ct_hash_table_fini(&table->table);
	memset(table, 0, sizeof *table);
}

static uint32_t key_hash(const unsigned char *key, size_t size)
{
	uint64_t hash = CT_HASH_START ^ size;
	uint64_t word;

	while (size >= sizeof word) {
		memcpy(&word, key, sizeof word);
		hash = (hash ^ le64toh(word)) * 0x9E3779B97F4A7C15u;
		hash ^= hash >> 32;
		key += sizeof word;
		size -= sizeof word;
	}
	hash = ct_hash_bytes(hash, key, size);
	hash *= 0x9E3779B97F4A7C15u;
	return (uint32_t)(hash >> 32);
}

const char *ct_distinct_key(const struct ct_distinct *table, uint32_t index, size_t *out_size)
{
	size_t start = index == 0 ? 0 : table->ends[index - 1];

	*out_size = table->ends[index] - start;
	return table->keys.data + start;
}

static bool key_is_at(const void *items, uint32_t number, const void *key)
{
	const struct ct_span *wanted = key;
	size_t size;
	const char *have = ct_distinct_key(items, number, &size);

	return size == wanted->size && (size == 0 || memcmp(have, wanted->at, size) == 0);
}

uint32_t ct_distinct_find(struct ct_distinct *table, const void *key, size_t size, bool *out_is_new)
{
	const struct ct_span wanted = { key, size };
	uint32_t hash = key_hash(key, size),
		 found = ct_hash_table_find(&table->table, hash, key_is_at, table, &wanted);
	size_t *ends;

	*out_is_new = false;
	if (found != CT_HASH_TABLE_NONE || table->count == CT_DISTINCT_LIMIT)
		return found;
	ends = ct_hash_table_reserve_items(&table->table, table->ends, sizeof *ends);
	if (ends == NULL)
		return CT_DISTINCT_NONE;
	table->ends = ends;
	ct_buf_add(&table->keys, key, size);
	if (table->keys.failed) {
		table->keys.failed = false;
		return CT_DISTINCT_NONE;
	}
	ends[table->count] = table->keys.size;
	ct_hash_table_add(&table->table, hash, table->count);
	*out_is_new = true;
	return table->count++;
}
