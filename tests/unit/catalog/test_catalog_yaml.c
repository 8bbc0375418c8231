/*
 * test_catalog_yaml.c - YAML as a tree: places, aliases, and where it ends.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog_fixture.h"

static struct ct_arena texts, nodes;
static struct ct_yaml_error error;

static int arenas_free(void **state)
{
	(void)state;
	ct_arena_fini(&texts);
	ct_arena_fini(&nodes);
	return 0;
}

static struct ct_yaml *parse_yaml(const char *text, enum ctrace_status wanted)
{
	struct ct_yaml *documents;
	enum ctrace_status status =
		ct_yaml_parse(text, strlen(text), &texts, &nodes, &documents, &error);

	if (status != wanted)
		print_message("# %u:%u: %s\n", error.place.line, error.place.column, error.message);
	assert_int_equal(status, wanted);
	return documents;
}

static void assert_scalar(const struct ct_yaml *node, uint32_t line, uint32_t column,
			  const char *text)
{
	assert_non_null(node);
	assert_int_equal(node->kind, CT_YAML_SCALAR);
	assert_string_equal(node->text, text);
	assert_int_equal(node->count, strlen(text));
	assert_int_equal(node->place.line, line);
	assert_int_equal(node->place.column, column);
}

static void a_tree(void **state)
{
	const struct ct_yaml *map;
	const struct ct_yaml *list;

	(void)state;
	map = parse_yaml("key: plain\nmore:\n  - 'one'\n  - {\"x\": y}\n  -\n", CTRACE_OK);
	assert_null(map->next);
	assert_int_equal(map->kind, CT_YAML_MAP);
	assert_int_equal(map->count, 4);
	assert_scalar(map->first, 0, 0, "key");
	assert_scalar(map->first->next, 0, 5, "plain");
	assert_true(map->first->next->is_plain);
	list = map->last;
	assert_int_equal(list->kind, CT_YAML_LIST);
	assert_int_equal(list->count, 3);
	assert_scalar(list->first, 2, 4, "one");
	assert_false(list->first->is_plain);
	assert_int_equal(list->first->next->kind, CT_YAML_MAP);
	assert_scalar(list->first->next->first, 3, 5, "x");
	assert_scalar(list->last, 4, 3, "");
	assert_null(list->last->next);
}

static void documents(void **state)
{
	const struct ct_yaml *document;

	(void)state;
	document = parse_yaml("a\n---\n[b]\n---\nc: d\n...\n", CTRACE_OK);
	assert_scalar(document, 0, 0, "a");
	assert_int_equal(document->next->kind, CT_YAML_LIST);
	assert_int_equal(document->next->next->kind, CT_YAML_MAP);
	assert_null(document->next->next->next);
	assert_null(parse_yaml("", CTRACE_OK));
	/* what is before an error is there */
	document = parse_yaml("a: b\n---\nc: [\n", CTRACE_DAMAGED);
	assert_int_equal(document->kind, CT_YAML_MAP);
	assert_null(document->next);
}

static void aliases(void **state)
{
	const struct ct_yaml *list;

	(void)state;
	list = parse_yaml("- &a one\n- &b [*a]\n- *b\n- &a two\n- *a\n", CTRACE_OK);
	assert_int_equal(list->count, 5);
	assert_ptr_equal(ct_yaml_value(list->first->next->first), list->first);
	assert_int_equal(list->first->next->next->kind, CT_YAML_ALIAS);
	assert_int_equal(list->first->next->next->place.line, 2);
	assert_ptr_equal(ct_yaml_value(list->first->next->next), list->first->next);
	assert_string_equal(ct_yaml_value(list->last)->text, "two"); /* the last of that name */
}

static void assert_error(const char *text, uint32_t line, uint32_t column, const char *message)
{
	(void)parse_yaml(text, CTRACE_DAMAGED);
	assert_string_equal(error.message, message);
	assert_int_equal(error.place.line, line);
	assert_int_equal(error.place.column, column);
	assert_true(error.expected[0] != '\0');
}

static void aliases_that_are_none(void **state)
{
	(void)state;
	assert_error("- *a\n", 0, 2, "\"a\" is no anchor's name");
	/* of another document */
	assert_error("- &a x\n---\n- *a\n", 2, 2, "\"a\" is no anchor's name");
	assert_error("- &a [1, *a]\n", 0, 9, "\"a\" is no anchor's name"); /* in itself */
	assert_error("&a {&b x: [*b, *a]}\n", 0, 15, "\"a\" is no anchor's name");
}

