/*
 * test_values.c - every integer that COBOL can trace, exact in TEXTFILE and, through babeltrace2,
 * in BINFILE; items and events up to their limits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <mfctf.h>

#define BOTH_CONFIG \
	"mftrace.level = debug\n" \
	"mftrace.dest = textfile, binfile\n" \
	"mftrace.emitter.textfile#file = out.log\n" \
	"mftrace.emitter.textfile#format = $(EVENT)$(DATA)\n" \
	"mftrace.emitter.binfile#file = out.ctb\n"

#define CASES_LIMIT 400u

/* One integer as a program has it, and as a reader must see it. */
struct value {
	cbl_x4_comp5_t size;
	cbl_x4_comp5_t type;
	unsigned char bytes[8];
	char text[32];
};
static struct value values[CASES_LIMIT];
static unsigned value_count;

static void add_value(unsigned size, cbl_x4_comp5_t type, uint64_t number, bool is_signed)
{
	struct value *value = &values[value_count++];
	bool is_big_endian =
		type == TRACE_EVENT_TYPE_COMPX || type == TRACE_EVENT_TYPE_COMPXS || CTRACE_IS_BIG_;

	assert_true(value_count <= CASES_LIMIT);
	value->size = size;
	value->type = type;
	for (unsigned i = 0; i < size; i++)
		value->bytes[is_big_endian ? size - 1 - i : i] = (unsigned char)(number >> 8 * i);
	if (is_signed)
		(void)snprintf(value->text, sizeof value->text, "%lld", (long long)number);
	else
		(void)snprintf(value->text, sizeof value->text, "%llu", (unsigned long long)number);
}

/* 1 to 8 bytes: nothing, one, the highest and the lowest, what is next to them, and bytes that
 * differ from each other. */
static void make_values(void)
{
	for (unsigned size = 1; size <= 8; size++) {
		uint64_t highest = UINT64_MAX >> (64 - 8 * size);
		uint64_t distinct = UINT64_C(0x0102030405060788) >> (64 - 8 * size);

		for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
			cbl_x4_comp5_t type =
				big_endian ? TRACE_EVENT_TYPE_COMPX : TRACE_EVENT_TYPE_COMP5;
			cbl_x4_comp5_t type_signed =
				big_endian ? TRACE_EVENT_TYPE_COMPXS : TRACE_EVENT_TYPE_COMP5S;
			const uint64_t unsigned_values[] = {
				0, 1, highest, highest - 1, highest / 2, highest / 2 + 1, distinct
			};
			const uint64_t signed_values[] = { 0,
							   1,
							   UINT64_MAX,
							   UINT64_MAX - 1,
							   highest / 2,
							   highest / 2 - 1,
							   ~(highest / 2),
							   ~(highest / 2) + 1 };

			for (size_t i = 0; i < sizeof unsigned_values / sizeof unsigned_values[0];
			     i++)
				add_value(size, type, unsigned_values[i], false);
			for (size_t i = 0; i < sizeof signed_values / sizeof signed_values[0]; i++)
				add_value(size, type_signed, signed_values[i], true);
		}
	}
}

static int trace_items(uint32_t flags, uint32_t event_id, uint32_t count, cbl_x4_comp5_t *sizes,
		       cbl_x4_comp5_t *types, void **items)
{
	TRACE_EVENT event = { .event_id = event_id,
			      .level = CTF_FLAG_LEVEL_INFO,
			      .data_count = count,
			      .event_len = sizes,
			      .event_type = types,
			      .event_data = items };

	return cobctf_trace(CTF_FLAG_COMPID_STRING | flags, (const cobuns8_t *)"values ", &event);
}

static void trace_values(void)
{
	for (unsigned i = 0; i < value_count; i++) {
		void *item = values[i].bytes;

		REQUIRE(trace_items(0, i, 1, &values[i].size, &values[i].type, &item) ==
			CTF_RET_SUCCESS);
	}
}

static FILE *open_text(const char *path)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	return file;
}

