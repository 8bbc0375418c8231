/*
 * cmd_show.c - ctrace show: prints traces of any kind, in any mix, merged by time.
 *
 * Events go to stdout, one a line; damage and losses go to stderr as they are met, and once more in
 * sum at the end.  In the straight case an event goes from the reader through the printer into the
 * buffer that is written, and nothing is kept.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"
#include "tools/traces/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/traces/direct_output.h"
#include "tools/traces/line_options.h"
#include "cli/line_store.h"
#include "cli/pager.h"
#include "print/json_text.h"
#include "tools/processes/thread_files.h"
#include "tools/streams/stream_copy.h"

enum {
	OPTION_BEFORE = 0x1200,
	OPTION_AFTER,
	OPTION_CONTEXT,
	OPTION_LIMIT,
	OPTION_REVERSE,
	OPTION_COUNT,
	OPTION_NESTING,
	OPTION_ENDS,
	OPTION_NO_PAGER,
	OPTION_SPLIT
};

#define CONTEXT_LIMIT 1000000u

struct show {
	struct reading reading;
	struct line_options lines;
	uint64_t before, after; /* lines around each that matches */
	uint64_t limit;         /* UINT64_MAX: none */
	uint64_t tail;          /* UINT64_MAX: all */
	bool is_reverse;
	/* some of the first events could not be read when the lines were laid out */
	bool lacks_survey;
	bool is_count;
	bool has_hosts; /* there are several */
	bool is_following;
	bool has_no_pager;
	bool is_split;         /* a file a thread */
	const char *directory; /* for them */
	uint64_t shown;        /* that matched */
	bool is_unwritten;     /* the files of --split, or lines that wait for the others */
	struct direct_output output;
	struct ct_buf line; /* for lines that are kept */
};

/* Earlier output comes before reports of damage, where both streams are one terminal. */
static void print_before(const struct ct_read_note *note, void *user)
{
	(void)note;
	direct_output_flush(user);
}

static bool show_is_done(const struct show *show)
{
	return show->shown >= show->limit || show->output.write_errno != 0;
}

/* -----------------------------------------------------------------------------------------------
 * As they come
 */

static void print_all(struct show *show)
{
	const struct ct_read_event *event;

	while (!show_is_done(show) && (event = ct_reader_next(show->reading.reader)) != NULL) {
		line_options_add(&show->lines, &show->output.text, event);
		show->shown++;
		direct_output_step(&show->output);
	}
}

static void split_all(struct show *show, struct thread_files *files)
{
	const struct ct_read_event *event;
	struct ct_buf *text;

	while (show->shown < show->limit &&
	       (event = ct_reader_next(show->reading.reader)) != NULL) {
		text = thread_files_begin(files, event);
		if (text == NULL)
			break;
		line_options_add(&show->lines, text, event);
		show->shown++;
	}
}

/* One line reports the new trace. */
static void print_split(struct show *show)
{
	struct thread_files files;
	uint32_t count;

	if (!thread_files_open(&files, show->directory, show->lines.is_json ? "json" : "log")) {
		fputs("ctrace show: ", stderr);
		ct_tool_print(stderr, show->directory, strlen(show->directory));
		fprintf(stderr, ": %s\n", strerror(errno));
		show->is_unwritten = true;
		return;
	}
	files.has_host = show->has_hosts;
	split_all(show, &files);
	count = files.names.count;
	if (!thread_files_end(&files, "ctrace show")) {
		show->is_unwritten = true;
		return;
	}
	ct_buf_add_format(&show->output.text, "%s: %llu event%s of %u thread%s\n", show->directory,
			  (unsigned long long)show->shown, show->shown == 1 ? "" : "s", count,
			  count == 1 ? "" : "s");
}

static void count_all(struct show *show)
{
	while (!show_is_done(show) && ct_reader_next(show->reading.reader) != NULL)
		show->shown++;
	if (show->lines.is_json)
		ct_buf_add_format(&show->output.text,
				  "{\"format_version\":%d,\"count\":", CT_JSON_FORMAT_VERSION);
	ct_buf_add_u64(&show->output.text, show->shown);
	ct_buf_add_text(&show->output.text, show->lines.is_json ? "}\n" : "\n");
}

