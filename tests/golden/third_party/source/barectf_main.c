/*
 * barectf_main.c - a program that barectf traces, into 256-byte packets of the file that it is
 * given: what tests/golden/third_party/make.sh runs.
 *
 * Its clock is its own, so that the trace is always the same.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "barectf.h"

#include <stdio.h>

static uint64_t now = 1000;
static uint8_t buffer[256];
static FILE *file;
static struct barectf_default_ctx context;

static uint64_t clock_value(void *data)
{
	(void)data;
	return now;
}

static int is_full(void *data)
{
	(void)data;
	return 0;
}

static void open_packet(void *data)
{
	(void)data;
	barectf_default_open_packet(&context, 3);
}

static void close_packet(void *data)
{
	(void)data;
	barectf_default_close_packet(&context);
	fwrite(buffer, sizeof buffer, 1, file);
}

static void trace_round(int i)
{
	uint16_t grid[6] = { 1, 2, 3, 4, 5, (uint16_t)(i * 1000) };
	const uint16_t *const rows[2] = { grid, grid + 3 };
	const char *const words[3] = { "one", "", "drei \xc3\xa4" };
	const uint8_t odd[7] = { 1, 31, 2, 30, 3, 29, 4 };

	barectf_trace_bits(&context, 5, (int8_t)(-30 + i), i & 1, (int16_t)(-2048 + i), (uint8_t)i,
			   0xFEDCBA9876543210u + (unsigned)i, (int16_t)(i * 30 - 60),
			   -4294967296 + i);
	now += 1000 + (unsigned)i;
	barectf_trace_numbers(&context, 2, 31, (int8_t)-i, 0x1122334455667788u * (unsigned)i,
			      1.25f * (float)i, -1e-3 * i, -9000000000000000000 + i);
	now += 100000000; /* 27 bits go round every 134 ms */
	barectf_trace_lists(&context, 1, 0, rows, (uint32_t)(i % 4), words, (uint32_t)(i + 1), odd,
			    "tail");
	now += 7;
	barectf_trace_context(&context, 7, -64, "who", (uint16_t)(40 + i),
			      "text with \"quotes\" and \n");
	barectf_trace_empty(&context, 0, 0);
	now += 3;
}

int main(int argc, char **argv)
{
	struct barectf_platform_callbacks callbacks = { clock_value, is_full, open_packet,
							close_packet };

	file = argc == 2 ? fopen(argv[1], "wb") : NULL;
	if (file == NULL)
		return 1;
	barectf_init(&context, buffer, sizeof buffer, callbacks, NULL);
	open_packet(NULL);
	for (int i = 0; i < 6; i++)
		trace_round(i);
	if (barectf_packet_is_open(&context) && !barectf_packet_is_empty(&context))
		close_packet(NULL);
	return fclose(file) != 0;
}
