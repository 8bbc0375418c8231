/*
 * test_filter_item.c - items of events against values: numbers, texts, labels, fields of records.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "filter_fixture.h"

static void items_by_number_and_name(void **state)
{
	static const char *const accepted[] = {
		"data[0] > 100",
		"data1 == 150 && data5 < 0",
		"DATA4 ~ '*LOVE*'",
		"data[0] == 150",
		"data[0] in (1..99, 150)",
		"data.rows == 150",
		"data.ROWS == 0x96",
		"data[\"rows\"] == 150",
		"data.CUST-NAME == \"ADA LOVELACE\"",
		"data.cust-name ~ 'ada*lace'",
		"data[3] ~ '*LOVE*'",
		"data[3] != 'ADA'",
		"data[3] !~ 'x*'",
		"data[3] > 'ADA'",
		"data[3] < 'B'",
		"data[3] in ('A'..'AZ', 'X')",
		"data.data5 == -5",
		"data[4] < 0",
		"data[4] > -6",
		"data[4] in (-10..-5)",
		"data[4] != 4294967291",
		"data[5] == 12.5",
		"data[5] > 12.49 && data[5] < 12.51",
		"data[5] in (12..13)",
		"data[5] == '12.50'",
		"data[0] > 149.5",
		"data[0] < 150.5",
		"data[0] != 150.5",
		"data[0] == '150'",
		"data[0] ~ '15*'",
		"data[4] == '-5'",
		"data == 150",
		"data == 'ADA LOVELACE'",
		"data ~ '*love*'",
		"data > 149",
		"data != 7",
		"data !~ '*z*'",
		"data in (1, 12.5)",
		"data",
		"data[5]",
		"data.rows",
	};
	static const char *const refused[] = {
		"data[0] > 150",
		"data[0] == 150.5",
		"data[6] == 0",
		"data[6]",
		"data.none",
		"data.data1 == 150", /* it has a name */
		"data.data7",
		"data[3] == 'ada lovelace'",
		"data[3] > 100",
		"data[3] == 0",
		"data[3] > 'ADA LOVELACE'",
		"data[3] < 'ADA'",
		"data[4] > 0",
		"data[5] > 12.5",
		"data[5] == 'ADA'",
		"data != 150",
		"data !~ '*love*'",
		"data == 'ADA'",
		"data > 1000",
		"data.rows.X == 1",
		"data.rows.X",
	};
	const struct ct_read_event event = the_event();

	(void)state;
	assert_all(accepted, CT_COUNT(accepted), true, &event);
	assert_all(refused, CT_COUNT(refused), false, &event);
}

static void labels(void **state)
{
	static const char *const accepted[] = {
		"data.mode == 'WRITE'",
		"data.mode == 'write'",
		"data.mode ~ 'w*'",
		"data.mode != 'READ'",
		"data.mode in ('LOCK', 'WRITE')",
		"data.mode == 2",
		"data.mode == '2'",
		"data.bits == 'READ|WRITE'",
		"data.bits == 'write|READ'",
		"data.bits ~ 'READ'",
		"data.bits ~ 'w*'",
		"data.bits !~ 'LOCK'",
		"data.bits != 'READ'",
		"data.bits == 3",
	};
	static const char *const refused[] = {
		"data.mode == 'READ'",
		"data.mode != 'WRITE'",
		"data.bits == 'READ'",
		"data.bits == 'READ|WRITE|LOCK'",
		"data.bits ~ 'LOCK'",
		"data.bits == ''",
		"data.bits == 'READ|SOMETHING'",
		"data.bits == '|'",
	};
	const struct ct_read_event event = the_event();

	(void)state;
	assert_all(accepted, CT_COUNT(accepted), true, &event);
	assert_all(refused, CT_COUNT(refused), false, &event);
}

/* An event of one item. */
static struct ct_read_event event_of(const struct ctrace_event_item *item,
				     const struct ct_event_type *type)
{
	struct ct_read_event event = the_event();

	event.traced.items = item;
	event.traced.item_count = 1;
	event.type = type;
	return event;
}