/* -----------------------------------------------------------------------------------------------
 * The last ones, or the other way round
 */

static bool print_kept(const char *line, size_t size, void *user)
{
	struct show *show = user;

	ct_buf_add(&show->output.text, line, size);
	show->shown++;
	direct_output_step(&show->output);
	return !show_is_done(show);
}

static void line_keep(struct show *show, struct line_store *store,
		      const struct ct_read_event *event)
{
	ct_buf_clear(&show->line);
	line_options_add(&show->lines, &show->line, event);
	if (show->line.failed)
		store->write_errno = ENOMEM;
	else
		line_store_add(store, show->line.data, show->line.size);
}

static void report_lost_lines(struct show *show, int error)
{
	fprintf(stderr,
		"ctrace show: lines that wait to be printed, in a file in TMPDIR or /tmp: %s\n",
		strerror(error));
	show->is_unwritten = true;
}

static uint64_t lines_last_wanted(const struct show *show)
{
	return show->is_reverse && show->limit < show->tail ? show->limit : show->tail;
}

/* Returns true for an exit whose entry precedes what is read. */
static bool event_lacks_entry(const struct show *show, const struct ct_read_event *event)
{
	return show->reading.has_pairs && event->type != NULL &&
	       event->type->pairing == CT_PAIR_EXIT && event->duration_ns == CT_NO_DURATION;
}

/* Keeps the lines of what is read.  Returns true if they include all wanted lines, complete. */
static bool lines_keep(struct show *show, struct line_store *store)
{
	const struct ct_read_event *event;
	uint64_t count = 0, lacking = 0; /* the last one that lacks its entry */

	while (store->write_errno == 0 && (event = ct_reader_next(show->reading.reader)) != NULL) {
		count++;
		if (event_lacks_entry(show, event))
			lacking = count;
		line_keep(show, store, event);
	}
	return count >= store->wanted && lacking <= count - store->wanted;
}

/* Reads from since_ns on, without reports unless these lines are all that is wanted. */
static bool lines_keep_since(struct show *show, struct line_store *store, uint64_t since_ns,
			     bool is_quiet)
{
	uint64_t wanted = store->wanted;

	line_store_fini(store);
	line_store_init(store, wanted);
	if (!reading_again(&show->reading, since_ns))
		return true;
	if (is_quiet)
		reading_look(&show->reading);
	return lines_keep(show, store) || store->write_errno != 0;
}

/* Packets have times, so the last packets are read first.  While lines or entries are missing,
 * it reads again from five times as far back. */
static void lines_keep_last(struct show *show, struct line_store *store)
{
	uint64_t first_ns, since_ns, end_ns;

	if (store->wanted == UINT64_MAX || line_options_need_all(&show->lines) ||
	    show->reading.has_inferred ||
	    !ct_reader_ends(show->reading.reader, &first_ns, &since_ns)) {
		(void)lines_keep(show, store);
		return;
	}
	end_ns = since_ns;
	while (!lines_keep_since(show, store, since_ns, true) && since_ns > first_ns) {
		uint64_t back_ns = (end_ns - since_ns) * 5 + 1000000u;

		since_ns = end_ns - first_ns > back_ns ? end_ns - back_ns : first_ns;
		/* Reads all events, even those dated before the first packet. */
		if (since_ns == first_ns)
			since_ns = first_ns = 0;
	}
	if (show->reading.withheld > 0)
		(void)lines_keep_since(show, store, since_ns, false);
}

/* Prints nothing when a line could not be kept: the rest would not be the last lines. */
static void print_last(struct show *show)
{
	struct line_store store;

	line_store_init(&store, lines_last_wanted(show));
	lines_keep_last(show, &store);
	if (store.write_errno != 0)
		report_lost_lines(show, store.write_errno);
	else if (!line_store_each(&store, show->is_reverse, print_kept, show))
		report_lost_lines(show, errno);
	line_store_fini(&store);
}

