/*
 * encoding.c - texts in the encodings of COBOL's machines, to and from UTF-8.
 *
 * EBCDIC code page 037 is built in. ct_encoding_prepare() gets the table of any other from iconv,
 * once.  It loads a module of libc, so our threads in a traced process must not call it. Converting
 * only reads a table, on any thread, also a consumer thread.  A byte that an encoding does not have
 * stays as it is, for printers to escape.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#define NO_CHARACTER 0xFFFFu
#define LEADS_TWO 0xFFFEu /* the first byte of two */
#define SINGLES 256u

struct page {
	const char *name;
	const char *iconv_name; /* NULL: nothing to load */
	const char *aliases[4];
	bool is_ebcdic;
};
static const struct page pages[CT_ENCODING_COUNT] = {
	[CT_ENCODING_ASCII] = { "ascii", NULL, { "utf-8", "utf8" }, false },
	[CT_ENCODING_EBCDIC_037] = { "ebcdic-037",
				     NULL,
				     { "ibm-037", "ibm037", "cp037", "ebcdic-37" },
				     true },
	[CT_ENCODING_EBCDIC_273] = { "ebcdic-273",
				     "IBM273",
				     { "ibm-273", "ibm273", "cp273" },
				     true },
	[CT_ENCODING_EBCDIC_297] = { "ebcdic-297",
				     "IBM297",
				     { "ibm-297", "ibm297", "cp297" },
				     true },
	[CT_ENCODING_EBCDIC_500] = { "ebcdic-500",
				     "IBM500",
				     { "ibm-500", "ibm500", "cp500" },
				     true },
	[CT_ENCODING_EBCDIC_870] = { "ebcdic-870",
				     "IBM870",
				     { "ibm-870", "ibm870", "cp870" },
				     true },
	[CT_ENCODING_EBCDIC_1047] = { "ebcdic-1047",
				      "IBM1047",
				      { "ibm-1047", "ibm1047", "cp1047" },
				      true },
	[CT_ENCODING_EBCDIC_1140] = { "ebcdic-1140",
				      "IBM1140",
				      { "ibm-1140", "ibm1140", "cp1140" },
				      true },
	[CT_ENCODING_EBCDIC_1141] = { "ebcdic-1141",
				      "IBM1141",
				      { "ibm-1141", "ibm1141", "cp1141" },
				      true },
	[CT_ENCODING_LATIN_1] = { "latin-1",
				  "ISO-8859-1",
				  { "iso-8859-1", "iso8859-1", "latin1" },
				  false },
	[CT_ENCODING_LATIN_9] = { "latin-9",
				  "ISO-8859-15",
				  { "iso-8859-15", "iso8859-15", "latin9" },
				  false },
	[CT_ENCODING_CP1252] = { "cp1252", "CP1252", { "windows-1252", "cp-1252" }, false },
	[CT_ENCODING_SHIFT_JIS] = { "shift-jis", "CP932", { "shift_jis", "sjis", "cp932" }, false },
};

