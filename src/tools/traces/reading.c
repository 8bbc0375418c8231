/*
 * reading.c - what all verbs that read traces have in common: which traces, which events, the
 * catalogue, and the reports of damage.
 *
 * Part of ctrace show, ipcs, stats, diff, report, open, export.  The verb prints the events on
 * stdout; everything here is reported on stderr.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/reading.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/traces/annotation.h"
#include "cli/cli.h"
#include "operator/recovery/recovery.h"
#include "tools/streams/stream_copy.h"
#include "tools/traces/host_clocks.h"
#include "tools/traces/event_groups.h"
#include "cli/new_file.h"
#include "cli/progress_line.h"

enum {
	OPTION_CATALOG = 0x1100,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_THREAD,
	OPTION_UTC,
	OPTION_GROUP,
	OPTION_GROUPS,
	OPTION_OPTIONS,
	OPTION_HOST
};

/* A file of nothing but damage must not fill the terminal. */
#define REPORT_LIMIT 20u

const char reading_stream_is_empty[] =
	"it has no trace yet, or none that the address and the options select";

void reading_init(struct reading *reading, const char *verb)
{
	*reading = (struct reading){ .verb = verb };
}

static void print_line(const struct reading *reading)
{
	/* Earlier output comes first where both streams are one terminal. */
	progress_clear();
	(void)fflush(stdout);
	fprintf(stderr, "%s: ", reading->verb);
}

/* -----------------------------------------------------------------------------------------------
 * Catalogues
 */

static void catalog_diagnose(const char *path, const struct ct_diagnostic *diagnostic, void *user)
{
	const struct reading *reading = user;

	print_line(reading);
	ct_tool_diagnose(path, diagnostic);
	fputc('\n', stderr);
}

static bool catalog_need(struct reading *reading)
{
	enum ctrace_status status;

	if (reading->catalog != NULL)
		return true;
	status = ct_catalog_create(&reading->catalog);
	if (status == CTRACE_OK)
		return true;
	print_line(reading);
	fprintf(stderr, "%s\n", ctrace_status_text(status));
	return false;
}

static void report_no_memory(struct reading *reading)
{
	print_line(reading);
	fprintf(stderr, "%s\n", ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
	reading->has_failed = true;
}

/* A component that has a catalogue already keeps it. */
static void annotation_add(const char *path, void *user)
{
	struct annotation_result result;
	struct reading *reading = user;
	struct ct_buf text;

	ct_buf_init(&text);
	annotation_read(path, &text, &result);
	if (result.message[0] != '\0') {
		print_line(reading);
		ct_tool_print(stderr, path, strlen(path));
		fprintf(stderr, ": %s\n", result.message);
		reading->lacks_catalog |= result.is_unread;
	} else if (ct_catalog_parse(reading->catalog, path, text.data, text.size, catalog_diagnose,
				    reading) == CTRACE_NOT_ENOUGH_MEMORY) {
		report_no_memory(reading);
	}
	ct_buf_fini(&text);
}

static void report_no_catalog(struct reading *reading, const char *path)
{
	reading->lacks_catalog = true;
	print_line(reading);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": no catalogue: there is no such file or directory\n");
}

bool reading_lacks_catalog(const struct reading *reading)
{
	return reading->lacks_catalog ||
	       (reading->catalog != NULL && ct_catalog_counts(reading->catalog).unread > 0);
}

