/*
 * cli/tool_argp.h - what the options of all verbs have in common: -h, and the nearest name for a
 * word that is no option.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_TOOL_ARGP_H
#define CT_CLI_TOOL_ARGP_H

#include <argp.h>

#define TOOL_ARGP_CHILDREN 8

/* An argp with its children and one more child. */
struct tool_argp {
	struct argp whole;
	struct argp_child children[TOOL_ARGP_CHILDREN + 1];
};
/* Returns argp with -h added as a short form of --help.  Borrows from argp; the result lives in
 * self. */
const struct argp *tool_argp_extend(struct tool_argp *self, const struct argp *argp);

/* Reports a long option that argp does not have, with the nearest name, and ends the tool as
 * argp does. */
void tool_argp_check(const struct argp *argp, int argc, char **argv, unsigned flags);

#endif
