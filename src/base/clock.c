/*
 * clock.c - the clocks: the ticks that records carry, and the clocks read beside them.
 *
 * Any thread; ticks also in signal handlers.  Ticks are a counter of the processor: on x86-64 the
 * invariant TSC where the kernel vouches for it (docs/decisions/031), on aarch64 the virtual
 * counter.  Else they are CLOCK_MONOTONIC.  A process chooses once, when it attaches: the inline
 * trace path knows the choice by the address of its thread buffer.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define READ_ENOUGH_NS 20000u
#define READINGS 4u
#define PAIRS 9u
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

/* The kernel's clocks that a choice can name.  Their numbers are in sessions: append only. */
static const struct {
	const char *name;
	/* the vDSO computes it from the TSC while the hypervisor declares the counters of all
	 * processors stable; else it makes a system call */
	bool may_be_computed;
} kernel_clocks[] = {
	{ "", true }, /* not known: a container without /sys */
	{ "tsc", false },
	{ "tsc-early", false },
	{ "kvm-clock", true },
	{ "hyperv_clocksource_tsc_page", true },
	{ "xen", true },
	{ "hpet", false },
	{ "acpi_pm", false },
	{ "jiffies", false },
	{ "refined-jiffies", false },
	{ "hyperv_clocksource_msr", false },
};
#define KERNEL_CLOCK_TSC 1u
#define KERNEL_CLOCK_OTHER 0xFFu

static uint32_t kernel_clock_find(const char *name)
{
	for (uint32_t i = 0; i < CT_COUNT(kernel_clocks); i++)
		if (strcmp(kernel_clocks[i].name, name) == 0)
			return i;
	return KERNEL_CLOCK_OTHER;
}

bool ct_clock_is_computed(clockid_t clock)
{
	uint64_t least = UINT64_MAX, least_by_call = UINT64_MAX;
	unsigned computed = 0;

	/* What comes between makes a reading longer.  The counters of two processors may make one
	 * shorter, and a processor may be slow for a while: most pairs have to agree. */
	for (unsigned i = 0; i < PAIRS; i++) {
		struct timespec now;
		uint64_t before = ct_clock_ticks_of(CT_CLOCK_COUNTER), between, after;

		(void)clock_gettime(clock, &now);
		between = ct_clock_ticks_of(CT_CLOCK_COUNTER);
		(void)syscall(SYS_clock_gettime, clock, &now);
		after = ct_clock_ticks_of(CT_CLOCK_COUNTER);
		if (between - before < least)
			least = between - before;
		if (after - between < least_by_call)
			least_by_call = after - between;
		computed += between - before <= (after - between) / 2;
	}
	return least <= least_by_call / 2 && computed > PAIRS / 2;
}

static struct ct_clock_choice monotonic_for(enum ct_clock_reason reason, uint32_t kernel)
{
	return (struct ct_clock_choice){ CT_CLOCK_MONOTONIC, reason, kernel };
}

static struct ct_clock_choice counter_for(enum ct_clock_reason reason, uint32_t kernel)
{
	return (struct ct_clock_choice){ CT_CLOCK_COUNTER, reason, kernel };
}

struct ct_clock_choice ct_clock_choose_tsc(enum ct_clock_setting setting,
					   const struct ct_clock_machine *machine)
{
	char current[256] = "", available[256];
	uint32_t kernel;

	if (setting == CT_CLOCK_USE_MONOTONIC)
		return monotonic_for(CT_CLOCK_IS_SET, 0);
	if (!machine->is_invariant)
		return monotonic_for(setting == CT_CLOCK_USE_COUNTER ? CT_CLOCK_CANNOT_BE_SET
								     : CT_CLOCK_NOT_INVARIANT,
				     0);
	if (setting == CT_CLOCK_USE_COUNTER)
		return counter_for(CT_CLOCK_IS_SET, 0);
	(void)line_read(machine->directory, "current_clocksource", current);
	kernel = kernel_clock_find(current);
	if (kernel == KERNEL_CLOCK_TSC)
		return counter_for(CT_CLOCK_IS_KERNELS, kernel);
	if (kernel != KERNEL_CLOCK_OTHER && kernel_clocks[kernel].may_be_computed &&
	    machine->is_computed(CLOCK_MONOTONIC))
		return counter_for(CT_CLOCK_IS_COMPUTED, kernel);
	/* The kernel removes a TSC that it found unstable from the list.  Nobody has chosen another
	 * clock because of the TSC when it keeps time by a clock that a hypervisor prefers. */
	if (kernel != KERNEL_CLOCK_OTHER &&
	    (kernel_clocks[kernel].may_be_computed || strcmp(current, "tsc-early") == 0) &&
	    line_read(machine->directory, "available_clocksource", available) &&
	    line_has_word(available, "tsc"))
		return counter_for(CT_CLOCK_IS_LISTED, kernel);
	return monotonic_for(CT_CLOCK_NOT_VOUCHED, kernel);
}

