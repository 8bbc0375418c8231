/*
 * operator/operator_run.h - carries out what an operator says, one command at a time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_OPERATOR_RUN_H
#define CT_TOOLS_OPERATOR_RUN_H

#include "operator/reply_table.h"
#include "operator/target.h"
#include "operator/wto.h"

struct dialogue {
	/* whom TRACE CT and DISPLAY are for; a reply is for whom its TRACE CT was */
	struct target target;
	const char *reply; /* answers each prompt at once; NULL: it waits for REPLY */
	unsigned prompted; /* the last prompt that was shown */
	struct wto wto;    /* wto.worst: what came of the commands so far */
};
/* To be called once: members come from /etc/ctrace/parmlib when CTRACE_PARMLIB is not set. */
void ct_operator_start(void);
void ct_operator_run(struct dialogue *dialogue, const char *text, size_t size);
/* The prompts that wait.  What goes wrong is said once, as a message. */
bool ct_operator_numbers(struct dialogue *dialogue, unsigned **out_numbers, size_t *out_count);
/* Another operator's prompt, as it was when it was asked. */
void ct_operator_prompt(struct dialogue *dialogue, unsigned number);

#endif
