/*
 * catalog_load.c - reads the text of a catalogue into components and their events, and pairs
 * entries with their exits.
 *
 * Called by catalog.c, on the thread that reads catalogues, once per file.  Time and memory are
 * bounded for any text: catalog_yaml.c bounds the tree, and a budget bounds the expansion of
 * aliases.  All errors are noted; the caller discards the result of a text with errors.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_load.h"

#include <ctrace/emitter.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

/* An event in construction, with its references to other events. */
struct event_draft {
	struct ct_event_type type;
	const struct ct_yaml *id;       /* its key */
	const struct ct_yaml *mnemonic; /* NULL: no valid one */
	const struct ct_yaml *exit;     /* NULL: unspecified */
	const struct ct_yaml *match;    /* likewise */
	const struct ct_yaml *until;
	const struct ct_yaml *span;
	uint32_t exit_id;
	bool has_id;
	bool is_bad;
};

enum {
	EVENT_MNEMONIC,
	EVENT_DESCRIPTION,
	EVENT_SEVERITY,
	EVENT_EXCEPTION,
	EVENT_EXIT,
	EVENT_MATCH,
	EVENT_UNTIL,
	EVENT_SPAN,
	EVENT_ARGUMENTS,
	EVENT_KEYS
};
static const char *const event_names[EVENT_KEYS] = { "mnemonic",  "description", "severity",
						     "exception", "exit",        "match",
						     "until",     "span",        "arguments" };
static const struct ct_load_keys event_keys = {
	event_names, EVENT_KEYS, "an event",
	"mnemonic, description, severity, exception, exit, match, until, span or arguments"
};
static const struct ct_load_letters mnemonic_letters = { CT_MNEMONIC_SIZE - 1, "_-.", false,
							 "1 to 31 letters, digits, _, - and dots" };

static void event_load_severity(struct ct_load *load, const struct ct_yaml *node,
				struct ct_event_type *type)
{
	static const char *const words[CTRACE_LEVEL_COUNT] = { "debug", "info", "warn", "error",
							       "fatal" };
	uint32_t index;

	if (ct_load_word(load, node, words, CT_COUNT(words), "debug, info, warn, error or fatal",
			 &index))
		type->severity = index;
}

static void event_load_mnemonic(struct ct_load *load, const struct ct_yaml *node,
				struct event_draft *draft)
{
	const char *name;

	if (node == NULL || ct_load_is_nothing(node)) {
		ct_load_diagnose_word(load, draft->id, "is an event without a mnemonic",
				      "mnemonic: NAME");
		return;
	}
	name = ct_load_name(load, node, &mnemonic_letters);
	if (name == NULL)
		return;
	draft->type.mnemonic = name;
	draft->mnemonic = node;
}

static void event_load_map(struct ct_load *load, const struct ct_yaml *node,
			   struct event_draft *draft)
{
	const struct ct_yaml *values[EVENT_KEYS];
	const char *description;

	if (!ct_load_map(load, node, &event_keys, values))
		return;
	event_load_mnemonic(load, values[EVENT_MNEMONIC], draft);
	description = ct_load_text(load, values[EVENT_DESCRIPTION]);
	if (description != NULL)
		draft->type.description = description;
	event_load_severity(load, values[EVENT_SEVERITY], &draft->type);
	(void)ct_load_flag(load, values[EVENT_EXCEPTION], &draft->type.is_exception);
	draft->exit = values[EVENT_EXIT];
	draft->match = values[EVENT_MATCH];
	draft->until = values[EVENT_UNTIL];
	draft->span = values[EVENT_SPAN];
	if (values[EVENT_ARGUMENTS] != NULL)
		ct_load_arguments(load, values[EVENT_ARGUMENTS], &draft->type);
	for (uint32_t i = 0; i < draft->type.argument_count; i++)
		if (draft->type.arguments[i].role != CT_ARGUMENT_ROLE_NONE)
			draft->type.roles[draft->type.arguments[i].role] = i + 1;
}

/* Reads an event: a mnemonic alone, or a map. */
static void event_load(struct ct_load *load, const struct ct_yaml *key, struct event_draft *draft)
{
	uint64_t before = load->diagnostics->total;

	draft->id = key;
	draft->type = (struct ct_event_type){
		.mnemonic = "", .description = "", .severity = CTRACE_LEVEL_NONE, .match = -1
	};
	draft->has_id = ct_load_id(load, key, &draft->type.event_id);
	if (ct_yaml_value(key->next)->kind == CT_YAML_SCALAR)
		event_load_mnemonic(load, key->next, draft);
	else
		event_load_map(load, key->next, draft);
	draft->is_bad = load->diagnostics->total != before;
}

