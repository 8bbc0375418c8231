/*
 * change.h - what the verbs that change running processes share: one request, and what each process said about it.
 *
 * level, dest and prop show values when they are given none, and change them otherwise; reload and rotate only change.  All of them
 * come to rows: a process, a component or emitter in it, what it was and what it is.  change_ask.c asks and understands the answers,
 * change_names.c knows which processes have a component, change_print.c prints for people and as JSON.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_CHANGE_H
#define CT_TOOLS_CHANGE_H

#include "target.h"

/* One line.  Texts are the row's, terminated; NULL: there is none. */
struct change_row {
	const struct ct_peer *peer;
	char *property; /* in a list of them; else NULL */
	char *subject;  /* a component or emitter, "" is the default of components; NULL: the process as a whole */
	char *old;
	char *now;
	char *said; /* what the process said besides */
	bool failed;
};

struct change {
	struct target target;
	const char *subject;  /* component name or glob; "", their default, and NULL: every process that target means is asked */
	const char *property; /* prop's, for the JSON; NULL */
	bool is_emitter;      /* rows are about emitters */
	bool is_question;     /* rows show `now`; there is no `old` */
	bool has_mistakes;    /* what processes did not understand, and say how much of it (CT_FIELD_NUMBER), is a failure */
	const char *empty;    /* how people read an empty value */
	const char *hint;     /* what was probably meant where no process has the component; or NULL */
	const char *done;     /* what a process said that has answered OK and nothing else; NULL: nothing worth a row */
	struct ct_buf request;
	struct ct_peers peers;
	struct change_row *rows;
	size_t count;
	bool failed; /* something went wrong that no row says */
};
void ct_change_init(struct change *change);
void ct_change_fini(struct change *change);
/* A row; texts are copied, at NULL: none.  NULL when memory is short, which is noted. */
struct change_row *ct_change_add(struct change *change, const struct ct_peer *peer, struct ct_span subject);
void ct_change_set(struct change *change, char **text, struct ct_span value);

/* Finds the processes that have the component, which are then in change->peers; says on stderr when there is none, with the name that
 * was probably meant. */
enum ctrace_status ct_change_find(struct change *change) CT_MUST_USE;
/* Sends the request to them and makes rows of the answers. */
void ct_change_ask(struct change *change);
/* Makes rows of what one of them has answered, or not. */
void ct_change_read(struct change *change, const struct ct_peer *peer);
/* Finds them, asks, and makes rows. */
void ct_change_gather(struct change *change);
/* The same, and prints; gives the exit status. */
int ct_change_run(struct change *change);
/* Prints the rows, those that went wrong on stderr, and gives the exit status. */
int ct_change_finish(struct change *change);

/* ---- change_names.c */
bool ct_change_is_glob(const char *subject);
/* Does a command for `subject` concern it?  A name also does when only components below it are there. */
bool ct_change_has(const struct ct_peer *peer, const char *subject);
/* Says on stderr that no process has the component. */
void ct_change_complain_nobody(const struct change *change);

/* ---- change_print.c */
void ct_change_print_people(const struct change *change);
bool ct_change_print_json(const struct change *change); /* false when memory is short */

/* The component that a verb is given: a usage error unless it is a name, a glob or "". */
void ct_change_check_component(const char *name, struct argp_state *state);

#endif
