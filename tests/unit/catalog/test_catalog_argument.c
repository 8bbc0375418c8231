/*
 * test_catalog_argument.c - items: how each is printed, what its values are called, and which keys
 * do not go together.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_fixture.h"

static char text[2000];

/* The item that the keys describe. */
static const struct ct_argument *argument(const char *keys)
{
	const struct ct_event_type *type;

	catalog_teardown(NULL);
	catalog_setup(NULL);
	(void)snprintf(
		text, sizeof text,
		"component: A\nevents:\n  1:\n    mnemonic: X\n    arguments:\n      - {%s}\n",
		keys);
	parse(text);
	type = event("A", 1);
	assert_int_equal(type->argument_count, 1);
	return &type->arguments[0];
}

static void the_least(void **state)
{
	const struct ct_argument *item = argument("name: _a-1");

	(void)state;
	assert_string_equal(item->name, "_a-1");
	assert_string_equal(item->description, "");
	assert_int_equal(item->print, CT_PRINT_DEFAULT);
	assert_int_equal(item->unit_ns, 1);
	assert_int_equal(item->label_count, 0);
	assert_null(item->copybook);
	assert_null(item->copybook_name);
	assert_int_equal(item->encoding, CT_ENCODING_ASCII);
	assert_false(item->is_key || item->is_asid || item->is_jobname);
}

static void printing(void **state)
{
	(void)state;
	assert_int_equal(argument("name: a, print: default")->print, CT_PRINT_DEFAULT);
	assert_int_equal(argument("name: a, print: HEX")->print, CT_PRINT_HEX);
	assert_int_equal(argument("name: a, print: decimal")->print, CT_PRINT_DECIMAL);
	assert_int_equal(argument("name: a, print: text, encoding: ebcdic-037")->print,
			 CT_PRINT_TEXT);
	assert_int_equal(argument("name: a, print: text, encoding: ebcdic-037")->encoding,
			 CT_ENCODING_EBCDIC_037);
	assert_int_equal(argument("name: a, print: text, encoding: utf-8")->encoding,
			 CT_ENCODING_ASCII);
	assert_int_equal(argument("name: a, print: time")->print, CT_PRINT_TIME);
	assert_int_equal(argument("name: a, print: time")->unit_ns, 1);
	assert_int_equal(argument("name: a, unit: ns")->unit_ns, 1);
	assert_int_equal(argument("name: a, unit: us")->unit_ns, 1000);
	assert_int_equal(argument("name: a, unit: ms")->unit_ns, 1000000);
	assert_int_equal(argument("name: a, print: time, unit: s")->unit_ns, 1000000000);
	assert_int_equal(argument("name: a, unit: s")->print, CT_PRINT_TIME);
	assert_int_equal(argument("name: a, values: {X: 1}")->print, CT_PRINT_ENUMERATION);
	assert_int_equal(argument("name: a, print: flags, values: {X: 1}")->print, CT_PRINT_FLAGS);
}

static void values(void **state)
{
	const struct ct_argument *item = argument(
		"name: a, values: {OPEN: 1, closed file: 0x2, MINUS: -1, \"LEAST\": -9223372036854775808, MOST: "
		"18446744073709551614, NO: 0}");

	(void)state;
	assert_int_equal(item->label_count, 6); /* in the order of the file */
	assert_string_equal(item->labels[0].name, "OPEN");
	assert_int_equal(item->labels[0].value, 1);
	assert_string_equal(item->labels[1].name, "closed file");
	assert_int_equal(item->labels[1].value, 2);
	assert_true(item->labels[2].value == UINT64_MAX);
	assert_true(item->labels[3].value == (uint64_t)1 << 63);
	assert_true(item->labels[4].value == UINT64_MAX - 1);
	assert_string_equal(item->labels[5].name, "NO");
}

static void marks(void **state)
{
	(void)state;
	assert_true(argument("name: a, key: true")->is_key);
	assert_true(argument("name: a, asid: on")->is_asid);
	assert_true(argument("name: a, jobname: Yes")->is_jobname);
	assert_false(argument("name: a, jobname: no")->is_jobname);
	assert_string_equal(argument("name: a, description: 'what, it is'")->description,
			    "what, it is");
}

static void the_component_s_encoding(void **state)
{
	(void)state;
	parse("events: {1: {mnemonic: X, arguments: [a, {name: b, encoding: ascii}]}}\nencoding: ebcdic-037\ncomponent: A\n"
	      "---\ncomponent: B\nevents: {1: {mnemonic: X, arguments: [a]}}\n");
	assert_int_equal(event("A", 1)->arguments[0].encoding, CT_ENCODING_EBCDIC_037);
	assert_int_equal(event("A", 1)->arguments[1].encoding, CT_ENCODING_ASCII);
	/* only its own */
	assert_int_equal(event("B", 1)->arguments[0].encoding, CT_ENCODING_ASCII);
}

