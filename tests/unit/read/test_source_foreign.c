/*
 * test_source_foreign.c - traces of other tracers, and ours as if they were: whole, damaged, cut, sought in, and under short memory.
 *
 * That each value is the one which babeltrace2 reads is tested in tests/process/foreign.py.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read_fixture.h"

#define BARECTF_PACKET 256u
#define BARECTF_PACKETS 6u
#define BARECTF_EVENTS 30u

/* A file of tests/golden/foreign/, into the test's folder. */
static void copy(const char *trace, const char *name)
{
	struct ct_buf bytes = { 0 };
	char path[4096];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/tests/golden/foreign/%s/trace/%s", getenv("CTRACE_SOURCE"), trace, name);
	assert_int_equal(ct_os_read_file(path, (size_t)1 << 20, &bytes), CTRACE_OK);
	(void)mkdir("t", 0700);
	(void)snprintf(path, sizeof path, "t/%s", name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
	assert_int_equal(fclose(file), 0);
	ct_buf_fini(&bytes);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void make_foreign(const char *metadata, const void *bytes, size_t size)
{
	(void)mkdir("t", 0700);
	write_file("t/metadata", metadata, strlen(metadata));
	write_file("t/stream", bytes, size);
}

static void patch(const char *path, uint64_t at, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ct_os_write_at(fd, text, strlen(text), at), CTRACE_OK);
	ct_os_close(&fd);
}

/* What was told: "trouble offset+bytes events message", a line each. */
static char told[4096];

static void note_told(const struct ct_read_note *note, void *user)
{
	static const char *const troubles[] = { "damage", "lost", "missing", "unknown" };
	size_t size = strlen(told);

	(void)user;
	(void)snprintf(told + size, sizeof told - size, "%s %llu+%llu %llu %s\n", troubles[note->trouble],
		       (unsigned long long)note->offset, (unsigned long long)note->bytes, (unsigned long long)note->events,
		       note->message);
}

static struct ct_sources sources;

static void open_sources(const char *folder, const char *only)
{
	told[0] = '\0';
	ct_sources_init(&sources, note_told, NULL);
	assert_int_equal(ct_source_foreign_add(&sources, folder, only), CTRACE_OK);
}

/* How many events there are, and a sum over everything in them. */
static unsigned read_all(uint64_t *out_sum)
{
	const struct ct_view *view;
	unsigned count = 0;
	uint64_t sum = 0;

	while (view = ct_sources_next(&sources), view != NULL) {
		count++;
		sum = sum * 31 + view->event.time_ns + view->event.event_id;
		assert_int_equal(view->names->item_count, view->event.item_count);
		for (uint32_t i = 0; i < view->event.item_count; i++)
			sum = sum * 31 + ct_name_hash(view->event.items[i].data, view->event.items[i].size) +
			      ct_name_hash(view->names->items[i], strlen(view->names->items[i]));
	}
	if (out_sum != NULL)
		*out_sum = sum;
	ct_sources_fini(&sources);
	return count;
}

static const struct ctrace_event_item *item_of(const struct ct_view *view, const char *name)
{
	for (uint32_t i = 0; i < view->event.item_count; i++)
		if (strcmp(view->names->items[i], name) == 0)
			return &view->event.items[i];
	fail_msg("no item %s", name);
	return NULL;
}

static void assert_text(const struct ct_view *view, const char *name, const char *text)
{
	const struct ctrace_event_item *item = item_of(view, name);

	assert_int_equal(item->size, strlen(text));
	assert_memory_equal(item->data, text, item->size);
}

/* ------------------------------------------------------------------------------------------------------------
 * Of other tracers
 */

static void whose_an_event_is(void **state)
{
	const struct ct_view *view;

	(void)state;
	copy("lttng-uid", "metadata");
	copy("lttng-uid", "chan_0");
	copy("lttng-uid", "chan_1");
	open_sources("t", NULL);
	view = ct_sources_next(&sources);
	assert_non_null(view);
	assert_string_equal(view->event.component, "shop");
	assert_int_equal(view->event.component_size, 4);
	assert_string_equal(view->names->mnemonic, "order");
	assert_int_equal(view->event.event_id, 16);
	assert_int_equal(view->event.level, CTRACE_WARN);
	assert_true(view->event.pid > 0 && view->event.pid == view->event.tid);
	assert_true(view->origin->is_foreign);
	assert_int_equal(view->origin->pid, view->event.pid);
	assert_string_equal(view->origin->program, "shop");
	assert_string_equal(view->origin->host, "vm");
	assert_int_equal(item_of(view, "number")->value, 1);
	assert_int_equal(item_of(view, "number")->type, CTRACE_TYPE_COMP5S);
	assert_int_equal(item_of(view, "address")->type, CTRACE_TYPE_ADDRESS);
	assert_text(view, "customer", "Ada Lovelace");
	assert_text(view, "price", "-0.1");
	assert_text(view, "state.label", "OPEN");
	assert_int_equal(item_of(view, "cpu_id")->size, 8);
	assert_int_equal(read_all(NULL), 22 - 1);
	assert_string_equal(told, "");
}

static void what_a_tracer_has_lost(void **state)
{
	(void)state;
	copy("lttng-lost", "metadata");
	copy("lttng-lost", "chan_0");
	copy("lttng-lost", "chan_1");
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 158);
	assert_string_equal(told, "lost 4096+0 260 260 events were discarded before this\n");
	/* One stream alone. */
	open_sources("t", "chan_1");
	assert_true(read_all(NULL) < 158);
	assert_string_equal(told, "");
}

