/*
 * parmlib.c - TRACEOPTS: a member of CTRACE_PARMLIB becomes requests, a request becomes a member's text.
 *
 * Called by CTRACE DEFINE, TRACE CT and `ctrace parmlib`, on any thread.  A member may hold any bytes: what is wrong is complained
 * about where it stands, and reading goes on with the next clause.  Each byte is looked at a fixed number of times, and nothing calls
 * itself.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "control/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WORD_SHOWN 20u     /* bytes of somebody's text in a message; escaped they are at most six times as many */
#define MOST_GROUPS 1024u  /* traces of a member: bounds what a hostile one takes of the program's memory */
#define MOST_SUB_PARENS 2u /* that are open in SUB(ASID(1)) */
#define PATH_SIZE 4096u
#define STORAGE_SHORT (CTRACE_RC_SYSTEM << 8 | CTRACE_RSN_STORAGE)

static const char clauses_expected[] = "ON, OFF, LIKEHEAD, PRESET, SUB, ASID, JOBNAME, BUFSIZE, OPTIONS, WTR, WTRSTART or WTRSTOP";

struct parser {
	const char *text; /* comments are blanks in it */
	const char *end;
	const char *at;
	const char *open_comment; /* one without an end, or NULL */
	struct ct_parmlib *out;
	uint32_t capacity;   /* of out->requests */
	size_t options_size; /* of the group's OPTIONS, also beyond what is kept */
	uint32_t reason;     /* the first mistake's; 0: none yet */
	ct_parmlib_complain *complain;
	void *user;
	const char *placed; /* line and line_start are known for it */
	const char *line_start;
	unsigned line;
};

struct keyword {
	const char *name;
	void (*parse)(struct parser *parser, const struct keyword *keyword, struct ct_span word);
	enum ct_clause clause;     /* of a group */
	enum ct_trace_state state; /* ON, OFF, LIKEHEAD */
	unsigned most;             /* values in its parentheses */
	uint32_t too_many;         /* reason for more */
	const char *expected;      /* instead of one more */
	void (*take)(struct parser *parser, struct ct_span value);
	bool needs_one; /* no value is taken as an empty one */
	bool has_parentheses;
};

/* ---- characters and spans ---- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_mark(char c)
{
	return c == '(' || c == ')' || c == ',' || c == '=' || c == '\'';
}

static bool is_control(char c)
{
	return ((unsigned char)c < ' ' && c != '\t') || c == 0x7F;
}

static struct ct_span span_of(const char *from, const char *to)
{
	return (struct ct_span){ from, (size_t)(to - from) };
}

static void skip_blanks(struct parser *parser)
{
	while (parser->at < parser->end && is_blank(*parser->at))
		parser->at++;
}

static bool is_at(const struct parser *parser, char c)
{
	return parser->at < parser->end && *parser->at == c;
}

static bool accept(struct parser *parser, char c)
{
	skip_blanks(parser);
	if (!is_at(parser, c))
		return false;
	parser->at++;
	return true;
}

static struct ct_span take_word(struct parser *parser)
{
	const char *start = parser->at;

	while (parser->at < parser->end && !is_blank(*parser->at) && !is_mark(*parser->at))
		parser->at++;
	return span_of(start, parser->at);
}

/* In parentheses a value may have more characters; whether it may, says its own parser. */
static struct ct_span take_value(struct parser *parser)
{
	const char *start = parser->at;

	while (parser->at < parser->end && !is_blank(*parser->at) && *parser->at != ',' && *parser->at != '(' && *parser->at != ')')
		parser->at++;
	return span_of(start, parser->at);
}

/* The quotation mark that closes the one at `open`.  It stands on the same line, so that one that was forgotten costs only that line.
 * NULL when there is none, and then *out_end is the line's end. */
static const char *quote_close(const char *open, const char *end, const char **out_end)
{
	const char *at = open + 1;

	while (at < end && *at != '\'' && *at != '\n')
		at++;
	*out_end = at;
	return at < end && *at == '\'' ? at : NULL;
}

/* ---- complaints ---- */

static void place(struct parser *parser, const char *at, unsigned *out_line, unsigned *out_column)
{
	for (; parser->placed < at; parser->placed++)
		if (*parser->placed == '\n') {
			parser->line++;
			parser->line_start = parser->placed + 1;
		}
	*out_line = parser->line;
	*out_column = (unsigned)(at - parser->line_start) + 1;
}

static void report(struct parser *parser, uint32_t reason, const char *at, struct ct_complaint *complaint)
{
	if (parser->reason == 0)
		parser->reason = reason;
	if (parser->complain == NULL)
		return;
	place(parser, at, &complaint->line, &complaint->column);
	parser->complain(reason, complaint, parser->user);
}

struct mistake {
	uint32_t reason;
	const char *at;
	struct ct_span word; /* or NULL */
	const char *what;
	const char *suggestion; /* or NULL */
	const char *expected;
};

