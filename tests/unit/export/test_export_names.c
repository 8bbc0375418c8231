/*
 * test_export_names.c - names of spans: alike at both ends, by component and mnemonic or word, and
 * no word that adds nothing up.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "export_fixture.h"

static const char one_kind[] =
	"component: MF.RTS\nevents:\n"
	"  1: {mnemonic: OPEN, exit: 2, arguments: [{name: number, key: true}, {name: path, key: true}]}\n"
	"  2: {mnemonic: OPENED}\n";
static const char two_kinds[] =
	"component: MF.RTS\nevents:\n"
	"  1: {mnemonic: OPEN, exit: 2, arguments: [{name: how, key: true, print: enumeration, values: {READ: 1}}]}\n"
	"  2: {mnemonic: OPENED}\n"
	"  3: {mnemonic: CLOSE, exit: 4}\n"
	"  4: {mnemonic: CLOSED}\n";

struct room {
	struct ct_catalog *catalog;
	struct ct_span_names *names;
};

static struct room room_of(const char *text)
{
	struct room room = { .catalog = event_catalog("rts.yaml", text) };

	assert_int_equal(ct_span_names_create(&room.names), CTRACE_OK);
	return room;
}

static void room_close(struct room *room)
{
	ct_span_names_destroy(room->names);
	ct_catalog_destroy(room->catalog);
}

static struct ct_read_event end_of(const struct room *room, uint32_t event_id, uint64_t span_id,
				   bool is_end, const struct ctrace_event_item *items,
				   uint32_t count)
{
	struct ct_read_event event = is_end ? span_end(0, 1, span_id) : span_begin(0, 1, span_id);

	event.traced.items = items;
	event.traced.item_count = count;
	event.traced.event_id = event_id;
	event_describe(&event, room->catalog);
	return event;
}

static const char *name_of(const struct room *room, uint32_t name)
{
	static char text[256];
	size_t size;
	const char *found;

	assert_int_not_equal(name, CT_DISTINCT_NONE);
	found = ct_span_names_text(room->names, name, &size);
	assert_true(size < sizeof text);
	memcpy(text, found, size);
	text[size] = '\0';
	return text;
}

static void the_word_of_the_key_is_the_name(void **state)
{
	struct room room = room_of(one_kind);
	/* A number is no word; blanks that fill up are none of it. */
	const struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 4, 17),
						   text_item("/login   ") };
	struct ct_read_event begin = end_of(&room, 1, 1, false, items, 2),
			     end = end_of(&room, 2, 1, true, NULL, 0);
	uint32_t name;

	(void)state;
	ct_span_names_look(room.names, &begin);
	name = ct_span_names_find(room.names, &begin);
	assert_string_equal(name_of(&room, name), "MF.RTS /login");
	assert_int_equal(ct_span_names_find(room.names, &end), name);
	/* It is forgotten then; and without a word the mnemonic has to do. */
	assert_int_equal(ct_span_names_find(room.names, &end), CT_DISTINCT_NONE);
	begin = end_of(&room, 1, 2, false, items, 1);
	assert_string_equal(name_of(&room, ct_span_names_find(room.names, &begin)), "MF.RTS OPEN");
	assert_int_equal(ct_span_names_count(room.names), 2);
	room_close(&room);
}

static void the_mnemonic_tells_kinds_apart(void **state)
{
	struct room room = room_of(two_kinds);
	const struct ctrace_event_item item = number_item(CTRACE_TYPE_COMP5, 4, 1);
	struct ct_read_event open = end_of(&room, 1, 1, false, &item, 1),
			     close = end_of(&room, 3, 2, false, NULL, 0);

	(void)state;
	assert_string_equal(name_of(&room, ct_span_names_find(room.names, &open)),
			    "MF.RTS OPEN READ");
	assert_string_equal(name_of(&room, ct_span_names_find(room.names, &close)), "MF.RTS CLOSE");
	room_close(&room);
}

static void words_that_add_nothing_up_are_left_out(void **state)
{
	struct room room = room_of(one_kind);
	char word[16];

	(void)state;
	for (unsigned i = 0; i < 65; i++) {
		const struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 4, i),
							   text_item(word) };
		struct ct_read_event begin;

		(void)snprintf(word, sizeof word, "/order/%u", i);
		begin = end_of(&room, 1, 1 + i, false,
			       (struct ctrace_event_item[]){ items[0], text_item(word) }, 2);
		ct_span_names_look(room.names, &begin);
		if (i == 63)
			assert_string_equal(name_of(&room, ct_span_names_find(room.names, &begin)),
					    "MF.RTS /order/63");
		if (i == 64)
			assert_string_equal(name_of(&room, ct_span_names_find(room.names, &begin)),
					    "MF.RTS OPEN");
	}
	room_close(&room);
}

static void long_words_end_with_a_character(void **state)
{
	struct room room = room_of(one_kind);
	const struct ctrace_event_item items[] = {
		number_item(CTRACE_TYPE_COMP5, 4, 1),
		text_item(
			"123456789012345678901234567890123456789012345678901234567890123\xC3\xA9 and more"),
	};
	struct ct_read_event begin = end_of(&room, 1, 1, false, items, 2);

	(void)state;
	assert_string_equal(
		name_of(&room, ct_span_names_find(room.names, &begin)),
		"MF.RTS 123456789012345678901234567890123456789012345678901234567890123");
	room_close(&room);
}

static void many_open_spans_keep_their_names(void **state)
{
	struct room room = room_of(one_kind);
	const struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 4, 1),
						   text_item("/a") };
	const struct ctrace_event_item others[] = { number_item(CTRACE_TYPE_COMP5, 4, 1),
						    text_item("/b") };

	(void)state;
	/* Numbers all over the place, so that many of them want one slot of the table. */
	for (uint64_t n = 1; n <= 5000; n++) {
		struct ct_read_event begin =
			end_of(&room, 1, n * n * n, false, n % 3 == 0 ? items : others, 2);

		(void)ct_span_names_find(room.names, &begin);
	}
	for (uint64_t n = 1; n <= 5000; n += n % 2 == 0 ? 2 : 1) { /* some stay */
		struct ct_read_event end = end_of(&room, 2, n * n * n, true, NULL, 0);

		assert_string_equal(name_of(&room, ct_span_names_find(room.names, &end)),
				    n % 3 == 0 ? "MF.RTS /a" : "MF.RTS /b");
	}
	room_close(&room);
}

int test_export_names(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_word_of_the_key_is_the_name),
		cmocka_unit_test(the_mnemonic_tells_kinds_apart),
		cmocka_unit_test(words_that_add_nothing_up_are_left_out),
		cmocka_unit_test(long_words_end_with_a_character),
		cmocka_unit_test(many_open_spans_keep_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