/* Returns true for an XML file or a directory, which may have annotations. */
static bool path_may_have_annotations(const char *path)
{
	struct stat info;

	return annotation_is_name(path) || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

/* An error in a catalogue costs only its names: it is reported, and reading goes on. */
static void catalog_add(struct reading *reading, const char *path)
{
	enum ctrace_status status = CTRACE_OK;

	if (!catalog_need(reading)) {
		reading->has_failed = true;
		return;
	}
	if (!annotation_is_name(path))
		status = ct_catalog_add(reading->catalog, path, catalog_diagnose, reading);
	/* A directory that cannot be read has been reported. */
	if (path_may_have_annotations(path) && !annotation_each(path, annotation_add, reading) &&
	    status == CTRACE_OK)
		status = CTRACE_NOT_FOUND;
	if (status == CTRACE_NOT_ENOUGH_MEMORY)
		report_no_memory(reading);
	if (status == CTRACE_NOT_FOUND)
		report_no_catalog(reading, path);
}

/* -----------------------------------------------------------------------------------------------
 * The filter
 */

/* Prints the expression, and a mark under the column. */
static void filter_diagnose(const struct reading *reading, const char *expression,
			    const struct ct_diagnostic *diagnostic)
{
	int column = 0;

	print_line(reading);
	fprintf(stderr, "filter, column %u: " CT_DIAGNOSTIC_FORMAT "\n    ", diagnostic->column,
		CT_DIAGNOSTIC_TEXT(diagnostic));
	(void)ct_tool_print(stderr, expression, strlen(expression));
	if (diagnostic->column > 0 && diagnostic->column - 1 <= strlen(expression))
		column = ct_tool_print(NULL, expression, diagnostic->column - 1);
	fprintf(stderr, "\n    %*s^\n", column, "");
}

bool reading_filter(struct reading *reading, const char *expression)
{
	struct ct_diagnostic diagnostic = { 0 };
	struct ct_filter *filter = NULL;

	if (ct_filter_parse(expression, ct_clock_wall_ns(), &filter, &diagnostic) != CTRACE_OK) {
		filter_diagnose(reading, expression, &diagnostic);
		return false;
	}
	reading->filter = ct_filter_and(reading->filter, filter);
	return true;
}

bool reading_take_expression(struct reading *reading, const char *word)
{
	if (stream_is_address(word) || access(word, F_OK) == 0 ||
	    (strpbrk(word, "<>=~!&|(") == NULL && strstr(word, " in ") == NULL))
		return false;
	if (!reading_filter(reading, word))
		exit(CMD_USAGE);
	return true;
}

static void add_quoted(struct ct_buf *out, const char *text)
{
	ct_buf_add_char(out, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			ct_buf_add_char(out, '\\');
		ct_buf_add_char(out, *text);
	}
	ct_buf_add_char(out, '"');
}

/* "1,5-8" -> "event in (1, 5..8)" */
static void add_event_list(struct ct_buf *out, const char *list)
{
	ct_buf_add_text(out, "event in (");
	for (; *list != '\0'; list++) {
		if (*list == '-')
			ct_buf_add_text(out, "..");
		else
			ct_buf_add_char(out, *list);
	}
	ct_buf_add_char(out, ')');
}

/* Adds an option that is short for an expression. */
static void option_add_short_form(struct reading *reading, struct argp_state *state,
				  struct ct_buf *expression, const char *wrong,
				  const char *argument)
{
	struct ct_diagnostic diagnostic = { 0 };
	struct ct_filter *filter = NULL;
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	if (!expression->failed)
		status = ct_filter_parse(ct_buf_text(expression), ct_clock_wall_ns(), &filter,
					 &diagnostic);
	ct_buf_fini(expression);
	if (status != CTRACE_OK)
		argp_error(state, wrong, argument);
	reading->filter = ct_filter_and(reading->filter, filter);
}

static void level_diagnose(struct argp_state *state, const char *word)
{
	const char *meant = ct_suggest_level((struct ct_span){ word, strlen(word) }, false);

	argp_error(state,
		   "no level: \"%s\"%s%s%s; expected debug, info, warn, error, fatal or 0 to 4",
		   word, meant != NULL ? " (did you mean " : "", meant != NULL ? meant : "",
		   meant != NULL ? "?)" : "");
}

static void option_parse_short_form(struct reading *reading, struct argp_state *state, int key,
				    const char *argument)
{
	const char *wrong = "";
	struct ct_buf text;
	uint32_t level;

	ct_buf_init(&text);
	switch (key) {
	case 'c':
		wrong = "no name of components: \"%s\"; expected one like MF.*";
		ct_buf_add_text(&text, "component ~ ");
		add_quoted(&text, argument);
		break;
	case OPTION_HOST:
		wrong = "no name of hosts: \"%s\"; expected one like batch1, or batch*";
		ct_buf_add_text(&text, "host ~ ");
		add_quoted(&text, argument);
		reading->host = argument;
		break;
	case 'J':
		wrong = "no name of jobs: \"%s\"; expected one like PAYROLL, or PAY*";
		ct_buf_add_text(&text, "job ~ ");
		add_quoted(&text, argument);
		reading->job = argument;
		break;
	case 'l':
		if (!ct_level_parse(argument, strlen(argument), &level) ||
		    level >= CTRACE_LEVEL_COUNT)
			level_diagnose(state, argument);
		ct_buf_add_format(&text, "level >= %s", ct_level_name(level));
		break;
	case 'p':
	case OPTION_THREAD:
		wrong = key == 'p' ? "no process id: \"%s\"" : "no thread id: \"%s\"";
		if (!ct_tool_is_number(argument))
			argp_error(state, wrong, argument);
		ct_buf_add_format(&text, "%s == %s", key == 'p' ? "process" : "thread", argument);
		break;
	case 'e':
		wrong = "no list of event ids: \"%s\"; expected one like 1,5-8";
		if (argument[strspn(argument, "0123456789abcdefABCDEFxX,- ")] != '\0')
			argp_error(state, wrong, argument);
		add_event_list(&text, argument);
		break;
	default:
		wrong = "no time: \"%s\"; expected \"2026-01-31 15:12:27.5\", \"15:12:27\", \"-5m\" or \"@1700000000\"";
		ct_buf_add_text(&text, key == OPTION_SINCE ? "time >= " : "time <= ");
		add_quoted(&text, argument);
	}
	option_add_short_form(reading, state, &text, wrong, argument);
}

/* -----------------------------------------------------------------------------------------------
 * Options
 */

/* Called before options are parsed, because times in them depend on --utc wherever it stands. */
static void options_use_utc(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--utc") != 0)
			continue;
		if (setenv("TZ", "UTC", 1) == 0)
			tzset();
		return;
	}
}

