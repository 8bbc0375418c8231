/*
 * routine_plugin.c - a start/stop routine that test_define.c builds as a module of its own (as a
 * program it does nothing).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/component.h>

CTRACE_API_ ctrace_routine APPXYZSS;

/* Counts its calls where the caller of DEFINE can see it, and refuses the option NO. */
uint32_t APPXYZSS(struct ctrace_ctss *ctss)
{
	ctss->userdata[0]++;
	ctss->reason = 0x22;
	return ctss->options_size == 2 && ctss->options[0] == 'N' && ctss->options[1] == 'O' ? 4
											     : 0;
}

int main(void)
{
	return 0;
}
