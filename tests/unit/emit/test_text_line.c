/*
 * test_text_line.c - lines byte for byte: variables, items, delimiters, and that one event is one
 * line.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/emit/emit.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define TIME 1536851547993456789ull /* 2018-09-13 15:12:27.993 UTC */

static struct ct_buf out;
static const struct ct_line_format standard = { CT_LINE_FORMAT, " ",      8,
						true,           "mymain", CT_ENCODING_ASCII };

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
	struct ct_line_printer line;

	assert_int_equal(ct_line_printer_init(&line, format), CTRACE_OK);
	ct_buf_clear(&out);
	ct_line_add(&line, &out, event);
	ct_line_printer_fini(&line);
	return ct_buf_text(&out);
}

static const char *formatted(const char *text)
{
	struct ct_line_format format = standard;
	struct ctrace_event_item items[] = { { CTRACE_TYPE_COMP5, 4, "\xAD\0\0", 173 },
					     { CTRACE_TYPE_TEXT, 2, "ab", 0 } };
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
	assert_string_equal(line_of(&standard, &event),
			    "15:12:27.993 MF.RTS 255 3 173 1 \"myprog\"\n");
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
	assert_string_equal(formatted("$(RUNUNIT) $(NOSUCHVARIABLEATALL) $()"),
			    "$(RUNUNIT) $(NOSUCHVARIABLEATALL) $()\n");
	assert_string_equal(formatted("$"), "$\n");
	assert_string_equal(formatted("$("), "$(\n");
	assert_string_equal(formatted("$(TIME"), "$(TIME\n");
	assert_string_equal(formatted("$$(EVENT)$"), "$255$\n");
	assert_string_equal(formatted("$($(EVENT))"), "$(255)\n");
	assert_string_equal(formatted("100%s $(EVENT)%n"), "100%s 255%n\n");
}

static void program_that_is_not_known(void **state)
{
	struct ct_line_format format = {
		"$(APPNAME)$(DATA)", "", 8, true, NULL, CT_ENCODING_ASCII
	};
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
	assert_string_equal(hex_item(4, "123456789:;<=>?", 15),
			    "31323334-35363738-393A3B3C-3D3E3F");
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
	assert_string_equal(item(CTRACE_TYPE_TEXT, "x\" 1\n15:00:00.000 FORGED", 24, 0),
			    "\"x\\\" 1\\n15:00:00.000 FORGED\"");
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

/* Each second is asked for after another one, around midnight, the turn of a year, and summer time.
 */
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
		assert_int_equal(setenv("TZ", zone == 0 ? "UTC0" : "CET-1CEST,M3.5.0,M10.5.0/3", 1),
				 0);
		tzset();
		for (size_t i = 0; i < 3 * CT_COUNT(rows); i++) {
			size_t row = i * 5 % CT_COUNT(rows);

			ct_buf_clear(&out);
			ct_line_add_date(&out, rows[row].seconds * 1000000000u + 7999999u);
			ct_buf_add_char(&out, ' ');
			ct_line_add_time(&out, rows[row].seconds * 1000000000u + 7999999u);
			assert_string_equal(ct_buf_text(&out),
					    zone == 0 ? rows[row].utc : rows[row].berlin);
		}
	}
	assert_int_equal(setenv("TZ", "UTC0", 1), 0);
	tzset();
	ct_buf_clear(&out);
	ct_line_add_time(&out, UINT64_MAX);
	assert_int_equal(out.size, 12);
}

static void a_time_has_as_many_digits_as_asked(void **state)
{
	(void)state;
	ct_buf_clear(&out);
	for (unsigned digits = 3; digits <= 9; digits++) {
		ct_line_add_fine_time(&out, TIME - 993456789 + 3040506, digits);
		ct_buf_add_char(&out, ' ');
	}
	assert_string_equal(
		ct_buf_text(&out),
		"15:12:27.003 15:12:27.0030 15:12:27.00304 15:12:27.003040 15:12:27.0030405 15:12:27.00304050 "
		"15:12:27.003040506 ");
}

