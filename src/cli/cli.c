/*
 * cli.c - how every verb prints third-party text, and reads its words.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <dirent.h>
#include <string.h>

#include "base/base.h"
#include "cli/columns.h"

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

void ct_tool_diagnose(const char *path, const struct ct_diagnostic *diagnostic)
{
	ct_tool_print(stderr, path, strlen(path));
	if (diagnostic->line != 0)
		fprintf(stderr, ":%u:%u", diagnostic->line, diagnostic->column);
	fprintf(stderr, ": " CT_DIAGNOSTIC_FORMAT, CT_DIAGNOSTIC_TEXT(diagnostic));
}
