/*
 * catalog_print_fixture.h - what the tests of printers share: a catalogue, what a printer has made
 * of it, and the example that each prints.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_PRINT_FIXTURE_H
#define CT_CATALOG_PRINT_FIXTURE_H

#include "catalog/catalog_print.h"
#include "catalog_fixture.h"

static struct ct_buf out;

static UNUSED int buf_setup(void **state)
{
	ct_buf_init(&out);
	return catalog_setup(state);
}

static UNUSED int buf_teardown(void **state)
{
	ct_buf_fini(&out);
	return catalog_teardown(state);
}

typedef void print_function(struct ct_buf *out, const struct ct_catalog_component *component);

static UNUSED const char *print(print_function *function, const char *name)
{
	ct_buf_clear(&out);
	function(&out, component(name));
	assert_false(out.failed);
	return ct_buf_text(&out);
}

static UNUSED void assert_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		print_message("# no <%s> in\n%s\n", part, text);
	assert_non_null(strstr(text, part));
}

static UNUSED void parse_example(void)
{
	parse("component: App.Db\n"
	      "description: The data base.\n"
	      "events:\n"
	      "  1: {mnemonic: OPEN, description: A file is opened, severity: info, exit: 2, match: handle, arguments: [handle, {name: mode,\n"
	      "      print: flags, values: {READ: 1, WRITE: 2}}]}\n"
	      "  2: {mnemonic: OPENED, arguments: [{name: handle, print: hex, key: true}, {name: state, description: \"How, it went\",\n"
	      "      values: {good: 0, bad: -1}}, {name: since, unit: ms}]}\n"
	      "  0xFFFFFFFF: {mnemonic: last, exception: true}\n");
}

/* Texts that would end a comment, a literal, a line or a cell. */
#define COMPONENT_THAT_WANTS_OUT "A\"\\?\xC3\xA4"

static UNUSED void parse_texts_that_want_out(void)
{
	parse("component: 'A\"\\?\xC3\xA4'\n"
	      "description: \"*/ int x; /* ?\?/ \\n#define Y\\e[31m \xE2\x80\xAE | <b> `c` \\\\\"\n"
	      "events:\n"
	      "  1: {mnemonic: X, description: 'ends with \\'}\n"
	      "  2: {mnemonic: Y, description: '*/*/'}\n"
	      "  3: {mnemonic: Z, arguments: [{name: a, values: {\"*/ \\\" |\": 1}}]}\n");
}

#define PRINT_TEST(name) cmocka_unit_test_setup_teardown(name, buf_setup, buf_teardown)

#endif
