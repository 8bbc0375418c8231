/*
 * copybook_entry.c - the entries of a copybook: levels, names and clauses become a tree of items.
 *
 * Called by copybook.c with the words of everything that was copied.  Items stand in the order of the text, each before what is in it.
 * What a program has around its data (divisions, paragraphs, FD) is passed over, so that a whole program may be given too.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_LIMIT 32u /* of parentheses in a constant */
#define HASH_HEADS 1024u
#define LEVEL_CONSTANT 78u
#define LEVEL_CONDITION 88u
#define LEVEL_RENAMES 66u
#define LEVEL_ALONE 77u

/* A level 78, or a level 01 CONSTANT. */
struct constant {
	struct ct_token name;
	uint32_t hash;
	uint32_t next; /* with the same hash bits, and one more than its index; 0: none */
	bool is_known, is_number;
	int64_t number;
	struct ct_literal literal;
};

struct parser {
	struct ct_scan *scan;
	const struct ct_tokens *words;
	size_t at;
	struct ct_copybook *copybook;
	struct constant *constants;
	uint32_t constant_count, constant_capacity;
	uint32_t heads[HASH_HEADS];           /* of chains of constants, as in next */
	uint32_t open[CT_COPYBOOK_DEPTH + 2]; /* items that the next one may stand in */
	uint32_t open_count;
	bool is_before_data;             /* in the divisions of a program that have none */
	struct ct_token type, redefines; /* of the entry that is being read; size 0: none */
};

typedef enum ctrace_status clause(struct parser *parser, struct ct_item *item);

/* ---- words */

static const struct ct_token *peek(const struct parser *parser)
{
	return &parser->words->at[parser->at];
}

static const struct ct_token *next(struct parser *parser)
{
	const struct ct_token *word = peek(parser);

	if (word->kind != CT_TOKEN_END)
		parser->at++;
	return word;
}

static bool accept(struct parser *parser, const char *word)
{
	if (!ct_token_is(peek(parser), word))
		return false;
	parser->at++;
	return true;
}

static void accept_any(struct parser *parser, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (accept(parser, words[i]))
			return;
}

/* what: a sentence with one %s for the word that stands there. */
static enum ctrace_status fail(struct parser *parser, const struct ct_token *place, const char *expected, const char *what)
{
	struct ct_buf text = { 0 };
	const char *hole = strstr(what, "%s");

	ct_buf_add(&text, what, hole == NULL ? strlen(what) : (size_t)(hole - what));
	if (hole != NULL) {
		if (place->kind == CT_TOKEN_END)
			ct_buf_add_text(&text, "the end");
		else
			ct_span_quote(&text, (struct ct_span){ place->at, place->size }, CT_WORD_SHOWN);
		ct_buf_add_text(&text, hole + 2);
	}
	ct_scan_complain(parser->scan, place, expected, "%s", ct_buf_text(&text));
	ct_buf_fini(&text);
	return CTRACE_SYNTAX_ERROR;
}

/* ---- constants */

static const struct constant *find_constant(const struct parser *parser, const char *name, size_t size)
{
	uint32_t hash = ct_name_hash(name, size);

	for (uint32_t i = parser->heads[hash % HASH_HEADS]; i > 0; i = parser->constants[i - 1].next) {
		const struct constant *constant = &parser->constants[i - 1];

		if (constant->hash == hash && ct_name_equal(constant->name.at, constant->name.size, name, size))
			return constant;
	}
	return NULL;
}

static bool find_number(void *user, const char *name, size_t size, int64_t *out_value)
{
	const struct constant *constant = find_constant(user, name, size);

	if (constant == NULL || !constant->is_number)
		return false;
	*out_value = constant->number;
	return true;
}

static bool parse_integer(const char *text, size_t size, int64_t *out)
{
	int64_t value = 0;

	for (size_t i = 0; i < size; i++)
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, text[i] - '0', &value))
			return false;
	*out = value;
	return size > 0;
}

/* The arithmetic of VALUE 78-A * 2 + 1; the words are one text here. */
struct sum {
	const struct parser *parser;
	const char *at, *end;
	unsigned depth;
	bool is_bad;
};

static int64_t sum_all(struct sum *sum);

static char sum_peek(struct sum *sum)
{
	while (sum->at < sum->end && *sum->at == ' ')
		sum->at++;
	return sum->at < sum->end ? *sum->at : '\0';
}

static int64_t sum_operand(struct sum *sum)
{
	const char *from;
	int64_t value = 0;
	char c = sum_peek(sum);

	if (c == '(' && sum->depth < NESTING_LIMIT) {
		sum->at++;
		sum->depth++;
		value = sum_all(sum);
		sum->depth--;
		if (sum_peek(sum) != ')')
			sum->is_bad = true;
		else
			sum->at++;
		return value;
	}
	if (c == '-' || c == '+') {
		sum->at++;
		from = sum->at;
	} else {
		from = sum->at;
	}
	while (sum->at < sum->end && strchr(" ()*/+", *sum->at) == NULL)
		sum->at++;
	if (!parse_integer(from, (size_t)(sum->at - from), &value) &&
	    !find_number((void *)(uintptr_t)sum->parser, from, (size_t)(sum->at - from), &value))
		sum->is_bad = true;
	return c == '-' ? -value : value;
}

static int64_t sum_product(struct sum *sum)
{
	int64_t value = sum_operand(sum);

	while (!sum->is_bad && (sum_peek(sum) == '*' || sum_peek(sum) == '/')) {
		char c = *sum->at++;
		int64_t operand = sum_operand(sum);

		if (c == '*')
			sum->is_bad |= __builtin_mul_overflow(value, operand, &value);
		else if (operand == 0 || operand == -1)
			sum->is_bad = true;
		else
			value /= operand;
	}
	return value;
}