/* `"word" what (did you mean suggestion?)` */
static void complain(struct parser *parser, const struct mistake *mistake)
{
	struct ct_complaint complaint = { 0 };
	struct ct_buf message;

	ct_buf_init(&message);
	if (mistake->word.at != NULL) {
		ct_buf_add_char(&message, '"');
		ct_escape_add(&message, mistake->word.at, mistake->word.size < WORD_SHOWN ? mistake->word.size : WORD_SHOWN);
		ct_buf_add_text(&message, mistake->word.size <= WORD_SHOWN ? "\" " : "...\" ");
	}
	ct_buf_add_text(&message, mistake->what);
	if (mistake->suggestion != NULL)
		ct_buf_add_format(&message, " (did you mean %s?)", mistake->suggestion);
	(void)snprintf(complaint.message, sizeof complaint.message, "%s", ct_buf_text(&message));
	(void)snprintf(complaint.expected, sizeof complaint.expected, "%s", mistake->expected);
	ct_buf_fini(&message);
	report(parser, mistake->reason, mistake->at, &complaint);
}

static void complain_word(struct parser *parser, uint32_t reason, struct ct_span word, const char *what, const char *expected)
{
	complain(parser, &(struct mistake){ .reason = reason, .at = word.at, .word = word, .what = what, .expected = expected });
}

static void complain_syntax(struct parser *parser, struct ct_span word, const char *what, const char *expected)
{
	complain_word(parser, CTRACE_RSN_MEMBER_SYNTAX, word, what, expected);
}

/* About whatever stands at the parser's place. */
static void complain_found(struct parser *parser, const char *expected)
{
	struct ct_span word = take_word(parser);

	parser->at = word.at;
	if (parser->at == parser->end) {
		complain(parser, &(struct mistake){ .reason = CTRACE_RSN_MEMBER_SYNTAX,
						    .at = parser->end,
						    .what = "the member ends here",
						    .expected = expected });
		return;
	}
	if (word.size == 0)
		word.size = 1;
	complain_syntax(parser, word, "is not expected here", expected);
}

static void complain_quote(struct parser *parser, const char *open, const char *line_end)
{
	complain_syntax(parser, span_of(open, line_end), "has no closing quotation mark on its line", "\"'\"");
}

/* ---- groups: one request a group ---- */

static struct ct_trace_request *group(const struct parser *parser)
{
	return &parser->out->requests[parser->out->count - 1];
}

static bool group_has(const struct parser *parser, enum ct_clause clause)
{
	return parser->out->count != 0 && group(parser)->has[clause];
}

/* False ends the parsing: there is no more memory, or too many are there. */
static bool group_add(struct parser *parser, const char *at)
{
	struct ct_parmlib *out = parser->out;

	if (out->count == MOST_GROUPS) {
		complain(parser, &(struct mistake){ .reason = CTRACE_RSN_PARMLIB,
						    .at = at,
						    .what = "this trace is one too many",
						    .expected = "at most 1024 in a member" });
		return false;
	}
	if (out->count == parser->capacity) {
		uint32_t capacity = parser->capacity == 0 ? 4 : parser->capacity * 2;
		struct ct_trace_request *requests = realloc(out->requests, capacity * sizeof *requests);

		if (requests == NULL) {
			parser->reason = STORAGE_SHORT;
			return false;
		}
		out->requests = requests;
		parser->capacity = capacity;
	}
	memset(&out->requests[out->count++], 0, sizeof *out->requests);
	return true;
}

/*
 * A group begins with SUB or with a state, unless all that the last one has are clauses that it began without; a state belongs to the
 * SUB before it.
 */
static bool begins_group(const struct parser *parser, enum ct_clause clause)
{
	if (parser->out->count == 0)
		return true;
	if (clause == CT_CLAUSE_STATE)
		return group_has(parser, CT_CLAUSE_STATE);
	return clause == CT_CLAUSE_SUB && (group_has(parser, CT_CLAUSE_SUB) || group_has(parser, CT_CLAUSE_STATE));
}

/* Notes the clause in the group that it belongs to, or begins.  False as group_add(). */
static bool group_clause(struct parser *parser, enum ct_clause clause, struct ct_span word)
{
	struct ct_trace_request *request;

	if (begins_group(parser, clause) && !group_add(parser, word.at)) {
		parser->at = parser->end;
		return false;
	}
	request = group(parser);
	if (request->has[clause])
		complain_syntax(parser, word, "is there already for this trace", "each clause once for a trace");
	request->has[clause] = true;
	place(parser, word.at, &request->place[clause].line, &request->place[clause].column);
	return true;
}

/* ---- the next clause after a mistake ---- */

static const struct keyword *keyword_find(struct ct_span word);

/* Does a clause begin with this word, which the parser has just taken?  In parentheses that were never closed, only one that has some
 * of its own is believed, and not where a value may stand. */