static int draft_compare(const void *one, const void *other)
{
	const struct event_draft *a = one;
	const struct event_draft *b = other;

	return a->type.event_id < b->type.event_id ? -1 : a->type.event_id > b->type.event_id;
}

/* ---- entries and their exits ---- */

static struct event_draft *draft_find(struct event_draft *drafts, uint32_t count, uint32_t event_id)
{
	const struct event_draft key = { .type.event_id = event_id };

	return bsearch(&key, drafts, count, sizeof key, draft_compare);
}

static void draft_diagnose(struct ct_load *load, struct event_draft *draft,
			   const struct ct_yaml *node, const char *what, const char *expected)
{
	ct_load_diagnose_word(load, node, what, expected);
	draft->is_bad = true;
}

static void draft_pair(struct ct_load *load, struct event_draft *entry, struct event_draft *exit)
{
	if (exit == NULL)
		draft_diagnose(load, entry, entry->exit, "is no event of this component",
			       "the id of the event that ends what this one begins");
	else if (exit == entry)
		draft_diagnose(load, entry, entry->exit, "is this event itself",
			       "the id of another event");
	else if (exit->exit != NULL)
		draft_diagnose(load, entry, entry->exit, "is an entry, with an exit of its own",
			       "the id of an event that has no exit");
	else if (exit->until != NULL)
		draft_diagnose(load, entry, entry->exit, "begins a span itself, with its until",
			       "the id of an event that begins no span");
	else if (exit->type.pairing == CT_PAIR_EXIT)
		draft_diagnose(load, entry, entry->exit, "is another entry's exit already",
			       "an exit for each entry");
	else {
		entry->type.pairing = CT_PAIR_ENTRY;
		entry->type.pair_id = exit->type.event_id;
		exit->type.pairing = CT_PAIR_EXIT;
		exit->type.pair_id = entry->type.event_id;
	}
}

static int32_t type_find_argument(const struct ct_event_type *type, const struct ct_yaml *name)
{
	const struct ct_yaml *word = ct_yaml_value(name);

	if (word->kind != CT_YAML_SCALAR)
		return -1;
	for (uint32_t i = 0; i < type->argument_count; i++)
		if (type->arguments[i].name != NULL &&
		    ct_name_is(word->text, word->count, type->arguments[i].name))
			return (int32_t)i;
	return -1;
}

static void draft_match_own(struct ct_load *load, struct event_draft *draft)
{
	if (ct_yaml_value(draft->match)->kind != CT_YAML_SCALAR) {
		ct_load_diagnose(load, draft->match, "this is no argument's name",
				 "the name of one of this event's arguments");
		draft->is_bad = true;
		return;
	}
	draft->type.match = type_find_argument(&draft->type, draft->match);
	if (draft->type.match < 0)
		draft_diagnose(load, draft, draft->match, "is no argument of this event",
			       "the name of one of this event's arguments");
	else if (draft->type.pairing == CT_PAIR_NONE && draft->exit == NULL && draft->until == NULL)
		draft_diagnose(load, draft, draft->match,
			       "matches nothing: this event is no entry, and no exit",
			       "exit: ID or until: ID beside it, or no match");
}

/* An exit without `match` must have an argument of the same name as its entry's. */
static void draft_match_other(struct ct_load *load, struct event_draft *entry,
			      struct event_draft *exit)
{
	if (entry->match == NULL && exit->match != NULL) {
		draft_diagnose(load, exit, exit->match, "matches nothing: the entry has no match",
			       "match: ARGUMENT at the entry too");
	} else if (entry->match != NULL && exit->match == NULL && entry->type.match >= 0) {
		exit->type.match = type_find_argument(&exit->type, entry->match);
		if (exit->type.match < 0)
			draft_diagnose(
				load, entry, entry->match, "is no argument of the exit",
				"an argument of that name there, or match: ARGUMENT at the exit too");
	}
}

/* ---- spans without an exit, and the names of spans ---- */

/* Returns the list's first value, or the value itself, and how many there are. */
static const struct ct_yaml *yaml_list(const struct ct_yaml *node, uint32_t *out_count)
{
	const struct ct_yaml *list = ct_yaml_value(node);

	*out_count = list->kind == CT_YAML_LIST ? list->count : 1;
	return list->kind == CT_YAML_LIST ? list->first : node;
}

