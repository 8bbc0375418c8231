/*
 * test_address.c - no user name and no password is left of an address, and other texts stay.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/base.h"

static const char *shown(const char *text)
{
	static char out[256];

	ct_address_shown(out, sizeof out, text);
	return out;
}

static void logins_are_left_out(void **state)
{
	(void)state;
	assert_string_equal(shown("nats://u:p@h:4222,g/S?credentials=/x"),
			    "nats://h:4222,g/S?credentials=/x");
	assert_string_equal(shown("nats://u:p@h,nats://v:q@g"), "nats://h,nats://g");
	assert_string_equal(shown("http://u:p@h:4318/v1/logs: HTTP 503"),
			    "http://h:4318/v1/logs: HTTP 503");
	assert_string_equal(shown("http://h/v1?token=p/v1/logs: x"), "http://h/v1 x");
	assert_string_equal(shown("cannot reach tls://t@h: http://u:p@g"),
			    "cannot reach tls://h: http://g");
	assert_string_equal(shown("u:p@h"), "h");
	assert_string_equal(shown("nats://u:p@q@h"), "nats://h");
	assert_string_equal(shown("nats://u:p/q?r@h/S"), "nats://h/S");
}

static void other_texts_stay(void **state)
{
	static const char *const texts[] = { "",
					     "/home/a@b/x.log",
					     "http://h:1/a@b",
					     "nats://[::1]/S?x=a@b",
					     "$(TIME) me@here",
					     "TEXTFILE" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(texts); i++)
		assert_string_equal(shown(texts[i]), texts[i]);
}

static const char *property_shown(const char *name, const char *value)
{
	static struct ct_buf out;

	ct_buf_fini(&out);
	ct_buf_init(&out);
	ct_property_shown(&out, (struct ct_span){ name, strlen(name) },
			  (struct ct_span){ value, strlen(value) });
	return ct_buf_text(&out);
}

static void secrets_are_hidden(void **state)
{
	(void)state;
	assert_string_equal(property_shown("headers", "A=b"), "(hidden)");
	assert_string_equal(property_shown("DB_Password", "x"), "(hidden)");
	assert_string_equal(property_shown("HEADERS", ""), "");
	assert_string_equal(property_shown("URL", "http://u:p@h"), "http://h");
	assert_string_equal(property_shown("FILE", "a@b.log"), "a@b.log");
	(void)property_shown("FILE", "");
}

int test_address(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logins_are_left_out),
		cmocka_unit_test(other_texts_stay),
		cmocka_unit_test(secrets_are_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
