/*
 * catalog_draft.c - a first catalogue of what traces hold.
 *
 * Called by ctrace catalog, on the tool's only thread.  A trace has ids, levels and types of items;
 * their names are the user's to give.  What is remembered is bounded: of more ids than EVENTS the
 * later ones are left out.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/catalog_draft.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "tools/traces/reading.h"

#define EVENTS 4096u
#define ITEMS 64u
#define NAME_SIZE 256u
#define OPEN_THREADS 256u

struct event {
	char component[NAME_SIZE];
	uint32_t id;
	uint64_t count;
	uint64_t levels[CTRACE_LEVEL_COUNT];
	uint32_t item_count;
	uint32_t types[ITEMS];
	/* The id of the same component that always came next on the thread, as long as it was
	 * the same. */
	uint32_t next;
	bool has_next, is_mixed;
};
struct draft {
	struct event *events;
	uint32_t count;
	struct {
		uint32_t pid, tid;
		struct event *last;
	} threads[OPEN_THREADS];
	bool is_full;
	uint32_t unnamed; /* components that no catalogue can name */
	uint32_t named;
};

static struct event *draft_event_of(struct draft *draft, const struct ct_read_event *event)
{
	const struct ctrace_event *traced = &event->traced;

	for (uint32_t i = 0; i < draft->count; i++)
		if (draft->events[i].id == traced->event_id &&
		    ct_name_is(traced->component, traced->component_size,
			       draft->events[i].component))
			return &draft->events[i];
	if (draft->count == EVENTS || traced->component_size >= NAME_SIZE) {
		draft->is_full = true;
		return NULL;
	}
	draft->events[draft->count] = (struct event){ .id = traced->event_id };
	memcpy(draft->events[draft->count].component, traced->component, traced->component_size);
	return &draft->events[draft->count++];
}

static void event_note_next(struct draft *draft, struct event *drafted,
			    const struct ct_read_event *event)
{
	size_t slot = (event->traced.tid * 31u + event->traced.pid) % OPEN_THREADS;
	struct event *last = draft->threads[slot].last;

	if (last != NULL && draft->threads[slot].pid == event->traced.pid &&
	    draft->threads[slot].tid == event->traced.tid) {
		last->is_mixed |= strcasecmp(last->component, drafted->component) != 0 ||
				  (last->has_next && last->next != drafted->id);
		last->next = drafted->id;
		last->has_next = true;
	}
	draft->threads[slot].pid = event->traced.pid;
	draft->threads[slot].tid = event->traced.tid;
	draft->threads[slot].last = drafted;
}

static void event_note(struct draft *draft, const struct ct_read_event *event)
{
	struct event *drafted = draft_event_of(draft, event);

	if (drafted == NULL)
		return;
	drafted->count++;
	if (event->traced.level < CTRACE_LEVEL_COUNT)
		drafted->levels[event->traced.level]++;
	for (uint32_t i = 0; i < event->traced.item_count && i < ITEMS; i++)
		drafted->types[i] = event->traced.items[i].type;
	if (drafted->item_count < event->traced.item_count)
		drafted->item_count =
			event->traced.item_count < ITEMS ? event->traced.item_count : ITEMS;
	event_note_next(draft, drafted, event);
}

static int event_compare(const void *a, const void *b)
{
	const struct event *one = a, *other = b;
	int names = strcasecmp(one->component, other->component);

	return names != 0 ? names : one->id < other->id ? -1 : one->id > other->id;
}

/* Catalogues refuse blanks, and YAML has no way to write bytes that are not UTF-8. */
static bool component_may_be_named(const char *component)
{
	size_t size = strlen(component);

	return size > 0 && strchr(component, ' ') == NULL && ct_escape_is_harmless(component, size);
}

/* In a text of YAML. */
static void add_quoted(struct ct_buf *out, const char *text)
{
	ct_buf_add_char(out, '"');
	ct_escape_add(out, text, strlen(text));
	ct_buf_add_char(out, '"');
}

static const struct event *draft_find_event(const struct draft *draft, const struct event *drafted,
					    uint32_t id)
{
	for (uint32_t i = 0; i < draft->count; i++)
		if (draft->events[i].id == id &&
		    strcasecmp(draft->events[i].component, drafted->component) == 0)
			return &draft->events[i];
	return NULL;
}

