/*
 * plugin.c - a traced module that test_lifetime.c loads and unloads (as a program of its own it
 * does nothing).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("plugin");

void plugin_trace(uint64_t number);

__attribute__((visibility("default"))) void plugin_trace(uint64_t number)
{
	CTRACE(&tracer, CTRACE_INFO, 7, CTRACE_U64(number));
}

int main(void)
{
	return 0;
}
