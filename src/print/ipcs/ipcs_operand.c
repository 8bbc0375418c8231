/*
 * ipcs_operand.c - the operands of CTRACE, COPYTRC and SETDEF: which there are, how far they may be
 * abbreviated, and its value.
 *
 * Called by ipcs_parse.c, on its thread.  Reading ends with the first error; what had been read by
 * then belongs to the command.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs_operand.h"

#include <stdio.h>
#include <string.h>

#define WORD_MAX 4096u /* bytes of a path */
#define OPTIONS_MAX 1024u

enum operand_value { NO_VALUE, MAY_HAVE_VALUE, HAS_VALUE };

struct ct_ipcs_operand {
	const char *name;
	enum ct_ipcs_group group;
	enum operand_value value;
	int number; /* read()'s own; what has the same group and number is the same */
	void (*read)(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		     struct ct_span group);
};

/* ---- values of operands ---- */

static void read_nothing(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
			 struct ct_span group)
{
	(void)parse;
	(void)operand;
	(void)group;
}

static void read_query(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		       struct ct_span group)
{
	(void)operand;
	parse->out->verb = CT_IPCS_QUERY;
	if (group.size != 0)
		ct_ipcs_read_component(&parse->scan, group, parse->out->component);
}

static void read_comp(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		      struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_component(&parse->scan, group, parse->out->component);
}

static void read_sub(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		     struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_sub(&parse->scan, group, parse->out->sub);
}

static void read_sysname(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
			 struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_component(&parse->scan, group, parse->out->sysname);
}

static void read_report(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
			struct ct_span group)
{
	(void)group;
	parse->out->report = (enum ct_ipcs_report)operand->number;
}

static void read_zone(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		      struct ct_span group)
{
	(void)group;
	parse->out->is_local = operand->number != 0;
}

static void read_time(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		      struct ct_span group)
{
	ct_ipcs_read_time(&parse->scan, group,
			  operand->group == CT_IPCS_GROUP_START ? &parse->start : &parse->stop);
}

static void read_exception(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
			   struct ct_span group)
{
	(void)operand;
	(void)group;
	parse->out->is_exception = true;
}

static void read_limit(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		       struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_limit(&parse->scan, group, &parse->out->limit);
}

static void read_ids(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		     struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_ranges(&parse->scan, group, 0, UINT32_MAX, &parse->out->ids);
}

static void read_asids(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		       struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_ranges(&parse->scan, group, 1, UINT16_MAX, &parse->out->asids);
}

static void read_jobs(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		      struct ct_span group)
{
	(void)operand;
	ct_ipcs_read_words(&parse->scan, group, 16, &parse->out->jobs);
}

static void read_all(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		     struct ct_span group)
{
	(void)operand;
	(void)group;
	parse->out->is_all = true;
}

static void read_exit(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		      struct ct_span group)
{
	struct ct_ipcs_words words = { 0 };

	(void)operand;
	ct_ipcs_read_words(&parse->scan, group, sizeof parse->out->user_exit - 1, &words);
	if (!parse->scan.has_failed && (words.count != 1 || strchr(words.at[0], '/') != NULL))
		ct_ipcs_diagnose(&parse->scan, CT_ITT_NONE, group, "is no exit's name",
				 "the name of a module: NAME.so on CTRACE_LINKLIST");
	else if (!parse->scan.has_failed)
		memcpy(parse->out->user_exit, words.at[0], strlen(words.at[0]) + 1);
	ct_ipcs_words_fini(&words);
}

static void read_options(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
			 struct ct_span group)
{
	struct ct_span text = ct_ipcs_inner(group);

	(void)operand;
	if (text.size > OPTIONS_MAX) {
		ct_ipcs_diagnose(&parse->scan, CT_ITT_NONE, text, "is too long",
				 "options of at most 1024 bytes");
		return;
	}
	parse->out->options = strndup(text.at, text.size);
}

static void read_source(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
			struct ct_span group)
{
	parse->out->source = (enum ct_ipcs_source)operand->number;
	ct_ipcs_read_words(&parse->scan, group, WORD_MAX, &parse->out->sources);
}

static void read_active(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
			struct ct_span group)
{
	(void)operand;
	(void)group;
	parse->out->is_active = true;
}

static void read_list(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		      struct ct_span group)
{
	(void)operand;
	(void)group;
	parse->out->is_list = true;
}

static void read_type(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		      struct ct_span group)
{
	(void)operand;
	if (!ct_name_is(group.at, group.size, "CTRACE"))
		ct_ipcs_diagnose(&parse->scan, CT_ITT_NONE, group,
				 "is no type of trace that there is", "CTRACE");
}

