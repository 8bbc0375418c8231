/*
 * ipcs_values.c - what stands in an operand's parentheses: times, numbers and ranges, names.
 *
 * Called by ipcs_parse.c, on the thread that asked.  A value that is none is reported about; what
 * was stored by then is freed with the command.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include "session/trace_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define US_PER_SECOND 1000000u
#define LIMIT_DIGITS 8u

/* ---- times ---- */

static const char time_expected[] = "mm/dd/yy,hh.mm.ss.dddddd";

/* Reads at most `most` digits.  Returns false when there are none, or more. */
static bool digits_take(const char **at, const char *end, unsigned most, int *out_value,
			unsigned *out_count)
{
	unsigned count = 0;
	int value = 0;

	while (*at < end && **at >= '0' && **at <= '9' && count <= most) {
		value = value * 10 + (**at - '0');
		(*at)++;
		count++;
	}
	*out_value = value;
	*out_count = count;
	return count != 0 && count <= most;
}

static bool mark_take(const char **at, const char *end, const char *marks)
{
	if (*at == end || strchr(marks, **at) == NULL || **at == '\0')
		return false;
	(*at)++;
	return true;
}

static bool date_take(const char **at, const char *end, struct ct_ipcs_time *out)
{
	unsigned digits;

	if (!digits_take(at, end, 2, &out->month, &digits) || !mark_take(at, end, "/") ||
	    !digits_take(at, end, 2, &out->day, &digits) || !mark_take(at, end, "/") ||
	    !digits_take(at, end, 4, &out->year, &digits))
		return false;
	if (digits != 2 && digits != 4)
		return false;
	if (digits == 2)
		out->year += out->year < 70 ? 2000 : 1900;
	return out->month >= 1 && out->month <= 12 && out->day >= 1 && out->day <= 31 &&
	       out->year >= 1970;
}

/* Reads hh.mm.ss.dddddd, also with colons; trailing parts are optional. */
static bool clock_take(const char **at, const char *end, struct ct_ipcs_time *out)
{
	unsigned digits;

	if (!digits_take(at, end, 2, &out->hour, &digits) || !mark_take(at, end, ".:") ||
	    !digits_take(at, end, 2, &out->minute, &digits))
		return false;
	if (*at != end &&
	    (!mark_take(at, end, ".:") || !digits_take(at, end, 2, &out->second, &digits)))
		return false;
	if (*at != end) {
		if (!mark_take(at, end, ".:") ||
		    !digits_take(at, end, 6, &out->microsecond, &digits))
			return false;
		for (; digits < 6; digits++)
			out->microsecond *= 10;
	}
	return out->hour <= 23 && out->minute <= 59 && out->second <= 59;
}

void ct_ipcs_read_time(struct ct_parser *scan, struct ct_span group, struct ct_ipcs_time *out)
{
	const char *end = group.at + group.size;
	const char *at = group.at;
	struct ct_ipcs_time time_bound = { .is_given = true, .word = group };
	bool is_time = date_take(&at, end, &time_bound);

	if (is_time && at < end) {
		is_time = *at == ',' || ct_is_blank(*at);
		while (at < end && (*at == ',' || ct_is_blank(*at)))
			at++;
		is_time = is_time && clock_take(&at, end, &time_bound);
	}
	if (!is_time || at != end)
		ct_ipcs_diagnose(scan, CT_ITT_NONE, group, "is no time", time_expected);
	else
		*out = time_bound;
}

bool ct_ipcs_time_us(const struct ct_ipcs_time *time_bound, bool is_local, uint64_t *out_us)
{
	struct tm parts = {
		.tm_year = time_bound->year - 1900,
		.tm_mon = time_bound->month - 1,
		.tm_mday = time_bound->day,
		.tm_hour = time_bound->hour,
		.tm_min = time_bound->minute,
		.tm_sec = time_bound->second,
		.tm_isdst = -1,
	};
	time_t seconds = is_local ? mktime(&parts) : timegm(&parts);

	/* A 30th of February would silently become a day of March. */
	if (parts.tm_mday != time_bound->day || seconds < 0)
		return false;
	*out_us = (uint64_t)seconds * US_PER_SECOND + (unsigned)time_bound->microsecond;
	return true;
}