static struct ct_clock_choice choice_find(enum ct_clock_setting setting)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	int kept = errno;
	const struct ct_clock_machine machine = {
		.is_invariant = __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8),
		.directory = CLOCK_SOURCE_DIRECTORY,
		.is_computed = ct_clock_is_computed,
	};
	struct ct_clock_choice choice = ct_clock_choose_tsc(setting, &machine);

	errno = kept;
	if (choice.source == CT_CLOCK_MONOTONIC)
		ct_vdso_find();
	return choice;
#elif defined(__aarch64__)
	/* It has one rate, and one value on all processors.  The kernel emulates it where the
	 * processor's own is wrong. */
	return setting == CT_CLOCK_USE_MONOTONIC ? monotonic_for(CT_CLOCK_IS_SET, 0)
						 : counter_for(CT_CLOCK_IS_ARCHITECTURES, 0);
#else
	return monotonic_for(setting == CT_CLOCK_USE_MONOTONIC ? CT_CLOCK_IS_SET
			     : setting == CT_CLOCK_USE_COUNTER ? CT_CLOCK_CANNOT_BE_SET
							       : CT_CLOCK_NOT_INVARIANT,
			     0);
#endif
}

/* The choice of this process, as one word; 0: not made yet. */
static uint32_t known;

#define IS_KNOWN 0x80000000u

static uint32_t choice_pack(struct ct_clock_choice choice)
{
	return IS_KNOWN | choice.source | (uint32_t)choice.reason << 8 | choice.kernel << 16;
}

static uint32_t choice_known(void)
{
	uint32_t choice = __atomic_load_n(&known, __ATOMIC_RELAXED), none = 0;

	if (__builtin_expect(choice != 0, 1))
		return choice;
	choice = choice_pack(choice_find(CT_CLOCK_AUTO));
	/* The kernel may change its files between the first calls of two threads.  The first answer
	 * stays. */
	if (!__atomic_compare_exchange_n(&known, &none, choice, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		choice = none;
	return choice;
}

void ct_clock_choose(enum ct_clock_setting setting)
{
	struct ct_clock_choice choice = choice_find(setting);

	__atomic_store_n(&known, choice_pack(choice), __ATOMIC_RELAXED);
}

enum ct_clock_source ct_clock_source(void)
{
	return (enum ct_clock_source)(choice_known() & 0xFFu);
}

uint32_t ct_clock_why(void)
{
	return choice_known() >> 8 & 0x7FFFFFu;
}

void ct_clock_print(enum ct_clock_source source, uint32_t why, char out[CT_CLOCK_TEXT])
{
	static const struct {
		const char *before, *after; /* the kernel's clock */
	} reasons[] = {
		[CT_CLOCK_NOT_KNOWN] = { "", NULL },
		[CT_CLOCK_IS_KERNELS] = { "the kernel keeps time by it", NULL },
		[CT_CLOCK_IS_LISTED] = { "the kernel lists it beside its clock", NULL },
		[CT_CLOCK_IS_COMPUTED] = { "the kernel's clock", " is computed from it" },
		[CT_CLOCK_IS_ARCHITECTURES] = { "all processors have the same", NULL },
		[CT_CLOCK_IS_SET] = { "ctrace.clock says so", NULL },
		[CT_CLOCK_NOT_VOUCHED] = { "the kernel's clock is", ", not tsc" },
		[CT_CLOCK_NOT_INVARIANT] = { "the processor has no invariant counter", NULL },
		[CT_CLOCK_CANNOT_BE_SET] = { "no invariant counter, though ctrace.clock asks",
					     NULL },
	};
	uint32_t reason = why & 0xFFu, kernel = why >> 8 & 0xFFu;
	const char *name = kernel == KERNEL_CLOCK_OTHER       ? "another"
			   : kernel < CT_COUNT(kernel_clocks) ? kernel_clocks[kernel].name
							      : "";
	bool names = reason == CT_CLOCK_IS_LISTED || reason == CT_CLOCK_IS_COMPUTED ||
		     reason == CT_CLOCK_NOT_VOUCHED;

	if (reason >= CT_COUNT(reasons))
		reason = CT_CLOCK_NOT_KNOWN;
	if (names && kernel == 0)
		name = reason == CT_CLOCK_IS_COMPUTED ? "" : "not known";
	(void)snprintf(out, CT_CLOCK_TEXT, "%s%s%s%s%s%s",
		       source == CT_CLOCK_MONOTONIC          ? "CLOCK_MONOTONIC"
		       : reason == CT_CLOCK_IS_ARCHITECTURES ? "cntvct_el0"
							     : "tsc",
		       reason != CT_CLOCK_NOT_KNOWN ? ": " : "", reasons[reason].before,
		       names && name[0] != '\0' ? " " : "", names ? name : "",
		       reasons[reason].after != NULL ? reasons[reason].after : "");
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

static uint64_t monotonic_read(void)
{
	ct_vdso_clock *function = __atomic_load_n(&ct_vdso_clock_gettime, __ATOMIC_RELAXED);
	struct timespec now = { 0 };

	(void)function(CLOCK_MONOTONIC, &now);
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
	return monotonic_read();
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
	return monotonic_read();
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
