/*
 * lib/control/control.h - parses settings into commands, and carries commands out.
 *
 * Configuration lines, environment, API calls, the socket's requests and operators' commands all
 * become a struct ct_command, which ct_apply() carries out.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_H
#define CT_CONTROL_H

#include "lib/consumer/consumer.h"
#include "lib/trace/trace.h"
#include "session/command.h"
#include "session/trace_name.h"
#include <ctrace/component.h>

/* One row for each verb: its text in the configuration file, `ctrace config check --help` and
 * docs/configuration.md, and its function. */
enum ct_subject {
	CT_SUBJECT_NONE,
	CT_SUBJECT_ANY_COMPONENT, /* or none: the default, or the process */
	CT_SUBJECT_COMPONENT,
	CT_SUBJECT_NAME, /* of a trigger */
	CT_SUBJECT_COMPONENT_PROPERTY,
	CT_SUBJECT_EMITTER_PROPERTY
};
enum ct_value_kind {
	CT_VALUE_TEXT,     /* may be empty */
	CT_VALUE_PROPERTY, /* as in the emitter's property table */
	CT_VALUE_APPLICATION,
	CT_VALUE_LEVEL,
	CT_VALUE_DESTS,
	CT_VALUE_SIZE,
	CT_VALUE_SPOOL_SIZE,
	CT_VALUE_TIME,
	CT_VALUE_AGE,
	CT_VALUE_OVERFLOW,
	CT_VALUE_TRIGGER,
	CT_VALUE_SWITCH,
	CT_VALUE_CLOCK,
	CT_VALUE_PATH,
	CT_VALUE_LOG, /* an absolute path, or journal */
	CT_VALUE_GROUP,
	CT_VALUE_ENCODING,
	CT_VALUE_FULL_TRIGGER, /* lib/control/trigger.h */
	CT_VALUE_COUNT,        /* 1 to 10000 */
	CT_VALUE_DUMP_ON       /* words of enum ct_dump_on, or off */
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
	enum ctrace_status (*apply)(const struct ct_target *target,
				    const struct ct_command *command);
};
const struct ct_verb_row *ct_verb_row_at(size_t index); /* apply.c; NULL past the last */

/* ---- config.c: the grammar of MFTRACE_CONFIG (docs/configuration.md), one line at a time.
 * Pure. */
enum ctrace_status ct_config_parse_line(const char *line, size_t size, struct ct_command *out,
					struct ct_diagnostic *diagnostic) CT_MUST_USE;
/* Expands CT_VERB_ENCODING, CT_VERB_SPOOL_LINGER and CT_VERB_SPOOL_SIZE: gives the emitter's
 * property that the key sets, of several the one number `index`.  False past the last, and for
 * other verbs. */
bool ct_config_expand(const struct ct_command *command, unsigned index, struct ct_command *out);
/* Checks the value of CT_VERB_EMITTER_PROPERTY; the column is relative to the value.  GOOD also
 * for an unknown property. */
enum ct_property_finding ct_config_check_property(const struct ct_command *command,
						  struct ct_diagnostic *out);
#define CT_CONFIG_LINE_MAX 65536u /* a longer line is reported and skipped */
/* Takes the next word of a list with commas or blanks between: a destination, an ASID, a job
 * name. False at the end. */
bool ct_config_next_word(struct ct_span *list, struct ct_span *out_name);
/* Parses a whole text: passes each command to `command` and each error to `diagnose`, in order;
 * either may be NULL.  An mftrace.application that does not match the program (base name, path
 * and command line words of this process) ends it, with *out_stopped_at = its line. */
struct ct_program {
	const char *name; /* base name */
	const char *path; /* full */
	/* second word of the command line, after the options of cobcrun, or NULL */
	const char *first_argument;
};
/* The program that `trigger` (a base name) runs.  words: the command line after its first word,
 * each word ended by a NUL.  For cobcrun the first word that belongs to no option; for any other
 * trigger the first word.  NULL: none. */
