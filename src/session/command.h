/*
 * session/command.h - the content of a line of a configuration file or of an operator's request.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_COMMAND_H
#define CT_SESSION_COMMAND_H

#include "base/base.h"
#include <ctrace/component.h>

enum ct_verb {
	CT_VERB_NONE = 0, /* blank line or comment */
	CT_VERB_LEVEL,    /* component ("" = default), level */
	/* list: explicit default destinations of the configuration file */
	CT_VERB_DEST_DEFAULT,
	CT_VERB_DEST_ADD,           /* component, list, no_inherit */
	CT_VERB_DEST_REMOVE,        /* component, list */
	CT_VERB_COMPONENT_PROPERTY, /* component, property, value */
	CT_VERB_EMITTER_PROPERTY,   /* emitter, property, value */
	CT_VERB_APPLICATION,        /* value: mftrace.application */
	CT_VERB_BUFFER,             /* component ("" = process), number: bytes */
	CT_VERB_OVERFLOW,           /* component ("" = process), number: enum ct_overflow */
	CT_VERB_BLOCK_TIMEOUT,      /* number: ns */
	CT_VERB_FLIGHT_LEVEL,       /* component, level */
	CT_VERB_FLIGHT_TRIGGER,     /* number: enum ct_flight_trigger or level */
	CT_VERB_FLIGHT_BUFFER,      /* number: bytes */
	CT_VERB_ATTACH,             /* number: 0, 1 */
	CT_VERB_CLOCK,              /* number: enum ct_clock_setting */
	CT_VERB_RUN_DIRECTORY,      /* value */
	CT_VERB_ENCODING,           /* value: mftrace.encoding, as ct_config_expand() says */
	CT_VERB_KEEP,               /* number: ns */
	CT_VERB_SPOOL_LINGER,       /* value: a time, as ct_config_expand() says */
	CT_VERB_SPOOL_SIZE,         /* value: a size, as ct_config_expand() says */
	CT_VERB_LOG,                /* value: the operators' hardcopy log; for their tools */
	CT_VERB_TRIGGER,            /* component: its name; value: its text, or a change of it */
	CT_VERB_RUN_PROGRAMS,       /* number: 0, 1 */
	CT_VERB_DUMP_DIRECTORY,     /* value */
	CT_VERB_DUMP_KEEP,          /* number */
	CT_VERB_DUMP_SIZE,          /* value: a size */
	CT_VERB_DUMP_ON,            /* number: mask of enum ct_dump_on */
	CT_VERB_OPERATORS,          /* value: a group, whose members command and display */
	CT_VERB_OPERATORS_DISPLAY,  /* value: a group, whose members display */
	CT_VERB_COMMAND_LINE,       /* number: 0, 1 */
	/* Only in requests (message.h) */
	CT_VERB_DEST_SET =
		32, /* component, list: exactly these destinations, without inherited ones */
	CT_VERB_PROPERTY_GET, /* component or emitter, property */
	CT_VERB_FLUSH,        /* number: ms to wait at most */
	CT_VERB_ROTATE,       /* emitter, or none: all */
	/* value: absolute path of a configuration file; empty: the process's own */
	CT_VERB_RELOAD,
	CT_VERB_TRACE_CT, /* struct ct_trace_command */
	CT_VERB_DISPLAY,  /* component (a name or pattern; empty: all), SUB, DEPTH */
	/* component: the name of a trigger, or none: all; value: "reset" or nothing */
	CT_VERB_TRIGGER_LIST,
	CT_VERB_WRITER_UP, /* value: the name of an external writer that has just started */
	/* to a writer: COMPONENT is the process's directory; its descriptor comes with it */
	CT_VERB_WRITER_CONNECT,
	CT_VERB_WRITER_STATUS, /* to a writer */
	CT_VERB_WRITER_STOP,   /* to a writer; number: 1 FLUSH, 0 NOFLUSH */
	/* answer: NUMBER the ASID, JOBNAME, VALUE the program's name; then a COMPONENT for each */
	CT_VERB_IDENTIFY
};
struct ct_command {
	enum ct_verb verb;
	struct ct_span component;
	struct ct_span emitter;
	struct ct_span property;
	struct ct_span value;
	/* destinations, separated by commas and blanks; at NULL: the emitter above */
	struct ct_span list;
	bool no_inherit;
	uint32_t level;
	uint64_t number;
};

/* A path as SUB has it. */
enum ct_sub_kind { CT_SUB_NAME, CT_SUB_ASID, CT_SUB_JOBNAME };
struct ct_sub_element {
	enum ct_sub_kind kind;
	uint16_t asid;                      /* CT_SUB_ASID */
	char text[CTRACE_MAX_SUB_NAME + 1]; /* the name, without quotation marks; the job's name */
};
struct ct_sub_path {
	uint32_t count;
	struct ct_sub_element element[CTRACE_MAX_SUB_LEVELS];
};

/* The operands of TRACE CT. */
enum ct_clause {
	CT_CLAUSE_SUB,
	CT_CLAUSE_STATE,
	CT_CLAUSE_ASID,
	CT_CLAUSE_JOBNAME,
	CT_CLAUSE_BUFSIZE,
	CT_CLAUSE_OPTIONS,
	CT_CLAUSE_WTR,
	CT_CLAUSE_COUNT
};

/* One transaction: the requested state of a trace. */
struct ct_trace_request {
	uint32_t state; /* CTRACE_CT_* */
	bool has[CT_CLAUSE_COUNT];
	struct {
		unsigned line, column;
	} place[CT_CLAUSE_COUNT]; /* position of each present clause; from 1 */
	struct ct_sub_path sub;
	uint32_t asid_count;
	uint16_t asid[CTRACE_MAX_FILTER];
	uint32_t jobname_count;
	char jobname[CTRACE_MAX_FILTER][CTRACE_MAX_NAME + 1];
	uint64_t bufsize; /* bytes */
	size_t options_size;
	char options[CTRACE_MAX_OPTIONS + 1]; /* the strings, joined by commas; terminated */
	bool disconnect;                      /* WTR(DISCONNECT) */
	char writer[CTRACE_MAX_NAME + 1];
};

/* TRACE CT, on its way from a parser to lib/component/command.c: the trace and its requested
 * state. */
struct ct_trace_command {
	char name[CTRACE_MAX_COMPONENT + 1];
	char sub[CTRACE_MAX_COMPONENT + 1]; /* "": none */
	struct ct_trace_request request;    /* its own SUB is ignored */
	uint64_t cart; /* identifies an operator's command to the start/stop routine; 0: none */
};

#endif
