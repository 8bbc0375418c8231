/*
 * test_settings.c - what holds for a process that configures nothing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "registry_fixture.h"

#include "lib/ring/ring.h"

static void the_defaults(void **state)
{
	static struct ct_settings settings;

	(void)state;
	memset(&settings, 0xAA, sizeof settings);
	ct_settings_init(&settings);
	assert_int_equal(settings.buffer, CT_RING_DEFAULT);
	assert_int_equal(settings.overflow, CT_OVERFLOW_AUTO);
	assert_int_equal(settings.flight_trigger, CT_TRIGGER_NONE);
	assert_int_equal(settings.block_timeout_ns, 1000000000u);
	assert_int_equal(settings.flight_buffer, CT_RING_DEFAULT);
	assert_true(settings.attach);
	assert_int_equal(settings.keep_ns, 7 * 86400 * 1000000000ull);
	assert_string_equal(settings.run_directory, "");
}

int test_settings(void)
{
	const struct CMUnitTest tests[] = { EACH(the_defaults) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
