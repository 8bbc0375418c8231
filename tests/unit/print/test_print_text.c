/*
 * test_print_text.c - events as lines: by a FORMAT, with names, with records below.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

#include "print/print.h"

static struct ct_buf out;

static const char *show(struct ct_text_options options, const struct ct_read_event *event)
{
	struct ct_text_printer *printer;

	if (options.line.delimiter == NULL) {
		const char *format = options.line.format;

		options.line = event_line;
		options.line.format = format;
	}
	assert_int_equal(ct_text_create(&options, &printer), CTRACE_OK);
	ct_buf_clear(&out);
	/* Twice: the second time what the class's events have in common is remembered. */
	ct_text_add(printer, &out, event);
	ct_buf_clear(&out);
	ct_text_add(printer, &out, event);
	ct_text_destroy(printer);
	return ct_buf_text(&out);
}

static const char *by_format(const char *format, const struct ct_read_event *event)
{
	return show((struct ct_text_options){ .line = { .format = format } }, event);
}

static void without_names_items_stand_alone(void **state)
{
	struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 1, 173),
					     text_item("myprog") };
	struct ct_read_event event = event_of(items, 2);

	(void)state;
	assert_string_equal(by_format(NULL, &event),
			    "22:13:20.123 MF.RTS 255 ERROR 173 \"myprog\"\n");
	assert_string_equal(by_format(CT_LINE_FORMAT, &event),
			    "22:13:20.123 MF.RTS 255 3 173 \"myprog\"\n");
}

static void every_variable(void **state)
{
	struct ct_read_event event = event_of(NULL, 0);

	(void)state;
	assert_string_equal(by_format("$(DATE)|$(TIME)|$(THREAD)|$(PROCESS)|$(PID)|$(SEQ)", &event),
			    "2023/11/14|22:13:20.123|4712|4711|4711|7\n");
	assert_string_equal(
		by_format(
			"$(HOST)|$(JOBNAME)|$(ASID)|$(APPNAME)|$(LEVELNAME)|$(MNEMONIC)|$(DESCRIPTION)",
			&event),
		"asterix|RTS32|001A|rts32|ERROR|255|\n");
	assert_string_equal(by_format("$(component)$(Event)$(unknown)$(", &event),
			    "MF.RTS255$(unknown)$(\n");
	assert_string_equal(by_format("", &event), "\n");
}

static void durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{ CT_NO_DURATION, "-\n" },  { 0, "0ns\n" },          { 999, "999ns\n" },
		{ 9999, "10.0us\n" },       { 1234567, "1.23ms\n" }, { 12345678, "12.3ms\n" },
		{ 12345678901, "12.3s\n" },
	};
	struct ct_read_event event = event_of(NULL, 0);

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		event.duration_ns = rows[i].ns;
		assert_string_equal(by_format("$(DURATION)", &event), rows[i].text);
	}
}

static void a_format_may_have_any_number_of_parts(void **state)
{
	struct ct_read_event event = event_of(NULL, 0);
	char format[100 * 8 + 1] = "";
	char expected[100 * 8 + 2] = "";

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		strcat(format, "$(SEQ)-");
		strcat(expected, "7-");
	}
	strcat(expected, "\n");
	assert_string_equal(by_format(format, &event), expected);
}

static void names_of_the_catalogue(void **state)
{
	static const char text[] = "component: MF\n"
				   "events:\n"
				   "  255:\n"
				   "    mnemonic: OPEN\n"
				   "    description: A file is opened\n"
				   "    arguments:\n"
				   "      - name: file\n"
				   "      - name: mode\n"
				   "        print: flags\n"
				   "        values: {READ: 1, WRITE: 2}\n";
	struct ctrace_event_item items[] = { text_item("master"),
					     number_item(CTRACE_TYPE_COMP5, 4, 3),
					     number_item(CTRACE_TYPE_COMP5, 1, 9) };
	struct ct_read_event event = event_of(items, 3);
	struct ct_catalog *catalog = event_catalog("mf.yaml", text);

	(void)state;
	event_describe(&event, catalog);
	assert_string_equal(
		by_format(NULL, &event),
		"22:13:20.123 MF.RTS OPEN ERROR file=\"master\" mode=READ|WRITE data3=9\n");
	event.duration_ns = 1234;
	assert_string_equal(
		by_format(NULL, &event),
		"22:13:20.123 MF.RTS OPEN ERROR file=\"master\" mode=READ|WRITE data3=9 (1.23us)\n");
	/* A FORMAT of the user's is what it says, with values as the catalogue prints them. */
	assert_string_equal(by_format("$(EVENT) $(MNEMONIC) $(DESCRIPTION):$(DATA)", &event),
			    "255 OPEN A file is opened: \"master\" READ|WRITE 9\n");
	ct_catalog_destroy(catalog);
}

