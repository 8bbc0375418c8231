/*
 * arena.c - memory that is freed only as a whole; it is static or mapped, and never from malloc.
 *
 * Used by the registry, so that a tracer can register in a signal handler that interrupted malloc.
 * The caller serialises.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <sys/mman.h>

#define CHUNK_SIZE ((size_t)256 << 10)

/* At the start of each mapping. */
struct chunk {
	struct chunk *next;
	size_t size;
};

/* The first memory of the first arena is static: a mapping would cost each process a call. */
static bool arena_add_first(struct ct_arena *arena, size_t size)
{
	static _Alignas(16) unsigned char first[CHUNK_SIZE];
	static bool is_taken;

	if (size > sizeof first || __atomic_exchange_n(&is_taken, true, __ATOMIC_RELAXED))
		return false;
	arena->at = first;
	arena->left = sizeof first;
	return true;
}

static bool arena_add_chunk(struct ct_arena *arena, size_t size)
{
	size_t whole = CT_ALIGN_UP(size + sizeof(struct chunk), CHUNK_SIZE);
	struct chunk *chunk;
	void *address;

	if (whole < size || ct_os_map(-1, whole, false, &address) != CTRACE_OK)
		return false;
	chunk = address;
	chunk->next = arena->chunks;
	chunk->size = whole;
	arena->chunks = chunk;
	arena->at = (unsigned char *)address + sizeof *chunk;
	arena->left = whole - sizeof *chunk;
	return true;
}

void *ct_arena_take(struct ct_arena *arena, size_t size)
{
	void *taken;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = CT_ALIGN_UP(size, (size_t)16);
	if (size > arena->left && !arena_add_first(arena, size) && !arena_add_chunk(arena, size))
		return NULL;
	taken = arena->at;
	arena->at += size;
	arena->left -= size;
	return taken;
}

void ct_arena_fini(struct ct_arena *arena)
{
	struct chunk *chunk = arena->chunks;

	while (chunk != NULL) {
		struct chunk *next = chunk->next;

		(void)munmap(chunk, chunk->size);
		chunk = next;
	}
	*arena = (struct ct_arena){ 0 };
}
