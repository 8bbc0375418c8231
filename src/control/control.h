/*
 * control/control.h - what people say becomes a command; a command becomes a change.
 *
 * Configuration lines, environment, API calls, the socket's requests and operators' commands all end in struct ct_command and ct_apply().
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_H
#define CT_CONTROL_H

#include "drain/drain.h"
#include "record/record.h"
#include <ctrace/component.h>

enum ct_verb {
	CT_VERB_NONE = 0,           /* blank line or comment */
	CT_VERB_LEVEL,              /* component ("" = default), level */
	CT_VERB_DEST_DEFAULT,       /* list: explicit default destinations of the configuration file */
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
	CT_VERB_RUN_DIRECTORY,      /* value */
	CT_VERB_ENCODING,           /* value: mftrace.encoding, for each of ct_config_encoding() */
	CT_VERB_KEEP,               /* number: ns */
	/* Only in requests (message.h) */
	CT_VERB_DEST_SET = 32,  /* component, list: exactly these destinations, inherited ones not */
	CT_VERB_PROPERTY_GET,   /* component or emitter, property */
	CT_VERB_FLUSH,          /* number: ms to wait at most */
	CT_VERB_ROTATE,         /* emitter, or none: all */
	CT_VERB_RELOAD,         /* value: absolute path of a configuration file; empty: the process's own */
	CT_VERB_TRACE_CT,       /* struct ct_trace_command */
	CT_VERB_DISPLAY,        /* component (a name or pattern; empty: all), SUB, DEPTH */
	CT_VERB_WRITER_UP,      /* value: the name of an external writer that has just started */
	CT_VERB_WRITER_CONNECT, /* to a writer: COMPONENT is the process's folder; its descriptor comes with it */
	CT_VERB_WRITER_STATUS,  /* to a writer */
	CT_VERB_WRITER_STOP     /* to a writer; number: 1 FLUSH, 0 NOFLUSH */
};
struct ct_command {
	enum ct_verb verb;
	struct ct_span component;
	struct ct_span emitter;
	struct ct_span property;
	struct ct_span value;
	struct ct_span list; /* destinations, separated by commas and blanks; at NULL: the one in emitter */
	bool no_inherit;
	uint32_t level;
	uint64_t number;
};

/* One row a verb: what the configuration file, `ctrace config check --help` and docs/configuration.md say of it, and what it does. */
enum ct_subject {
	CT_SUBJECT_NONE,
	CT_SUBJECT_ANY_COMPONENT, /* or none: the default, or the process */
	CT_SUBJECT_COMPONENT,
	CT_SUBJECT_COMPONENT_PROPERTY,
	CT_SUBJECT_EMITTER_PROPERTY
};
enum ct_value_kind {
	CT_VALUE_TEXT,     /* also empty */
	CT_VALUE_PROPERTY, /* what the emitter's table says */
	CT_VALUE_APPLICATION,
	CT_VALUE_LEVEL,
	CT_VALUE_DESTS,
	CT_VALUE_SIZE,
	CT_VALUE_TIME,
	CT_VALUE_AGE,
	CT_VALUE_OVERFLOW,
	CT_VALUE_TRIGGER,
	CT_VALUE_SWITCH,
	CT_VALUE_PATH,
	CT_VALUE_ENCODING
};
struct ct_target;
struct ct_verb_row {
	enum ct_verb verb;
	const char *key; /* "mftrace.level"; NULL: not in the file, only by a call */
	enum ct_subject subject;
	enum ct_value_kind value;
	const char *subject_grammar; /* "[.COMPONENT]" */
	const char *value_grammar;   /* "LEVEL" */
	const char *help;            /* one sentence */
	enum ctrace_status (*apply)(const struct ct_target *target, const struct ct_command *command);
};
const struct ct_verb_row *ct_verb_row_at(size_t index); /* apply.c; NULL past the last */

/* ---- config.c: the grammar of MFTRACE_CONFIG (spec/ctf-api.md section 4), one line at a time.  Pure. */
enum ctrace_status ct_config_parse_line(const char *line, size_t size, struct ct_command *out,
					struct ct_complaint *complaint) CT_MUST_USE;
/* What CT_VERB_ENCODING comes to: ENCODING as a property of the emitter number `index`.  False past the last. */
bool ct_config_encoding(const struct ct_command *command, unsigned index, struct ct_command *out);
/* What is wrong with the value of CT_VERB_EMITTER_PROPERTY; the column is in the value.  GOOD also when nothing is known of the property. */
enum ct_property_finding ct_config_check_property(const struct ct_command *command, struct ct_complaint *out);
#define CT_CONFIG_LINE_MAX 65536u /* a longer line is complained about and skipped */
/* The next word of a list with commas or blanks between: a destination, an ASID, a job name; false at its end. */
bool ct_config_next_word(struct ct_span *list, struct ct_span *out_name);
/* Parses a whole text, giving each command to `command` and each mistake to `complain`, in order; mftrace.application that does not fit
 * (program: base name, path and command line words of this process) ends it, with *out_stopped_at = its line.  Either may be NULL. */
struct ct_program {
	const char *name;           /* base name */
	const char *path;           /* full */
	const char *first_argument; /* second word of the command line, behind the options of cobcrun, or NULL */
};
/* The program that `trigger` (a base name) runs, in the words of its command line that follow its own name, each ended by a NUL: the
 * first that belongs to no option of cobcrun; of any other trigger the first.  NULL when there is none. */
