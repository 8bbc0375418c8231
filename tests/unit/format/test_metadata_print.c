/*
 * test_metadata_print.c - classes as TSDL text.  That viewers understand it is tested with the
 * BINFILE emitter.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/metadata.h"
#include <stdlib.h>
#include <string.h>

static void assert_text(struct ct_buf *text, const char *wanted)
{
	assert_string_equal(ct_buf_text(text), wanted);
	ct_buf_fini(text);
}

#define ITEM(type, size) (CTRACE_TYPE_##type | (size) << 8)
#define COUNTED(type) ITEM(type, CT_SIZE_COUNTED_16)
#define COUNTED_32(type) ITEM(type, CT_SIZE_COUNTED_32)

static void a_class_is_one_block(void **state)
{
	const uint32_t items[] = { COUNTED(TEXT),    ITEM(BINARY, 256), COUNTED_32(UTF8),
				   ITEM(ADDRESS, 8), ITEM(COMP5, 4),    ITEM(COMPXS, 3),
				   ITEM(TEXT, 0),    ITEM(UTF8, 1),     COUNTED_32(BINARY) };
	const struct ct_class class = { .number = 65535,
					.event_id = 4294967295u,
					.level = CTRACE_WARN,
					.item_count = CT_COUNT(items),
					.component = "MF.RTS",
					.items = items };
	struct ct_buf text = { 0 };

	(void)state;
	ct_schema_print_class(&text, &class);
	assert_text(&text, "event {\n"
			   "\tname = \"MF.RTS:4294967295\";\n"
			   "\tid = 65535;\n"
			   "\tstream_id = 0;\n"
			   "\tloglevel = 4;\n"
			   "\tfields := struct {\n"
			   "\t\tct_len16 _data1_len;\n"
			   "\t\tct_text _data1[_data1_len];\n"
			   "\t\tct_binary _data2[256];\n"
			   "\t\tct_len32 _data3_len;\n"
			   "\t\tct_utf8 _data3[_data3_len];\n"
			   "\t\tct_address _data4;\n"
			   "\t\tct_comp5_4 _data5;\n"
			   "\t\tct_compxs_3 _data6;\n"
			   "\t\tct_text _data7[0];\n"
			   "\t\tct_utf8 _data8[1];\n"
			   "\t\tct_len32 _data9_len;\n"
			   "\t\tct_binary _data9[_data9_len];\n"
			   "\t};\n"
			   "};\n\n");
}

static void names_stand_for_numbers_and_the_number_beside_them(void **state)
{
	static const char *const items[] = { "sql", NULL, "rows" };
	const struct ct_class_names all = { "OPEN", items, 3 }, some = { NULL, items, 1 };
	const uint32_t descriptors[] = { COUNTED(TEXT), ITEM(ADDRESS, 8), ITEM(COMP5, 4),
					 ITEM(COMPX, 2) };
	struct ct_class class = { .number = 25,
				  .event_id = 12,
				  .level = CTRACE_INFO,
				  .item_count = CT_COUNT(descriptors),
				  .component = "DB",
				  .items = descriptors };
	struct ct_buf text = { 0 };

	(void)state;
	class.names = &all;
	ct_schema_print_class(&text, &class);
	assert_text(&text, "event {\n"
			   "\tname = \"DB:OPEN\";\n"
			   "\tid = 25;\n"
			   "\tstream_id = 0;\n"
			   "\tloglevel = 6;\n"
			   "\tmodel.emf.uri = \"ctrace:event/12\";\n"
			   "\tfields := struct {\n"
			   "\t\tct_len16 _sql_len;\n"
			   "\t\tct_text _sql[_sql_len];\n"
			   "\t\tct_address _data2;\n"
			   "\t\tct_comp5_4 _rows;\n"
			   "\t\tct_compx_2 _data4;\n"
			   "\t};\n"
			   "};\n\n");
	ct_buf_init(&text);
	class.names = &some;
	class.item_count = 1;
	ct_schema_print_class(&text, &class);
	assert_text(&text, "event {\n"
			   "\tname = \"DB:12\";\n"
			   "\tid = 25;\n"
			   "\tstream_id = 0;\n"
			   "\tloglevel = 6;\n"
			   "\tmodel.emf.uri = \"ctrace:event/12\";\n"
			   "\tfields := struct {\n"
			   "\t\tct_len16 _sql_len;\n"
			   "\t\tct_text _sql[_sql_len];\n"
			   "\t};\n"
			   "};\n\n");
}

static void levels_have_the_numbers_that_viewers_know(void **state)
{
	static const uint32_t wanted[] = { 14, 6, 4, 3, 2 };

	(void)state;
	for (uint32_t level = CTRACE_DEBUG; level <= CTRACE_FATAL; level++)
		assert_int_equal(ct_metadata_loglevels[level], wanted[level]);
}

/* Viewers print names as they are. */
static void names_are_plain_and_harmless(void **state)
{
	const struct ct_class class = { .number = 16,
					.component =
						"a\"\\\n\x1B\xC2\x9B\xE2\x80\xAE\xC3\xA9\xFF" };
	struct ct_buf text = { 0 };

	(void)state;
	ct_schema_print_class(&text, &class);
	assert_non_null(strstr(
		ct_buf_text(&text),
		"name = \"a\\134\\042\\134\\134\\134n\\134u{1B}\\134u{9B}\\134u{202E}\\303\\251\\134xFF:0\";"));
	for (size_t i = 0; i < text.size; i++)
		assert_true(text.data[i] == '\n' || text.data[i] == '\t' ||
			    (text.data[i] >= ' ' && text.data[i] < 0x7F));
	ct_buf_fini(&text);
}

