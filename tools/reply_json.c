/*
 * reply_json.c - outstanding replies as one JSON document, for DISPLAY R with --json.
 *
 * Called by the operator's tools.  The members are described in ctrace-op(1) and do not change their meaning; new ones may come.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "reply_json.h"

#include <stdio.h>

#include "read/json_text.h"

/* 0: all are meant. */
static json_t *number_or_null(uint32_t number)
{
	return number != 0 ? json_integer((json_int_t)number) : json_null();
}

void ct_reply_json_add(json_t *replies, const struct reply_entry *entry)
{
	json_t *object = json_object();

	(void)json_object_set_new(object, "number", json_integer((json_int_t)entry->number));
	(void)json_object_set_new(object, "asked_ns", json_integer((json_int_t)(entry->time_ns & INT64_MAX)));
	(void)json_object_set_new(object, "command", ct_json_string(entry->command));
	(void)json_object_set_new(object, "operands", ct_json_string(entry->operands));
	(void)json_object_set_new(object, "pid", number_or_null(entry->pid));
	(void)json_object_set_new(object, "asid", number_or_null(entry->asid));
	(void)json_object_set_new(object, "jobname", ct_json_string(entry->job[0] != '\0' ? entry->job : NULL));
	(void)json_array_append_new(replies, object);
}

bool ct_reply_json_print(json_t *replies)
{
	json_t *document = json_object();
	bool ok = json_object_set_new(document, "time_ns", json_integer((json_int_t)ct_clock_wall_ns())) == 0 &&
		  json_object_set_new(document, "replies", replies) == 0 &&
		  json_dumpf(document, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) == 0;

	json_decref(document);
	putchar('\n');
	return ok;
}
