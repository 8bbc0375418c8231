/*
 * cmd_diff.c - ctrace diff A B: what is new, gone, more frequent and slower in a second run.
 *
 * Reads one trace after the other, keeps the numbers of both, and compares these.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"
#include "tools/traces/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress_line.h"
#include "print/json_text.h"
#include "print/tally.h"

/* As diff(1) has it. */
enum { RUNS_ALIKE = 0, RUNS_DIFFER = 1, RUNS_UNKNOWN = 2 };
enum { OPTION_BY = 256, OPTION_MIN_COUNT, OPTION_MIN_TIME, OPTION_RATIO, OPTION_COUNTS };

#define DEFAULT_COUNT 5u
#define DEFAULT_RATIO 1.5
#define DEFAULT_NS 1000u

struct diff {
	struct reading reading;
	char *paths[2];
	size_t path_count;
	struct ct_compare_options options;
	const char *by; /* of CT_TALLY_NAME: the argument; NULL: all names */
	bool has_by;    /* --by was given: only this */
	bool is_json;
	bool has_failed;
};

/* -----------------------------------------------------------------------------------------------
 * For people
 */

static void print_subject(const struct diff *diff, const struct ct_tally_change *change)
{
	const struct ct_tally_row *row = change->b != NULL ? change->b : change->a;
	struct ct_buf name;

	if (row->name != NULL) {
		ct_buf_init(&name);
		ct_tally_add_name(&name, row);
		if (row->is_operation)
			ct_tool_print(stdout, row->component, strlen(row->component));
		else
			fputs(row->what, stdout);
		putchar(' ');
		ct_tool_print(stdout, ct_buf_text(&name), name.size);
		ct_buf_fini(&name);
		return;
	}
	ct_tool_print(stdout, row->component, strlen(row->component));
	if (diff->options.kind == CT_TALLY_EVENT)
		printf(" %u", row->event_id);
	if (row->mnemonic != NULL) {
		putchar(' ');
		ct_tool_print(stdout, row->mnemonic, strlen(row->mnemonic));
	}
}

static void print_duration(double ns)
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_tally_add_duration(&text, (uint64_t)ns);
	fputs(ct_buf_text(&text), stdout);
	ct_buf_fini(&text);
}

static void print_count(const struct diff *diff, const struct ct_tally_change *change, bool is_b)
{
	const struct ct_tally_row *row = is_b ? change->b : change->a;

	printf("%" PRIu64, row != NULL ? row->events : 0);
	if (diff->options.has_rates && row != NULL && row->name == NULL)
		printf(" (%.1f/s)", is_b ? change->is : change->was);
}

static void print_change(const struct diff *diff, const struct ct_tally_change *change)
{
	const struct ct_tally_row *row = change->b != NULL ? change->b : change->a;
	bool is_time = change->difference == CT_DIFFERENT_SLOWER ||
		       change->difference == CT_DIFFERENT_FASTER;

	printf("%-6s  ", ct_difference_name(change->difference));
	print_subject(diff, change);
	fputs("  ", stdout);
	if (is_time) {
		fputs(row->name != NULL ? "total " : "median ", stdout);
		print_duration(change->was);
		fputs(" -> ", stdout);
		print_duration(change->is);
	} else {
		fputs(row->name == NULL   ? "events "
		      : row->is_operation ? "operations "
					  : "spans ",
		      stdout);
		print_count(diff, change, false);
		fputs(" -> ", stdout);
		print_count(diff, change, true);
	}
	if (change->ratio != 0)
		printf("  x%.2f", change->ratio);
	if (is_time && row->is_inferred)
		fputs("  (inferred)", stdout);
	putchar('\n');
}

/* -----------------------------------------------------------------------------------------------
 * For programs
 */

static json_t *json_run(const char *path, const struct ct_tally *tally)
{
	return json_pack("{s:o, s:I, s:I, s:I}", "path", ct_json_string(path), "count",
			 (json_int_t)tally->events, "first_ns", (json_int_t)tally->first_ns,
			 "last_ns", (json_int_t)tally->last_ns);
}

static json_t *json_side(const struct ct_tally_row *row, const struct ct_tally *tally)
{
	json_t *object;

	if (row == NULL)
		return json_null();
	object = json_pack("{s:I, s:f}", "count", (json_int_t)row->events, "per_second",
			   ct_tally_rate(row->events, ct_tally_duration_ns(tally)));
	if (row->spans != NULL) {
		(void)json_object_set_new(object, "spans",
					  json_integer((json_int_t)row->spans->count));
		(void)json_object_set_new(
			object, "median_ns",
			json_integer((json_int_t)ct_histogram_at(row->spans, 500)));
		(void)json_object_set_new(
			object, "p99_ns",
			json_integer((json_int_t)ct_histogram_at(row->spans, 990)));
		(void)json_object_set_new(object, "total_ns", ct_json_number(row->spans->total));
	}
	if (row->name != NULL) {
		(void)json_object_set_new(object, "self_ns", ct_json_number(row->self_ns));
		(void)json_object_set_new(object, "bytes", ct_json_number(row->moved));
	}
	return object;
}