static void trace_wide_part_holds_the_values(void **state)
{
	static const struct ct_trace_info info = {
		.uuid = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0x10, 0x32, 0x54, 0x76,
			  0x98, 0xBA, 0xDC, 0xFE },
		.host = "h",
		.program = "p\"",
		.system = "s",
		.jobname = "J",
		.pid = 1,
		.asid = 2,
		.start_ns = UINT64_MAX,
	};
	static const char *const wanted[] = {
		"uuid = \"01234567-89ab-cdef-1032-547698badcfe\";",
		"hostname = \"h\";",
		"procname = \"p\\134\\042\";",
		"sysname = \"s\";",
		"jobname = \"J\";",
		"vpid = 1;",
		"asid = 2;",
		"start_ns = 18446744073709551615;",
	};
	struct ct_buf text = { 0 };

	(void)state;
	ct_schema_print_trace(&text, &info);
	assert_memory_equal(ct_buf_text(&text), "/* CTF 1.8 */\n", 14);
	for (size_t i = 0; i < CT_COUNT(wanted); i++)
		assert_non_null(strstr(ct_buf_text(&text), wanted[i]));
	assert_null(strchr(ct_buf_text(&text), '$'));
	ct_buf_fini(&text);
}

static void assert_clock(uint64_t frequency, uint64_t offset_s, uint64_t offset)
{
	struct ct_trace_info info = { .frequency = frequency,
				      .offset_s = offset_s,
				      .offset = offset },
			     found;
	char lines[CT_TRACE_CLOCK + 1];
	struct ct_buf text = { 0 };
	size_t at;

	ct_trace_clock_print(lines, &info);
	assert_int_equal(strlen(lines), CT_TRACE_CLOCK);
	assert_int_equal(lines[CT_TRACE_CLOCK - 1], '\n');
	ct_schema_print_trace(&text, &info);
	assert_non_null(strstr(ct_buf_text(&text), lines));
	assert_int_equal(ct_schema_parse_trace(text.data, text.size, &found, &at), CTRACE_OK);
	assert_true(found.frequency == frequency && found.offset_s == offset_s &&
		    found.offset == offset);
	ct_buf_fini(&text);
}

/* The lines of the clock always have one size: others can be put in their place. */
static void the_clock_comes_back(void **state)
{
	(void)state;
	assert_clock(0, 0, 0);
	assert_clock(1, 0, 0);
	assert_clock(1000000000, 5, 0);
	assert_clock(1000000000, 0, 5);
	assert_clock(2995200000, 1700000000, 2995199999);
	assert_clock(UINT64_MAX, UINT64_MAX, UINT64_MAX);
}

/* Only a big-endian machine prints its order, so that older texts count as little-endian. */
static void the_byte_order_comes_back(void **state)
{
	(void)state;
	for (unsigned is_big = 0; is_big < 2; is_big++) {
		struct ct_trace_info info = { .is_big = is_big != 0 },
				     found = { .is_big = !is_big };
		struct ct_buf text = { 0 };
		size_t at;

		ct_schema_print_trace(&text, &info);
		assert_int_equal(strstr(ct_buf_text(&text), "\tnative_byte_order = \"be\";\n") !=
					 NULL,
				 is_big);
		assert_int_equal(ct_schema_parse_trace(text.data, text.size, &found, &at),
				 CTRACE_OK);
		assert_int_equal(at, text.size);
		assert_int_equal(found.is_big, is_big);
		ct_buf_fini(&text);
	}
}

