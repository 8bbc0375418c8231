/*
 * catalog/copybook.h - COBOL records: from the text of a copybook to a layout, and from a record's bytes to fields.
 *
 * Parsing allocates, decoding does not, but for what the visitor does.  Both may be given hostile input: limits are below, and nothing
 * recurses deeper than CT_COPYBOOK_DEPTH.  Any thread, one at a time per copybook.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COPYBOOK_H
#define CT_COPYBOOK_H

#include "base/base.h"

#define CT_COPYBOOK_LIMIT ((size_t)1 << 20) /* bytes, with all that is copied into it */
#define CT_COPYBOOK_DEPTH 49u               /* levels; and of COPY in COPY: 16 */
#define CT_COPYBOOK_FIELDS 8192u
#define CT_RECORD_FIELDS_SHOWN 65536u /* of one record; more are left out, and the visitor is told */

enum ct_encoding { CT_ENCODING_ASCII, CT_ENCODING_EBCDIC_037, CT_ENCODING_COUNT };
/* "ascii" (also "utf-8"), "ebcdic-037"; false for others. */
bool ct_encoding_parse(const char *text, size_t size, enum ct_encoding *out_encoding);
const char *ct_encoding_name(enum ct_encoding encoding);
/* ---- encoding.c: the bytes as UTF-8; ASCII stays as it is. */
void ct_encoding_add(struct ct_buf *out, enum ct_encoding encoding, const void *bytes, size_t size);

struct ct_copybook_options {
	const char *folders; /* where COPY looks, colons between, after the folder of the copybook itself; or NULL */
	const char *record;  /* name of the level 01 (or 77) to decode; NULL: the first */
	enum ct_encoding encoding; /* of DISPLAY data, sign overpunch, and whether binary is as a mainframe has it (big-endian: always so for COMP) */
};

/* ---- copybook.c: text to layout.  The format (fixed, free) is found out, or what $SET SOURCEFORMAT and >>SOURCE say. */
struct ct_copybook;
enum ctrace_status ct_copybook_open(const char *path, const struct ct_copybook_options *options, struct ct_copybook **out_copybook,
				    struct ct_complaint *out_complaint, struct ct_buf *out_complaint_path) CT_MUST_USE;
/* The same for a text in memory; path is for messages and for COPY. */
enum ctrace_status ct_copybook_parse(const char *path, const char *text, size_t size, const struct ct_copybook_options *options,
				     struct ct_copybook **out_copybook, struct ct_complaint *out_complaint,
				     struct ct_buf *out_complaint_path) CT_MUST_USE;
void ct_copybook_destroy(struct ct_copybook *copybook);
const char *ct_copybook_name(const struct ct_copybook *copybook); /* of the record */
uint32_t ct_copybook_size(const struct ct_copybook *copybook);    /* bytes, with all OCCURS at their greatest */

/* ---- copybook_decode.c: a record's bytes to fields, in the order of the copybook. */
enum ct_field_kind {
	CT_RECORD_TEXT,    /* alphabetic, alphanumeric, edited */
	CT_RECORD_NUMBER,  /* text is a decimal number, with sign and point where it has them; valid JSON */
	CT_RECORD_POINTER, /* text is 0x and digits */
	CT_RECORD_GROUP
};
struct ct_record_field {
	const char *name;      /* "FILLER" for one without */
	enum ct_field_kind kind;
	uint32_t depth;        /* 0: the record itself */
	uint32_t offset, size; /* bytes in the record */
	int32_t occurrence;    /* from 1 in a table; 0: it is in none.  Of this field's own OCCURS only */
	bool is_filler;
	bool is_redefinition;
	bool is_bad;           /* its bytes do not fit its picture, or are not there: text is hex digits of them */
	const char *picture;   /* as written, upper case; "" */
	const char *text;      /* as DISPLAY shows it, in UTF-8, not escaped; trailing blanks kept */
	size_t text_size;
	const char *const *conditions; /* 88 names that hold */
	uint32_t condition_count;
};
/* Group: begin, its fields, end.  A table (OCCURS): begin_table, each occurrence (a value or a group), end_table.  A field is borrowed for
 * the call.  What fits the record: a record shorter than the copybook shows what is there, and marks the first field that is not. */
struct ct_field_visitor {
	void (*begin_group)(const struct ct_record_field *field, void *user);
	void (*end_group)(const struct ct_record_field *field, void *user);
	void (*begin_table)(const struct ct_record_field *field, uint32_t count, void *user);
	void (*end_table)(const struct ct_record_field *field, void *user);
	void (*value)(const struct ct_record_field *field, void *user);
	void *user;
};
/* False when something was bad or left out, or bytes are left over (out_left_over, may be NULL). */
bool ct_copybook_decode(const struct ct_copybook *copybook, const void *bytes, size_t size, const struct ct_field_visitor *visitor,
			size_t *out_left_over);

#endif
