/*
 * operator/operator_scan.h - what the files that read an operator's line share.
 *
 *     operator.c          the commands
 *     operator_reply.c    what follows REPLY
 *     operator_scan.c     the line and its operands
 *
 * Words, quotations and values have the syntax of a member, so the member's parsers read them
 * (parmlib.h).  Unlike a member, a line ends with its first error.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_OPERATOR_SCAN_H
#define CT_OPERATOR_OPERATOR_SCAN_H

#include "operator/operator.h"
#include "lib/control/parmlib.h"

/* Starts a line; `whole` names it in messages: "the command".  Blanks and newlines at its end
 * are ignored.  Returns false when the line is too long. */
bool ct_line_start(struct ct_parser *parser, const char *text, size_t size, const char *whole,
		   struct ct_diagnostic *diagnostic) CT_MUST_USE;
/* Returns false when the line has a character that text cannot have.  The diagnostic names it,
 * and the line must not be read. */
bool ct_line_is_text(struct ct_parser *parser) CT_MUST_USE;

/* KEYWORD=value or KEYWORD alone. */
struct ct_operand {
	const char *name;
	bool has_value;
	bool is_last;  /* no operand follows it */
	uint8_t group; /* a line has at most one operand of a group */
	size_t flag;   /* offset plus 1 of a bool in *out that the word sets; 0: none */
	/* Reads what follows the equals sign, and reports a diagnostic when it is wrong. */
	void (*read)(struct ct_parser *parser, void *out);
};
#define CT_OPERAND_SETS(member) .flag = offsetof(struct ct_operator_command, member) + 1
struct ct_operand_table {
	const struct ct_operand *rows;
	size_t count;
	const char *refusal; /* "is not an operand of TRACE CT" */
	const char *instead; /* what may stand in place of all operands; NULL: nothing */
};
#define CT_OPERAND_GROUPS 8u
/* The position of the operand of a group in the line; at NULL: there is none. */
struct ct_given {
	struct ct_span group[CT_OPERAND_GROUPS];
	struct ct_span whole[CT_OPERAND_GROUPS]; /* including its value */
};
/* Reads operands from after a comma to the end of the line.  Returns false when one is wrong. */
bool ct_operands_read(struct ct_parser *parser, const struct ct_operand_table *table, void *out,
		      struct ct_given *given);
/* Reads a value without blanks, and removes one pair of parentheses around it.  Returns false
 * when the value is missing or has no end. */
bool ct_operand_value(struct ct_parser *parser, const char *expected, struct ct_span *out_value);

/* ---- operator_scan.c: the values of COMP and SUB */
struct ct_names {
	char (*name)[CTRACE_MAX_COMPONENT + 1];
	uint32_t most;
	const char *expected; /* the diagnostic when there are more */
	/* set when the value is ALL; NULL: ALL is a name like others */
	bool *all;
};
/* Reads one name, or several in parentheses.  Returns their number. */
uint32_t ct_read_names(struct ct_parser *parser, const struct ct_names *names);
void ct_read_operator_sub(struct ct_parser *parser, void *out); /* struct ct_operator_command */

#endif