/* What the reader's printer uses: its own names, one part at a time, and the items alone. */
static void a_printer_may_have_names_of_its_own(void **state)
{
	static const struct ct_line_name names[] = { { "ID", CT_LINE_EVENT, false },
						     { "MINE", CT_LINE_VARIABLES, false } };
	struct ct_line_format format = standard;
	struct ctrace_event_item items[] = { { CTRACE_TYPE_COMP5, 4, "\xAD\0\0", 173 },
					     { CTRACE_TYPE_TEXT, 2, "ab", 0 } };
	struct ctrace_event event = event_with(items, 2);
	struct ct_line_printer line;

	(void)state;
	format.format = "$(ID)$(MINE) $(EVENT)";
	assert_int_equal(ct_line_printer_init_with(&line, &format, names, CT_COUNT(names)),
			 CTRACE_OK);
	ct_buf_clear(&out);
	for (size_t i = 0; i < line.parts.count; i++)
		ct_line_add_part(&line, &out, &line.parts.parts[i], &event);
	ct_line_add_data(&line, &out, &event);
	ct_line_add_encoded(&out, &format, CT_ENCODING_EBCDIC_037, "\xC1\x7F", 2);
	ct_line_printer_fini(&line);
	assert_string_equal(ct_buf_text(&out), "255 $(EVENT) 173 \"ab\"\"A\\\"\"");
}

static void losses_by_reason(void **state)
{
	uint64_t totals[CTRACE_LOSS_COUNT] = {
		[CTRACE_LOSS_DISCARDED] = 12, [CTRACE_LOSS_DAMAGED] = 3
	};

	(void)state;
	ct_buf_clear(&out);
	ct_line_add_losses(&out, totals, 17356);
	assert_string_equal(ct_buf_text(&out),
			    "# Lost             = 12 discarded, 3 damaged (process 17356)\n");
}

static void a_step_of_the_clock_is_noted_between_two_events(void **state)
{
	struct ctrace_clock clocks[3] = {
		{ .steps = 4, .total_ns = 17 },
		{ .steps = 5, .total_ns = 17 - 3600000000000, .set_at_ns = 1795360347993000000u },
		{ .steps = 6,
		  .total_ns = 17 - 3600000000000 + 2500000,
		  .set_at_ns = 1795360348000000000u }
	};
	struct ctrace_event event = { .pid = 1234 };
	struct ct_clock_seen seen = { .steps = CT_CLOCK_UNSEEN };

	(void)state;
	ct_buf_clear(&out);
	ct_line_add_clock(&out, &seen, &event); /* from somebody who does not know */
	event.clock = &clocks[0];
	/* what was before the first event is no step between two */
	ct_line_add_clock(&out, &seen, &event);
	ct_line_add_clock(&out, &seen, &event);
	assert_int_equal(out.size, 0);
	event.clock = &clocks[1];
	ct_line_add_clock(&out, &seen, &event);
	assert_string_equal(
		ct_buf_text(&out),
		"# Clock set back by 3600.000000 s at 2026/11/22 15:12:27.993 (process 1234)\n");
	ct_buf_clear(&out);
	ct_line_add_clock(&out, &seen, &event);
	event.clock = &clocks[0]; /* came late */
	ct_line_add_clock(&out, &seen, &event);
	event.clock = &clocks[1];
	ct_line_add_clock(&out, &seen, &event);
	assert_int_equal(out.size, 0);
	event.clock = &clocks[2];
	ct_line_add_clock(&out, &seen, &event);
	assert_string_equal(
		ct_buf_text(&out),
		"# Clock set forward by 0.002500 s at 2026/11/22 15:12:28.000 (process 1234)\n");
}

static void seconds_are_rounded_to_microseconds(void **state)
{
	(void)state;
	ct_buf_clear(&out);
	ct_line_add_seconds(&out, 3599999999700);
	ct_line_add_seconds(&out, 1499);
	ct_line_add_step(&out, -1);
	ct_line_add_step(&out, INT64_MIN);
	assert_string_equal(ct_buf_text(&out),
			    "3600.000000 s0.000001 sback by 0.000000 sback by 9223372036.854776 s");
}

/* -----------------------------------------------------------------------------------------------
 * Lines as they are documented, made in the simplest way: byte by byte, nothing kept from one line
 * to the next
 */

