/*
 * bench_read.c - makes the trace whose reading is measured: COUNT times A, every hundredth with
 * another id, into the BINFILE that the configuration names.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXTS 4u
#define TEXT_SIZE 10u

int main(int argc, char **argv)
{
	static struct ctrace_tracer tracer = CTRACE_TRACER("BENCH.READ");
	static const char texts[TEXTS][TEXT_SIZE + 1] = { "some info,", "open acct,", "read file,",
							  "rec found," };
	unsigned long count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

	if (count == 0) {
		fputs("usage: bench_read COUNT\n", stderr);
		return 2;
	}
	for (unsigned long i = 0; i < count; i++)
		CTRACE(&tracer, CTRACE_INFO, i % 100 == 0 ? 2 : 1,
		       CTRACE_TEXT(texts[i % TEXTS], TEXT_SIZE));
	return 0;
}
