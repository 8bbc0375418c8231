/*
 * test_print_json.c - events as JSON: exact lines, and that a JSON library reads back what was
 * traced.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "print/print.h"
#include "read/read.h"
#include <jansson.h>
#include <string.h>

static struct ct_buf line;

static struct ct_read_event event_of(const struct ctrace_event_item *items, uint32_t count)
{
	static const struct ct_source_process source_process = {
		.host = "asterix", .program = "rts32", .jobname = "RTS32", .asid = 0x1A
	};

	return (struct ct_read_event){
		.traced = {
			.time_ns = 1700000000000000001u,
			.component = "MF.RTS",
			.component_size = 6,
			.event_id = 255,
			.level = CTRACE_ERROR,
			.pid = 1234,
			.tid = 1235,
			.item_count = count,
			.items = items,
		},
		.source_process = &source_process,
		.sequence = 7,
		.duration_ns = CT_NO_DURATION,
	};
}

static const char *print(const struct ctrace_event_item *items, uint32_t count)
{
	const struct ct_read_event event = event_of(items, count);

	ct_buf_clear(&line);
	ct_json_add_line(&line, &event);
	return ct_buf_text(&line);
}

static void a_whole_line(void **state)
{
	static const char text[] = "myprog";
	const struct ctrace_event_item items[] = {
		{ .type = CTRACE_TYPE_COMP5, .size = 1, .data = "\xAD", .value = 173 },
		{ .type = CTRACE_TYPE_TEXT, .size = 6, .data = text },
		{ .type = CTRACE_TYPE_BINARY, .size = 2, .data = "\x0A\x0B" },
		{ .type = CTRACE_TYPE_ADDRESS, .size = 8, .data = "", .value = 0x7FFF12345678 },
		{ .type = CTRACE_TYPE_COMPXS, .size = 8, .data = "", .value = (uint64_t)-5 },
		{ .type = CTRACE_TYPE_COMPX, .size = 8, .data = "", .value = UINT64_MAX },
		{ .type = CTRACE_TYPE_COMP5S, .size = 9, .data = "123456789" },
		{ .type = CTRACE_TYPE_UTF8, .size = 3, .data = "\xE2\x82\xAC" },
		{ .type = CTRACE_TYPE_TEXT, .size = 0, .data = NULL },
	};

	(void)state;
	assert_string_equal(
		print(items, CT_COUNT(items)),
		"{\"format_version\":1,\"time\":\"2023-11-14T22:13:20.000000001Z\",\"time_ns\":1700000000000000001,\"component\":\"MF.RTS\","
		"\"event\":255,\"level\":\"ERROR\",\"pid\":1234,\"tid\":1235,\"seq\":7,"
		"\"host\":\"asterix\",\"program\":\"rts32\",\"job\":\"RTS32\",\"asid\":\"001A\",\"data\":["
		"{\"type\":\"comp5\",\"value\":173},{\"type\":\"text\",\"value\":\"myprog\"},"
		"{\"type\":\"binary\",\"value\":\"0A0B\"},{\"type\":\"address\",\"value\":\"0x00007FFF12345678\"},"
		"{\"type\":\"compxs\",\"value\":-5},{\"type\":\"compx\",\"value\":18446744073709551615},"
		"{\"type\":\"comp5s\",\"value\":\"313233343536373839\"},{\"type\":\"utf8\",\"value\":\"\\u20ac\"},"
		"{\"type\":\"text\",\"value\":\"\"}]}\n");
}

static void no_items(void **state)
{
	(void)state;
	assert_non_null(strstr(print(NULL, 0), "\"data\":[]}\n"));
}

static void an_object_may_stand_within_a_document(void **state)
{
	const struct ctrace_event_item item = {
		.type = CTRACE_TYPE_COMP5, .size = 1, .data = "\x07", .value = 7
	};
	struct ct_read_event event = event_of(&item, 1);

	(void)state;
	event.span_id = 3;
	event.duration_ns = 0;
	ct_buf_clear(&line);
	ct_buf_add_char(&line, '[');
	ct_json_add(&line, &event);
	assert_string_equal(
		ct_buf_text(&line),
		"[{\"time\":\"2023-11-14T22:13:20.000000001Z\",\"time_ns\":1700000000000000001,\"component\":\"MF.RTS\","
		"\"event\":255,\"level\":\"ERROR\",\"pid\":1234,\"tid\":1235,\"seq\":7,"
		"\"host\":\"asterix\",\"program\":\"rts32\",\"job\":\"RTS32\",\"asid\":\"001A\","
		"\"span\":3,\"duration_ns\":0,\"data\":[{\"type\":\"comp5\",\"value\":7}]}");
}

static void assert_record(const struct ct_copybook *copybook, const char *bytes,
			  const char *expected)
{
	ct_buf_clear(&line);
	ct_json_add_record(&line, copybook,
			   (struct ct_record_bytes){ .at = bytes, .size = strlen(bytes) });
	assert_string_equal(ct_buf_text(&line), expected);
}

static void a_record_has_the_values_of_its_fields(void **state)
{
	static const char text[] = "01 REC.\n"
				   "   05 NAME PIC X(4).\n"
				   "      88 IS-ADA VALUE 'ADA'.\n"
				   "   05 FILLER PIC X.\n"
				   "   05 INNER.\n"
				   "      10 N PIC 9(3) OCCURS 2.\n"
				   "   05 FILLER PIC X.\n";
	const struct ct_copybook_options options = { .encoding = CT_ENCODING_ASCII };
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic;
	struct ct_buf path;

	(void)state;
	ct_buf_init(&path);
	assert_int_equal(ct_copybook_parse("REC.cpy", text, strlen(text), &options, &copybook,
					   &diagnostic, &path),
			 CTRACE_OK);
	ct_buf_fini(&path);
	assert_record(copybook, "ADA x007120y",
		      "{\"NAME\":\"ADA\",\"NAME.88\":[\"IS-ADA\"],\"FILLER.1\":\"x\","
		      "\"INNER\":{\"N\":[7,120]},\"FILLER.2\":\"y\"}");
	/* no number, and a quotation mark */
	assert_record(copybook, "B\"B x0.7120y",
		      "{\"NAME\":\"B\\\"B\",\"FILLER.1\":\"x\","
		      "\"INNER\":{\"N\":[{\"hex\":\"302E37\"},120]},\"FILLER.2\":\"y\"}");
	/* cut */
	assert_record(
		copybook, "EVE x00",
		"{\"NAME\":\"EVE\",\"FILLER.1\":\"x\",\"INNER\":{\"N\":[{\"hex\":\"3030\"}]}}");
	ct_copybook_destroy(copybook);
}

