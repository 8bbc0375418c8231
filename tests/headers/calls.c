/*
 * calls.c - every form of CTRACE() that a program may write, for alone.sh to compile as C and as
 * C++.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("headers.calls");

static int costly(void)
{
	return 42;
}

void calls(struct ctrace_tracer *other, unsigned level, unsigned event, const char *text,
	   void *address);
void calls(struct ctrace_tracer *other, unsigned level, unsigned event, const char *text,
	   void *address)
{
	const char name[] = "a name";
	const unsigned char number[8] = { 0, 0, 0, 0, 0, 0, 1, 2 };
	int n = 3;

	/* 0, 1, 4 and 16 items */
	CTRACE(&tracer, CTRACE_INFO, 1);
	CTRACE(&tracer, CTRACE_INFO, 2, CTRACE_TEXT(name, 6));
	CTRACE(&tracer, CTRACE_DEBUG, 3, CTRACE_U32(7), CTRACE_U64(8), CTRACE_I64(-9),
	       CTRACE_TEXT(name, sizeof(name)));
	CTRACE(&tracer, CTRACE_FATAL, 4, CTRACE_BIN(number, 8), CTRACE_TEXT(name, 6),
	       CTRACE_STR("a constant"), CTRACE_ADDR(address), CTRACE_U8(1), CTRACE_U16(2),
	       CTRACE_U32(3), CTRACE_U64(4), CTRACE_I8(-1), CTRACE_I16(-2), CTRACE_I32(-3),
	       CTRACE_I64(-4), CTRACE_XU(number, 8), CTRACE_XI(number, 4), CTRACE_UTF8(text, 5),
	       CTRACE_STR(text));

	/* variables, expressions, null pointers, and the call as a statement */
	CTRACE(other, level, event, CTRACE_I32(n), CTRACE_U8(n));
	CTRACE(n ? other : &tracer, level + 1, event + 1, CTRACE_TEXT(text, n), CTRACE_ADDR(&n),
	       CTRACE_STR((const char *)0));
	if (n)
		CTRACE(&tracer, CTRACE_WARN, 5, CTRACE_BIN(0, 0));
	else
		CTRACE(&tracer, CTRACE_ERROR, 6);
	for (n = 0; n < 2; n++)
		CTRACE(&tracer, CTRACE_INFO, n);
	if (ctrace_enabled(&tracer, CTRACE_DEBUG))
		CTRACE(&tracer, CTRACE_DEBUG, 7, CTRACE_I32(costly()));
}
