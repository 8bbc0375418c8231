/*
 * target.c - which processes a verb means, and its question to all of them.
 *
 * Part of each verb that talks to running processes: level, dest, prop, reload, flush, rotate and others.  A process that does not
 * answer is complained of here, once; what an answer says is the verb's to read.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "target.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "session/session.h"

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
		argp_error(state, "\"%s\" is not an ASID; expected 1 to 4 hexadecimal digits", text);
	return asid;
}

static unsigned parse_timeout(const char *text, struct argp_state *state)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(seconds) || seconds < 0.001 || seconds > MOST_SECONDS)
		argp_error(state, "\"%s\" is not a time; expected seconds, from 0.001 to %d", text, MOST_SECONDS);
	return (unsigned)(seconds * 1000);
}

static void check_all(const struct target *target, struct argp_state *state)
{
	const struct ct_peer_filter *filter = &target->filter;

	if (target->is_all && (filter->pid != 0 || filter->asid != 0 || filter->jobname != NULL))
		argp_error(state, "--all and --%s contradict each other",
			   filter->pid != 0    ? "pid"
			   : filter->asid != 0 ? "asid"
					       : "job");
}

static error_t parse_target(int key, char *argument, struct argp_state *state)
{
	struct target *target = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		*target = (struct target){ .timeout_ms = DEFAULT_TIMEOUT_MS, .verb = state->argv[0] };
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
	case 'j':
		target->is_json = true;
		return 0;
	case 'p':
		target->filter.pid = parse_pid(argument, state);
		return 0;
	case 't':
		target->timeout_ms = parse_timeout(argument, state);
		return 0;
	case ARGP_KEY_END:
		check_all(target, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option rows[] = {
	{ "all", 'a', NULL, 0, "All processes that may be asked, which is the default", 0 },
	{ "asid", 'A', "HEX", 0, "Only the process with this ASID", 0 },
	{ "job", 'J', "GLOB", 0, "Only processes whose JOBNAME matches", 0 },
	{ "json", 'j', NULL, 0, "Print one JSON document", 0 },
	{ "pid", 'p', "PID", 0, "Only this process", 0 },
	{ "timeout", 't', "SECONDS", 0, "Wait so long for answers; 5 by default", 0 },
	{ 0 },
};
const struct argp ct_target_argp = { .options = rows, .parser = parse_target };

/* ---- asking ---- */

/* A run directory that was named and that is not there is the likeliest reason. */
static void complain_of_place(void)
{
	const char *named = ct_os_environment("CTRACE_RUN_DIR");

	if (named == NULL || access(named, F_OK) == 0)
		return;
	fputs("; the run directory CTRACE_RUN_DIR=", stderr);
	ct_tool_print(stderr, named, strlen(named));
	fputs(" cannot be found", stderr);
}

void ct_target_complain_nobody(const struct target *target, const char *what)
{
	fprintf(stderr, "%s: %s", target->verb, what);
	complain_of_place();
	fputc('\n', stderr);
	(void)ct_tool_say_refused(target->verb);
}

enum ctrace_status ct_target_find(const struct target *target, struct ct_peers *out_peers)
{
	const struct ct_peer_filter *filter = &target->filter;
	bool is_any = filter->pid == 0 && filter->asid == 0 && filter->jobname == NULL;
	struct ct_peers peers;
	enum ctrace_status status;

	ct_tool_recover_on_the_way(target->verb);
	status = ct_peers_find(filter, &peers);
	if (status == CTRACE_OK && peers.count == 0) {
		ct_peers_fini(&peers);
		status = CTRACE_NOT_FOUND;
	}
	if (status == CTRACE_NOT_FOUND)
		ct_target_complain_nobody(target, is_any ? "no traced process is running" : "no running traced process matches");
	else if (status != CTRACE_OK)
		fprintf(stderr, "%s: cannot look for traced processes: %s\n", target->verb, ctrace_status_text(status));
	else
		*out_peers = peers;
	return status;
}

/* The status that it has answered itself; it may also have answered only a part. */
static bool has_answered(const struct ct_peer *peer)
{
	struct ct_message first;
	size_t at = 0;

	return ct_client_next(peer, &at, &first) && ct_message_number(&first, CT_FIELD_STATUS, CTRACE_STATUS_COUNT) == peer->status;
}

const char *ct_target_silence(const struct ct_peer *peer)
{
	if (has_answered(peer))
		return NULL;
	switch (peer->status) {
	case CTRACE_TIMED_OUT:
		return "did not answer in time";
	case CTRACE_NOT_FOUND:
		return kill((pid_t)peer->pid, 0) != 0 && errno == ESRCH ? NULL : "does not listen to operators";
	case CTRACE_DENIED:
		return "belongs to another user";
	case CTRACE_DAMAGED:
		return "gave an answer that cannot be read";
	case CTRACE_NOT_ENOUGH_MEMORY:
		return "gave an answer that is too long";
	case CTRACE_UNSUPPORTED:
		return "has another version of ctrace, which speaks differently";
	case CTRACE_OK:
		return "gave no answer";
	default:
		return ctrace_status_text(peer->status);
	}
}

void ct_target_print_name(FILE *to, const struct ct_peer *peer)
{
	fprintf(to, "%u ", (unsigned)peer->pid);
	ct_tool_print(to, peer->jobname, strnlen(peer->jobname, sizeof(peer->jobname)));
}

void ct_target_complain_silence(const struct target *target, const struct ct_peer *peer)
{
	const char *silence = ct_target_silence(peer);

	if (silence == NULL)
		return;
	fprintf(stderr, "%s: ", target->verb);
	ct_target_print_name(stderr, peer);
	fprintf(stderr, " %s\n", silence);
}

void ct_target_ask_these(const struct target *target, const struct ct_buf *request, struct ct_peers *peers)
{
	ct_client_ask(peers, request, target->timeout_ms);
	for (size_t i = 0; i < peers->count; i++)
		ct_target_complain_silence(target, &peers->items[i]);
}

enum ctrace_status ct_target_ask(const struct target *target, const struct ct_buf *request, struct ct_peers *out_peers)
{
	struct ct_peers peers;
	enum ctrace_status status = ct_target_find(target, &peers);

	if (status != CTRACE_OK)
		return status;
	ct_target_ask_these(target, request, &peers);
	*out_peers = peers;
	return CTRACE_OK;
}
