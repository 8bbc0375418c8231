/*
 * cmd_ipcs.c - ctrace ipcs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

int cmd_ipcs(int argc, char **argv) { (void)argc; (void)argv; return CMD_USAGE; }
