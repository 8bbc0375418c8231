/*
 * test_cobctf.c - CBL_CTF_TRACE and cobctf_trace: each item type, each flag, each status; what is
 * read and what is not.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"
#include "../../sanitizer.h"
#include "ctf_fixture.h"

#include <signal.h>
#include <stdatomic.h>

#define TEXT CTF_FLAG_COMPID_STRING
#define NUL (CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM)
#define MANY 4097

static cbl_x4_comp5_t lens[MANY], types[MANY];
static void *data[MANY];
static TRACE_EVENT event;

static void start_event(cobuns32_t id, cobuns32_t level)
{
	event = (TRACE_EVENT){ .event_id = id,
			       .level = level,
			       .event_len = lens,
			       .event_type = types,
			       .event_data = data };
}

static void add_item(cobuns32_t type, const void *at, cobuns32_t size)
{
	lens[event.data_count] = size;
	types[event.data_count] = type;
	data[event.data_count] = (void *)(uintptr_t)at;
	event.data_count++;
}

static cobrtncode_t trace(cobuns32_t flags, const char *name)
{
	return cobctf_trace(flags | NUL, BYTES(name), &event);
}

static uint64_t emitted(void)
{
	struct ctrace_stats stats = { .size = sizeof(stats) };

	ctrace_stats_get(&stats);
	return stats.emitted;
}

/* The first such event goes the long way, the next one the short way. */
static void assert_traces(const char *line)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t before = emitted();

		assert_int_equal(trace(0, "c"), CTF_RET_SUCCESS);
		assert_string_equal(last_line(), line);
		assert_int_equal(emitted(), before + 1);
	}
}

static uint64_t lost(enum ctrace_loss reason)
{
	struct ctrace_stats stats = { .size = sizeof(stats) };

	ctrace_stats_get(&stats);
	return stats.lost[reason];
}

/* ---- the two structures ---- */

static void packed_group_is_read_as_cobol_lays_it_out(void **state)
{
	unsigned char group[44] = { 0 }, arrays[1 + 4 + 4 + 8];
	const uint32_t size = 10, type = TRACE_EVENT_TYPE_TEXT,
		       words[5] = { 0, 0, 1, CTF_FLAG_LEVEL_INFO, 1 };
	const char info[] = "0123456789";
	const void *pointers[3] = { arrays + 1, arrays + 5, arrays + 9 }, *item = info;
	cbl_x4_comp5_t handle = tracer("mycomp");

	(void)state;
	memcpy(arrays + 1, &size, 4); /* the arrays need not be aligned either */
	memcpy(arrays + 5, &type, 4);
	memcpy(arrays + 9, &item, 8);
	memcpy(group, words, 20);
	memcpy(group + 20, &pointers[0], 8);
	memcpy(group + 28, &pointers[1], 8);
	memcpy(group + 36, &pointers[2], 8);
	assert_int_equal(CBL_CTF_TRACE(0, (const cobuns8_t *)&handle, at_page_end(group, 44)),
			 CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "mycomp 1 1 \"0123456789\"");
	assert_int_equal(CBL_CTF_TRACE(TEXT, BYTES("MYCOMP "), group), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "mycomp 1 1 \"0123456789\"");
}

static void c_structure_is_read_as_c_lays_it_out(void **state)
{
	cbl_x4_comp5_t handle = tracer("mycomp");

	(void)state;
	start_event(4294967295u, CTF_FLAG_LEVEL_FATAL);
	add_item(TRACE_EVENT_TYPE_TEXT, "abc", 3);
	assert_int_equal(cobctf_trace(0, (const cobuns8_t *)&handle, &event), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "mycomp 4294967295 4 \"abc\"");
}

/* ---- items ---- */

static void event_without_items_needs_no_arrays(void **state)
{
	(void)state;
	start_event(7, CTF_FLAG_LEVEL_WARN);
	event.event_len = event.event_type = NULL;
	event.event_data = NULL;
	assert_traces("c 7 2");
}

