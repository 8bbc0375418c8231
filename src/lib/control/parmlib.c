/*
 * parmlib.c - TRACEOPTS: parses a member of CTRACE_PARMLIB into requests, one for each trace.
 *
 * Called by CTRACE DEFINE, TRACE CT and `ctrace parmlib`, on any thread.  A member may hold any
 * bytes.  An error is reported with its position, and parsing goes on with the next clause.  Each
 * byte is read a fixed number of times, and no function is recursive.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/parmlib.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TRACES 1024u /* of a member: limits the memory that a hostile member takes */
#define STORAGE_SHORT (CTRACE_RC_SYSTEM << 8 | CTRACE_RSN_STORAGE)

static const char clauses_expected[] =
	"ON, OFF, LIKEHEAD, PRESET, SUB, ASID, JOBNAME, BUFSIZE, OPTIONS, WTR, WTRSTART or WTRSTOP";

/* ---- the keywords ---- */

struct keyword;
typedef void parse_keyword(struct ct_parser *parser, const struct keyword *keyword,
			   struct ct_span word);
static parse_keyword clause_parse, wtrstart_parse, wtrstop_parse, keyword_refuse;

struct keyword {
	const char *name;
	parse_keyword *parse;
	enum ct_clause clause; /* clause_parse(): the clause of a trace */
	/* clause_parse(): the state of a keyword without parentheses */
	uint32_t state;
	/* parses the text in the parentheses; NULL: none allowed */
	bool (*read)(struct ct_parser *parser);
	const char *refusal; /* keyword_refuse() */
	const char *expected;
};

/* clang-format off */
static const struct keyword keywords[] = {
	{ "ON",        clause_parse,   CT_CLAUSE_STATE,   .state = CTRACE_CT_ON },
	{ "OFF",       clause_parse,   CT_CLAUSE_STATE,   .state = CTRACE_CT_OFF },
	{ "LIKEHEAD",  clause_parse,   CT_CLAUSE_STATE,   .state = CTRACE_CT_LIKEHEAD },
	{ "PRESET",    clause_parse,   CT_CLAUSE_STATE,   .read = ct_read_preset },
	{ "SUB",       clause_parse,   CT_CLAUSE_SUB,     .read = ct_read_sub },
	{ "ASID",      clause_parse,   CT_CLAUSE_ASID,    .read = ct_read_asid },
	{ "JOBNAME",   clause_parse,   CT_CLAUSE_JOBNAME, .read = ct_read_jobname },
	{ "BUFSIZE",   clause_parse,   CT_CLAUSE_BUFSIZE, .read = ct_read_bufsize },
	{ "OPTIONS",   clause_parse,   CT_CLAUSE_OPTIONS, .read = ct_read_options },
	{ "WTR",       clause_parse,   CT_CLAUSE_WTR,     .read = ct_read_wtr },
	{ "WTRSTART",  wtrstart_parse, .read = ct_read_wtrstart },
	{ "WTRSTOP",   wtrstop_parse,  .read = ct_read_wtrstop },
	/* Where these are allowed, other code parses them. */
	{ "WRAP",      keyword_refuse, .refusal = "does not follow WTRSTART", .expected = "WTRSTART(name) before it" },
	{ "NOWRAP",    keyword_refuse, .refusal = "does not follow WTRSTART", .expected = "WTRSTART(name) before it" },
	{ "TRACEOPTS", keyword_refuse, .refusal = "is there already",         .expected = clauses_expected },
};
/* clang-format on */

static const struct keyword *keyword_find(struct ct_span word)
{
	return ct_keywords_find(CT_KEYWORDS(keywords), word);
}

static const char *keyword_suggest(struct ct_span word)
{
	return ct_keywords_suggest(CT_KEYWORDS(keywords), word);
}

/* ---- the next clause after an error ---- */

/* True when a clause begins with the word that the parser has just passed.  Inside parentheses
 * that were never closed, the word must have parentheses of its own and must not be where a
 * value may be. */
