/*
 * test_metadata_print.c - classes as TSDL text.  That viewers understand it is tested with the BINFILE emitter.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/metadata.h"
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
	const uint32_t items[] = { COUNTED(TEXT),   ITEM(BINARY, 256), COUNTED_32(UTF8), ITEM(ADDRESS, 8),  ITEM(COMP5, 4),
				   ITEM(COMPXS, 3), ITEM(TEXT, 0),     ITEM(UTF8, 1),    COUNTED_32(BINARY) };
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
	const uint32_t descriptors[] = { COUNTED(TEXT), ITEM(ADDRESS, 8), ITEM(COMP5, 4), ITEM(COMPX, 2) };
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
	const struct ct_class class = { .number = 16, .component = "a\"\\\n\x1B\xC2\x9B\xE2\x80\xAE\xC3\xA9\xFF" };
	struct ct_buf text = { 0 };

	(void)state;
	ct_schema_print_class(&text, &class);
	assert_non_null(strstr(ct_buf_text(&text),
			       "name = \"a\\134\\042\\134\\134\\134n\\134u{1B}\\134u{9B}\\134u{202E}\\303\\251\\134xFF:0\";"));
	for (size_t i = 0; i < text.size; i++)
		assert_true(text.data[i] == '\n' || text.data[i] == '\t' || (text.data[i] >= ' ' && text.data[i] < 0x7F));
	ct_buf_fini(&text);
}

static void trace_wide_part_holds_the_values(void **state)
{
	static const struct ct_trace_info info = {
		.uuid = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_is_one_block),
		cmocka_unit_test(names_stand_for_numbers_and_the_number_beside_them),
		cmocka_unit_test(levels_have_the_numbers_that_viewers_know),
		cmocka_unit_test(names_are_plain_and_harmless),
		cmocka_unit_test(trace_wide_part_holds_the_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
