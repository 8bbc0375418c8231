/*
 * operator/transact.h - TRACE CT as transactions: one trace in one process each.
 *
 * transact.c asks all processes and says what came of it; transact_member.c reads a member.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRANSACT_H
#define CT_TOOLS_TRANSACT_H

#include "operator/ask.h"
#include "operator/operator.h"

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
	struct ask ask;
	bool has_looked; /* for the processes */
	bool failed;     /* memory was short */
};
void ct_transactions_init(struct transactions *all, const struct target *target, struct wto *wto);
void ct_transactions_fini(struct transactions *all);
/* Adds a request of the command: its reply, or a statement of its member, whose own SUB, state and
 * size count before the command's. `place` ("CTAPP00:3:5" or "") is copied; a pattern becomes every
 * trace that it means in the target's processes. */
void ct_transactions_add(struct transactions *all, const struct ct_operator_command *command,
			 const struct ct_trace_request *request, const char *place);
/* Asks, says what each process refused, and closes with ITT038I. */
void ct_transactions_run(struct transactions *all);

/* ---- transact_member.c: TRACE CT,...,PARM=member.  The whole of it, with its writers. */
void ct_member_run(const struct ct_operator_command *command, const struct target *target,
		   struct wto *wto);

#endif