static int64_t sum_all(struct sum *sum)
{
	int64_t value = sum_product(sum);

	while (!sum->is_bad && (sum_peek(sum) == '+' || sum_peek(sum) == '-')) {
		char c = *sum->at++;
		int64_t operand = sum_product(sum);

		sum->is_bad |=
			c == '+' ? __builtin_add_overflow(value, operand, &value) : __builtin_sub_overflow(value, operand, &value);
	}
	return value;
}

static bool is_number(const struct ct_token *word)
{
	size_t i = word->size > 0 && (*word->at == '-' || *word->at == '+'), digits = 0, points = 0;

	if (word->kind != CT_TOKEN_WORD)
		return false;
	for (; i < word->size; i++) {
		digits += word->at[i] >= '0' && word->at[i] <= '9';
		points += word->at[i] == '.';
	}
	return digits > 0 && points <= 1 && digits + points + (*word->at == '-' || *word->at == '+') == word->size;
}

/* ---- literals */

static bool hex_value(const struct ct_token *literal, uint64_t *out)
{
	unsigned base = literal->prefix == 'B' ? 2 : 16;

	*out = 0;
	if (literal->size == 0 || literal->size > (base == 2 ? 64u : 16u))
		return false;
	for (size_t i = 0; i < literal->size; i++) {
		char c = literal->at[i];
		unsigned digit = c >= '0' && c <= '9'                     ? (unsigned)(c - '0')
				 : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (unsigned)((c | 0x20) - 'a' + 10)
									  : 16;

		if (digit >= base)
			return false;
		*out = *out * base + digit;
	}
	return true;
}

static enum ctrace_status take_hex_bytes(struct parser *parser, const struct ct_token *token, struct ct_literal *out)
{
	uint8_t *bytes = ct_scan_take(parser->scan, token->size / 2 + 1);

	if (bytes == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i + 1 < token->size; i += 2) {
		struct ct_token pair = { .at = token->at + i, .size = 2 };
		uint64_t value;

		if (!hex_value(&pair, &value))
			return fail(parser, token, "pairs of 0-9 and A-F", "the literal %s has no hexadecimal digits");
		bytes[i / 2] = (uint8_t)value;
	}
	if (token->size % 2 != 0)
		return fail(parser, token, "pairs of 0-9 and A-F", "the literal %s has half a byte");
	*out = (struct ct_literal){ .kind = CT_LITERAL_BYTES, .text = (const char *)bytes, .size = token->size / 2 };
	return CTRACE_OK;
}

static enum ctrace_status take_quoted(struct parser *parser, struct ct_literal *out)
{
	const struct ct_token *token = next(parser);
	uint64_t value;
	char digits[24];

	*out = (struct ct_literal){ .kind = CT_LITERAL_TEXT, .text = token->at, .size = token->size };
	if (token->prefix == 'X')
		return take_hex_bytes(parser, token, out);
	if (token->prefix == 'H' || token->prefix == 'B') {
		if (!hex_value(token, &value))
			return fail(parser, token, "its digits, at most 64 bits", "the literal %s is no number");
		out->kind = CT_LITERAL_NUMBER;
		out->size = (uint32_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
		out->text = ct_scan_text(parser->scan, digits, out->size);
	} else if (token->prefix == 'Z') {
		out->text = ct_scan_text(parser->scan, token->at, token->size);
		out->size = token->size + 1;
	}
	return out->text == NULL ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}

static bool take_figurative(struct parser *parser, struct ct_literal *out)
{
	static const struct {
		const char *word, *text;
	} words[] = {
		{ "ZERO", "0" },      { "ZEROS", "0" },   { "ZEROES", "0" },      { "SPACE", " " },        { "SPACES", " " },
		{ "QUOTE", "\"" },    { "QUOTES", "\"" }, { "HIGH-VALUE", NULL }, { "HIGH-VALUES", NULL }, { "LOW-VALUE", "" },
		{ "LOW-VALUES", "" }, { "NULL", "" },     { "NULLS", "" },
	};

	for (size_t i = 0; i < CT_COUNT(words); i++)
		if (accept(parser, words[i].word)) {
			const char *text = words[i].text == NULL ? "\xFF" : words[i].text;

			*out = (struct ct_literal){ .kind = CT_LITERAL_FILL, .text = text, .size = 1, .is_zero = *text == '0' };
			if (*text == '\0' || *text == '\xFF')
				out->kind = CT_LITERAL_FILL_BYTES;
			return true;
		}
	return false;
}

/* A literal, a number, a figurative constant, or the name of a constant. */
static enum ctrace_status take_literal(struct parser *parser, struct ct_literal *out)
{
	bool is_all = accept(parser, "ALL");
	const struct ct_token *word = peek(parser);
	const struct constant *constant;

	if (word->kind == CT_TOKEN_LITERAL) {
		enum ctrace_status status = take_quoted(parser, out);

		if (status == CTRACE_OK && is_all && out->kind == CT_LITERAL_TEXT && out->size > 0)
			out->kind = CT_LITERAL_FILL;
		return status;
	}
	if (take_figurative(parser, out))
		return CTRACE_OK;
	if (is_number(word)) {
		*out = (struct ct_literal){ .kind = CT_LITERAL_NUMBER, .text = word->at, .size = word->size };
		parser->at++;
		return CTRACE_OK;
	}
	constant = word->kind == CT_TOKEN_WORD ? find_constant(parser, word->at, word->size) : NULL;
	if (constant == NULL || !constant->is_known)
		return fail(parser, word, "a literal, a number, ZERO, SPACE, HIGH-VALUES or LOW-VALUES", "%s is no value");
	*out = constant->literal;
	parser->at++;
	return CTRACE_OK;
}

static enum ctrace_status add_constant(struct parser *parser, const struct constant *constant)
{
	if (parser->constant_count == parser->constant_capacity) {
		uint32_t capacity = parser->constant_capacity == 0 ? 64 : parser->constant_capacity * 2;
		struct constant *grown;

		if (parser->constant_count >= CT_COPYBOOK_FIELDS)
			return fail(parser, &constant->name, "at most 8192", "too many constants");
		grown = realloc(parser->constants, capacity * sizeof *grown);
		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		parser->constants = grown;
		parser->constant_capacity = capacity;
	}
	parser->constants[parser->constant_count] = *constant;
	parser->constants[parser->constant_count].next = parser->heads[constant->hash % HASH_HEADS];
	parser->heads[constant->hash % HASH_HEADS] = ++parser->constant_count;
	return CTRACE_OK;
}

static enum ctrace_status sum_up(struct parser *parser, size_t from, size_t to, struct constant *constant)
{
	struct ct_buf text = { 0 };
	struct sum sum = { .parser = parser };
	char digits[24];