static void only_some_are_wanted(void **state)
{
	static const struct {
		const char *text;
		unsigned wanted;
	} rows[] = { { "level >= warn", 12 },    { "mnemonic = \"empty\"", 6 },   { "component ~ \"bare*\"", 30 },
		     { "data.weight >= 42", 4 }, { "component ~ \"tool.*\"", 0 }, { "data.state.label = \"RUN\"", 4 } };
	struct ct_complaint complaint;
	struct ct_filter *filter;

	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		const struct ct_view *view;
		unsigned count = 0;

		if (ct_filter_parse(rows[i].text, 0, &filter, &complaint) != CTRACE_OK)
			fail_msg("%s: %s", rows[i].text, complaint.message);
		open_sources("t", NULL);
		sources.filter = filter;
		while (view = ct_sources_next(&sources), view != NULL)
			count += ct_filter_accepts(filter, view);
		if (count != rows[i].wanted)
			fail_msg("%s: %u, not %u", rows[i].text, count, rows[i].wanted);
		ct_sources_fini(&sources);
		ct_filter_destroy(filter);
	}
}

static void times_are_sought(void **state)
{
	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	/* Of 1700000000.0 s to .6 s, in six packets. */
	open_sources("t", NULL);
	sources.may_seek = true;
	sources.since_ns = START_NS + 300004153;
	assert_true(read_all(NULL) < BARECTF_EVENTS - 10);
	open_sources("t", NULL);
	sources.until_ns = START_NS + 100002133;
	assert_int_equal(read_all(NULL), 6);
	open_sources("t", NULL);
	sources.may_seek = true;
	sources.since_ns = START_NS + 1000000000;
	assert_int_equal(read_all(NULL), 0);
}

static void little_memory_for_many(void **state)
{
	uint64_t all, again;

	(void)state;
	copy("lttng-lost", "metadata");
	copy("lttng-lost", "chan_0");
	copy("lttng-lost", "chan_1");
	open_sources("t", NULL);
	assert_int_equal(ct_source_foreign_add(&sources, "t", NULL), CTRACE_OK);
	assert_int_equal(read_all(&all), 2 * 158);
	open_sources("t", NULL);
	assert_int_equal(ct_source_foreign_add(&sources, "t", NULL), CTRACE_OK);
	sources.may_hold = 1;
	assert_int_equal(read_all(&again), 2 * 158);
	assert_true(all == again);
}

/* ------------------------------------------------------------------------------------------------------------
 * Damage
 */

/* How many events are in each packet of the barectf trace: its content size ends each. */
static void damage_costs_its_packet(void **state)
{
	unsigned lost = 0;

	(void)state;
	copy("barectf", "metadata");
	for (unsigned packet = 0; packet < BARECTF_PACKETS; packet++) {
		char wanted[128];
		unsigned count;

		copy("barectf", "stream");
		patch("t/stream", packet * BARECTF_PACKET, "xxxx");
		open_sources("t", NULL);
		count = read_all(NULL);
		assert_true(count < BARECTF_EVENTS && count > BARECTF_EVENTS - 10);
		lost += BARECTF_EVENTS - count;
		(void)snprintf(wanted, sizeof wanted, "damage %u+256 0 this is no packet of the trace\n", packet * BARECTF_PACKET);
		assert_memory_equal(told, wanted, strlen(wanted));
		/* And the number of the next one says that one is missing. */
		assert_int_equal(strstr(told, "missing") != NULL, packet > 0 && packet < BARECTF_PACKETS - 1);
	}
	assert_int_equal(lost, BARECTF_EVENTS);
}

static void damage_inside_a_packet(void **state)
{
	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	/* The second packet's first event becomes one of a number that there is not: 31. */
	patch("t/stream", BARECTF_PACKET + 73, "\xFF");
	open_sources("t", NULL);
	assert_true(read_all(NULL) > BARECTF_EVENTS - 10);
	assert_string_equal(told, "damage 329+183 0 the metadata do not describe an event of this number\n");
}