/* The value that a JSON library reads from one text item; *out_hex: its "hex" member, or NULL. */
static json_t *read_text(const void *text, size_t size, const char **out_value, size_t *out_size,
			 const char **out_hex)
{
	const struct ctrace_event_item item = { .type = CTRACE_TYPE_TEXT,
						.size = (uint32_t)size,
						.data = text };
	const char *printed = print(&item, 1);
	json_error_t error;
	json_t *root = json_loadb(printed, strlen(printed), JSON_ALLOW_NUL, &error);
	json_t *data = json_array_get(json_object_get(root, "data"), 0);
	json_t *value = json_object_get(data, "value");

	if (root == NULL)
		fail_msg("%s: %s", error.text, printed);
	assert_ptr_equal(strchr(printed, '\n'), printed + strlen(printed) - 1);
	for (const char *at = printed; *at != '\n'; at++)
		assert_in_range(*at, 0x20, 0x7E);
	*out_value = json_string_value(value);
	*out_size = json_string_length(value);
	*out_hex = json_string_value(json_object_get(data, "hex"));
	return root;
}

static void utf8_comes_back_byte_for_byte(void **state)
{
	static const char *const texts[] = {
		"plain",
		"quote \" backslash \\ slash /",
		"\n\r\t\b\f\x01\x1F\x7F",
		"\xC2\x80\xC2\x9B",
		"\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF",
		"\xF0\x90\x80\x80\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF",
		"\xE2\x80\xAE override",
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(texts); i++) {
		const char *value, *hex;
		size_t size;
		json_t *root = read_text(texts[i], strlen(texts[i]), &value, &size, &hex);

		assert_string_equal(value, texts[i]);
		assert_null(hex);
		json_decref(root);
	}
}

static void what_is_not_utf8_comes_with_its_bytes(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *value, *hex;
	} rows[] = {
		{ "a\xFFz", 3, "a\xC3\xBFz", "61FF7A" },
		{ "\xC3", 1, "\xC3\x83", "C3" },                             /* cut */
		{ "\xC0\x80", 2, "\xC3\x80\xC2\x80", "C080" },               /* overlong */
		{ "\xED\xA0\x80", 3, "\xC3\xAD\xC2\xA0\xC2\x80", "EDA080" }, /* surrogate */
		/* beyond U+10FFFF */
		{ "\xF4\x90\x80\x80", 4, "\xC3\xB4\xC2\x90\xC2\x80\xC2\x80", "F4908080" },
		{ "\xE2\x82", 2, "\xC3\xA2\xC2\x82", "E282" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		const char *value, *hex;
		size_t size;
		json_t *root = read_text(rows[i].text, rows[i].size, &value, &size, &hex);

		assert_string_equal(value, rows[i].value);
		assert_string_equal(hex, rows[i].hex);
		json_decref(root);
	}
}

static void zero_bytes_stay(void **state)
{
	const char *value, *hex;
	size_t size;
	json_t *root;

	(void)state;
	root = read_text("a\0b", 3, &value, &size, &hex);
	assert_int_equal(size, 3);
	assert_memory_equal(value, "a\0b", 3);
	json_decref(root);
}

/* Every pair of bytes is valid JSON on one line. */
static void any_bytes_are_valid(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 65536; i += 7) {
		const unsigned char bytes[2] = { (unsigned char)(i >> 8), (unsigned char)i };
		const char *value, *hex;
		size_t size;

		json_decref(read_text(bytes, 2, &value, &size, &hex));
	}
}

static int fini(void **state)
{
	(void)state;
	ct_buf_fini(&line);
	return 0;
}

int test_print_json(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_line),
		cmocka_unit_test(no_items),
		cmocka_unit_test(an_object_may_stand_within_a_document),
		cmocka_unit_test(a_record_has_the_values_of_its_fields),
		cmocka_unit_test(utf8_comes_back_byte_for_byte),
		cmocka_unit_test(what_is_not_utf8_comes_with_its_bytes),
		cmocka_unit_test(zero_bytes_stay),
		cmocka_unit_test(any_bytes_are_valid),
	};

	return cmocka_run_group_tests(tests, NULL, fini);
}
