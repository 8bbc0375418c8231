/*
 * glob.c - shell patterns against names and texts: `*` any run of characters, `?` any one.
 *
 * Called by readers' filters with patterns from the command line; any thread.  A pattern may be
 * hostile: matching goes back to the last `*` only, so it takes at most pattern times text steps
 * and no stack.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The length of the character at text[0]: a byte that is not UTF-8 is one by itself. */
static size_t character(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t code;
	size_t length = ct_utf8_decode(at, at + size, &code);

	return length != 0 ? length : 1;
}

bool ct_glob_match(const char *pattern, size_t pattern_size, const char *text, size_t text_size)
{
	size_t p = 0, t = 0;
	size_t star = SIZE_MAX; /* behind the last `*` seen */
	size_t taken = 0;       /* where what that one matches ends */

	while (t < text_size) {
		if (p < pattern_size && pattern[p] == '*') {
			star = ++p;
			taken = t;
		} else if (p < pattern_size && pattern[p] == '?') {
			p++;
			t += character(text + t, text_size - t);
		} else if (p < pattern_size && lower(pattern[p]) == lower(text[t])) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star;
			taken += character(text + taken, text_size - taken);
			t = taken;
		} else {
			return false;
		}
	}
	while (p < pattern_size && pattern[p] == '*')
		p++;
	return p == pattern_size;
}

static size_t count_dots(const char *text, size_t size)
{
	size_t dots = 0;

	for (size_t i = 0; i < size; i++)
		dots += text[i] == '.';
	return dots;
}

/* With as many dots on both sides, those of the pattern take all that the text has. */
bool ct_glob_match_levels(const char *pattern, size_t pattern_size, const char *text,
			  size_t text_size)
{
	return count_dots(pattern, pattern_size) == count_dots(text, text_size) &&
	       ct_glob_match(pattern, pattern_size, text, text_size);
}
