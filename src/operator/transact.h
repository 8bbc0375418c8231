/*
 * operator/transact.h - TRACE CT as transactions: one trace in one process each.
 *
 * transact.c asks all processes and reports the results; transact_member.c reads a member.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_TRANSACT_H
#define CT_OPERATOR_TRANSACT_H

#include "operator/ask.h"
#include "operator/operator.h"

/* One trace that is to change, in every process that has it. */
struct transaction {
	char component[CTRACE_MAX_COMPONENT + 1];
	char sub[CTRACE_MAX_COMPONENT + 1];
	char place[48]; /* "CTAPP00:3:5 ", or "" */
	bool is_preset;
	/* one of several names: a process that lacks it is not reported */
	bool is_of_glob;
	/* totals, valid when all answers have come */
	uint32_t done;
	uint32_t failed;
};
struct transactions {
	struct transaction *items;
	size_t count;
	size_t capacity;
	uint32_t refused; /* traces that were refused before any process was asked */
	struct ask ask;
	uint64_t cart;   /* the same for all transactions of the command, and for no other */
	bool has_looked; /* for the processes */
	bool failed;     /* memory was short */
};
void ct_transactions_init(struct transactions *all, const struct target *target, struct wto *wto);
void ct_transactions_fini(struct transactions *all);
/* Adds a request of the command: its reply, or a statement of its member.  The SUB, state and
 * size of a statement override those of the command.  `place` ("CTAPP00:3:5" or "") is copied.
 * A pattern adds every matching trace of the target's processes. */
void ct_transactions_add(struct transactions *all, const struct ct_operator_command *command,
			 const struct ct_trace_request *request, const char *place);
/* Asks all processes, reports what each process refused, and ends with ITT038I. */
void ct_transactions_run(struct transactions *all);

/* ---- transact_member.c: all of TRACE CT,...,PARM=member, with its writers */
void ct_member_run(const struct ct_operator_command *command, const struct target *target,
		   struct wto *wto);
/* Reports why a member cannot be read: a reason of ct_parmlib_read(), and its path. */
void ct_member_report_unreadable(struct wto *wto, const char *member, const char *path,
				 uint32_t reason);

#endif
