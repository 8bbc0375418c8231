/*
 * operator/change.h - what the verbs that change running processes share: one request, and the
 * answer of each process.
 *
 * level, dest and prop without values show the values in force, and change them otherwise; reload
 * and rotate only change.  Each answer becomes rows: a process, a component or emitter in it, the
 * old value and the new one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_CHANGE_H
#define CT_OPERATOR_CHANGE_H

#include "operator/ask.h"

/* One line.  The row owns its texts, which are terminated; NULL: there is none. */
struct change_row {
	const struct ct_peer *peer;
	char *property; /* in a list of them; else NULL */
	/* a component or emitter, "" is the default of components; NULL: the process as a whole */
	char *subject;
	char *old;
	char *now;
	char *report;               /* what else the process reported */
	enum ctrace_status status;  /* of the answer, in a row of the process as a whole */
	bool has_state, is_enabled; /* a trigger's */
	bool failed;
};

struct change {
	struct target target;
	/* component name or glob; "": the default of components; NULL: every process of the
	 * target is asked */
	const char *subject;
	const char *property; /* the property's name in the JSON, for prop; else NULL */
	bool is_emitter;      /* rows are about emitters */
	bool is_question;     /* rows show `now`; there is no `old` */
	/* a diagnostic of a process (CT_FIELD_NUMBER counts them) is a failure */
	bool has_diagnostics;
	const char *empty; /* how people read an empty value */
	/* the component that was probably meant, when no process has it; or NULL */
	const char *hint;
	/* the text for a process that answered OK and nothing else; NULL: no row */
	const char *done;
	struct ask ask;
	struct change_row *rows;
	size_t count;
	bool failed; /* something went wrong that no row reports */
};
void ct_change_init(struct change *change);
void ct_change_fini(struct change *change);
/* Copies a text of a row; value.at NULL: there is none.  A lack of memory is noted. */
void ct_change_set(struct change *change, char **text, struct ct_span value);

/* Finds the processes that have the component.  Reports on stderr when there is none, with the
 * name that was probably meant. */
enum ctrace_status ct_change_find(struct change *change) CT_MUST_USE;
/* Turns the answers, and missing answers, into rows. */
void ct_change_read(struct change *change);
/* Finds the processes, asks them, and makes rows. */
void ct_change_gather(struct change *change);
/* Does the same, prints the rows, and returns the exit status. */
int ct_change_run(struct change *change);
/* Prints the rows, failed ones on stderr, and returns the exit status. */
int ct_change_finish(struct change *change);

/* Checks the component that a verb is given: it must be a name, a glob or "", else it is a usage
 * error. */
void ct_change_check_component(const char *name, struct argp_state *state);

#endif
