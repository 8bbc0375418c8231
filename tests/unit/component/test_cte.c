/*
 * test_cte.c - entries: what is put in comes out, what is none is refused, and nothing outside the
 * buffer is read.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/component/component.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- time ---- */

static void tod_counts_from_1900(void **state)
{
	(void)state;
	assert_int_equal(ct_tod_wall_ns(UINT64_C(0x7D91048BCA000000)), 0);
	assert_int_equal(ct_tod_wall_ns(UINT64_C(0xB361183F48000000)),
			 UINT64_C(946684800) * 1000000000u);
	assert_int_equal(ct_tod_wall_ns(UINT64_C(0x7D91048BCA000000) + (1 << 12) + (1 << 11)),
			 1500);
	assert_int_equal(ct_tod_wall_ns(UINT64_C(0x7D91048BCA000000) - 1), 0); /* before 1970 */
	assert_int_equal(ct_tod_wall_ns(0), 0);
	/* autumn 2042 */
	assert_true(ct_tod_wall_ns(UINT64_MAX) > UINT64_C(2294610000) * 1000000000u);
}

static void tod_is_now_to_the_nanosecond(void **state)
{
	unsigned exact = 0;

	(void)state;
	errno = 4711;
	for (int i = 0; i < 100000; i++) {
		uint64_t before = ct_clock_wall_ns();
		uint64_t tod = ctrace_tod();
		uint64_t time = ct_tod_wall_ns(tod);
		uint64_t after = ct_clock_wall_ns();

		/* But for a wall clock that is set meanwhile. */
		exact += before <= time && time <= after;
		/* Its last bits stand for these nanoseconds, and no others. */
		assert_int_equal(tod & 0xFFF, (time % 1000 * 4096 + 999) / 1000);
	}
	assert_int_equal(errno, 4711);
	assert_true(exact >= 99990);
}

/* ---- putting in ---- */

static void an_entry_has_its_bytes_where_they_are_documented(void **state)
{
	unsigned char buffer[64];
	uint64_t before = ctrace_tod(), time;
	uint32_t id;
	uint16_t length, offset, again;
	size_t used = 3;

	(void)state;
	memset(buffer, 0xEE, sizeof buffer);
	errno = 4711;
	assert_true(ctrace_cte_add(buffer, sizeof buffer, &used, 0x12345678, "abcde", 5));
	assert_int_equal(errno, 4711);
	assert_int_equal(used, 3 + 23);
	memcpy(&length, buffer + 3, 2);
	memcpy(&offset, buffer + 5, 2);
	memcpy(&id, buffer + 7, 4);
	memcpy(&time, buffer + 11, 8);
	memcpy(&again, buffer + 3 + 21, 2);
	assert_int_equal(length, 23);
	assert_int_equal(offset, 16);
	assert_int_equal(id, 0x12345678);
	assert_true(time >= before && time <= ctrace_tod());
	assert_memory_equal(buffer + 19, "abcde", 5);
	assert_int_equal(again, 23);
	assert_int_equal(buffer[2], 0xEE);
	assert_int_equal(buffer[26], 0xEE);
}

static void what_does_not_fit_changes_nothing(void **state)
{
	static unsigned char buffer[CTRACE_MAX_CTE_DATA + CTRACE_CTE_OVERHEAD + 10],
		before[sizeof buffer], data[CTRACE_MAX_CTE_DATA + 1];
	const size_t sizes[] = {
		CTRACE_MAX_CTE_DATA + 1, SIZE_MAX, SIZE_MAX - 17, SIZE_MAX - 18, 65517, 65518, 65536
	};
	size_t used = 0;

	(void)state;
	memset(buffer, 0xEE, sizeof buffer);
	memcpy(before, buffer, sizeof buffer);
	for (size_t i = 0; i < CT_COUNT(sizes); i++)
		assert_false(ctrace_cte_add(buffer, SIZE_MAX, &used, 1, data, sizes[i]));
	for (size_t size = 0; size < 28; size++)
		assert_false(ctrace_cte_add(buffer, size, &used, 1, data, 10));
	used = 100;
	assert_false(ctrace_cte_add(buffer, 99, &used, 1, data, 0));
	assert_false(ctrace_cte_add(buffer, 117, &used, 1, data, 0));
	assert_int_equal(used, 100);
	used = SIZE_MAX;
	assert_false(ctrace_cte_add(buffer, sizeof buffer, &used, 1, data, 0));
	assert_memory_equal(buffer, before, sizeof buffer);
	used = 0;
	assert_true(ctrace_cte_add(buffer, sizeof buffer, &used, 1, data, CTRACE_MAX_CTE_DATA));
	assert_int_equal(used, CTRACE_MAX_CTE_DATA + CTRACE_CTE_OVERHEAD);
	used = 0;
	assert_true(ctrace_cte_add(buffer, 18, &used, 1, NULL, 1000)); /* an empty one */
	assert_int_equal(used, 18);
}

/* ---- reading back ---- */

static void what_was_put_in_comes_out(void **state)
{
	unsigned char memory[10001], data[256];

	(void)state;
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (unsigned char)(i * 7);
	for (size_t shift = 0; shift < 2; shift++) {
		unsigned char *buffer = memory + shift;
		size_t used = 0, offset = 0, count = 0, added = 0;
		enum ctrace_status status;
		uint64_t bad_offset;
		struct ct_cte entry;

		memset(memory, 0, sizeof memory);
		while (ctrace_cte_add(buffer, 10000, &used, (uint32_t)added, data + added % 16,
				      added % 200))
			added++;
		assert_true(ct_cte_check(buffer, used, &count, &bad_offset));
		assert_int_equal(count, added);
		/* with the zeros behind them */
		assert_true(ct_cte_check(buffer, 10000, &count, &bad_offset));
		assert_int_equal(count, added);
		for (count = 0; (status = ct_cte_next(buffer, 10000, &offset, &entry)) == CTRACE_OK;
		     count++) {
			assert_int_equal(entry.entry_id, count);
			assert_int_equal(entry.size, count % 200);
			assert_memory_equal(entry.data, data + count % 16, entry.size);
		}
		assert_int_equal(status, CTRACE_NOT_FOUND);
		assert_int_equal(count, added);
		assert_int_equal(offset, used);
	}
}

