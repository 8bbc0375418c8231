/*
 * tools/traces/ipcs_defined.h - the traces that running processes have defined, for QUERY.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_IPCS_DEFINED_H
#define CT_TOOLS_TRACES_IPCS_DEFINED_H

#include "operator/display.h"
#include "print/ipcs/ipcs.h"

#define IPCS_DEFINED_PIDS 64u

struct ipcs_defined {
	bool is_of_all; /* else of these processes */
	uint32_t pids[IPCS_DEFINED_PIDS];
	uint32_t pid_count;
	/* open()'s; texts are the display's */
	struct ct_ipcs_definition *items;
	uint32_t count;
	struct ct_display display;
};
/* Called with is_of_all and pids set.  Asks the processes; one without a response adds nothing. */
void ipcs_defined_open(struct ipcs_defined *defined);
void ipcs_defined_close(struct ipcs_defined *defined);

#endif