static void reference_code(struct ct_buf *to, uint32_t code)
{
	bool is_harmful = code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C ||
			  code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
			  (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;

	if (code == '\n')
		ct_buf_add_text(to, "\\n");
	else if (code == '\r')
		ct_buf_add_text(to, "\\r");
	else if (code == '\t')
		ct_buf_add_text(to, "\\t");
	else if (code == '"' || code == '\\')
		ct_buf_add_format(to, "\\%c", (int)code);
	else if (is_harmful)
		ct_buf_add_format(to, "\\u{%X}", code);
	else if (code < 0x80)
		ct_buf_add_format(to, "%c", (int)code);
	else if (code < 0x800)
		ct_buf_add_format(to, "%c%c", (int)(0xC0 | code >> 6), (int)(0x80 | (code & 0x3F)));
	else if (code < 0x10000)
		ct_buf_add_format(to, "%c%c%c", (int)(0xE0 | code >> 12),
				  (int)(0x80 | (code >> 6 & 0x3F)), (int)(0x80 | (code & 0x3F)));
	else
		ct_buf_add_format(to, "%c%c%c%c", (int)(0xF0 | code >> 18),
				  (int)(0x80 | (code >> 12 & 0x3F)),
				  (int)(0x80 | (code >> 6 & 0x3F)), (int)(0x80 | (code & 0x3F)));
}

static void reference_text(struct ct_buf *to, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + size;

	while (at < end) {
		uint32_t code = 0;
		size_t length = ct_utf8_decode(at, end, &code);

		if (length == 0)
			ct_buf_add_format(to, "\\x%02X", *at);
		else
			reference_code(to, code);
		at += length == 0 ? 1 : length;
	}
}

static void reference_bytes(struct ct_buf *to, const unsigned char *bytes, size_t size,
			    uint32_t block)
{
	for (size_t i = 0; i < size; i++)
		ct_buf_add_format(to, "%s%02X", block != 0 && i > 0 && i % block == 0 ? "-" : "",
				  bytes[i]);
}

static void reference_item(struct ct_buf *to, const struct ct_line_format *format,
			   const struct ctrace_event_item *one)
{
	struct ct_buf text;

	switch (one->type) {
	case CTRACE_TYPE_TEXT:
	case CTRACE_TYPE_UTF8:
		ct_buf_init(&text);
		ct_encoding_add(
			&text, one->type == CTRACE_TYPE_TEXT ? format->encoding : CT_ENCODING_ASCII,
			one->data, one->size);
		ct_buf_add_text(to, format->quote_strings ? "\"" : "");
		reference_text(to, text.data, text.size);
		ct_buf_add_text(to, format->quote_strings ? "\"" : "");
		ct_buf_fini(&text);
		return;
	case CTRACE_TYPE_ADDRESS:
		ct_buf_add_format(to, "0x%llX", (unsigned long long)one->value);
		return;
	case CTRACE_TYPE_COMP5:
	case CTRACE_TYPE_COMPX:
	case CTRACE_TYPE_COMP5S:
	case CTRACE_TYPE_COMPXS:
		if (one->size == 0 || one->size > 8)
			break;
		if (one->type == CTRACE_TYPE_COMP5S || one->type == CTRACE_TYPE_COMPXS)
			ct_buf_add_format(to, "%lld", (long long)one->value);
		else
			ct_buf_add_format(to, "%llu", (unsigned long long)one->value);
		return;
	default:
		break;
	}
	reference_bytes(to, one->data, one->size, format->hex_block_size);
}

/* What the variable stands for; false when it is none. */
static bool reference_variable(struct ct_buf *to, const char *name,
			       const struct ct_line_format *format,
			       const struct ctrace_event *event)
{
	time_t seconds = (time_t)(event->time_ns / 1000000000u);
	char text[32];

	if (strcasecmp(name, "COMPONENT") == 0) {
		reference_text(to, event->component, event->component_size);
	} else if (strcasecmp(name, "EVENT") == 0) {
		ct_buf_add_format(to, "%u", event->event_id);
	} else if (strcasecmp(name, "LEVEL") == 0) {
		ct_buf_add_format(to, "%u", event->level);
	} else if (strcasecmp(name, "THREAD") == 0) {
		ct_buf_add_format(to, "%u", event->tid);
	} else if (strcasecmp(name, "PID") == 0 || strcasecmp(name, "PROCESS") == 0) {
		ct_buf_add_format(to, "%u", event->pid);
	} else if (strcasecmp(name, "APPNAME") == 0 && format->program != NULL) {
		reference_text(to, format->program, strlen(format->program));
	} else if (strcasecmp(name, "DATE") == 0) {
		assert_true(strftime(text, sizeof text, "%Y/%m/%d", localtime(&seconds)) > 0);
		ct_buf_add_text(to, text);
	} else if (strcasecmp(name, "TIME") == 0) {
		assert_true(strftime(text, sizeof text, "%H:%M:%S", localtime(&seconds)) > 0);
		ct_buf_add_format(to, "%s.%03u", text,
				  (unsigned)(event->time_ns / 1000000u % 1000));
	} else if (strcasecmp(name, "DATA") == 0) {
		for (uint32_t i = 0; i < event->item_count; i++) {
			ct_buf_add_text(to, format->delimiter);
			reference_item(to, format, &event->items[i]);
		}
	} else {
		return false;
	}
	return true;
}

static void reference_line(struct ct_buf *to, const struct ct_line_format *format,
			   const struct ctrace_event *event)
{
	for (const char *at = format->format; *at != '\0'; at++) {
		const char *end = strncmp(at, "$(", 2) == 0 ? strchr(at, ')') : NULL;
		char name[16] = "";

		if (end != NULL && end - at - 2 < (ptrdiff_t)sizeof name)
			memcpy(name, at + 2, (size_t)(end - at - 2));
		if (reference_variable(to, name, format, event))
			at = end;
		else
			ct_buf_add_char(to, *at);
	}
	ct_buf_add_char(to, '\n');
}

/* The same numbers in each run. */
static uint64_t random_state = 88172645463325252u;

static uint32_t below(uint32_t bound)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 20) % bound);
}

