/*
 * runtime_subprogram.c - what COBOL programs of tests/process/cobol_runtime.py call in C.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int rtcrash(void)
{
	volatile int *nowhere = NULL;

	return *nowhere;
}

int rtwait(void)
{
	(void)raise(SIGTERM);
	return 0;
}

int rtabort(void)
{
	abort();
}

/* errno as the statements between two calls have left it. */
int rterrno(void)
{
	int found = errno;

	errno = 4711;
	return found;
}

int rtclose(void)
{
	for (int fd = 3; fd < 1024; fd++)
		(void)close(fd);
	return 0;
}
