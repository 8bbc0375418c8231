/*
 * codes.c - an exit that answers what OPTIONS says: "8 8 16" for the first, second and all further
 * entries.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/reader.h>

#include <stdlib.h>

static int answer(const struct ctrace_exit_call *call)
{
	unsigned *calls = call->work_area;
	const char *at = call->options;
	char *end;
	long code = 0;

	if (call->is_done) {
		call->print(call, "the final call", 14);
		return 0;
	}
	for (unsigned i = 0; i <= *calls; i++) {
		long next = strtol(at, &end, 10);

		if (end == at)
			break;
		code = next;
		at = end;
	}
	++*calls;
	return (int)code;
}

int ctrace_filter_exit(const struct ctrace_exit_call *call)
{
	return answer(call);
}

int ctrace_format_exit(const struct ctrace_exit_call *call)
{
	if (!call->is_done)
		call->print(call, "  formatted\x1b[31m", 16);
	return answer(call);
}
