/*
 * setup.c - the configuration file and the environment, as a process attaches.
 *
 * Runs once, under the attach lock; what a reload needs of it, on the control thread.  Mistakes in the file change nothing and stop nothing; `ctrace config check` names them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_LIMIT ((size_t)4 << 20)
#define COMMAND_LINE_LIMIT ((size_t)8 << 20) /* of which only the second word counts */

/* This process as mftrace.application compares it. */
struct self {
	struct ct_program program;
	char path[4096];
	char words[4096];
};

static void find_self(struct self *self)
{
	struct ct_buf line;
	ssize_t size = readlink("/proc/self/exe", self->path, sizeof self->path - 1);
	const char *slash;

	self->path[size > 0 ? size : 0] = '\0';
	slash = strrchr(self->path, '/');
	self->program.path = self->path;
	self->program.name = slash != NULL ? slash + 1 : program_invocation_short_name;
	self->program.first_argument = NULL;
	ct_buf_init(&line);
	if (ct_os_read_file("/proc/self/cmdline", COMMAND_LINE_LIMIT, &line) == CTRACE_OK) {
		size_t first = strnlen(ct_buf_text(&line), line.size) + 1;

		if (first < line.size) {
			(void)snprintf(self->words, sizeof self->words, "%s", line.data + first);
			self->program.first_argument = self->words;
		}
	}
	ct_buf_fini(&line);
}

const char *ct_setup_path(void)
{
	return ct_os_environment("MFTRACE_CONFIG");
}

enum ctrace_status ct_setup_read_file(const char *path, struct ct_buf *out_text)
{
	return ct_os_read_file(path, CONFIG_LIMIT, out_text);
}

void ct_setup_read_text(const struct ct_buf *text, const struct ct_config_reader *reader, unsigned *out_stopped_at)
{
	struct self self;

	find_self(&self);
	ct_config_read(text->data, text->size, &self.program, reader, out_stopped_at);
}

static void read_configuration(const struct ct_config_reader *reader)
{
	const char *path = ct_setup_path();
	struct ct_buf text;
	unsigned stopped_at = 0;

	if (path == NULL)
		return;
	ct_buf_init(&text);
	if (ct_setup_read_file(path, &text) == CTRACE_OK)
		ct_setup_read_text(&text, reader, &stopped_at);
	ct_buf_fini(&text);
}

/* ---- first reading: what is needed before there is a session ---- */

static void note_setting(const struct ct_command *command, unsigned line, void *user)
{
	struct ct_settings *settings = user;

	(void)line;
	if (command->verb == CT_VERB_ATTACH)
		settings->attach = command->number != 0;
	if (command->verb == CT_VERB_RUN_DIRECTORY)
		(void)snprintf(settings->run_directory, sizeof settings->run_directory, "%.*s", (int)command->value.size,
			       command->value.at);
}

static void forget_settings(void *user)
{
	ct_settings_init(user);
}

void ct_setup_override(struct ct_settings *settings)
{
	const char *attach = ct_os_environment("CTRACE_ATTACH");

	if (attach != NULL)
		settings->attach = ct_value_number(attach, strlen(attach)) != 0;
}

void ct_setup_read_settings(struct ct_settings *settings)
{
	struct ct_config_reader reader = { .command = note_setting, .forget = forget_settings, .user = settings };

	ct_settings_init(settings);
	read_configuration(&reader);
	ct_setup_override(settings);
}

/* ---- second reading: everything ---- */

static void apply_command(const struct ct_command *command, unsigned line, void *user)
{
	(void)line;
	/* What cannot be applied (an unknown emitter) changes nothing. */
	(void)!ct_apply(user, command);
}

void ct_setup_forget(void *user)
{
	const struct ct_target *target = user;

	ct_registry_forget_configuration(target->registry);
	ct_settings_init(target->settings);
}

void ct_setup_apply_configuration(const struct ct_target *target)
{
	struct ct_config_reader reader = { .command = apply_command, .forget = ct_setup_forget, .user = (void *)(uintptr_t)target };

	read_configuration(&reader);
}
