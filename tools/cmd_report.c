/*
 * cmd_report.c - ctrace report.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

int cmd_report(int argc, char **argv) { (void)argc; (void)argv; return CMD_USAGE; }
