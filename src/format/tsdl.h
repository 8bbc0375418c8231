/*
 * format/tsdl.h - the parsed metadata of a trace, ours or a third-party one: the types of its
 * fields, its streams and its events.
 *
 * The language is that of the Common Trace Format 1.8 (TSDL).  A text is parsed once to a struct
 * ct_tsdl, which never changes.  Its memory is bounded by CT_TSDL_MEMORY.  No type is nested deeper
 * than CT_TSDL_DEPTH, so walking through one may recurse.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_FORMAT_TSDL_H
#define CT_FORMAT_TSDL_H

#include "base/base.h"

#define CT_TSDL_TEXT_LIMIT ((size_t)16 << 20) /* bytes of a third-party trace's metadata */
/* bytes of parsed metadata; all classes that a process can have need less */
#define CT_TSDL_MEMORY ((size_t)128 << 20)
#define CT_TSDL_DEPTH 64u /* of types in types */

/* Each name exists once: two names are equal if their addresses are. */
struct ct_tsdl_declaration;
struct ct_tsdl_clock;
struct ct_tsdl_name {
	const char *text; /* terminated */
	uint32_t size;
	/* some length or tag ends in this name: readers keep the value of its field */
	bool is_referenced;
	const struct ct_tsdl_clock *clock;    /* the clock of this name */
	struct ct_tsdl_declaration *declared; /* the parser's */
};

enum ct_tsdl_order { CT_ORDER_NATIVE, CT_ORDER_LE, CT_ORDER_BE };
enum ct_tsdl_encoding { CT_ENCODED_NOT, CT_ENCODED_UTF8, CT_ENCODED_ASCII };
enum ct_tsdl_kind {
	CT_TSDL_INTEGER,
	CT_TSDL_FLOAT,
	CT_TSDL_ENUM, /* an integer with labels */
	CT_TSDL_STRING,
	CT_TSDL_STRUCT,
	CT_TSDL_VARIANT,
	CT_TSDL_ARRAY,
	CT_TSDL_SEQUENCE
};

/* The scopes in which a length or a tag is looked up, the outermost first.  A name that one scope
 * lacks is looked up in the scope before it. */
enum ct_tsdl_scope {
	CT_SCOPE_PACKET_HEADER,
	CT_SCOPE_PACKET_CONTEXT,
	CT_SCOPE_EVENT_HEADER,
	CT_SCOPE_STREAM_EVENT_CONTEXT,
	CT_SCOPE_EVENT_CONTEXT,
	CT_SCOPE_EVENT_FIELDS,
	CT_SCOPE_RELATIVE /* in the enclosing types, then in all scopes */
};
#define CT_SCOPE_COUNT 6u
struct ct_tsdl_reference {
	enum ct_tsdl_scope scope;
	uint32_t count;
	const struct ct_tsdl_name *const *path;
};

struct ct_tsdl_label {
	const struct ct_tsdl_name *name;
	uint64_t from, to; /* as the enumeration's integer is signed */
};
struct ct_tsdl_field {
	const struct ct_tsdl_name *name;
	const struct ct_tsdl_type *type;
	bool is_length; /* only the length of the sequence in the next field */
};

struct ct_tsdl_type {
	uint8_t kind;     /* enum ct_tsdl_kind */
	uint8_t order;    /* enum ct_tsdl_order */
	uint8_t encoding; /* enum ct_tsdl_encoding; of integers and strings */
	uint8_t base;
	bool is_signed;
	bool may_be_empty;                /* may take no bits */
	uint16_t depth;                   /* nesting of its types, from 1 */
	uint32_t align;                   /* bits, a power of two */
	uint32_t size;                    /* bits: integer, floating point, enumeration */
	uint32_t count;                   /* of labels or fields */
	uint64_t length;                  /* of an array */
	const struct ct_tsdl_name *alias; /* given by a typealias, or NULL */
	const struct ct_tsdl_name *clock; /* the clock of its value, or NULL */
	const struct ct_tsdl_label *labels;
	const struct ct_tsdl_field *fields; /* of a struct; the choices of a variant */
	const struct ct_tsdl_type *element; /* of an array or sequence */
	/* the length of a sequence, the tag of a variant */
	const struct ct_tsdl_reference *reference;
};

