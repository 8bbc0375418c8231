/*
 * test_third_party_decode.c - bits become items: byte orders, alignments, references into every
 * scope, and bytes that are not there.
 *
 * What whole traces hold is compared with babeltrace2 in tests/process/third_party.py.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../format/third_party_fixture.h"

#define BASICS "typealias integer { size = 8; } := u8; typealias integer { size = 16; } := u16;\n"

static struct ct_tsdl *tsdl;
static struct ct_third_party_tree tree;
static struct ct_third_party_items items;
static struct ct_third_party_clock clock_now;
static struct ct_third_party_decoder decoder;
static uint64_t steps;
static char got[2048];

static int teardown(void **state)
{
	(void)state;
	ct_tsdl_destroy(tsdl);
	tsdl = NULL;
	ct_third_party_tree_fini(&tree);
	ct_third_party_items_fini(&items);
	return 0;
}

/* "name=value name=value": numbers, or the bytes of what is none. */
static void list_items(void)
{
	got[0] = '\0';
	ct_third_party_items_finish(&items);
	for (uint32_t i = 0; i < items.count; i++) {
		const struct ctrace_event_item *item = &items.items[i];
		size_t size = strlen(got);

		if (item->type == CTRACE_TYPE_COMP5S)
			(void)snprintf(got + size, sizeof got - size, "%s=%lld ", items.names[i],
				       (long long)item->value);
		else if (item->type == CTRACE_TYPE_COMP5 || item->type == CTRACE_TYPE_ADDRESS)
			(void)snprintf(got + size, sizeof got - size, "%s=%llu ", items.names[i],
				       (unsigned long long)item->value);
		else
			(void)snprintf(got + size, sizeof got - size, "%s='%.*s' ", items.names[i],
				       (int)item->size, (const char *)item->data);
	}
}

/* Metadata, and from which bit on the only event's fields are read; the first `available` of size
 * bytes are there. */
static enum ct_third_party_result decode_part(const char *text, const void *bytes, size_t size,
					      size_t available, uint64_t at)
{
	enum ct_third_party_result result;
	char whole[2048];

	ct_tsdl_destroy(tsdl);
	ct_third_party_tree_fini(&tree);
	ct_third_party_items_clear(&items);
	(void)snprintf(whole, sizeof whole, BASICS "%s", text);
	tsdl = parse_well(whole);
	steps = 10000;
	clock_now = (struct ct_third_party_clock){ 0 };
	decoder = (struct ct_third_party_decoder){ .tsdl = tsdl,
						   .tree = &tree,
						   .bytes = bytes,
						   .limit = available * 8,
						   .end = size * 8,
						   .at = at,
						   .steps = &steps,
						   .items = &items,
						   .clock = &clock_now,
						   .message = "" };
	for (unsigned scope = 0; scope < CT_SCOPE_COUNT; scope++) {
		const struct ct_tsdl_type *const types[] = {
			tsdl->packet_header,           tsdl->streams[0].packet_context,
			tsdl->streams[0].event_header, tsdl->streams[0].event_context,
			tsdl->events[0].context,       tsdl->events[0].fields
		};

		decoder.scopes[scope] = (struct ct_third_party_scope){
			.type = types[scope], .root = ct_third_party_root(&tree), .stamp = 1
		};
		result = ct_third_party_decode(&decoder, (enum ct_tsdl_scope)scope);
		if (result != CT_THIRD_PARTY_OK)
			return result;
	}
	list_items();
	return CT_THIRD_PARTY_OK;
}

static void assert_decoded(const char *text, const void *bytes, size_t size, uint64_t at,
			   const char *wanted)
{
	assert_int_equal(decode_part(text, bytes, size, size, at), CT_THIRD_PARTY_OK);
	assert_string_equal(got, wanted);
}

static void assert_bad(const char *fields, const void *bytes, size_t size, const char *message)
{
	char text[1024];

	(void)snprintf(text, sizeof text, "event { fields := struct { %s }; };", fields);
	assert_int_equal(decode_part(text, bytes, size, size, 0), CT_THIRD_PARTY_BAD);
	assert_string_equal(decoder.message, message);
}

#define NIBBLES \
	"integer { size = 4; } a; integer { size = 12; signed = true; } b; integer { size = 5; align = 8; } c; integer { size = 19; } d;"

static void both_byte_orders(void **state)
{
	static const uint8_t bytes[] = { 0x12, 0xF4, 0x56, 0x78, 0x9A };

	(void)state;
	assert_decoded("trace { byte_order = le; }; event { fields := struct { " NIBBLES " }; };",
		       bytes, sizeof bytes, 0, "a=2 b=-191 c=22 d=316354 ");
	assert_decoded("trace { byte_order = be; }; event { fields := struct { " NIBBLES " }; };",
		       bytes, sizeof bytes, 0, "a=1 b=756 c=10 d=424090 ");
}

