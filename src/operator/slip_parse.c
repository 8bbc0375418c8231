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

#include <stdio.h>
#include <string.h>

#include "lib/control/trigger.h"

#define ID_SIZE 4u
#define TRACE_TIME "60s"

struct slip {
	struct ct_operator_command *command;
	char component[CTRACE_MAX_COMPONENT + 1];
	char entry[16], data[CT_TRIGGER_TEXT], actions[64], limit[16];
	bool has_dump, has_end, is_disabled, has_state;
	bool takes_pattern; /* the id may stand for several traps */
};

static void clause_add(char *text, size_t size, const char *between, const char *clause)
{
	size_t used = strlen(text);

	(void)snprintf(text + used, size - used, "%s%s", used != 0 ? between : "", clause);
}

/* ---- values ---- */

static bool id_is_good(const struct slip *slip, struct ct_span id)
{
	char name[ID_SIZE + 1];

	if (id.size == 0 || id.size > ID_SIZE)
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

static void read_number(struct ct_parser *parser, char out[16])
{
	struct ct_span value;

	if (!ct_operand_value(parser, "a number", &value))
		return;
	if (value.size > 9 || strspn(value.at, "0123456789") < value.size)
		ct_parser_diagnose_word(parser, value, "is not a number", "0 to 999999999");
	else
		(void)snprintf(out, 16, "%.*s", (int)value.size, value.at);
}

/* DATA=(2,EQ,5) or DATA=(1,EQ,'text') */
static void read_data(struct ct_parser *parser, struct slip *slip)
{
	static const struct {
		const char *word, *mark;
	} operators[] = { { "EQ", "==" }, { "NE", "!=" }, { "GT", ">" },  { "LT", "<" },
			  { "GE", ">=" }, { "LE", "<=" }, { "LIKE", "~" } };
	static const char expected[] = "(item,EQ|NE|GT|LT|GE|LE|LIKE,value), the first item is 1";
	const char *mark = NULL, *start;
	struct ct_span item, word;

	if (!ct_parser_accept(parser, '(')) {
		ct_parser_diagnose_found(parser, expected);
		return;
	}
	ct_parser_blanks(parser);
	item = ct_parser_value(parser);
	(void)ct_parser_accept(parser, ',');
	ct_parser_blanks(parser);
	word = ct_parser_value(parser);
	for (size_t i = 0; i < CT_COUNT(operators); i++)
		if (ct_name_is(word.at, word.size, operators[i].word))
			mark = operators[i].mark;
	if (mark == NULL || !ct_parser_accept(parser, ',')) {
		ct_parser_diagnose_found(parser, expected);
		return;
	}
	ct_parser_blanks(parser);
	start = parser->at;
	if (ct_parser_is_at(parser, '\'')) {
		if (!ct_parser_quotation(parser))
			return;
	} else {
		(void)ct_parser_value(parser);
	}
	(void)snprintf(slip->data, sizeof slip->data, "data%.*s %s %.*s", (int)item.size, item.at,
		       mark, (int)(parser->at - start), start);
	if (!ct_parser_accept(parser, ')'))
		ct_parser_diagnose_found(parser, "\")\"");
}

static void read_entry(struct ct_parser *parser, struct slip *slip)
{
	read_number(parser, slip->entry);
}

static void read_limit(struct ct_parser *parser, struct slip *slip)
{
	read_number(parser, slip->limit);
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
static bool state_take(struct ct_span word, struct slip *slip)
{
	bool is_enable =
		ct_name_is(word.at, word.size, "ENABLE") || ct_name_is(word.at, word.size, "EN");

	if (!is_enable && !ct_name_is(word.at, word.size, "DISABLE") &&
	    !ct_name_is(word.at, word.size, "D"))
		return false;
	slip->has_state = true;
	slip->is_disabled = !is_enable;
	return true;
}

/* ---- SLIP SET ---- */

static bool operand_read(struct ct_parser *parser, struct slip *slip, struct ct_span word)
{
	static const struct {
		const char *word, *other;
		void (*read)(struct ct_parser *parser, struct slip *slip);
	} operands[] = {
		{ "ID", "ID", read_id },
		{ "ACTION", "A", read_action },
		{ "COMP", "COMP", read_component },
		{ "SUB", "SUB", read_sub },
		{ "ENTRYID", "ENTRYID", read_entry },
		{ "DATA", "DA", read_data },
		{ "MATCHLIM", "ML", read_limit },
		{ "JOBNAME", "J", read_job },
	};
	static const char expected[] =
		"ID=, ACTION=, COMP=, SUB=, ENTRYID=, DATA=, MATCHLIM=, JOBNAME=, ENABLE, DISABLE or END";

	if (state_take(word, slip))
		return true;
	if (!ct_parser_accept(parser, '=')) {
		ct_parser_diagnose_word(parser, word,
					"is not an operand of SLIP that there is here", expected);
		return false;
	}
	for (size_t i = 0; i < CT_COUNT(operands); i++)
		if (ct_name_is(word.at, word.size, operands[i].word) ||
		    ct_name_is(word.at, word.size, operands[i].other)) {
			operands[i].read(parser, slip);
			return !parser->has_failed;
		}
	ct_parser_diagnose_word(parser, word, "is about storage and errors of z/OS", expected);
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

static void text_make(struct ct_parser *parser, struct slip *slip)
{
	char filter[2 * CTRACE_MAX_COMPONENT + CT_TRIGGER_TEXT] = "";
	char clause[2 * CTRACE_MAX_COMPONENT + 40], text[2 * sizeof filter];
	struct ct_diagnostic diagnostic;
	struct ct_trigger trigger;
	int size;

	if (slip->component[0] != '\0') {
		(void)snprintf(clause, sizeof clause, "component == '%s%s%s'", slip->component,
			       slip->command->sub[0] != '\0' ? "." : "", slip->command->sub);
		clause_add(filter, sizeof filter, " && ", clause);
	}
	if (slip->entry[0] != '\0') {
		(void)snprintf(clause, sizeof clause, "event == %s", slip->entry);
		clause_add(filter, sizeof filter, " && ", clause);
	}
	if (slip->data[0] != '\0')
		clause_add(filter, sizeof filter, " && ", slip->data);
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
	if (size > (int)CT_TRIGGER_TEXT ||
	    ct_trigger_parse(text, (size_t)size, &trigger, &diagnostic) != CTRACE_OK)
		ct_parser_diagnose_at(
			parser, parser->at, "the trap cannot be set",
			"COMP=, ENTRYID= or DATA=, with values that a filter can have");
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
	else
		text_make(parser, &slip);
}

/* ---- SLIP MOD, SLIP DEL, DISPLAY SLIP ---- */

static void change_operand_read(struct ct_parser *parser, struct slip *slip, bool is_mod)
{
	struct ct_span word;

	ct_parser_blanks(parser);
	word = ct_parser_word(parser);
	if (is_mod && state_take(word, slip))
		return;
	if (ct_name_is(word.at, word.size, "END"))
		slip->has_end = true;
	else if (ct_name_is(word.at, word.size, "ID") && ct_parser_accept(parser, '='))
		read_id(parser, slip);
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
	else if (is_mod && !slip.has_state)
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
