/*
 * cli/tool_argp.h - what the options of all verbs have in common: -h, and the nearest name for a
 * word that is no option.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TOOL_ARGP_H
#define CT_TOOLS_TOOL_ARGP_H

#include <argp.h>

#define TOOL_ARGP_CHILDREN 8

/* An argp and its children, one more among them. */
struct tool_argp {
	struct argp whole;
	struct argp_child children[TOOL_ARGP_CHILDREN + 1];
};
/* The argp with -h, which is --help as it is asked for elsewhere.  Borrows from argp; lives in
 * self. */
const struct argp *tool_argp_extend(struct tool_argp *self, const struct argp *argp);

/* Ends the tool as argp does, when a long option is none of argp's: with the name that was probably
 * meant. */
void tool_argp_check(const struct argp *argp, int argc, char **argv, unsigned flags);

#endif
