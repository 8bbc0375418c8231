/*
 * peer_ctrace.c - ctrace as a measured tracer: events by CTRACE(), by CBL_CTF_TRACE from C and from
 * COBOL, by ctrace_entry().
 *
 * Linked with libctrace.so as a program would be.  The destination is BINFILE in the directory,
 * TEXTFILE there with output=text, STORAGE with output=storage, or the spool of NATS with
 * output=nats.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "workload.h"

#include <ctrace/component.h>
#include <libgen.h>
#include <mfctf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef BENCH_COBOL
#include <libcob.h>
#endif

#define FLUSH_MS 60000u

/* ---- events through ctrace */

static struct ctrace_tracer tracer = CTRACE_TRACER("BENCH.C");
static struct ctrace_tracer tracer_off = CTRACE_TRACER("BENCH.OFF");

static void BENCH_NOINLINE batch_a(uint32_t count)
{
	BENCH_LOOP(i, count)
	BENCH_TRACE_A(&tracer, i);
}

/* Out of line, as C++ and programs without the macros do. */
static void BENCH_NOINLINE batch_emit(uint32_t count)
{
	BENCH_LOOP(i, count)
	{
		const struct ctrace_item items[] = { CTRACE_U32(i),
						     CTRACE_TEXT(bench_text(i), BENCH_A_TEXT) };

		(void)ctrace_emit(&tracer, CTRACE_INFO, 1, items, 2);
	}
}

static void BENCH_NOINLINE batch_b(uint32_t count)
{
	BENCH_LOOP(i, count)
	BENCH_TRACE_B(&tracer, i);
}

static void BENCH_NOINLINE batch_t(uint32_t count)
{
	BENCH_LOOP(i, count)
	BENCH_TRACE_T(&tracer, i);
}

static void BENCH_NOINLINE batch_off(uint32_t count)
{
	BENCH_LOOP(i, count)
	BENCH_TRACE_A(&tracer_off, i);
}

/* Entries of a component trace that is on, of one with a buffer of its own, and of one that is off.
 */
static struct ctrace_tracer *entries;
static struct ctrace_tracer *entries_own;
static struct ctrace_tracer *entries_off;

static inline void make_entries(struct ctrace_tracer *trace, uint32_t count)
{
	BENCH_LOOP(i, count)
	ctrace_entry(trace, 3, bench_text(i), BENCH_B_TEXT);
}

static void BENCH_NOINLINE batch_entry(uint32_t count)
{
	make_entries(entries, count);
}

static void BENCH_NOINLINE batch_entry_own(uint32_t count)
{
	make_entries(entries_own, count);
}

static void BENCH_NOINLINE batch_entry_off(uint32_t count)
{
	make_entries(entries_off, count);
}

