/*
 * component_names.c - the components that running processes have.
 *
 * Reads the session files that the processes keep, without disturbing them.  Processes of another
 * user have reported their components.  A process that has just ended has none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/component_names.h"

#include <stdlib.h>
#include <string.h>

#include "session/session.h"

#define MOST_NAMES 65536u

bool ct_is_pattern(const char *text)
{
	return strpbrk(text, "*?") != NULL;
}

/* Called for each component that the program has registered, in no order, until it returns
 * false. */
typedef bool name_sink(struct ct_span name, void *user);

/* The components that the process has reported. */
static void answer_each_name(const struct ct_buf *answer, name_sink *each, void *user)
{
	struct ct_message message;
	bool goes_on = true;
	size_t size;

	for (size_t at = 0; goes_on && ct_message_parse(answer->data + at, answer->size - at,
							&message, &size) == CTRACE_OK;
	     at += size) {
		enum ct_field field;
		struct ct_span name;

		while (goes_on && ct_message_next(&message.fields, &field, &name))
			if (field == CT_FIELD_COMPONENT)
				goes_on = each(name, user);
	}
}

static void process_each_name(const struct ct_peer *peer, name_sink *each, void *user)
{
	struct ct_session session;
	bool goes_on = true;

	answer_each_name(&peer->known, each, user);
	if (ct_session_load(&session, peer->run_directory, peer->directory, false) != CTRACE_OK)
		return;
	for (uint32_t i = 0; goes_on && i < session.head->component_count; i++) {
		struct ct_span name;

		name.at = ct_session_text(&session, session.components[i].name, &name.size);
		if (name.size != 0 && (session.components[i].flags & CT_COMPONENT_KNOWN) != 0)
			goes_on = each(name, user);
	}
	ct_session_close(&session, false);
}

/* ---- who has it ---- */

struct search {
	const char *subject;
	bool has;
};

static bool name_look_for(struct ct_span name, void *user)
{
	struct search *search = user;
	size_t size = strlen(search->subject);

	if (ct_is_pattern(search->subject))
		search->has = ct_glob_match(search->subject, size, name.at, name.size);
	else
		search->has = name.size >= size &&
			      ct_name_equal(name.at, size, search->subject, size) &&
			      (name.size == size || name.at[size] == '.');
	return !search->has;
}

bool ct_component_is_of(const struct ct_peer *peer, const char *subject)
{
	struct search search = { .subject = subject };

	/* Its components are not known.  It is asked, and reported if it still does not answer. */
	if (peer->status != CTRACE_OK)
		return true;
	process_each_name(peer, name_look_for, &search);
	return search.has;
}

/* ---- all of them ---- */

struct gathering {
	struct component_names *names;
	const char *pattern;
};

static bool name_gather(struct ct_span name, void *user)
{
	const struct gathering *gathering = user;
	struct component_names *names = gathering->names;
	const char *pattern = gathering->pattern;

	if (memchr(name.at, '\0', name.size) != NULL ||
	    (pattern != NULL &&
	     !ct_glob_match_levels(pattern, strlen(pattern), name.at, name.size)))
		return true;
	names->is_cut = names->count == MOST_NAMES;
	if (names->is_cut)
		return false;
	names->items[names->count] = strndup(name.at, name.size);
	names->failed = names->items[names->count] == NULL;
	names->count += !names->failed;
	return !names->failed;
}

static int name_compare(const void *a, const void *b)
{
	return strcasecmp(*(char *const *)a, *(char *const *)b);
}

static void names_sort_and_unite(struct component_names *names)
{
	size_t kept = 0;

	if (names->count != 0)
		qsort(names->items, names->count, sizeof *names->items, name_compare);
	for (size_t i = 0; i < names->count; i++) {
		if (kept != 0 && strcasecmp(names->items[kept - 1], names->items[i]) == 0)
			free(names->items[i]);
		else
			names->items[kept++] = names->items[i];
	}
	names->count = kept;
}

void ct_component_names_get(const struct ct_peers *peers, const char *pattern,
			    struct component_names *out)
{
	struct gathering gathering = { .names = out, .pattern = pattern };

	*out = (struct component_names){ .items = calloc(MOST_NAMES, sizeof *out->items) };
	out->failed = out->items == NULL;
	for (size_t i = 0; i < peers->count && !out->failed; i++) {
		process_each_name(&peers->items[i], name_gather, &gathering);
		/* the next process may have the same names */
		names_sort_and_unite(out);
	}
}

void ct_component_names_fini(struct component_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}
