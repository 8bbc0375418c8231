/*
 * test_clock.c - the source of ticks, and the clocks beside it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

static void the_source_stays_the_same_and_ticks_rise(void **state)
{
	enum ct_clock_source source = ct_clock_source();
	uint64_t before = ct_clock_ticks();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t now = ct_clock_ticks();

		assert_true(now >= before);
		before = now;
	}
	assert_int_equal(ct_clock_source(), source);
}

static void a_reading_is_of_one_moment(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t ticks = ct_clock_ticks(), wall_ns = ct_clock_wall_ns();
		struct ct_clock_reading now = ct_clock_read(ct_clock_source());

		assert_in_range(now.ticks, ticks, ct_clock_ticks());
		assert_in_range(now.wall_ns, wall_ns, ct_clock_wall_ns());
		assert_true(now.boot_ns >= now.width_ns && now.boot_ns != 0);
		ticks = ct_clock_mono_ns();
		now = ct_clock_read(CT_CLOCK_MONOTONIC);
		assert_in_range(now.ticks, ticks, ct_clock_mono_ns());
	}
}

/* ---- what ticks are made of ---- */

static char directory[] = "clocksource-XXXXXX";

static void file_write(const char *name, const char *text)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(close(fd), 0);
}

static bool computed(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC;
}

static bool not_computed(clockid_t clock)
{
	(void)clock;
	return false;
}

static const struct {
	/* NULL: no file */
	const char *current, *available;
	struct {
		enum ct_clock_source source;
		const char *why;
	} computed, not_computed;
} kernels[] = {
#define COUNTER(why) \
	{ \
		CT_CLOCK_COUNTER, "tsc: " why \
	}
#define NOT_VOUCHED(kernel) \
	{ \
		CT_CLOCK_MONOTONIC, "CLOCK_MONOTONIC: the kernel's clock is " kernel ", not tsc" \
	}
	{ NULL, NULL, COUNTER("the kernel's clock is computed from it"), NOT_VOUCHED("not known") },
	{ "", "", COUNTER("the kernel's clock is computed from it"), NOT_VOUCHED("not known") },
	{ "tsc\n", "tsc hpet acpi_pm \n", COUNTER("the kernel keeps time by it"),
	  COUNTER("the kernel keeps time by it") },
	{ "tsc-early\n", "tsc-early tsc \n",
	  COUNTER("the kernel lists it beside its clock tsc-early"),
	  COUNTER("the kernel lists it beside its clock tsc-early") },
	{ "tsc-early\n", "tsc-early hpet \n", NOT_VOUCHED("tsc-early"), NOT_VOUCHED("tsc-early") },
	/* an administrator has taken the kernel's clock away from the TSC */
	{ "hpet\n", "tsc hpet acpi_pm \n", NOT_VOUCHED("hpet"), NOT_VOUCHED("hpet") },
	{ "hpet\n", "hpet acpi_pm \n", NOT_VOUCHED("hpet"), NOT_VOUCHED("hpet") },
	{ "acpi_pm\n", "acpi_pm \n", NOT_VOUCHED("acpi_pm"), NOT_VOUCHED("acpi_pm") },
	{ "kvm-clock\n", "kvm-clock tsc acpi_pm \n",
	  COUNTER("the kernel's clock kvm-clock is computed from it"),
	  COUNTER("the kernel lists it beside its clock kvm-clock") },
	{ "kvm-clock\n", "kvm-clock \n",
	  COUNTER("the kernel's clock kvm-clock is computed from it"), NOT_VOUCHED("kvm-clock") },
	{ "kvm-clock\n", "kvm-clock tsc-early acpi_pm \n",
	  COUNTER("the kernel's clock kvm-clock is computed from it"), NOT_VOUCHED("kvm-clock") },
	{ "hyperv_clocksource_tsc_page\n", "hyperv_clocksource_tsc_page \n",
	  COUNTER("the kernel's clock hyperv_clocksource_tsc_page is computed from it"),
	  NOT_VOUCHED("hyperv_clocksource_tsc_page") },
	{ "hyperv_clocksource_msr\n", "hyperv_clocksource_msr \n",
	  NOT_VOUCHED("hyperv_clocksource_msr"), NOT_VOUCHED("hyperv_clocksource_msr") },
	{ "something-new\n", "something-new tsc\n", NOT_VOUCHED("another"),
	  NOT_VOUCHED("another") },
};

