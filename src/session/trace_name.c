/*
 * trace_name.c - parses the names and numbers of component trace, or finds the error in them.
 *
 * Called by the member parser, by CTRACE DEFINE and DELETE and by commands, on any thread.  The
 * text may hold anything and need not be terminated.  Only the words of a diagnostic are allocated.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/trace_name.h"

#include <stdio.h>
#include <string.h>

#define MOST_ASID_DIGITS 4u
#define MOST_BUFSIZE_CHARS 5u
#define MOST_WRITER_CHARS 7u
#define MOST_KILOBYTES 9999u
#define MOST_MEGABYTES 2047u

static const char sub_expected[] =
	"1 to 18 of A-Z 0-9 $ @ #, no digit first (in quotation marks also a-z _), ASID(number) or JOBNAME(name)";

/* ---- characters ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* True for the first character of a name: a letter or a national character. */
static bool begins_name(char c)
{
	return (c >= 'A' && c <= 'Z') || c == '$' || c == '@' || c == '#';
}

static bool begins_quoted_name(char c)
{
	return begins_name(c) || (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_name(struct ct_span name, bool (*begins)(char c))
{
	if (name.size == 0 || !begins(name.at[0]))
		return false;
	for (size_t i = 1; i < name.size; i++)
		if (!begins(name.at[i]) && !is_digit(name.at[i]))
			return false;
	return true;
}

bool ct_trace_name_is_valid(const char *name, size_t size)
{
	return size <= CTRACE_MAX_NAME && is_name((struct ct_span){ name, size }, begins_name);
}

/* ---- diagnostics ---- */

/* Prints `"word" what`, or only `what` when word.at is NULL. */
static void diagnostic_describe(struct ct_diagnostic *out, struct ct_span word, const char *what,
				const char *expected)
{
	out->line = 0;
	out->column = 1;
	ct_diagnostic_set(out,
			  &(struct ct_finding){ .word = word, .what = what, .expected = expected });
}

void ct_trace_diagnose(uint32_t reason, struct ct_span text, struct ct_diagnostic *out)
{
	static const char asid[] = "1 to 4 hexadecimal digits, 1 to FFFF";
	static const char jobname[] =
		"a job name of 1 to 8 characters: no blank, comma, parenthesis, quotation mark, * or ?";
	static const char bufsize[] = "1K to 9999K or 1M to 2047M";
	static const struct {
		uint32_t reason;
		const char *what;
		const char *expected;
	} refusals[] = {
		{ CTRACE_RSN_ASID_NOT_HEX, "is not hexadecimal", asid },
		{ CTRACE_RSN_ASID_TOO_LONG, "is longer than 4 digits", asid },
		{ CTRACE_RSN_ASID_ZERO, "is zero", asid },
		{ CTRACE_RSN_JOBNAME_TOO_LONG, "is longer than 8 characters", jobname },
		{ CTRACE_RSN_PARMLIB, "is not a job name", jobname },
		{ CTRACE_RSN_BUFSIZE_TOO_LONG, "is longer than 5 characters", bufsize },
		{ CTRACE_RSN_BUFSIZE_UNIT, "does not end with K or M", bufsize },
		{ CTRACE_RSN_BUFSIZE_NOT_DECIMAL,
		  "is not a size from 1K to 9999K or from 1M to 2047M", bufsize },
		{ CTRACE_RSN_WTR_NAME, "is not a writer's name",
		  "1 to 7 of A-Z 0-9 $ @ #, no digit first" },
	};

	for (size_t i = 0; i < CT_COUNT(refusals); i++)
		if (refusals[i].reason == reason) {
			diagnostic_describe(out, text, refusals[i].what, refusals[i].expected);
			return;
		}
	diagnostic_describe(out, text, "is not a sublevel name", sub_expected);
}

/* ---- numbers and short names ---- */

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint32_t ct_asid_parse(const char *text, size_t size, uint16_t *out_asid)
{
	unsigned asid = 0;

	for (size_t i = 0; i < size; i++)
		if (hex_value(text[i]) < 0)
			return CTRACE_RSN_ASID_NOT_HEX;
	if (size == 0)
		return CTRACE_RSN_ASID_NOT_HEX;
	if (size > MOST_ASID_DIGITS)
		return CTRACE_RSN_ASID_TOO_LONG;
	for (size_t i = 0; i < size; i++)
		asid = asid << 4 | (unsigned)hex_value(text[i]);
	if (asid == 0)
		return CTRACE_RSN_ASID_ZERO;
	*out_asid = (uint16_t)asid;
	return 0;
}

/* A job here is a program.  Its name may have more characters than a name of the macro, except
 * those that end it in a list. */
static bool char_is_of_jobname(char c)
{
	/* Patterns are refused: `*` would be a job that does not exist, and would exclude every
	 * process. */
	return (unsigned char)c > ' ' && c != 0x7F && strchr(",()'\"*?", c) == NULL;
}

static void copy_upper(char out_name[CTRACE_MAX_NAME + 1], const char *text, size_t size)
{
	memset(out_name, 0, CTRACE_MAX_NAME + 1);
	memcpy(out_name, text, size);
	ct_name_upper(out_name, size);
}

uint32_t ct_jobname_parse(const char *text, size_t size, char out_jobname[CTRACE_MAX_NAME + 1])
{
	if (size > CTRACE_MAX_NAME)
		return CTRACE_RSN_JOBNAME_TOO_LONG;
	for (size_t i = 0; i < size; i++)
		if (!char_is_of_jobname(text[i]))
			return CTRACE_RSN_PARMLIB;
	if (size == 0)
		return CTRACE_RSN_PARMLIB;
	copy_upper(out_jobname, text, size);
	return 0;
}

uint32_t ct_bufsize_parse(const char *text, size_t size, uint64_t *out_bytes)
{
	char unit = size == 0 ? '\0' : text[size - 1];
	bool is_kilo = unit == 'K' || unit == 'k';
	uint64_t number = 0;

	if (size > MOST_BUFSIZE_CHARS)
		return CTRACE_RSN_BUFSIZE_TOO_LONG;
	if (!is_kilo && unit != 'M' && unit != 'm')
		return CTRACE_RSN_BUFSIZE_UNIT;
	for (size_t i = 0; i + 1 < size; i++) {
		if (!is_digit(text[i]))
			return CTRACE_RSN_BUFSIZE_NOT_DECIMAL;
		number = number * 10 + (unsigned)(text[i] - '0');
	}
	if (number == 0 || number > (is_kilo ? MOST_KILOBYTES : MOST_MEGABYTES))
		return CTRACE_RSN_BUFSIZE_NOT_DECIMAL;
	*out_bytes = number << (is_kilo ? 10 : 20);
	return 0;
}

uint32_t ct_writer_parse(const char *text, size_t size, char out_writer[CTRACE_MAX_NAME + 1])
{
	char name[CTRACE_MAX_NAME + 1];

	if (size > MOST_WRITER_CHARS)
		return CTRACE_RSN_WTR_NAME;
	copy_upper(name, text, size);
	if (!ct_trace_name_is_valid(name, size))
		return CTRACE_RSN_WTR_NAME;
	memcpy(out_writer, name, sizeof name);
	return 0;
}

/* ---- SUB ---- */

struct reader {
	const char *text;
	const char *at;
	const char *end;
	struct ct_diagnostic *diagnostic; /* or NULL */
};

static void reader_skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end && ct_is_blank(*reader->at))
		reader->at++;
}

