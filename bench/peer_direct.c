/*
 * peer_direct.c - the baseline: the least that a tracer can do whose ring holds the bytes of the
 * file.
 *
 * Each thread has one ring: a file that is mapped twice in a row.  An event is class : 16 | ticks :
 * 48, then the items, packed.  One consumer thread walks the bytes by a table of sizes, and writes
 * a packet head and the bytes as they are.  A full ring waits. There are no names, no levels that a
 * command changes, no other destination, no recovery: this is the bound that ctrace is compared
 * with.  babeltrace2 reads what it writes (DIRECTORY/trace).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u
#define CACHE_LINE 64
#define RINGS 4096u
#define RING_BYTES ((uint64_t)1 << 20)
#define HEAD 8u
#define A_SIZE (HEAD + 4 + BENCH_A_TEXT)
#define B_SIZE (HEAD + 4 + 8 + 8 + BENCH_B_TEXT)
#define AHEAD 1024          /* bytes */
#define INTERVAL_NS 1000000 /* between two passes */
#define WAIT_NS 100000      /* of a producer whose ring is full */
#define TICKS_MASK (((uint64_t)1 << 48) - 1)

enum { CLASS_A = 1, CLASS_B = 2, CLASSES };
static const uint16_t class_size[CLASSES] = { 0, A_SIZE, B_SIZE };

/* The first page of a ring's file. */
struct ring_words {
	_Alignas(CACHE_LINE) uint64_t head; /* written by the thread, read by the consumer */
	_Alignas(CACHE_LINE) uint64_t tail; /* the other way */
};

struct ring {
	unsigned char *cur, *end; /* the thread's: the next event, and where free space ends */
	uint64_t position;
	struct ring_words *words;
	unsigned char *base;
	int output;
};

struct packet {
	uint32_t magic, stream;
	uint64_t begin, end;
	uint64_t content_bits, packet_bits;
	uint64_t discarded;
} __attribute__((packed));
#define PACKET_MAGIC 0xC1FC1FC1u

static struct ring *rings[RINGS];
static uint32_t ring_count, ring_slots;
static uint64_t ring_bytes = RING_BYTES;
static uint64_t written_events;
static bool stopped;
static pthread_t held_by;
static char trace_directory[512], ring_directory[512];
static __thread struct ring *ring_self __attribute__((tls_model("initial-exec")));
/* a level word of a component that is on, and of one that is off */
static uint32_t threshold, threshold_off = 5;

static void nap(long ns)
{
	const struct timespec pause = { 0, ns };

	(void)nanosleep(&pause, NULL);
}

/* ---- the consumer */

struct walk {
	uint64_t events, begin, end;
};

/* The low 48 bits of a time, as the whole time that is nearest before `now`. */
static uint64_t widen(uint64_t word, uint64_t now)
{
	uint64_t ticks = (now & ~TICKS_MASK) | word >> 16;

	return ticks > now ? ticks - TICKS_MASK - 1 : ticks;
}

static struct walk walk_events(const unsigned char *at, const unsigned char *end)
{
	struct walk walk = { 0, 0, 0 };
	uint64_t now = bench_ticks(), first = 0, word = 0;

	for (; at < end; walk.events++) {
		uint32_t class;

		memcpy(&word, at, sizeof(word));
		class = (uint16_t)word;
		if (class == 0 || class >= CLASSES || (size_t)(end - at) < class_size[class]) {
			fprintf(stderr, "bench_direct: a ring is damaged\n");
			_exit(2);
		}
		if (walk.events == 0)
			first = word;
		at += class_size[class];
	}
	walk.begin = widen(first, now);
	walk.end = widen(word, now);
	return walk;
}

/* Returns the bytes that it wrote. */
static uint64_t ring_consume(struct ring *ring)
{
	uint64_t tail = ring->words->tail,
		 size = __atomic_load_n(&ring->words->head, __ATOMIC_ACQUIRE) - tail;
	unsigned char *at = ring->base + (tail & (ring_bytes - 1));
	struct packet packet = { .magic = PACKET_MAGIC };
	struct iovec parts[2] = { { &packet, sizeof(packet) }, { at, size } };
	struct walk walk;

	if (size == 0)
		return 0;
	walk = walk_events(at, at + size);
	packet.begin = walk.begin;
	packet.end = walk.end;
	packet.content_bits = packet.packet_bits = 8 * (sizeof(packet) + size);
	if (writev(ring->output, parts, 2) != (ssize_t)(sizeof(packet) + size))
		bench_die("writev");
	(void)__atomic_add_fetch(&written_events, walk.events, __ATOMIC_RELAXED);
	/* The space is free: pairs with the acquire load in ring_wait() and is_empty(). */
	__atomic_store_n(&ring->words->tail, tail + size, __ATOMIC_RELEASE);
	return size;
}

