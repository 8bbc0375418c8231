/*
 * line_options.c - the options of the verbs that print events a line, and an event's line as they
 * want it.
 *
 * Part of ctrace show and ctrace tail.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/line_options.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"

enum { OPTION_COLOR = 0x1000, OPTION_RECORDS, OPTION_NO_RECORDS, OPTION_FORMAT };

#define NESTING_SHOWN 40u /* dashes: deeper ones would fill the line */

static bool output_wants_color(void)
{
	return isatty(STDOUT_FILENO) && ct_os_environment("NO_COLOR") == NULL;
}

static void parse_color(struct argp_state *state, const char *when, struct line_options *options)
{
	if (strcmp(when, "always") == 0)
		options->text.has_color = true;
	else if (strcmp(when, "never") == 0)
		options->text.has_color = false;
	else if (strcmp(when, "auto") == 0)
		options->text.has_color = output_wants_color();
	else
		argp_error(state, "no such colour: \"%s\"; expected auto, always or never", when);
}

/* As tail(1) and git log take it: the word of which getopt has given one digit. */
static void number_refuse(struct argp_state *state, int digit)
{
	const char *word = state->next > 0 ? state->argv[state->next - 1] : "";

	if (word[0] != '-' || word[1] != digit || word[1 + strspn(word + 1, "0123456789")] != '\0')
		word = state->next < state->argc ? state->argv[state->next] : "";
	if (word[0] == '-' && word[1 + strspn(word + 1, "0")] == '\0')
		argp_error(
			state,
			"%s is no option, and no number of events; the last N events are -n N, from -n 1",
			word);
	if (word[0] == '-' && word[1] == digit && word[1 + strspn(word + 1, "0123456789")] == '\0')
		argp_error(state, "%s is no option; the last %s events are -n %s", word, word + 1,
			   word + 1);
	argp_error(state, "-%c is no option", digit);
}

static error_t options_parse(int key, char *argument, struct argp_state *state)
{
	struct line_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		*options = (struct line_options){
			.text = { .line = { .delimiter = " ",
					    .hex_block_size = 8,
					    .quote_strings = true },
				  .has_color = output_wants_color() },
		};
		return 0;
	case OPTION_FORMAT:
		options->is_default = strcmp(argument, "default") == 0;
		options->text.line.format = options->is_default ? NULL : argument;
		return 0;
	case 'j':
		options->is_json = true;
		return 0;
	case 's':
		options->has_sequence = true;
		return 0;
	case OPTION_COLOR:
		parse_color(state, argument != NULL ? argument : "always", options);
		return 0;
	case OPTION_RECORDS:
		options->text.has_records = true;
		return 0;
	case OPTION_NO_RECORDS:
		options->text.has_records = false;
		return 0;
	default:
		if (key < '0' || key > '9')
			return ARGP_ERR_UNKNOWN;
		number_refuse(state, key);
		return 0;
	}
}

#define DIGIT(key) \
	{ \
		NULL, key, NULL, OPTION_HIDDEN, NULL, 0 \
	}
static const struct argp_option rows[] = {
	{ "format", OPTION_FORMAT, "FORMAT", 0,
	  "The parts of a line, as for TEXTFILE: " CT_LINE_FORMAT
	  "; by default the trace's own FORMAT, else a line for people, for which \"default\" stands",
	  4 },
	{ "json", 'j', NULL, 0, "One JSON object on each line instead", 4 },
	{ "color", OPTION_COLOR, "WHEN", OPTION_ARG_OPTIONAL,
	  "Colour lines by level: auto (default), always, never", 4 },
	{ "records", OPTION_RECORDS, NULL, 0,
	  "Fields of COBOL records on lines of their own below the event", 4 },
	{ "no-records", OPTION_NO_RECORDS, NULL, 0,
	  "Fields of COBOL records in the event's line (default)", 4 },
	{ "sequence", 's', NULL, 0, "The event's number before its line, as [17]", 4 },
	DIGIT('0'),
	DIGIT('1'),
	DIGIT('2'),
	DIGIT('3'),
	DIGIT('4'),
	DIGIT('5'),
	DIGIT('6'),
	DIGIT('7'),
	DIGIT('8'),
	DIGIT('9'),
	{ 0 },
};
#undef DIGIT
const struct argp ct_line_argp = { .options = rows, .parser = options_parse };

static void format_check(const char *format, const char *verb)
{
	struct ct_buf message;

	ct_buf_init(&message);
	if (!ct_text_check_format(format, &message))
		fprintf(stderr, "%s: --format: %s\n", verb, ct_buf_text(&message));
	ct_buf_fini(&message);
}

bool line_options_open(struct line_options *options, const char *verb)
{
	if (options->text.line.format != NULL && !options->is_json)
		format_check(options->text.line.format, verb);
	if (ct_text_create(&options->text, &options->printer) == CTRACE_OK)
		return true;
	fprintf(stderr, "%s: %s\n", verb, ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
	return false;
}

void line_options_close(struct line_options *options)
{
	ct_text_destroy(options->printer);
	options->printer = NULL;
}

bool line_options_use_pairs(const struct line_options *options)
{
	const char *format = options->text.line.format;

	return options->has_nesting || options->is_json || format == NULL ||
	       strcasestr(format, "$(DURATION)") != NULL;
}

bool line_options_need_all(const struct line_options *options)
{
	const char *format = options->text.line.format;

	return options->has_nesting || options->has_sequence || options->is_json ||
	       (format != NULL &&
		(strcasestr(format, "$(SEQ)") != NULL || strcasestr(format, "$(DELTA)") != NULL));
}

static void line_add_prefix(const struct line_options *options, struct ct_buf *out,
			    const struct ct_read_event *event)
{
	if (options->has_sequence)
		ct_buf_add_format(out, "[%llu] ", (unsigned long long)event->sequence);
	if (!options->has_nesting || event->depth == 0)
		return;
	for (uint32_t i = 0; i < event->depth && i < NESTING_SHOWN; i++)
		ct_buf_add_char(out, '-');
	ct_buf_add_char(out, ' ');
}

void line_options_add(const struct line_options *options, struct ct_buf *out,
		      const struct ct_read_event *event)
{
	if (options->is_json) {
		ct_json_add_line(out, event);
		return;
	}
	if (options->has_sequence || options->has_nesting)
		line_add_prefix(options, out, event);
	ct_text_add(options->printer, out, event);
}