static bool reader_is_at(const struct reader *reader, char c)
{
	return reader->at < reader->end && *reader->at == c;
}

static struct ct_span trim_end(struct ct_span span)
{
	while (span.size > 0 && ct_is_blank(span.at[span.size - 1]))
		span.size--;
	return span;
}

static uint32_t reader_refuse_at(const struct reader *reader, const char *at, struct ct_span word,
				 const char *what, const char *expected)
{
	if (reader->diagnostic != NULL) {
		diagnostic_describe(reader->diagnostic, word, what, expected);
		reader->diagnostic->column = (unsigned)(at - reader->text) + 1;
	}
	return CTRACE_RSN_SUB_NAME;
}

static uint32_t reader_refuse(const struct reader *reader, struct ct_span word, const char *what)
{
	return reader_refuse_at(reader, word.at, word, what, sub_expected);
}

static uint32_t reader_take_name(const struct reader *reader, struct ct_span name, bool is_quoted,
				 struct ct_sub_element *out)
{
	static const struct ct_span no_word;

	if (name.size == 0)
		return reader_refuse_at(reader, name.at, no_word, "a name is missing",
					sub_expected);
	if (name.size > CTRACE_MAX_SUB_NAME)
		return reader_refuse(reader, name, "is longer than 18 characters");
	if (!is_name(name, begins_quoted_name))
		return reader_refuse(reader, name, "is not a sublevel name");
	if (!is_quoted && !is_name(name, begins_name))
		return reader_refuse(reader, name,
				     "has lower case letters or _ outside quotation marks");
	out->kind = CT_SUB_NAME;
	memcpy(out->text, name.at, name.size);
	return 0;
}

