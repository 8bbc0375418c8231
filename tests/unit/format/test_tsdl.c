/*
 * test_tsdl.c - the blocks of metadata, in any order; an event that is not understood costs itself,
 * what is before it the trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "third_party_fixture.h"

static const char whole[] =
	"/* CTF 1.8 */ event { id = 3; stream_id = 2; name = \"z\"; loglevel = 13; };\n"
	"trace { major = 1; minor = 8; byte_order = be; uuid = \"01234567-89ab-cdef-0123-456789ABCDEF\";\n"
	"packet.header := struct { string s; }; };\n"
	"env { a = \"text\"; b = -3; };\n"
	"clock { name = \"c\"; freq = 1000; offset_s = -5; offset = 7; uuid = \"x\"; precision = 1; };\n"
	"typealias integer { size = 8; map = clock.c.value; } := ticks;\n"
	"stream { id = 2; packet.context := struct { string s; }; event.header := struct { ticks h; };\n"
	"event.context := struct { string c; }; }; stream { id = 1; };\n"
	"event { id = 1; stream_id = 2; name = \"a:b\"; model.emf.uri = \"x\"; context := struct { string c; }; };\n"
	"event { id = 9; stream_id = 1; }; callsite { a = { 1 }; };";

static void a_whole_trace(void **state)
{
	static const uint8_t uuid[16] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
					  0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	struct ct_tsdl *tsdl = parse_well(whole);
	const struct ct_tsdl_event *event = ct_tsdl_event(tsdl, 2, 1);

	(void)state;
	assert_true(tsdl->is_big && tsdl->has_uuid);
	assert_memory_equal(tsdl->uuid, uuid, sizeof uuid);
	assert_non_null(tsdl->packet_header);
	assert_int_equal(tsdl->stream_count, 2);
	assert_int_equal(tsdl->streams[0].id, 1);
	assert_int_equal(ct_tsdl_stream(tsdl, 2)->index, 1);
	assert_null(ct_tsdl_stream(tsdl, 3));
	assert_null(ct_tsdl_stream(tsdl, 1)->event_header);
	assert_string_equal(event->name, "a:b");
	assert_int_equal(event->level, CT_TSDL_NO_LEVEL);
	assert_non_null(event->context);
	assert_null(event->fields);
	assert_int_equal(ct_tsdl_event(tsdl, 2, 3)->level, 13);
	assert_null(ct_tsdl_event(tsdl, 1, 3));
	assert_int_equal(tsdl->clock->frequency, 1000);
	assert_int_equal(tsdl->clock->offset_s, -5);
	assert_int_equal(tsdl->clock->offset, 7);
	assert_ptr_equal(ct_tsdl_stream(tsdl, 2)->event_header->fields[0].type->clock->clock,
			 tsdl->clock);
	assert_string_equal(ct_tsdl_env_text(tsdl, "a", "-"), "text");
	assert_string_equal(ct_tsdl_env_text(tsdl, "b", "-"), "-");
	assert_int_equal(ct_tsdl_env_number(tsdl, "b", 0), -3);
	assert_int_equal(ct_tsdl_env_number(tsdl, "c", 42), 42);
	ct_tsdl_destroy(tsdl);
}

static void nothing_is_there(void **state)
{
	struct ct_tsdl *tsdl = parse_well("");

	(void)state;
	assert_int_equal(tsdl->stream_count, 1);
	assert_int_equal(tsdl->event_count, 0);
	assert_null(tsdl->clock);
	ct_tsdl_destroy(tsdl);
	ct_tsdl_destroy(NULL);
}

static void an_event_belongs_to_the_only_stream(void **state)
{
	struct ct_tsdl *tsdl = parse_well("stream { id = 7; }; event { id = 2; };");

	(void)state;
	assert_non_null(ct_tsdl_event(tsdl, 7, 2));
	ct_tsdl_destroy(tsdl);
}

static void an_event_costs_itself(void **state)
{
	struct ct_tsdl *tsdl = parse(
		"event { id = 1; fields := struct { string s; }; };\n"
		"event { id = 2; typealias string := text; fields := struct { struct { text a[2]; } b; nothing n; }; };\n"
		"event { id = 3; fields := struct { string s; }; };\n"
		"event { id = 4; fields := struct { text t; }; };\n"
		"event { id = 5; fiel");

	(void)state;
	assert_string_equal(
		said,
		"2:87 the type \"nothing\" is not known\n4:36 the type \"text\" is not known\n5:21 the metadata end\n");
	assert_int_equal(tsdl->event_count, 4);
	assert_true(ct_tsdl_event(tsdl, 0, 2)->is_unknown && ct_tsdl_event(tsdl, 0, 4)->is_unknown);
	assert_false(ct_tsdl_event(tsdl, 0, 3)->is_unknown);

	ct_tsdl_destroy(tsdl);
}

/* "OFFSET+SIZE" of each piece that is not used. */
static void note_piece(const struct ct_diagnostic *diagnostic, struct ct_span piece, void *user)
{
	size_t size = strlen(said);

	(void)diagnostic;
	(void)snprintf(said + size, sizeof said - size, "%d+%zu ",
		       (int)(piece.at - (const char *)user), piece.size);
}

/* Where braces or quotation marks are missing, or there is rubbish, parsing goes on with the line
 * that begins the next event. */
static void damage_ends_at_the_next_event(void **state)
{
	static const struct {
		const char *text, *pieces;
		size_t good;
	} rows[] = {
		{ "event { id = 1; };\nevent { id = 2; fields := struct { };\nevent { id = 3; };\n",
		  "19+38 ", 2 },
		{ "event { id = 1; };\nevent { id = \"; };\nevent { id = 3; };\n", "19+19 ", 2 },
		{ "event { id = 1; };\nevent { id = 2; }; };\nevent { id = 3; };\n", "38+3 ", 3 },
		{ "event { id = 1; };\n##\n# /* \n\nevent { id = 3; };\nrest", "19+10 48+4 ", 2 },
		{ "event { id = 1; };\nevent # };\nevent { id = 3; };\n", "19+6 25+5 ", 2 },
		{ "event { id = 1; };\nclock { freq = 0; }; \nevent { id = 3; };\n", "19+22 ", 2 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_tsdl *tsdl = NULL;
		size_t good = 0;

		said[0] = '\0';
		assert_int_equal(ct_tsdl_parse(rows[i].text, strlen(rows[i].text), note_piece,
					       (void *)(uintptr_t)rows[i].text, &tsdl),
				 CTRACE_OK);
		assert_string_equal(said, rows[i].pieces);
		for (size_t k = 0; k < tsdl->event_count; k++)
			good += !tsdl->events[k].is_unknown;
		assert_int_equal(good, rows[i].good);
		ct_tsdl_destroy(tsdl);
	}
}

static void where_an_event_stands(void **state)
{
	static const char text[] =
		"event { id = 7; name = b; };\nevent { id = 1; model.emf.uri = \"u\"; }; // x\n";
	struct ct_tsdl *tsdl = NULL;

	(void)state;
	assert_int_equal(ct_tsdl_parse(text, sizeof text - 1, note_diagnostic, NULL, &tsdl),
			 CTRACE_OK);
	assert_int_equal(tsdl->event_count, 2);
	assert_string_equal(tsdl->events[0].uri, "u");
	assert_ptr_equal(tsdl->events[0].block.at, text + 29);
	assert_int_equal(tsdl->events[0].block.size, sizeof text - 1 - 29);
	assert_string_equal(tsdl->events[1].name, "b");
	assert_null(tsdl->events[1].uri);
	ct_tsdl_destroy(tsdl);
}

static void refuses(const char *text, const char *diagnostic)
{
	assert_null(parse(text));
	assert_string_equal(said, diagnostic);
}

static void the_trace_is_refused(void **state)
{
	(void)state;
	refuses("trace { major = 2; minor = 0; };",
		"1:33 Common Trace Format 2.0; ctrace reads 1.8\n");
	refuses("trace { byte_order = native; };",
		"1:28 the trace does not say what its native byte order is\n");
	refuses("trace { uuid = \"1\"; };", "1:19 this is no UUID\n");
	refuses("clock { name = c; freq = 0; };", "1:27 a clock does not run so fast\n");
	refuses("stream { event.header := string; };", "1:32 this can only be a struct\n");
	refuses("stream { event.footer := struct { }; };",
		"1:36 ctrace does not know what \"event.footer\" is\n");
	refuses("\n  nonsense", "2:3 this begins nothing that metadata say\n");
	refuses("stream {", "1:9 a name is missing\n");
	refuses("/* CTF 1.8", "1:1 this is no text of metadata\n");
	refuses("callsite {", "1:11 the metadata end\n");
}

int test_tsdl(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_whole_trace),
					    cmocka_unit_test(nothing_is_there),
					    cmocka_unit_test(an_event_belongs_to_the_only_stream),
					    cmocka_unit_test(an_event_costs_itself),
					    cmocka_unit_test(damage_ends_at_the_next_event),
					    cmocka_unit_test(where_an_event_stands),
					    cmocka_unit_test(the_trace_is_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
