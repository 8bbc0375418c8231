/*
 * cmd_reload.c - ctrace reload.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

int cmd_reload(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return CMD_NOTHING;
}
