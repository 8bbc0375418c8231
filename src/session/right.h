/*
 * session/right.h - who may ask what: one table for the control socket of a process, and for the
 * requests that come from other machines.
 *
 * A party other than the owner is outside.  No request from outside names a file, an address, the
 * format of a file or a program: a process would use it with the rights of its user.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_RIGHT_H
#define CT_SESSION_RIGHT_H

#include <stdbool.h>
#include <stddef.h>

enum ct_party {
	CT_PARTY_OWNER,          /* the process's user, or root */
	CT_PARTY_MEMBER,         /* of ctrace.operators */
	CT_PARTY_MEMBER_DISPLAY, /* of ctrace.operators.display */
	CT_PARTY_HOST,           /* a command that ctrace respond carries out */
	CT_PARTY_HOST_DISPLAY,   /* a display that ctrace respond carries out */
	CT_PARTY_COUNT
};

enum ct_right {
	CT_RIGHT_IDENTIFY,
	CT_RIGHT_LIST,
	CT_RIGHT_STATS,
	CT_RIGHT_STATS_PATH,
	CT_RIGHT_DISPLAY,
	CT_RIGHT_LEVEL_SHOW,
	CT_RIGHT_LEVEL,
	CT_RIGHT_DEST_SHOW,
	CT_RIGHT_DEST,
	CT_RIGHT_DEST_OTHER, /* one that the configuration does not name */
	CT_RIGHT_PROPERTY_SHOW,
	CT_RIGHT_PROPERTY,
	CT_RIGHT_EMITTER_SHOW,
	CT_RIGHT_EMITTER,
	CT_RIGHT_FLUSH,
	CT_RIGHT_ROTATE,
	CT_RIGHT_RELOAD,
	CT_RIGHT_RELOAD_PATH,
	CT_RIGHT_TRIGGER_LIST,
	CT_RIGHT_TRIGGER,
	CT_RIGHT_TRIGGER_RUN,
	CT_RIGHT_TRACE,
	CT_RIGHT_TRACE_LATER, /* for programs that start later */
	CT_RIGHT_OPERATE,
	CT_RIGHT_WRITER_UP,
	CT_RIGHT_OTHER, /* what no party outside may ask */
	CT_RIGHT_COUNT
};

bool ct_right_has(enum ct_right right, enum ct_party party);
/* How people type it: "level NAME LEVEL". */
const char *ct_right_name(enum ct_right right);
/* What to do in its place, of what only the owner may ask; else NULL. */
const char *ct_right_advice(enum ct_right right);

#endif
