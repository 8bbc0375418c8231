/*
 * operator/target.h - the options that select the processes of a verb.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_TARGET_H
#define CT_OPERATOR_TARGET_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "session/client.h"

struct target {
	struct ct_peer_filter filter;
	bool is_json;
	unsigned timeout_ms;
	bool is_all;      /* --all was given */
	const char *verb; /* "ctrace level", for messages */
};
/* --pid, --job, --asid, --all: a child parser.  Its input is a struct target, in which it first
 * sets the defaults. */
extern const struct argp ct_selection_argp;
/* The same, and --json and --timeout: for verbs that ask the processes. */
extern const struct argp ct_target_argp;

/* Returns true if neither a pid, nor an ASID, nor a job selects processes. */
bool ct_target_is_all(const struct target *target);

#endif
