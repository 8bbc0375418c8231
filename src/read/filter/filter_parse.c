/*
 * filter_parse.c - the grammar of filters: compiles the text of a filter into its program.
 *
 *     EITHER      = BOTH { "||" BOTH }                          also "or"
 *     BOTH        = ONE { "&&" ONE }                            also "and"
 *     ONE         = ( "!" | "not" ) ONE | "(" EITHER ")" | COMPARISON
 *     COMPARISON  = FIELD OPERATOR VALUE
 *                 | FIELD [ "not" ] "in" "(" RANGE { "," RANGE } ")"
 *                 | ITEM | "duration"
 *     RANGE       = VALUE [ ".." VALUE ]
 *     FIELD       = "component" | "level" | ... | ITEM
 *     ITEM        = ( "data" [ "[" NUMBER | TEXT "]" ] | "data1" ... ) { "." NAME }
 *
 * Called by the tools, on one thread, before anything is read.  The parser checks whether a field
 * allows the comparison, so that running the program cannot fail.  A part of an expression is a row
 * of tests whose exits are still unknown: the exits are chained through the fields that will hold
 * them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/filter/filter_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An exit of a test: its index times 2, plus 1 for the exit when it holds. */
#define NO_WAY UINT32_MAX
#define NO_PART \
	{ \
		.ways = { NO_WAY, NO_WAY } \
	}

struct part {
	/* the first exit of each chain: when the part does not hold, and when it does */
	uint32_t ways[2];
};

struct parser {
	struct ct_filter_scan scan;
	struct ct_filter *filter;
	unsigned depth;
	/* index of the last field if it was "data1", "data2" ...; otherwise UINT32_MAX */
	uint32_t item;
};

/* -----------------------------------------------------------------------------------------------
 * Fields
 */

/* Messages suggest those up to data; the rest are other names for them. */
static const struct ct_filter_subject fields[] = {
	{ "component", CT_FILTER_COMPONENT, CT_SUBJECT_NAME, 0 },
	{ "level", CT_FILTER_LEVEL, CT_SUBJECT_LEVEL, CTRACE_FATAL },
	{ "event", CT_FILTER_EVENT, CT_SUBJECT_NUMBER, UINT32_MAX },
	{ "mnemonic", CT_FILTER_MNEMONIC, CT_SUBJECT_NAME, 0 },
	{ "time", CT_FILTER_TIME, CT_SUBJECT_TIME, UINT64_MAX },
	{ "thread", CT_FILTER_THREAD, CT_SUBJECT_NUMBER, UINT32_MAX },
	{ "process", CT_FILTER_PROCESS, CT_SUBJECT_NUMBER, UINT32_MAX },
	{ "job", CT_FILTER_JOB, CT_SUBJECT_NAME, 0 },
	{ "asid", CT_FILTER_ASID, CT_SUBJECT_ASID, 0xFFFF },
	{ "host", CT_FILTER_HOST, CT_SUBJECT_NAME, 0 },
	{ "program", CT_FILTER_PROGRAM, CT_SUBJECT_NAME, 0 },
	{ "seq", CT_FILTER_SEQUENCE, CT_SUBJECT_NUMBER, UINT64_MAX },
	{ "size", CT_FILTER_SIZE, CT_SUBJECT_NUMBER, UINT64_MAX },
	{ "duration", CT_FILTER_DURATION, CT_SUBJECT_DURATION, UINT64_MAX },
	{ "data", CT_FILTER_DATA, CT_SUBJECT_DATA, 0 },
	{ "tid", CT_FILTER_THREAD, CT_SUBJECT_NUMBER, UINT32_MAX },
	{ "pid", CT_FILTER_PROCESS, CT_SUBJECT_NUMBER, UINT32_MAX },
	{ "jobname", CT_FILTER_JOB, CT_SUBJECT_NAME, 0 },
	{ "sequence", CT_FILTER_SEQUENCE, CT_SUBJECT_NUMBER, UINT64_MAX },
};
#define FIELD_NAMES \
	"component, level, event, mnemonic, time, thread, process, job, asid, host, program, seq, size, duration, data, data[N] or data.NAME"