static void a_size_that_swallows_the_next(void **state)
{
	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	/* The first packet says that it has 2048 bits more: there is a packet at its end too, but one in it as well. */
	patch("t/stream", 28 + 1, "\x10");
	open_sources("t", NULL);
	assert_true(read_all(NULL) >= BARECTF_EVENTS - 10);
}

static void a_cut_file(void **state)
{
	unsigned before = BARECTF_EVENTS;

	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	for (unsigned size = BARECTF_PACKETS * BARECTF_PACKET - 1; size > 51; size -= 51) {
		unsigned count;

		assert_int_equal(truncate("t/stream", size), 0);
		open_sources("t", NULL);
		count = read_all(NULL);
		assert_true(count <= before);
		before = count;
		assert_true(size % BARECTF_PACKET == 0 || strncmp(told, "damage ", 7) == 0);
	}
	assert_int_equal(before, 0);
}

static void what_hostile_files_say(void **state)
{
#define HEAD "typealias integer { size = 8; } := u8; typealias integer { size = 32; } := u32; trace { byte_order = le; };"
	(void)state;
	make_foreign(HEAD "event { };", "xxxx", 4);
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(told, "damage 0+4 0 an event takes no bits\n");
	make_foreign(HEAD "event { fields := struct { u8 a; struct { } b[18446744073709551615]; }; };", "xxxx", 4);
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(told, "damage 0+4 0 reading it takes longer than its size can explain\n");
	make_foreign(
		HEAD
		"stream { packet.context := struct { u32 content_size; u32 packet_size; }; }; event { fields := struct { u8 a; }; };",
		"\0\0\0\0\0\0\0\0", 8);
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(told, "damage 0+8 0 the packet has sizes that cannot be\n");
	make_foreign(HEAD "event { fields := struct { u8 a; }; };", "", 0);
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(told, "");
}

static void more_items_than_an_event_has(void **state)
{
	char bytes[12000];
	const struct ct_view *view;

	(void)state;
	memset(bytes, 0x55, sizeof bytes);
	make_foreign(HEAD "event { fields := struct { integer { size = 4; } a[8000]; }; };", bytes, sizeof bytes);
	open_sources("t", NULL);
	for (unsigned i = 0; i < 3; i++) {
		view = ct_sources_next(&sources);
		assert_non_null(view);
		assert_int_equal(view->event.item_count, CTRACE_MAX_ITEMS);
		assert_string_equal(view->names->items[CTRACE_MAX_ITEMS - 1], "a[4095]");
		assert_int_equal(view->event.items[4000].value, 5);
	}
	assert_int_equal(read_all(NULL), 0);
	assert_string_equal(
		told,
		"unknown 0+0 0 events of more than 4096 items, or with one of more than 65536 bytes: the rest of them is left out\n");
}

static void an_event_larger_than_what_is_read_at_once(void **state)
{
	static char bytes[300000];
	const struct ct_view *view;

	(void)state;
	memset(bytes, 'x', sizeof bytes);
	for (size_t at = 99999; at < sizeof bytes; at += 100000)
		bytes[at] = '\0';
	make_foreign(HEAD "event { fields := struct { string a; }; };", bytes, sizeof bytes);
	open_sources("t", NULL);
	view = ct_sources_next(&sources);
	assert_non_null(view);
	assert_int_equal(view->event.items[0].size, CTRACE_MAX_ITEM_SIZE);
	assert_int_equal(read_all(NULL), 2);
}

