/*
 * slip_parse.c - SLIP SET, SLIP MOD and SLIP DEL, translated to the text of a trigger.
 *
 *     SLIP SET,ID=id[,ACTION=a|(a[,a]...)][,COMP=name[,SUB=(subname)]][,ENTRYID=n]
 *             [,DATA=(item,op,value)][,MATCHLIM=n][,JOBNAME=name][,ENABLE|DISABLE],END
 *     SLIP MOD,{ENABLE|DISABLE},ID=id[,END]
 *     SLIP DEL,ID=id[,END]
 *     D[ISPLAY] SLIP[=id]
 *     {SET|T} SLIP=xx
 *
 * What only a trap of z/OS can do is refused by name.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/slip.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/control/trigger.h"
#include "operator/component_names.h"

#define TRACE_TIME "60s"

enum {
	OPERAND_ID,
	OPERAND_ACTION,
	OPERAND_COMP,
	OPERAND_SUB,
	OPERAND_ENTRYID,
	OPERAND_DATA,
	OPERAND_MATCHLIM,
	OPERAND_JOBNAME,
	OPERAND_STATE,
	OPERAND_COUNT
};

struct slip {
	struct ct_operator_command *command;
	char component[CTRACE_MAX_COMPONENT + 1];
	char entry[16], data[CT_TRIGGER_TEXT], actions[64], limit[16];
	uint32_t action_count;
	bool has_dump, has_end, is_disabled;
	bool takes_pattern;                  /* the id may stand for several traps */
	struct ct_span given[OPERAND_COUNT]; /* the words; at NULL: not given */
};

static void clause_add(char *text, size_t size, const char *between, const char *clause)
{
	size_t used = strlen(text);

	(void)snprintf(text + used, size - used, "%s%s", used != 0 ? between : "", clause);
}

/* Each operand once.  Returns false when it was there before. */
static bool operand_note(struct ct_parser *parser, struct slip *slip, size_t operand,
			 struct ct_span word)
{
	struct ct_span before = slip->given[operand];
	char what[40] = "is there already";

	slip->given[operand] = word;
	if (before.at == NULL)
		return true;
	if (!ct_name_equal(word.at, word.size, before.at, before.size))
		(void)snprintf(what, sizeof what, "contradicts %.*s", (int)before.size, before.at);
	ct_parser_diagnose_word(parser, word, what, "each operand once");
	return false;
}

/* ---- values ---- */

static bool id_is_good(const struct slip *slip, struct ct_span id)
{
	char name[CT_TRIGGER_SLIP_ID + 1];

	if (id.size == 0 || id.size > CT_TRIGGER_SLIP_ID)
		return false;
	for (size_t i = 0; i < id.size; i++)
		name[i] = slip->takes_pattern && (id.at[i] == '*' || id.at[i] == '?') ? 'X'
										      : id.at[i];
	return ct_trigger_name_is_good(name, id.size);
}

static void read_id(struct ct_parser *parser, struct slip *slip)
{
	struct ct_span value;

	if (!ct_operand_value(parser, "a trap's id", &value))
		return;
	if (!id_is_good(slip, value)) {
		ct_parser_diagnose_word(
			parser, value, "is not the id of a trap",
			slip->takes_pattern
				? "1 to 4 letters, digits, _ and -, or a pattern with * and ?"
				: "1 to 4 letters, digits, _ and -");
		return;
	}
	memcpy(slip->command->slip_id, value.at, value.size);
	ct_name_upper(slip->command->slip_id, value.size);
}

static void action_add(struct ct_parser *parser, struct slip *slip, struct ct_span word)
{
	/* clang-format off */
	static const struct {
		const char *word, *action;
	} actions[] = {
		{ "SVCD", "dump" }, { "SYNCSVCD", "dump" }, { "STOP", "stop" },
		{ "TRACE", "level:debug:" TRACE_TIME },
	};
	/* clang-format on */
	for (size_t i = 0; i < CT_COUNT(actions); i++)
		if (ct_name_is(word.at, word.size, actions[i].word)) {
			if (slip->action_count++ == CT_TRIGGER_ACTIONS) {
				ct_parser_diagnose_word(parser, word, "is one too many",
							"at most 4 actions");
				return;
			}
			slip->has_dump |= i < 2;
			clause_add(slip->actions, sizeof slip->actions, ",", actions[i].action);
			return;
		}
	ct_parser_diagnose_word(parser, word,
				ct_name_is(word.at, word.size, "WAIT")
					? "would stop the whole system, and nothing here may"
					: "is not an action that there is here",
				"SVCD, STOP or TRACE");
}

