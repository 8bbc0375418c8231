/*
 * target.c - the options that select the processes of a verb.
 *
 * Part of each verb that talks to running processes: level, dest, prop, reload, flush, rotate and
 * others.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/target.h"
#include "session/trace_name.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TIMEOUT_MS 5000u
#define MOST_SECONDS 86400

/* ---- options ---- */

static uint32_t parse_pid(const char *text, struct argp_state *state)
{
	unsigned long pid;
	char *end;

	errno = 0;
	pid = strtoul(text, &end, 10);
	if (errno != 0 || *end != '\0' || pid == 0 || pid > INT32_MAX || text[0] == '-')
		argp_error(state, "\"%s\" is not a process id", text);
	return (uint32_t)pid;
}

static uint32_t parse_asid(const char *text, struct argp_state *state)
{
	uint16_t asid = 0;

	if (ct_asid_parse(text, strlen(text), &asid) != 0)
		argp_error(state, "\"%s\" is not an ASID; expected 1 to 4 hexadecimal digits",
			   text);
	return asid;
}

static unsigned parse_timeout(const char *text, struct argp_state *state)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(seconds) || seconds < 0.001 ||
	    seconds > MOST_SECONDS)
		argp_error(state, "\"%s\" is not a time; expected seconds, from 0.001 to %d", text,
			   MOST_SECONDS);
	return (unsigned)(seconds * 1000);
}

bool ct_target_is_all(const struct target *target)
{
	return target->filter.pid == 0 && target->filter.asid == 0 &&
	       target->filter.jobname == NULL;
}

static void target_check_all(const struct target *target, struct argp_state *state)
{
	const struct ct_peer_filter *filter = &target->filter;

	if (target->is_all && !ct_target_is_all(target))
		argp_error(state, "--all and --%s contradict each other",
			   filter->pid != 0    ? "pid"
			   : filter->asid != 0 ? "asid"
					       : "job");
}

static error_t selection_parse(int key, char *argument, struct argp_state *state)
{
	struct target *target = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		*target =
			(struct target){ .timeout_ms = DEFAULT_TIMEOUT_MS, .verb = state->argv[0] };
		return 0;
	case 'a':
		target->is_all = true;
		return 0;
	case 'A':
		target->filter.asid = parse_asid(argument, state);
		return 0;
	case 'J':
		target->filter.jobname = argument;
		return 0;
	case 'p':
		target->filter.pid = parse_pid(argument, state);
		return 0;
	case ARGP_KEY_END:
		target_check_all(target, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option selection_rows[] = {
	{ "all", 'a', NULL, 0, "All processes that you may ask (the default)", 0 },
	{ "asid", 'A', "HEX", 0, "Only the process with this ASID", 0 },
	{ "job", 'J', "GLOB", 0, "Only processes whose JOBNAME matches", 0 },
	{ "pid", 'p', "PID", 0, "Only this process", 0 },
	{ 0 },
};
const struct argp ct_selection_argp = { .options = selection_rows, .parser = selection_parse };

static error_t target_parse(int key, char *argument, struct argp_state *state)
{
	struct target *target = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = target;
		return 0;
	case 'j':
		target->is_json = true;
		return 0;
	case 't':
		target->timeout_ms = parse_timeout(argument, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option target_rows[] = {
	{ "json", 'j', NULL, 0, "Print one JSON document", 0 },
	{ "timeout", 't', "SECONDS", 0, "Wait so long for answers; 5 by default", 0 },
	{ 0 },
};
static const struct argp_child target_children[] = { { &ct_selection_argp, 0, NULL, 0 }, { 0 } };
const struct argp ct_target_argp = { .options = target_rows,
				     .parser = target_parse,
				     .children = target_children };
