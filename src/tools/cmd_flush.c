/*
 * cmd_flush.c - ctrace flush: running processes deliver what they have traced so far.
 *
 * A process waits for its consumer thread for less than a second at a time, because it answers one
 * operator after the other.  So processes that are not done are asked again until they are, or the
 * time is over.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>

#include "operator/change.h"

#define LONGEST_WAIT_MS 900u
/* an answer may come so much later, because the process answers others as well */
#define ANSWER_MS 1000u
#define SHORTEST_ROUND_MS 50u

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct change *change = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &change->target;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(
			state,
			"unexpected argument \"%s\"; --pid, --job and --asid say which processes",
			argument);
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

/* Asks once more.  The process gets a little less time than we have, so that it can still report
 * that the time was not enough. */
static void flush_ask(struct change *change, unsigned left)
{
	unsigned patience_ms = left - left / 4;
	struct ct_command command = { .verb = CT_VERB_FLUSH };

	if (patience_ms > LONGEST_WAIT_MS)
		patience_ms = LONGEST_WAIT_MS;
	command.number = patience_ms;
	ct_buf_clear(&change->ask.request);
	ct_command_encode(&change->ask.request, &command);
	ct_client_ask(&change->ask.peers, &change->ask.request,
		      left < patience_ms + ANSWER_MS ? left : patience_ms + ANSWER_MS);
}

/* Returns true if a process has to be asked again. */
static bool peers_are_left(struct ct_peers *peers)
{
	bool is_any = false;

	for (size_t i = 0; i < peers->count; i++) {
		peers->items[i].is_done = peers->items[i].status != CTRACE_TIMED_OUT;
		is_any |= !peers->items[i].is_done;
	}
	return is_any;
}

static void flush_run(struct change *change)
{
	uint64_t deadline_ns = ct_clock_mono_ns() + change->target.timeout_ms * UINT64_C(1000000);
	unsigned left = change->target.timeout_ms;

	do {
		flush_ask(change, left);
		left = left_ms(deadline_ns);
	} while (peers_are_left(&change->ask.peers) && left >= SHORTEST_ROUND_MS);
	ct_change_read(change);
}

int cmd_flush(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse_argument,
		.doc = "Make running processes deliver the events that they have traced so far.",
		.children = children,
	};
	struct change change;
	int exit_status = CMD_USAGE;

	ct_change_init(&change);
	change.done = "delivered";
	if (argp_parse(&argp, argc, argv, 0, NULL, &change) == 0) {
		if (ct_change_find(&change) == CTRACE_OK)
			flush_run(&change);
		else
			change.failed = true;
		exit_status = ct_change_finish(&change);
	}
	ct_change_fini(&change);
	return exit_status;
}
