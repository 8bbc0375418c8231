/*
 * orders.c - a traced program for tests of reading: spans in each other, records, texts and
 * numbers, always the same.
 *
 * orders COUNT - for each order 0 to COUNT - 1, in shop.order (INFO, but every tenth ODD is WARN):
 *     10 ORDER, number; 20 READ, number; 30 CUSTOMER, a record of 31 bytes; 21 READEND; every
 * tenth: 40 ODD, a text; 11 ORDEREND Orders whose number ends in 7 sleep 2 ms within READ.  Then
 * shop.jobs: 50 BEGIN of jobs 1 to 3, 51 END of them in the other order.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct ctrace_tracer order = CTRACE_TRACER("shop.order");
static struct ctrace_tracer jobs = CTRACE_TRACER("shop.jobs");

static void process(uint32_t number)
{
	static const char *const names[] = { "ADA", "GRACE", "ALAN", "KATHERINE" };
	const struct timespec time_bound = { .tv_nsec = 2000000 };
	char record[40];

	CTRACE(&order, CTRACE_INFO, 10, CTRACE_U32(number));
	CTRACE(&order, CTRACE_INFO, 20, CTRACE_U32(number));
	/* CUST-ID 9(6), NAME X(12), STATUS X, BALANCE S9(5)V99 SIGN LEADING SEPARATE, then rest */
	snprintf(record, sizeof record, "%06u%-12s%c%c%07u%4s", number, names[number % 4],
		 number % 3 == 0 ? 'A' : 'C', number % 2 == 0 ? '+' : '-', number * 150, "");
	if (number % 10 == 7)
		(void)nanosleep(&time_bound, NULL);
	CTRACE(&order, CTRACE_INFO, 30, CTRACE_BIN(record, 31), CTRACE_I32(-(int32_t)number));
	CTRACE(&order, CTRACE_INFO, 21);
	if (number % 10 == 0)
		CTRACE(&order, CTRACE_WARN, 40, CTRACE_STR("round number"), CTRACE_U32(number % 3),
		       CTRACE_U32(number % 8));
	CTRACE(&order, CTRACE_INFO, 11, CTRACE_U32(number));
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;

	for (uint32_t i = 0; i < count; i++)
		process(i);
	for (uint32_t i = 1; i <= 3; i++)
		CTRACE(&jobs, CTRACE_INFO, 50, CTRACE_U32(i));
	for (uint32_t i = 3; i >= 1; i--)
		CTRACE(&jobs, CTRACE_INFO, 51, CTRACE_U32(i));
	return 0;
}
