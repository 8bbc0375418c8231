/*
 * test_value.c - items as people read them: by their type, and by what the catalogue says.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

static struct ct_buf out;

static const char *show(struct ctrace_event_item item, const struct ct_argument *argument)
{
	ct_buf_clear(&out);
	ct_value_add(&out, &event_line, &item, argument, false);
	return ct_buf_text(&out);
}

static void without_a_catalogue_it_is_the_line_of_textfile(void **state)
{
	static const struct ct_argument plain = { .name = "a" };

	(void)state;
	assert_string_equal(show(text_item("say \"hi\"\n"), NULL), "\"say \\\"hi\\\"\\n\"");
	assert_string_equal(show(binary_item("12345678", 8), &plain), "31323334-35363738");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5S, 8, (uint64_t)-5), &plain), "-5");
	assert_string_equal(show(number_item(CTRACE_TYPE_ADDRESS, 8, 0x7FFF), NULL), "0x7FFF");
}

static void numbers_by_the_catalogue(void **state)
{
	static const struct ct_argument hex = { .print = CT_PRINT_HEX },
					decimal = { .print = CT_PRINT_DECIMAL };
	static const struct ct_argument time = { .print = CT_PRINT_TIME, .unit_ns = 1000000000 };
	static const struct ct_argument far_time = { .print = CT_PRINT_TIME,
						     .unit_ns = UINT64_MAX };

	(void)state;
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 2, 0xAB), &hex), "0x00AB");
	assert_string_equal(show(number_item(CTRACE_TYPE_ADDRESS, 8, 300), &decimal), "300");
	assert_string_equal(show(binary_item("\x01\x02", 2), &decimal), "258");
	assert_string_equal(show(binary_item("\x01\x02", 2), &hex), "0102");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5S, 4, (uint64_t)-1), &decimal), "-1");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 8, 1700000000), &time),
			    "2023/11/14 22:13:20.000");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 8, 17), &far_time), "17");
	/* What is no number stays what it is. */
	assert_string_equal(show(text_item("x"), &decimal), "\"x\"");
	assert_string_equal(show(binary_item("123456789", 9), &decimal), "31323334-35363738-39");
}

static void flags_and_enumerations(void **state)
{
	static const struct ct_label labels[] = {
		{ 0, "NONE" }, { 1, "READ" }, { 2, "WRITE" }, { 6, "BOTH" }
	};
	static const struct ct_argument flags = { .print = CT_PRINT_FLAGS,
						  .labels = labels,
						  .label_count = 4 };
	static const struct ct_argument unnamed = { .print = CT_PRINT_FLAGS };
	static const struct ct_argument one = { .print = CT_PRINT_ENUMERATION,
						.labels = labels,
						.label_count = 4 };

	(void)state;
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 4, 0), &flags), "NONE");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 4, 3), &flags), "READ|WRITE");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 4, 0x41), &flags), "READ|0x40");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 4, 0x40), &flags), "0x40");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 4, 0), &unnamed), "0");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 4, 2), &one), "WRITE");
	assert_string_equal(show(number_item(CTRACE_TYPE_COMP5, 4, 3), &one), "3");
	assert_string_equal(show(binary_item("\x02", 1), &one), "WRITE");
}

static void bytes_that_are_text(void **state)
{
	static const struct ct_argument ebcdic = { .print = CT_PRINT_TEXT,
						   .encoding = CT_ENCODING_EBCDIC_037 };
	static const struct ct_argument ascii = { .print = CT_PRINT_TEXT };

	(void)state;
	assert_string_equal(show(binary_item("\xC1\xC4\xC1", 3), &ebcdic), "\"ADA\"");
	assert_string_equal(show(binary_item("A\033", 2), &ascii), "\"A\\u{1B}\"");
}

static const char record_catalog[] = "component: MF.RTS\n"
				     "events:\n"
				     "  255:\n"
				     "    mnemonic: READ\n"
				     "    arguments:\n"
				     "      - name: customer\n"
				     "        copybook: CUSTREC.cpy\n";
static const char copybook[] = "01 CUSTREC.\n"
			       "   05 CUST-ID PIC 9(4).\n"
			       "   05 CUST-NAME PIC X(6).\n"
			       "   05 CUST-STATE PIC X.\n"
			       "      88 IS-ACTIVE VALUE 'A'.\n"
			       "   05 SALDO PIC S9(3)V99 COMP-3.\n"
			       "   05 MARKS OCCURS 2 PIC 9.\n";