/* Code page 037 is a permutation of the first 256 characters of Unicode. */
static const uint16_t from_037[SINGLES] = {
	/* 00 */
	0x00,
	0x01,
	0x02,
	0x03,
	0x9C,
	0x09,
	0x86,
	0x7F,
	0x97,
	0x8D,
	0x8E,
	0x0B,
	0x0C,
	0x0D,
	0x0E,
	0x0F,
	/* 10 */
	0x10,
	0x11,
	0x12,
	0x13,
	0x9D,
	0x85,
	0x08,
	0x87,
	0x18,
	0x19,
	0x92,
	0x8F,
	0x1C,
	0x1D,
	0x1E,
	0x1F,
	/* 20 */
	0x80,
	0x81,
	0x82,
	0x83,
	0x84,
	0x0A,
	0x17,
	0x1B,
	0x88,
	0x89,
	0x8A,
	0x8B,
	0x8C,
	0x05,
	0x06,
	0x07,
	/* 30 */
	0x90,
	0x91,
	0x16,
	0x93,
	0x94,
	0x95,
	0x96,
	0x04,
	0x98,
	0x99,
	0x9A,
	0x9B,
	0x14,
	0x15,
	0x9E,
	0x1A,
	/* 40 */
	0x20,
	0xA0,
	0xE2,
	0xE4,
	0xE0,
	0xE1,
	0xE3,
	0xE5,
	0xE7,
	0xF1,
	0xA2,
	0x2E,
	0x3C,
	0x28,
	0x2B,
	0x7C,
	/* 50 */
	0x26,
	0xE9,
	0xEA,
	0xEB,
	0xE8,
	0xED,
	0xEE,
	0xEF,
	0xEC,
	0xDF,
	0x21,
	0x24,
	0x2A,
	0x29,
	0x3B,
	0xAC,
	/* 60 */
	0x2D,
	0x2F,
	0xC2,
	0xC4,
	0xC0,
	0xC1,
	0xC3,
	0xC5,
	0xC7,
	0xD1,
	0xA6,
	0x2C,
	0x25,
	0x5F,
	0x3E,
	0x3F,
	/* 70 */
	0xF8,
	0xC9,
	0xCA,
	0xCB,
	0xC8,
	0xCD,
	0xCE,
	0xCF,
	0xCC,
	0x60,
	0x3A,
	0x23,
	0x40,
	0x27,
	0x3D,
	0x22,
	/* 80 */
	0xD8,
	0x61,
	0x62,
	0x63,
	0x64,
	0x65,
	0x66,
	0x67,
	0x68,
	0x69,
	0xAB,
	0xBB,
	0xF0,
	0xFD,
	0xFE,
	0xB1,
	/* 90 */
	0xB0,
	0x6A,
	0x6B,
	0x6C,
	0x6D,
	0x6E,
	0x6F,
	0x70,
	0x71,
	0x72,
	0xAA,
	0xBA,
	0xE6,
	0xB8,
	0xC6,
	0xA4,
	/* A0 */
	0xB5,
	0x7E,
	0x73,
	0x74,
	0x75,
	0x76,
	0x77,
	0x78,
	0x79,
	0x7A,
	0xA1,
	0xBF,
	0xD0,
	0xDD,
	0xDE,
	0xAE,
	/* B0 */
	0x5E,
	0xA3,
	0xA5,
	0xB7,
	0xA9,
	0xA7,
	0xB6,
	0xBC,
	0xBD,
	0xBE,
	0x5B,
	0x5D,
	0xAF,
	0xA8,
	0xB4,
	0xD7,
	/* C0 */
	0x7B,
	0x41,
	0x42,
	0x43,
	0x44,
	0x45,
	0x46,
	0x47,
	0x48,
	0x49,
	0xAD,
	0xF4,
	0xF6,
	0xF2,
	0xF3,
	0xF5,
	/* D0 */
	0x7D,
	0x4A,
	0x4B,
	0x4C,
	0x4D,
	0x4E,
	0x4F,
	0x50,
	0x51,
	0x52,
	0xB9,
	0xFB,
	0xFC,
	0xF9,
	0xFA,
	0xFF,
	/* E0 */
	0x5C,
	0xF7,
	0x53,
	0x54,
	0x55,
	0x56,
	0x57,
	0x58,
	0x59,
	0x5A,
	0xB2,
	0xD4,
	0xD6,
	0xD2,
	0xD3,
	0xD5,
	/* F0 */
	0x30,
	0x31,
	0x32,
	0x33,
	0x34,
	0x35,
	0x36,
	0x37,
	0x38,
	0x39,
	0xB3,
	0xDB,
	0xDC,
	0xD9,
	0xDA,
	0x9F,
};

/* The tables from iconv: the characters of single bytes, and then those of two bytes if the
 * encoding has any.  Never freed. */
static uint16_t *tables[CT_ENCODING_COUNT];

