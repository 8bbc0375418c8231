/*
 * operator/operator_run.h - carries out an operator's commands, one at a time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_OPERATOR_RUN_H
#define CT_OPERATOR_OPERATOR_RUN_H

#include "operator/reply_table.h"
#include "operator/target.h"
#include "operator/wto.h"

struct dialogue {
	/* the processes that TRACE CT and DISPLAY are for; a reply uses those of its TRACE CT */
	struct target target;
	/* the reply to each prompt, given in advance; NULL: the prompt waits for REPLY */
	const char *reply;
	unsigned prompted; /* the last prompt that was shown */
	struct wto wto;    /* wto.worst: the worst result of the commands so far */
	/* Carries out ROUTE, for other machines, and sets *out_status to its CMD_*.  Returns false
	 * for any other command.  NULL: there is no ROUTE. */
	bool (*route)(const char *text, size_t size, int *out_status);
};
/* Called once: members come from /etc/ctrace/parmlib when CTRACE_PARMLIB is not set. */
void ct_operator_start(void);
void ct_operator_run(struct dialogue *dialogue, const char *text, size_t size);
/* Lists the outstanding prompts.  A failure is reported once, as a message. */
bool ct_operator_numbers(struct dialogue *dialogue, unsigned **out_numbers, size_t *out_count);
/* Shows another operator's prompt as it was shown first. */
void ct_operator_prompt(struct dialogue *dialogue, unsigned number);

#endif