static const struct ct_filter_subject *field_find(struct ct_span word)
{
	for (size_t i = 0; i < CT_COUNT(fields); i++)
		if (ct_name_is(word.at, word.size, fields[i].name))
			return &fields[i];
	return NULL;
}

static bool field_refuse(struct parser *parser, struct ct_span word)
{
	const char *names[CT_COUNT(fields)];

	for (size_t i = 0; i < CT_COUNT(fields); i++)
		names[i] = fields[i].name;
	return ct_filter_diagnose(
		&parser->scan,
		&(struct ct_finding){ .word = word,
				      .what = "is no field of an event",
				      .meant = ct_suggest(word, names, CT_COUNT(fields)),
				      .expected = FIELD_NAMES });
}

/* "data3" is the third item of an event whose items have no names. */
static uint32_t item_number_parse(struct ct_span name)
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

static const struct ct_filter_subject *field_read(struct parser *parser)
{
	struct ct_filter_scan *scan = &parser->scan;
	const struct ct_filter_subject *field;
	struct ct_span word;
	const char *start;

	ct_filter_scan_blanks(scan);
	start = scan->at;
	word = ct_filter_scan_word(scan);
	field = word.size != 0 ? field_find(word) : NULL;
	if (field == NULL && item_number_parse(word) < CTRACE_MAX_ITEMS)
		field = field_find(ct_span_of(word.at, word.at + 4)); /* "data1" is data[0] */
	parser->item = item_number_parse(word);
	if (field != NULL)
		return field;
	if (word.size != 0) {
		(void)field_refuse(parser, word);
		return NULL;
	}
	scan->at = start;
	(void)ct_filter_diagnose_next(scan, "a field, ! or (");
	return NULL;
}

/* -----------------------------------------------------------------------------------------------
 * data[0], data["NAME"], data.NAME, data.NAME.FIELD
 */

static void test_set_name(struct ct_filter_test *test, struct ct_span name)
{
	test->is_any = false;
	test->name = name;
	test->index = item_number_parse(name);
}

/* Replaces the name by a copy that lives as long as the filter. */
static bool name_keep(struct parser *parser, struct ct_span *name)
{
	char *copy = ct_filter_keep(parser->filter, name->size + 1);

	if (copy == NULL)
		return ct_filter_no_memory(&parser->scan);
	memcpy(copy, name->at, name->size);
	copy[name->size] = '\0';
	name->at = copy;
	return true;
}

static bool item_read_index(struct parser *parser, struct ct_filter_test *test)
{
	static const char expected[] = "a number from 0 to 4095, or a name in quotes";
	struct ct_filter_scan *scan = &parser->scan;
	struct ct_literal literal;

	if (!ct_filter_scan_literal(scan, &literal))
		return false;
	if (literal.kind == CT_LITERAL_STRING && literal.text.size != 0)
		test_set_name(test, literal.text);
	else if (literal.kind == CT_LITERAL_NUMBER && literal.floor == literal.ceil &&
		 literal.floor >= 0 && literal.floor < CTRACE_MAX_ITEMS)
		*test = (struct ct_filter_test){ .field = CT_FILTER_DATA,
						 .index = (uint32_t)literal.floor };
	else
		return ct_filter_diagnose_word(scan, literal.span, "is no item", expected);
	return ct_filter_scan_mark(scan, "]") || ct_filter_diagnose_next(scan, "]");
}

static bool test_add_field_name(struct parser *parser, struct ct_filter_test *test,
				struct ct_span name)
{
	struct ct_span *path =
		ct_filter_keep(parser->filter, (test->path_count + 1) * sizeof *path);

	if (path == NULL)
		return ct_filter_no_memory(&parser->scan);
	if (test->path_count != 0)
		memcpy(path, test->path, test->path_count * sizeof *path);
	path[test->path_count++] = name;
	test->path = path;
	return true;
}

#define PATH_LIMIT 49u /* names: as many as a record has levels */

