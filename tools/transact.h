/*
 * transact.h - TRACE CT as transactions: one trace in one process each.
 *
 * transact.c asks all processes and says what came of it; transact_names.c knows what traces there are: which a glob means, and which was
 * probably meant; transact_member.c reads a member.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRANSACT_H
#define CT_TOOLS_TRANSACT_H

#include "target.h"
#include "wto.h"

/* One trace that is to change, wherever it is. */
struct transaction {
	char component[CTRACE_MAX_COMPONENT + 1];
	char sub[CTRACE_MAX_COMPONENT + 1];
	char place[48]; /* "CTAPP00:3:5 ", or "" */
	bool is_preset;
	bool is_of_glob; /* one of several names: nobody misses it in a process that lacks it */
	/* when everybody has answered */
	uint32_t done;
	uint32_t failed;
};
struct transactions {
	struct transaction *items;
	size_t count;
	size_t capacity;
	uint32_t refused; /* others, that nobody was asked for */
	struct ct_buf request;
	bool failed; /* memory was short */
};
void ct_transactions_init(struct transactions *all);
void ct_transactions_fini(struct transactions *all);
/* Adds what `command` asks for; `place` ("CTAPP00:3:5" or "") is copied; a glob in name or sub becomes every trace that it means in these
 * processes. */
void ct_transactions_add(struct transactions *all, const struct ctrace_trace_ct *command, const char *place,
			 const struct target *target, struct wto *wto);
/* Says that there is no process to ask. */
void ct_transact_say_nobody(const struct target *target, struct wto *wto);
/* Says which of these processes did not answer, and why; how many. */
uint32_t ct_transact_say_silent(const struct ct_peers *peers, struct wto *wto);
/* Asks, says what each process refused, and closes with ITT038I. */
void ct_transactions_run(struct transactions *all, const struct target *target, struct wto *wto);

/* ---- transact_names.c: the traces that there are in processes; names as ct_registry has them: "APPXYZ.SUBA" */
struct trace_names {
	char **items; /* sorted, each once in any case */
	size_t count;
	struct ct_peers peers; /* who was asked */
};
/* What running processes have that fits `glob`.  False: memory is short. */
bool ct_trace_names_get(const struct target *target, const char *glob, struct trace_names *out) CT_MUST_USE;
void ct_trace_names_fini(struct trace_names *names);
bool ct_is_glob(const char *text);
/* Dots are not matched by * and ?. */
bool ct_trace_name_fits(const char *glob, const char *name);
/* "; COMP=ABC is the nearest" or "; it has SUB=(A), (B)" or "". */
void ct_trace_names_hint(const struct target *target, const struct transaction *transaction, struct ct_buf *out);
/* "COMP=ABC SUB=(A.B)" */
void ct_trace_print(const char *component, const char *sub, struct ct_buf *out);

/* ---- transact_member.c: TRACE CT,...,PARM=member.  The whole of it, with its writers. */
struct ct_operator_command;
void ct_member_run(const struct ct_operator_command *command, const struct target *target, struct wto *wto);

#endif