static bool begins_clause(struct parser *parser, struct ct_span word, unsigned depth, char before)
{
	const struct keyword *keyword = keyword_find(word);
	bool has_parentheses;

	if (keyword == NULL)
		return false;
	if (depth == 0)
		return true;
	has_parentheses = keyword->has_parentheses && (accept(parser, '='), accept(parser, '('));
	return has_parentheses && before != ',' && before != '(';
}

/* Goes to the next clause; depth: how many parentheses are open. */
static void skip_to_clause(struct parser *parser, unsigned depth)
{
	char before = '\0';

	for (skip_blanks(parser); parser->at < parser->end; skip_blanks(parser)) {
		const char *start = parser->at;
		struct ct_span word = take_word(parser);

		if (word.size != 0) {
			const char *word_end = parser->at;
			bool is_clause = begins_clause(parser, word, depth, before);

			parser->at = is_clause ? start : word_end;
			if (is_clause)
				return;
		} else if (*start == '\'') {
			const char *close = quote_close(start, parser->end, &parser->at);

			parser->at += close != NULL;
		} else {
			parser->at++;
			depth += *start == '(';
			if (*start == ')' && depth != 0 && --depth == 0)
				return;
		}
		before = *start;
	}
}

/* ---- values in parentheses ---- */

struct values {
	unsigned count;
	bool failed;
};

static bool values_open(struct parser *parser)
{
	(void)accept(parser, '=');
	if (accept(parser, '('))
		return true;
	complain_found(parser, "\"(\"");
	skip_to_clause(parser, 0);
	return false;
}

static bool values_fail(struct parser *parser, struct values *values, const char *expected)
{
	complain_found(parser, expected);
	skip_to_clause(parser, 1);
	values->failed = true;
	return false;
}

/* The next one; false past the last, behind the parenthesis, and after a mistake. */
static bool values_next(struct parser *parser, struct values *values, struct ct_span *out_value)
{
	if (accept(parser, ')'))
		return false;
	if (values->count != 0 && !accept(parser, ','))
		return values_fail(parser, values, "\",\" or \")\"");
	skip_blanks(parser);
	*out_value = take_value(parser);
	if (out_value->size == 0)
		return values_fail(parser, values, values->count == 0 ? "a value or \")\"" : "a value");
	values->count++;
	return true;
}

static void parse_values(struct parser *parser, const struct keyword *keyword)
{
	struct values values = { 0 };
	struct ct_span value;

	if (!values_open(parser))
		return;
	while (values_next(parser, &values, &value)) {
		if (values.count <= keyword->most)
			keyword->take(parser, value);
		else if (values.count == keyword->most + 1)
			complain_word(parser, keyword->too_many, value, "is one too many", keyword->expected);
	}
	if (keyword->needs_one && values.count == 0 && !values.failed)
		keyword->take(parser, span_of(parser->at - 1, parser->at - 1));
}

static void refuse_value(struct parser *parser, uint32_t reason, struct ct_span value)
{
	struct ct_complaint complaint;

	ct_trace_complain(reason, value, &complaint);
	report(parser, reason, value.at, &complaint);
}

static void take_asid(struct parser *parser, struct ct_span value)
{
	struct ct_trace_request *request = group(parser);
	uint32_t reason = ct_asid_parse(value.at, value.size, &request->asid[request->asid_count]);

	if (reason != 0)
		refuse_value(parser, reason, value);
	else
		request->asid_count++;
}

static void take_jobname(struct parser *parser, struct ct_span value)
{
	struct ct_trace_request *request = group(parser);
	uint32_t reason = ct_jobname_parse(value.at, value.size, request->jobname[request->jobname_count]);

	if (reason != 0)
		refuse_value(parser, reason, value);
	else
		request->jobname_count++;
}

static void take_bufsize(struct parser *parser, struct ct_span value)
{
	uint32_t reason = ct_bufsize_parse(value.at, value.size, &group(parser)->bufsize);

	if (reason != 0)
		refuse_value(parser, reason, value);
}

static void take_wtr(struct parser *parser, struct ct_span value)
{
	struct ct_trace_request *request = group(parser);
	uint32_t reason;

	request->disconnect = ct_name_is(value.at, value.size, "DISCONNECT");
	reason = request->disconnect ? 0 : ct_writer_parse(value.at, value.size, request->writer);
	if (reason != 0)
		refuse_value(parser, reason, value);
}

static void take_preset(struct parser *parser, struct ct_span value)
{
	static const char *const words[] = { "PUT", "DELETE" };
	struct ct_trace_request *request = group(parser);

	if (ct_name_is(value.at, value.size, "PUT"))
		request->state = CT_STATE_PRESET_PUT;
	else if (ct_name_is(value.at, value.size, "DELETE"))
		request->state = CT_STATE_PRESET_DELETE;
	else
		complain(parser, &(struct mistake){ CTRACE_RSN_MEMBER_SYNTAX, value.at, value, "is nothing that PRESET does",
						    ct_suggest(value, words, CT_COUNT(words)), "PUT or DELETE" });
}

