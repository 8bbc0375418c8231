/*
 * control/operator.h - the operator's grammar: TRACE CT, DISPLAY TRACE and REPLY (spec/component-trace.md section 6).
 *
 * Text becomes one struct; what it does is not known here.  Any case; blanks where z/OS has them and around commas, parentheses and
 * equals signs.  Pure; any thread.
 *
 *     TRACE CT[,{ON|nnnnK|nnnnM|OFF|}],COMP=name[,SUB=(subname)][,PARM=member]        T CT
 *     TRACE CT,WTRSTART=member[,WRAP|NOWRAP]
 *     TRACE CT,WTRSTOP=name[,FLUSH|NOFLUSH]
 *     D[ISPLAY] TRACE[,COMP={name|(name[,name]...)|ALL}[,SUB=(subname)][,N=nnn][,SUBLEVEL]][,WTR={name|(name[,name]...)|ALL}][,TT][,L={a|name|name-a}]
 *     D[ISPLAY] R[,L]
 *     R[EPLY] [nn][,operands]                                    also Rnn,operands
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_OPERATOR_H
#define CT_CONTROL_OPERATOR_H

#include "control/control.h"

#define CT_OPERATOR_LINE 8192u /* bytes of a command; more is refused */
#define CT_OPERATOR_NAMES 16u  /* in a list of COMP or WTR */

enum ct_operator_kind {
	CT_OPERATOR_NONE, /* blank, or a comment: a line that begins with "*" or "#", or with the two signs that begin one in C */
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
	uint32_t state; /* CTRACE_CT_NONE, _ON, _OFF; a size says _ON */
	uint64_t bufsize; /* bytes; 0: none */
	char component[CTRACE_MAX_COMPONENT + 1]; /* COMP; a dotted name or a glob of the other face, too */
	bool has_sub;
	char sub[CTRACE_MAX_COMPONENT + 1]; /* without the parentheses: "A.ASID(1F)" */
	char member[CTRACE_MAX_NAME + 1];   /* PARM, WTRSTART; upper case; "": none */
	char job[CTRACE_MAX_NAME + 1];      /* WTRSTOP */
	bool nowrap, has_wrap;              /* WRAP or NOWRAP is said */
	bool noflush;
	/* DISPLAY TRACE */
	uint32_t name_count; /* COMP's list; 0 with COMP not said or ALL */
	char name[CT_OPERATOR_NAMES][CTRACE_MAX_COMPONENT + 1];
	bool has_comp, comp_all;
	bool has_n;
	uint32_t n;
	bool sublevel;
	bool has_wtr, wtr_all;
	uint32_t wtr_count;
	char wtr[CT_OPERATOR_NAMES][CTRACE_MAX_NAME + 1];
	bool tt;
	/* REPLY */
	uint32_t reply_id; /* 0 to 9999 */
	bool has_reply_id;
	struct ct_span operands; /* what follows the number and its comma, in the command's text: ct_reply_parse() */
};
/* OK, and *out; else INVALID_ARGUMENT-like: CTRACE_FAILURE with the complaint (line 0, column in text, expected words; a suggestion when one
 * is near, as "did you mean SUB?"). */
enum ctrace_status ct_operator_parse(const char *text, size_t size, struct ct_operator_command *out,
				     struct ct_complaint *complaint) CT_MUST_USE;

/* The operands of a reply to ITT006A: [ASID=(h,...)][,JOBNAME=(n,...)][,OPTIONS=(o,...)][,WTR={member|DISCONNECT}][,CONT|END].  Lists without
 * parentheses have one word.  Each operand replaces what the replies before it said.  What is missing stays. */
struct ct_reply {
	bool has_asid, has_jobname, has_options, has_wtr;
	char asid[CTRACE_MAX_FILTER * 5 + 1]; /* "1,2F"; as struct ctrace_trace_ct has it */
	char jobname[CTRACE_MAX_FILTER * 9 + 1];
	char options[CTRACE_MAX_OPTIONS + 1]; /* without the outer parentheses; quotation marks round an option are taken away */
	char wtr[CTRACE_MAX_NAME + 3];
	bool is_end; /* END was said: carry the command out; else it prompts again */
};
/* Adds to *reply, which is zeroed at first, and is left as it was when the text is wrong. */
enum ctrace_status ct_reply_parse(const char *text, size_t size, struct ct_reply *reply, struct ct_complaint *complaint) CT_MUST_USE;
/* What a reply says, as operands again, for the file that an outstanding reply lives in. */
void ct_reply_print(const struct ct_reply *reply, struct ct_buf *out);

#endif
