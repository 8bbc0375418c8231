/*
 * test_text_line.c - lines byte for byte: variables, items, delimiters, and that one event is one line.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "emit/emit.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIME 1536851547993456789ull /* 2018-09-13 15:12:27.993 UTC */

static struct ct_buf out;
static const struct ct_line_format standard = { CT_LINE_FORMAT, " ", 8, true, "mymain", CT_ENCODING_ASCII };

static struct ctrace_event event_with(const struct ctrace_event_item *items, uint32_t count)
{
	return (struct ctrace_event){
		.time_ns = TIME,
		.component = "MF.RTS",
		.component_size = 6,
		.event_id = 255,
		.level = 3,
		.pid = 17356,
		.tid = 4294967295u,
		.item_count = count,
		.items = items,
	};
}

static const char *line_of(const struct ct_line_format *format, const struct ctrace_event *event)
{
	ct_buf_clear(&out);
	ct_line_add(&out, format, event);
	return ct_buf_text(&out);
}

static const char *formatted(const char *text)
{
	struct ct_line_format format = standard;
	struct ctrace_event_item items[] = { { CTRACE_TYPE_COMP5, 4, "\xAD\0\0", 173 }, { CTRACE_TYPE_TEXT, 2, "ab", 0 } };
	struct ctrace_event event = event_with(items, 2);

	format.format = text;
	return line_of(&format, &event);
}

static const char *item(uint32_t type, const void *data, uint32_t size, uint64_t value)
{
	struct ctrace_event_item one = { .type = type, .size = size, .data = data, .value = value };

	ct_buf_clear(&out);
	ct_line_add_item(&out, &standard, &one);
	return ct_buf_text(&out);
}

static const char *hex_item(uint32_t block_size, const char *data, uint32_t size)
{
	struct ctrace_event_item one = { .type = CTRACE_TYPE_BINARY, .size = size, .data = data };
	struct ct_line_format format = standard;

	format.hex_block_size = block_size;
	ct_buf_clear(&out);
	ct_line_add_item(&out, &format, &one);
	return ct_buf_text(&out);
}

/* The line that the vendor's manual shows. */
static void line_of_the_manual(void **state)
{
	struct ctrace_event_item items[] = {
		{ CTRACE_TYPE_COMP5, 4, "\xAD\0\0", 173 },
		{ CTRACE_TYPE_COMPX, 1, "\x01", 1 },
		{ CTRACE_TYPE_TEXT, 6, "myprog", 0 },
	};
	struct ctrace_event event = event_with(items, 3);

	(void)state;
	assert_string_equal(line_of(&standard, &event), "15:12:27.993 MF.RTS 255 3 173 1 \"myprog\"\n");
}

static void every_variable(void **state)
{
	(void)state;
	assert_string_equal(formatted("$(COMPONENT)"), "MF.RTS\n");
	assert_string_equal(formatted("$(DATA)"), " 173 \"ab\"\n");
	assert_string_equal(formatted("$(DATE)"), "2018/09/13\n");
	assert_string_equal(formatted("$(EVENT)"), "255\n");
	assert_string_equal(formatted("$(LEVEL)"), "3\n");
	assert_string_equal(formatted("$(THREAD)"), "4294967295\n");
	assert_string_equal(formatted("$(TIME)"), "15:12:27.993\n");
	assert_string_equal(formatted("$(PROCESS)"), "17356\n");
	assert_string_equal(formatted("$(PID)"), "17356\n");
	assert_string_equal(formatted("$(APPNAME)"), "mymain\n");
	assert_string_equal(formatted("$(Time)$(event)"), "15:12:27.993255\n");
	assert_string_equal(formatted("$(TIME) $(THREAD) $(COMPONENT) $(EVENT) $(LEVEL) :$(DATA)"),
			    "15:12:27.993 4294967295 MF.RTS 255 3 : 173 \"ab\"\n");
}

static void what_is_no_variable_stays(void **state)
{
	(void)state;
	assert_string_equal(formatted(""), "\n");
	assert_string_equal(formatted("plain"), "plain\n");
	assert_string_equal(formatted("$(RUNUNIT) $(NOSUCHVARIABLEATALL) $()"), "$(RUNUNIT) $(NOSUCHVARIABLEATALL) $()\n");
	assert_string_equal(formatted("$"), "$\n");
	assert_string_equal(formatted("$("), "$(\n");
	assert_string_equal(formatted("$(TIME"), "$(TIME\n");
	assert_string_equal(formatted("$$(EVENT)$"), "$255$\n");
	assert_string_equal(formatted("$($(EVENT))"), "$(255)\n");
	assert_string_equal(formatted("100%s $(EVENT)%n"), "100%s 255%n\n");
}