static void metadata_that_are_not_understood(void **state)
{
	static const struct {
		const char *text, *told;
	} rows[] = {
		{ "{ \"type\": \"preamble\" }", "unknown 0+0 0 Common Trace Format 2; ctrace reads 1.8\n" },
		{ "trace { major = 1;\n minor = 7; };",
		  "unknown 0+0 0 line 2, column 15: Common Trace Format 1.7; ctrace reads 1.8\n" },
		{ "nonsense",
		  "unknown 0+0 0 line 1, column 1: this begins nothing that metadata say; expected trace, env, clock, stream, event, "
		  "typealias, typedef, struct, variant or enum\n" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		make_foreign(rows[i].text, "x", 1);
		told[0] = '\0';
		ct_sources_init(&sources, note_told, NULL);
		assert_int_equal(ct_source_foreign_add(&sources, "t", NULL), CTRACE_UNSUPPORTED);
		assert_string_equal(told, rows[i].told);
		ct_sources_fini(&sources);
	}
}

/* ------------------------------------------------------------------------------------------------------------
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
		items[i] = (struct ctrace_event_item){ .type = random_below(CTRACE_TYPE_COUNT), .data = bytes[i] };
		for (unsigned at = 0; at < 300; at++)
			bytes[i][at] = (unsigned char)(1 + random_below(255));
		if (items[i].type == CTRACE_TYPE_ADDRESS)
			items[i].size = 8;
		else if (items[i].type == CTRACE_TYPE_BINARY || items[i].type == CTRACE_TYPE_TEXT || items[i].type == CTRACE_TYPE_UTF8)
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
	char component[24];

	fixture_open(f, "FILE=own.ctb\n");
	for (unsigned i = 0; i < 400; i++) {
		struct ctrace_event event = text_event(f, items, component, 1 + random_below(9), "");

		(void)snprintf(component, sizeof component, "APP.PART%u", random_below(5));
		event.component = component;
		event.component_size = (uint32_t)strlen(component);
		event.level = random_below(CTRACE_LEVEL_COUNT);
		event.item_count = i % 50 == 49 ? 300 : random_below(5);
		event.items = items;
		make_items(items, bytes, event.item_count);
		assert_int_equal(write_events(f, &event, 1, &stream, 1), CTRACE_OK);
	}
	fixture_close(f);
}

static bool is_integer(uint32_t type)
{
	return type == CTRACE_TYPE_COMP5 || type == CTRACE_TYPE_COMP5S || type == CTRACE_TYPE_COMPX || type == CTRACE_TYPE_COMPXS;
}

static void assert_same_item(const struct ctrace_event_item *own, const struct ctrace_event_item *foreign)
{
	if (is_integer(own->type)) {
		assert_int_equal(foreign->type, own->type == CTRACE_TYPE_COMP5 || own->type == CTRACE_TYPE_COMPX ? CTRACE_TYPE_COMP5
														 : CTRACE_TYPE_COMP5S);
		assert_true(foreign->value == own->value);
		return;
	}
	assert_int_equal(foreign->type, own->type == CTRACE_TYPE_TEXT ? CTRACE_TYPE_UTF8 : own->type);
	assert_int_equal(foreign->size, own->size);
	assert_memory_equal(foreign->data, own->data, own->size);
}

static void assert_same_event(const struct ct_view *own, const struct ct_view *foreign)
{
	bool is_generic = strcmp(foreign->event.component, "ctrace") == 0;

	assert_true(foreign->event.time_ns == own->event.time_ns);
	assert_int_equal(foreign->event.level, own->event.level);
	assert_int_equal(foreign->event.pid, own->event.pid);
	assert_int_equal(foreign->event.tid, own->event.tid);
	if (is_generic) {
		assert_text(foreign, "component", own->event.component);
		assert_int_equal(item_of(foreign, "event_id")->value, own->event.event_id);
	} else {
		assert_string_equal(foreign->event.component, own->event.component);
		assert_int_equal(foreign->event.event_id, own->event.event_id);
		assert_int_equal(foreign->event.item_count, own->event.item_count);
	}
	for (uint32_t i = 0; i < own->event.item_count; i++) {
		const struct ctrace_event_item *item = &own->event.items[i];
		char name[32];

		(void)snprintf(name, sizeof name, "items[%u].value%s", i,
			       is_integer(item->type) || item->type == CTRACE_TYPE_ADDRESS ? "" : ".data");
		assert_same_item(item, is_generic ? item_of(foreign, name) : &foreign->event.items[i]);
	}
}

static void our_own_read_the_same(void **state)
{
	const struct ct_view *own, *foreign;
	struct ct_sources others;
	unsigned count = 0, generic = 0;

	make_own(*state);
	open_sources("own.ctb", NULL);
	ct_sources_init(&others, note_told, NULL);
	assert_int_equal(ct_source_bin_add(&others, "own.ctb", NULL), CTRACE_OK);
	while (own = ct_sources_next(&others), own != NULL) {
		foreign = ct_sources_next(&sources);
		assert_non_null(foreign);
		assert_same_event(own, foreign);
		assert_int_equal(foreign->origin->pid, own->origin->pid);
		assert_string_equal(foreign->origin->host, own->origin->host);
		assert_string_equal(foreign->origin->program, own->origin->program);
		generic += strcmp(foreign->event.component, "ctrace") == 0;
		count++;
	}
	assert_null(ct_sources_next(&sources));
	assert_int_equal(count, 400);
	assert_true(generic > 0 && generic < 100);
	assert_string_equal(told, "");
	ct_sources_fini(&sources);
	ct_sources_fini(&others);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(whose_an_event_is),
					    TEST(what_a_tracer_has_lost),
					    TEST(only_some_are_wanted),
					    TEST(times_are_sought),
					    TEST(little_memory_for_many),
					    TEST(damage_costs_its_packet),
					    TEST(damage_inside_a_packet),
					    TEST(a_size_that_swallows_the_next),
					    TEST(a_cut_file),
					    TEST(what_hostile_files_say),
					    TEST(more_items_than_an_event_has),
					    TEST(an_event_larger_than_what_is_read_at_once),
					    TEST(metadata_that_are_not_understood),
					    TEST(our_own_read_the_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