/* -----------------------------------------------------------------------------------------------
 * With the lines around them
 */

struct context {
	struct show *show;
	const struct ct_filter *filter;
	struct line_store before;
	uint64_t to_skip;        /* that match, before the first that counts */
	uint64_t passed;         /* lines since the last that was printed */
	uint64_t after;          /* lines that are still to be printed */
	struct line_store lines; /* --reverse: all of them */
	int error;               /* of the lines before */
};

static bool print_line(const char *line, size_t size, void *user)
{
	struct show *show = user;

	ct_buf_add(&show->output.text, line, size);
	direct_output_step(&show->output);
	return show->output.write_errno == 0;
}

static bool context_add_line(const char *line, size_t size, void *user)
{
	struct context *context = user;

	if (!context->show->is_reverse)
		return print_line(line, size, context->show);
	line_store_add(&context->lines, line, size);
	return context->lines.write_errno == 0;
}

static void context_add_event(struct context *context, const struct ct_read_event *event)
{
	struct show *show = context->show;

	if (show->is_reverse) {
		line_keep(show, &context->lines, event);
		return;
	}
	line_options_add(&show->lines, &show->output.text, event);
	direct_output_step(&show->output);
}

static void context_add_match(struct context *context, const struct ct_read_event *event)
{
	struct show *show = context->show;

	if (context->passed > show->before && show->shown > 0 && !show->lines.is_json)
		(void)context_add_line("--\n", 3, context);
	if (context->passed > 0 && show->before > 0) {
		if (!line_store_each(&context->before, false, context_add_line, context))
			context->error = errno;
		line_store_fini(&context->before);
		line_store_init(&context->before, show->before);
	}
	context_add_event(context, event);
	show->shown++;
	context->passed = 0;
	context->after = show->after;
}

static void context_pass_by(struct context *context, const struct ct_read_event *event)
{
	if (context->after > 0) {
		context->after--;
		context_add_event(context, event);
		return;
	}
	context->passed++;
	if (context->show->before == 0)
		return;
	line_keep(context->show, &context->before, event);
	context->error = context->before.write_errno;
}

static bool event_is_match(struct context *context, const struct ct_read_event *event)
{
	const struct show *show = context->show;

	if (show->shown >= show->limit || !ct_filter_accepts(context->filter, event))
		return false;
	if (context->to_skip == 0)
		return true;
	context->to_skip--;
	return false;
}

/* Reads everything once to count matches, without reports: it will be read again. */
static uint64_t count_matches(struct show *show, const struct ct_filter *filter)
{
	const struct ct_read_event *event;
	uint64_t count = 0;

	reading_look(&show->reading);
	while ((event = ct_reader_next(show->reading.reader)) != NULL)
		count += ct_filter_accepts(filter, event);
	(void)reading_again(&show->reading, 0);
	return count;
}

/* Returns how many matches precede the last ones, which are wanted. */
static uint64_t count_matches_to_skip(struct show *show, const struct ct_filter *filter)
{
	uint64_t wanted = lines_last_wanted(show);
	uint64_t count = wanted != UINT64_MAX ? count_matches(show, filter) : 0;

	return count > wanted ? count - wanted : 0;
}

