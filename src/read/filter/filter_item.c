/*
 * filter_item.c - applies one test of a filter to the items of an event: numbers, texts, labels,
 * fields of records.
 *
 * Called by filter.c, on one thread.  An item may be anything, whatever the test expects: items
 * that cannot be compared are not equal.  Only the filter's scratch text allocates, for items in
 * another encoding; it grows to the longest.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/filter/filter_program.h"

#include <string.h>

/* -----------------------------------------------------------------------------------------------
 * Values
 */

static int compare_texts(struct ct_span a, struct ct_span b)
{
	int order = memcmp(a.at, b.at, a.size < b.size ? a.size : b.size);

	return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static bool text_is_between(const struct ct_filter_text *range, struct ct_span text)
{
	int low, high;

	if (range->is_one)
		return text.size == range->low.size &&
		       memcmp(text.at, range->low.at, text.size) == 0;
	low = range->has_low ? compare_texts(text, range->low) : 1;
	high = range->has_high ? compare_texts(text, range->high) : -1;
	return (low > 0 || (low == 0 && !range->is_low_out)) &&
	       (high < 0 || (high == 0 && !range->is_high_out));
}

/* Does one of the test's texts or patterns match?  Blanks at the end do not count, as in COBOL, nor
 * does a terminating zero byte. */
static bool test_has_text(const struct ct_filter_test *test, const char *at, size_t size)
{
	struct ct_span text = { size != 0 ? at : "", size };

	while (text.size > 0 && (text.at[text.size - 1] == ' ' || text.at[text.size - 1] == '\0'))
		text.size--;
	for (uint32_t i = 0; i < test->text_count; i++) {
		const struct ct_filter_text *wanted = &test->texts[i];

		if (test->is_glob
			    ? ct_glob_match(wanted->low.at, wanted->low.size, text.at, text.size)
			    : text_is_between(wanted, text))
			return true;
	}
	return false;
}

/* Compares a name: ignores case, and names have no order. */
static bool test_has_name(const struct ct_filter_test *test, const char *name)
{
	size_t size = strlen(name);

	for (uint32_t i = 0; i < test->text_count; i++) {
		struct ct_span wanted = test->texts[i].low;

		if (test->is_glob ? ct_glob_match(wanted.at, wanted.size, name, size)
				  : test->texts[i].is_one &&
					    ct_name_equal(wanted.at, wanted.size, name, size))
			return true;
	}
	return false;
}

static bool test_has_decimal(const struct ct_filter_test *test, const char *text, size_t size)
{
	struct ct_decimal value;

	if (test->decimal_count == 0 || !ct_decimal_parse(text, size, &value))
		return false;
	for (uint32_t i = 0; i < test->decimal_count; i++) {
		const struct ct_filter_decimals *range = &test->decimals[i];
		int low = range->has_low ? ct_decimal_compare(&value, &range->low) : 1;
		int high = range->has_high ? ct_decimal_compare(&value, &range->high) : -1;

		if ((low > 0 || (low == 0 && !range->is_low_out)) &&
		    (high < 0 || (high == 0 && !range->is_high_out)))
			return true;
	}
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * Integers, and their labels in the catalogue
 */

/* "READ|WRITE": all of these bits and no others. */
static bool flags_are(struct ct_span text, const struct ct_argument *argument, uint64_t value)
{
	const char *at = text.at, *end = text.at + text.size;
	uint64_t sum = 0;

	for (;;) {
		const char *mark = memchr(at, '|', (size_t)(end - at));
		const char *stop = mark != NULL ? mark : end;
		uint32_t i = 0;

		while (i < argument->label_count &&
		       !ct_name_is(at, (size_t)(stop - at), argument->labels[i].name))
			i++;
		if (i == argument->label_count)
			return false;
		sum |= argument->labels[i].value;
		if (mark == NULL)
			return sum == value;
		at = mark + 1;
	}
}

static bool test_has_flags(const struct ct_filter_test *test, const struct ct_argument *argument,
			   uint64_t value)
{
	for (uint32_t i = 0; test->is_glob && i < argument->label_count; i++) {
		uint64_t bits = argument->labels[i].value;

		if (bits == 0 ? value == 0 : (value & bits) == bits)
			if (test_has_name(test, argument->labels[i].name))
				return true;
	}
	for (uint32_t i = 0; !test->is_glob && i < test->text_count; i++)
		if (test->texts[i].is_one && flags_are(test->texts[i].low, argument, value))
			return true;
	return false;
}

static bool test_has_label(const struct ct_filter_test *test, const struct ct_argument *argument,
			   uint64_t value)
{
	if (argument == NULL || argument->label_count == 0)
		return false;
	if (argument->print == CT_PRINT_FLAGS)
		return test_has_flags(test, argument, value);
	for (uint32_t i = 0; i < argument->label_count; i++)
		if (argument->labels[i].value == value &&
		    test_has_name(test, argument->labels[i].name))
			return true;
	return false;
}

/* Compares a number with texts, as it is printed. */
static bool test_has_digits(const struct ct_filter_test *test, uint64_t magnitude, bool is_negative)
{
	char digits[24];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + magnitude % 10);
		magnitude /= 10;
	} while (magnitude != 0);
	if (is_negative)
		digits[--at] = '-';
	return test_has_text(test, digits + at, sizeof digits - at);
}