static uint32_t agree(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

static bool define_trace(const char *name, uint64_t buffer, uint32_t state,
			 struct ctrace_tracer **out_tracer)
{
	const struct ctrace_define define = { CTRACE_DEFINE_INIT, .name = name,
					      .startnam = "BENCHSS",
					      .buffer = buffer != 0 ? CTRACE_YES : CTRACE_NO,
					      .bufdflt = buffer };
	const struct ctrace_trace_ct command = { CTRACE_TRACE_CT_INIT, .state = state,
						 .name = name };

	return ctrace_component_define(&define, NULL) == CTRACE_RC_OK &&
	       ctrace_trace_ct(&command, NULL) == CTRACE_RC_OK &&
	       ctrace_component_tracer(name, NULL, out_tracer) == CTRACE_OK;
}

static bool define_traces(void)
{
	return ctrace_routine_register("BENCHSS", agree) == CTRACE_OK &&
	       define_trace("BENCHCT", 0, CTRACE_CT_ON, &entries) &&
	       define_trace("BENCHOWN", 1u << 20, CTRACE_CT_ON, &entries_own) &&
	       define_trace("BENCHOFF", 0, CTRACE_CT_OFF, &entries_off);
}

/* cblt-trc-event */
struct packed_event {
	uint32_t version, flags, event_id, level, data_count;
	const uint32_t *event_len, *event_type;
	const void **event_data;
} __attribute__((packed));
_Static_assert(sizeof(struct packed_event) == 44, "the COBOL group has no padding");

static cbl_x4_comp5_t handle;
static const cobuns8_t cbl_name[] = "BENCH.CBL ";

/* The last `items` of A's two, as a COBOL program would pass them: A, or T. */
static inline void trace_cbl(uint32_t flags, const void *component_id, uint32_t items,
			     uint32_t count)
{
	const uint32_t lengths[2] = { sizeof(uint32_t), BENCH_A_TEXT };
	const uint32_t types[2] = { TRACE_EVENT_TYPE_COMP5, TRACE_EVENT_TYPE_TEXT };
	const void *data[2];
	struct packed_event event = { .event_id = items == 1 ? 3 : 1,
				      .level = CTRACE_INFO,
				      .data_count = items,
				      .event_len = lengths + 2 - items,
				      .event_type = types + 2 - items,
				      .event_data = data + 2 - items };

	BENCH_LOOP(i, count)
	{
		uint32_t number = i;

		data[0] = &number;
		data[1] = bench_text(i);
		__asm__ volatile("" : : : "memory");
		(void)CBL_CTF_TRACE(flags, component_id, &event);
	}
}

static void BENCH_NOINLINE batch_cbl_handle(uint32_t count)
{
	trace_cbl(0, &handle, 2, count);
}

static void BENCH_NOINLINE batch_cbl_handle_t(uint32_t count)
{
	trace_cbl(0, &handle, 1, count);
}

static void BENCH_NOINLINE batch_cbl_name(uint32_t count)
{
	trace_cbl(CTF_FLAG_COMPID_STRING, cbl_name, 2, count);
}

static void BENCH_NOINLINE batch_cbl_name_t(uint32_t count)
{
	trace_cbl(CTF_FLAG_COMPID_STRING, cbl_name, 1, count);
}

/* ---- from COBOL */

/* bench_cobol.cbl calls it, to learn what a CALL costs. */
__attribute__((visibility("default"))) int bench_nothing(uint32_t flags, const void *component_id,
							 const void *event);
int bench_nothing(uint32_t flags, const void *component_id, const void *event)
{
	(void)flags;
	(void)component_id;
	(void)event;
	return 0;
}

#ifdef BENCH_COBOL
static void call_cobol(uint32_t mode, uint32_t count)
{
	void *parameters[] = { &mode, &count };

	(void)cob_call("benchcobol", 2, parameters);
}

static void prepare_cobol(void)
{
	char program[4096];
	ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (size < 0)
		bench_die("/proc/self/exe");
	program[size] = '\0';
	if (setenv("COB_LIBRARY_PATH", dirname(program), 1) != 0)
		bench_die("setenv");
	cob_init(0, NULL);
}

static void BENCH_NOINLINE batch_cobol_handle(uint32_t count)
{
	call_cobol(1, count);
}

static void BENCH_NOINLINE batch_cobol_name(uint32_t count)
{
	call_cobol(2, count);
}

static void BENCH_NOINLINE batch_cobol_handle_t(uint32_t count)
{
	call_cobol(4, count);
}

static void BENCH_NOINLINE batch_cobol_nothing(uint32_t count)
{
	call_cobol(3, count);
}
#endif

/* ---- set up, and ended */

static bool is_in_storage;

static void expect(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench_ctrace: %s: refused\n", what);
	exit(2);
}

/* A line of the configuration; VALUE stands for its %s. */
static void configure(const char *line, const char *value)
{
	char text[700];

	expect(snprintf(text, sizeof(text), line, value) < (int)sizeof(text) &&
		       ctrace_configure(text) == CTRACE_OK,
	       line);
}

static void configure_output(const struct bench_setup *setup)
{
	is_in_storage = strcmp(setup->output, "storage") == 0;
	if (strcmp(setup->output, "text") == 0) {
		configure("mftrace.dest = %s", "textfile");
		configure("mftrace.emitter.textfile#file = %s/bench.log", setup->directory);
	} else if (is_in_storage) {
		configure("mftrace.dest = %s", "storage");
	} else if (strcmp(setup->output, "nats") == 0) {
		if (setenv("CTRACE_SPOOL", setup->directory, 1) != 0)
			bench_die("setenv");
		configure("ctrace.spool.size = %s", "16G");
		configure("mftrace.emitter.nats#url = %s", "nats://localhost");
		configure("mftrace.dest = %s", "nats");
	} else {
		configure("mftrace.dest = %s", "binfile");
		configure("mftrace.emitter.binfile#location = %s", setup->directory);
	}
}

/* Only a file can set the clock. */
static void write_configuration(const struct bench_setup *setup)
{
	char path[700];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%.600s/bench.cfg", setup->directory);
	file = fopen(path, "we");
	if (file == NULL || fprintf(file, "ctrace.clock = %s\n", setup->clock) < 0 ||
	    fclose(file) != 0)
		bench_die(path);
	if (setenv("MFTRACE_CONFIG", path, 1) != 0)
		bench_die("setenv");
}

static void ctrace_prepare(const struct bench_setup *setup)
{
	char number[24];

	if (setup->rings[0] != '\0' && setenv("CTRACE_RUN_DIR", setup->rings, 1) != 0)
		bench_die("setenv");
	write_configuration(setup);
	(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)setup->ring_bytes);
	if (setup->ring_bytes != 0)
		configure("ctrace.buffer = %s", number);
	configure("ctrace.overflow = %s", setup->policy);
	configure("ctrace.block.timeout = %s", "60000");
	configure_output(setup);
	expect(ctrace_level_set(NULL, CTRACE_INFO) == CTRACE_OK, "a level");
	expect(ctrace_level_set("BENCH.OFF", CTRACE_LEVEL_NONE) == CTRACE_OK, "a level");
	expect(CBL_CTF_TRACER_GET(0, cbl_name, &handle) == CTF_RET_SUCCESS, "CBL_CTF_TRACER_GET");
	expect(define_traces(), "a component trace");
	batch_off(1); /* registers */
#ifdef BENCH_COBOL
	prepare_cobol();
#endif
}