	for (size_t i = from; i < to; i++) {
		ct_buf_add(&text, parser->words->at[i].at, parser->words->at[i].size);
		ct_buf_add_char(&text, ' ');
	}
	if (text.failed) {
		ct_buf_fini(&text);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	sum.at = text.data;
	sum.end = text.data + text.size;
	constant->number = sum_all(&sum);
	if (!sum.is_bad && sum_peek(&sum) == '\0') {
		constant->is_known = constant->is_number = true;
		constant->literal.kind = CT_LITERAL_NUMBER;
		constant->literal.size = (uint32_t)snprintf(digits, sizeof digits, "%lld", (long long)constant->number);
		constant->literal.text = ct_scan_text(parser->scan, digits, constant->literal.size);
	}
	ct_buf_fini(&text);
	return constant->is_known && constant->literal.text == NULL ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}

static enum ctrace_status take_single(struct parser *parser, struct constant *constant)
{
	const struct ct_token *word = peek(parser);
	enum ctrace_status status;

	if (word->kind != CT_TOKEN_LITERAL && !is_number(word) && find_constant(parser, word->at, word->size) == NULL) {
		constant->is_known = take_figurative(parser, &constant->literal);
		return CTRACE_OK;
	}
	status = take_literal(parser, &constant->literal);
	constant->is_known = status == CTRACE_OK;
	if (constant->is_known && constant->literal.kind == CT_LITERAL_NUMBER)
		constant->is_number = parse_integer(constant->literal.text, constant->literal.size, &constant->number);
	return status;
}

/* What cannot be told here (LENGTH OF, NEXT) is complained about only where it is needed. */
static enum ctrace_status take_constant(struct parser *parser, const struct ct_token *name)
{
	struct constant constant = { .name = *name, .hash = ct_name_hash(name->at, name->size) };
	size_t from = parser->at, to = from;
	enum ctrace_status status;

	while (parser->words->at[to].kind != CT_TOKEN_PERIOD && parser->words->at[to].kind != CT_TOKEN_END)
		to++;
	if (from == to)
		return fail(parser, name, "78 name VALUE value.", "the constant %s has no value");
	status = to == from + 1 ? take_single(parser, &constant) : sum_up(parser, from, to, &constant);
	parser->at = to;
	return status == CTRACE_OK ? add_constant(parser, &constant) : status;
}

static enum ctrace_status take_integer(struct parser *parser, const char *expected, uint32_t *out)
{
	const struct ct_token *word = peek(parser);
	int64_t value = 0;

	if (word->kind != CT_TOKEN_WORD ||
	    (!parse_integer(word->at, word->size, &value) && !find_number(parser, word->at, word->size, &value)) || value < 0 ||
	    (uint64_t)value > CT_RECORD_LIMIT)
		return fail(parser, word, expected, "%s is not a number that fits here");
	parser->at++;
	*out = (uint32_t)value;
	return CTRACE_OK;
}

/* ---- clauses */

static bool is_clause(const struct parser *parser, const struct ct_token *word);

static enum ctrace_status take_redefines(struct parser *parser, struct ct_item *item)
{
	(void)item;
	if (peek(parser)->kind != CT_TOKEN_WORD)
		return fail(parser, peek(parser), "the name of a field", "REDEFINES %s");
	parser->redefines = *next(parser);
	return CTRACE_OK;
}

static enum ctrace_status take_picture(struct parser *parser, struct ct_item *item)
{
	struct ct_picture_context context = { find_number, parser, parser->scan->currency };
	struct ct_picture_error error;
	struct ct_token place;
	char *text;

