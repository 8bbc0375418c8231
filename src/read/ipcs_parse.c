/*
 * ipcs_parse.c - subcommands and their operands: CTRACE, MERGE, COPYTRC, SETDEF.
 *
 * Called by ctrace ipcs for every command, on its only thread.  Keywords may be abbreviated as far as they stay unambiguous.  A command ends
 * with its first mistake; what had been read by then is freed with it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/ipcs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 4096u /* bytes of a path */
#define OPTIONS_MAX 1024u

enum operand_group {
	GROUP_QUERY,
	GROUP_COMP,
	GROUP_SUB,
	GROUP_SYSNAME,
	GROUP_REPORT,
	GROUP_ZONE,
	GROUP_START,
	GROUP_STOP,
	GROUP_EXCEPTION,
	GROUP_LIMIT,
	GROUP_IDS,
	GROUP_EXIT,
	GROUP_OPTIONS,
	GROUP_ALL,
	GROUP_CURRENT,
	GROUP_ERROR,
	GROUP_TCBERROR,
	GROUP_ASIDS,
	GROUP_JOBS,
	GROUP_SOURCE,
	GROUP_FLAG,
	GROUP_PRINT,
	GROUP_TERMINAL,
	GROUP_TEST,
	GROUP_LIST,
	GROUP_TYPE,
	GROUP_OUT,
	GROUP_SPACE,
	GROUP_COUNT
};
enum operand_value { NO_VALUE, MAY_HAVE_VALUE, HAS_VALUE };

struct parse {
	struct ct_ipcs_scan scan;
	struct ct_ipcs_command *out;
	struct ct_span said[GROUP_COUNT]; /* where; at NULL: nowhere */
	struct ct_ipcs_moment start, stop;
	enum ct_ipcs_message incomplete; /* the message for a keyword without its value */
};

struct operand {
	const char *name;
	enum operand_group group;
	enum operand_value value;
	int number; /* read()'s own; what has the same group and number is the same */
	void (*read)(struct parse *parse, const struct operand *operand, struct ct_span group);
};
struct operand_table {
	const struct operand *rows;
	size_t count;
	const char *refusal;
};

/* ---- what operands say ---- */

static void read_nothing(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)parse;
	(void)operand;
	(void)group;
}

static void read_query(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	parse->out->verb = CT_IPCS_QUERY;
	if (group.size != 0)
		ct_ipcs_read_component(&parse->scan, group, parse->out->component);
}

static void read_comp(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_component(&parse->scan, group, parse->out->component);
}

static void read_sub(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_sub(&parse->scan, group, parse->out->sub);
}

static void read_sysname(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_component(&parse->scan, group, parse->out->sysname);
}

static void read_report(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)group;
	parse->out->report = (enum ct_ipcs_report)operand->number;
}

static void read_zone(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)group;
	parse->out->is_local = operand->number != 0;
}

static void read_time(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	ct_ipcs_read_moment(&parse->scan, group, operand->group == GROUP_START ? &parse->start : &parse->stop);
}

static void read_exception(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	(void)group;
	parse->out->is_exception = true;
}

static void read_limit(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_limit(&parse->scan, group, &parse->out->limit);
}

static void read_ids(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_ranges(&parse->scan, group, 0, UINT32_MAX, &parse->out->ids);
}

static void read_asids(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_ranges(&parse->scan, group, 1, UINT16_MAX, &parse->out->asids);
}

static void read_jobs(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_words(&parse->scan, group, 16, &parse->out->jobs);
}

static void read_all(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	(void)group;
	parse->out->is_all = true;
}

static void read_exit(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	struct ct_ipcs_words words = { 0 };

	(void)operand;
	ct_ipcs_read_words(&parse->scan, group, sizeof parse->out->user_exit - 1, &words);
	if (!parse->scan.has_failed && (words.count != 1 || strchr(words.at[0], '/') != NULL))
		ct_ipcs_complain(&parse->scan, CT_ITT_NONE, group, "is no exit's name",
				 "the name of a module: NAME.so on CTRACE_LINKLIST");
	else if (!parse->scan.has_failed)
		memcpy(parse->out->user_exit, words.at[0], strlen(words.at[0]) + 1);
	ct_ipcs_words_fini(&words);
}

