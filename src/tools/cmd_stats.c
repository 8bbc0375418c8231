/*
 * cmd_stats.c - ctrace stats: what is traced, lost and waiting, in numbers; or what traces hold,
 * when some are named.
 *
 * Reads what each process keeps in its process directory, without disturbing it, and asks external
 * writers.  With --watch again and again, with what has come in a second: in place on a terminal,
 * else one below the other.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/allocate.h"
#include "operator/recovery/recovery.h"
#include "cli/end_signal.h"
#include "tools/processes/stats.h"
#include "tools/traces/stats_trace.h"

#define NS_PER_SECOND 1000000000u
#define LEAST_SECONDS 0.1
#define MOST_SECONDS 86400.0

enum { OPTION_WATCH = 'w', OPTION_BY = 256, OPTION_SORT, OPTION_LIMIT };

struct stats_options {
	struct target target;
	uint64_t watch_ns; /* 0: once */
	struct stats_trace trace;
	const char *trace_option; /* one that only goes with a PATH */
};

/* -----------------------------------------------------------------------------------------------
 * Printing
 */

static void print_time(uint64_t wall_ns)
{
	char when[CT_TOOL_DATE];

	ct_tool_date(wall_ns, when);
	printf("%s\n", when);
}

/* Whole at once, or a screen that is drawn anew flickers. */
static bool frame_print_text(const struct stats_options *options, const struct stats *stats,
			     const struct stats *before)
{
	bool is_screen = options->watch_ns != 0 && isatty(STDOUT_FILENO);
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (to == NULL)
		return false;
	ct_stats_print(to, stats, before);
	if (!allocate_close_stream(to)) {
		free(text);
		return false;
	}
	if (is_screen)
		fputs("\033[H\033[J", stdout);
	else if (before != NULL)
		putchar('\n');
	if (options->watch_ns != 0)
		print_time(stats->wall_ns);
	fwrite(text, 1, size, stdout);
	if (size == 0 && options->watch_ns != 0)
		puts("nothing is traced");
	free(text);
	return true;
}

static bool frame_print(const struct stats_options *options, const struct stats *stats,
			const struct stats *before)
{
	bool ok = options->target.is_json ? ct_stats_print_json(stats, before)
					  : frame_print_text(options, stats, before);

	if (!ok)
		fputs("ctrace stats: not enough memory\n", stderr);
	return fflush(stdout) == 0 && ok;
}

/* -----------------------------------------------------------------------------------------------
 * Once, or again and again
 */

static int stats_print_once(const struct stats_options *options)
{
	struct stats stats;
	bool is_empty, ok;

	ct_stats_gather(&stats, &options->target);
	is_empty = stats.process_count == 0 && stats.writers.writer_rows.count == 0;
	ok = !stats.has_failed;
	if (!is_empty || options->target.is_json)
		ok = frame_print(options, &stats, NULL) && ok;
	if (is_empty && ok)
		ct_ask_diagnose_nobody(&options->target, ct_target_is_all(&options->target)
								 ? "nothing is traced"
								 : "no traced process matches");
	ct_stats_fini(&stats);
	return ok && !is_empty ? CMD_DONE : CMD_NOTHING;
}