static void *consume(void *argument)
{
	(void)argument;
	while (!__atomic_load_n(&stopped, __ATOMIC_ACQUIRE)) {
		uint64_t most = 0;

		for (uint32_t i = 0; i < __atomic_load_n(&ring_count, __ATOMIC_ACQUIRE); i++) {
			uint64_t size = ring_consume(rings[i]);

			most = size > most ? size : most;
		}
		if (most <= ring_bytes / 4) /* else a producer is about to wait */
			nap(INTERVAL_NS);
	}
	return NULL;
}

/* ---- a thread's ring */

static int make_file(const char *directory, const char *name, uint32_t number)
{
	char path[600];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s%u", directory, name, number);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		bench_die(path);
	return fd;
}

static void *map(void *at, uint64_t size, int fd, off_t offset)
{
	int where = at != NULL ? MAP_FIXED : 0;
	void *memory = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE | where, fd,
			    offset);

	if (memory == MAP_FAILED)
		bench_die("mmap");
	return memory;
}

static void direct_thread_begin(void)
{
	uint32_t number = __atomic_fetch_add(&ring_slots, 1, __ATOMIC_RELAXED);
	struct ring *ring = calloc(1, sizeof(*ring));
	int fd = make_file(ring_directory, "ring.", number);
	unsigned char *twice =
		mmap(NULL, 2 * ring_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ring == NULL || number >= RINGS || ftruncate(fd, (off_t)(PAGE + ring_bytes)) != 0 ||
	    twice == MAP_FAILED)
		bench_die("a ring");
	ring->words = map(NULL, PAGE, fd, 0);
	ring->base = ring->cur = map(twice, ring_bytes, fd, PAGE);
	(void)map(twice + ring_bytes, ring_bytes, fd, PAGE);
	(void)close(fd);
	memset(ring->base, 0, 2 * ring_bytes); /* each page is written once beforehand */
	ring->end = ring->base + ring_bytes;
	ring->output = make_file(trace_directory, "stream.", number);
	ring_self = ring;
	/* In the order of numbers, so that the count covers whole rings; pairs with the acquire
	 * load in consume(). */
	while (__atomic_load_n(&ring_count, __ATOMIC_ACQUIRE) != number)
		nap(WAIT_NS);
	rings[number] = ring;
	__atomic_store_n(&ring_count, number + 1, __ATOMIC_RELEASE);
}

/* The known free space is used up: goes round, learns the tail, and waits while the ring is full.
 */
static void BENCH_NOINLINE ring_wait(struct ring *ring, size_t size)
{
	uint64_t room;

	while ((room = ring_bytes - (ring->position -
				     __atomic_load_n(&ring->words->tail, __ATOMIC_ACQUIRE))) < size)
		nap(WAIT_NS);
	ring->cur = ring->base + (ring->position & (ring_bytes - 1));
	ring->end = ring->cur + room;
}

static inline unsigned char *ring_reserve(struct ring *ring, uint64_t class)
{
	uint64_t head;

	if (__builtin_expect(ring->cur + class_size[class] > ring->end, 0))
		ring_wait(ring, class_size[class]);
	/* The consumer has read the ring's lines on another processor: this takes one back that is
	 * needed a little later. */
	__asm__ volatile("prefetchw %0" : : "m"(ring->cur[AHEAD]));
	head = class | bench_ticks() << 16;
	memcpy(ring->cur, &head, HEAD);
	return ring->cur + HEAD;
}

static inline void ring_commit(struct ring *ring, uint64_t class)
{
	ring->cur += class_size[class];
	ring->position += class_size[class];
	/* Publish: pairs with the acquire load in ring_consume(). */
	__atomic_store_n(&ring->words->head, ring->position, __ATOMIC_RELEASE);
}

/* ---- events */

static inline bool passes(const uint32_t *level)
{
	return __builtin_expect(__atomic_load_n(level, __ATOMIC_RELAXED) <= 2, 0);
}

static inline void record_a(const uint32_t *level, uint32_t i)
{
	if (passes(level)) {
		struct ring *ring = ring_self;
		unsigned char *at = ring_reserve(ring, CLASS_A);

		memcpy(at, &i, 4);
		memcpy(at + 4, bench_text(i), BENCH_A_TEXT);
		ring_commit(ring, CLASS_A);
	}
}

