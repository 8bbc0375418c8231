/*
 * names.c - names and values as people write them: any case, ON or 1, "debug" or 0.
 *
 * Called for every look-up of a name, on any thread and in signal handlers.  So nothing here
 * allocates, locks or depends on the locale.  Texts are counted, not terminated, and may hold
 * anything.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <ctrace/event.h>
#include <endian.h>
#include <string.h>

static unsigned char to_upper(unsigned char c)
{
	return (unsigned char)(c - 'a') < 26 ? (unsigned char)(c - ('a' - 'A')) : c;
}

/*
 * Eight bytes at a time: a trace call by name pays for this.  Setting bit 5 of every byte makes the
 * cases of a letter equal; that it also makes "[" and "{" equal costs a collision, never a wrong
 * answer.
 */
uint32_t ct_name_hash(const char *name, size_t size)
{
	const uint64_t multiplier = 0x9E3779B97F4A7C15u;
	uint64_t hash = (uint64_t)size * multiplier;

	while (size > 0) {
		size_t take = size < 8 ? size : 8;
		uint64_t word = 0;

		memcpy(&word, name, take);
		hash = (hash ^ (le64toh(word) | 0x2020202020202020u)) * multiplier;
		hash ^= hash >> 32;
		name += take;
		size -= take;
	}
	return (uint32_t)hash;
}

bool ct_name_equal(const char *a, size_t a_size, const char *b, size_t b_size)
{
	if (a_size != b_size)
		return false;
	if (memcmp(a, b, a_size) == 0)
		return true; /* nearly always the same spelling */
	for (size_t i = 0; i < a_size; i++) {
		if (a[i] != b[i] && to_upper((unsigned char)a[i]) != to_upper((unsigned char)b[i]))
			return false;
	}
	return true;
}

bool ct_name_is(const char *a, size_t a_size, const char *terminated)
{
	return ct_name_equal(a, a_size, terminated, strlen(terminated));
}

void ct_name_upper(char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text[i] = (char)to_upper((unsigned char)text[i]);
}

static bool name_is_one_of(const char *text, size_t size, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (ct_name_is(text, size, words[i]))
			return true;
	}
	return false;
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c = (char)to_upper((unsigned char)c);
	return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

/* Parses a text of digits only.  A number above 32 bits becomes the largest one. */
static bool digits_parse(const char *text, size_t size, unsigned base, uint32_t *out_value)
{
	uint32_t value = 0;

	if (size == 0)
		return false;
	for (size_t i = 0; i < size; i++) {
		unsigned digit = digit_of(text[i]);

		if (digit >= base)
			return false;
		value = value > (UINT32_MAX - digit) / base ? UINT32_MAX : value * base + digit;
	}
	*out_value = value;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

uint32_t ct_value_number(const char *text, size_t size)
{
	static const char *const yes[] = { "ON", "YES", "Y", "TRUE", "ENABLED" };
	uint32_t value = 0;
	bool negative = false;

	while (size > 0 && is_blank(text[size - 1]))
		size--;
	while (size > 0 && is_blank(text[0])) {
		text++;
		size--;
	}
	if (name_is_one_of(text, size, yes, CT_COUNT(yes)))
		return 1;
	if (size > 0 && (text[0] == '-' || text[0] == '+')) {
		negative = text[0] == '-';
		text++;
		size--;
	}
	if (size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		if (!digits_parse(text + 2, size - 2, 16, &value))
			return 0;
	} else if (!digits_parse(text, size, 10, &value)) {
		return 0; /* OFF, NO, N, FALSE, DISABLED, and any text that is not a number */
	}
	return negative ? 0 - value : value;
}

static const char *const level_names[CTRACE_LEVEL_COUNT] = { "DEBUG", "INFO", "WARN", "ERROR",
							     "FATAL" };

bool ct_level_parse(const char *text, size_t size, uint32_t *out_level)
{
	for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++) {
		if (ct_name_is(text, size, level_names[level]) ||
		    (size == 1 && text[0] == (char)('0' + level))) {
			*out_level = level;
			return true;
		}
	}
	if (!ct_name_is(text, size, "NONE"))
		return false;
	*out_level = CTRACE_LEVEL_NONE;
	return true;
}

const char *ct_level_name(uint32_t level)
{
	return level < CTRACE_LEVEL_COUNT ? level_names[level] : "NONE";
}