static void group_add(struct reading *reading, struct argp_state *state, const char *argument)
{
	if (reading->group_count == READING_GROUPS)
		argp_error(state,
			   "--group stands at most %d times; several names may have commas between",
			   READING_GROUPS);
	reading->group[reading->group_count++] = argument;
}

/* Called after all options are known: --groups may follow --group. */
static void group_filters(struct reading *reading, struct argp_state *state)
{
	for (size_t i = 0; i < reading->group_count; i++) {
		struct ct_buf expression, message;

		ct_buf_init(&expression);
		ct_buf_init(&message);
		if (!event_groups_add(event_groups_path(reading->groups), reading->group[i],
				      &expression, &message))
			argp_failure(state, CMD_USAGE, 0, "--group: %s", ct_buf_text(&message));
		if (!reading_filter(reading, ct_buf_text(&expression)))
			exit(CMD_USAGE);
		ct_buf_fini(&expression);
		ct_buf_fini(&message);
	}
	reading->group_count = 0;
}

static error_t parse_reading(int key, char *argument, struct argp_state *state)
{
	struct reading *reading = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		options_use_utc(state->argc, state->argv);
		return 0;
	case OPTION_UTC:
		return 0;
	case 'c':
	case 'l':
	case 'e':
	case 'p':
	case 'J':
	case OPTION_HOST:
	case OPTION_THREAD:
	case OPTION_SINCE:
	case OPTION_UNTIL:
		option_parse_short_form(reading, state, key, argument);
		return 0;
	case 'F':
		if (!reading_filter(reading, argument))
			exit(CMD_USAGE);
		return 0;
	case OPTION_GROUP:
		group_add(reading, state, argument);
		return 0;
	case OPTION_GROUPS:
		reading->groups = argument;
		return 0;
	case OPTION_OPTIONS: /* options_file.c has replaced the others */
		argp_error(state, "--options=FILE is written in full, and not within such a file");
		return 0;
	case ARGP_KEY_END:
		group_filters(reading, state);
		return 0;
	case OPTION_CATALOG:
		catalog_add(reading, argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option rows[] = {
	{ "filter", 'F', "EXPRESSION", 0,
	  "Only events for which it is true, as in 'level >= warn && data[0] > 100': ctrace-filter(7)",
	  1 },
	{ "component", 'c', "GLOB", 0, "Short for component ~ \"GLOB\"", 1 },
	{ "level", 'l', "LEVEL", 0, "Short for level >= LEVEL: debug, info, warn, error, fatal",
	  1 },
	{ "event", 'e', "LIST", 0, "Short for event in (LIST), as in 1,5-8", 1 },
	{ "since", OPTION_SINCE, "TIME", 0,
	  "Short for time >= TIME: \"2026-01-31 15:12:27.5\", \"15:12:27\", \"30m ago\", \"yesterday\", \"@1700000000.5\"",
	  1 },
	{ "until", OPTION_UNTIL, "TIME", 0, "Short for time <= TIME", 1 },
	{ "group", OPTION_GROUP, "NAMES", 0,
	  "Only events of a group, or of one of several, as in files,slow; !files: all others", 1 },
	{ "groups", OPTION_GROUPS, "FILE", 0,
	  "The file of groups, lines of NAME = EXPRESSION; else that in CTRACE_GROUPS", 1 },
	{ "host", OPTION_HOST, "GLOB", 0, "Short for host ~ \"GLOB\"", 1 },
	{ "thread", OPTION_THREAD, "TID", 0, "Short for thread == TID", 1 },
	{ "utc", OPTION_UTC, NULL, 0, "Print and read times in universal time, not in local time",
	  2 },
	{ "options", OPTION_OPTIONS, "FILE", 0,
	  "A file with further words of the command line; # begins a comment", 2 },
	{ "catalog", OPTION_CATALOG, "PATH", 0,
	  "A catalogue, or a directory of catalogues; searched before those of CTRACE_CATALOG", 2 },
	{ 0 },
};
const struct argp ct_reading_argp = { .options = rows, .parser = parse_reading };

static const struct argp_option process_rows[] = {
	{ "job", 'J', "GLOB", 0, "Short for job ~ \"GLOB\"", 1 },
	{ "pid", 'p', "PID", 0, "Short for process == PID", 1 },
	{ 0 },
};
const struct argp ct_reading_process_argp = { .options = process_rows, .parser = parse_reading };

bool reading_choose_process(struct reading *reading, uint32_t pid, const char *job)
{
	struct ct_buf text;
	bool ok = true;

	ct_buf_init(&text);
	if (pid != 0)
		ct_buf_add_format(&text, "process == %" PRIu32, pid);
	if (job != NULL) {
		ct_buf_add_text(&text, pid != 0 ? " && job ~ " : "job ~ ");
		add_quoted(&text, job);
		reading->job = job;
	}
	if (text.size > 0)
		ok = reading_filter(reading, ct_buf_text(&text));
	ct_buf_fini(&text);
	return ok;
}

void reading_paths(struct reading *reading, char **words, size_t count)
{
	reading->paths = words;
	reading->path_count = count;
}

void reading_words(struct reading *reading, char **words, size_t count)
{
	size_t paths = 0;

	for (size_t i = 0; i < count; i++)
		if (!reading_take_expression(reading, words[i]))
			words[paths++] = words[i];
	reading_paths(reading, words, paths);
}

/* -----------------------------------------------------------------------------------------------
 * Opening
 */

static void reading_report(const struct ct_read_note *found, void *user)
{
	struct ct_read_note shown = *found;
	const struct ct_read_note *note = &shown;
	struct reading *reading = user;

	if (reading->is_quiet) {
		reading->withheld++;
		return;
	}
	if (reading->losses_are_known && found->kind == CT_NOTE_LOST)
		return;
	shown.path = stream_shown_path(found->path);
	if (reading->also != NULL)
		reading->also(note, reading->also_user);
	if (reading->reports++ >= REPORT_LIMIT)
		return;
	print_line(reading);
	ct_tool_print(stderr, note->path, strlen(note->path));
	if (note->kind != CT_NOTE_CLOCK && note->kind != CT_NOTE_UNREAD)
		fprintf(stderr, ", offset %" PRIu64, note->offset);
	if (note->bytes > 0)
		fprintf(stderr, ", %" PRIu64 " byte%s", note->bytes, note->bytes == 1 ? "" : "s");
	fprintf(stderr, ": %s\n", note->message);
}

bool reading_is_process(const char *word)
{
	return ct_tool_is_number(word) && access(word, F_OK) != 0;
}

/* A word of the filter language in place of a path: the shell has split an expression. */
static bool word_is_of_filter(const char *word)
{
	struct ct_diagnostic diagnostic = { 0 };
	struct ct_filter *filter = NULL;
	bool is_one = ct_filter_parse(word, ct_clock_wall_ns(), &filter, &diagnostic) == CTRACE_OK;
	uint32_t level;

	ct_filter_destroy(filter);
	return is_one || ct_name_is(word, strlen(word), "level") ||
	       ct_name_is(word, strlen(word), "component") ||
	       ct_name_is(word, strlen(word), "event") ||
	       (ct_level_parse(word, strlen(word), &level) && !reading_is_process(word));
}

static const char *status_reason(const char *path, enum ctrace_status status)
{
	const char *what = status == CTRACE_NOT_FOUND || status == CTRACE_DENIED
				   ? ct_path_recognize(path)
				   : NULL;

	if (what != NULL)
		return what;
	if (status == CTRACE_NOT_FOUND && reading_is_process(path))
		return "no traced process has this number, as ctrace list shows them; for its events in a trace: --pid and the trace";
	if (status == CTRACE_NOT_FOUND && word_is_of_filter(path))
		return "no trace, process directory or traced process of that name; an expression stands in quotes, as 'level >= warn'";
	return status == CTRACE_NOT_FOUND
		       ? "no trace, process directory or traced process of that name"
	       : status == CTRACE_UNSUPPORTED ? "not a trace that ctrace can read"
					      : ctrace_status_text(status);
}

/* Adds a key to the address, so that the servers send only what the option accepts: a name without
 * wildcards, when the address has no such key. */
static void address_add(struct ct_buf *address, const char *key, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-";
	const char *keys = strchr(ct_buf_text(address), '?');

	if (name == NULL || name[0] == '\0' || name[strspn(name, plain)] != '\0' ||
	    (keys != NULL && strstr(keys, key) != NULL))
		return;
	ct_buf_add_format(address, "%c%s%s", keys != NULL ? '&' : '?', key, name);
}

/* An item of an event may be its job, whatever the process's: then the subjects say too little. */
static bool catalog_has_jobs(const struct ct_catalog *catalog)
{
	const struct ct_catalog_component *component;

	for (uint32_t i = 0; catalog != NULL && (component = ct_catalog_at(catalog, i)) != NULL;
	     i++)
		if (component->has_jobname)
			return true;
	return false;
}

bool reading_address(const struct reading *reading, const char *address, struct ct_buf *out)
{
	ct_buf_add_text(out, address);
	address_add(out, "host=", reading->host);
	if (!catalog_has_jobs(reading->catalog))
		address_add(out, "job=", reading->job);
	if (out->failed)
		fprintf(stderr, "%s: %s\n", reading->verb,
			ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
	return !out->failed;
}

const char *reading_stream(const struct reading *reading, const char *address)
{
	uint64_t since_ns = 0, until_ns = UINT64_MAX;
	const char *path = NULL;
	struct ct_buf whole;

	if (reading->filter != NULL)
		ct_filter_times(reading->filter, &since_ns, &until_ns);
	ct_buf_init(&whole);
	if (reading_address(reading, address, &whole))
		path = stream_fetch_temporary(reading->verb, ct_buf_text(&whole), since_ns,
					      until_ns);
	ct_buf_fini(&whole);
	return path;
}

static void reading_add_path(struct reading *reading, const char *path)
{
	const char *address = stream_is_address(path) ? path : NULL;
	enum ctrace_status status;

	if (address != NULL) {
		path = reading_stream(reading, path);
		if (path == NULL) {
			reading->has_failed = reading->is_missing = true;
			return;
		}
	}
	status = ct_reader_add(reading->reader, path);
	if (status == CTRACE_OK) {
		reading->has_rings |= reading_is_process(path);
		return;
	}
	if (address != NULL && status == CTRACE_NOT_FOUND) {
		const char *name = stream_name(address);

		reading->has_empty_stream = true;
		print_line(reading);
		fputs("stream ", stderr);
		ct_tool_print(stderr, name, strcspn(name, "?"));
		fprintf(stderr, ": %s\n", reading_stream_is_empty);
		return;
	}
	reading->has_failed = true;
	/* A damaged trace costs only itself; the others are read. */
	reading->is_missing |= status == CTRACE_NOT_FOUND || status == CTRACE_DENIED;
	print_line(reading);
	path = stream_shown_path(path);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", status_reason(path, status));
	if (status == CTRACE_NOT_FOUND && reading_is_process(path))
		(void)ct_recovery_report_refused(reading->verb);
}

static void directory_add_entry(const struct ct_directory_entry *entry, void *user)
{
	struct reading *reading = user;
	char *path;

	if (entry->uid != geteuid() && geteuid() != 0)
		return;
	if (asprintf(&path, "%s/%s", entry->run_directory, entry->name) < 0)
		return;
	/* A process that has ended since is no failure. */
	if (access(path, F_OK) == 0) {
		reading_add_path(reading, path);
		reading->path_count++;
		reading->has_rings = true;
	}
	free(path);
}

static void reading_add_run_directory(const char *path, void *user)
{
	ct_directory_each(path, directory_add_entry, user);
}

static bool reading_step(void *user)
{
	const struct reading *reading = user;

	if (reading->shows_progress)
		progress_step(ct_reader_totals(reading->reader)->events, "events",
			      ct_reader_progress(reading->reader));
	return new_file_interrupted == 0;
}

bool reading_open_empty(struct reading *reading)
{
	struct ct_reader_options options = { .has_pairs = reading->has_pairs,
					     .has_inferred = reading->has_inferred,
					     .pairs_are_shown = reading->pairs_are_shown,
					     .report = reading_report,
					     .step = reading_step,
					     .user = reading };
	enum ctrace_status status;

	(void)reading_catalog(reading);
	options.catalog = reading->catalog;
	options.filter = reading->filter;
	status = ct_reader_create(&options, &reading->reader);
	if (status != CTRACE_OK) {
		print_line(reading);
		fprintf(stderr, "%s\n", ctrace_status_text(status));
		return false;
	}
	return true;
}

static void add_annotations(struct reading *reading)
{
	const char *directory = ct_os_environment("MFTRACE_ANNOTATIONS");

	if (directory == NULL || ct_os_environment("CTRACE_CATALOG") != NULL)
		return;
	/* A path that is no name of an XML file was searched before. */
	if (path_may_have_annotations(directory) &&
	    !annotation_each(directory, annotation_add, reading) && annotation_is_name(directory))
		report_no_catalog(reading, directory);
}

/* What ctrace brings, below all others. */
static void add_installed(struct reading *reading)
{
	char directory[PATH_MAX];

	ct_installed_catalog(directory);
	if (ct_catalog_add_installed(reading->catalog, directory) == CTRACE_NOT_ENOUGH_MEMORY)
		report_no_memory(reading);
}

bool reading_catalog(struct reading *reading)
{
	if (!catalog_need(reading))
		return false;
	/* Errors in a catalogue have been reported. */
	if (!reading->has_environment &&
	    ct_catalog_add_environment(reading->catalog, catalog_diagnose, reading) ==
		    CTRACE_NOT_ENOUGH_MEMORY)
		report_no_memory(reading);
	if (!reading->has_environment) {
		add_annotations(reading);
		add_installed(reading);
	}
	reading->has_environment = true;
	return true;
}

bool reading_open(struct reading *reading)
{
	if (!reading_open_empty(reading))
		return false;
	progress_start(reading->verb);
	if (reading->path_count == 0) {
		ct_directory_each_run_directory(reading_add_run_directory, reading);
		if (reading->path_count == 0 && ct_recovery_report_refused(reading->verb) != 0)
			reading->is_missing = reading->has_failed = true;
		return !reading->is_missing;
	}
	for (size_t i = 0; i < reading->path_count; i++)
		reading_add_path(reading, reading->paths[i]);
	host_clocks_report(reading->verb, reading->reader);
	return !reading->is_missing;
}

/* -----------------------------------------------------------------------------------------------
 * Reading more than once
 */

void reading_look(struct reading *reading)
{
	reading->is_quiet = true;
	reading->withheld = 0;
}

bool reading_again(struct reading *reading, uint64_t since_ns)
{
	enum ctrace_status status;

	reading->has_look = true;
	reading->look_damages = ct_reader_totals(reading->reader)->damages;
	/* Paths that could not be added were reported in the first reading. */
	reading->is_quiet = true;
	status = ct_reader_rewind_to(reading->reader, since_ns);
	reading->is_quiet = false;
	reading->withheld = 0;
	if (status == CTRACE_OK)
		return true;
	reading->has_failed = true;
	print_line(reading);
	fprintf(stderr, "a trace cannot be read a second time: %s\n", ctrace_status_text(status));
	return false;
}

bool reading_differs(const struct reading *reading)
{
	return reading->has_look &&
	       reading->look_damages != ct_reader_totals(reading->reader)->damages;
}

/* -----------------------------------------------------------------------------------------------
 * The end
 */

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void report_totals(const struct reading *reading, const struct ct_read_totals *totals)
{
	uint64_t damages = totals->damages - totals->unread;

	if (reading->reports > REPORT_LIMIT)
		fprintf(stderr, "%s: %" PRIu64 " more like these\n", reading->verb,
			reading->reports - REPORT_LIMIT);
	if (totals->discarded > 0)
		fprintf(stderr, "%s: %" PRIu64 " event%s discarded before being written\n",
			reading->verb, totals->discarded,
			totals->discarded == 1 ? " was" : "s were");
	if (damages > 0)
		fprintf(stderr,
			"%s: damaged in %" PRIu64 " place%s, %" PRIu64
			" byte%s could not be read\n",
			reading->verb, damages, plural(damages), totals->damaged_bytes,
			plural(totals->damaged_bytes));
	if (totals->unread > 0)
		fprintf(stderr, "%s: %" PRIu64 " part%s of the input could not be read at all\n",
			reading->verb, totals->unread, plural(totals->unread));
}

void reading_close(struct reading *reading)
{
	ct_reader_destroy(reading->reader);
	ct_filter_destroy(reading->filter);
	ct_catalog_destroy(reading->catalog);
	*reading = (struct reading){ 0 };
}

static void report_hint(const struct reading *reading)
{
	struct ct_buf hint;

	ct_buf_init(&hint);
	if (ct_reader_hint(reading->reader, &hint))
		fprintf(stderr, "%s: %s\n", reading->verb, ct_buf_text(&hint));
	ct_buf_fini(&hint);
}

int reading_end(struct reading *reading, uint64_t shown)
{
	struct ct_read_totals totals = { 0 };
	bool is_good, is_missing = reading->is_missing,
		      lacks_catalog = reading_lacks_catalog(reading);

	progress_clear();
	(void)fflush(stdout);
	if (reading->reader != NULL && !is_missing)
		totals = *ct_reader_totals(reading->reader);
	report_totals(reading, &totals);
	if (reading->path_count == 0 && !is_missing)
		fprintf(stderr, "%s: nothing is being traced; name a trace\n", reading->verb);
	else if (shown == 0 && !reading->has_failed &&
		 !(reading->has_empty_stream && totals.events == 0) &&
		 (totals.unread == 0 || totals.events > 0)) {
		fprintf(stderr, "%s: no events%s\n", reading->verb,
			totals.events > 0 ? " match"
			: reading->has_rings
				? ": no event waits in the rings; ctrace list shows the destinations, ctrace tail new events"
				: "");
		if (totals.events > 0)
			report_hint(reading);
	}
	is_good = shown > 0 && !reading->has_failed && totals.damages == 0;
	reading_close(reading);
	return is_missing || lacks_catalog || totals.unread > 0 ? CMD_UNREAD
	       : is_good                                        ? CMD_DONE
								: CMD_NOTHING;
}
