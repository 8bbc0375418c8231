/*
 * cmd_flush.c - ctrace flush: running processes deliver what they have traced so far.
 *
 * A process waits for its agent for less than a second at a time, because it answers one operator after the other; so those that are
 * not done are asked again until they are, or the time is over.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

#include <argp.h>
#include <stdlib.h>

#include "change.h"

#define LONGEST_WAIT_MS 900u
#define ANSWER_MS 1000u /* an answer may come so much later, because the process answers others as well */
#define SHORTEST_ROUND_MS 50u

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct change *change = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &change->target;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"; --pid, --job and --asid say which processes", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static unsigned left_ms(uint64_t deadline_ns)
{
	uint64_t now_ns = ct_clock_mono_ns();

	return now_ns < deadline_ns ? (unsigned)((deadline_ns - now_ns) / 1000000u) : 0;
}

/* Asks each once more.  The process gets a little less time than we have, so that it can say that it was not enough. */
static void ask(struct change *change, struct ct_peers *waiting, unsigned left)
{
	unsigned patience_ms = left - left / 4;
	struct ct_command command = { .verb = CT_VERB_FLUSH };

	if (patience_ms > LONGEST_WAIT_MS)
		patience_ms = LONGEST_WAIT_MS;
	command.number = patience_ms;
	ct_buf_clear(&change->request);
	ct_command_encode(&change->request, &command);
	for (size_t i = 0; i < waiting->count; i++)
		ct_buf_clear(&waiting->items[i].answer);
	ct_client_ask(waiting, &change->request, left < patience_ms + ANSWER_MS ? left : patience_ms + ANSWER_MS);
}

/* Puts those that have to be asked again in front: one that is silent must not keep the others from being asked. */
static void forget_done(struct ct_peers *waiting)
{
	size_t kept = 0;

	for (size_t i = 0; i < waiting->count; i++) {
		struct ct_peer *peer = &waiting->items[i];
		struct ct_peer other;

		if (peer->status != CTRACE_TIMED_OUT)
			continue;
		other = waiting->items[kept];
		waiting->items[kept++] = *peer;
		*peer = other;
	}
	waiting->count = kept;
}

static int compare_asids(const void *a, const void *b)
{
	uint32_t first = ((const struct ct_peer *)a)->asid;
	uint32_t second = ((const struct ct_peer *)b)->asid;

	return (first > second) - (first < second);
}

static void flush(struct change *change)
{
	uint64_t deadline_ns = ct_clock_mono_ns() + change->target.timeout_ms * UINT64_C(1000000);
	struct ct_peers waiting = change->peers;
	unsigned left = change->target.timeout_ms;

	do {
		ask(change, &waiting, left);
		forget_done(&waiting);
		left = left_ms(deadline_ns);
	} while (waiting.count != 0 && left >= SHORTEST_ROUND_MS);
	qsort(change->peers.items, change->peers.count, sizeof(*change->peers.items), compare_asids);
	for (size_t i = 0; i < change->peers.count; i++) {
		ct_target_complain_silence(&change->target, &change->peers.items[i]);
		ct_change_read(change, &change->peers.items[i]);
	}
}

int cmd_flush(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse_argument,
		.doc = "Have running processes deliver what they have traced so far to its destinations.",
		.children = children,
	};
	struct change change;
	int exit_status = CMD_USAGE;

	ct_change_init(&change);
	change.done = "delivered";
	if (argp_parse(&argp, argc, argv, 0, NULL, &change) == 0) {
		if (ct_change_find(&change) == CTRACE_OK)
			flush(&change);
		else
			change.failed = true;
		exit_status = ct_change_finish(&change);
	}
	ct_change_fini(&change);
	return exit_status;
}
