/*
 * otlp_pool.c - the memory of one request, which is freed as a whole.
 *
 * Called while a request is made, on one thread.  One chunk stays for the next request.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"

#include <stdlib.h>

#define CHUNK_SIZE ((size_t)256 << 10)

struct ct_otlp_chunk {
	struct ct_otlp_chunk *next;
	size_t size;
	_Alignas(16) unsigned char bytes[];
};

static struct ct_otlp_chunk *chunk_create(size_t size)
{
	struct ct_otlp_chunk *chunk;

	if (size < CHUNK_SIZE)
		size = CHUNK_SIZE;
	chunk = malloc(sizeof *chunk + size);
	if (chunk == NULL)
		return NULL;
	chunk->next = NULL;
	chunk->size = size;
	return chunk;
}

void *ct_otlp_pool_take(struct ct_otlp_pool *pool, size_t size)
{
	void *taken;

	if (size > SIZE_MAX / 2) {
		pool->failed = true;
		return NULL;
	}
	size = CT_ALIGN_UP(size, (size_t)16);
	if (pool->chunks == NULL || pool->chunks->size - pool->used < size) {
		struct ct_otlp_chunk *chunk = chunk_create(size);

		if (chunk == NULL) {
			pool->failed = true;
			return NULL;
		}
		chunk->next = pool->chunks;
		pool->chunks = chunk;
		pool->used = 0;
	}
	taken = pool->chunks->bytes + pool->used;
	pool->used += size;
	return taken;
}

static bool text_is_string(const unsigned char *at, const unsigned char *end)
{
	uint32_t code;

	while (at < end) {
		size_t size;

		if (*at < 0x80) {
			if (*at++ == '\0')
				return false;
			continue;
		}
		size = ct_utf8_decode(at, end, &code);
		if (size == 0)
			return false;
		at += size;
	}
	return true;
}

char *ct_otlp_pool_text(struct ct_otlp_pool *pool, const void *text, size_t size)
{
	struct ct_buf escaped;
	char *copy;

	if (text_is_string(text, (const unsigned char *)text + size)) {
		copy = ct_otlp_pool_take(pool, size + 1);
		if (copy == NULL)
			return NULL;
		if (size > 0)
			memcpy(copy, text, size);
		copy[size] = '\0';
		return copy;
	}
	ct_buf_init(&escaped);
	ct_escape_add(&escaped, text, size);
	copy = escaped.failed ? NULL : ct_otlp_pool_take(pool, escaped.size + 1);
	pool->failed |= escaped.failed;
	if (copy != NULL) {
		memcpy(copy, escaped.data, escaped.size);
		copy[escaped.size] = '\0';
	}
	ct_buf_fini(&escaped);
	return copy;
}

void ct_otlp_pool_clear(struct ct_otlp_pool *pool)
{
	while (pool->chunks != NULL &&
	       (pool->chunks->next != NULL || pool->chunks->size > CHUNK_SIZE)) {
		struct ct_otlp_chunk *next = pool->chunks->next;

		free(pool->chunks);
		pool->chunks = next;
	}
	pool->used = 0;
	pool->failed = false;
}

void ct_otlp_pool_fini(struct ct_otlp_pool *pool)
{
	ct_otlp_pool_clear(pool);
	free(pool->chunks);
	pool->chunks = NULL;
}

void ct_otlp_list_add(struct ct_otlp_pool *pool, struct ct_otlp_list *list, void *item)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity == 0 ? 8 : 2 * list->capacity;
		void **items = ct_otlp_pool_take(pool, capacity * sizeof *items);

		if (items == NULL)
			return;
		if (list->count > 0)
			memcpy(items, list->items, list->count * sizeof *items);
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = item;
}
