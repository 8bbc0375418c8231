/*
 * test_export_perfetto.c - Perfetto's protobuf, byte by byte: whole messages, tracks before what is
 * on them, spans that nest.
 *
 * What protoc makes of it is tested by tests/process/export.sh.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "export_fixture.h"

static struct exported exported;

struct field {
	unsigned number;
	uint64_t value;
	const unsigned char *data; /* NULL: a number */
	size_t size;
};

static uint64_t take_varint(const unsigned char **at, const unsigned char *end)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		assert_true(*at < end && shift < 64);
		value |= (uint64_t)(**at & 0x7F) << shift;
		if ((*(*at)++ & 0x80) == 0)
			return value;
	}
}

static bool next_field(const unsigned char **at, const unsigned char *end, struct field *out)
{
	uint64_t tag;

	if (*at == end)
		return false;
	tag = take_varint(at, end);
	*out = (struct field){ .number = (unsigned)(tag >> 3) };
	assert_true((tag & 7) == 0 || (tag & 7) == 2);
	out->value = take_varint(at, end);
	if ((tag & 7) == 0)
		return true;
	assert_true(out->value <= (uint64_t)(end - *at));
	out->data = *at;
	out->size = (size_t)out->value;
	*at += out->size;
	return true;
}

/* The last field of that number in the message. */
static bool find_field(const struct field *message, unsigned number, struct field *out)
{
	const unsigned char *at = message->data, *end = at + message->size;
	struct field field;
	bool found = false;

	while (next_field(&at, end, &field)) {
		if (field.number != number)
			continue;
		*out = field;
		found = true;
	}
	return found;
}

static uint64_t number_of(const struct field *message, unsigned number)
{
	struct field field;

	return find_field(message, number, &field) ? field.value : UINT64_MAX;
}

/* The packets that have this field. */
static size_t packets_with(unsigned number, struct field *out, size_t room)
{
	const unsigned char *at = (const unsigned char *)exported.text, *end = at + exported.size;
	struct field packet, field;
	size_t count = 0;

	while (next_field(&at, end, &packet)) {
		assert_int_equal(packet.number, 1);
		assert_int_equal(number_of(&packet, 10), 1);
		if (find_field(&packet, number, &field) && count < room)
			out[count++] = field;
	}
	return count;
}

static void an_instant(void **state)
{
	const struct ctrace_event_item items[] = {
		number_item(CTRACE_TYPE_COMP5, 4, 300),
		number_item(CTRACE_TYPE_COMP5S, 4, (uint64_t)-1),
		number_item(CTRACE_TYPE_ADDRESS, 8, 0x7FFF00000000), text_item("x\xFF")
	};
	static const unsigned value_fields[] = { 6, 3, 3, 4, 7, 6 }; /* component, event, items */
	struct ct_read_event event = event_at(0, 9, items, 4);
	struct field events[4], annotation;
	const unsigned char *at;
	size_t i = 0;

	(void)state;
	export_events(&exported, &ct_export_perfetto, (struct ct_export_options){ 0 }, &event, 1);
	assert_int_equal(exported.status, CTRACE_OK);
	assert_int_equal(packets_with(11, events, 4), 1);
	assert_int_equal(number_of(&events[0], 9), 3);
	at = events[0].data;
	while (next_field(&at, events[0].data + events[0].size, &annotation)) {
		if (annotation.number != 4)
			continue;
		/* -1 */
		assert_true(number_of(&annotation, value_fields[i++]) != UINT64_MAX || i == 4);
	}
	assert_int_equal(i, 6);
	assert_int_equal(packets_with(8, events, 4), 1);
	assert_int_equal(events[0].value, event.traced.time_ns);
	assert_int_equal(packets_with(6, events, 4), 1);
	assert_int_equal(packets_with(13, events, 4), 1);
}

static void tracks(void **state)
{
	struct ct_read_event input[] = { event_at(0, 9, NULL, 0), event_at(1, 10, NULL, 0),
					 event_at(2, 9, NULL, 0), event_at(3, 9, NULL, 0) };
	struct field found[8], process, thread;
	uint64_t uuid;

	(void)state;
	input[3].source_process = &other_source_process;
	export_events(&exported, &ct_export_perfetto, (struct ct_export_options){ 0 }, input, 4);
	assert_int_equal(packets_with(60, found, 8), 5); /* two processes, three threads */
	assert_true(find_field(&found[0], 3, &process));
	assert_int_equal(number_of(&process, 1), 4711);
	uuid = number_of(&found[0], 1);
	assert_true(find_field(&found[1], 4, &thread));
	assert_int_equal(number_of(&thread, 2), 9);
	assert_int_equal(number_of(&found[1], 5), uuid);
	assert_int_equal(number_of(&found[2], 5), uuid);
	assert_true(find_field(&found[3], 3, &process));
	/* another machine's with the same number */
	assert_int_not_equal(number_of(&process, 1), 4711);
	assert_int_not_equal(number_of(&found[4], 5), uuid);
}

static void spans(void **state)
{
	const struct ct_read_event input[] = { span_begin(0, 1, 1), span_begin(1, 1, 2),
					       span_begin(2, 1, 3), span_end(3, 1, 1),
					       span_end(4, 1, 2) };
	static const unsigned types[] = { 1, 1, 3, 2, 2 };
	struct field events[8], found[8];

	(void)state;
	export_events(&exported, &ct_export_perfetto, (struct ct_export_options){ 0 }, input,
		      CT_COUNT(input));
	assert_int_equal(packets_with(11, events, 8), 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(number_of(&events[i], 9), types[i]);
	assert_int_equal(number_of(&events[0], 11), number_of(&events[3], 11));
	assert_int_equal(number_of(&events[0], 11), number_of(&events[2], 11));
	assert_int_equal(number_of(&events[1], 11), number_of(&events[4], 11));
	assert_int_not_equal(number_of(&events[0], 11), number_of(&events[1], 11));
	assert_int_equal(packets_with(60, found, 8), 3);
	assert_int_equal(number_of(&found[2], 1), number_of(&events[1], 11));
	assert_int_equal(number_of(&found[2], 5), number_of(&found[0], 1));
}

int test_export_perfetto(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(an_instant),
						   cmocka_unit_test(tracks),
						   cmocka_unit_test(spans) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