const char *ct_config_triggered(const char *trigger, const char *words, size_t size);
struct ct_config_reader {
	void (*command)(const struct ct_command *command, unsigned line, void *user);
	void (*complain)(const struct ct_complaint *complaint, void *user);
	void (*forget)(void *user); /* mftrace.application did not fit: all preceding entries are discarded */
	void *user;
};
/* Why a file was not read, by what ct_os_read_file() has left in errno. */
#define CT_CONFIG_UNREAD 64u
const char *ct_config_unread(int error, char buffer[CT_CONFIG_UNREAD]);
void ct_config_read(const char *text, size_t size, const struct ct_program *program, const struct ct_config_reader *reader,
		    unsigned *out_stopped_at);

/* ---- apply.c: the one place where commands take effect.  Any thread, not in a signal handler; holds the drain still where events
 * under way must still go by the old settings. */
struct ct_target {
	struct ct_registry *registry;
	struct ct_settings *settings;
	/* Delivers what was committed so far, then keeps the drain still; and lets it go on, with the destinations in `reopen`
	 * closed.  NULL while nothing is running yet. */
	void (*hold)(void *user);
	void (*release)(void *user, uint32_t reopen);
	void *user;
	ct_change_sink *changed;
	void *changed_user;
};
enum ctrace_status ct_apply(const struct ct_target *target, const struct ct_command *command) CT_MUST_USE;
/* Loads the modules that the command needs, and changes nothing.  Under no lock.  A command that is
 * applied under a lock afterwards finds them; one that was not loaded is not found there. */
void ct_apply_load(const struct ct_command *command);
/* The running process's target, attaching it when needed.  NULL when it cannot.  Implemented by the runtime. */
const struct ct_target *ct_target_self(void);

/* ---- trace_name.c: the names and numbers of component trace, as members, commands and macros write them.  Pure.  A reason is a
 * CTRACE_RSN_* of ctrace/component.h, 0 when all is well. */
bool ct_trace_name_is_valid(const char *name, size_t size); /* NAME and the like: 1 to 8 of A-Z 0-9 @ # $, no digit first */

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
/* SUB's path: 1A, or 1C, 21, 22, 24 for an ASID or job name in it.  complaint (may be NULL): line 0, the column in the text. */
uint32_t ct_sub_parse(const char *text, size_t size, struct ct_sub_path *out, struct ct_complaint *complaint) CT_MUST_USE;

uint32_t ct_asid_parse(const char *text, size_t size, uint16_t *out_asid) CT_MUST_USE; /* 1C, 21, 22 */
/* Upper case, padded with NULs.  24; 1B for an empty one or a character that no job name has (blank, comma, parenthesis, quote). */
uint32_t ct_jobname_parse(const char *text, size_t size, char out_jobname[CTRACE_MAX_NAME + 1]) CT_MUST_USE;
uint32_t ct_bufsize_parse(const char *text, size_t size, uint64_t *out_bytes) CT_MUST_USE; /* nnnnK, nnnnM: 26, 27, 28 */
/* 2D */
uint32_t ct_writer_parse(const char *text, size_t size, char out_writer[CTRACE_MAX_NAME + 1]) CT_MUST_USE;
/* Why the four above, or SUB, refused a text with this reason.  line 0, column 1. */
void ct_trace_complain(uint32_t reason, struct ct_span text, struct ct_complaint *out);

/* ---- parmlib.c: TRACEOPTS, the members of CTRACE_PARMLIB (spec/component-trace.md section 5). */
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

/* One transaction: what a trace is to become. */
struct ct_trace_request {
	uint32_t state; /* CTRACE_CT_* */
	bool has[CT_CLAUSE_COUNT];
	struct {
		unsigned line, column;
	} place[CT_CLAUSE_COUNT]; /* where each clause that it has begins; from 1 */
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

/* TRACE CT, from whoever parsed it to component/command.c: which trace, and what it is to become. */
struct ct_trace_command {
	char name[CTRACE_MAX_COMPONENT + 1];
	char sub[CTRACE_MAX_COMPONENT + 1]; /* "": none */
	struct ct_trace_request request;    /* its own SUB is of no account */
};

struct ct_parmlib {
	char wtrstart[CTRACE_MAX_NAME + 1]; /* "": none */
	bool nowrap;
	char wtrstop[CTRACE_MAX_NAME + 1];
	struct ct_trace_request *requests; /* in order; the member's, freed by ct_parmlib_fini() */
	uint32_t count;
};
/* Each mistake in order of the text, with its reason. */
typedef void ct_parmlib_complain(uint32_t reason, const struct ct_complaint *complaint, void *user);
/* The whole text; *out is complete when the answer is 0, else it is the first mistake's reason, or 08 << 8 | 06 when memory is short.
 * complain may be NULL.  ct_parmlib_fini() in either case. */
uint32_t ct_parmlib_parse(const char *text, size_t size, struct ct_parmlib *out, ct_parmlib_complain *complain, void *user) CT_MUST_USE;
void ct_parmlib_fini(struct ct_parmlib *parmlib);
/* parmlib_print.c: the other way, one request as a member's text, for presets; and a path as SUB has it. */
void ct_parmlib_print(const struct ct_trace_request *request, struct ct_buf *out);
void ct_sub_print(const struct ct_sub_path *path, struct ct_buf *out);
/* parmlib_file.c: finds a member in CTRACE_PARMLIB's folders, first hit, and appends its text.  04, 05, 1D, 1F, 20, 2A.  out_path: where
 * it is, or the place of the trouble; "" when there is none. */
#define CT_PARMLIB_LIMIT 65536u /* bytes of a member, comments included */
uint32_t ct_parmlib_read(const char *member, struct ct_buf *out_text, char out_path[4096]) CT_MUST_USE;

#endif
