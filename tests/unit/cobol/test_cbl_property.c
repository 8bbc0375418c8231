/*
 * test_cbl_property.c - the four property routines: each form of a value, each flag, each status.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"
#include "ctf_fixture.h"

#define TEXT CTF_FLAG_COMPID_STRING
#define NAMES_NUL \
	(CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM | CTF_FLAG_PROP_NAME_NULL_TERM)
#define ALL_NUL (NAMES_NUL | CTF_FLAG_PROP_VALUE_NULL_TERM)

static void set_text(const char *property, const char *value)
{
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(ALL_NUL, BYTES("prop"), BYTES(property), value),
			 CTF_RET_SUCCESS);
}

static void text_comes_back_space_terminated_and_padded(void **state)
{
	char buffer[13] = "############";
	cbl_x4_comp5_t size = 12;

	(void)state;
	assert_int_equal(
		CBL_CTF_COMP_PROPERTY_SET(TEXT, BYTES("prop "), BYTES("Color rest"), "green rest"),
		CTF_RET_SUCCESS);
	assert_int_equal(
		CBL_CTF_COMP_PROPERTY_GET(TEXT, BYTES("PROP "), BYTES("COLOR "), &size, buffer),
		CTF_RET_SUCCESS);
	assert_int_equal(size, 5);
	assert_memory_equal(buffer, "green       ", 13); /* and the byte behind it is as it was */
}

static void text_comes_back_nul_terminated(void **state)
{
	char buffer[13] = "############";
	cbl_x4_comp5_t size = 12;

	(void)state;
	set_text("format", "a b c");
	assert_int_equal(
		CBL_CTF_COMP_PROPERTY_GET(ALL_NUL, BYTES("prop"), BYTES("format"), &size, buffer),
		CTF_RET_SUCCESS);
	assert_int_equal(size, 5);
	assert_memory_equal(buffer, "a b c\0######", 12);
}

static void too_small_a_buffer_says_what_is_needed(void **state)
{
	for (cobuns32_t flags = NAMES_NUL; flags != 0; flags = flags == NAMES_NUL ? ALL_NUL : 0) {
		char buffer[7] = "######";
		cbl_x4_comp5_t size = 5;

		(void)state;
		set_text("color", "green");
		assert_int_equal(CBL_CTF_COMP_PROPERTY_GET(flags, BYTES("prop"), BYTES("color"),
							   &size, buffer),
				 CTF_RET_BUFFER_TOO_SMALL);
		assert_int_equal(size, 6);
		assert_string_equal(buffer, "######");
		assert_int_equal(CBL_CTF_COMP_PROPERTY_GET(flags, BYTES("prop"), BYTES("color"),
							   &size, buffer),
				 CTF_RET_SUCCESS);
		assert_int_equal(size, 5);
		assert_memory_equal(buffer, "green", 5);
		size = 0;
		assert_int_equal(CBL_CTF_COMP_PROPERTY_GET(flags, BYTES("prop"), BYTES("color"),
							   &size, NULL),
				 CTF_RET_SUCCESS);
		assert_int_equal(size, 6);
		assert_int_equal(CBL_CTF_COMP_PROPERTY_GET(flags, BYTES("prop"), BYTES("color"),
							   NULL, buffer),
				 CTF_RET_BUFFER_TOO_SMALL);
	}
}

static void integer_is_what_the_text_stands_for(void **state)
{
	static const struct {
		const char *text;
		uint32_t number;
	} cases[] = {
		{ "ON", 1 },
		{ "yes", 1 },
		{ "Y", 1 },
		{ "True", 1 },
		{ "ENABLED", 1 },
		{ "OFF", 0 },
		{ "no", 0 },
		{ "disabled", 0 },
		{ "4711", 4711 },
		{ "0x00002800", 10240 },
		{ "4294967295", 4294967295u },
		{ "something", 0 },
		{ "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char group[6] = { 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE };
		uint32_t number;

		set_text("switch", cases[i].text);
		/* property-vallen is not touched: COBOL programs pass it as BY VALUE 0. */
		assert_int_equal(CBL_CTF_COMP_PROPERTY_GET(NAMES_NUL | CTF_FLAG_PROP_INT_VALUE,
							   BYTES("prop"), BYTES("switch"), NULL,
							   group + 1),
				 CTF_RET_SUCCESS);
		memcpy(&number, group + 1, 4);
		assert_int_equal(number, cases[i].number);
		assert_int_equal(group[5], 0xEE);
	}
}

static void integer_is_kept_as_text(void **state)
{
	uint32_t number = 4294967295u;
	char buffer[16];
	cbl_x4_comp5_t size = sizeof(buffer), handle = tracer("prop.int");

	(void)state;
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(CTF_FLAG_PROP_INT_VALUE,
						   (const cobuns8_t *)&handle, BYTES("n "),
						   &number),
			 CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_COMP_PROPERTY_GET(CTF_FLAG_PROP_VALUE_NULL_TERM,
						   (const cobuns8_t *)&handle, BYTES("N "), &size,
						   buffer),
			 CTF_RET_SUCCESS);
	assert_string_equal(buffer, "4294967295");
}