static void take_wtrstart(struct parser *parser, struct ct_span value)
{
	uint32_t reason = ct_writer_parse(value.at, value.size, parser->out->wtrstart);

	if (reason != 0)
		refuse_value(parser, reason, value);
}

static void take_wtrstop(struct parser *parser, struct ct_span value)
{
	uint32_t reason = ct_jobname_parse(value.at, value.size, parser->out->wtrstop);

	if (reason != 0)
		refuse_value(parser, reason, value);
}

/* ---- OPTIONS ---- */

static void add_option_byte(struct parser *parser, char c)
{
	struct ct_trace_request *request = group(parser);

	if (parser->options_size < CTRACE_MAX_OPTIONS)
		request->options[parser->options_size] = c;
	parser->options_size++;
}

static void add_option_bytes(struct parser *parser, struct ct_span bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		add_option_byte(parser, bytes.at[i]);
}

/* '...' with '' for a quotation mark */
static bool read_quoted_option(struct parser *parser)
{
	const char *open = parser->at;

	for (;;) {
		const char *stop;
		const char *close = quote_close(parser->at, parser->end, &stop);

		if (close == NULL) {
			parser->at = stop;
			complain_quote(parser, open, stop);
			return false;
		}
		add_option_bytes(parser, span_of(parser->at + 1, close));
		parser->at = close + 1;
		if (!is_at(parser, '\''))
			return true;
		add_option_byte(parser, '\'');
	}
}

/* A part of an unquoted option that is in quotation marks is as it is. */
static bool read_quoted_part(struct parser *parser)
{
	const char *open = parser->at;
	const char *close = quote_close(open, parser->end, &parser->at);

	if (close == NULL) {
		complain_quote(parser, open, parser->at);
		return false;
	}
	parser->at = close + 1;
	add_option_bytes(parser, span_of(open, parser->at));
	return true;
}

/* LEVEL=255, or userid=(a, b): a comma or a blank ends it outside parentheses only; blanks and lines' ends within become one blank. */
static bool read_unquoted_option(struct parser *parser)
{
	const char *start = parser->at;
	unsigned depth = 0;

	while (parser->at < parser->end) {
		char c = *parser->at;

		if (depth == 0 && (c == ',' || c == ')' || is_blank(c)))
			break;
		if (c == '\'') {
			if (!read_quoted_part(parser))
				return false;
			continue;
		}
		if (is_blank(c)) {
			skip_blanks(parser);
			c = ' ';
		} else {
			parser->at++;
			depth += c == '(';
			depth -= c == ')';
		}
		add_option_byte(parser, c);
	}
	if (parser->at > start && depth == 0)
		return true;
	complain_found(parser, depth == 0 ? "an option" : "\")\"");
	return false;
}

/* Options are shown to people and given to C functions. */
static bool have_control(const struct ct_trace_request *request, size_t from, size_t to)
{
	for (size_t i = from; i < to && i < CTRACE_MAX_OPTIONS; i++)
		if (is_control(request->options[i]))
			return true;
	return false;
}

static bool read_option(struct parser *parser)
{
	const char *start = parser->at;
	size_t size_before = parser->options_size;
	bool is_read = is_at(parser, '\'') ? read_quoted_option(parser) : read_unquoted_option(parser);
	struct ct_span option = span_of(start, parser->at);

	if (!is_read)
		return false;
	if (size_before <= CTRACE_MAX_OPTIONS && parser->options_size > CTRACE_MAX_OPTIONS)
		complain_word(parser, CTRACE_RSN_OPTIONS_TOO_LONG, option, "makes the options too long",
			      "at most 1024 characters in all strings, with a comma between two");
	if (have_control(group(parser), size_before, parser->options_size))
		complain_syntax(parser, option, "has a control character", "text");
	return true;
}

static void read_options(struct parser *parser)
{
	bool is_first = true;

	if (accept(parser, ')'))
		return;
	do {
		if (!is_first)
			add_option_byte(parser, ',');
		is_first = false;
		skip_blanks(parser);
		if (!read_option(parser)) {
			skip_to_clause(parser, 1);
			return;
		}
	} while (accept(parser, ','));
	if (accept(parser, ')'))
		return;
	complain_found(parser, "\",\" or \")\"");
	skip_to_clause(parser, 1);
}

/* ---- clauses ---- */

static void parse_state(struct parser *parser, const struct keyword *keyword, struct ct_span word)
{
	if (group_clause(parser, CT_CLAUSE_STATE, word))
		group(parser)->state = keyword->state;
}

static void parse_preset(struct parser *parser, const struct keyword *keyword, struct ct_span word)
{
	if (!group_clause(parser, CT_CLAUSE_STATE, word))
		return;
	parse_values(parser, keyword);
}

static void parse_clause(struct parser *parser, const struct keyword *keyword, struct ct_span word)
{
	struct ct_trace_request *request;

	if (!group_clause(parser, keyword->clause, word))
		return;
	request = group(parser);
	if (keyword->clause == CT_CLAUSE_ASID)
		request->asid_count = 0;
	if (keyword->clause == CT_CLAUSE_JOBNAME)
		request->jobname_count = 0;
	parse_values(parser, keyword);
}

