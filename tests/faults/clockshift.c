/*
 * clockshift.c - preloaded: the wall clock steps.
 *
 * BATTERY_CLOCK=n,seconds: after every n looks at CLOCK_REALTIME it is `seconds` ahead for the next
 * n, then right again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long count, every, seconds;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void shift_start(void)
{
	const char *text = getenv("BATTERY_CLOCK");

	real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	if (text != NULL)
		(void)sscanf(text, "%ld,%ld", &every, &seconds);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int status = real_gettime(clock, time);

	if (status == 0 && clock == CLOCK_REALTIME && every > 0 &&
	    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) / every % 2 == 1)
		time->tv_sec += seconds;
	return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;
	int status = clock_gettime(CLOCK_REALTIME, &now);

	(void)zone;
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return status;
}
