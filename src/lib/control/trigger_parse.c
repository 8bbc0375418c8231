/*
 * trigger_parse.c - the text of a trigger: the value of the key ctrace.trigger.NAME.
 *
 *     [disabled] when FILTER [span ID [by dataN] > TIME] [HOW OFTEN] do ACTION[, ACTION]...
 *     [disabled] when {signal | exit COMPARISON} do ACTION[, ACTION]...
 *     off | enable | disable
 *
 * HOW OFTEN is [count N] [rate N/s] [once | limit N] [every TIME].
 * FILTER is a part of the language of ctrace-filter(7): comparisons joined by && or and.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/trigger.h"

#include <string.h>

#define EVERY_NS 1000000000u                     /* when the text says nothing */
#define NUMBER_END ((ct_trigger_number)1 << 100) /* beyond all numbers */

struct reading {
	const char *text;
	const char *at;
	const char *end;
	struct ct_diagnostic *diagnostic; /* or NULL */
	uint32_t conditions;              /* of how often: mask of those that were there */
};

/* ---- diagnostics ---- */

static bool refuse(const struct reading *reading, struct ct_span word, const char *before,
		   const char *meant, const char *expected)
{
	const struct ct_finding finding = {
		.before = before, .word = word, .meant = meant, .expected = expected
	};

	if (reading->diagnostic != NULL) {
		*reading->diagnostic =
			(struct ct_diagnostic){ .column = (unsigned)(word.at - reading->text) + 1 };
		ct_diagnostic_set(reading->diagnostic, &finding);
	}
	return false;
}

/* ---- words ---- */

static void skip_blanks(struct reading *reading)
{
	while (reading->at < reading->end && ct_is_blank(*reading->at))
		reading->at++;
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-' || c == '/' || c == ':' || c == '[' || c == ']' ||
	       c == '*' || c == '?' || c == '$' || c == '#' || c == '@' || c == '+';
}

/* The next word, which may be empty; the reading stays in front of it. */
static struct ct_span word_see(struct reading *reading)
{
	const char *end;

	skip_blanks(reading);
	end = reading->at;
	while (end < reading->end && is_word_char(*end))
		end++;
	return ct_span_of(reading->at, end);
}

static struct ct_span word_take(struct reading *reading)
{
	struct ct_span word = word_see(reading);

	reading->at += word.size;
	return word;
}

/* For a diagnostic: what is there, up to a blank. */
static struct ct_span word_found(struct reading *reading)
{
	const char *end;

	skip_blanks(reading);
	end = reading->at;

	while (end < reading->end && !ct_is_blank(*end))
		end++;
	return ct_span_of(reading->at, end);
}

static bool word_is(struct ct_span word, const char *wanted)
{
	return ct_name_is(word.at, word.size, wanted);
}

static bool word_accept(struct reading *reading, const char *wanted)
{
	struct ct_span word = word_see(reading);

	if (!word_is(word, wanted))
		return false;
	reading->at += word.size;
	return true;
}

static bool mark_accept(struct reading *reading, const char *mark)
{
	size_t size = strlen(mark);

	skip_blanks(reading);
	if ((size_t)(reading->end - reading->at) < size || memcmp(reading->at, mark, size) != 0)
		return false;
	reading->at += size;
	return true;
}

/* Decimal digits at the start of the word; the rest is what follows them. */
static bool digits_take(struct ct_span *word, uint64_t *out)
{
	size_t i = 0;

	*out = 0;
	for (; i < word->size && word->at[i] >= '0' && word->at[i] <= '9'; i++)
		if (__builtin_mul_overflow(*out, 10u, out) ||
		    __builtin_add_overflow(*out, (unsigned)(word->at[i] - '0'), out))
			return false;
	*word = ct_span_of(word->at + i, word->at + word->size);
	return i != 0;
}

/* "10m" */
static bool time_read(struct ct_span word, uint64_t *out_ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ns", 1u },
		      { "us", 1000u },
		      { "ms", 1000000u },
		      { "s", 1000000000u },
		      { "m", 60000000000u },
		      { "h", 3600000000000u },
		      { "d", 86400000000000u } };
	uint64_t number;

	if (!digits_take(&word, &number) || number == 0 || number > 1000000u)
		return false;
	for (size_t i = 0; i < CT_COUNT(units); i++)
		if (word_is(word, units[i].unit)) {
			*out_ns = number * units[i].ns;
			return true;
		}
	return false;
}