static void parse_options(struct parser *parser, const struct keyword *keyword, struct ct_span word)
{
	struct ct_trace_request *request;

	(void)keyword;
	if (!group_clause(parser, CT_CLAUSE_OPTIONS, word) || !values_open(parser))
		return;
	parser->options_size = 0;
	read_options(parser);
	request = group(parser);
	request->options_size = parser->options_size <= CTRACE_MAX_OPTIONS ? parser->options_size : CTRACE_MAX_OPTIONS;
	request->options[request->options_size] = '\0';
}

/* What is in SUB's parentheses.  Gives up where no path goes on, so that parentheses that never close cost no more than others. */
static bool read_sub(struct parser *parser, struct ct_span *out_path)
{
	const char *open = parser->at - 1;
	unsigned depth = 1;

	for (const char *at = open + 1; at < parser->end && depth <= MOST_SUB_PARENS; at++) {
		const char *quote = at;

		if (*at == '\'' && quote_close(quote, parser->end, &at) == NULL) {
			complain_quote(parser, quote, at);
			parser->at = at;
			return false;
		}
		depth += *at == '(';
		depth -= *at == ')';
		if (depth == 0) {
			*out_path = span_of(open + 1, at);
			parser->at = at + 1;
			return true;
		}
	}
	complain_syntax(parser, (struct ct_span){ open, 1 }, "is not closed", "SUB(path)");
	return false;
}

static void parse_sub(struct parser *parser, const struct keyword *keyword, struct ct_span word)
{
	struct ct_complaint complaint;
	struct ct_span path;
	uint32_t reason;

	(void)keyword;
	if (!group_clause(parser, CT_CLAUSE_SUB, word) || !values_open(parser))
		return;
	if (!read_sub(parser, &path)) {
		skip_to_clause(parser, 1);
		return;
	}
	reason = ct_sub_parse(path.at, path.size, &group(parser)->sub, &complaint);
	if (reason != 0)
		report(parser, reason, path.at + complaint.column - 1, &complaint);
}

static void parse_wtrstart(struct parser *parser, const struct keyword *keyword, struct ct_span word)
{
	const char *next;

	if (parser->out->wtrstart[0] != '\0')
		complain_syntax(parser, word, "is there already", "one WTRSTART in a member");
	parse_values(parser, keyword);
	skip_blanks(parser);
	next = parser->at;
	word = take_word(parser);
	parser->out->nowrap = ct_name_is(word.at, word.size, "NOWRAP");
	if (!parser->out->nowrap && !ct_name_is(word.at, word.size, "WRAP"))
		parser->at = next;
}

static void parse_wtrstop(struct parser *parser, const struct keyword *keyword, struct ct_span word)
{
	if (parser->out->wtrstop[0] != '\0')
		complain_syntax(parser, word, "is there already", "one WTRSTOP in a member");
	parse_values(parser, keyword);
}

/* Where it may stand, parse_wtrstart() has taken it. */
static void refuse_wrap(struct parser *parser, const struct keyword *keyword, struct ct_span word)
{
	(void)keyword;
	complain_syntax(parser, word, "does not follow WTRSTART", "WTRSTART(name) before it");
}

static void refuse_traceopts(struct parser *parser, const struct keyword *keyword, struct ct_span word)
{
	(void)keyword;
	complain_syntax(parser, word, "is there already", clauses_expected);
}