static void any_place_of_a_packet(void **state)
{
	uint8_t bytes[12] = { 0 };

	(void)state;
	/* The same 64 bits from each bit on: the value moves with them. */
	for (unsigned at = 0; at < 16; at++) {
		char wanted[64];

		memset(bytes, 0, sizeof bytes);
		for (unsigned bit = 0; bit < 64; bit++)
			if (0x8123456789ABCDEFu >> bit & 1)
				bytes[(at + bit) / 8] |= (uint8_t)(1u << (at + bit) % 8);
		(void)snprintf(wanted, sizeof wanted, "a=%llu ", 0x8123456789ABCDEFull);
		assert_decoded(
			"event { fields := struct { integer { size = 64; align = 1; } a; }; };",
			bytes, sizeof bytes, at, wanted);
	}
	assert_int_equal(decoder.at, 15 + 64);
}

static void text_and_bytes(void **state)
{
	static const char bytes[] = "\x03one\0two\0\0\x05"
				    "ab\0cd"
				    "\x02\x01\x02"
				    "odd";

	(void)state;
	assert_decoded(
		"typealias integer { size = 8; encoding = ASCII; } := c; event { fields := struct { u8 n; c a[n]; string s; string t; string u;"
		"u8 m; c b[m]; u8 l; u8 d[l]; }; };",
		bytes, sizeof bytes - 1, 0, "a='one' s='' t='two' u='' b='ab' d='\x01\x02' ");
	assert_int_equal(items.items[0].type, CTRACE_TYPE_TEXT);
	assert_int_equal(items.items[1].type, CTRACE_TYPE_UTF8);
	assert_int_equal(items.items[5].type, CTRACE_TYPE_BINARY);
	/* Bytes that do not begin with one: shifted by three bits. */
	assert_decoded(
		"typealias integer { size = 8; align = 1; encoding = UTF8; } := c; event { fields := struct { integer { size = 3; } x; "
		"c a[2]; }; };",
		"\x0A\x13\x03", 3, 0, "x=2 a='ab' ");
}

static void references_into_every_scope(void **state)
{
	(void)state;
	assert_decoded(
		"trace { packet.header := struct { u8 k; }; };"
		"stream { packet.context := struct { struct { u8 n; } in; }; event.header := struct { u8 m; }; event.context := struct { u8 o; }; };"
		"event { context := struct { u8 p; }; fields := struct { u8 q; u16 z; u8 a[stream.packet.context.in.n]; u8 b[stream.event.header.m];"
		"u8 c[stream.event.context.o]; u8 d[event.context.p]; u8 e[event.fields.q]; u8 f[trace.packet.header.k]; u8 g[o]; u8 h[in.n]; }; };",
		"\1\2\1\2\1\2\0\0aabccdeefgghh", 21, 0,
		"k=1 in.n=2 m=1 o=2 p=1 q=2 z=0 a='aa' b='b' c='cc' d='d' e='ee' f='f' g='gg' h='hh' ");
}

static void the_nearest_name_counts(void **state)
{
	(void)state;
	assert_decoded(
		"event { fields := struct { u8 n; u8 y; struct { u8 n; u8 x; u8 a[n]; } in[2]; u8 b[n]; }; };",
		"\1\0\2\0xx\3\0yyyz", 13 - 1, 0,
		"n=1 y=0 in[0].n=2 in[0].x=0 in[0].a='xx' in[1].n=3 in[1].x=0 in[1].a='yyy' b='z' ");
}

static void variants_by_their_tags(void **state)
{
	static const char text[] =
		"event { fields := struct { enum : u8 { a = 0 ... 9, b = 5 ... 20, _c = 30 } t; variant <t> { u8 a; string b; "
		"struct { u8 x; } _c; } v; }; };";

	(void)state;
	assert_decoded(text, "\x05\x07", 2, 0, "t=5 t.label='a' v=7 ");
	assert_decoded(text, "\x0Atext", 6, 0, "t=10 t.label='b' v='text' ");
	assert_decoded(text, "\x1E\x09", 2, 0, "t=30 t.label='_c' v.x=9 ");
	assert_int_equal(decode_part(text, "\x1F\x09", 2, 2, 0), CT_THIRD_PARTY_BAD);
	assert_string_equal(decoder.message, "the tag of a variant selects nothing");
}