/* "..." or '...'; two of the marks inside stand for one. */
static bool quotation_take(struct reading *reading, char out[CT_TRIGGER_WORD + 1], size_t *out_size)
{
	const char *start = reading->at;
	char mark = *reading->at++;
	size_t size = 0;

	while (reading->at < reading->end) {
		char c = *reading->at++;

		if (c == mark) {
			if (reading->at == reading->end || *reading->at != mark) {
				out[size] = '\0';
				*out_size = size;
				return true;
			}
			reading->at++;
		}
		if (size == CT_TRIGGER_WORD)
			return refuse(reading, ct_span_of(start, reading->at), "too long:", NULL,
				      "a text of at most 128 bytes");
		out[size++] = c;
	}
	return refuse(reading, ct_span_of(start, reading->end), "no end of the text", NULL,
		      "a quotation mark at its end");
}

/* ---- comparisons ---- */

static bool number_read(struct ct_span word, bool is_level, ct_trigger_number *out)
{
	bool is_negative = word.size > 0 && word.at[0] == '-';
	uint64_t magnitude = 0;
	uint32_t level;

	if (is_level && ct_level_parse(word.at, word.size, &level) && level < CTRACE_LEVEL_COUNT) {
		*out = (ct_trigger_number)level;
		return true;
	}
	if (is_negative)
		word = ct_span_of(word.at + 1, word.at + word.size);
	if (word.size > 2 && word.at[0] == '0' && (word.at[1] | 0x20) == 'x') {
		for (size_t i = 2; i < word.size; i++) {
			char c = word.at[i];
			unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
					 : (c | 0x20) >= 'a' && (c | 0x20) <= 'f'
						 ? (unsigned)((c | 0x20) - 'a') + 10
						 : 16;

			if (digit > 15 || magnitude >> 60 != 0)
				return false;
			magnitude = magnitude << 4 | digit;
		}
	} else if (!digits_take(&word, &magnitude) || word.size != 0) {
		return false;
	}
	*out = is_negative ? -(ct_trigger_number)magnitude : (ct_trigger_number)magnitude;
	return true;
}

static const char number_expected[] = "a number, such as 5, -1 or 0x1F";
static const char level_expected[] = "debug, info, warn, error or fatal";

static const char *value_expected(const struct ct_trigger_test *test)
{
	return test->field == CT_TRIGGER_LEVEL ? level_expected : number_expected;
}

/* Whether a value of the field can be in the range. */
static bool range_check(const struct reading *reading, enum ct_trigger_field field,
			struct ct_span word, ct_trigger_number first, ct_trigger_number last)
{
	static const struct {
		ct_trigger_number first, last;
		const char *expected;
	} fields[] = {
		[CT_TRIGGER_COMPONENT] = { -NUMBER_END, NUMBER_END, "" },
		[CT_TRIGGER_LEVEL] = { 0, CTRACE_LEVEL_COUNT - 1,
				       "what debug, info, warn, error or fatal can fit" },
		[CT_TRIGGER_EVENT] = { 0, UINT32_MAX,
				       "what a number from 0 to 4294967295 can fit" },
		[CT_TRIGGER_THREAD] = { 0, UINT32_MAX,
					"what a number from 0 to 4294967295 can fit" },
		[CT_TRIGGER_DATA] = { INT64_MIN, UINT64_MAX, "what a number of 64 bits can fit" },
		[CT_TRIGGER_STATUS] = { INT32_MIN, INT32_MAX, "what a number of 32 bits can fit" },
	};

	if (first <= last && first <= fields[field].last && last >= fields[field].first)
		return true;
	return refuse(reading, word, "can never match:", NULL, fields[field].expected);
}

static bool range_add(const struct reading *reading, struct ct_trigger_test *test,
		      struct ct_span word, ct_trigger_number first, ct_trigger_number last)
{
	if (!range_check(reading, test->field, word, first, last))
		return false;
	if (test->range_count == CT_TRIGGER_RANGES)
		return refuse(reading, word, "too many values, from", NULL, "at most 8 of them");
	test->range[test->range_count].first = first;
	test->range[test->range_count++].last = last;
	return true;
}