static bool number_matches(const struct ct_filter_test *test, uint64_t value, bool is_signed,
			   const struct ct_argument *argument)
{
	bool is_negative = is_signed && (int64_t)value < 0;

	if (ct_filter_has_number(test, is_negative ? (ct_wide)(int64_t)value : (ct_wide)value))
		return true;
	if (test->text_count == 0)
		return false;
	return test_has_label(test, argument, value) ||
	       test_has_digits(test, is_negative ? 0 - value : value, is_negative);
}

/* -----------------------------------------------------------------------------------------------
 * Bytes
 */

static bool bytes_match(const struct ct_filter *filter, const struct ct_filter_test *test,
			const void *bytes, size_t size, enum ct_encoding encoding)
{
	const char *text = bytes;

	if (encoding != CT_ENCODING_ASCII) {
		struct ct_buf *scratch = filter->scratch;

		ct_buf_clear(scratch);
		ct_encoding_add(scratch, encoding, bytes, size);
		text = scratch->data;
		size = scratch->size;
	}
	return size != 0 ? test_has_text(test, text, size) || test_has_decimal(test, text, size)
			 : test_has_text(test, "", 0);
}

/* -----------------------------------------------------------------------------------------------
 * Records
 */

#define DEPTH_LIMIT 64u

/* The state of a walk through a record's fields.  found: the names of the path found among the
 * groups around the current field. */
struct record {
	const struct ct_filter *filter;
	const struct ct_filter_test *test;
	const struct ctrace_event_item *item;
	enum ct_encoding encoding;
	uint32_t found[DEPTH_LIMIT];
	uint32_t depth;
	bool is_there, is_matched;
};

static bool record_is_next_name(const struct record *record, const struct ct_record_field *field,
				uint32_t found)
{
	struct ct_span name = record->test->path[found];

	return !field->is_filler && ct_name_is(name.at, name.size, field->name);
}

static bool record_is_wanted(const struct record *record, const struct ct_record_field *field)
{
	uint32_t found = record->found[record->depth];

	return found + 1 == record->test->path_count && record_is_next_name(record, field, found);
}

/* Compares a group by its bytes, as COBOL does. */
static void record_take_group(struct record *record, const struct ct_record_field *field)
{
	const struct ctrace_event_item *item = record->item;

	record->is_there = true;
	if (!record->test->is_there && field->offset <= item->size &&
	    field->size <= item->size - field->offset)
		record->is_matched =
			record->is_matched || bytes_match(record->filter, record->test,
							  (const char *)item->data + field->offset,
							  field->size, record->encoding);
}

static void record_begin_group(const struct ct_record_field *field, void *user)
{
	struct record *record = user;
	uint32_t found = record->found[record->depth];

	if (record_is_wanted(record, field))
		record_take_group(record, field);
	else if (found + 1 < record->test->path_count && record_is_next_name(record, field, found))
		found++;
	if (record->depth + 1 < DEPTH_LIMIT)
		record->found[++record->depth] = found;
}

static void record_end_group(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	(void)field;
	if (record->depth > 0)
		record->depth--;
}

