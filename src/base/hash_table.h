/*
 * base/hash_table.h - a hash table of numbers: finds the caller's item that has a key.
 *
 * The caller keeps the items, mostly in an array, and walks through them itself.  The table has
 * each item's number and the hash of its key, so it grows without reading an item.  Single items
 * are never removed; ct_hash_table_keep() removes those that are no longer wanted.  A zeroed table
 * is empty.  One thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BASE_HASH_TABLE_H
#define CT_BASE_HASH_TABLE_H

#include "base/base.h"

/* FNV-1a, of bytes as they are.  Begins with CT_HASH_START, or goes on with an earlier result. */
#define CT_HASH_START 0xCBF29CE484222325u
static inline uint64_t ct_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001B3u;
	return hash;
}

#define CT_HASH_TABLE_NONE UINT32_MAX
struct ct_hash_table {
	struct ct_hash_table_slot {
		uint32_t hash;
		uint32_t number; /* number of the item + 1; 0: free */
	} * slots;
	uint32_t slot_count; /* 0 or a power of two; at most half of the slots are in use */
	uint32_t count;
};
void ct_hash_table_fini(struct ct_hash_table *table); /* empties it; the items stay */
/* Makes room for the next ct_hash_table_add().  Returns false without memory; nothing has changed
 * then. */
bool ct_hash_table_reserve(struct ct_hash_table *table) CT_MUST_USE;
/* The same, and makes room for as many items, each of `size` bytes, in the caller's array.  Only
 * this function allocates the array; it is NULL at first, and the caller frees it.  Returns the
 * array, which may have moved.  Returns NULL without memory; the old array stays as it is. */
void *ct_hash_table_reserve_items(struct ct_hash_table *table, void *items,
				  size_t size) CT_MUST_USE;
/* Adds a new item, after one of the two functions above has made room for it. */
void ct_hash_table_add(struct ct_hash_table *table, uint32_t hash, uint32_t number);
/* Removes the items of the caller's array that are not to be kept.  `keeps` is called once for each
 * item.  It returns true with the hash of the item's key, or frees what the item owns and returns
 * false.  The others move together in their order: item n of them has the number n.  Needs no
 * memory, and gives none back. */
typedef bool ct_hash_table_keeps(void *item, uint32_t *out_hash, void *user);
void ct_hash_table_keep(struct ct_hash_table *table, void *items, size_t size,
			ct_hash_table_keeps *keeps, void *user);
/* Returns the number of the item with this key; CT_HASH_TABLE_NONE without one.  The low bits of
 * the hash choose the slot.  `is` compares the key with an item that has the same hash.  Inline, so
 * that `is` can be inlined too. */
typedef bool ct_hash_table_is(const void *items, uint32_t number, const void *key);
static inline uint32_t ct_hash_table_find(const struct ct_hash_table *table, uint32_t hash,
					  ct_hash_table_is *is, const void *items, const void *key)
{
	uint32_t mask = table->slot_count - 1;

	if (table->count == 0)
		return CT_HASH_TABLE_NONE;
	for (uint32_t at = hash & mask; table->slots[at].number != 0; at = (at + 1) & mask)
		if (table->slots[at].hash == hash && is(items, table->slots[at].number - 1, key))
			return table->slots[at].number - 1;
	return CT_HASH_TABLE_NONE;
}

#endif
