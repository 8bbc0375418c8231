/*
 * trigger_list.c - the triggers of a process, as the texts of their keys.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/trigger.h"

#include <string.h>

static uint32_t list_find(const struct ct_trigger_list *list, struct ct_span name)
{
	uint32_t i = 0;

	while (i < list->count && !ct_name_is(name.at, name.size, list->entry[i].name))
		i++;
	return i;
}

static void list_remove(struct ct_trigger_list *list, uint32_t index)
{
	list->count--;
	memmove(&list->entry[index], &list->entry[index + 1],
		(list->count - index) * sizeof list->entry[0]);
}

enum ctrace_status ct_trigger_list_set(struct ct_trigger_list *list, struct ct_span name,
				       struct ct_span text)
{
	uint32_t index = list_find(list, name);
	struct ct_trigger trigger;

	if (!ct_trigger_name_is_good(name.at, name.size) ||
	    ct_trigger_parse(text.at, text.size, &trigger, NULL) != CTRACE_OK)
		return CTRACE_SYNTAX_ERROR;
	if (trigger.change != CT_TRIGGER_SET) {
		if (index == list->count)
			return CTRACE_NOT_FOUND;
		if (trigger.change == CT_TRIGGER_OFF)
			list_remove(list, index);
		else
			list->entry[index].is_disabled = trigger.change == CT_TRIGGER_DISABLE;
		return CTRACE_OK;
	}
	text = ct_span_of(text.at + trigger.begin, text.at + text.size);
	if (index == CT_TRIGGER_LIMIT)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (index == list->count)
		list->count++;
	memcpy(list->entry[index].name, name.at, name.size);
	list->entry[index].name[name.size] = '\0';
	memcpy(list->entry[index].text, text.at, text.size);
	list->entry[index].text[text.size] = '\0';
	list->entry[index].is_disabled = trigger.is_disabled;
	return CTRACE_OK;
}
