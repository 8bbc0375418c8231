/*
 * test_escape.c - whatever the bytes are, what comes out is one harmless line that says exactly
 * what they were.
 *
 * The oracle is written the other way round: output is taken apart into what it stands for (and
 * must equal the input), and scanned, with a decoder of its own, for anything that a terminal or a
 * line reader would act upon.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include <stdlib.h>
#include <string.h>

static size_t put_utf8(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xC0 | code >> 6);
		out[1] = (char)(0x80 | (code & 63));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xE0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 63));
		out[2] = (char)(0x80 | (code & 63));
		return 3;
	}
	out[0] = (char)(0xF0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 63));
	out[2] = (char)(0x80 | (code >> 6 & 63));
	out[3] = (char)(0x80 | (code & 63));
	return 4;
}

static bool must_be_hidden(uint32_t code)
{
	static const uint32_t singles[] = { 0x61C,  0x200E, 0x200F, 0x202A, 0x202B, 0x202C,
					    0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069,
					    0x2028, 0x2029, 0xFEFF, 0x7F };

	for (size_t i = 0; i < CT_COUNT(singles); i++) {
		if (code == singles[i])
			return true;
	}
	return code < 32 || (code >= 0x80 && code <= 0x9F);
}

/* Output byte by byte: ASCII printable, or a complete UTF-8 sequence of something harmless. */
static void assert_harmless(const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		char again[4];
		unsigned char c = (unsigned char)text[i];
		size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
		uint32_t code = length == 1 ? c : c & (0x7Fu >> length);

		assert_true(i + length <= size);
		for (size_t k = 1; k < length; k++)
			code = code << 6 | ((unsigned char)text[i + k] & 63);
		/* Shortest form, valid continuation bytes: encoding it again gives the same. */
		assert_int_equal(put_utf8(code, again), length);
		assert_memory_equal(again, text + i, length);
		assert_false(code >= 0xD800 && code <= 0xDFFF);
		assert_true(code <= 0x10FFFF);
		assert_false(must_be_hidden(code));
		i += length;
	}
}

static unsigned hex(char c)
{
	assert_non_null(strchr("0123456789ABCDEF", c));
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'A') + 10;
}

/* What an escaped text stands for; every quote in it must have been escaped. */
static size_t unescape(const char *text, size_t size, char *out)
{
	size_t out_size = 0;

	for (size_t i = 0; i < size; i++) {
		uint32_t code = 0;

		assert_int_not_equal(text[i], '"');
		if (text[i] != '\\') {
			out[out_size++] = text[i];
			continue;
		}
		switch (text[++i]) {
		case 'n':
			out[out_size++] = '\n';
			break;
		case 'r':
			out[out_size++] = '\r';
			break;
		case 't':
			out[out_size++] = '\t';
			break;
		case '"':
		case '\\':
			out[out_size++] = text[i];
			break;
		case 'x':
			out[out_size++] = (char)(hex(text[i + 1]) << 4 | hex(text[i + 2]));
			i += 2;
			break;
		case 'u':
			assert_int_equal(text[++i], '{');
			while (text[++i] != '}')
				code = code << 4 | hex(text[i]);
			out_size += put_utf8(code, out + out_size);
			break;
		default:
			fail_msg("unknown escape \\%c", text[i]);
		}
	}
	return out_size;
}

static struct ct_buf out;

/* The fast copy takes a text exactly if all of it is printable ASCII without marks, and writes no
 * byte beyond it. */
static void check_plain_copy(const char *text, size_t size)
{
	static char copy[65536 + 1];
	bool is_plain = true;
	char *end;

	for (size_t i = 0; i < size; i++)
		is_plain &= text[i] >= ' ' && text[i] <= '~' && text[i] != '"' && text[i] != '\\';
	copy[size] = '#';
	end = ct_escape_put_plain(copy, text, size);
	assert_ptr_equal(end, is_plain ? copy + size : NULL);
	assert_int_equal(copy[size], '#');
	if (is_plain)
		assert_memory_equal(copy, text, size);
}

static void check(const char *text, size_t size)
{
	static char back[65536];
	size_t marks = 0;

	for (size_t i = 0; i < size; i++)
		marks += text[i] == '"' || text[i] == '\\';
	check_plain_copy(text, size);
	ct_buf_clear(&out);
	ct_escape_add(&out, text, size);
	assert_false(out.failed);
	assert_harmless(out.data, out.size);
	assert_int_equal(ct_escape_is_plain(text, size), out.size == size);
	assert_int_equal(ct_escape_is_harmless(text, size), out.size == size + marks);
	assert_int_equal(unescape(out.data, out.size, back), size);
	assert_memory_equal(back, text, size);
}

static void assert_escaped(const char *text, size_t size, const char *expected)
{
	check(text, size);
	assert_string_equal(ct_buf_text(&out), expected);
}

