/*
 * filter_options.c - the options of the verbs that print events, and an event's line as they want it.
 *
 * Part of ctrace show and ctrace tail.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "filter_options.h"

#include <string.h>
#include <unistd.h>

#include "cmd.h"

enum { OPTION_COLOR = 0x1000 };

static bool wants_color(void)
{
	return isatty(STDOUT_FILENO) && ct_os_environment("NO_COLOR") == NULL;
}

static void parse_color(struct argp_state *state, const char *when, struct filter_options *options)
{
	if (strcmp(when, "always") == 0)
		options->has_color = true;
	else if (strcmp(when, "never") == 0)
		options->has_color = false;
	else if (strcmp(when, "auto") == 0)
		options->has_color = wants_color();
	else
		argp_error(state, "no such colour: \"%s\"; expected auto, always or never", when);
}

static error_t parse_filter(int key, char *argument, struct argp_state *state)
{
	struct filter_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		*options = (struct filter_options){
			.format = { .format = CT_LINE_FORMAT, .delimiter = " ", .hex_block_size = 8, .quote_strings = true },
			.has_color = wants_color(),
		};
		return 0;
	case 'f':
		options->format.format = argument;
		return 0;
	case 'j':
		options->is_json = true;
		return 0;
	case 'c':
		(void)argument;
		return 0;
	case 'l':
	case 'e':
		return 0;
	case OPTION_COLOR:
		parse_color(state, argument != NULL ? argument : "always", options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option rows[] = {
	{ "format", 'f', "FORMAT", 0, "What a line consists of, as for TEXTFILE; default: " CT_LINE_FORMAT, 0 },
	{ "json", 'j', NULL, 0, "One JSON object a line instead", 0 },
	{ "color", OPTION_COLOR, "WHEN", OPTION_ARG_OPTIONAL, "Colour lines by level: auto (default), always, never", 0 },
	{ "component", 'c', "GLOB", 0, "Only components that match, as in 'MF.*'", 1 },
	{ "level", 'l', "LEVEL", 0, "Only events at or above: debug, info, warn, error, fatal", 1 },
	{ "event", 'e', "LIST", 0, "Only these event ids, as in 1,5-8", 1 },
	{ 0 },
};
const struct argp ct_filter_argp = { .options = rows, .parser = parse_filter };

static const char *color_of(uint32_t level)
{
	static const char *const colors[CTRACE_LEVEL_COUNT] = { "\033[2m", "", "\033[33m", "\033[31m", "\033[1;31m" };

	return level < CTRACE_LEVEL_COUNT ? colors[level] : "";
}

static void add_colored_line(struct ct_buf *out, const struct filter_options *options, const struct ctrace_event *event)
{
	const char *color = color_of(event->level);

	ct_buf_add_text(out, color);
	ct_line_add(out, &options->format, event);
	if (color[0] == '\0' || out->failed)
		return;
	/* Before the end of the line, so that no pager carries it into the next. */
	out->size--;
	ct_buf_add_text(out, "\033[0m\n");
}

void ct_filter_line(const struct filter_options *options, const struct ctrace_event *event, struct ct_buf *line)
{
	ct_buf_clear(line);
	if (options->is_json)
		ct_json_add(line, &(struct ct_view){ .event = *event, .duration_ns = CT_NO_DURATION });
	else if (options->has_color)
		add_colored_line(line, options, event);
	else
		ct_line_add(line, &options->format, event);
}
