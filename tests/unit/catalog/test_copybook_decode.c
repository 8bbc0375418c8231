/*
 * test_copybook_decode.c - records become fields: numbers of each usage, tables, redefinitions, records that are too short or damaged.
 *
 * With arguments it is a tool, for tests/process/copybook.py: COPYBOOK RECORDS [option=value]... prints the fields of each record.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"

static int complain(const char *path, const struct ct_complaint *complaint)
{
	fprintf(stderr, "%s:%u:%u: %s; expected %s\n", path, complaint->line, complaint->column, complaint->message, complaint->expected);
	return 1;
}

static void print_records(const struct ct_copybook *copybook, const struct ct_buf *records)
{
	size_t size = ct_copybook_size(copybook);

	for (size_t at = 0; at < records->size; at += size) {
		struct lines lines = { 0 };

		(void)ct_copybook_decode(copybook, records->data + at, records->size - at < size ? records->size - at : size, line_visitor(&lines),
					 NULL);
		fwrite(lines.out.data, 1, lines.out.size, stdout);
		ct_buf_fini(&lines.out);
	}
}

static int run_tool(int argc, char **argv)
{
	struct ct_copybook_options options = { 0 };
	struct ct_copybook *copybook;
	struct ct_complaint complaint;
	struct ct_buf path = { 0 }, records = { 0 };
	int status = 0;

	for (int i = 3; i < argc; i++) {
		if (strncmp(argv[i], "record=", 7) == 0)
			options.record = argv[i] + 7;
		else if (strncmp(argv[i], "folders=", 8) == 0)
			options.folders = argv[i] + 8;
		else if (strcmp(argv[i], "slide") == 0)
			options.is_sliding = true;
		else if (!ct_dialect_parse(argv[i], strlen(argv[i]), &options.dialect) &&
			 !ct_encoding_parse(argv[i], strlen(argv[i]), &options.encoding))
			return 2;
	}
	if (argc < 3 || ct_os_read_file(argv[2], (size_t)1 << 28, &records) != CTRACE_OK)
		return 2;
	if (ct_copybook_open(argv[1], &options, &copybook, &complaint, &path) != CTRACE_OK) {
		status = complain(ct_buf_text(&path), &complaint);
	} else {
		print_records(copybook, &records);
		ct_copybook_destroy(copybook);
	}
	ct_buf_fini(&path);
	ct_buf_fini(&records);
	return status;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_tool(argc, argv);
	return 0;
}
