/*
 * decode.c - checks the lines of thread buffers: COMPONENT EVENT THREAD BUFFER NUMBER "TEXT", from
 * standard input.
 *
 * Prints one line `thread buffer L count C distinct D first F last M disorder O` for each thread
 * buffer, and `torn N`: lines that no event of thread_buffers.h can have produced.  Lines that
 * begin with # are headers, and count as torn only when they hold an event.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "thread_buffers.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread_buffer {
	unsigned char *seen; /* a bit for each number */
	uint64_t room;
	uint64_t count, distinct, first, last, previous, disorder;
};
static struct thread_buffer thread_buffers[THREAD_BUFFERS];

static void thread_buffer_note(struct thread_buffer *thread_buffer, uint64_t number)
{
	if (number >= thread_buffer->room) {
		uint64_t room = (number + 1) * 2;

		thread_buffer->seen = realloc(thread_buffer->seen, room / 8 + 1);
		if (thread_buffer->seen == NULL)
			exit(2);
		memset(thread_buffer->seen + thread_buffer->room / 8 + (thread_buffer->room != 0),
		       0, room / 8 + 1 - thread_buffer->room / 8 - (thread_buffer->room != 0));
		thread_buffer->room = room;
	}
	if ((thread_buffer->seen[number / 8] >> number % 8 & 1) == 0)
		thread_buffer->distinct++;
	thread_buffer->seen[number / 8] |= (unsigned char)(1u << number % 8);
	if (thread_buffer->count++ == 0 || number < thread_buffer->first)
		thread_buffer->first = number;
	if (number > thread_buffer->last)
		thread_buffer->last = number;
	if (number <= thread_buffer->previous)
		thread_buffer->disorder++;
	thread_buffer->previous = number;
}

static bool line_check(const char *line)
{
	char component[300], text[THREAD_BUFFER_TEXT_LIMIT + 1];
	unsigned event;
	uint64_t thread_buffer, number;
	int at = 0;
	unsigned size;

	if (sscanf(line, "%299s %u %" SCNu64 " %" SCNu64 " \"%n", component, &event, &thread_buffer,
		   &number, &at) != 4 ||
	    at == 0)
		return false;
	if (thread_buffer >= THREAD_BUFFERS || event != thread_buffer || number == 0 ||
	    number > UINT64_C(1) << 34)
		return false;
	size = thread_buffer_text(text, thread_buffer, number);
	if (strncmp(line + at, text, size) != 0 || strcmp(line + at + size, "\"\n") != 0)
		return false;
	thread_buffer_note(&thread_buffers[thread_buffer], number);
	return true;
}

int main(void)
{
	char *line = NULL;
	size_t capacity = 0;
	uint64_t torn = 0;

	while (getline(&line, &capacity, stdin) > 0) {
		if (line[0] == '#' && strstr(line, " \"") == NULL)
			continue;
		if (!line_check(line) && torn++ < 3)
			(void)fprintf(stderr, "# torn: %s%s", line,
				      strchr(line, '\n') != NULL ? "" : "\n");
	}
	for (unsigned i = 0; i < THREAD_BUFFERS; i++)
		if (thread_buffers[i].count != 0)
			(void)printf("thread_buffer %u count %" PRIu64 " distinct %" PRIu64
				     " first %" PRIu64 " last %" PRIu64 " disorder %" PRIu64 "\n",
				     i, thread_buffers[i].count, thread_buffers[i].distinct,
				     thread_buffers[i].first, thread_buffers[i].last,
				     thread_buffers[i].disorder);
	(void)printf("torn %" PRIu64 "\n", torn);
	free(line);
	return 0;
}
