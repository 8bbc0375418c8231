/*
 * copybook.c - reads the text of a copybook into the layout of a COBOL record.
 *
 * Called by the catalogue for each copybook that it names, and by `ctrace catalog`.
 * ct_copybook_parse() shows the flow; each step has its own file (copybook_private.h).  All memory
 * of a copybook is in its arena and its vectors, and is freed with it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ctrace_status record_find(struct ct_scan *scan, struct ct_copybook *copybook)
{
	const char *name = scan->options->record;
	struct ct_token start = { .line = 1, .column = 1 };
	struct ct_buf quoted = { 0 };

	for (uint32_t i = 0; i < copybook->item_count; i = copybook->items[i].end) {
		const struct ct_item *item = &copybook->items[i];

		if (name == NULL ? !item->is_type : ct_name_is(item->name, item->name_size, name)) {
			copybook->record = i;
			return CTRACE_OK;
		}
	}
	if (name == NULL) {
		ct_scan_diagnose(scan, &start, "a level 01, or fields",
				 "the copybook describes no record");
	} else {
		ct_span_quote(&quoted, (struct ct_span){ name, strlen(name) }, CT_WORD_SHOWN);
		ct_scan_diagnose(scan, &start, "the name of a level 01 or 77 of it",
				 "the copybook has no record %s", ct_buf_text(&quoted));
		ct_buf_fini(&quoted);
	}
	return CTRACE_SYNTAX_ERROR;
}

/* Reads the words that COPY and REPLACE leave. */
static enum ctrace_status words_read(struct ct_scan *scan, const char *text, size_t size,
				     struct ct_tokens *out)
{
	struct ct_tokens scanned = { 0 }, replaced = { 0 };
	enum ctrace_status status = ct_scan_text_of(scan, 0, text, size, &scanned);

	if (status == CTRACE_OK)
		status = ct_replace_statements(scan, &scanned, &replaced);
	ct_tokens_fini(&scanned);
	if (status == CTRACE_OK)
		status = ct_words_make(scan, &replaced, out);
	ct_tokens_fini(&replaced);
	return status;
}

static enum ctrace_status copybook_read(struct ct_scan *scan, const char *text, size_t size,
					struct ct_copybook *copybook)
{
	struct ct_tokens words = { 0 };
	enum ctrace_status status = words_read(scan, text, size, &words);

	if (status == CTRACE_OK)
		status = ct_entries_parse(scan, &words, copybook);
	ct_tokens_fini(&words);
	if (status == CTRACE_OK)
		status = record_find(scan, copybook);
	if (status == CTRACE_OK)
		status = ct_layout_make(scan, copybook, copybook->record);
	return status == CTRACE_OK ? ct_decoding_create(copybook) : status;
}

enum ctrace_status ct_copybook_parse(const char *path, const char *text, size_t size,
				     const struct ct_copybook_options *options,
				     struct ct_copybook **out_copybook,
				     struct ct_diagnostic *out_diagnostic,
				     struct ct_buf *out_diagnostic_path)
{
	static const struct ct_copybook_options none;
	struct ct_copybook *copybook = calloc(1, sizeof *copybook);
	struct ct_scan *scan = calloc(1, sizeof *scan);
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	memset(out_diagnostic, 0, sizeof *out_diagnostic);
	if (copybook == NULL || scan == NULL)
		goto end;
	scan->options = options != NULL ? options : &none;
	scan->arena = &copybook->arena;
	scan->diagnostic = out_diagnostic;
	scan->diagnostic_path = out_diagnostic_path;
	scan->files[scan->file_count++] = path != NULL ? path : "copybook";
	copybook->encoding = scan->options->encoding;
	copybook->dialect = scan->options->dialect;
	copybook->is_sliding =
		scan->options->is_sliding || ct_encoding_is_ebcdic(copybook->encoding);
	status = copybook_read(scan, text, size, copybook);
end:
	if (status == CTRACE_OK) {
		*out_copybook = copybook;
	} else {
		ct_copybook_destroy(copybook);
		if (out_diagnostic->message[0] == '\0')
			(void)snprintf(out_diagnostic->message, sizeof out_diagnostic->message,
				       "%s", ctrace_status_text(status));
	}
	free(scan);
	return status;
}

enum ctrace_status ct_copybook_open(const char *path, const struct ct_copybook_options *options,
				    struct ct_copybook **out_copybook,
				    struct ct_diagnostic *out_diagnostic,
				    struct ct_buf *out_diagnostic_path)
{
	struct ct_buf text = { 0 };
	enum ctrace_status status = ct_os_read_file(path, CT_COPYBOOK_LIMIT, &text);

	if (status == CTRACE_OK) {
		status = ct_copybook_parse(path, text.data != NULL ? text.data : "", text.size,
					   options, out_copybook, out_diagnostic,
					   out_diagnostic_path);
	} else {
		*out_diagnostic = (struct ct_diagnostic){ 0 };
		(void)snprintf(out_diagnostic->message, sizeof out_diagnostic->message,
			       "cannot be read: %s", ctrace_status_text(status));
		(void)snprintf(out_diagnostic->expected, sizeof out_diagnostic->expected,
			       "a file of at most 1 MiB that you may read");
		if (out_diagnostic_path != NULL) {
			ct_buf_clear(out_diagnostic_path);
			ct_buf_add_text(out_diagnostic_path, path);
		}
	}
	ct_buf_fini(&text);
	return status;
}

void ct_copybook_destroy(struct ct_copybook *copybook)
{
	if (copybook == NULL)
		return;
	ct_decoding_destroy(copybook->decoding);
	free(copybook->items);
	free(copybook->conditions);
	free(copybook->ranges);
	ct_arena_fini(&copybook->arena);
	free(copybook);
}

const char *ct_copybook_name(const struct ct_copybook *copybook)
{
	return copybook->items[copybook->record].name;
}

uint32_t ct_copybook_size(const struct ct_copybook *copybook)
{
	const struct ct_item *record = &copybook->items[copybook->record];

	return record->size * (record->occurs > 0 ? record->occurs : 1);
}