	(void)accept(parser, "IS");
	place = *peek(parser);
	if (place.kind != CT_TOKEN_WORD)
		return fail(parser, &place, "a picture, such as X(10) or S9(5)V99", "PICTURE without a picture");
	parser->at++;
	if (!ct_picture_parse(place.at, place.size, &context, &item->form, &error)) {
		place.column = (uint16_t)(place.column + error.at);
		return fail(parser, &place, error.expected, error.message);
	}
	text = ct_scan_text(parser->scan, place.at, place.size);
	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_name_upper(text, place.size);
	item->picture = text;
	return CTRACE_OK;
}

static const struct usage {
	const char *word;
	enum ct_usage usage;
	uint8_t integer_size;
	bool is_unsigned;
} usages[] = {
	{ "DISPLAY", CT_USAGE_DISPLAY, 0, false },
	{ "NATIONAL", CT_USAGE_DISPLAY, 0, false },
	{ "DISPLAY-1", CT_USAGE_DISPLAY, 0, false },
	{ "COMP", CT_USAGE_BINARY, 0, false },
	{ "COMPUTATIONAL", CT_USAGE_BINARY, 0, false },
	{ "COMP-4", CT_USAGE_BINARY, 0, false },
	{ "COMPUTATIONAL-4", CT_USAGE_BINARY, 0, false },
	{ "BINARY", CT_USAGE_BINARY, 0, false },
	{ "COMP-5", CT_USAGE_NATIVE, 0, false },
	{ "COMPUTATIONAL-5", CT_USAGE_NATIVE, 0, false },
	{ "COMP-X", CT_USAGE_COMP_X, 0, false },
	{ "COMPUTATIONAL-X", CT_USAGE_COMP_X, 0, false },
	{ "COMP-3", CT_USAGE_PACKED, 0, false },
	{ "COMPUTATIONAL-3", CT_USAGE_PACKED, 0, false },
	{ "PACKED-DECIMAL", CT_USAGE_PACKED, 0, false },
	{ "COMP-6", CT_USAGE_PACKED_UNSIGNED, 0, false },
	{ "COMPUTATIONAL-6", CT_USAGE_PACKED_UNSIGNED, 0, false },
	{ "COMP-1", CT_USAGE_FLOAT, 0, false },
	{ "COMPUTATIONAL-1", CT_USAGE_FLOAT, 0, false },
	{ "FLOAT-SHORT", CT_USAGE_FLOAT, 0, false },
	{ "FLOAT-BINARY-32", CT_USAGE_FLOAT, 0, false },
	{ "COMP-2", CT_USAGE_DOUBLE, 0, false },
	{ "COMPUTATIONAL-2", CT_USAGE_DOUBLE, 0, false },
	{ "FLOAT-LONG", CT_USAGE_DOUBLE, 0, false },
	{ "FLOAT-BINARY-64", CT_USAGE_DOUBLE, 0, false },
	{ "INDEX", CT_USAGE_INDEX, 0, false },
	{ "POINTER", CT_USAGE_POINTER, 0, false },
	{ "PROCEDURE-POINTER", CT_USAGE_POINTER, 0, false },
	{ "PROGRAM-POINTER", CT_USAGE_POINTER, 0, false },
	{ "FUNCTION-POINTER", CT_USAGE_POINTER, 0, false },
	{ "BINARY-CHAR", CT_USAGE_INTEGER, 1, false },
	{ "BINARY-SHORT", CT_USAGE_INTEGER, 2, false },
	{ "BINARY-LONG", CT_USAGE_INTEGER, 4, false },
	{ "BINARY-INT", CT_USAGE_INTEGER, 4, false },
	{ "BINARY-DOUBLE", CT_USAGE_INTEGER, 8, false },
	{ "BINARY-LONG-LONG", CT_USAGE_INTEGER, 8, false },
	{ "BINARY-C-LONG", CT_USAGE_INTEGER, 8, false },
	{ "SIGNED-SHORT", CT_USAGE_INTEGER, 2, false },
	{ "SIGNED-INT", CT_USAGE_INTEGER, 4, false },
	{ "SIGNED-LONG", CT_USAGE_INTEGER, 8, false },
	{ "UNSIGNED-SHORT", CT_USAGE_INTEGER, 2, true },
	{ "UNSIGNED-INT", CT_USAGE_INTEGER, 4, true },
	{ "UNSIGNED-LONG", CT_USAGE_INTEGER, 8, true },
};

static const struct usage *find_usage(const struct ct_token *word)
{
	for (size_t i = 0; i < CT_COUNT(usages); i++)
		if (ct_token_is(word, usages[i].word))
			return &usages[i];
	return NULL;
}

static void set_usage(struct parser *parser, struct ct_item *item, const struct usage *usage)
{
	item->usage = (uint8_t)usage->usage;
	item->integer_size = usage->integer_size;
	if (usage->usage != CT_USAGE_INTEGER)
		return;
	item->form.is_signed = !usage->is_unsigned;
	if (accept(parser, "UNSIGNED"))
		item->form.is_signed = false;
	else
		(void)accept(parser, "SIGNED");
}

static enum ctrace_status take_usage(struct parser *parser, struct ct_item *item)
{
	const struct usage *usage;

	(void)accept(parser, "IS");
	usage = find_usage(peek(parser));
	if (usage != NULL) {
		parser->at++;
		set_usage(parser, item, usage);
		return CTRACE_OK;
	}
	if (peek(parser)->kind != CT_TOKEN_WORD)
		return fail(parser, peek(parser), "DISPLAY, COMP, COMP-3, COMP-5, INDEX, POINTER or the name of a type", "USAGE %s");
	parser->type = *next(parser);
	return CTRACE_OK;
}

static enum ctrace_status take_separate(struct parser *parser, struct ct_item *item, uint8_t sign)
{
	item->sign = sign;
	item->is_sign_separate = accept(parser, "SEPARATE");
	if (item->is_sign_separate)
		(void)accept(parser, "CHARACTER");
	return CTRACE_OK;
}

static enum ctrace_status take_leading(struct parser *parser, struct ct_item *item)
{
	return take_separate(parser, item, CT_SIGN_LEADING);
}

static enum ctrace_status take_trailing(struct parser *parser, struct ct_item *item)
{
	return take_separate(parser, item, CT_SIGN_TRAILING);
}

static enum ctrace_status take_sign(struct parser *parser, struct ct_item *item)
{
	(void)accept(parser, "IS");
	if (accept(parser, "LEADING"))
		return take_leading(parser, item);
	if (accept(parser, "TRAILING"))
		return take_trailing(parser, item);
	return fail(parser, peek(parser), "LEADING or TRAILING", "SIGN %s");
}

static enum ctrace_status take_depending(struct parser *parser, struct ct_item *item)
{
	(void)accept(parser, "ON");
	if (peek(parser)->kind != CT_TOKEN_WORD)
		return fail(parser, peek(parser), "the name of a field", "DEPENDING ON %s");
	item->depends_name = *next(parser);
	item->is_depending = true;
	while (accept(parser, "OF") || accept(parser, "IN")) {
		if (peek(parser)->kind != CT_TOKEN_WORD)
			return fail(parser, peek(parser), "the name of a group", "DEPENDING ON a field OF %s");
		if (item->depends_of.size == 0)
			item->depends_of = *peek(parser);
		parser->at++;
	}
	return CTRACE_OK;
}

static enum ctrace_status take_names(struct parser *parser, struct ct_item *item)
{
	static const char *const air[] = { "KEY", "BY" };

