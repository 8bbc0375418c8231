/*
 * own_setting.c - settings that the tool reads for itself.
 *
 * The file is the user's, and errors in it are `ctrace config check`'s.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/own_setting.h"

#include <stdio.h>

#define CONFIG_LIMIT ((size_t)1 << 20)

struct search {
	enum ct_verb verb;
	char *out;
	size_t room;
};

static void value_note(const struct ct_command *command, unsigned line, void *user)
{
	const struct search *search = user;

	(void)line;
	if (command->verb == search->verb)
		(void)snprintf(search->out, search->room, "%.*s", (int)command->value.size,
			       command->value.at);
}

static void value_reset(void *user)
{
	((struct search *)user)->out[0] = '\0';
}

bool ct_own_setting(enum ct_verb verb, char *out, size_t room)
{
	const char *path = ct_os_environment("MFTRACE_CONFIG");
	struct search search = { verb, out, room };
	const struct ct_config_reader reader = { .command = value_note,
						 .reset = value_reset,
						 .user = &search };
	const struct ct_program program = { .name = "ctrace", .path = "ctrace" };
	struct ct_buf text;
	unsigned stopped_at;

	out[0] = '\0';
	ct_buf_init(&text);
	if (path != NULL && ct_os_read_file(path, CONFIG_LIMIT, &text) == CTRACE_OK)
		ct_config_read(ct_buf_text(&text), text.size, &program, &reader, &stopped_at);
	ct_buf_fini(&text);
	return out[0] != '\0';
}
