/*
 * cmd_config.c - `ctrace config check [FILE]`: what is wrong with a configuration file, and what it comes to.
 *
 * Mistakes go to stderr, one line each; the settings in force go to stdout in the file's own grammar, so that they can be read
 * back. Works on a registry of its own, in memory; nothing that is traced is touched.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cmd.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocate.h"
#include "config_note.h"
#include "control/control.h"

#define FILE_LIMIT ((size_t)64 << 20)

struct check {
	const char *path;
	struct ct_buf text;
	struct ct_session session;
	struct ct_settings settings;
	struct ct_target target;
	unsigned complaints;
};

/* ---- mistakes ---- */

static void print_place(const struct check *check, unsigned line, unsigned column)
{
	ct_tool_print(stderr, check->path, strlen(check->path));
	fprintf(stderr, ":%u:%u: ", line, column);
}

static void print_complaint(const struct ct_complaint *complaint, void *user)
{
	struct check *check = user;

	check->complaints++;
	print_place(check, complaint->line, complaint->column);
	fprintf(stderr, "%s; expected %s\n", complaint->message, complaint->expected);
}

static unsigned column_of(const struct check *check, const char *at)
{
	const char *start = at;

	while (start > check->text.data && start[-1] != '\n')
		start--;
	return (unsigned)(at - start) + 1;
}

static void print_suggestion(const char *suggestion)
{
	if (suggestion != NULL)
		fprintf(stderr, " (did you mean %s?)", suggestion);
}

static void complain_emitter(struct check *check, struct ct_span name, unsigned line)
{
	const char *names[CT_EMITTER_LIMIT];
	const struct ctrace_emitter *emitter;
	size_t count = 0;

	for (uint32_t i = 0; (emitter = ct_emitter_at(i)) != NULL; i++)
		names[count++] = emitter->name;
	check->complaints++;
	print_place(check, line, column_of(check, name.at));
	fputs("unknown emitter \"", stderr);
	ct_tool_print(stderr, name.at, name.size);
	fputc('"', stderr);
	print_suggestion(ct_suggest(name, names, count));
	fputs("; expected ", stderr);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "%s, ", names[i]);
	fputs("or the name of a module on CTRACE_EMITTERS\n", stderr);
}

/* The first emitter of a command that does not exist. */
static void complain_emitters(struct check *check, const struct ct_command *command, unsigned line)
{
	struct ct_span list = command->list;
	struct ct_span name = command->emitter;
	uint32_t index;

	if (list.at == NULL) {
		complain_emitter(check, name, line);
		return;
	}
	while (ct_config_next_word(&list, &name))
		if (ct_emitter_find(name.at, name.size, &index) != CTRACE_OK) {
			complain_emitter(check, name, line);
			return;
		}
}

struct note {
	const struct check *check;
	unsigned line;
};

static void print_note(const char *at, const char *sentence, const char *suggestion, void *user)
{
	const struct note *note = user;

	print_place(note->check, note->line, column_of(note->check, at));
	fprintf(stderr, "note: %s", sentence);
	print_suggestion(suggestion);
	fputc('\n', stderr);
}

/* Any property may be set, so one that the emitter does not know is worth a word but no mistake. */
static void note_property(const struct check *check, const struct ct_command *command, unsigned line)
{
	const char *names[64];
	struct note note = { check, line };
	const struct ctrace_property *property;
	const struct ctrace_emitter *emitter;
	uint32_t index;
	size_t count = 0;

	if (ct_emitter_find(command->emitter.at, command->emitter.size, &index) != CTRACE_OK)
		return;
	emitter = ct_emitter_at(index);
	if ((emitter->flags & CTRACE_EMITTER_SILENT) != 0)
		return;
	property = ct_emitter_property(emitter, command->property.at, command->property.size);
	if (property != NULL) {
		config_note_value(property, command->value, print_note, &note);
		return;
	}
	for (const struct ctrace_property *row = emitter->properties; row != NULL && row->name != NULL && count < CT_COUNT(names);
	     row++)
		names[count++] = row->name;
	print_place(check, line, column_of(check, command->property.at));
	fprintf(stderr, "note: %s has no property \"", emitter->name);
	ct_tool_print(stderr, command->property.at, command->property.size);
	fputc('"', stderr);
	print_suggestion(ct_suggest(command->property, names, count));
	fputc('\n', stderr);
}