	(void)item;
	accept_any(parser, air, CT_COUNT(air));
	(void)accept(parser, "IS");
	while (peek(parser)->kind == CT_TOKEN_WORD && !is_clause(parser, peek(parser)))
		parser->at++;
	return CTRACE_OK;
}

static enum ctrace_status take_occurs(struct parser *parser, struct ct_item *item)
{
	enum ctrace_status status = take_integer(parser, "how often: a number or a level 78 with one", &item->occurs);

	if (status != CTRACE_OK)
		return status;
	item->occurs_least = item->occurs;
	if (accept(parser, "TO")) {
		status = take_integer(parser, "how often at most: a number or a level 78 with one", &item->occurs);
		if (status != CTRACE_OK)
			return status;
	} else if (item->occurs == 0) {
		return fail(parser, &parser->words->at[parser->at - 1], "1 or more", "OCCURS %s");
	}
	if (item->occurs == 0 || item->occurs_least > item->occurs)
		return fail(parser, &parser->words->at[parser->at - 1], "a number that is not less than the first",
			    "OCCURS at most %s");
	(void)accept(parser, "TIMES");
	return CTRACE_OK;
}

static enum ctrace_status take_sync(struct parser *parser, struct ct_item *item)
{
	static const char *const sides[] = { "LEFT", "RIGHT" };

	accept_any(parser, sides, CT_COUNT(sides));
	item->is_synchronized = true;
	return CTRACE_OK;
}

static enum ctrace_status take_just(struct parser *parser, struct ct_item *item)
{
	(void)item;
	(void)accept(parser, "RIGHT");
	return CTRACE_OK;
}

static enum ctrace_status take_blank(struct parser *parser, struct ct_item *item)
{
	static const char *const zeros[] = { "ZERO", "ZEROS", "ZEROES" };

	(void)accept(parser, "WHEN");
	accept_any(parser, zeros, CT_COUNT(zeros));
	item->is_blank_when_zero = true;
	return CTRACE_OK;
}

/* The first values of a field say nothing about its place. */
static enum ctrace_status take_value(struct parser *parser, struct ct_item *item)
{
	static const char *const air[] = { "IS", "ARE" };

	(void)item;
	accept_any(parser, air, CT_COUNT(air));
	if (peek(parser)->kind != CT_TOKEN_WORD && peek(parser)->kind != CT_TOKEN_LITERAL)
		return fail(parser, peek(parser), "a literal, a number, ZERO or SPACE", "VALUE without a value");
	do
		parser->at++;
	while (peek(parser)->kind == CT_TOKEN_LITERAL || (peek(parser)->kind == CT_TOKEN_WORD && !is_clause(parser, peek(parser))));
	return CTRACE_OK;
}

static enum ctrace_status take_external(struct parser *parser, struct ct_item *item)
{
	(void)item;
	if (accept(parser, "AS") && peek(parser)->kind == CT_TOKEN_LITERAL)
		parser->at++;
	return CTRACE_OK;
}

static enum ctrace_status take_air(struct parser *parser, struct ct_item *item)
{
	(void)parser;
	(void)item;
	return CTRACE_OK;
}

static enum ctrace_status take_typedef(struct parser *parser, struct ct_item *item)
{
	(void)accept(parser, "STRONG");
	item->is_type = true;
	return CTRACE_OK;
}

static enum ctrace_status take_type(struct parser *parser, struct ct_item *item)
{
	static const char *const air[] = { "TO", "AS" };

	(void)item;
	accept_any(parser, air, CT_COUNT(air));
	if (peek(parser)->kind != CT_TOKEN_WORD)
		return fail(parser, peek(parser), "the name of a type or field", "TYPE %s");
	parser->type = *next(parser);
	return CTRACE_OK;
}

static const struct {
	const char *word;
	clause *take;
} clauses[] = {
	{ "REDEFINES", take_redefines }, { "PIC", take_picture },     { "PICTURE", take_picture },
	{ "USAGE", take_usage },         { "SIGN", take_sign },       { "LEADING", take_leading },
	{ "TRAILING", take_trailing },   { "OCCURS", take_occurs },   { "DEPENDING", take_depending },
	{ "INDEXED", take_names },       { "ASCENDING", take_names }, { "DESCENDING", take_names },
	{ "KEY", take_names },           { "SYNC", take_sync },       { "SYNCHRONIZED", take_sync },
	{ "SYNCHRONISED", take_sync },   { "JUST", take_just },       { "JUSTIFIED", take_just },
	{ "BLANK", take_blank },         { "VALUE", take_value },     { "VALUES", take_value },
	{ "EXTERNAL", take_external },   { "GLOBAL", take_air },      { "VOLATILE", take_air },
	{ "BASED", take_air },           { "IS", take_air },          { "TYPEDEF", take_typedef },
	{ "TYPE", take_type },           { "SAME", take_type },
};

static clause *find_clause(const struct ct_token *word)
{
	for (size_t i = 0; i < CT_COUNT(clauses); i++)
		if (ct_token_is(word, clauses[i].word))
			return clauses[i].take;
	return NULL;
}

static uint32_t find_type(const struct parser *parser, const struct ct_token *name)
{
	uint32_t hash = ct_name_hash(name->at, name->size);

	for (uint32_t i = parser->copybook->item_count; i-- > 0;) {
		const struct ct_item *item = &parser->copybook->items[i];

		if (item->parent == CT_NO_ITEM && item->name_hash == hash &&
		    ct_name_equal(item->name, item->name_size, name->at, name->size))
			return i;
	}
	return CT_NO_ITEM;
}

static bool is_clause(const struct parser *parser, const struct ct_token *word)
{
	(void)parser;
	return find_clause(word) != NULL || find_usage(word) != NULL;
}

static enum ctrace_status fail_clause(struct parser *parser)
{
	const char *words[CT_COUNT(clauses) + CT_COUNT(usages)];
	const struct ct_token *word = peek(parser);
	const char *nearest;
	char expected[64];