/* ---- numbers ---- */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 1F, X'1F', or F'31'. */
static bool parse_number(struct ct_span word, uint32_t *out)
{
	bool is_decimal = false;
	uint64_t value = 0;

	if (word.size > 3 && word.at[1] == '\'' && word.at[word.size - 1] == '\'' &&
	    strchr("xXfF", word.at[0]) != NULL) {
		is_decimal = word.at[0] == 'f' || word.at[0] == 'F';
		word = (struct ct_span){ word.at + 2, word.size - 3 };
	}
	for (size_t i = 0; i < word.size; i++) {
		int digit = hex_value(word.at[i]);

		if (digit < 0 || (is_decimal && digit > 9))
			return false;
		value = value * (is_decimal ? 10 : 16) + (unsigned)digit;
		if (value > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)value;
	return word.size != 0;
}

/* Returns the position of the range's mark; NULL for a single number. */
static const char *range_mark(struct ct_span word)
{
	const char *mark = memchr(word.at, ':', word.size);

	return mark != NULL ? mark : memchr(word.at, '-', word.size);
}

static bool parse_range(struct ct_span word, struct ct_ipcs_range *out)
{
	const char *mark = range_mark(word);

	if (mark == NULL) {
		out->last = 0;
		if (!parse_number(word, &out->first))
			return false;
		out->last = out->first;
		return true;
	}
	return parse_number(ct_span_of(word.at, mark), &out->first) &&
	       parse_number(ct_span_of(mark + 1, word.at + word.size), &out->last);
}

void ct_ipcs_read_ranges(struct ct_parser *scan, struct ct_span group, uint32_t least,
			 uint32_t most, struct ct_ipcs_ranges *out)
{
	char expected[80];
	struct ct_span word;

	(void)snprintf(expected, sizeof expected,
		       "hexadecimal numbers %X to %X, and ranges first:last of them", least, most);
	group = ct_ipcs_inner(group);
	while ((word = ct_ipcs_next_value(&group)).size != 0) {
		struct ct_ipcs_range range;

		if (!parse_range(word, &range) || range.first < least || range.last > most)
			ct_ipcs_diagnose(scan, CT_ITT_NONE, word, "is none of the numbers",
					 expected);
		else if (range.first > range.last)
			ct_ipcs_diagnose(scan, CT_ITT_NONE, word, "is a range that descends",
					 expected);
		else if (out->count == CT_IPCS_LISTED)
			ct_ipcs_diagnose(scan, CT_ITT_NONE, word, "is one too many",
					 "at most 256 of them");
		if (scan->has_failed)
			return;
		out->at[out->count++] = range;
	}
}

void ct_ipcs_read_limit(struct ct_parser *scan, struct ct_span group, uint32_t *out)
{
	uint32_t value = 0;
	bool is_number = group.size <= LIMIT_DIGITS;

	for (size_t i = 0; i < group.size && is_number; i++) {
		is_number = group.at[i] >= '0' && group.at[i] <= '9';
		value = value * 10 + (uint32_t)(group.at[i] - '0');
	}
	if (!is_number)
		ct_ipcs_diagnose(scan, CT_ITT_NONE, group, "is no limit",
				 "a decimal number of at most 8 digits");
	else
		*out = value; /* LIMIT(0): as if it were not given */
}

/* ---- words ---- */

void ct_ipcs_words_fini(struct ct_ipcs_words *words)
{
	for (uint32_t i = 0; i < words->count; i++)
		free(words->at[i]);
	free(words->at);
	*words = (struct ct_ipcs_words){ 0 };
}

static bool add_word(struct ct_ipcs_words *words, struct ct_span word)
{
	char **at = reallocarray(words->at, words->count + 1, sizeof *at);

	if (at == NULL)
		return false;
	words->at = at;
	at[words->count] = ct_ipcs_unquote(word);
	if (at[words->count] == NULL)
		return false;
	words->count++;
	return true;
}

void ct_ipcs_read_words(struct ct_parser *scan, struct ct_span group, size_t longest,
			struct ct_ipcs_words *out)
{
	struct ct_span word;

	group = ct_ipcs_inner(group);
	while ((word = ct_ipcs_next_value(&group)).size != 0 && !scan->has_failed) {
		if (out->count == CT_IPCS_LISTED)
			ct_ipcs_diagnose(scan, CT_ITT_NONE, word, "is one too many",
					 "at most 256 of them");
		else if (!add_word(out, word))
			ct_ipcs_diagnose(scan, CT_ITT_NONE, word, "finds no memory", "more of it");
		else if (out->at[out->count - 1][0] == '\0')
			ct_ipcs_diagnose(scan, CT_ITT_NONE, word, "is empty", "a name");
		else if (strlen(out->at[out->count - 1]) > longest)
			ct_ipcs_diagnose(scan, CT_ITT_NONE, word, "is too long",
					 longest == CTRACE_MAX_COMPONENT ? "at most 255 bytes"
									 : "a shorter one");
	}
}

/* ---- names of traces ---- */

static void read_name(struct ct_parser *scan, struct ct_span value, enum ct_ipcs_message too_long,
		      char out[CTRACE_MAX_COMPONENT + 1])
{
	char *name = ct_ipcs_unquote(value);
	size_t size = name != NULL ? strlen(name) : 0;

	if (name == NULL)
		ct_ipcs_diagnose(scan, CT_ITT_NONE, value, "finds no memory", "more of it");
	else if (size > CTRACE_MAX_COMPONENT)
		ct_ipcs_diagnose(scan, too_long, value, "is longer than 255 characters",
				 "a shorter name");
	else if (size == 0)
		ct_ipcs_diagnose(scan, CT_ITT_NONE, value, "is no name", "a name");
	else
		memcpy(out, name, size + 1);
	free(name);
}

/* What is typed becomes capitals, as under TSO, where component trace can have such a name.  A
 * dotted name, or one in quotation marks, keeps its letters. */
static void name_fold(struct ct_span value, char name[CTRACE_MAX_COMPONENT + 1])
{
	char upper[CTRACE_MAX_NAME + 1] = "";
	size_t size = strlen(name);

	if (size > CTRACE_MAX_NAME || value.at[0] == '\'')
		return;
	memcpy(upper, name, size);
	ct_name_upper(upper, size);
	if (ct_trace_name_is_valid(upper, size))
		memcpy(name, upper, size);
}

void ct_ipcs_read_component(struct ct_parser *scan, struct ct_span group,
			    char out[CTRACE_MAX_COMPONENT + 1])
{
	struct ct_span rest = group;
	struct ct_span value = ct_ipcs_next_value(&rest);

	if (ct_ipcs_next_value(&rest).size != 0)
		ct_ipcs_diagnose(scan, CT_ITT_NONE, group, "is more than one name", "one name");
	else
		read_name(scan, value, CT_ITT_NONE, out);
	if (!scan->has_failed)
		name_fold(value, out);
}

/* Returns the number of names between dots outside of parentheses; 0 when one is empty. */
static unsigned count_names(const char *sub)
{
	unsigned count = 1, depth = 0;
	size_t size = 0;

	for (; *sub != '\0'; sub++) {
		depth += *sub == '(';
		depth -= *sub == ')' && depth > 0;
		if (*sub == '.' && depth == 0) {
			if (size == 0)
				return 0;
			count++;
			size = 0;
		} else {
			size++;
		}
	}
	return size == 0 ? 0 : count;
}

void ct_ipcs_read_sub(struct ct_parser *scan, struct ct_span group,
		      char out[CTRACE_MAX_COMPONENT + 1])
{
	struct ct_span inner = ct_ipcs_inner(group);
	struct ct_span rest = inner;
	struct ct_span value = ct_ipcs_next_value(&rest);
	unsigned count;

	if (value.size == 0 || ct_ipcs_next_value(&rest).size != 0) {
		ct_ipcs_diagnose(scan, CT_ITT_NONE, inner,
				 value.size == 0 ? "is no sublevel" : "is more than one sublevel",
				 "names with dots between: SUB((name.name))");
		return;
	}
	read_name(scan, value, CT_ITT10014I, out);
	if (scan->has_failed)
		return;
	count = count_names(out);
	if (count == 0)
		ct_ipcs_diagnose(scan, CT_ITT_NONE, value, "has an empty name",
				 "names with dots between: SUB((name.name))");
	else if (count > CT_IPCS_SUBNAMES)
		ct_ipcs_diagnose(scan, CT_ITT10014I, value, "is more than 5 names",
				 "at most 5 names");
}
