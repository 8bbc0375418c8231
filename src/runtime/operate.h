/*
 * runtime/operate.h - what a traced process does with an operator's request; for the files operate*.c only.
 *
 *     operate.c          which request it is; those that concern the process as a whole; TRACE CT
 *     operate_match.c    which components a name or glob means
 *     operate_change.c   levels, destinations, properties: what was, what is now
 *     operate_display.c  DISPLAY TRACE
 *
 * All of it runs on the control thread, under no lock.  The process is attached.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATE_H
#define CT_OPERATE_H

#include "control/answer.h"
#include "runtime/runtime.h"

#define CT_OPERATE_ROWS 4096u /* of an answer at most: the thread must come round to the others */

/* ---- operate_match.c */
struct ct_match {
	uint32_t index; /* CT_COMPONENT_NONE: the default ("" is the name), or a name that is only above known ones */
	uint32_t old;   /* the caller's: what it was */
};
struct ct_matches {
	struct ct_span name; /* that was asked for */
	bool is_glob;
	struct ct_match *items;
	size_t count; /* 1 unless it is a glob */
};
bool ct_operate_is_glob(struct ct_span name);
/* NOT_FOUND; INVALID_COMPONENT_NAME; NOT_ENOUGH_MEMORY. */
enum ctrace_status ct_matches_find(struct ct_span name, struct ct_matches *out) CT_MUST_USE;
struct ct_span ct_match_name(const struct ct_matches *matches, size_t i);
void ct_matches_fini(struct ct_matches *matches);
/* The first known component from this index on; CT_COMPONENT_NONE. */
uint32_t ct_operate_next_known(uint32_t from);
struct ct_span ct_operate_name(uint32_t index);

/* ---- operate_change.c */
void ct_operate_level(const struct ct_command *command, struct ct_buf *out);
void ct_operate_dest(const struct ct_command *command, struct ct_buf *out);
void ct_operate_property(const struct ct_command *command, struct ct_buf *out);
/* The names of a list of emitters are known; else says what is wrong. */
bool ct_operate_knows_emitter(struct ct_span name, uint32_t *out_emitter, struct ct_buf *message);
void ct_operate_add_emitters(struct ct_buf *text, uint32_t mask); /* "TEXTFILE, STDERR" */

/* ---- operate_display.c */
void ct_operate_display(const struct ct_message *request, struct ct_buf *out);

#endif