/* Of every number of bits: small ones are as likely as large ones. */
static uint64_t random_number(void)
{
	return ((uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX)) >> below(64);
}

static void random_format(char *to, size_t size)
{
	static const char *const pieces[] = {
		"$(TIME)",    "$(COMPONENT)",
		"$(EVENT)",   "$(LEVEL)",
		"$(DATA)",    "$(DATE)",
		"$(THREAD)",  "$(PID)",
		"$(process)", "$(AppName)",
		" ",          "$",
		"$(",         ")",
		" : ",        "$(NONE)",
		"\"",         "a text",
		"$()",        "%s",
	};

	*to = '\0';
	for (unsigned count = below(12); count > 0; count--)
		if (strlen(to) + 16 < size)
			strcat(to, pieces[below(CT_COUNT(pieces))]);
}

/* Mostly plain, so that the quick ways are gone, with all that they must notice anywhere in it. */
static void random_text(unsigned char *to, size_t size)
{
	static const char *const harmful[] = { "\n",
					       "\t",
					       "\r",
					       "\"",
					       "\\",
					       "\x1B",
					       "\x7F",
					       "\x80",
					       "\xFF",
					       "\xC3\xBC",
					       "\xE2\x80\x8E",
					       "\xF0\x9F\x98\x80",
					       "\xEF\xBB\xBF",
					       "\xC2\x85",
					       "\xED\xA0\x80",
					       "\xE2\x82",
					       "" };
	unsigned kind = below(4);

	for (size_t i = 0; i < size; i++)
		to[i] = (unsigned char)(kind == 0 ? below(256) : ' ' + below(95));
	for (unsigned count = kind == 1 ? 1 + below(3) : 0; count > 0 && size > 0; count--) {
		const char *text = harmful[below(CT_COUNT(harmful))];
		size_t at = below((uint32_t)size), length = strlen(text) + 1;

		memcpy(to + at, text, length < size - at ? length : size - at);
	}
}

#define RANDOM_ITEMS 6u
#define RANDOM_BYTES 80u

static void random_items(struct ctrace_event_item *items, unsigned char data[][RANDOM_BYTES])
{
	for (unsigned i = 0; i < RANDOM_ITEMS; i++) {
		uint32_t type = below(CTRACE_TYPE_COUNT + 1),
			 size = below(below(2) != 0 ? 10 : RANDOM_BYTES);

		random_text(data[i], RANDOM_BYTES);
		items[i] = (struct ctrace_event_item){ type, size, data[i], random_number() };
		if (type == CTRACE_TYPE_TEXT || type == CTRACE_TYPE_UTF8)
			items[i].value = 0;
	}
}

