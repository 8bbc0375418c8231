/*
 * catalog/copybook/copybook.h - COBOL records: parses a copybook into a layout, and decodes a
 * record's bytes into fields.
 *
 * Parsing allocates; decoding does not, apart from the visitor.  Both accept hostile input within
 * the limits below, and nothing recurses deeper than CT_COPYBOOK_DEPTH.  Any thread, one at a time
 * per copybook.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CATALOG_COPYBOOK_H
#define CT_CATALOG_COPYBOOK_H

#include "base/base.h"

#define CT_COPYBOOK_LIMIT ((size_t)1 << 20) /* bytes, with all that is copied into it */
#define CT_COPYBOOK_DEPTH 49u               /* levels; and of COPY in COPY: 16 */
#define CT_COPYBOOK_FIELDS 8192u
/* of one record; more are left out, and ct_copybook_decode() returns false */
#define CT_RECORD_FIELDS_SHOWN 65536u

/* Compilers differ about the same text. */
enum ct_dialect {
	CT_DIALECT_DEFAULT, /* cobc -std=default: COMP takes 1, 2, 4 or 8 bytes */
	CT_DIALECT_MF,      /* cobc -std=mf: COMP and COMP-5 take 1 to 8, as few as do */
	CT_DIALECT_IBM      /* cobc -std=ibm: COMP takes 2, 4 or 8 */
};

struct ct_copybook_options {
	/* directories for COPY, separated by colons, searched after the copybook's own; or NULL */
	const char *directories;
	const char *record; /* name of the level 01 (or 77) to decode; NULL: the first */
	/* The encoding of DISPLAY data and overpunched signs (0-9 and p-y in ASCII, also { A-I and
	 * } J-R; zones in EBCDIC).  EBCDIC implies the byte order of a mainframe: COMP-5, INDEX and
	 * POINTER are big-endian. */
	enum ct_encoding encoding;
	enum ct_dialect dialect;
	/* The fields behind a table with DEPENDING ON follow its last occurrence, not its greatest
	 * (cobc -fodoslide).  Implied for EBCDIC, where such a table is inside another, and behind
	 * a group that ends with one. */
	bool is_sliding;
};

/* ---- copybook.c: text to layout.  The format (fixed, free) is that of $SET SOURCEFORMAT or
 * >>SOURCE, or is guessed. */
struct ct_copybook;
enum ctrace_status ct_copybook_open(const char *path, const struct ct_copybook_options *options,
				    struct ct_copybook **out_copybook,
				    struct ct_diagnostic *out_diagnostic,
				    struct ct_buf *out_diagnostic_path) CT_MUST_USE;
/* The same for a text in memory; path is for messages and for COPY. */
enum ctrace_status ct_copybook_parse(const char *path, const char *text, size_t size,
				     const struct ct_copybook_options *options,
				     struct ct_copybook **out_copybook,
				     struct ct_diagnostic *out_diagnostic,
				     struct ct_buf *out_diagnostic_path) CT_MUST_USE;
void ct_copybook_destroy(struct ct_copybook *copybook);
const char *ct_copybook_name(const struct ct_copybook *copybook); /* of the record */
/* bytes, with all OCCURS at their greatest */
uint32_t ct_copybook_size(const struct ct_copybook *copybook);

/* ---- copybook_decode.c: a record's bytes to fields, in the order of the copybook. */
enum ct_field_kind {
	CT_RECORD_TEXT, /* alphabetic, alphanumeric, edited */
	/* text is a number as DISPLAY shows it: -00123.45, +007, 12-, 1.5E+30; for JSON see
	   ct_field_json_number() */
	CT_RECORD_NUMBER,
	CT_RECORD_POINTER, /* text is 0x and digits */
	CT_RECORD_GROUP
};
struct ct_record_field {
	const char *name; /* "FILLER" for one without */
	enum ct_field_kind kind;
	uint32_t depth;        /* 0: the record itself */
	uint32_t offset, size; /* bytes in the record */
	/* from 1, for this field's own OCCURS; 0: no table */
	int32_t occurrence;
	bool is_filler;
	bool is_redefinition;
	/* its bytes do not fit its picture, or are missing: text is their hex digits */
	bool is_bad;
	const char *picture; /* as written, upper case; "" */
	/* as DISPLAY shows it, in UTF-8, not escaped; trailing blanks kept; "" of groups and tables
	 */
	const char *text;
	size_t text_size;
	/* the bytes in the record; fewer than `size` may exist */
	const void *bytes;
	const char *const *conditions; /* 88 names that hold */
	uint32_t condition_count;
	const struct ct_copybook *copybook; /* these three for ct_field_json_number() */
	const struct ct_item *item;
	bool is_big;
};
/* Calls for a group: begin, its fields, end.  For a table (OCCURS): begin_table, each occurrence (a
 * value or a group), end_table.  A field is borrowed for the call.  A short record shows the
 * existing fields, and marks the first missing one as bad.  A table whose DEPENDING ON is out of
 * range or unreadable begins with is_bad.  Any of these may be NULL. */
struct ct_field_visitor {
	void (*begin_group)(const struct ct_record_field *field, void *user);
	void (*end_group)(const struct ct_record_field *field, void *user);
	void (*begin_table)(const struct ct_record_field *field, uint32_t count, void *user);
	void (*end_table)(const struct ct_record_field *field, void *user);
	void (*value)(const struct ct_record_field *field, void *user);
	void *user;
};
/* A record's bytes.  is_big: native numbers (COMP-5, COMP-1, COMP-2, INDEX, POINTER) begin with
 * their most significant byte, as on the machine that filled the record. */
struct ct_record_bytes {
	const void *at;
	size_t size;
	bool is_big;
};
/* Returns false when something was bad or left out, or bytes are left over (out_left_over, may be
 * NULL). */
bool ct_copybook_decode(const struct ct_copybook *copybook, struct ct_record_bytes bytes,
			const struct ct_field_visitor *visitor, size_t *out_left_over);

/* Prints a number as JSON: -123.45, 7, 0.5.  Returns its size, or 0 when JSON has no such number
 * (another kind, bad, not finite).  The value is that of the program's calculations, even where
 * DISPLAY shows less: the point of a COMP-5 item, the leading digits of PIC X COMP-X.  Only while
 * the field is borrowed. */
#define CT_JSON_NUMBER_SIZE 96u
size_t ct_field_json_number(const struct ct_record_field *field, char out[CT_JSON_NUMBER_SIZE]);

#endif