static void program_that_is_not_known(void **state)
{
	struct ct_line_format format = { "$(APPNAME)$(DATA)", "", 8, true, NULL, CT_ENCODING_ASCII };
	struct ctrace_event event = event_with(NULL, 0);

	(void)state;
	assert_string_equal(line_of(&format, &event), "$(APPNAME)\n");
}

static void delimiter_before_every_item(void **state)
{
	struct ctrace_event_item items[] = { { CTRACE_TYPE_COMP5, 1, "\x01", 1 },
					     { CTRACE_TYPE_BINARY, 0, NULL, 0 },
					     { CTRACE_TYPE_COMP5, 1, "\x02", 2 } };
	struct ctrace_event event = event_with(items, 3);
	struct ct_line_format format = { "[$(DATA)]", "; ", 8, true, NULL, CT_ENCODING_ASCII };

	(void)state;
	assert_string_equal(line_of(&format, &event), "[; 1; ; 2]\n");
	format.delimiter = "";
	assert_string_equal(line_of(&format, &event), "[12]\n");
	event.item_count = 0;
	format.delimiter = ",";
	assert_string_equal(line_of(&format, &event), "[]\n");
}

static void numbers_of_every_width(void **state)
{
	static const char bytes[9] = "\1\2\3\4\5\6\7\x08";

	(void)state;
	for (uint32_t size = 1; size <= 8; size++) {
		assert_string_equal(item(CTRACE_TYPE_COMP5, bytes, size, 200), "200");
		assert_string_equal(item(CTRACE_TYPE_COMPX, bytes, size, 200), "200");
		assert_string_equal(item(CTRACE_TYPE_COMP5S, bytes, size, (uint64_t)-200), "-200");
		assert_string_equal(item(CTRACE_TYPE_COMPXS, bytes, size, 200), "200");
	}
	assert_string_equal(item(CTRACE_TYPE_COMP5, bytes, 8, UINT64_MAX), "18446744073709551615");
	assert_string_equal(item(CTRACE_TYPE_COMP5S, bytes, 8, UINT64_MAX), "-1");
	assert_string_equal(item(CTRACE_TYPE_COMP5S, bytes, 8, 1ull << 63), "-9223372036854775808");
	assert_string_equal(item(CTRACE_TYPE_COMP5, bytes, 1, 0), "0");
	/* Other sizes are bytes. */
	for (uint32_t type = CTRACE_TYPE_COMP5; type <= CTRACE_TYPE_COMPXS; type++) {
		if (type == CTRACE_TYPE_UTF8)
			continue;
		assert_string_equal(item(type, bytes, 9, 0), "0102030405060708-00");
		assert_string_equal(item(type, NULL, 0, 0), "");
	}
}

static void addresses(void **state)
{
	(void)state;
	assert_string_equal(item(CTRACE_TYPE_ADDRESS, NULL, 8, 0), "0x0");
	assert_string_equal(item(CTRACE_TYPE_ADDRESS, NULL, 8, 0xF), "0xF");
	assert_string_equal(item(CTRACE_TYPE_ADDRESS, NULL, 8, 0x10), "0x10");
	assert_string_equal(item(CTRACE_TYPE_ADDRESS, NULL, 8, 0x7FFCDEAD0000), "0x7FFCDEAD0000");
	assert_string_equal(item(CTRACE_TYPE_ADDRESS, NULL, 8, UINT64_MAX), "0xFFFFFFFFFFFFFFFF");
}

static void bytes_in_blocks(void **state)
{
	(void)state;
	assert_string_equal(hex_item(4, "123456789:;<=>?", 15), "31323334-35363738-393A3B3C-3D3E3F");
	assert_string_equal(hex_item(8, "12345678", 8), "3132333435363738");
	assert_string_equal(hex_item(8, "123456789", 9), "3132333435363738-39");
	assert_string_equal(hex_item(1, "\xFF\0\x0A", 3), "FF-00-0A");
	assert_string_equal(hex_item(0, "123456789", 9), "313233343536373839");
	assert_string_equal(hex_item(UINT32_MAX, "12", 2), "3132");
	assert_string_equal(hex_item(8, "", 0), "");
	assert_string_equal(item(99, "ab", 2, 0), "6162"); /* an unknown type */
}