static struct ct_catalog *catalog_with_copybook(char directory[32])
{
	char path[64];
	FILE *file;

	strcpy(directory, "/tmp/ctrace-value.XXXXXX");
	assert_non_null(mkdtemp(directory));
	(void)snprintf(path, sizeof path, "%s/CUSTREC.cpy", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(copybook, file);
	assert_int_equal(fclose(file), 0);
	(void)snprintf(path, sizeof path, "%s/rts.yaml", directory);
	return event_catalog(path, record_catalog);
}

static void remove_directory(const char *directory)
{
	char path[64];

	(void)snprintf(path, sizeof path, "%s/CUSTREC.cpy", directory);
	assert_int_equal(remove(path), 0);
	assert_int_equal(remove(directory), 0);
}

static void a_record_prints_its_fields(void **state)
{
	struct ctrace_event_item item = binary_item("0012ADA   A\x00\x15\x0D"
						    "78",
						    16);
	struct ct_read_event event = event_of(&item, 1);
	struct ct_catalog *catalog;
	char directory[32];

	(void)state;
	catalog = catalog_with_copybook(directory);
	event_describe(&event, catalog);
	assert_string_equal(
		show(item, &event.type->arguments[0]),
		"{CUST-ID=0012 CUST-NAME=\"ADA\" CUST-STATE=\"A\" (IS-ACTIVE) SALDO=-001.50 MARKS(1)=7 MARKS(2)=8}");
	ct_buf_clear(&out);
	ct_value_add_record(&out, &item, &event.type->arguments[0], false, 4);
	assert_string_equal(ct_buf_text(&out),
			    "    CUSTREC\n"
			    "      CUST-ID                         0012\n"
			    "      CUST-NAME                       \"ADA\"\n"
			    "      CUST-STATE                      \"A\" (IS-ACTIVE)\n"
			    "      SALDO                           -001.50\n"
			    "      MARKS(1)                        7\n"
			    "      MARKS(2)                        8\n");
	ct_catalog_destroy(catalog);
	remove_directory(directory);
}

static void a_number_is_no_record(void **state)
{
	struct ctrace_event_item item = number_item(CTRACE_TYPE_COMP5S, 4, (uint64_t)-5);
	struct ctrace_event_item address = number_item(CTRACE_TYPE_ADDRESS, 8, 0x1F);
	struct ctrace_event_item text = text_item("0012ADA");
	struct ct_read_event event = event_of(&item, 1);
	struct ct_catalog *catalog;
	char directory[32];

	(void)state;
	catalog = catalog_with_copybook(directory);
	event_describe(&event, catalog);
	assert_string_equal(show(item, &event.type->arguments[0]), "-5");
	assert_string_equal(show(address, &event.type->arguments[0]), "0x1F");
	assert_true(ct_value_is_record(&text, &event.type->arguments[0]));
	assert_false(ct_value_is_record(&item, &event.type->arguments[0]) ||
		     ct_value_is_record(&text, NULL));
	ct_catalog_destroy(catalog);
	remove_directory(directory);
}

static void what_does_not_fit_is_marked(void **state)
{
	struct ctrace_event_item item = binary_item("00x2ADA   A\x00\x15\x0D"
						    "78more",
						    20);
	struct ct_read_event event = event_of(&item, 1);
	struct ct_catalog *catalog;
	char directory[32];

	(void)state;
	catalog = catalog_with_copybook(directory);
	event_describe(&event, catalog);
	ct_buf_clear(&out);
	ct_value_add_record(&out, &item, &event.type->arguments[0], false, 0);
	assert_non_null(
		strstr(ct_buf_text(&out), "  CUST-ID                         X'30307832' (bad)\n"));
	assert_non_null(strstr(ct_buf_text(&out), "\n4 bytes more than the record has\n"));
	ct_catalog_destroy(catalog);
	remove_directory(directory);
}

static int in_utc(void **state)
{
	(void)state;
	return setenv("TZ", "UTC", 1);
}

int test_value(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_catalogue_it_is_the_line_of_textfile),
		cmocka_unit_test(numbers_by_the_catalogue),
		cmocka_unit_test(flags_and_enumerations),
		cmocka_unit_test(bytes_that_are_text),
		cmocka_unit_test(a_record_prints_its_fields),
		cmocka_unit_test(a_number_is_no_record),
		cmocka_unit_test(what_does_not_fit_is_marked),
	};
	int failures;

	ct_buf_init(&out);
	failures = cmocka_run_group_tests(tests, in_utc, NULL);
	ct_buf_fini(&out);
	return failures;
}
