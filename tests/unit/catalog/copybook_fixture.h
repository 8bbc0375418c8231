/*
 * copybook_fixture.h - a copybook from text, and its fields as lines that a test can compare.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TEST_COPYBOOK_FIXTURE_H
#define CT_TEST_COPYBOOK_FIXTURE_H

#include "catalog/copybook.h"

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
		ct_buf_add_format(&lines->out, "%s%d", lines->index_count > 0 ? "," : "", field->occurrence);
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
	static struct ct_field_visitor visitor = { .begin_group = line_begin_group, .end_group = line_end_group, .value = line_value };

	visitor.user = lines;
	return &visitor;
}

#endif
