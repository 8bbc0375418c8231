/*
 * tool_subject.c - a traced program for tests of the tool: traces, says so, and waits to be looked
 * at.
 *
 * tool_subject COUNT - COUNT events each of tool.main (INFO) and tool.main.part (WARN), then
 * "ready" on stdout.  Then each line on stdin is an order: "flush" delivers everything, "span"
 * traces the events 3 and 4 of tool.main, a number as many more of its events 1; each is answered
 * with its status.  Ends at the end of stdin.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <stdio.h>
#include <stdlib.h>

static struct ctrace_tracer whole = CTRACE_TRACER("tool.main");
static struct ctrace_tracer part = CTRACE_TRACER("tool.main.part");

static void trace(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		CTRACE(&whole, CTRACE_INFO, 1, CTRACE_U32(i));
}

int main(int argc, char **argv)
{
	struct ctrace_tracer *hostile = NULL;
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	char order[64];

	if (ctrace_tracer_get("tool.evil\033[2J\n9999  forged", &hostile) != CTRACE_OK)
		return 1;
	trace(count);
	for (uint32_t i = 0; i < count; i++)
		CTRACE(&part, CTRACE_WARN, 2, CTRACE_STR("part"));
	puts("ready");
	fflush(stdout);
	while (fgets(order, sizeof(order), stdin) != NULL) {
		int status = 0;

		if (strcmp(order, "flush\n") == 0) {
			status = (int)ctrace_flush(10000);
		} else if (strcmp(order, "span\n") == 0) {
			CTRACE(&whole, CTRACE_INFO, 3, CTRACE_STR("begin"));
			CTRACE(&whole, CTRACE_INFO, 4, CTRACE_STR("end"));
		} else {
			trace((uint32_t)strtoul(order, NULL, 10));
		}
		printf("%d\n", status);
		fflush(stdout);
	}
	return 0;
}
