/*
 * tools/hosts/hosts_ask.h - runs a verb on other machines.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_HOSTS_HOSTS_ASK_H
#define CT_TOOLS_HOSTS_HOSTS_ASK_H

#include <stdbool.h>
#include <stddef.h>

/* Runs the words of a verb on the machines of the list ("h1,h2", or "*" or "*ALL" for all that
 * answer), and prints what they print, by machine.  The servers are those of CTRACE_NATS.  Returns
 * the worst exit status; that of a machine which does not answer is CMD_NOTHING. */
int hosts_ask(const char *hosts, size_t count, char *const *words);
/* Carries out ROUTE system,command, ROUTE (system,...),command and ROUTE *ALL,command, or RO for
 * ROUTE: dialogue.route (operator/operator_run.h). */
bool hosts_route(const char *text, size_t size, int *out_status);

#endif
