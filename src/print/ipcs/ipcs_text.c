/*
 * ipcs_text.c - a command as text again, in one form however it was written; MERGE lists it.
 *
 * Pure.  The text parses to the same command.  It contains the user's own texts, so it must be
 * escaped before it is printed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <string.h>
#include <time.h>

#define US_PER_SECOND 1000000u

/* Returns true if the text contains nothing that ends a word or begins a comment. */
static bool word_is_plain(const char *text)
{
	for (const char *at = text; *at != '\0'; at++)
		if ((unsigned char)*at <= ' ' || strchr(",'()", *at) != NULL)
			return false;
	return strstr(text, "/*") == NULL;
}

/* A path or a name whose letters are kept. */
static void add_word(struct ct_buf *out, const char *text)
{
	bool is_quoted = !word_is_plain(text);

	if (is_quoted)
		ct_buf_add_char(out, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			ct_buf_add_char(out, '\'');
		ct_buf_add_char(out, *text);
	}
	if (is_quoted)
		ct_buf_add_char(out, '\'');
}

/* Returns true if parentheses match, as in "asid(1f)". */
static bool name_is_balanced(const char *name)
{
	int depth = 0;

	for (; *name != '\0' && depth >= 0; name++)
		depth += (*name == '(') - (*name == ')');
	return depth == 0;
}

/* Names are compared in any case: listings have them in small letters. */
static void add_name(struct ct_buf *out, const char *name)
{
	if (strpbrk(name, " ,'\t") != NULL || !name_is_balanced(name) ||
	    strstr(name, "/*") != NULL) {
		add_word(out, name);
		return;
	}
	for (; *name != '\0'; name++)
		ct_buf_add_char(out,
				*name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name);
}

static void add_words(struct ct_buf *out, const char *keyword, const struct ct_ipcs_words *words)
{
	if (words->count == 0)
		return;
	ct_buf_add_format(out, " %s(", keyword);
	for (uint32_t i = 0; i < words->count; i++) {
		if (i != 0)
			ct_buf_add_char(out, ',');
		add_word(out, words->at[i]);
	}
	ct_buf_add_char(out, ')');
}

static void add_ranges(struct ct_buf *out, const char *keyword, const struct ct_ipcs_ranges *ranges)
{
	if (ranges->count == 0)
		return;
	ct_buf_add_format(out, " %s(", keyword);
	for (uint32_t i = 0; i < ranges->count; i++) {
		const struct ct_ipcs_range *range = &ranges->at[i];

		if (i != 0)
			ct_buf_add_char(out, ',');
		ct_buf_add_format(out, "%x", range->first);
		if (range->last != range->first)
			ct_buf_add_format(out, ":%x", range->last);
	}
	ct_buf_add_char(out, ')');
}

static void add_time(struct ct_buf *out, const char *keyword, bool is_given, uint64_t time_us,
		     bool is_local)
{
	time_t seconds = (time_t)(time_us / US_PER_SECOND);
	struct tm parts;

	if (!is_given ||
	    (is_local ? localtime_r(&seconds, &parts) : gmtime_r(&seconds, &parts)) == NULL)
		return;
	ct_buf_add_format(out, " %s(%02d/%02d/%04d,%02d.%02d.%02d.%06u)", keyword, parts.tm_mon + 1,
			  parts.tm_mday, parts.tm_year + 1900, parts.tm_hour, parts.tm_min,
			  parts.tm_sec, (unsigned)(time_us % US_PER_SECOND));
}

static void add_trace(struct ct_buf *out, const struct ct_ipcs_command *command)
{
	if (command->component[0] != '\0') {
		ct_buf_add_text(out, command->verb == CT_IPCS_QUERY ? "(" : " comp(");
		add_name(out, command->component);
		ct_buf_add_char(out, ')');
	}
	if (command->sub[0] != '\0') {
		ct_buf_add_text(out, " sub((");
		add_name(out, command->sub);
		ct_buf_add_text(out, "))");
	}
	if (command->sysname[0] != '\0') {
		ct_buf_add_text(out, " sysname(");
		add_name(out, command->sysname);
		ct_buf_add_char(out, ')');
	}
}

static void add_selection(struct ct_buf *out, const struct ct_ipcs_command *command)
{
	if (command->is_local)
		ct_buf_add_text(out, " local");
	add_time(out, "start", command->has_start, command->start_us, command->is_local);
	add_time(out, "stop", command->has_stop, command->stop_us, command->is_local);
	if (command->is_exception)
		ct_buf_add_text(out, " exception");
	if (command->limit != 0)
		ct_buf_add_format(out, " limit(%u)", command->limit);
	add_ranges(out, "entidlist", &command->ids);
	if (command->is_all)
		ct_buf_add_text(out, " all");
	add_ranges(out, "asidlist", &command->asids);
	add_words(out, "joblist", &command->jobs);
	if (command->user_exit[0] != '\0') {
		ct_buf_add_text(out, " userexit(");
		add_word(out, command->user_exit);
		ct_buf_add_char(out, ')');
	}
	if (command->options != NULL && command->options[0] != '\0')
		ct_buf_add_format(out, " options((%s))", command->options);
}

void ct_ipcs_text_add(struct ct_buf *out, const struct ct_ipcs_command *command)
{
	static const char *const reports[] = { " short", " summary", " full", " tally" };

	ct_buf_add_text(out, "CTRACE");
	if (command->verb == CT_IPCS_QUERY)
		ct_buf_add_text(out, " query");
	add_trace(out, command);
	ct_buf_add_text(out, reports[command->report]);
	add_selection(out, command);
	if (command->is_active)
		ct_buf_add_text(out, " active");
	add_words(out, command->source == CT_IPCS_BY_DDNAME ? "file" : "dsname", &command->sources);
}
