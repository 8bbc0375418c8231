/*
 * operator_fixture.h - what the tests of the operator's grammar share: the command that was read
 * last, and the error of another.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_FIXTURE_H
#define CT_OPERATOR_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operator/operator.h"

#define UNUSED __attribute__((unused))

static struct ct_operator_command command;
/* of the command, which points into it; what is behind it is not read */
static char line[CT_OPERATOR_LINE + 100];

static UNUSED void put_line(const char *text, size_t size)
{
	assert_true(size < sizeof line);
	memset(line, '(', sizeof line);
	memcpy(line, text, size);
}

/* The line has no error. */
static UNUSED void parse(const char *text)
{
	struct ct_diagnostic diagnostic = { .line = 7 };
	size_t size = strlen(text);

	put_line(text, size);
	memset(&command, 0xAA, sizeof command);
	if (ct_operator_parse(line, size, &command, &diagnostic) != CTRACE_OK)
		fail_msg("%s: column %u: %s; expected %s", text, diagnostic.column,
			 diagnostic.message, diagnostic.expected);
	assert_int_equal(diagnostic.line, 7); /* not touched */
}

static UNUSED void assert_bytes_diagnostic(const char *text, size_t size, unsigned column,
					   const char *message, const char *expected)
{
	struct ct_operator_command untouched;
	struct ct_diagnostic diagnostic;

	put_line(text, size);
	memset(&command, 0x55, sizeof command);
	memcpy(&untouched, &command, sizeof command);
	if (ct_operator_parse(line, size, &command, &diagnostic) == CTRACE_OK)
		fail_msg("%s is taken as a command", text);
	assert_string_equal(diagnostic.message, message);
	assert_string_equal(diagnostic.expected, expected);
	assert_int_equal(diagnostic.column, column);
	assert_int_equal(diagnostic.line, 0);
	assert_memory_equal(&untouched, &command, sizeof command);
}

/* The first error, at the column, with the words. */
static UNUSED void assert_diagnostic(const char *text, unsigned column, const char *message,
				     const char *expected)
{
	assert_bytes_diagnostic(text, strlen(text), column, message, expected);
}

#endif