/* Also of text that ends anywhere, and of any value that the printer would not have written. */
static void whose_a_text_is(void **state)
{
	static const struct {
		const char *from, *to;
	} changes[] = {
		{ "ct_comp5_4;", "ct_comp5_9;" },
		{ "size = 24;", "size = 25;" },
		{ "size = 24;", " size = 24;" },
		{ "\"0123", "\"x123" },
		{ "dcfe\"", "dcf\"" },
		{ "vpid = 1;", "vpid = -1;" },
		{ "vpid = 1;", "vpid = 4294967296;" },
		{ "asid = 2;", "asid = ;" },
		{ "\"h\";", "\"h\"; x = 1;" },
		{ "\"h\";", "\"\\\";" },
		{ "\"h\";", "\"h;" },
		{ "\"h\";", "\"h\n\";" },
		{ "\"be\"", "\"le\"" },
		{ "\"be\";\n", "\"be\";" },
		{ "format = ", "famrot = " },
		{ "\tformat = \"f\";", "\tformat = \"f\"" },
		{ "offset_s", "offset_x" },
	};
	static const struct ct_trace_info info = { .uuid = { 1, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD,
							     0xEF, 0x10, 0x32, 0x54, 0x76, 0x98,
							     0xBA, 0xDC, 0xFE },
						   .host = "h",
						   .system = "s",
						   .program = "p",
						   .jobname = "j",
						   .format = "f",
						   .pid = 1,
						   .asid = 2,
						   .start_ns = 3,
						   .is_big = true };
	struct ct_buf text = { 0 };
	struct ct_trace_info found;
	size_t at;

	(void)state;
	ct_schema_print_trace(&text, &info);
	assert_int_equal(ct_schema_parse_trace(text.data, text.size, &found, &at), CTRACE_OK);
	assert_int_equal(at, text.size);
	assert_memory_equal(found.uuid, info.uuid, sizeof info.uuid);
	assert_true(found.pid == 1 && found.asid == 2 && found.start_ns == 3 &&
		    found.host[0] == '\0');
	for (size_t size = 0; size < text.size; size++) {
		char *exact = malloc(size + 1);

		memcpy(exact, text.data, size);
		assert_int_equal(ct_schema_parse_trace(exact, size, &found, &at), CTRACE_DAMAGED);
		assert_true(at <= size);
		free(exact);
	}
	for (size_t i = 0; i < CT_COUNT(changes); i++) {
		const char *place = strstr(ct_buf_text(&text), changes[i].from);
		struct ct_buf changed = { 0 };

		assert_non_null(place);
		ct_buf_add(&changed, text.data, (size_t)(place - text.data));
		ct_buf_add_text(&changed, changes[i].to);
		ct_buf_add_text(&changed, place + strlen(changes[i].from));
		if (ct_schema_parse_trace(changed.data, changed.size, &found, &at) !=
		    CTRACE_DAMAGED)
			fail_msg("accepted: %s", changes[i].to);
		ct_buf_fini(&changed);
	}
	ct_buf_fini(&text);
}

static void other_traces_are_not_ours(void **state)
{
	static const char lttng[] =
		"/* CTF 1.8 */\n\ntypealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
		"trace {\n\tmajor = 1;\n\tminor = 8;\n};\n";
	struct ct_trace_info info;
	size_t at;

	(void)state;
	assert_int_equal(ct_schema_parse_trace(lttng, sizeof lttng - 1, &info, &at),
			 CTRACE_DAMAGED);
	assert_int_equal(at, 16);
	assert_int_equal(ct_schema_parse_trace("", 0, &info, &at), CTRACE_DAMAGED);
	assert_int_equal(ct_schema_parse_trace("\x75\xD1\x1D\x57", 4, &info, &at), CTRACE_DAMAGED);
}

/* Dashes may be missing, and letters be large. */
static void uuids(void **state)
{
	static const char text[] = "0123456789ABcdef-10325476-98badcfe;";
	uint8_t uuid[16];

	(void)state;
	assert_ptr_equal(ct_uuid_parse(text, uuid), text + sizeof text - 2);
	assert_int_equal(uuid[5], 0xAB);
	assert_int_equal(uuid[15], 0xFE);
	assert_null(ct_uuid_parse("0123", uuid));
	assert_null(ct_uuid_parse("01234567--89ab-cdef-1032-547698badcfe", uuid));
}

int test_metadata_print(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_is_one_block),
		cmocka_unit_test(names_stand_for_numbers_and_the_number_beside_them),
		cmocka_unit_test(levels_have_the_numbers_that_viewers_know),
		cmocka_unit_test(names_are_plain_and_harmless),
		cmocka_unit_test(trace_wide_part_holds_the_values),
		cmocka_unit_test(the_clock_comes_back),
		cmocka_unit_test(the_byte_order_comes_back),
		cmocka_unit_test(whose_a_text_is),
		cmocka_unit_test(other_traces_are_not_ours),
		cmocka_unit_test(uuids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
