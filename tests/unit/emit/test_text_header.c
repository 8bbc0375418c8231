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

/* The lines before the first event's in a new file. */
static void assert_header(struct fixture *fixture, const char *format, const char *expected)
{
	char *text, *event;

	fixture_set(fixture, "FILE", "header.log");
	fixture_set(fixture, "FORMAT", format);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	text = fixture_read(fixture, "header.log");
	blank_digits_of_time(text);
	event = strstr(text, "e000000");
	assert_non_null(event);
	while (event > text && event[-1] != '\n')
		event--;
	*event = '\0';
	assert_string_equal(text, expected);
	free(text);
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