/* "0x7FFC12345678" */
static bool test_has_address(const struct ct_filter_test *test, const char *text, size_t size)
{
	uint64_t value = 0;

	if (size < 3 || size > 18 || text[0] != '0')
		return false;
	for (size_t i = 2; i < size; i++) {
		unsigned c = (unsigned char)text[i] | 0x20u;

		value = value << 4 | (c >= 'a' ? c - 'a' + 10 : c & 0xF);
	}
	return ct_filter_has_number(test, (ct_wide)value);
}

/* Compares the field's value as the program calculates with it: DISPLAY omits the point of a COMP-5
 * field. */
static bool test_has_field_number(const struct ct_filter_test *test,
				  const struct ct_record_field *field)
{
	char text[CT_JSON_NUMBER_SIZE];
	size_t size = test->decimal_count != 0 ? ct_field_json_number(field, text) : 0;

	return size != 0 ? test_has_decimal(test, text, size)
			 : test_has_decimal(test, field->text, field->text_size);
}

static bool field_matches(const struct ct_filter_test *test, const struct ct_record_field *field)
{
	for (uint32_t i = 0; i < field->condition_count; i++)
		if (test_has_name(test, field->conditions[i]))
			return true;
	if (field->kind == CT_RECORD_POINTER &&
	    test_has_address(test, field->text, field->text_size))
		return true;
	return test_has_text(test, field->text, field->text_size) ||
	       test_has_field_number(test, field);
}

static void record_take_value(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	if (record->is_matched || !record_is_wanted(record, field) || field->is_bad)
		return;
	record->is_there = true;
	record->is_matched = !record->test->is_there && field_matches(record->test, field);
}

/* Does an occurrence of the field match one of the values?  *out_is_there: the field exists. */
static bool record_matches(const struct ct_filter *filter, const struct ct_filter_test *test,
			   const struct ctrace_event_item *item, const struct ct_argument *argument,
			   bool is_big, bool *out_is_there)
{
	struct record record = { .filter = filter, .test = test, .item = item };
	const struct ct_field_visitor visitor = { .begin_group = record_begin_group,
						  .end_group = record_end_group,
						  .value = record_take_value,
						  .user = &record };

	*out_is_there = false;
	if (argument == NULL || !ct_value_is_record(item, argument))
		return false;
	record.encoding = argument->encoding;
	(void)ct_copybook_decode(argument->copybook,
				 (struct ct_record_bytes){ item->data, item->size, is_big },
				 &visitor, NULL);
	*out_is_there = record.is_there;
	return record.is_matched;
}

/* -----------------------------------------------------------------------------------------------
 * Items
 */

#define INTEGERS \
	(1u << CTRACE_TYPE_COMP5 | 1u << CTRACE_TYPE_COMPX | 1u << CTRACE_TYPE_COMP5S | \
	 1u << CTRACE_TYPE_COMPXS)

static inline bool item_is_integer(const struct ctrace_event_item *item)
{
	return item->type < CTRACE_TYPE_COUNT && (1u << item->type & INTEGERS) != 0 &&
	       item->size - 1 < 8;
}

static inline bool item_is_signed(const struct ctrace_event_item *item)
{
	return item->type == CTRACE_TYPE_COMP5S || item->type == CTRACE_TYPE_COMPXS;
}

/* Is the item a number?  The catalogue may declare its bytes to be one, most significant first. */
static bool item_is_number(const struct ctrace_event_item *item, const struct ct_argument *argument,
			   uint64_t *out_value)
{
	*out_value = item->value;
	if (item->type == CTRACE_TYPE_ADDRESS || item_is_integer(item))
		return true;
	if (item->type != CTRACE_TYPE_BINARY || item->size - 1 >= 8 || argument == NULL)
		return false;
	*out_value = ct_item_value(CTRACE_TYPE_COMPX, item->data, item->size);
	return argument->print == CT_PRINT_DECIMAL || argument->print == CT_PRINT_TIME ||
	       argument->print == CT_PRINT_FLAGS || argument->print == CT_PRINT_ENUMERATION;
}

static bool item_has_name(const struct ct_read_event *event, uint32_t index, struct ct_span name)
{
	char scratch[16];

	return ct_name_is(name.at, name.size, ct_read_event_item_name(event, index, scratch));
}

/* data.state.label: the rest of the path may belong to the item's own name, as in third-party
 * traces, instead of naming a field. */
