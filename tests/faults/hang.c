/*
 * hang.c - an emitter that hangs, is slow or crashes at its fifth batch: BATTERY_EMITTER=hang,
 * slow, crash; or hangs or is very slow at each: stuck, crawl.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/emitter.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int batches;

static enum ctrace_status hang_open(const struct ctrace_emitter_context *context, void **out_self)
{
	(void)context;
	*out_self = &batches;
	return CTRACE_OK;
}

static enum ctrace_status hang_write(void *self, const struct ctrace_batch *batch)
{
	const char *what = getenv("BATTERY_EMITTER");
	struct timespec slow = { 0, 20000000 };

	(void)self;
	(void)batch;
	while (what != NULL && strcmp(what, "stuck") == 0)
		(void)pause();
	if (what != NULL && strcmp(what, "crawl") == 0) {
		slow.tv_nsec = 400000000;
		(void)nanosleep(&slow, NULL);
	}
	if (what == NULL || batches++ < 4)
		return CTRACE_OK;
	if (strcmp(what, "crash") == 0)
		(void)kill(getpid(), SIGKILL);
	if (strcmp(what, "slow") == 0)
		(void)nanosleep(&slow, NULL);
	while (strcmp(what, "hang") == 0)
		(void)pause();
	return CTRACE_OK;
}

static void hang_close(void *self)
{
	(void)self;
}

__attribute__((visibility("default"))) const struct ctrace_emitter ctrace_emitter = {
	.size = sizeof(struct ctrace_emitter),
	.name = "HANG",
	.open = hang_open,
	.write = hang_write,
	.close = hang_close,
};
