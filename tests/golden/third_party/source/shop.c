/*
 * shop.c - a program that LTTng traces: what tests/golden/third_party/make.sh runs.
 *
 *     shop [FLOOD]     FLOOD events more than the buffers hold
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "shop_points.h"

#include <lttng/tracef.h>
#include <lttng/tracelog.h>
#include <pthread.h>
#include <stdlib.h>

static void work(int base)
{
	static const char *const names[] = { "Ada Lovelace", "", "Grace \"Amazing\" Hopper",
					     "na\xc3\xafve\tcaf\xc3\xa9" };
	static const int states[] = { 1, 5, -1, 77 };

	for (int i = 0; i < 4; i++) {
		int triple[3] = { base + i, -i, 0x7fffffff };

		lttng_ust_tracepoint(shop, order, base + i, names[i], 1.5 * i - 0.1, states[i]);
		lttng_ust_tracepoint(shop, lists, triple, "ABCDEFGH", (size_t)i * 2);
	}
	lttng_ust_tracepoint(shop, nothing);
	lttng_ust_tracef("free text %d", base);
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR, "logged %d", base);
}

static void *other_thread(void *unused)
{
	(void)unused;
	work(100);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		lttng_ust_tracepoint(shop, order, i, "flood", 0.5, 1);
	work(1);
	if (pthread_create(&thread, NULL, other_thread, NULL) == 0)
		pthread_join(thread, NULL);
	return 0;
}
