/*
 * peer_floor.c - what no tracer can cost less than: a load and a branch, a reading of the time
 * stamp counter or of CLOCK_MONOTONIC, a write of the bytes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "workload.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 262144u /* bytes a write */
#define A_SIZE (8u + 4 + BENCH_A_TEXT)
#define B_SIZE (8u + 4 + 8 + 8 + BENCH_B_TEXT)

static uint32_t threshold = 5;
static int output;
static off_t written;
static uint64_t waiting; /* bytes */
static unsigned char block[BLOCK];

static void BENCH_NOINLINE batch_branch(uint32_t count)
{
	BENCH_LOOP(i, count)
	if (__builtin_expect(__atomic_load_n(&threshold, __ATOMIC_RELAXED) <= 2, 0))
		__asm__ volatile("int3" : : "r"(i));
}

static void BENCH_NOINLINE batch_rdtsc(uint32_t count)
{
	BENCH_LOOP(i, count)
	{
		uint64_t ticks = bench_ticks();

		__asm__ volatile("" : : "r"(ticks));
	}
}

static void BENCH_NOINLINE batch_clock(uint32_t count)
{
	BENCH_LOOP(i, count)
	{
		struct timespec now;

		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		__asm__ volatile("" : : "r"(&now) : "memory");
	}
}

static void write_block(uint64_t size)
{
	if (pwrite(output, block, size, written) != (ssize_t)size)
		bench_die("pwrite");
	written += (off_t)size;
	waiting -= size;
}

static void batch_write(uint64_t bytes)
{
	waiting += bytes;
	while (waiting >= BLOCK)
		write_block(BLOCK);
}

static void batch_write_a(uint32_t count)
{
	batch_write((uint64_t)count * A_SIZE);
}

static void batch_write_b(uint32_t count)
{
	batch_write((uint64_t)count * B_SIZE);
}

static void floor_prepare(const struct bench_setup *setup)
{
	char path[600];

	memset(block, 'x', sizeof(block));
	(void)snprintf(path, sizeof(path), "%.500s/written", setup->directory);
	output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (output < 0)
		bench_die(path);
}

static void floor_finish(void)
{
	if (waiting > 0)
		write_block(waiting);
}

static uint64_t floor_delivered(uint64_t made)
{
	return made;
}

static const struct bench_case cases[] = {
	{ "branch", batch_branch, false },  { "rdtsc", batch_rdtsc, false },
	{ "clock", batch_clock, false },    { "write_a", batch_write_a, true },
	{ "write_b", batch_write_b, true },
};

const struct bench_peer bench_peer = {
	.name = "floor",
	.cases = cases,
	.case_count = sizeof(cases) / sizeof(cases[0]),
	.prepare = floor_prepare,
	.consumer = floor_finish,
	.finish = floor_finish,
	.delivered = floor_delivered,
};