static void what_cannot_be(void **state)
{
	(void)state;
	assert_bad("u16 a;", "x", 1, "the packet ends inside a field");
	assert_bad("string a;", "xyz", 3, "the packet ends inside a field");
	assert_bad("u8 a[18446744073709551615];", "xyz", 3, "the packet ends inside a field");
	assert_bad("u16 a[18446744073709551615];", "xyz", 3, "the packet ends inside a field");
	assert_bad("u8 a; integer { size = 8; align = 1073741824; } b;", "xyz", 3,
		   "the packet ends inside a field");
	assert_bad("u8 a[n]; u8 n;", "\1\1\1", 3, "the length of a sequence is nowhere");
	assert_bad("integer { size = 8; signed = true; } n; u8 a[n];", "\xFF\1\1", 3,
		   "the length of a sequence is negative");
	assert_bad("u8 t; variant <t> { u8 t; } v;", "\1\1\1", 3,
		   "the tag of a variant is nowhere");
	assert_bad("variant v { u8 t; } v;", "\1\1\1", 3, "the tag of a variant is nowhere");
	assert_bad("struct { } a[18446744073709551615];", "\1\1\1", 3,
		   "reading it takes longer than its size can explain");
}

static void more_bytes_are_asked_for(void **state)
{
	static const char text[] =
		"event { fields := struct { u8 a; u16 b; string c; u8 d[3]; }; };",
			  bytes[] = "\1\2\3text\0abc";

	(void)state;
	for (size_t available = 0; available < sizeof bytes - 1; available++)
		assert_int_equal(decode_part(text, bytes, sizeof bytes - 1, available, 0),
				 CT_THIRD_PARTY_MORE);
	assert_int_equal(decode_part(text, bytes, sizeof bytes - 1, sizeof bytes - 1, 0),
			 CT_THIRD_PARTY_OK);
}

static void clocks(void **state)
{
	struct ct_third_party_clock clock = { .ticks = 0x1FFFFFF0 };
	const struct ct_tsdl_clock fast = { .frequency = 3, .offset_s = 10, .offset = 1 },
				   far = { .frequency = 1, .offset_s = INT64_MAX },
				   before = { .frequency = 1000000000, .offset_s = -5 };

	(void)state;
	ct_third_party_clock_advance(&clock, 0x7FFFFF1, 27);
	assert_int_equal(clock.ticks, 0x1FFFFFF1);
	ct_third_party_clock_advance(&clock, 0x7FFFFF1, 27); /* the same time again */
	assert_int_equal(clock.ticks, 0x1FFFFFF1);
	ct_third_party_clock_advance(&clock, 5, 27);
	assert_int_equal(clock.ticks, 0x20000005);
	ct_third_party_clock_advance(&clock, 3, 64);
	assert_int_equal(clock.ticks, 3);
	assert_true(ct_third_party_ns(&fast, 2) == 10999999999);
	assert_true(ct_third_party_ns(&far, 2) == INT64_MAX);
	assert_true(ct_third_party_ns(&before, 2) == 0);
	assert_true(ct_third_party_ns(&before, 5000000001) == 1);
	assert_true(ct_third_party_ns(NULL, 7) == 7);
}

static void roles_are_no_items(void **state)
{
	(void)state;
	assert_decoded(
		"clock { name = c; }; stream { event.header := struct { enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id; variant <id> {"
		"struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact;"
		"struct { integer { size = 32; align = 8; } id; integer { size = 64; map = clock.c.value; } timestamp; } extended; } v; } align(8);"
		"event.context := struct { u8 _vpid; u8 pid; u8 vtid; string procname; u8 more; }; };"
		"event { fields := struct { u8 pid; }; };",
		"\x1F\x11\x22\0\0\x01\0\0\0\0\0\0\x02"
		"\x05\x06\x07"
		"prog\0"
		"\x09\x0A",
		23, 0, "more=9 pid=10 ");
	assert_int_equal(decoder.values[CT_ROLE_EVENT_ID], 0x2211);
	assert_true(clock_now.ticks == 0x0200000000000001);
	assert_int_equal(decoder.values[CT_ROLE_PID], 6);
	assert_int_equal(decoder.values[CT_ROLE_VTID], 7);
	assert_string_equal(decoder.program, "prog");
	assert_false(ct_third_party_has(&decoder, CT_ROLE_TID));
}

int test_third_party_decode(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(both_byte_orders, teardown),
		cmocka_unit_test_teardown(any_place_of_a_packet, teardown),
		cmocka_unit_test_teardown(text_and_bytes, teardown),
		cmocka_unit_test_teardown(references_into_every_scope, teardown),
		cmocka_unit_test_teardown(the_nearest_name_counts, teardown),
		cmocka_unit_test_teardown(variants_by_their_tags, teardown),
		cmocka_unit_test_teardown(what_cannot_be, teardown),
		cmocka_unit_test_teardown(more_bytes_are_asked_for, teardown),
		cmocka_unit_test_teardown(clocks, teardown),
		cmocka_unit_test_teardown(roles_are_no_items, teardown)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
