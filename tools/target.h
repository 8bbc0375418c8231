/*
 * target.h - the options by which a verb says which processes it means, and its question to all of them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TARGET_H
#define CT_TOOLS_TARGET_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "control/client.h"

struct target {
	struct ct_peer_filter filter;
	bool is_json;
	unsigned timeout_ms;
	bool is_all;      /* --all is said */
	const char *verb; /* "ctrace level": who complains */
};
/* --pid, --job, --asid, --all, --json, --timeout: a child parser; its input is a struct target, which it first fills with what holds
 * without options. */
extern const struct argp ct_target_argp;

/* Finds the processes, recovers orphans on the way, asks, complains on stderr of each that did not answer.  OK; NOT_FOUND (said on
 * stderr) when there is no such process. */
enum ctrace_status ct_target_ask(const struct target *target, const struct ct_buf *request, struct ct_peers *out_peers) CT_MUST_USE;
/* Its two halves, for who leaves out some processes in between.  The first complains of what keeps it from looking, too. */
enum ctrace_status ct_target_find(const struct target *target, struct ct_peers *out_peers) CT_MUST_USE;
void ct_target_ask_these(const struct target *target, const struct ct_buf *request, struct ct_peers *peers);
/* Says that nobody is there, in these words, and why when the run directory that CTRACE_RUN_DIR names is one that cannot be used. */
void ct_target_complain_nobody(const struct target *target, const char *what);

/* What is wrong with a process that has not answered, as a sentence's end; NULL when it has, or has ended meanwhile, which is nothing
 * wrong. */
const char *ct_target_silence(const struct ct_peer *peer);
void ct_target_complain_silence(const struct target *target, const struct ct_peer *peer); /* if it is silent */
/* "1234 KVSERVER", as every verb names a process to people. */
void ct_target_print_name(FILE *to, const struct ct_peer *peer);

#endif
