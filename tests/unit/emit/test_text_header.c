/*
 * test_text_header.c - the header block, byte for byte, also for hostile command lines.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "emit_fixture.h"

/* Date and time are those of now: their digits become a 9. */
static void blank_digits_of_time(char *text)
{
	char *from = strstr(text, "# Date "), *to = strstr(text, "# Operating");

	assert_non_null(from);
	assert_non_null(to);
	for (; from < to; from++) {
		if (*from >= '0' && *from <= '9')
			*from = '9';
	}
}

static void assert_header(const struct fixture *fixture, const char *format, const char *expected)
{
	struct ct_buf out;

	ct_buf_init(&out);
	ct_text_header_add(&out, &fixture->context, format);
	(void)ct_buf_text(&out);
	blank_digits_of_time(out.data);
	assert_string_equal(out.data, expected);
	ct_buf_fini(&out);
}

static void header_of_the_manual(void **state)
{
	struct fixture *fixture = *state;

	assert_header(fixture, CT_LINE_FORMAT,
		      "# -MFTRACE Text Emitter-\n"
		      "# CommandLine      = mymain\n"
		      "# ProcessId        = 17356\n"
		      "# Date             = 9999/99/99\n"
		      "# Time             = 99:99:99.999\n"
		      "# Operating System = AIX 5.1\n"
		      "# Computer Name    = asterix\n"
		      "# Format           = $(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)\n");
}

static void arguments_cannot_forge_lines(void **state)
{
	struct fixture *fixture = *state;

	fixture->context.command_line = "sh -c \"echo \\o/\" \n# ProcessId = 1\x1B[2J";
	fixture->context.host = "";
	assert_header(fixture, "\"$(DATA)\"\n",
		      "# -MFTRACE Text Emitter-\n"
		      "# CommandLine      = sh -c \"echo \\o/\" \\n# ProcessId = 1\\u{1B}[2J\n"
		      "# ProcessId        = 17356\n"
		      "# Date             = 9999/99/99\n"
		      "# Time             = 99:99:99.999\n"
		      "# Operating System = AIX 5.1\n"
		      "# Computer Name    = \n"
		      "# Format           = \"$(DATA)\"\\n\n");
}

static int init(void **state)
{
	*state = fixture_create(&ct_emit_textfile);
	return 0;
}

static int fini(void **state)
{
	fixture_destroy(*state);
	return 0;
}

int test_text_header(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(header_of_the_manual, init, fini),
		cmocka_unit_test_setup_teardown(arguments_cannot_forge_lines, init, fini),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