static bool word_begins_clause(struct ct_parser *parser, struct ct_span word, unsigned depth,
			       char before)
{
	const struct keyword *keyword = keyword_find(word);

	if (keyword == NULL || depth == 0)
		return keyword != NULL;
	if (keyword->read == NULL || before == ',' || before == '(')
		return false;
	(void)ct_parser_accept(parser, '=');
	return ct_parser_accept(parser, '(');
}

/* Skips to the next clause, which is at the latest where the last of `depth` open parentheses is
 * closed. */
static void parser_skip_to_clause(struct ct_parser *parser, unsigned depth)
{
	char before = '\0';

	for (ct_parser_blanks(parser); parser->at < parser->end; ct_parser_blanks(parser)) {
		struct ct_span word = ct_parser_word(parser);

		if (word.size != 0) {
			if (word_begins_clause(parser, word, depth, before)) {
				parser->at = word.at;
				return;
			}
		} else if (*word.at == '\'') {
			(void)ct_parser_skip_quotation(parser);
		} else {
			parser->at++;
			depth += *word.at == '(';
			if (*word.at == ')' && depth != 0 && --depth == 0)
				return;
		}
		before = *word.at;
	}
}

/* ---- traces ---- */

static void member_refuse(struct ct_parser *parser, const char *at, const char *what,
			  const char *expected)
{
	ct_parser_diagnose(parser, &(struct ct_finding){ .at = at,
							 .what = what,
							 .expected = expected,
							 .code = CTRACE_RSN_PARMLIB });
}

/* True when a clause begins a new trace: the first clause; a state after another state; SUB
 * after either, since a state belongs to the SUB before it. */
static bool clause_begins_trace(const struct ct_parser *parser, enum ct_clause clause)
{
	const bool *has;

	if (ct_parser_member(parser)->count == 0)
		return true;
	has = ct_parser_trace(parser)->has;
	return (clause == CT_CLAUSE_STATE && has[CT_CLAUSE_STATE]) ||
	       (clause == CT_CLAUSE_SUB && (has[CT_CLAUSE_SUB] || has[CT_CLAUSE_STATE]));
}

/* False: too many traces, or no memory. */
static bool trace_add(struct ct_parser *parser, const char *at)
{
	struct ct_parmlib *out = ct_parser_member(parser);

	if (out->count == MOST_TRACES) {
		member_refuse(parser, at, "this trace is one too many", "at most 1024 in a member");
		return false;
	}
	if ((out->count & (out->count - 1)) ==
	    0) { /* the capacity is the next power of two, and it is used up */
		size_t room = out->count == 0 ? 1 : 2 * (size_t)out->count;
		struct ct_trace_request *requests = realloc(out->requests, room * sizeof *requests);

		if (requests == NULL) {
			parser->has_failed = true;
			parser->code = STORAGE_SHORT;
			return false;
		}
		out->requests = requests;
	}
	memset(&out->requests[out->count++], 0, sizeof *out->requests);
	return true;
}

/* Adds the clause to its trace, which may be a new one.  False ends the parsing. */
static bool clause_add(struct ct_parser *parser, enum ct_clause clause, struct ct_span word)
{
	struct ct_trace_request *trace;

	if (clause_begins_trace(parser, clause) && !trace_add(parser, word.at)) {
		parser->at = parser->end;
		return false;
	}
	trace = ct_parser_trace(parser);
	if (trace->has[clause])
		ct_parser_diagnose_word(parser, word, "is there already for this trace",
					"each clause once for a trace");
	trace->has[clause] = true;
	ct_parser_place(parser, word.at, &trace->place[clause].line, &trace->place[clause].column);
	return true;
}

/* OFF stands alone: the reference allows no other clause beside it.  Called with the later word of
 * the two. */
