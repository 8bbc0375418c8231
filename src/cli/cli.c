/*
 * cli.c - how every verb prints third-party text, and reads its words.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

/* ---- how many columns of a terminal a text takes ----
 *
 * The tool prints UTF-8 whatever the locale is, so wcwidth() of a locale such as C does not know
 * the characters: the table below does.  It has the ranges of East Asian Width W and F (Unicode
 * 15), and combining marks. */

struct range {
	uint32_t first, last;
	int columns;
};

/* Sorted by first character.  A character outside of all ranges takes one column. */
static const struct range ranges[] = {
	{ 0x0300, 0x036F, 0 },   { 0x0483, 0x0489, 0 },   { 0x0591, 0x05BD, 0 },
	{ 0x064B, 0x065F, 0 },   { 0x0E31, 0x0E31, 0 },   { 0x0E34, 0x0E3A, 0 },
	{ 0x0E47, 0x0E4E, 0 },   { 0x1100, 0x115F, 2 },   { 0x1160, 0x11FF, 0 },
	{ 0x1AB0, 0x1AFF, 0 },   { 0x1DC0, 0x1DFF, 0 },   { 0x200B, 0x200F, 0 },
	{ 0x20D0, 0x20F0, 0 },   { 0x231A, 0x231B, 2 },   { 0x2329, 0x232A, 2 },
	{ 0x23E9, 0x23EC, 2 },   { 0x23F0, 0x23F0, 2 },   { 0x23F3, 0x23F3, 2 },
	{ 0x25FD, 0x25FE, 2 },   { 0x2614, 0x2615, 2 },   { 0x2648, 0x2653, 2 },
	{ 0x267F, 0x267F, 2 },   { 0x2693, 0x2693, 2 },   { 0x26A1, 0x26A1, 2 },
	{ 0x26AA, 0x26AB, 2 },   { 0x26BD, 0x26BE, 2 },   { 0x26C4, 0x26C5, 2 },
	{ 0x26CE, 0x26CE, 2 },   { 0x26D4, 0x26D4, 2 },   { 0x26EA, 0x26EA, 2 },
	{ 0x26F2, 0x26F3, 2 },   { 0x26F5, 0x26F5, 2 },   { 0x26FA, 0x26FA, 2 },
	{ 0x26FD, 0x26FD, 2 },   { 0x2705, 0x2705, 2 },   { 0x270A, 0x270B, 2 },
	{ 0x2728, 0x2728, 2 },   { 0x274C, 0x274C, 2 },   { 0x274E, 0x274E, 2 },
	{ 0x2753, 0x2755, 2 },   { 0x2757, 0x2757, 2 },   { 0x2795, 0x2797, 2 },
	{ 0x27B0, 0x27B0, 2 },   { 0x27BF, 0x27BF, 2 },   { 0x2B1B, 0x2B1C, 2 },
	{ 0x2B50, 0x2B50, 2 },   { 0x2B55, 0x2B55, 2 },   { 0x2E80, 0x3029, 2 },
	{ 0x302A, 0x302D, 0 },   { 0x302E, 0x303E, 2 },   { 0x3041, 0x3098, 2 },
	{ 0x3099, 0x309A, 0 },   { 0x309B, 0x3247, 2 },   { 0x3250, 0x4DBF, 2 },
	{ 0x4E00, 0xA4C6, 2 },   { 0xA960, 0xA97C, 2 },   { 0xAC00, 0xD7A3, 2 },
	{ 0xF900, 0xFAFF, 2 },   { 0xFE00, 0xFE0F, 0 },   { 0xFE10, 0xFE19, 2 },
	{ 0xFE20, 0xFE2F, 0 },   { 0xFE30, 0xFE6B, 2 },   { 0xFF01, 0xFF60, 2 },
	{ 0xFFE0, 0xFFE6, 2 },   { 0x16FE0, 0x16FE3, 2 }, { 0x16FF0, 0x18D08, 2 },
	{ 0x1AFF0, 0x1B2FB, 2 }, { 0x1F004, 0x1F004, 2 }, { 0x1F0CF, 0x1F0CF, 2 },
	{ 0x1F18E, 0x1F18E, 2 }, { 0x1F191, 0x1F19A, 2 }, { 0x1F200, 0x1F320, 2 },
	{ 0x1F32D, 0x1F335, 2 }, { 0x1F337, 0x1F37C, 2 }, { 0x1F37E, 0x1F393, 2 },
	{ 0x1F3A0, 0x1F3CA, 2 }, { 0x1F3CF, 0x1F3D3, 2 }, { 0x1F3E0, 0x1F3F0, 2 },
	{ 0x1F3F4, 0x1F3F4, 2 }, { 0x1F3F8, 0x1F43E, 2 }, { 0x1F440, 0x1F440, 2 },
	{ 0x1F442, 0x1F4FC, 2 }, { 0x1F4FF, 0x1F53D, 2 }, { 0x1F54B, 0x1F54E, 2 },
	{ 0x1F550, 0x1F567, 2 }, { 0x1F57A, 0x1F57A, 2 }, { 0x1F595, 0x1F596, 2 },
	{ 0x1F5A4, 0x1F5A4, 2 }, { 0x1F5FB, 0x1F64F, 2 }, { 0x1F680, 0x1F6C5, 2 },
	{ 0x1F6CC, 0x1F6CC, 2 }, { 0x1F6D0, 0x1F6D2, 2 }, { 0x1F6D5, 0x1F6DF, 2 },
	{ 0x1F6EB, 0x1F6EC, 2 }, { 0x1F6F4, 0x1F6FC, 2 }, { 0x1F7E0, 0x1F7F0, 2 },
	{ 0x1F90C, 0x1F93A, 2 }, { 0x1F93C, 0x1F945, 2 }, { 0x1F947, 0x1F9FF, 2 },
	{ 0x1FA70, 0x1FAF8, 2 }, { 0x20000, 0x3FFFD, 2 }, { 0xE0100, 0xE01EF, 0 },
};

