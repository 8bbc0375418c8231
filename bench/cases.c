/*
 * cases.c - the loops that are timed: events through ctrace, and the baselines that they are compared with.
 *
 * Every loop picks its text in the same way, so what differs is the event.  The baseline "rdtsc + ring" is the least that any tracer of
 * this kind can do: a record of fixed size in a thread's own ring in a mapped file, a look at the consumer's position, a release store.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <ctrace/component.h>
#include <fcntl.h>
#include <mfctf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef BENCH_COBOL
#include <libcob.h>
#endif

#define LOOP(i, count) for (uint32_t i = 0; i < (count); i++)
#define NOINLINE __attribute__((noinline))

#define TEXTS 16u
#define A_TEXT 10u
#define B_TEXT 32u

static const char texts[TEXTS][64] = {
	"some info, and what is behind it", "open acct, and what is behind it", "read file, and what is behind it",
	"rec found, and what is behind it", "add total, and what is behind it", "sub total, and what is behind it",
	"one month, and what is behind it", "next year, and what is behind it", "last page, and what is behind it",
	"no record, and what is behind it", "bad check, and what is behind it", "new owner, and what is behind it",
	"old owner, and what is behind it", "all of it, and what is behind it", "none here, and what is behind it",
	"the end..., what is behind it..",
};

static inline const char *pick(uint32_t i)
{
	return texts[i % TEXTS];
}

/* ---- nothing */

void NOINLINE bench_nothing_batch(uint32_t count)
{
	LOOP(i, count)
	__asm__ volatile("" : : "r"(i));
}

/* What COBOL calls to learn what a CALL costs. */
__attribute__((visibility("default"))) int bench_nothing(uint32_t flags, const void *component_id, const void *event);
int bench_nothing(uint32_t flags, const void *component_id, const void *event)
{
	(void)flags;
	(void)component_id;
	(void)event;
	return 0;
}

/* ---- baselines */

static uint32_t threshold = 5;

static void NOINLINE batch_load_branch(uint32_t count)
{
	LOOP(i, count)
	if (__builtin_expect(__atomic_load_n(&threshold, __ATOMIC_RELAXED) <= CTRACE_INFO, 0))
		__asm__ volatile("int3" : : "r"(i));
}

static void NOINLINE batch_rdtsc(uint32_t count)
{
	LOOP(i, count)
	{
		uint64_t ticks = bench_ticks();

		__asm__ volatile("" : : "r"(ticks));
	}
}

#define RING_DATA ((size_t)1 << 20)
#define CACHE_LINE 64

struct ring_words {
	_Alignas(CACHE_LINE) uint64_t head;
	_Alignas(CACHE_LINE) uint64_t tail; /* a consumer's: it would be on another processor */
	_Alignas(CACHE_LINE) unsigned char data[RING_DATA];
};

struct ring_end {
	unsigned char *cur;
	unsigned char *end;
	uint64_t position;
	struct ring_words *words;
};
static struct ring_end ring;
static __thread struct ring_end *ring_self __attribute__((tls_model("initial-exec")));
static uint64_t ring_lost;

static inline unsigned char *ring_reserve(struct ring_end *end, size_t size)
{
	unsigned char *at = end->cur;

	if (__builtin_expect(end->position + size - __atomic_load_n(&end->words->tail, __ATOMIC_ACQUIRE) > RING_DATA, 0)) {
		ring_lost++;
		return NULL;
	}
	return __builtin_expect(at + size > end->end, 0) ? end->words->data : at;
}

static inline void ring_commit(struct ring_end *end, unsigned char *at, size_t size)
{
	uint64_t position = end->position + size;

	end->cur = at + size;
	end->position = position;
	__atomic_store_n(&end->words->head, position, __ATOMIC_RELEASE);
}

struct record_a {
	uint32_t id;
	uint32_t level;
	uint64_t ticks;
	char text[A_TEXT];
	char pad[40 - 16 - A_TEXT];
};
_Static_assert(sizeof(struct record_a) == 40, "A is 40 bytes");

struct record_b {
	uint32_t id;
	uint32_t number;
	uint64_t ticks;
	uint64_t wide;
	int64_t delta;
	char text[B_TEXT];
};
_Static_assert(sizeof(struct record_b) == 64, "B is 64 bytes");

static void NOINLINE batch_ring_a(uint32_t count)
{
	LOOP(i, count)
	{
		struct ring_end *end = ring_self;
		struct record_a *record = (struct record_a *)(void *)ring_reserve(end, sizeof(*record));

		if (record == NULL)
			continue;
		record->id = 1;
		record->level = CTRACE_INFO;
		record->ticks = bench_ticks();
		memcpy(record->text, pick(i), A_TEXT);
		ring_commit(end, (unsigned char *)record, sizeof(*record));
	}
}