/* "5" or "5..9" */
static bool range_take(struct reading *reading, struct ct_trigger_test *test)
{
	struct ct_span word = word_take(reading);
	const char *dots = memmem(word.at, word.size, "..", 2);
	bool is_level = test->field == CT_TRIGGER_LEVEL;
	ct_trigger_number first, last;

	if (dots == NULL) {
		if (!number_read(word, is_level, &first))
			return refuse(reading, word.size != 0 ? word : word_found(reading),
				      "not a value:", NULL, value_expected(test));
		return range_add(reading, test, word, first, first);
	}
	if (!number_read(ct_span_of(word.at, dots), is_level, &first) ||
	    !number_read(ct_span_of(dots + 2, word.at + word.size), is_level, &last))
		return refuse(reading, word, "not a range:", NULL, "two values, such as 5..9");
	return range_add(reading, test, word, first, last);
}

static bool list_take(struct reading *reading, struct ct_trigger_test *test)
{
	if (test->field == CT_TRIGGER_COMPONENT)
		return refuse(reading, word_found(reading), "no list for a component:", NULL,
			      "==, !=, ~ or !~");
	if (!mark_accept(reading, "("))
		return refuse(reading, word_found(reading), "no ( in front of", NULL,
			      "in (5..9, 12)");
	do {
		if (!range_take(reading, test))
			return false;
	} while (mark_accept(reading, ","));
	if (!mark_accept(reading, ")"))
		return refuse(reading, word_found(reading), "no ) in front of", NULL,
			      "in (5..9, 12)");
	return true;
}

/* Text for a component and for items in quotation marks or after ~. */
static bool text_take(struct reading *reading, struct ct_trigger_test *test)
{
	struct ct_span word;

	test->is_text = true;
	skip_blanks(reading);
	if (reading->at < reading->end && (*reading->at == '"' || *reading->at == '\''))
		return quotation_take(reading, test->text, &test->text_size);
	word = word_take(reading);
	if (word.size == 0 || word.size > CT_TRIGGER_WORD)
		return refuse(reading, word.size != 0 ? word : word_found(reading),
			      "not a text:", NULL, "a text of 1 to 128 bytes, in quotation marks");
	memcpy(test->text, word.at, word.size);
	test->text[word.size] = '\0';
	test->text_size = word.size;
	return true;
}

enum operator{ EQUAL, LESS, AT_MOST, MORE, AT_LEAST, LIKE };

static bool operator_take(struct reading *reading, struct ct_trigger_test *test, enum operator* out)
{
	static const struct {
		const char *mark;
		enum operator is;
		bool is_inverted;
	} operators[] = { { "==", EQUAL, false },    { "!=", EQUAL, true },
			  { "<>", EQUAL, true },     { "<=", AT_MOST, false },
			  { ">=", AT_LEAST, false }, { "=~", LIKE, false },
			  { "!~", LIKE, true },      { "=", EQUAL, false },
			  { "<", LESS, false },      { ">", MORE, false },
			  { "~", LIKE, false } };

	for (size_t i = 0; i < CT_COUNT(operators); i++)
		if (mark_accept(reading, operators[i].mark)) {
			*out = operators[i].is;
			test->is_inverted = operators[i].is_inverted;
			return true;
		}
	return refuse(reading, word_found(reading), "no comparison:", NULL,
		      "==, !=, <, <=, >, >=, ~, !~ or in (...)");
}

static bool bound_take(struct reading *reading, struct ct_trigger_test *test, enum operator is)
{
	struct ct_span word = word_take(reading);
	ct_trigger_number value;

	if (test->field == CT_TRIGGER_COMPONENT)
		return refuse(reading, word, "a component has no order:", NULL, "==, !=, ~ or !~");
	if (!number_read(word, test->field == CT_TRIGGER_LEVEL, &value))
		return refuse(reading, word.size != 0 ? word : word_found(reading),
			      "not a value:", NULL, value_expected(test));
	return range_add(reading, test, word,
			 is == MORE       ? value + 1
			 : is == AT_LEAST ? value
					  : -NUMBER_END,
			 is == LESS      ? value - 1
			 : is == AT_MOST ? value
					 : NUMBER_END);
}