static void value_is_as_long_as_its_limit(void **state)
{
	static char value[4097], back[4097];
	cbl_x4_comp5_t size = sizeof(back);

	(void)state;
	memset(value, 'v', sizeof(value));
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(TEXT, BYTES("prop "), BYTES("long "),
						   at_page_end(value, 4096)),
			 CTF_RET_NOT_ENOUGH_MEMORY);
	value[4095] = ' ';
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(TEXT, BYTES("prop "), BYTES("long "),
						   at_page_end(value, 4096)),
			 CTF_RET_SUCCESS);
	assert_int_equal(
		CBL_CTF_COMP_PROPERTY_GET(TEXT, BYTES("prop "), BYTES("long "), &size, back),
		CTF_RET_SUCCESS);
	assert_int_equal(size, 4095);
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(TEXT, BYTES("prop "), BYTES("long "), NULL),
			 CTF_RET_SUCCESS);
	size = sizeof(back);
	assert_int_equal(
		CBL_CTF_COMP_PROPERTY_GET(TEXT, BYTES("prop "), BYTES("long "), &size, back),
		CTF_RET_SUCCESS);
	assert_int_equal(size, 0);
}

static void component_properties_are_refused(void **state)
{
	cbl_x4_comp5_t wrong = 0x12345678, size = 4;
	char buffer[4] = "###", longest[256];

	(void)state;
	memset(longest, 'p', sizeof(longest));
	assert_int_equal(
		CBL_CTF_COMP_PROPERTY_GET(TEXT, BYTES("prop "), BYTES("never.set "), &size, buffer),
		CTF_RET_PROPERTY_NOT_FOUND);
	assert_int_equal(CBL_CTF_COMP_PROPERTY_GET(TEXT | 1, BYTES("prop "), BYTES("never.set "),
						   NULL, buffer),
			 CTF_RET_PROPERTY_NOT_FOUND);
	assert_string_equal(buffer, "###");
	assert_int_equal(size, 4);
	assert_int_equal(CBL_CTF_COMP_PROPERTY_GET(TEXT, BYTES("prop "), BYTES(" "), &size, buffer),
			 CTF_RET_INVALID_PROP_NAME);
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(TEXT, BYTES("prop "), NULL, "v "),
			 CTF_RET_INVALID_PROPERTY_NAME);
	assert_int_equal(
		CBL_CTF_COMP_PROPERTY_SET(TEXT, BYTES("prop "), at_page_end(longest, 256), "v "),
		CTF_RET_INVALID_PROP_NAME);
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(TEXT, BYTES(" "), BYTES("p "), "v "),
			 CTF_RET_INVALID_COMP_NAME);
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(TEXT, NULL, BYTES("p "), "v "),
			 CTF_RET_INVALID_COMP_NAME);
	assert_int_equal(
		CBL_CTF_COMP_PROPERTY_GET(TEXT, BYTES("a..b "), BYTES("p "), &size, buffer),
		CTF_RET_INVALID_COMP_NAME);
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(0, (const cobuns8_t *)&wrong, BYTES("p "), "v "),
			 CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(CBL_CTF_COMP_PROPERTY_GET(0, NULL, BYTES(" "), &size, buffer),
			 CTF_RET_INVALID_TRACE_HANDLE);
}

static void properties_are_not_inherited(void **state)
{
	cbl_x4_comp5_t size = 0;

	(void)state;
	set_text("color", "green");
	assert_int_equal(
		CBL_CTF_COMP_PROPERTY_GET(TEXT, BYTES("prop.child "), BYTES("color "), &size, NULL),
		CTF_RET_PROPERTY_NOT_FOUND);
}

