/*
 * value.c - prints an item for people, as the catalogue or its type prescribes.
 *
 * Called by the printers for every item that they show; any thread, no state.  Bytes of the traced
 * program are escaped: they can neither end the line nor control a terminal.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/event/event.h"

#include <string.h>

#define NUMBER_MAX 8u /* bytes of an item that can be shown as a number */

/* -----------------------------------------------------------------------------------------------
 * Numbers
 */

static bool type_is_integer(uint32_t type)
{
	return type == CTRACE_TYPE_COMP5 || type == CTRACE_TYPE_COMPX ||
	       type == CTRACE_TYPE_COMP5S || type == CTRACE_TYPE_COMPXS ||
	       type == CTRACE_TYPE_ADDRESS;
}

/* Returns the item as a number; the bytes of a binary item count most significant first. */
static bool item_number(const struct ctrace_event_item *item, uint64_t *out_value)
{
	if (item->size == 0 || item->size > NUMBER_MAX)
		return false;
	*out_value = type_is_integer(item->type)
			     ? item->value
			     : ct_item_value(CTRACE_TYPE_COMPX, item->data, item->size);
	return true;
}

static void add_name(struct ct_buf *out, const char *name)
{
	ct_escape_add(out, name, strlen(name));
}

static void add_enumeration(struct ct_buf *out, uint64_t value, const struct ct_argument *argument)
{
	for (uint32_t i = 0; i < argument->label_count; i++) {
		if (argument->labels[i].value == value) {
			add_name(out, argument->labels[i].name);
			return;
		}
	}
	ct_buf_add_u64(out, value);
}

/* "READ|WRITE|0x40": bits without a name come last. */
static void add_flags(struct ct_buf *out, uint64_t value, const struct ct_argument *argument)
{
	uint64_t rest = value;
	bool is_first = true;

	for (uint32_t i = 0; i < argument->label_count; i++) {
		const struct ct_label *label = &argument->labels[i];

		if (label->value == 0 ? value != 0 : (value & label->value) != label->value)
			continue;
		if (!is_first)
			ct_buf_add_char(out, '|');
		add_name(out, label->name);
		rest &= ~label->value;
		is_first = false;
	}
	if (rest == 0 && !is_first)
		return;
	if (!is_first)
		ct_buf_add_char(out, '|');
	ct_buf_add_format(out, rest == 0 ? "0" : "0x%llX", (unsigned long long)rest);
}

static void add_time(struct ct_buf *out, uint64_t value, const struct ct_argument *argument)
{
	uint64_t time_ns;

	if (__builtin_mul_overflow(value, argument->unit_ns, &time_ns) || time_ns > INT64_MAX) {
		ct_buf_add_u64(out, value);
		return;
	}
	ct_line_add_date(out, time_ns);
	ct_buf_add_char(out, ' ');
	ct_line_add_time(out, time_ns);
}

static void add_number(struct ct_buf *out, const struct ctrace_event_item *item, uint64_t value,
		       const struct ct_argument *argument)
{
	switch (argument->print) {
	case CT_PRINT_HEX:
		ct_buf_add(out, "0x", 2);
		ct_buf_add_hex(out, value, 2 * item->size, true);
		return;
	case CT_PRINT_TIME:
		add_time(out, value, argument);
		return;
	case CT_PRINT_FLAGS:
		add_flags(out, value, argument);
		return;
	case CT_PRINT_ENUMERATION:
		add_enumeration(out, value, argument);
		return;
	default:
		if (item->type == CTRACE_TYPE_COMP5S || item->type == CTRACE_TYPE_COMPXS)
			ct_buf_add_i64(out, (int64_t)value);
		else
			ct_buf_add_u64(out, value);
	}
}

/* -----------------------------------------------------------------------------------------------
 * Records
 */

struct record {
	struct ct_buf *out;
	unsigned indent;
	bool is_first;
};

static size_t field_trimmed_size(const struct ct_record_field *field)
{
	size_t size = field->text_size;

	while (size > 0 && field->text[size - 1] == ' ')
		size--;
	return size;
}

static void record_add_value(struct ct_buf *out, const struct ct_record_field *field)
{
	if (field->is_bad) {
		ct_buf_add_text(out, "X'");
		ct_escape_add(out, field->text, field->text_size);
		ct_buf_add_text(out, "' (bad)");
		return;
	}
	if (field->kind == CT_RECORD_TEXT)
		ct_buf_add_char(out, '"');
	ct_escape_add(out, field->text,
		      field->kind == CT_RECORD_TEXT ? field_trimmed_size(field) : field->text_size);
	if (field->kind == CT_RECORD_TEXT)
		ct_buf_add_char(out, '"');
}

static void record_add_conditions(struct ct_buf *out, const struct ct_record_field *field)
{
	for (uint32_t i = 0; i < field->condition_count; i++) {
		ct_buf_add_text(out, i == 0 ? " (" : ", ");
		add_name(out, field->conditions[i]);
	}
	if (field->condition_count > 0)
		ct_buf_add_char(out, ')');
}

#define VALUE_COLUMN 34u

