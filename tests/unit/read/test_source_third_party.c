/*
 * test_source_third_party.c - traces of other tracers, and ours as if they were: whole, damaged
 * inside, and under short memory.
 *
 * That each value is the one which babeltrace2 reads is tested in tests/process/third_party.py.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "third_party_source_fixture.h"

/* -----------------------------------------------------------------------------------------------
 * Of other tracers
 */

static void whose_an_event_is(void **state)
{
	const struct ct_read_event *event;

	(void)state;
	copy("lttng-uid", "metadata");
	copy("lttng-uid", "chan_0");
	copy("lttng-uid", "chan_1");
	open_sources("t", NULL);
	event = ct_sources_next(&sources);
	assert_non_null(event);
	assert_string_equal(event->traced.component, "shop");
	assert_int_equal(event->traced.component_size, 4);
	assert_string_equal(event->names->mnemonic, "order");
	assert_int_equal(event->traced.event_id, 16);
	assert_int_equal(event->traced.level, CTRACE_WARN);
	assert_true(event->traced.pid > 0 && event->traced.pid == event->traced.tid);
	assert_true(event->source_process->is_third_party);
	assert_int_equal(event->source_process->pid, event->traced.pid);
	assert_string_equal(event->source_process->program, "shop");
	assert_string_equal(event->source_process->host, "vm");
	assert_int_equal(item_of(event, "number")->value, 1);
	assert_int_equal(item_of(event, "number")->type, CTRACE_TYPE_COMP5S);
	assert_int_equal(item_of(event, "address")->type, CTRACE_TYPE_ADDRESS);
	assert_text(event, "customer", "Ada Lovelace");
	assert_text(event, "price", "-0.1");
	assert_text(event, "state.label", "OPEN");
	assert_int_equal(item_of(event, "cpu_id")->size, 8);
	assert_int_equal(read_all(NULL), 22 - 1);
	assert_string_equal(reported, "");
}

static void little_memory_for_many(void **state)
{
	uint64_t all, again;

	(void)state;
	copy("lttng-lost", "metadata");
	copy("lttng-lost", "chan_0");
	copy("lttng-lost", "chan_1");
	open_sources("t", NULL);
	assert_int_equal(ct_source_third_party_add(&sources, "t", NULL), CTRACE_OK);
	assert_int_equal(read_all(&all), 2 * 158);
	open_sources("t", NULL);
	assert_int_equal(ct_source_third_party_add(&sources, "t", NULL), CTRACE_OK);
	sources.may_hold = 1;
	assert_int_equal(read_all(&again), 2 * 158);
	assert_true(all == again);
}

/* -----------------------------------------------------------------------------------------------
 * Damage
 */

static void damage_inside_a_packet(void **state)
{
	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	/* The second packet's first event becomes one of a number that there is not: 31. */
	patch("t/stream", BARECTF_PACKET + 73, "\xFF");
	open_sources("t", NULL);
	assert_true(read_all(NULL) > BARECTF_EVENTS - 10);
	assert_string_equal(
		reported,
		"damage 329+183 0 the metadata do not describe an event of this number\n");
}

static void what_hostile_files_say(void **state)
{
	(void)state;
	make_third_party(HEAD "event { };", "xxxx", 4);
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(reported, "damage 0+4 0 an event takes no bits\n");
	make_third_party(
		HEAD "event { fields := struct { u8 a; struct { } b[18446744073709551615]; }; };",
		"xxxx", 4);
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(reported,
			    "damage 0+4 0 reading it takes longer than its size can explain\n");
	make_third_party(
		HEAD
		"stream { packet.context := struct { u32 content_size; u32 packet_size; }; }; event { fields := struct { u8 a; }; };",
		"\0\0\0\0\0\0\0\0", 8);
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(reported, "damage 0+8 0 the packet has sizes that cannot be\n");
	make_third_party(HEAD "event { fields := struct { u8 a; }; };", "", 0);
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(reported, "");
}

static void more_items_than_an_event_has(void **state)
{
	char bytes[12000];
	const struct ct_read_event *event;

	(void)state;
	memset(bytes, 0x55, sizeof bytes);
	make_third_party(HEAD "event { fields := struct { integer { size = 4; } a[8000]; }; };",
			 bytes, sizeof bytes);
	open_sources("t", NULL);
	for (unsigned i = 0; i < 3; i++) {
		event = ct_sources_next(&sources);
		assert_non_null(event);
		assert_int_equal(event->traced.item_count, CTRACE_MAX_ITEMS);
		assert_string_equal(event->names->items[CTRACE_MAX_ITEMS - 1], "a[4095]");
		assert_int_equal(event->traced.items[4000].value, 5);
	}
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(
		reported,
		"unknown 0+0 0 events of more than 4096 items, or with one of more than 65536 bytes: the rest of them is left out\n");
}

static void an_event_larger_than_what_is_read_at_once(void **state)
{
	static char bytes[300000];
	const struct ct_read_event *event;

	(void)state;
	memset(bytes, 'x', sizeof bytes);
	for (size_t at = 99999; at < sizeof bytes; at += 100000)
		bytes[at] = '\0';
	make_third_party(HEAD "event { fields := struct { string a; }; };", bytes, sizeof bytes);
	open_sources("t", NULL);
	event = ct_sources_next(&sources);
	assert_non_null(event);
	assert_int_equal(event->traced.items[0].size, CTRACE_MAX_ITEM_SIZE);
	assert_int_equal(read_all(NULL), 2);
}

/* -----------------------------------------------------------------------------------------------
 * Ours, as somebody else's
 */

static uint64_t random_state = 88172645463325252u;

static uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % limit;
}

