/*
 * tally_name.c - under which name an event is counted: that of its span, or an item of it.
 *
 * Called by tally.c for every event, on one thread.  What is to be done is found out once for each
 * type of events.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/tally.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct ct_tally_way {
	enum { WAY_UNKNOWN, WAY_NONE, WAY_SPAN, WAY_ITEM } way;
	uint32_t argument;
};

/* Returns the index of the argument; argument_count when there is none. */
static uint32_t type_find_argument(const struct ct_event_type *type, const char *name)
{
	uint32_t index = 0;

	while (index < type->argument_count && strcasecmp(type->arguments[index].name, name) != 0)
		index++;
	return index;
}

static bool type_has_role(const struct ct_event_type *type)
{
	for (unsigned role = 0; role < CT_ARGUMENT_ROLE_COUNT; role++)
		if (type->roles[role] != 0)
			return true;
	return false;
}

/* Does the type begin spans that the argument names? */
static bool type_names_spans(const struct ct_event_type *type, const char *by)
{
	return (type->pairing == CT_PAIR_ENTRY || type->pairing == CT_PAIR_UNTIL) &&
	       type->span_name_count > 0 &&
	       strcasecmp(type->arguments[type->span_names[0]].name, by) == 0;
}

static struct ct_tally_way way_find(const struct ct_read_event *event, const char *by)
{
	const struct ct_event_type *type = event->type;
	const struct ct_catalog_component *component = event->component;
	bool has_spans = false, has_roles = false;
	uint32_t argument;

	if (by == NULL)
		return (struct ct_tally_way){ type->span_name_count > 0 ? WAY_SPAN : WAY_NONE, 0 };
	for (uint32_t i = 0; component != NULL && i < component->event_count; i++) {
		const struct ct_event_type *other = &component->events[i];

		has_spans |= type_names_spans(other, by);
		has_roles |= type_has_role(other) &&
			     type_find_argument(other, by) < other->argument_count;
	}
	if (type_names_spans(type, by))
		return (struct ct_tally_way){ WAY_SPAN, 0 };
	argument = type_find_argument(type, by);
	if (argument == type->argument_count || ((has_spans || has_roles) && !type_has_role(type)))
		return (struct ct_tally_way){ WAY_NONE, 0 };
	return (struct ct_tally_way){ WAY_ITEM, argument };
}

static bool ways_grow(struct ct_tally *tally, uint32_t count)
{
	uint32_t capacity = tally->way_capacity == 0 ? 64 : tally->way_capacity;
	struct ct_tally_way *ways;

	while (capacity < count)
		capacity *= 2;
	if (capacity == tally->way_capacity)
		return true;
	ways = reallocarray(tally->ways, capacity, sizeof *ways);
	if (ways == NULL)
		return false;
	memset(ways + tally->way_capacity, 0, (capacity - tally->way_capacity) * sizeof *ways);
	tally->ways = ways;
	tally->way_capacity = capacity;
	return true;
}

static struct ct_tally_way way_of(struct ct_tally *tally, const struct ct_read_event *event)
{
	bool is_new;
	uint32_t index =
		ct_distinct_find(&tally->types, &event->type, sizeof(const void *), &is_new);

	if (index == CT_DISTINCT_NONE || !ways_grow(tally, index + 1)) {
		tally->failed = true;
		return (struct ct_tally_way){ WAY_NONE, 0 };
	}
	if (tally->ways[index].way == WAY_UNKNOWN)
		tally->ways[index] = way_find(event, tally->by);
	return tally->ways[index];
}

/* The names of a span's arguments without the mnemonic, which is the row's own. */
static void name_of_span(struct ct_buf *out, const struct ct_read_event *of)
{
	if (of->type->pairing == CT_PAIR_NONE)
		(void)ct_item_name_add(out, of, of->type->span_names[0]);
	else
		(void)ct_span_name_add(out, of);
}

bool ct_tally_find_name(struct ct_tally *tally, const struct ct_read_event *event,
			struct ct_tally_subject *out_subject)
{
	bool is_exit =
		event->duration_ns != CT_NO_DURATION && !event->is_whole && !event->is_inferred;
	const struct ct_read_event *of = is_exit && event->begun != NULL ? event->begun : event;
	struct ct_tally_way way;
	uint32_t argument;

	if (of->type == NULL)
		return false;
	way = way_of(tally, of);
	if (way.way == WAY_NONE || (way.way == WAY_ITEM && event->is_inferred) ||
	    (way.way == WAY_SPAN && event->duration_ns == CT_NO_DURATION))
		return false;
	ct_buf_clear(&tally->name);
	if (way.way == WAY_SPAN)
		name_of_span(&tally->name, of);
	else
		(void)ct_item_name_add(&tally->name, of, way.argument);
	argument = way.way == WAY_SPAN ? of->type->span_names[0] : way.argument;
	*out_subject = (struct ct_tally_subject){
		.of = of,
		.what = of->type->arguments[argument].name,
		.is_operation = way.way == WAY_ITEM || of->type->pairing == CT_PAIR_NONE,
	};
	tally->failed |= tally->name.failed;
	if (tally->name.size > 0)
		tally->name.size = strnlen(tally->name.data, tally->name.size);
	return tally->name.size > 0;
}

bool ct_tally_by_is_known(const struct ct_catalog *catalog, const char *by)
{
	const struct ct_catalog_component *component;

	for (size_t i = 0; catalog != NULL && (component = ct_catalog_at(catalog, i)) != NULL; i++)
		for (uint32_t j = 0; j < component->event_count; j++)
			if (type_find_argument(&component->events[j], by) <
			    component->events[j].argument_count)
				return true;
	return false;
}

void ct_tally_add_name(struct ct_buf *out, const struct ct_tally_row *row)
{
	if (row->is_operation && row->mnemonic != NULL)
		ct_buf_add_format(out, "%s ", row->mnemonic);
	ct_buf_add_text(out, row->name);
}