static void every_type_is_kept(void **state)
{
	const uint32_t u = 4000000000u;
	const int32_t s = -2;
	const unsigned char x[] = { 0x01, 0x02 }, xs[] = { 0xFF, 0xFE };

	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	add_item(TRACE_EVENT_TYPE_BINARY, "123456789:", 10);
	add_item(TRACE_EVENT_TYPE_TEXT, "te\"xt", 5);
	add_item(TRACE_EVENT_TYPE_ADDRESS, (const void *)(uintptr_t)0x7FFC00001234, 0);
	add_item(TRACE_EVENT_TYPE_COMP5, &u, 4);
	add_item(TRACE_EVENT_TYPE_COMPX, x, 2);
	add_item(TRACE_EVENT_TYPE_UTF8, "\xC3\xA4", 2);
	add_item(TRACE_EVENT_TYPE_COMP5S, &s, 4);
	add_item(TRACE_EVENT_TYPE_COMPXS, xs, 2);
	add_item(8, "AB", 2);
	add_item(0xFFFFFFFF, "C", 1);
	assert_traces(
		"c 1 1 3132333435363738-393A \"te\\\"xt\" 0x7FFC00001234 4000000000 258 \"\xC3\xA4\" -2 -2 4142 43");
}

static void integers_of_every_size(void **state)
{
	const unsigned char up[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 },
			    minus[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255 };
	char expected[400];
	uint64_t little = 0, big = 0;

	(void)state;
	for (unsigned size = 1; size <= 8; size++) {
		little |= (uint64_t)up[size - 1] << 8 * (size - 1);
		big = big << 8 | up[size - 1];
		start_event(size, CTF_FLAG_LEVEL_INFO);
		add_item(TRACE_EVENT_TYPE_COMP5, up, size);
		add_item(TRACE_EVENT_TYPE_COMPX, up, size);
		add_item(TRACE_EVENT_TYPE_COMP5S, minus, size);
		add_item(TRACE_EVENT_TYPE_COMPXS, minus, size);
		add_item(TRACE_EVENT_TYPE_COMP5, minus, size);
		(void)snprintf(expected, sizeof(expected), "c %u 1 %llu %llu -1 -1 %llu", size,
			       (unsigned long long)(CTRACE_IS_BIG_ ? big : little),
			       (unsigned long long)big,
			       (unsigned long long)(UINT64_MAX >> (64 - 8 * size)));
		assert_traces(expected);
	}
	/* Wider ones, and none, are bytes. */
	start_event(9, CTF_FLAG_LEVEL_INFO);
	add_item(TRACE_EVENT_TYPE_COMP5, up, 9);
	add_item(TRACE_EVENT_TYPE_COMPXS, up, 0);
	add_item(TRACE_EVENT_TYPE_COMPX, "z", 1);
	assert_traces("c 9 1 0102030405060708-09  122");
}

/* Again and again under one id: what the call before had decides nothing. */
static void shapes_take_turns(void **state)
{
	static const char *const lines[] = {
		"c 8 1 \"ab\"", CTRACE_IS_BIG_ ? "c 8 1 24930" : "c 8 1 25185",
		"c 8 1 6162",   "c 8 1 \"ab\" 0x5",
		"c 8 1 24930",  "c 8 1"
	};
	static const cobuns32_t shape[] = { TRACE_EVENT_TYPE_TEXT, TRACE_EVENT_TYPE_COMP5,
					    TRACE_EVENT_TYPE_BINARY, TRACE_EVENT_TYPE_TEXT,
					    TRACE_EVENT_TYPE_COMPX };

	(void)state;
	for (unsigned i = 0; i < 18; i++) {
		start_event(8, CTF_FLAG_LEVEL_INFO);
		if (i % 6 < 5)
			add_item(shape[i % 6], at_page_end("ab", 2), 2);
		if (i % 6 == 3)
			add_item(TRACE_EVENT_TYPE_ADDRESS, (const void *)5, 99);
		assert_traces(lines[i % 6]);
	}
}

/* More than a thread remembers: classes whose numbers have one place are told apart. */
static void components_and_ids_without_end(void **state)
{
	char name[32], line[64];

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		(void)snprintf(name, sizeof(name), "many.%u", i % 100);
		start_event(i < 100 ? 1 : 1024, CTF_FLAG_LEVEL_INFO + i % 2);
		for (unsigned again = 0; again < 2;
		     again++, event.event_id = 1, event.level = CTF_FLAG_LEVEL_INFO) {
			assert_int_equal(trace(0, name), CTF_RET_SUCCESS);
			(void)snprintf(line, sizeof(line), "%s %u %u", name,
				       (unsigned)event.event_id, (unsigned)event.level);
			assert_string_equal(last_line(), line);
		}
	}
	for (unsigned i = 0; i < 12; i++) {
		start_event(1 + i % 3 * 1024, CTF_FLAG_LEVEL_INFO + i % 4 / 2);
		(void)snprintf(line, sizeof(line), "c %u %u", (unsigned)event.event_id,
			       (unsigned)event.level);
		assert_traces(line);
	}
}

