/*
 * print/json_text.h - what the JSON documents of the tools have in common: ctrace-json(5).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_JSON_TEXT_H
#define CT_READ_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The member format_version.  It grows when a member goes, or changes its name, type, unit or
 * meaning; a new member leaves it as it is. */
#define CT_JSON_FORMAT_VERSION 1

/* JSON has no bytes that are not UTF-8: a text with such bytes is given escaped, as it is for
 * people.  `text` may be NULL, which is null. NULL when memory is short. */
json_t *ct_json_text(const char *text, size_t size);
/* The same of a terminated text. */
json_t *ct_json_string(const char *text);
/* The four hexadecimal digits that --asid takes; 0 is null. */
json_t *ct_json_asid(uint32_t asid);
/* Up to the greatest number that a JSON integer has here. */
json_t *ct_json_number(uint64_t number);
/* "KVS KVS.NET": an array of the words. */
json_t *ct_json_words(const char *words);

/* An object that has format_version. */
json_t *ct_json_document(void);
/* Prints it on a line of its own, in ASCII, and destroys it.  False when memory is short. */
bool ct_json_print(json_t *document, FILE *to);

#endif
