/*
 * cmd_show.c - ctrace show: prints traces of any kind, in any mix, merged by time.
 *
 * Events go to stdout, one a line; damage and losses go to stderr as they are met, and once more in sum at the end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "filter_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

enum { OPTION_SINCE = 256, OPTION_UNTIL };

struct show {
	struct filter_options options;
	bool has_failed;  /* something that was named could not be read */
	size_t sources;   /* named or found */
	uint64_t reports; /* lines on stderr so far */
	uint64_t shown;
	struct ct_sources all;
};

/* A file of nothing but damage must not fill the terminal. */
#define REPORT_LIMIT 20u

static void complain(const char *path, const char *message)
{
	fputs("ctrace show: ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", message);
}

static void report(const char *path, uint64_t offset, const char *message, void *user)
{
	struct show *show = user;

	if (show->reports++ >= REPORT_LIMIT)
		return;
	/* What was printed so far comes first where both streams are one terminal. */
	(void)fflush(stdout);
	fputs("ctrace show: ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ", offset %" PRIu64 ": %s\n", offset, message);
}

/* ------------------------------------------------------------------------------------------------------------
 * What to show
 */

static void add_path(struct show *show, const char *path)
{
	enum ctrace_status status = ct_sources_add(&show->all, path);

	show->sources++;
	if (status == CTRACE_OK)
		return;
	show->has_failed = true;
	complain(path, status == CTRACE_NOT_FOUND     ? "no trace, run folder or traced process of that name"
		       : status == CTRACE_UNSUPPORTED ? "not a trace that this version of ctrace wrote"
						      : ctrace_status_text(status));
}

static void add_folder_entry(const struct ct_folder_entry *entry, void *user)
{
	struct show *show = user;
	char *path;

	if (entry->uid != geteuid() && geteuid() != 0)
		return;
	if (asprintf(&path, "%s/%s", entry->run_directory, entry->name) < 0)
		return;
	/* A process that ended since is no failure. */
	if (access(path, F_OK) == 0)
		add_path(show, path);
	free(path);
}

static void add_run_directory(const char *path, void *user)
{
	ct_folder_each(path, add_folder_entry, user);
}

/* ------------------------------------------------------------------------------------------------------------
 * Printing
 */

static void print_event(struct show *show, const struct ctrace_event *event, struct ct_buf *line)
{
	ct_filter_line(&show->options, event, line);
	if (line->failed) {
		show->has_failed = true;
		return;
	}
	fwrite(line->data, 1, line->size, stdout);
	show->shown++;
}

static void print_events(struct show *show)
{
	struct ctrace_event event;
	struct ct_buf line;

	ct_buf_init(&line);
	/* When stdout takes no more, nobody reads on; the tool says so when it ends. */
	while (!ferror(stdout) && ct_sources_next(&show->all, &event))
		if (ct_filter_accepts(&show->options.filter, &event))
			print_event(show, &event, &line);
	ct_buf_fini(&line);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static int summarize(const struct show *show)
{
	const struct ct_read_totals *totals = &show->all.totals;

	(void)fflush(stdout);
	if (show->reports > REPORT_LIMIT)
		fprintf(stderr, "ctrace show: %" PRIu64 " more like these\n", show->reports - REPORT_LIMIT);
	if (totals->discarded > 0)
		fprintf(stderr, "ctrace show: %" PRIu64 " event%s discarded before being written\n", totals->discarded,
			totals->discarded == 1 ? " was" : "s were");
	if (totals->damages > 0)
		fprintf(stderr, "ctrace show: damaged in %" PRIu64 " place%s, %" PRIu64 " byte%s could not be read\n", totals->damages,
			plural(totals->damages), totals->damaged_bytes, plural(totals->damaged_bytes));
	if (show->sources == 0)
		fputs("ctrace show: nothing is being traced; name a trace\n", stderr);
	else if (show->shown == 0 && !show->has_failed)
		fprintf(stderr, "ctrace show: no events%s\n", totals->events > 0 ? " match" : "");
	return show->shown > 0 && !show->has_failed && totals->damages == 0 ? CMD_DONE : CMD_NOTHING;
}

/* ------------------------------------------------------------------------------------------------------------
 * The verb
 */

static void parse_time(struct argp_state *state, const char *text, uint64_t *out_ns)
{
	if (!ct_filter_parse_time(text, ct_clock_wall_ns(), out_ns))
		argp_error(state, "no time: \"%s\"; expected \"2026-01-31 15:12:27.5\", \"15:12:27\", \"-5m\" or \"@1700000000\"",
			   text);
}

static error_t parse_show(int key, char *argument, struct argp_state *state)
{
	struct show *show = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &show->options;
		return 0;
	case OPTION_SINCE:
		parse_time(state, argument, &show->options.filter.since_ns);
		return 0;
	case OPTION_UNTIL:
		parse_time(state, argument, &show->options.filter.until_ns);
		return 0;
	case ARGP_KEY_ARGS:
		/* All options have been seen by now. */
		for (int i = state->next; i < state->argc; i++)
			add_path(show, state->argv[i]);
		return 0;
	case ARGP_KEY_NO_ARGS:
		ct_folder_each_run_directory(add_run_directory, show);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_show(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "since", OPTION_SINCE, "TIME", 0,
		  "Only from then on: \"2026-01-31 15:12:27.5\", \"15:12:27\", \"-5m\", \"@1700000000\"", 1 },
		{ "until", OPTION_UNTIL, "TIME", 0, "Only up to then", 1 },
		{ 0 },
	};
	static const struct argp_child children[] = { { .argp = &ct_filter_argp }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.children = children,
		.parser = parse_show,
		.args_doc = "[PATH|PID...]",
		.doc = "Print traces, merged by time."
		       "\vPATH is a BINFILE trace or one of its stream files, a run folder, or a folder of these; PID a traced process, of which"
		       " what no destination has yet is shown.  Without any: all processes of yours, live and dead."
		       "  Damage and losses are told on standard error.  Exit status: 0 events were shown, 1 none were or the input is damaged,"
		       " 2 usage.",
	};
	struct show show = { .shown = 0 };
	int result;

	ct_sources_init(&show.all, report, &show);
	if (argp_parse(&argp, argc, argv, 0, NULL, &show) != 0) {
		ct_sources_fini(&show.all);
		return CMD_USAGE;
	}
	print_events(&show);
	result = summarize(&show);
	ct_sources_fini(&show.all);
	return result;
}