bool ct_encoding_parse(const char *text, size_t size, enum ct_encoding *out_encoding)
{
	for (unsigned i = 0; i < CT_ENCODING_COUNT; i++) {
		bool is_this = ct_name_is(text, size, pages[i].name);

		for (unsigned j = 0; j < CT_COUNT(pages[i].aliases) && pages[i].aliases[j] != NULL;
		     j++)
			is_this |= ct_name_is(text, size, pages[i].aliases[j]);
		if (is_this) {
			*out_encoding = (enum ct_encoding)i;
			return true;
		}
	}
	return false;
}

const char *ct_encoding_name(enum ct_encoding encoding)
{
	return pages[encoding].name;
}

bool ct_encoding_is_ebcdic(enum ct_encoding encoding)
{
	return pages[encoding].is_ebcdic;
}

/* ---- tables from iconv ---- */

static uint16_t converter_ask(iconv_t converter, const unsigned char *bytes, size_t size)
{
	char in[2] = { (char)bytes[0], size > 1 ? (char)bytes[1] : 0 }, *from = in;
	unsigned char out[8];
	char *to = (char *)out;
	size_t left = size, room = sizeof out;

	(void)iconv(converter, NULL, NULL, NULL, NULL);
	errno = 0;
	if (iconv(converter, &from, &left, &to, &room) == (size_t)-1)
		return errno == EINVAL && size == 1 ? LEADS_TWO : NO_CHARACTER;
	return sizeof out - room == 2 ? (uint16_t)(out[0] | out[1] << 8) : NO_CHARACTER;
}

static void table_fill_pairs(iconv_t converter, uint16_t *table, unsigned char lead)
{
	for (unsigned i = 0; i < 256; i++) {
		unsigned char bytes[2] = { lead, (unsigned char)i };

		table[SINGLES + (unsigned)lead * 256 + i] = converter_ask(converter, bytes, 2);
	}
}

static uint16_t *table_make(iconv_t converter)
{
	uint16_t *table = malloc((SINGLES + 65536) * sizeof *table);

	for (unsigned i = 0; table != NULL && i < SINGLES; i++) {
		unsigned char byte = (unsigned char)i;

		table[i] = converter_ask(converter, &byte, 1);
		if (table[i] == LEADS_TWO)
			table_fill_pairs(converter, table, byte);
	}
	return table;
}

bool ct_encoding_is_prepared(enum ct_encoding encoding)
{
	return pages[encoding].iconv_name == NULL ||
	       __atomic_load_n(&tables[encoding], __ATOMIC_ACQUIRE) != NULL;
}

bool ct_encoding_prepare(enum ct_encoding encoding)
{
	int kept = errno;
	uint16_t *table, *none = NULL;
	iconv_t converter;

	if (ct_encoding_is_prepared(encoding))
		return true;
	converter = iconv_open("UTF-16LE", pages[encoding].iconv_name);
	if (converter == (iconv_t)-1) {
		errno = kept;
		return false;
	}
	table = table_make(converter);
	(void)iconv_close(converter);
	/* Publish: pairs with the acquire loads.  Another thread may have stored its table first.
	 */
	if (table != NULL && !__atomic_compare_exchange_n(&tables[encoding], &none, table, false,
							  __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		free(table);
	errno = kept;
	return table != NULL;
}

/* ---- converting ---- */

/* Returns the character at `at` and its size in bytes.  Returns NO_CHARACTER and size 1 when the
 * encoding has none there. */
static uint16_t character_at(enum ct_encoding encoding, const uint16_t *table, const uint8_t *at,
			     size_t left, size_t *out_size)
{
	uint16_t code = encoding == CT_ENCODING_EBCDIC_037 ? from_037[*at] : table[*at];

	*out_size = 1;
	if (code != LEADS_TWO)
		return code;
	code = left > 1 ? table[SINGLES + *at * 256u + at[1]] : NO_CHARACTER;
	*out_size = code != NO_CHARACTER ? 2 : 1;
	return code;
}

char *ct_utf8_put(char *to, uint16_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xC0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3F));
	} else {
		*to++ = (char)(0xE0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3F));
		*to++ = (char)(0x80 | (code & 0x3F));
	}
	return to;
}

