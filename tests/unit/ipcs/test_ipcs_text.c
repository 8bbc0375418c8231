/*
 * test_ipcs_text.c - a command as text again: in one form, and it parses to the same.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static void it_parses_to_itself(void **state)
{
	static const char *const texts[] = {
		("CTRACE comp(appxyz) sub((suba.asid(1f))) sysname(mvs1) full local start(11/14/2023,22.13.20.000001) exception limit(10) "
		 "entidlist(1,2:ff) all asidlist(1a) joblist(SHOP,'a b') userexit(MyExit) options((a (b) 'c')) dsname(/x/Y,'a,b')"),
		"CTRACE query short",
		"CTRACE query(x) sub((y)) short local",
		"CTRACE comp('a b') tally stop(01/02/1970,00.00.00.000000) active",
		"CTRACE comp(x) summary file(DD)",
		"CTRACE comp(x) short dsname('/* no comment')",
		"CTRACE comp('a(b') sub(('c(d.E')) short dsname(')')",
		"CTRACE comp(x) short dsname(a-b+c)",
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(texts); i++)
		assert_means(texts[i], texts[i]);
}

int test_ipcs_text(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_parses_to_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
