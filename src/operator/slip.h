/*
 * operator/slip.h - SLIP SET, MOD and DEL, SET SLIP and DISPLAY SLIP: triggers for those who think
 * in traps.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_SLIP_H
#define CT_OPERATOR_SLIP_H

#include "operator/operator_scan.h"
#include "operator/operator_run.h"

/* ---- slip_parse.c */
/* Parses what follows the word SLIP; and what follows DISPLAY SLIP. */
void ct_slip_parse(struct ct_parser *parser, struct ct_operator_command *out);
void ct_slip_display_parse(struct ct_parser *parser, struct ct_operator_command *out);
/* Parses what follows the word SET, or SLIP in "T SLIP". */
void ct_slip_set_parse(struct ct_parser *parser, struct ct_operator_command *out);
void ct_slip_suffix_parse(struct ct_parser *parser, struct ct_operator_command *out);

/* ---- slip_run.c */
void ct_slip_run(struct dialogue *dialogue, const struct ct_operator_command *command);

/* ---- slip_member.c: the commands of a member, if all of them are correct */
void ct_slip_member_run(struct dialogue *dialogue, const char *member);

#endif
