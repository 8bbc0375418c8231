/*
 * cmd_writer.c - ctrace writer.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

int cmd_writer(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return CMD_NOTHING;
}