static void every_type_of_item(void **state)
{
	static const struct {
		struct ctrace_event_item item;
		const char *accepted, *refused;
	} rows[] = {
		{ { CTRACE_TYPE_COMP5, 8, "\1\1\1\1\1\1\1\1", UINT64_MAX },
		  "data[0] == 18446744073709551615",
		  "data[0] < 0" },
		{ { CTRACE_TYPE_COMP5S, 8, "\1\1\1\1\1\1\1\1", UINT64_MAX },
		  "data[0] == -1",
		  "data[0] > 0" },
		{ { CTRACE_TYPE_COMPXS, 8, "\1\1\1\1\1\1\1\1", (uint64_t)INT64_MIN },
		  "data[0] == -9223372036854775808",
		  "data[0] >= 0" },
		{ { CTRACE_TYPE_COMPX, 2, "\1\2", 258 }, "data[0] == 258", "data[0] == 513" },
		{ { CTRACE_TYPE_ADDRESS, 8, NULL, 0x7FFC00001000 },
		  "data[0] == 0x7FFC00001000",
		  "data[0] == 0" },
		{ { CTRACE_TYPE_UTF8, 4, "gr\xC3\xBC", 0 },
		  "data[0] == 'gr\xC3\xBC'",
		  "data[0] == 'gru'" },
		{ { CTRACE_TYPE_BINARY, 4, "PAY1", 0 }, "data[0] ~ 'pay*'", "data[0] == 'PAY'" },
		{ { CTRACE_TYPE_COMP5, 9, "\1\1\1\1\1\1\1\1\1", 0 },
		  "data[0] != 0",
		  "data[0] == 0" },
		{ { CTRACE_TYPE_COMP5, 0, "", 0 }, "data[0]", "data[0] == 0" },
		{ { CTRACE_TYPE_TEXT, 0, NULL, 0 }, "data[0]", "data[0] == 'x'" },
		{ { CTRACE_TYPE_TEXT, 4, "A\0\0 ", 0 }, "data[0] == 'A'", "data[0] == 'AA'" },
		{ { CTRACE_TYPE_TEXT, 3, "   ", 0 }, "data[0] == ''", "data[0] == 0" },
		{ { CTRACE_TYPE_TEXT, 6, " -7.0 ", 0 }, "data[0] == -7", "data[0] == 7" },
		{ { 99, 3, "abc", 0 }, "data[0] == 'abc'", "data[0] > 0" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_read_event event = event_of(&rows[i].item, NULL);

		if (!accepts(rows[i].accepted, &event))
			fail_msg("refused: %s", rows[i].accepted);
		if (accepts(rows[i].refused, &event))
			fail_msg("accepted: %s", rows[i].refused);
	}
}

static void names_that_the_trace_gives(void **state)
{
	static const char *const names[] = { "msg", "len" };
	static const struct ct_event_names of_trace = { .mnemonic = "sys_read",
							.items = names,
							.item_count = 2 };
	struct ct_read_event event = the_event();

	(void)state;
	event.type = NULL;
	event.names = &of_trace;
	assert_true(accepts(
		"data.msg == 150 && data.LEN == 2 && data.data3 == 3 && mnemonic == 'sys_read'",
		&event));
	assert_false(accepts("data.data1", &event));
	event.names = NULL;
	assert_true(accepts("data.data1 == 150", &event));
	assert_false(accepts("data.data0", &event));
	assert_false(accepts("data.data01", &event));
	assert_false(accepts("data.msg", &event));
}

/* -----------------------------------------------------------------------------------------------
 * Records
 */

static const char copybook_text[] =
	"       01  CUSTOMER.\n"
	"           05  CUST-ID            PIC 9(6).\n"
	"           05  CUST-STATUS        PIC X.\n"
	"               88  CUST-ACTIVE    VALUE \"A\".\n"
	"           05  CUST-NAME.\n"
	"               10  FIRST-NAME     PIC X(8).\n"
	"               10  LAST-NAME      PIC X(8).\n"
	"           05  BALANCE            PIC S9(4)V99 SIGN LEADING SEPARATE.\n"
	"           05  ORDERS OCCURS 2.\n"
	"               10  AMOUNT         PIC 9(3)V9.\n"
	"           05  FILLER             PIC X(2).\n";
static const char record_bytes[] = "004711"
				   "A"
				   "ADA     LOVELACE"
				   "-123450"
				   "00150450"
				   "..";

static struct ct_copybook *open_copybook(void)
{
	const struct ct_copybook_options options = { .encoding = CT_ENCODING_ASCII };
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic;
	struct ct_buf path;

	ct_buf_init(&path);
	if (ct_copybook_parse("x.cpy", copybook_text, sizeof copybook_text - 1, &options, &copybook,
			      &diagnostic, &path) != CTRACE_OK)
		fail_msg("line %u, column %u: %s", diagnostic.line, diagnostic.column,
			 diagnostic.message);
	ct_buf_fini(&path);
	return copybook;
}

static void fields_of_records(void **state)
{
	static const char *const accepted[] = {
		"data.rec.CUST-ID == 4711",
		"data.rec.cust-id in (1..5000)",
		"data[0].CUST-ID == '004711'",
		"data.rec.CUSTOMER.CUST-ID == 4711",
		"data.rec.CUST-NAME.FIRST-NAME == 'ADA'",
		"data.rec.FIRST-NAME == 'ADA'",
		"data.rec.CUSTOMER.CUST-NAME.LAST-NAME ~ 'love*'",
		"data.rec.CUST-NAME == 'ADA     LOVELACE'",
		"data.rec.BALANCE < 0",
		"data.rec.BALANCE == -1234.5",
		"data.rec.AMOUNT == 45",
		"data.rec.ORDERS.AMOUNT > 15",
		"data.rec.AMOUNT != 16",
		"data.rec.CUST-STATUS == 'A'",
		"data.rec.CUST-STATUS == 'CUST-ACTIVE'",
		"data.rec.CUST-STATUS ~ 'cust-*'",
		"data.rec ~ '*LOVELACE*'",
		"data.rec.LAST-NAME",
		"data.rec.CUST-NAME",
	};
	static const char *const refused[] = {
		"data.rec.CUST-ID == 4712",
		"data.rec.NONE == 1",
		"data.rec.NONE != 1",
		"data.rec.NONE",
		"data.rec.LAST-NAME.CUST-NAME == 'ADA'",
		"data.rec.BALANCE > 0",
		"data.rec.AMOUNT == 46",
		"data.rec.AMOUNT != 45",
		"data.rec.FILLER",
		"data.rec.CUST-ACTIVE",
		"data.other.CUST-ID",
		"data.rec.ORDERS.FIRST-NAME == 'ADA'",
	};
	struct ct_copybook *copybook = open_copybook();
	const struct ct_argument argument = {
		.name = "rec", .description = "", .print = CT_PRINT_RECORD, .copybook = copybook
	};
	const struct ct_event_type type = {
		.mnemonic = "CUST", .match = -1, .argument_count = 1, .arguments = &argument
	};
	const struct ctrace_event_item item = { CTRACE_TYPE_BINARY, sizeof record_bytes - 1,
						record_bytes, 0 };
	const struct ct_read_event event = event_of(&item, &type);

	(void)state;
	assert_all(accepted, CT_COUNT(accepted), true, &event);
	assert_all(refused, CT_COUNT(refused), false, &event);
	ct_copybook_destroy(copybook);
}

static void a_record_that_is_cut(void **state)
{
	struct ct_copybook *copybook = open_copybook();
	const struct ct_argument argument = {
		.name = "rec", .description = "", .print = CT_PRINT_RECORD, .copybook = copybook
	};
	const struct ct_event_type type = {
		.mnemonic = "CUST", .match = -1, .argument_count = 1, .arguments = &argument
	};

	(void)state;
	for (uint32_t size = 0; size < sizeof record_bytes; size++) {
		char *bytes = malloc(size + (size == 0));
		const struct ctrace_event_item item = { CTRACE_TYPE_BINARY, size, bytes, 0 };
		const struct ct_read_event event = event_of(&item, &type);

		memcpy(bytes, record_bytes, size);
		assert_int_equal(accepts("data.rec.CUST-ID == 4711", &event), size >= 6);
		assert_int_equal(accepts("data.rec.LAST-NAME == 'LOVELACE'", &event), size >= 23);
		(void)accepts("data.rec.CUST-NAME ~ '*'", &event);
		free(bytes);
	}
	ct_copybook_destroy(copybook);
}

static void texts_of_another_encoding(void **state)
{
	static const struct ct_argument argument = { .name = "name",
						     .description = "",
						     .print = CT_PRINT_TEXT,
						     .encoding = CT_ENCODING_EBCDIC_037 };
	static const struct ct_event_type type = {
		.mnemonic = "X", .match = -1, .argument_count = 1, .arguments = &argument
	};
	/* "ADA 12" and blanks */
	const struct ctrace_event_item item = { CTRACE_TYPE_BINARY, 8,
						"\xC1\xC4\xC1\x40\xF1\xF2\x40\x40", 0 };
	const struct ctrace_event_item number = { CTRACE_TYPE_TEXT, 2, "\xF1\xF2", 0 };
	struct ct_read_event event = event_of(&item, &type);

	(void)state;
	assert_true(accepts("data.name == 'ADA 12' && data[0] ~ 'ada*'", &event));
	assert_false(accepts("data.name == 'ADA'", &event));
	event = event_of(&number, &type);
	assert_true(accepts("data.name == 12", &event));
}

static void bytes_that_the_catalogue_says_are_a_number(void **state)
{
	static const struct ct_argument arguments[] = {
		{ .name = "n", .description = "", .print = CT_PRINT_DECIMAL },
		{ .name = "m",
		  .description = "",
		  .print = CT_PRINT_ENUMERATION,
		  .labels = the_modes,
		  .label_count = 3 },
	};
	static const struct ct_event_type types[] = {
		{ .mnemonic = "X", .match = -1, .argument_count = 1, .arguments = &arguments[0] },
		{ .mnemonic = "X", .match = -1, .argument_count = 1, .arguments = &arguments[1] },
	};
	const struct ctrace_event_item item = { CTRACE_TYPE_BINARY, 2, "\0\2", 0 };
	struct ct_read_event event = event_of(&item, &types[0]);

	(void)state;
	assert_true(accepts("data.n == 2", &event));
	event = event_of(&item, &types[1]);
	assert_true(accepts("data.m == 'WRITE'", &event));
}

int test_filter_item(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_by_number_and_name),
		cmocka_unit_test(labels),
		cmocka_unit_test(every_type_of_item),
		cmocka_unit_test(names_that_the_trace_gives),
		cmocka_unit_test(fields_of_records),
		cmocka_unit_test(a_record_that_is_cut),
		cmocka_unit_test(texts_of_another_encoding),
		cmocka_unit_test(bytes_that_the_catalogue_says_are_a_number),
	};

	return cmocka_run_group_tests(tests, use_utc, NULL);
}
