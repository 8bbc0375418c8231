/*
 * test_bytes.c - a run of bytes that grows, or says that it could not.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

static int make(void **state)
{
	static struct ct_buf buf;

	ct_buf_init(&buf);
	*state = &buf;
	return 0;
}

static int drop(void **state)
{
	struct ct_buf *buf = *state;

	ct_buf_fini(buf);
	assert_null(buf->data);
	ct_buf_fini(buf); /* a second time does no harm */
	return 0;
}

static void an_empty_one_is_an_empty_text(void **state)
{
	struct ct_buf *buf = *state;

	assert_string_equal(ct_buf_text(buf), "");
	ct_buf_add(buf, NULL, 0);
	ct_buf_add_text(buf, "");
	assert_int_equal(buf->size, 0);
	assert_false(buf->failed);
}

static void it_keeps_every_byte_while_it_grows(void **state)
{
	struct ct_buf *buf = *state;

	for (unsigned i = 0; i < 100000; i++)
		ct_buf_add_char(buf, (char)(i * 7));
	assert_int_equal(buf->size, 100000);
	for (unsigned i = 0; i < 100000; i++)
		assert_int_equal(buf->data[i], (char)(i * 7));
}

static void room_that_was_reserved_is_there(void **state)
{
	struct ct_buf *buf = *state;
	static const size_t sizes[] = { 0, 1, 255, 256, 257, 4096, 70000 };

	for (size_t i = 0; i < CT_COUNT(sizes); i++) {
		assert_true(ct_buf_reserve(buf, sizes[i]));
		assert_non_null(buf->data);
		assert_true(buf->capacity - buf->size >= sizes[i]);
		memset(buf->data + buf->size, 'x', sizes[i]);
		buf->size += sizes[i];
	}
}

static void a_text_is_terminated_without_counting_the_terminator(void **state)
{
	struct ct_buf *buf = *state;

	for (size_t size = 1; size <= 600; size++) {
		ct_buf_add_char(buf, 'a');
		assert_int_equal(strlen(ct_buf_text(buf)), size);
		assert_int_equal(buf->size, size);
	}
}

static void numbers_print_as_printf_would(void **state)
{
	struct ct_buf *buf = *state;
	static const uint64_t values[] = { 0,
					   1,
					   9,
					   10,
					   99,
					   100,
					   12345678901234567890u,
					   INT64_MAX,
					   (uint64_t)INT64_MAX + 1,
					   UINT64_MAX };
	char expected[64];

	for (size_t i = 0; i < CT_COUNT(values); i++) {
		ct_buf_clear(buf);
		ct_buf_add_u64(buf, values[i]);
		(void)snprintf(expected, sizeof expected, "%" PRIu64, values[i]);
		assert_string_equal(ct_buf_text(buf), expected);
		ct_buf_clear(buf);
		ct_buf_add_i64(buf, (int64_t)values[i]);
		(void)snprintf(expected, sizeof expected, "%" PRId64, (int64_t)values[i]);
		assert_string_equal(ct_buf_text(buf), expected);
		ct_buf_clear(buf);
		ct_buf_add_hex(buf, values[i], 16, true);
		(void)snprintf(expected, sizeof expected, "%016" PRIX64, values[i]);
		assert_string_equal(ct_buf_text(buf), expected);
	}
}

/* Around each power of ten and of two: where the number of digits changes, or is estimated from the
 * bits. */
static void numbers_have_as_many_digits_as_they_need(void **state)
{
	uint64_t power = 1;

	(void)state;
	for (unsigned i = 0; i < 20 + 64; i++) {
		for (int by = -2; by <= 2; by++) {
			uint64_t value = (i < 20 ? power : (uint64_t)1 << (i - 20)) + (uint64_t)by;
			char expected[64], text[CT_U64_DIGITS + 1];
			char *end = ct_put_u64(text, value);

			*end = '\0';
			(void)snprintf(expected, sizeof expected, "%" PRIu64, value);
			assert_string_equal(text, expected);
		}
		power = i < 19 ? power * 10 : 1;
	}
}

