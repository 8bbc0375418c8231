/*
 * test_names.c - names in any case, and what values stand for.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include <ctrace/event.h>
#include <stdlib.h>
#include <string.h>

static void equal_in_any_case_of_ascii_only(void **state)
{
	(void)state;
	assert_true(ct_name_equal("MF.Rts", 6, "mf.rTS", 6));
	assert_false(ct_name_equal("MF.RTS", 6, "MF.RTS", 5));
	assert_false(ct_name_equal("mf.rts", 6, "mf.rtt", 6));
	assert_true(ct_name_equal("", 0, "x", 0));
	/* Bytes that differ in bit 5 only, but are no letters. */
	assert_false(ct_name_equal("[", 1, "{", 1));
	assert_false(ct_name_equal("@", 1, "`", 1));
	assert_false(ct_name_equal("\xC4", 1, "\xE4", 1));
	for (int a = 0; a < 256; a++) {
		for (int b = 0; b < 256; b++) {
			char x = (char)a, y = (char)b;
			bool letters = (a | 32) >= 'a' && (a | 32) <= 'z' && (a ^ b) == 32;

			assert_int_equal(ct_name_equal(&x, 1, &y, 1), a == b || letters);
		}
	}
	assert_true(ct_name_is("TextFile", 8, "TEXTFILE"));
	assert_false(ct_name_is("TextFile", 7, "TEXTFILE"));
}

static void hash_follows_equality(void **state)
{
	char name[64], upper[64];
	uint32_t different = 0;

	(void)state;
	for (size_t size = 0; size < sizeof name; size++) {
		for (size_t i = 0; i < size; i++)
			name[i] = (char)('a' + (i * 7 + size) % 26);
		memcpy(upper, name, size);
		ct_name_upper(upper, size);
		assert_int_equal(ct_name_hash(name, size), ct_name_hash(upper, size));
		if (size > 0) {
			uint32_t before = ct_name_hash(name, size);

			name[size - 1] = '.';
			different += before != ct_name_hash(name, size);
		}
	}
	assert_int_equal(different, 63);
	assert_int_not_equal(ct_name_hash("a", 1), ct_name_hash("a\0", 2));
}

/* Names as programs number them must not spool up in a table of a power of two. */
static void hash_spreads(void **state)
{
	enum { NAMES = 65536, SLOTS = 65536 };
	uint8_t *slots = calloc(SLOTS, 1);
	unsigned deepest = 0;

	(void)state;
	for (unsigned i = 0; i < NAMES; i++) {
		char name[32];
		size_t size = 0;

		memcpy(name, "APP.PART", 8);
		size = 8;
		for (unsigned n = i; size < 13; n /= 10)
			name[size++] = (char)('0' + n % 10);
		uint32_t slot = ct_name_hash(name, size) % SLOTS;
		slots[slot]++;
		deepest = slots[slot] > deepest ? slots[slot] : deepest;
	}
	free(slots);
	assert_in_range(deepest, 1, 12);
}

static void upper_keeps_everything_but_letters(void **state)
{
	char text[] = "aZ09.z\xE4{";

	(void)state;
	ct_name_upper(text, sizeof text - 1);
	assert_string_equal(text, "AZ09.Z\xE4{");
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} rows[] = {
		{ "ON", 1 },
		{ "yes", 1 },
		{ "Y", 1 },
		{ "True", 1 },
		{ "ENABLED", 1 },
		{ "OFF", 0 },
		{ "no", 0 },
		{ "N", 0 },
		{ "False", 0 },
		{ "DISABLED", 0 },
		{ "0", 0 },
		{ "7", 7 },
		{ "10240", 10240 },
		{ "0x00002800", 10240 },
		{ "0X1f", 31 },
		{ "-1", UINT32_MAX },
		{ "+12", 12 },
		{ "-0x10", (uint32_t)-16 },
		{ "4294967295", UINT32_MAX },
		{ "4294967296", UINT32_MAX },
		{ "99999999999999999999999", UINT32_MAX },
		{ "0xFFFFFFFFFFFFFFFFF", UINT32_MAX },
		{ "", 0 },
		{ " ", 0 },
		{ " 12 ", 12 },
		{ "\tYES ", 1 },
		{ "12a", 0 },
		{ "0x", 0 },
		{ "0xg", 0 },
		{ "-", 0 },
		{ "--1", 0 },
		{ "1 2", 0 },
		{ "maybe", 0 },
		{ "yess", 0 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		assert_int_equal(ct_value_number(rows[i].text, strlen(rows[i].text)),
				 rows[i].value);
	assert_int_equal(ct_value_number("123", 2), 12);
}

static void levels(void **state)
{
	static const char *const names[] = { "DEBUG", "INFO", "WARN", "ERROR", "FATAL" };
	uint32_t level = 99;

	(void)state;
	for (uint32_t i = 0; i < CTRACE_LEVEL_COUNT; i++) {
		char digit = (char)('0' + i);

		assert_string_equal(ct_level_name(i), names[i]);
		assert_true(ct_level_parse(names[i], strlen(names[i]), &level));
		assert_int_equal(level, i);
		level = 99;
		assert_true(ct_level_parse(&digit, 1, &level));
		assert_int_equal(level, i);
	}
	assert_true(ct_level_parse("deBug", 5, &level));
	assert_int_equal(level, 0);
	assert_true(ct_level_parse("none", 4, &level));
	assert_int_equal(level, CTRACE_LEVEL_NONE);
	assert_string_equal(ct_level_name(CTRACE_LEVEL_NONE), "NONE");
	level = 99;
	assert_false(ct_level_parse("5", 1, &level));
	assert_false(ct_level_parse("", 0, &level));
	assert_false(ct_level_parse("debugs", 6, &level));
	assert_false(ct_level_parse("10", 2, &level));
	assert_int_equal(level, 99);
}

int test_names(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_in_any_case_of_ascii_only),
		cmocka_unit_test(hash_follows_equality),
		cmocka_unit_test(hash_spreads),
		cmocka_unit_test(upper_keeps_everything_but_letters),
		cmocka_unit_test(numbers),
		cmocka_unit_test(levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
