/*
 * spans_subject.c - a traced program for tests of export, stats and diff: spans of known shapes,
 * and texts that readers must not trust.
 *
 * spans_subject ROUNDS [slow] - two threads, one after the other.  Each round is, of component
 * spans.call: 1 begins (INFO), in it 3 begins and ends with 4 (DEBUG), 10 with texts, 2 ends it.
 * Then, once, of spans.key: 1 with key 7, 1 with key 8, 2 with key 7, 2 with key 8, which cross; 1
 * with key 9, which never ends.  slow: each call takes some milliseconds more, and there is an
 * event 11.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct ctrace_tracer call = CTRACE_TRACER("spans.call");
static struct ctrace_tracer keyed = CTRACE_TRACER("spans.key");
static unsigned rounds;
static int is_slow;

static void rest(long ns)
{
	struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

static void one_call(unsigned number)
{
	const unsigned char bytes[] = { 0, 1, 0xFF };

	CTRACE(&call, CTRACE_INFO, 1, CTRACE_U32(number));
	CTRACE(&call, CTRACE_DEBUG, 3, CTRACE_U64(UINT64_MAX - number));
	if (is_slow)
		rest(3000000);
	CTRACE(&call, CTRACE_DEBUG, 4, CTRACE_I32(-5));
	CTRACE(&call, CTRACE_WARN, 10, CTRACE_STR("=1+1,\"x\""),
	       CTRACE_STR("\033[2Jr\xE9sum\xC3\xA9"), CTRACE_BIN(bytes, sizeof(bytes)));
	if (is_slow)
		CTRACE(&call, CTRACE_ERROR, 11, CTRACE_STR("slow"));
	CTRACE(&call, CTRACE_INFO, 2, CTRACE_U32(number));
}

static void *work(void *argument)
{
	static const uint32_t keys[] = { 7, 8, 7, 8, 9 };
	static const uint32_t ids[] = { 1, 1, 2, 2, 1 };

	for (unsigned i = 0; i < rounds; i++)
		one_call(i);
	for (unsigned i = 0; i < 5; i++)
		CTRACE(&keyed, CTRACE_INFO, ids[i], CTRACE_U32(keys[i]));
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	is_slow = argc > 2 && strcmp(argv[2], "slow") == 0;
	work(NULL);
	if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 1;
	return ctrace_flush(10000) != CTRACE_OK;
}
