/*
 * lib/start/operate.h - what a traced process does with an operator's request; for the files
 * operate*.c only.
 *
 *     operate.c           dispatch; requests for the whole process; TRACE CT, DISPLAY TRACE
 *     operate_match.c     which components a name or glob means
 *     operate_change.c    levels and destinations: what was, what is now
 *     operate_property.c  likewise properties
 *     operate_member.c    requests of members of ctrace.operators: authority, and the log
 *
 * All of it runs on the control thread, under no lock.  The process is attached.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_START_OPERATE_H
#define CT_START_OPERATE_H

#include "session/answer.h"
#include "lib/start/start.h"

#define CT_OPERATE_ROWS 4096u /* most rows of an answer: the thread has other requests to serve */
#define CT_OPERATE_NAME 64u   /* bytes of a name in a message */

/* ---- operate_match.c */
struct ct_match {
	/* CT_COMPONENT_NONE: the default (name ""), or a name that is only an ancestor of known
	 * ones */
	uint32_t index;
	uint32_t old; /* the caller's: the former value */
};
struct ct_matches {
	struct ct_span name; /* as requested */
	bool is_glob;
	struct ct_match *items;
	size_t count; /* 1 unless it is a glob */
};
bool ct_operate_is_glob(struct ct_span name);
/* Does the name of a known component begin with this one and a dot? */
bool ct_operate_is_ancestor(struct ct_span name);
/* Returns NOT_FOUND, INVALID_COMPONENT_NAME or NOT_ENOUGH_MEMORY. */
enum ctrace_status ct_matches_find(struct ct_span name, struct ct_matches *out) CT_MUST_USE;
struct ct_span ct_match_name(const struct ct_matches *matches, size_t i);
void ct_matches_fini(struct ct_matches *matches);
/* Returns the first known component from this index on, or CT_COMPONENT_NONE. */
uint32_t ct_operate_next_known(uint32_t from);
struct ct_span ct_operate_name(uint32_t index);

/* ---- operate.c: carries out a request that its sender may make */
void ct_operate_allowed(const struct ct_message *request, struct ct_buf *out);

/* ---- operate_member.c: a request from outside, of a member, or with member NULL of another
 * machine */
void ct_operate_outside(const struct ct_message *request, const struct ct_member *member,
			struct ct_buf *out);

/* ---- operate_change.c */
void ct_operate_level(const struct ct_command *command, struct ct_buf *out);
void ct_operate_dest(const struct ct_command *command, struct ct_buf *out);
/* Is there such an emitter?  If not, prints a diagnostic into message. */
bool ct_operate_knows_emitter(struct ct_span name, uint32_t *out_emitter, struct ct_buf *message);
/* A change is reported as an answer with a row for each component. */
struct ct_operate_row {
	struct ct_span subject;
	enum ct_field field; /* of the subject */
	const char *old;     /* terminated; NULL: none */
	const char *new;
};
/* Finds the command's components, or writes a refusal to `out`. */
bool ct_operate_find(const struct ct_command *command, struct ct_buf *out,
		     struct ct_matches *matches);
void ct_operate_begin(struct ct_answer *answer, struct ct_buf *out,
		      const struct ct_command *command, size_t count);
void ct_operate_add_row(struct ct_answer *answer, const struct ct_operate_row *row);
/* Marks the row as failed; the answer carries the first failure's status. */
void ct_operate_add_failure(struct ct_answer *answer, enum ctrace_status *worst,
			    enum ctrace_status status);
void ct_operate_refuse(struct ct_buf *out, enum ct_verb verb, enum ctrace_status status,
		       struct ct_buf *message);

/* ---- operate_property.c */
void ct_operate_property(const struct ct_command *command, struct ct_buf *out);

#endif
