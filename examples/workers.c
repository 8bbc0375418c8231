/*
 * workers.c - a shop: threads that take orders, a stock, a bank; each a component of its own,
 * traced through <ctrace/ctrace.h>.
 *
 *     cc -o workers workers.c $(pkg-config --cflags --libs ctrace) -pthread
 *     MFTRACE_CONFIG=workers.cfg ./workers              4 threads, 1,000 orders each
 *     MFTRACE_CONFIG=workers.cfg ./workers 2 0 | tail   2 threads, until killed, telling what they
 * have traced
 *
 * While it runs: ctrace list.  After kill -9: ctrace recover, then ctrace show: every order it told
 * of is there.
 *
 *     component    id    level  what
 *     SHOP.ORDER   1, 2  INFO   an order begins, ends: worker, number, customer; worker, number,
 * price in cents SHOP.STOCK   10    DEBUG  goods taken: article, pieces taken, pieces left
 *     SHOP.STOCK   11    WARN   refilled: article, pieces before
 *     SHOP.BANK    20    ERROR  a payment was refused: worker, number, the terminal's answer
 * (binary)
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORKERS 64

static struct ctrace_tracer order = CTRACE_TRACER("SHOP.ORDER");
static struct ctrace_tracer stock = CTRACE_TRACER("SHOP.STOCK");
static struct ctrace_tracer bank = CTRACE_TRACER("SHOP.BANK");

static const char *const customers[] = { "Ada", "Grace", "Barbara", "Frances", "Jean" };
static const char *const articles[] = { "bell", "book", "candle" };
static atomic_int pieces[3] = { 40, 40, 40 };

static unsigned long orders_wanted = 1000;
static int tells; /* print each order's number once it is traced */

static void take_goods(unsigned long number)
{
	unsigned article = (unsigned)(number % 3);
	int left = atomic_fetch_sub(&pieces[article], 1) - 1;

	CTRACE(&stock, CTRACE_DEBUG, 10, CTRACE_STR(articles[article]), CTRACE_I32(-1),
	       CTRACE_I32(left));
	if (left <= 0) {
		CTRACE(&stock, CTRACE_WARN, 11, CTRACE_STR(articles[article]), CTRACE_I32(left));
		atomic_fetch_add(&pieces[article], 40);
	}
}

static void pay(unsigned worker, unsigned long number)
{
	if (number % 97 == 0) {
		const unsigned char answer[] = { 0x15, 0x03, 'N', 'O', 0x00, 0x7F };

		CTRACE(&bank, CTRACE_ERROR, 20, CTRACE_U32(worker), CTRACE_U64(number),
		       CTRACE_BIN(answer, sizeof(answer)));
	}
}

static void take_order(unsigned worker, unsigned long number)
{
	CTRACE(&order, CTRACE_INFO, 1, CTRACE_U32(worker), CTRACE_U64(number),
	       CTRACE_STR(customers[(worker + number) % 5]));
	take_goods(number);
	pay(worker, number);
	CTRACE(&order, CTRACE_INFO, 2, CTRACE_U32(worker), CTRACE_U64(number),
	       CTRACE_U32(199 + number % 7 * 100));
}

static void *work(void *argument)
{
	unsigned worker = (unsigned)(size_t)argument;

	for (unsigned long number = 1; orders_wanted == 0 || number <= orders_wanted; number++) {
		take_order(worker, number);
		if (tells) {
			char line[64];
			int size = snprintf(line, sizeof(line), "worker %u traced order %lu\n",
					    worker, number);

			if (write(STDOUT_FILENO, line, (size_t)size) != size)
				break;
			nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;
	pthread_t workers[MAX_WORKERS];
	unsigned long started = 0;

	if (argc > 2)
		orders_wanted = strtoul(argv[2], NULL, 10);
	if (argc > 3 || count == 0 || count > MAX_WORKERS) {
		fprintf(stderr,
			"usage: %s [THREADS [ORDERS]]   at most %d threads; 0 orders: until killed\n",
			argv[0], MAX_WORKERS);
		return 2;
	}
	tells = orders_wanted == 0;
	while (started < count &&
	       pthread_create(&workers[started], NULL, work, (void *)(size_t)(started + 1)) == 0)
		started++;
	for (unsigned long i = 0; i < started; i++)
		pthread_join(workers[i], NULL);
	if (started < count) {
		perror("workers: cannot start a thread");
		return 1;
	}
	if (!tells)
		printf("%lu workers took %lu orders each.\n", count, orders_wanted);
	return 0;
}
