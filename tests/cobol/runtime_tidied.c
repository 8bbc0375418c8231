/*
 * runtime_tidied.c - ends the run time by cob_tidy(), and uses libcob after that: its state is
 * freed.  With an argument a signal comes then.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdio.h>

#include <libcob.h>
#include <signal.h>

int main(int argc, char **argv)
{
	(void)argv;
	cob_init(0, NULL);
	(void)cob_tidy();
	(void)puts("tidied");
	(void)fflush(stdout);
	if (argc > 1)
		(void)raise(SIGTERM);
	cob_stop_run(0);
}
