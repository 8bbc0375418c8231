/*
 * parmlib_fixture.h - what the tests of members share: the one that was read last, and the one
 * error of another.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PARMLIB_FIXTURE_H
#define CT_PARMLIB_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/control/parmlib.h"

#define UNUSED __attribute__((unused))

static struct ct_parmlib member;

static UNUSED int member_free(void **state)
{
	(void)state;
	ct_parmlib_fini(&member);
	return 0;
}

/* The member has no error. */
static UNUSED void parse_bytes(const char *text, size_t size)
{
	ct_parmlib_fini(&member);
	assert_int_equal(ct_parmlib_parse(text, size, &member, NULL, NULL), 0);
}

static UNUSED void parse(const char *text)
{
	parse_bytes(text, strlen(text));
}

static UNUSED const struct ct_trace_request *request(uint32_t index)
{
	assert_true(index < member.count);
	return &member.requests[index];
}

/* ---- errors ---- */

struct seen {
	unsigned count;
	uint32_t reason[32];
	struct ct_diagnostic diagnostic[32];
};

static UNUSED void see(const struct ct_diagnostic *diagnostic, void *user)
{
	struct seen *seen = user;

	assert_true(seen->count < CT_COUNT(seen->reason));
	seen->reason[seen->count] = diagnostic->code;
	seen->diagnostic[seen->count++] = *diagnostic;
}

/* One error, at the place, with the words. */
static UNUSED void assert_diagnostic(const char *text, uint32_t reason, unsigned line,
				     unsigned column, const char *message, const char *expected)
{
	struct seen seen = { 0 };
	struct ct_parmlib bad;

	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, see, &seen), reason);
	ct_parmlib_fini(&bad);
	assert_string_equal(seen.diagnostic[0].message, message);
	assert_string_equal(seen.diagnostic[0].expected, expected);
	assert_int_equal(seen.diagnostic[0].line, line);
	assert_int_equal(seen.diagnostic[0].column, column);
	assert_int_equal(seen.reason[0], reason);
	assert_int_equal(seen.count, 1);
	assert_int_equal(ct_parmlib_parse(text, strlen(text), &bad, NULL, NULL), reason);
	ct_parmlib_fini(&bad);
}

#endif
