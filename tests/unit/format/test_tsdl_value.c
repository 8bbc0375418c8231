/*
 * test_tsdl_value.c - settings in metadata: names with dots, numbers with signs, texts, byte
 * orders.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "third_party_fixture.h"

static struct ct_tsdl_parser parser;
static char got[512];

static bool note(struct ct_tsdl_parser *at, const struct ct_tsdl_setting *setting, void *user)
{
	size_t size = strlen(got);

	(void)at;
	(void)user;
	if (setting->is_number)
		(void)snprintf(got + size, sizeof got - size, "%s=%s%lld;", setting->name,
			       setting->is_negative ? "!" : "", (long long)setting->number);
	else
		(void)snprintf(got + size, sizeof got - size, "%s=%s%s;", setting->name,
			       setting->is_string ? "$" : "", setting->text->text);
	return true;
}

static bool read_settings(const char *text)
{
	bool done;

	got[0] = '\0';
	begin_parser(&parser, text);
	done = ct_tsdl_settings(&parser, note, NULL);
	(void)snprintf(said, sizeof said, "%u:%u %s", parser.diagnostic.line,
		       parser.diagnostic.column, parser.diagnostic.message);
	end_parser(&parser);
	return done;
}

static void all_kinds(void **state)
{
	(void)state;
	assert_true(read_settings(
		"{ a = 1; b.c.d = -0x10; e = \"x\\ty\"; f = clock.m.value; g = +7; }"));
	assert_string_equal(got, "a=1;b.c.d=!-16;e=$x\ty;f=clock.m.value;g=7;");
	assert_true(read_settings("{}"));
	assert_true(read_settings("{ a = -9223372036854775808; }"));
}

static void diagnostics(void **state)
{
	(void)state;
	assert_false(read_settings("{ a = 1 }"));
	assert_string_equal(said, "1:9 unexpected \"}\"");
	assert_false(read_settings("{ a 1; }"));
	assert_false(read_settings("{ a = ; }"));
	assert_string_equal(said, "1:7 a number is missing");
	assert_false(read_settings("{ a = -9223372036854775809; }"));
	assert_string_equal(said, "1:8 the number does not fit in 64 bits");
	assert_false(read_settings("{ a = 99999999999999999999; }"));
	assert_string_equal(said, "1:7 this is no number that fits in 64 bits");
	assert_false(read_settings("{ a. = 1; }"));
	assert_false(read_settings("{ a = 1;"));
}

static void a_long_name_is_cut(void **state)
{
	char text[300] = "{ ", name[64];

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		strcat(text, "abcd.");
	strcat(text, "e = 1; }");
	begin_parser(&parser, text + 2);
	assert_true(ct_tsdl_setting_name(&parser, name));
	assert_true(strlen(name) < sizeof name);
	assert_true(ct_tsdl_scan_is(&parser.scan, "="));
	end_parser(&parser);
}

static void orders(void **state)
{
	static const struct {
		const char *text;
		int order;
	} rows[] = { { "native", CT_ORDER_NATIVE },
		     { "le", CT_ORDER_LE },
		     { "be", CT_ORDER_BE },
		     { "network", CT_ORDER_BE },
		     { "pdp", -1 } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_tsdl_setting setting = { 0 };
		uint8_t order = 9;

		begin_parser(&parser, "x");
		setting.text = ct_tsdl_name(&parser, rows[i].text, strlen(rows[i].text));
		assert_int_equal(ct_tsdl_setting_order(&parser, &setting, &order),
				 rows[i].order >= 0);
		if (rows[i].order >= 0)
			assert_int_equal(order, rows[i].order);
		end_parser(&parser);
	}
}

int test_tsdl_value(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_kinds),
					    cmocka_unit_test(diagnostics),
					    cmocka_unit_test(a_long_name_is_cut),
					    cmocka_unit_test(orders) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