static void texts(void **state)
{
	struct ctrace_event_item one = { CTRACE_TYPE_TEXT, 3, "a\"b", 0 };
	struct ct_line_format bare = standard;

	(void)state;
	bare.quote_strings = false;
	assert_string_equal(item(CTRACE_TYPE_TEXT, "my prog ", 8, 0), "\"my prog \"");
	assert_string_equal(item(CTRACE_TYPE_UTF8, "\xC3\xBC", 2, 0), "\"\xC3\xBC\"");
	assert_string_equal(item(CTRACE_TYPE_TEXT, "", 0, 0), "\"\"");
	assert_string_equal(item(CTRACE_TYPE_TEXT, NULL, 0, 0), "\"\"");
	assert_string_equal(item(CTRACE_TYPE_TEXT, NULL, 5, 0), "\"\"");
	assert_string_equal(item(CTRACE_TYPE_TEXT, "x\" 1\n15:00:00.000 FORGED", 24, 0), "\"x\\\" 1\\n15:00:00.000 FORGED\"");
	ct_buf_clear(&out);
	ct_line_add_item(&out, &bare, &one);
	assert_string_equal(ct_buf_text(&out), "a\\\"b");
	one.size = 0;
	ct_buf_clear(&out);
	ct_line_add_item(&out, &bare, &one);
	assert_string_equal(ct_buf_text(&out), "");
}

/* Component names come from the program too. */
static void component_cannot_forge(void **state)
{
	struct ctrace_event event = event_with(NULL, 0);

	(void)state;
	event.component = "A\nB\x1B[2J";
	event.component_size = 7;
	assert_string_equal(line_of(&standard, &event), "15:12:27.993 A\\nB\\u{1B}[2J 255 3\n");
}

/* Every byte as every type of item: one line, nothing below a blank in it. */
static void one_event_is_one_line(void **state)
{
	(void)state;
	for (uint32_t type = 0; type < 10; type++) {
		for (unsigned byte = 0; byte < 65536; byte++) {
			char data[2] = { (char)(byte >> 8), (char)byte };
			struct ctrace_event_item one = { type, 2, data, byte };
			struct ctrace_event event = event_with(&one, 1);
			const char *line = line_of(&standard, &event);

			for (size_t i = 0; i + 1 < out.size; i++)
				assert_true((unsigned char)line[i] >= 0x20 && line[i] != 0x7F);
			assert_int_equal(line[out.size - 1], '\n');
		}
	}
}

/* Each second is asked for after another one, around midnight, the turn of a year, and summer time. */
static void times_in_any_order(void **state)
{
	static const struct {
		uint64_t seconds;
		const char *utc, *berlin;
	} rows[] = {
		{ 0, "1970/01/01 00:00:00.007", "1970/01/01 01:00:00.007" },
		{ 1703980799, "2023/12/30 23:59:59.007", "2023/12/31 00:59:59.007" },
		{ 1704067199, "2023/12/31 23:59:59.007", "2024/01/01 00:59:59.007" },
		{ 1704067200, "2024/01/01 00:00:00.007", "2024/01/01 01:00:00.007" },
		{ 1711846799, "2024/03/31 00:59:59.007", "2024/03/31 01:59:59.007" },
		{ 1711846800, "2024/03/31 01:00:00.007", "2024/03/31 03:00:00.007" },
		{ 4102444800, "2100/01/01 00:00:00.007", "2100/01/01 01:00:00.007" },
	};

	(void)state;
	for (unsigned zone = 0; zone < 2; zone++) {
		assert_int_equal(setenv("TZ", zone == 0 ? "UTC0" : "CET-1CEST,M3.5.0,M10.5.0/3", 1), 0);
		tzset();
		for (size_t i = 0; i < 3 * CT_COUNT(rows); i++) {
			size_t row = i * 5 % CT_COUNT(rows);

			ct_buf_clear(&out);
			ct_line_add_date(&out, rows[row].seconds * 1000000000u + 7999999u);
			ct_buf_add_char(&out, ' ');
			ct_line_add_time(&out, rows[row].seconds * 1000000000u + 7999999u);
			assert_string_equal(ct_buf_text(&out), zone == 0 ? rows[row].utc : rows[row].berlin);
		}
	}
	assert_int_equal(setenv("TZ", "UTC0", 1), 0);
	tzset();
	ct_buf_clear(&out);
	ct_line_add_time(&out, UINT64_MAX);
	assert_int_equal(out.size, 12);
}

static void losses_by_reason(void **state)
{
	uint64_t totals[CTRACE_LOSS_COUNT] = { [CTRACE_LOSS_DISCARDED] = 12, [CTRACE_LOSS_DAMAGED] = 3 };

	(void)state;
	ct_buf_clear(&out);
	ct_line_add_losses(&out, totals, 17356);
	assert_string_equal(ct_buf_text(&out), "# Lost             = 12 discarded, 3 damaged (process 17356)\n");
}

