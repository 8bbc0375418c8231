/*
 * user_names.c - names and numbers of users and groups, from the machine's own files.
 *
 * Called when a configuration is applied, and for an operator's request; never by a trace call.
 * libc's services are not asked: they load modules into the program, and some of these wait for a
 * network.  /etc/passwd and /etc/group have the name, a field, and the number at the beginning of
 * each line.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

#define FILE_LIMIT ((size_t)16 << 20)

static bool number_parse(struct ct_span text, uint32_t *out_number)
{
	uint64_t number = 0;

	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		number = number * 10 + (unsigned)(text.at[i] - '0');
		if (number >= UINT32_MAX)
			return false;
	}
	*out_number = (uint32_t)number;
	return text.size != 0;
}

/* Takes the next field of a line. */
static struct ct_span field_take(struct ct_span *line)
{
	const char *colon = line->size != 0 ? memchr(line->at, ':', line->size) : NULL;
	const char *end = line->at + line->size;
	struct ct_span field = ct_span_of(line->at, colon != NULL ? colon : end);

	*line = ct_span_of(colon != NULL ? colon + 1 : end, end);
	return field;
}

/* Finds the first line with this name or, when the name is empty, with this number. */
static bool line_find(const struct ct_buf *text, struct ct_span *name, uint32_t *number)
{
	const char *at = text->data;
	const char *end = text->data + text->size;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct ct_span line = ct_span_of(at, newline != NULL ? newline : end);
		struct ct_span first = field_take(&line);
		uint32_t found;

		(void)field_take(&line);
		if (number_parse(field_take(&line), &found) &&
		    (name->size != 0 ? name->size == first.size &&
					       memcmp(name->at, first.at, first.size) == 0
				     : found == *number)) {
			*name = first;
			*number = found;
			return true;
		}
		at = newline != NULL ? newline + 1 : end;
	}
	return false;
}

bool ct_group_find(struct ct_span name, uint32_t *out_gid)
{
	struct ct_buf text;
	bool is_found;

	if (number_parse(name, out_gid))
		return true;
	if (name.size == 0)
		return false;
	ct_buf_init(&text);
	is_found = ct_os_read_file("/etc/group", FILE_LIMIT, &text) == CTRACE_OK &&
		   line_find(&text, &name, out_gid);
	ct_buf_fini(&text);
	return is_found;
}

void ct_user_name(uint32_t uid, char out_name[CT_USER_NAME])
{
	struct ct_span name = { NULL, 0 };
	struct ct_buf text;

	ct_buf_init(&text);
	if (ct_os_read_file("/etc/passwd", FILE_LIMIT, &text) == CTRACE_OK &&
	    line_find(&text, &name, &uid) && name.size < CT_USER_NAME)
		(void)snprintf(out_name, CT_USER_NAME, "%.*s", (int)name.size, name.at);
	else
		(void)snprintf(out_name, CT_USER_NAME, "%u", (unsigned)uid);
	ct_buf_fini(&text);
}
