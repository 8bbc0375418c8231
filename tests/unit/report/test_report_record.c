/*
 * test_report_record.c - a record's fields: their layout once, their texts and conditions for each
 * event; and where it is cut.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "report_fixture.h"

static struct ct_copybook *parse(const char *text)
{
	const struct ct_copybook_options options = { .encoding = CT_ENCODING_ASCII };
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic;
	struct ct_buf path;

	ct_buf_init(&path);
	assert_int_equal(ct_copybook_parse("REC.cpy", text, strlen(text), &options, &copybook,
					   &diagnostic, &path),
			 CTRACE_OK);
	ct_buf_fini(&path);
	return copybook;
}

static struct unpacked pack(struct ct_report_records *records, const struct ct_copybook *copybook,
			    const char *bytes)
{
	const struct ctrace_event_item item = { .type = CTRACE_TYPE_BINARY,
						.size = (uint32_t)strlen(bytes),
						.data = bytes };
	const struct ct_buf *record = ct_report_record(records, copybook, &item, false);
	struct unpacked copy = { .bytes = malloc(record->size + 1), .size = record->size };

	assert_false(record->failed);
	memcpy(copy.bytes, record->data, record->size);
	return copy;
}

static void assert_field(struct unpacked *record, uint64_t field, uint64_t offset,
			 uint64_t occurrence, uint64_t flags)
{
	assert_int_equal(next_number(record), field + 1);
	assert_int_equal(next_number(record), offset);
	assert_int_equal(next_number(record), occurrence);
	assert_int_equal(next_number(record), flags);
}

static void assert_text(struct unpacked *record, const char *text)
{
	assert_int_equal(next_number(record), strlen(text));
	assert_next(record, text, strlen(text));
}

static void fields_come_in_order(void **state)
{
	struct ct_copybook *copybook = parse("       01  REC.\n"
					     "           05  NAME   PIC X(3).\n"
					     "               88  IS-ADA  VALUE \"ADA\".\n"
					     "               88  IS-ANY  VALUE \"ADA\" \"BOB\".\n"
					     "           05  N      PIC 99 OCCURS 2.\n");
	struct ct_report_records records;
	struct unpacked record;
	json_t *object = json_object();
	char *text;

	(void)state;
	assert_int_equal(ct_report_records_init(&records), CTRACE_OK);
	record = pack(&records, copybook, "ADA07x1");
	assert_field(&record, 0, 0, 0, 0); /* REC */
	assert_field(&record, 1, 0, 0, 2); /* NAME, with conditions */
	assert_text(&record, "ADA");
	assert_int_equal(next_number(&record), 2);
	assert_int_equal(next_number(&record), 0);
	assert_int_equal(next_number(&record), 1);
	assert_field(&record, 2, 3, 0, 0); /* the table N */
	assert_field(&record, 3, 3, 1, 0); /* N(1) */
	assert_text(&record, "07");
	assert_field(&record, 3, 5, 2, 1); /* N(2), which is none */
	assert_text(&record, "7831");
	assert_int_equal(next_number(&record), 0);
	assert_int_equal(next_number(&record), 0);
	assert_end(&record);
	record = pack(&records, copybook, "EVE0102");
	assert_field(&record, 0, 0, 0, 0); /* the same fields again */
	assert_field(&record, 1, 0, 0, 0);
	free(record.bytes);
	assert_true(ct_report_records_put(&records, object));
	assert_int_equal(json_array_size(json_object_get(object, "fields")), 4);
	text = json_dumps(json_array_get(json_object_get(object, "fields"), 1), JSON_COMPACT);
	assert_string_equal(text, "[\"NAME\",\"text\",3,\"X(3)\",false,false]");
	free(text);
	text = json_dumps(json_object_get(object, "conditions"), JSON_COMPACT);
	assert_string_equal(text, "[\"IS-ADA\",\"IS-ANY\"]");
	free(text);
	json_decref(object);
	ct_report_records_fini(&records);
	ct_copybook_destroy(copybook);
}

static void a_large_record_is_cut(void **state)
{
	struct ct_copybook *copybook =
		parse("       01  REC.\n           05  T  PIC X(4) OCCURS 8000.\n");
	static char bytes[32001];
	struct ct_report_records records;
	struct unpacked record;

	(void)state;
	memset(bytes, 'x', sizeof bytes - 1);
	assert_int_equal(ct_report_records_init(&records), CTRACE_OK);
	record = pack(&records, copybook, bytes);
	assert_true(records.is_cut);
	assert_in_range(record.size, CT_REPORT_RECORD_SIZE - 200, CT_REPORT_RECORD_SIZE);
	free(record.bytes);
	record = pack(&records, copybook, "xxxx"); /* the next one has its room again */
	assert_true(record.size > 0);
	free(record.bytes);
	ct_report_records_fini(&records);
	ct_copybook_destroy(copybook);
}

int test_report_record(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_come_in_order),
		cmocka_unit_test(a_large_record_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
