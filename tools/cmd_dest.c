/*
 * cmd_dest.c - ctrace dest.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

int cmd_dest(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return CMD_NOTHING;
}