/* Items of all types and sizes; texts without the byte that ends one. */
static void make_items(struct ctrace_event_item *items, unsigned char (*bytes)[300], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		items[i] = (struct ctrace_event_item){ .type = random_below(CTRACE_TYPE_COUNT),
						       .data = bytes[i] };
		for (unsigned at = 0; at < 300; at++)
			bytes[i][at] = (unsigned char)(1 + random_below(255));
		if (items[i].type == CTRACE_TYPE_ADDRESS)
			items[i].size = 8;
		else if (items[i].type == CTRACE_TYPE_BINARY || items[i].type == CTRACE_TYPE_TEXT ||
			 items[i].type == CTRACE_TYPE_UTF8)
			items[i].size = random_below(300);
		else
			items[i].size = 1 + random_below(8);
		if (items[i].type == CTRACE_TYPE_ADDRESS)
			memcpy(&items[i].value, bytes[i], 8);
	}
}

static void make_own(struct fixture *f)
{
	static unsigned char bytes[300][300];
	struct ctrace_event_item items[300];
	struct ctrace_stream stream = { .id = 3 };
	char component[24] = "";

	fixture_open(f, "FILE=own.ctb\n");
	for (unsigned i = 0; i < 400; i++) {
		struct ctrace_event traced =
			text_event(f, items, component, 1 + random_below(9), "");

		(void)snprintf(component, sizeof component, "APP.PART%u", random_below(5));
		traced.component = component;
		traced.component_size = (uint32_t)strlen(component);
		traced.level = random_below(CTRACE_LEVEL_COUNT);
		traced.item_count = i % 50 == 49 ? 300 : random_below(5);
		traced.items = items;
		make_items(items, bytes, traced.item_count);
		assert_int_equal(write_events(f, &traced, 1, &stream, 1), CTRACE_OK);
	}
	fixture_close(f);
}

static bool is_integer(uint32_t type)
{
	return type == CTRACE_TYPE_COMP5 || type == CTRACE_TYPE_COMP5S ||
	       type == CTRACE_TYPE_COMPX || type == CTRACE_TYPE_COMPXS;
}

static void assert_same_item(const struct ctrace_event_item *own,
			     const struct ctrace_event_item *third_party)
{
	if (is_integer(own->type)) {
		assert_int_equal(third_party->type,
				 own->type == CTRACE_TYPE_COMP5 || own->type == CTRACE_TYPE_COMPX
					 ? CTRACE_TYPE_COMP5
					 : CTRACE_TYPE_COMP5S);
		assert_true(third_party->value == own->value);
		return;
	}
	assert_int_equal(third_party->type,
			 own->type == CTRACE_TYPE_TEXT ? CTRACE_TYPE_UTF8 : own->type);
	assert_int_equal(third_party->size, own->size);
	assert_memory_equal(third_party->data, own->data, own->size);
}

static void assert_same_event(const struct ct_read_event *own,
			      const struct ct_read_event *third_party)
{
	bool is_generic = strcmp(third_party->traced.component, "ctrace") == 0;

	assert_true(third_party->traced.time_ns == own->traced.time_ns);
	assert_int_equal(is_generic ? item_of(third_party, "level")->value
				    : third_party->traced.level,
			 own->traced.level);
	assert_int_equal(third_party->traced.pid, own->traced.pid);
	assert_int_equal(third_party->traced.tid, own->traced.tid);
	if (is_generic) {
		assert_text(third_party, "component", own->traced.component);
		assert_int_equal(item_of(third_party, "event_id")->value, own->traced.event_id);
	} else {
		assert_string_equal(third_party->traced.component, own->traced.component);
		assert_int_equal(third_party->traced.event_id, own->traced.event_id);
		assert_int_equal(third_party->traced.item_count, own->traced.item_count);
	}
	for (uint32_t i = 0; i < own->traced.item_count; i++) {
		const struct ctrace_event_item *item = &own->traced.items[i];
		char name[32];

		(void)snprintf(
			name, sizeof name, "items[%u].value%s", i,
			is_integer(item->type) || item->type == CTRACE_TYPE_ADDRESS ? "" : ".data");
		assert_same_item(item, is_generic ? item_of(third_party, name)
						  : &third_party->traced.items[i]);
	}
}

static void our_own_read_the_same(void **state)
{
	const struct ct_read_event *own, *third_party;
	struct ct_sources others;
	unsigned count = 0, generic = 0;

	make_own(*state);
	open_sources("own.ctb", NULL);
	ct_sources_init(&others, note_keep, NULL);
	assert_int_equal(ct_source_bin_add(&others, "own.ctb", NULL), CTRACE_OK);
	while (own = ct_sources_next(&others), own != NULL) {
		third_party = ct_sources_next(&sources);
		assert_non_null(third_party);
		assert_same_event(own, third_party);
		assert_int_equal(third_party->source_process->pid, own->source_process->pid);
		assert_string_equal(third_party->source_process->host, own->source_process->host);
		assert_string_equal(third_party->source_process->program,
				    own->source_process->program);
		generic += strcmp(third_party->traced.component, "ctrace") == 0;
		count++;
	}
	assert_null(ct_sources_next(&sources));
	assert_int_equal(count, 400);
	assert_true(generic > 0 && generic < 100);
	assert_string_equal(reported, "");
	ct_sources_fini(&sources);
	ct_sources_fini(&others);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_source_third_party(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whose_an_event_is),
		TEST(little_memory_for_many),
		TEST(damage_inside_a_packet),
		TEST(what_hostile_files_say),
		TEST(more_items_than_an_event_has),
		TEST(an_event_larger_than_what_is_read_at_once),
		TEST(our_own_read_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
