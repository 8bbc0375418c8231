/*
 * ipcs_parse.c - subcommands: CTRACE, MERGE, COPYTRC, SETDEF and the rest, and what must hold of
 * all their operands together.
 *
 * Called by ctrace ipcs for every command, on its only thread.  Keywords may be abbreviated as far
 * as they stay unambiguous.  A command ends with its first error; what had been read by then is
 * freed with it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs_operand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what must hold of all operands together ---- */

static void check_times(struct ct_ipcs_parse *parse)
{
	struct ct_ipcs_command *out = parse->out;
	struct ct_parser *scan = &parse->scan;

	out->has_start = parse->start.is_given;
	out->has_stop = parse->stop.is_given;
	if (out->has_start && !ct_ipcs_time_us(&parse->start, out->is_local, &out->start_us))
		ct_ipcs_diagnose(scan, CT_ITT_NONE, parse->start.word, "is no day of the calendar",
				 "mm/dd/yy,hh.mm.ss.dddddd");
	else if (out->has_stop && !ct_ipcs_time_us(&parse->stop, out->is_local, &out->stop_us))
		ct_ipcs_diagnose(scan, CT_ITT_NONE, parse->stop.word, "is no day of the calendar",
				 "mm/dd/yy,hh.mm.ss.dddddd");
	else if (out->has_start && out->has_stop && out->start_us > out->stop_us)
		ct_ipcs_diagnose(scan, CT_ITT10011I, parse->stop.word, "is before START",
				 "a later time");
}

static void check_names(struct ct_ipcs_parse *parse)
{
	const struct ct_span *given = parse->given;
	struct ct_ipcs_command *out = parse->out;
	struct ct_parser *scan = &parse->scan;

	if (out->sub[0] != '\0' && out->component[0] == '\0')
		ct_ipcs_diagnose(scan, CT_ITT_NONE, given[CT_IPCS_GROUP_SUB], "has no component",
				 "COMP(name) with it");
	else if (strlen(out->component) + strlen(out->sub) >= CTRACE_MAX_COMPONENT &&
		 out->sub[0] != '\0')
		ct_ipcs_diagnose(scan, CT_ITT10014I, given[CT_IPCS_GROUP_SUB],
				 "makes a name of more than 255 characters", "shorter names");
}

static void parse_ctrace(struct ct_ipcs_parse *parse)
{
	const struct ct_span *given = parse->given;
	struct ct_parser *scan = &parse->scan;

	ct_ipcs_read_operands(parse, &ct_ipcs_ctrace_operands);
	if (scan->has_failed)
		return;
	if (given[CT_IPCS_GROUP_QUERY].at != NULL && given[CT_IPCS_GROUP_COMP].at != NULL)
		ct_ipcs_diagnose(scan, CT_ITT10001I,
				 given[CT_IPCS_GROUP_QUERY].at > given[CT_IPCS_GROUP_COMP].at
					 ? given[CT_IPCS_GROUP_QUERY]
					 : given[CT_IPCS_GROUP_COMP],
				 "cannot stand with the other", "QUERY or COMP");
	else if (given[CT_IPCS_GROUP_QUERY].at == NULL && given[CT_IPCS_GROUP_COMP].at == NULL)
		ct_ipcs_diagnose(scan, CT_ITT_NONE, (struct ct_span){ scan->end, 0 },
				 "the command ends here", "COMP(name) or QUERY");
	check_names(parse);
	check_times(parse);
}

static void parse_copytrc(struct ct_ipcs_parse *parse)
{
	struct ct_parser *scan = &parse->scan;

	ct_ipcs_read_operands(parse, &ct_ipcs_copytrc_operands);
	if (!scan->has_failed && parse->out->out.count == 0)
		ct_ipcs_diagnose(scan, CT_ITT_NONE, (struct ct_span){ scan->end, 0 },
				 "the command ends here", "OUTDATASET(path) or OUTFILE(ddname)");
	check_names(parse);
	check_times(parse);
}

static void parse_setdef(struct ct_ipcs_parse *parse)
{
	ct_ipcs_read_operands(parse, &ct_ipcs_setdef_operands);
}

static void parse_status(struct ct_ipcs_parse *parse)
{
	ct_ipcs_read_operands(parse, &ct_ipcs_status_operands);
}

static void parse_nothing(struct ct_ipcs_parse *parse)
{
	ct_ipcs_read_operands(parse, &ct_ipcs_no_operands);
}

static void parse_help(struct ct_ipcs_parse *parse)
{
	struct ct_span word = ct_ipcs_scan_word(&parse->scan);

	(void)snprintf(parse->out->topic, sizeof parse->out->topic, "%.*s",
		       (int)(word.size < 31 ? word.size : 31), word.at);
	ct_name_upper(parse->out->topic, strlen(parse->out->topic));
	ct_ipcs_read_operands(parse, &ct_ipcs_no_operands);
}

