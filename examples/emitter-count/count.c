/*
 * count.c - an emitter of one's own: COUNT keeps a file that says how many events there were of
 * each level.
 *
 *     cc -shared -fPIC -o count.so count.c
 *     CTRACE_EMITTERS=$PWD MFTRACE_CONFIG=my.cfg ./program        my.cfg: mftrace.level=debug
 *                                                                        mftrace.dest=COUNT
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/emitter.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct count {
	int fd;
	unsigned long events[CTRACE_LEVEL_COUNT];
};

static enum ctrace_status count_open(const struct ctrace_emitter_context *context, void **out_self)
{
	struct count *count = calloc(1, sizeof *count);

	if (count == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	count->fd = open(context->property(context, "FILE"),
			 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (count->fd < 0) {
		free(count);
		return CTRACE_OUTPUT_ERROR; /* it is tried again later */
	}
	*out_self = count;
	return CTRACE_OK;
}

static enum ctrace_status count_write(void *self, const struct ctrace_batch *batch)
{
	struct count *count = self, sum = *count;
	char text[160];
	int size;

	for (uint32_t i = 0; i < batch->event_count; i++)
		sum.events[batch->events[i].level % CTRACE_LEVEL_COUNT]++;
	size = snprintf(text, sizeof text,
			"debug %-10lu info %-10lu warn %-10lu error %-10lu fatal %-10lu\n",
			sum.events[0], sum.events[1], sum.events[2], sum.events[3], sum.events[4]);
	if (pwrite(count->fd, text, (size_t)size, 0) != size)
		return CTRACE_OUTPUT_ERROR; /* nothing is counted: the same events come again */
	*count = sum;
	return CTRACE_OK;
}

static void count_close(void *self)
{
	struct count *count = self;

	close(count->fd);
	free(count);
}

static const struct ctrace_property properties[] = {
	{ "FILE", CTRACE_PROPERTY_TEXT, "count.txt", "Where the numbers go." },
	{ 0 },
};

const struct ctrace_emitter ctrace_emitter = {
	.size = sizeof(struct ctrace_emitter),
	.name = "COUNT",
	.properties = properties,
	.open = count_open,
	.write = count_write,
	.close = count_close,
};
