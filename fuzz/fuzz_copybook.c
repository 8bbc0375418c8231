/*
 * fuzz_copybook.c - any text as a copybook, and then any bytes as its record.
 *
 * What stands behind a line of %% is the record; without one the text itself is.  What must hold:
 * an error has a place in a text that was read; fields lie within what the copybook says, in groups
 * and tables that end as they begin; what is bad is said to be; a number that JSON takes is one;
 * and there are never more fields than the limit.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_AND_TABLES (2 * CT_RECORD_FIELDS_SHOWN)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct walk {
	const struct ct_copybook *copybook;
	const uint8_t *bytes;
	size_t size;
	uint32_t groups, tables, fields;
	bool has_bad;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_field(struct walk *walk, const struct ct_record_field *field)
{
	volatile char last = 0;

	must(field->name[0] != '\0' && field->picture != NULL && field->depth <= CT_COPYBOOK_DEPTH);
	must((uint64_t)field->offset + field->size <= ct_copybook_size(walk->copybook));
	must(field->offset >= walk->size ||
	     (const uint8_t *)field->bytes == walk->bytes + field->offset);
	for (uint32_t i = 0; i < field->condition_count; i++)
		last = field->conditions[i][0];
	must(field->condition_count == 0 || last != '\0');
	must(++walk->fields <= FIELDS_AND_TABLES);
	walk->has_bad |= field->is_bad;
}

static void begin_group(const struct ct_record_field *field, void *user)
{
	struct walk *walk = user;

	check_field(walk, field);
	must(field->kind == CT_RECORD_GROUP && !field->is_bad);
	walk->groups++;
}

static void end_group(const struct ct_record_field *field, void *user)
{
	struct walk *walk = user;

	must(field->kind == CT_RECORD_GROUP && walk->groups-- > 0);
}

static void begin_table(const struct ct_record_field *field, uint32_t count, void *user)
{
	struct walk *walk = user;

	(void)count;
	check_field(walk, field);
	walk->tables++;
}

static void end_table(const struct ct_record_field *field, void *user)
{
	struct walk *walk = user;

	(void)field;
	must(walk->tables-- > 0);
}

static void check_number(const char *text, size_t size)
{
	size_t at = text[0] == '-';

	must(size > at && size < CT_JSON_NUMBER_SIZE && text[at] >= '0' && text[at] <= '9');
	must(text[at] != '0' || size == at + 1 || text[at + 1] < '0' || text[at + 1] > '9');
	for (; at < size; at++)
		must(strchr("0123456789.eE+-", text[at]) != NULL);
}

static void value(const struct ct_record_field *field, void *user)
{
	struct walk *walk = user;
	char number[CT_JSON_NUMBER_SIZE];
	volatile char last = 0;
	size_t size;

	check_field(walk, field);
	if (field->text_size > 0)
		last = field->text[field->text_size - 1];
	(void)last;
	if (field->is_bad)
		for (size_t i = 0; i < field->text_size; i++)
			must(strchr("0123456789ABCDEF", field->text[i]) != NULL);
	size = ct_field_json_number(field, number);
	must(size == 0 || (field->kind == CT_RECORD_NUMBER && !field->is_bad));
	if (size > 0)
		check_number(number, size);
}

static void decode(const struct ct_copybook *copybook, const uint8_t *bytes, size_t size)
{
	struct walk walk = { .copybook = copybook, .bytes = bytes, .size = size };
	struct ct_field_visitor visitor = { begin_group, end_group, begin_table,
					    end_table,   value,     &walk };
	size_t left_over = SIZE_MAX;
	bool is_good = ct_copybook_decode(copybook,
					  (struct ct_record_bytes){ bytes, size, (size & 1) != 0 },
					  &visitor, &left_over);

	must(walk.groups == 0 && walk.tables == 0 && left_over <= size);
	must(!is_good || (!walk.has_bad && left_over == 0));
}

static void read_one(const uint8_t *text, size_t text_size, const uint8_t *bytes, size_t size,
		     const struct ct_copybook_options *options)
{
	struct ct_copybook *copybook;
	struct ct_diagnostic diagnostic;
	struct ct_buf path = { 0 };

	memset(&diagnostic, 0xFF, sizeof diagnostic);
	if (ct_copybook_parse("fuzz.cpy", (const char *)text, text_size, options, &copybook,
			      &diagnostic, &path) == CTRACE_OK) {
		must(ct_copybook_name(copybook)[0] != '\0' && ct_copybook_size(copybook) > 0);
		decode(copybook, bytes, size);
		decode(copybook, bytes, size / 2);
		decode(copybook, bytes, 0);
		ct_copybook_destroy(copybook);
	} else {
		must(strnlen(diagnostic.message, sizeof diagnostic.message) <
			     sizeof diagnostic.message &&
		     diagnostic.message[0] != '\0');
		must(strnlen(diagnostic.expected, sizeof diagnostic.expected) <
			     sizeof diagnostic.expected &&
		     diagnostic.line <= text_size + 1);
	}
	ct_buf_fini(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ct_copybook_options options[] = {
		{ .encoding = CT_ENCODING_ASCII },
		{ .encoding = CT_ENCODING_EBCDIC_037 },
		{ .dialect = CT_DIALECT_MF, .is_sliding = true },
	};
	const uint8_t *cut = memmem(data, size, "\n%%\n", 4);
	size_t text_size = cut != NULL ? (size_t)(cut - data) : size;

	for (size_t i = 0; i < CT_COUNT(options); i++)
		read_one(data, text_size, cut != NULL ? cut + 4 : data,
			 cut != NULL ? size - text_size - 4 : size, &options[i]);
	return 0;
}
