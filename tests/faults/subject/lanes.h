/*
 * lanes.h - what the subjects of the battery share: events that prove themselves, and a tally that outlives the process.
 *
 * Every event carries its lane, its number in the lane and a text that follows from both, so that decode.c can check
 * content, order and that each event is there once.  One thread at a time traces in a lane.  The tally is a mapped file,
 * BATTERY_TALLY; the trial reads it after the process has ended, however it ended.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef LANES_H
#define LANES_H

#include <stdint.h>

#define LANES 64u
#define LANE_TEXT_LIMIT 40u

/* All words are 8 bytes; battery.py reads them by this order. */
struct tally {
	uint64_t begun[LANES];    /* number of the last event whose call began */
	uint64_t returned[LANES]; /* number of the last event whose call returned */
	uint64_t finished;        /* 1 when the subject's work is done, before the end of the process */
	uint64_t has_stats;       /* 1 when the words below hold what ctrace_stats_get() reported */
	uint64_t emitted;
	uint64_t delivered;
	uint64_t pending;
	uint64_t lost[16];
	uint64_t note[16]; /* each mode's own */
};

static inline unsigned lane_text(char *text, uint64_t lane, uint64_t number)
{
	unsigned size = 1u + (unsigned)(number % LANE_TEXT_LIMIT);

	for (unsigned i = 0; i < size; i++)
		text[i] = (char)('a' + (lane * 7u + number * 3u + i) % 26u);
	return size;
}

#endif
