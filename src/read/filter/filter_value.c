/*
 * filter_value.c - reads the values of a comparison as ranges of numbers, decimal numbers and
 * texts.
 *
 * Called by the grammar, on one thread.  Values that do not fit the field's type are reported here,
 * so comparing events cannot fail.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/filter/filter_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of the current comparison. */
struct values {
	struct ct_filter_scan *scan;
	struct ct_buf ranges, decimals, texts;
};

/* -----------------------------------------------------------------------------------------------
 * Values
 */

/* Sets the literal to the whole number of a time or level. */
static void literal_set_whole(struct ct_literal *literal, uint64_t value)
{
	literal->kind = CT_LITERAL_NUMBER;
	literal->floor = literal->ceil = (ct_wide)value;
}

static bool check_level(struct values *values, struct ct_literal *literal)
{
	struct ct_span text = literal->kind == CT_LITERAL_STRING ? literal->text : literal->span;
	uint32_t level;

	if (literal->kind != CT_LITERAL_DURATION && ct_level_parse(text.at, text.size, &level) &&
	    level <= CTRACE_FATAL) {
		literal_set_whole(literal, level);
		return true;
	}
	return ct_filter_diagnose(
		values->scan,
		&(struct ct_finding){ .word = literal->span,
				      .what = "is no level",
				      .meant = ct_suggest_level(text, false),
				      .expected = "debug, info, warn, error, fatal or 0 to 4" });
}

static bool check_number(struct values *values, const struct ct_filter_subject *subject,
			 struct ct_literal *literal)
{
	char expected[80];

	if (literal->kind == CT_LITERAL_STRING && subject->field == CT_FILTER_EVENT)
		return ct_filter_diagnose_word(
			values->scan, literal->span, "is no number",
			"a number; names of events are compared with mnemonic");
	(void)snprintf(expected, sizeof expected, "a number from 0 to %llu",
		       (unsigned long long)subject->limit);
	if (literal->kind != CT_LITERAL_NUMBER)
		return ct_filter_diagnose_word(values->scan, literal->span, "is no number",
					       expected);
	if (literal->floor != literal->ceil)
		return ct_filter_diagnose_word(values->scan, literal->span, "is no whole number",
					       expected);
	if (literal->floor < 0 || literal->floor > (ct_wide)subject->limit)
		return ct_filter_diagnose_word(values->scan, literal->span, "is out of range",
					       expected);
	return true;
}

static bool check_time(struct values *values, struct ct_literal *literal)
{
	uint64_t ns;

	if (literal->kind == CT_LITERAL_STRING && strlen(literal->text.at) == literal->text.size &&
	    ct_filter_parse_time(literal->text.at, values->scan->now_ns, &ns)) {
		literal_set_whole(literal, ns);
		return true;
	}
	return ct_filter_diagnose_word(
		values->scan, literal->span, "is no time",
		"in quotes: 2026-01-31 15:12:27.5, 2026-01-31, 15:12:27, -5m or @1700000000");
}

static bool check_duration(struct values *values, struct ct_literal *literal)
{
	if (literal->kind == CT_LITERAL_NUMBER && literal->floor == 0 && literal->ceil == 0)
		return true;
	if (literal->kind == CT_LITERAL_NUMBER)
		return ct_filter_diagnose_word(values->scan, literal->span, "has no unit of time",
					       "one like 2ms, 1.5s, 10us or 3m");
	return literal->kind == CT_LITERAL_DURATION ||
	       ct_filter_diagnose_word(values->scan, literal->span, "is no duration",
				       "one like 2ms, 1.5s, 10us or 3m");
}

static bool check_data(struct values *values, struct ct_literal *literal)
{
	if (literal->kind == CT_LITERAL_NUMBER || literal->kind == CT_LITERAL_STRING)
		return true;
	return ct_filter_diagnose_word(values->scan, literal->span,
				       literal->kind == CT_LITERAL_DURATION ? "is a duration"
									    : "is not in quotes",
				       "a number, or a text in quotes");
}

static bool check_asid(struct values *values, struct ct_literal *literal)
{
	if (literal->floor <= 0xFFFF)
		return true;
	return ct_filter_diagnose_word(values->scan, literal->span, "is out of range",
				       "1 to 4 hexadecimal digits");
}

/* The digits are hexadecimal, with or without quotation marks. */
static bool values_read_asid(struct values *values, struct ct_literal *out)
{
	struct ct_filter_scan *scan = values->scan;
	const char *mark = ct_filter_scan_mark(scan, "\"")  ? "\""
			   : ct_filter_scan_mark(scan, "'") ? "'"
							    : NULL;

	if (!ct_filter_scan_hex(scan, out))
		return false;
	return mark == NULL || ct_filter_scan_mark(scan, mark) ||
	       ct_filter_diagnose_next(scan, mark);
}