	if (word->kind == CT_TOKEN_END)
		return fail(parser, word, "a period", "the last entry does not end");
	for (size_t i = 0; i < CT_COUNT(clauses); i++)
		words[i] = clauses[i].word;
	for (size_t i = 0; i < CT_COUNT(usages); i++)
		words[CT_COUNT(clauses) + i] = usages[i].word;
	nearest = ct_suggest((struct ct_span){ word->at, word->size }, words, CT_COUNT(words));
	if (nearest != NULL)
		(void)snprintf(expected, sizeof expected, "%s?", nearest);
	return fail(parser, word, nearest != NULL ? expected : "PIC, USAGE, OCCURS, REDEFINES, SIGN, VALUE or a period",
		    "unknown clause %s");
}

static enum ctrace_status take_clauses(struct parser *parser, struct ct_item *item)
{
	while (peek(parser)->kind != CT_TOKEN_PERIOD) {
		const struct ct_token *word = peek(parser);
		clause *take = find_clause(word);
		const struct usage *usage = find_usage(word);
		enum ctrace_status status = CTRACE_OK;
		uint32_t type;

		if (take != NULL) {
			parser->at++;
			status = take(parser, item);
		} else if (usage != NULL) {
			parser->at++;
			set_usage(parser, item, usage);
		} else {
			type = word->kind == CT_TOKEN_WORD ? find_type(parser, word) : CT_NO_ITEM;
			if (type == CT_NO_ITEM || !parser->copybook->items[type].is_type)
				return fail_clause(parser);
			parser->type = *next(parser);
		}
		if (status != CTRACE_OK)
			return status;
	}
	parser->at++;
	return CTRACE_OK;
}

/* ---- the tree */

static enum ctrace_status reserve_items(struct parser *parser, uint32_t more, const struct ct_token *place)
{
	struct ct_copybook *copybook = parser->copybook;

	if (copybook->item_count + more > CT_COPYBOOK_FIELDS)
		return fail(parser, place, "at most 8192", "the copybook has too many fields");
	if (copybook->item_count + more > copybook->item_capacity) {
		uint32_t capacity = (copybook->item_count + more) * 2;
		struct ct_item *grown = realloc(copybook->items, capacity * sizeof *grown);

		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		copybook->items = grown;
		copybook->item_capacity = capacity;
	}
	return CTRACE_OK;
}

static void close_to(struct parser *parser, uint8_t level)
{
	while (parser->open_count > 0) {
		struct ct_item *item = &parser->copybook->items[parser->open[parser->open_count - 1]];

		if (item->level < level)
			return;
		item->end = parser->copybook->item_count;
		parser->open_count--;
	}
}

static enum ctrace_status add_item(struct parser *parser, struct ct_item *item)
{
	struct ct_copybook *copybook = parser->copybook;
	uint32_t index = copybook->item_count;
	enum ctrace_status status = reserve_items(parser, 1, &item->place);

	if (status != CTRACE_OK)
		return status;
	if (parser->open_count > CT_COPYBOOK_DEPTH)
		return fail(parser, &item->place, "at most 49 levels", "%s stands too deep");
	item->parent = parser->open_count == 0 ? CT_NO_ITEM : parser->open[parser->open_count - 1];
	item->depth = (uint8_t)parser->open_count;
	item->end = index + 1;
	copybook->items[copybook->item_count++] = *item;
	parser->open[parser->open_count++] = index;
	return CTRACE_OK;
}

/* Fields that stand outside of any record are one, with the name of the file. */
static enum ctrace_status add_record(struct parser *parser, const struct ct_token *place)
{
	const char *path = parser->scan->files[0];
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;
	size_t size = strcspn(name, ".");
	char *text = ct_scan_text(parser->scan, size > 0 ? name : "RECORD", size > 0 ? size : 6);
	struct ct_item item = { .name = text,
				.picture = "",
				.name_size = (uint32_t)(size > 0 ? size : 6),
				.redefines = CT_NO_ITEM,
				.depends = CT_NO_ITEM,
				.slot = CT_NO_ITEM,
				.place = *place };

	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_name_upper(text, item.name_size);
	item.name_hash = ct_name_hash(text, item.name_size);
	return add_item(parser, &item);
}

static enum ctrace_status find_redefined(struct parser *parser, uint32_t index)
{
	struct ct_copybook *copybook = parser->copybook;
	struct ct_item *item = &copybook->items[index];
	uint32_t hash = ct_name_hash(parser->redefines.at, parser->redefines.size);

	for (uint32_t i = index; i-- > 0;) {
		const struct ct_item *other = &copybook->items[i];

		if (other->parent == item->parent && other->name_hash == hash &&
		    ct_name_equal(other->name, other->name_size, parser->redefines.at, parser->redefines.size)) {
			item->redefines = i;
			return CTRACE_OK;
		}
		if (i == item->parent)
			break;
	}
	return fail(parser, &parser->redefines, "a field of the same group, before this one", "REDEFINES %s, which is not there");
}

/* What the type has in it, once more, in this item. */
static enum ctrace_status copy_children(struct parser *parser, uint32_t type, uint32_t index)
{
	struct ct_copybook *copybook = parser->copybook;
	uint32_t count = copybook->items[type].end - type - 1, shift = index - type;
	int deeper = copybook->items[index].depth - copybook->items[type].depth;
	enum ctrace_status status = reserve_items(parser, count, &parser->type);