static const struct keyword keywords[] = {
	{ .name = "ON", .parse = parse_state, .state = CT_STATE_ON },
	{ .name = "OFF", .parse = parse_state, .state = CT_STATE_OFF },
	{ .name = "LIKEHEAD", .parse = parse_state, .state = CT_STATE_LIKEHEAD },
	{ .name = "PRESET",
	  .parse = parse_preset,
	  .has_parentheses = true,
	  .take = take_preset,
	  .needs_one = true,
	  .most = 1,
	  .too_many = CTRACE_RSN_MEMBER_SYNTAX,
	  .expected = "PRESET(PUT) or PRESET(DELETE)" },
	{ .name = "SUB", .parse = parse_sub, .has_parentheses = true },
	{ .name = "ASID",
	  .parse = parse_clause,
	  .clause = CT_CLAUSE_ASID,
	  .has_parentheses = true,
	  .take = take_asid,
	  .most = CTRACE_MAX_FILTER,
	  .too_many = CTRACE_RSN_TOO_MANY_ASIDS,
	  .expected = "at most 16 ASIDs" },
	{ .name = "JOBNAME",
	  .parse = parse_clause,
	  .clause = CT_CLAUSE_JOBNAME,
	  .has_parentheses = true,
	  .take = take_jobname,
	  .most = CTRACE_MAX_FILTER,
	  .too_many = CTRACE_RSN_TOO_MANY_JOBNAMES,
	  .expected = "at most 16 job names" },
	{ .name = "BUFSIZE",
	  .parse = parse_clause,
	  .clause = CT_CLAUSE_BUFSIZE,
	  .has_parentheses = true,
	  .take = take_bufsize,
	  .needs_one = true,
	  .most = 1,
	  .too_many = CTRACE_RSN_MEMBER_SYNTAX,
	  .expected = "one size" },
	{ .name = "OPTIONS", .parse = parse_options, .has_parentheses = true },
	{ .name = "WTR",
	  .parse = parse_clause,
	  .clause = CT_CLAUSE_WTR,
	  .has_parentheses = true,
	  .take = take_wtr,
	  .needs_one = true,
	  .most = 1,
	  .too_many = CTRACE_RSN_MEMBER_SYNTAX,
	  .expected = "WTR(name) or WTR(DISCONNECT)" },
	{ .name = "WTRSTART",
	  .parse = parse_wtrstart,
	  .has_parentheses = true,
	  .take = take_wtrstart,
	  .needs_one = true,
	  .most = 1,
	  .too_many = CTRACE_RSN_MEMBER_SYNTAX,
	  .expected = "one writer" },
	{ .name = "WTRSTOP",
	  .parse = parse_wtrstop,
	  .has_parentheses = true,
	  .take = take_wtrstop,
	  .needs_one = true,
	  .most = 1,
	  .too_many = CTRACE_RSN_MEMBER_SYNTAX,
	  .expected = "one job" },
	{ .name = "WRAP", .parse = refuse_wrap },
	{ .name = "NOWRAP", .parse = refuse_wrap },
	{ .name = "TRACEOPTS", .parse = refuse_traceopts },
};

static const struct keyword *keyword_find(struct ct_span word)
{
	for (size_t i = 0; i < CT_COUNT(keywords); i++)
		if (ct_name_is(word.at, word.size, keywords[i].name))
			return &keywords[i];
	return NULL;
}

static const char *keyword_suggest(struct ct_span word)
{
	const char *names[CT_COUNT(keywords)];

	for (size_t i = 0; i < CT_COUNT(keywords); i++)
		names[i] = keywords[i].name;
	return ct_suggest(word, names, CT_COUNT(names));
}

/* ---- members ---- */

/* A word that is no keyword, and what it has in parentheses. */
static void refuse_word(struct parser *parser, struct ct_span word)
{
	complain(parser, &(struct mistake){ CTRACE_RSN_MEMBER_SYNTAX, word.at, word, "is not a keyword", keyword_suggest(word),
					    clauses_expected });
	(void)accept(parser, '=');
	if (accept(parser, '('))
		skip_to_clause(parser, 1);
}

static void parse_next(struct parser *parser)
{
	const struct keyword *keyword;
	struct ct_span word = take_word(parser);

	if (word.size == 0) {
		complain_found(parser, clauses_expected);
		skip_to_clause(parser, 0);
		return;
	}
	keyword = keyword_find(word);
	if (keyword == NULL)
		refuse_word(parser, word);
	else
		keyword->parse(parser, keyword, word);
}

/* False when the text is something else altogether. */
static bool parse_head(struct parser *parser)
{
	const char *start;
	const char *suggestion;
	struct ct_span word;
	bool is_clause;

	skip_blanks(parser);
	if (parser->at == parser->end) {
		if (parser->open_comment == NULL)
			complain(parser, &(struct mistake){ .reason = CTRACE_RSN_PARMLIB,
							    .at = parser->text,
							    .what = "the member is empty",
							    .expected = "TRACEOPTS" });
		return false;
	}
	start = parser->at;
	word = take_word(parser);
	if (ct_name_is(word.at, word.size, "TRACEOPTS"))
		return true;
	suggestion = keyword_suggest(word);
	is_clause = keyword_find(word) != NULL;
	word.size += word.size == 0;
	complain(parser, &(struct mistake){ CTRACE_RSN_PARMLIB, start, word, "stands where TRACEOPTS begins a member",
					    is_clause ? NULL : suggestion, "TRACEOPTS" });
	if (is_clause)
		parser->at = start;
	return is_clause || suggestion != NULL;
}

static void parse_member(struct parser *parser)
{
	const struct ct_parmlib *out = parser->out;

	if (!parse_head(parser))
		return;
	for (skip_blanks(parser); parser->at < parser->end; skip_blanks(parser))
		parse_next(parser);
	if (parser->reason == 0 && parser->open_comment == NULL && out->count == 0 && out->wtrstart[0] == '\0' &&
	    out->wtrstop[0] == '\0')
		complain(parser, &(struct mistake){ .reason = CTRACE_RSN_PARMLIB,
						    .at = parser->end,
						    .what = "TRACEOPTS says nothing",
						    .expected = clauses_expected });
}

/* Blanks in place of comments, so that every place stays what it is.  What is in quotation marks is no comment.  Gives the one that has
 * no end, or NULL. */