static uint32_t reader_take_quoted(struct reader *reader, struct ct_sub_element *out)
{
	const char *open = reader->at;
	const char *close = memchr(open + 1, *open, (size_t)(reader->end - open) - 1);

	if (close == NULL)
		return reader_refuse_at(reader, open, ct_span_of(open, reader->end),
					"has no closing quotation mark", sub_expected);
	reader->at = close + 1;
	return reader_take_name(reader, ct_span_of(open + 1, close), true, out);
}

/* ASID(number) or JOBNAME(name); the reader stands at the parenthesis. */
static uint32_t reader_take_space(struct reader *reader, struct ct_span keyword,
				  struct ct_sub_element *out)
{
	bool is_asid = ct_name_is(keyword.at, keyword.size, "ASID");
	const char *close = memchr(reader->at, ')', (size_t)(reader->end - reader->at));
	struct ct_span value;
	uint32_t reason;

	if (!is_asid && !ct_name_is(keyword.at, keyword.size, "JOBNAME"))
		return reader_refuse(reader, keyword, "takes no parentheses");
	if (close == NULL)
		return reader_refuse(reader, ct_span_of(keyword.at, reader->end),
				     "has no closing parenthesis");
	reader->at++;
	reader_skip_blanks(reader);
	value = trim_end(ct_span_of(reader->at, close));
	reader->at = close + 1;
	out->kind = is_asid ? CT_SUB_ASID : CT_SUB_JOBNAME;
	reason = is_asid ? ct_asid_parse(value.at, value.size, &out->asid)
			 : ct_jobname_parse(value.at, value.size, out->text);
	if (reason != 0 && reader->diagnostic != NULL) {
		ct_trace_diagnose(reason, value, reader->diagnostic);
		reader->diagnostic->column = (unsigned)(value.at - reader->text) + 1;
	}
	return reason == CTRACE_RSN_PARMLIB ? CTRACE_RSN_SUB_NAME : reason;
}

static uint32_t reader_take_element(struct reader *reader, struct ct_sub_element *out)
{
	const char *start;
	struct ct_span word;

	reader_skip_blanks(reader);
	if (reader_is_at(reader, '\'') || reader_is_at(reader, '"'))
		return reader_take_quoted(reader, out);
	start = reader->at;
	while (reader->at < reader->end && !ct_is_blank(*reader->at) && *reader->at != '.' &&
	       *reader->at != '(')
		reader->at++;
	word = ct_span_of(start, reader->at);
	reader_skip_blanks(reader);
	return word.size != 0 && reader_is_at(reader, '(')
		       ? reader_take_space(reader, word, out)
		       : reader_take_name(reader, word, false, out);
}

uint32_t ct_sub_parse(const char *text, size_t size, struct ct_sub_path *out,
		      struct ct_diagnostic *diagnostic)
{
	struct reader reader = { text, text, text + size, diagnostic };
	struct ct_sub_path path;

	memset(&path, 0, sizeof path);
	for (;;) {
		uint32_t reason = reader_take_element(&reader, &path.element[path.count]);

		if (reason != 0)
			return reason;
		path.count++;
		reader_skip_blanks(&reader);
		if (reader.at == reader.end)
			break;
		if (*reader.at != '.')
			return reader_refuse(&reader, ct_span_of(reader.at, reader.end),
					     "is not expected here");
		if (path.count == CTRACE_MAX_SUB_LEVELS)
			return reader_refuse(&reader, ct_span_of(reader.at, reader.end),
					     "is more than 5 names");
		reader.at++;
	}
	*out = path;
	return 0;
}