static void diagnostics(void **state)
{
	static const char *const cases[][2] = {
		{ "- @{}", "an argument without a name" },
		{ "- @[x]", "an argument has keys and values" },
		{ "- @1a", "\"1a\" does not begin with a letter" },
		{ "- @-a", "\"-a\" does not begin with a letter" },
		{ "- @a.b", "\"a.b\" has a character that may not be there" },
		{ "- @''", "\"\" is empty" },
		{ "- {name: a, @nmae: x}",
		  "\"nmae\" is no key of an argument (did you mean name?)" },
		{ "- {name: a, print: @hexx}",
		  "\"hexx\" is none of these words (did you mean hex?)" },
		{ "- {name: a, print: hex, unit: @ms}", "only a time has a unit" },
		{ "- {name: a, unit: @h}", "\"h\" is none of these words" },
		{ "- {name: a, print: hex, values: @{A: 1}}",
		  "values have no names when printed so" },
		{ "- {name: a, print: @flags}", "the values have no names" },
		{ "- {name: a, print: @enumeration}", "the values have no names" },
		{ "- {name: a, values: @{}}", "there are no values here" },
		{ "- {name: a, values: @[A, B]}", "there are no values here" },
		{ "- {name: a, values: {A: @x}}", "\"x\" is no number" },
		{ "- {name: a, values: {A: @--1}}", "\"--1\" is no number" },
		{ "- {name: a, values: {A: @18446744073709551616}}",
		  "\"18446744073709551616\" is too large" },
		{ "- {name: a, values: {A: @-9223372036854775809}}",
		  "\"-9223372036854775809\" is too small" },
		{ "- {name: a, values: {@\"A\\n\": 1}}",
		  "\"A\\n\" has a character that may not be there" },
		{ "- {name: a, values: {A: 1, @B: 0x1}}",
		  "\"B\" has the value of another, on line 6" },
		{ "- {name: a, values: {A: 1, @a: 2}}", "\"a\" is the name of another, on line 6" },
		{ "- {name: a, print: @record}", "the record has no copybook" },
		{ "- {name: a, record: @R}", "this key belongs to a copybook, and there is none" },
		{ "- {name: a, dialect: @mf}",
		  "this key belongs to a copybook, and there is none" },
		{ "- {name: a, odoslide: @true}",
		  "this key belongs to a copybook, and there is none" },
		{ "- {name: a, copybook: @''}", "the copybook is not named" },
		{ "- {name: a, print: time, encoding: @ascii}",
		  "only texts and records have an encoding" },
		{ "- {name: a, key: @2}", "\"2\" is none of these words" },
		{ "- {name: a, asid: true, jobname: @true}", "this is the ASID already" },
		{ "- a\n  - {name: @A}", "\"A\" is the name of another, on line 6" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		(void)snprintf(text, sizeof text,
			       "component: A\nevents:\n 1:\n  mnemonic: X\n  arguments:\n  %s\n",
			       cases[i][0]);
		assert_marked(text, cases[i][1]);
	}
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: @[{name: a, asid: true}, {name: b, asid: true}]}}",
		"there are several ASIDs among the arguments");
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: @[{name: a, jobname: true}, {name: b, jobname: true}]}}",
		"there are several JOBNAMEs among the arguments");
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: @[{name: a, role: bytes}, {name: b, role: bytes}]}}",
		"several arguments have one role");
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: [{name: a, role: @size}]}}",
		"\"size\" is none of these words");
	assert_marked("component: A\nevents: {1: {mnemonic: X, arguments: @a}}",
		      "arguments are a list");
}

static void too_many(void **state)
{
	struct ct_buf all;

	(void)state;
	ct_buf_init(&all);
	ct_buf_add_text(&all, "component: A\nevents:\n  1:\n    mnemonic: X\n    arguments:\n");
	for (unsigned i = 0; i < CTRACE_MAX_ITEMS; i++)
		ct_buf_add_format(&all, "      - a%u\n", i);
	parse(ct_buf_text(&all));
	assert_int_equal(event("A", 1)->argument_count, CTRACE_MAX_ITEMS);
	ct_buf_add_text(&all, "      - more\n");
	assert_diagnostic(ct_buf_text(&all), 6, 7, "there are too many arguments",
			  "at most 4,096 items in an event");
	ct_buf_fini(&all);
}

