/*
 * session/answer.h - the answer to a request, in as many frames as it takes.
 *
 * First the status and what is to be said of the whole; then rows, each of which stays in one
 * frame.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_ANSWER_H
#define CT_SESSION_ANSWER_H

#include "session/message.h"

#define CT_ANSWER_TEXT 16384u /* bytes of a text in a row; a longer one is cut, with "..." */

struct ct_answer {
	struct ct_buf *out;
	enum ct_verb verb;
	size_t first; /* where its first frame begins */
	size_t start; /* and the present one */
};
/* The status may be set again until the end. */
void ct_answer_begin(struct ct_answer *answer, struct ct_buf *out, enum ct_verb verb);
void ct_answer_set_status(struct ct_answer *answer, enum ctrace_status status);
/* The next fields are a row of at most so many bytes, their heads included: another frame begins
 * when this one has no room for it. */
void ct_answer_row(struct ct_answer *answer, size_t size);
/* A text of a row or of the whole. */
void ct_answer_add(struct ct_answer *answer, enum ct_field field, const char *text, size_t size);
void ct_answer_end(struct ct_answer *answer);

/* An answer that is its status and one sentence; message may be NULL. */
void ct_answer_whole(struct ct_buf *out, enum ct_verb verb, enum ctrace_status status,
		     const char *message);

#endif