static int stats_watch(const struct stats_options *options)
{
	struct stats stats[2];
	struct stats *now = &stats[0], *before = NULL;
	bool ok = true;
	sigset_t signals;

	ct_end_catch(&signals);
	(void)signal(SIGPIPE, SIG_IGN); /* the reader's end is seen while we wait */
	while (ok && !ct_end_wanted) {
		struct stats *free_one = before != NULL ? before : &stats[1];

		ct_stats_gather(now, &options->target);
		ok = frame_print(options, now, before);
		if (!ok && ct_end_reader_gone()) {
			ct_end_wanted = 1;
			ok = true;
		}
		if (before != NULL)
			ct_stats_fini(before);
		before = now;
		now = free_one;
		if (ok && !ct_end_wanted)
			ct_end_wait(before->taken_ns + options->watch_ns, &signals);
	}
	if (before != NULL)
		ct_stats_fini(before);
	return ok ? CMD_DONE : CMD_NOTHING;
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static uint64_t parse_seconds(const char *argument, struct argp_state *state)
{
	double seconds = 1;
	char *end;

	if (argument != NULL) {
		seconds = strtod(argument, &end);
		if (end == argument || *end != '\0' || !isfinite(seconds) ||
		    seconds < LEAST_SECONDS || seconds > MOST_SECONDS)
			argp_error(state,
				   "\"%s\" is not a time; expected seconds, from 0.1 to 86400",
				   argument);
	}
	return (uint64_t)(seconds * NS_PER_SECOND);
}

static uint64_t parse_limit(const char *argument, struct argp_state *state)
{
	unsigned long limit;
	char *end;

	errno = 0;
	limit = strtoul(argument, &end, 10);
	if (errno != 0 || *end != '\0' || argument[0] < '0' || argument[0] > '9' || limit == 0)
		argp_error(state, "\"%s\" is not a number of rows", argument);
	return limit;
}

/* What runs and what is in files are two questions; each has its options. */
static void options_check(struct stats_options *options, struct argp_state *state)
{
	const struct ct_peer_filter *filter = &options->target.filter;
	struct reading *reading = &options->trace.reading;

	if (reading->path_count == 0) {
		if (options->trace_option != NULL)
			argp_error(state, "--%s goes with a trace: expected a PATH",
				   options->trace_option);
		if (reading->filter != NULL)
			argp_error(state, "events are chosen from a trace: expected a PATH");
		return;
	}
	if (options->watch_ns != 0)
		argp_error(state, "--watch is for running processes, not for traces");
	if (options->target.is_all || filter->asid != 0)
		argp_error(state, "--all and --asid are for running processes, not for traces");
	if (!reading_choose_process(reading, filter->pid, filter->jobname))
		exit(CMD_USAGE);
}

static error_t parse_stats(int key, char *argument, struct argp_state *state)
{
	struct stats_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&options->trace.reading, "ctrace stats");
		state->child_inputs[0] = &options->target;
		state->child_inputs[1] = &options->trace.reading;
		return 0;
	case OPTION_WATCH:
		options->watch_ns = parse_seconds(argument, state);
		return 0;
	case OPTION_BY:
		options->trace_option = "by";
		options->trace.has_kind = true;
		if (!ct_stats_kind_parse(argument, &options->trace.kind)) {
			options->trace.kind = CT_TALLY_NAME;
			options->trace.by = argument;
		}
		return 0;
	case OPTION_SORT:
		options->trace_option = "sort";
		options->trace.has_sort = true;
		if (!ct_stats_sort_parse(argument, &options->trace.sort))
			argp_error(
				state,
				"cannot sort by \"%s\"; expected events, bytes, name, total, median, p95, p99, max or self",
				argument);
		return 0;
	case OPTION_LIMIT:
		options->trace_option = "limit";
		options->trace.limit = parse_limit(argument, state);
		return 0;
	case ARGP_KEY_ARGS:
		reading_words(&options->trace.reading, state->argv + state->next,
			      (size_t)(state->argc - state->next));
		return 0;
	case ARGP_KEY_END:
		options_check(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_stats(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ NULL, 0, NULL, 0, "Of processes:", 1 },
		{ "watch", OPTION_WATCH, "SECONDS", OPTION_ARG_OPTIONAL,
		  "Repeat each second, or at this interval, with rates", 1 },
		{ NULL, 0, NULL, 0, "Of traces:", 3 },
		{ "by", OPTION_BY, "TABLE", 0,
		  "Only this table: component, event, thread; or an argument of a catalogue, as program, paragraph, statement or file: the spans that it names, or else"
		  " operations by its value",
		  3 },
		{ "sort", OPTION_SORT, "COLUMN", 0,
		  "events (the default), bytes, name, total, median, p95, p99, max or self; of arguments total is the default",
		  3 },
		{ "limit", OPTION_LIMIT, "N", 0, "At most N rows in each table", 3 },
		{ 0 },
	};
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 2 },
						      { &ct_reading_argp, 0, NULL, 4 },
						      { 0 } };
	static const struct argp argp = {
		.options = rows,
		.children = children,
		.parser = parse_stats,
		.args_doc = "['EXPRESSION'] [PATH...]",
		.doc = "Count traced, delivered, lost and waiting events of each traced process and of the running external writers.  With PATHs:"
		       " count the events of these traces, per component, event and thread, and show how long spans took."
		       "\vEvents emitted are those delivered, pending and lost.  The processes are not disturbed; --timeout is for the writers."
		       "  Exit status: 0 something was shown, or the watch was interrupted; 1 nothing is traced, or something cannot be read;"
		       " 2 usage, or no memory.",
	};
	struct stats_options options = { .watch_ns = 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
		return CMD_USAGE;
	if (options.trace.reading.path_count != 0) {
		options.trace.is_json = options.target.is_json;
		return ct_stats_trace(&options.trace);
	}
	ct_recovery_on_the_way("ctrace stats");
	return options.watch_ns != 0 ? stats_watch(&options) : stats_print_once(&options);
}
