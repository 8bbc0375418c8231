/*
 * bin_mark.c - the comments in a BINFILE's metadata that are for us: sizes of streams, and what
 * they had lost before.
 *
 * Each is a head, lines such as "stream.7 12345", and an end (CT_BIN_MARK_*).
 *
 * Called by bin_create.c and bin_directory.c on the thread that consumes, and by readers.  No name
 * in the metadata can look like one, since a string holds no line end.  The text may be hostile,
 * so a length in it is used only to truncate a stream of ctrace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"

#include <string.h>

void ct_bin_mark_add(struct ct_buf *out, uint32_t id, const struct ct_bin_mark *mark)
{
	if (mark->value == 0)
		return;
	if (id == CT_BIN_LOST)
		ct_buf_add_text(out, "stream.lost ");
	else
		ct_buf_add_format(out, "stream.%u ", id);
	ct_buf_add_u64(out, mark->value);
	if (mark->last_at != 0) {
		ct_buf_add_char(out, ' ');
		ct_buf_add_u64(out, mark->last_at);
	}
	ct_buf_add_char(out, '\n');
}

const char *ct_bin_mark_find(const char *text, size_t size, const char *mark, size_t *out_end)
{
	const char *found = NULL, *at = text, *end;

	while ((at = memmem(at, size - (size_t)(at - text), mark, strlen(mark))) != NULL) {
		end = memmem(at, size - (size_t)(at - text), CT_BIN_MARK_END,
			     sizeof CT_BIN_MARK_END - 1);
		if (end == NULL)
			break;
		found = at;
		at = end + sizeof CT_BIN_MARK_END - 1;
		*out_end = (size_t)(at - text);
	}
	return found;
}

static bool parse_number(const char *text, size_t size, uint64_t *out_value)
{
	uint64_t value = 0;

	if (size == 0 || size > 18)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	*out_value = value;
	return true;
}

/* "12345", or "12345 12000" */
static bool parse_values(const char *text, size_t size, struct ct_bin_mark *out_mark)
{
	const char *blank = memchr(text, ' ', size);

	*out_mark = (struct ct_bin_mark){ 0 };
	if (blank == NULL)
		return parse_number(text, size, &out_mark->value);
	return parse_number(text, (size_t)(blank - text), &out_mark->value) &&
	       parse_number(blank + 1, size - (size_t)(blank + 1 - text), &out_mark->last_at);
}

enum ctrace_status ct_bin_mark_next(const char **at, const char *text_end, uint32_t *out_id,
				    struct ct_bin_mark *out_mark)
{
	const char *line = *at, *end = memchr(line, '\n', (size_t)(text_end - line));
	const char *blank = end == NULL ? NULL : memchr(line, ' ', (size_t)(end - line));

	if (end != NULL && end - line == 2 && memcmp(line, "*/", 2) == 0)
		return CTRACE_NOT_FOUND;
	if (blank == NULL || !ct_bin_stream_name_parse(line, (size_t)(blank - line), out_id) ||
	    !parse_values(blank + 1, (size_t)(end - blank - 1), out_mark))
		return CTRACE_DAMAGED;
	*at = end + 1;
	return CTRACE_OK;
}

/* Notes the length of each stream from the mark, when there is one. */
static enum ctrace_status take_mark(struct ct_bin_directory *directory, const char *text,
				    size_t size, const char *head)
{
	size_t end;
	const char *mark = ct_bin_mark_find(text, size, head, &end), *at;
	bool is_lost = strcmp(head, CT_BIN_MARK_LOST) == 0;
	struct ct_bin_stream *stream;
	enum ctrace_status status;
	struct ct_bin_mark values;
	uint32_t id;

	if (mark == NULL)
		return CTRACE_OK;
	at = mark + strlen(head);
	while ((status = ct_bin_mark_next(&at, text + size, &id, &values)) == CTRACE_OK) {
		status = ct_bin_stream_get(directory, id, &stream);
		if (status != CTRACE_OK)
			return status;
		if (is_lost) {
			stream->lost_base = values.value;
		} else {
			stream->offset = values.value;
			stream->last_at = values.last_at;
		}
	}
	return status == CTRACE_NOT_FOUND ? CTRACE_OK : status;
}

enum ctrace_status ct_bin_marks_take(struct ct_bin_directory *directory, const char *text,
				     size_t size)
{
	enum ctrace_status status = take_mark(directory, text, size, CT_BIN_MARK_CLOSED);

	return status == CTRACE_OK ? take_mark(directory, text, size, CT_BIN_MARK_LOST) : status;
}
