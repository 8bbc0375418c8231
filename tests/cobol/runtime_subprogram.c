/*
 * runtime_subprogram.c - what COBOL programs of tests/process/cobol_runtime.py call in C.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

static void *churn(void *unused)
{
	(void)unused;
	for (;;) {
		int fd = open("churn.dat", O_RDWR | O_CREAT, 0600);

		(void)close(fd);
	}
	return NULL;
}

/* A thread opens and closes a file from now on. */
int rtchurn(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, churn, NULL);
}

int rtclose(void)
{
	for (int fd = 3; fd < 1024; fd++)
		(void)close(fd);
	return 0;
}
