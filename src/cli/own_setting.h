/*
 * cli/own_setting.h - settings that the tool reads for itself, in the configuration that its own
 * MFTRACE_CONFIG names.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_OWN_SETTING_H
#define CT_CLI_OWN_SETTING_H

#include "lib/control/control.h"

/* Stores the last value of the setting.  Returns false, and stores "", when there is none. */
bool ct_own_setting(enum ct_verb verb, char *out, size_t room);

#endif
