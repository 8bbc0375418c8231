/*
 * test_encoding.c - names of encodings; code pages there and back.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/base.h"

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

static void ebcdic_becomes_utf8(void **state)
{
	struct ct_buf out = { 0 };

	(void)state;
	ct_encoding_add(&out, CT_ENCODING_EBCDIC_037,
			"\xC8\x85\x93\x93\x96\x6B\x40\xE6\xD6\xF1\xF9\x5A\x4A\xDC", 14);
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

static const enum ct_encoding mainframes[] = {
	CT_ENCODING_EBCDIC_037,  CT_ENCODING_EBCDIC_273,  CT_ENCODING_EBCDIC_297,
	CT_ENCODING_EBCDIC_500,  CT_ENCODING_EBCDIC_870,  CT_ENCODING_EBCDIC_1047,
	CT_ENCODING_EBCDIC_1140, CT_ENCODING_EBCDIC_1141,
};

/* Each byte has a character of its own, and it leads back. */
static void every_byte_of_a_mainframe_goes_there_and_back(void **state)
{
	(void)state;
	for (size_t page = 0; page < CT_COUNT(mainframes); page++) {
		assert_true(ct_encoding_is_ebcdic(mainframes[page]));
		assert_true(ct_encoding_prepare(mainframes[page]));
		assert_true(ct_encoding_is_prepared(mainframes[page]));
		for (unsigned i = 0; i < 256; i++) {
			struct ct_buf out = { 0 };
			uint8_t byte = (uint8_t)i, back[2] = { 0 };
			const char *at;

			ct_encoding_add(&out, mainframes[page], &byte, 1);
			at = out.data;
			assert_int_equal(
				ct_encoding_to(mainframes[page], &at, out.data + out.size, back),
				1);
			assert_int_equal(back[0], byte);
			assert_ptr_equal(at, out.data + out.size);
			ct_buf_fini(&out);
		}
	}
}

/* What is written in each, and what it means. */
static void each_encoding_has_its_characters(void **state)
{
	static const struct {
		const char *name, *bytes, *text;
	} rows[] = {
		{ "ebcdic-037", "\xD1\xFC\x99\x87\x85\x95", "JÜrgen" },
		{ "EBCDIC-273", "\xD1\x5A\x99\x87\x85\x95\xA1", "JÜrgenß" },
		{ "ebcdic-297", "\x83\xC0\x93\x51\x99\x89", "cél{ri" },
		{ "cp500", "\x4A\x5A\x4F", "[]!" },
		{ "ibm-870", "\xD1\xBA", "JŁ" },
		{ "ebcdic-1047", "\xAD\xBD\x5F", "[]^" },
		{ "ebcdic-1140", "\x9F", "€" },
		{ "ibm1141", "\x9F\x4A", "€Ä" },
		{ "latin-1", "J\xDCRGEN", "JÜRGEN" },
		{ "ISO-8859-15", "\xA4", "€" },
		{ "windows-1252", "\x80\x93", "€“" },
		{ "shift-jis", "\x83\x5C\x81\x5B\x83\x58 A\xB1", "ソース Aｱ" },
		{ "sjis", "\x93\xFA\x96\x7B", "日本" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		const char *at = rows[i].text, *end = at + strlen(at);
		enum ct_encoding encoding;
		struct ct_buf out = { 0 };
		char back[32];
		size_t size = 0;

		assert_true(ct_encoding_parse(rows[i].name, strlen(rows[i].name), &encoding));
		assert_true(ct_encoding_prepare(encoding));
		ct_encoding_add(&out, encoding, rows[i].bytes, strlen(rows[i].bytes));
		assert_string_equal(ct_buf_text(&out), rows[i].text);
		while (at < end) {
			uint8_t bytes[2];
			size_t taken = ct_encoding_to(encoding, &at, end, bytes);

			assert_true(taken > 0);
			memcpy(back + size, bytes, taken);
			size += taken;
		}
		assert_int_equal(size, strlen(rows[i].bytes));
		assert_memory_equal(back, rows[i].bytes, size);
		ct_buf_fini(&out);
	}
}

static void what_is_no_character_stays(void **state)
{
	struct ct_buf out = { 0 };

	(void)state;
	assert_true(ct_encoding_prepare(CT_ENCODING_SHIFT_JIS));
	/* no second byte, no character, cut short */
	ct_encoding_add(&out, CT_ENCODING_SHIFT_JIS, "a\x83 \xA0\x93", 5);
	assert_string_equal(ct_buf_text(&out), "a\x83 \xA0\x93");
	ct_buf_fini(&out);
}

/* As the two steps one after the other, behind what is there already. */
static void escaping_what_was_converted_is_one_step(void **state)
{
	static const char *const texts[] = { "", "plain", "\xC8\x85\x93\x93\x96",
					     "\xC8\x7F\xE0\x0D\x25", "\xFF\x41\xC1" };
	struct ct_buf converted = { 0 }, expected = { 0 }, out = { 0 };

	(void)state;
	for (unsigned i = 0; i < CT_COUNT(texts); i++) {
		for (enum ct_encoding encoding = CT_ENCODING_ASCII;
		     encoding <= CT_ENCODING_EBCDIC_037; encoding++) {
			ct_buf_clear(&converted);
			ct_encoding_add(&converted, encoding, texts[i], strlen(texts[i]));
			ct_buf_add_char(&expected, '/');
			ct_escape_add(&expected, converted.data, converted.size);
			ct_buf_add_char(&out, '/');
			ct_encoding_add_escaped(&out, encoding, texts[i], strlen(texts[i]));
			assert_string_equal(ct_buf_text(&out), ct_buf_text(&expected));
		}
	}
	ct_buf_fini(&converted);
	ct_buf_fini(&expected);
	ct_buf_fini(&out);
}

static void what_the_code_page_lacks_is_refused(void **state)
{
	static const char texts[][5] = {
		"€", "\xC3", "\x80", "\xF0\x9F\x98\x80", "\xEF\xBF\xBF", "\xE2\x82"
	};
	uint8_t bytes[2];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(texts); i++) {
		const char *at = texts[i];

		assert_int_equal(ct_encoding_to(CT_ENCODING_EBCDIC_037, &at,
						texts[i] + strlen(texts[i]), bytes),
				 0);
		assert_true(at > texts[i]);
	}
}

int test_encoding(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_encodings_are_known),
		cmocka_unit_test(ebcdic_becomes_utf8),
		cmocka_unit_test(ascii_stays_as_it_is),
		cmocka_unit_test(every_byte_of_a_mainframe_goes_there_and_back),
		cmocka_unit_test(each_encoding_has_its_characters),
		cmocka_unit_test(what_is_no_character_stays),
		cmocka_unit_test(escaping_what_was_converted_is_one_step),
		cmocka_unit_test(what_the_code_page_lacks_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