static void apply_command(const struct ct_command *command, unsigned line, void *user)
{
	struct check *check = user;
	enum ctrace_status status = ct_apply(&check->target, command);

	if (status == CTRACE_EMITTER_NOT_FOUND) {
		complain_emitters(check, command, line);
	} else if (status != CTRACE_OK) {
		check->complaints++;
		print_place(check, line, 1);
		fprintf(stderr, "not applied: %s\n", ctrace_status_text(status));
	} else if (command->verb == CT_VERB_EMITTER_PROPERTY) {
		note_property(check, command, line);
	} else if (command->verb == CT_VERB_APPLICATION) {
		print_place(check, line, 1);
		fputs("note: programs other than ", stderr);
		ct_tool_print(stderr, command->value.at, command->value.size);
		fputs(" forget what stands above this line and leave out what follows\n", stderr);
	}
}

/* ---- settings ---- */

static void print_size(const char *key, const char *component, uint64_t size)
{
	bool is_mega = size % (1u << 20) == 0;

	printf("%s", key);
	if (component != NULL) {
		putchar('.');
		ct_tool_print(stdout, component, strlen(component));
	}
	printf(" = %llu%c\n", (unsigned long long)(size >> (is_mega ? 20 : 10)), is_mega ? 'M' : 'K');
}

static const char *overflow_name(uint32_t overflow)
{
	static const char *const names[] = { "auto", "block", "discard", "overwrite" };

	return names[overflow < CT_COUNT(names) ? overflow : 0];
}

static const char *trigger_name(uint32_t trigger)
{
	if (trigger == CT_TRIGGER_NONE)
		return "off";
	return trigger == CT_TRIGGER_SIGNAL ? "signal" : ct_level_name(trigger);
}

static void print_dests(uint32_t mask)
{
	const char *separator = "";

	for (; mask != 0; mask &= mask - 1) {
		printf("%s%s", separator, ct_emitter_at((uint32_t)__builtin_ctz(mask))->name);
		separator = ", ";
	}
}

static void print_process(const struct check *check)
{
	const struct ct_settings *settings = &check->settings;

	printf("mftrace.level = %s\n", ct_level_name(ct_level_default(check->target.registry)));
	printf("mftrace.dest = ");
	print_dests(ct_dest_default(check->target.registry));
	putchar('\n');
	print_size("ctrace.buffer", NULL, settings->buffer);
	printf("ctrace.overflow = %s\n", overflow_name(settings->overflow));
	printf("ctrace.block.timeout = %llu ms\n", (unsigned long long)(settings->block_timeout_ns / 1000000u));
	printf("ctrace.flight.trigger = %s\n", trigger_name(settings->flight_trigger));
	print_size("ctrace.flight.buffer", NULL, settings->flight_buffer);
	printf("ctrace.attach = %s\n", settings->attach ? "on" : "off");
	if (settings->run_directory[0] != '\0') {
		printf("ctrace.run.directory = ");
		ct_tool_print(stdout, settings->run_directory, strlen(settings->run_directory));
		putchar('\n');
	}
}

struct property_place {
	const char *key;
	const char *owner;
};

static void print_property(const char *name, size_t name_size, const char *value, size_t value_size, void *user)
{
	const struct property_place *place = user;

	printf("%s.", place->key);
	ct_tool_print(stdout, place->owner, strlen(place->owner));
	putchar('#');
	ct_tool_print(stdout, name, name_size);
	printf(" = ");
	ct_tool_print(stdout, value, value_size);
	putchar('\n');
}

static void print_key(const char *key, const char *component)
{
	printf("%s.", key);
	ct_tool_print(stdout, component, strlen(component));
	printf(" = ");
}

static void print_component(struct ct_registry *registry, uint32_t index)
{
	struct ct_configured own = ct_registry_configured(registry, index);
	const char *name = ct_registry_name(registry, index);
	struct property_place place = { "mftrace.comp", name };

	if (own.level != CT_LEVEL_UNSET) {
		print_key("mftrace.level", name);
		printf("%s\n", ct_level_name(own.level));
	}
	if (own.dests != 0) {
		print_key("mftrace.dest", name);
		putchar('(');
		print_dests(ct_registry_entry(registry, index)->dests);
		printf(")\n");
	}
	if (own.buffer != 0)
		print_size("ctrace.buffer", name, own.buffer);
	if (own.overflow != CT_OVERFLOW_UNSET) {
		print_key("ctrace.overflow", name);
		printf("%s\n", overflow_name(own.overflow));
	}
	if (own.flight_level != CT_LEVEL_UNSET) {
		print_key("ctrace.flight.level", name);
		printf("%s\n", ct_level_name(own.flight_level));
	}
	ct_component_property_each(registry, index, print_property, &place);
}