/* Each byte arrives, and none beside them is read. */
static void texts_of_every_size(void **state)
{
	char bytes[301], line[320];

	(void)state;
	for (unsigned i = 0; i < 300; i++)
		bytes[i] = (char)('a' + i % 23);
	for (unsigned size = 0; size < 300; size += size < 70 ? 1 : 29) {
		start_event(9, CTF_FLAG_LEVEL_INFO);
		add_item(TRACE_EVENT_TYPE_TEXT, at_page_end(bytes, size), size);
		(void)snprintf(line, sizeof(line), "c 9 1 \"%.*s\"", (int)size, bytes);
		assert_traces(line);
	}
}

static void missing_item_is_empty_and_not_read(void **state)
{
	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	add_item(TRACE_EVENT_TYPE_TEXT, NULL, 10);
	add_item(TRACE_EVENT_TYPE_ADDRESS, NULL, 8);
	add_item(TRACE_EVENT_TYPE_TEXT, at_page_end("x", 1), 1);
	add_item(TRACE_EVENT_TYPE_TEXT, NULL, 0xFFFFFFFF);
	assert_traces("c 1 1 \"\" 0x0 \"x\" \"\"");
	event.event_data = NULL;
	assert_traces("c 1 1 \"\" 0x0 \"\" \"\"");
	event.event_data = data;
	event.event_type = NULL; /* binary */
	lens[0] = lens[1] = lens[3] = 0;
	assert_traces("c 1 1   78 ");
	event.event_len = NULL; /* empty */
	assert_traces("c 1 1    ");
}

static void uniform_array_takes_the_first_length_and_type(void **state)
{
	(void)state;
	start_event(3, CTF_FLAG_LEVEL_INFO);
	add_item(TRACE_EVENT_TYPE_TEXT, "ab", 2);
	add_item(99, "cd", 0xFFFFFFFF);
	add_item(99, "ef", 0xFFFFFFFF);
	/* one element is all there is */
	event.event_len = (cbl_x4_comp5_t *)(void *)at_page_end(lens, 4);
	event.event_type = (cbl_x4_comp5_t *)(void *)at_page_end(types, 4);
	assert_int_equal(trace(CTF_FLAG_ARRAY_DATA, "c"), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "c 3 1 \"ab\" \"cd\" \"ef\"");
}

static void sizes_up_to_the_limits(void **state)
{
	static char big[65537];
	uint64_t before = lost(CTRACE_LOSS_TOO_LARGE);

	(void)state;
	memset(big, 'b', sizeof(big));
	start_event(1, CTF_FLAG_LEVEL_INFO);
	add_item(TRACE_EVENT_TYPE_TEXT, big, 65536);
	assert_int_equal(trace(0, "c"), CTF_RET_SUCCESS);
	assert_int_equal(strlen(last_line()), 6 + 2 + 65536);
	assert_int_equal(lost(CTRACE_LOSS_TOO_LARGE), before);
	lens[0] = 65537;
	assert_int_equal(trace(0, "c"), CTF_RET_NOT_ENOUGH_MEMORY);
	lens[0] = 0xFFFFFFFF;
	assert_int_equal(trace(0, "c"), CTF_RET_NOT_ENOUGH_MEMORY);
	assert_int_equal(lost(CTRACE_LOSS_TOO_LARGE), before + 2);
}