static void NOINLINE batch_ring_b(uint32_t count)
{
	LOOP(i, count)
	{
		struct ring_end *end = ring_self;
		struct record_b *record = (struct record_b *)(void *)ring_reserve(end, sizeof(*record));

		if (record == NULL)
			continue;
		record->id = 2;
		record->number = i;
		record->ticks = bench_ticks();
		record->wide = (uint64_t)i << 20;
		record->delta = -(int64_t)i;
		memcpy(record->text, pick(i), B_TEXT);
		ring_commit(end, (unsigned char *)record, sizeof(*record));
	}
}

void bench_baseline_drain(void)
{
	__atomic_store_n(&ring.words->tail, ring.position, __ATOMIC_RELEASE);
}

uint64_t bench_baseline_lost(void)
{
	return ring_lost;
}

static void make_baseline_ring(const char *folder)
{
	char path[512];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/baseline.ring", folder);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(struct ring_words)) != 0)
		bench_die(path);
	ring.words = mmap(NULL, sizeof(struct ring_words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (ring.words == MAP_FAILED)
		bench_die("mmap");
	(void)close(fd);
	memset(ring.words->data, 1, sizeof(ring.words->data));
	ring.cur = ring.words->data;
	ring.end = ring.words->data + sizeof(ring.words->data);
	ring_self = &ring;
}

/* ---- events through ctrace */

static struct ctrace_tracer tracer = CTRACE_TRACER("BENCH.C");
static struct ctrace_tracer tracer_off = CTRACE_TRACER("BENCH.OFF");

static void NOINLINE batch_a(uint32_t count)
{
	LOOP(i, count)
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_TEXT(pick(i), A_TEXT));
}

static void NOINLINE batch_b(uint32_t count)
{
	LOOP(i, count)
	CTRACE(&tracer, CTRACE_INFO, 2, CTRACE_U32(i), CTRACE_U64((uint64_t)i << 20), CTRACE_I64(-(int64_t)i),
	       CTRACE_TEXT(pick(i), B_TEXT));
}

static void NOINLINE batch_disabled(uint32_t count)
{
	LOOP(i, count)
	CTRACE(&tracer_off, CTRACE_INFO, 1, CTRACE_TEXT(pick(i), A_TEXT));
}

/* Entries of a component trace that is on, of one with a buffer of its own, and of one that is off. */
static struct ctrace_tracer *entries;
static struct ctrace_tracer *entries_own;
static struct ctrace_tracer *entries_off;

static inline void make_entries(struct ctrace_tracer *trace, uint32_t count)
{
	LOOP(i, count)
	ctrace_entry(trace, 3, pick(i), B_TEXT);
}

static void NOINLINE batch_entry(uint32_t count)
{
	make_entries(entries, count);
}

static void NOINLINE batch_entry_own(uint32_t count)
{
	make_entries(entries_own, count);
}

static void NOINLINE batch_entry_off(uint32_t count)
{
	make_entries(entries_off, count);
}

static uint32_t agree(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

static bool define_trace(const char *name, uint64_t buffer, uint32_t state, struct ctrace_tracer **out_tracer)
{
	const struct ctrace_define define = { CTRACE_DEFINE_INIT, .name = name, .startnam = "BENCHSS",
					      .buffer = buffer != 0 ? CTRACE_YES : CTRACE_NO, .bufdflt = buffer };
	const struct ctrace_trace_ct command = { CTRACE_TRACE_CT_INIT, .state = state, .name = name };

	return ctrace_component_define(&define, NULL) == CTRACE_RC_OK && ctrace_trace_ct(&command, NULL) == CTRACE_RC_OK &&
	       ctrace_component_tracer(name, NULL, out_tracer) == CTRACE_OK;
}

static bool define_traces(void)
{
	return ctrace_routine_register("BENCHSS", agree) == CTRACE_OK && define_trace("BENCHCT", 0, CTRACE_CT_ON, &entries) &&
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

static inline void trace_cbl(uint32_t flags, const void *component_id, uint32_t count)
{
	const uint32_t length = A_TEXT, type = TRACE_EVENT_TYPE_TEXT;
	const void *data;
	struct packed_event event = {
		.event_id = 1, .level = CTRACE_INFO, .data_count = 1, .event_len = &length, .event_type = &type, .event_data = &data
	};

	LOOP(i, count)
	{
		data = pick(i);
		__asm__ volatile("" : : : "memory");
		(void)CBL_CTF_TRACE(flags, component_id, &event);
	}
}

static void NOINLINE batch_cbl_handle(uint32_t count)
{
	trace_cbl(0, &handle, count);
}

static void NOINLINE batch_cbl_name(uint32_t count)
{
	trace_cbl(CTF_FLAG_COMPID_STRING, cbl_name, count);
}

void bench_cases_prepare(const char *folder)
{
	enum ctrace_status status;

	make_baseline_ring(folder);
	status = ctrace_emitter_property_set("BINFILE", "LOCATION", folder);
	if (status == CTRACE_OK)
		status = ctrace_dest_set(NULL, "BINFILE", CTRACE_DEST_ADD);
	if (status == CTRACE_OK)
		status = ctrace_dest_set(NULL, "TEXTFILE", CTRACE_DEST_REMOVE);
	if (status == CTRACE_OK || status == CTRACE_EMITTER_NOT_FOUND)
		status = ctrace_level_set(NULL, CTRACE_INFO);
	if (status == CTRACE_OK)
		status = ctrace_level_set("BENCH.OFF", CTRACE_LEVEL_NONE);
	if (status != CTRACE_OK || CBL_CTF_TRACER_GET(0, cbl_name, &handle) != CTF_RET_SUCCESS) {
		fprintf(stderr, "bench_trace: cannot set tracing up: %s\n", ctrace_status_name(status));
		exit(2);
	}
	if (!define_traces()) {
		fprintf(stderr, "bench_trace: cannot define a component trace\n");
		exit(2);
	}
	batch_disabled(1); /* registers */
	batch_a(1);
}

/* ---- from COBOL */

#ifdef BENCH_COBOL
static void call_cobol(uint32_t mode, uint32_t count)
{
	void *parameters[] = { &mode, &count };

	(void)cob_call("benchcobol", 2, parameters);
}

void bench_cases_prepare_cobol(const char *library_folder)
{
	if (setenv("COB_LIBRARY_PATH", library_folder, 1) != 0)
		bench_die("setenv");
	cob_init(0, NULL);
}
#else
static void call_cobol(uint32_t mode, uint32_t count)
{
	(void)mode;
	(void)count;
}

void bench_cases_prepare_cobol(const char *library_folder)
{
	(void)library_folder;
}
#endif

static void NOINLINE batch_cobol_handle(uint32_t count)
{
	call_cobol(1, count);
}

static void NOINLINE batch_cobol_name(uint32_t count)
{
	call_cobol(2, count);
}

static void NOINLINE batch_cobol_nothing(uint32_t count)
{
	call_cobol(3, count);
}

bool bench_cases_have(const struct bench_case *bench)
{
#ifdef BENCH_COBOL
	(void)bench;
	return true;
#else
	return strncmp(bench->name, "cobol", 5) != 0;
#endif
}

/* ---- the list */

const struct bench_case bench_cases[] = {
	{ "load_branch", "load + predictable branch", batch_load_branch, false, false },
	{ "rdtsc", "rdtsc", batch_rdtsc, false, true },
	{ "ring_a", "rdtsc + ring, 40 bytes", batch_ring_a, false, true },
	{ "ring_b", "rdtsc + ring, 64 bytes", batch_ring_b, false, true },
	{ "a", "A: one 10-byte text", batch_a, true, true },
	{ "b", "B: u32, u64, i64, 32-byte text", batch_b, true, true },
	{ "c", "C: disabled", batch_disabled, false, false },
	{ "entry", "E: ctrace_entry, 32 bytes", batch_entry, true, true },
	{ "entry_own", "E, with a buffer of its own", batch_entry_own, true, true },
	{ "entry_off", "E, the trace being off", batch_entry_off, false, false },
	{ "cbl_handle", "A, CBL_CTF_TRACE by handle, C", batch_cbl_handle, true, true },
	{ "cbl_name", "A, CBL_CTF_TRACE by name, C", batch_cbl_name, true, true },
	{ "cobol_nothing", "COBOL: CALL of an empty routine", batch_cobol_nothing, false, false },
	{ "cobol_handle", "A, CBL_CTF_TRACE by handle, COBOL", batch_cobol_handle, true, false },
	{ "cobol_name", "A, CBL_CTF_TRACE by name, COBOL", batch_cobol_name, true, false },
};
const size_t bench_case_count = sizeof(bench_cases) / sizeof(bench_cases[0]);

const struct bench_case *bench_case_find(const char *name)
{
	for (size_t i = 0; i < bench_case_count; i++)
		if (strcmp(bench_cases[i].name, name) == 0)
			return &bench_cases[i];
	return NULL;
}