static void clause_check_off(struct ct_parser *parser, struct ct_span word)
{
	const struct ct_trace_request *trace = ct_parser_trace(parser);
	bool has_more = trace->has[CT_CLAUSE_ASID] || trace->has[CT_CLAUSE_JOBNAME] ||
			trace->has[CT_CLAUSE_BUFSIZE] || trace->has[CT_CLAUSE_OPTIONS] ||
			trace->has[CT_CLAUSE_WTR];

	if (trace->state == CTRACE_CT_OFF && has_more)
		ct_parser_diagnose_word(parser, word,
					ct_name_is(word.at, word.size, "OFF")
						? "does not go with other values"
						: "does not go with OFF",
					"OFF alone, or with SUB");
}

/* ---- clauses ---- */

static void parentheses_parse(struct ct_parser *parser, const struct keyword *keyword)
{
	(void)ct_parser_accept(parser, '=');
	if (!ct_parser_accept(parser, '(')) {
		ct_parser_diagnose_found(parser, "\"(\"");
		parser_skip_to_clause(parser, 0);
	} else if (!keyword->read(parser)) {
		parser_skip_to_clause(parser, 1);
	}
}

static void clause_parse(struct ct_parser *parser, const struct keyword *keyword,
			 struct ct_span word)
{
	if (!clause_add(parser, keyword->clause, word))
		return;
	if (keyword->read == NULL)
		ct_parser_trace(parser)->state = keyword->state;
	clause_check_off(parser, word);
	if (keyword->read != NULL)
		parentheses_parse(parser, keyword);
}

static void wtrstart_parse(struct ct_parser *parser, const struct keyword *keyword,
			   struct ct_span word)
{
	if (ct_parser_member(parser)->wtrstart[0] != '\0')
		ct_parser_diagnose_word(parser, word, "is there already",
					"one WTRSTART in a member");
	parentheses_parse(parser, keyword);
	ct_parser_member(parser)->nowrap = ct_parser_accept_word(parser, "NOWRAP");
	if (!ct_parser_member(parser)->nowrap)
		(void)ct_parser_accept_word(parser, "WRAP");
}

static void wtrstop_parse(struct ct_parser *parser, const struct keyword *keyword,
			  struct ct_span word)
{
	if (ct_parser_member(parser)->wtrstop[0] != '\0')
		ct_parser_diagnose_word(parser, word, "is there already",
					"one WTRSTOP in a member");
	parentheses_parse(parser, keyword);
}

static void keyword_refuse(struct ct_parser *parser, const struct keyword *keyword,
			   struct ct_span word)
{
	ct_parser_diagnose_word(parser, word, keyword->refusal, keyword->expected);
}

/* Refuses a word that is no keyword, and skips its parentheses. */
static void word_refuse(struct ct_parser *parser, struct ct_span word)
{
	ct_parser_diagnose(parser, &(struct ct_finding){ .word = word,
							 .what = "is not a keyword",
							 .meant = keyword_suggest(word),
							 .expected = clauses_expected });
	(void)ct_parser_accept(parser, '=');
	if (ct_parser_accept(parser, '('))
		parser_skip_to_clause(parser, 1);
}

/* ---- members ---- */

static void parser_parse_next(struct ct_parser *parser)
{
	struct ct_span word = ct_parser_word(parser);
	const struct keyword *keyword = keyword_find(word);

	if (keyword != NULL) {
		keyword->parse(parser, keyword, word);
	} else if (word.size != 0) {
		word_refuse(parser, word);
	} else {
		ct_parser_diagnose_found(parser, clauses_expected);
		parser_skip_to_clause(parser, 0);
	}
}

/* False when the text is not a member at all. */
static bool head_parse(struct ct_parser *parser, bool is_comment_open)
{
	const char *start = parser->at;
	const char *suggestion;
	struct ct_span word;
	bool is_clause;

	if (ct_parser_accept_word(parser, "TRACEOPTS"))
		return true;
	if (parser->at == parser->end) {
		if (!is_comment_open)
			member_refuse(parser, start, "the member is empty", "TRACEOPTS");
		return false;
	}
	word = ct_parser_word(parser);
	is_clause = keyword_find(word) != NULL;
	suggestion = is_clause ? NULL : keyword_suggest(word);
	if (is_clause)
		parser->at = word.at;
	word.size += word.size == 0; /* a single mark */
	ct_parser_diagnose(parser,
			   &(struct ct_finding){ .word = word,
						 .what = "stands where TRACEOPTS begins a member",
						 .meant = suggestion,
						 .expected = "TRACEOPTS",
						 .code = CTRACE_RSN_PARMLIB });
	return is_clause || suggestion != NULL;
}