static void read_out(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
		     struct ct_span group)
{
	parse->out->out_kind = (enum ct_ipcs_source)operand->number;
	ct_ipcs_read_words(&parse->scan, group, WORD_MAX, &parse->out->out);
	if (!parse->scan.has_failed && parse->out->out.count != 1)
		ct_ipcs_diagnose(&parse->scan, CT_ITT_NONE, group, "is more than one",
				 "one data set");
}

static void read_copy_options(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
			      struct ct_span group);

/* ---- the tables ---- */

/* clang-format off */
#define SELECTION \
	{ "COMP", CT_IPCS_GROUP_COMP, HAS_VALUE, 0, read_comp }, \
	{ "SUB", CT_IPCS_GROUP_SUB, HAS_VALUE, 0, read_sub }, \
	{ "SUBNAME", CT_IPCS_GROUP_SUB, HAS_VALUE, 0, read_sub }, \
	{ "SYSNAME", CT_IPCS_GROUP_SYSNAME, HAS_VALUE, 0, read_sysname }, \
	{ "GMT", CT_IPCS_GROUP_ZONE, NO_VALUE, 0, read_zone }, \
	{ "LOCAL", CT_IPCS_GROUP_ZONE, NO_VALUE, 1, read_zone }, \
	{ "START", CT_IPCS_GROUP_START, HAS_VALUE, 0, read_time }, \
	{ "STOP", CT_IPCS_GROUP_STOP, HAS_VALUE, 0, read_time }, \
	{ "EXCEPTION", CT_IPCS_GROUP_EXCEPTION, NO_VALUE, 0, read_exception }, \
	{ "ENTIDLIST", CT_IPCS_GROUP_IDS, HAS_VALUE, 0, read_ids }, \
	{ "ALL", CT_IPCS_GROUP_ALL, NO_VALUE, 0, read_all }, \
	{ "ASIDLIST", CT_IPCS_GROUP_ASIDS, HAS_VALUE, 0, read_asids }, \
	{ "JOBLIST", CT_IPCS_GROUP_JOBS, HAS_VALUE, 0, read_jobs }, \
	{ "JOBNAME", CT_IPCS_GROUP_JOBS, HAS_VALUE, 0, read_jobs }
#define DEFAULTS \
	{ "ACTIVE", CT_IPCS_GROUP_SOURCE, NO_VALUE, 2, read_active }, \
	{ "MAIN", CT_IPCS_GROUP_SOURCE, NO_VALUE, 2, read_active }, \
	{ "STORAGE", CT_IPCS_GROUP_SOURCE, NO_VALUE, 2, read_active }, \
	{ "DSNAME", CT_IPCS_GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source }, \
	{ "DATASET", CT_IPCS_GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source }, \
	{ "PATH", CT_IPCS_GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source }, \
	{ "FILE", CT_IPCS_GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_DDNAME, read_source }, \
	{ "DDNAME", CT_IPCS_GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_DDNAME, read_source }, \
	{ "FLAG", CT_IPCS_GROUP_FLAG, HAS_VALUE, 0, read_nothing }, \
	{ "PRINT", CT_IPCS_GROUP_PRINT, NO_VALUE, 0, read_nothing }, \
	{ "NOPRINT", CT_IPCS_GROUP_PRINT, NO_VALUE, 1, read_nothing }, \
	{ "TERMINAL", CT_IPCS_GROUP_TERMINAL, NO_VALUE, 0, read_nothing }, \
	{ "NOTERMINAL", CT_IPCS_GROUP_TERMINAL, NO_VALUE, 1, read_nothing }, \
	{ "TEST", CT_IPCS_GROUP_TEST, NO_VALUE, 0, read_nothing }, \
	{ "NOTEST", CT_IPCS_GROUP_TEST, NO_VALUE, 1, read_nothing }

