/*
 * test_catalog_load.c - components and events of a catalogue, entries and their exits, and all
 * errors in the order of the text.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_fixture.h"

/* ---- what is understood ---- */

static void a_component(void **state)
{
	const struct ct_catalog_component *found;

	(void)state;
	parse("description: what it is\n"
	      "component: DPKG.READ\n"
	      "formatter: MYFORM\n"
	      "filter: MY_FILT-1\n"
	      "encoding: ebcdic-037\n"
	      "copybooks: [one, /two]\n");
	found = component("DPKG.READ");
	assert_string_equal(found->name, "DPKG.READ");
	assert_string_equal(found->description, "what it is");
	assert_string_equal(found->path, "test.yaml");
	assert_string_equal(found->formatter, "MYFORM");
	assert_string_equal(found->filter, "MY_FILT-1");
	assert_int_equal(found->event_count, 0);
	assert_false(found->has_exception || found->has_asid || found->has_jobname);
}

static void the_least(void **state)
{
	const struct ct_catalog_component *found;

	(void)state;
	parse("component: A\ndescription:\nevents:\n");
	found = component("A");
	assert_string_equal(found->description, "");
	assert_null(found->formatter);
	assert_null(found->filter);
	assert_int_equal(found->event_count, 0);
}

static void an_event(void **state)
{
	const struct ct_event_type *type;

	(void)state;
	parse("component: A\n"
	      "events:\n"
	      "  0x10:\n"
	      "    mnemonic: OPEN.file-1_X\n"
	      "    description: |\n"
	      "      two\n"
	      "      lines\n"
	      "    severity: Warn\n"
	      "    exception: yes\n"
	      "    arguments: [name, {name: size}]\n"
	      "  7: CLOSE\n"
	      "  \"8\": {mnemonic: NONE, severity: fatal, exception: false, arguments: }\n");
	type = event("A", 16);
	assert_string_equal(type->mnemonic, "OPEN.file-1_X");
	assert_string_equal(type->description, "two\nlines\n");
	assert_int_equal(type->severity, CTRACE_WARN);
	assert_true(type->is_exception);
	assert_int_equal(type->pairing, CT_PAIR_NONE);
	assert_int_equal(type->match, -1);
	assert_int_equal(type->argument_count, 2);
	assert_string_equal(type->arguments[0].name, "name");
	assert_string_equal(type->arguments[1].name, "size");
	type = event("A", 7);
	assert_string_equal(type->mnemonic, "CLOSE");
	assert_string_equal(type->description, "");
	assert_int_equal(type->severity, CTRACE_LEVEL_NONE);
	assert_false(type->is_exception);
	assert_int_equal(type->argument_count, 0);
	assert_int_equal(event("A", 8)->severity, CTRACE_FATAL);
	assert_true(component("A")->has_exception);
}

static void several_components(void **state)
{
	(void)state;
	parse("---\ncomponent: A\nevents: {1: X}\n...\n---\n# nothing\n---\ncomponent: B\nevents: {1: Y}\n");
	assert_string_equal(event("A", 1)->mnemonic, "X");
	assert_string_equal(event("B", 1)->mnemonic, "Y");
}

static void marks_of_the_component(void **state)
{
	(void)state;
	parse("component: A\nevents: {1: {mnemonic: X, arguments: [{name: a, asid: true}]}}\n---\n"
	      "component: B\nevents: {1: {mnemonic: X, arguments: [{name: a, jobname: true}]}}\n");
	assert_true(component("A")->has_asid && !component("A")->has_jobname &&
		    !component("A")->has_exception);
	assert_true(!component("B")->has_asid && component("B")->has_jobname);
}

static void aliases(void **state)
{
	(void)state;
	parse("component: A\n"
	      "events:\n"
	      "  1: {mnemonic: &m X, arguments: &items [{name: a, key: true}, b]}\n"
	      "  2: {mnemonic: Y, description: *m, arguments: *items}\n");
	assert_string_equal(event("A", 2)->description, "X");
	assert_int_equal(event("A", 2)->argument_count, 2);
	assert_true(event("A", 2)->arguments[0].is_key);
}

/* ---- errors ---- */