static void read_action(struct ct_parser *parser, struct slip *slip)
{
	bool is_enclosed = ct_parser_accept(parser, '(');

	do {
		ct_parser_blanks(parser);
		action_add(parser, slip, ct_parser_value(parser));
	} while (is_enclosed && !parser->has_failed && ct_parser_accept(parser, ','));
	if (!parser->has_failed && is_enclosed && !ct_parser_accept(parser, ')'))
		ct_parser_diagnose_found(parser, "\",\" or \")\"");
}

static void read_component(struct ct_parser *parser, struct slip *slip)
{
	(void)ct_read_names(parser,
			    &(struct ct_names){ &slip->component, 1, "one component", NULL });
}

static bool number_read(struct ct_span value, uint64_t least, uint64_t most)
{
	uint64_t number = 0;

	for (size_t i = 0; i < value.size; i++) {
		if (value.at[i] < '0' || value.at[i] > '9' || number > most)
			return false;
		number = number * 10 + (uint64_t)(value.at[i] - '0');
	}
	return value.size != 0 && number >= least && number <= most;
}

static void read_number(struct ct_parser *parser, char out[16], uint64_t least, uint64_t most)
{
	struct ct_span value;
	char expected[60];

	(void)snprintf(expected, sizeof expected, "%" PRIu64 " to %" PRIu64, least, most);
	if (!ct_operand_value(parser, "a number", &value))
		return;
	if (!number_read(value, least, most)) {
		ct_parser_diagnose_word(parser, value, "is not such a number", expected);
		return;
	}
	while (value.size > 1 && value.at[0] == '0')
		value = ct_span_of(value.at + 1, value.at + value.size);
	(void)snprintf(out, 16, "%.*s", (int)value.size, value.at);
}

/* "5", "-1", "0x1F" */
static bool value_is_number(struct ct_span value)
{
	size_t sign = value.size != 0 && value.at[0] == '-';
	bool is_hex = value.size > sign + 2 && value.at[sign] == '0' &&
		      (value.at[sign + 1] | 0x20) == 'x';
	const char *digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
	size_t i = sign + (is_hex ? 2 : 0);

	if (i == value.size)
		return false;
	while (i < value.size && strchr(digits, value.at[i]) != NULL)
		i++;
	return i == value.size;
}

static const struct data_operator {
	const char *word, *mark;
	bool has_number, has_text;
} data_operators[] = {
	{ "EQ", "==", true, true },   { "NE", "!=", true, true },  { "GT", ">", true, false },
	{ "LT", "<", true, false },   { "GE", ">=", true, false }, { "LE", "<=", true, false },
	{ "LIKE", "~", false, true },
};

static const struct data_operator *data_operator_read(struct ct_parser *parser)
{
	static const char expected[] = "EQ, NE, GT, LT, GE, LE or LIKE";
	struct ct_span word;

	if (!ct_parser_accept(parser, ',')) {
		ct_parser_diagnose_found(parser, "\",\"");
		return NULL;
	}
	ct_parser_blanks(parser);
	word = ct_parser_value(parser);
	for (size_t i = 0; i < CT_COUNT(data_operators); i++)
		if (ct_name_is(word.at, word.size, data_operators[i].word))
			return &data_operators[i];
	if (word.size == 0)
		ct_parser_diagnose_found(parser, expected);
	else
		ct_parser_diagnose_word(parser, word, "is not a comparison", expected);
	return NULL;
}