struct ct_tsdl_clock {
	const char *name;
	uint64_t frequency; /* 1 at least */
	int64_t offset_s;
	int64_t offset; /* ticks */
};
struct ct_tsdl_stream {
	uint64_t id;
	uint32_t index;
	const struct ct_tsdl_type *packet_context; /* each is a struct, or NULL */
	const struct ct_tsdl_type *event_header;
	const struct ct_tsdl_type *event_context;
};
#define CT_TSDL_NO_LEVEL (-1)
struct ct_tsdl_event {
	uint64_t stream_id;
	uint64_t id;
	uint32_t index;
	struct ct_span block; /* in the text */
	const char *name;
	const char *uri; /* model.emf.uri; NULL: none */
	int64_t level;   /* LTTng's numbers */
	bool is_unknown; /* a part of it is not understood, so its events cannot be read */
	bool has_stream_id;
	const struct ct_tsdl_type *context;
	const struct ct_tsdl_type *fields;
};
struct ct_tsdl_value {
	const char *name;
	const char *text; /* NULL: a number */
	int64_t number;
	struct ct_tsdl_value *next;
};
struct ct_tsdl {
	bool is_big; /* the native byte order */
	bool has_uuid;
	uint8_t uuid[16];
	const struct ct_tsdl_type *packet_header; /* or NULL */
	struct ct_tsdl_stream *streams;           /* by rising id; at least one */
	size_t stream_count;
	struct ct_tsdl_event *events; /* by rising stream and id */
	size_t event_count;
	const struct ct_tsdl_clock *clock; /* the only clock; NULL when there are none or several */
	struct ct_tsdl_value *values;      /* env */
	struct ct_arena arena;
};

/* ---- tsdl_text.c: gets the text of a metadata file, which may come in packets.  UNSUPPORTED when
 * ctrace does not read its format; *out_message has the reason.  DAMAGED when it ends early; out
 * has the text before that. */
enum ctrace_status ct_tsdl_text(const char *bytes, size_t size, struct ct_buf *out,
				const char **out_message) CT_MUST_USE;

/* ---- tsdl_scan.c: replaces the escapes of C in a text.  Returns the size of the result, which is
 * never more than that of the text. */
size_t ct_tsdl_unescape(const char *text, size_t size, char *out);

/* ---- tsdl.c */
/* Receives an error, its position, and the piece of the text that is skipped for it.  After the
 * first event begins, the piece ends at the latest where a line begins another event.  Before it,
 * an error fails the whole text. */
typedef void ct_tsdl_diagnose(const struct ct_diagnostic *diagnostic, struct ct_span piece,
			      void *user);
/* UNSUPPORTED, with a diagnostic, when the text is not understood. */
enum ctrace_status ct_tsdl_parse(const char *text, size_t size, ct_tsdl_diagnose *diagnose,
				 void *user, struct ct_tsdl **out_tsdl) CT_MUST_USE;
void ct_tsdl_destroy(struct ct_tsdl *tsdl);
/* NULL when there is none */
const struct ct_tsdl_stream *ct_tsdl_stream(const struct ct_tsdl *tsdl, uint64_t id);
const struct ct_tsdl_event *ct_tsdl_event(const struct ct_tsdl *tsdl, uint64_t stream_id,
					  uint64_t id);
/* Returns a value of env; `otherwise` when it is missing or of the other kind. */
const char *ct_tsdl_env_text(const struct ct_tsdl *tsdl, const char *name, const char *otherwise);
int64_t ct_tsdl_env_number(const struct ct_tsdl *tsdl, const char *name, int64_t otherwise);

#endif
