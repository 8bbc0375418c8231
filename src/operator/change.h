/*
 * operator/change.h - what the verbs that change running processes share: one request, and what
 * each process said about it.
 *
 * level, dest and prop show values when they are given none, and change them otherwise; reload and
 * rotate only change.  All of them come to rows: a process, a component or emitter in it, what it
 * was and what it is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_CHANGE_H
#define CT_TOOLS_CHANGE_H

#include "operator/ask.h"

/* One line.  Texts are the row's, terminated; NULL: there is none. */
struct change_row {
	const struct ct_peer *peer;
	char *property; /* in a list of them; else NULL */
	/* a component or emitter, "" is the default of components; NULL: the process as a whole */
	char *subject;
	char *old;
	char *now;
	char *said; /* what the process said besides */
	bool failed;
};

struct change {
	struct target target;
	/* component name or glob; "", their default, and NULL: every process that target means is
	 * asked */
	const char *subject;
	const char *property; /* prop's, for the JSON; NULL */
	bool is_emitter;      /* rows are about emitters */
	bool is_question;     /* rows show `now`; there is no `old` */
	/* what processes did not understand, and say how much of it (CT_FIELD_NUMBER), is a failure
	 */
	bool has_diagnostics;
	const char *empty; /* how people read an empty value */
	const char *hint;  /* what was probably meant where no process has the component; or NULL */
	/* what a process said that has answered OK and nothing else; NULL: nothing worth a row */
	const char *done;
	struct ask ask;
	struct change_row *rows;
	size_t count;
	bool failed; /* something went wrong that no row says */
};
void ct_change_init(struct change *change);
void ct_change_fini(struct change *change);
/* Copies a text of a row; at NULL: none.  That memory is short is noted. */
void ct_change_set(struct change *change, char **text, struct ct_span value);

/* Finds the processes that have the component; reports on stderr when there is none, with the name
 * that was probably meant. */
enum ctrace_status ct_change_find(struct change *change) CT_MUST_USE;
/* Makes rows of what they have answered, or not. */
void ct_change_read(struct change *change);
/* Finds them, asks, and makes rows. */
void ct_change_gather(struct change *change);
/* The same, and prints; gives the exit status. */
int ct_change_run(struct change *change);
/* Prints the rows, those that went wrong on stderr, and gives the exit status. */
int ct_change_finish(struct change *change);

/* The component that a verb is given: a usage error unless it is a name, a glob or "". */
void ct_change_check_component(const char *name, struct argp_state *state);

#endif
