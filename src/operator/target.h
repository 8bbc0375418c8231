/*
 * operator/target.h - the options by which a verb says which processes it means.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TARGET_H
#define CT_TOOLS_TARGET_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "session/client.h"

struct target {
	struct ct_peer_filter filter;
	bool is_json;
	unsigned timeout_ms;
	bool is_all;      /* --all is said */
	const char *verb; /* "ctrace level": who reports */
};
/* --pid, --job, --asid, --all, --json, --timeout: a child parser; its input is a struct target,
 * which it first fills with what holds without options. */
extern const struct argp ct_target_argp;

/* No process is picked out by pid, ASID or job. */
bool ct_target_is_all(const struct target *target);

#endif
