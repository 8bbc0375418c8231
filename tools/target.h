/*
 * target.h - the options by which a verb says which processes it means, and its question to all of them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TARGET_H
#define CT_TOOLS_TARGET_H

#include <argp.h>
#include <stdbool.h>

#include "control/client.h"

struct target {
	struct ct_peer_filter filter;
	bool is_json;
	unsigned timeout_ms;
};
/* --pid, --job, --asid, --all, --json, --timeout: a child parser; its input is a struct target, which it first fills with what holds without options. */
extern const struct argp ct_target_argp;
/* Finds the processes, recovers orphans on the way, asks, complains on stderr of each that did not answer.  OK; NOT_FOUND (said on stderr) when
 * there is no such process. */
enum ctrace_status ct_target_ask(const struct target *target, const struct ct_buf *request, struct ct_peers *out_peers) CT_MUST_USE;

#endif
