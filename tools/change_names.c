/*
 * change_names.c - the components of running processes: who has one, and which was probably meant.
 *
 * Reads the session files that the processes keep, without disturbing them.  A process that has just ended has no components.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "change.h"

#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "session/session.h"

#define MOST_NAMES 65536u /* that a suggestion is looked for among */

bool ct_change_is_glob(const char *subject)
{
	return strpbrk(subject, "*?") != NULL;
}

void ct_change_check_component(const char *name, struct argp_state *state)
{
	if (name[0] != '\0' && !ct_change_is_glob(name) && ct_component_check_name(name, strlen(name)) != CTRACE_OK)
		argp_error(state, "\"%s\" is not a component; expected a dotted name of 1 to 255 bytes, or a pattern with * and ?",
			   name);
}

/* Each component that the program has registered, in no order. */
typedef void name_sink(struct ct_span name, void *user);

static void each_name(const struct ct_peer *peer, name_sink *each, void *user)
{
	struct ct_session session;

	if (ct_session_load(&session, peer->run_directory, peer->folder, false) != CTRACE_OK)
		return;
	for (uint32_t i = 0; i < session.head->component_count; i++) {
		struct ct_span name;

		name.at = ct_session_text(&session, session.components[i].name, &name.size);
		if (name.size != 0 && (session.components[i].flags & CT_COMPONENT_KNOWN) != 0)
			each(name, user);
	}
	ct_session_close(&session, false);
}

/* ---- who has it ---- */

static bool is_below(struct ct_span name, const char *subject)
{
	size_t size = strlen(subject);

	return name.size > size && name.at[size] == '.' && ct_name_equal(name.at, size, subject, size);
}

static bool is_meant(struct ct_span name, const char *subject)
{
	if (ct_change_is_glob(subject))
		return ct_glob_match(subject, strlen(subject), name.at, name.size);
	return ct_name_is(name.at, name.size, subject) || is_below(name, subject);
}

struct having {
	const char *subject;
	bool has;
};

static void look_for(struct ct_span name, void *user)
{
	struct having *having = user;

	having->has = having->has || is_meant(name, having->subject);
}

bool ct_change_has(const struct ct_peer *peer, const char *subject)
{
	struct having having = { .subject = subject };

	each_name(peer, look_for, &having);
	return having.has;
}

/* ---- what was probably meant ---- */

struct names {
	char **items;
	size_t count;
};

static void gather_name(struct ct_span name, void *user)
{
	struct names *names = user;
	char *copy;

	if (names->count == MOST_NAMES)
		return;
	copy = strndup(name.at, name.size);
	if (copy != NULL)
		names->items[names->count++] = copy;
}

void ct_change_complain_nobody(const struct change *change)
{
	struct ct_span subject = { change->subject, strlen(change->subject) };
	bool is_glob = ct_change_is_glob(change->subject);
	struct names names = { .items = calloc(MOST_NAMES, sizeof(char *)) };
	const char *nearest = NULL;

	if (names.items != NULL && !is_glob) {
		for (size_t i = 0; i < change->peers.count; i++)
			each_name(&change->peers.items[i], gather_name, &names);
		nearest = ct_suggest(subject, (const char *const *)names.items, names.count);
	}
	fprintf(stderr, "%s: no running process has %s \"", change->target.verb, is_glob ? "a component like" : "the component");
	ct_tool_print(stderr, subject.at, subject.size);
	fputc('"', stderr);
	if (nearest != NULL) {
		fputs("; did you mean \"", stderr);
		ct_tool_print(stderr, nearest, strlen(nearest));
		fputs("\"?", stderr);
	} else if (change->hint != NULL) {
		fprintf(stderr, "; %s", change->hint);
	}
	fputc('\n', stderr);
	for (size_t i = 0; i < names.count; i++)
		free(names.items[i]);
	free(names.items);
}