/* A number, or a text in quotation marks, as the operator has it. */
static struct ct_span data_value_read(struct ct_parser *parser,
				      const struct data_operator *operator)
{
	const char *start;
	struct ct_span value;
	bool is_text;

	if (!ct_parser_accept(parser, ','))
		ct_parser_diagnose_found(parser, "\",\"");
	ct_parser_blanks(parser);
	start = parser->at;
	is_text = ct_parser_is_at(parser, '\'');
	if (is_text)
		(void)ct_parser_quotation(parser);
	else
		(void)ct_parser_value(parser);
	value = ct_span_of(start, parser->at);
	if (value.size == 0)
		ct_parser_diagnose_found(parser, "a number, or a text in quotation marks");
	else if (is_text && !operator->has_text)
		ct_parser_diagnose_word(parser, value, "has no order: it is a text",
					"a number; EQ, NE and LIKE compare texts");
	else if (!is_text && !operator->has_number)
		ct_parser_diagnose_word(parser, value, "is not a text in quotation marks",
					"a pattern such as 'bo*'");
	else if (!is_text && !value_is_number(value))
		ct_parser_diagnose_word(parser, value,
					"is neither a number nor a text in quotation marks",
					"a number such as 5, -1 or 0x1F, or 'text'");
	return value;
}

/* Whether the comparison can match: the diagnostic of the trigger is at the value. */
static void data_check(struct ct_parser *parser, const struct slip *slip, struct ct_span value)
{
	char text[sizeof slip->data + 16];
	struct ct_diagnostic diagnostic;
	struct ct_trigger trigger;

	(void)snprintf(text, sizeof text, "when %s do wto", slip->data);
	if (ct_trigger_parse(text, strlen(text), &trigger, &diagnostic) != CTRACE_OK)
		ct_parser_diagnose_at(parser, value.at, diagnostic.message, diagnostic.expected);
}

/* DATA=(2,EQ,5) or DATA=(1,EQ,'text') */
static void read_data(struct ct_parser *parser, struct slip *slip)
{
	const struct data_operator *operator;
	struct ct_span item, value;

	if (!ct_parser_accept(parser, '(')) {
		ct_parser_diagnose_found(parser, "(item,EQ|NE|GT|LT|GE|LE|LIKE,value)");
		return;
	}
	ct_parser_blanks(parser);
	item = ct_parser_value(parser);
	if (item.size == 0)
		ct_parser_diagnose_found(parser, "the number of an item; the first is 1");
	else if (!number_read(item, 1, CTRACE_MAX_ITEMS))
		ct_parser_diagnose_word(parser, item, "is not the number of an item",
					"1 to 4096; the first item is 1");
	operator= parser->has_failed ? NULL : data_operator_read(parser);
	if (operator== NULL)
		return;
	value = data_value_read(parser, operator);
	if (parser->has_failed)
		return;
	(void)snprintf(slip->data, sizeof slip->data, "data%.*s %s %.*s", (int)item.size,
		       item.at, operator->mark, (int)value.size, value.at);
	data_check(parser, slip, value);
	if (!parser->has_failed && !ct_parser_accept(parser, ')'))
		ct_parser_diagnose_found(parser, "\")\"");
}

static void read_entry(struct ct_parser *parser, struct slip *slip)
{
	read_number(parser, slip->entry, 0, UINT32_MAX);
}

static void read_limit(struct ct_parser *parser, struct slip *slip)
{
	read_number(parser, slip->limit, 1, 999999999);
}

static void read_job(struct ct_parser *parser, struct slip *slip)
{
	struct ct_span value;

	if (ct_operand_value(parser, "a job's name", &value))
		ct_diagnose_value(parser, value,
				  ct_jobname_parse(value.at, value.size, slip->command->job));
}

/* SUB=(A.B): the trace COMP.A.B */
static void read_sub(struct ct_parser *parser, struct slip *slip)
{
	ct_read_operator_sub(parser, slip->command);
}

/* ENABLE or DISABLE, also shortened as z/OS has it. */
static bool state_take(struct ct_parser *parser, struct slip *slip, struct ct_span word)
{
	bool is_enable =
		ct_name_is(word.at, word.size, "ENABLE") || ct_name_is(word.at, word.size, "EN");

	if (!is_enable && !ct_name_is(word.at, word.size, "DISABLE") &&
	    !ct_name_is(word.at, word.size, "D"))
		return false;
	(void)operand_note(parser, slip, OPERAND_STATE, word);
	slip->is_disabled = !is_enable;
	return true;
}

/* ---- SLIP SET ---- */

