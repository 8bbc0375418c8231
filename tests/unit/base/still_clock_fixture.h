/*
 * still_clock_fixture.h - the kernel's CLOCK_MONOTONIC stands still while a test wants that.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_STILL_CLOCK_FIXTURE_H
#define CT_STILL_CLOCK_FIXTURE_H

#include "base/base.h"

static ct_vdso_clock *moving_clock;
static unsigned long still_readings;

static int still_clock(clockid_t clock, struct timespec *out)
{
	(void)clock;
	(void)__atomic_fetch_add(&still_readings, 1, __ATOMIC_RELAXED);
	*out = (struct timespec){ .tv_sec = 1000 };
	return 0;
}

static void clock_stop(void)
{
	(void)ct_clock_mono_ns();
	moving_clock = ct_vdso_clock_gettime;
	ct_vdso_clock_gettime = still_clock;
}

static void clock_go(void)
{
	ct_vdso_clock_gettime = moving_clock;
}

#endif
