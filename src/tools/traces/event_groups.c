/*
 * event_groups.c - named groups of events: expressions that stand in a file, each with a name.
 *
 *     # the store
 *     files  = component ~ "mf.rts.file*" && event in (1..8, 18)
 *     slow   = duration > 20ms
 *
 * A line that begins with a blank goes on with the line before.  Part of the verbs that read
 * traces; what an expression means is ctrace-filter(7)'s.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/event_groups.h"

#include <stdlib.h>
#include <string.h>

#include "print/print.h"
#include "read/read.h"
#include "cli/user_file.h"

#define BLANKS " \t\r"

const char *event_groups_path(const char *option)
{
	return option != NULL ? option : ct_os_environment("CTRACE_GROUPS");
}

/* A line of the file. */
struct line {
	const char *name, *expression;
	size_t name_size, expression_size;
	uint32_t number;
};

/* Finds the next line that defines a group, with its continuation lines.  Returns false at the
 * end; *out_wrong is then the number of a line that is no definition, or 0. */
static bool line_next(const char **at, uint32_t *number, struct line *out, uint32_t *out_wrong)
{
	*out_wrong = 0;
	while (**at != '\0') {
		const char *begin = *at, *end = begin + strcspn(begin, "\n"), *equals;
		uint32_t first = ++*number;

		while (*end == '\n' && (end[1] == ' ' || end[1] == '\t')) {
			end += 1 + strcspn(end + 1, "\n");
			++*number;
		}
		*at = *end == '\n' ? end + 1 : end;
		begin += strspn(begin, BLANKS);
		if (begin >= end || *begin == '#')
			continue;
		*out = (struct line){ .name = begin,
				      .name_size = strcspn(begin, BLANKS "=\n"),
				      .number = first };
		equals = begin + out->name_size + strspn(begin + out->name_size, BLANKS);
		if (*equals != '=' || out->name_size == 0) {
			*out_wrong = first;
			return false;
		}
		out->expression = equals + 1;
		out->expression_size = (size_t)(end - out->expression);
		return true;
	}
	return false;
}

static bool expression_check(const char *path, const struct line *line, const char *expression,
			     struct ct_buf *out_message)
{
	struct ct_diagnostic diagnostic = { 0 };
	struct ct_filter *filter = NULL;
	enum ctrace_status status =
		ct_filter_parse(expression, ct_clock_wall_ns(), &filter, &diagnostic);

	ct_filter_destroy(filter);
	if (status == CTRACE_OK)
		return true;
	ct_buf_add_format(out_message,
			  "%s:%u: group %.*s, column %u of the expression: " CT_DIAGNOSTIC_FORMAT,
			  path, line->number, (int)line->name_size, line->name, diagnostic.column,
			  CT_DIAGNOSTIC_TEXT(&diagnostic));
	return false;
}

/* The group of that name: (its expression). */
static bool group_add(const char *path, const char *text, const char *name, size_t size,
		      struct ct_buf *out, struct ct_buf *out_message)
{
	uint32_t number = 0, wrong;
	struct line line;
	char *expression;
	bool ok;

	while (line_next(&text, &number, &line, &wrong)) {
		if (!ct_name_equal(line.name, line.name_size, name, size))
			continue;
		expression = strndup(line.expression, line.expression_size);
		if (expression == NULL)
			return false;
		for (char *c = expression; *c != '\0'; c++)
			if (*c == '\n' || *c == '\r')
				*c = ' ';
		ok = expression_check(path, &line, expression, out_message);
		ct_buf_add_format(out, "(%s)", expression);
		free(expression);
		return ok;
	}
	if (wrong != 0)
		ct_buf_add_format(out_message, "%s:%u: expected NAME = EXPRESSION", path, wrong);
	else
		ct_buf_add_format(out_message, "%s has no group \"%.*s\"", path, (int)size, name);
	return false;
}

static bool groups_add(const char *path, const char *text, const char *names, struct ct_buf *out,
		       struct ct_buf *out_message)
{
	bool is_not = names[0] == '!';
	const char *joint = is_not ? "!(" : "(";

	for (names += is_not ? 1 : 0;; names++) {
		size_t size = strcspn(names, ",");

		ct_buf_add_text(out, joint);
		if (!group_add(path, text, names, size, out, out_message))
			return false;
		joint = " || ";
		names += size;
		if (*names == '\0')
			break;
	}
	ct_buf_add_char(out, ')');
	return true;
}

bool event_groups_add(const char *path, const char *argument, struct ct_buf *out,
		      struct ct_buf *out_message)
{
	struct user_file_failure failure;
	struct ct_buf text;
	bool ok = false;

	ct_buf_init(&text);
	if (path == NULL)
		ct_buf_add_text(
			out_message,
			"no file of groups is named; expected --groups=FILE, or CTRACE_GROUPS in the environment");
	else if (user_file_read(path, "groups", &text, &failure))
		ok = groups_add(path, ct_buf_text(&text), argument, out, out_message);
	else if (failure.line != 0)
		ct_buf_add_format(out_message, "%s:%u: %s", path, failure.line, failure.why);
	else
		ct_buf_add_format(out_message, "%s: %s", path, failure.why);
	ct_buf_fini(&text);
	return ok && !out->failed;
}
