/*
 * test_copybook_number.c - numbers of each usage as DISPLAY shows them and as JSON takes them, and
 * bytes that are none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static void zoned_numbers_carry_their_sign_in_a_digit(void **state)
{
	(void)state;
	assert_field("PIC 9(3)", "042", 3, "042");
	assert_field("PIC S9(3)", "042", 3, "+042");
	assert_field("PIC S9(3)", "04r", 3, "-042");
	assert_field("PIC S9(3)", "04B", 3, "+042");
	assert_field("PIC S9(3)", "04K", 3, "-042");
	assert_field("PIC S9(3)", "04}", 3, "-040");
	assert_field("PIC S9(3) SIGN LEADING", "p42", 3, "-042");
	assert_field("PIC S9(3) SIGN LEADING SEPARATE", "-042", 4, "-042");
	assert_field("PIC S9(3) SIGN TRAILING SEPARATE", "042+", 4, "042+");
	assert_field("PIC S9(3)V99", "0000p", 5, "+000.00");
	assert_field("PIC VPP9", "5", 1, ".005");
	assert_field("PIC 9PP", "5", 1, "500");
}

static void what_is_no_digit_is_shown_as_hex(void **state)
{
	(void)state;
	assert_field("PIC 9(3)", "04A", 3, "!303441");
	assert_field("PIC 9(3)", "   ", 3, "!202020");
	assert_field("PIC 9(3)", "04r", 3, "!303472");
	assert_field("PIC S9(3)", "04z", 3, "!30347A");
	assert_field("PIC S9(3)", "r42", 3, "!723432");
	assert_field("PIC S9(3) SIGN LEADING SEPARATE", " 042", 4, "!20303432");
	assert_field("PIC S9(3) COMP-3", "\x12\x30", 2, "!1230");
	assert_field("PIC S9(3) COMP-3", "\x1A\x3C", 2, "!1A3C");
	assert_field("PIC 9(3) COMP-3", "\x12\x3D", 2, "!123D");
	assert_field("PIC S9(2) COMP-3", "\x12\x3C", 2, "!123C");
	assert_field("PIC 9(3) COMP-6", "\x11\x23", 2, "!1123");
	assert_field("PIC 9(3) COMP", "\x03\xE8", 2, "!03E8");
	assert_field("PIC S9(3) COMP-X", "\xFC\x18", 2, "!FC18");
}

static void packed_numbers_take_every_sign(void **state)
{
	(void)state;
	assert_field("PIC S9(3) COMP-3", "\x12\x3C", 2, "+123");
	assert_field("PIC S9(3) COMP-3", "\x12\x3D", 2, "-123");
	assert_field("PIC S9(3) COMP-3", "\x12\x3B", 2, "-123");
	assert_field("PIC S9(3) COMP-3", "\x12\x3F", 2, "+123");
	assert_field("PIC 9(2) COMP-3", "\x01\x2F", 2, "12");
	assert_field("PIC S9(3) COMP-3", "\x00\x0D", 2, "+000");
	assert_field("PIC 9(4)V99 COMP-6", "\x12\x34\x56", 3, "1234.56");
}

static void binary_numbers_are_big_endian_but_native_ones(void **state)
{
	(void)state;
	assert_field("PIC S9(4) COMP", "\xFF\xFE", 2, "-0002");
	assert_field("PIC S9(4)V99 COMP", "\x00\x00\x30\x39", 4, "+0123.45");
	assert_field("PIC S9(4) COMP-5", "\xFE\xFF", 2, "-00002");
	assert_field("PIC 9(2) COMP-5", "\xFF", 1, "255");
	assert_field("PIC 9(5) COMP-X", "\x01\x86\x9F", 3, "99999");
	assert_field("PIC X COMP-X", "\x4D", 1, "77");
	assert_field("BINARY-DOUBLE UNSIGNED", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8,
		     "18446744073709551615");
	assert_field("BINARY-DOUBLE", "\0\0\0\0\0\0\0\x80", 8, "-09223372036854775808");
	assert_field("INDEX", "\x05\0\0\0", 4, "+000000005");
	assert_field("POINTER", "\x10\xAB\0\0\0\0\0\0", 8, "0x000000000000ab10");
}

static void floats_are_shown_short(void **state)
{
	(void)state;
	assert_field("COMP-1", "\xCD\xCC\xCC\xBD", 4, "-0.1");
	assert_field("COMP-2", "\x8D\xED\xB5\xA0\xF7\xC6\x90\x3E", 8, "2.5E-7");
	assert_field("COMP-2", "\x7D\xC3\x94\x25\xAD\x49\xB2\x54", 8, "1E+100");
}

/* Whatever this machine is; COMP, COMP-X and packed numbers have one order. */
static void native_numbers_have_the_order_of_the_writer(void **state)
{
	static const struct ct_copybook_options ebcdic = { .encoding = CT_ENCODING_EBCDIC_037 };

	(void)state;
	assert_big_field(NULL, "PIC S9(4) COMP-5", "\xFF\xFE", 2, "-00002");
	assert_big_field(NULL, "BINARY-LONG", "\0\0\x01\x02", 4, "+0000000258");
	assert_big_field(NULL, "INDEX", "\0\0\0\x05", 4, "+000000005");
	assert_big_field(NULL, "POINTER", "\0\0\0\0\0\0\xAB\x10", 8, "0x000000000000ab10");
	assert_big_field(NULL, "COMP-1", "\xBD\xCC\xCC\xCD", 4, "-0.1");
	assert_big_field(NULL, "COMP-2", "\x3E\x90\xC6\xF7\xA0\xB5\xED\x8D", 8, "2.5E-7");
	assert_big_field(NULL, "PIC S9(4) COMP", "\xFF\xFE", 2, "-0002");
	assert_big_field(NULL, "PIC 9(5) COMP-X", "\x01\x86\x9F", 3, "99999");
	assert_big_field(NULL, "COMP-1. 88 MINUS VALUE -10 THRU -0.05", "\xBD\xCC\xCC\xCD", 4,
			 "-0.1\nF IS MINUS");
	/* the encoding is of a mainframe: the record may be filled on this machine, floats too */
	assert_fields_with(&ebcdic, "01 R. 05 F PIC S9(4) COMP-5. 05 G COMP-1.",
			   "\xFF\xFE\xCD\xCC\xCC\xBD", 6, "F=-00002\nG=-0.1\n");
}

