/*
 * format/metadata.h - declarations shared by printing and parsing metadata, beside format.h.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_FORMAT_METADATA_H
#define CT_FORMAT_METADATA_H

#include "format/format.h"

/* Level -> loglevel, numbered as LTTng's viewers know them. */
extern const uint32_t ct_metadata_loglevels[CTRACE_LEVEL_COUNT];

/* A class with names has its event id beside them: model.emf.uri = "ctrace:event/12". */
#define CT_METADATA_URI "ctrace:event/"
/* Behind it what CTRACE DEFINE said: "?fmttab=MYFMT&userdata=" and 32 hexadecimal digits. */
#define CT_METADATA_FMTTAB "?fmttab="
#define CT_METADATA_USERDATA "&userdata="
#define CT_METADATA_NAME 64u /* of an event or an item; bytes, with the terminator */

/* Returns the position behind a uuid, with or without its dashes; NULL when it is not a uuid.  The
 * text must end in a byte that is not a digit. */
const char *ct_uuid_parse(const char *text, uint8_t uuid[16]);

/* ---- class_names.c: returns the names of the class in printable form, in one block for free().
 * Returns NULL when it has none, and also without memory, which is no reason to lose an event. */
struct ct_class_names *ct_class_names_create(const struct ct_class *class);

#endif