void ct_encoding_add(struct ct_buf *out, enum ct_encoding encoding, const void *bytes, size_t size)
{
	const uint16_t *table = __atomic_load_n(&tables[encoding], __ATOMIC_ACQUIRE);
	const uint8_t *at = bytes, *end = at + size;
	char *to;

	if (encoding == CT_ENCODING_ASCII ||
	    (encoding != CT_ENCODING_EBCDIC_037 && table == NULL)) {
		ct_buf_add(out, bytes, size);
		return;
	}
	if (size == 0 || size > SIZE_MAX / 4 || !ct_buf_reserve(out, size * 3))
		return;
	to = out->data + out->size;
	while (at < end) {
		size_t taken;
		uint16_t code = character_at(encoding, table, at, (size_t)(end - at), &taken);

		if (code == NO_CHARACTER)
			*to++ = (char)*at;
		else
			to = ct_utf8_put(to, code);
		at += taken;
	}
	out->size = (size_t)(to - out->data);
}

void ct_encoding_add_escaped(struct ct_buf *out, enum ct_encoding encoding, const void *bytes,
			     size_t size)
{
	size_t start = out->size;
	struct ct_buf text;

	if (size == 0)
		return;
	ct_encoding_add(out, encoding, bytes, size);
	if (out->failed || ct_escape_is_plain(out->data + start, out->size - start))
		return;
	ct_buf_init(&text);
	ct_buf_add(&text, out->data + start, out->size - start);
	out->size = start;
	ct_escape_add(out, text.data, text.size);
	ct_buf_fini_into(&text, out);
}

/* Reads one well-formed UTF-8 character of up to three bytes.  Skips any other byte. */
static bool character_next(const char **at, const char *end, uint16_t *out_code)
{
	const uint8_t *from = (const uint8_t *)*at;
	size_t left = (size_t)(end - *at);
	size_t size = from[0] < 0x80             ? 1
		      : (from[0] & 0xE0) == 0xC0 ? 2
		      : (from[0] & 0xF0) == 0xE0 ? 3
						 : 0;
	unsigned code = size == 1 ? from[0] : size == 2 ? from[0] & 0x1Fu : from[0] & 0x0Fu;

	if (size == 0 || size > left) {
		(*at)++;
		return false;
	}
	for (size_t i = 1; i < size; i++) {
		if ((from[i] & 0xC0) != 0x80) {
			(*at)++;
			return false;
		}
		code = code << 6 | (from[i] & 0x3Fu);
	}
	*at += size;
	*out_code = (uint16_t)code;
	return true;
}

static size_t table_find_code(const uint16_t *table, uint16_t code, uint8_t out[2])
{
	for (unsigned i = 0; i < SINGLES; i++)
		if (table[i] == code) {
			out[0] = (uint8_t)i;
			return 1;
		}
	return 0;
}

static size_t table_find_pair(const uint16_t *table, uint16_t code, uint8_t out[2])
{
	for (unsigned lead = 0; lead < SINGLES; lead++)
		for (unsigned i = 0; table[lead] == LEADS_TWO && i < 256; i++)
			if (table[SINGLES + lead * 256 + i] == code) {
				out[0] = (uint8_t)lead;
				out[1] = (uint8_t)i;
				return 2;
			}
	return 0;
}

size_t ct_encoding_to(enum ct_encoding encoding, const char **at, const char *end, uint8_t out[2])
{
	const uint16_t *table = __atomic_load_n(&tables[encoding], __ATOMIC_ACQUIRE);
	uint16_t code;

	if (encoding == CT_ENCODING_ASCII ||
	    (encoding != CT_ENCODING_EBCDIC_037 && table == NULL)) {
		out[0] = (uint8_t) * (*at)++;
		return 1;
	}
	if (!character_next(at, end, &code) || code >= LEADS_TWO)
		return 0;
	if (encoding == CT_ENCODING_EBCDIC_037)
		return table_find_code(from_037, code, out);
	return table_find_code(table, code, out) != 0 ? 1 : table_find_pair(table, code, out);
}
