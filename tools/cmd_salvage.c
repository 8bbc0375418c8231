/*
 * cmd_salvage.c - ctrace salvage.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

int cmd_salvage(int argc, char **argv) { (void)argc; (void)argv; return CMD_USAGE; }