static void diagnostics_of_components(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
		unsigned column;
		const char *message;
		const char *expected;
	} cases[] = {
		{ "", 0, 0, "there is no component in this file", "component: NAME" },
		{ "# only a remark\n---\n", 0, 0, "there is no component in this file",
		  "component: NAME" },
		{ "word", 1, 1, "a catalogue has keys and values",
		  "component, description, encoding, dialect, odoslide, formatter, filter, copybooks, records or events" },
		{ "- component: A", 1, 1, "a catalogue has keys and values", NULL },
		{ "events: {}\n", 1, 1, "the component is not named", "component: NAME" },
		{ "component:\n", 1, 11, "\"\" is empty",
		  "1 to 255 printable bytes without blanks" },
		{ "component: A B\n", 1, 12, "\"A B\" has a character that may not be there",
		  NULL },
		{ "component: \"A\\0B\"\n", 1, 12,
		  "\"A\\u{0}B\" has a character that may not be there", NULL },
		{ "component: [A]\n", 1, 12, "this is a list", NULL },
		{ "component: {A: B}\n", 1, 12, "this is a map", NULL },
		{ "component: A\n---\ncomponent: B\n---\ncomponent: a\n", 5, 12,
		  "\"a\" is the name of another, on line 1",
		  "a part of the file for each component" },
		{ "component: A\ncomponent: B\n", 2, 1, "\"component\" is there twice",
		  "each key once" },
		{ "component: A\nfromatter: X\n", 2, 1,
		  "\"fromatter\" is no key of a catalogue (did you mean formatter?)", NULL },
		{ "component: A\n[x]: y\n", 2, 1, "this is no key", NULL },
		{ "component: A\nformatter: ../x\n", 2, 12,
		  "\"../x\" has a character that may not be there", NULL },
		{ "component: A\nfilter: a23456789012345678901234567890123\n", 2, 9,
		  "\"a2345678901234567890...\" is too long", NULL },
		{ "component: A\ndialect: cobol85\n", 2, 10, "\"cobol85\" is none of these words",
		  "default, gnucobol, mf or ibm" },
		{ "component: A\nodoslide: 1\n", 2, 11, "\"1\" is none of these words",
		  "true or false" },
		{ "component: A\ncopybooks: [a, 'b:c']\n", 2, 16, "\"b:c\" is no directory's name",
		  NULL },
		{ "component: A\ncopybooks: {a: b}\n", 2, 12, "this is a map", NULL },
		{ "component: A\ncopybooks: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]\n", 2, 12,
		  "there are too many directories", "at most 16" },
		{ "component: A\ndescription: \"a\\0b\"\n", 2, 14, "there is a NUL in this text",
		  NULL },
		{ "component: A\nevents: [X]\n", 2, 9, "events are keys and values", NULL },
		{ "component: A\nevents: X\n", 2, 9, "events are keys and values", NULL },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++)
		assert_diagnostic(cases[i].text, cases[i].line, cases[i].column, cases[i].message,
				  cases[i].expected);
}

