/*
 * page_file.c - traces of any kind, merged, as one page for a browser, in a file.
 *
 * Part of ctrace report and ctrace open; runs on the tool's only thread.  The page gets its name
 * when it is complete.  Until then the name stays that of an earlier page, and no reader opens half
 * a page.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/page_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_EVENTS 20000000u /* more than that no browser takes */

enum { OPTION_TITLE = 256, OPTION_LIMIT };

static bool page_diagnose(const struct page_file *page, const char *path, const char *what)
{
	(void)fflush(stdout);
	fprintf(stderr, "%s: ", page->reading.verb);
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

static bool output_diagnose(struct page_file *page)
{
	page->is_unwritten = true;
	return page_diagnose(page, page->output,
			     errno != 0 ? strerror(errno) : "cannot be written");
}

static bool output_is_stdout(const struct page_file *page)
{
	return strcmp(page->output, "-") == 0;
}

/* Runs before anything is read, so that an unusable name is reported at once. */
static bool output_open(struct page_file *page)
{
	int copy;

	if (output_is_stdout(page)) {
		page->to = stdout;
		return true;
	}
	if (!new_file_open(&page->file, page->output, NEW_FILE_OF_TRACE))
		return output_diagnose(page);
	/* The stream has a descriptor of its own: the file gets its name behind it. */
	copy = fcntl(page->file.fd, F_DUPFD_CLOEXEC, 0);
	page->to = copy >= 0 ? fdopen(copy, "w") : NULL;
	if (page->to != NULL)
		return true;
	(void)output_diagnose(page);
	ct_os_close(&copy);
	(void)new_file_end(&page->file, false);
	return false;
}

static bool output_close(struct page_file *page, bool is_complete)
{
	bool has_failed;

	if (page->to == stdout)
		return is_complete; /* the tool looks at it when it ends */
	page->size = ftello(page->to);
	has_failed = ferror(page->to) != 0;
	has_failed |= fclose(page->to) != 0;
	is_complete = is_complete && !ct_memory_has_lacked();
	if (is_complete && has_failed)
		is_complete = output_diagnose(page);
	if (!new_file_end(&page->file, is_complete) && is_complete)
		is_complete = output_diagnose(page);
	return is_complete;
}

/* -----------------------------------------------------------------------------------------------
 * The way through
 */

static void page_note(const struct ct_read_note *note, void *user)
{
	struct page_file *page = user;

	if (page->report != NULL)
		ct_report_note(page->report, note);
}

static void print_shortened(const struct page_file *page, const struct ct_report_counts *counts)
{
	if (page->passed > 0)
		fprintf(stderr,
			"%s: the page holds the last %" PRIu64
			" events; choose others with --filter or --since, or more with --limit\n",
			page->reading.verb, counts->events);
	if (counts->left_out > 0)
		fprintf(stderr, "%s: %" PRIu64 " events are left out: too many kinds or threads\n",
			page->reading.verb, counts->left_out);
	if (counts->without_items > 0)
		fprintf(stderr,
			"%s: the items of the last %" PRIu64
			" events are left out: too many bytes\n",
			page->reading.verb, counts->without_items);
	if (counts->without_records > 0)
		fprintf(stderr, "%s: %" PRIu64 " records are left undecoded: too many bytes\n",
			page->reading.verb, counts->without_records);
}

static bool page_write(struct page_file *page)
{
	enum ctrace_status status =
		ct_report_write(page->report, ct_reader_totals(page->reading.reader), page->to);

	return status == CTRACE_OK || page_diagnose(page, NULL, ctrace_status_text(status));
}

/* Counts the events that the page has no room for.  Of a long trace the page has the end, because
 * people look for the last events. */
static bool events_count_older(struct page_file *page)
{
	struct reading *reading = &page->reading;
	uint64_t limit = page->options.limit != 0 ? page->options.limit : CT_REPORT_LIMIT;
	const struct ct_read_event *event;
	uint64_t count = 0;

	reading_look(reading);
	while ((event = ct_reader_next(reading->reader)) != NULL)
		count += !event->is_inferred;
	page->passed = count > limit ? count - limit : 0;
	return reading_again(reading, 0);
}

static bool events_convert(struct page_file *page, struct ct_report_counts *counts)
{
	const struct ct_read_event *event;
	bool is_complete = true;

	errno = 0;
	if (!events_count_older(page))
		return output_close(page, false);
	if (page->passed > 0)
		ct_report_pass(page->report);
	for (uint64_t i = 0; i < page->passed; i += !event->is_inferred)
		if ((event = ct_reader_next(page->reading.reader)) == NULL)
			break;
	while ((event = ct_reader_next(page->reading.reader)) != NULL &&
	       ct_report_add(page->report, event))
		;
	ct_report_count(page->report, counts);
	if (reading_differs(&page->reading))
		is_complete = page_diagnose(
			page, NULL,
			"what was read at first and the second time differ: a trace could not be read once");
	else if (counts->events > 0 && new_file_interrupted == 0)
		is_complete = page_write(page);
	if (new_file_interrupted == 0)
		print_shortened(page, counts);
	return output_close(page, is_complete && counts->events > 0) || counts->events == 0;
}

static void print_summary(const struct page_file *page, uint64_t events)
{
	if (output_is_stdout(page) || page->file.is_special)
		return;
	ct_tool_print(stdout, page->output, strlen(page->output));
	printf(": %" PRIu64 " event%s, %.1f MB\n", events, events == 1 ? "" : "s",
	       (double)page->size / 1e6);
}

int page_file_run(struct page_file *page)
{
	enum ctrace_status status = ct_report_create(&page->options, &page->report);
	struct ct_report_counts counts = { 0 };
	int exit_status;
	bool is_good;

	if (status != CTRACE_OK) {
		(void)page_diagnose(page, NULL, ctrace_status_text(status));
		reading_close(&page->reading);
		return CMD_NOTHING;
	}
	page->reading.shows_progress = true;
	page->reading.has_pairs = true;
	page->reading.has_inferred = true;
	page->reading.also = page_note;
	page->reading.also_user = page;
	for (size_t i = 0; i < page->reading.path_count; i++)
		ct_report_add_path(page->report, page->reading.paths[i]);
	new_file_catch();
	is_good =
		reading_open(&page->reading) && output_open(page) && events_convert(page, &counts);
	if (is_good && counts.events > 0)
		print_summary(page, counts.events);
	new_file_die();
	exit_status = reading_end(&page->reading, is_good ? counts.events : 1);
	ct_report_destroy(page->report);
	page->is_made = is_good && counts.events > 0;
	if (page->is_unwritten)
		return CMD_UNWRITTEN;
	return is_good || exit_status == CMD_UNREAD ? exit_status : CMD_NOTHING;
}

/* -----------------------------------------------------------------------------------------------
 * The options
 */

static void parse_limit(struct page_file *page, const char *text, struct argp_state *state)
{
	char *end;
	unsigned long long limit;

	errno = 0;
	limit = strtoull(text, &end, 10);
	if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || limit == 0 ||
	    limit > MOST_EVENTS)
		argp_error(state, "no number of events: \"%s\"; expected 1 to %u", text,
			   MOST_EVENTS);
	page->options.limit = limit;
}

static error_t parse_page(int key, char *argument, struct argp_state *state)
{
	struct page_file *page = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &page->reading;
		state->child_inputs[1] = &page->reading;
		return 0;
	case OPTION_TITLE:
		page->options.title = argument;
		return 0;
	case OPTION_LIMIT:
		parse_limit(page, argument, state);
		return 0;
	case ARGP_KEY_ARGS:
		reading_words(&page->reading, state->argv + state->next,
			      (size_t)(state->argc - state->next));
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option page_rows[] = {
	{ "title", OPTION_TITLE, "TEXT", 0,
	  "The title above the page; the names of the traces by default", 0 },
	{ "limit", OPTION_LIMIT, "N", 0, "At most the last N events; 2000000 by default", 0 },
	{ 0 },
};

static const struct argp_child page_children[] = { { .argp = &ct_reading_argp },
						   { .argp = &ct_reading_process_argp },
						   { 0 } };

const struct argp ct_page_argp = {
	.options = page_rows,
	.parser = parse_page,
	.children = page_children,
};