const char *ct_config_triggered(const char *trigger, const char *words, size_t size);
struct ct_config_reader {
	void (*command)(const struct ct_command *command, unsigned line, void *user);
	void (*diagnose)(const struct ct_diagnostic *diagnostic, void *user);
	/* mftrace.application did not match: all preceding entries are discarded */
	void (*reset)(void *user);
	void *user;
};
/* The reason why a file was not read, from the errno of ct_os_read_file(). */
#define CT_CONFIG_UNREAD 64u
const char *ct_config_unread(int error, char buffer[CT_CONFIG_UNREAD]);
void ct_config_read(const char *text, size_t size, const struct ct_program *program,
		    const struct ct_config_reader *reader, unsigned *out_stopped_at);

/* ---- apply.c: carries out commands.  Any thread, not in a signal handler.  Stops the consumer
 * where events under way must still use the old settings. */
struct ct_target {
	struct ct_registry *registry;
	struct ct_settings *settings;
	/* hold delivers all committed events and stops the consumer.  release lets it go on,
	 * with the destinations in `reopen` closed.  NULL before the consumer runs. */
	void (*hold)(void *user);
	void (*release)(void *user, uint32_t reopen);
	void *user;
	ct_change_sink *changed;
	void *changed_user;
	void (*triggers_changed)(void); /* under no lock; NULL: nobody watches yet */
};
enum ctrace_status ct_apply(const struct ct_target *target,
			    const struct ct_command *command) CT_MUST_USE;
/* Loads the modules that the command needs, and changes nothing.  Under no lock.  A command that
 * is applied under a lock later finds only modules that are loaded. */
void ct_apply_load(const struct ct_command *command);
/* The running process's target; attaches the process when needed, and wakes a dormant one.  NULL:
 * it cannot. */
const struct ct_target *ct_target_self(void);
/* Its registry, to look at; attaches the process when needed.  NULL: it cannot. */
struct ct_registry *ct_registry_self(void);

/* ---- parmlib.c: TRACEOPTS, the members of CTRACE_PARMLIB (docs/component-trace.md) */
struct ct_parmlib {
	char wtrstart[CTRACE_MAX_NAME + 1]; /* "": none */
	bool nowrap;
	char wtrstop[CTRACE_MAX_NAME + 1];
	struct ct_trace_request *requests; /* in the member's order; freed by ct_parmlib_fini() */
	uint32_t count;
};
/* Parses the whole text, and reports each error in the order of the text, with its reason as code.
 * Returns 0 and a complete *out; or the first error's reason, or 08 << 8 | 06 without memory.
 * diagnose may be NULL.  Call ct_parmlib_fini() in either case. */
uint32_t ct_parmlib_parse(const char *text, size_t size, struct ct_parmlib *out,
			  ct_diagnose *diagnose, void *user) CT_MUST_USE;
void ct_parmlib_fini(struct ct_parmlib *parmlib);
/* ---- parmlib_print.c: prints a request as a member's text, for presets; and a path as in SUB */
void ct_parmlib_print(const struct ct_trace_request *request, struct ct_buf *out);
void ct_sub_print(const struct ct_sub_path *path, struct ct_buf *out);
/* ---- parmlib_file.c: finds a member in CTRACE_PARMLIB's directories, first hit, and appends
 * its text. Reasons 04, 05, 1D, 1F, 20, 2A.  out_path: its path, or the path of the error; ""
 * when there is none. */
#define CT_PARMLIB_LIMIT 65536u /* bytes of a member, comments included */
uint32_t ct_parmlib_read(const char *member, struct ct_buf *out_text,
			 char out_path[4096]) CT_MUST_USE;
/* The same for a member whose name need not begin with CT, such as IEASLP01. */
uint32_t ct_parmlib_read_any(const char *member, struct ct_buf *out_text,
			     char out_path[4096]) CT_MUST_USE;

#endif