static void an_unknown_encoding_costs_only_itself(void **state)
{
	static const char catalogue[] =
		"component: A\nencoding: ebcdic-038\n"
		"events: {1: {mnemonic: X, arguments: [{name: a, encoding: latin-1}]}}\n";

	(void)state;
	assert_int_equal(parse_sized(catalogue, strlen(catalogue)), CTRACE_OK);
	assert_int_equal(seen.count, 1);
	assert_seen(0, 2, 11, "\"ebcdic-038\" is no encoding that is known here, and is left out");
	assert_int_equal(event("A", 1)->arguments[0].encoding, CT_ENCODING_LATIN_1);
}

static void values_choose_records(void **state)
{
	const struct ct_argument *chosen;

	(void)state;
	write_file("one.cpy", "       01  ONE.\n           05  A  PIC X(3).\n");
	write_file("two.cpy", "       01  TWO.\n           05  B  PIC X(4).\n       01  NEXT-ONE.\n"
			      "           05  C  PIC X(5).\n");
	parse("component: A\nencoding: latin-1\nrecords:\n  CUSTOMER: one.cpy\n"
	      "  orders.dat: {copybook: two.cpy, record: NEXT-ONE, encoding: ebcdic-037}\n"
	      "events:\n  1: {mnemonic: X, arguments: &a [select, file, {name: record, records: [FILE, select]}]}\n"
	      "  2: {mnemonic: Y, arguments: *a}\n");
	chosen = &event("A", 2)->arguments[2];
	assert_int_equal(chosen->print, CT_PRINT_RECORD);
	assert_null(chosen->copybook);
	assert_int_equal(chosen->chooser_count, 2);
	assert_int_equal(chosen->choosers[0], 1);
	assert_int_equal(chosen->choosers[1], 0);
	assert_int_equal(component("A")->choice_count, 2);
	chosen = ct_catalog_record(component("A"), "customer  ", 10);
	assert_non_null(chosen);
	assert_int_equal(chosen->print, CT_PRINT_RECORD);
	assert_int_equal(chosen->encoding, CT_ENCODING_LATIN_1);
	assert_string_equal(ct_copybook_name(chosen->copybook), "ONE");
	chosen = ct_catalog_record(component("A"), "/var/data/ORDERS.DAT", 20);
	assert_non_null(chosen);
	assert_int_equal(chosen->encoding, CT_ENCODING_EBCDIC_037);
	assert_string_equal(ct_copybook_name(chosen->copybook), "NEXT-ONE");
	assert_null(ct_catalog_record(component("A"), "ORDERS", 6));
	assert_null(ct_catalog_record(component("A"), "/var/data/", 10));
	assert_null(ct_catalog_record(component("A"), "  ", 2));
	parse("component: B\nrecords:\nevents:\n  1: {mnemonic: X, arguments: [file, {name: r, records: file}]}\n");
	assert_int_equal(component("B")->choice_count, 0);
	assert_int_equal(event("B", 1)->arguments[1].chooser_count, 1);
}

static void errors_in_records(void **state)
{
	(void)state;
	write_file("one.cpy", "       01  ONE.\n           05  A  PIC X(3).\n");
	assert_marked("component: A\nrecords: @[one.cpy]\n", "records are keys and values");
	assert_marked("component: A\nrecords: {X: one.cpy, @x: one.cpy}\n",
		      "\"x\" is the value of another, on line 2");
	assert_marked("component: A\nrecords: {X: @nix.cpy}\n", "\"nix.cpy\" is not there");
	assert_marked("component: A\nrecords: {X: @{record: ONE}}\n",
		      "what the record looks like is not said");
	assert_marked("component: A\nrecords: {X: {copybook: one.cpy, @key: true}}\n",
		      "\"key\" is no key of a record");
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: [a, {name: b, records: @c}]}}\n",
		"\"c\" is no other argument of this event");
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: [{name: b, records: @b}]}}\n",
		"\"b\" is no other argument of this event");
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: [a, {name: b, records: @[]}]}}\n",
		"so many arguments cannot choose a record");
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: [a, {name: b, records: @[a, a, a, a, a]}]}}\n",
		"so many arguments cannot choose a record");
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: [a, {name: b, print: hex, records: @a}]}}\n",
		"only a record has a copybook");
	assert_marked(
		"component: A\nevents: {1: {mnemonic: X, arguments: [a, {name: b, copybook: one.cpy, records: @a}]}}\n",
		"this record has a copybook already");
}

int test_catalog_argument(void)
{
	const struct CMUnitTest tests[] = {
		CATALOG_TEST(the_least),
		CATALOG_TEST(printing),
		CATALOG_TEST(values),
		CATALOG_TEST(marks),
		CATALOG_TEST(the_component_s_encoding),
		CATALOG_TEST(an_unknown_encoding_costs_only_itself),
		CATALOG_TEST(diagnostics),
		CATALOG_TEST(too_many),
		CATALOG_TEST(values_choose_records),
		CATALOG_TEST(errors_in_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
