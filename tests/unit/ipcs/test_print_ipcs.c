/*
 * test_print_ipcs.c - the columns of a listing, and data in hexadecimal.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

#include "print/ipcs/ipcs.h"

static struct ct_buf out;

static void assert_out(const char *wanted)
{
	assert_string_equal(ct_buf_text(&out), wanted);
	ct_buf_clear(&out);
}

static const struct ct_argument arguments[] = {
	{ .name = "ID", .is_key = true },
	{ .name = "RLPL" },
	{ .name = "EBCDIC", .print = CT_PRINT_TEXT, .encoding = CT_ENCODING_EBCDIC_037 },
	{ .name = "A-LONG-LABEL", .print = CT_PRINT_HEX },
};
static const struct ct_event_type type = { .event_id = 2,
					   .mnemonic = "DBM",
					   .description = "RLPL format",
					   .argument_count = 4,
					   .arguments = arguments };
static const struct ct_event_type long_type = { .mnemonic = "MNEMONIC-TOO-LONG",
						.description = "a\nb" };

static void columns(void **state)
{
	struct ct_ipcs_layout layout = { 0 };
	struct ct_read_event event = event_of(NULL, 0);
	struct ct_event_names names = { .mnemonic = "\xC3\x84\x1bxyz" };

	(void)state;
	event.traced.time_ns = 1700000000816178999u;
	event.traced.event_id = 2;
	ct_ipcs_print_heading(&out, &layout);
	assert_out(
		" MNEMONIC  ENTRY ID    TIME STAMP     DESCRIPTION\n --------  --------  ---------------  -----------\n");
	ct_ipcs_print_entry(&out, &layout, &event);
	assert_out(" 00000002  00000002  22:13:20.816178\n");
	event.names = &names;
	ct_ipcs_print_entry(&out, &layout, &event);
	assert_out(" \xC3\x84\\u{1B}x  00000002  22:13:20.816178\n");
	event.type = &type;
	ct_ipcs_print_entry(&out, &layout, &event);
	assert_out(" DBM       00000002  22:13:20.816178  RLPL format\n");
	event.type = &long_type;
	ct_ipcs_print_entry(&out, &layout, &event);
	assert_out(" MNEMONIC  00000002  22:13:20.816178  a\\nb\n");
	ct_ipcs_print_date(&out, &layout, event.traced.time_ns);
	assert_out(" **** 11/14/2023\n");
}

static void columns_with_systems_and_tags(void **state)
{
	struct ct_ipcs_layout layout = { .has_sysname = true, .tag = 7, .indent = 4 };
	struct ct_read_event event = event_of(NULL, 0);

	(void)state;
	event.type = &type;
	ct_ipcs_print_heading(&out, &layout);
	assert_out("     SYSNAME   MNEMONIC  ENTRY ID    TIME STAMP     DESCRIPTION\n"
		   "     -------   --------  --------  ---------------  -------------\n");
	ct_ipcs_print_entry(&out, &layout, &event);
	assert_out("07.  ASTERIX   DBM       000000FF  22:13:20.123456  RLPL format\n");
	ct_ipcs_print_line(&out, &layout, "  a line\t ", 10);
	assert_out("      a line\\t\n");
	event.duration_ns = 61000000123u;
	ct_ipcs_print_elapsed(&out, &layout, &event);
	assert_out("               ELAPSED.. 61.000000123 SECONDS\n");
	event.duration_ns = CT_NO_DURATION;
	ct_ipcs_print_elapsed(&out, &layout, &event);
	assert_out("");
}

static void titles(void **state)
{
	struct ct_ipcs_command command = { .report = CT_IPCS_FULL,
					   .component = "IRLE",
					   .sub = "DBM" };

	(void)state;
	ct_ipcs_print_title(&out, &command);
	assert_out(" COMPONENT TRACE FULL FORMAT\n COMP(IRLE)    SUBNAME((DBM))\n");
	command = (struct ct_ipcs_command){ .report = CT_IPCS_TALLY,
					    .component = "a\x1b",
					    .sysname = "MVS1" };
	ct_ipcs_print_title(&out, &command);
	assert_out(" COMPONENT TRACE TALLY FORMAT\n SYSNAME(MVS1)\n COMP(a\\u{1B})\n");
}

static void labelled_data(void **state)
{
	static const unsigned char bytes[42] = { 0, 0, 0, 0, 6, 0x54, 0x57, 0x68, [41] = 0xFF };
	struct ctrace_event_item items[] = {
		text_item("ABCD"),
		binary_item(bytes, sizeof bytes),
		binary_item("\xC1\xC2", 2),
		number_item(CTRACE_TYPE_COMP5, 8, 0x0102030405060708u),
		number_item(CTRACE_TYPE_COMP5S, 2, (uint64_t)-2),
	};
	struct ct_read_event event = event_of(items, 5);
	struct ct_ipcs_layout layout = { 0 };

	(void)state;
	event.type = &type;
	ct_ipcs_print_full(&out, &layout, &event);
	assert_out("    +0000  ID....... ABCD\n"
		   "    +0004  RLPL..... 00000000  06545768  00000000  00000000  00000000\n"
		   "    +0018            00000000  00000000  00000000  00000000  00000000\n"
		   "    +002C            00FF\n"
		   "    +002E  EBCDIC... AB\n"
		   "    +0030  A-LONG-LABEL 01020304  05060708\n"
		   "    +0038 FFFE                                | ..               |\n");
	ct_ipcs_print_summary(&out, &layout, &event);
	assert_out("    +0000  ID....... \"ABCD\"\n");
}

static void unlabelled_data(void **state)
{
	struct ctrace_event_item items[] = {
		binary_item("\xE2\xC5\xD5\xC4\x80\x18\x01\x01\x02\x00\x00\x01\x00\x0A\x00\x02"
			    "A~\x7F \x1b",
			    21),
		text_item("hello"),
		text_item(""),
		number_item(CTRACE_TYPE_ADDRESS, 8, 0x7FFF12345678u),
	};
	struct ct_read_event event = event_of(items, 4);
	struct ct_ipcs_layout layout = { .indent = 4 };

	(void)state;
	ct_ipcs_print_summary(&out, &layout, &event);
	assert_out("        +0000 E2C5D5C4 80180101 02000001 000A0002 | ................ |\n"
		   "        +0010 417E7F20 1B                         | A~. .            |\n"
		   "        +0015 68656C6C 6F                         | hello            |\n"
		   "        +001A 00007FFF 12345678                   | .....4Vx         |\n");
}

static void long_texts_are_broken_between_characters(void **state)
{
	char text[130];
	struct ctrace_event_item items[] = { text_item("") };
	struct ct_read_event event = event_of(items, 1);
	struct ct_ipcs_layout layout = { 0 };
	char wanted[300];

	(void)state;
	memset(text, 'a', 63);
	strcpy(text + 63, "\xE2\x82\xACrest");
	items[0] = text_item(text);
	event.type = &type;
	ct_ipcs_print_full(&out, &layout, &event);
	(void)snprintf(wanted, sizeof wanted,
		       "    +0000  ID....... %.63s\n    +003F            \xE2\x82\xACrest\n", text);
	assert_out(wanted);
	memset(text, 0x80, 128); /* no characters: broken all the same */
	items[0] =
		(struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT, .size = 128, .data = text };
	ct_ipcs_print_full(&out, &layout, &event);
	assert_true(out.size > 128 * 4);
	ct_buf_clear(&out);
}

static void days(void **state)
{
	struct ct_ipcs_layout layout = { 0 };

	(void)state;
	assert_true(ct_ipcs_day(&layout, 1700006399999999999u) !=
		    ct_ipcs_day(&layout, 1700006400000000000u));
	assert_true(ct_ipcs_day(&layout, 1700006400000000000u) ==
		    ct_ipcs_day(&layout, 1700092799999999999u));
	ct_ipcs_print_time(&out, UINT64_MAX, false);
	ct_buf_clear(&out);
}

int test_print_ipcs(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns),
		cmocka_unit_test(columns_with_systems_and_tags),
		cmocka_unit_test(titles),
		cmocka_unit_test(labelled_data),
		cmocka_unit_test(unlabelled_data),
		cmocka_unit_test(long_texts_are_broken_between_characters),
		cmocka_unit_test(days),
	};
	int failed;

	ct_buf_init(&out);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ct_buf_fini(&out);
	return failed;
}