/* What an event may have in common with the one before, or not: class, second, millisecond. */
static void random_event(struct ctrace_event *event)
{
	static const char *const components[] = {
		"MF.RTS", "A", "", "B\x1B\n", "\303\234BER", "A.COMPONENT.OF.SEVERAL.PARTS"
	};
	static const uint64_t steps[] = {
		0, 1, 999999, 1000000, 999999999, 1000000000, 86400000000000, 31536000000000000
	};
	unsigned id = below(CT_COUNT(components));

	event->component_id = id;
	event->component = components[id];
	event->component_size = (uint32_t)strlen(components[id]);
	event->event_id = below(4) == 0 ? (uint32_t)random_number() : below(3);
	event->level = below(CTRACE_LEVEL_COUNT);
	event->pid = (uint32_t)random_number();
	event->tid = (uint32_t)random_number();
	event->item_count = below(RANDOM_ITEMS + 1);
	event->time_ns = (event->time_ns +
			  (below(2) != 0 ? steps[below(CT_COUNT(steps))] : below(1000000))) %
			 (4000000000000000000 + below(9));
}

static void random_settings(struct ct_line_format *format, char *text, size_t size)
{
	static const char *const delimiters[] = { " ", "", ",", ", ", "; a longer delimiter ;" };
	static const enum ct_encoding encodings[] = { CT_ENCODING_ASCII, CT_ENCODING_EBCDIC_037,
						      CT_ENCODING_LATIN_1, CT_ENCODING_SHIFT_JIS };

	random_format(text, size);
	*format = (struct ct_line_format){ .format = below(4) == 0 ? CT_LINE_FORMAT : text,
					   .delimiter = delimiters[below(CT_COUNT(delimiters))],
					   .hex_block_size = below(2) != 0 ? 8 : below(20),
					   .quote_strings = below(2) != 0,
					   .program = below(3) == 0 ? NULL : "my\"main",
					   .encoding = encodings[below(CT_COUNT(encodings))] };
}

/* Random settings, and events of random items behind each other: each line is the one that the
 * reference makes. */
static void lines_are_those_of_the_reference(void **state)
{
	static unsigned char data[RANDOM_ITEMS][RANDOM_BYTES];
	struct ctrace_event_item items[RANDOM_ITEMS];
	struct ctrace_event event = { .time_ns = TIME, .items = items };
	struct ct_buf expected;
	char text[256];

	(void)state;
	ct_buf_init(&expected);
	assert_true(ct_encoding_prepare(CT_ENCODING_LATIN_1));
	assert_true(ct_encoding_prepare(CT_ENCODING_SHIFT_JIS));
	for (unsigned round = 0; round < 2000; round++) {
		struct ct_line_format format;
		struct ct_line_printer line;

		random_settings(&format, text, sizeof text);
		assert_int_equal(ct_line_printer_init(&line, &format), CTRACE_OK);
		for (unsigned i = 0; i < 50; i++) {
			ct_buf_clear(&out);
			ct_buf_clear(&expected);
			random_items(items, data);
			random_event(&event);
			ct_line_add(&line, &out, &event);
			reference_line(&expected, &format, &event);
			if (out.size != expected.size ||
			    memcmp(out.data, expected.data, out.size) != 0)
				fail_msg("by \"%s\": %s, not %s", format.format, ct_buf_text(&out),
					 ct_buf_text(&expected));
		}
		ct_line_printer_fini(&line);
	}
	ct_buf_fini(&expected);
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

int test_text_line(void)
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
		cmocka_unit_test(a_time_has_as_many_digits_as_asked),
		cmocka_unit_test(a_printer_may_have_names_of_its_own),
		cmocka_unit_test(losses_by_reason),
		cmocka_unit_test(a_step_of_the_clock_is_noted_between_two_events),
		cmocka_unit_test(seconds_are_rounded_to_microseconds),
		cmocka_unit_test(lines_are_those_of_the_reference),
	};

	return cmocka_run_group_tests(tests, init, fini);
}
