/*
 * systemd.c - the functions of libsystemd that the tool calls (cli/service.h).  The module
 * systemd.so.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/service.h"

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

extern const struct ct_systemd_module ct_systemd_module;
__attribute__((visibility("default")))
const struct ct_systemd_module ct_systemd_module = { .size = sizeof(struct ct_systemd_module),
						     .notify = sd_notify,
						     .journal_sendv = sd_journal_sendv };