static bool item_read(struct parser *parser, struct ct_filter_test *test)
{
	struct ct_filter_scan *scan = &parser->scan;

	test->is_any = parser->item == UINT32_MAX;
	test->index = parser->item;
	if (test->is_any && scan->at < scan->end && *scan->at == '[') {
		scan->at++;
		if (!item_read_index(parser, test))
			return false;
	}
	/* ".." does not belong to a name */
	while (scan->end - scan->at >= 1 && scan->at[0] == '.') {
		struct ct_span name;

		scan->at++;
		name = ct_filter_scan_name(scan);
		if (name.size == 0)
			return ct_filter_diagnose_next(
				scan, test->is_any ? "the name of an item"
						   : "the name of a field of the record");
		if (test->path_count == PATH_LIMIT)
			return ct_filter_diagnose_word(scan, name, "is one name too many",
						       "at most 49 of a record's fields");
		if (!name_keep(parser, &name))
			return false;
		if (test->is_any)
			test_set_name(test, name);
		else if (!test_add_field_name(parser, test, name))
			return false;
	}
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * Operators
 */

struct operation {
	const char *mark;
	enum ct_filter_relation relation;
	bool is_inverted;
};
static const struct operation operators[] = {
	{ "==", CT_IS_EQUAL, false },    { "!=", CT_IS_EQUAL, true },
	{ "<>", CT_IS_EQUAL, true },     { "<=", CT_IS_AT_MOST, false },
	{ ">=", CT_IS_AT_LEAST, false }, { "!~", CT_IS_LIKE, true },
	{ "=~", CT_IS_LIKE, false },     { "=", CT_IS_EQUAL, false },
	{ "<", CT_IS_BELOW, false },     { ">", CT_IS_ABOVE, false },
	{ "~", CT_IS_LIKE, false },
};

static bool relation_is_order(enum ct_filter_relation relation)
{
	return relation >= CT_IS_BELOW && relation <= CT_IS_AT_LEAST;
}

static const char *field_operators(const struct ct_filter_subject *field)
{
	switch (field->type) {
	case CT_SUBJECT_NAME:
		return "==, !=, ~, !~ or in";
	case CT_SUBJECT_DATA:
		return "==, !=, <, <=, >, >=, ~, !~ or in";
	default:
		return "==, !=, <, <=, >, >= or in";
	}
}

/* Returns false, without a diagnostic, when there is no operator. */
static bool operator_find(struct ct_filter_scan *scan, struct operation *out,
			  struct ct_span *out_word)
{
	const char *start;

	ct_filter_scan_blanks(scan);
	start = scan->at;
	*out = (struct operation){ .relation = CT_IS_IN };
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

static bool operator_check(struct parser *parser, const struct ct_filter_subject *field,
			   const struct operation *operation, struct ct_span word)
{
	char what[60];

	if (field->type == CT_SUBJECT_DATA || operation->relation == CT_IS_EQUAL ||
	    operation->relation == CT_IS_IN)
		return true;
	if (field->type == CT_SUBJECT_NAME ? operation->relation == CT_IS_LIKE
					   : relation_is_order(operation->relation))
		return true;
	(void)snprintf(what, sizeof what, "does not go with %s", field->name);
	return ct_filter_diagnose_word(&parser->scan, word, what, field_operators(field));
}

/* -----------------------------------------------------------------------------------------------
 * The program
 */

static bool part_add_test(struct parser *parser, const struct ct_filter_test *test,
			  struct part *out)
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

static uint32_t *way_slot(struct parser *parser, uint32_t way)
{
	return &parser->filter->tests[way / 2].next[way % 2];
}

/* Redirects all exits of the chain to the test. */
static void ways_redirect(struct parser *parser, uint32_t way, uint32_t test)
{
	while (way != NO_WAY) {
		uint32_t *place = way_slot(parser, way);

		way = *place;
		*place = test;
	}
}

/* Joins two chains.  Walks the second, which is the shorter one in long expressions. */
static uint32_t ways_join(struct parser *parser, uint32_t first, uint32_t second)
{
	uint32_t *place;

	for (place = way_slot(parser, second); *place != NO_WAY;)
		place = way_slot(parser, *place);
	*place = first;
	return second;
}

/* -----------------------------------------------------------------------------------------------
 * The grammar
 */

static bool read_comparison(struct parser *parser, struct part *out)
{
	struct ct_filter_test test = { .index = UINT32_MAX };
	struct ct_filter_scan *scan = &parser->scan;
	const struct ct_filter_subject *field = field_read(parser);
	struct operation operation;
	struct ct_span word;

	if (field == NULL)
		return false;
	test.field = field->field;
	if (field->type == CT_SUBJECT_DATA && !item_read(parser, &test))
		return false;
	if (operator_find(scan, &operation, &word)) {
		if (!operator_check(parser, field, &operation, word) ||
		    !ct_filter_read_values(scan, field, operation.relation, &test))
			return false;
		test.is_glob = operation.relation == CT_IS_LIKE;
		test.is_inverted = operation.is_inverted;
	} else if (field->type == CT_SUBJECT_DATA || field->type == CT_SUBJECT_DURATION) {
		test.is_there = true;
	} else {
		return ct_filter_diagnose_next(scan, field_operators(field));
	}
	return part_add_test(parser, &test, out);
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
		return ct_filter_diagnose_next(scan, expected);
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
		return ct_filter_diagnose_word(scan, ct_span_of(start, scan->at), "is too deep",
					       "at most 64 of ( and ! in each other");
	is_done = is_negation ? read_one(parser, out) : read_group(parser, out);
	parser->depth--;
	if (is_negation && is_done)
		*out = (struct part){ .ways = { out->ways[1], out->ways[0] } };
	return is_done;
}

static bool parser_accept(struct parser *parser, const char *mark, const char *word)
{
	return ct_filter_scan_mark(&parser->scan, mark) ||
	       ct_filter_scan_keyword(&parser->scan, word);
}

static bool read_both(struct parser *parser, struct part *out)
{
	struct part right = NO_PART;

	if (!read_one(parser, out))
		return false;
	while (parser_accept(parser, "&&", "and")) {
		ways_redirect(parser, out->ways[1], parser->filter->count);
		if (!read_one(parser, &right))
			return false;
		out->ways[0] = ways_join(parser, out->ways[0], right.ways[0]);
		out->ways[1] = right.ways[1];
	}
	return true;
}

static bool read_either(struct parser *parser, struct part *out)
{
	struct part right = NO_PART;

	if (!read_both(parser, out))
		return false;
	while (parser_accept(parser, "||", "or")) {
		ways_redirect(parser, out->ways[0], parser->filter->count);
		if (!read_both(parser, &right))
			return false;
		out->ways[1] = ways_join(parser, out->ways[1], right.ways[1]);
		out->ways[0] = right.ways[0];
	}
	return true;
}

static bool read_all(struct parser *parser)
{
	struct part whole = NO_PART;

	if (!read_either(parser, &whole))
		return false;
	ct_filter_scan_blanks(&parser->scan);
	if (parser->scan.at < parser->scan.end)
		return ct_filter_diagnose_next(&parser->scan, "&&, || or the end");
	ways_redirect(parser, whole.ways[0], CT_FILTER_REJECT);
	ways_redirect(parser, whole.ways[1], CT_FILTER_ACCEPT);
	return true;
}

enum ctrace_status ct_filter_parse(const char *text, uint64_t now_ns, struct ct_filter **out_filter,
				   struct ct_diagnostic *out_diagnostic)
{
	struct ct_filter *filter = calloc(1, sizeof *filter);
	struct parser parser = { .filter = filter };
	bool is_done;

	*out_diagnostic = (struct ct_diagnostic){ .column = 1 };
	if (filter == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	filter->scratch = calloc(1, sizeof *filter->scratch);
	is_done = ct_filter_scan_start(&parser.scan, text, now_ns, filter, out_diagnostic) &&
		  read_all(&parser);
	if (is_done && filter->scratch == NULL)
		is_done = ct_filter_no_memory(&parser.scan);
	if (!is_done) {
		ct_filter_destroy(filter);
		return parser.scan.status;
	}
	ct_filter_finish(filter);
	*out_filter = filter;
	return CTRACE_OK;
}
