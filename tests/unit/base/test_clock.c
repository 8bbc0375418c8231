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

static enum ct_clock_source choose(const char *current, const char *available)
{
	file_write("current_clocksource", current);
	file_write("available_clocksource", available);
	return ct_clock_source_choose(true, directory);
}

static void the_tsc_is_used_where_the_kernel_trusts_it(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(directory));
	/* no kernel is heard */
	assert_int_equal(ct_clock_source_choose(true, directory), CT_CLOCK_COUNTER);
	assert_int_equal(ct_clock_source_choose(false, directory), CT_CLOCK_MONOTONIC);
	assert_int_equal(choose("tsc\n", "tsc hpet acpi_pm \n"), CT_CLOCK_COUNTER);
	assert_int_equal(ct_clock_source_choose(false, directory), CT_CLOCK_MONOTONIC);
	assert_int_equal(choose("hpet\n", "tsc hpet acpi_pm \n"), CT_CLOCK_MONOTONIC);
	assert_int_equal(choose("hpet\n", "hpet acpi_pm \n"), CT_CLOCK_MONOTONIC);
	assert_int_equal(choose("acpi_pm\n", "acpi_pm \n"), CT_CLOCK_MONOTONIC);
	assert_int_equal(choose("kvm-clock\n", "kvm-clock tsc acpi_pm \n"), CT_CLOCK_COUNTER);
	assert_int_equal(choose("kvm-clock\n", "kvm-clock acpi_pm \n"), CT_CLOCK_MONOTONIC);
	assert_int_equal(choose("kvm-clock\n", "kvm-clock tsc-early acpi_pm \n"),
			 CT_CLOCK_MONOTONIC);
	assert_int_equal(
		choose("hyperv_clocksource_tsc_page\n", "hyperv_clocksource_tsc_page tsc\n"),
		CT_CLOCK_COUNTER);
	assert_int_equal(choose("something-new\n", "something-new tsc\n"), CT_CLOCK_MONOTONIC);
	assert_int_equal(choose("", ""), CT_CLOCK_COUNTER); /* as without */
}

int test_clock(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_source_stays_the_same_and_ticks_rise),
		cmocka_unit_test(a_reading_is_of_one_moment),
		cmocka_unit_test(the_tsc_is_used_where_the_kernel_trusts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
