/*
 * test_right.c - the table of who may ask what, as a whole; tests/process/rights.py tries its rows.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "session/right.h"

static void the_owner_may_all_and_who_displays_the_least(void **state)
{
	(void)state;
	for (int i = 0; i < CT_RIGHT_COUNT; i++) {
		enum ct_right right = (enum ct_right)i;

		assert_non_null(ct_right_name(right));
		assert_true(ct_right_has(right, CT_PARTY_OWNER));
		assert_true(ct_right_has(right, CT_PARTY_MEMBER) ||
			    !ct_right_has(right, CT_PARTY_MEMBER_DISPLAY));
		assert_true(ct_right_has(right, CT_PARTY_HOST) ||
			    !ct_right_has(right, CT_PARTY_HOST_DISPLAY));
	}
}

static void what_names_a_file_or_an_address_is_the_owners(void **state)
{
	static const enum ct_right rights[] = { CT_RIGHT_EMITTER, CT_RIGHT_RELOAD_PATH,
						CT_RIGHT_DEST_OTHER, CT_RIGHT_TRIGGER_RUN,
						CT_RIGHT_OTHER };

	(void)state;
	for (size_t i = 0; i < sizeof rights / sizeof *rights; i++)
		for (int party = CT_PARTY_MEMBER; party < CT_PARTY_COUNT; party++)
			assert_false(ct_right_has(rights[i], (enum ct_party)party));
	assert_non_null(ct_right_advice(CT_RIGHT_EMITTER));
	assert_null(ct_right_advice(CT_RIGHT_LEVEL));
}

int test_right(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_owner_may_all_and_who_displays_the_least),
		cmocka_unit_test(what_names_a_file_or_an_address_is_the_owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
