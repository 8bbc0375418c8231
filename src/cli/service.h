/*
 * cli/service.h - what the tool asks of systemd: the module systemd.so, loaded when it is asked.
 *
 * libsystemd and the six libraries that it needs would take a third of the start of every verb.
 * Without the module nothing is reported to systemd.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_SERVICE_H
#define CT_CLI_SERVICE_H

#include <stddef.h>

struct iovec;

/* What modules/systemd.c exports as `ct_systemd_module`. */
struct ct_systemd_module {
	size_t size; /* of this struct as the module knows it */
	int (*notify)(int unset_environment, const char *state);
	int (*journal_sendv)(const struct iovec *fields, int count);
};
#define CT_SYSTEMD_MODULE "ct_systemd_module"

/* Reports the state of a service, as sd_notify(3).  Loads nothing unless systemd wants to know. */
void ct_systemd_notify(const char *state);
/* Writes a line of the tool to the journal. */
void ct_systemd_journal(const char *text);

#endif
