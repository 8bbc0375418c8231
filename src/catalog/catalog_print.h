/*
 * catalog/catalog_print.h - what the files that print a component for other people share.  The
 * three printers call the two below them, never each other:
 *
 *     catalog_print_header.c    a C header
 *     catalog_print_copybook.c  a COBOL copybook
 *     catalog_print_markdown.c  a page in Markdown
 *     catalog_print_name.c      names that a language takes, each of them different
 *     catalog_print_text.c      texts on one line, and what is said of an event
 *
 * All texts come from a file that anybody may have written: in what is printed they can end no
 * comment, no literal, no line and no cell of a table.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_PRINT_H
#define CT_CATALOG_PRINT_H

#include "base/hash_table.h"
#include "catalog/catalog.h"

/* ---- catalog_print_name.c: names from the component's, made of upper case letters, digits and a
 * mark. */
/* What a name may look like. */
struct ct_spelling {
	const char *begin; /* before all names: "78-" */
	char mark;         /* for what is no letter or digit */
	size_t limit;      /* bytes */
};
/* The names of one component that were made already. */
struct ct_made_names {
	const struct ct_spelling *spelling;
	const struct ct_catalog_component *component;
	struct ct_buf texts;        /* each terminated */
	struct ct_hash_table table; /* a name's number is its place in texts */
	struct ct_buf last;
	bool has_failed; /* for want of memory names may not be distinct */
};
void ct_made_names_init(struct ct_made_names *names, const struct ct_spelling *spelling,
			const struct ct_catalog_component *component);
void ct_made_names_fini(struct ct_made_names *names);
/* A name that none has yet, until the next is made: of an event, of a value or bit of one of its
 * arguments, or of what else the printer needs one for. */
const char *ct_made_names_event(struct ct_made_names *names, const struct ct_event_type *type);
const char *ct_made_names_label(struct ct_made_names *names, const struct ct_event_type *type,
				const struct ct_argument *argument, const struct ct_label *label);
const char *ct_made_names_own(struct ct_made_names *names, const char *what);

/* ---- catalog_print_text.c */
/* One line of printable text: as it is, but for what is neither. */
void ct_plain_add(struct ct_buf *out, const char *text);
/* Ends a sentence that may have its full stop already. */
void ct_plain_add_stop(struct ct_buf *out);
/* What a person wants to know of an event beside its name, for a comment: its description, and
 * "INFO, its exit is READEND; items: package, size".  Not made harmless yet. */
void ct_remark_add(struct ct_buf *out, const struct ct_catalog_component *component,
		   const struct ct_event_type *type);
/* The event at the other end, or NULL. */
const struct ct_event_type *ct_event_pair(const struct ct_catalog_component *component,
					  const struct ct_event_type *type);
/* without its directory */
const char *ct_component_file_name(const struct ct_catalog_component *component);
const char *ct_labels_word(const struct ct_argument *argument); /* "Flags" or "Values" */
bool ct_label_is_negative(const struct ct_argument *argument, const struct ct_label *label);

#endif