static bool equal_take(struct reading *reading, struct ct_trigger_test *test)
{
	skip_blanks(reading);
	if (test->field == CT_TRIGGER_COMPONENT ||
	    (test->field == CT_TRIGGER_DATA && reading->at < reading->end &&
	     (*reading->at == '"' || *reading->at == '\'')))
		return text_take(reading, test);
	return range_take(reading, test);
}

/* "data", "data1", "data[0]" */
static bool data_read(struct ct_span word, struct ct_trigger_test *test)
{
	bool is_index = word.size > 4 && word.at[4] == '[';
	uint64_t number;

	if (word.size < 4 || !ct_name_is(word.at, 4, "data"))
		return false;
	test->field = CT_TRIGGER_DATA;
	test->is_any = word.size == 4;
	if (test->is_any)
		return true;
	word = ct_span_of(word.at + 4 + is_index, word.at + word.size);
	if (!digits_take(&word, &number) || number > CTRACE_MAX_ITEMS ||
	    (is_index ? !word_is(word, "]") : word.size != 0 || number == 0))
		return false;
	test->item = (uint32_t)(is_index ? number : number - 1);
	return true;
}

/* A field of a record or a name of an item: "data1.AMOUNT", "data.NAME", "record.AMOUNT", or the
 * mnemonic. */
static bool word_is_catalogue(struct ct_span word)
{
	bool is_item = word.size > 4 && ct_name_is(word.at, 4, "data");
	bool is_record = word.size > 6 && ct_name_is(word.at, 6, "record");

	return word_is(word, "mnemonic") ||
	       ((is_item || is_record) && memchr(word.at, '.', word.size) != NULL);
}

static bool field_take(struct reading *reading, struct ct_trigger_test *test)
{
	static const char *const names[] = {
		"component", "level", "event", "thread", "tid", "data"
	};
	static const enum ct_trigger_field fields[] = { CT_TRIGGER_COMPONENT, CT_TRIGGER_LEVEL,
							CT_TRIGGER_EVENT,     CT_TRIGGER_THREAD,
							CT_TRIGGER_THREAD,    CT_TRIGGER_DATA };
	struct ct_span word = word_take(reading);

	for (size_t i = 0; i + 1 < CT_COUNT(names); i++)
		if (word_is(word, names[i])) {
			test->field = fields[i];
			return true;
		}
	if (data_read(word, test))
		return true;
	if (word_is_catalogue(word))
		return refuse(
			reading, word, "the traced process has no catalogue, which knows", NULL,
			"an item as it is traced, such as data1 == 5; ctrace show --filter compares fields of records");
	return refuse(
		reading, word.size != 0 ? word : word_found(reading), "unknown field",
		ct_suggest(word, names, CT_COUNT(names)),
		"component, level, event, thread, data, data1 or data[0]; a trigger knows no other");
}

static bool comparison_take(struct reading *reading, struct ct_trigger_test *test)
{
	enum operator is = EQUAL;
	ct_trigger_number number;
	struct ct_span word;

	if (word_accept(reading, "in"))
		return list_take(reading, test);
	if (word_accept(reading, "not")) {
		test->is_inverted = true;
		if (word_accept(reading, "in"))
			return list_take(reading, test);
		return refuse(reading, word_found(reading), "no \"in\" in front of", NULL,
			      "not in (5..9, 12)");
	}
	if (!operator_take(reading, test, &is))
		return false;
	if (is == LIKE) {
		if (test->field != CT_TRIGGER_COMPONENT && test->field != CT_TRIGGER_DATA)
			return refuse(reading, word_found(reading),
				      "no pattern for a number:", NULL,
				      "==, !=, <, <=, >, >= or in (...)");
		word = word_see(reading);
		if (test->field == CT_TRIGGER_DATA && number_read(word, false, &number))
			return refuse(reading, word, "no pattern for a number:", NULL,
				      "a text in quotation marks, or ==");
		test->is_glob = true;
		return text_take(reading, test);
	}
	return is == EQUAL ? equal_take(reading, test) : bound_take(reading, test, is);
}

