/*
 * report_subject.c - a traced program for tests of `ctrace report`: a shop, with spans in spans,
 * records, warnings, and texts that are attacks.
 *
 * report_subject shop ORDERS - ORDERS orders on three threads: shop.orders (ORDER, its end),
 * shop.db (QUERY, its end), shop.cache report_subject many COUNT  - COUNT events of bench.a, each a
 * number of 8 bytes report_subject lose COUNT  - COUNT large events at once, more than a small ring
 * takes
 *
 * What the events mean: tests/report/shop.yaml.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	ORDER = 1,
	ORDER_END = 2,
	CUSTOMER = 3,
	REFUSED = 4,
	ATTACK = 5,
	QUERY = 10,
	QUERY_END = 11,
	SLOW = 12,
	HIT = 20,
	MISS = 21
};

static struct ctrace_tracer orders = CTRACE_TRACER("shop.orders");
static struct ctrace_tracer db = CTRACE_TRACER("shop.db");
static struct ctrace_tracer cache = CTRACE_TRACER("shop.cache");
static struct ctrace_tracer bench = CTRACE_TRACER("bench.a");

static const char *const names[] = { "ADA LOVELACE", "GRACE HOPPER", "JEAN SAMMET",
				     "EDSGER DIJKSTRA", "BARBARA LISKOV" };

/* CUSTREC.cpy */
static void fill_record(unsigned char record[40], unsigned number)
{
	const char *name = names[number % 5];
	char text[41];

	memset(record, ' ', 40);
	memcpy(record, name, strlen(name));
	record[20] = (unsigned char)"ABX"[number % 3];
	(void)snprintf(text, sizeof text, "%06u", number % 1000000);
	memcpy(record + 21, text, 6);
	record[27] = (unsigned char)(number >> 8 & 0xFF);
	record[28] = (unsigned char)number;
	record[29] = 0x12; /* COMP-3: 1234.56 or, without its sign, nothing */
	record[30] = 0x34;
	record[31] = 0x56;
	record[32] = number % 7 == 6 ? 0x77 : 0x7C;
	memcpy(record + 33, "010203", 6);
}

static void rest(unsigned long us)
{
	struct timespec time = { .tv_sec = 0, .tv_nsec = (long)us * 1000 };

	(void)nanosleep(&time, NULL);
}

static void query(unsigned number)
{
	CTRACE(&db, CTRACE_INFO, QUERY, CTRACE_U32(number % 4),
	       CTRACE_STR("SELECT * FROM CUSTOMER"));
	rest(number % 11 == 5 ? 2500 : 120 + number * 37 % 400);
	if (number % 11 == 5)
		CTRACE(&db, CTRACE_WARN, SLOW, CTRACE_STR("no index on CUSTOMER.NAME"));
	CTRACE(&db, CTRACE_INFO, QUERY_END, CTRACE_U32(number % 50));
}

static void attack(void)
{
	CTRACE(&orders, CTRACE_ERROR, ATTACK,
	       CTRACE_STR("<script>alert(1)</script><img src=x onerror=alert(2)>"));
	CTRACE(&orders, CTRACE_ERROR, ATTACK,
	       CTRACE_STR("</script></textarea>--><!-- ${alert(3)} {{DATA}}"));
	CTRACE(&orders, CTRACE_FATAL, ATTACK,
	       CTRACE_STR(
		       "bad \xFF\xC0\xAF bytes \xE2\x80\xAE turned, \x1B[2J cleared\n next line"));
}

static void order(unsigned number)
{
	unsigned char record[40];

	CTRACE(&orders, CTRACE_INFO, ORDER, CTRACE_U32(1000 + number), CTRACE_U8(1 + number % 6));
	if (number % 3 == 0)
		CTRACE(&cache, CTRACE_DEBUG, MISS, CTRACE_STR(names[number % 5]));
	else
		CTRACE(&cache, CTRACE_DEBUG, HIT, CTRACE_STR(names[number % 5]));
	query(number);
	fill_record(record, number);
	CTRACE(&orders, CTRACE_INFO, CUSTOMER, CTRACE_BIN(record, sizeof record),
	       CTRACE_ADDR(&orders));
	if (number % 13 == 12)
		CTRACE(&orders, CTRACE_ERROR, REFUSED, CTRACE_STR("credit limit"), CTRACE_I32(-50));
	query(number + 3);
	CTRACE(&orders, CTRACE_INFO, ORDER_END, CTRACE_U32(1000 + number));
	rest(300);
}

static unsigned order_count;

static void *work(void *first)
{
	for (unsigned i = (unsigned)(uintptr_t)first; i < order_count; i += 3)
		order(i);
	return NULL;
}

static void run_shop(void)
{
	pthread_t threads[2];

	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)) != 0)
			exit(1);
	(void)work((void *)0);
	for (unsigned i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	attack();
}

static void trace_many(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		CTRACE(&bench, i % 1000 == 999 ? CTRACE_WARN : CTRACE_INFO, 1 + i % 5,
		       CTRACE_U64(i));
		if (i % 20000 == 19999)
			(void)!ctrace_flush(60000);
	}
}

static void lose(unsigned count)
{
	static const char text[1000];

	CTRACE(&orders, CTRACE_INFO, HIT, CTRACE_STR("before"));
	for (unsigned i = 0; i < count; i++)
		CTRACE(&orders, CTRACE_INFO, CUSTOMER, CTRACE_BIN(text, sizeof text));
	(void)!ctrace_flush(60000);
	CTRACE(&orders, CTRACE_WARN, HIT, CTRACE_STR("after"));
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	if (argc < 3)
		return 2;
	order_count = count;
	if (strcmp(argv[1], "shop") == 0)
		run_shop();
	else if (strcmp(argv[1], "many") == 0)
		trace_many(count);
	else
		lose(count);
	return ctrace_flush(60000) == CTRACE_OK ? 0 : 1;
}
