/*
 * view.c - the names of an event and its items, and its process.
 *
 * Called by the filter and the printers for any event; pure.  A name of the catalogue takes
 * precedence over the trace's own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/event/event.h"

#include <stdio.h>
#include <string.h>

const char *ct_view_mnemonic(const struct ct_view *view, char scratch[16])
{
	if (view->type != NULL)
		return view->type->mnemonic;
	if (view->names != NULL && view->names->mnemonic != NULL)
		return view->names->mnemonic;
	(void)snprintf(scratch, 16, "%u", view->event.event_id);
	return scratch;
}

const char *ct_view_item_name(const struct ct_view *view, uint32_t index, char scratch[16])
{
	if (view->type != NULL && index < view->type->argument_count)
		return view->type->arguments[index].name;
	if (view->names != NULL && view->names->items != NULL && index < view->names->item_count)
		return view->names->items[index];
	(void)snprintf(scratch, 16, "data%u", index + 1);
	return scratch;
}

/* Returns the item that the catalogue marks as the asid or the job name, or NULL. */
static const struct ctrace_event_item *view_marked_item(const struct ct_view *view, bool wants_asid)
{
	const struct ct_event_type *type = view->type;

	for (uint32_t i = 0; type != NULL && i < type->argument_count && i < view->event.item_count;
	     i++)
		if (wants_asid ? type->arguments[i].is_asid : type->arguments[i].is_jobname)
			return &view->event.items[i];
	return NULL;
}

uint32_t ct_view_asid(const struct ct_view *view)
{
	const struct ctrace_event_item *item = view_marked_item(view, true);

	return item != NULL ? (uint32_t)(item->value & 0xFFFF) : view->source_process->asid;
}

void ct_view_jobname(const struct ct_view *view, char out[17])
{
	const struct ctrace_event_item *item = view_marked_item(view, false);
	const char *text = item != NULL ? item->data : view->source_process->jobname;
	size_t size = item != NULL ? item->size : strlen(text);

	if (size > 16)
		size = 16;
	memcpy(out, text, size);
	while (size > 0 && (out[size - 1] == ' ' || out[size - 1] == '\0'))
		size--;
	out[size] = '\0';
}