static void a_step_of_the_clock_is_noted_between_two_events(void **state)
{
	struct ctrace_clock clocks[3] = { { .steps = 4, .total_ns = 17 },
					  { .steps = 5, .total_ns = 17 - 3600000000000, .set_at_ns = 1795360347993000000u },
					  { .steps = 6, .total_ns = 17 - 3600000000000 + 2500000, .set_at_ns = 1795360348000000000u } };
	struct ctrace_event event = { .pid = 1234 };
	struct ct_clock_seen seen = { .steps = CT_CLOCK_UNSEEN };

	(void)state;
	ct_buf_clear(&out);
	ct_line_add_clock(&out, &seen, &event); /* from somebody who does not know */
	event.clock = &clocks[0];
	ct_line_add_clock(&out, &seen, &event); /* what was before the first event is no step between two */
	ct_line_add_clock(&out, &seen, &event);
	assert_int_equal(out.size, 0);
	event.clock = &clocks[1];
	ct_line_add_clock(&out, &seen, &event);
	assert_string_equal(ct_buf_text(&out), "# Clock set back by 3600.000000 s at 2026/11/22 15:12:27.993 (process 1234)\n");
	ct_buf_clear(&out);
	ct_line_add_clock(&out, &seen, &event);
	event.clock = &clocks[0]; /* came late */
	ct_line_add_clock(&out, &seen, &event);
	event.clock = &clocks[1];
	ct_line_add_clock(&out, &seen, &event);
	assert_int_equal(out.size, 0);
	event.clock = &clocks[2];
	ct_line_add_clock(&out, &seen, &event);
	assert_string_equal(ct_buf_text(&out), "# Clock set forward by 0.002500 s at 2026/11/22 15:12:28.000 (process 1234)\n");
}

static void seconds_are_rounded_to_microseconds(void **state)
{
	(void)state;
	ct_buf_clear(&out);
	ct_line_add_seconds(&out, 3599999999700);
	ct_line_add_seconds(&out, 1499);
	ct_line_add_step(&out, -1);
	ct_line_add_step(&out, INT64_MIN);
	assert_string_equal(ct_buf_text(&out), "3600.000000 s0.000001 sback by 0.000000 sback by 9223372036.854776 s");
}

static int init(void **state)
{
	(void)state;
	(void)setenv("TZ", "UTC0", 1);
	tzset();
	ct_buf_init(&out);
	return 0;
}

static int fini(void **state)
{
	(void)state;
	ct_buf_fini(&out);
	return 0;
}

static void texts_have_an_encoding(void **state)
{
	const struct ctrace_event_item items[] = {
		{ .type = CTRACE_TYPE_TEXT, .size = 6, .data = "J\xDCRGEN" },
		{ .type = CTRACE_TYPE_UTF8, .size = 1, .data = "\xDC" },
		{ .type = CTRACE_TYPE_TEXT, .size = 0, .data = NULL },
	};
	const struct ctrace_event event = event_with(items, 3);
	struct ct_line_format format = { "$(DATA)", " ", 8, true, NULL, CT_ENCODING_LATIN_1 };

	(void)state;
	assert_true(ct_encoding_prepare(CT_ENCODING_LATIN_1));
	assert_string_equal(line_of(&format, &event), " \"JÜRGEN\" \"\\xDC\" \"\"\n");
	format.encoding = CT_ENCODING_ASCII;
	assert_string_equal(line_of(&format, &event), " \"J\\xDCRGEN\" \"\\xDC\" \"\"\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_have_an_encoding),
		cmocka_unit_test(line_of_the_manual),
		cmocka_unit_test(every_variable),
		cmocka_unit_test(what_is_no_variable_stays),
		cmocka_unit_test(program_that_is_not_known),
		cmocka_unit_test(delimiter_before_every_item),
		cmocka_unit_test(numbers_of_every_width),
		cmocka_unit_test(addresses),
		cmocka_unit_test(bytes_in_blocks),
		cmocka_unit_test(texts),
		cmocka_unit_test(component_cannot_forge),
		cmocka_unit_test(one_event_is_one_line),
		cmocka_unit_test(times_in_any_order),
		cmocka_unit_test(losses_by_reason),
		cmocka_unit_test(a_step_of_the_clock_is_noted_between_two_events),
		cmocka_unit_test(seconds_are_rounded_to_microseconds),
	};

	return cmocka_run_group_tests(tests, init, fini);
}
