/*
 * ipcs_parse_fixture.h - what the tests of IPCS commands share: commands that are understood, and
 * errors with their place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_IPCS_PARSE_FIXTURE_H
#define CT_IPCS_PARSE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "print/ipcs/ipcs.h"

#define UNUSED __attribute__((unused))

/* From a block of exactly its size, so that a memory checker sees the first byte read past it. */
static UNUSED enum ctrace_status parse(const char *text, struct ct_ipcs_command *out,
				       enum ct_ipcs_message *message,
				       struct ct_diagnostic *diagnostic)
{
	size_t size = strlen(text);
	char *exact = malloc(size + (size == 0));
	enum ctrace_status status;

	memcpy(exact, text, size);
	status = ct_ipcs_parse(exact, size, out, message, diagnostic);
	free(exact);
	return status;
}

static UNUSED void parse_good(const char *text, struct ct_ipcs_command *out)
{
	struct ct_diagnostic diagnostic;
	enum ct_ipcs_message message;

	if (parse(text, out, &message, &diagnostic) != CTRACE_OK)
		fail_msg("%s: line %u, column %u: %s; expected %s", text, diagnostic.line,
			 diagnostic.column, diagnostic.message, diagnostic.expected);
	assert_int_equal(message, CT_ITT_NONE);
}

/* The command, and what ct_ipcs_text_add() makes of it. */
static UNUSED void assert_means(const char *text, const char *canonical)
{
	struct ct_ipcs_command command;
	struct ct_buf again;

	ct_buf_init(&again);
	parse_good(text, &command);
	ct_ipcs_text_add(&again, &command);
	assert_string_equal(ct_buf_text(&again), canonical);
	ct_buf_fini(&again);
	ct_ipcs_command_fini(&command);
}

static UNUSED void assert_refused(const char *text, enum ct_ipcs_message wanted, unsigned line,
				  unsigned column, const char *part)
{
	struct ct_ipcs_command command;
	struct ct_diagnostic diagnostic;
	enum ct_ipcs_message message;

	assert_int_equal(parse(text, &command, &message, &diagnostic), CTRACE_SYNTAX_ERROR);
	if (message != wanted || diagnostic.line != line || diagnostic.column != column ||
	    strstr(diagnostic.message, part) == NULL)
		fail_msg("%s: %s, line %u, column %u: %s; expected %s", text,
			 ct_ipcs_message_row(message)->id, diagnostic.line, diagnostic.column,
			 diagnostic.message, diagnostic.expected);
	assert_true(diagnostic.expected[0] != '\0');
	ct_ipcs_command_fini(&command);
}

#endif
