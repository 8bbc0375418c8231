/*
 * filter_scan.c - scans the text of a filter: words, marks and literals, and the first error in it.
 *
 * Called by the grammar, on one thread.  The text may be any bytes up to its terminator.  Each byte
 * is read a bounded number of times, and quotes in a diagnostic are escaped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/filter/filter_program.h"

#include <string.h>

/* -----------------------------------------------------------------------------------------------
 * Diagnostics: only the first is kept, since later ones may be its consequences
 */

static bool scan_diagnose(struct ct_filter_scan *scan, const char *at,
			  const struct ct_finding *finding)
{
	if (scan->status != CTRACE_OK)
		return false;
	scan->status = CTRACE_SYNTAX_ERROR;
	*scan->diagnostic = (struct ct_diagnostic){ .column = (unsigned)(at - scan->text) + 1 };
	ct_diagnostic_set(scan->diagnostic, finding);
	return false;
}

static bool scan_diagnose_at(struct ct_filter_scan *scan, const char *at, const char *message,
			     const char *expected)
{
	return scan_diagnose(scan, at,
			     &(struct ct_finding){ .what = message, .expected = expected });
}

bool ct_filter_diagnose(struct ct_filter_scan *scan, const struct ct_finding *finding)
{
	struct ct_finding bare = *finding;
	struct ct_span word = finding->word;

	if (word.size > 2 && (word.at[0] == '"' || word.at[0] == '\'') &&
	    word.at[0] == word.at[word.size - 1])
		bare.word = (struct ct_span){ word.at + 1, word.size - 2 };
	return scan_diagnose(scan, word.at, &bare);
}

bool ct_filter_diagnose_word(struct ct_filter_scan *scan, struct ct_span word, const char *what,
			     const char *expected)
{
	return ct_filter_diagnose(
		scan, &(struct ct_finding){ .word = word, .what = what, .expected = expected });
}

/* Returns the text that a message shows for the current position: a word, or one mark. */
static struct ct_span scan_next_span(const struct ct_filter_scan *scan)
{
	struct ct_filter_scan ahead = *scan;
	struct ct_span span = ct_filter_scan_name(&ahead);

	if (span.size == 0)
		span = (struct ct_span){ scan->at, scan->at < scan->end ? 1 : 0 };
	if (span.size == 1 && span.at + 1 < scan->end && strchr("=&|~.>", span.at[1]) != NULL &&
	    strchr("=!<>&|.", span.at[0]) != NULL)
		span.size = 2;
	return span;
}

bool ct_filter_diagnose_next(struct ct_filter_scan *scan, const char *expected)
{
	ct_filter_scan_blanks(scan);
	if (scan->at < scan->end)
		return ct_filter_diagnose_word(scan, scan_next_span(scan), "is not expected here",
					       expected);
	return scan_diagnose_at(scan, scan->end, "the expression ends here", expected);
}

bool ct_filter_no_memory(struct ct_filter_scan *scan)
{
	(void)scan_diagnose_at(scan, scan->at, ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY), "");
	scan->status = CTRACE_NOT_ENOUGH_MEMORY;
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * Words and marks
 */

bool ct_filter_scan_start(struct ct_filter_scan *scan, const char *text, uint64_t now_ns,
			  struct ct_filter *filter, struct ct_diagnostic *diagnostic)
{
	size_t size = strnlen(text, CT_FILTER_LENGTH + 1);

	*scan = (struct ct_filter_scan){ .text = text,
					 .at = text,
					 .end = text + size,
					 .diagnostic = diagnostic,
					 .filter = filter,
					 .now_ns = now_ns };
	if (size > CT_FILTER_LENGTH)
		return scan_diagnose_at(scan, text + CT_FILTER_LENGTH, "the expression is too long",
					"at most 65536 bytes");
	return true;
}

void ct_filter_scan_blanks(struct ct_filter_scan *scan)
{
	while (scan->at < scan->end && ct_is_blank(*scan->at))
		scan->at++;
}

bool ct_filter_scan_mark(struct ct_filter_scan *scan, const char *mark)
{
	size_t size = strlen(mark);

	ct_filter_scan_blanks(scan);
	if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, mark, size) != 0)
		return false;
	scan->at += size;
	return true;
}

static bool char_is_decimal(char c)
{
	return c >= '0' && c <= '9';
}

static bool char_is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || char_is_decimal(c) || c == '_';
}

struct ct_span ct_filter_scan_word(struct ct_filter_scan *scan)
{
	const char *start;

	ct_filter_scan_blanks(scan);
	for (start = scan->at; scan->at < scan->end && char_is_letter(*scan->at);)
		scan->at++;
	return ct_span_of(start, scan->at);
}

struct ct_span ct_filter_scan_name(struct ct_filter_scan *scan)
{
	const char *start = scan->at;

