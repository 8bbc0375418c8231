/*
 * test_tsdl_names.c - names that are each there once, what they stand for inside which braces, and
 * bounds of the parser's memory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "third_party_fixture.h"

static void a_name_is_there_once(void **state)
{
	struct ct_tsdl_parser parser;
	const struct ct_tsdl_name *first;
	char text[16];

	(void)state;
	begin_parser(&parser, "");
	first = ct_tsdl_name(&parser, "n7", 2);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 5000; i++) {
			const struct ct_tsdl_name *name;

			(void)snprintf(text, sizeof text, "n%u", i);
			name = ct_tsdl_name(&parser, text, strlen(text));
			assert_string_equal(name->text, text);
			assert_true((name == first) == (i == 7));
		}
		assert_int_equal(parser.table.count, 5000);
	}
	assert_ptr_not_equal(ct_tsdl_name(&parser, "n", 1), first);
	end_parser(&parser);
}

static void braces_hide_and_reset(void **state)
{
	static const struct ct_tsdl_type outer, inner, tag;
	struct ct_tsdl_parser parser;
	struct ct_tsdl_name *a, *b;

	(void)state;
	begin_parser(&parser, "");
	a = ct_tsdl_name(&parser, "a", 1);
	b = ct_tsdl_name(&parser, "b", 1);
	assert_true(ct_tsdl_declare(&parser, CT_SPACE_ALIAS, a, &outer));
	assert_true(ct_tsdl_declare(&parser, CT_SPACE_STRUCT, a, &tag));
	ct_tsdl_enter(&parser);
	assert_true(ct_tsdl_declare(&parser, CT_SPACE_ALIAS, a, &inner));
	assert_true(ct_tsdl_declare(&parser, CT_SPACE_ALIAS, b, &inner));
	assert_ptr_equal(ct_tsdl_declared(a, CT_SPACE_ALIAS), &inner);
	assert_ptr_equal(ct_tsdl_declared(a, CT_SPACE_STRUCT), &tag);
	ct_tsdl_leave(&parser, 0);
	assert_ptr_equal(ct_tsdl_declared(a, CT_SPACE_ALIAS), &outer);
	assert_null(ct_tsdl_declared(b, CT_SPACE_ALIAS));
	assert_null(ct_tsdl_declared(a, CT_SPACE_ENUM));
	end_parser(&parser);
}

static void a_stack_gives_copies(void **state)
{
	struct ct_tsdl_parser parser;
	const int *copy;

	(void)state;
	begin_parser(&parser, "");
	for (int i = 0; i < 1000; i++)
		assert_true(ct_tsdl_push(&parser, &parser.fields, &i, sizeof i));
	copy = ct_tsdl_pop(&parser, &parser.fields, 900, sizeof *copy);
	assert_int_equal(copy[0], 900);
	assert_int_equal(copy[99], 999);
	assert_int_equal(parser.fields.count, 900);
	assert_non_null(ct_tsdl_pop(&parser, &parser.fields, 900, sizeof *copy));
	end_parser(&parser);
}

static void memory_has_an_end(void **state)
{
	struct ct_tsdl_parser parser;

	(void)state;
	begin_parser(&parser, "x");
	assert_non_null(ct_tsdl_take(&parser, 100));
	assert_null(ct_tsdl_take(&parser, CT_TSDL_MEMORY));
	assert_true(parser.has_failed && parser.has_no_memory);
	assert_string_equal(parser.diagnostic.message,
			    "the metadata take more memory than ctrace gives them");
	end_parser(&parser);
}

static void the_first_diagnostic_counts(void **state)
{
	struct ct_tsdl_parser parser;

	(void)state;
	begin_parser(&parser, "\n  ]");
	assert_false(ct_tsdl_accept(&parser, ";"));
	assert_false(ct_tsdl_expect(&parser, ";"));
	assert_false(ct_tsdl_fail(&parser, "", "something else"));
	assert_string_equal(parser.diagnostic.message, "unexpected \"]\"");
	assert_string_equal(parser.diagnostic.expected, "\";\"");
	assert_int_equal(parser.diagnostic.line, 2);
	assert_int_equal(parser.diagnostic.column, 3);
	end_parser(&parser);
}

int test_tsdl_names(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_name_is_there_once),
					    cmocka_unit_test(braces_hide_and_reset),
					    cmocka_unit_test(a_stack_gives_copies),
					    cmocka_unit_test(memory_has_an_end),
					    cmocka_unit_test(the_first_diagnostic_counts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
