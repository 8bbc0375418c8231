/*
 * operator/slip.h - SLIP SET, SLIP DEL and DISPLAY SLIP: triggers for those who think in traps.
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

/* ---- slip_run.c */
void ct_slip_run(struct dialogue *dialogue, const struct ct_operator_command *command);

#endif
