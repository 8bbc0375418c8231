/*
 * catalog/catalog_print.h - shared by the files that print a component in another language.  The
 * printers call the file below them, never each other:
 *
 *     catalog_print_constants.c  a C header, and a COBOL copybook
 *     catalog_print_markdown.c   a page in Markdown
 *     catalog_print_text.c       texts on one line
 *
 * The texts may be hostile: in the output they can end no comment, no literal, no line and no cell
 * of a table.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_CATALOG_PRINT_H
#define CT_CATALOG_CATALOG_PRINT_H

#include "catalog/catalog.h"

/* ---- catalog_print_text.c */
/* Adds a text as one line: line breaks and tabs become blanks, unprintable characters are
 * escaped. */
void ct_plain_add(struct ct_buf *out, const char *text);
/* Ends a sentence, unless it has its full stop. */
void ct_plain_add_stop(struct ct_buf *out);
/* Returns the event at the other end, or NULL. */
const struct ct_event_type *ct_event_pair(const struct ct_catalog_component *component,
					  const struct ct_event_type *type);
const char *ct_labels_word(const struct ct_argument *argument); /* "Flags" or "Values" */

#endif
