/*
 * operator/operator_scan.h - what the files that read an operator's line share.
 *
 *     operator.c          which command it is
 *     operator_trace.c    TRACE CT
 *     operator_display.c  DISPLAY TRACE, DISPLAY R
 *     operator_reply.c    what follows REPLY
 *     operator_values.c   COMP and SUB
 *     operator_scan.c     the line and its operands
 *
 * Words, quotations and values are those of a member, so their parsers are the member's
 * (parmlib.h); unlike a member, a line ends with its first error.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_SCAN_H
#define CT_OPERATOR_SCAN_H

#include "operator/operator.h"
#include "lib/control/parmlib.h"

/* One reading of one line. */
struct ct_line {
	struct ct_parser parser; /* reason is 0 as long as nothing is wrong */
	struct ct_diagnostic *diagnostic;
	bool has_diagnosed;
};
/* whole: "the command".  Blanks and lines' ends at its end are no part of it.  False: it is too
 * long. */
bool ct_line_start(struct ct_line *line, const char *text, size_t size, const char *whole,
		   struct ct_diagnostic *diagnostic) CT_MUST_USE;
/* Returns false when the line has a character that no text has.  The diagnostic names it, and the
 * line must not be read. */
bool ct_line_is_text(struct ct_line *line) CT_MUST_USE;

/* KEYWORD=value or KEYWORD alone. */
struct ct_operand {
	const char *name;
	bool has_value;
	bool is_last;  /* nothing follows it */
	uint8_t group; /* one of a group at most is in a line */
	size_t flag;   /* a bool of *out that the word sets: its offset and 1; 0: none */
	/* Behind the equals sign.  Says what is wrong by complaining; out is who asked for. */
	void (*read)(struct ct_parser *parser, void *out);
};
#define CT_OPERAND_SETS(member) .flag = offsetof(struct ct_operator_command, member) + 1
struct ct_operand_table {
	const struct ct_operand *rows;
	size_t count;
	const char *refusal; /* "is not an operand of TRACE CT" */
};
#define CT_OPERAND_GROUPS 8u
/* Where in the line a group was said; at NULL: nowhere. */
struct ct_said {
	struct ct_span group[CT_OPERAND_GROUPS];
	struct ct_span whole[CT_OPERAND_GROUPS]; /* with its value */
};
/* From behind a comma to the end of the line.  False: something is wrong. */
bool ct_operands_read(struct ct_parser *parser, const struct ct_operand_table *table, void *out,
		      struct ct_said *said);
/* A value without blanks, of which one pair of parentheses is taken away.  False: there is none, or
 * no end of it. */
bool ct_operand_value(struct ct_parser *parser, const char *expected, struct ct_span *out_value);

/* ---- operator_values.c */
struct ct_names {
	char (*name)[CTRACE_MAX_COMPONENT + 1];
	uint32_t most;
	const char *expected; /* when there are more */
	bool *all;            /* set when they are ALL; NULL: then that is a name */
};
/* One, or some in parentheses.  Gives how many. */
uint32_t ct_read_names(struct ct_parser *parser, const struct ct_names *names);
void ct_read_operator_sub(struct ct_parser *parser, void *out); /* struct ct_operator_command */

/* ---- operator_trace.c, operator_display.c: what follows the first word */
void ct_parse_trace(struct ct_parser *parser, struct ct_operator_command *out);
void ct_parse_display(struct ct_parser *parser, struct ct_operator_command *out);

#endif
