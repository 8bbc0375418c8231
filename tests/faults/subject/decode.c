/*
 * decode.c - checks the lines of lanes: COMPONENT EVENT LANE NUMBER "TEXT", from standard input.
 *
 * Prints one line `lane L count C distinct D first F last M disorder O` for each lane, and `torn N`: lines that no event
 * of lanes.h can have produced.  Lines that begin with # are headers, and count as torn only when they hold an event.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lanes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lane {
	unsigned char *seen; /* a bit for each number */
	uint64_t room;
	uint64_t count, distinct, first, last, previous, disorder;
};
static struct lane lanes[LANES];

static void lane_note(struct lane *lane, uint64_t number)
{
	if (number >= lane->room) {
		uint64_t room = (number + 1) * 2;

		lane->seen = realloc(lane->seen, room / 8 + 1);
		if (lane->seen == NULL)
			exit(2);
		memset(lane->seen + lane->room / 8 + (lane->room != 0), 0, room / 8 + 1 - lane->room / 8 - (lane->room != 0));
		lane->room = room;
	}
	if ((lane->seen[number / 8] >> number % 8 & 1) == 0)
		lane->distinct++;
	lane->seen[number / 8] |= (unsigned char)(1u << number % 8);
	if (lane->count++ == 0 || number < lane->first)
		lane->first = number;
	if (number > lane->last)
		lane->last = number;
	if (number <= lane->previous)
		lane->disorder++;
	lane->previous = number;
}

static bool line_check(const char *line)
{
	char component[300], text[LANE_TEXT_LIMIT + 1];
	unsigned event;
	uint64_t lane, number;
	int at = 0;
	unsigned size;

	if (sscanf(line, "%299s %u %" SCNu64 " %" SCNu64 " \"%n", component, &event, &lane, &number, &at) != 4 || at == 0)
		return false;
	if (lane >= LANES || event != lane || number == 0 || number > UINT64_C(1) << 34)
		return false;
	size = lane_text(text, lane, number);
	if (strncmp(line + at, text, size) != 0 || strcmp(line + at + size, "\"\n") != 0)
		return false;
	lane_note(&lanes[lane], number);
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
			(void)fprintf(stderr, "# torn: %s%s", line, strchr(line, '\n') != NULL ? "" : "\n");
	}
	for (unsigned i = 0; i < LANES; i++)
		if (lanes[i].count != 0)
			(void)printf("lane %u count %" PRIu64 " distinct %" PRIu64 " first %" PRIu64 " last %" PRIu64
				     " disorder %" PRIu64 "\n",
				     i, lanes[i].count, lanes[i].distinct, lanes[i].first, lanes[i].last, lanes[i].disorder);
	(void)printf("torn %" PRIu64 "\n", torn);
	free(line);
	return 0;
}
