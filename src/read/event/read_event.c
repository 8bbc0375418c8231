/*
 * read_event.c - the names of an event and its items, and its process.
 *
 * Called by the filter and the printers for any event; pure.  A name of the catalogue takes
 * precedence over the trace's own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/event/event.h"

#include <stdio.h>
#include <string.h>

const char *ct_read_event_mnemonic(const struct ct_read_event *event, char scratch[16])
{
	if (event->type != NULL)
		return event->type->mnemonic;
	if (event->names != NULL && event->names->mnemonic != NULL)
		return event->names->mnemonic;
	(void)snprintf(scratch, 16, "%u", event->traced.event_id);
	return scratch;
}

const char *ct_read_event_item_name(const struct ct_read_event *event, uint32_t index,
				    char scratch[16])
{
	if (event->type != NULL && index < event->type->argument_count)
		return event->type->arguments[index].name;
	if (event->names != NULL && event->names->items != NULL && index < event->names->item_count)
		return event->names->items[index];
	(void)snprintf(scratch, 16, "data%u", index + 1);
	return scratch;
}

static const struct ct_argument *event_choose_record(const struct ct_read_event *event,
						     const struct ct_argument *argument)
{
	const struct ct_argument *found = NULL;

	for (uint32_t i = 0; i < argument->chooser_count && found == NULL; i++) {
		uint32_t chooser = argument->choosers[i];
		const struct ctrace_event_item *item =
			chooser < event->traced.item_count ? &event->traced.items[chooser] : NULL;

		if (item != NULL && item->data != NULL)
			found = ct_catalog_record(event->component, item->data, item->size);
	}
	if (found == NULL)
		found = ct_catalog_record(event->component, "*", 1);
	return found != NULL ? found : argument;
}

const struct ct_argument *ct_read_event_argument(const struct ct_read_event *event, uint32_t index)
{
	const struct ct_argument *argument;

	if (event->type == NULL || index >= event->type->argument_count)
		return NULL;
	argument = &event->type->arguments[index];
	return argument->chooser_count == 0 || event->component == NULL ||
			       event->component->choice_count == 0
		       ? argument
		       : event_choose_record(event, argument);
}

/* Returns the item that the catalogue marks as the asid or the job name, or NULL. */
static const struct ctrace_event_item *event_marked_item(const struct ct_read_event *event,
							 bool wants_asid)
{
	const struct ct_event_type *type = event->type;

	for (uint32_t i = 0;
	     type != NULL && i < type->argument_count && i < event->traced.item_count; i++)
		if (wants_asid ? type->arguments[i].is_asid : type->arguments[i].is_jobname)
			return &event->traced.items[i];
	return NULL;
}

bool ct_read_event_follows_gap(const struct ct_read_event *event, uint64_t last_ns)
{
	const struct ct_source_process *process = event->source_process;

	for (uint32_t i = 0; process != NULL && i < process->left_out_count; i++)
		if (process->left_out_ns[i] > last_ns &&
		    process->left_out_ns[i] < event->traced.time_ns)
			return true;
	return event->is_after_loss;
}

uint32_t ct_read_event_asid(const struct ct_read_event *event)
{
	const struct ctrace_event_item *item = event_marked_item(event, true);

	return item != NULL ? (uint32_t)(item->value & 0xFFFF) : event->source_process->asid;
}

void ct_read_event_jobname(const struct ct_read_event *event, char out[17])
{
	const struct ctrace_event_item *item = event_marked_item(event, false);
	const char *text = item != NULL ? item->data : event->source_process->jobname;
	size_t size = item != NULL ? item->size : strlen(text);

	if (size > 16)
		size = 16;
	memcpy(out, text, size);
	while (size > 0 && (out[size - 1] == ' ' || out[size - 1] == '\0'))
		size--;
	out[size] = '\0';
}
