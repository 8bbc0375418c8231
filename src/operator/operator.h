/*
 * operator/operator.h - the operator's grammar: TRACE CT, DISPLAY TRACE and REPLY
 * (docs/operator.md).
 *
 * Text becomes one struct; parsing does not carry it out.  Keywords are in any case.  Blanks may
 * stand where z/OS allows them, and around commas, parentheses and equals signs.  Operands come in
 * any order, each once.  Parentheses round one name, or round SUB's path, are optional.  A
 * component name with blanks, commas, parentheses, equals signs or quotation marks stands in
 * quotation marks, in which '' is one quotation mark.  Pure; any thread.
 *
 *     TRACE CT[,{ON|nnnnK|nnnnM|OFF|}],COMP=name[,SUB=(subname)][,PARM=member]        T CT
 *     TRACE CT,WTRSTART=member[,WRAP|NOWRAP]
 *     TRACE CT,WTRSTOP=name[,FLUSH|NOFLUSH]
 *     D[ISPLAY] TRACE[,COMP={name|(name[,name]...)|ALL}[,SUB=(subname)][,N=nnn][,SUBLEVEL]]
 *             [,WTR={name|(name[,name]...)|ALL}][,TT][,L={a|name|name-a}]
 *     DU[MP] COMM={(title)|'title'|"title"}                       also TITLE=
 *     D[ISPLAY] R[,L]
 *     SLIP SET,ID=id[,ACTION=a|(a[,a]...)][,COMP=name[,SUB=(subname)]][,ENTRYID=n]
 *             [,DATA=(item,op,value)][,MATCHLIM=n][,JOBNAME=name][,ENABLE|DISABLE],END
 *     SLIP MOD,{ENABLE|DISABLE},ID=id[,END]
 *     SLIP DEL,ID=id[,END]            D[ISPLAY] SLIP[=id]             {SET|T} SLIP=xx
 *     R[EPLY] [nn][,operands]         also Rnn and REPLYnn; a blank may replace the comma
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_H
#define CT_OPERATOR_H

#include "lib/control/control.h"
#include "lib/dump/dump.h"

#define CT_OPERATOR_LINE 8192u /* bytes of a command; a longer one is refused */
#define CT_OPERATOR_NAMES 16u  /* in a list of COMP or WTR */

enum ct_operator_kind {
	/* a blank line, or a comment: "*", "#" or the start of a C comment begins it */
	CT_OPERATOR_NONE,
	CT_OPERATOR_TRACE_CT,
	CT_OPERATOR_WTRSTART,
	CT_OPERATOR_WTRSTOP,
	CT_OPERATOR_DUMP,
	CT_OPERATOR_DISPLAY_TRACE,
	CT_OPERATOR_DISPLAY_REPLIES,
	CT_OPERATOR_SLIP_SET,
	CT_OPERATOR_SLIP_MOD,
	CT_OPERATOR_SLIP_DEL,
	CT_OPERATOR_DISPLAY_SLIP,
	CT_OPERATOR_SET_SLIP,
	CT_OPERATOR_REPLY
};

