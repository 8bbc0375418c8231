/*
 * read/json_text.h - a text of another process or file as a JSON string.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_JSON_TEXT_H
#define CT_READ_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* JSON has no bytes that are not UTF-8: a text with such bytes is given escaped, as it is for people.  `text` may be NULL, which is null.
 * NULL when memory is short. */
json_t *ct_json_text(const char *text, size_t size);
/* The same of a terminated text. */
json_t *ct_json_string(const char *text);

#endif
