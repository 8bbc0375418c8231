/*
 * test_export.c - which exporters there are, how documents are written, and what events are called
 * in them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "export_fixture.h"

#include <errno.h>
#include <fcntl.h>

static void formats_have_names(void **state)
{
	(void)state;
	assert_ptr_equal(ct_exporter_find("chrome"), &ct_export_chrome);
	assert_ptr_equal(ct_exporter_find("Common-Trace-Format"), &ct_export_trace);
	assert_ptr_equal(ct_exporter_find("common"), &ct_export_trace);
	assert_ptr_equal(ct_exporter_find("p"), &ct_export_perfetto);
	assert_null(ct_exporter_find("c")); /* three of them */
	assert_null(ct_exporter_find(""));
	assert_ptr_equal(ct_exporter_find("perfetto"), &ct_export_perfetto);
	assert_null(ct_exporter_find("pdf"));
	for (size_t i = 0; ct_exporter_at(i) != NULL; i++)
		assert_ptr_equal(ct_exporter_find(ct_exporter_at(i)->name), ct_exporter_at(i));
}

static const char *string_of(const char *text, size_t size)
{
	static struct ct_buf out;

	ct_buf_clear(&out);
	ct_export_add_string(&out, text, size);
	return ct_buf_text(&out);
}

static void strings_are_json(void **state)
{
	(void)state;
	assert_string_equal(string_of("plain", 5), "\"plain\"");
	assert_string_equal(string_of("a\"b\\c\n\0d", 8), "\"a\\\"b\\\\c\\u000a\\u0000d\"");
	assert_string_equal(string_of("\xE2\x82\xAC", 3), "\"\\u20ac\"");
	assert_string_equal(string_of("\xF0\x9F\x90\x9E", 4), "\"\\ud83d\\udc1e\"");
	assert_string_equal(string_of("\xE2\x82", 2), "\"\\u00e2\\u0082\""); /* cut */
	/* half of a pair */
	assert_string_equal(string_of("\xED\xA0\x80", 3), "\"\\u00ed\\u00a0\\u0080\"");
	assert_string_equal(string_of("\xC0\x80", 2), "\"\\u00c0\\u0080\""); /* overlong */
	assert_string_equal(string_of("\xF4\x90\x80\x80", 4), "\"\\u00f4\\u0090\\u0080\\u0080\"");
}

static void values_are_numbers_when_they_are(void **state)
{
	const struct ctrace_event_item items[] = {
		number_item(CTRACE_TYPE_COMP5, 4, 17),
		number_item(CTRACE_TYPE_COMPXS, 8, (uint64_t)-17),
		number_item(CTRACE_TYPE_COMP5, 8, UINT64_MAX), /* more than a double holds */
		text_item("a,b"),
		binary_item("\x01\xFF", 2),
	};
	static const char *const expected[] = { "17", "-17", "18446744073709551615", "a,b",
						"01FF" };
	struct ct_read_event event = event_of(items, CT_COUNT(items));
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	for (uint32_t i = 0; i < CT_COUNT(items); i++) {
		ct_buf_clear(&out);
		assert_int_equal(ct_export_add_value(&out, &event, i), i < 2);
		assert_string_equal(ct_buf_text(&out), expected[i]);
	}
	ct_buf_fini(&out);
}

static const char *name_of(const struct ct_read_event *event)
{
	static struct ct_buf out;

	ct_buf_clear(&out);
	ct_export_add_name(&out, event);
	return ct_buf_text(&out);
}

static void names_have_the_component(void **state)
{
	struct ct_catalog *catalog = event_catalog(
		"rts.yaml",
		"component: MF.RTS\nevents:\n  1: {mnemonic: OPEN, exit: 2}\n  2: {mnemonic: OPENED}\n");
	const struct ct_event_names names = { .mnemonic = "sched_switch" };
	struct ct_read_event event = event_of(NULL, 0);

	(void)state;
	assert_string_equal(name_of(&event), "MF.RTS 255");
	event.names = &names;
	assert_string_equal(name_of(&event), "MF.RTS sched_switch");
	event.traced.event_id = 2;
	event_describe(&event, catalog);
	assert_string_equal(name_of(&event), "MF.RTS OPENED");
	ct_catalog_destroy(catalog);
}

static void a_full_disk_is_reported(void **state)
{
	struct ct_read_event event = event_of(NULL, 0);
	struct exported exported;
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_true(fd > 0);
	export_events(&exported, &ct_export_json, (struct ct_export_options){ .fd = fd }, &event,
		      1);
	assert_int_equal(exported.status, CTRACE_OS_ERROR);
	assert_int_equal(errno, ENOSPC);
	(void)close(fd);
}

static void times_are_utc(void **state)
{
	struct ct_buf out;

	(void)state;
	ct_buf_init(&out);
	ct_export_add_time(&out, 1700000000000000001u);
	assert_string_equal(ct_buf_text(&out), "2023-11-14T22:13:20.000000001Z");
	ct_buf_fini(&out);
}

int test_export(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_have_names),
		cmocka_unit_test(strings_are_json),
		cmocka_unit_test(values_are_numbers_when_they_are),
		cmocka_unit_test(names_have_the_component),
		cmocka_unit_test(a_full_disk_is_reported),
		cmocka_unit_test(times_are_utc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
