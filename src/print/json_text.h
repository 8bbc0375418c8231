/*
 * print/json_text.h - what the JSON documents of the tools have in common: ctrace-json(5).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_JSON_TEXT_H
#define CT_PRINT_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The member format_version.  It grows when a member is removed, or changes its name, type, unit
 * or meaning.  A new member leaves it unchanged. */
#define CT_JSON_FORMAT_VERSION 1

/* Returns a JSON string.  A text with bytes that are not UTF-8 is escaped, as it is for people.
 * `text` NULL gives null.  Returns NULL when memory is short. */
json_t *ct_json_text(const char *text, size_t size);
/* Does the same for a terminated text. */
json_t *ct_json_string(const char *text);
/* Returns the four hexadecimal digits that --asid takes; null for 0. */
json_t *ct_json_asid(uint32_t asid);
/* Returns an integer, at most the largest that a JSON integer can be here. */
json_t *ct_json_number(uint64_t number);
/* "KVS KVS.NET": an array of the words. */
json_t *ct_json_words(const char *words);

/* Returns an object that has format_version. */
json_t *ct_json_document(void);
/* Prints the document on a line of its own, in ASCII, and destroys it.  Returns false when
 * memory is short. */
bool ct_json_print(json_t *document, FILE *to);

#endif
