/*
 * thread_buffers.h - what the subjects of the battery share: events that prove themselves, and a
 * tally that outlives the process.
 *
 * Every event carries its thread buffer, its number in the thread buffer and a text that follows
 * from both, so that decode.c can check content, order and that each event is there once.  One
 * thread at a time traces in a thread buffer.  The tally is a mapped file, BATTERY_TALLY; the trial
 * reads it after the process has ended, however it ended.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef THREAD_BUFFERS_H
#define THREAD_BUFFERS_H

#include <stdint.h>

#define THREAD_BUFFERS 64u
#define THREAD_BUFFER_TEXT_LIMIT 40u

/* All words are 8 bytes; battery.py reads them by this order. */
struct tally {
	uint64_t begun[THREAD_BUFFERS];    /* number of the last event whose call began */
	uint64_t returned[THREAD_BUFFERS]; /* number of the last event whose call returned */
	/* 1 when the subject's work is done, before the end of the process */
	uint64_t finished;
	uint64_t has_stats;     /* 1 when the words below hold what ctrace_stats_get() reported */
	uint64_t has_directory; /* 1 when the process had a directory in CTRACE_RUN_DIR then */
	uint64_t emitted;
	uint64_t delivered;
	uint64_t pending;
	uint64_t lost[16];
	uint64_t note[16]; /* each mode's own */
};

static inline unsigned thread_buffer_text(char *text, uint64_t thread_buffer, uint64_t number)
{
	unsigned size = 1u + (unsigned)(number % THREAD_BUFFER_TEXT_LIMIT);

	for (unsigned i = 0; i < size; i++)
		text[i] = (char)('a' + (thread_buffer * 7u + number * 3u + i) % 26u);
	return size;
}

#endif