static void names_of_the_trace(void **state)
{
	static const char *const item_names[] = { "fd" };
	static const struct ct_event_names names = { .mnemonic = "open",
						     .items = item_names,
						     .item_count = 1 };
	struct ctrace_event_item item = number_item(CTRACE_TYPE_COMP5S, 8, (uint64_t)-1);
	struct ct_read_event event = event_of(&item, 1);

	(void)state;
	event.names = &names;
	assert_string_equal(by_format(NULL, &event), "22:13:20.123 MF.RTS open ERROR fd=-1\n");
}

/* Events one after the other, on one printer. */
static const char *lines_of(struct ct_text_options options, const struct ct_read_event *events,
			    size_t count)
{
	struct ct_text_printer *printer;

	options.line = event_line;
	options.line.format = NULL;
	assert_int_equal(ct_text_create(&options, &printer), CTRACE_OK);
	ct_buf_clear(&out);
	for (size_t i = 0; i < count; i++)
		ct_text_add(printer, &out, &events[i]);
	ct_text_destroy(printer);
	return ct_buf_text(&out);
}

static void what_tells_lines_apart_is_printed_from_then_on(void **state)
{
	static const struct ct_source_process other = { .index = 1,
							.path = "b.ctb",
							.host = "obelix",
							.program = "rts32",
							.jobname = "RTS32" };
	struct ct_read_event events[4];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(events); i++)
		events[i] = event_of(NULL, 0);
	assert_string_equal(lines_of((struct ct_text_options){ .digits = 3 }, events, 2),
			    "22:13:20.123 MF.RTS 255 ERROR\n22:13:20.123 MF.RTS 255 ERROR\n");
	/* A microsecond, a thread, a process, a host */
	events[1].traced.time_ns += 1000;
	assert_string_equal(lines_of((struct ct_text_options){ .digits = 3 }, events, 2),
			    "22:13:20.123 MF.RTS 255 ERROR\n22:13:20.123457 MF.RTS 255 ERROR\n");
	events[1] = events[0];
	events[1].traced.tid = 4713;
	assert_string_equal(
		lines_of((struct ct_text_options){ .digits = 3 }, events, 3),
		"22:13:20.123 MF.RTS 255 ERROR\n22:13:20.123 [4713] MF.RTS 255 ERROR\n22:13:20.123 [4712] MF.RTS 255 ERROR\n");
	events[1].traced.pid = 4713;
	assert_string_equal(
		lines_of((struct ct_text_options){ .digits = 3 }, events, 2),
		"22:13:20.123 MF.RTS 255 ERROR\n22:13:20.123 RTS32[4713] MF.RTS 255 ERROR\n");
	events[1].source_process = &other;
	assert_string_equal(
		lines_of((struct ct_text_options){ .digits = 3 }, events, 2),
		"22:13:20.123 MF.RTS 255 ERROR\n22:13:20.123 obelix RTS32[4713] MF.RTS 255 ERROR\n");
	/* What is known before is there from the first line on. */
	assert_string_equal(lines_of((struct ct_text_options){ .digits = 9,
							       .has_host = true,
							       .has_process = true,
							       .has_thread = true },
				     events, 1),
			    "22:13:20.123456789 asterix RTS32[4711/4712] MF.RTS 255 ERROR\n");
}

