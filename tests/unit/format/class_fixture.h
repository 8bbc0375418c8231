/*
 * class_fixture.h - the class of an event that a test has as items.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLASS_FIXTURE_H
#define CT_CLASS_FIXTURE_H

#include "format/format.h"

static inline uint32_t class_of(struct ct_classes *classes, uint32_t component, uint32_t level,
				uint32_t event_id, const struct ctrace_item *items,
				uint32_t item_count)
{
	const struct ct_event_head head = { .component = component,
					    .event_id = event_id,
					    .level = level };
	uint32_t descriptors[CT_CLASS_MAX_ITEMS];

	for (uint32_t i = 0; i < item_count && i < CT_CLASS_MAX_ITEMS; i++)
		descriptors[i] = ct_class_item(&items[i]);
	return ct_class_find(classes, &head, descriptors, item_count);
}

#endif