static void diagnostics_of_events(void **state)
{
	static const struct {
		const char *text; /* of the map of events */
		unsigned column;
		const char *message;
		const char *expected;
	} cases[] = {
		{ "x: X", 2, "\"x\" is no number", "digits, or 0x and hexadecimal digits" },
		{ "-1: X", 2, "\"-1\" is no number", NULL },
		{ "0x: X", 2, "\"0x\" is no number", NULL },
		{ "4294967296: X", 2, "\"4294967296\" is too large",
		  "an event id of at most 4294967295 (0xFFFFFFFF)" },
		{ "99999999999999999999: X", 2, "\"99999999999999999999\" is too large", NULL },
		{ "? [1] : X", 4, "this is a list", NULL },
		{ "1: ", 2, "\"1\" is an event without a mnemonic", "mnemonic: NAME" },
		{ "1: {severity: info}", 2, "\"1\" is an event without a mnemonic", NULL },
		{ "1: [X]", 5, "an event has keys and values",
		  "mnemonic, description, severity, exception, exit, match, until, span or arguments" },
		{ "1: a b", 5, "\"a b\" has a character that may not be there",
		  "1 to 31 letters, digits, _, - and dots" },
		{ "1: 'a\"'", 5, "\"a\\\"\" has a character that may not be there", NULL },
		{ "1: A2345678901234567890123456789012", 5,
		  "\"A2345678901234567890...\" is too long", NULL },
		{ "1: {mnemonic: X, severity: none}", 29, "\"none\" is none of these words",
		  "debug, info, warn, error or fatal" },
		{ "1: {mnemonic: X, severity: wran}", 29,
		  "\"wran\" is none of these words (did you mean warn?)", NULL },
		{ "1: {mnemonic: X, exception: 1}", 30, "\"1\" is none of these words",
		  "true or false" },
		{ "1: {mnemonic: X, mnemnic: Y}", 19,
		  "\"mnemnic\" is no key of an event (did you mean mnemonic?)", NULL },
		{ "1: {mnemonic: X, description: a, and b}", 35, "\"and b\" is no key of an event",
		  "a key and its value; or quotation marks around the text before it, when the comma belongs to that" },
		{ "1: {mnemonic: X, description: {}}", 32, "this is a map", "a text" },
		{ "1: X, 0x01: Y", 8, "\"0x01\" is the id of another, on line 3",
		  "an id of its own for each event" },
		{ "1: Xy, 2: xY", 12, "\"xY\" is the mnemonic of another, on line 3",
		  "a mnemonic of its own for each event" },
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		(void)snprintf(text, sizeof text, "component: A\nevents: {\n %s}\n", cases[i].text);
		parse_bad(text);
		if (seen.count != 1)
			show_seen();
		assert_int_equal(seen.count, 1);
		assert_seen(0, 3, cases[i].column, cases[i].message);
		if (cases[i].expected != NULL)
			assert_string_equal(seen.diagnostic[0].expected, cases[i].expected);
	}
}

static void a_key_that_is_none(void **state)
{
	(void)state;
	parse_bad("component: A\nevents: {{a: b}: {}}\n");
	assert_int_equal(seen.count, 2);
	assert_seen(0, 2, 10, "this is a map");
	assert_seen(1, 2, 10, "this is an event without a mnemonic");
}

static void all_diagnostics_in_their_order(void **state)
{
	(void)state;
	parse_bad("events:\n"
		  "  2: {mnemonic: B, exit: 9}\n"
		  "  1: {mnemonic: b, severity: x}\n"
		  "componet: A\n"
		  "---\n"
		  "component: B\n"
		  "events: {1: '?'}\n"
		  "---\n"
		  "a: [\n");
	assert_int_equal(seen.count, 7);
	assert_seen(0, 1, 1, "the component is not named");
	assert_seen(1, 2, 26, "\"9\" is no event of this component");
	assert_seen(2, 3, 17, "\"b\" is the mnemonic of another, on line 2");
	assert_seen(3, 3, 30, "\"x\" is none of these words");
	assert_seen(4, 4, 1, "\"componet\" is no key of a catalogue (did you mean component?)");
	assert_seen(5, 7, 13, "\"?\" has a character that may not be there");
	/* what is before an error of YAML is looked at too */
	assert_int_equal(seen.diagnostic[6].line, 10);
}

/* An alias's errors are told where what it stands for is, and the alias itself where it is used. */
static void diagnostics_behind_aliases(void **state)
{
	(void)state;
	parse_bad("component: A\n"
		  "events:\n"
		  "  1: {mnemonic: X, description: &d [y]}\n"
		  "  2: {mnemonic: Y, description: *d}\n");
	assert_int_equal(seen.count, 2);
	assert_seen(0, 3, 33, "this is a list");
	assert_seen(1, 4, 33, "this is a list");
}

/* A list of arguments that a thousand events have costs what one of them costs. */
static void arguments_that_are_repeated_are_read_once(void **state)
{
	(void)state;
	parse("component: A\n"
	      "events:\n"
	      "  1: {mnemonic: X, arguments: &a [{name: n, asid: true, values: {v: 1}}, m]}\n"
	      "  2: {mnemonic: Y, arguments: *a}\n"
	      "  3: {mnemonic: Z, arguments: [n, m]}\n"
	      "  4: {mnemonic: V, arguments: [{name: n, values: &v {v: 1}}, {name: m, values: *v}]}\n");
	assert_ptr_equal(event("A", 1)->arguments, event("A", 2)->arguments);
	assert_int_equal(event("A", 2)->argument_count, 2);
	assert_ptr_not_equal(event("A", 1)->arguments, event("A", 3)->arguments);
	assert_int_equal(event("A", 3)->argument_count, 2);
	assert_ptr_equal(event("A", 4)->arguments[0].labels, event("A", 4)->arguments[1].labels);
	assert_int_equal(event("A", 4)->arguments[1].label_count, 1);
}

