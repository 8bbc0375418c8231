/*
 * test_session_layout.c - where the parts of a session file are, for every size that a process may
 * be allowed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session_fixture.h"

static void without_a_limit_it_is_the_layout_of_old(void **state)
{
	static const uint64_t limits[] = { UINT64_MAX, (uint64_t)1 << 40, CT_SESSION_SIZE };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(limits); i++) {
		struct ct_session_layout layout = ct_session_layout_for(limits[i]);

		assert_int_equal(layout.components_at, CT_SESSION_COMPONENTS);
		assert_int_equal(layout.texts_at, CT_SESSION_TEXTS);
		assert_int_equal(layout.size, CT_SESSION_SIZE);
		assert_true(ct_session_layout_holds(&layout));
		assert_int_equal(ct_session_component_limit(&layout), CT_COMPONENT_LIMIT);
	}
}

static void any_limit_gives_a_layout_that_holds_or_none(void **state)
{
	uint32_t most = 0;
	uint64_t least = 0;

	(void)state;
	for (uint64_t limit = 0; limit < CT_SESSION_SIZE; limit += limit / 7 + 1000) {
		struct ct_session_layout layout = ct_session_layout_for(limit);

		if (layout.size == 0) {
			assert_int_equal(most, 0); /* only the smallest */
			continue;
		}
		least = least != 0 ? least : limit;
		assert_true(ct_session_layout_holds(&layout));
		assert_true(layout.size <= limit && layout.size + 4096 > limit);
		assert_true(ct_session_component_limit(&layout) >= 1000);
		/* more room, not fewer components */
		assert_true(ct_session_component_limit(&layout) >= most);
		assert_true(layout.size - layout.texts_at >= 65536);
		most = ct_session_component_limit(&layout);
	}
	/* A thousand blocks of 1,024 bytes is a usual limit. */
	assert_true(least <= 1024000);
	assert_true(ct_session_component_limit(
			    &(struct ct_session_layout){ 4096, 4096 + 96, 8192, 12288 }) == 2);
}

static void a_layout_that_is_out_of_order_is_refused(void **state)
{
	struct ct_session_layout good = ct_session_layout_for(1 << 20), bad;

	(void)state;
	assert_true(ct_session_layout_holds(&good));
	bad = good, bad.components_at += 48;
	assert_false(ct_session_layout_holds(&bad));
	bad = good, bad.texts_at += 1;
	assert_false(ct_session_layout_holds(&bad));
	bad = good, bad.size -= 1;
	assert_false(ct_session_layout_holds(&bad));
	bad = good, bad.components_at = 4096;
	assert_false(ct_session_layout_holds(&bad)); /* in the head */
	bad = good, bad.classes_at = good.texts_at;
	assert_false(ct_session_layout_holds(&bad));
	bad = good, bad.components_at = good.texts_at + 4096;
	assert_false(ct_session_layout_holds(&bad));
	bad = good, bad.texts_at = good.size + 4096;
	assert_false(ct_session_layout_holds(&bad));
	bad = good, bad.size = (uint64_t)CT_SESSION_SIZE + 4096;
	assert_false(ct_session_layout_holds(&bad));
	bad = good, bad.size = UINT64_MAX & ~(uint64_t)4095;
	assert_false(ct_session_layout_holds(&bad));
	bad = (struct ct_session_layout){ 0, 0, 0, 0 };
	assert_false(ct_session_layout_holds(&bad));
}

int test_session_layout(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_it_is_the_layout_of_old),
		cmocka_unit_test(any_limit_gives_a_layout_that_holds_or_none),
		cmocka_unit_test(a_layout_that_is_out_of_order_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
