/*
 * right.c - the table of who may ask what.
 *
 * lib/start/operate_member.c consults it for a message of the control socket, tools/hosts/request.c
 * for the words that a responder gets.  docs/security.md has it for people;
 * tests/process/rights.py tries each row as each party.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/right.h"

#define M (1u << CT_PARTY_MEMBER)
#define MD (1u << CT_PARTY_MEMBER_DISPLAY)
#define H (1u << CT_PARTY_HOST)
#define HD (1u << CT_PARTY_HOST_DISPLAY)

static const struct {
	const char *name;
	unsigned parties; /* outside */
	const char *advice;
} rights[CT_RIGHT_COUNT] = {
	[CT_RIGHT_IDENTIFY] = { "the name", M | MD | H | HD, NULL },
	[CT_RIGHT_LIST] = { "list", H | HD, NULL },
	[CT_RIGHT_STATS] = { "stats", H | HD, NULL },
	[CT_RIGHT_STATS_PATH] = { "stats of a path", M | MD, /* with rights of their own */
				  "expected stats alone, for the processes there" },
	[CT_RIGHT_DISPLAY] = { "DISPLAY TRACE", M | MD | H | HD, NULL },
	[CT_RIGHT_LEVEL_SHOW] = { "level", M | MD | H | HD, NULL },
	[CT_RIGHT_LEVEL] = { "level", M | H, NULL },
	[CT_RIGHT_DEST_SHOW] = { "dest", M | MD | H | HD, NULL },
	[CT_RIGHT_DEST] = { "dest", M | H, NULL },
	[CT_RIGHT_DEST_OTHER] = { "a destination that the configuration does not name", 0,
				  "name it in mftrace.dest, or in mftrace.dest.NAME with any NAME, "
				  "and URL of OTLP too" },
	[CT_RIGHT_PROPERTY_SHOW] = { "prop", M | MD | H | HD, NULL },
	[CT_RIGHT_PROPERTY] = { "prop", M | H, NULL },
	[CT_RIGHT_EMITTER_SHOW] = { "prop emitter:NAME", H, NULL },
	[CT_RIGHT_EMITTER] = { "prop emitter:NAME with a value", 0,
			       "set it in the configuration of the program, and send reload" },
	[CT_RIGHT_FLUSH] = { "flush", M | H, NULL },
	[CT_RIGHT_ROTATE] = { "rotate", M | H, NULL },
	[CT_RIGHT_RELOAD] = { "reload", M | H, NULL },
	[CT_RIGHT_RELOAD_PATH] = { "reload of a file", 0,
				   "set the configuration on that machine, and send reload without "
				   "a file" },
	[CT_RIGHT_TRIGGER_LIST] = { "trigger list", M | MD | H | HD, NULL },
	[CT_RIGHT_TRIGGER] = { "trigger", M | H, NULL },
	[CT_RIGHT_TRIGGER_RUN] = { "trigger with a program", 0, NULL },
	[CT_RIGHT_TRACE] = { "TRACE CT", M | H, NULL },
	[CT_RIGHT_TRACE_LATER] = { "TRACE CT with PRESET", H, NULL },
	[CT_RIGHT_OPERATE] = { "op", H, NULL },
	[CT_RIGHT_WRITER_UP] = { "writer", M | H, NULL },
	[CT_RIGHT_OTHER] = { "an unknown command", 0, NULL },
};

bool ct_right_has(enum ct_right right, enum ct_party party)
{
	return party == CT_PARTY_OWNER || (rights[right].parties >> party & 1) != 0;
}

const char *ct_right_name(enum ct_right right)
{
	return rights[right].name;
}

const char *ct_right_advice(enum ct_right right)
{
	return rights[right].advice;
}