static const struct ct_ipcs_operand ctrace_rows[] = {
	{ "QUERY", CT_IPCS_GROUP_QUERY, MAY_HAVE_VALUE, 0, read_query },
	{ "SHORT", CT_IPCS_GROUP_REPORT, NO_VALUE, CT_IPCS_SHORT, read_report },
	{ "SUMMARY", CT_IPCS_GROUP_REPORT, NO_VALUE, CT_IPCS_SUMMARY, read_report },
	{ "FULL", CT_IPCS_GROUP_REPORT, NO_VALUE, CT_IPCS_FULL, read_report },
	{ "TALLY", CT_IPCS_GROUP_REPORT, NO_VALUE, CT_IPCS_TALLY, read_report },
	{ "LIMIT", CT_IPCS_GROUP_LIMIT, HAS_VALUE, 0, read_limit },
	{ "USEREXIT", CT_IPCS_GROUP_EXIT, HAS_VALUE, 0, read_exit },
	{ "OPTIONS", CT_IPCS_GROUP_OPTIONS, HAS_VALUE, 0, read_options },
	{ "CURRENT", CT_IPCS_GROUP_CURRENT, NO_VALUE, 0, read_nothing },
	{ "ERROR", CT_IPCS_GROUP_ERROR, NO_VALUE, 0, read_nothing },
	{ "TCBERROR", CT_IPCS_GROUP_TCBERROR, NO_VALUE, 0, read_nothing },
	SELECTION,
	DEFAULTS,
};
static const struct ct_ipcs_operand copytrc_rows[] = {
	{ "TYPE", CT_IPCS_GROUP_TYPE, HAS_VALUE, 0, read_type },
	{ "INDATASET", CT_IPCS_GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source },
	{ "INDSNAME", CT_IPCS_GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source },
	{ "INPATH", CT_IPCS_GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_PATH, read_source },
	{ "INFILE", CT_IPCS_GROUP_SOURCE, HAS_VALUE, CT_IPCS_BY_DDNAME, read_source },
	{ "OUTDATASET", CT_IPCS_GROUP_OUT, HAS_VALUE, CT_IPCS_BY_PATH, read_out },
	{ "OUTDSNAME", CT_IPCS_GROUP_OUT, HAS_VALUE, CT_IPCS_BY_PATH, read_out },
	{ "OUTPATH", CT_IPCS_GROUP_OUT, HAS_VALUE, CT_IPCS_BY_PATH, read_out },
	{ "OUTFILE", CT_IPCS_GROUP_OUT, HAS_VALUE, CT_IPCS_BY_DDNAME, read_out },
	{ "OPTIONS", CT_IPCS_GROUP_OPTIONS, HAS_VALUE, 0, read_copy_options },
	{ "SPACE", CT_IPCS_GROUP_SPACE, HAS_VALUE, 0, read_nothing },
	DEFAULTS,
};
static const struct ct_ipcs_operand copy_option_rows[] = { SELECTION };
static const struct ct_ipcs_operand setdef_rows[] = {
	{ "LIST", CT_IPCS_GROUP_LIST, NO_VALUE, 0, read_list },
	{ "CONFIRM", CT_IPCS_GROUP_CONFIRM, NO_VALUE, 0, read_nothing },
	{ "NOCONFIRM", CT_IPCS_GROUP_CONFIRM, NO_VALUE, 1, read_nothing },
	DEFAULTS,
};
static const struct ct_ipcs_operand status_rows[] = { DEFAULTS };
/* clang-format on */

const struct ct_ipcs_operands ct_ipcs_ctrace_operands = { ctrace_rows, CT_COUNT(ctrace_rows),
							  "is not an operand of CTRACE" };
const struct ct_ipcs_operands ct_ipcs_copytrc_operands = { copytrc_rows, CT_COUNT(copytrc_rows),
							   "is not an operand of COPYTRC" };
static const struct ct_ipcs_operands copy_option_table = { copy_option_rows,
							   CT_COUNT(copy_option_rows),
							   "is not an option of COPYTRC" };
const struct ct_ipcs_operands ct_ipcs_setdef_operands = { setdef_rows, CT_COUNT(setdef_rows),
							  "is not an operand of SETDEF" };
const struct ct_ipcs_operands ct_ipcs_status_operands = { status_rows, CT_COUNT(status_rows),
							  "is not an operand of STATUS" };
const struct ct_ipcs_operands ct_ipcs_no_operands = { NULL, 0, "is not expected here" };

/* ---- operands ---- */

bool ct_ipcs_begins(const char *name, struct ct_span word)
{
	return word.size <= strlen(name) && ct_name_equal(name, word.size, word.at, word.size);
}

static struct ct_keywords operand_names(const struct ct_ipcs_operands *table)
{
	return (struct ct_keywords){ table->rows, sizeof table->rows[0], table->count };
}

static void refuse_operand(struct ct_ipcs_parse *parse, const struct ct_ipcs_operands *table,
			   struct ct_span word)
{
	ct_parser_diagnose(&parse->scan,
			   &(struct ct_finding){
				   .word = word,
				   .what = table->refusal,
				   .meant = ct_keywords_suggest(operand_names(table), word),
				   .expected = table->count == 0
						       ? "nothing more"
						       : "one of its operands: HELP lists them" });
}

