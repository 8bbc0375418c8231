/*
 * filter_parse.c - the grammar of filters: from the text of one to its program.
 *
 *     EITHER      = BOTH { "||" BOTH }                          also "or"
 *     BOTH        = ONE { "&&" ONE }                            also "and"
 *     ONE         = ( "!" | "not" ) ONE | "(" EITHER ")" | COMPARISON
 *     COMPARISON  = FIELD OPERATOR VALUE | FIELD [ "not" ] "in" "(" RANGE { "," RANGE } ")" | ITEM | "duration"
 *     RANGE       = VALUE [ ".." VALUE ]
 *     FIELD       = "component" | "level" | ... | ITEM
 *     ITEM        = "data" [ "[" NUMBER | TEXT "]" ] { "." NAME }
 *
 * Called by the tools, on one thread, before anything is read.  Whether a field can be compared so is found out here, so that running the
 * program cannot fail.  A part of an expression is a row of tests whose ways out are not known yet: they are chained through the places
 * where they will stand.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A way out of a test: its index times 2, plus 1 when it holds. */
#define NO_WAY UINT32_MAX

struct part {
	uint32_t ways[2]; /* the first way out of each chain: when the part does not hold, and when it does */
};

struct parser {
	struct ct_filter_scan scan;
	struct ct_filter *filter;
	uint64_t now_ns;
	unsigned depth;
	/* values of the comparison that is being read */
	struct ct_buf ranges, decimals, texts;
};

/* ------------------------------------------------------------------------------------------------------------
 * Fields
 */

enum type { TYPE_NAME, TYPE_LEVEL, TYPE_NUMBER, TYPE_ASID, TYPE_TIME, TYPE_DURATION, TYPE_DATA };

struct field {
	const char *name;
	enum ct_filter_field field;
	enum type type;
	uint64_t limit; /* of a number */
};
/* Those up to data are what messages suggest; the rest are other names of the same. */
static const struct field fields[] = {
	{ "component", CT_FILTER_COMPONENT, TYPE_NAME, 0 },
	{ "level", CT_FILTER_LEVEL, TYPE_LEVEL, CTRACE_FATAL },
	{ "event", CT_FILTER_EVENT, TYPE_NUMBER, UINT32_MAX },
	{ "mnemonic", CT_FILTER_MNEMONIC, TYPE_NAME, 0 },
	{ "time", CT_FILTER_TIME, TYPE_TIME, UINT64_MAX },
	{ "thread", CT_FILTER_THREAD, TYPE_NUMBER, UINT32_MAX },
	{ "process", CT_FILTER_PROCESS, TYPE_NUMBER, UINT32_MAX },
	{ "job", CT_FILTER_JOB, TYPE_NAME, 0 },
	{ "asid", CT_FILTER_ASID, TYPE_ASID, 0xFFFF },
	{ "host", CT_FILTER_HOST, TYPE_NAME, 0 },
	{ "program", CT_FILTER_PROGRAM, TYPE_NAME, 0 },
	{ "seq", CT_FILTER_SEQUENCE, TYPE_NUMBER, UINT64_MAX },
	{ "size", CT_FILTER_SIZE, TYPE_NUMBER, UINT64_MAX },
	{ "duration", CT_FILTER_DURATION, TYPE_DURATION, UINT64_MAX },
	{ "data", CT_FILTER_DATA, TYPE_DATA, 0 },
	{ "tid", CT_FILTER_THREAD, TYPE_NUMBER, UINT32_MAX },
	{ "pid", CT_FILTER_PROCESS, TYPE_NUMBER, UINT32_MAX },
	{ "jobname", CT_FILTER_JOB, TYPE_NAME, 0 },
	{ "sequence", CT_FILTER_SEQUENCE, TYPE_NUMBER, UINT64_MAX },
};
#define FIELD_NAMES \
	"component, level, event, mnemonic, time, thread, process, job, asid, host, program, seq, size, duration, data, data[N] or data.NAME"

static const struct field *find_field(struct ct_span word)
{
	for (size_t i = 0; i < CT_COUNT(fields); i++)
		if (ct_name_is(word.at, word.size, fields[i].name))
			return &fields[i];
	return NULL;
}

