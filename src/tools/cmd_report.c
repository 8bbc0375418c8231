/*
 * cmd_report.c - ctrace report: traces of any kind, merged, as one page for a browser.
 *
 * The page gets its name when it is complete: nobody opens half of one, and what had the name
 * before stays until then.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"
#include "tools/traces/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/new_file.h"
#include "print/report/report.h"

#define DEFAULT_NAME "report.html"
#define MOST_EVENTS 20000000u /* more than that no browser takes */

enum { OPTION_TITLE = 256, OPTION_LIMIT };

struct verb {
	struct reading reading;
	struct ct_report_options options;
	struct ct_report *report;
	const char *output;
	struct new_file file;
	FILE *to;
	uint64_t passed; /* events that are older than what the page has room for */
	off_t size;      /* of the page */
	bool is_unwritten;
};

static bool report_diagnose(const char *path, const char *what)
{
	(void)fflush(stdout);
	fputs("ctrace report: ", stderr);
	if (path != NULL) {
		ct_tool_print(stderr, path, strlen(path));
		fputs(": ", stderr);
	}
	fprintf(stderr, "%s\n", what);
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * Where it goes
 */

static bool output_diagnose(struct verb *verb)
{
	verb->is_unwritten = true;
	return report_diagnose(verb->output, errno != 0 ? strerror(errno) : "cannot be written");
}

static bool output_is_stdout(const struct verb *verb)
{
	return strcmp(verb->output, "-") == 0;
}

/* Runs before anything is read, so that an unusable name is reported at once. */
static bool output_open(struct verb *verb)
{
	int copy;

	if (output_is_stdout(verb)) {
		verb->to = stdout;
		return true;
	}
	if (!new_file_open(&verb->file, verb->output))
		return output_diagnose(verb);
	/* The stream has a descriptor of its own: the file gets its name behind it. */
	copy = fcntl(verb->file.fd, F_DUPFD_CLOEXEC, 0);
	verb->to = copy >= 0 ? fdopen(copy, "w") : NULL;
	if (verb->to != NULL)
		return true;
	(void)output_diagnose(verb);
	ct_os_close(&copy);
	(void)new_file_end(&verb->file, false);
	return false;
}

static bool output_close(struct verb *verb, bool is_complete)
{
	bool has_failed;

	if (verb->to == stdout)
		return is_complete; /* the tool looks at it when it ends */
	verb->size = ftello(verb->to);
	has_failed = ferror(verb->to) != 0;
	has_failed |= fclose(verb->to) != 0;
	is_complete = is_complete && !ct_memory_has_lacked();
	if (is_complete && has_failed)
		is_complete = output_diagnose(verb);
	if (!new_file_end(&verb->file, is_complete) && is_complete)
		is_complete = output_diagnose(verb);
	return is_complete;
}

/* -----------------------------------------------------------------------------------------------
 * The way through
 */

static void report_note(const struct ct_read_note *note, void *user)
{
	struct verb *verb = user;

	if (verb->report != NULL)
		ct_report_note(verb->report, note);
}

static void print_shortened(const struct verb *verb, const struct ct_report_counts *counts)
{
	if (verb->passed > 0)
		fprintf(stderr,
			"ctrace report: the page holds the last %" PRIu64
			" events; choose others with --filter or --since, or more with --limit\n",
			counts->events);
	if (counts->left_out > 0)
		fprintf(stderr,
			"ctrace report: %" PRIu64
			" events are left out: too many kinds or threads\n",
			counts->left_out);
	if (counts->without_items > 0)
		fprintf(stderr,
			"ctrace report: the items of the last %" PRIu64
			" events are left out: too many bytes\n",
			counts->without_items);
	if (counts->without_records > 0)
		fprintf(stderr,
			"ctrace report: %" PRIu64 " records are left undecoded: too many bytes\n",
			counts->without_records);
}

static bool page_write(struct verb *verb)
{
	enum ctrace_status status =
		ct_report_write(verb->report, ct_reader_totals(verb->reading.reader), verb->to);

	return status == CTRACE_OK || report_diagnose(NULL, ctrace_status_text(status));
}

/* Of a long trace the page holds the end: what was just before is what people look for.  So many
 * events come before those. */
static bool events_count_older(struct verb *verb)
{
	struct reading *reading = &verb->reading;
	uint64_t limit = verb->options.limit != 0 ? verb->options.limit : CT_REPORT_LIMIT;
	const struct ct_read_event *event;
	uint64_t count = 0;

	reading_look(reading);
	while ((event = ct_reader_next(reading->reader)) != NULL)
		count += !event->is_inferred;
	verb->passed = count > limit ? count - limit : 0;
	return reading_again(reading, 0);
}

static bool report_convert(struct verb *verb, struct ct_report_counts *counts)
{
	const struct ct_read_event *event;
	bool is_complete = true;

	errno = 0;
	if (!events_count_older(verb))
		return output_close(verb, false);
	if (verb->passed > 0)
		ct_report_pass(verb->report);
	for (uint64_t i = 0; i < verb->passed; i += !event->is_inferred)
		if ((event = ct_reader_next(verb->reading.reader)) == NULL)
			break;
	while ((event = ct_reader_next(verb->reading.reader)) != NULL &&
	       ct_report_add(verb->report, event))
		;
	ct_report_count(verb->report, counts);
	if (reading_differs(&verb->reading))
		is_complete = report_diagnose(
			NULL,
			"what was read at first and the second time differ: a trace could not be read once");
	else if (counts->events > 0 && new_file_interrupted == 0)
		is_complete = page_write(verb);
	if (new_file_interrupted == 0)
		print_shortened(verb, counts);
	return output_close(verb, is_complete && counts->events > 0) || counts->events == 0;
}

static void print_summary(const struct verb *verb, uint64_t events)
{
	if (output_is_stdout(verb) || verb->file.is_special)
		return;
	ct_tool_print(stdout, verb->output, strlen(verb->output));
	printf(": %" PRIu64 " event%s, %.1f MB\n", events, events == 1 ? "" : "s",
	       (double)verb->size / 1e6);
}

static int report_run(struct verb *verb)
{
	enum ctrace_status status = ct_report_create(&verb->options, &verb->report);
	struct ct_report_counts counts = { 0 };
	int exit_status;
	bool is_good;

	if (status != CTRACE_OK) {
		(void)report_diagnose(NULL, ctrace_status_text(status));
		reading_close(&verb->reading);
		return CMD_NOTHING;
	}
	verb->reading.shows_progress = true;
	verb->reading.has_pairs = true;
	verb->reading.has_inferred = true;
	verb->reading.also = report_note;
	verb->reading.also_user = verb;
	for (size_t i = 0; i < verb->reading.path_count; i++)
		ct_report_add_path(verb->report, verb->reading.paths[i]);
	new_file_catch();
	is_good =
		reading_open(&verb->reading) && output_open(verb) && report_convert(verb, &counts);
	if (is_good && counts.events > 0)
		print_summary(verb, counts.events);
	new_file_die();
	exit_status = reading_end(&verb->reading, is_good ? counts.events : 1);
	ct_report_destroy(verb->report);
	if (verb->is_unwritten)
		return CMD_UNWRITTEN;
	return is_good || exit_status == CMD_UNREAD ? exit_status : CMD_NOTHING;
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static void parse_limit(struct verb *verb, const char *text, struct argp_state *state)
{
	char *end;
	unsigned long long limit;

	errno = 0;
	limit = strtoull(text, &end, 10);
	if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || limit == 0 ||
	    limit > MOST_EVENTS)
		argp_error(state, "no number of events: \"%s\"; expected 1 to %u", text,
			   MOST_EVENTS);
	verb->options.limit = limit;
}

static error_t parse_report(int key, char *argument, struct argp_state *state)
{
	struct verb *verb = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&verb->reading, "ctrace report");
		state->child_inputs[0] = &verb->reading;
		state->child_inputs[1] = &verb->reading;
		return 0;
	case 'o':
		verb->output = argument;
		return 0;
	case OPTION_TITLE:
		verb->options.title = argument;
		return 0;
	case OPTION_LIMIT:
		parse_limit(verb, argument, state);
		return 0;
	case ARGP_KEY_ARGS:
		reading_words(&verb->reading, state->argv + state->next,
			      (size_t)(state->argc - state->next));
		return 0;
	case ARGP_KEY_END:
		if (output_is_stdout(verb) && isatty(STDOUT_FILENO))
			argp_error(state,
				   "a page is nothing for a terminal: name a file with --output");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_report(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "output", 'o', "FILE", 0, "The page; " DEFAULT_NAME " by default, - for stdout",
		  0 },
		{ "title", OPTION_TITLE, "TEXT", 0,
		  "The title above the page; the names of the traces by default", 0 },
		{ "limit", OPTION_LIMIT, "N", 0, "At most the last N events; 2000000 by default",
		  0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { .argp = &ct_reading_argp },
						      { .argp = &ct_reading_pid_argp },
						      { 0 } };
	static const struct argp argp = {
		.options = rows,
		.children = children,
		.parser = parse_report,
		.args_doc = "['EXPRESSION'] [PATH|PID...]",
		.doc = "Write traces, merged by time, as one page for a browser: a timeline, a list of events with their fields and records, a"
		       " tally, the slowest spans, rates and losses. The page contains everything that it shows and needs no"
		       " network.\v"
		       "Exit status: 0 done; 1 no events, or damaged input; 2 usage, no memory, or the page could not be written.",
	};
	struct verb verb = { .output = DEFAULT_NAME };

	if (argp_parse(&argp, argc, argv, 0, NULL, &verb) != 0)
		return CMD_USAGE;
	return report_run(&verb);
}
