/*
 * catalog/catalog_print.h - shared by the files that print a component in another language.  The
 * three printers call the two files below them, never each other:
 *
 *     catalog_print_header.c    a C header
 *     catalog_print_copybook.c  a COBOL copybook
 *     catalog_print_markdown.c  a page in Markdown
 *     catalog_print_name.c      unique names that the language allows
 *     catalog_print_text.c      texts on one line, and the description of an event
 *
 * The texts may be hostile: in the output they can end no comment, no literal, no line and no cell
 * of a table.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_CATALOG_PRINT_H
#define CT_CATALOG_CATALOG_PRINT_H

#include "base/hash_table.h"
#include "catalog/catalog.h"

/* ---- catalog_print_name.c: makes names of upper case letters, digits and a mark. */
/* The form of a name. */
struct ct_spelling {
	const char *begin; /* prefix of all names: "78-" */
	char mark;         /* replaces other characters */
	size_t limit;      /* bytes */
};
/* The names made so far for one component. */
struct ct_made_names {
	const struct ct_spelling *spelling;
	const struct ct_catalog_component *component;
	struct ct_buf texts;        /* each terminated */
	struct ct_hash_table table; /* a name's number is its offset in texts */
	struct ct_buf last;
	bool has_failed; /* without memory, so names may not be distinct */
};
void ct_made_names_init(struct ct_made_names *names, const struct ct_spelling *spelling,
			const struct ct_catalog_component *component);
void ct_made_names_fini(struct ct_made_names *names);
/* Makes a new unique name: for an event, for a value or bit of one of its arguments, or for another
 * purpose of the printer.  Borrowed until the next name is made. */
const char *ct_made_names_event(struct ct_made_names *names, const struct ct_event_type *type);
const char *ct_made_names_label(struct ct_made_names *names, const struct ct_event_type *type,
				const struct ct_argument *argument, const struct ct_label *label);
const char *ct_made_names_own(struct ct_made_names *names, const char *what);

/* ---- catalog_print_text.c */
/* Adds a text as one line: line breaks and tabs become blanks, unprintable characters are
 * escaped. */
void ct_plain_add(struct ct_buf *out, const char *text);
/* Ends a sentence, unless it has its full stop. */
void ct_plain_add_stop(struct ct_buf *out);
/* Adds a description of an event for a comment: its text, and "INFO, its exit is READEND; items:
 * package, size".  The result is not escaped yet. */
void ct_remark_add(struct ct_buf *out, const struct ct_catalog_component *component,
		   const struct ct_event_type *type);
/* Returns the event at the other end, or NULL. */
const struct ct_event_type *ct_event_pair(const struct ct_catalog_component *component,
					  const struct ct_event_type *type);
/* without its directory */
const char *ct_component_file_name(const struct ct_catalog_component *component);
const char *ct_labels_word(const struct ct_argument *argument); /* "Flags" or "Values" */
bool ct_label_is_negative(const struct ct_argument *argument, const struct ct_label *label);

#endif