static bool values_read_one(struct values *values, const struct ct_filter_subject *subject,
			    struct ct_literal *out)
{
	if (!(subject->type == CT_SUBJECT_ASID ? values_read_asid(values, out)
					       : ct_filter_scan_literal(values->scan, out)))
		return false;
	switch (subject->type) {
	case CT_SUBJECT_NAME:
		return out->kind == CT_LITERAL_STRING ||
		       ct_filter_diagnose_word(values->scan, out->span, "is not in quotes",
					       "a text in quotes");
	case CT_SUBJECT_LEVEL:
		return check_level(values, out);
	case CT_SUBJECT_NUMBER:
		return check_number(values, subject, out);
	case CT_SUBJECT_ASID:
		return check_asid(values, out);
	case CT_SUBJECT_TIME:
		return check_time(values, out);
	case CT_SUBJECT_DURATION:
		return check_duration(values, out);
	default:
		return check_data(values, out);
	}
}

/* -----------------------------------------------------------------------------------------------
 * From a relation and its value to a range
 */

static void values_add_numbers(struct values *values, const struct ct_filter_subject *subject,
			       enum ct_filter_relation relation, const struct ct_literal *low,
			       const struct ct_literal *high)
{
	struct ct_filter_range range = { -CT_WIDE_END, CT_WIDE_END };
	struct ct_filter_decimals decimals = { .low = low->decimal, .high = high->decimal };

	if (relation == CT_IS_EQUAL || relation == CT_IS_AT_LEAST)
		range.first = low->ceil;
	if (relation == CT_IS_ABOVE)
		range.first = low->floor + 1;
	if (relation == CT_IS_EQUAL || relation == CT_IS_AT_MOST)
		range.last = high->floor;
	if (relation == CT_IS_BELOW)
		range.last = high->ceil - 1;
	if (range.first <= range.last)
		ct_buf_add(&values->ranges, &range, sizeof range);
	if (subject->type != CT_SUBJECT_DATA)
		return;
	decimals.has_low =
		relation == CT_IS_EQUAL || relation == CT_IS_AT_LEAST || relation == CT_IS_ABOVE;
	decimals.has_high =
		relation == CT_IS_EQUAL || relation == CT_IS_AT_MOST || relation == CT_IS_BELOW;
	decimals.is_low_out = relation == CT_IS_ABOVE;
	decimals.is_high_out = relation == CT_IS_BELOW;
	ct_buf_add(&values->decimals, &decimals, sizeof decimals);
}

/* As in COBOL, blanks at the end of an item do not count. */
static struct ct_span text_without_padding(const struct ct_filter_subject *subject,
					   struct ct_span text)
{
	while (subject->type == CT_SUBJECT_DATA && text.size > 0 && text.at[text.size - 1] == ' ')
		text.size--;
	return text;
}

static void values_add_texts(struct values *values, const struct ct_filter_subject *subject,
			     enum ct_filter_relation relation, const struct ct_literal *low,
			     const struct ct_literal *high)
{
	struct ct_filter_text text = { .low = text_without_padding(subject, low->text),
				       .high = text_without_padding(subject, high->text) };

	text.is_one = relation == CT_IS_LIKE || (relation == CT_IS_EQUAL && low == high);
	text.has_low =
		relation == CT_IS_EQUAL || relation == CT_IS_AT_LEAST || relation == CT_IS_ABOVE;
	text.has_high =
		relation == CT_IS_EQUAL || relation == CT_IS_AT_MOST || relation == CT_IS_BELOW;
	text.is_low_out = relation == CT_IS_ABOVE;
	text.is_high_out = relation == CT_IS_BELOW;
	ct_buf_add(&values->texts, &text, sizeof text);
}

static void values_add(struct values *values, const struct ct_filter_subject *subject,
		       enum ct_filter_relation relation, const struct ct_literal *low,
		       const struct ct_literal *high)
{
	if (low->kind == CT_LITERAL_STRING)
		values_add_texts(values, subject, relation, low, high);
	else
		values_add_numbers(values, subject, relation, low, high);
}

static bool range_is_in_order(const struct ct_filter_subject *subject, const struct ct_literal *low,
			      const struct ct_literal *high)
{
	size_t both = low->text.size < high->text.size ? low->text.size : high->text.size;
	int order;

	if (low->kind != CT_LITERAL_STRING)
		return subject->type == CT_SUBJECT_DATA
			       ? ct_decimal_compare(&low->decimal, &high->decimal) <= 0
			       : low->ceil <= high->floor;
	order = memcmp(low->text.at, high->text.at, both);
	return order < 0 || (order == 0 && low->text.size <= high->text.size);
}