static bool test_take(struct reading *reading, struct ct_trigger_test *test)
{
	return field_take(reading, test) && comparison_take(reading, test);
}

static bool filter_take(struct reading *reading, struct ct_trigger *out)
{
	if (word_accept(reading, "signal")) {
		out->cause = CT_TRIGGER_ON_SIGNAL;
		return true;
	}
	if (word_accept(reading, "exit")) {
		out->cause = CT_TRIGGER_ON_EXIT;
		out->test_count = 1;
		out->test[0].field = CT_TRIGGER_STATUS;
		return comparison_take(reading, &out->test[0]);
	}
	do {
		if (out->test_count == CT_TRIGGER_TESTS)
			return refuse(reading, word_found(reading), "too many comparisons, from",
				      NULL, "at most 8 of them");
		if (!test_take(reading, &out->test[out->test_count]))
			return false;
		out->test_count++;
	} while (mark_accept(reading, "&&") || word_accept(reading, "and"));
	if (mark_accept(reading, "||") || word_accept(reading, "or"))
		return refuse(reading, word_found(reading), "no \"or\" in a trigger, before", NULL,
			      "a trigger for each of the two");
	return true;
}

/* ---- how often ---- */

static bool number_take(struct reading *reading, uint64_t *out, const char *unit,
			const char *expected)
{
	struct ct_span word = word_take(reading);
	struct ct_span rest = word;

	if (digits_take(&rest, out) && *out != 0 && *out <= CT_TRIGGER_COUNT_MAX &&
	    word_is(rest, unit))
		return true;
	return refuse(reading, word.size != 0 ? word : word_found(reading), "not a number:", NULL,
		      expected);
}

/* "10 > 2ms", "10 by data1 >= 2ms" */
static bool span_take(struct reading *reading, struct ct_trigger *out)
{
	static const struct {
		const char *mark;
		int first, last; /* added to the time; 2: no bound */
	} bounds[] = { { ">=", 0, 2 }, { "<=", 2, 0 }, { ">", 1, 2 }, { "<", 2, -1 } };
	struct ct_trigger_test item = { .is_text = false };
	struct ct_span word = word_take(reading);
	ct_trigger_number id;
	uint64_t ns;
	size_t i = 0;

	if (!number_read(word, false, &id) || id < 0 || id > UINT32_MAX)
		return refuse(reading, word.size != 0 ? word : word_found(reading),
			      "not the id of an event:", NULL,
			      "the event that begins the span, such as span 10 > 2ms");
	out->span.begin_id = (uint32_t)id;
	if (word_accept(reading, "by")) {
		word = word_take(reading);
		if (!data_read(word, &item) || item.is_any)
			return refuse(reading, word.size != 0 ? word : word_found(reading),
				      "not an item:", NULL, "data1 or data[0]");
		out->span.is_by_item = true;
		out->span.item = item.item;
	}
	while (i < CT_COUNT(bounds) && !mark_accept(reading, bounds[i].mark))
		i++;
	if (i == CT_COUNT(bounds))
		return refuse(reading, word_found(reading), "no comparison in front of", NULL,
			      ">, >=, < or <=, and a time");
	word = word_take(reading);
	if (!time_read(word, &ns))
		return refuse(reading, word.size != 0 ? word : word_found(reading),
			      "not a time:", NULL,
			      "a number with ns, us, ms, s, m, h or d, such as 2ms");
	out->has_span = true;
	out->span.first = bounds[i].first == 2 ? 0 : (ct_trigger_number)ns + bounds[i].first;
	out->span.last = bounds[i].last == 2 ? NUMBER_END : (ct_trigger_number)ns + bounds[i].last;
	return true;
}

/* Each condition once; once and limit are two words for one. */
static bool condition_check(struct reading *reading)
{
	static const char *const words[] = { "span", "count", "rate", "every", "limit", "once" };
	struct ct_span word = word_see(reading);
	uint32_t bit = 0;

	for (uint32_t i = 0; i < CT_COUNT(words); i++)
		if (word_is(word, words[i]))
			bit = 1u << (i < 4 ? i : 4);
	if ((reading->conditions & bit) != 0)
		return refuse(reading, word, "one condition too many:", NULL,
			      "each of them once, and either once or limit");
	reading->conditions |= bit;
	return true;
}

