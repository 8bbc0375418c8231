/*
 * operator/spool_note.h - a spool in which traces wait, and that no forwarder serves.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_SPOOL_NOTE_H
#define CT_OPERATOR_SPOOL_NOTE_H

#include "base/base.h"

/* Adds a sentence about the spool of that path when traces wait there and no forwarder serves it.
 * Returns false, and adds nothing, otherwise. */
bool ct_spool_note(struct ct_buf *out, const char *path);
/* The same for the spool in which a segment is. */
bool ct_spool_note_segment(struct ct_buf *out, const char *segment);
/* Calls `each` for the spool of this user, and as root for those in the shared directory, that
 * exist. */
void ct_spool_each(void (*each)(const char *path, void *user), void *user);

#endif
