/*
 * tools/hosts/hosts_ask.h - runs a verb on other machines.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_HOSTS_HOSTS_ASK_H
#define CT_TOOLS_HOSTS_HOSTS_ASK_H

#include "operator/operator_run.h"

/* Runs the words of a verb on the machines of the list ("h1,h2", or "*" for all that answer), and
 * prints what they print, by machine.  The servers are those of CTRACE_NATS.  Returns the worst
 * exit status; that of a machine which does not answer is CMD_NOTHING. */
int hosts_ask(const char *hosts, size_t count, char *const *words);
/* Carries out a command of an operator: ROUTE system,command, ROUTE (system,...),command and ROUTE
 * *ALL,command, or RO for ROUTE, on other machines; any other command as ct_operator_run() does. */
void hosts_operator_run(struct dialogue *dialogue, const char *line, size_t size);

#endif