/* Operands of z/OS that have no meaning here. */
static bool word_is_of_zos(struct ct_span word)
{
	static const char *const words[] = {
		"IF",       "SBT",      "SB",     "SA",        "ZAD",      "ASID",   "ASIDSA",
		"AS",       "ASA",      "CPU",    "DEBUG",     "DOMAIN",   "DSSA",   "DSPNAME",
		"DN",       "ERRTYP",   "ER",     "EXCEPTION", "IDGROUP",  "IG",     "JSPGM",
		"JSP",      "LIST",     "LS",     "LPAEP",     "LE",       "LPAMOD", "L",
		"MODE",     "M",        "MSGID",  "MSG",       "NUCEP",    "NE",     "NUCMOD",
		"N",        "NOSUP",    "NOSYSA", "OK",        "PRCNTLIM", "PL",     "PSWASC",
		"PP",       "PVTEP",    "PE",     "PVTMOD",    "P",        "RANGE",  "RA",
		"RBLEVEL",  "RB",       "REASON", "RE",        "RECOVERY", "RECORD", "REFAFTER",
		"REFBEFOR", "REMOTE",   "SDATA",  "SD",        "STRLIST",  "SL",     "SUMLIST",
		"SU",       "TARGETID", "TI",     "TRDATA",    "TD",       "UNIT",   "VOLSER",
	};

	return ct_keywords_find(CT_KEYWORDS(words), word) != NULL;
}

static void operand_refuse(struct ct_parser *parser, struct ct_span word)
{
	static const char *const words[] = { "ID",      "ACTION",  "COMP",     "SUB",
					     "ENTRYID", "DATA",    "MATCHLIM", "JOBNAME",
					     "ENABLE",  "DISABLE", "END" };
	bool is_of_zos = word_is_of_zos(word);

	ct_parser_diagnose(
		parser,
		&(struct ct_finding){
			.word = word,
			.what = is_of_zos ? "is about storage and errors of z/OS"
					  : "is not an operand of SLIP",
			.meant = is_of_zos ? NULL : ct_suggest(word, words, CT_COUNT(words)),
			.expected =
				"ID=, ACTION=, COMP=, SUB=, ENTRYID=, DATA=, MATCHLIM=, JOBNAME=, ENABLE, DISABLE or END" });
}

static bool operand_read(struct ct_parser *parser, struct slip *slip, struct ct_span word)
{
	static const struct {
		const char *word, *other;
		void (*read)(struct ct_parser *parser, struct slip *slip);
	} operands[] = {
		[OPERAND_ID] = { "ID", "ID", read_id },
		[OPERAND_ACTION] = { "ACTION", "A", read_action },
		[OPERAND_COMP] = { "COMP", "COMP", read_component },
		[OPERAND_SUB] = { "SUB", "SUB", read_sub },
		[OPERAND_ENTRYID] = { "ENTRYID", "ENTRYID", read_entry },
		[OPERAND_DATA] = { "DATA", "DA", read_data },
		[OPERAND_MATCHLIM] = { "MATCHLIM", "ML", read_limit },
		[OPERAND_JOBNAME] = { "JOBNAME", "J", read_job },
	};

	if (state_take(parser, slip, word))
		return !parser->has_failed;
	for (size_t i = 0; i < CT_COUNT(operands); i++) {
		if (!ct_name_is(word.at, word.size, operands[i].word) &&
		    !ct_name_is(word.at, word.size, operands[i].other))
			continue;
		if (!operand_note(parser, slip, i, word))
			return false;
		if (ct_parser_accept(parser, '='))
			operands[i].read(parser, slip);
		else
			ct_parser_diagnose_found(parser, "\"=\"");
		return !parser->has_failed;
	}
	operand_refuse(parser, word);
	return false;
}

static bool operands_read(struct ct_parser *parser, struct slip *slip)
{
	while (ct_parser_accept(parser, ',')) {
		struct ct_span word;

		ct_parser_blanks(parser);
		word = ct_parser_word(parser);
		if (ct_name_is(word.at, word.size, "END")) {
			slip->has_end = true;
			break;
		}
		if (word.size == 0)
			ct_parser_diagnose_found(parser, "an operand of SLIP");
		if (parser->has_failed || !operand_read(parser, slip, word))
			return false;
	}
	ct_parser_blanks(parser);
	if (parser->at < parser->end)
		ct_parser_diagnose_found(parser, slip->has_end ? "nothing behind END" : "\",\"");
	return !parser->has_failed;
}

