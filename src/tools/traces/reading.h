/*
 * tools/traces/reading.h - what all verbs that read traces have in common: which traces, which
 * events, the catalogue, and the reports of damage.
 *
 *     static const struct argp_child children[] = { { .argp = &ct_reading_argp }, { 0 } };
 *
 *     ARGP_KEY_INIT: reading_init(&verb->reading, "ctrace stats");
 *                    state->child_inputs[0] = &verb->reading;     a struct reading
 *     ARGP_KEY_ARGS: reading_paths(...)
 *
 *     reading_open();
 *     while ((event = ct_reader_next(reading->reader)) != NULL) ...;
 *     return reading_end(&reading, shown);
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_READING_H
#define CT_TOOLS_TRACES_READING_H

#include <argp.h>

#include "print/print.h"
#include "read/read.h"

#define READING_GROUPS 16

struct reading {
	const char *verb; /* "ctrace show" */
	/* set by options */
	struct ct_catalog *catalog;
	struct ct_filter *filter; /* --filter, and its short forms, all of them at once */
	const char *groups;       /* --groups */
	const char *host, *job;   /* --host, --job; NULL: all */
	/* --group, until all options have been read */
	const char *group[READING_GROUPS];
	size_t group_count;
	char **paths;
	size_t path_count;
	/* may be set by the verb before reading_open() */
	bool has_pairs;        /* events get durations */
	bool has_inferred;     /* and inferred ends are events */
	bool pairs_are_shown;  /* also called for every note, with the verb's own user */
	bool losses_are_known; /* the verb reports losses itself: their notes are withheld */
	ct_read_report *also;  /* receives every note too, with the verb's own user */
	void *also_user;
	/* state while reading */
	/* shows progress on standard error, if that is a terminal */
	bool shows_progress;
	struct ct_reader *reader;
	bool is_quiet;         /* nothing is reported: the trace will be read again */
	uint64_t withheld;     /* notes that were withheld meanwhile */
	bool has_look;         /* there was a reading before this one */
	uint64_t look_damages; /* places that the first reading could not read */
	/* the catalogues of the environment have been read: a verb may open again */
	bool has_environment;
	bool has_failed; /* something that was named could not be read */
	/* a named path is missing or no trace, or the run directory is refused: nothing is read */
	bool is_missing;
	/* a named catalogue could not be read: the verb's status is CMD_UNREAD */
	bool lacks_catalog;
	bool has_rings;        /* some of the traces are processes */
	bool has_empty_stream; /* a stream has no trace that is read; this is reported */
	uint64_t reports;      /* lines on stderr so far */
};

/* --catalog PATH, --filter EXPRESSION, --group NAME, -c -l -e --host --since --until: a child
 * parser. Its input is a struct reading, which the verb has initialised in its own ARGP_KEY_INIT.
 * An error ends the tool with CMD_USAGE, and a mark shows the position in an expression. */
extern const struct argp ct_reading_argp;
/* --job and --pid, for verbs that have no such options of their own; the same input. */
extern const struct argp ct_reading_process_argp;
/* Does the same for a verb that has them.  pid 0, job NULL: it was not given.  Returns false, and
 * reports it, when the job cannot be an expression's text. */
bool reading_choose_process(struct reading *reading, uint32_t pid, const char *job);
/* Adds to out the address of a stream with the host and the job that the options name, which the
 * servers then select.  Returns false, and reports it, without memory. */
bool reading_address(const struct reading *reading, const char *address, struct ct_buf *out);
/* Copies of a stream what the filter's times, the host and the job may accept.  Returns the
 * directory; NULL: it failed, and that is reported. */
const char *reading_stream(const struct reading *reading, const char *address);
/* What is reported when the directory has no trace. */
extern const char reading_stream_is_empty[];
void reading_init(struct reading *reading, const char *verb);
/* True if the word names a process: it is a number, and no file has this name. */
bool reading_is_process(const char *word);
/* Notes the words as paths or process ids (borrowed). */
void reading_paths(struct reading *reading, char **words, size_t count);
/* Does the same for all words that are no options.  Expressions may stand among them; each
 * counts as given to --filter.  The words are sorted.  An error in an expression ends the tool
 * with CMD_USAGE. */
void reading_words(struct reading *reading, char **words, size_t count);
/* Adds the expression as if given to --filter.  Returns false, and reports it, when it is wrong. */
bool reading_filter(struct reading *reading, const char *expression);
/* Adds the word and returns true if it is an expression, not a path: no file has that name, and
 * it contains an operator.  Errors are handled as above. */
bool reading_take_expression(struct reading *reading, const char *word);
/* Completes the catalogue from the environment; reading_open() does this too.  Returns false,
 * and reports it, without memory. */
bool reading_catalog(struct reading *reading);
/* Makes the reader and adds the paths; without paths, the undelivered events of this user's live
 * and dead processes.  Returns false, and reports it, when any path is missing or no trace:
 * results without it would be wrong. */
bool reading_open(struct reading *reading);
/* Does the same without paths, for events from elsewhere (ct_reader_take()). */
bool reading_open_empty(struct reading *reading);
/* Marks the first of two readings: its notes are withheld. */
void reading_look(struct reading *reading);
/* Begins again, with events from since_ns on; 0: all.  Returns false, and reports it, when a
 * trace cannot be opened again. */
bool reading_again(struct reading *reading, uint64_t since_ns);
/* Returns true if a named catalogue could not be read.  This is reported, the traces are read
 * without its names, and the status is CMD_UNREAD. */
bool reading_lacks_catalog(const struct reading *reading);
/* Returns true if one of the two readings could not read what the other has read: then their
 * events differ. */
bool reading_differs(const struct reading *reading);
/* Reports totals of damage and losses, and that nothing matched when `shown` is 0.  Frees
 * everything, and returns the verb's exit status. */
int reading_end(struct reading *reading, uint64_t shown);
/* Frees everything, without a report. */
void reading_close(struct reading *reading);

#endif