/* The reader must return all events: those that do not match may stand beside one that does. */
static void print_around_all(struct show *show, const struct ct_filter *filter)
{
	struct context context = { .show = show,
				   .filter = filter,
				   .to_skip = count_matches_to_skip(show, filter) };
	const struct ct_read_event *event;

	line_store_init(&context.before, show->before);
	line_store_init(&context.lines, UINT64_MAX);
	while ((!show_is_done(show) || context.after > 0) && show->output.write_errno == 0 &&
	       context.lines.write_errno == 0 && context.error == 0 &&
	       (event = ct_reader_next(show->reading.reader)) != NULL) {
		if (event_is_match(&context, event))
			context_add_match(&context, event);
		else
			context_pass_by(&context, event);
	}
	if (!line_store_each(&context.lines, true, print_line, show))
		report_lost_lines(show, errno);
	else if (context.lines.write_errno != 0)
		report_lost_lines(show, context.lines.write_errno);
	else if (context.error != 0)
		report_lost_lines(show, context.error);
	line_store_fini(&context.before);
	line_store_fini(&context.lines);
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static bool show_has_context(const struct show *show)
{
	return show->before > 0 || show->after > 0;
}

static uint64_t parse_number(struct argp_state *state, const char *text, uint64_t least,
			     uint64_t limit)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || number < least ||
	    number > limit)
		argp_error(state, "\"%s\" is not a number of events%s", text,
			   limit == CONTEXT_LIMIT ? ", at most 1000000" : "");
	return number;
}

static void check_options(const struct show *show, struct argp_state *state)
{
	bool is_kept = show->is_reverse || show->tail != UINT64_MAX;

	if (show_has_context(show) && show->is_count)
		argp_error(state, "--before and --after do not go with --count");
	if (show->is_split && (show_has_context(show) || is_kept || show->is_count))
		argp_error(
			state,
			"--split does not go with --before, --after, --tail, --reverse and --count");
	if (show->is_split != (show->directory != NULL))
		argp_error(state, "--split=thread and --output=DIRECTORY go together");
	if (is_kept && show->is_count)
		argp_error(state, "--count does not go with --tail or --reverse");
}