static bool condition_take(struct reading *reading, struct ct_trigger *out)
{
	struct ct_span word;

	if (!condition_check(reading))
		return false;
	if (word_accept(reading, "span"))
		return span_take(reading, out);
	if (word_accept(reading, "count"))
		return number_take(reading, &out->count, "", "a number from 1 to 1000000000");
	if (word_accept(reading, "rate"))
		return number_take(reading, &out->rate, "/s", "events a second, such as 100/s");
	if (word_accept(reading, "once")) {
		out->limit = 1;
		return true;
	}
	if (word_accept(reading, "limit"))
		return number_take(reading, &out->limit, "", "a number from 1 to 1000000000");
	if (word_accept(reading, "every")) {
		word = word_take(reading);
		if (time_read(word, &out->every_ns))
			return true;
		return refuse(reading, word.size != 0 ? word : word_found(reading),
			      "not a time:", NULL, "a number with ms, s, m, h or d, such as 10m");
	}
	skip_blanks(reading);
	return refuse(reading, word_found(reading), "unknown word", NULL,
		      "span ID > TIME, count N, rate N/s, once, limit N, every TIME or do");
}

/* ---- what to do ---- */

/* The operand behind the colon. */
static bool operand_copy(const struct reading *reading, struct ct_span operand,
			 const char *expected, char out[CT_TRIGGER_WORD + 1])
{
	if (operand.size == 0 || operand.size > CT_TRIGGER_WORD)
		return refuse(reading, operand, "not an operand:", NULL, expected);
	memcpy(out, operand.at, operand.size);
	out[operand.size] = '\0';
	return true;
}

static bool level_for_read(const struct reading *reading, struct ct_span operand,
			   struct ct_trigger_action *out)
{
	const char *colon = operand.size != 0 ? memchr(operand.at, ':', operand.size) : NULL;

	if (colon != NULL &&
	    ct_level_parse(operand.at, (size_t)(colon - operand.at), &out->level) &&
	    time_read(ct_span_of(colon + 1, operand.at + operand.size), &out->ns))
		return true;
	return refuse(reading, operand, "not a level and a time:", NULL,
		      "level:LEVEL:TIME, such as level:debug:30s");
}

static bool action_read(const struct reading *reading, struct ct_span word,
			struct ct_trigger_action *out)
{
	static const char *const names[] = { "dump", "stop", "wto", "level", "start", "run" };
	const char *colon = word.size != 0 ? memchr(word.at, ':', word.size) : NULL;
	const char *end = word.at + word.size;
	struct ct_span name = ct_span_of(word.at, colon != NULL ? colon : end);
	struct ct_span operand = ct_span_of(colon != NULL ? colon + 1 : end, end);

	if (colon == NULL && word_is(name, "dump")) {
		out->act = CT_TRIGGER_DUMP;
	} else if (colon == NULL && word_is(name, "stop")) {
		out->act = CT_TRIGGER_STOP;
	} else if (colon == NULL && word_is(name, "wto")) {
		out->act = CT_TRIGGER_WTO;
	} else if (word_is(name, "level")) {
		out->act = CT_TRIGGER_LEVEL_FOR;
		return level_for_read(reading, operand, out);
	} else if (word_is(name, "start")) {
		out->act = CT_TRIGGER_START;
		if (ct_component_check_name(operand.at, operand.size) != CTRACE_OK)
			return refuse(reading, operand, "not a component name:", NULL,
				      "start:COMPONENT");
		return operand_copy(reading, operand, "start:COMPONENT", out->text);
	} else if (word_is(name, "run")) {
		out->act = CT_TRIGGER_RUN;
		if (operand.size == 0 || operand.at[0] != '/')
			return refuse(reading, operand, "not an absolute path:", NULL,
				      "run:PROGRAM, a path that begins with /");
		return operand_copy(reading, operand, "run:PROGRAM", out->text);
	} else {
		return refuse(reading, word, "unknown action",
			      ct_suggest(name, names, CT_COUNT(names)),
			      "dump, stop, wto, level:LEVEL:TIME, start:COMPONENT or run:PROGRAM");
	}
	return true;
}