static bool refuse_field(struct parser *parser, struct ct_span word)
{
	const char *names[CT_COUNT(fields)];

	for (size_t i = 0; i < CT_COUNT(fields); i++)
		names[i] = fields[i].name;
	return ct_filter_complain(&parser->scan, &(struct ct_filter_mistake){ .word = word,
									      .what = "is no field of an event",
									      .meant = ct_suggest(word, names, CT_COUNT(fields)),
									      .expected = FIELD_NAMES });
}

static const struct field *read_field(struct parser *parser)
{
	struct ct_filter_scan *scan = &parser->scan;
	const struct field *field;
	struct ct_span word;
	const char *start;

	ct_filter_scan_blanks(scan);
	start = scan->at;
	word = ct_filter_scan_word(scan);
	field = word.size != 0 ? find_field(word) : NULL;
	if (field != NULL)
		return field;
	if (word.size != 0) {
		(void)refuse_field(parser, word);
		return NULL;
	}
	scan->at = start;
	(void)ct_filter_complain_next(scan, "a field, ! or (");
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------------
 * data[0], data["NAME"], data.NAME, data.NAME.FIELD
 */

/* "data3" is the third item of an event that nobody has named them of. */
static uint32_t number_of(struct ct_span name)
{
	uint32_t number = 0;

	if (name.size < 5 || name.size > 8 || !ct_name_is(name.at, 4, "data") || name.at[4] == '0')
		return UINT32_MAX;
	for (size_t i = 4; i < name.size; i++) {
		if (name.at[i] < '0' || name.at[i] > '9')
			return UINT32_MAX;
		number = number * 10 + (uint32_t)(name.at[i] - '0');
	}
	return number - 1;
}

static void set_name(struct ct_filter_test *test, struct ct_span name)
{
	test->is_any = false;
	test->name = name;
	test->index = number_of(name);
}

/* A copy that lives as long as the filter. */
static bool keep_name(struct parser *parser, struct ct_span *name)
{
	char *copy = ct_filter_keep(parser->filter, name->size + 1);

	if (copy == NULL)
		return ct_filter_no_memory(&parser->scan);
	memcpy(copy, name->at, name->size);
	copy[name->size] = '\0';
	name->at = copy;
	return true;
}

static bool read_index(struct parser *parser, struct ct_filter_test *test)
{
	static const char expected[] = "a number from 0 to 4095, or a name in quotes";
	struct ct_filter_scan *scan = &parser->scan;
	struct ct_literal literal;

	if (!ct_filter_scan_literal(scan, &literal))
		return false;
	if (literal.kind == CT_LITERAL_STRING && literal.text.size != 0)
		set_name(test, literal.text);
	else if (literal.kind == CT_LITERAL_NUMBER && literal.floor == literal.ceil && literal.floor >= 0 &&
		 literal.floor < CTRACE_MAX_ITEMS)
		*test = (struct ct_filter_test){ .field = CT_FILTER_DATA, .index = (uint32_t)literal.floor };
	else
		return ct_filter_complain_word(scan, literal.span, "is no item", expected);
	return ct_filter_scan_mark(scan, "]") || ct_filter_complain_next(scan, "]");
}

static bool add_field_name(struct parser *parser, struct ct_filter_test *test, struct ct_span name)
{
	struct ct_span *path = ct_filter_keep(parser->filter, (test->path_count + 1) * sizeof *path);

	if (path == NULL)
		return ct_filter_no_memory(&parser->scan);
	if (test->path_count != 0)
		memcpy(path, test->path, test->path_count * sizeof *path);
	path[test->path_count++] = name;
	test->path = path;
	return true;
}

#define PATH_LIMIT 49u /* names: as many as a record has levels */

static bool read_item(struct parser *parser, struct ct_filter_test *test)
{
	struct ct_filter_scan *scan = &parser->scan;

	test->is_any = true;
	if (scan->at < scan->end && *scan->at == '[') {
		scan->at++;
		if (!read_index(parser, test))
			return false;
	}
	/* ".." is no name's */
	while (scan->end - scan->at >= 1 && scan->at[0] == '.') {
		struct ct_span name;

		scan->at++;
		name = ct_filter_scan_name(scan);
		if (name.size == 0)
			return ct_filter_complain_next(scan,
						       test->is_any ? "the name of an item" : "the name of a field of the record");
		if (test->path_count == PATH_LIMIT)
			return ct_filter_complain_word(scan, name, "is one name too many", "at most 49 of a record's fields");
		if (!keep_name(parser, &name))
			return false;
		if (test->is_any)
			set_name(test, name);
		else if (!add_field_name(parser, test, name))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * Operators
 */

enum relation { IS_EQUAL, IS_BELOW, IS_AT_MOST, IS_ABOVE, IS_AT_LEAST, IS_LIKE, IS_IN };

struct operator
{
	const char *mark;
	enum relation relation;
	bool is_inverted;
};
static const struct operator operators[] = {
	{ "==", IS_EQUAL, false },    { "!=", IS_EQUAL, true }, { "<>", IS_EQUAL, true }, { "<=", IS_AT_MOST, false },
	{ ">=", IS_AT_LEAST, false }, { "!~", IS_LIKE, true },  { "=~", IS_LIKE, false }, { "=", IS_EQUAL, false },
	{ "<", IS_BELOW, false },     { ">", IS_ABOVE, false }, { "~", IS_LIKE, false },
};

static bool is_order(enum relation relation)
{
	return relation >= IS_BELOW && relation <= IS_AT_LEAST;
}

static const char *operators_of(const struct field *field)
{
	switch (field->type) {
	case TYPE_NAME:
		return "==, !=, ~, !~ or in";
	case TYPE_DATA:
		return "==, !=, <, <=, >, >=, ~, !~ or in";
	default:
		return "==, !=, <, <=, >, >= or in";
	}
}

/* False without a complaint when there is none. */
static bool find_operator(struct ct_filter_scan *scan, struct operator* out, struct ct_span *out_word)
{
	const char *start;

	ct_filter_scan_blanks(scan);
	start = scan->at;
	*out = (struct operator){ .relation = IS_IN };
	if (ct_filter_scan_keyword(scan, "in")) {
		*out_word = ct_span_of(start, scan->at);
		return true;
	}
	out->is_inverted = ct_filter_scan_keyword(scan, "not") || ct_filter_scan_mark(scan, "!");
	if (out->is_inverted && ct_filter_scan_keyword(scan, "in")) {
		*out_word = ct_span_of(start, scan->at);
		return true;
	}
	scan->at = start;
	for (size_t i = 0; i < CT_COUNT(operators); i++)
		if (ct_filter_scan_mark(scan, operators[i].mark)) {
			*out = operators[i];
			*out_word = ct_span_of(start, scan->at);
			return true;
		}
	return false;
}

static bool check_operator(struct parser *parser, const struct field *field, const struct operator* operator, struct ct_span word)
{
	char what[60];

	if (field->type == TYPE_DATA || operator->relation == IS_EQUAL || operator->relation == IS_IN)
		return true;
	if (field->type == TYPE_NAME ? operator->relation == IS_LIKE : is_order(operator->relation))
		return true;
	(void)snprintf(what, sizeof what, "does not go with %s", field->name);
	return ct_filter_complain_word(&parser->scan, word, what, operators_of(field));
}

/* ------------------------------------------------------------------------------------------------------------
 * Values
 */

/* What a number, time or level comes to, once its type has been checked. */
static void set_whole(struct ct_literal *literal, uint64_t value)
{
	literal->kind = CT_LITERAL_NUMBER;
	literal->floor = literal->ceil = (ct_wide)value;
}

static bool check_level(struct parser *parser, struct ct_literal *literal)
{
	static const char *const names[] = { "debug", "info", "warn", "error", "fatal" };
	struct ct_span text = literal->kind == CT_LITERAL_STRING ? literal->text : literal->span;
	uint32_t level;

	if (literal->kind != CT_LITERAL_DURATION && ct_level_parse(text.at, text.size, &level) && level <= CTRACE_FATAL) {
		set_whole(literal, level);
		return true;
	}
	return ct_filter_complain(&parser->scan,
				  &(struct ct_filter_mistake){ .word = literal->span,
							       .what = "is no level",
							       .meant = ct_suggest(text, names, CT_COUNT(names)),
							       .expected = "debug, info, warn, error, fatal or 0 to 4" });
}

static bool check_number(struct parser *parser, const struct field *field, struct ct_literal *literal)
{
	char expected[80];

	if (literal->kind == CT_LITERAL_STRING && field->field == CT_FILTER_EVENT)
		return ct_filter_complain_word(&parser->scan, literal->span, "is no number",
					       "a number; names of events are compared with mnemonic");
	(void)snprintf(expected, sizeof expected, "a number from 0 to %llu", (unsigned long long)field->limit);
	if (literal->kind != CT_LITERAL_NUMBER)
		return ct_filter_complain_word(&parser->scan, literal->span, "is no number", expected);
	if (literal->floor != literal->ceil)
		return ct_filter_complain_word(&parser->scan, literal->span, "is no whole number", expected);
	if (literal->floor < 0 || literal->floor > (ct_wide)field->limit)
		return ct_filter_complain_word(&parser->scan, literal->span, "is out of range", expected);
	return true;
}

static bool check_time(struct parser *parser, struct ct_literal *literal)
{
	uint64_t ns;

	if (literal->kind == CT_LITERAL_STRING && strlen(literal->text.at) == literal->text.size &&
	    ct_filter_parse_time(literal->text.at, parser->now_ns, &ns)) {
		set_whole(literal, ns);
		return true;
	}
	return ct_filter_complain_word(&parser->scan, literal->span, "is no time",
				       "in quotes: 2026-01-31 15:12:27.5, 2026-01-31, 15:12:27, -5m or @1700000000");
}

static bool check_duration(struct parser *parser, struct ct_literal *literal)
{
	if (literal->kind == CT_LITERAL_NUMBER && literal->floor == 0 && literal->ceil == 0)
		return true;
	if (literal->kind == CT_LITERAL_NUMBER)
		return ct_filter_complain_word(&parser->scan, literal->span, "has no unit of time", "one like 2ms, 1.5s, 10us or 3m");
	return literal->kind == CT_LITERAL_DURATION ||
	       ct_filter_complain_word(&parser->scan, literal->span, "is no duration", "one like 2ms, 1.5s, 10us or 3m");
}

static bool check_data(struct parser *parser, struct ct_literal *literal)
{
	if (literal->kind == CT_LITERAL_NUMBER || literal->kind == CT_LITERAL_STRING)
		return true;
	return ct_filter_complain_word(&parser->scan, literal->span,
				       literal->kind == CT_LITERAL_DURATION ? "is a duration" : "is not in quotes",
				       "a number, or a text in quotes");
}

static bool check_asid(struct parser *parser, struct ct_literal *literal)
{
	if (literal->floor <= 0xFFFF)
		return true;
	return ct_filter_complain_word(&parser->scan, literal->span, "is out of range", "1 to 4 hexadecimal digits");
}

/* Without quotation marks the digits are hexadecimal, within them too. */
static bool read_asid(struct parser *parser, struct ct_literal *out)
{
	struct ct_filter_scan *scan = &parser->scan;
	const char *mark = ct_filter_scan_mark(scan, "\"") ? "\"" : ct_filter_scan_mark(scan, "'") ? "'" : NULL;

	if (!ct_filter_scan_hex(scan, out))
		return false;
	return mark == NULL || ct_filter_scan_mark(scan, mark) || ct_filter_complain_next(scan, mark);
}

static bool read_value(struct parser *parser, const struct field *field, struct ct_literal *out)
{
	if (!(field->type == TYPE_ASID ? read_asid(parser, out) : ct_filter_scan_literal(&parser->scan, out)))
		return false;
	switch (field->type) {
	case TYPE_NAME:
		return out->kind == CT_LITERAL_STRING ||
		       ct_filter_complain_word(&parser->scan, out->span, "is not in quotes", "a text in quotes");
	case TYPE_LEVEL:
		return check_level(parser, out);
	case TYPE_NUMBER:
		return check_number(parser, field, out);
	case TYPE_ASID:
		return check_asid(parser, out);
	case TYPE_TIME:
		return check_time(parser, out);
	case TYPE_DURATION:
		return check_duration(parser, out);
	default:
		return check_data(parser, out);
	}
}

/* ------------------------------------------------------------------------------------------------------------
 * From a relation and its value to a range
 */

static void add_numbers(struct parser *parser, const struct field *field, enum relation relation, const struct ct_literal *low,
			const struct ct_literal *high)
{
	struct ct_filter_range range = { -CT_WIDE_END, CT_WIDE_END };
	struct ct_filter_decimals decimals = { .low = low->decimal, .high = high->decimal };

	if (relation == IS_EQUAL || relation == IS_AT_LEAST)
		range.first = low->ceil;
	if (relation == IS_ABOVE)
		range.first = low->floor + 1;
	if (relation == IS_EQUAL || relation == IS_AT_MOST)
		range.last = high->floor;
	if (relation == IS_BELOW)
		range.last = high->ceil - 1;
	if (range.first <= range.last)
		ct_buf_add(&parser->ranges, &range, sizeof range);
	if (field->type != TYPE_DATA)
		return;
	decimals.has_low = relation == IS_EQUAL || relation == IS_AT_LEAST || relation == IS_ABOVE;
	decimals.has_high = relation == IS_EQUAL || relation == IS_AT_MOST || relation == IS_BELOW;
	decimals.is_low_out = relation == IS_ABOVE;
	decimals.is_high_out = relation == IS_BELOW;
	ct_buf_add(&parser->decimals, &decimals, sizeof decimals);
}

/* As in COBOL, blanks at the end of an item do not count. */
static struct ct_span without_padding(const struct field *field, struct ct_span text)
{
	while (field->type == TYPE_DATA && text.size > 0 && text.at[text.size - 1] == ' ')
		text.size--;
	return text;
}

static void add_texts(struct parser *parser, const struct field *field, enum relation relation, const struct ct_literal *low,
		      const struct ct_literal *high)
{
	struct ct_filter_text text = { .low = without_padding(field, low->text), .high = without_padding(field, high->text) };

	text.is_one = relation == IS_LIKE || (relation == IS_EQUAL && low == high);
	text.has_low = relation == IS_EQUAL || relation == IS_AT_LEAST || relation == IS_ABOVE;
	text.has_high = relation == IS_EQUAL || relation == IS_AT_MOST || relation == IS_BELOW;
	text.is_low_out = relation == IS_ABOVE;
	text.is_high_out = relation == IS_BELOW;
	ct_buf_add(&parser->texts, &text, sizeof text);
}

static void add_values(struct parser *parser, const struct field *field, enum relation relation, const struct ct_literal *low,
		       const struct ct_literal *high)
{
	if (low->kind == CT_LITERAL_STRING)
		add_texts(parser, field, relation, low, high);
	else
		add_numbers(parser, field, relation, low, high);
}

static bool is_in_order(const struct field *field, const struct ct_literal *low, const struct ct_literal *high)
{
	size_t both = low->text.size < high->text.size ? low->text.size : high->text.size;
	int order;

	if (low->kind != CT_LITERAL_STRING)
		return field->type == TYPE_DATA ? ct_decimal_compare(&low->decimal, &high->decimal) <= 0 : low->ceil <= high->floor;
	order = memcmp(low->text.at, high->text.at, both);
	return order < 0 || (order == 0 && low->text.size <= high->text.size);
}

/* VALUE [ ".." VALUE ] */
static bool read_range(struct parser *parser, const struct field *field)
{
	struct ct_filter_scan *scan = &parser->scan;
	struct ct_literal low, high;

	if (!read_value(parser, field, &low))
		return false;
	if (!ct_filter_scan_mark(scan, "..")) {
		add_values(parser, field, IS_EQUAL, &low, &low);
		return true;
	}
	if (field->type == TYPE_NAME)
		return ct_filter_complain_word(scan, ct_span_of(scan->at - 2, scan->at), "does not go with names", ", or )");
	if (!read_value(parser, field, &high))
		return false;
	if ((low.kind == CT_LITERAL_STRING) != (high.kind == CT_LITERAL_STRING))
		return ct_filter_complain_word(scan, high.span, "is of another kind than the beginning of its range",
					       "two numbers, or two texts");
	if (!is_in_order(field, &low, &high))
		return ct_filter_complain_word(scan, high.span, "is less than the beginning of its range", "the lesser one first");
	add_values(parser, field, IS_EQUAL, &low, &high);
	return true;
}

static bool read_list(struct parser *parser, const struct field *field)
{
	struct ct_filter_scan *scan = &parser->scan;

	if (!ct_filter_scan_mark(scan, "("))
		return ct_filter_complain_next(scan, "( and a list of values");
	do {
		if (!read_range(parser, field))
			return false;
	} while (ct_filter_scan_mark(scan, ","));
	if (ct_filter_scan_mark(scan, ")"))
		return true;
	return ct_filter_complain_next(scan, field->type == TYPE_NAME ? ", or )" : ", .. or )");
}

static bool read_values(struct parser *parser, const struct field *field, const struct operator* operator)
{
	struct ct_literal value;

	if (operator->relation == IS_IN)
		return read_list(parser, field);
	if (!read_value(parser, field, &value))
		return false;
	if (operator->relation == IS_LIKE && value.kind != CT_LITERAL_STRING)
		return ct_filter_complain_word(&parser->scan, value.span, "is no pattern", "a text in quotes, with * and ?");
	add_values(parser, field, operator->relation, &value, &value);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------
 * The program
 */

static int compare_ranges(const void *a, const void *b)
{
	const struct ct_filter_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* In order, and none touches another.  Their number. */
static size_t merge_ranges(struct ct_filter_range *ranges, size_t count)
{
	size_t kept = 0;

	if (count == 0)
		return 0;
	qsort(ranges, count, sizeof *ranges, compare_ranges);
	for (size_t i = 1; i < count; i++) {
		if (ranges[i].first > ranges[kept].last + 1)
			ranges[++kept] = ranges[i];
		else if (ranges[i].last > ranges[kept].last)
			ranges[kept].last = ranges[i].last;
	}
	return kept + 1;
}

/* What is in the buffer, kept with the filter; the buffer is empty then. */
static const void *keep_values(struct parser *parser, struct ct_buf *values, size_t one, uint32_t *out_count)
{
	void *kept = NULL;

	*out_count = (uint32_t)(values->size / one);
	if (values->failed || values->size != 0)
		kept = values->failed ? NULL : ct_filter_keep(parser->filter, values->size);
	if (kept != NULL)
		memcpy(kept, values->data, values->size);
	else if (values->failed || values->size != 0)
		(void)ct_filter_no_memory(&parser->scan);
	ct_buf_clear(values);
	return kept;
}

static void take_values(struct parser *parser, struct ct_filter_test *test)
{
	struct ct_buf *ranges = &parser->ranges;

	if (!ranges->failed && ranges->size != 0)
		ranges->size = sizeof(struct ct_filter_range) * merge_ranges((struct ct_filter_range *)(void *)ranges->data,
									     ranges->size / sizeof(struct ct_filter_range));
	test->ranges = keep_values(parser, ranges, sizeof *test->ranges, &test->range_count);
	test->decimals = keep_values(parser, &parser->decimals, sizeof *test->decimals, &test->decimal_count);
	test->texts = keep_values(parser, &parser->texts, sizeof *test->texts, &test->text_count);
}

static bool add_test(struct parser *parser, const struct ct_filter_test *test, struct part *out)
{
	struct ct_filter *filter = parser->filter;
	uint32_t at = filter->count;

	if (at == filter->capacity) {
		uint32_t capacity = at != 0 ? 2 * at : 8;
		struct ct_filter_test *tests = reallocarray(filter->tests, capacity, sizeof *tests);

		if (tests == NULL)
			return ct_filter_no_memory(&parser->scan);
		filter->tests = tests;
		filter->capacity = capacity;
	}
	filter->tests[at] = *test;
	filter->tests[at].next[0] = filter->tests[at].next[1] = NO_WAY;
	filter->count++;
	*out = (struct part){ .ways = { 2 * at, 2 * at + 1 } };
	return true;
}

static uint32_t *place_of(struct parser *parser, uint32_t way)
{
	return &parser->filter->tests[way / 2].next[way % 2];
}

/* All ways of the chain lead to the test. */
static void lead_to(struct parser *parser, uint32_t way, uint32_t test)
{
	while (way != NO_WAY) {
		uint32_t *place = place_of(parser, way);

		way = *place;
		*place = test;
	}
}

/* The second chain is walked: it is the shorter one of long expressions. */
static uint32_t join(struct parser *parser, uint32_t first, uint32_t second)
{
	uint32_t *place;

	for (place = place_of(parser, second); *place != NO_WAY;)
		place = place_of(parser, *place);
	*place = first;
	return second;
}

/* ------------------------------------------------------------------------------------------------------------
 * The grammar
 */

static bool read_comparison(struct parser *parser, struct part *out)
{
	struct ct_filter_test test = { .index = UINT32_MAX };
	struct ct_filter_scan *scan = &parser->scan;
	const struct field *field = read_field(parser);
	struct operator operator;
	struct ct_span word;

	if (field == NULL)
		return false;
	test.field = field->field;
	if (field->type == TYPE_DATA && !read_item(parser, &test))
		return false;
	if (find_operator(scan, &operator, & word)) {
		if (!check_operator(parser, field, &operator, word) || !read_values(parser, field, &operator))
			return false;
		test.is_glob = operator.relation == IS_LIKE;
		test.is_inverted = operator.is_inverted;
		take_values(parser, &test);
	} else if (field->type == TYPE_DATA || field->type == TYPE_DURATION) {
		test.is_there = true;
	} else {
		return ct_filter_complain_next(scan, operators_of(field));
	}
	return scan->status == CTRACE_OK && add_test(parser, &test, out);
}

static bool read_either(struct parser *parser, struct part *out);

static bool read_group(struct parser *parser, struct part *out)
{
	struct ct_filter_scan *scan = &parser->scan;
	struct ct_span outer = scan->open;
	char expected[60];

	scan->open = ct_span_of(scan->at - 1, scan->at);
	if (!read_either(parser, out))
		return false;
	if (!ct_filter_scan_mark(scan, ")")) {
		(void)snprintf(expected, sizeof expected, "&&, ||, or ) for the ( in column %u",
			       (unsigned)(scan->open.at - scan->text) + 1);
		return ct_filter_complain_next(scan, expected);
	}
	scan->open = outer;
	return true;
}

static bool read_one(struct parser *parser, struct part *out)
{
	struct ct_filter_scan *scan = &parser->scan;
	bool is_negation, is_done;
	const char *start;

	ct_filter_scan_blanks(scan);
	start = scan->at;
	is_negation = ct_filter_scan_keyword(scan, "not") || ct_filter_scan_mark(scan, "!");
	if (!is_negation && !ct_filter_scan_mark(scan, "("))
		return read_comparison(parser, out);
	if (parser->depth++ == CT_FILTER_DEPTH)
		return ct_filter_complain_word(scan, ct_span_of(start, scan->at), "is too deep", "at most 64 of ( and ! in each other");
	is_done = is_negation ? read_one(parser, out) : read_group(parser, out);
	parser->depth--;
	if (is_negation && is_done)
		*out = (struct part){ .ways = { out->ways[1], out->ways[0] } };
	return is_done;
}

static bool has_mark(struct parser *parser, const char *mark, const char *word)
{
	return ct_filter_scan_mark(&parser->scan, mark) || ct_filter_scan_keyword(&parser->scan, word);
}

static bool read_both(struct parser *parser, struct part *out)
{
	struct part right;

	if (!read_one(parser, out))
		return false;
	while (has_mark(parser, "&&", "and")) {
		lead_to(parser, out->ways[1], parser->filter->count);
		if (!read_one(parser, &right))
			return false;
		out->ways[0] = join(parser, out->ways[0], right.ways[0]);
		out->ways[1] = right.ways[1];
	}
	return true;
}

static bool read_either(struct parser *parser, struct part *out)
{
	struct part right;

	if (!read_both(parser, out))
		return false;
	while (has_mark(parser, "||", "or")) {
		lead_to(parser, out->ways[0], parser->filter->count);
		if (!read_both(parser, &right))
			return false;
		out->ways[1] = join(parser, out->ways[1], right.ways[1]);
		out->ways[0] = right.ways[0];
	}
	return true;
}

static bool read_all(struct parser *parser)
{
	struct part whole;

	if (!read_either(parser, &whole))
		return false;
	ct_filter_scan_blanks(&parser->scan);
	if (parser->scan.at < parser->scan.end)
		return ct_filter_complain_next(&parser->scan, "&&, || or the end");
	lead_to(parser, whole.ways[0], CT_FILTER_REJECT);
	lead_to(parser, whole.ways[1], CT_FILTER_ACCEPT);
	return true;
}

enum ctrace_status ct_filter_parse(const char *text, uint64_t now_ns, struct ct_filter **out_filter, struct ct_complaint *out_complaint)
{
	struct ct_filter *filter = calloc(1, sizeof *filter);
	struct parser parser = { .filter = filter, .now_ns = now_ns };
	bool is_done;

	*out_complaint = (struct ct_complaint){ .column = 1 };
	if (filter == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	filter->scratch = calloc(1, sizeof *filter->scratch);
	ct_buf_init(&parser.ranges);
	ct_buf_init(&parser.decimals);
	ct_buf_init(&parser.texts);
	is_done = ct_filter_scan_start(&parser.scan, text, filter, out_complaint) && read_all(&parser);
	if (is_done && filter->scratch == NULL)
		is_done = ct_filter_no_memory(&parser.scan);
	ct_buf_fini(&parser.ranges);
	ct_buf_fini(&parser.decimals);
	ct_buf_fini(&parser.texts);
	if (!is_done) {
		ct_filter_destroy(filter);
		return parser.scan.status;
	}
	ct_filter_finish(filter);
	*out_filter = filter;
	return CTRACE_OK;
}
