/*
 * slip_member.c - SET SLIP=xx: the SLIP commands of the member IEASLPxx.
 *
 * The rules are those of z/OS.  A command begins on a line of its own and ends with END, or where
 * the next one begins.  Columns 1 to 71 have the data; 72 to 80 are not read.  The first blank
 * behind the operands ends a line, and a comma at its end is optional.  A line that begins with an
 * asterisk is a comment.  All commands are parsed before the first is carried out: after an error
 * nothing is done.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/slip.h"

#include <string.h>

#include "operator/transact.h"

#define DATA_COLUMNS 71u
#define LINE_COLUMNS 80u
#define LINES 256u /* of a command */

struct member {
	struct dialogue *dialogue;
	const char *path;
	const char *at, *end;
	unsigned line; /* of `at`, from 1 */
	bool has_failed;
};

/* The lines of one command, as the line that an operator would type. */
struct joined {
	char text[CT_OPERATOR_LINE + 1];
	size_t size;
	uint32_t count;
	struct {
		size_t at; /* where it begins in text */
		unsigned line, column;
	} part[LINES];
};

static void member_diagnose(struct member *member, unsigned line, unsigned column,
			    const char *message, const char *expected)
{
	char place[4200];

	(void)snprintf(place, sizeof place, "%s:%u:%u", member->path, line, column);
	ct_wto(&member->dialogue->wto, CTR038I, place, message, expected, NULL);
	member->has_failed = true;
}

/* The next line up to column 71, without the carriage return; the member stays in front of it. */
static struct ct_span line_see(const struct member *member, const char **out_next)
{
	const char *stop = memchr(member->at, '\n', (size_t)(member->end - member->at));
	struct ct_span line;

	stop = stop != NULL ? stop : member->end;
	*out_next = stop < member->end ? stop + 1 : stop;
	line = ct_span_of(member->at, stop);
	if (line.size > 0 && line.at[line.size - 1] == '\r')
		line.size--;
	if (line.size <= LINE_COLUMNS && line.size > DATA_COLUMNS)
		line.size = DATA_COLUMNS;
	return line;
}

static bool line_is_comment(struct ct_span line)
{
	return ct_span_trim(line).size == 0 || line.at[0] == '*';
}

static bool line_begins_command(struct ct_span line)
{
	struct ct_span text = ct_span_trim(line);
	size_t size = 0;

	while (size < text.size && !ct_is_blank(text.at[size]))
		size++;
	return ct_name_is(text.at, size, "SLIP") || ct_name_is(text.at, size, "SL");
}

/* What of the line belongs to the command.  SLIP and its verb have a blank between them. */
static struct ct_span line_operands(struct ct_span line, bool is_first)
{
	struct ct_span text = ct_span_trim(line);
	bool is_quoted = false;
	size_t at = 0;

	if (is_first) {
		while (at < text.size && !ct_is_blank(text.at[at]))
			at++;
		while (at < text.size && ct_is_blank(text.at[at]))
			at++;
	}
	for (; at < text.size && (is_quoted || !ct_is_blank(text.at[at])); at++)
		is_quoted ^= text.at[at] == '\'';
	return ct_span_of(text.at, text.at + at);
}

static bool joined_add(struct joined *joined, struct ct_span part, unsigned line, unsigned column)
{
	char last = joined->size != 0 ? joined->text[joined->size - 1] : ',';
	bool has_comma = last == ',' || last == '(' || (part.size > 0 && part.at[0] == ',');

	if (joined->count == LINES || joined->size + part.size + 1 > CT_OPERATOR_LINE)
		return false;
	if (!has_comma)
		joined->text[joined->size++] = ',';
	joined->part[joined->count].at = joined->size;
	joined->part[joined->count].line = line;
	joined->part[joined->count++].column = column;
	memcpy(joined->text + joined->size, part.at, part.size);
	joined->size += part.size;
	return true;
}

static bool joined_has_end(const struct joined *joined)
{
	static const char end[] = ",END";
	size_t size = sizeof end - 1;

	return joined->size >= size && ct_name_is(joined->text + joined->size - size, size, end);
}

/* Joins the lines of the next command.  Returns false when there is none. */
static bool command_next(struct member *member, struct joined *joined)
{
	joined->size = joined->count = 0;
	while (member->at < member->end && !joined_has_end(joined)) {
		const char *next;
		struct ct_span line = line_see(member, &next), part;

		if (joined->count != 0 && !line_is_comment(line) && line_begins_command(line))
			break;
		if (line.size > LINE_COLUMNS) {
			member_diagnose(member, member->line, LINE_COLUMNS + 1,
					"the line is too long",
					"data in the columns 1 to 71, and at most 80 columns");
		} else if (!line_is_comment(line)) {
			part = line_operands(line, joined->count == 0);
			if (!joined_add(joined, part, member->line,
					(unsigned)(part.at - line.at) + 1))
				member_diagnose(member, member->line, 1, "the command is too long",
						"at most 8192 bytes and 256 lines up to END");
		}
		member->at = next;
		member->line++;
	}
	return joined->count != 0;
}

/* The error's place is that of the line which has it. */
static void command_diagnose(struct member *member, const struct joined *joined,
			     const struct ct_diagnostic *diagnostic)
{
	size_t at = diagnostic->column != 0 ? diagnostic->column - 1 : 0;
	uint32_t i = joined->count - 1;

	while (i > 0 && joined->part[i].at > at)
		i--;
	member_diagnose(member, joined->part[i].line,
			joined->part[i].column + (unsigned)(at - joined->part[i].at),
			diagnostic->message, diagnostic->expected);
}

static bool kind_is_slip(enum ct_operator_kind kind)
{
	return kind == CT_OPERATOR_SLIP_SET || kind == CT_OPERATOR_SLIP_MOD ||
	       kind == CT_OPERATOR_SLIP_DEL;
}

/* Parses all commands, and carries them out.  Returns how many there are. */
static uint32_t commands_take(struct member *member, struct ct_span text, struct joined *joined,
			      bool is_run)
{
	struct ct_operator_command command;
	struct ct_diagnostic diagnostic;
	uint32_t count = 0;

	member->at = text.at;
	member->end = text.at + text.size;
	member->line = 1;
	while (command_next(member, joined)) {
		count++;
		if (ct_operator_parse(joined->text, joined->size, &command, &diagnostic) !=
		    CTRACE_OK)
			command_diagnose(member, joined, &diagnostic);
		else if (!kind_is_slip(command.kind))
			member_diagnose(member, joined->part[0].line, joined->part[0].column,
					"not a SLIP command", "SLIP SET, SLIP MOD or SLIP DEL");
		else if (is_run)
			ct_slip_run(member->dialogue, &command);
	}
	return count;
}

void ct_slip_member_run(struct dialogue *dialogue, const char *name)
{
	static struct joined joined; /* one command at a time */
	char path[4096];
	struct member member = { .dialogue = dialogue, .path = path };
	struct ct_buf text;
	uint32_t reason;

	ct_buf_init(&text);
	reason = ct_parmlib_read_any(name, &text, path);
	if (reason != 0)
		ct_member_report_unreadable(&dialogue->wto, name, path, reason);
	else if (commands_take(&member, (struct ct_span){ text.data, text.size }, &joined, false) ==
			 0 &&
		 !member.has_failed)
		member_diagnose(&member, 1, 1, "the member has no command", "SLIP SET,...,END");
	else if (!member.has_failed)
		(void)commands_take(&member, (struct ct_span){ text.data, text.size }, &joined,
				    true);
	ct_buf_fini(&text);
}
