/*
 * cmd_catalog.c - ctrace catalog.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

int cmd_catalog(int argc, char **argv) { (void)argc; (void)argv; return CMD_USAGE; }