	for (; scan->at < scan->end; scan->at++)
		if (!char_is_letter(*scan->at) &&
		    ((unsigned char)*scan->at < 0x80 && strchr("-@#$", *scan->at) == NULL))
			break;
	return ct_span_of(start, scan->at);
}

bool ct_filter_scan_keyword(struct ct_filter_scan *scan, const char *word)
{
	struct ct_filter_scan ahead = *scan;
	struct ct_span next = ct_filter_scan_word(&ahead);

	if (!ct_name_is(next.at, next.size, word))
		return false;
	scan->at = ahead.at;
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * Texts in quotes
 */

static unsigned hex_value(char c)
{
	if (char_is_decimal(c))
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Decodes the escape sequence at `at`.  Returns its size, or 0 when it is unknown. */
static size_t escape_decode(const char *at, const char *end, char *out)
{
	static const char letters[] = "\\\"'nrt", meanings[] = "\\\"'\n\r\t";
	const char *letter = end - at >= 2 ? strchr(letters, at[1]) : NULL;

	if (letter != NULL && *letter != '\0') {
		*out = meanings[letter - letters];
		return 2;
	}
	if (end - at < 4 || at[1] != 'x' || hex_value(at[2]) > 15 || hex_value(at[3]) > 15)
		return 0;
	*out = (char)(hex_value(at[2]) << 4 | hex_value(at[3]));
	return 4;
}

/* Finds the quotation mark that closes the one at `at`.  Returns NULL when there is none. */
static const char *quote_find_end(const char *at, const char *end)
{
	char mark = *at++;

	for (; at < end && *at != mark; at++)
		at += *at == '\\' && at + 1 < end;
	return at < end ? at : NULL;
}

static bool scan_string(struct ct_filter_scan *scan, struct ct_literal *out)
{
	const char *start = scan->at, *end = quote_find_end(start, scan->end);
	size_t size = 0;
	char *text;

	if (end == NULL)
		return scan_diagnose_at(scan, start, "the text has no end",
					*start == '"' ? "another \"" : "another '");
	text = ct_filter_keep(scan->filter, (size_t)(end - start));
	if (text == NULL)
		return ct_filter_no_memory(scan);
	for (scan->at++; scan->at < end; size++) {
		size_t taken = 1;

		text[size] = *scan->at;
		if (*scan->at == '\\')
			taken = escape_decode(scan->at, end, &text[size]);
		if (taken == 0)
			return ct_filter_diagnose_word(
				scan, (struct ct_span){ scan->at, end - scan->at >= 2 ? 2 : 1 },
				"stands for nothing",
				"\\\\, \\\", \\', \\n, \\r, \\t or \\x and two digits");
		scan->at += taken;
	}
	scan->at = end + 1;
	text[size] = '\0';
	out->kind = CT_LITERAL_STRING;
	out->text = (struct ct_span){ text, size };
	out->span = ct_span_of(start, scan->at);
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * Numbers
 */

/* Whole numbers are capped here: larger ones only compare as larger. */
#define WIDE_LIMIT ((ct_wide)1 << 100)

static void wide_add_digit(ct_wide *value, unsigned base, unsigned digit)
{
	*value = *value < WIDE_LIMIT / 16 ? *value * (int)base + (int)digit : WIDE_LIMIT;
}

struct unit {
	const char *name;
	uint64_t ns;
};
static const struct unit units[] = { { "ns", 1 },           { "us", 1000 },
				     { "ms", 1000000 },     { "s", 1000000000 },
				     { "m", 60000000000u }, { "h", 3600000000000u } };

/* Scans the digits behind the point, as billionths; *out_is_more: further digits follow. */
static bool scan_fraction(struct ct_filter_scan *scan, uint64_t *out_billionths, bool *out_is_more)
{
	uint64_t unit = 100000000;

	*out_billionths = 0;
	*out_is_more = false;
	if (scan->end - scan->at < 2 || scan->at[0] != '.' || !char_is_decimal(scan->at[1]))
		return false;
	for (scan->at++; scan->at < scan->end && char_is_decimal(*scan->at);
	     scan->at++, unit /= 10) {
		*out_billionths += (uint64_t)(*scan->at - '0') * unit;
		*out_is_more = *out_is_more || (unit == 0 && *scan->at != '0');
	}
	return true;
}

/* Sets the number rounded down and up; whole is its part before the point. */
static void literal_set_bounds(struct ct_literal *out, ct_wide whole, bool is_between,
			       bool is_negative)
{
	out->floor = whole;
	out->ceil = is_between ? whole + 1 : whole;
	if (is_negative) {
		out->floor = -out->ceil;
		out->ceil = -whole;
	}
}

static bool scan_unit(struct ct_filter_scan *scan, struct ct_literal *out, ct_wide whole,
		      uint64_t billionths)
{
	struct ct_span unit = ct_filter_scan_name(scan);

	for (size_t i = 0; i < CT_COUNT(units); i++) {
		ct_wide part = (ct_wide)billionths * (ct_wide)units[i].ns;

		if (!ct_name_is(unit.at, unit.size, units[i].name))
			continue;
		if (whole > (ct_wide)(UINT64_MAX / units[i].ns))
			out->floor = out->ceil = WIDE_LIMIT;
		else
			literal_set_bounds(out, whole * (ct_wide)units[i].ns + part / 1000000000,
					   part % 1000000000 != 0, false);
		out->kind = CT_LITERAL_DURATION;
		return true;
	}
	return ct_filter_diagnose_word(scan, unit, "is no unit of time", "ns, us, ms, s, m or h");
}

static bool scan_decimal(struct ct_filter_scan *scan, struct ct_literal *out, bool is_negative)
{
	const char *digits = scan->at;
	bool is_more, has_fraction;
	uint64_t billionths;
	ct_wide whole = 0;

	for (; scan->at < scan->end && char_is_decimal(*scan->at); scan->at++)
		wide_add_digit(&whole, 10, (unsigned)(*scan->at - '0'));
	has_fraction = scan_fraction(scan, &billionths, &is_more);
	(void)ct_decimal_parse(digits, (size_t)(scan->at - digits), &out->decimal);
	out->decimal.is_negative = is_negative && out->decimal.count != 0;
	out->kind = CT_LITERAL_NUMBER;
	literal_set_bounds(out, whole, has_fraction && (billionths != 0 || is_more), is_negative);
	if (scan->at < scan->end && char_is_letter(*scan->at) && !is_negative)
		return scan_unit(scan, out, whole, billionths);
	return true;
}

/* digits: the position behind a 0x, or of digits without it. */
static bool scan_hexadecimal(struct ct_filter_scan *scan, struct ct_literal *out,
			     const char *digits, bool is_negative)
{
	ct_wide value = 0;

	for (scan->at = digits; scan->at < scan->end && hex_value(*scan->at) < 16; scan->at++)
		wide_add_digit(&value, 16, hex_value(*scan->at));
	if (scan->at == digits)
		return ct_filter_diagnose_next(scan, "hexadecimal digits");
	out->kind = CT_LITERAL_NUMBER;
	literal_set_bounds(out, value, false, is_negative);
	ct_decimal_set(&out->decimal, value > (ct_wide)UINT64_MAX ? UINT64_MAX : (uint64_t)value,
		       is_negative);
	return true;
}

static bool scan_has_hex_mark(const struct ct_filter_scan *scan)
{
	return scan->end - scan->at >= 2 && scan->at[0] == '0' && (scan->at[1] | 0x20) == 'x';
}

static bool scan_number(struct ct_filter_scan *scan, struct ct_literal *out)
{
	const char *start = scan->at;
	bool is_negative = *start == '-';

	scan->at += *start == '-' || *start == '+';
	if (scan->at == scan->end || !char_is_decimal(*scan->at)) {
		scan->at = start;
		return ct_filter_diagnose_next(scan, "a value");
	}
	if (scan_has_hex_mark(scan) ? !scan_hexadecimal(scan, out, scan->at + 2, is_negative)
				    : !scan_decimal(scan, out, is_negative))
		return false;
	out->span = ct_span_of(start, scan->at);
	if (scan->at < scan->end && (char_is_letter(*scan->at) || (unsigned char)*scan->at >= 0x80))
		return ct_filter_diagnose_next(scan, "a number to end here");
	return true;
}

bool ct_filter_scan_literal(struct ct_filter_scan *scan, struct ct_literal *out)
{
	out->kind = CT_LITERAL_NONE;
	ct_filter_scan_blanks(scan);
	if (scan->at == scan->end)
		return ct_filter_diagnose_next(scan, "a value");
	if (*scan->at == '"' || *scan->at == '\'')
		return scan_string(scan, out);
	if (char_is_decimal(*scan->at) || *scan->at == '-' || *scan->at == '+')
		return scan_number(scan, out);
	out->span = out->text = ct_filter_scan_word(scan);
	out->kind = CT_LITERAL_WORD;
	return out->span.size != 0 || ct_filter_diagnose_next(scan, "a value");
}

bool ct_filter_scan_hex(struct ct_filter_scan *scan, struct ct_literal *out)
{
	const char *start;

	out->kind = CT_LITERAL_NONE;
	ct_filter_scan_blanks(scan);
	start = scan->at;
	if (!scan_hexadecimal(scan, out, scan_has_hex_mark(scan) ? start + 2 : start, false))
		return false;
	out->span = ct_span_of(start, scan->at);
	if (scan->at < scan->end && char_is_letter(*scan->at))
		return ct_filter_diagnose_next(scan, "hexadecimal digits");
	return true;
}
