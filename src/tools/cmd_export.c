/*
 * cmd_export.c - ctrace export: traces of any kind, merged, for other tools.
 *
 * Reads twice what the format must know of before its first event, so that memory stays small.  A
 * document gets its name when it is complete: nobody sees half of one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"
#include "tools/traces/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/new_file.h"
#include "print/export/export.h"

enum {
	OPTION_LINES = 256,
	OPTION_COLUMNS,
	OPTION_UNGUARDED,
	OPTION_ARGS,
	OPTION_SIGNALS,
	OPTION_PROPERTY
};

#define PROPERTY_LIMIT 32u

struct exporting {
	struct reading reading;
	const struct ct_exporter *exporter;
	void *self; /* the exporter's */
	const char *output;
	struct ct_export_options options;
	struct ct_export_otlp_options otlp;
	const char *properties[PROPERTY_LIMIT]; /* NAME=VALUE */
	uint32_t property_count;
	bool is_file; /* that takes the name of output */
	struct new_file file;
	uint64_t events;
	bool is_unwritten;
};

static int export_diagnose(const struct exporting *verb, const char *path, const char *what)
{
	fprintf(stderr, "%s: ", verb->reading.verb);
	if (path != NULL) {
		ct_tool_print(stderr, path, strlen(path));
		fputs(": ", stderr);
	}
	fprintf(stderr, "%s\n", what);
	return CMD_NOTHING;
}

static void diagnose_output(struct exporting *verb, const char *what)
{
	verb->is_unwritten = true;
	(void)export_diagnose(verb, verb->output, what);
}

static void diagnose_spool(struct exporting *verb, const char *directory, int error)
{
	verb->is_unwritten = true;
	fprintf(stderr, "%s: ", verb->reading.verb);
	ct_tool_print(stderr, directory, strlen(directory));
	fprintf(stderr, ": a temporary file cannot be written there: %s; %s\n", strerror(error),
		ct_os_environment("TMPDIR") != NULL ? "TMPDIR names the directory"
						    : "TMPDIR may name another directory");
}

/* -----------------------------------------------------------------------------------------------
 * Where it goes
 */

static bool output_open(struct exporting *verb)
{
	const char *path = verb->output;

	verb->options.fd = STDOUT_FILENO;
	verb->options.directory = path;
	verb->is_file = !verb->exporter->is_directory && path != NULL && strcmp(path, "-") != 0 &&
			verb->otlp.url == NULL;
	if (!verb->is_file)
		return true;
	if (!new_file_open(&verb->file, path, NEW_FILE_OF_TRACE)) {
		diagnose_output(verb, strerror(errno));
		return false;
	}
	verb->options.fd = verb->file.fd;
	return true;
}

