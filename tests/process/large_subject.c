/*
 * large_subject.c - a traced program for tests of large events: orders on stdin, one answer each.
 *
 * large_subject - defines a component LARGE and says "ready".  "trace N": one event of N items of
 * 64 KiB, half of them binary and half of them text; "small": one of four bytes; both answer with
 * the status.  Before that "plain" switches the component on, "on WRITER" with that writer.
 * "flush": the status.  "stats": emitted, delivered, pending, too large, other losses.  "die":
 * SIGKILL.  Byte k of item i is 7 i + 13 k + k / 256.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/component.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ctrace_tracer *tracer;
static unsigned char bytes[CTRACE_MAX_ITEMS][CTRACE_MAX_ITEM_SIZE];
static struct ctrace_item items[CTRACE_MAX_ITEMS];

static enum ctrace_status trace(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < CTRACE_MAX_ITEM_SIZE; k++)
			bytes[i][k] = (unsigned char)(7 * i + 13 * k + k / 256);
		items[i] = i % 2 == 0 ? CTRACE_BIN(bytes[i], CTRACE_MAX_ITEM_SIZE)
				      : CTRACE_TEXT(bytes[i], CTRACE_MAX_ITEM_SIZE);
	}
	return ctrace_emit(tracer, CTRACE_INFO, count, items, count);
}

static enum ctrace_status trace_small(void)
{
	const struct ctrace_item item = CTRACE_U32(4711);

	return ctrace_emit(tracer, CTRACE_INFO, 1, &item, 1);
}

static void command(const char *writer)
{
	struct ctrace_trace_ct request = { CTRACE_TRACE_CT_INIT, .name = "LARGE",
					   .state = CTRACE_CT_ON, .wtr = writer };
	struct ctrace_outcome outcome;
	uint32_t rc = ctrace_trace_ct(&request, &outcome);

	printf("%02X %s\n", rc, outcome.message);
}

static void print_stats(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };
	unsigned long long lost = 0;

	ctrace_stats_get(&stats);
	for (int i = 0; i < CTRACE_LOSS_COUNT; i++)
		lost += i != CTRACE_LOSS_TOO_LARGE ? stats.lost[i] : 0;
	printf("%llu %llu %llu %llu %llu\n", (unsigned long long)stats.emitted,
	       (unsigned long long)stats.delivered, (unsigned long long)stats.pending,
	       (unsigned long long)stats.lost[CTRACE_LOSS_TOO_LARGE], lost);
}

static void obey(const char *order)
{
	char writer[16];

	if (sscanf(order, "on %15s", writer) == 1)
		command(writer);
	else if (strcmp(order, "plain\n") == 0)
		command(NULL);
	else if (strncmp(order, "trace ", 6) == 0)
		printf("%d\n", (int)trace((uint32_t)strtoul(order + 6, NULL, 10)));
	else if (strcmp(order, "small\n") == 0)
		printf("%d\n", (int)trace_small());
	else if (strcmp(order, "flush\n") == 0)
		printf("%d\n", (int)ctrace_flush(600000));
	else if (strcmp(order, "stats\n") == 0)
		print_stats();
	else if (strcmp(order, "die\n") == 0)
		(void)raise(SIGKILL);
	else
		puts("what?");
}

static uint32_t agree(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

int main(void)
{
	const struct ctrace_define define = { CTRACE_DEFINE_INIT,        .name = "LARGE",
					      .startnam = "AGREE",       .fmttab = "FORMAT",
					      .mod = CTRACE_YES,         .wtr = CTRACE_YES,
					      .wtrmode = CTRACE_PAGEABLE };
	struct ctrace_outcome outcome;
	char order[64];

	if (ctrace_routine_register("AGREE", agree) != CTRACE_OK ||
	    ctrace_component_define(&define, &outcome) != 0 ||
	    ctrace_component_tracer("LARGE", NULL, &tracer) != CTRACE_OK)
		return 1;
	puts("ready");
	(void)fflush(stdout);
	while (fgets(order, sizeof order, stdin) != NULL) {
		obey(order);
		(void)fflush(stdout);
	}
	return 0;
}