/* Adds "    CUST-NAME", and blanks up to the column of values. */
static void record_begin_line(struct record *record, const struct ct_record_field *field,
			      bool has_value)
{
	size_t start = record->out->size;
	unsigned indent = record->indent + 2 * field->depth;

	for (unsigned i = 0; i < indent; i++)
		ct_buf_add_char(record->out, ' ');
	add_name(record->out, field->name);
	if (field->occurrence > 0)
		ct_buf_add_format(record->out, "(%d)", field->occurrence);
	if (!has_value)
		return;
	do
		ct_buf_add_char(record->out, ' ');
	while (record->out->size - start < record->indent + VALUE_COLUMN && !record->out->failed);
}

static void line_begin_group(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	record_begin_line(record, field, false);
	ct_buf_add_char(record->out, '\n');
}

static void line_value(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	record_begin_line(record, field, true);
	record_add_value(record->out, field);
	record_add_conditions(record->out, field);
	ct_buf_add_char(record->out, '\n');
}

static void visit_nothing(const struct ct_record_field *field, void *user)
{
	(void)field;
	(void)user;
}

static void visit_no_table(const struct ct_record_field *field, uint32_t count, void *user)
{
	(void)field;
	(void)count;
	(void)user;
}

static void record_begin_word(struct record *record, const struct ct_record_field *field)
{
	if (!record->is_first)
		ct_buf_add_char(record->out, ' ');
	record->is_first = false;
	add_name(record->out, field->name);
	if (field->occurrence > 0)
		ct_buf_add_format(record->out, "(%d)", field->occurrence);
	ct_buf_add_char(record->out, '=');
}

static void word_begin_group(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	if (field->depth > 0)
		record_begin_word(record, field);
	ct_buf_add_char(record->out, '{');
	record->is_first = true;
}

static void word_end_group(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	(void)field;
	ct_buf_add_char(record->out, '}');
	record->is_first = false;
}

static void word_value(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	if (field->is_filler)
		return;
	record_begin_word(record, field);
	record_add_value(record->out, field);
	record_add_conditions(record->out, field);
}

static void add_record_in_line(struct ct_buf *out, const struct ctrace_event_item *item,
			       const struct ct_argument *argument, bool is_big)
{
	struct record record = { .out = out, .is_first = true };
	struct ct_field_visitor visitor = {
		.begin_group = word_begin_group,
		.end_group = word_end_group,
		.begin_table = visit_no_table,
		.end_table = visit_nothing,
		.value = word_value,
		.user = &record,
	};

	(void)ct_copybook_decode(argument->copybook,
				 (struct ct_record_bytes){ item->data, item->size, is_big },
				 &visitor, NULL);
}

void ct_value_add_record(struct ct_buf *out, const struct ctrace_event_item *item,
			 const struct ct_argument *argument, bool is_big, unsigned indent)
{
	struct record record = { .out = out, .indent = indent };
	struct ct_field_visitor visitor = {
		.begin_group = line_begin_group,
		.end_group = visit_nothing,
		.begin_table = visit_no_table,
		.end_table = visit_nothing,
		.value = line_value,
		.user = &record,
	};
	size_t left_over = 0;

	(void)ct_copybook_decode(argument->copybook,
				 (struct ct_record_bytes){ item->data, item->size, is_big },
				 &visitor, &left_over);
	if (left_over == 0)
		return;
	for (unsigned i = 0; i < indent; i++)
		ct_buf_add_char(out, ' ');
	ct_buf_add_format(out, "%zu byte%s more than the record has\n", left_over,
			  left_over == 1 ? "" : "s");
}

/* -----------------------------------------------------------------------------------------------
 * Items
 */

bool ct_value_is_record(const struct ctrace_event_item *item, const struct ct_argument *argument)
{
	return argument != NULL && argument->print == CT_PRINT_RECORD &&
	       argument->copybook != NULL && !type_is_integer(item->type);
}

void ct_value_add(struct ct_buf *out, const struct ct_line_format *format,
		  const struct ctrace_event_item *item, const struct ct_argument *argument,
		  bool is_big)
{
	uint64_t value;

	if (argument == NULL || argument->print == CT_PRINT_DEFAULT) {
		if (argument != NULL && argument->encoding != CT_ENCODING_ASCII &&
		    item->type == CTRACE_TYPE_TEXT)
			ct_line_add_encoded(out, format, argument->encoding, item->data,
					    item->size);
		else
			ct_line_add_item(out, format, item);
		return;
	}
	if (ct_value_is_record(item, argument))
		add_record_in_line(out, item, argument, is_big);
	else if (argument->print == CT_PRINT_TEXT && !type_is_integer(item->type))
		ct_line_add_encoded(out, format, argument->encoding, item->data, item->size);
	else if (argument->print != CT_PRINT_TEXT && argument->print != CT_PRINT_RECORD &&
		 item->type != CTRACE_TYPE_TEXT && item->type != CTRACE_TYPE_UTF8 &&
		 item_number(item, &value) &&
		 (type_is_integer(item->type) || argument->print != CT_PRINT_HEX))
		add_number(out, item, value, argument);
	else
		ct_line_add_item(out, format, item);
}