static void read_options(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	struct ct_span text = ct_ipcs_inner(group);

	(void)operand;
	if (text.size > OPTIONS_MAX) {
		ct_ipcs_complain(&parse->scan, CT_ITT_NONE, text, "is too long", "options of at most 1024 bytes");
		return;
	}
	parse->out->options = strndup(text.at, text.size);
}

static void read_source(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	parse->out->source = (enum ct_ipcs_source)operand->number;
	ct_ipcs_read_words(&parse->scan, group, WORD_MAX, &parse->out->sources);
}

static void read_active(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	(void)group;
	parse->out->is_active = true;
}

static void read_list(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	(void)group;
	parse->out->is_list = true;
}

static void read_type(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	(void)operand;
	if (!ct_name_is(group.at, group.size, "CTRACE"))
		ct_ipcs_complain(&parse->scan, CT_ITT_NONE, group, "is no type of trace that there is", "CTRACE");
}

static void read_out(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	parse->out->out_kind = (enum ct_ipcs_source)operand->number;
	ct_ipcs_read_words(&parse->scan, group, WORD_MAX, &parse->out->out);
	if (!parse->scan.has_failed && parse->out->out.count != 1)
		ct_ipcs_complain(&parse->scan, CT_ITT_NONE, group, "is more than one", "one data set");
}

static void read_copy_options(struct parse *parse, const struct operand *operand, struct ct_span group);

/* ---- the tables ---- */

/* clang-format off */
#define SELECTION \
	{ "COMP", GROUP_COMP, HAS_VALUE, 0, read_comp }, \
	{ "SUB", GROUP_SUB, HAS_VALUE, 0, read_sub }, \
	{ "SUBNAME", GROUP_SUB, HAS_VALUE, 0, read_sub }, \
	{ "SYSNAME", GROUP_SYSNAME, HAS_VALUE, 0, read_sysname }, \
	{ "GMT", GROUP_ZONE, NO_VALUE, 0, read_zone }, \
	{ "LOCAL", GROUP_ZONE, NO_VALUE, 1, read_zone }, \
	{ "START", GROUP_START, HAS_VALUE, 0, read_time }, \
	{ "STOP", GROUP_STOP, HAS_VALUE, 0, read_time }, \
	{ "EXCEPTION", GROUP_EXCEPTION, NO_VALUE, 0, read_exception }, \
	{ "ENTIDLIST", GROUP_IDS, HAS_VALUE, 0, read_ids }, \
	{ "ALL", GROUP_ALL, NO_VALUE, 0, read_all }, \
	{ "ASIDLIST", GROUP_ASIDS, HAS_VALUE, 0, read_asids }, \
	{ "JOBLIST", GROUP_JOBS, HAS_VALUE, 0, read_jobs }, \
	{ "JOBNAME", GROUP_JOBS, HAS_VALUE, 0, read_jobs }
#define DEFAULTS \
	{ "ACTIVE", GROUP_SOURCE, NO_VALUE, 2, read_active }, \
	{ "MAIN", GROUP_SOURCE, NO_VALUE, 2, read_active }, \
	{ "STORAGE", GROUP_SOURCE, NO_VALUE, 2, read_active }, \
	{ "DSNAME", GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source }, \
	{ "DATASET", GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source }, \
	{ "PATH", GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source }, \
	{ "FILE", GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_DDNAME, read_source }, \
	{ "DDNAME", GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_DDNAME, read_source }, \
	{ "FLAG", GROUP_FLAG, HAS_VALUE, 0, read_nothing }, \
	{ "PRINT", GROUP_PRINT, NO_VALUE, 0, read_nothing }, \
	{ "NOPRINT", GROUP_PRINT, NO_VALUE, 1, read_nothing }, \
	{ "TERMINAL", GROUP_TERMINAL, NO_VALUE, 0, read_nothing }, \
	{ "NOTERMINAL", GROUP_TERMINAL, NO_VALUE, 1, read_nothing }, \
	{ "TEST", GROUP_TEST, NO_VALUE, 0, read_nothing }, \
	{ "NOTEST", GROUP_TEST, NO_VALUE, 1, read_nothing }

