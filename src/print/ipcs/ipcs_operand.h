/*
 * print/ipcs/ipcs_operand.h - one command while it is parsed: ipcs_parse.c knows subcommands,
 * ipcs_operand.c what may stand behind them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_IPCS_IPCS_OPERAND_H
#define CT_PRINT_IPCS_IPCS_OPERAND_H

#include "print/ipcs/ipcs.h"

/* Operands of one group exclude each other: a command may have one of them, once. */
enum ct_ipcs_group {
	CT_IPCS_GROUP_QUERY,
	CT_IPCS_GROUP_COMP,
	CT_IPCS_GROUP_SUB,
	CT_IPCS_GROUP_SYSNAME,
	CT_IPCS_GROUP_REPORT,
	CT_IPCS_GROUP_ZONE,
	CT_IPCS_GROUP_START,
	CT_IPCS_GROUP_STOP,
	CT_IPCS_GROUP_EXCEPTION,
	CT_IPCS_GROUP_LIMIT,
	CT_IPCS_GROUP_IDS,
	CT_IPCS_GROUP_EXIT,
	CT_IPCS_GROUP_OPTIONS,
	CT_IPCS_GROUP_ALL,
	CT_IPCS_GROUP_CURRENT,
	CT_IPCS_GROUP_ERROR,
	CT_IPCS_GROUP_TCBERROR,
	CT_IPCS_GROUP_ASIDS,
	CT_IPCS_GROUP_JOBS,
	CT_IPCS_GROUP_SOURCE,
	CT_IPCS_GROUP_FLAG,
	CT_IPCS_GROUP_PRINT,
	CT_IPCS_GROUP_TERMINAL,
	CT_IPCS_GROUP_TEST,
	CT_IPCS_GROUP_CONFIRM,
	CT_IPCS_GROUP_LIST,
	CT_IPCS_GROUP_TYPE,
	CT_IPCS_GROUP_OUT,
	CT_IPCS_GROUP_SPACE,
	CT_IPCS_GROUP_COUNT
};

struct ct_ipcs_parse {
	struct ct_parser scan;
	struct ct_ipcs_command *out;
	struct ct_span given[CT_IPCS_GROUP_COUNT]; /* its position; at NULL: not given */
	struct ct_ipcs_time start, stop;
	enum ct_ipcs_message incomplete; /* the message for a keyword without its value */
};

/* The operands of a subcommand. */
struct ct_ipcs_operand;
struct ct_ipcs_operands {
	const struct ct_ipcs_operand *rows;
	size_t count;
	const char *refusal;
};
extern const struct ct_ipcs_operands ct_ipcs_ctrace_operands;
extern const struct ct_ipcs_operands ct_ipcs_copytrc_operands;
extern const struct ct_ipcs_operands ct_ipcs_setdef_operands;
extern const struct ct_ipcs_operands ct_ipcs_status_operands;
extern const struct ct_ipcs_operands ct_ipcs_no_operands;

/* Parses the rest of the command into parse->out. */
void ct_ipcs_read_operands(struct ct_ipcs_parse *parse, const struct ct_ipcs_operands *operands);
/* Does the name begin with the word, in any case? */
bool ct_ipcs_begins(const char *name, struct ct_span word);

#endif