static void each_kind_as_documented(void **state)
{
	(void)state;
	assert_escaped("myprog", 6, "myprog");
	assert_escaped("", 0, "");
	assert_escaped(" ~!#[]^", 7, " ~!#[]^");
	assert_escaped("a\"b\\c", 5, "a\\\"b\\\\c");
	assert_escaped("1\n2\r3\t4", 7, "1\\n2\\r3\\t4");
	assert_escaped("\0\x1B[31m\x7F", 7, "\\u{0}\\u{1B}[31m\\u{7F}");
	assert_escaped("\xC2\x9B", 2, "\\u{9B}");
	assert_escaped("\xE2\x80\xAEgnp.exe", 10, "\\u{202E}gnp.exe");
	assert_escaped("\xD8\x9C\xE2\x81\xA6\xE2\x80\xA8\xEF\xBB\xBF", 11,
		       "\\u{61C}\\u{2066}\\u{2028}\\u{FEFF}");
	assert_escaped("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80", 15,
		       "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
	assert_escaped("\x9B\xFF\xC3", 3, "\\x9B\\xFF\\xC3");
	assert_escaped("\xC0\xAF", 2, "\\xC0\\xAF");                   /* overlong */
	assert_escaped("\xED\xA0\x80", 3, "\\xED\\xA0\\x80");          /* surrogate */
	assert_escaped("\xF4\x90\x80\x80", 4, "\\xF4\\x90\\x80\\x80"); /* beyond U+10FFFF */
	assert_escaped("\xE2\x82", 2, "\\xE2\\x82");                   /* cut short */
}

static void every_code_point(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < 0x110000; code++) {
		char text[4];
		size_t size = put_utf8(code, text);

		check(text, size);
		if (!must_be_hidden(code) && code != '"' && code != '\\' &&
		    !(code >= 0xD800 && code <= 0xDFFF))
			assert_int_equal(out.size, size);
	}
}

static void every_two_bytes(void **state)
{
	(void)state;
	for (unsigned word = 0; word < 0x10000; word++) {
		char text[2] = { (char)(word >> 8), (char)word };

		check(text, 2);
	}
}

/* Each lead byte with all second bytes and the edges of third and fourth ones, whole and cut short.
 */
static void long_sequences(void **state)
{
	static const char edges[] = { 0x00,       0x22,       0x7F,      (char)0x80,
				      (char)0xBF, (char)0xC0, (char)0xFF };

	(void)state;
	for (unsigned word = 0xE000; word < 0x10000; word++) {
		for (size_t i = 0; i < sizeof edges; i++) {
			for (size_t k = 0; k < sizeof edges; k++) {
				char text[4] = { (char)(word >> 8), (char)word, edges[i],
						 edges[k] };

				check(text, 4);
				check(text, 3);
			}
		}
	}
}

/* The fast path looks at eight bytes at once: each byte at each place of a longer text. */
static void every_byte_at_every_place(void **state)
{
	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		for (size_t place = 0; place < 24; place++) {
			char text[24];

			memset(text, 'a', sizeof text);
			text[place] = (char)byte;
			check(text, sizeof text);
			memset(text, 0x7E, sizeof text);
			text[place] = (char)byte;
			check(text, sizeof text);
			memset(text, '!', sizeof text);
			text[place] = (char)byte;
			check(text, place + 1);
		}
	}
}

static void random_bytes(void **state)
{
	static char text[4096];
	uint32_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 500; round++) {
		for (size_t i = 0; i < sizeof text; i++) {
			seed = seed * 1664525u + 1013904223u;
			text[i] = (char)(seed >> 24);
		}
		check(text, sizeof text);
	}
}

static void the_next_character(void **state)
{
	static const unsigned char text[] = "\xE2\x82\xAC";
	uint32_t code = 0;

	(void)state;
	assert_int_equal(ct_utf8_decode(text, text + 3, &code), 3);
	assert_int_equal(code, 0x20AC);
	assert_int_equal(ct_utf8_decode(text, text + 2, &code), 0);
	assert_int_equal(ct_utf8_decode(text + 1, text + 3, &code), 0);
	for (uint32_t wanted = 1; wanted < 0xD800; wanted++) {
		char put[4];
		char *end = ct_utf8_put(put, (uint16_t)wanted);

		assert_int_equal(ct_utf8_decode((unsigned char *)put, (unsigned char *)end, &code),
				 end - put);
		assert_int_equal(code, wanted);
	}
}

static void the_part_that_ends_with_a_whole_character(void **state)
{
	(void)state;
	assert_int_equal(ct_utf8_fit("a\u00e4b", 9), 4);
	assert_int_equal(ct_utf8_fit("a\u00e4b", 4), 4);
	assert_int_equal(ct_utf8_fit("a\u00e4b", 3), 3);
	assert_int_equal(ct_utf8_fit("a\u00e4b", 2), 1);
	assert_int_equal(ct_utf8_fit("\u00e4", 1), 0);
	assert_int_equal(ct_utf8_fit("", 0), 0);
}

static void as_typed_into_a_shell(void **state)
{
	static const char *const rows[][2] = {
		{ "a-b.ctb", "a-b.ctb" },
		{ "", "''" },
		{ "-o", "./-o" },
		{ "a b\"\\$", "'a b\"\\$'" },
		{ "gr\xC3\xBC\xC3\x9F", "'gr\xC3\xBC\xC3\x9F'" },
		{ "it's\\", "$'it\\'s\\\\'" },
		{ "\xFF"
		  "1\n",
		  "$'\\3771\\012'" },
		{ "\xE2\x80\xAEx", "$'\\342\\200\\256x'" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		ct_buf_clear(&out);
		ct_escape_add_typed(&out, rows[i][0]);
		assert_string_equal(ct_buf_text(&out), rows[i][1]);
	}
}

static int fini(void **state)
{
	(void)state;
	ct_buf_fini(&out);
	return 0;
}

int test_escape(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_as_documented),
		cmocka_unit_test(every_code_point),
		cmocka_unit_test(every_two_bytes),
		cmocka_unit_test(long_sequences),
		cmocka_unit_test(every_byte_at_every_place),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(the_next_character),
		cmocka_unit_test(the_part_that_ends_with_a_whole_character),
		cmocka_unit_test(as_typed_into_a_shell),
	};

	return cmocka_run_group_tests(tests, NULL, fini);
}