/* At a fatal signal the process has time for a note only, of which others make the dump. */
static bool action_is_possible(const struct reading *reading, struct ct_span word,
			       const struct ct_trigger *trigger)
{
	enum ct_trigger_act act = trigger->action[trigger->action_count].act;

	if (trigger->cause == CT_TRIGGER_ON_SIGNAL && act != CT_TRIGGER_DUMP)
		return refuse(reading, word, "not possible at a fatal signal:", NULL, "dump");
	if (trigger->cause == CT_TRIGGER_ON_EXIT && act != CT_TRIGGER_DUMP &&
	    act != CT_TRIGGER_WTO && act != CT_TRIGGER_RUN)
		return refuse(reading, word, "without effect at the end of a process:", NULL,
			      "dump, wto or run:PROGRAM");
	return true;
}

static bool actions_take(struct reading *reading, struct ct_trigger *out)
{
	do {
		struct ct_span word = word_take(reading);

		if (out->action_count == CT_TRIGGER_ACTIONS)
			return refuse(reading, word, "too many actions, from", NULL,
				      "at most 4 of them");
		if (!action_read(reading, word.size != 0 ? word : word_found(reading),
				 &out->action[out->action_count]))
			return false;
		if (!action_is_possible(reading, word, out))
			return false;
		out->action_count++;
	} while (mark_accept(reading, ","));
	skip_blanks(reading);
	if (reading->at != reading->end)
		return refuse(reading, word_found(reading), "more text:", NULL,
			      "a comma between two actions, and nothing behind the last");
	return true;
}

static bool trigger_take(struct reading *reading, struct ct_trigger *out)
{
	static const char *const changes[] = { "off", "enable", "disable" };
	struct ct_span whole = ct_span_trim(ct_span_of(reading->at, reading->end));

	for (size_t i = 0; i < CT_COUNT(changes); i++)
		if (word_is(whole, changes[i])) {
			out->change = (enum ct_trigger_change)(CT_TRIGGER_OFF + i);
			return true;
		}
	out->is_disabled = word_accept(reading, "disabled");
	skip_blanks(reading);
	out->begin = (uint32_t)(reading->at - reading->text);
	if (!word_accept(reading, "when"))
		return refuse(reading, word_found(reading), "no \"when\" in front of", NULL,
			      "when FILTER do ACTION, off, enable or disable");
	if (!filter_take(reading, out))
		return false;
	while (!word_accept(reading, "do")) {
		if (out->cause != CT_TRIGGER_ON_EVENT)
			return refuse(reading, word_found(reading),
				      "a process ends once, and has no", NULL,
				      "when signal do dump, or when exit != 0 do ACTION");
		if (!condition_take(reading, out))
			return false;
	}
	/* A trigger that matches every event must not fill the disk. */
	if (out->limit != 1 && out->every_ns == 0)
		out->every_ns = EVERY_NS;
	return actions_take(reading, out);
}

enum ctrace_status ct_trigger_parse(const char *text, size_t size, struct ct_trigger *out,
				    struct ct_diagnostic *out_diagnostic)
{
	struct reading reading = {
		.text = text, .at = text, .end = text + size, .diagnostic = out_diagnostic
	};

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7F) {
			(void)refuse(&reading, ct_span_of(text + i, text + i + 1),
				     "a control character:", NULL, "one line of text");
			return CTRACE_SYNTAX_ERROR;
		}
	if (size > CT_TRIGGER_TEXT) {
		(void)refuse(&reading, ct_span_of(text + CT_TRIGGER_TEXT, text + size),
			     "too long, from", NULL, "at most 512 bytes");
		return CTRACE_SYNTAX_ERROR;
	}
	return trigger_take(&reading, out) ? CTRACE_OK : CTRACE_SYNTAX_ERROR;
}

bool ct_trigger_name_is_good(const char *name, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
		      (name[i] >= '0' && name[i] <= '9') || name[i] == '_' || name[i] == '-'))
			return false;
	return size >= 1 && size <= CT_TRIGGER_NAME;
}