static const struct operand ctrace_rows[] = {
	{ "QUERY", GROUP_QUERY, MAY_HAVE_VALUE, 0, read_query },
	{ "SHORT", GROUP_REPORT, NO_VALUE, CT_IPCS_SHORT, read_report },
	{ "SUMMARY", GROUP_REPORT, NO_VALUE, CT_IPCS_SUMMARY, read_report },
	{ "FULL", GROUP_REPORT, NO_VALUE, CT_IPCS_FULL, read_report },
	{ "TALLY", GROUP_REPORT, NO_VALUE, CT_IPCS_TALLY, read_report },
	{ "LIMIT", GROUP_LIMIT, HAS_VALUE, 0, read_limit },
	{ "USEREXIT", GROUP_EXIT, HAS_VALUE, 0, read_exit },
	{ "OPTIONS", GROUP_OPTIONS, HAS_VALUE, 0, read_options },
	{ "CURRENT", GROUP_CURRENT, NO_VALUE, 0, read_nothing },
	{ "ERROR", GROUP_ERROR, NO_VALUE, 0, read_nothing },
	{ "TCBERROR", GROUP_TCBERROR, NO_VALUE, 0, read_nothing },
	SELECTION,
	DEFAULTS,
};
static const struct operand copytrc_rows[] = {
	{ "TYPE", GROUP_TYPE, HAS_VALUE, 0, read_type },
	{ "INDATASET", GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source },
	{ "INDSNAME", GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source },
	{ "INPATH", GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source },
	{ "INFILE", GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_DDNAME, read_source },
	{ "OUTDATASET", GROUP_OUT, HAS_VALUE, CT_IPCS_BY_PATH, read_out },
	{ "OUTDSNAME", GROUP_OUT, HAS_VALUE, CT_IPCS_BY_PATH, read_out },
	{ "OUTPATH", GROUP_OUT, HAS_VALUE, CT_IPCS_BY_PATH, read_out },
	{ "OUTFILE", GROUP_OUT, HAS_VALUE, CT_IPCS_BY_DDNAME, read_out },
	{ "OPTIONS", GROUP_OPTIONS, HAS_VALUE, 0, read_copy_options },
	{ "SPACE", GROUP_SPACE, HAS_VALUE, 0, read_nothing },
	DEFAULTS,
};
static const struct operand copy_option_rows[] = { SELECTION };
static const struct operand setdef_rows[] = {
	{ "LIST", GROUP_LIST, NO_VALUE, 0, read_list },
	DEFAULTS,
};
/* clang-format on */

static const struct operand_table ctrace_table = { ctrace_rows, CT_COUNT(ctrace_rows), "is not an operand of CTRACE" };
static const struct operand_table copytrc_table = { copytrc_rows, CT_COUNT(copytrc_rows), "is not an operand of COPYTRC" };
static const struct operand_table copy_option_table = { copy_option_rows, CT_COUNT(copy_option_rows), "is not an option of COPYTRC" };
static const struct operand_table setdef_table = { setdef_rows, CT_COUNT(setdef_rows), "is not an operand of SETDEF" };
static const struct operand_table no_table = { NULL, 0, "is not expected here" };

/* ---- operands ---- */

static bool begins(const char *name, struct ct_span word)
{
	return word.size <= strlen(name) && ct_name_equal(name, word.size, word.at, word.size);
}

static void refuse_operand(struct parse *parse, const struct operand_table *table, struct ct_span word)
{
	const char *names[64];
	char what[100];
	const char *suggestion;
	size_t count = 0;

	for (; count < table->count && count < CT_COUNT(names); count++)
		names[count] = table->rows[count].name;
	suggestion = ct_suggest(word, names, count);
	if (suggestion != NULL)
		(void)snprintf(what, sizeof what, "%s (did you mean %s?)", table->refusal, suggestion);
	else
		(void)snprintf(what, sizeof what, "%s", table->refusal);
	ct_ipcs_complain(&parse->scan, CT_ITT_NONE, word, what, count == 0 ? "nothing more" : "one of its operands: HELP lists them");
}