/* With a ring of 1 MiB. */
static void bytes_up_to_half_of_the_ring(void **state)
{
	static char big[65536];
	/* for the last of 8 items */
	const uint32_t left = CT_RING_DEFAULT / 2 - 8 - 7 * (4 + 65536) - 2;
	uint64_t before = lost(CTRACE_LOSS_TOO_LARGE);

	(void)state;
	memset(big, 'b', sizeof(big));
	start_event(1, CTF_FLAG_LEVEL_INFO);
	for (unsigned i = 0; i < 7; i++)
		add_item(TRACE_EVENT_TYPE_TEXT, big, sizeof(big));
	assert_int_equal(trace(0, "c"), CTF_RET_SUCCESS);
	add_item(TRACE_EVENT_TYPE_TEXT, big, left);
	assert_int_equal(trace(0, "c"), CTF_RET_SUCCESS);
	assert_int_equal(lost(CTRACE_LOSS_TOO_LARGE), before);
	lens[7] = left + 1;
	assert_int_equal(trace(0, "c"), CTF_RET_NOT_ENOUGH_MEMORY);
	assert_int_equal(lost(CTRACE_LOSS_TOO_LARGE), before + 1);
}

/* A component with a ring of its own of 4 MiB. */
static void a_larger_ring_takes_larger_events(void **state)
{
	static char big[65536];

	(void)state;
	memset(big, 'b', sizeof(big));
	configure("ctrace.buffer.large = 4M");
	start_event(1, CTF_FLAG_LEVEL_INFO);
	for (unsigned i = 0; i < 31; i++)
		add_item(TRACE_EVENT_TYPE_TEXT, big, sizeof(big));
	assert_int_equal(trace(0, "large"), CTF_RET_SUCCESS);
	assert_int_equal(strlen(last_line()), 9 + 31 * (3 + 65536));
	add_item(TRACE_EVENT_TYPE_TEXT, big, sizeof(big));
	assert_int_equal(trace(0, "large"), CTF_RET_NOT_ENOUGH_MEMORY);
}

static void ring_of_64k_takes_half_of_that(void **state)
{
	static char big[32768];

	(void)state;
	configure("ctrace.buffer.small = 64K");
	start_event(1, CTF_FLAG_LEVEL_INFO);
	add_item(TRACE_EVENT_TYPE_TEXT, big, 32768 - 8 - 2);
	assert_int_equal(trace(0, "small"), CTF_RET_SUCCESS);
	lens[0]++;
	assert_int_equal(trace(0, "small"), CTF_RET_NOT_ENOUGH_MEMORY);
}

static void items_up_to_the_limit(void **state)
{
	uint64_t before = lost(CTRACE_LOSS_TOO_LARGE);

	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	for (unsigned i = 0; i < 4096; i++)
		add_item(TRACE_EVENT_TYPE_COMP5, "\5", 1);
	assert_int_equal(trace(0, "c"), CTF_RET_SUCCESS);
	assert_int_equal(strlen(last_line()), 5 + 2 * 4096);
	add_item(TRACE_EVENT_TYPE_COMP5, "\5", 1);
	assert_int_equal(trace(0, "c"), CTF_RET_NOT_ENOUGH_MEMORY);
	event.data_count = 0xFFFFFFFF;
	assert_int_equal(trace(0, "c"), CTF_RET_NOT_ENOUGH_MEMORY);
	assert_int_equal(lost(CTRACE_LOSS_TOO_LARGE), before + 2);
}

static atomic_bool stop;