static void bytes_become_two_digits_each(void **state)
{
	unsigned char bytes[256];
	char expected[2 * 256 + 1], text[2 * 256 + 1];

	(void)state;
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * 113);
	for (unsigned size = 0; size <= sizeof bytes; size++) {
		*ct_put_hex_bytes(text, bytes, size) = '\0';
		expected[0] = '\0';
		for (unsigned i = 0; i < size; i++)
			(void)snprintf(expected + 2 * (size_t)i, 3, "%02X", bytes[i]);
		assert_string_equal(text, expected);
	}
}

/* Filled to the last byte by what has no checks of its own. */
static void room_is_there_or_the_buffer_has_failed(void **state)
{
	struct ct_buf *buf = *state;
	char *at;

	for (size_t size = 0; size < 4096; size += 8) {
		at = ct_buf_room(buf, 8);
		assert_non_null(at);
		assert_true(buf->capacity - buf->size > 8);
		memcpy(at, "12345678", 8);
		ct_buf_end(buf, at + 8);
		assert_int_equal(buf->size, size + 8);
	}
	assert_null(ct_buf_room(buf, SIZE_MAX / 2));
	assert_null(ct_buf_room(buf, 1));
	assert_true(buf->failed);
}

static void hex_has_as_many_digits_as_asked_and_at_most_16(void **state)
{
	struct ct_buf *buf = *state;

	ct_buf_add_hex(buf, 0xABCDEF, 4, false);
	assert_string_equal(ct_buf_text(buf), "cdef");
	ct_buf_clear(buf);
	ct_buf_add_hex(buf, 0xA, 0, false);
	assert_string_equal(ct_buf_text(buf), "");
	ct_buf_add_hex(buf, 0xA, 99, false);
	assert_string_equal(ct_buf_text(buf), "000000000000000a");
}

static void trimming_empties_it_and_keeps_no_more_memory_than_it_is_reported(void **state)
{
	struct ct_buf *buf = *state;

	ct_buf_add_text(buf, "text");
	buf->failed = true;
	ct_buf_trim(buf, 4096);
	assert_int_equal(buf->size, 0);
	assert_false(buf->failed);
	assert_non_null(buf->data);
	assert_true(ct_buf_reserve(buf, 4097));
	ct_buf_trim(buf, 4096);
	assert_null(buf->data);
	assert_int_equal(buf->capacity, 0);
	ct_buf_add_text(buf, "text");
	assert_string_equal(ct_buf_text(buf), "text");
}

static void formatted_text_of_any_length_fits(void **state)
{
	struct ct_buf *buf = *state;
	char word[1001];

	memset(word, 'w', 1000);
	word[1000] = '\0';
	for (int length = 0; length <= 1000; length += 50) {
		ct_buf_clear(buf);
		ct_buf_add_format(buf, "%d:%.*s", length, length, word);
		assert_int_equal(buf->size, (length < 10     ? 2
					     : length < 100  ? 3
					     : length < 1000 ? 4
							     : 5) +
						    length);
		assert_int_equal(strlen(ct_buf_text(buf)), buf->size);
	}
}

static void a_growth_that_failed_sticks_until_it_is_cleared(void **state)
{
	struct ct_buf *buf = *state;

	ct_buf_add_text(buf, "before");
	assert_false(ct_buf_reserve(buf, SIZE_MAX));
	assert_true(buf->failed);
	ct_buf_add_text(buf, "x"); /* would fit: but then the middle were missing */
	ct_buf_add_char(buf, 'x');
	ct_buf_add_u64(buf, 1);
	ct_buf_add_format(buf, "%d", 1);
	assert_int_equal(buf->size, 6);
	assert_string_equal(ct_buf_text(buf), "");
	ct_buf_clear(buf);
	assert_false(buf->failed);
	ct_buf_add_text(buf, "after");
	assert_string_equal(ct_buf_text(buf), "after");
}