	if (status != CTRACE_OK)
		return status;
	for (uint32_t i = type + 1; i <= type + count; i++) {
		struct ct_item item = copybook->items[i];

		if (item.depth + deeper > (int)CT_COPYBOOK_DEPTH)
			return fail(parser, &parser->type, "at most 49 levels", "%s stands too deep");
		item.depth = (uint8_t)(item.depth + deeper);
		item.parent += shift;
		item.end += shift;
		if (item.redefines != CT_NO_ITEM)
			item.redefines += shift;
		copybook->items[copybook->item_count++] = item;
	}
	copybook->items[index].end = copybook->item_count;
	return CTRACE_OK;
}

static enum ctrace_status take_from_type(struct parser *parser, uint32_t index)
{
	struct ct_copybook *copybook = parser->copybook;
	uint32_t found = find_type(parser, &parser->type);
	const struct ct_item *type;
	struct ct_item *item;

	if (found == CT_NO_ITEM || (found <= index && index < copybook->items[found].end) || parser->open[0] == found)
		return fail(parser, &parser->type, "a usage, or a level 01 with TYPEDEF before this", "no type %s");
	type = &copybook->items[found];
	item = &copybook->items[index];
	if (item->picture[0] == '\0') {
		item->picture = type->picture;
		item->form = type->form;
	}
	if (item->usage == CT_USAGE_NONE) {
		item->usage = type->usage;
		item->integer_size = type->integer_size;
	}
	if (item->sign == CT_SIGN_NONE) {
		item->sign = type->sign;
		item->is_sign_separate = type->is_sign_separate;
	}
	item->first_condition = type->first_condition;
	item->condition_count = type->condition_count;
	return copy_children(parser, found, index);
}

/* ---- entries */

static enum ctrace_status take_data(struct parser *parser, const struct ct_token *level, uint8_t number, const struct ct_token *name)
{
	struct ct_item item = { .name = "FILLER",
				.picture = "",
				.name_size = 6,
				.redefines = CT_NO_ITEM,
				.depends = CT_NO_ITEM,
				.slot = CT_NO_ITEM,
				.level = number,
				.place = *level,
				.is_filler = true };
	enum ctrace_status status;

	if (name->size > 0)
		item.place = *name;
	if (name->size > 0 && !ct_token_is(name, "FILLER")) {
		item.is_filler = false;
		item.name = ct_scan_text(parser->scan, name->at, name->size);
		item.name_size = name->size;
		item.name_hash = ct_name_hash(name->at, name->size);
		if (item.name == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
	}
	parser->type = parser->redefines = (struct ct_token){ 0 };
	status = take_clauses(parser, &item);
	if (status != CTRACE_OK)
		return status;
	close_to(parser, number == LEVEL_ALONE ? 1 : number);
	if (number == LEVEL_ALONE)
		item.level = 1;
	if (parser->open_count == 0 && number != 1 && number != LEVEL_ALONE)
		status = add_record(parser, level);
	if (status == CTRACE_OK)
		status = add_item(parser, &item);
	if (status == CTRACE_OK && parser->redefines.size > 0)
		status = find_redefined(parser, parser->copybook->item_count - 1);
	if (status == CTRACE_OK && parser->type.size > 0)
		status = take_from_type(parser, parser->copybook->item_count - 1);
	return status;
}

static enum ctrace_status add_range(struct parser *parser, const struct ct_range *range)
{
	struct ct_copybook *copybook = parser->copybook;

	if (copybook->range_count == copybook->range_capacity) {
		uint32_t capacity = copybook->range_capacity == 0 ? 64 : copybook->range_capacity * 2;
		struct ct_range *grown = realloc(copybook->ranges, capacity * sizeof *grown);

		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		copybook->ranges = grown;
		copybook->range_capacity = capacity;
	}
	copybook->ranges[copybook->range_count++] = *range;
	return CTRACE_OK;
}

static enum ctrace_status add_condition(struct parser *parser, const struct ct_condition *condition, const struct ct_token *place)
{
	struct ct_copybook *copybook = parser->copybook;
	struct ct_item *item;

	if (copybook->item_count == 0 || parser->open_count == 0)
		return fail(parser, place, "a field before it", "level 88 %s belongs to nothing");
	if (copybook->condition_count == copybook->condition_capacity) {
		uint32_t capacity = copybook->condition_capacity == 0 ? 64 : copybook->condition_capacity * 2;
		struct ct_condition *grown;

		if (copybook->condition_count >= CT_COPYBOOK_FIELDS)
			return fail(parser, place, "at most 8192", "too many levels 88");
		grown = realloc(copybook->conditions, capacity * sizeof *grown);
		if (grown == NULL)
			return CTRACE_NOT_ENOUGH_MEMORY;
		copybook->conditions = grown;
		copybook->condition_capacity = capacity;
	}
	item = &copybook->items[parser->open[parser->open_count - 1]];
	if (item->condition_count == 0 || item->first_condition + item->condition_count != copybook->condition_count)
		item->first_condition = copybook->condition_count, item->condition_count = 0;
	copybook->conditions[copybook->condition_count++] = *condition;
	item->condition_count++;
	return CTRACE_OK;
}

static enum ctrace_status take_range(struct parser *parser, struct ct_condition *condition)
{
	struct ct_range range = { .is_number = false };
	enum ctrace_status status = take_literal(parser, &range.low);

	if (status != CTRACE_OK)
		return status;
	range.high = range.low;
	if (accept(parser, "THRU") || accept(parser, "THROUGH"))
		status = take_literal(parser, &range.high);
	if (status == CTRACE_OK)
		status = add_range(parser, &range);
	condition->range_count++;
	return status;
}

static void skip_entry(struct parser *parser)
{
	const struct ct_token *word;

	do
		word = next(parser);
	while (word->kind != CT_TOKEN_PERIOD && word->kind != CT_TOKEN_END);
}

static enum ctrace_status take_condition(struct parser *parser, const struct ct_token *name)
{
	static const char *const air[] = { "IS", "ARE" };
	struct ct_condition condition = { .name = ct_scan_text(parser->scan, name->at, name->size),
					  .first_range = parser->copybook->range_count };
	enum ctrace_status status = CTRACE_OK;