static void integers_are_exact_in_text_and_binary(void **state)
{
	unsigned count = 0;
	char line[512];
	char expected[64];
	FILE *file;

	(void)state;
	value_count = 0;
	make_values();
	scenario_begin(BOTH_CONFIG);
	scenario_run(trace_values);

	file = open_text("out.log");
	while (fgets(line, sizeof line, file) != NULL) {
		if (line[0] == '#')
			continue;
		assert_true(count < value_count);
		(void)snprintf(expected, sizeof expected, "%u %s\n", count, values[count].text);
		assert_string_equal(line, expected);
		count++;
	}
	(void)fclose(file);
	assert_int_equal(count, value_count);

	assert_int_equal(system("babeltrace2 out.ctb >bt.txt 2>bt.err"), 0);
	count = 0;
	file = open_text("bt.txt");
	while (fgets(line, sizeof line, file) != NULL) {
		const char *data = strstr(line, "{ data1 = ");

		assert_true(count < value_count);
		assert_non_null(data);
		(void)snprintf(expected, sizeof expected, "{ data1 = %s }\n", values[count].text);
		assert_string_equal(data, expected);
		(void)snprintf(expected, sizeof expected, " values:%u: ", count);
		assert_non_null(strstr(line, expected));
		count++;
	}
	(void)fclose(file);
	assert_int_equal(count, value_count);
	file = open_text("bt.err");
	assert_int_equal(fgetc(file), EOF);
	(void)fclose(file);
	scenario_end();
}

/* ---- what is no integer any more ---- */

static void trace_odd_integers(void)
{
	static unsigned char nine[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 0xFE };
	cbl_x4_comp5_t types[4] = { TRACE_EVENT_TYPE_COMP5, TRACE_EVENT_TYPE_COMPX,
				    TRACE_EVENT_TYPE_COMP5S, TRACE_EVENT_TYPE_COMPXS };
	cbl_x4_comp5_t sizes[4] = { 9, 9, 9, 9 };
	void *items[4] = { nine, nine, nine, nine };

	REQUIRE(trace_items(0, 1, 4, sizes, types, items) == CTF_RET_SUCCESS);
	sizes[0] = sizes[1] = sizes[2] = sizes[3] = 0;
	REQUIRE(trace_items(0, 2, 4, sizes, types, items) == CTF_RET_SUCCESS);
}

static void wider_integers_are_bytes(void **state)
{
	char line[512];
	FILE *file;

	(void)state;
	scenario_begin(BOTH_CONFIG);
	scenario_run(trace_odd_integers);
	file = open_text("out.log");
	do
		assert_non_null(fgets(line, sizeof line, file));
	while (line[0] == '#');
	assert_string_equal(
		line,
		"1 0102030405060708-FE 0102030405060708-FE 0102030405060708-FE 0102030405060708-FE\n");
	assert_non_null(fgets(line, sizeof line, file));
	/* a delimiter before each of four empty items, the first of them after the 2 */
	assert_string_equal(line, "2    \n");
	(void)fclose(file);
	assert_int_equal(system("babeltrace2 out.ctb >bt.txt 2>bt.err && test ! -s bt.err"), 0);
	assert_int_equal(system("test $(grep -c 'data1_len = 9, .*data4_len = 9' bt.txt) = 1"), 0);
	assert_int_equal(
		system("test $(grep -c '\\[8\\] = 0xFE.*\\[8\\] = 0xFE.*\\[8\\] = 0xFE.*\\[8\\] = 0xFE' bt.txt) = 1"),
		0);
	scenario_end();
}

/* ---- limits ---- */

#define MOST_ITEMS 4096u
#define LONGEST 65536u

static cbl_x4_comp5_t many_sizes[MOST_ITEMS + 1];
static cbl_x4_comp5_t many_types[MOST_ITEMS + 1];
static void *many_items[MOST_ITEMS + 1];
static char longest[LONGEST + 1];

