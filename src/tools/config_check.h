/*
 * tools/config_check.h - what `ctrace config check` has found out about a file, for its printers.
 *
 * cmd_config.c reads and finds, config_settings.c gives the settings that come of it, one by one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_CONFIG_CHECK_H
#define CT_TOOLS_CONFIG_CHECK_H

#include "lib/control/control.h"

/* Each setting in force, in the file's own grammar: key and value, terminated, good during the
 * call. */
typedef void config_setting(const char *key, const char *value, void *user);
void ct_config_each_setting(const struct ct_target *target, config_setting *each, void *user);

#endif
