/*
 * transact_names.c - what traces there are in running processes: which ones a glob means, and which one was probably meant.
 *
 * Called for a TRACE CT with a glob, and when no process has the trace that was named; asks processes for nothing but names.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "transact.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 65536u /* of one process */
#define MOST_SUBS_SHOWN 8u

bool ct_is_glob(const char *text)
{
	return strpbrk(text, "*?") != NULL;
}

static size_t count_dots(const char *text)
{
	size_t dots = 0;

	for (; *text != '\0'; text++)
		dots += *text == '.';
	return dots;
}

bool ct_trace_name_fits(const char *glob, const char *name)
{
	/* With as many dots on both sides, those of the glob take all that the name has. */
	return count_dots(glob) == count_dots(name) && ct_glob_match(glob, strlen(glob), name, strlen(name));
}

/* ---- gathering ---- */

struct gathering {
	struct trace_names names;
	size_t capacity;
	const char *glob;
};

static bool add_name(struct gathering *gathering, struct ct_span name)
{
	char *copy;

	if (memchr(name.at, '\0', name.size) != NULL)
		return true;
	if (gathering->names.count == gathering->capacity) {
		size_t capacity = gathering->capacity != 0 ? gathering->capacity * 2 : 64;
		char **items = reallocarray(gathering->names.items, capacity, sizeof *items);

		if (items == NULL)
			return false;
		gathering->names.items = items;
		gathering->capacity = capacity;
	}
	copy = strndup(name.at, name.size);
	if (copy == NULL)
		return false;
	if (ct_trace_name_fits(gathering->glob, copy))
		gathering->names.items[gathering->names.count++] = copy;
	else
		free(copy);
	return true;
}

static bool add_answer(struct gathering *gathering, const struct ct_peer *peer)
{
	struct ct_message message;
	size_t at = 0;

	while (ct_client_next(peer, &at, &message)) {
		struct ct_span fields = message.fields;
		enum ct_field field;
		struct ct_span value;

		while (ct_message_next(&fields, &field, &value))
			if (field == CT_FIELD_COMPONENT && value.size != 0 && !add_name(gathering, value))
				return false;
	}
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcasecmp(*(char *const *)a, *(char *const *)b);
}

static void sort_and_unite(struct trace_names *names)
{
	size_t kept = 0;

	if (names->count != 0)
		qsort(names->items, names->count, sizeof *names->items, compare_names);
	for (size_t i = 0; i < names->count; i++) {
		if (kept != 0 && strcasecmp(names->items[kept - 1], names->items[i]) == 0)
			free(names->items[i]);
		else
			names->items[kept++] = names->items[i];
	}
	names->count = kept;
}

/* The number of fields is as DISPLAY TRACE's own request has it. */
static enum ctrace_status build_request(const char *glob, struct ct_buf *request)
{
	size_t start = ct_message_start(request, CT_VERB_DISPLAY, 0);

	ct_message_add_text(request, CT_FIELD_COMPONENT, glob);
	ct_message_add_number(request, CT_FIELD_DEPTH, 0);
	ct_message_add_number(request, CT_FIELD_NUMBER, MOST_NAMES);
	return ct_message_end(request, start);
}

bool ct_trace_names_get(const struct target *target, const char *glob, struct trace_names *out)
{
	struct gathering gathering = { .glob = glob };
	struct ct_peers peers = { 0 };
	struct ct_buf request;
	bool ok;

	ct_buf_init(&request);
	ok = build_request(glob, &request) == CTRACE_OK && ct_peers_find(&target->filter, &peers) != CTRACE_NOT_ENOUGH_MEMORY;
	if (ok && peers.count != 0)
		ct_client_ask(&peers, &request, target->timeout_ms);
	for (size_t i = 0; ok && i < peers.count; i++)
		ok = add_answer(&gathering, &peers.items[i]);
	gathering.names.peers = peers;
	ct_buf_fini(&request);
	sort_and_unite(&gathering.names);
	if (ok)
		*out = gathering.names;
	else
		ct_trace_names_fini(&gathering.names);
	return ok;
}

void ct_trace_names_fini(struct trace_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	ct_peers_fini(&names->peers);
}

/* ---- hints ---- */

/* Of the traces on the same level, the one that is spelt nearly so. */
static bool hint_nearest(const struct target *target, const char *name, struct ct_buf *out)
{
	char glob[2 * CTRACE_MAX_COMPONENT + 2];
	struct trace_names names;
	const char *nearest;
	size_t size = 0;

	for (size_t dots = count_dots(name) + 1; dots != 0 && size + 2 < sizeof glob; dots--) {
		glob[size++] = '*';
		glob[size++] = '.';
	}
	glob[size - 1] = '\0';
	if (!ct_trace_names_get(target, glob, &names))
		return true;
	nearest = ct_suggest((struct ct_span){ name, strlen(name) }, (const char *const *)names.items, names.count);
	if (nearest != NULL) {
		ct_buf_add_text(out, "; the nearest is ");
		ct_trace_print(nearest, "", out);
	}
	ct_trace_names_fini(&names);
	return nearest != NULL;
}

/* What the trace has below it, when there is such a trace. */
static void hint_subs(const struct target *target, const char *component, struct ct_buf *out)
{
	char glob[CTRACE_MAX_COMPONENT + 3];
	struct trace_names names;

	(void)snprintf(glob, sizeof glob, "%s.*", component);
	if (!ct_trace_names_get(target, glob, &names))
		return;
	for (size_t i = 0; i < names.count && i < MOST_SUBS_SHOWN; i++)
		ct_buf_add_format(out, "%s(%s)", i == 0 ? "; it has SUB=" : ", ", names.items[i] + strlen(component) + 1);
	if (names.count > MOST_SUBS_SHOWN)
		ct_buf_add_text(out, ", ...");
	ct_trace_names_fini(&names);
}

void ct_trace_names_hint(const struct target *target, const struct transaction *transaction, struct ct_buf *out)
{
	bool has_sub = transaction->sub[0] != '\0';
	char name[2 * CTRACE_MAX_COMPONENT + 2];

	(void)snprintf(name, sizeof name, "%s%s%s", transaction->component, has_sub ? "." : "", transaction->sub);
	if (!hint_nearest(target, name, out) && has_sub)
		hint_subs(target, transaction->component, out);
}