static bool yaml_is_word(const struct ct_yaml *node, const char *word)
{
	const struct ct_yaml *value = ct_yaml_value(node);

	return value->kind == CT_YAML_SCALAR && ct_name_is(value->text, value->count, word);
}

struct drafts {
	struct event_draft *items; /* sorted by id */
	uint32_t count;
};

/* Without an argument of the name of the span's `match` the event ends every span. */
static void until_add(struct event_draft *draft, struct event_draft *end, struct ct_until *list)
{
	struct ct_until *until = &list[draft->type.until_count];

	for (uint32_t i = 0; i < draft->type.until_count; i++)
		if (list[i].event_id == end->type.event_id)
			return;
	*until = (struct ct_until){ .event_id = end->type.event_id, .match = -1 };
	if (end == draft)
		until->match = draft->type.match;
	else if (draft->match != NULL && draft->type.match >= 0)
		until->match = type_find_argument(&end->type, draft->match);
	end->type.is_until = true;
	draft->type.until = list;
	draft->type.until_count++;
}

static void until_add_id(struct ct_load *load, const struct drafts *drafts,
			 struct event_draft *draft, const struct ct_yaml *node,
			 struct ct_until *list)
{
	struct event_draft *end;
	uint32_t id;

	if (!ct_load_id(load, node, &id)) {
		draft->is_bad = true;
		return;
	}
	end = draft_find(drafts->items, drafts->count, id);
	if (end == NULL)
		draft_diagnose(load, draft, node, "is no event of this component",
			       "the id of an event that ends what this one begins, or next");
	else if (draft->exit != NULL && id == draft->exit_id)
		draft_diagnose(load, draft, node, "is the exit already",
			       "the ids of other events that end what this one begins");
	else
		until_add(draft, end, list);
}

/* Reports keys that do not go together. */
static bool draft_check_until(struct ct_load *load, struct event_draft *draft)
{
	if (draft->type.pairing == CT_PAIR_EXIT)
		ct_load_diagnose(load, draft->until, "this event is an exit and begins no span",
				 "no until here");
	else if (draft->exit != NULL && draft->match != NULL)
		ct_load_diagnose(load, draft->until,
				 "a span that match pairs with its exit may end on any thread",
				 "exit and match, or until");
	else
		return true;
	draft->is_bad = true;
	return false;
}

/* An event without an exit ends the span that the event of its own kind began before it. */
static void draft_until(struct ct_load *load, const struct drafts *drafts,
			struct event_draft *draft)
{
	uint32_t count;
	const struct ct_yaml *item = yaml_list(draft->until, &count);
	struct ct_until *list;

	if (!draft_check_until(load, draft))
		return;
	if (count == 0 || count >= CT_UNTIL_LIMIT) {
		ct_load_diagnose(load, draft->until, "these are none, or too many events",
				 "next, or the ids of 1 to 15 events");
		draft->is_bad = true;
		return;
	}
	list = ct_load_keep(load, CT_UNTIL_LIMIT, sizeof *list);
	if (list == NULL)
		return;
	if (draft->exit == NULL) {
		draft->type.pairing = CT_PAIR_UNTIL;
		until_add(draft, draft, list);
	}
	for (uint32_t i = 0; i < count; i++, item = item->next)
		if (yaml_is_word(item, "next"))
			until_add(draft, draft, list);
		else
			until_add_id(load, drafts, draft, item, list);
}

static void draft_span(struct ct_load *load, struct event_draft *draft)
{
	struct ct_event_type *type = &draft->type;
	uint32_t count;
	const struct ct_yaml *item = yaml_list(draft->span, &count);

	if (type->pairing != CT_PAIR_ENTRY && type->pairing != CT_PAIR_UNTIL &&
	    type->roles[CT_ARGUMENT_ROLE_DURATION] == 0) {
		ct_load_diagnose(
			load, draft->span, "this event begins no span and has no duration",
			"exit: ID or until: ID beside it, or an argument with role: duration");
		draft->is_bad = true;
		return;
	}
	if (count == 0 || count > CT_SPAN_NAME_LIMIT) {
		ct_load_diagnose(load, draft->span, "these are none, or too many arguments",
				 "the names of 1 to 4 arguments");
		draft->is_bad = true;
		return;
	}
	for (uint32_t i = 0; i < count; i++, item = item->next) {
		int32_t index = type_find_argument(type, item);

		if (index < 0)
			draft_diagnose(load, draft, item, "is no argument of this event",
				       "the name of one of this event's arguments");
		else
			type->span_names[type->span_name_count++] = (uint32_t)index;
	}
}