/* ---- for JSON */

static void put_number(const struct ct_record_field *field, void *user)
{
	char number[CT_JSON_NUMBER_SIZE];
	size_t size = ct_field_json_number(field, number);

	ct_buf_add(user, number, size);
	if (size == 0)
		ct_buf_add_char(user, '-');
}

static void assert_json(const char *entry, const void *bytes, const char *expected)
{
	struct ct_buf numbers = { 0 };
	struct ct_field_visitor visitor = { .value = put_number, .user = &numbers };
	struct ct_copybook *copybook;
	char text[200];

	snprintf(text, sizeof text, "01 R %s.", entry);
	copybook = parse(text, NULL);
	(void)ct_copybook_decode(
		copybook,
		(struct ct_record_bytes){ .at = bytes, .size = ct_copybook_size(copybook) },
		&visitor, NULL);
	assert_string_equal(ct_buf_text(&numbers), expected);
	ct_buf_fini(&numbers);
	ct_copybook_destroy(copybook);
}

static void json_takes_every_number_by_its_value(void **state)
{
	(void)state;
	assert_json("PIC 9(5)", "00042", "42");
	assert_json("PIC 9(3)", "000", "0");
	assert_json("PIC S9(3)V99", "0012u", "-1.25");
	assert_json("PIC SV99", "2u", "-0.25");
	assert_json("PIC S9V99", "00p", "0.00");
	assert_json("PIC S9(3) SIGN TRAILING SEPARATE", "012-", "-12");
	assert_json("PIC PP9", "5", "0.005");
	assert_json("PIC 9PP", "5", "500");
	assert_json("PIC 9PP", "0", "0");
	assert_json("PIC 9(5)V99 COMP-5", "\x64\0\0\0", "1.00");
	assert_json("PIC X COMP-X", "\xFF", "255");
	assert_json("PIC 9(38)", "12345678901234567890123456789012345678",
		    "12345678901234567890123456789012345678");
	assert_json("COMP-2", "\0\0\0\0\0\0\xF0\x7F", "-");
	assert_json("PIC X", "5", "-");
	assert_json("PIC 9", "x", "-");
	assert_json("POINTER", "\1\0\0\0\0\0\0\0", "-");
}

int test_copybook_number(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(zoned_numbers_carry_their_sign_in_a_digit),
		cmocka_unit_test(what_is_no_digit_is_shown_as_hex),
		cmocka_unit_test(packed_numbers_take_every_sign),
		cmocka_unit_test(binary_numbers_are_big_endian_but_native_ones),
		cmocka_unit_test(floats_are_shown_short),
		cmocka_unit_test(native_numbers_have_the_order_of_the_writer),
		cmocka_unit_test(json_takes_every_number_by_its_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