static json_t *json_change(const struct diff *diff, const struct ct_tally_change *change,
			   const struct ct_tally tallies[2])
{
	const struct ct_tally_row *row = change->b != NULL ? change->b : change->a;
	json_t *object = json_object();

	(void)json_object_set_new(object, "change",
				  json_string(ct_difference_name(change->difference)));
	(void)json_object_set_new(object, "component", ct_json_string(row->component));
	if (row->name != NULL) {
		(void)json_object_set_new(object, "name", ct_json_string(row->name));
		(void)json_object_set_new(object, "by", ct_json_string(row->what));
		(void)json_object_set_new(object, "operation", json_boolean(row->is_operation));
		(void)json_object_set_new(object, "inferred", json_boolean(row->is_inferred));
	}
	if (row->name != NULL || diff->options.kind == CT_TALLY_EVENT) {
		(void)json_object_set_new(object, "event", json_integer(row->event_id));
		(void)json_object_set_new(object, "mnemonic", ct_json_string(row->mnemonic));
	}
	(void)json_object_set_new(object, "a", json_side(change->a, &tallies[0]));
	(void)json_object_set_new(object, "b", json_side(change->b, &tallies[1]));
	(void)json_object_set_new(object, "ratio",
				  change->ratio != 0 ? json_real(change->ratio) : json_null());
	return object;
}

static bool print_json(const struct diff *diff, const struct ct_tally tallies[2],
		       const struct ct_tally_change *changes, size_t count)
{
	json_t *document = ct_json_document();
	json_t *array = json_array();

	(void)json_object_set_new(document, "a", json_run(diff->paths[0], &tallies[0]));
	(void)json_object_set_new(document, "b", json_run(diff->paths[1], &tallies[1]));
	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(array, json_change(diff, &changes[i], tallies));
	(void)json_object_set_new(document, "changes", array);
	return ct_json_print(document, stdout);
}

/* -----------------------------------------------------------------------------------------------
 * The way
 */

static int run_diagnose(const char *what)
{
	fprintf(stderr, "ctrace diff: %s\n", what);
	return RUNS_UNKNOWN;
}

/* One run.  The catalogue and the filter are the reading's, for both. */
static bool run_count(struct diff *diff, char **path, struct ct_tally *tally)
{
	struct reading *reading = &diff->reading;
	const struct ct_read_event *event;

	reading->shows_progress = true;
	reading_paths(reading, path, 1);
	if (!reading_open(reading))
		return false;
	if (diff->by != NULL && !ct_tally_by_is_known(reading->catalog, diff->by)) {
		fprintf(stderr,
			"ctrace diff: cannot compare by \"%s\"; expected component, event or an argument in a catalogue, as program, paragraph, statement, select or file\n",
			diff->by);
		return false;
	}
	if (!diff->has_by || diff->options.kind == CT_TALLY_NAME)
		ct_tally_want_names(tally, diff->by);
	while ((event = ct_reader_next(reading->reader)) != NULL)
		ct_tally_add(tally, event);
	progress_clear();
	diff->has_failed |= ct_reader_totals(reading->reader)->damages > 0 || tally->failed;
	return !reading->has_failed;
}

/* Adds the changes of a table; false: no memory. */
static bool runs_compare_by(const struct diff *diff, enum ct_tally_kind kind,
			    const struct ct_tally tallies[2], struct ct_tally_change **changes,
			    size_t *count)
{
	struct ct_compare_options options = diff->options;
	struct ct_tally_change *more = NULL, *all;
	size_t more_count = 0;

	options.kind = kind;
	if (ct_compare(&tallies[0], &tallies[1], &options, &more, &more_count) != CTRACE_OK)
		return false;
	all = more_count > 0 ? reallocarray(*changes, *count + more_count, sizeof *all) : *changes;
	if (more_count > 0 && all != NULL)
		memcpy(all + *count, more, more_count * sizeof *all);
	free(more);
	if (more_count > 0 && all == NULL)
		return false;
	*changes = all;
	*count += more_count;
	return true;
}

static int runs_compare(struct diff *diff, const struct ct_tally tallies[2])
{
	struct ct_tally_change *changes = NULL;
	size_t count = 0;
	bool ok = true;

	/* Events that all have one time have no rate. */
	if (ct_tally_duration_ns(&tallies[0]) == 0 || ct_tally_duration_ns(&tallies[1]) == 0)
		diff->options.has_rates = false;
	if (!runs_compare_by(diff, diff->options.kind, tallies, &changes, &count) ||
	    (!diff->has_by && !runs_compare_by(diff, CT_TALLY_NAME, tallies, &changes, &count))) {
		free(changes);
		return run_diagnose("not enough memory");
	}
	if (diff->is_json)
		ok = print_json(diff, tallies, changes, count);
	for (size_t i = 0; i < count && !diff->is_json; i++)
		print_change(diff, &changes[i]);
	free(changes);
	if (!ok)
		return run_diagnose("not enough memory");
	return count == 0 ? RUNS_ALIKE : RUNS_DIFFER;
}