static bool output_close(struct exporting *verb, bool is_complete)
{
	if (!verb->is_file || new_file_end(&verb->file, is_complete))
		return is_complete;
	if (is_complete)
		diagnose_output(verb, strerror(errno));
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * OTLP
 */

static bool exporter_is_otlp(const struct ct_exporter *exporter)
{
	return exporter == &ct_export_otlp || exporter == &ct_export_otlp_protobuf;
}

static bool path_is_url(const char *path)
{
	return path != NULL &&
	       (strncmp(path, "http://", 7) == 0 || strncmp(path, "https://", 8) == 0);
}

static const char *otlp_property(const void *user, const char *name)
{
	const struct exporting *verb = user;

	for (uint32_t i = verb->property_count; i-- > 0;) {
		const char *equals = strchr(verb->properties[i], '=');

		if (ct_name_is(verb->properties[i], (size_t)(equals - verb->properties[i]), name))
			return equals + 1;
	}
	return NULL;
}

static bool otlp_is_interrupted(void)
{
	return new_file_interrupted != 0;
}

/* -----------------------------------------------------------------------------------------------
 * The way through
 */

/* Reports in the exporter's own words why it could not write. */
static bool diagnose_failure(struct exporting *verb)
{
	const char *failure =
		verb->exporter->failure != NULL ? verb->exporter->failure(verb->self) : NULL;

	if (failure == NULL)
		return false;
	verb->is_unwritten = true;
	fprintf(stderr, "%s: ", verb->reading.verb);
	ct_tool_print(stderr, failure, strlen(failure));
	fputc('\n', stderr);
	return true;
}

static void export_note_lost(const struct ct_read_note *note, void *user)
{
	struct exporting *verb = user;

	if (note->kind == CT_NOTE_LOST && verb->self != NULL && verb->exporter->lost != NULL)
		verb->exporter->lost(verb->self, note);
}

static bool export_look(struct exporting *verb)
{
	struct reading *reading = &verb->reading;
	const struct ct_read_event *event;

	reading_look(reading);
	while ((event = ct_reader_next(reading->reader)) != NULL)
		verb->exporter->look(verb->self, event);
	return reading_again(reading, 0) && new_file_interrupted == 0;
}

static bool export_write_events(struct exporting *verb)
{
	const struct ct_read_event *event;
	enum ctrace_status status;

	if (verb->exporter->look != NULL && !export_look(verb))
		return false;
	while ((event = ct_reader_next(verb->reading.reader)) != NULL) {
		verb->exporter->add(verb->self, event);
		verb->events += !event->is_inferred;
	}
	if (new_file_interrupted != 0)
		return false;
	/* What the first reading did not see has no column and no track. */
	if (reading_differs(&verb->reading)) {
		(void)export_diagnose(
			verb, NULL,
			"what was read at first and the second time differ: a trace could not be read once");
		return false;
	}
	status = verb->exporter->end(verb->self);
	if (status == CTRACE_OK)
		return true;
	if (status == CTRACE_OS_ERROR && verb->exporter->spool != NULL &&
	    verb->exporter->spool(verb->self) != NULL)
		diagnose_spool(verb, verb->exporter->spool(verb->self), errno);
	else if (!ct_memory_has_lacked() &&
		 !diagnose_failure(verb)) /* reported at the tool's end */
		diagnose_output(verb, status == CTRACE_OS_ERROR ? strerror(errno)
								: ctrace_status_text(status));
	return false;
}

static bool export_convert(struct exporting *verb)
{
	enum ctrace_status status;
	bool is_complete;

	verb->options.has_one_trace = ct_reader_source_process(verb->reading.reader, 1) == NULL;
	if (!output_open(verb)) {
		verb->reading.has_failed = true; /* and has no events for that reason */
		return false;
	}
	status = verb->exporter->open(&verb->options, &verb->self);
	if (status == CTRACE_OS_ERROR && errno == ENOTEMPTY)
		diagnose_output(verb, "is not empty; name a directory that is not there yet");
	else if (status != CTRACE_OK && !diagnose_failure(verb))
		diagnose_output(verb, status == CTRACE_OS_ERROR ? strerror(errno)
								: ctrace_status_text(status));
	verb->reading.has_failed |= status != CTRACE_OK;
	is_complete = status == CTRACE_OK && export_write_events(verb);
	verb->exporter->close(verb->self);
	verb->self = NULL;
	return output_close(verb, is_complete);
}

static int export_run(struct exporting *verb)
{
	int exit_status;
	bool is_good;

	verb->reading.shows_progress = verb->output != NULL || !isatty(STDOUT_FILENO);
	verb->reading.has_pairs = verb->exporter->has_pairs;
	verb->reading.has_inferred = verb->exporter->has_inferred;
	verb->reading.also = export_note_lost;
	verb->reading.also_user = verb;
	new_file_catch();
	/* Of nothing nothing is made: what is in the way of the output stays. */
	is_good = reading_open(&verb->reading) &&
		  ct_reader_source_process(verb->reading.reader, 0) != NULL && export_convert(verb);
	new_file_die();
	exit_status = reading_end(&verb->reading, is_good || verb->events == 0 ? verb->events : 1);
	if (verb->is_unwritten)
		return CMD_UNWRITTEN;
	return is_good || exit_status == CMD_UNREAD ? exit_status : CMD_NOTHING;
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static void parse_format(struct exporting *verb, const char *name, struct argp_state *state)
{
	struct ct_buf known;

	verb->exporter = ct_exporter_find(name);
	if (verb->exporter != NULL)
		return;
	ct_buf_init(&known);
	for (size_t i = 0; ct_exporter_at(i) != NULL; i++)
		ct_buf_add_format(&known, "%s%s",
				  i == 0                          ? ""
				  : ct_exporter_at(i + 1) != NULL ? ", "
								  : " or ",
				  ct_exporter_at(i)->name);
	argp_error(state, "unknown format \"%s\"; expected %s", name, ct_buf_text(&known));
}

static void signals_parse(struct exporting *verb, const char *text, struct argp_state *state)
{
	verb->otlp.has_logs = verb->otlp.has_traces = false;
	while (*text != '\0') {
		size_t size = strcspn(text, ",");

		if (ct_name_is(text, size, "logs"))
			verb->otlp.has_logs = true;
		else if (ct_name_is(text, size, "traces"))
			verb->otlp.has_traces = true;
		else
			argp_error(state, "unknown signal \"%.*s\"; expected logs or traces",
				   (int)size, text);
		text += size + (text[size] == ',');
	}
}

static void property_parse(struct exporting *verb, const char *text, struct argp_state *state)
{
	static const char *const names[] = { "BATCH",    "CA",      "CERTIFICATE", "COMPRESS",
					     "ENCODING", "HEADERS", "KEY",         "TIMEOUT" };
	const char *equals = strchr(text, '=');

	for (size_t i = 0; equals != NULL && i < CT_COUNT(names); i++) {
		if (!ct_name_is(text, (size_t)(equals - text), names[i]))
			continue;
		if (verb->property_count == PROPERTY_LIMIT)
			argp_error(state, "more than %u properties", PROPERTY_LIMIT);
		verb->properties[verb->property_count++] = text;
		return;
	}
	argp_error(
		state,
		"\"%s\" is no property; expected BATCH, CA, CERTIFICATE, COMPRESS, ENCODING, HEADERS, KEY or TIMEOUT, = and a value",
		text);
}

/* Is it HOST:PORT, or begins so, and is no file that is there? */
static bool path_is_address(const char *path)
{
	const char *colon = path != NULL ? strchr(path, ':') : NULL;
	size_t host = path != NULL ? strcspn(path, "/:") : 0;
	size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 0;

	return digits > 0 && host > 0 && path + host == colon &&
	       (colon[1 + digits] == '\0' || colon[1 + digits] == '/') && access(path, F_OK) != 0;
}

static void otlp_check(struct exporting *verb, bool has_signals, struct argp_state *state)
{
	if (!exporter_is_otlp(verb->exporter)) {
		if (path_is_url(verb->output))
			argp_error(state, "only --format=otlp goes to a receiver");
		if (has_signals)
			argp_error(state, "--signals goes with --format=otlp");
		if (verb->property_count > 0)
			argp_error(state, "--property goes with --format=otlp");
		return;
	}
	if (path_is_url(verb->output))
		verb->otlp.url = verb->output;
	else if (path_is_address(verb->output))
		argp_error(
			state,
			"\"%s\" is not a URL: expected http://%s for a receiver, or ./%s for a file",
			verb->output, verb->output, verb->output);
	if (verb->otlp.url != NULL && strncmp(verb->otlp.url, "https:", 6) != 0 &&
	    (otlp_property(verb, "CA") != NULL || otlp_property(verb, "CERTIFICATE") != NULL ||
	     otlp_property(verb, "KEY") != NULL))
		argp_error(state, "CA, CERTIFICATE and KEY require TLS: expected https://");
	/* A file of protobuf does not say what its messages are. */
	if (!has_signals) {
		verb->otlp.has_logs = true;
		verb->otlp.has_traces = verb->exporter == &ct_export_otlp || verb->otlp.url != NULL;
	} else if (verb->exporter == &ct_export_otlp_protobuf && verb->otlp.url == NULL &&
		   verb->otlp.has_logs && verb->otlp.has_traces)
		argp_error(state, "a file of otlp-protobuf has one signal: logs or traces");
	verb->otlp.property = otlp_property;
	verb->otlp.user = verb;
	verb->otlp.is_interrupted = otlp_is_interrupted;
	verb->options.otlp = &verb->otlp;
}

static void options_check(struct exporting *verb, struct argp_state *state)
{
	if (verb->exporter == NULL)
		argp_error(
			state,
			"--format is missing: common-trace-format, chrome, perfetto, speedscope, csv, json, otlp or otlp-protobuf");
	if (verb->reading.path_count == 0)
		argp_error(state,
			   "export what? expected a trace, a process directory or a process id");
	if (verb->exporter->is_directory && verb->output == NULL)
		argp_error(state, "a %s trace is a directory: --output is missing",
			   verb->exporter->name);
	otlp_check(verb, verb->otlp.has_logs || verb->otlp.has_traces, state);
	if (verb->exporter->is_binary && verb->output == NULL && isatty(STDOUT_FILENO))
		argp_error(state, "%s is nothing for a terminal: --output is missing",
			   verb->exporter->name);
	if (verb->options.is_lines && verb->exporter != &ct_export_json)
		argp_error(state, "--lines goes with --format=json");
	if (verb->options.columns != NULL && verb->exporter != &ct_export_csv)
		argp_error(state, "--columns goes with --format=csv");
	if (verb->options.has_args && verb->exporter != &ct_export_chrome)
		argp_error(state, "--args goes with --format=chrome only");
	if (verb->options.is_unguarded && verb->exporter != &ct_export_csv)
		argp_error(state, "--unguarded goes with --format=csv");
}

static error_t parse_export(int key, char *argument, struct argp_state *state)
{
	struct exporting *verb = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&verb->reading, "ctrace export");
		state->child_inputs[0] = &verb->reading;
		state->child_inputs[1] = &verb->reading;
		return 0;
	case 'f':
		parse_format(verb, argument, state);
		return 0;
	case 'o':
		verb->output = argument;
		return 0;
	case OPTION_LINES:
		verb->options.is_lines = true;
		return 0;
	case OPTION_COLUMNS:
		if (argument[0] == '\0')
			argp_error(state, "--columns names no item");
		verb->options.columns = argument;
		return 0;
	case OPTION_ARGS:
		verb->options.has_args = true;
		return 0;
	case OPTION_UNGUARDED:
		verb->options.is_unguarded = true;
		return 0;
	case OPTION_SIGNALS:
		signals_parse(verb, argument, state);
		return 0;
	case OPTION_PROPERTY:
		property_parse(verb, argument, state);
		return 0;
	case ARGP_KEY_ARGS:
		reading_words(&verb->reading, state->argv + state->next,
			      (size_t)(state->argc - state->next));
		return 0;
	case ARGP_KEY_END:
		options_check(verb, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_export(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "format", 'f', "FORMAT", 0,
		  "common-trace-format, chrome, perfetto, speedscope, csv, json, otlp or otlp-protobuf",
		  0 },
		{ "output", 'o', "PATH", 0,
		  "The file, the directory of common-trace-format, or the URL of a receiver of otlp; stdout by default",
		  0 },
		{ "args", OPTION_ARGS, NULL, 0,
		  "chrome: also the items of spans; then speedscope adds no spans up", 0 },
		{ "lines", OPTION_LINES, NULL, 0,
		  "json: one object on each line instead of an array", 0 },
		{ "columns", OPTION_COLUMNS, "LIST", 0,
		  "csv: these items, and fields of records as record.pkg-size, as columns", 0 },
		{ "unguarded", OPTION_UNGUARDED, NULL, 0,
		  "csv: no apostrophe before texts that a spreadsheet would compute", 0 },
		{ "signals", OPTION_SIGNALS, "LIST", 0, "otlp: logs, traces or both", 0 },
		{ "property", OPTION_PROPERTY, "SETTING", 0,
		  "otlp: NAME=VALUE of a property of the destination otlp; repeatable", 0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { .argp = &ct_reading_argp },
						      { .argp = &ct_reading_process_argp },
						      { 0 } };
	static const struct argp argp = {
		.options = rows,
		.children = children,
		.parser = parse_export,
		.args_doc = "--format=FORMAT ['EXPRESSION'] PATH|PID...",
		.doc = "Write traces, merged by time, for other tools: a Common Trace Format 1.8 directory with named events for babeltrace2 and Trace"
		       " Compass, JSON and protobuf for Perfetto and similar viewers, speedscope's format, comma-separated values, JSON, logs and spans of OpenTelemetry.\v"
		       "Exit status: 0 done; 1 no events, or damaged input; 2 usage, no memory, or the output could not be written.",
	};
	struct exporting verb = { .output = NULL };

	if (argp_parse(&argp, argc, argv, 0, NULL, &verb) != 0)
		return CMD_USAGE;
	return export_run(&verb);
}