static void print_settings(const struct check *check)
{
	struct ct_registry *registry = check->target.registry;
	const struct ctrace_emitter *emitter;

	print_process(check);
	for (uint32_t i = 0; i < ct_registry_count(registry); i++)
		print_component(registry, i);
	for (uint32_t i = 0; (emitter = ct_emitter_at(i)) != NULL; i++) {
		struct property_place place = { "mftrace.emitter", emitter->name };

		ct_emitter_property_each(registry, i, print_property, &place);
	}
}

/* ---- the verb ---- */

static int check_text(struct check *check)
{
	struct ct_config_reader reader = { .command = apply_command, .complain = print_complaint, .user = check };

	ct_config_read(check->text.data, check->text.size, NULL, &reader, NULL);
	print_settings(check);
	return check->complaints == 0 ? CMD_DONE : CMD_NOTHING;
}

static int check_file(struct check *check)
{
	int exit_status = CMD_NOTHING;
	enum ctrace_status status = ct_os_read_file(check->path, FILE_LIMIT, &check->text);

	if (status != CTRACE_OK) {
		fputs("ctrace config: cannot read ", stderr);
		ct_tool_print(stderr, check->path, strlen(check->path));
		fprintf(stderr, ": %s\n", status == CTRACE_OS_ERROR ? strerror(errno) : ctrace_status_text(status));
		return CMD_NOTHING;
	}
	status = ct_session_create(&check->session, NULL);
	if (status != CTRACE_OK)
		goto complain;
	status = ct_registry_create(&check->session, &check->target.registry);
	if (status != CTRACE_OK)
		goto undo_session;
	ct_settings_init(&check->settings);
	check->target.settings = &check->settings;
	exit_status = check_text(check);
	ct_registry_destroy(check->target.registry);
undo_session:
	ct_session_close(&check->session, true);
complain:
	if (status != CTRACE_OK)
		fprintf(stderr, "ctrace config: %s\n", ctrace_status_text(status));
	return exit_status;
}

struct arguments {
	const char *action;
	const char *path;
};

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (arguments->action == NULL)
			arguments->action = argument;
		else if (arguments->path == NULL)
			arguments->path = argument;
		else
			argp_error(state, "one file at a time");
		return 0;
	case ARGP_KEY_END:
		if (arguments->action == NULL || strcmp(arguments->action, "check") != 0)
			argp_error(state, "expected: check [FILE]");
		else if (arguments->path == NULL && (arguments->path = ct_os_environment("MFTRACE_CONFIG")) == NULL)
			argp_error(state, "check what? expected a file, or MFTRACE_CONFIG in the environment");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The keys of the file, from the table that also applies them. */
static char *add_keys(int key, const char *text, void *input)
{
	const struct ct_verb_row *row;
	char *out = NULL;
	size_t size = 0;
	FILE *to;

	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)(uintptr_t)text;
	to = open_memstream(&out, &size);
	if (to == NULL)
		return NULL;
	fputs("Keys of the file, one KEY = VALUE a line, in any case of letters:\n", to);
	for (size_t i = 0; (row = ct_verb_row_at(i)) != NULL; i++)
		if (row->key != NULL)
			fprintf(to, "  %s%s = %s\n      %s\n", row->key, row->subject_grammar, row->value_grammar, row->help);
	if (!allocate_close_stream(to)) {
		free(out);
		return NULL;
	}
	return out;
}

int cmd_config(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_argument,
		.args_doc = "check [FILE]",
		.doc = "Name each mistake in a configuration file with line and column, and print the settings that come of it.  FILE is what MFTRACE_CONFIG names when it is left out.",
		.help_filter = add_keys,
	};
	struct arguments arguments = { 0 };
	struct check check = { 0 };
	int exit_status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	check.path = arguments.path;
	ct_buf_init(&check.text);
	exit_status = check_file(&check);
	ct_buf_fini(&check.text);
	return exit_status;
}