static inline void record_b(const uint32_t *level, uint32_t i)
{
	if (passes(level)) {
		struct ring *ring = ring_self;
		unsigned char *at = ring_reserve(ring, CLASS_B);
		uint64_t wide = bench_wide(i);
		int64_t delta = bench_delta(i);

		memcpy(at, &i, 4);
		memcpy(at + 4, &wide, 8);
		memcpy(at + 12, &delta, 8);
		memcpy(at + 20, bench_text(i), BENCH_B_TEXT);
		ring_commit(ring, CLASS_B);
	}
}

static void BENCH_NOINLINE batch_a(uint32_t count)
{
	BENCH_LOOP(i, count)
	record_a(&threshold, i);
}

static void BENCH_NOINLINE batch_b(uint32_t count)
{
	BENCH_LOOP(i, count)
	record_b(&threshold, i);
}

static void BENCH_NOINLINE batch_off(uint32_t count)
{
	BENCH_LOOP(i, count)
	record_a(&threshold_off, i);
}

/* ---- set up, and ended */

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
	"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := letter;\n"
	"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };\n"
	"clock { name = ticks; freq = %llu; offset = 0; };\n"
	"typealias integer { size = 48; align = 8; signed = false; map = clock.ticks.value; } := time48;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.ticks.value; } := time64;\n"
	"stream {\n"
	"    id = 0;\n"
	"    packet.context := struct { time64 timestamp_begin; time64 timestamp_end; u64 content_size; u64 packet_size; "
	"u64 events_discarded; };\n"
	"    event.header := struct { u16 id; time48 timestamp; };\n"
	"};\n"
	"event { name = a; id = 1; stream_id = 0; fields := struct { u32 number; letter text[10]; }; };\n"
	"event { name = b; id = 2; stream_id = 0; fields := struct { u32 number; u64 wide; i64 delta; letter text[32]; }; };\n";

static void write_metadata(void)
{
	struct bench_span start = bench_span_now();
	char path[600];
	FILE *file;

	nap(10000000);
	(void)snprintf(path, sizeof(path), "%s/metadata", trace_directory);
	file = fopen(path, "we");
	if (file == NULL ||
	    fprintf(file, metadata,
		    (unsigned long long)(1e9 / bench_ns_per_tick(start, bench_span_now()))) < 0 ||
	    fclose(file) != 0)
		bench_die(path);
}

static void direct_prepare(const struct bench_setup *setup)
{
	if (setup->ring_bytes != 0)
		ring_bytes = setup->ring_bytes;
	if (ring_bytes % PAGE != 0 || (ring_bytes & (ring_bytes - 1)) != 0) {
		fprintf(stderr, "bench_direct: ring_bytes is not a power of two of whole pages\n");
		exit(2);
	}
	(void)snprintf(trace_directory, sizeof(trace_directory), "%.400s/trace", setup->directory);
	(void)snprintf(ring_directory, sizeof(ring_directory), "%.400s",
		       setup->rings[0] != '\0' ? setup->rings : setup->directory);
	if (mkdir(trace_directory, 0700) != 0)
		bench_die(trace_directory);
	write_metadata();
	if (pthread_create(&held_by, NULL, consume, NULL) != 0)
		bench_die("pthread_create");
}

static bool is_empty(const struct ring *ring)
{
	return __atomic_load_n(&ring->words->tail, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&ring->words->head, __ATOMIC_ACQUIRE);
}

static void direct_consumer(void)
{
	for (uint32_t i = 0; i < __atomic_load_n(&ring_count, __ATOMIC_ACQUIRE); i++)
		while (!is_empty(rings[i]))
			nap(WAIT_NS);
}

static uint64_t direct_delivered(uint64_t made)
{
	(void)made;
	return __atomic_load_n(&written_events, __ATOMIC_RELAXED);
}

static void direct_finish(void)
{
	direct_consumer();
}

static void __attribute__((destructor)) stop_consumer(void)
{
	if (ring_count > 0) {
		__atomic_store_n(&stopped, true, __ATOMIC_RELEASE);
		(void)pthread_join(held_by, NULL);
	}
}

static const struct bench_case cases[] = {
	{ "a", batch_a, true },
	{ "b", batch_b, true },
	{ "off", batch_off, false },
};

const struct bench_peer bench_peer = {
	.name = "direct",
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.prepare = direct_prepare,
	.thread_begin = direct_thread_begin,
	.consumer = direct_consumer,
	.finish = direct_finish,
	.delivered = direct_delivered,
};