/* The component as a text of the filter: a quotation mark in it is doubled. */
static void component_add(const struct slip *slip, char *out, size_t size)
{
	const char *sub = slip->command->sub;
	char name[2 * CTRACE_MAX_COMPONENT + 2], quoted[2 * sizeof name];
	size_t used = 0;

	(void)snprintf(name, sizeof name, "%s%s%s", slip->component, sub[0] != '\0' ? "." : "",
		       sub);
	for (const char *at = name; *at != '\0'; at++) {
		if (*at == '\'')
			quoted[used++] = '\'';
		quoted[used++] = *at;
	}
	quoted[used] = '\0';
	(void)snprintf(out, size, "component %s '%s'", ct_is_pattern(name) ? "~" : "==", quoted);
}

/* The conditions, joined. */
static void filter_make(const struct slip *slip, char *out, size_t size)
{
	char clause[4 * CTRACE_MAX_COMPONENT + 40];

	if (slip->component[0] != '\0') {
		component_add(slip, clause, sizeof clause);
		clause_add(out, size, " && ", clause);
	}
	if (slip->entry[0] != '\0') {
		(void)snprintf(clause, sizeof clause, "event == %s", slip->entry);
		clause_add(out, size, " && ", clause);
	}
	if (slip->data[0] != '\0')
		clause_add(out, size, " && ", slip->data);
}

static void text_make(struct ct_parser *parser, struct slip *slip)
{
	char filter[4 * CTRACE_MAX_COMPONENT + CT_TRIGGER_TEXT + 80] = "";
	char text[sizeof filter + 120];
	struct ct_diagnostic diagnostic;
	struct ct_trigger trigger;
	int size;

	filter_make(slip, filter, sizeof filter);
	if (slip->actions[0] == '\0') {
		slip->has_dump = true;
		clause_add(slip->actions, sizeof slip->actions, ",", "dump");
	}
	/* As on z/OS, a trap with a dump is disabled after one match unless MATCHLIM says more. */
	if (slip->limit[0] == '\0' && slip->has_dump)
		(void)snprintf(slip->limit, sizeof slip->limit, "1");
	size = snprintf(text, sizeof text, "%swhen %s%s%s do %s",
			slip->is_disabled ? "disabled " : "", filter,
			slip->limit[0] != '\0' ? " limit " : "", slip->limit, slip->actions);
	if (ct_trigger_parse(text, (size_t)size, &trigger, &diagnostic) != CTRACE_OK)
		ct_parser_diagnose_at(parser, parser->at, diagnostic.message, diagnostic.expected);
	else
		memcpy(slip->command->slip_text, text, (size_t)size + 1);
}

static void set_parse(struct ct_parser *parser, struct ct_operator_command *out)
{
	struct slip slip = { .command = out };

	out->kind = CT_OPERATOR_SLIP_SET;
	if (!operands_read(parser, &slip))
		return;
	if (out->slip_id[0] == '\0')
		ct_parser_diagnose_at(parser, parser->end, "ID is missing", "\",ID=id\"");
	else if (!slip.has_end)
		ct_parser_diagnose_at(parser, parser->end, "END is missing", "\",END\"");
	else if (slip.given[OPERAND_SUB].at != NULL && slip.component[0] == '\0')
		ct_parser_diagnose_word(parser, slip.given[OPERAND_SUB],
					"is for the component of COMP", "COMP= with it");
	else if (slip.component[0] == '\0' && slip.entry[0] == '\0' && slip.data[0] == '\0')
		ct_parser_diagnose_at(parser, parser->end, "nothing says what the trap matches",
				      "COMP=, ENTRYID= or DATA=");
	else
		text_make(parser, &slip);
}

/* ---- SLIP MOD, SLIP DEL, DISPLAY SLIP ---- */

