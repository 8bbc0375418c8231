/*
 * reply_json.h - outstanding replies as one JSON document.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_REPLY_JSON_H
#define CT_TOOLS_REPLY_JSON_H

#include <jansson.h>

#include "reply_table.h"

/* Adds an entry to the array. */
void ct_reply_json_add(json_t *replies, const struct reply_entry *entry);
/* Prints the document on stdout, in a line; takes the array.  False when memory was short. */
bool ct_reply_json_print(json_t *replies);

#endif