static void what_goes_into_another_takes_its_failure_along(void **state)
{
	struct ct_buf *buf = *state;
	struct ct_buf scratch;

	ct_buf_init(&scratch);
	ct_buf_add_text(&scratch, "text");
	ct_buf_fini_into(&scratch, buf);
	assert_null(scratch.data);
	assert_false(buf->failed);
	(void)ct_buf_reserve(&scratch, SIZE_MAX);
	ct_buf_fini_into(&scratch, buf);
	assert_true(buf->failed);
}

static void no_size_makes_it_wrap_round(void **state)
{
	struct ct_buf *buf = *state;
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1,
					SIZE_MAX / 4 + 1 };

	for (size_t i = 0; i < CT_COUNT(sizes); i++) {
		ct_buf_clear(buf);
		ct_buf_add_text(buf, "four");
		assert_false(ct_buf_reserve(buf, sizes[i]));
		assert_int_equal(buf->size, 4);
	}
}

static void a_short_text_is_added_whole_or_makes_it_fail(void **state)
{
	volatile size_t huge = SIZE_MAX / 2; /* no memory has so much */
	struct ct_buf *buf = *state;

	for (unsigned i = 0; i < 1000; i++) {
		ct_buf_add_short(buf, "=", 1);
		ct_buf_add_short(buf, "", 0);
		ct_buf_add_short(buf, "text", 4);
	}
	assert_int_equal(buf->size, 5000);
	for (unsigned i = 0; i < 1000; i++)
		assert_memory_equal(buf->data + (size_t)5 * i, "=text", 5);
	ct_buf_add_short(buf, "text", huge);
	assert_true(buf->failed);
	assert_int_equal(buf->size, 5000);
}

static void two_digits_are_put_and_nothing_more(void **state)
{
	(void)state;
	for (unsigned value = 0; value < 100; value++) {
		char text[5] = "----", wanted[5];

		assert_ptr_equal(ct_put_two(text + 1, value), text + 3);
		(void)snprintf(wanted, sizeof wanted, "-%02u-", value);
		assert_string_equal(text, wanted);
	}
}

int test_bytes(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_empty_one_is_an_empty_text, make, drop),
		cmocka_unit_test_setup_teardown(it_keeps_every_byte_while_it_grows, make, drop),
		cmocka_unit_test_setup_teardown(room_that_was_reserved_is_there, make, drop),
		cmocka_unit_test_setup_teardown(
			a_text_is_terminated_without_counting_the_terminator, make, drop),
		cmocka_unit_test_setup_teardown(numbers_print_as_printf_would, make, drop),
		cmocka_unit_test(numbers_have_as_many_digits_as_they_need),
		cmocka_unit_test(bytes_become_two_digits_each),
		cmocka_unit_test_setup_teardown(room_is_there_or_the_buffer_has_failed, make, drop),
		cmocka_unit_test_setup_teardown(hex_has_as_many_digits_as_asked_and_at_most_16,
						make, drop),
		cmocka_unit_test_setup_teardown(
			trimming_empties_it_and_keeps_no_more_memory_than_it_is_reported, make,
			drop),
		cmocka_unit_test_setup_teardown(formatted_text_of_any_length_fits, make, drop),
		cmocka_unit_test_setup_teardown(a_growth_that_failed_sticks_until_it_is_cleared,
						make, drop),
		cmocka_unit_test_setup_teardown(what_goes_into_another_takes_its_failure_along,
						make, drop),
		cmocka_unit_test_setup_teardown(no_size_makes_it_wrap_round, make, drop),
		cmocka_unit_test_setup_teardown(a_short_text_is_added_whole_or_makes_it_fail, make,
						drop),
		cmocka_unit_test(two_digits_are_put_and_nothing_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
