/*
 * clock.c - the clocks: the ticks that records carry, and the clocks read beside them.
 *
 * Any thread; ticks also in signal handlers.  Ticks are a counter of the processor: on x86-64 the
 * invariant TSC where the kernel trusts it, on aarch64 the virtual counter.  Else they are
 * CLOCK_MONOTONIC.  A process chooses once, when it attaches, because the inline trace path writes
 * the counter unconditionally.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define READ_ENOUGH_NS 20000u
#define READINGS 4u
#define READINGS_MAX 16u
#define CLOCK_SOURCE_DIRECTORY "/sys/devices/system/clocksource/clocksource0"

/* -----------------------------------------------------------------------------------------------
 * The source of ticks
 */

/* Reads the first line of a small file.  Returns false when it cannot be read. */
static bool line_read(const char *directory, const char *name, char out[256])
{
	char path[256];
	ssize_t got;
	int fd, size = snprintf(path, sizeof path, "%s/%s", directory, name);

	if (size < 0 || (size_t)size >= sizeof path)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	got = read(fd, out, 255);
	(void)close(fd);
	if (got <= 0)
		return false;
	out[got] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return true;
}

static bool line_has_word(const char *line, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = line; (at = strstr(at, word)) != NULL; at += size)
		if ((at == line || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
			return true;
	return false;
}

enum ct_clock_source ct_clock_source_choose(bool is_invariant, const char *directory)
{
	char current[256], available[256];

	if (!is_invariant)
		return CT_CLOCK_MONOTONIC;
	/* In a container without /sys the processor alone decides. */
	if (!line_read(directory, "current_clocksource", current) || strcmp(current, "tsc") == 0)
		return CT_CLOCK_COUNTER;
	/* These are computed from the TSC.  The kernel removes a TSC that it found unstable from
	 * the list of available clocks. */
	if ((strcmp(current, "kvm-clock") == 0 ||
	     strcmp(current, "hyperv_clocksource_tsc_page") == 0 ||
	     strcmp(current, "tsc-early") == 0) &&
	    line_read(directory, "available_clocksource", available) &&
	    line_has_word(available, "tsc"))
		return CT_CLOCK_COUNTER;
	return CT_CLOCK_MONOTONIC;
}

static enum ct_clock_source source_find(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	int kept = errno;
	bool is_invariant = __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
	enum ct_clock_source source = ct_clock_source_choose(is_invariant, CLOCK_SOURCE_DIRECTORY);

	errno = kept;
	return source;
#elif defined(__aarch64__)
	/* It has one rate, and one value on all processors.  The kernel emulates it where the
	 * processor's own is wrong. */
	return CT_CLOCK_COUNTER;
#else
	return CT_CLOCK_MONOTONIC;
#endif
}

enum ct_clock_source ct_clock_source(void)
{
	static int known = -1;
	int source = __atomic_load_n(&known, __ATOMIC_RELAXED);
	int none = -1;

	if (source >= 0)
		return (enum ct_clock_source)source;
	source = (int)source_find();
	/* The kernel may change its files between the first calls of two threads.  The first answer
	 * stays. */
	if (!__atomic_compare_exchange_n(&known, &none, source, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		source = none;
	return (enum ct_clock_source)source;
}

/* -----------------------------------------------------------------------------------------------
 * Reading clocks
 */

static uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t ct_clock_ticks_of(enum ct_clock_source source)
{
#if defined(__x86_64__)
	if (source == CT_CLOCK_COUNTER)
		return __rdtsc();
#elif defined(__aarch64__)
	if (source == CT_CLOCK_COUNTER) {
		uint64_t ticks;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	(void)source;
	return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t ct_clock_ticks(void)
{
	return ct_clock_ticks_of(ct_clock_source());
}

uint64_t ct_clock_wall_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

uint64_t ct_clock_mono_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Takes the tightest of a few readings.  Each reads the wall clock between two reads of
 * CLOCK_BOOTTIME, and these between two of the ticks. */
struct ct_clock_reading ct_clock_read(enum ct_clock_source source)
{
	struct ct_clock_reading best = { 0 };
	uint64_t best_width = UINT64_MAX;

	for (unsigned i = 0; i < READINGS || (i < READINGS_MAX && best.width_ns > READ_ENOUGH_NS);
	     i++) {
		uint64_t before = ct_clock_ticks_of(source);
		uint64_t boot = clock_read_ns(CLOCK_BOOTTIME);
		uint64_t wall = clock_read_ns(CLOCK_REALTIME);
		uint64_t boot_after = clock_read_ns(CLOCK_BOOTTIME);
		uint64_t after = ct_clock_ticks_of(source);

		if (after - before >= best_width)
			continue;
		best_width = after - before;
		best = (struct ct_clock_reading){ .ticks = before + (after - before) / 2,
						  .wall_ns = wall,
						  .boot_ns = boot + (boot_after - boot) / 2,
						  .width_ns = boot_after - boot };
	}
	return best;
}