static char *blank_comments(char *text, char *end)
{
	for (char *at = text; at < end; at++) {
		const char *stop = at;
		char *close;

		if (*at == '\'' && quote_close(at, end, &stop) != NULL) {
			at += stop - at;
			continue;
		}
		if (*at != '/' || at + 1 == end || at[1] != '*')
			continue;
		close = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
		if (close == NULL)
			return at;
		for (; at < close + 2; at++)
			if (*at != '\n')
				*at = ' ';
		at--;
	}
	return NULL;
}

static void parse_text(struct parser *parser, char *text, char *end)
{
	parser->open_comment = blank_comments(text, end);
	parser->text = text;
	parser->end = parser->open_comment != NULL ? parser->open_comment : end;
	parser->at = text;
	parser->placed = text;
	parser->line_start = text;
	parse_member(parser);
	if (parser->open_comment != NULL)
		complain_syntax(parser, (struct ct_span){ parser->open_comment, 2 }, "is not closed", "\"*/\"");
}

static void refuse_size(struct parser *parser, const char *text)
{
	parser->placed = text;
	parser->line_start = text;
	complain(parser, &(struct mistake){ .reason = CTRACE_RSN_MEMBER_TOO_LARGE,
					    .at = text + CT_PARMLIB_LIMIT,
					    .what = "the member is too large",
					    .expected = "at most 65536 bytes, comments included" });
}

uint32_t ct_parmlib_parse(const char *text, size_t size, struct ct_parmlib *out, ct_parmlib_complain *complain_to, void *user)
{
	struct parser parser = { .out = out, .complain = complain_to, .user = user, .line = 1 };
	size_t mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* what some editors put in front of UTF-8 */
	char *copy;

	*out = (struct ct_parmlib){ 0 };
	if (size > CT_PARMLIB_LIMIT) {
		refuse_size(&parser, text);
		return parser.reason;
	}
	copy = malloc(size + 1);
	if (copy == NULL)
		return STORAGE_SHORT;
	if (size != 0)
		memcpy(copy, text, size);
	parse_text(&parser, copy + mark, copy + size);
	free(copy);
	return parser.reason;
}

void ct_parmlib_fini(struct ct_parmlib *parmlib)
{
	free(parmlib->requests);
	*parmlib = (struct ct_parmlib){ 0 };
}

/* ---- the other way ---- */

static void print_sub(const struct ct_sub_path *path, struct ct_buf *out)
{
	const char *separator = "";

	ct_buf_add_text(out, "SUB(");
	for (uint32_t i = 0; i < path->count; i++) {
		const struct ct_sub_element *element = &path->element[i];

		ct_buf_add_text(out, separator);
		separator = ".";
		if (element->kind == CT_SUB_ASID)
			ct_buf_add_format(out, "ASID(%X)", (unsigned)element->asid);
		else if (element->kind == CT_SUB_JOBNAME)
			ct_buf_add_format(out, "JOBNAME(%s)", element->text);
		else if (element->text[strcspn(element->text, "abcdefghijklmnopqrstuvwxyz_")] != '\0')
			ct_buf_add_format(out, "'%s'", element->text);
		else
			ct_buf_add_text(out, element->text);
	}
	ct_buf_add_char(out, ')');
}

/* What SUB and the state come to, on one line; nothing when there is neither. */
static void print_state(const struct ct_trace_request *request, struct ct_buf *out)
{
	static const char *const names[] = { "", "ON", "OFF", "LIKEHEAD", "PRESET(PUT)", "PRESET(DELETE)" };

	if (!request->has[CT_CLAUSE_SUB] && request->state == CT_STATE_NONE)
		return;
	ct_buf_add_text(out, "    ");
	if (request->has[CT_CLAUSE_SUB])
		print_sub(&request->sub, out);
	if (request->has[CT_CLAUSE_SUB] && request->state != CT_STATE_NONE)
		ct_buf_add_char(out, ' ');
	ct_buf_add_text(out, names[request->state]);
	ct_buf_add_char(out, '\n');
}

static void print_asids(const struct ct_trace_request *request, struct ct_buf *out)
{
	ct_buf_add_text(out, "    ASID(");
	for (uint32_t i = 0; i < request->asid_count; i++)
		ct_buf_add_format(out, "%s%X", i == 0 ? "" : ",", (unsigned)request->asid[i]);
	ct_buf_add_text(out, ")\n");
}

static void print_jobnames(const struct ct_trace_request *request, struct ct_buf *out)
{
	ct_buf_add_text(out, "    JOBNAME(");
	for (uint32_t i = 0; i < request->jobname_count; i++)
		ct_buf_add_format(out, "%s%s", i == 0 ? "" : ",", request->jobname[i]);
	ct_buf_add_text(out, ")\n");
}

/* In kilobytes where four digits are enough; what is no whole number of them is rounded up. */
static void print_bufsize(uint64_t bytes, struct ct_buf *out)
{
	uint64_t kilobytes = (bytes + 1023) / 1024;

	if (kilobytes <= 9999)
		ct_buf_add_format(out, "    BUFSIZE(%lluK)\n", (unsigned long long)kilobytes);
	else
		ct_buf_add_format(out, "    BUFSIZE(%lluM)\n", (unsigned long long)((kilobytes + 1023) / 1024));
}