static void draft_add_event(struct ct_buf *out, const struct draft *draft,
			    const struct event *drafted)
{
	static const char *const levels[CTRACE_LEVEL_COUNT] = { "debug", "info", "warn", "error",
								"fatal" };
	static const char *const kinds[] = { "bytes: print or copybook",
					     "text",
					     "address",
					     "number",
					     "number",
					     "text",
					     "number",
					     "number" };
	const struct event *next = drafted->has_next && !drafted->is_mixed
					   ? draft_find_event(draft, drafted, drafted->next)
					   : NULL;
	unsigned level = 0;

	for (unsigned i = 1; i < CTRACE_LEVEL_COUNT; i++)
		if (drafted->levels[i] > drafted->levels[level])
			level = i;
	ct_buf_add_format(
		out,
		"  %u: # %" PRIu64
		" event%s\n    mnemonic: EVENT-%u\n    description: \"\"\n    severity: %s\n",
		drafted->id, drafted->count, drafted->count == 1 ? "" : "s", drafted->id,
		levels[level]);
	if (next != NULL && next != drafted && next->count == drafted->count && drafted->count > 1)
		ct_buf_add_format(
			out,
			"    # exit: %u      each one is followed by one of these on its thread\n",
			next->id);
	if (drafted->item_count > 0)
		ct_buf_add_text(out, "    arguments:\n");
	for (uint32_t i = 0; i < drafted->item_count; i++)
		ct_buf_add_format(
			out, "      - {name: data%u} # %s\n", i + 1,
			kinds[drafted->types[i] < CT_COUNT(kinds) ? drafted->types[i] : 0]);
}

static bool event_begins_component(const struct draft *draft, uint32_t i)
{
	return i == 0 ||
	       strcasecmp(draft->events[i].component, draft->events[i - 1].component) != 0;
}

static void draft_add_unnamed(struct ct_buf *out, struct draft *draft)
{
	for (uint32_t i = 0; i < draft->count; i++) {
		const char *component = draft->events[i].component;

		if (!event_begins_component(draft, i) || component_may_be_named(component))
			continue;
		draft->unnamed++;
		ct_buf_add_text(out, "# left out, for a catalogue cannot name it: ");
		add_quoted(out, component);
		ct_buf_add_char(out, '\n');
		fputs("ctrace catalog: the component \"", stderr);
		ct_tool_print(stderr, component, strlen(component));
		fputs("\" is left out: a catalogue names components in printable UTF-8 without blanks\n",
		      stderr);
	}
}

static void print_draft(struct ct_buf *out, struct draft *draft)
{
	qsort(draft->events, draft->count, sizeof *draft->events, event_compare);
	draft_add_unnamed(out, draft);
	for (uint32_t i = 0; i < draft->count; i++) {
		const struct event *drafted = &draft->events[i];

		if (!component_may_be_named(drafted->component))
			continue;
		if (event_begins_component(draft, i)) {
			ct_buf_add_text(out,
					draft->named++ == 0 ? "component: " : "---\ncomponent: ");
			add_quoted(out, drafted->component);
			ct_buf_add_text(out, "\nevents:\n");
		}
		draft_add_event(out, draft, drafted);
	}
	if (draft->named == 0)
		ct_buf_clear(out); /* a file without a component is no catalogue */
}

int catalog_draft(char **paths, size_t count, struct ct_buf *out)
{
	struct draft *draft = calloc(1, sizeof *draft);
	const struct ct_read_event *event;
	struct reading reading;
	uint64_t shown = 0;
	bool is_empty;
	int status;

	reading_init(&reading, "ctrace catalog");
	reading.has_environment = true; /* what is known already is not asked for */
	reading_paths(&reading, paths, count);
	if (draft != NULL)
		draft->events = calloc(EVENTS, sizeof *draft->events);
	if (draft != NULL && draft->events != NULL && reading_open(&reading))
		while ((event = ct_reader_next(reading.reader)) != NULL) {
			event_note(draft, event);
			shown++;
		}
	if (draft != NULL && draft->events != NULL)
		print_draft(out, draft);
	if (draft != NULL && draft->is_full)
		fprintf(stderr, "ctrace catalog: more than %u event ids: the others are left out\n",
			EVENTS);
	is_empty = draft != NULL && draft->unnamed > 0 && draft->named == 0;
	if (draft != NULL)
		free(draft->events);
	free(draft);
	status = reading_end(&reading, shown);
	return status == CMD_DONE && is_empty ? CMD_NOTHING : status;
}
