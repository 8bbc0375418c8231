/*
 * cmd_show.c - ctrace show: prints traces of any kind, in any mix, merged by time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "reading.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

struct show {
	struct reading reading;
	struct ct_text_options text;
	bool is_json;
};

static error_t parse_show(int key, char *argument, struct argp_state *state)
{
	struct show *show = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&show->reading, "ctrace show");
		state->child_inputs[0] = &show->reading;
		return 0;
	case 'f':
		show->text.line.format = argument;
		return 0;
	case 'j':
		show->is_json = true;
		return 0;
	case ARGP_KEY_ARGS:
		reading_paths(&show->reading, state->argv + state->next, (size_t)(state->argc - state->next));
		return 0;
	case ARGP_KEY_NO_ARGS:
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_show(int argc, char **argv)
{
	static const struct argp_option options[] = { { "format", 'f', "FORMAT", 0, "", 0 }, { "json", 'j', NULL, 0, "", 0 }, { 0 } };
	static const struct argp_child children[] = { { .argp = &ct_reading_argp }, { 0 } };
	static const struct argp argp = { .options = options, .children = children, .parser = parse_show, .args_doc = "[PATH|PID...]" };
	struct show show = { .text = { .line = { .delimiter = " ", .hex_block_size = 8, .quote_strings = true }, .has_records = true } };
	struct ct_text_printer *printer;
	const struct ct_view *view;
	struct ct_buf out;
	uint64_t shown = 0;

	if (argp_parse(&argp, argc, argv, 0, NULL, &show) != 0 || ct_text_create(&show.text, &printer) != CTRACE_OK)
		return CMD_USAGE;
	if (!reading_open(&show.reading))
		return CMD_NOTHING;
	ct_buf_init(&out);
	while ((view = ct_reader_next(show.reading.reader)) != NULL) {
		if (show.is_json)
			ct_json_add(&out, view);
		else
			ct_text_add(printer, &out, view);
		shown++;
		if (out.size > 1 << 18) {
			fwrite(out.data, 1, out.size, stdout);
			ct_buf_clear(&out);
		}
	}
	fwrite(out.data, 1, out.size, stdout);
	return reading_end(&show.reading, shown);
}