static void print_options(const struct ct_trace_request *request, struct ct_buf *out)
{
	ct_buf_add_text(out, "    OPTIONS(");
	if (request->options_size != 0)
		ct_buf_add_char(out, '\'');
	for (size_t i = 0; i < request->options_size; i++) {
		ct_buf_add_char(out, request->options[i]);
		if (request->options[i] == '\'')
			ct_buf_add_char(out, '\'');
	}
	if (request->options_size != 0)
		ct_buf_add_char(out, '\'');
	ct_buf_add_text(out, ")\n");
}

void ct_parmlib_print(const struct ct_trace_request *request, struct ct_buf *out)
{
	ct_buf_add_text(out, "TRACEOPTS\n");
	print_state(request, out);
	if (request->has[CT_CLAUSE_ASID])
		print_asids(request, out);
	if (request->has[CT_CLAUSE_JOBNAME])
		print_jobnames(request, out);
	if (request->has[CT_CLAUSE_BUFSIZE])
		print_bufsize(request->bufsize, out);
	if (request->has[CT_CLAUSE_OPTIONS])
		print_options(request, out);
	if (request->has[CT_CLAUSE_WTR])
		ct_buf_add_format(out, "    WTR(%s)\n", request->disconnect ? "DISCONNECT" : request->writer);
}

/* ---- files ---- */

/* The reason for a status of ct_os_read_file() and its errno; CTRACE_RSN_MEMBER_NOT_FOUND: look in the next folder. */
static uint32_t read_reason(enum ctrace_status status)
{
	switch (status) {
	case CTRACE_OK:
		return 0;
	case CTRACE_NOT_FOUND:
		return CTRACE_RSN_MEMBER_NOT_FOUND;
	case CTRACE_DENIED: /* or no regular file */
		return CTRACE_RSN_MEMBER_NOT_READABLE;
	case CTRACE_NOT_ENOUGH_MEMORY:
		return CTRACE_RSN_MEMBER_ALLOCATION;
	default:
		break;
	}
	if (errno == EFBIG)
		return CTRACE_RSN_MEMBER_TOO_LARGE;
	if (errno == ENAMETOOLONG)
		return CTRACE_RSN_MEMBER_NOT_FOUND;
	return errno == EMFILE || errno == ENFILE ? CTRACE_RSN_MEMBER_ALLOCATION : CTRACE_RSN_MEMBER_IO;
}

static bool is_folder(struct ct_span folder)
{
	char path[PATH_SIZE];
	struct stat info;

	(void)snprintf(path, sizeof path, "%.*s", (int)folder.size, folder.at);
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Of a colon-separated list; empty ones, which elsewhere mean the current folder, are passed over.  False at its end. */
static bool next_folder(const char **list, struct ct_span *out_folder)
{
	size_t size;

	*list += strspn(*list, ":");
	size = strcspn(*list, ":");
	*out_folder = (struct ct_span){ *list, size };
	*list += size;
	return size != 0;
}

/* Reads the first that is there, leaving its path in `path`. */
static uint32_t read_member(const char *member, const char *folders, struct ct_buf *out_text, char path[PATH_SIZE])
{
	bool has_folder = false;
	struct ct_span folder;

	while (next_folder(&folders, &folder)) {
		uint32_t reason;

		if (folder.size + 1 + strlen(member) >= PATH_SIZE)
			continue;
		(void)snprintf(path, PATH_SIZE, "%.*s/%s", (int)folder.size, folder.at, member);
		reason = read_reason(ct_os_read_file(path, CT_PARMLIB_LIMIT + 1, out_text));
		if (reason != CTRACE_RSN_MEMBER_NOT_FOUND)
			return reason;
		has_folder = has_folder || is_folder(folder);
	}
	path[0] = '\0';
	return has_folder ? CTRACE_RSN_MEMBER_NOT_FOUND : CTRACE_RSN_MEMBER_ALLOCATION;
}

uint32_t ct_parmlib_read(const char *member, struct ct_buf *out_text, char out_path[PATH_SIZE])
{
	const char *folders = ct_os_environment("CTRACE_PARMLIB");
	struct ct_buf text;
	uint32_t reason;

	out_path[0] = '\0';
	if (!ct_trace_name_is_valid(member, strlen(member)) || strncmp(member, "CT", 2) != 0)
		return CTRACE_RSN_MEMBER_NAME;
	if (folders == NULL)
		return CTRACE_RSN_MEMBER_ALLOCATION;
	ct_buf_init(&text);
	reason = read_member(member, folders, &text, out_path);
	if (reason == 0)
		ct_buf_add(out_text, text.data, text.size);
	ct_buf_fini(&text);
	return reason == 0 && out_text->failed ? CTRACE_RSN_MEMBER_ALLOCATION : reason;
}