struct ct_operator_command {
	enum ct_operator_kind kind;
	/* TRACE CT */
	uint32_t state;   /* CTRACE_CT_NONE, _ON, _OFF; a size implies _ON */
	uint64_t bufsize; /* bytes; 0: none */
	/* COMP: also a dotted name or a glob of the native API.  A valid name of component trace
	 * is upper case; any other name is as written. */
	char component[CTRACE_MAX_COMPONENT + 1];
	bool has_sub;
	/* Without parentheses and blanks, upper case except in quotation marks:
	 * "A.ASID(1F).'a_b'" */
	char sub[CTRACE_MAX_COMPONENT + 1];
	char member[CTRACE_MAX_NAME + 1]; /* PARM, WTRSTART, SET; upper case; "": none */
	char job[CTRACE_MAX_NAME + 1];    /* WTRSTOP; upper case */
	bool nowrap, has_wrap;            /* WRAP or NOWRAP was given */
	bool noflush;
	/* DUMP: without its quotation marks or parentheses */
	char title[CT_DUMP_TITLE + 1];
	/* DISPLAY TRACE */
	uint32_t name_count; /* the length of COMP's list; 0 without COMP or with ALL */
	char name[CT_OPERATOR_NAMES][CTRACE_MAX_COMPONENT + 1];
	bool has_comp, comp_all;
	bool has_n;
	uint32_t n; /* 0 to 999 */
	bool sublevel;
	bool has_wtr, wtr_all;
	uint32_t wtr_count;
	char wtr[CT_OPERATOR_NAMES][CTRACE_MAX_NAME + 1];
	bool tt;
	/* SLIP: also component, sub and job */
	/* upper case; for DISPLAY "": all; a pattern with * and ? for MOD, DEL and DISPLAY */
	char slip_id[CT_TRIGGER_NAME + 1];
	/* the trigger's text, or its change: "off", "enable" (lib/control/trigger.h) */
	char slip_text[CT_TRIGGER_TEXT + 1];
	/* REPLY */
	uint32_t reply_id; /* 0 to 9999 */
	bool has_reply_id;
	/* what follows the number and its comma, in the command's text: input of
	 * ct_reply_parse() */
	struct ct_span operands;
};
/* Returns OK and *out; else CTRACE_FAILURE and the first error: line 0, the column in the text,
 * and the expected words.  The message has the word that was probably meant: "... (did you mean
 * SUB?)".  The operands of a reply are not parsed. */
enum ctrace_status ct_operator_parse(const char *text, size_t size, struct ct_operator_command *out,
				     struct ct_diagnostic *diagnostic) CT_MUST_USE;

/*
 * Parses the operands of a reply to ITT006A:
 *
 *     [ASID=(h,...)][,JOBNAME=(n,...)][,OPTIONS=(o,...)][,WTR={member|DISCONNECT}][,CONT|END]
 *
 * A list without parentheses has one word.  Options are as in a member: 'any text' with '' for a
 * quotation mark, or words that may have parentheses of their own.  *out_is_end: END was given;
 * else the reply prompts again.  Stores nothing when the text is wrong.  The diagnostic's column is
 * in this text; the caller adds what precedes it in the command.  The text is at most
 * CT_OPERATOR_LINE bytes.
 */
enum ctrace_status ct_reply_parse(const char *text, size_t size, struct ct_trace_request *out,
				  bool *out_is_end, struct ct_diagnostic *diagnostic) CT_MUST_USE;
/*
 * Parses the operands of a reply to IEE094D:
 *
 *     U, or [ASID=(h,...)][,JOBNAME=(n,...)][,COMP=(c,...)][,SDATA=(...)][,CONT|END]
 *
 * Job names and components may be globs.  SDATA has no effect.  As ct_reply_parse().
 */
struct ct_dump_reply {
	bool is_end; /* END or U was given */
	uint32_t asid_count;
	uint16_t asid[CT_OPERATOR_NAMES];
	uint32_t job_count;
	char job[CT_OPERATOR_NAMES][CTRACE_MAX_COMPONENT + 1];
	uint32_t name_count;
	char name[CT_OPERATOR_NAMES][CTRACE_MAX_COMPONENT + 1];
};
enum ctrace_status ct_dump_reply_parse(const char *text, size_t size, struct ct_dump_reply *out,
				       struct ct_diagnostic *diagnostic) CT_MUST_USE;
/* Changes letters outside of quotation marks to upper case, as a console of z/OS does with all
 * that is typed.  A reply is folded before it is parsed. */
void ct_operator_fold(char *text, size_t size);
/* Joins two correct replies to a command of this kind into one with the same meaning: the later
 * value of each operand wins. The result has neither CONT nor END. */
void ct_reply_join(enum ct_operator_kind kind, struct ct_span before, struct ct_span text,
		   struct ct_buf *out);

#endif
