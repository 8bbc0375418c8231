/*
 * copybook_fixture.h - a copybook from text, and its fields as lines that a test can compare.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TEST_COPYBOOK_FIXTURE_H
#define CT_TEST_COPYBOOK_FIXTURE_H

#include "catalog/copybook/copybook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
	struct ct_buf out;
	uint32_t indices[CT_COPYBOOK_DEPTH + 1]; /* of the tables around a field */
	uint32_t index_count;
};

static inline void add_name(struct lines *lines, const struct ct_record_field *field)
{
	ct_buf_add_text(&lines->out, field->name);
	if (lines->index_count + (field->occurrence > 0) == 0)
		return;
	ct_buf_add_char(&lines->out, '(');
	for (uint32_t i = 0; i < lines->index_count; i++)
		ct_buf_add_format(&lines->out, "%s%u", i > 0 ? "," : "", lines->indices[i]);
	if (field->occurrence > 0)
		ct_buf_add_format(&lines->out, "%s%d", lines->index_count > 0 ? "," : "",
				  field->occurrence);
	ct_buf_add_char(&lines->out, ')');
}

static inline void add_conditions(struct lines *lines, const struct ct_record_field *field)
{
	for (uint32_t i = 0; i < field->condition_count; i++) {
		add_name(lines, field);
		ct_buf_add_format(&lines->out, " IS %s\n", field->conditions[i]);
	}
}

static inline void line_begin_group(const struct ct_record_field *field, void *user)
{
	struct lines *lines = user;

	add_conditions(lines, field);
	if (field->occurrence > 0)
		lines->indices[lines->index_count++] = (uint32_t)field->occurrence;
}

static inline void line_end_group(const struct ct_record_field *field, void *user)
{
	struct lines *lines = user;

	lines->index_count -= field->occurrence > 0;
}

static inline void line_value(const struct ct_record_field *field, void *user)
{
	struct lines *lines = user;

	add_name(lines, field);
	ct_buf_add_text(&lines->out, field->is_bad ? "=!" : "=");
	ct_buf_add(&lines->out, field->text, field->text_size);
	ct_buf_add_char(&lines->out, '\n');
	add_conditions(lines, field);
}

static inline const struct ct_field_visitor *line_visitor(struct lines *lines)
{
	static struct ct_field_visitor visitor = { .begin_group = line_begin_group,
						   .end_group = line_end_group,
						   .value = line_value };

	visitor.user = lines;
	return &visitor;
}

/* ---- a copybook in memory; asserts that it is good.  Options may be NULL. */
static inline struct ct_copybook *parse(const char *text, const struct ct_copybook_options *options)
{
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic;
	struct ct_buf path = { 0 };

	if (ct_copybook_parse("test.cpy", text, strlen(text), options, &copybook, &diagnostic,
			      &path) != CTRACE_OK)
		fail_msg("%s:%u:%u: %s; expected %s", ct_buf_text(&path), diagnostic.line,
			 diagnostic.column, diagnostic.message, diagnostic.expected);
	ct_buf_fini(&path);
	return copybook;
}

/* The fields of a record as lines NAME=text, with =! when bad. */
static inline void assert_fields_with(const struct ct_copybook_options *options, const char *text,
				      const void *bytes, size_t size, const char *expected)
{
	struct ct_copybook *copybook = parse(text, options);
	struct lines lines = { 0 };

	(void)ct_copybook_decode(copybook, (struct ct_record_bytes){ .at = bytes, .size = size },
				 line_visitor(&lines), NULL);
	assert_string_equal(ct_buf_text(&lines.out), expected);
	ct_buf_fini(&lines.out);
	ct_copybook_destroy(copybook);
}

static inline void assert_fields(const char *text, const void *bytes, size_t size,
				 const char *expected)
{
	assert_fields_with(NULL, text, bytes, size, expected);
}

/* One field of a record that a big-endian machine has filled. */
static inline void assert_big_field(const struct ct_copybook_options *options, const char *entry,
				    const void *bytes, size_t size, const char *expected)
{
	struct ct_copybook *copybook;
	struct lines lines = { 0 };
	char text[512], line[512];

	snprintf(text, sizeof text, "01 R. 05 F %s.\n", entry);
	snprintf(line, sizeof line, "F=%s\n", expected);
	copybook = parse(text, options);
	(void)ct_copybook_decode(copybook, (struct ct_record_bytes){ bytes, size, .is_big = true },
				 line_visitor(&lines), NULL);
	assert_string_equal(ct_buf_text(&lines.out), line);
	ct_buf_fini(&lines.out);
	ct_copybook_destroy(copybook);
}

/* The same for what is one field of level 01. */
static inline void assert_field(const char *entry, const void *bytes, size_t size,
				const char *expected)
{
	char text[512], line[512];

	snprintf(text, sizeof text, "01 R. 05 F %s.\n", entry);
	snprintf(line, sizeof line, "F=%s\n", expected);
	assert_fields(text, bytes, size, line);
}

/* An error: its place and what is said. */
static inline void assert_diagnostic(const char *text, unsigned line, unsigned column,
				     const char *message)
{
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic;
	struct ct_buf path = { 0 };

	assert_int_equal(ct_copybook_parse("test.cpy", text, strlen(text), NULL, &copybook,
					   &diagnostic, &path),
			 CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, message);
	assert_int_equal(diagnostic.line, line);
	assert_int_equal(diagnostic.column, column);
	assert_true(diagnostic.expected[0] != '\0');
	ct_buf_fini(&path);
}

/* Where each field of a record is: "NAME@offset+size" with blanks between. */
static inline void place_value(const struct ct_record_field *field, void *user)
{
	ct_buf_add_format(user, "%s@%u+%u ", field->name, field->offset, field->size);
}

static inline void place_group(const struct ct_record_field *field, void *user)
{
	place_value(field, user);
}

static inline void assert_places_with(const struct ct_copybook_options *options, const char *text,
				      const char *expected)
{
	struct ct_copybook *copybook = parse(text, options);
	struct ct_buf places = { 0 };
	struct ct_field_visitor visitor = { .begin_group = place_group,
					    .value = place_value,
					    .user = &places };
	uint32_t size = ct_copybook_size(copybook);
	char *bytes = test_malloc(size);

	memset(bytes, '1', size);
	(void)ct_copybook_decode(copybook, (struct ct_record_bytes){ .at = bytes, .size = size },
				 &visitor, NULL);
	assert_string_equal(ct_buf_text(&places), expected);
	ct_buf_fini(&places);
	test_free(bytes);
	ct_copybook_destroy(copybook);
}

static inline void assert_places(const char *text, const char *expected)
{
	assert_places_with(NULL, text, expected);
}

#endif
