/*
 * session/message.h - the frames that operators, processes and external writers send each other.
 *
 *       0  u32 magic     CT_MESSAGE_MAGIC
 *       4  u16 version   CT_MESSAGE_VERSION
 *       6  u16 verb      enum ct_verb; an answer has its request's
 *       8  u32 flags     CT_MESSAGE_*
 *      12  u32 size      bytes of the fields that follow, at most CT_MESSAGE_LIMIT - 16
 *      16  fields: u16 tag, u16 0, u32 size, bytes; the next one follows at once
 *
 * The byte order is the machine's, because both ends are on one machine.  Unknown fields are
 * skipped.  A request is one frame.  An answer is one frame or more, and the last one lacks
 * CT_MESSAGE_MORE.  Pure; any thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_MESSAGE_H
#define CT_SESSION_MESSAGE_H

#include "session/command.h"
#include "session/session.h"
#include <ctrace/component.h>

#define CT_MESSAGE_MAGIC 0x4C525443u /* "CTRL" */
#define CT_MESSAGE_VERSION 2u
#define CT_MESSAGE_LIMIT 65536u /* bytes of a frame, its head included */
#define CT_MESSAGE_HEAD 16u

/* In a command of CT_VERB_LEVEL: asks for the level and changes nothing; the field is not sent. */
#define CT_LEVEL_ASKED 0xFFFFFFFDu

#define CT_MESSAGE_ANSWER 1u
#define CT_MESSAGE_MORE 2u /* another frame of this answer follows */

/* Texts are not terminated; numbers are u64.  A group of fields in an answer begins with
 * CT_FIELD_COMPONENT. */
enum ct_field {
	/* answer, first: number, enum ctrace_status; not OK: CT_FIELD_MESSAGE has the reason */
	CT_FIELD_STATUS = 1,
	CT_FIELD_MESSAGE = 2, /* answer: one line for people */
	CT_FIELD_COMPONENT = 3,
	CT_FIELD_EMITTER = 4,
	CT_FIELD_PROPERTY = 5,
	CT_FIELD_VALUE = 6,
	CT_FIELD_LIST = 7,
	CT_FIELD_NO_INHERIT = 8, /* number */
	CT_FIELD_LEVEL = 9,      /* number */
	CT_FIELD_NUMBER = 10,
	/* answer: the old value, and below the new one, as text for people ("INFO", "TEXTFILE,
	 * STDERR") */
	CT_FIELD_OLD = 11,
	CT_FIELD_NEW = 12,
	/* request, of a tool that ctrace respond has started: number, enum ct_party; who sent it,
	 * as the sender claims */
	CT_FIELD_PARTY = 13,
	CT_FIELD_SENDER = 14,
	/* CT_VERB_TRACE_CT: struct ct_trace_command; an absent clause was not given */
	/* number, CTRACE_CT_*; answer to CT_VERB_TRIGGER_LIST: 1 the trigger may act, 0 not */
	CT_FIELD_STATE = 20,
	CT_FIELD_SUB = 21,
	CT_FIELD_BUFSIZE = 23,
	CT_FIELD_ASID = 24,    /* its members as they are in memory */
	CT_FIELD_JOBNAME = 25, /* likewise */
	CT_FIELD_OPTIONS = 26,
	CT_FIELD_WTR = 27,     /* "": DISCONNECT */
	CT_FIELD_CART = 28,    /* number */
	CT_FIELD_OUTCOME = 29, /* answer: struct ctrace_outcome as it is in memory */
	/* CT_VERB_DISPLAY */
	CT_FIELD_DEPTH = 40, /* number: levels below the trace; 0: only the trace */
	/* answer: struct ctrace_display as it is in memory, of the CT_FIELD_COMPONENT before it */
	CT_FIELD_DISPLAY = 41,
	CT_FIELD_ACTIVE = 42, /* answer, number: its writer is connected */
	/* answer, numbers: the rings that have its events, if it has a size; their bytes */
	CT_FIELD_RINGS = 43,
	CT_FIELD_RING_BYTES = 44,
	CT_FIELD_STORAGE = 45, /* answer, number: its events stay in storage */
	/* an external writer's answers: writer/writer.h */
	CT_FIELD_WRITER = 60,    /* struct ct_writer_state */
	CT_FIELD_TRCOUT = 61,    /* struct ct_trcout_state */
	CT_FIELD_LINK = 62,      /* struct ct_link_state */
	CT_FIELD_CONNECTION = 63 /* number, of CT_VERB_WRITER_CONNECT */
};

/* All requests of this process come from that party, and from that sender.  Once, before the first
 * request. */
void ct_message_set_party(uint32_t party, const char *sender);

/* ---- encoding: start, add, end. out's sticky failure covers all three. */
/* Returns the start of the frame, for ct_message_end(). */
size_t ct_message_start(struct ct_buf *out, enum ct_verb verb, uint32_t flags);
void ct_message_add(struct ct_buf *out, enum ct_field field, const void *data, size_t size);
void ct_message_add_text(struct ct_buf *out, enum ct_field field, const char *text);
void ct_message_add_number(struct ct_buf *out, enum ct_field field, uint64_t number);
/* Another frame of this answer follows it. */
void ct_message_set_more(struct ct_buf *out, size_t start);
/* NOT_ENOUGH_MEMORY; UNSUPPORTED when the frame is over CT_MESSAGE_LIMIT; the frame is removed
 * then. */
enum ctrace_status ct_message_end(struct ct_buf *out, size_t start) CT_MUST_USE;

/* ---- decoding.  Trusts no byte. */
struct ct_message {
	enum ct_verb verb;
	uint32_t flags;
	uint16_t version;
	struct ct_span fields;
};
/* Parses the first frame in `size` bytes.  OK sets *out_size to its size.  NOT_FOUND: it is
 * incomplete.  DAMAGED: its magic or size is wrong, or a field passes its end.  UNSUPPORTED: a
 * whole frame of another version; *out has verb and version but no fields, and *out_size is set. */
enum ctrace_status ct_message_parse(const void *bytes, size_t size, struct ct_message *out,
				    size_t *out_size) CT_MUST_USE;
/* Gives the next field, and moves `fields` behind it.  Returns false at the end. */
bool ct_message_next(struct ct_span *fields, enum ct_field *out_field, struct ct_span *out_value);
/* Returns the first field of that kind; its `at` is NULL when there is none. */
struct ct_span ct_message_find(const struct ct_message *message, enum ct_field field);
/* Returns the number in the field; `otherwise` when the field is missing or not a number. */
uint64_t ct_message_number(const struct ct_message *message, enum ct_field field,
			   uint64_t otherwise);

/* ---- commands as requests.  The spans of a decoded command point into the message; at NULL:
 * absent.  DAMAGED: a number out of its range, a name too long. */
/* Appends a whole frame; sets out->failed when it is larger than a frame may be. */
void ct_command_encode(struct ct_buf *out, const struct ct_command *command);
enum ctrace_status ct_command_decode(const struct ct_message *message,
				     struct ct_command *out) CT_MUST_USE;
/* The same for TRACE CT, which is copied.  Decoding gives the same struct as a parser. */
void ct_trace_command_encode(struct ct_buf *out, const struct ct_trace_command *command);
enum ctrace_status ct_trace_command_decode(const struct ct_message *message,
					   struct ct_trace_command *out) CT_MUST_USE;

#endif
