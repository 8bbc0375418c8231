/*
 * test_encoding.c - names of encodings and dialects; code page 037 there and back.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"
#include "catalog/copybook_private.h"

static void names_of_encodings_are_known(void **state)
{
	enum ct_encoding encoding = CT_ENCODING_COUNT;

	(void)state;
	assert_true(ct_encoding_parse("EBCDIC-037", 10, &encoding));
	assert_int_equal(encoding, CT_ENCODING_EBCDIC_037);
	assert_true(ct_encoding_parse("utf-8", 5, &encoding));
	assert_int_equal(encoding, CT_ENCODING_ASCII);
	assert_true(ct_encoding_parse("ascii", 5, &encoding));
	assert_false(ct_encoding_parse("ebcdic-038", 10, &encoding));
	assert_false(ct_encoding_parse("", 0, &encoding));
	assert_string_equal(ct_encoding_name(CT_ENCODING_EBCDIC_037), "ebcdic-037");
	assert_string_equal(ct_encoding_name(CT_ENCODING_ASCII), "ascii");
}

static void names_of_dialects_are_known(void **state)
{
	enum ct_dialect dialect = CT_DIALECT_COUNT;

	(void)state;
	for (int i = 0; i < CT_DIALECT_COUNT; i++) {
		const char *name = ct_dialect_name((enum ct_dialect)i);

		assert_true(ct_dialect_parse(name, strlen(name), &dialect));
		assert_int_equal(dialect, i);
	}
	assert_true(ct_dialect_parse("GnuCOBOL", 8, &dialect));
	assert_int_equal(dialect, CT_DIALECT_DEFAULT);
	assert_false(ct_dialect_parse("acu", 3, &dialect));
}

static void ebcdic_becomes_utf8(void **state)
{
	struct ct_buf out = { 0 };

	(void)state;
	ct_encoding_add(&out, CT_ENCODING_EBCDIC_037, "\xC8\x85\x93\x93\x96\x6B\x40\xE6\xD6\xF1\xF9\x5A\x4A\xDC", 14);
	assert_string_equal(ct_buf_text(&out), "Hello, WO19!\xC2\xA2\xC3\xBC");
	ct_buf_fini(&out);
}

static void ascii_stays_as_it_is(void **state)
{
	struct ct_buf out = { 0 };

	(void)state;
	ct_encoding_add(&out, CT_ENCODING_ASCII, "a\xFF\0b", 4);
	assert_int_equal(out.size, 4);
	assert_memory_equal(out.data, "a\xFF\0b", 4);
	ct_buf_fini(&out);
}

/* Each byte has a character of its own, and it leads back. */
static void every_byte_goes_there_and_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 256; i++) {
		struct ct_buf out = { 0 };
		uint8_t byte = (uint8_t)i, back = (uint8_t)~byte;
		const char *at;

		ct_encoding_add(&out, CT_ENCODING_EBCDIC_037, &byte, 1);
		at = out.data;
		assert_true(ct_encoding_to(CT_ENCODING_EBCDIC_037, &at, out.data + out.size, &back));
		assert_int_equal(back, byte);
		assert_ptr_equal(at, out.data + out.size);
		ct_buf_fini(&out);
	}
}

static void what_the_code_page_lacks_is_refused(void **state)
{
	static const char euro[] = "\xE2\x82\xAC", half[] = "\xC3";
	const char *at = euro;
	uint8_t byte;

	(void)state;
	assert_false(ct_encoding_to(CT_ENCODING_EBCDIC_037, &at, euro + 3, &byte));
	at = half;
	assert_false(ct_encoding_to(CT_ENCODING_EBCDIC_037, &at, half + 1, &byte));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_encodings_are_known),
		cmocka_unit_test(names_of_dialects_are_known),
		cmocka_unit_test(ebcdic_becomes_utf8),
		cmocka_unit_test(ascii_stays_as_it_is),
		cmocka_unit_test(every_byte_goes_there_and_back),
		cmocka_unit_test(what_the_code_page_lacks_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
