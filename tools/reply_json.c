/*
 * reply_json.c - outstanding replies as one JSON document, for DISPLAY R with --json.
 *
 * Called by the operator's tools.  The members are described in ctrace-json(5).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "reply_json.h"

#include <stdio.h>

#include "read/json_text.h"

void ct_reply_json_add(json_t *replies, const struct reply_entry *entry)
{
	json_t *object = json_object();

	(void)json_object_set_new(object, "number", json_integer((json_int_t)entry->number));
	(void)json_object_set_new(object, "asked_ns", json_integer((json_int_t)(entry->time_ns & INT64_MAX)));
	(void)json_object_set_new(object, "command", ct_json_string(entry->command));
	(void)json_object_set_new(object, "operands", ct_json_string(entry->operands));
	(void)json_object_set_new(object, "pid", entry->pid != 0 ? json_integer((json_int_t)entry->pid) : json_null());
	(void)json_object_set_new(object, "asid", ct_json_asid(entry->asid));
	(void)json_object_set_new(object, "job", ct_json_string(entry->job[0] != '\0' ? entry->job : NULL));
	(void)json_array_append_new(replies, object);
}

bool ct_reply_json_print(json_t *replies)
{
	json_t *document = ct_json_document();
	bool ok = json_object_set_new(document, "time_ns", ct_json_number(ct_clock_wall_ns())) == 0 &&
		  json_object_set_new(document, "replies", replies) == 0;

	return ct_json_print(document, stdout) && ok;
}