/* drafts: sorted by id */
static void drafts_pair(struct ct_load *load, struct event_draft *drafts, uint32_t count)
{
	const struct drafts all = { drafts, count };

	for (uint32_t i = 0; i < count; i++)
		if (drafts[i].exit != NULL && ct_load_id(load, drafts[i].exit, &drafts[i].exit_id))
			draft_pair(load, &drafts[i], draft_find(drafts, count, drafts[i].exit_id));
		else if (drafts[i].exit != NULL)
			drafts[i].is_bad = true;
	for (uint32_t i = 0; i < count; i++)
		if (drafts[i].match != NULL)
			draft_match_own(load, &drafts[i]);
	for (uint32_t i = 0; i < count; i++)
		if (drafts[i].type.pairing == CT_PAIR_ENTRY)
			draft_match_other(load, &drafts[i],
					  draft_find(drafts, count, drafts[i].type.pair_id));
	for (uint32_t i = 0; i < count; i++)
		if (drafts[i].until != NULL)
			draft_until(load, &all, &drafts[i]);
	for (uint32_t i = 0; i < count; i++)
		if (drafts[i].span != NULL)
			draft_span(load, &drafts[i]);
}

/* ---- the events of a component ---- */

/* Gathers the drafts that have a mnemonic.  Returns their number. */
static uint32_t drafts_gather_mnemonics(struct ct_load_entry *entries, struct event_draft *drafts,
					uint32_t count)
{
	uint32_t named = 0;

	for (uint32_t i = 0; i < count; i++)
		if (drafts[i].mnemonic != NULL)
			entries[named++] = (struct ct_load_entry){ .name = drafts[i].type.mnemonic,
								   .node = drafts[i].mnemonic,
								   .is_bad = &drafts[i].is_bad };
	return named;
}

static uint32_t drafts_gather_ids(struct ct_load_entry *entries, struct event_draft *drafts,
				  uint32_t count)
{
	uint32_t numbered = 0;

	for (uint32_t i = 0; i < count; i++)
		if (drafts[i].has_id)
			entries[numbered++] =
				(struct ct_load_entry){ .value = drafts[i].type.event_id,
							.node = drafts[i].id,
							.is_bad = &drafts[i].is_bad };
	return numbered;
}

static void events_check_unique(struct ct_load *load, struct event_draft *drafts, uint32_t count)
{
	struct ct_load_entry *entries = ct_load_entries(load, count);

	if (entries == NULL)
		return;
	ct_load_unique(load, drafts_gather_ids(entries, drafts, count), "is the id",
		       "an id of its own for each event");
	ct_load_unique(load, drafts_gather_mnemonics(entries, drafts, count), "is the mnemonic",
		       "a mnemonic of its own for each event");
}

static void events_keep(struct ct_load *load, struct event_draft *drafts, uint32_t count,
			struct ct_catalog_component *component)
{
	struct ct_event_type *events = ct_load_keep(load, count, sizeof *events);

	if (events == NULL)
		return;
	for (uint32_t i = 0; i < count; i++) {
		events[i] = drafts[i].type;
		component->has_exception |= events[i].is_exception;
		component->has_until |= ct_event_type_is_inferred(&events[i]);
		for (uint32_t j = 0; j < events[i].argument_count; j++) {
			component->has_asid |= events[i].arguments[j].is_asid;
			component->has_jobname |= events[i].arguments[j].is_jobname;
		}
	}
	component->events = events;
	component->event_count = count;
}

static void events_load(struct ct_load *load, const struct ct_yaml *node,
			struct ct_catalog_component *component, struct ct_catalog_result *result)
{
	const struct ct_yaml *map = ct_yaml_value(node);
	struct event_draft *drafts;
	uint32_t count = 0;