static void emitter_properties_have_defaults(void **state)
{
	char buffer[40];
	cbl_x4_comp5_t size = sizeof(buffer);
	uint32_t number = 0;

	(void)state;
	assert_int_equal(CBL_CTF_EMITTER_PROPERTY_GET(CTF_FLAG_PROP_VALUE_NULL_TERM,
						      BYTES("TextFile "), BYTES("HexBlockSize "),
						      &size, buffer),
			 CTF_RET_SUCCESS);
	assert_string_equal(buffer, "8");
	assert_int_equal(CBL_CTF_EMITTER_PROPERTY_SET(
				 CTF_FLAG_EMITTER_NAME_NULL_TERM | CTF_FLAG_PROP_NAME_NULL_TERM,
				 BYTES("TEXTFILE"), BYTES("hexblocksize"), "4 "),
			 CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_EMITTER_PROPERTY_GET(CTF_FLAG_PROP_INT_VALUE, BYTES("textfile "),
						      BYTES("hexblocksize "), NULL, &number),
			 CTF_RET_SUCCESS);
	assert_int_equal(number, 4);
	/* Any name will do. */
	assert_int_equal(CBL_CTF_EMITTER_PROPERTY_SET(0, BYTES("binfile "), BYTES("my.own "), "x "),
			 CTF_RET_SUCCESS);
	size = sizeof(buffer);
	assert_int_equal(
		CBL_CTF_EMITTER_PROPERTY_GET(0, BYTES("binfile "), BYTES("MY.OWN "), &size, buffer),
		CTF_RET_SUCCESS);
	assert_memory_equal(buffer, "x ", 2);
}

static void emitter_properties_are_refused(void **state)
{
	cbl_x4_comp5_t size = 4;
	char buffer[4];

	(void)state;
	assert_int_equal(
		CBL_CTF_EMITTER_PROPERTY_GET(0, BYTES("nosuch "), BYTES("p "), &size, buffer),
		CTF_RET_EMITTER_NOT_FOUND);
	assert_int_equal(CBL_CTF_EMITTER_PROPERTY_SET(0, BYTES("nosuch "), BYTES(" "), "v "),
			 CTF_RET_EMITTER_NOT_FOUND);
	assert_int_equal(CBL_CTF_EMITTER_PROPERTY_SET(0, NULL, BYTES("p "), "v "),
			 CTF_RET_INVALID_EMITTER_NAME);
	assert_int_equal(CBL_CTF_EMITTER_PROPERTY_GET(0, BYTES(" "), BYTES("p "), &size, buffer),
			 CTF_RET_INVALID_EMITTER_NAME);
	assert_int_equal(CBL_CTF_EMITTER_PROPERTY_SET(0, BYTES("ES "), BYTES(" "), "v "),
			 CTF_RET_INVALID_PROP_NAME);
	assert_int_equal(
		CBL_CTF_EMITTER_PROPERTY_GET(0, BYTES("ES "), BYTES("nosuch "), &size, buffer),
		CTF_RET_PROPERTY_NOT_FOUND);
	size = 1;
	assert_int_equal(CBL_CTF_EMITTER_PROPERTY_GET(0, BYTES("TEXTFILE "), BYTES("QUOTESTRING "),
						      &size, buffer),
			 CTF_RET_BUFFER_TOO_SMALL);
	assert_int_equal(size, 5);
}

static void errno_is_kept(void **state)
{
	uint32_t number;

	(void)state;
	errno = 4711;
	set_text("e", "1");
	(void)CBL_CTF_COMP_PROPERTY_GET(TEXT | 1, BYTES("prop "), BYTES("e "), NULL, &number);
	assert_int_equal(errno, 4711);
	(void)CBL_CTF_EMITTER_PROPERTY_SET(0, BYTES("nosuch "), BYTES("p "), "v ");
	assert_int_equal(errno, 4711);
}

int test_cbl_property(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_comes_back_space_terminated_and_padded),
		cmocka_unit_test(text_comes_back_nul_terminated),
		cmocka_unit_test(too_small_a_buffer_says_what_is_needed),
		cmocka_unit_test(integer_is_what_the_text_stands_for),
		cmocka_unit_test(integer_is_kept_as_text),
		cmocka_unit_test(value_is_as_long_as_its_limit),
		cmocka_unit_test(component_properties_are_refused),
		cmocka_unit_test(properties_are_not_inherited),
		cmocka_unit_test(emitter_properties_have_defaults),
		cmocka_unit_test(emitter_properties_are_refused),
		cmocka_unit_test(errno_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
