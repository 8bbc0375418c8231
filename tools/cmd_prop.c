/*
 * cmd_prop.c - ctrace prop.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

int cmd_prop(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return CMD_NOTHING;
}