static int diff_run(struct diff *diff)
{
	struct ct_tally tallies[2];
	int result = RUNS_UNKNOWN;
	bool ok;

	ct_tally_init(&tallies[0]);
	ct_tally_init(&tallies[1]);
	diff->reading.has_pairs = true;
	diff->reading.has_inferred = true;
	ok = run_count(diff, &diff->paths[0], &tallies[0]);
	ct_reader_destroy(diff->reading.reader);
	diff->reading.reader = NULL;
	ok = ok && run_count(diff, &diff->paths[1], &tallies[1]);
	if (ok && tallies[0].events == 0 && tallies[1].events == 0)
		ok = run_diagnose("neither run has an event that matches") == RUNS_ALIKE;
	if (ok)
		result = runs_compare(diff, tallies);
	if (diff->has_failed)
		result = run_diagnose("what could not be read is not compared");
	if (reading_end(&diff->reading, 1) == CMD_UNREAD)
		result = RUNS_UNKNOWN;
	ct_tally_fini(&tallies[0]);
	ct_tally_fini(&tallies[1]);
	return result;
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static double parse_number(const char *argument, double least, const char *expected,
			   struct argp_state *state)
{
	char *end;
	double number = strtod(argument, &end);

	if (end == argument || *end != '\0' || !isfinite(number) || number < least || number > 1e15)
		argp_error(state, "\"%s\" is not %s", argument, expected);
	return number;
}

static void parse_by(struct diff *diff, const char *word, struct argp_state *state)
{
	diff->has_by = true;
	if (strcasecmp(word, "component") == 0)
		diff->options.kind = CT_TALLY_COMPONENT;
	else if (strcasecmp(word, "event") == 0)
		diff->options.kind = CT_TALLY_EVENT;
	else if (strcasecmp(word, "thread") == 0)
		argp_error(
			state,
			"threads of two runs are different ones; expected component, event or an argument");
	else {
		diff->options.kind = CT_TALLY_NAME;
		diff->by = word;
	}
}

static error_t parse_diff(int key, char *argument, struct argp_state *state)
{
	struct diff *diff = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&diff->reading, "ctrace diff");
		state->child_inputs[0] = &diff->reading;
		state->child_inputs[1] = &diff->reading;
		return 0;
	case 'j':
		diff->is_json = true;
		return 0;
	case OPTION_BY:
		parse_by(diff, argument, state);
		return 0;
	case OPTION_MIN_COUNT:
		diff->options.min_count =
			(uint64_t)parse_number(argument, 1, "a number of events, from 1", state);
		return 0;
	case OPTION_MIN_TIME:
		diff->options.min_ns =
			(uint64_t)(1000 *
				   parse_number(argument, 0, "a number of microseconds", state));
		return 0;
	case OPTION_RATIO:
		diff->options.ratio = parse_number(argument, 1.000001, "a ratio over 1", state);
		return 0;
	case OPTION_COUNTS:
		diff->options.has_rates = false;
		return 0;
	case ARGP_KEY_ARG:
		if (reading_take_expression(&diff->reading, argument))
			return 0;
		if (diff->path_count == 2)
			argp_error(state, "unexpected argument \"%s\"; two runs are compared",
				   argument);
		else
			diff->paths[diff->path_count++] = argument;
		return 0;
	case ARGP_KEY_END:
		if (diff->path_count != 2)
			argp_error(state, "two runs are compared: expected A and B");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "by", OPTION_BY, "WHAT", 0,
		  "Compare only by event, by component, or by an argument of a catalogue, as paragraph or file; by default by event and by the names of spans",
		  0 },
		{ "counts", OPTION_COUNTS, NULL, 0,
		  "Compare numbers of events, not events per second", 0 },
		{ "json", 'j', NULL, 0, "Print one JSON document", 0 },
		{ "min-count", OPTION_MIN_COUNT, "N", 0,
		  "Leave out events that neither run has N times; 5 by default", 0 },
		{ "min-time", OPTION_MIN_TIME, "MICROSECONDS", 0,
		  "Treat medians that differ by less as equal; 1 by default", 0 },
		{ "ratio", OPTION_RATIO, "R", 0,
		  "Treat changes by less than R times as equal; 1.5 by default", 0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { .argp = &ct_reading_argp },
						      { .argp = &ct_reading_process_argp },
						      { 0 } };
	static const struct argp argp = {
		.options = rows,
		.children = children,
		.parser = parse_diff,
		.args_doc = "['EXPRESSION'] A B",
		.doc = "Compare two runs: which events are new, gone, more or less frequent, and which spans are slower or faster; and spans that a catalogue names, as paragraphs of a COBOL program, and what is done with files.\v"
		       "A and B are traces, or directories of traces.  Exit status, as of diff: 0 alike; 1 different; 2 usage, no memory, or something could not be"
		       " read.",
	};
	struct diff diff = {
		.options = { .min_count = DEFAULT_COUNT,
			     .ratio = DEFAULT_RATIO,
			     .min_ns = DEFAULT_NS,
			     .has_rates = true,
			     .kind = CT_TALLY_EVENT },
	};

	if (argp_parse(&argp, argc, argv, 0, NULL, &diff) != 0)
		return CMD_USAGE;
	return diff_run(&diff);
}