static void diagnostics_in_arguments_that_are_repeated_are_reported_once(void **state)
{
	(void)state;
	parse_bad(
		"component: A\n"
		"events:\n"
		"  1: {mnemonic: X, arguments: &a [{name: n, unit: y}, n]}\n"
		"  2: {mnemonic: Y, arguments: *a}\n"
		"  3: {mnemonic: Z, arguments: *a}\n"
		"  4: {mnemonic: V, arguments: [{name: n, values: &v {v: 1, w: 1}}, {name: m, values: *v}]}\n");
	assert_int_equal(seen.count, 6);
	assert_seen(2, 4, 31, "there are errors in the arguments that this repeats");
	assert_seen(3, 5, 31, "there are errors in the arguments that this repeats");
	assert_seen(4, 6, 60, "\"w\" has the value of another, on line 6");
	assert_seen(5, 6, 86, "there are errors in the values that this repeats");
	assert_int_equal(ct_catalog_counts(catalog).good_events, 0);
}

static void aliases_that_explode(void **state)
{
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	ct_buf_add_text(
		&text,
		"component: A\nevents:\n  0: {mnemonic: E0, arguments: [{name: a0, values: &v {");
	for (unsigned i = 0; i < 1000; i++)
		ct_buf_add_format(&text, "v%u: %u,", i, i);
	ct_buf_add_text(&text, "}}]}\n  1: {mnemonic: E1, arguments: &a [");
	for (unsigned i = 0; i < 1000; i++)
		ct_buf_add_format(&text, "{name: a%u, values: *v},", i);
	ct_buf_add_text(&text, "]}\n");
	for (unsigned i = 2; i < 1000; i++)
		ct_buf_add_format(&text, "  %u: {mnemonic: E%u, arguments: *a}\n", i, i);
	parse_bad(ct_buf_text(&text));
	ct_buf_fini(&text);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.diagnostic[0].message,
			    "with this there is too much in the catalogue");
}

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

static void an_end_that_is_inferred(void **state)
{
	const struct ct_event_type *type;

	(void)state;
	parse("component: A\n"
	      "events:\n"
	      "  1: {mnemonic: A, exit: 2, until: 5, arguments: [name]}\n"
	      "  2: B\n"
	      "  3: {mnemonic: C, until: next, match: in, arguments: [in, part]}\n"
	      "  4: {mnemonic: D, until: [3, next, 5, 3], match: IN, arguments: [step, in]}\n"
	      "  5: {mnemonic: E, arguments: [code]}\n"
	      "  6: {mnemonic: F, exit: 7, until: next}\n"
	      "  7: G\n");
	type = event("A", 1);
	assert_int_equal(type->pairing, CT_PAIR_ENTRY);
	assert_int_equal(type->until_count, 1);
	assert_int_equal(type->until[0].event_id, 5);
	assert_int_equal(type->until[0].match, -1);
	assert_false(type->is_until);
	type = event("A", 3);
	assert_int_equal(type->pairing, CT_PAIR_UNTIL);
	assert_int_equal(type->until_count, 1);
	assert_int_equal(type->until[0].event_id, 3);
	assert_int_equal(type->until[0].match, 0);
	assert_true(type->is_until);
	type = event("A", 4);
	assert_int_equal(type->until_count, 3); /* each once, its own kind first */
	assert_int_equal(type->until[0].event_id, 4);
	assert_int_equal(type->until[0].match, 1);
	assert_int_equal(type->until[1].event_id, 3);
	assert_int_equal(type->until[1].match, 0);
	assert_int_equal(type->until[2].match, -1);
	assert_true(event("A", 5)->is_until);
	assert_int_equal(event("A", 6)->until[0].event_id, 6);
	assert_false(event("A", 7)->is_until);
	assert_true(ct_catalog_component(catalog, "A", 1)->has_until);
	parse("component: B\nevents: {1: {mnemonic: X, exit: 2}, 2: Y}\n");
	assert_false(ct_event_type_is_inferred(event("B", 1)));
	assert_false(ct_catalog_component(catalog, "B", 1)->has_until);
}

