/*
 * session/answer.h - the answer to a request, in as many frames as it takes.
 *
 * The status and the fields of the whole answer come first.  Rows follow; each row is within one
 * frame.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_ANSWER_H
#define CT_SESSION_ANSWER_H

#include "session/message.h"

#define CT_ANSWER_TEXT \
	16384u /* bytes of a text in a row; a longer one is cut and ends in "..." \
		*/

struct ct_answer {
	struct ct_buf *out;
	enum ct_verb verb;
	size_t first; /* where the first frame of the answer begins */
	size_t start; /* where the present frame begins */
};
/* The status may be set again until the end. */
void ct_answer_begin(struct ct_answer *answer, struct ct_buf *out, enum ct_verb verb);
void ct_answer_set_status(struct ct_answer *answer, enum ctrace_status status);
/* Begins a row of at most `size` bytes, heads of fields included.  Another frame begins when the
 * present one has no room for the row. */
void ct_answer_row(struct ct_answer *answer, size_t size);
/* Adds a text to the row or to the whole answer. */
void ct_answer_add(struct ct_answer *answer, enum ct_field field, const char *text, size_t size);
void ct_answer_end(struct ct_answer *answer);

/* Writes an answer of only a status and one sentence; message may be NULL. */
void ct_answer_whole(struct ct_buf *out, enum ct_verb verb, enum ctrace_status status,
		     const char *message);
/* Writes such an answer to each frame of a request. */
void ct_answer_all(struct ct_buf *out, const struct ct_buf *request, enum ctrace_status status,
		   const char *message);

#endif