static void digits_that_tell_times_apart(void **state)
{
	(void)state;
	assert_int_equal(ct_text_digits(3, 1000000, 2000000), 3);
	assert_int_equal(ct_text_digits(3, 1000000, 1001000), 6);
	assert_int_equal(ct_text_digits(3, 1000000, 1000001), 9);
	assert_int_equal(ct_text_digits(6, 1000000, 9000000), 6);
	assert_int_equal(ct_text_digits(3, 1000000, 1000000), 3);
}

static void a_variable_that_is_none_is_reported(void **state)
{
	struct ct_buf message;

	(void)state;
	ct_buf_init(&message);
	assert_true(ct_text_check_format("$(TIME) $(delta)$(DATA) $", &message));
	assert_int_equal(message.size, 0);
	assert_false(ct_text_check_format("$(TIME) $(DURATON)", &message));
	assert_string_equal(
		ct_buf_text(&message),
		"$(DURATON) is no variable (did you mean $(DURATION)?), and is printed as it stands");
	ct_buf_clear(&message);
	/* Those of the layout for people are nobody else's. */
	assert_false(ct_text_check_format("$(WHOSE)", &message));
	assert_string_equal(by_format("$(WHOSE)", &(struct ct_read_event){ 0 }), "$(WHOSE)\n");
	ct_buf_fini(&message);
}

static void colour_ends_with_the_line(void **state)
{
	struct ct_read_event event = event_of(NULL, 0);

	(void)state;
	assert_string_equal(show((struct ct_text_options){ .line = { .format = "$(EVENT)" },
							   .has_color = true },
				 &event),
			    "\033[31m255\033[0m\n");
	event.traced.level = CTRACE_INFO;
	assert_string_equal(show((struct ct_text_options){ .line = { .format = "$(EVENT)" },
							   .has_color = true },
				 &event),
			    "255\n");
}

/* The component of a generic event lies among its bytes: another may lie there next. */
static void what_is_of_no_class_is_not_remembered(void **state)
{
	struct ct_text_options options = { .line = event_line };
	struct ct_read_event event = event_of(NULL, 0);
	struct ct_text_printer *printer;
	char component[] = "AAA";

	(void)state;
	event.scope = 0;
	event.traced.component = component;
	event.traced.component_size = 3;
	assert_int_equal(ct_text_create(&options, &printer), CTRACE_OK);
	ct_buf_clear(&out);
	ct_text_add(printer, &out, &event);
	memcpy(component, "BBB", 3);
	ct_buf_clear(&out);
	ct_text_add(printer, &out, &event);
	assert_string_equal(ct_buf_text(&out), "22:13:20.123 BBB 255 ERROR\n");
	ct_text_destroy(printer);
}

static void hostile_names_are_harmless(void **state)
{
	struct ct_read_event event = event_of(NULL, 0);

	(void)state;
	event.traced.component = "A\033[2J\nB";
	event.traced.component_size = 7;
	assert_string_equal(by_format("$(COMPONENT)", &event), "A\\u{1B}[2J\\nB\n");
}

static int in_utc(void **state)
{
	(void)state;
	return setenv("TZ", "UTC", 1);
}

int test_print_text(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_names_items_stand_alone),
		cmocka_unit_test(every_variable),
		cmocka_unit_test(durations),
		cmocka_unit_test(a_format_may_have_any_number_of_parts),
		cmocka_unit_test(names_of_the_catalogue),
		cmocka_unit_test(names_of_the_trace),
		cmocka_unit_test(what_tells_lines_apart_is_printed_from_then_on),
		cmocka_unit_test(digits_that_tell_times_apart),
		cmocka_unit_test(a_variable_that_is_none_is_reported),
		cmocka_unit_test(colour_ends_with_the_line),
		cmocka_unit_test(what_is_of_no_class_is_not_remembered),
		cmocka_unit_test(hostile_names_are_harmless),
	};
	int failures;

	ct_buf_init(&out);
	failures = cmocka_run_group_tests(tests, in_utc, NULL);
	ct_buf_fini(&out);
	return failures;
}