/* "is short for STOP, START and STORAGE" */
static void refuse_ambiguous(struct parse *parse, const struct operand_table *table, struct ct_span word)
{
	struct ct_buf what;
	size_t left = 0;

	for (size_t i = 0; i < table->count; i++)
		left += begins(table->rows[i].name, word);
	ct_buf_init(&what);
	ct_buf_add_text(&what, "is short for ");
	for (size_t i = 0; i < table->count; i++) {
		if (!begins(table->rows[i].name, word))
			continue;
		left--;
		ct_buf_add_text(&what, table->rows[i].name);
		ct_buf_add_text(&what, left > 1 ? ", " : left == 1 ? " and " : "");
	}
	ct_ipcs_complain(&parse->scan, CT_ITT_NONE, word, ct_buf_text(&what), "more letters of one of them");
	ct_buf_fini(&what);
}

static const struct operand *find_operand(struct parse *parse, const struct operand_table *table, struct ct_span word)
{
	const struct operand *found = NULL;

	for (size_t i = 0; i < table->count; i++) {
		const struct operand *row = &table->rows[i];

		if (ct_name_is(word.at, word.size, row->name))
			return row;
	}
	for (size_t i = 0; i < table->count && word.size != 0; i++) {
		const struct operand *row = &table->rows[i];

		if (!begins(row->name, word))
			continue;
		if (found != NULL && (found->group != row->group || found->number != row->number || found->read != row->read)) {
			refuse_ambiguous(parse, table, word);
			return NULL;
		}
		found = row;
	}
	if (found == NULL)
		refuse_operand(parse, table, word);
	return found;
}

static void refuse_again(struct parse *parse, struct ct_span word, struct ct_span before)
{
	char what[60];

	(void)snprintf(what, sizeof what, "contradicts or repeats %.*s", (int)(before.size < 20 ? before.size : 20), before.at);
	ct_ipcs_complain(&parse->scan, CT_ITT_NONE, word, what, "each operand once");
}

static void read_operand(struct parse *parse, const struct operand_table *table)
{
	struct ct_ipcs_scan *scan = &parse->scan;
	struct ct_span word = ct_ipcs_scan_word(scan);
	struct ct_span group = { NULL, 0 };
	const struct operand *operand;

	if (word.size == 0) {
		ct_ipcs_complain(scan, CT_ITT_NONE, (struct ct_span){ scan->at, 1 }, "is not expected here", "an operand");
		return;
	}
	operand = find_operand(parse, table, word);
	if (operand == NULL)
		return;
	if (parse->said[operand->group].at != NULL) {
		refuse_again(parse, word, parse->said[operand->group]);
		return;
	}
	parse->said[operand->group] = word;
	if (operand->value != NO_VALUE && ct_ipcs_scan_accept(scan, '(')) {
		group = ct_ipcs_scan_group(scan, operand->value == HAS_VALUE ? "a value" : NULL);
		if (group.at == NULL) {
			if (scan->message == CT_ITT_NONE)
				scan->message = operand->read == read_copy_options ? CT_ITT10017I : parse->incomplete;
			return;
		}
	} else if (operand->value == HAS_VALUE) {
		ct_ipcs_complain(scan, parse->incomplete, word, "has no value", "\"(\" and a value behind it");
		return;
	}
	operand->read(parse, operand, group);
}

static void read_operands(struct parse *parse, const struct operand_table *table)
{
	ct_ipcs_scan_blanks(&parse->scan);
	while (!parse->scan.has_failed && parse->scan.at < parse->scan.end) {
		read_operand(parse, table);
		ct_ipcs_scan_blanks(&parse->scan);
	}
}

