/*
 * test_catalog_print_name.c - names that languages take, each of them different, as they come out
 * of the printers and one at a time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_print_fixture.h"

static void names_that_collide(void **state)
{
	const char *text;

	(void)state;
	parse("component: 3-way\nevents: {1: a_b, 2: a-b, 3: a.b, 4: component, 5: _a__b_, 6: ..., 7: Events.h}\n");
	text = print(ct_catalog_print_header, "3-way");
	assert_has(text, "#define C_3_WAY_A_B 1u\n");
	assert_has(text, "#define C_3_WAY_A_B_2 2u\n");
	assert_has(text, "#define C_3_WAY_A_B_3 3u\n");
	assert_has(text, "#define C_3_WAY_COMPONENT \"3-way\"\n");
	assert_has(text, "#define C_3_WAY_COMPONENT_4 4u\n");
	assert_has(text, "#define C_3_WAY_A_B_5 5u\n");
	assert_has(text, "#define C_3_WAY_X 6u\n");
	assert_has(text, "#define C_3_WAY_EVENTS_H_7 7u\n");
	text = print(ct_catalog_print_copybook, "3-way");
	assert_has(text, " 78-3-WAY-A-B ");
	assert_has(text, " 78-3-WAY-A-B-2 ");
}

static void names_that_are_too_long(void **state)
{
	const char *text;

	(void)state;
	parse("component: LONG.COMPONENT.NAME\n"
	      "events:\n"
	      "  7: {mnemonic: MNEMONIC, arguments: [{name: the-state, values: {OPEN: 1, NOT-OPEN-OR-CLOSED: 2, NOT-OPEN-NOR-CLOSED: 3}}]}\n"
	      "  12345: MNEMONIC-OF-ANOTHER\n");
	text = print(ct_catalog_print_copybook, "LONG.COMPONENT.NAME");
	assert_has(text, " 78-LONG-COMPONENT-NAME-MNEMONIC value 7.\n");
	assert_has(text, " 78-LONG-COMPONENT-NAME-MN-12345 value 12345.\n");
	assert_has(text, " 78-LONG-COMPONENT-NAME-COMPON-2 value\n");
	/* the event's name is left out, and that is not enough */
	assert_has(text, " 78-LONG-COMPONENT-NAME-THE-ST-4 value 2.\n");
	assert_has(print(ct_catalog_print_header, "LONG.COMPONENT.NAME"),
		   "#define LONG_COMPONENT_NAME_MNEMONIC_THE_STATE_NOT_OPEN_OR_CLOSED 2u\n");
}

/* Of a long list of names that COBOL cuts to the same each is another, and finding them takes no
 * time to speak of. */
static void many_that_are_cut_to_the_same(void **state)
{
	struct ct_buf text;
	const char *at;
	unsigned lines = 0;

	(void)state;
	ct_buf_init(&text);
	ct_buf_add_text(&text,
			"component: A\nevents: {1: {mnemonic: X, arguments: [{name: a, values: {");
	for (unsigned i = 0; i < 50000; i++)
		ct_buf_add_format(&text, "the-same-for-more-than-thirty-letters-%u: %u,", i, i);
	ct_buf_add_text(&text, "}}]}}\n");
	parse(ct_buf_text(&text));
	ct_buf_fini(&text);
	at = print(ct_catalog_print_copybook, "A");
	while ((at = strstr(at, "\n       78 78-")) != NULL) {
		size_t size = strcspn(at + 1, "\n");

		assert_true(size <= 72);
		assert_true(strcspn(at + 11, " ") <= 31);
		at += size;
		lines++;
	}
	assert_int_equal(lines, 50002);
	assert_has(print(ct_catalog_print_copybook, "A"), " 78-A-A-THE-SAME-FOR-MORE-THAN-2 ");
	assert_has(print(ct_catalog_print_copybook, "A"), " 78-A-A-THE-SAME-FOR-MORE-50001 ");
}

static void each_name_is_there_once(void **state)
{
	static const struct ct_spelling spelling = { "K+", '+', 16 };
	struct ct_made_names names;
	const struct ct_event_type *type;

	(void)state;
	parse("component: a\nevents: {1: {mnemonic: b, arguments: [{name: c, values: {d: 1, d-: 2}}]}, 2: B., 3: 'twelve-34567'}\n");
	ct_made_names_init(&names, &spelling, component("A"));
	assert_string_equal(ct_made_names_own(&names, "b"), "K+A+B");
	assert_string_equal(ct_made_names_own(&names, "B"), "K+A+B+2");
	type = event("A", 1);
	assert_string_equal(ct_made_names_event(&names, type), "K+A+B+1");
	assert_string_equal(ct_made_names_label(&names, type, &type->arguments[0],
						&type->arguments[0].labels[0]),
			    "K+A+B+C+D");
	assert_string_equal(ct_made_names_label(&names, type, &type->arguments[0],
						&type->arguments[0].labels[1]),
			    "K+A+B+C+D+4");
	/* +2 is taken */
	assert_string_equal(ct_made_names_event(&names, event("A", 2)), "K+A+B+3");
	assert_string_equal(ct_made_names_event(&names, event("A", 3)), "K+A+TWELVE+34567");
	assert_string_equal(ct_made_names_event(&names, event("A", 3)), "K+A+TWELVE+345+3");
	ct_made_names_fini(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PRINT_TEST(names_that_collide),
		PRINT_TEST(names_that_are_too_long),
		PRINT_TEST(many_that_are_cut_to_the_same),
		PRINT_TEST(each_name_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