static void assert_choice(struct ct_clock_choice choice, enum ct_clock_source source,
			  const char *why)
{
	char text[CT_CLOCK_TEXT];

	assert_int_equal(choice.source, source);
	ct_clock_print(choice.source, (uint32_t)choice.reason | choice.kernel << 8, text);
	assert_string_equal(text, why);
}

static void the_tsc_is_used_where_the_kernel_vouches_for_it(void **state)
{
	struct ct_clock_machine machine = { .directory = directory };

	(void)state;
	assert_non_null(mkdtemp(directory));
	for (size_t i = 0; i < CT_COUNT(kernels); i++) {
		if (kernels[i].current != NULL)
			file_write("current_clocksource", kernels[i].current);
		if (kernels[i].available != NULL)
			file_write("available_clocksource", kernels[i].available);
		machine.is_invariant = true;
		machine.is_computed = computed;
		assert_choice(ct_clock_choose_tsc(CT_CLOCK_AUTO, &machine),
			      kernels[i].computed.source, kernels[i].computed.why);
		machine.is_computed = not_computed;
		assert_choice(ct_clock_choose_tsc(CT_CLOCK_AUTO, &machine),
			      kernels[i].not_computed.source, kernels[i].not_computed.why);
		assert_choice(ct_clock_choose_tsc(CT_CLOCK_USE_COUNTER, &machine), CT_CLOCK_COUNTER,
			      "tsc: ctrace.clock says so");
		assert_choice(ct_clock_choose_tsc(CT_CLOCK_USE_MONOTONIC, &machine),
			      CT_CLOCK_MONOTONIC, "CLOCK_MONOTONIC: ctrace.clock says so");
		machine.is_invariant = false;
		machine.is_computed = computed;
		assert_choice(ct_clock_choose_tsc(CT_CLOCK_AUTO, &machine), CT_CLOCK_MONOTONIC,
			      "CLOCK_MONOTONIC: the processor has no invariant counter");
		assert_choice(ct_clock_choose_tsc(CT_CLOCK_USE_COUNTER, &machine),
			      CT_CLOCK_MONOTONIC,
			      "CLOCK_MONOTONIC: no invariant counter, though ctrace.clock asks");
	}
}

/* What a program of another version or a damaged session says. */
static void any_reason_has_a_text(void **state)
{
	(void)state;
	for (uint32_t why = 0; why < 1u << 16; why++) {
		char text[CT_CLOCK_TEXT];

		ct_clock_print(CT_CLOCK_COUNTER, why * 0x9E3779B1u, text);
		ct_clock_print(CT_CLOCK_MONOTONIC, why, text);
		assert_true(strlen(text) < sizeof text);
	}
}

/* No kernel has a process's own time in the vDSO: the call is a system call with a detour.  The
 * answer must not depend on what else the machine does. */
static void a_system_call_is_never_taken_for_a_computed_clock(void **state)
{
	(void)state;
#if defined(__x86_64__)
	for (int i = 0; i < 20000; i++)
		assert_false(ct_clock_is_computed(CLOCK_PROCESS_CPUTIME_ID));
#endif
}

/* The last test: it changes the source. */
static void the_chosen_clock_gives_the_ticks(void **state)
{
	uint64_t before, ticks;

	(void)state;
	ct_clock_choose(CT_CLOCK_USE_MONOTONIC);
	assert_int_equal(ct_clock_source(), CT_CLOCK_MONOTONIC);
	assert_int_equal(ct_clock_why() & 0xFF, CT_CLOCK_IS_SET);
	before = ct_clock_mono_ns();
	ticks = ct_clock_ticks();
	assert_in_range(ticks, before, ct_clock_mono_ns());
}

int test_clock(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_source_stays_the_same_and_ticks_rise),
		cmocka_unit_test(a_reading_is_of_one_moment),
		cmocka_unit_test(the_tsc_is_used_where_the_kernel_vouches_for_it),
		cmocka_unit_test(any_reason_has_a_text),
		cmocka_unit_test(a_system_call_is_never_taken_for_a_computed_clock),
		cmocka_unit_test(the_chosen_clock_gives_the_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