static int range_compare(const void *key, const void *element)
{
	uint32_t character = *(const uint32_t *)key;
	const struct range *range = element;

	return character < range->first ? -1 : character > range->last;
}

static int columns_of_character(uint32_t character)
{
	const struct range *range;

	if (character < ranges[0].first)
		return 1;
	range = bsearch(&character, ranges, CT_COUNT(ranges), sizeof *ranges, range_compare);
	return range != NULL ? range->columns : 1;
}

/* Counts the columns of UTF-8 text without control characters, whatever the locale is: two for a
 * character of Chinese, Japanese or Korean, none for a combining mark. */
static int columns_count(const char *text, size_t size)
{
	uint32_t character = 0;
	int columns = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)text[i];
		bool is_end = i + 1 == size || ((unsigned char)text[i + 1] & 0xC0) != 0x80;

		if ((byte & 0xC0) == 0x80)
			character = character << 6 | (byte & 0x3Fu);
		else
			character = byte < 0x80   ? byte
				    : byte < 0xE0 ? byte & 0x1Fu
				    : byte < 0xF0 ? byte & 0x0Fu
						  : byte & 0x07u;
		if (is_end)
			columns += columns_of_character(character);
	}
	return columns;
}

/* ---- words ---- */

void ct_tool_date(uint64_t wall_ns, char out_text[CT_TOOL_DATE])
{
	time_t seconds = (time_t)(wall_ns / 1000000000u);
	struct tm local;

	if (localtime_r(&seconds, &local) == NULL ||
	    strftime(out_text, CT_TOOL_DATE, "%Y-%m-%d %H:%M:%S", &local) == 0)
		memcpy(out_text, "?", 2);
}

bool ct_tool_is_number(const char *word)
{
	return word[0] != '\0' && word[strspn(word, "0123456789")] == '\0';
}

bool ct_tool_is_empty_directory(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool found = false;

	if (directory == NULL)
		return false;
	while (!found && (entry = readdir(directory)) != NULL)
		found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	(void)closedir(directory);
	return !found;
}

/* ---- third-party text ---- */

int ct_tool_print(FILE *to, const char *text, size_t size)
{
	struct ct_buf escaped;
	size_t i = 0;
	int columns;

	while (i < size && text[i] >= 0x20 && text[i] < 0x7F)
		i++;
	ct_buf_init(&escaped);
	if (i < size) {
		ct_escape_add(&escaped, text, size);
		text = escaped.data;
		size = escaped.size;
	}
	if (to != NULL && size != 0)
		fwrite(text, 1, size, to);
	columns = columns_count(text, size);
	ct_buf_fini(&escaped);
	return columns;
}

bool ct_tool_write(int fd, const char *data, size_t size)
{
	while (size != 0) {
		ssize_t written = write(fd, data, size);

		if (written == 0)
			errno = ENOSPC;
		if (written == 0 || (written < 0 && errno != EINTR))
			return false;
		data += written > 0 ? written : 0;
		size -= written > 0 ? (size_t)written : 0;
	}
	return true;
}

void ct_tool_diagnose(const char *path, const struct ct_diagnostic *diagnostic)
{
	ct_tool_print(stderr, path, strlen(path));
	if (diagnostic->line != 0)
		fprintf(stderr, ":%u:%u", diagnostic->line, diagnostic->column);
	fprintf(stderr, ": " CT_DIAGNOSTIC_FORMAT, CT_DIAGNOSTIC_TEXT(diagnostic));
}