static void trace_at_the_limits(void)
{
	static const uint32_t counts[] = { 0, 1, 7, MOST_ITEMS };
	static const uint32_t sizes[] = { 0, 1, 255, 256, LONGEST - 1, LONGEST };
	struct ctrace_stats stats = { .size = sizeof stats };

	memset(longest, 'x', sizeof longest);
	for (unsigned i = 0; i <= MOST_ITEMS; i++) {
		many_sizes[i] = 1;
		many_types[i] = TRACE_EVENT_TYPE_TEXT;
		many_items[i] = longest;
	}
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		REQUIRE(trace_items(0, counts[i], counts[i], many_sizes, many_types, many_items) ==
			CTF_RET_SUCCESS);
		/* All alike: one length and one type are enough. */
		REQUIRE(trace_items(CTF_FLAG_ARRAY_DATA, counts[i], counts[i],
				    many_sizes + MOST_ITEMS, many_types + MOST_ITEMS,
				    many_items) == CTF_RET_SUCCESS);
	}
	REQUIRE(trace_items(0, 1, MOST_ITEMS + 1, many_sizes, many_types, many_items) ==
		CTF_RET_NOT_ENOUGH_MEMORY);
	REQUIRE(trace_items(0, 1, UINT32_MAX, many_sizes, many_types, many_items) ==
		CTF_RET_NOT_ENOUGH_MEMORY);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		many_sizes[0] = sizes[i];
		REQUIRE(trace_items(0, 10000 + sizes[i], 1, many_sizes, many_types, many_items) ==
			CTF_RET_SUCCESS);
	}
	many_sizes[0] = LONGEST + 1;
	REQUIRE(trace_items(0, 1, 1, many_sizes, many_types, many_items) ==
		CTF_RET_NOT_ENOUGH_MEMORY);
	many_sizes[0] = UINT32_MAX;
	REQUIRE(trace_items(0, 1, 1, many_sizes, many_types, many_items) ==
		CTF_RET_NOT_ENOUGH_MEMORY);
	ctrace_stats_get(&stats);
	REQUIRE(stats.lost[CTRACE_LOSS_TOO_LARGE] == 4);
}

static void items_and_events_go_up_to_their_limits(void **state)
{
	static const unsigned counts[] = { 0, 0, 1, 1, 7, 7, MOST_ITEMS, MOST_ITEMS };
	static const unsigned sizes[] = { 0, 1, 255, 256, LONGEST - 1, LONGEST };
	char *line = NULL;
	size_t capacity = 0;
	unsigned event = 0;
	FILE *file;

	(void)state;
	scenario_begin(BOTH_CONFIG);
	scenario_run(trace_at_the_limits);
	file = open_text("out.log");
	while (getline(&line, &capacity, file) > 0) {
		char *at = line;
		unsigned id;

		if (line[0] == '#')
			continue;
		id = (unsigned)strtoul(line, &at, 10);
		if (event < 8) {
			assert_int_equal(id, counts[event]);
			for (unsigned i = 0; i < id; i++, at += 4)
				assert_memory_equal(at, " \"x\"", 4);
		} else {
			assert_true(event < 14);
			assert_int_equal(id, 10000 + sizes[event - 8]);
			assert_memory_equal(at, " \"", 2);
			assert_int_equal(strspn(at + 2, "x"), id - 10000);
			at += 2 + (id - 10000);
			assert_int_equal(*at++, '"');
		}
		assert_string_equal(at, "\n");
		event++;
	}
	assert_int_equal(event, 14);
	free(line);
	(void)fclose(file);
	/* It warns of nothing but the four. */
	assert_int_equal(
		system("babeltrace2 out.ctb >bt.txt 2>bt.err && test $(wc -l <bt.txt) = 14 && test $(wc -l <bt.err) = 1"),
		0);
	assert_int_equal(
		system("grep -q 'discarded 4 events' bt.err && grep -q 'data1_len = 65536, ' bt.txt"),
		0);
	assert_int_equal(
		system("test $(grep 'component = \"values\"' bt.txt | grep -o '\"x\"' | wc -l) = 8192"),
		0);
	assert_int_equal(run_tool("show out.ctb"), 0);
	assert_int_equal(system("test $(wc -l <tool.out) = 14"), 0);
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_exact_in_text_and_binary),
		cmocka_unit_test(wider_integers_are_bytes),
		cmocka_unit_test(items_and_events_go_up_to_their_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
