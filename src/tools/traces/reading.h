/*
 * tools/traces/reading.h - what all verbs that read traces have in common: which traces, which
 * events, the catalogue, and what is told of damage.
 *
 *     static const struct argp_child children[] = { { .argp = &ct_reading_argp }, { 0 } };    its
 * input: a struct reading ARGP_KEY_INIT: reading_init(&verb->reading, "ctrace stats");
 * state->child_inputs[0] = &verb->reading; ARGP_KEY_ARGS: reading_paths(...) reading_open(); while
 * ((view = ct_reader_next(reading->reader)) != NULL) ...; return reading_end(&reading, shown);
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_READING_H
#define CT_TOOLS_READING_H

#include <argp.h>

#include "print/print.h"
#include "read/read.h"

#define READING_GROUPS 16

struct reading {
	const char *verb; /* "ctrace show" */
	/* what the options said */
	struct ct_catalog *catalog;
	struct ct_filter *filter;          /* --filter, and its short forms, all of them at once */
	const char *groups;                /* --groups */
	const char *group[READING_GROUPS]; /* --group, until all options are known */
	size_t group_count;
	char **paths;
	size_t path_count;
	/* what the verb may set before reading_open() */
	bool has_pairs;       /* views get durations */
	bool pairs_are_shown; /* and their depth does not matter */
	ct_read_report *also; /* is told of every note too, with the verb's own user */
	void *also_user;
	/* while reading */
	bool shows_progress; /* how far it is, on standard error, where that is a terminal */
	struct ct_reader *reader;
	bool is_quiet;         /* nothing is told: it will be read again */
	uint64_t withheld;     /* notes while it was quiet */
	bool has_look;         /* there was a reading before this one */
	uint64_t look_damages; /* places that it could not read */
	/* the catalogues of the environment are read: a verb may open again */
	bool has_environment;
	bool has_failed; /* something that was named could not be read */
	/* something that was named is not there, or no trace, or the run directory is refused:
	 * nothing is read */
	bool is_missing;
	/* a catalogue that was named could not be read: the verb's status is CMD_UNREAD */
	bool lacks_catalog;
	bool has_rings;   /* processes are among what is read */
	uint64_t reports; /* lines on stderr so far */
};

/* --catalog PATH, --filter EXPRESSION, --group NAME, -c -l -e --since --until: a child parser; its
 * input is a struct reading, which the verb has initialised in its own ARGP_KEY_INIT.  Errors end
 * the tool with CMD_USAGE, an expression's with a mark under the place. */
extern const struct argp ct_reading_argp;
/* --pid, for verbs that have no such option of their own; the same input. */
extern const struct argp ct_reading_pid_argp;
void reading_init(struct reading *reading, const char *verb);
/* True if the word names a process: it is a number, and no file has this name. */
bool reading_is_process(const char *word);
/* Notes the words as paths or process ids (borrowed). */
void reading_paths(struct reading *reading, char **words, size_t count);
/* The same for all words that options left over: expressions among them, wherever they stand, count
 * as given to --filter.  The words are sorted.  An error in an expression ends the tool with
 * CMD_USAGE. */
void reading_words(struct reading *reading, char **words, size_t count);
/* Takes the expression too, as if it had been given to --filter.  False, reported about: it is
 * none. */
bool reading_filter(struct reading *reading, const char *expression);
/* Takes the word if it is an expression rather than a path: no file of that name, and an operator
 * in it.  Errors as above. */
bool reading_take_expression(struct reading *reading, const char *word);
/* The catalogue is complete with what the environment names; reading_open() does it too.  False,
 * reported about: there is no memory. */
bool reading_catalog(struct reading *reading);
/* Makes the reader and adds the paths; without any, what live and dead processes of this user have
 * not delivered yet.  False, reported about, when a path is not there or no trace, whatever the
 * others are: a number or a list that lacks it would be wrong. */
bool reading_open(struct reading *reading);
/* The same without any path: for events that come from elsewhere (ct_reader_take()). */
bool reading_open_empty(struct reading *reading);
/* What is read from here on is read again: notes of it are withheld. */
void reading_look(struct reading *reading);
/* Begins again, from events of since_ns on; 0: from the first.  False, reported about: what was
 * open cannot be opened again. */
bool reading_again(struct reading *reading, uint64_t since_ns);
/* Was a catalogue that was named not read?  It is reported, the traces are read without its names,
 * and the status is CMD_UNREAD. */
bool reading_lacks_catalog(const struct reading *reading);
/* One of the two readings could not read what the other has read: they are not of the same events.
 */
bool reading_differs(const struct reading *reading);
/* Tells of damage and losses in sum, and that nothing matched when `shown` is 0; frees everything.
 * The verb's exit status. */
int reading_end(struct reading *reading, uint64_t shown);
/* Frees everything, and says nothing. */
void reading_close(struct reading *reading);

#endif
