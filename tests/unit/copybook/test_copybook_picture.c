/*
 * test_copybook_picture.c - what pictures say of class, size, digits, point and sign, and which
 * ones say nothing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "copybook_fixture.h"
#include "catalog/copybook/copybook_private.h"

static bool find(void *user, const char *name, size_t size, int64_t *out_value)
{
	(void)user;
	*out_value = 7;
	return ct_name_is(name, size, "SEVEN");
}

static const struct ct_picture_context context = { find, NULL, '#' };

static void assert_picture(const char *text, enum ct_class class, uint32_t size, unsigned digits,
			   unsigned shown, int scale, bool is_signed)
{
	struct ct_picture picture;
	struct ct_picture_error error = { 0, "", "" };

	if (!ct_picture_parse(text, strlen(text), &context, &picture, &error))
		fail_msg("%s: %s at %zu", text, error.message, error.at);
	assert_int_equal(picture.class, class);
	assert_int_equal(picture.size, size);
	assert_int_equal(picture.digits, digits);
	assert_int_equal(picture.shown, shown);
	assert_int_equal(picture.scale, scale);
	assert_int_equal(picture.is_signed, is_signed);
}

static void numbers_have_digits_and_a_point(void **state)
{
	(void)state;
	assert_picture("9", CT_CLASS_NUMERIC, 1, 1, 1, 0, false);
	assert_picture("s9(5)v99", CT_CLASS_NUMERIC, 7, 7, 7, 2, true);
	assert_picture("S9(5)V9(SEVEN)", CT_CLASS_NUMERIC, 12, 12, 12, 7, true);
	assert_picture("V9", CT_CLASS_NUMERIC, 1, 1, 1, 1, false);
	assert_picture("9(38)", CT_CLASS_NUMERIC, 38, 38, 38, 0, false);
	assert_picture("PP99", CT_CLASS_NUMERIC, 2, 2, 4, 4, false);
	assert_picture("VPP99", CT_CLASS_NUMERIC, 2, 2, 4, 4, false);
	assert_picture("SP(3)9", CT_CLASS_NUMERIC, 1, 1, 4, 4, true);
	assert_picture("99PPP", CT_CLASS_NUMERIC, 2, 2, 2, -3, false);
	assert_picture("99P(3)V", CT_CLASS_NUMERIC, 2, 2, 2, -3, false);
}

static void texts_have_characters(void **state)
{
	(void)state;
	assert_picture("X", CT_CLASS_TEXT, 1, 0, 0, 0, false);
	assert_picture("X(SEVEN)X", CT_CLASS_TEXT, 8, 0, 0, 0, false);
	assert_picture("A(3)", CT_CLASS_TEXT, 3, 0, 0, 0, false);
	assert_picture("X9A9", CT_CLASS_TEXT, 4, 0, 0, 0, false);
	assert_picture("XX/XXBX0", CT_CLASS_TEXT, 8, 0, 0, 0, false);
	assert_picture("N(4)", CT_CLASS_TEXT, 8, 0, 0, 0, false);
}

static void edited_numbers_have_all_that_is_inserted(void **state)
{
	(void)state;
	assert_picture("ZZ9", CT_CLASS_EDITED, 3, 0, 0, 0, false);
	assert_picture("Z(3),ZZ9.99-", CT_CLASS_EDITED, 11, 0, 0, 0, false);
	assert_picture("$$,$$9.99CR", CT_CLASS_EDITED, 11, 0, 0, 0, false);
	assert_picture("#(3)9db", CT_CLASS_EDITED, 6, 0, 0, 0, false);
	assert_picture("***,**9", CT_CLASS_EDITED, 7, 0, 0, 0, false);
	assert_picture("+(4)9V9", CT_CLASS_EDITED, 6, 0, 0, 0, false);
	assert_picture("99B99/99", CT_CLASS_EDITED, 8, 0, 0, 0, false);
	assert_picture("ZZZP", CT_CLASS_EDITED, 3, 0, 0, 0, false);
}

static void assert_refused(const char *text, size_t at)
{
	struct ct_picture picture = { .size = 99 };
	struct ct_picture_error error = { SIZE_MAX, "", "" };

	assert_false(ct_picture_parse(text, strlen(text), &context, &picture, &error));
	assert_int_equal(error.at, at);
	assert_true(error.message[0] != '\0' && error.expected[0] != '\0');
	assert_int_equal(picture.size, 99);
}

static void what_is_no_picture_is_refused_where_it_ends_to_be_one(void **state)
{
	(void)state;
	assert_refused("Q", 0);
	assert_refused("XXE", 2);
	assert_refused("9S", 2);
	assert_refused("9V9V9", 4);
	assert_refused("X(3", 1);
	assert_refused("X(EIGHT)", 1);
	assert_refused("X(0)", 1);
	assert_refused("X(999999999999999999999)", 1);
	assert_refused("9(268435456)9(268435456)", 24);
	assert_refused("9(39)", 5);
	assert_refused("9P9", 3);
	assert_refused("P9P", 3);
	assert_refused("SX", 2);
	assert_refused("XZ", 2);
	assert_refused("NX", 2);
	assert_refused("V", 1);
	assert_refused("99C", 3);
	assert_refused("X(-1)", 1);
}

static void a_picture_has_at_most_255_characters(void **state)
{
	char text[300];

	(void)state;
	memset(text, 'X', sizeof text);
	text[255] = '\0';
	assert_picture(text, CT_CLASS_TEXT, 255, 0, 0, 0, false);
	text[255] = 'X';
	text[256] = '\0';
	assert_refused(text, 255);
}

int test_copybook_picture(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_digits_and_a_point),
		cmocka_unit_test(texts_have_characters),
		cmocka_unit_test(edited_numbers_have_all_that_is_inserted),
		cmocka_unit_test(what_is_no_picture_is_refused_where_it_ends_to_be_one),
		cmocka_unit_test(a_picture_has_at_most_255_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
