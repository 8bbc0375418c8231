/*
 * fuzz_config.c - any bytes as a configuration file: parsed, reported about, applied.
 *
 * What must hold: every text of a command is part of the input, every diagnostic names a place in
 * it and is harmless to print, and the registry takes whatever the grammar lets through.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/control.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const char *text;
	size_t size;
	unsigned lines;
	struct ct_target target;
	unsigned last_line;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_span(const struct input *input, struct ct_span span)
{
	if (span.at == NULL)
		must(span.size == 0);
	else
		must(span.at >= input->text && span.size <= input->size &&
		     span.at + span.size <= input->text + input->size);
}

static void check_line(struct input *input, unsigned line)
{
	must(line > input->last_line && line <= input->lines);
	input->last_line = line;
}

static void take_command(const struct ct_command *command, unsigned line, void *user)
{
	struct input *input = user;

	check_line(input, line);
	must(command->verb != CT_VERB_NONE);
	check_span(input, command->component);
	check_span(input, command->emitter);
	check_span(input, command->property);
	check_span(input, command->value);
	check_span(input, command->list);
	must(command->component.size == 0 ||
	     ct_component_check_name(command->component.at, command->component.size) == CTRACE_OK);
	must(ct_apply(&input->target, command) != CTRACE_UNSUPPORTED);
}

static void check_text(const char *text, size_t room)
{
	size_t size = strnlen(text, room);

	must(size > 0 && size < room);
	for (size_t i = 0; i < size; i++)
		must((unsigned char)text[i] >= 0x20 && text[i] != 0x7F);
}

static void take_diagnostic(const struct ct_diagnostic *diagnostic, void *user)
{
	struct input *input = user;

	check_line(input, diagnostic->line);
	must(diagnostic->column >= 1 && diagnostic->column <= input->size + 1);
	check_text(diagnostic->message, sizeof diagnostic->message);
	check_text(diagnostic->expected, sizeof diagnostic->expected);
}

static void reset(void *user)
{
	struct input *input = user;

	ct_registry_reset_configuration(input->target.registry);
}

static unsigned count_lines(const char *text, size_t size)
{
	unsigned count = 1;

	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ct_program program = { "fuzz", "/bin/fuzz", "argument" };
	static struct ct_settings settings;
	struct input input = { .text = (const char *)data,
			       .size = size,
			       .lines = count_lines((const char *)data, size) };
	struct ct_config_reader reader = { take_command, take_diagnostic, reset, &input };
	struct ct_session session;
	unsigned stopped_at = 0;

	must(ct_session_create(&session, NULL) == CTRACE_OK);
	must(ct_registry_create(&session, &input.target.registry) == CTRACE_OK);
	ct_settings_init(&settings);
	input.target.settings = &settings;
	ct_config_read(input.text, size, &program, &reader, &stopped_at);
	must(stopped_at <= input.lines);
	must(ct_dest_default(input.target.registry) != 0);
	ct_registry_destroy(input.target.registry);
	ct_session_close(&session, true);
	return 0;
}
