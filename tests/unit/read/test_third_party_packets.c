/*
 * test_third_party_packets.c - packets of a third-party stream: found again behind damage, sought
 * by time, and what is missing is told.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "third_party_source_fixture.h"

static void one_behind_the_other(void **state)
{
	struct ct_source source = { .path = strdup("t/stream") };
	struct ct_third_party_packets packets;
	struct ct_third_party_trace *trace;

	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	reported[0] = '\0';
	ct_sources_init(&sources, note_keep, NULL);
	assert_int_equal(ct_third_party_trace_open(&sources, "t", &trace), CTRACE_OK);
	ct_third_party_packets_init(&packets, trace, &source);
	assert_true(ct_third_party_packets_begin(&packets, &sources));
	assert_int_equal(packets.file.size, BARECTF_PACKETS * BARECTF_PACKET);
	for (unsigned i = 0; i < BARECTF_PACKETS; i++) {
		assert_true(ct_third_party_packets_next(&packets, &sources));
		assert_int_equal(packets.packet_at, i * BARECTF_PACKET);
		assert_int_equal(packets.packet_size, BARECTF_PACKET);
		assert_true(packets.at > 0 && packets.at < packets.content &&
			    packets.content <= 8 * packets.packet_size);
		assert_true(packets.begin_ns >= START_NS && packets.begin_ns <= packets.end_ns);
	}
	assert_false(ct_third_party_packets_next(&packets, &sources));
	assert_string_equal(reported, "");
	ct_third_party_packets_fini(&packets);
	ct_third_party_trace_unref(trace);
	ct_sources_fini(&sources);
	free(source.path);
}

/* Where no step is left, the stream ends, and the rest of it is damage. */
static void steps_have_an_end(void **state)
{
	struct ct_source source = { .path = strdup("t/stream") };
	struct ct_third_party_packets packets;
	struct ct_third_party_trace *trace;

	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	reported[0] = '\0';
	ct_sources_init(&sources, note_keep, NULL);
	assert_int_equal(ct_third_party_trace_open(&sources, "t", &trace), CTRACE_OK);
	ct_third_party_packets_init(&packets, trace, &source);
	assert_true(ct_third_party_packets_begin(&packets, &sources));
	assert_true(ct_third_party_packets_next(&packets, &sources));
	packets.steps = 0;
	(void)ct_third_party_packets_next(&packets, &sources);
	assert_false(ct_third_party_packets_begin(&packets, &sources));
	assert_string_equal(
		reported, "damage 256+1280 0 reading it takes longer than its size can explain\n");
	ct_third_party_packets_fini(&packets);
	ct_third_party_trace_unref(trace);
	ct_sources_fini(&sources);
	free(source.path);
}

static void what_a_tracer_has_lost(void **state)
{
	(void)state;
	copy("lttng-lost", "metadata");
	copy("lttng-lost", "chan_0");
	copy("lttng-lost", "chan_1");
	open_sources("t", NULL);
	assert_int_equal(read_all(NULL), 158);
	assert_string_equal(reported, "lost 4096+0 260 260 events were discarded before this\n");
	/* One stream alone. */
	open_sources("t", "chan_1");
	assert_true(read_all(NULL) < 158);
	assert_string_equal(reported, "");
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
		(void)snprintf(wanted, sizeof wanted,
			       "damage %u+256 0 this is no packet of the trace\n",
			       packet * BARECTF_PACKET);
		assert_memory_equal(reported, wanted, strlen(wanted));
		/* And the number of the next one says that one is missing. */
		assert_int_equal(strstr(reported, "missing") != NULL,
				 packet > 0 && packet < BARECTF_PACKETS - 1);
	}
	assert_int_equal(lost, BARECTF_EVENTS);
}

static void a_size_that_swallows_the_next(void **state)
{
	(void)state;
	copy("barectf", "metadata");
	copy("barectf", "stream");
	/* The first packet says that it has 2048 bits more: there is a packet at its end too, but
	 * one in it as well. */
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
		assert_true(size % BARECTF_PACKET == 0 || strncmp(reported, "damage ", 7) == 0);
	}
	assert_int_equal(before, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_third_party_packets(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_behind_the_other),
		TEST(steps_have_an_end),
		TEST(what_a_tracer_has_lost),
		TEST(times_are_sought),
		TEST(damage_costs_its_packet),
		TEST(a_size_that_swallows_the_next),
		TEST(a_cut_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