/* open_comment: at the text's end; or NULL. */
static void member_parse(struct ct_parser *parser, const char *open_comment)
{
	const struct ct_parmlib *out = ct_parser_member(parser);

	if (head_parse(parser, open_comment != NULL))
		for (ct_parser_blanks(parser); parser->at < parser->end; ct_parser_blanks(parser))
			parser_parse_next(parser);
	if (open_comment != NULL)
		ct_parser_diagnose_word(parser, (struct ct_span){ open_comment, 2 },
					"is not closed", "\"*/\"");
	else if (!parser->has_failed && out->count == 0 && out->wtrstart[0] == '\0' &&
		 out->wtrstop[0] == '\0')
		member_refuse(parser, parser->end, "TRACEOPTS says nothing", clauses_expected);
}

#define SEQUENCE_COLUMN 72u /* from 0; a line with a sequence number has 80 columns */
#define NUMBERED_LINE 80u

static bool line_is_numbered(const char *line, size_t size)
{
	if (size != NUMBERED_LINE)
		return false;
	for (size_t i = SEQUENCE_COLUMN; i < NUMBERED_LINE; i++)
		if (line[i] < '0' || line[i] > '9')
			return false;
	return true;
}

/* Blanks columns 73 to 80 when each line has a sequence number there.  One line without a number
 * shows that the digits at the end of other lines are text. */
static void sequence_numbers_blank(char *text, size_t size)
{
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t at = 0; at < size;) {
			const char *end = memchr(text + at, '\n', size - at);
			size_t whole = end != NULL ? (size_t)(end - (text + at)) : size - at;
			size_t line = whole > 0 && text[at + whole - 1] == '\r' ? whole - 1 : whole;

			if (pass == 0 && line != 0 && !line_is_numbered(text + at, line))
				return;
			if (pass != 0 && line != 0)
				memset(text + at + SEQUENCE_COLUMN, ' ',
				       NUMBERED_LINE - SEQUENCE_COLUMN);
			at += whole + 1;
		}
}

uint32_t ct_parmlib_parse(const char *text, size_t size, struct ct_parmlib *out,
			  ct_diagnose *diagnose, void *user)
{
	struct ct_parser parser;
	/* the mark that some editors put before UTF-8 */
	size_t mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
	const char *open_comment;
	char *copy;

	*out = (struct ct_parmlib){ 0 };
	copy = calloc(1, size + 1);
	if (copy == NULL)
		return STORAGE_SHORT;
	if (size != 0)
		memcpy(copy, text, size);
	ct_parser_start(&parser, copy + mark, size - mark, "the member");
	parser.usual = CTRACE_RSN_MEMBER_SYNTAX;
	parser.take = diagnose;
	parser.user = user;
	parser.out = out;
	if (size > CT_PARMLIB_LIMIT) {
		ct_parser_diagnose(
			&parser,
			&(struct ct_finding){ .at = copy + CT_PARMLIB_LIMIT,
					      .what = "the member is too large",
					      .expected = "at most 65536 bytes, comments included",
					      .code = CTRACE_RSN_MEMBER_TOO_LARGE });
	} else {
		sequence_numbers_blank(copy + mark, size - mark);
		open_comment = ct_comments_blank(copy + mark, copy + size);
		if (open_comment != NULL)
			parser.end = open_comment;
		member_parse(&parser, open_comment);
	}
	free(copy);
	return parser.code;
}

void ct_parmlib_fini(struct ct_parmlib *parmlib)
{
	free(parmlib->requests);
	*parmlib = (struct ct_parmlib){ 0 };
}
