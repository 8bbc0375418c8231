/*
 * wire/metadata.h - what printing and parsing metadata share.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_METADATA_H
#define CT_METADATA_H

#include "wire/wire.h"

#define CT_METADATA_SIGNATURE "/* CTF 1.8 */\n"

/* The trace-wide part behind the signature, with $names where values stand: uuid, host, program, system, jobname, pid, asid, start. */
extern const char ct_metadata_template[];

/* What a type of item is called: ct_<name>, or ct_<name>_<bytes>. */
struct ct_metadata_type {
	const char *name;
	bool has_width;
};
extern const struct ct_metadata_type ct_metadata_types[CTRACE_TYPE_COUNT];

/* Level -> loglevel, numbered as LTTng's viewers know them. */
extern const uint32_t ct_metadata_loglevels[CTRACE_LEVEL_COUNT];

/* Classes with names say their event id beside them: model.emf.uri = "ctrace:event/12". */
#define CT_METADATA_URI "ctrace:event/"
#define CT_METADATA_NAME 64u /* of an event or an item; bytes, with the terminator */

/* ---- class_names.c: the names of the class in a form that can be printed, in one block for free(); NULL when it has none, or without
 * memory: it is no reason to lose an event. */
struct ct_class_names *ct_class_names_create(const struct ct_class *class);

#endif
