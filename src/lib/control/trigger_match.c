/*
 * trigger_match.c - compares an event with the tests of a trigger.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/trigger.h"

#include <string.h>

#include "format/format.h"
#include "session/session.h"

static bool in_ranges(const struct ct_trigger_test *test, ct_trigger_number value)
{
	for (uint32_t i = 0; i < test->range_count; i++)
		if (value >= test->range[i].first && value <= test->range[i].last)
			return true;
	return false;
}

static bool text_fits(const struct ct_trigger_test *test, const char *text, size_t size)
{
	if (test->is_glob)
		return ct_glob_match(test->text, test->text_size, text, size);
	return size == test->text_size && memcmp(text, test->text, size) == 0;
}

/* A component's name in any case of letters. */
static bool component_fits(const struct ct_trigger_test *test, const struct ct_trigger_event *event)
{
	if (test->is_glob)
		return text_fits(test, event->component, event->component_size);
	return ct_name_is(event->component, event->component_size, test->text);
}

static bool item_is_text(uint32_t type)
{
	return type == CTRACE_TYPE_TEXT || type == CTRACE_TYPE_UTF8;
}

/* -1: the item has no such value; else whether it is equal or matches. */
static int item_fits(const struct ct_trigger_test *test, const struct ctrace_event_item *item)
{
	uint64_t value;

	if (test->is_text)
		return item_is_text(item->type) ? text_fits(test, item->data, item->size) : -1;
	if (!ct_item_is_integer(item->type, item->size))
		return -1;
	value = ct_item_value(item->type, item->data, item->size);
	return in_ranges(test, item->type == CTRACE_TYPE_COMP5S || item->type == CTRACE_TYPE_COMPXS
				       ? (ct_trigger_number)(int64_t)value
				       : (ct_trigger_number)value);
}

static bool data_fits(const struct ct_trigger_test *test, const struct ct_trigger_event *event)
{
	uint32_t first = test->is_any ? 0 : test->item;
	uint32_t end = test->is_any ? event->item_count : test->item + 1;
	bool has_value = false;

	for (uint32_t i = first; i < end && i < event->item_count; i++) {
		int fits = item_fits(test, &event->items[i]);

		if (fits > 0)
			return !test->is_inverted;
		has_value |= fits == 0;
	}
	return test->is_inverted && has_value;
}

static bool head_fits(const struct ct_trigger_test *test, const struct ct_trigger_event *event)
{
	switch (test->field) {
	case CT_TRIGGER_COMPONENT:
		return component_fits(test, event) != test->is_inverted;
	case CT_TRIGGER_LEVEL:
		return in_ranges(test, event->level) != test->is_inverted;
	case CT_TRIGGER_EVENT:
		return in_ranges(test, event->event_id) != test->is_inverted;
	case CT_TRIGGER_THREAD:
		return in_ranges(test, event->tid) != test->is_inverted;
	case CT_TRIGGER_DATA:
	case CT_TRIGGER_STATUS:
		break;
	}
	return true;
}

bool ct_trigger_fits_exit(const struct ct_trigger *trigger, int status)
{
	return trigger->cause == CT_TRIGGER_ON_EXIT &&
	       in_ranges(&trigger->test[0], status) != trigger->test[0].is_inverted;
}

bool ct_trigger_fits_head(const struct ct_trigger *trigger, const struct ct_trigger_event *event)
{
	/* The cheap tests first: a name is compared when the numbers fit. */
	for (uint32_t i = 0; i < trigger->test_count; i++)
		if (trigger->test[i].field != CT_TRIGGER_COMPONENT &&
		    !head_fits(&trigger->test[i], event))
			return false;
	for (uint32_t i = 0; i < trigger->test_count; i++)
		if (trigger->test[i].field == CT_TRIGGER_COMPONENT &&
		    !head_fits(&trigger->test[i], event))
			return false;
	return true;
}

static bool field_fits(const struct ct_trigger *trigger, const struct ct_trigger_event *event,
		       enum ct_trigger_field field)
{
	for (uint32_t i = 0; i < trigger->test_count; i++)
		if (trigger->test[i].field == field && !head_fits(&trigger->test[i], event))
			return false;
	return true;
}

bool ct_trigger_fits_component(const struct ct_trigger *trigger,
			       const struct ct_trigger_event *event)
{
	return field_fits(trigger, event, CT_TRIGGER_COMPONENT);
}

bool ct_trigger_fits_id(const struct ct_trigger *trigger, const struct ct_trigger_event *event)
{
	return field_fits(trigger, event, CT_TRIGGER_EVENT);
}

bool ct_trigger_runs(const struct ct_trigger *trigger)
{
	for (uint32_t i = 0; i < trigger->action_count; i++)
		if (trigger->action[i].act == CT_TRIGGER_RUN)
			return true;
	return false;
}

bool ct_trigger_has_items(const struct ct_trigger *trigger)
{
	for (uint32_t i = 0; i < trigger->test_count; i++)
		if (trigger->test[i].field == CT_TRIGGER_DATA)
			return true;
	return false;
}

bool ct_trigger_fits_items(const struct ct_trigger *trigger, const struct ct_trigger_event *event)
{
	for (uint32_t i = 0; i < trigger->test_count; i++)
		if (trigger->test[i].field == CT_TRIGGER_DATA &&
		    !data_fits(&trigger->test[i], event))
			return false;
	return true;
}

bool ct_trigger_lacks_item(const struct ct_trigger *trigger, const struct ct_trigger_event *event)
{
	for (uint32_t i = 0; i < trigger->test_count; i++) {
		const struct ct_trigger_test *test = &trigger->test[i];
		uint32_t at = test->is_any ? 0 : test->item;
		uint32_t end = test->is_any ? event->item_count : test->item + 1;

		if (test->field != CT_TRIGGER_DATA)
			continue;
		while (at < end && at < event->item_count && item_fits(test, &event->items[at]) < 0)
			at++;
		if (at >= end || at >= event->item_count)
			return true;
	}
	return false;
}
