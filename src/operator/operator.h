/*
 * operator/operator.h - the operator's grammar: TRACE CT, DISPLAY TRACE and REPLY
 * (spec/component-trace.md section 6).
 *
 * Text becomes one struct; what it does is not known here.  Any case; blanks where z/OS has them
 * and around commas, parentheses and equals signs.  Operands in any order, each once.  Parentheses
 * round one name, or round SUB's path, may be there or not.  A component's name that has blanks,
 * commas, parentheses, equals or quotation marks stands in quotation marks; '' is one.  Pure; any
 * thread.
 *
 *     TRACE CT[,{ON|nnnnK|nnnnM|OFF|}],COMP=name[,SUB=(subname)][,PARM=member]        T CT
 *     TRACE CT,WTRSTART=member[,WRAP|NOWRAP]
 *     TRACE CT,WTRSTOP=name[,FLUSH|NOFLUSH]
 *     D[ISPLAY]
 * TRACE[,COMP={name|(name[,name]...)|ALL}[,SUB=(subname)][,N=nnn][,SUBLEVEL]][,WTR={name|(name[,name]...)|ALL}][,TT][,L={a|name|name-a}]
 *     D[ISPLAY] R[,L]
 *     R[EPLY] [nn][,operands]                                    also Rnn,operands; a blank is as
 * good as the comma
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_OPERATOR_H
#define CT_CONTROL_OPERATOR_H

#include "lib/control/control.h"

#define CT_OPERATOR_LINE 8192u /* bytes of a command; more is refused */
#define CT_OPERATOR_NAMES 16u  /* in a list of COMP or WTR */

enum ct_operator_kind {
	/* blank, or a comment: a line that begins with "*" or "#", or with the two signs that begin
	   one in C */
	CT_OPERATOR_NONE,
	CT_OPERATOR_TRACE_CT,
	CT_OPERATOR_WTRSTART,
	CT_OPERATOR_WTRSTOP,
	CT_OPERATOR_DISPLAY_TRACE,
	CT_OPERATOR_DISPLAY_REPLIES,
	CT_OPERATOR_REPLY
};

struct ct_operator_command {
	enum ct_operator_kind kind;
	/* TRACE CT */
	uint32_t state;   /* CTRACE_CT_NONE, _ON, _OFF; a size says _ON */
	uint64_t bufsize; /* bytes; 0: none */
	/* COMP; a dotted name or a glob of the other face, too.  What can be a name of component
	 * trace is upper case, else it is as written. */
	char component[CTRACE_MAX_COMPONENT + 1];
	bool has_sub;
	/* Without the parentheses and blanks, upper case but for what is quoted: "A.ASID(1F).'a_b'"
	 */
	char sub[CTRACE_MAX_COMPONENT + 1];
	char member[CTRACE_MAX_NAME + 1]; /* PARM, WTRSTART; upper case; "": none */
	char job[CTRACE_MAX_NAME + 1];    /* WTRSTOP; upper case */
	bool nowrap, has_wrap;            /* WRAP or NOWRAP is said */
	bool noflush;
	/* DISPLAY TRACE */
	uint32_t name_count; /* COMP's list; 0 with COMP not said or ALL */
	char name[CT_OPERATOR_NAMES][CTRACE_MAX_COMPONENT + 1];
	bool has_comp, comp_all;
	bool has_n;
	uint32_t n; /* 0 to 999 */
	bool sublevel;
	bool has_wtr, wtr_all;
	uint32_t wtr_count;
	char wtr[CT_OPERATOR_NAMES][CTRACE_MAX_NAME + 1];
	bool tt;
	/* REPLY */
	uint32_t reply_id; /* 0 to 9999 */
	bool has_reply_id;
	/* what follows the number and its comma, in the command's text: ct_reply_parse() */
	struct ct_span operands;
};
/* OK, and *out; else CTRACE_FAILURE, and what is wrong first: line 0, the column in the text, the
 * words expected there, and in the message the word that was probably meant: "... (did you mean
 * SUB?)".  The operands of a reply are not looked at. */
enum ctrace_status ct_operator_parse(const char *text, size_t size, struct ct_operator_command *out,
				     struct ct_diagnostic *diagnostic) CT_MUST_USE;

/* The operands of a reply to ITT006A:
 * [ASID=(h,...)][,JOBNAME=(n,...)][,OPTIONS=(o,...)][,WTR={member|DISCONNECT}][,CONT|END].  Lists
 * without parentheses have one word.  Options are as they are in a member: 'any text' with '' for a
 * quotation mark, or words that may have parentheses of their own.  *out_is_end: END is said, else
 * the reply prompts again.  Nothing is set when the text is wrong; the diagnostic's column is in
 * this text: what stands before it in the command is the caller's to add.  The text is at most
 * CT_OPERATOR_LINE bytes. */
enum ctrace_status ct_reply_parse(const char *text, size_t size, struct ct_trace_request *out,
				  bool *out_is_end, struct ct_diagnostic *diagnostic) CT_MUST_USE;
/* One reply that says the same as two, both without an error: each value as it was typed last,
 * neither CONT nor END. */
void ct_reply_join(struct ct_span before, struct ct_span text, struct ct_buf *out);

#endif