/* OPTIONS((COMP(X) SUB((Y)))) of COPYTRC: what is wrong there has messages of its own. */
static void read_copy_options(struct parse *parse, const struct operand *operand, struct ct_span group)
{
	struct ct_ipcs_scan *scan = &parse->scan;
	struct ct_span inner = ct_ipcs_inner(group);
	const char *at = scan->at;
	const char *end = scan->end;

	(void)operand;
	scan->at = inner.at;
	scan->end = inner.at + inner.size;
	parse->incomplete = CT_ITT10017I;
	read_operands(parse, &copy_option_table);
	parse->incomplete = CT_ITT_NONE;
	if (scan->has_failed && scan->message == CT_ITT_NONE)
		scan->message = CT_ITT10018I;
	scan->at = at;
	scan->end = end;
}

/* ---- what must hold of all operands together ---- */

static void check_times(struct parse *parse)
{
	struct ct_ipcs_command *out = parse->out;
	struct ct_ipcs_scan *scan = &parse->scan;

	out->has_start = parse->start.is_said;
	out->has_stop = parse->stop.is_said;
	if (out->has_start && !ct_ipcs_moment_us(&parse->start, out->is_local, &out->start_us))
		ct_ipcs_complain(scan, CT_ITT_NONE, parse->start.word, "is no day of the calendar", "mm/dd/yy,hh.mm.ss.dddddd");
	else if (out->has_stop && !ct_ipcs_moment_us(&parse->stop, out->is_local, &out->stop_us))
		ct_ipcs_complain(scan, CT_ITT_NONE, parse->stop.word, "is no day of the calendar", "mm/dd/yy,hh.mm.ss.dddddd");
	else if (out->has_start && out->has_stop && out->start_us > out->stop_us)
		ct_ipcs_complain(scan, CT_ITT10011I, parse->stop.word, "is before START", "a later time");
}

static void check_names(struct parse *parse)
{
	const struct ct_span *said = parse->said;
	struct ct_ipcs_command *out = parse->out;
	struct ct_ipcs_scan *scan = &parse->scan;

	if (out->sub[0] != '\0' && out->component[0] == '\0')
		ct_ipcs_complain(scan, CT_ITT_NONE, said[GROUP_SUB], "has no component", "COMP(name) with it");
	else if (strlen(out->component) + strlen(out->sub) >= CTRACE_MAX_COMPONENT && out->sub[0] != '\0')
		ct_ipcs_complain(scan, CT_ITT10014I, said[GROUP_SUB], "makes a name of more than 255 characters", "shorter names");
}

static void parse_ctrace(struct parse *parse)
{
	const struct ct_span *said = parse->said;
	struct ct_ipcs_scan *scan = &parse->scan;

	read_operands(parse, &ctrace_table);
	if (scan->has_failed)
		return;
	if (said[GROUP_QUERY].at != NULL && said[GROUP_COMP].at != NULL)
		ct_ipcs_complain(scan, CT_ITT10001I, said[GROUP_QUERY].at > said[GROUP_COMP].at ? said[GROUP_QUERY] : said[GROUP_COMP],
				 "cannot stand with the other", "QUERY or COMP");
	else if (said[GROUP_QUERY].at == NULL && said[GROUP_COMP].at == NULL)
		ct_ipcs_complain(scan, CT_ITT_NONE, (struct ct_span){ scan->end, 0 }, "the command ends here", "COMP(name) or QUERY");
	check_names(parse);
	check_times(parse);
}

static void parse_copytrc(struct parse *parse)
{
	struct ct_ipcs_scan *scan = &parse->scan;

	read_operands(parse, &copytrc_table);
	if (!scan->has_failed && parse->out->out.count == 0)
		ct_ipcs_complain(scan, CT_ITT_NONE, (struct ct_span){ scan->end, 0 }, "the command ends here",
				 "OUTDATASET(path) or OUTFILE(ddname)");
	check_names(parse);
	check_times(parse);
}

static void parse_setdef(struct parse *parse)
{
	read_operands(parse, &setdef_table);
}

static void parse_nothing(struct parse *parse)
{
	read_operands(parse, &no_table);
}

