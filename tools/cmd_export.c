/*
 * cmd_export.c - ctrace export.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

int cmd_export(int argc, char **argv) { (void)argc; (void)argv; return CMD_USAGE; }