	if (ct_load_is_nothing(node))
		return;
	if (map->kind != CT_YAML_MAP) {
		ct_load_diagnose(load, node, "events are keys and values",
				 "\"ID:\" for each event, and the keys of the event under it");
		return;
	}
	if (map->count == 0 || !ct_load_charge(load, node, map->count))
		return;
	drafts = ct_arena_take(&load->nodes, map->count / 2 * sizeof *drafts);
	if (drafts == NULL) {
		load->status = CTRACE_NOT_ENOUGH_MEMORY;
		return;
	}
	for (const struct ct_yaml *key = map->first; key != NULL && load->status == CTRACE_OK;
	     key = key->next->next)
		event_load(load, key, &drafts[count++]);
	if (load->status != CTRACE_OK)
		return;
	qsort(drafts, count, sizeof *drafts, draft_compare);
	events_check_unique(load, drafts, count);
	drafts_pair(load, drafts, count);
	events_keep(load, drafts, count, component);
	result->event_count += count;
	for (uint32_t i = 0; i < count; i++)
		result->good_count += !drafts[i].is_bad;
}

/* ---- components ---- */

enum {
	TOP_COMPONENT,
	TOP_DESCRIPTION,
	TOP_ENCODING,
	TOP_DIALECT,
	TOP_ODOSLIDE,
	TOP_FORMATTER,
	TOP_FILTER,
	TOP_COPYBOOKS,
	TOP_RECORDS,
	TOP_EVENTS,
	TOP_KEYS
};
static const char *const top_names[TOP_KEYS] = { "component", "description", "encoding",
						 "dialect",   "odoslide",    "formatter",
						 "filter",    "copybooks",   "records",
						 "events" };
static const struct ct_load_keys top_keys = {
	top_names, TOP_KEYS, "a catalogue",
	"component, description, encoding, dialect, odoslide, formatter, filter, copybooks, records or events"
};
static const struct ct_load_letters component_letters = {
	CTRACE_MAX_COMPONENT, NULL, false, "1 to 255 printable bytes without blanks"
};
static const struct ct_load_letters module_letters = {
	CTRACE_MAX_EMITTER, "_-@#$", false,
	"the name of a shared object without its .so: 1 to 31 letters, digits, _, -, @, # and $"
};

static void component_load_directories(struct ct_load *load, const struct ct_yaml *node)
{
	enum { MOST = 16 };
	const struct ct_yaml *list = ct_yaml_value(node);
	const struct ct_yaml *item = list->kind == CT_YAML_LIST ? list->first : node;
	uint32_t count = list->kind == CT_YAML_LIST ? list->count : 1;
	const char **directories;

	if (count > MOST) {
		ct_load_diagnose(load, node, "there are too many directories", "at most 16");
		return;
	}
	if (count == 0 || ct_load_is_nothing(node))
		return;
	directories = ct_load_keep(load, count, sizeof(const char *));
	if (directories == NULL)
		return;
	for (uint32_t i = 0; i < count; i++, item = item->next) {
		const char *directory = ct_load_text(load, item);

		if (directory != NULL && directory[0] != '\0' && strchr(directory, ':') == NULL)
			directories[load->directory_count++] = directory;
		else if (directory != NULL)
			ct_load_diagnose_word(load, item, "is no directory's name",
					      "a directory, without a colon in its name");
	}
	load->directories = directories;
}

static void component_load_name(struct ct_load *load, const struct ct_yaml *node,
				const struct ct_yaml *document,
				struct ct_catalog_component *component)
{
	const char *name;

	if (node == NULL) {
		ct_load_diagnose(load, document, "the component is not named", "component: NAME");
		return;
	}
	name = ct_load_name(load, node, &component_letters);
	if (name == NULL)
		return;
	component->name = name;
	load->names[load->name_count++] = node;
}

static void component_load_head(struct ct_load *load, const struct ct_yaml *const *values,
				struct ct_catalog_component *component)
{
	const char *description = ct_load_text(load, values[TOP_DESCRIPTION]);

	if (description != NULL)
		component->description = description;
	load->form = (struct ct_record_form){ CT_ENCODING_ASCII, CT_DIALECT_DEFAULT, false };
	load->directories = NULL;
	load->directory_count = 0;
	(void)ct_load_encoding(load, values[TOP_ENCODING], &load->form.encoding);
	(void)ct_load_dialect(load, values[TOP_DIALECT], &load->form.dialect);
	(void)ct_load_flag(load, values[TOP_ODOSLIDE], &load->form.is_sliding);
	component->formatter = ct_load_name(load, values[TOP_FORMATTER], &module_letters);
	component->filter = ct_load_name(load, values[TOP_FILTER], &module_letters);
	if (values[TOP_COPYBOOKS] != NULL)
		component_load_directories(load, values[TOP_COPYBOOKS]);
}

