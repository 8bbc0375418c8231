/*
 * test_third_party_trace.c - the metadata of a third-party trace: what is not understood, how its
 * packets begin, and whose its events are.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "third_party_source_fixture.h"

static struct ct_third_party_trace *open_trace(const char *metadata)
{
	struct ct_third_party_trace *trace = NULL;

	make_third_party(metadata, "", 0);
	reported[0] = '\0';
	ct_sources_init(&sources, note_keep, NULL);
	assert_int_equal(ct_third_party_trace_open(&sources, "t", &trace), CTRACE_OK);
	return trace;
}

static void close_trace(struct ct_third_party_trace *trace)
{
	ct_third_party_trace_unref(trace);
	ct_sources_fini(&sources);
}

#define UUID "00010203-0405-0607-0809-0a0b0c0d0e0f"
#define INTEGERS "typealias integer { size = 8; } := u8; typealias integer { size = 32; } := u32; "

static void how_packets_begin(void **state)
{
	static const struct {
		const char *metadata;
		bool has_magic, has_uuid;
		const char *begin;
	} rows[] = {
		{ INTEGERS "trace { byte_order = le; uuid = \"" UUID
			   "\"; packet.header := struct { u32 magic; u8 uuid[16]; }; };",
		  true, true, "\xC1\x1F\xFC\xC1\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17" },
		{ INTEGERS
		  "trace { byte_order = be; packet.header := struct { u32 magic; u8 uuid[16]; }; };",
		  true, false, "\xC1\xFC\x1F\xC1" },
		{ INTEGERS
		  "trace { byte_order = be; packet.header := struct { u8 version; u32 magic; }; };",
		  false, false, "" },
		{ INTEGERS "trace { byte_order = be; packet.header := struct { u8 magic; }; };",
		  false, false, "" },
		{ INTEGERS "trace { byte_order = be; };", false, false, "" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_third_party_trace *trace = open_trace(rows[i].metadata);

		assert_int_equal(trace->has_magic, rows[i].has_magic);
		assert_int_equal(trace->has_uuid, rows[i].has_uuid);
		assert_memory_equal(trace->begin, rows[i].begin,
				    rows[i].has_uuid    ? 20
				    : rows[i].has_magic ? 4
							: 0);
		assert_string_equal(reported, "");
		close_trace(trace);
	}
}

static void whose_events_are(void **state)
{
	struct ct_third_party_trace *trace =
		open_trace(HEAD "env { vpid = 7; procname = \"shop\"; hostname = \"vm\"; };");
	const struct ct_source_process *source_process =
		ct_third_party_trace_source_process(trace, &sources, 8, "till");

	(void)state;
	assert_int_equal(trace->source_process->pid, 7);
	assert_string_equal(trace->source_process->program, "shop");
	assert_true(trace->source_process->is_third_party);
	assert_int_equal(source_process->pid, 8);
	assert_string_equal(source_process->program, "till");
	assert_string_equal(source_process->host, "vm");
	assert_ptr_equal(ct_third_party_trace_source_process(trace, &sources, 8, "till"),
			 source_process);
	assert_string_equal(ct_third_party_trace_source_process(trace, &sources, 9, "")->program,
			    "");
	/* So many are told apart, and those that were stay so. */
	for (uint32_t pid = 10; pid < 2 * CT_THIRD_PARTY_SOURCE_PROCESSES; pid++)
		assert_non_null(ct_third_party_trace_source_process(trace, &sources, pid, ""));
	assert_ptr_equal(ct_third_party_trace_source_process(
				 trace, &sources, 2 * CT_THIRD_PARTY_SOURCE_PROCESSES, ""),
			 trace->source_process);
	assert_ptr_equal(ct_third_party_trace_source_process(trace, &sources, 8, "till"),
			 source_process);
	close_trace(trace);
}

static void metadata_that_are_not_understood(void **state)
{
	static const struct {
		const char *text, *reported;
	} rows[] = {
		{ "{ \"type\": \"preamble\" }",
		  "unknown 0+0 0 Common Trace Format 2; ctrace reads 1.8\n" },
		{ "trace { major = 1;\n minor = 7; };",
		  "unknown 0+0 0 line 2, column 15: Common Trace Format 1.7; ctrace reads 1.8\n" },
		{ "nonsense",
		  "unknown 0+0 0 line 1, column 1: this begins nothing that metadata say; expected trace, env, clock, stream, event, "
		  "typealias, typedef, struct, variant or enum\n" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		make_third_party(rows[i].text, "x", 1);
		reported[0] = '\0';
		ct_sources_init(&sources, note_keep, NULL);
		assert_int_equal(ct_source_third_party_add(&sources, "t", NULL),
				 CTRACE_UNSUPPORTED);
		assert_string_equal(reported, rows[i].reported);
		ct_sources_fini(&sources);
	}
}

static void so_many_diagnostics_are_reported(void **state)
{
	char text[2048] = "";
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text),
			       "event { id = %u; fields := nothing; };\n", i);
	make_third_party(text, "x", 1);
	reported[0] = '\0';
	ct_sources_init(&sources, note_keep, NULL);
	assert_int_equal(ct_source_third_party_add(&sources, "t", NULL), CTRACE_OK);
	for (const char *at = reported; (at = strstr(at, "line ")) != NULL; at++)
		count++;
	assert_int_equal(count, 8);
	assert_non_null(strstr(reported, "line 8, column 27: "));
	ct_sources_fini(&sources);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_third_party_trace(void)
{
	const struct CMUnitTest tests[] = {
		TEST(metadata_that_are_not_understood),
		TEST(so_many_diagnostics_are_reported),
		TEST(how_packets_begin),
		TEST(whose_events_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