/* "is short for STOP, START and STORAGE" */
static void refuse_ambiguous(struct ct_ipcs_parse *parse, const struct ct_ipcs_operands *table,
			     struct ct_span word)
{
	struct ct_buf what;
	size_t left = 0;

	for (size_t i = 0; i < table->count; i++)
		left += ct_ipcs_begins(table->rows[i].name, word);
	ct_buf_init(&what);
	ct_buf_add_text(&what, "is short for ");
	for (size_t i = 0; i < table->count; i++) {
		if (!ct_ipcs_begins(table->rows[i].name, word))
			continue;
		left--;
		ct_buf_add_text(&what, table->rows[i].name);
		ct_buf_add_text(&what, left > 1 ? ", " : left == 1 ? " and " : "");
	}
	ct_ipcs_diagnose(&parse->scan, CT_ITT_NONE, word, ct_buf_text(&what),
			 "more letters of one of them");
	ct_buf_fini(&what);
}

static const struct ct_ipcs_operand *
find_operand(struct ct_ipcs_parse *parse, const struct ct_ipcs_operands *table, struct ct_span word)
{
	const struct ct_ipcs_operand *found = ct_keywords_find(operand_names(table), word);

	if (found != NULL)
		return found;
	for (size_t i = 0; i < table->count && word.size != 0; i++) {
		const struct ct_ipcs_operand *row = &table->rows[i];

		if (!ct_ipcs_begins(row->name, word))
			continue;
		if (found != NULL && (found->group != row->group || found->number != row->number ||
				      found->read != row->read)) {
			refuse_ambiguous(parse, table, word);
			return NULL;
		}
		found = row;
	}
	if (found == NULL)
		refuse_operand(parse, table, word);
	return found;
}

static void refuse_again(struct ct_ipcs_parse *parse, struct ct_span word, struct ct_span before)
{
	char what[60];

	(void)snprintf(what, sizeof what, "contradicts or repeats %.*s",
		       (int)(before.size < 20 ? before.size : 20), before.at);
	ct_ipcs_diagnose(&parse->scan, CT_ITT_NONE, word, what, "each operand once");
}

static void read_operand(struct ct_ipcs_parse *parse, const struct ct_ipcs_operands *table)
{
	struct ct_parser *scan = &parse->scan;
	struct ct_span word = ct_ipcs_scan_word(scan);
	struct ct_span group = { NULL, 0 };
	const struct ct_ipcs_operand *operand;

	if (word.size == 0) {
		ct_ipcs_diagnose(scan, CT_ITT_NONE, (struct ct_span){ scan->at, 1 },
				 "is not expected here", "an operand");
		return;
	}
	operand = find_operand(parse, table, word);
	if (operand == NULL)
		return;
	if (parse->given[operand->group].at != NULL) {
		refuse_again(parse, word, parse->given[operand->group]);
		return;
	}
	parse->given[operand->group] = word;
	if (operand->value != NO_VALUE && ct_parser_accept(scan, '(')) {
		group = ct_ipcs_scan_group(scan, operand->value == HAS_VALUE ? "a value" : NULL);
		if (group.at == NULL) {
			if (scan->code == CT_ITT_NONE)
				scan->code = operand->read == read_copy_options ? CT_ITT10017I
										: parse->incomplete;
			return;
		}
	} else if (operand->value == HAS_VALUE) {
		ct_ipcs_diagnose(scan, parse->incomplete, word, "has no value",
				 "\"(\" and a value behind it");
		return;
	}
	operand->read(parse, operand, group);
}

void ct_ipcs_read_operands(struct ct_ipcs_parse *parse, const struct ct_ipcs_operands *table)
{
	ct_ipcs_scan_blanks(&parse->scan);
	while (!parse->scan.has_failed && parse->scan.at < parse->scan.end) {
		read_operand(parse, table);
		ct_ipcs_scan_blanks(&parse->scan);
	}
}

/* OPTIONS((COMP(X) SUB((Y)))) of COPYTRC: what is wrong there has messages of its own. */
static void read_copy_options(struct ct_ipcs_parse *parse, const struct ct_ipcs_operand *operand,
			      struct ct_span group)
{
	struct ct_parser *scan = &parse->scan;
	struct ct_span inner = ct_ipcs_inner(group);
	const char *at = scan->at;
	const char *end = scan->end;

	(void)operand;
	scan->at = inner.at;
	scan->end = inner.at + inner.size;
	parse->incomplete = CT_ITT10017I;
	ct_ipcs_read_operands(parse, &copy_option_table);
	parse->incomplete = CT_ITT_NONE;
	if (scan->has_failed && scan->code == CT_ITT_NONE)
		scan->code = CT_ITT10018I;
	scan->at = at;
	scan->end = end;
}