static void diagnostics(void **state)
{
	(void)state;
	assert_error("a:\n\tc: d\n", 1, 0,
		     "this is not YAML: found character that cannot start any token");
	assert_error("a: b: c\n", 0, 4,
		     "this is not YAML: mapping values are not allowed in this context");
	assert_error("a: \"b\nc: d\n", 0, 3, "this is not YAML: found unexpected end of stream");
	assert_error("\xC3\xA4: \xFF\n", 0, 3, "this is not YAML: invalid leading UTF-8 octet");
	assert_error("a: b\nc: \x01\n", 1, 3,
		     "this is not YAML: control characters are not allowed");
	assert_error("a:\n  b: c\n d: e\n", 2, 1,
		     "this is not YAML: did not find expected key, in what begins on line 1");
	assert_error(
		"\xFF\xFE"
		"a",
		0, 0,
		"this is not YAML: invalid leading UTF-8 octet"); /* UTF-16 is not looked for */
}

/* ---- bounds ---- */

static void depth(void **state)
{
	char text[CT_CATALOG_DEPTH + 3] = "";

	(void)state;
	memset(text, '[', CT_CATALOG_DEPTH);
	memset(text + CT_CATALOG_DEPTH, '\0', 1);
	(void)parse_yaml(text, CTRACE_DAMAGED); /* not closed, but not too deep */
	assert_non_null(strstr(error.message, "not YAML"));
	memset(text, '[', CT_CATALOG_DEPTH + 1);
	assert_error(text, 0, CT_CATALOG_DEPTH, "this is too deep");
}

static void fill(struct ct_buf *text, const char *piece, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ct_buf_add_text(text, piece);
}

static void nodes_and_anchors(void **state)
{
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	fill(&text, "- a\n", CT_CATALOG_NODES - 1); /* and the list */
	assert_int_equal(parse_yaml(ct_buf_text(&text), CTRACE_OK)->count, CT_CATALOG_NODES - 1);
	fill(&text, "- a\n", 1);
	assert_error(ct_buf_text(&text), CT_CATALOG_NODES - 1, 2, "there is too much in this file");
	ct_buf_clear(&text);
	fill(&text, "- &a a\n", CT_CATALOG_ANCHORS);
	(void)parse_yaml(ct_buf_text(&text), CTRACE_OK);
	fill(&text, "---\n- &a a\n", 1); /* another document */
	(void)parse_yaml(ct_buf_text(&text), CTRACE_OK);
	ct_buf_clear(&text);
	fill(&text, "- &a a\n", CT_CATALOG_ANCHORS + 1);
	assert_error(ct_buf_text(&text), CT_CATALOG_ANCHORS, 2, "there are too many anchors");
	ct_buf_fini(&text);
}

static size_t break_at(const char *text)
{
	return ct_yaml_break(text, text + strlen(text));
}

static void breaks(void **state)
{
	(void)state;
	assert_int_equal(break_at("\nx"), 1);
	assert_int_equal(break_at("\r\nx"), 2);
	assert_int_equal(break_at("\rx"), 1);
	assert_int_equal(break_at("\r"), 1);
	assert_int_equal(break_at("\xC2\x85x"), 2);
	assert_int_equal(break_at("\xE2\x80\xA8x"), 3);
	assert_int_equal(break_at("\xE2\x80\xA9"), 3);
	assert_int_equal(break_at("\xE2\x80"), 0);
	assert_int_equal(break_at("\xC2"), 0);
	assert_int_equal(break_at("x"), 0);
	assert_int_equal(break_at(""), 0);
}

int test_catalog_yaml(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_tree, arenas_free),
		cmocka_unit_test_teardown(documents, arenas_free),
		cmocka_unit_test_teardown(aliases, arenas_free),
		cmocka_unit_test_teardown(aliases_that_are_none, arenas_free),
		cmocka_unit_test_teardown(diagnostics, arenas_free),
		cmocka_unit_test_teardown(depth, arenas_free),
		cmocka_unit_test_teardown(nodes_and_anchors, arenas_free),
		cmocka_unit_test_teardown(breaks, arenas_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