	if (condition.name == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (name->size == 0 || (!accept(parser, "VALUE") && !accept(parser, "VALUES")))
		return fail(parser, peek(parser), "88 name VALUE value.", "a level 88 without a name or VALUE");
	accept_any(parser, air, CT_COUNT(air));
	do
		status = take_range(parser, &condition);
	while (status == CTRACE_OK && peek(parser)->kind != CT_TOKEN_PERIOD && !ct_token_is(peek(parser), "WHEN") &&
	       !ct_token_is(peek(parser), "FALSE") && !ct_token_is(peek(parser), "IN") && peek(parser)->kind != CT_TOKEN_END);
	if (status != CTRACE_OK)
		return status;
	skip_entry(parser);
	return add_condition(parser, &condition, name);
}

static bool take_level(struct parser *parser, uint8_t *out)
{
	const struct ct_token *word = peek(parser);
	int64_t value;

	if (word->kind != CT_TOKEN_WORD || word->size > 2 || !parse_integer(word->at, word->size, &value))
		return false;
	if (value == 0 ||
	    (value > 49 && value != LEVEL_RENAMES && value != LEVEL_ALONE && value != LEVEL_CONSTANT && value != LEVEL_CONDITION))
		return false;
	parser->at++;
	*out = (uint8_t)value;
	return true;
}

static enum ctrace_status take_entry(struct parser *parser, const struct ct_token *level, uint8_t number)
{
	struct ct_token name = { .at = "" };
	enum ctrace_status status;

	/* TYPE is a name when what follows would not be one's type. */
	if (peek(parser)->kind == CT_TOKEN_WORD &&
	    (!is_clause(parser, peek(parser)) || (ct_token_is(peek(parser), "TYPE") && is_clause(parser, peek(parser) + 1))))
		name = *next(parser);
	switch (number) {
	case LEVEL_RENAMES:
		skip_entry(parser);
		return CTRACE_OK;
	case LEVEL_CONDITION:
		return take_condition(parser, &name);
	case LEVEL_CONSTANT:
		if (name.size == 0 || (!accept(parser, "VALUE") && !accept(parser, "VALUES")))
			return fail(parser, peek(parser), "78 name VALUE value.", "a level 78 without a name or VALUE");
		(void)accept(parser, "IS");
		break;
	default:
		if (name.size == 0 || !accept(parser, "CONSTANT"))
			return take_data(parser, level, number, &name);
		(void)accept(parser, "IS");
		(void)accept(parser, "GLOBAL");
		(void)accept(parser, "AS");
	}
	status = take_constant(parser, &name);
	if (status == CTRACE_OK)
		skip_entry(parser);
	return status;
}

/* What may stand around data.  Only the currency sign is of interest. */
static void skip_sentence(struct parser *parser)
{
	const struct ct_token *word;

	do {
		word = next(parser);
		if (ct_token_is(word, "CURRENCY")) {
			static const char *const air[] = { "SIGN", "IS" };

			accept_any(parser, air, CT_COUNT(air));
			(void)accept(parser, "IS");
			if (peek(parser)->kind == CT_TOKEN_LITERAL && peek(parser)->size == 1)
				parser->scan->currency = *peek(parser)->at;
		} else if (ct_token_is(word, "SYMBOL") && peek(parser)->kind == CT_TOKEN_LITERAL && peek(parser)->size == 1) {
			parser->scan->currency = *peek(parser)->at;
		}
	} while (word->kind != CT_TOKEN_PERIOD && word->kind != CT_TOKEN_END);
}

static bool skip_surroundings(struct parser *parser)
{
	static const char *const lines[] = { "EJECT", "SKIP1", "SKIP2", "SKIP3", "TITLE" };
	static const char *const sentences[] = { "DATA",    "FILE",          "FD",      "SD", "WORKING-STORAGE", "LOCAL-STORAGE",
						 "LINKAGE", "SPECIAL-NAMES", "CURRENCY" };

	for (size_t i = 0; i < CT_COUNT(lines); i++)
		if (accept(parser, lines[i])) {
			if (peek(parser)->kind == CT_TOKEN_LITERAL)
				parser->at++;
			if (peek(parser)->kind == CT_TOKEN_PERIOD)
				parser->at++;
			return true;
		}
	if (ct_token_is(peek(parser), "IDENTIFICATION") || ct_token_is(peek(parser), "ID") || ct_token_is(peek(parser), "ENVIRONMENT"))
		parser->is_before_data = true;
	else if (ct_token_is(peek(parser), "DATA"))
		parser->is_before_data = false;
	for (size_t i = 0; i < CT_COUNT(sentences); i++)
		if (parser->is_before_data || ct_token_is(peek(parser), sentences[i])) {
			skip_sentence(parser);
			return true;
		}
	if (peek(parser)->kind != CT_TOKEN_PERIOD)
		return false;
	parser->at++;
	return true;
}

enum ctrace_status ct_entries_parse(struct ct_scan *scan, const struct ct_tokens *words, struct ct_copybook *copybook)
{
	struct parser parser = { .scan = scan, .words = words, .copybook = copybook };
	enum ctrace_status status = CTRACE_OK;

	while (status == CTRACE_OK && peek(&parser)->kind != CT_TOKEN_END && !ct_token_is(peek(&parser), "PROCEDURE")) {
		struct ct_token level = *peek(&parser);
		uint8_t number;

		if (take_level(&parser, &number))
			status = take_entry(&parser, &level, number);
		else if (!skip_surroundings(&parser))
			status = fail(&parser, &level, "a level number: 01 to 49, 66, 77, 78 or 88", "%s begins no entry");
	}
	close_to(&parser, 0);
	free(parser.constants);
	return status;
}
