/*
 * test_export_csv.c - comma-separated values: exact rows, quoting, and what a spreadsheet would
 * compute.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "export_fixture.h"

static struct exported exported;

#define HEAD "time,time_ns,host,pid,tid,component,event,mnemonic,level,duration_ns,names"
#define EVENT \
	"2023-11-14T22:13:20.123456789Z,1700000000123456789,asterix,4711,9,MF.RTS,255,255,ERROR,"

static void rows(void **state)
{
	const struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5S, 4,
							       (uint64_t)-17),
						   text_item("a"), binary_item("\x01\xFF", 2) };
	struct ct_read_event events[] = { event_at(0, 9, items, 1), event_at(0, 9, items, 3) };

	(void)state;
	events[1].duration_ns = 250;
	export_events(&exported, &ct_export_csv, (struct ct_export_options){ 0 }, events, 2);
	assert_string_equal(exported.text,
			    HEAD ",data1,data2,data3\r\n" EVENT ",data1,-17,,\r\n" EVENT
				 "250,data1 data2 data3,-17,a,01FF\r\n");
	export_events(&exported, &ct_export_csv, (struct ct_export_options){ 0 }, events, 0);
	assert_string_equal(exported.text, HEAD "\r\n");
}

/* The one data cell. */
static const char *cell_of(const char *text, size_t size, bool is_unguarded)
{
	const struct ctrace_event_item item = { .type = CTRACE_TYPE_TEXT,
						.size = (uint32_t)size,
						.data = text };
	struct ct_read_event event = event_at(0, 9, &item, 1);
	char *cell;

	export_events(&exported, &ct_export_csv,
		      (struct ct_export_options){ .is_unguarded = is_unguarded }, &event, 1);
	cell = strstr(exported.text, EVENT ",data1,");
	assert_non_null(cell);
	exported.text[exported.size - 2] = '\0';
	return cell + strlen(EVENT ",data1,");
}
#define CELL(text) cell_of(text, sizeof(text) - 1, false)

static void quoting(void **state)
{
	(void)state;
	assert_string_equal(CELL("plain"), "plain");
	assert_string_equal(CELL("a,b"), "\"a,b\"");
	assert_string_equal(CELL("a \"b\""), "\"a \"\"b\"\"\"");
	assert_string_equal(CELL(" a"), "\" a\"");
	assert_string_equal(CELL("\xE2\x82\xAC"), "\xE2\x82\xAC");
	assert_string_equal(CELL("C:\\dir"), "C:\\dir");
	/* What could harm a line or a terminal is escaped, all of it. */
	assert_string_equal(CELL("a\nb"), "a\\nb");
	assert_string_equal(CELL("\x1B[2J\"x\""), "\"\\u{1B}[2J\\\"\"x\\\"\"\"");
	assert_string_equal(CELL("\xFF"), "\\xFF");
}

static void formulas(void **state)
{
	(void)state;
	assert_string_equal(CELL("=1+1"), "'=1+1");
	assert_string_equal(CELL("=HYPERLINK(\"x\",\"y\")"),
			    "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"");
	assert_string_equal(CELL("@SUM(A1)"), "'@SUM(A1)");
	assert_string_equal(CELL("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
	assert_string_equal(CELL("-2+3"), "'-2+3");
	assert_string_equal(CELL("\xEF\xBC\x9D"
				 "1"),
			    "'\xEF\xBC\x9D"
			    "1");
	assert_string_equal(CELL("-12.50"), "-12.50");
	assert_string_equal(CELL("+5"), "+5");
	assert_string_equal(CELL("-"), "'-");
	assert_string_equal(CELL("-.5"), "'-.5");
	assert_string_equal(CELL("-1.2.3"), "'-1.2.3");
	assert_string_equal(CELL("a=1"), "a=1");
	assert_string_equal(CELL("\t=1"), "\\t=1");
	assert_string_equal(cell_of("=1+1", 4, true), "=1+1");
}

static void names_are_third_party_too(void **state)
{
	struct ct_read_event event = event_at(0, 9, NULL, 0);

	(void)state;
	event.traced.component = "=cmd,1";
	event.traced.component_size = 6;
	export_events(&exported, &ct_export_csv, (struct ct_export_options){ 0 }, &event, 1);
	assert_non_null(strstr(exported.text, ",\"'=cmd,1\",255,"));
}

int test_export_csv(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(quoting),
		cmocka_unit_test(formulas),
		cmocka_unit_test(names_are_third_party_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
