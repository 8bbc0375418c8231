/*
 * config_note.c - values of emitter properties that are allowed and yet not what somebody wants.
 *
 * Called by cmd_config.c for each property that is set.  A property takes any text: a number that is none counts as 0, a variable that
 * is unknown stays as it is, and a path of Windows is the name of a folder.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "config_note.h"

#include <stdio.h>
#include <string.h>

#include "emit/emit.h"

static bool is_number(struct ct_span value)
{
	bool is_hex = value.size > 2 && value.at[0] == '0' && (value.at[1] | 0x20) == 'x';
	size_t i = is_hex ? 2 : value.size > 1 && (value.at[0] == '-' || value.at[0] == '+');

	for (size_t start = i; i < value.size || i == start; i++) {
		char c = i < value.size ? value.at[i] : '\0';

		if (!(c >= '0' && c <= '9') && !(is_hex && (c | 0x20) >= 'a' && (c | 0x20) <= 'f'))
			return false;
	}
	return true;
}

static bool is_switch(struct ct_span value)
{
	static const char *const words[] = { "on", "yes", "y", "true", "enabled", "off", "no", "n", "false", "disabled" };

	for (size_t i = 0; i < CT_COUNT(words); i++)
		if (ct_name_is(value.at, value.size, words[i]))
			return true;
	return is_number(value);
}

static bool is_named(const struct ctrace_property *property, const char *name)
{
	return ct_name_is(name, strlen(name), property->name);
}

/* $(NAME) of a list; `what` is where it would stand as it is. */
static void note_variables(struct ct_span value, const char *const *names, size_t count, const char *what, config_note *note,
			   void *user)
{
	const char *end = value.at + value.size;
	char sentence[120];

	for (const char *at = value.at; at + 1 < end; at++) {
		const char *close = at[0] == '$' && at[1] == '(' ? memchr(at, ')', (size_t)(end - at)) : NULL;
		struct ct_span name;
		bool is_known = false;

		if (close == NULL)
			continue;
		name = ct_span_of(at + 2, close);
		for (size_t i = 0; i < count; i++)
			is_known |= ct_name_is(name.at, name.size, names[i]);
		(void)snprintf(sentence, sizeof sentence, "there is no such variable, it stays in %s", what);
		if (!is_known)
			note(at, sentence, ct_suggest(name, names, count), user);
	}
}

static void note_path(struct ct_span value, config_note *note, void *user)
{
	if ((value.size > 1 && value.at[1] == ':') || memchr(value.at, '\\', value.size) != NULL)
		note(value.at, "this is a path of Windows; here it is the name of one folder or file", NULL, user);
}

void config_note_value(const struct ctrace_property *property, struct ct_span value, config_note *note, void *user)
{
	static const char *const in_lines[] = { "COMPONENT", "DATA", "DATE",    "EVENT", "LEVEL",
						"THREAD",    "TIME", "PROCESS", "PID",   "APPNAME" };
	static const char *const in_names[] = { "APPNAME", "EMITTER", "PID", "GEN", "PLATFORM" };
	enum ct_encoding encoding;
	uint32_t level;

	if (is_named(property, "LEVEL")) {
		if (!is_number(value) && !ct_level_parse(value.at, value.size, &level))
			note(value.at, "this is no level, it counts as 0 (debug)", NULL, user);
	} else if (property->kind == CTRACE_PROPERTY_NUMBER && !is_number(value)) {
		note(value.at, "this is no number (decimal, or hexadecimal behind 0x), it counts as 0", NULL, user);
	} else if (property->kind == CTRACE_PROPERTY_SWITCH && !is_switch(value)) {
		note(value.at, "this is no switch (on or off, yes or no, true or false), it counts as off", NULL, user);
	} else if (is_named(property, "FORMAT")) {
		note_variables(value, in_lines, CT_COUNT(in_lines), "the line", note, user);
	} else if (is_named(property, "FILE")) {
		note_variables(value, in_names, CT_COUNT(in_names), "the name", note, user);
		note_path(value, note, user);
	} else if (is_named(property, "LOCATION")) {
		note_path(value, note, user);
	} else if (is_named(property, "ENCODING") && !ct_encoding_parse(value.at, value.size, &encoding)) {
		note(value.at, "this is no encoding that is known, texts stay as they are", NULL, user);
	}
}