/* A command that surrounds the subcommands in a batch job: there is nothing to do for it. */
static void parse_frame(struct ct_ipcs_parse *parse)
{
	parse->scan.at = parse->scan.end;
}

/* ---- subcommands ---- */

static const struct verb_row {
	const char *name;
	enum ct_ipcs_verb verb;
	void (*parse)(struct ct_ipcs_parse *parse);
} verbs[] = {
	{ "CTRACE", CT_IPCS_CTRACE, parse_ctrace },
	{ "QUERY", CT_IPCS_CTRACE, parse_ctrace },
	{ "MERGE", CT_IPCS_MERGE, parse_nothing },
	{ "MERGEEND", CT_IPCS_MERGEEND, parse_nothing },
	{ "COPYTRC", CT_IPCS_COPYTRC, parse_copytrc },
	{ "SETDEF", CT_IPCS_SETDEF, parse_setdef },
	{ "STATUS", CT_IPCS_STATUS, parse_status },
	{ "HELP", CT_IPCS_HELP, parse_help },
	{ "END", CT_IPCS_END, parse_nothing },
	{ "IPCS", CT_IPCS_FRAME, parse_frame },
	{ "PROFILE", CT_IPCS_FRAME, parse_frame },
	{ "DROPDUMP", CT_IPCS_FRAME, parse_frame },
};

bool ct_ipcs_is_command(const char *word)
{
	size_t size = strcspn(word, " \t\n(");

	for (size_t i = 0; i < CT_COUNT(verbs); i++)
		if (ct_name_is(word, size, verbs[i].name))
			return true;
	return false;
}

static const struct verb_row *find_verb(struct ct_span word)
{
	const struct verb_row *found = ct_keywords_find(CT_KEYWORDS(verbs), word);

	if (found != NULL)
		return found;
	for (size_t i = 0; i < CT_COUNT(verbs); i++) {
		if (word.size == 0 || !ct_ipcs_begins(verbs[i].name, word))
			continue;
		if (found != NULL)
			return NULL;
		found = &verbs[i];
	}
	return found;
}

/* NULL: it is like none of them. */
static const char *suggest_verb(struct ct_span word)
{
	return ct_keywords_suggest(CT_KEYWORDS(verbs), word);
}

bool ct_ipcs_may_be_command(const char *word)
{
	const char *group = strchr(word, '(');
	struct ct_span verb = { word, strcspn(word, " \t\n(") };

	/* "COMP(" has no blank in it, other than "traces (old)". */
	return group != NULL && group > word && !ct_is_blank(group[-1]) &&
	       (find_verb(verb) != NULL || suggest_verb(verb) != NULL);
}

static void refuse_verb(struct ct_ipcs_parse *parse, struct ct_span word)
{
	static const char expected[] =
		"CTRACE, MERGE, MERGEEND, COPYTRC, SETDEF, STATUS, HELP or END";
	bool is_gtf = ct_name_is(word.at, word.size, "GTFTRACE");

	ct_parser_diagnose(&parse->scan,
			   &(struct ct_finding){
				   .word = word,
				   .what = is_gtf ? "has nothing to read: there are no GTF traces"
						  : "is no subcommand",
				   .meant = is_gtf ? NULL : suggest_verb(word),
				   .expected = expected });
}

static void parse_command(struct ct_ipcs_parse *parse)
{
	struct ct_span word = ct_ipcs_scan_word(&parse->scan);
	const struct verb_row *row = find_verb(word);

	if (row == NULL) {
		refuse_verb(parse, word);
		return;
	}
	parse->out->verb = row->verb;
	if (row->verb == CT_IPCS_CTRACE && !ct_ipcs_begins("CTRACE", word))
		parse->scan.at = word.at; /* QUERY is its operand */
	row->parse(parse);
}

enum ctrace_status ct_ipcs_parse(const char *text, size_t size, struct ct_ipcs_command *out,
				 enum ct_ipcs_message *out_message,
				 struct ct_diagnostic *out_diagnostic)
{
	struct ct_ipcs_parse parse = { .out = out };
	enum ctrace_status status = CTRACE_OK;
	struct ct_ipcs_text copy;

	memset(out, 0, sizeof *out);
	*out_diagnostic = (struct ct_diagnostic){ 0 };
	if (ct_ipcs_scan_start(&parse.scan, &copy, (struct ct_span){ text, size }, out_diagnostic))
		parse_command(&parse);
	if (parse.scan.has_failed)
		status = CTRACE_SYNTAX_ERROR;
	*out_message = (enum ct_ipcs_message)parse.scan.code;
	ct_ipcs_scan_end(&parse.scan, &copy);
	return status;
}

void ct_ipcs_command_fini(struct ct_ipcs_command *command)
{
	ct_ipcs_words_fini(&command->jobs);
	ct_ipcs_words_fini(&command->sources);
	ct_ipcs_words_fini(&command->out);
	free(command->options);
	command->options = NULL;
}