static void *change_lengths(void *unused)
{
	(void)unused;
	for (unsigned i = 0; !atomic_load(&stop); i++) {
		__atomic_store_n(&lens[0], i % 7 * 100, __ATOMIC_RELAXED);
		__atomic_store_n(&lens[1], 600 - i % 7 * 100, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Lengths that another thread changes during the call cannot make a damaged record. */
static void changing_lengths_damage_nothing(void **state)
{
	static char bytes[700];
	pthread_t thread;
	uint64_t before;

	(void)state;
	if (IS_THREAD_SANITIZED)
		skip();
	memset(bytes, 'q', sizeof(bytes));
	start_event(5, CTF_FLAG_LEVEL_INFO);
	add_item(TRACE_EVENT_TYPE_TEXT, bytes, 600);
	add_item(TRACE_EVENT_TYPE_TEXT, bytes, 0);
	before = lost(CTRACE_LOSS_DAMAGED);
	assert_int_equal(pthread_create(&thread, NULL, change_lengths, NULL), 0);
	for (unsigned i = 0; i < 20000; i++)
		assert_int_equal(trace(0, "c"), CTF_RET_SUCCESS);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	start_event(6, CTF_FLAG_LEVEL_INFO);
	assert_traces("c 6 1");
	assert_int_equal(lost(CTRACE_LOSS_DAMAGED), before);
}

/* ---- statuses ---- */

static void level_decides(void **state)
{
	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	configure("mftrace.level.stat = warn");
	assert_int_equal(trace(0, "stat"), CTF_RET_NOT_TRACING_LEVEL);
	event.level = CTF_FLAG_LEVEL_WARN;
	assert_int_equal(trace(0, "stat"), CTF_RET_SUCCESS);
	configure("mftrace.level.stat = none");
	assert_int_equal(trace(0, "stat"), CTF_RET_NOT_TRACE_ENABLED);
	event.level = 5;
	assert_int_equal(trace(0, "stat"), CTF_RET_INVALID_TRACE_LEVEL);
	event.level = 0xFFFFFFFF;
	configure("mftrace.level.stat = debug");
	assert_int_equal(trace(0, "stat"), CTF_RET_INVALID_TRACE_LEVEL);
}

static void forced_event_needs_an_enabled_component_only(void **state)
{
	(void)state;
	start_event(1, CTF_FLAG_LEVEL_DEBUG);
	configure("mftrace.level.force = fatal");
	assert_int_equal(trace(CTF_FLAG_FORCE_OUTPUT, "force"), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "force 1 0");
	event.level = 99; /* ignored; recorded as the highest there is */
	event.event_id = 2;
	assert_int_equal(trace(CTF_FLAG_FORCE_OUTPUT, "force"), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "force 2 4");
	configure("mftrace.level.force = none");
	assert_int_equal(trace(CTF_FLAG_FORCE_OUTPUT, "force"), CTF_RET_NOT_TRACE_ENABLED);
}

static void component_is_checked_first(void **state)
{
	cbl_x4_comp5_t wrong = 0x12345678, zero = 0;
	char longest[257];

	(void)state;
	start_event(1, 99);
	memset(longest, 'n', sizeof(longest));
	assert_int_equal(cobctf_trace(0, (const cobuns8_t *)&wrong, &event),
			 CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(cobctf_trace(0, (const cobuns8_t *)&zero, &event),
			 CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(cobctf_trace(0, NULL, &event), CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(cobctf_trace(0, at_page_end(" ", 1), &event),
			 CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(cobctf_trace(TEXT, NULL, &event), CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(cobctf_trace(TEXT, BYTES(" "), &event), CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(cobctf_trace(NUL, BYTES(""), &event), CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(cobctf_trace(TEXT, BYTES("a..b "), &event),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(cobctf_trace(TEXT, at_page_end(longest, 256), &event),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(cobctf_trace(0, (const cobuns8_t *)&wrong, NULL), CTF_RET_FAILURE);
	assert_int_equal(CBL_CTF_TRACE(0, (const cobuns8_t *)&wrong, NULL), CTF_RET_FAILURE);
}

static void names_end_as_the_flags_say(void **state)
{
	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	assert_int_equal(cobctf_trace(TEXT, at_page_end("term.a ", 7), &event), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "term.a 1 1");
	assert_int_equal(cobctf_trace(NUL, at_page_end("term b", 7), &event), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "term b 1 1");
	assert_int_equal(cobctf_trace(TEXT, at_page_end("term.c", 7), &event), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "term.c 1 1");
}

/* What was there before does not count. */
static void names_change_in_their_place(void **state)
{
	static const char *const texts[] = { "place.a ", "place.b ", "place ",
					     "place.a",  "PLACE.A ", "place.a.b " };
	static const char *const lines[] = { "place.a 1 1", "place.b 1 1", "place 1 1",
					     "place.a 1 1", "place.a 1 1", "place.a.b 1 1" };
	char at[16];

	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	for (unsigned i = 0; i < 24; i++) {
		(void)snprintf(at, sizeof(at), "%s", texts[i / 2 % 6]);
		assert_int_equal(cobctf_trace(TEXT, BYTES(at), &event), CTF_RET_SUCCESS);
		assert_string_equal(last_line(), lines[i / 2 % 6]);
	}
	(void)snprintf(at, sizeof(at), "place x");
	assert_int_equal(cobctf_trace(TEXT, BYTES(at), &event), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "place 1 1");
	assert_int_equal(cobctf_trace(NUL, BYTES(at), &event), CTF_RET_SUCCESS);
	assert_int_equal(cobctf_trace(NUL, BYTES(at), &event), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "place x 1 1");
	assert_int_equal(cobctf_trace(TEXT, BYTES(at), &event), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "place 1 1");
}

/* As a documented example has it: the level in the reserved bits. */
static void reserved_bits_are_ignored(void **state)
{
	cbl_x4_comp5_t handle = tracer("reserved");

	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	for (unsigned bit = 0; bit < 31; bit++) {
		if (bit == 12 || bit == 13)
			continue;
		event.event_id = bit;
		assert_int_equal(cobctf_trace(1u << bit, (const cobuns8_t *)&handle, &event),
				 CTF_RET_SUCCESS);
	}
	assert_string_equal(last_line(), "reserved 30 1");
}

static void failing_output_is_reported(void **state)
{
	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	assert_int_equal(trace(0, "output"), CTF_RET_SUCCESS);
	assert_int_equal(ctrace_flush(10000), CTRACE_OK);
	configure("mftrace.emitter.binfile#file = /proc/no/such/place.ctb");
	configure("mftrace.dest.output = binfile");
	(void)trace(0, "output");
	assert_int_equal(ctrace_flush(10000), CTRACE_OUTPUT_ERROR);
	assert_int_equal(trace(0, "output"), CTF_RET_OUTPUT_ERROR);
	assert_int_equal(trace(0, "elsewhere"), CTF_RET_SUCCESS);
	configure("mftrace.emitter.binfile#file = good.ctb");
	assert_int_equal(ctrace_flush(10000), CTRACE_OK);
	assert_int_equal(trace(0, "output"), CTF_RET_SUCCESS);
}

static void errno_is_kept(void **state)
{
	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	errno = 4711;
	assert_int_equal(trace(0, "errno.new"), CTF_RET_SUCCESS);
	assert_int_equal(errno, 4711);
	lens[0] = 99999;
	event.data_count = 1;
	data[0] = lens;
	assert_int_equal(trace(0, "errno.new"), CTF_RET_NOT_ENOUGH_MEMORY);
	assert_int_equal(errno, 4711);
}

static TRACE_EVENT from_handler = { .event_id = 77, .level = CTF_FLAG_LEVEL_INFO };
static cobrtncode_t handler_status = -1;

static void on_signal(int number)
{
	(void)number;
	handler_status = cobctf_trace(NUL, BYTES("c"), &from_handler);
}

static void signal_handler_may_trace(void **state)
{
	(void)state;
	start_event(1, CTF_FLAG_LEVEL_INFO);
	assert_traces("c 1 1");
	assert_true(signal(SIGUSR1, on_signal) != SIG_ERR);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(handler_status, CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "c 77 1");
}

int test_cbl_ctf_trace(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_group_is_read_as_cobol_lays_it_out),
		cmocka_unit_test(c_structure_is_read_as_c_lays_it_out),
		cmocka_unit_test(event_without_items_needs_no_arrays),
		cmocka_unit_test(every_type_is_kept),
		cmocka_unit_test(integers_of_every_size),
		cmocka_unit_test(shapes_take_turns),
		cmocka_unit_test(components_and_ids_without_end),
		cmocka_unit_test(texts_of_every_size),
		cmocka_unit_test(missing_item_is_empty_and_not_read),
		cmocka_unit_test(uniform_array_takes_the_first_length_and_type),
		cmocka_unit_test(sizes_up_to_the_limits),
		cmocka_unit_test(bytes_up_to_half_of_the_ring),
		cmocka_unit_test(a_larger_ring_takes_larger_events),
		cmocka_unit_test(ring_of_64k_takes_half_of_that),
		cmocka_unit_test(items_up_to_the_limit),
		cmocka_unit_test(level_decides),
		cmocka_unit_test(forced_event_needs_an_enabled_component_only),
		cmocka_unit_test(component_is_checked_first),
		cmocka_unit_test(names_end_as_the_flags_say),
		cmocka_unit_test(names_change_in_their_place),
		cmocka_unit_test(reserved_bits_are_ignored),
		cmocka_unit_test(errno_is_kept),
		cmocka_unit_test(signal_handler_may_trace),
		cmocka_unit_test(changing_lengths_damage_nothing),
		cmocka_unit_test(failing_output_is_reported),
	};

	return cmocka_run_group_tests(tests, set_up_text_file, NULL);
}
