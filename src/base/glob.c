/*
 * glob.c - shell patterns against names and texts: `*` any run of characters, `?` any one.
 *
 * Called by readers' filters with patterns from the command line; any thread.  A pattern may be
 * hostile.  Matching goes back only to the last `*`, so it takes at most pattern times text steps
 * and no stack.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

static char char_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns the length of the character at text[0].  A byte that is not UTF-8 is one character. */
static size_t character_size(const char *text, size_t size)
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
	size_t taken = 0;       /* end of the text that this `*` matches */

	while (t < text_size) {
		if (p < pattern_size && pattern[p] == '*') {
			star = ++p;
			taken = t;
		} else if (p < pattern_size && pattern[p] == '?') {
			p++;
			t += character_size(text + t, text_size - t);
		} else if (p < pattern_size && char_lower(pattern[p]) == char_lower(text[t])) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star;
			taken += character_size(text + taken, text_size - taken);
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

/* With equally many dots in both, each dot of the pattern matches one of the text, and none is left
 * for `*` or `?`. */
bool ct_glob_match_levels(const char *pattern, size_t pattern_size, const char *text,
			  size_t text_size)
{
	return count_dots(pattern, pattern_size) == count_dots(text, text_size) &&
	       ct_glob_match(pattern, pattern_size, text, text_size);
}