static void parse_help(struct parse *parse)
{
	struct ct_span word = ct_ipcs_scan_word(&parse->scan);

	(void)snprintf(parse->out->topic, sizeof parse->out->topic, "%.*s", (int)(word.size < 31 ? word.size : 31), word.at);
	ct_name_upper(parse->out->topic, strlen(parse->out->topic));
	read_operands(parse, &no_table);
}

/* ---- subcommands ---- */

static const struct verb_row {
	const char *name;
	enum ct_ipcs_verb verb;
	void (*parse)(struct parse *parse);
} verbs[] = {
	{ "CTRACE", CT_IPCS_CTRACE, parse_ctrace },    { "QUERY", CT_IPCS_CTRACE, parse_ctrace },
	{ "MERGE", CT_IPCS_MERGE, parse_nothing },     { "MERGEEND", CT_IPCS_MERGEEND, parse_nothing },
	{ "COPYTRC", CT_IPCS_COPYTRC, parse_copytrc }, { "SETDEF", CT_IPCS_SETDEF, parse_setdef },
	{ "HELP", CT_IPCS_HELP, parse_help },          { "END", CT_IPCS_END, parse_nothing },
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
	const struct verb_row *found = NULL;

	for (size_t i = 0; i < CT_COUNT(verbs); i++)
		if (ct_name_is(word.at, word.size, verbs[i].name))
			return &verbs[i];
	for (size_t i = 0; i < CT_COUNT(verbs); i++) {
		if (word.size == 0 || !begins(verbs[i].name, word))
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
	const char *names[CT_COUNT(verbs)];

	for (size_t i = 0; i < CT_COUNT(verbs); i++)
		names[i] = verbs[i].name;
	return ct_suggest(word, names, CT_COUNT(names));
}

bool ct_ipcs_may_be_command(const char *word)
{
	const char *group = strchr(word, '(');
	struct ct_span verb = { word, strcspn(word, " \t\n(") };

	/* "COMP(" has no blank in it, other than "traces (old)". */
	return group != NULL && group > word && !ct_is_blank(group[-1]) && (find_verb(verb) != NULL || suggest_verb(verb) != NULL);
}

static void refuse_verb(struct parse *parse, struct ct_span word)
{
	static const char expected[] = "CTRACE, MERGE, MERGEEND, COPYTRC, SETDEF, HELP or END";
	const char *suggestion = suggest_verb(word);
	char what[60];

	if (ct_name_is(word.at, word.size, "GTFTRACE"))
		(void)snprintf(what, sizeof what, "has nothing to read: there are no GTF traces");
	else if (suggestion != NULL)
		(void)snprintf(what, sizeof what, "is no subcommand (did you mean %s?)", suggestion);
	else
		(void)snprintf(what, sizeof what, "is no subcommand");
	ct_ipcs_complain(&parse->scan, CT_ITT_NONE, word, what, expected);
}

static void parse_command(struct parse *parse)
{
	struct ct_span word = ct_ipcs_scan_word(&parse->scan);
	const struct verb_row *row = find_verb(word);

	if (row == NULL) {
		refuse_verb(parse, word);
		return;
	}
	parse->out->verb = row->verb;
	if (row->verb == CT_IPCS_CTRACE && !begins("CTRACE", word))
		parse->scan.at = word.at; /* QUERY is its operand */
	row->parse(parse);
}

enum ctrace_status ct_ipcs_parse(const char *text, size_t size, struct ct_ipcs_command *out, enum ct_ipcs_message *out_message,
				 struct ct_complaint *out_complaint)
{
	struct parse parse = { .out = out };
	enum ctrace_status status = CTRACE_OK;

	memset(out, 0, sizeof *out);
	*out_complaint = (struct ct_complaint){ 0 };
	if (ct_ipcs_scan_start(&parse.scan, text, size, out_complaint))
		parse_command(&parse);
	if (parse.scan.has_failed)
		status = CTRACE_SYNTAX_ERROR;
	*out_message = parse.scan.message;
	ct_ipcs_scan_end(&parse.scan);
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
