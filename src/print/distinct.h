/*
 * print/distinct.h - distinct things, numbered from 0 in the order in which they came.
 *
 * Used by the report for classes, threads and fields, and by exporters for the names of spans; on
 * one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_DISTINCT_H
#define CT_PRINT_DISTINCT_H

#include "base/hash_table.h"

#define CT_DISTINCT_LIMIT 65535u
#define CT_DISTINCT_NONE CT_HASH_TABLE_NONE
struct ct_distinct {
	struct ct_buf keys; /* one behind the other */
	size_t *ends;       /* the end of each key in `keys` */
	struct ct_hash_table table;
	uint32_t count;
};
void ct_distinct_fini(struct ct_distinct *table); /* a zeroed one is empty */
/* Returns the number of a key; CT_DISTINCT_NONE when there are too many keys or memory is short.
 * *out_is_new: the key has just got its number. */
uint32_t ct_distinct_find(struct ct_distinct *table, const void *key, size_t size,
			  bool *out_is_new);
/* The key of a number below table->count; borrowed until the next call of ct_distinct_find(). */
const char *ct_distinct_key(const struct ct_distinct *table, uint32_t index, size_t *out_size);

#endif
