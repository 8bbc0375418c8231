/*
 * test_report_page.c - the page: its data can be had from it, and nothing of a trace or a title is
 * markup.
 *
 * What a browser makes of it is tests/process/report_page.py's.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "report_fixture.h"

static char *write_page(const char *title, const char *component, size_t *out_size)
{
	const struct ct_report_options options = { .title = title };
	const struct ct_read_totals totals = { .events = 1 };
	struct ct_report *report = NULL;
	struct ct_read_event event = make_event(component, 1, 1000);
	char *text = NULL;
	FILE *to = open_memstream(&text, out_size);

	assert_non_null(to);
	assert_int_equal(ct_report_create(&options, &report), CTRACE_OK);
	assert_true(ct_report_add(report, &event));
	ct_report_add_path(report, "</script><script>alert(1)</script>");
	assert_int_equal(ct_report_write(report, &totals, to), CTRACE_OK);
	assert_int_equal(fclose(to), 0);
	ct_report_destroy(report);
	return text;
}

static int digit_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = memchr(digits, c, 64);

	assert_non_null(at);
	return (int)(at - digits);
}

/* The data of that name, unpacked and terminated. */
static char *data_of(const char *page, const char *name)
{
	unsigned char packed[8192];
	char mark[64];
	const char *at;
	size_t size = 0, length;
	struct unpacked data;

	(void)snprintf(mark, sizeof mark, "id=\"data-%s\">", name);
	at = strstr(page, mark);
	assert_non_null(at);
	at += strlen(mark);
	length = strcspn(at, "<");
	assert_int_equal(length % 4, 0);
	for (size_t i = 0; i < length; i += 4) {
		uint32_t word = (uint32_t)digit_of(at[i]) << 18 | (uint32_t)digit_of(at[i + 1])
									  << 12;

		word |= at[i + 2] == '=' ? 0 : (uint32_t)digit_of(at[i + 2]) << 6;
		word |= at[i + 3] == '=' ? 0 : (uint32_t)digit_of(at[i + 3]);
		assert_true(size + 3 <= sizeof packed);
		packed[size++] = (unsigned char)(word >> 16);
		if (at[i + 2] != '=')
			packed[size++] = (unsigned char)(word >> 8);
		if (at[i + 3] != '=')
			packed[size++] = (unsigned char)word;
	}
	data = unpack(packed, size, 65536);
	data.bytes[data.size] = '\0';
	return (char *)data.bytes;
}

static void the_data_are_in_it(void **state)
{
	static const char *const names[] = {
		"time", "class", "thread", "items", "spans", "records"
	};
	size_t size;
	char *page = write_page(NULL, "APP", &size), *about = data_of(page, "about");
	json_t *json = json_loads(about, JSON_ALLOW_NUL, NULL);

	(void)state;
	assert_non_null(json);
	assert_true(json_is_null(json_object_get(json, "title")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(json, "counts"), "events")), 1);
	json_decref(json);
	free(about);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		free(data_of(page, names[i]));
	assert_non_null(strstr(page, "<title>ctrace report</title>"));
	assert_null(strstr(page, "{{"));
	/* of the library in it */
	assert_non_null(strstr(page, "Permission is hereby granted, free of charge"));
	free(page);
}

static void no_text_is_markup(void **state)
{
	size_t size, scripts = 0;
	char *page = write_page("<b>&{{DATA}}\xFF</title>", "<script>alert(2)</script>", &size);

	(void)state;
	assert_null(strstr(page, "alert("));
	assert_non_null(strstr(page, "<title>&lt;b>&amp;{{DATA}}\\xFF&lt;/title></title>"));
	for (const char *at = page; (at = strstr(at, "<script")) != NULL; at++)
		scripts++;
	assert_int_equal(scripts, 8); /* seven of data, and its own */
	free(page);
}

static void it_asks_nobody_for_anything(void **state)
{
	size_t size;
	char *page = write_page(NULL, "APP", &size);

	(void)state;
	assert_null(strstr(page, " src="));
	assert_null(strstr(page, "<link"));
	assert_null(strstr(page, "@import"));
	assert_null(strstr(page, "url(http"));
	assert_non_null(strstr(page, "default-src 'none'"));
	free(page);
}

/* A number that nobody can guess lets its script run, and is another one each time. */
static void the_nonce_is_new(void **state)
{
	size_t size;
	char *a = write_page(NULL, "APP", &size), *b = write_page(NULL, "APP", &size);
	const char *in_a = strstr(a, "'nonce-"), *in_b = strstr(b, "'nonce-");

	(void)state;
	assert_non_null(in_a);
	assert_non_null(in_b);
	assert_int_equal(strspn(in_a + 7, "0123456789abcdef"), 32);
	assert_memory_not_equal(in_a, in_b, 7 + 32);
	free(a);
	free(b);
}

int test_report_page(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_data_are_in_it),
		cmocka_unit_test(no_text_is_markup),
		cmocka_unit_test(it_asks_nobody_for_anything),
		cmocka_unit_test(the_nonce_is_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
