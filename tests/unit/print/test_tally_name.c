/*
 * test_tally_name.c - what counts under which name: spans, operations, events by an item.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

#include "print/tally.h"

static const struct ct_argument of_program[] = { { .name = "program", .description = "" } };
static const struct ct_argument of_paragraph[] = { { .name = "program", .description = "" },
						   { .name = "paragraph", .description = "" } };
static const struct ct_argument of_file[] = {
	{ .name = "file", .description = "" },
	{ .name = "program", .description = "" },
	{ .name = "status", .description = "", .role = CT_ARGUMENT_ROLE_STATUS },
	{ .name = "bytes", .description = "", .role = CT_ARGUMENT_ROLE_BYTES },
};
enum { ENTRY, EXIT, PARAGRAPH, NOTE };
static const struct ct_event_type types[] = {
	{ .event_id = ENTRY,
	  .mnemonic = "ENTRY",
	  .pairing = CT_PAIR_ENTRY,
	  .pair_id = EXIT,
	  .match = -1,
	  .span_names = { 0 },
	  .span_name_count = 1,
	  .arguments = of_program,
	  .argument_count = 1 },
	{ .event_id = EXIT,
	  .mnemonic = "EXIT",
	  .pairing = CT_PAIR_EXIT,
	  .pair_id = ENTRY,
	  .match = -1 },
	{ .event_id = PARAGRAPH,
	  .mnemonic = "PARAGRAPH",
	  .pairing = CT_PAIR_UNTIL,
	  .match = -1,
	  .span_names = { 1, 0 },
	  .span_name_count = 2,
	  .arguments = of_paragraph,
	  .argument_count = 2 },
	{ .event_id = NOTE,
	  .mnemonic = "NOTE",
	  .match = -1,
	  .arguments = of_program,
	  .argument_count = 1 },
};
static const struct ct_event_type file_types[] = {
	{ .event_id = 1,
	  .mnemonic = "READ",
	  .match = -1,
	  .span_names = { 0 },
	  .span_name_count = 1,
	  .roles = { [CT_ARGUMENT_ROLE_STATUS] = 3, [CT_ARGUMENT_ROLE_BYTES] = 4 },
	  .arguments = of_file,
	  .argument_count = CT_COUNT(of_file) },
	{ .event_id = 2,
	  .mnemonic = "SEARCH",
	  .match = -1,
	  .arguments = of_file,
	  .argument_count = 1 },
};
static const struct ct_catalog_component rts = { .name = "RTS",
						 .events = types,
						 .event_count = CT_COUNT(types) };
static const struct ct_catalog_component fh = { .name = "FH",
						.events = file_types,
						.event_count = CT_COUNT(file_types) };

static void add(struct ct_tally *tally, struct ct_read_event event, uint64_t duration_ns)
{
	event.traced.component = event.component->name;
	event.traced.component_size = (uint32_t)strlen(event.component->name);
	event.traced.event_id = event.type->event_id;
	event.duration_ns = event.self_ns = duration_ns;
	if (event.self_ns != CT_NO_DURATION)
		event.self_ns /= 2;
	ct_tally_add(tally, &event);
}

static void fill(struct ct_tally *tally)
{
	struct ctrace_event_item paragraph[] = { text_item("P"), text_item("INIT") };
	struct ctrace_event_item read[] = { text_item("data"), text_item("P"), text_item("00"),
					    number_item(CTRACE_TYPE_COMP5, 4, 80) };
	struct ct_read_event entry = event_of(paragraph, 1), exit = event_of(NULL, 0),
			     begin = event_of(paragraph, 2), file = event_of(read, 4),
			     found = event_of(read, 1);

	entry.component = exit.component = begin.component = &rts;
	entry.type = &types[ENTRY];
	exit.type = &types[EXIT];
	begin.type = &types[PARAGRAPH];
	file.component = found.component = &fh;
	file.type = &file_types[0];
	found.type = &file_types[1];
	add(tally, entry, CT_NO_DURATION);
	add(tally, begin, CT_NO_DURATION);
	begin.is_inferred = true;
	add(tally, begin, 40);
	add(tally, begin, 60);
	add(tally, file, CT_NO_DURATION);
	file.is_whole = true;
	read[2] = text_item("23");
	add(tally, file, 10);
	add(tally, file, 12);
	add(tally, found, CT_NO_DURATION);
	exit.begun = &entry;
	entry.traced.event_id = ENTRY;
	entry.traced.component = "RTS";
	entry.traced.component_size = 3;
	add(tally, exit, 200);
}

static const struct ct_tally_row *row_of(const struct ct_tally *tally, const char *name)
{
	for (size_t i = 0; i < tally->tables[CT_TALLY_NAME].count; i++) {
		const struct ct_tally_row *row = &tally->tables[CT_TALLY_NAME].rows[i];
		struct ct_buf text;
		bool is_it;

		ct_buf_init(&text);
		ct_tally_add_name(&text, row);
		is_it = strcmp(ct_buf_text(&text), name) == 0;
		ct_buf_fini(&text);
		if (is_it)
			return row;
	}
	fail_msg("no row of %s", name);
	return NULL;
}

static size_t tally_by(struct ct_tally *tally, const char *by)
{
	ct_tally_init(tally);
	ct_tally_want_names(tally, by);
	fill(tally);
	assert_false(tally->failed);
	assert_int_equal(tally->events, 7); /* inferred ends are none */
	return tally->tables[CT_TALLY_NAME].count;
}

