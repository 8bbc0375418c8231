/*
 * test_arena.c - memory that is only given back as a whole.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/base.h"

static void what_is_taken_is_aligned_zeroed_and_apart(void **state)
{
	struct ct_arena arena = { 0 };
	unsigned char *pieces[2000];

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		size_t size = i * 37 % 700 + 1;

		pieces[i] = ct_arena_take(&arena, size);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] & 15, 0);
		for (size_t at = 0; at < size; at++)
			assert_int_equal(pieces[i][at], 0);
		memset(pieces[i], (int)(i & 0xFF), size);
	}
	for (size_t i = 0; i < 2000; i++) {
		for (size_t at = 0; at < i * 37 % 700 + 1; at++)
			assert_int_equal(pieces[i][at], i & 0xFF);
	}
	ct_arena_fini(&arena);
	assert_null(arena.chunks);
	ct_arena_fini(&arena);
}

static void a_piece_larger_than_a_chunk_is_had_too(void **state)
{
	static const size_t sizes[] = { ((size_t)256 << 10) - 17, ((size_t)256 << 10) - 16,
					(size_t)256 << 10, (size_t)3 << 20 };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(sizes); i++) {
		struct ct_arena arena = { 0 };
		unsigned char *piece = ct_arena_take(&arena, sizes[i]);

		assert_non_null(piece);
		memset(piece, 1, sizes[i]);
		assert_non_null(ct_arena_take(&arena, 100));
		ct_arena_fini(&arena);
	}
}

static void a_size_that_cannot_be_is_refused(void **state)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2 + 1, SIZE_MAX / 2 };
	struct ct_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(sizes); i++)
		assert_null(ct_arena_take(&arena, sizes[i]));
	assert_non_null(ct_arena_take(&arena, 1));
	ct_arena_fini(&arena);
}

static void short_memory_refuses_and_leaves_the_rest_usable(void **state)
{
	struct ct_arena arena = { 0 };
	unsigned char *first = ct_arena_take(&arena, 1000);

	(void)state;
	assert_non_null(first);
	ct_os_fail(CT_OS_MAP, 0, 1, ENOMEM);
	assert_null(ct_arena_take(&arena, (size_t)1 << 20));
	assert_non_null(ct_arena_take(&arena, 1000)); /* still fits in the first chunk */
	assert_non_null(ct_arena_take(&arena, (size_t)1 << 20));
	memset(first, 1, 1000);
	ct_arena_fini(&arena);
}

int test_arena(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_is_aligned_zeroed_and_apart),
		cmocka_unit_test(a_piece_larger_than_a_chunk_is_had_too),
		cmocka_unit_test(a_size_that_cannot_be_is_refused),
		cmocka_unit_test(short_memory_refuses_and_leaves_the_rest_usable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