static void component_load(struct ct_load *load, const struct ct_yaml *document,
			   struct ct_catalog_result *result)
{
	struct ct_catalog_file *file = load->file;
	struct ct_catalog_component *component = &file->components[file->component_count];
	const struct ct_yaml *values[TOP_KEYS];

	if (!ct_load_map(load, document, &top_keys, values))
		return;
	*component =
		(struct ct_catalog_component){ .name = "", .description = "", .path = file->path };
	component_load_name(load, values[TOP_COMPONENT], document, component);
	file->component_count++;
	component_load_head(load, values, component);
	if (values[TOP_RECORDS] != NULL)
		ct_load_choices(load, values[TOP_RECORDS], component);
	component->has_events = values[TOP_EVENTS] != NULL;
	if (values[TOP_EVENTS] != NULL)
		events_load(load, values[TOP_EVENTS], component, result);
}

static void names_check(struct ct_load *load)
{
	struct ct_load_entry *entries = ct_load_entries(load, load->name_count);

	if (entries == NULL)
		return;
	for (uint32_t i = 0; i < load->name_count; i++)
		entries[i] = (struct ct_load_entry){ .name = ct_yaml_value(load->names[i])->text,
						     .node = load->names[i] };
	ct_load_unique(load, load->name_count, "is the name",
		       "a part of the file for each component");
}

/* Keeps the positions of the components' names. */
static void names_keep_places(struct ct_load *load)
{
	for (uint32_t i = 0; i < load->name_count; i++)
		load->file->places[i] = load->names[i]->place;
}

static void documents_load(struct ct_load *load, const struct ct_yaml *documents,
			   struct ct_catalog_result *result)
{
	uint32_t count = 0;

	for (const struct ct_yaml *document = documents; document != NULL;
	     document = document->next)
		count++;
	if (count == 0)
		return;
	load->file->components = ct_load_keep(load, count, sizeof *load->file->components);
	load->file->places = ct_load_keep(load, count, sizeof *load->file->places);
	load->names = ct_arena_take(&load->nodes, count * sizeof(const struct ct_yaml *));
	if (load->names == NULL)
		load->status = CTRACE_NOT_ENOUGH_MEMORY;
	for (const struct ct_yaml *document = documents;
	     document != NULL && load->status == CTRACE_OK; document = document->next)
		if (!ct_load_is_nothing(document))
			component_load(load, document, result);
	if (load->status != CTRACE_OK || load->name_count == 0)
		return;
	names_check(load);
	names_keep_places(load);
}

static void diagnose_document(struct ct_load *load, const char *what, const char *expected)
{
	struct ct_diagnostic diagnostic = { 0 };

	ct_diagnostic_set(&diagnostic, &(struct ct_finding){ .what = what, .expected = expected });
	ct_catalog_diagnostics_add_text(load->diagnostics, NULL, NULL, &diagnostic);
}

static void diagnose_yaml(struct ct_load *load, const struct ct_yaml_error *error)
{
	ct_catalog_diagnostics_add(load->diagnostics, &error->place,
				   &(struct ct_catalog_diagnostic){ .what = error->message,
								    .expected = error->expected });
}

enum ctrace_status ct_catalog_load(struct ct_catalog_file *file, const char *text, size_t size,
				   struct ct_catalog_budget *budget,
				   struct ct_catalog_diagnostics *diagnostics,
				   struct ct_catalog_result *out_result)
{
	struct ct_load load = {
		.file = file, .diagnostics = diagnostics, .budget = budget, .status = CTRACE_OK
	};
	struct ct_yaml *documents = NULL;
	struct ct_yaml_error error;
	enum ctrace_status status;

	*out_result = (struct ct_catalog_result){ 0 };
	status = ct_yaml_parse(text, size, &file->arena, &load.nodes, &documents, &error);
	if (status != CTRACE_NOT_ENOUGH_MEMORY) {
		documents_load(&load, documents, out_result);
		if (status == CTRACE_DAMAGED)
			diagnose_yaml(&load, &error);
		else if (file->component_count == 0 && diagnostics->total == 0)
			diagnose_document(&load, "there is no component in this file",
					  "component: NAME");
	} else {
		load.status = status;
	}
	ct_arena_fini(&load.nodes);
	free(load.entries);
	return load.status == CTRACE_NOT_ENOUGH_MEMORY ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}