static bool item_has_whole_name(const struct ct_filter_test *test,
				const struct ct_read_event *event, uint32_t index)
{
	const char *text = event->names != NULL && event->names->items != NULL &&
					   index < event->names->item_count
				   ? event->names->items[index]
				   : "";
	struct ct_span part = test->name;

	for (uint32_t i = 0; i < test->path_count; i++) {
		if (part.at == NULL || strlen(text) <= part.size || text[part.size] != '.' ||
		    !ct_name_equal(part.at, part.size, text, part.size))
			return false;
		text += part.size + 1;
		part = test->path[i];
	}
	return test->path_count != 0 && ct_name_is(part.at, part.size, text);
}

static bool item_matches(const struct ct_filter *filter, const struct ct_filter_test *test,
			 const struct ct_read_event *event, uint32_t index, bool *out_is_there)
{
	const struct ctrace_event_item *item = &event->traced.items[index];
	const struct ct_argument *argument = ct_read_event_argument(event, index);
	uint64_t value;

	if (test->path_count != 0 && !item_has_whole_name(test, event, index))
		return record_matches(filter, test, item, argument, event->source_process->is_big,
				      out_is_there);
	*out_is_there = true;
	if (test->is_there)
		return false;
	if (item_is_number(item, argument, &value))
		return number_matches(test, value, item_is_signed(item), argument);
	if (item->data == NULL)
		return false;
	return bytes_match(filter, test, item->data, item->size,
			   argument != NULL ? argument->encoding : CT_ENCODING_ASCII);
}

/* Returns the index of the item that the test names, or UINT32_MAX.  Default names are not
 * generated for each event. */
static uint32_t test_find_item(const struct ct_filter_test *test, const struct ct_read_event *event)
{
	uint32_t count = event->traced.item_count;

	if (test->name.at == NULL || (event->type == NULL && event->names == NULL))
		return test->index < count ? test->index : UINT32_MAX;
	for (uint32_t i = 0; i < count && test->path_count != 0; i++)
		if (item_has_whole_name(test, event, i))
			return i;
	for (uint32_t i = 0; i < count; i++) {
		bool is_named = (event->type != NULL && i < event->type->argument_count) ||
				(event->names != NULL && i < event->names->item_count);

		if (is_named || i == test->index)
			if (item_has_name(event, i, test->name))
				return i;
	}
	return UINT32_MAX;
}

static bool any_item_matches(const struct ct_filter *filter, const struct ct_filter_test *test,
			     const struct ct_read_event *event)
{
	bool is_there;

	for (uint32_t i = 0; i < event->traced.item_count; i++)
		if (item_matches(filter, test, event, i, &is_there) || (test->is_there && is_there))
			return !test->is_inverted;
	return test->is_inverted;
}

bool ct_filter_items_match(const struct ct_filter *filter, const struct ct_filter_test *test,
			   const struct ct_read_event *event)
{
	bool is_there, is_matched;
	uint32_t index;

	if (test->is_any)
		return any_item_matches(filter, test, event);
	/* data[0] > 100, the most frequent test */
	if (test->name.at == NULL && test->text_count == 0 && test->range_count != 0 &&
	    test->path_count == 0 && test->index < event->traced.item_count &&
	    item_is_integer(&event->traced.items[test->index])) {
		const struct ctrace_event_item *item = &event->traced.items[test->index];

		return ct_filter_has_number(test, item_is_signed(item)
							  ? (ct_wide)(int64_t)item->value
							  : (ct_wide)item->value) !=
		       test->is_inverted;
	}
	index = test_find_item(test, event);
	if (index == UINT32_MAX)
		return false;
	is_matched = item_matches(filter, test, event, index, &is_there);
	return is_there && (test->is_there || is_matched != test->is_inverted);
}

bool ct_filter_item_is_unknown(const struct ct_filter_test *test, const struct ct_read_event *event)
{
	const struct ct_event_type *type = event->type;

	if (test->is_any || test->name.at == NULL || test->index != UINT32_MAX ||
	    (event->names != NULL && event->names->is_open))
		return false;
	for (uint32_t i = 0; type != NULL && i < type->argument_count; i++)
		if (ct_name_is(test->name.at, test->name.size, type->arguments[i].name))
			return false;
	for (uint32_t i = 0;
	     event->names != NULL && event->names->items != NULL && i < event->names->item_count;
	     i++)
		if (ct_name_is(test->name.at, test->name.size, event->names->items[i]))
			return false;
	return true;
}
