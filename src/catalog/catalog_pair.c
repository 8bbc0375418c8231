/*
 * catalog_pair.c - pairs the entries and exits of a component.
 *
 * Called by catalog_load.c once all events of a component are read and sorted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_load.h"

#include <string.h>

static struct ct_event_draft *draft_find(struct ct_event_draft *drafts, uint32_t count,
					 uint32_t event_id)
{
	uint32_t low = 0;

	while (count > 0) {
		uint32_t half = count / 2;

		if (drafts[low + half].type.event_id == event_id)
			return &drafts[low + half];
		if (drafts[low + half].type.event_id < event_id) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return NULL;
}

static void draft_diagnose(struct ct_load *load, struct ct_event_draft *draft,
			   const struct ct_yaml *node, const char *what, const char *expected)
{
	ct_load_diagnose_word(load, node, what, expected);
	draft->is_bad = true;
}

/* ---- exit: ID */

static void draft_pair(struct ct_load *load, struct ct_event_draft *entry,
		       struct ct_event_draft *exit)
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

/* ---- match: ARGUMENT */

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

static void draft_match_own(struct ct_load *load, struct ct_event_draft *draft)
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
	else if (draft->type.pairing == CT_PAIR_NONE && draft->exit == NULL)
		draft_diagnose(load, draft, draft->match,
			       "matches nothing: this event is no entry, and no exit",
			       "exit: ID beside it, or no match");
}

/* An exit without `match` must have an argument of the same name as its entry's. */
static void draft_match_other(struct ct_load *load, struct ct_event_draft *entry,
			      struct ct_event_draft *exit)
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

void ct_load_pairs(struct ct_load *load, struct ct_event_draft *drafts, uint32_t count)
{
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
}