static void spans_by_what_names_them(void **state)
{
	struct ct_tally tally;
	const struct ct_tally_row *row;

	(void)state;
	assert_int_equal(tally_by(&tally, "Paragraph"), 1);
	row = row_of(&tally, "INIT of P");
	assert_int_equal(row->events, 2);
	assert_int_equal(row->spans->total, 100);
	assert_int_equal(row->self_ns, 50);
	assert_true(row->is_inferred);
	assert_false(row->is_operation);
	assert_string_equal(row->what, "paragraph");
	assert_string_equal(row->mnemonic, "PARAGRAPH");
	ct_tally_fini(&tally);
	assert_int_equal(tally_by(&tally, "program"), 2); /* and operations of programs */
	row = row_of(&tally, "P");
	assert_int_equal(row->events, 1);
	assert_int_equal(row->spans->total, 200);
	assert_int_equal(row->event_id, ENTRY);
	assert_false(row->is_inferred);
	assert_int_equal(row_of(&tally, "READ P")->events, 3);
	ct_tally_fini(&tally);
}

static void operations_by_an_item(void **state)
{
	struct ct_tally tally;
	const struct ct_tally_row *row;

	(void)state;
	assert_int_equal(tally_by(&tally, "file"), 1); /* SEARCH is no operation on it */
	row = row_of(&tally, "READ data");
	assert_true(row->is_operation);
	assert_int_equal(row->events, 3);
	assert_int_equal(row->moved, 240);
	assert_int_equal(row->spans->count, 2);
	assert_int_equal(row->status_count, 1);
	assert_string_equal(row->statuses[0].text, "23");
	assert_int_equal(row->statuses[0].count, 2);
	ct_tally_fini(&tally);
}

static void all_that_has_a_name(void **state)
{
	struct ct_tally tally;

	(void)state;
	assert_int_equal(tally_by(&tally, NULL), 3);
	assert_int_equal(row_of(&tally, "P")->spans->count, 1);
	assert_int_equal(row_of(&tally, "INIT of P")->spans->count, 2);
	assert_int_equal(row_of(&tally, "READ data")->events, 2); /* those that are spans */
	ct_tally_fini(&tally);
	ct_tally_init(&tally);
	fill(&tally);
	assert_int_equal(tally.tables[CT_TALLY_NAME].count, 0); /* nobody wanted them */
	ct_tally_fini(&tally);
}

/* A hostile trace: ever another status, and names with a NUL. */
static void more_statuses_than_there_is_room_for(void **state)
{
	struct ctrace_event_item read[] = { text_item("a\0b"), text_item("P"), text_item("x"),
					    number_item(CTRACE_TYPE_COMP5, 4, 1) };
	struct ct_read_event file = event_of(read, 4);
	struct ct_tally tally;
	const struct ct_tally_row *row;
	char text[40];

	(void)state;
	read[0].size = 3;
	file.component = &fh;
	file.type = &file_types[0];
	ct_tally_init(&tally);
	ct_tally_want_names(&tally, "file");
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(text, sizeof text, "%u a status that is rather long", i);
		read[2] = text_item(text);
		add(&tally, file, 1);
	}
	row = row_of(&tally, "READ a");
	assert_int_equal(row->events, 100);
	assert_int_equal(row->status_count, CT_TALLY_STATUSES);
	assert_int_equal(row->statuses_beyond, 100 - CT_TALLY_STATUSES);
	assert_string_equal(row->statuses[0].text, "0 a status that");
	ct_tally_fini(&tally);
}

static void arguments_that_are_known(void **state)
{
	static const char text[] =
		"component: A\nevents: {1: {mnemonic: X, arguments: [customer]}, 2: Y}\n";
	struct ct_catalog *catalog;

	(void)state;
	assert_int_equal(ct_catalog_create(&catalog), CTRACE_OK);
	assert_false(ct_tally_by_is_known(catalog, "customer"));
	assert_int_equal(ct_catalog_parse(catalog, "a.yaml", text, sizeof text - 1, NULL, NULL),
			 CTRACE_OK);
	assert_true(ct_tally_by_is_known(catalog, "CUSTOMER"));
	assert_false(ct_tally_by_is_known(catalog, "Y"));
	assert_false(ct_tally_by_is_known(NULL, "customer"));
	ct_catalog_destroy(catalog);
}

static void an_event_that_nothing_names(void **state)
{
	struct ct_tally_subject subject;
	struct ct_read_event event = event_of(NULL, 0);
	struct ct_tally tally;

	(void)state;
	ct_tally_init(&tally);
	ct_tally_want_names(&tally, NULL);
	assert_false(ct_tally_find_name(&tally, &event, &subject));
	event.type = &types[NOTE];
	event.component = &rts;
	assert_false(ct_tally_find_name(&tally, &event, &subject));
	ct_tally_fini(&tally);
}

int test_tally_name(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_by_what_names_them),
		cmocka_unit_test(operations_by_an_item),
		cmocka_unit_test(all_that_has_a_name),
		cmocka_unit_test(more_statuses_than_there_is_room_for),
		cmocka_unit_test(arguments_that_are_known),
		cmocka_unit_test(an_event_that_nothing_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