static void what_names_a_span(void **state)
{
	const struct ct_event_type *type;

	(void)state;
	parse("component: A\n"
	      "events:\n"
	      "  1: {mnemonic: A, exit: 2, span: name, arguments: [x, Name]}\n"
	      "  2: B\n"
	      "  3: {mnemonic: C, until: next, span: [part, in], arguments: [in, part]}\n"
	      "  4: {mnemonic: D, span: file, arguments: [file, {name: took, role: duration}, "
	      "{name: moved, role: bytes}]}\n");
	type = event("A", 1);
	assert_int_equal(type->span_name_count, 1);
	assert_int_equal(type->span_names[0], 1);
	type = event("A", 3);
	assert_int_equal(type->span_name_count, 2);
	assert_int_equal(type->span_names[0], 1);
	assert_int_equal(type->span_names[1], 0);
	type = event("A", 4);
	assert_int_equal(type->span_name_count, 1);
	assert_int_equal(type->pairing, CT_PAIR_NONE);
	assert_int_equal(type->roles[CT_ARGUMENT_ROLE_DURATION], 2);
	assert_int_equal(type->roles[CT_ARGUMENT_ROLE_BYTES], 3);
	assert_int_equal(type->roles[CT_ARGUMENT_ROLE_STATUS], 0);
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
		{ "1: {mnemonic: A, until: @9}", "\"9\" is no event of this component" },
		{ "1: {mnemonic: A, until: @x}", "\"x\" is no number" },
		{ "1: {mnemonic: A, until: @[]}", "these are none, or too many events" },
		{ "1: {mnemonic: A, until: [next, @[1]]}", "this is a list" },
		{ "1: {mnemonic: A, until: @[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}",
		  "these are none, or too many events" },
		{ "1: {mnemonic: A, exit: 2, until: @2}\n 2: B", "\"2\" is the exit already" },
		{ "1: {mnemonic: A, exit: @2}\n 2: {mnemonic: B, until: next}",
		  "\"2\" begins a span itself, with its until" },
		{ "1: {mnemonic: A, exit: 2, match: x, until: @next, arguments: [x]}\n 2: {mnemonic: B, arguments: [x]}",
		  "a span that match pairs with its exit may end on any thread" },
		{ "1: {mnemonic: A, span: @x, arguments: [x]}",
		  "this event begins no span and has no duration" },
		{ "1: {mnemonic: A, until: next, span: [x, @y], arguments: [x]}",
		  "\"y\" is no argument of this event" },
		{ "1: {mnemonic: A, until: next, span: @[], arguments: [x]}",
		  "these are none, or too many arguments" },
		{ "1: {mnemonic: A, until: next, span: @[x, x, x, x, x], arguments: [x]}",
		  "these are none, or too many arguments" },
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

int test_catalog_load(void)
{
	const struct CMUnitTest tests[] = {
		CATALOG_TEST(a_component),
		CATALOG_TEST(the_least),
		CATALOG_TEST(an_event),
		CATALOG_TEST(several_components),
		CATALOG_TEST(marks_of_the_component),
		CATALOG_TEST(aliases),
		CATALOG_TEST(diagnostics_of_components),
		CATALOG_TEST(diagnostics_of_events),
		CATALOG_TEST(all_diagnostics_in_their_order),
		CATALOG_TEST(diagnostics_behind_aliases),
		CATALOG_TEST(a_key_that_is_none),
		CATALOG_TEST(arguments_that_are_repeated_are_read_once),
		CATALOG_TEST(diagnostics_in_arguments_that_are_repeated_are_reported_once),
		CATALOG_TEST(aliases_that_explode),
		CATALOG_TEST(a_pair),
		CATALOG_TEST(a_match),
		CATALOG_TEST(an_end_that_is_inferred),
		CATALOG_TEST(what_names_a_span),
		CATALOG_TEST(diagnostics),
		CATALOG_TEST(they_count_as_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