static void data_may_begin_later_and_a_buffer_of_zeros_is_empty(void **state)
{
	unsigned char buffer[40] = { 0 };
	const struct ctrace_cte head = { .length = 40, .offset = 38, .entry_id = 1 },
				other = { .length = 40, .offset = 30 };
	size_t count = 99, offset = 0;
	struct ct_cte entry;
	uint64_t bad_offset;

	(void)state;
	assert_true(ct_cte_check(buffer, sizeof buffer, &count, &bad_offset));
	assert_int_equal(count, 0);
	memcpy(buffer, &head, sizeof head);
	memcpy(buffer + 38, &head.length, 2);
	assert_int_equal(ct_cte_next(buffer, sizeof buffer, &offset, &entry), CTRACE_OK);
	assert_int_equal(entry.size, 0);
	memcpy(buffer, &other, sizeof other);
	offset = 0;
	assert_int_equal(ct_cte_next(buffer, sizeof buffer, &offset, &entry), CTRACE_OK);
	assert_ptr_equal(entry.data, buffer + 30);
	assert_int_equal(entry.size, 8);
}

/* ---- what is no entry ---- */

struct spoilt {
	const char *what;
	size_t at; /* of the u16 to change, in the second entry; or behind it */
	uint16_t value;
	/* the entry that is to be named: 0 the first, 1 the second, 2 what is behind it */
	size_t bad;
};

static void the_first_that_is_none_is_named(void **state)
{
	/* Two entries of 30 bytes and 20 bytes of zeros. */
	static const struct spoilt table[] = {
		{ "length 17", 30, 17, 1 },
		{ "length 1", 30, 1, 1 },
		{ "length 0 with something behind it", 30, 0, 1 },
		{ "longer", 30, 31, 1 },
		{ "shorter", 30, 29, 1 },
		{ "past the end", 30, 51, 1 },
		{ "far past the end", 30, 65535, 1 },
		{ "offset 15", 32, 15, 1 },
		{ "offset 0", 32, 0, 1 },
		{ "offset in the second length", 32, 29, 1 },
		{ "offset past the entry", 32, 30, 1 },
		{ "far offset", 32, 65535, 1 },
		{ "other second length", 58, 18, 1 },
		{ "second length 0", 58, 0, 1 },
		{ "first one's second length", 28, 31, 0 },
		{ "something behind the zeros", 78, 0x0100, 2 },
		{ "something behind one zero", 62, 1, 2 },
		{ "an entry that does not fit behind them", 60, 21, 2 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(table); i++) {
		unsigned char buffer[80] = { 0 };
		size_t used = 0, count = 99;
		uint64_t bad_offset = 99;

		assert_true(ctrace_cte_add(buffer, sizeof buffer, &used, 1, "twelve bytes", 12));
		assert_true(ctrace_cte_add(buffer, sizeof buffer, &used, 2, "twelve bytes", 12));
		memcpy(buffer + table[i].at, &table[i].value, 2);
		if (ct_cte_check(buffer, sizeof buffer, &count, &bad_offset))
			fail_msg("%s was taken", table[i].what);
		assert_int_equal(bad_offset, 30 * table[i].bad);
		assert_int_equal(count, 99);
	}
}

static void no_byte_behind_the_buffer_is_read(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char whole[90] = { 0 };
	size_t used = 0;

	(void)state;
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	assert_true(ctrace_cte_add(whole, sizeof whole, &used, 1, "twelve bytes", 12));
	assert_true(ctrace_cte_add(whole, sizeof whole, &used, 2, "twelve bytes", 12));
	for (size_t size = 0; size <= sizeof whole; size++) {
		unsigned char *buffer = pages + page - size;
		uint64_t bad_offset = 99;
		size_t count = 99;
		/* The first byte of a length, when it is the high one, is 0: the end. */
		bool is_end = CTRACE_IS_BIG_ && size % 30 == 1;
		bool is_entries = size == 0 || size == 30 || size >= 60 || is_end;

		memcpy(buffer, whole, size);
		assert_int_equal(ct_cte_check(buffer, size, &count, &bad_offset), is_entries);
		if (is_entries)
			assert_int_equal(count, size < 30 ? 0 : size < 60 ? 1 : 2);
		else
			assert_int_equal(bad_offset, size < 30 ? 0 : 30);
		/* Lengths that lead out of it. */
		for (size_t at = 0; at + 2 <= size; at++) {
			memcpy(buffer, whole, size);
			memset(buffer + at, 0xFF, 2);
			(void)!ct_cte_check(buffer, size, &count, &bad_offset);
		}
	}
	assert_int_equal(munmap(pages, 2 * page), 0);
}

int test_cte(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tod_counts_from_1900),
		cmocka_unit_test(tod_is_now_to_the_nanosecond),
		cmocka_unit_test(an_entry_has_its_bytes_where_they_are_documented),
		cmocka_unit_test(what_does_not_fit_changes_nothing),
		cmocka_unit_test(what_was_put_in_comes_out),
		cmocka_unit_test(data_may_begin_later_and_a_buffer_of_zeros_is_empty),
		cmocka_unit_test(the_first_that_is_none_is_named),
		cmocka_unit_test(no_byte_behind_the_buffer_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