/* VALUE [ ".." VALUE ] */
static bool values_read_range(struct values *values, const struct ct_filter_subject *subject)
{
	struct ct_filter_scan *scan = values->scan;
	struct ct_literal low, high;

	if (!values_read_one(values, subject, &low))
		return false;
	if (!ct_filter_scan_mark(scan, "..")) {
		values_add(values, subject, CT_IS_EQUAL, &low, &low);
		return true;
	}
	if (subject->type == CT_SUBJECT_NAME)
		return ct_filter_diagnose_word(scan, ct_span_of(scan->at - 2, scan->at),
					       "does not go with names", ", or )");
	if (!values_read_one(values, subject, &high))
		return false;
	if ((low.kind == CT_LITERAL_STRING) != (high.kind == CT_LITERAL_STRING))
		return ct_filter_diagnose_word(scan, high.span,
					       "is of another kind than the beginning of its range",
					       "two numbers, or two texts");
	if (!range_is_in_order(subject, &low, &high))
		return ct_filter_diagnose_word(scan, high.span,
					       "is less than the beginning of its range",
					       "the lesser one first");
	values_add(values, subject, CT_IS_EQUAL, &low, &high);
	return true;
}

static bool values_read_list(struct values *values, const struct ct_filter_subject *subject)
{
	struct ct_filter_scan *scan = values->scan;

	if (!ct_filter_scan_mark(scan, "("))
		return ct_filter_diagnose_next(scan, "( and a list of values");
	do {
		if (!values_read_range(values, subject))
			return false;
	} while (ct_filter_scan_mark(scan, ","));
	if (ct_filter_scan_mark(scan, ")"))
		return true;
	return ct_filter_diagnose_next(scan,
				       subject->type == CT_SUBJECT_NAME ? ", or )" : ", .. or )");
}

static bool values_read(struct values *values, const struct ct_filter_subject *subject,
			enum ct_filter_relation relation)
{
	struct ct_literal value;

	if (relation == CT_IS_IN)
		return values_read_list(values, subject);
	if (!values_read_one(values, subject, &value))
		return false;
	if (relation == CT_IS_LIKE && value.kind != CT_LITERAL_STRING)
		return ct_filter_diagnose_word(values->scan, value.span, "is no pattern",
					       "a text in quotes, with * and ?");
	values_add(values, subject, relation, &value, &value);
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * From values to the test
 */

static int range_compare(const void *a, const void *b)
{
	const struct ct_filter_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Sorts and merges the ranges.  Returns their number. */
static size_t ranges_merge(struct ct_filter_range *ranges, size_t count)
{
	size_t kept = 0;

	if (count == 0)
		return 0;
	qsort(ranges, count, sizeof *ranges, range_compare);
	for (size_t i = 1; i < count; i++) {
		if (ranges[i].first > ranges[kept].last + 1)
			ranges[++kept] = ranges[i];
		else if (ranges[i].last > ranges[kept].last)
			ranges[kept].last = ranges[i].last;
	}
	return kept + 1;
}

/* Copies the buffer into memory of the filter. */
static const void *values_keep(struct ct_filter_scan *scan, struct ct_buf *buffer, size_t one,
			       uint32_t *out_count)
{
	void *kept = NULL;

	*out_count = (uint32_t)(buffer->size / one);
	if (buffer->size == 0 && !buffer->failed)
		return NULL;
	if (!buffer->failed)
		kept = ct_filter_keep(scan->filter, buffer->size);
	if (kept != NULL)
		memcpy(kept, buffer->data, buffer->size);
	else
		(void)ct_filter_no_memory(scan);
	return kept;
}

static void values_finish(struct values *values, struct ct_filter_test *test)
{
	struct ct_buf *ranges = &values->ranges;

	if (!ranges->failed && ranges->size != 0)
		ranges->size = sizeof(struct ct_filter_range) *
			       ranges_merge((struct ct_filter_range *)(void *)ranges->data,
					    ranges->size / sizeof(struct ct_filter_range));
	test->ranges = values_keep(values->scan, ranges, sizeof *test->ranges, &test->range_count);
	test->decimals = values_keep(values->scan, &values->decimals, sizeof *test->decimals,
				     &test->decimal_count);
	test->texts =
		values_keep(values->scan, &values->texts, sizeof *test->texts, &test->text_count);
}

bool ct_filter_read_values(struct ct_filter_scan *scan, const struct ct_filter_subject *subject,
			   enum ct_filter_relation relation, struct ct_filter_test *test)
{
	struct values values = { .scan = scan };
	bool is_read;

	ct_buf_init(&values.ranges);
	ct_buf_init(&values.decimals);
	ct_buf_init(&values.texts);
	is_read = values_read(&values, subject, relation);
	if (is_read)
		values_finish(&values, test);
	ct_buf_fini(&values.ranges);
	ct_buf_fini(&values.decimals);
	ct_buf_fini(&values.texts);
	return is_read && scan->status == CTRACE_OK;
}