static void ctrace_consumer(void)
{
	enum ctrace_status status = ctrace_flush(FLUSH_MS);

	expect(status == CTRACE_OK, ctrace_status_name(status));
}

/* An event that nobody made, or that was not emitted, is as bad as one that is not in the files.
 * In storage no event reaches a file: each counts that was recorded, also when a later one has
 * overwritten it. */
static uint64_t ctrace_delivered(uint64_t made)
{
	struct ctrace_stats stats = { .size = sizeof(stats) };

	ctrace_stats_get(&stats);
	if (stats.emitted > made)
		return 0;
	if (!is_in_storage)
		return stats.delivered;
	for (size_t i = 0; i < CTRACE_LOSS_COUNT; i++)
		if (i != CTRACE_LOSS_OVERWRITTEN)
			stats.emitted -= stats.lost[i];
	return stats.emitted;
}

static const struct bench_case cases[] = {
	{ "a", batch_a, true },
	{ "emit", batch_emit, true },
	{ "b", batch_b, true },
	{ "t", batch_t, true },
	{ "off", batch_off, false },
	{ "entry", batch_entry, true },
	{ "entry_own", batch_entry_own, true },
	{ "entry_off", batch_entry_off, false },
	{ "cbl_handle", batch_cbl_handle, true },
	{ "cbl_name", batch_cbl_name, true },
	{ "cbl_handle_t", batch_cbl_handle_t, true },
	{ "cbl_name_t", batch_cbl_name_t, true },
#ifdef BENCH_COBOL
	{ "cobol_nothing", batch_cobol_nothing, false },
	{ "cobol_handle", batch_cobol_handle, true },
	{ "cobol_name", batch_cobol_name, true },
	{ "cobol_handle_t", batch_cobol_handle_t, true },
#endif
};

const struct bench_peer bench_peer = {
	.name = "ctrace",
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.prepare = ctrace_prepare,
	.consumer = ctrace_consumer,
	.finish = ctrace_consumer,
	.delivered = ctrace_delivered,
};