static error_t parse_show(int key, char *argument, struct argp_state *state)
{
	struct show *show = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&show->reading, "ctrace show");
		state->child_inputs[0] = &show->reading;
		state->child_inputs[1] = &show->reading;
		state->child_inputs[2] = &show->lines;
		return 0;
	case OPTION_BEFORE:
	case OPTION_AFTER:
	case OPTION_CONTEXT:
		if (key != OPTION_AFTER)
			show->before = parse_number(state, argument, 0, CONTEXT_LIMIT);
		if (key != OPTION_BEFORE)
			show->after = parse_number(state, argument, 0, CONTEXT_LIMIT);
		return 0;
	case OPTION_LIMIT:
		show->limit = parse_number(state, argument, 1, UINT64_MAX - 1);
		return 0;
	case 'n':
		show->tail = parse_number(state, argument, 1, UINT64_MAX - 1);
		return 0;
	case OPTION_REVERSE:
		show->is_reverse = true;
		return 0;
	case OPTION_COUNT:
		show->is_count = true;
		return 0;
	case 'f':
		show->is_following = true;
		return 0;
	case OPTION_SPLIT:
		if (strcmp(argument, "thread") != 0)
			argp_error(state, "no such split: \"%s\"; expected thread", argument);
		show->is_split = true;
		return 0;
	case 'o':
		show->directory = argument;
		return 0;
	case OPTION_NO_PAGER:
		show->has_no_pager = true;
		return 0;
	case OPTION_ENDS:
		show->reading.has_inferred = true;
		return 0;
	case OPTION_NESTING:
		show->lines.has_nesting = true;
		return 0;
	case ARGP_KEY_ARGS:
		reading_words(&show->reading, state->argv + state->next,
			      (size_t)(state->argc - state->next));
		return 0;
	case ARGP_KEY_END:
		check_options(show, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void show_print(struct show *show, const struct ct_filter *filter)
{
	if (show->is_split)
		print_split(show);
	else if (show_has_context(show))
		print_around_all(show, filter);
	else if (show->is_count)
		count_all(show);
	else if (show->is_reverse || show->tail != UINT64_MAX)
		print_last(show);
	else
		print_all(show);
}

/* Returns the display format that all the traces were configured with, if it is the same.  It is
 * third-party text: one with terminal sequences is not used. */
static const char *traces_format(const struct show *show)
{
	const struct ct_source_process *source_process =
		ct_reader_source_process(show->reading.reader, 0);
	const char *format = source_process != NULL ? source_process->format : NULL;

	for (size_t i = 1;
	     format != NULL &&
	     (source_process = ct_reader_source_process(show->reading.reader, i)) != NULL;
	     i++)
		if (source_process->format == NULL || strcmp(source_process->format, format) != 0)
			return NULL;
	return format != NULL && format[0] != '\0' && ct_escape_is_harmless(format, strlen(format))
		       ? format
		       : NULL;
}

static void show_choose_format(struct show *show)
{
	const char **format = &show->lines.text.line.format;

	if (*format == NULL && !show->lines.is_default)
		*format = traces_format(show);
}

static bool show_open_lines(struct show *show)
{
	struct ct_text_options *text = &show->lines.text;

	if (!reading_open(&show->reading))
		return false;
	show_choose_format(show);
	if ((text->line.format == NULL && !show->lines.is_json && !show->is_count) ||
	    show->is_split) {
		struct ct_reader_survey survey;

		ct_reader_survey(show->reading.reader, &survey);
		show->has_hosts = survey.has_hosts;
		text->has_host = survey.has_hosts && !show->is_split;
		text->has_process = survey.has_processes && !show->is_split;
		text->has_thread = survey.has_threads && !show->is_split;
		text->digits = survey.digits;
		show->lacks_survey = !survey.is_whole;
	}
	return line_options_open(&show->lines, "ctrace show");
}

static int show_run(struct show *show)
{
	struct ct_filter *filter = NULL;
	bool is_written;
	int result;

	direct_output_init(&show->output, "ctrace show");
	ct_buf_init(&show->line);
	show->reading.also = print_before;
	show->reading.also_user = &show->output;
	show->reading.has_pairs = !show->is_count && line_options_use_pairs(&show->lines);
	show->reading.pairs_are_shown = !show->lines.has_nesting;
	/* Spans are found by their duration, whether an event ends them or not. */
	show->reading.has_inferred |=
		show->reading.filter != NULL &&
		(ct_filter_uses(show->reading.filter) & CT_USES_DURATION) != 0;
	show->reading.has_pairs |= show->reading.has_inferred;
	if (show_has_context(show)) {
		filter = show->reading.filter;
		show->reading.filter = NULL;
		show->reading.has_pairs =
			show->reading.has_pairs || (ct_filter_uses(filter) & CT_USES_DURATION) != 0;
	}
	show->output.may_page =
		!show->has_no_pager && !show->is_count && !show->is_split && pager_is_wanted();
	/* On a terminal the lines themselves show how far it is. */
	show->reading.shows_progress = show->is_count || show->is_split || !isatty(STDOUT_FILENO);
	if (show_open_lines(show))
		show_print(show, filter);
	else
		show->reading.has_failed = true;
	/* The layout of the lines was chosen without a part of the trace that could be read
	 * later, so it may not fit this trace. */
	if (show->lacks_survey && !show->reading.has_failed &&
	    ct_reader_totals(show->reading.reader)->damages == 0) {
		fputs("ctrace show: a part of the trace could not be read at first; try again\n",
		      stderr);
		show->reading.has_failed = true;
	}
	is_written = direct_output_end(&show->output);
	/* No message that no events match: events were read, and their lines are lost. */
	show->reading.has_failed |= show->is_unwritten;
	result = reading_end(&show->reading, show->shown);
	line_options_close(&show->lines);
	ct_filter_destroy(filter);
	direct_output_fini(&show->output);
	ct_buf_fini(&show->line);
	return is_written && !show->is_unwritten ? result : CMD_UNWRITTEN;
}

/* Runs ctrace tail with the shared options, which it parses again.  Only processes and streams can
 * be followed. */
static int show_follow(struct show *show, int argc, char **argv)
{
	static char name[] = "ctrace tail";
	char *pid = NULL;
	int status;

	for (size_t i = 0; i < show->reading.path_count; i++) {
		const char *path = show->reading.paths[i];

		if (show->reading.path_count == 1 && stream_is_address(path))
			continue;
		if (show->reading.path_count == 1 && ct_tool_is_number(path) &&
		    asprintf(&pid, "--pid=%s", path) >= 0)
			continue;
		fputs("ctrace show: ", stderr);
		ct_tool_print(stderr, path, strlen(path));
		fputs(": -f follows processes, not files: a process by its number, a stream by its address, or all processes without any\n",
		      stderr);
		reading_close(&show->reading);
		return CMD_USAGE;
	}
	for (int i = 1; pid != NULL && i < argc; i++)
		if (argv[i] == show->reading.paths[0])
			argv[i] = pid;
	reading_close(&show->reading);
	argv[0] = name;
	status = cmd_tail(argc, argv);
	free(pid);
	return status;
}

int cmd_show(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "before", OPTION_BEFORE, "N", 0,
		  "Also the N events before each that matches; -- separates groups", 3 },
		{ "after", OPTION_AFTER, "N", 0, "Also the N events after each that matches", 3 },
		{ "context", OPTION_CONTEXT, "N", 0, "Both", 3 },
		{ "limit", OPTION_LIMIT, "N", 0, "End after N events that match", 3 },
		{ "tail", 'n', "N", 0, "Only the last N events that match", 3 },
		{ "reverse", OPTION_REVERSE, NULL, 0, "The last event first", 3 },
		{ "follow", 'f', NULL, 0,
		  "Print new events of processes, as ctrace tail does and with its options", 3 },
		{ "no-pager", OPTION_NO_PAGER, NULL, 0,
		  "Print on a terminal without a pager (PAGER, less -FRX by default)", 4 },
		{ "split", OPTION_SPLIT, "WHAT", 0,
		  "thread: write the lines of each thread to a separate file; goes with --output",
		  4 },
		{ "output", 'o', "DIRECTORY", 0, "The directory for --split, new or empty", 4 },
		{ "ends", OPTION_ENDS, NULL, 0,
		  "A line, too, where a span ends that has no exit: the catalogue infers it", 4 },
		{ "nesting", OPTION_NESTING, NULL, 0,
		  "A dash before the line for each span that the event is within", 4 },
		{ "count", OPTION_COUNT, NULL, 0,
		  "Print only the number of events that match; with --json an object with count",
		  3 },
		{ 0 },
	};
	static const struct argp_child children[] = { { .argp = &ct_reading_argp },
						      { .argp = &ct_reading_process_argp },
						      { .argp = &ct_line_argp },
						      { 0 } };
	static const struct argp argp = {
		.options = options,
		.children = children,
		.parser = parse_show,
		.args_doc = "['EXPRESSION'] [PATH|PID|nats://HOST/STREAM...]",
		.doc = "Print traces, merged by time."
		       "\vEXPRESSION is a filter, as in 'level >= warn && component ~ \"mf.*\" && data[0] > 100 && duration > 2ms': ctrace-filter(7)."
		       "  PATH is a trace or one of its stream files, a process directory, or a directory of these; PID is a traced process, whose"
		       " undelivered events are shown; nats:// begins the address of a stream: ctrace-forward(1).  Without any: all your processes, live and dead."
		       "  Standard error reports damage and losses.  Exit status: 0 events were shown, 1 none were or the input is damaged,"
		       " 2 usage, a part that"
		       " could not be read, no memory, or the output cannot be written.",
	};
	struct show show = { .limit = UINT64_MAX, .tail = UINT64_MAX };
	int result;
	/* as they are: parsing sorts them */
	char **words = calloc((size_t)argc + 1, sizeof *words);

	if (words == NULL)
		return CMD_NO_MEMORY;
	memcpy(words, argv, (size_t)argc * sizeof *words);
	if (argp_parse(&argp, argc, argv, 0, NULL, &show) != 0) {
		free(words);
		return CMD_USAGE;
	}
	result = show.is_following ? show_follow(&show, argc, words) : show_run(&show);
	free(words);
	return result;
}
