/*
 * test_catalog_pair.c - entries, exits, and by what they find each other.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_fixture.h"

static void a_pair(void **state)
{
	(void)state;
	parse("component: A\nevents:\n  20: {mnemonic: IN, exit: 0x0A}\n  10: OUT\n  11: OTHER\n");
	assert_int_equal(event("A", 20)->pairing, CT_PAIR_ENTRY);
	assert_int_equal(event("A", 20)->pair_id, 10);
	assert_int_equal(event("A", 20)->match, -1);
	assert_int_equal(event("A", 10)->pairing, CT_PAIR_EXIT);
	assert_int_equal(event("A", 10)->pair_id, 20);
	assert_int_equal(event("A", 10)->match, -1);
	assert_int_equal(event("A", 11)->pairing, CT_PAIR_NONE);
}

static void a_match(void **state)
{
	(void)state;
	parse("component: A\n"
	      "events:\n"
	      "  1: {mnemonic: A, exit: 2, match: handle, arguments: [name, Handle]}\n"
	      "  2: {mnemonic: B, arguments: [HANDLE, result]}\n"
	      "  3: {mnemonic: C, exit: 4, match: x, arguments: [x]}\n"
	      "  4: {mnemonic: D, match: y, arguments: [z, y]}\n");
	assert_int_equal(event("A", 1)->match, 1);
	assert_int_equal(event("A", 2)->match, 0);
	assert_int_equal(event("A", 3)->match, 0);
	assert_int_equal(event("A", 4)->match, 1);
}

static void diagnostics(void **state)
{
	static const char *const cases[][2] = {
		{ "1: {mnemonic: A, exit: @9}", "\"9\" is no event of this component" },
		{ "1: {mnemonic: A, exit: @1}", "\"1\" is this event itself" },
		{ "1: {mnemonic: A, exit: @x}", "\"x\" is no number" },
		{ "1: {mnemonic: A, exit: @''}", "\"\" is no number" },
		{ "1: {mnemonic: A, exit: @[1]}", "this is a list" },
		{ "1: {mnemonic: A, exit: 3}\n 2: {mnemonic: B, exit: @3}\n 3: C",
		  "\"3\" is another entry's exit already" },
		{ "1: {mnemonic: A, exit: @2}\n 2: {mnemonic: B, exit: 3}\n 3: C",
		  "\"2\" is an entry, with an exit of its own" },
		{ "1: {mnemonic: A, match: @x, arguments: [x]}",
		  "\"x\" matches nothing: this event is no entry, and no exit" },
		{ "1: {mnemonic: A, exit: 2, match: @y, arguments: [x]}\n 2: B",
		  "\"y\" is no argument of this event" },
		{ "1: {mnemonic: A, exit: 2, match: @x, arguments: [x]}\n 2: {mnemonic: B, arguments: [y]}",
		  "\"x\" is no argument of the exit" },
		{ "1: {mnemonic: A, exit: 2, arguments: [x]}\n 2: {mnemonic: B, match: @x, arguments: [x]}",
		  "\"x\" matches nothing: the entry has no match" },
		{ "1: {mnemonic: A, exit: 2, match: @[x], arguments: [x]}\n 2: {mnemonic: B, arguments: [x]}",
		  "this is no argument's name" },
	};
	char text[300];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		(void)snprintf(text, sizeof text, "component: A\nevents:\n %s\n", cases[i][0]);
		assert_marked(text, cases[i][1]);
	}
}

/* An event whose own part is good but whose pair is wrong is no good event. */
static void they_count_as_bad(void **state)
{
	static const char text[] = "component: A\nevents: {1: {mnemonic: X, exit: 9}, 2: Y}\n";

	(void)state;
	assert_int_equal(parse_sized(text, sizeof text - 1), CTRACE_DAMAGED);
	assert_int_equal(ct_catalog_counts(catalog).events, 2);
	assert_int_equal(ct_catalog_counts(catalog).good_events, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CATALOG_TEST(a_pair),
		CATALOG_TEST(a_match),
		CATALOG_TEST(diagnostics),
		CATALOG_TEST(they_count_as_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