static void change_operand_read(struct ct_parser *parser, struct slip *slip, bool is_mod)
{
	struct ct_span word;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (is_mod && state_take(parser, slip, word))
		return;
	if (ct_name_is(word.at, word.size, "END"))
		slip->has_end = true;
	else if (ct_name_is(word.at, word.size, "ID") && ct_parser_accept(parser, '=') &&
		 operand_note(parser, slip, OPERAND_ID, word))
		read_id(parser, slip);
	else if (parser->has_failed)
		return;
	else if (word.size == 0)
		ct_parser_diagnose_found(parser, is_mod ? "ENABLE, DISABLE or ID=" : "ID=");
	else
		ct_parser_diagnose_word(
			parser, word, "is not changed here in a trap that exists",
			is_mod ? "ENABLE, DISABLE, ID= or END; SLIP SET with the same ID sets all anew"
			       : "ID= or END");
}

/* Behind MOD or DEL */
static void change_parse(struct ct_parser *parser, struct ct_operator_command *out, bool is_mod)
{
	struct slip slip = { .command = out, .takes_pattern = true };

	out->kind = is_mod ? CT_OPERATOR_SLIP_MOD : CT_OPERATOR_SLIP_DEL;
	while (!parser->has_failed && !slip.has_end && ct_parser_accept(parser, ','))
		change_operand_read(parser, &slip, is_mod);
	ct_parser_blanks(parser);
	if (!parser->has_failed && parser->at < parser->end)
		ct_parser_diagnose_found(parser, slip.has_end ? "nothing behind END" : "\",\"");
	else if (is_mod && slip.given[OPERAND_STATE].at == NULL)
		ct_parser_diagnose_at(parser, parser->end, "the new state is missing",
				      "\",ENABLE\" or \",DISABLE\"");
	else if (out->slip_id[0] == '\0')
		ct_parser_diagnose_at(parser, parser->end, "ID is missing", "\",ID=id\"");
	(void)snprintf(out->slip_text, sizeof out->slip_text, "%s",
		       !is_mod            ? "off"
		       : slip.is_disabled ? "disable"
					  : "enable");
}

void ct_slip_parse(struct ct_parser *parser, struct ct_operator_command *out)
{
	struct ct_span word;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (ct_name_is(word.at, word.size, "SET"))
		set_parse(parser, out);
	else if (ct_name_is(word.at, word.size, "MOD") || ct_name_is(word.at, word.size, "DEL"))
		change_parse(parser, out, ct_name_is(word.at, word.size, "MOD"));
	else
		ct_parser_diagnose_found(parser, "SET, MOD or DEL");
}

void ct_slip_display_parse(struct ct_parser *parser, struct ct_operator_command *out)
{
	struct slip slip = { .command = out, .takes_pattern = true };

	out->kind = CT_OPERATOR_DISPLAY_SLIP;
	if (ct_parser_accept(parser, '='))
		read_id(parser, &slip);
	ct_parser_blanks(parser);
	if (!parser->has_failed && parser->at < parser->end)
		ct_parser_diagnose_found(parser, "nothing more, or \"=id\" behind SLIP");
}

/* ---- SET SLIP=xx ---- */

void ct_slip_suffix_parse(struct ct_parser *parser, struct ct_operator_command *out)
{
	static const char expected[] = "=xx, the end of the name of a member IEASLPxx";
	static const char prefix[] = "IEASLP";
	size_t size = sizeof prefix - 1;
	struct ct_span value;

	out->kind = CT_OPERATOR_SET_SLIP;
	if (!ct_parser_accept(parser, '=')) {
		ct_parser_diagnose_found(parser, expected);
		return;
	}
	if (!ct_operand_value(parser, "two letters or digits", &value))
		return;
	memcpy(out->member, prefix, size);
	if (value.size == 2)
		memcpy(out->member + size, value.at, 2);
	ct_name_upper(out->member, size + 2);
	if (value.size != 2 || !ct_trace_name_is_valid(out->member, size + 2))
		ct_parser_diagnose_word(parser, value, "is not the end of a member's name",
					"two letters or digits");
	ct_parser_blanks(parser);
	if (!parser->has_failed && parser->at < parser->end)
		ct_parser_diagnose_found(parser, "nothing more");
}

void ct_slip_set_parse(struct ct_parser *parser, struct ct_operator_command *out)
{
	struct ct_span word;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (ct_name_is(word.at, word.size, "SLIP"))
		ct_slip_suffix_parse(parser, out);
	else if (word.size == 0)
		ct_parser_diagnose_found(parser, "SLIP=xx");
	else
		ct_parser_diagnose_word(parser, word, "is not set here", "SLIP=xx");
}
