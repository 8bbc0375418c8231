/*
 * items_subject.c - traces an event of each kind of item, for tests that compare what machines of
 * different byte order read: integers by value and by address in every size, addresses, texts,
 * bytes, a COBOL record, and an event of more items than a class holds.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <mfctf.h>
#include <stdlib.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("MACHINE.ITEMS");

static void trace_native(void)
{
	static const cobuns8_t big[8] = { 0x81, 2, 3, 4, 5, 6, 7, 8 };
	uint64_t eight = UINT64_C(0xF102030405060708);
	uint32_t four = 0xF1020304;
	uint16_t two = 0xF102;
	uint8_t one = 0xF1;
	cbl_x4_comp5_t sizes[] = { 8, 4, 2, 1, 8, 4, 2, 1, 8, 3, 8, 3, 5 };
	cbl_x4_comp5_t types[] = { TRACE_EVENT_TYPE_COMP5,  TRACE_EVENT_TYPE_COMP5,
				   TRACE_EVENT_TYPE_COMP5,  TRACE_EVENT_TYPE_COMP5,
				   TRACE_EVENT_TYPE_COMP5S, TRACE_EVENT_TYPE_COMP5S,
				   TRACE_EVENT_TYPE_COMP5S, TRACE_EVENT_TYPE_COMP5S,
				   TRACE_EVENT_TYPE_COMPX,  TRACE_EVENT_TYPE_COMPX,
				   TRACE_EVENT_TYPE_COMPXS, TRACE_EVENT_TYPE_COMPXS,
				   TRACE_EVENT_TYPE_TEXT };
	void *data[] = { &eight,
			 &four,
			 &two,
			 &one,
			 &eight,
			 &four,
			 &two,
			 &one,
			 (void *)(uintptr_t)big,
			 (void *)(uintptr_t)big,
			 (void *)(uintptr_t)big,
			 (void *)(uintptr_t)big,
			 "seven" };
	TRACE_EVENT event = { .event_id = 7,
			      .level = CTF_FLAG_LEVEL_WARN,
			      .data_count = sizeof sizes / sizeof sizes[0],
			      .event_len = sizes,
			      .event_type = types,
			      .event_data = data };

	for (unsigned i = 0; i < 3; i++) /* the long way, and the short one */
		if (cobctf_trace(CTF_FLAG_COMPID_STRING, (const cobuns8_t *)"MACHINE.ITEMS ",
				 &event) != CTF_RET_SUCCESS)
			abort();
}

/* As a COBOL program of this machine fills NATIVE-RECORD of tests/golden/machines/native.cpy. */
static void trace_record(void)
{
	struct {
		char name[8];
		int32_t count;
		uint16_t code;
		unsigned char rate[2];
		float ratio;
		double total;
		uint64_t at;
		unsigned char packed[3];
	} __attribute__((packed)) record = { .name = "MACHINE ",
					     .count = -123456,
					     .code = 258,
					     .rate = { 0x12, 0x34 },
					     .ratio = -0.1f,
					     .total = 2.5e-7,
					     .at = UINT64_C(0x1122334455667788),
					     .packed = { 0x12, 0x34, 0x5D } };

	CTRACE(&tracer, CTRACE_INFO, 8, CTRACE_BIN(&record, sizeof record));
}

/* The generic class. */
static void trace_many(void)
{
	static uint64_t numbers[300];
	static cbl_x4_comp5_t sizes[300], types[300];
	static void *data[300];
	TRACE_EVENT event = { .event_id = 300,
			      .level = CTF_FLAG_LEVEL_INFO,
			      .data_count = 300,
			      .event_len = sizes,
			      .event_type = types,
			      .event_data = data };

	for (unsigned i = 0; i < 300; i++) {
		numbers[i] = i;
		sizes[i] = 8;
		types[i] = i % 2 == 0 ? TRACE_EVENT_TYPE_COMP5 : TRACE_EVENT_TYPE_COMP5S;
		data[i] = &numbers[i];
	}
	if (cobctf_trace(CTF_FLAG_COMPID_STRING, (const cobuns8_t *)"MACHINE.ITEMS ", &event) !=
	    CTF_RET_SUCCESS)
		abort();
}

int main(void)
{
	for (uint32_t i = 0; i < 50; i++)
		CTRACE(&tracer, CTRACE_INFO, i % 3, CTRACE_U8(i), CTRACE_U16(258 * i),
		       CTRACE_U32(65537 * i), CTRACE_U64((uint64_t)i << 40), CTRACE_I8(-(int32_t)i),
		       CTRACE_I16(-258 * (int32_t)i), CTRACE_I32(-65537 * (int32_t)i),
		       CTRACE_I64(-((int64_t)i << 40)), CTRACE_ADDR((uintptr_t)0x1122334455667788),
		       CTRACE_STR("text"), CTRACE_BIN("\1\2\3\4\5", 5), CTRACE_XU("\1\2\3", 3),
		       CTRACE_XI("\377\376", 2));
	trace_native();
	trace_record();
	trace_many();
	return ctrace_flush(60000) == CTRACE_OK ? 0 : 1;
}
