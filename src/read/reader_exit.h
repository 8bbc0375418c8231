/*
 * read/reader_exit.h - filter and formatting exits for printers: finds them by name, calls them and
 * acts on their answers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_READER_EXIT_H
#define CT_READ_READER_EXIT_H

#include "read/read.h"
#include <ctrace/reader.h>

#define CT_EXIT_REREADS 16u

enum ct_exit_kind { CT_EXIT_FILTER, CT_EXIT_FORMATTER };
/* What the printer does with an event. */
enum ct_exit_answer {
	CT_EXIT_SHOW,     /* a formatter: it has printed the event */
	CT_EXIT_HIDE,     /* a formatter: print it as hexadecimal */
	CT_EXIT_AGAIN,    /* start again from the first event */
	CT_EXIT_END,      /* end the run */
	CT_EXIT_UNDEFINED /* report it and show the event; the exit is not called again */
};

struct ct_reader_exit {
	enum ct_exit_kind kind;
	ctrace_exit *code; /* NULL: none, or not called any more */
	char name[CTRACE_MAX_EMITTER + 1];
	void *module;
	void *work_area;
	unsigned rereads;
	bool is_open; /* the module was found */
	int answer;   /* the last one, for a message */
};
/* Loads NAME.so from the directories of linklist, with its ctrace_filter_exit or
 * ctrace_format_exit.  Returns NOT_FOUND when the file or the function is missing, or may not be
 * loaded; the exit then answers CT_EXIT_SHOW (a filter) or CT_EXIT_HIDE (a formatter). */
enum ctrace_status ct_reader_exit_open(struct ct_reader_exit *exit, enum ct_exit_kind kind,
				       const char *linklist, const char *name) CT_MUST_USE;
void ct_reader_exit_close(struct ct_reader_exit *exit);
struct ct_exit_context {
	const char *options; /* or NULL */
	int report;
	void (*print)(const char *text, size_t size, void *user); /* a formatter's lines */
	void *user;
};
enum ct_exit_answer ct_reader_exit_call(struct ct_reader_exit *exit,
					const struct ct_read_event *event,
					const struct ct_exit_context *context);
/* Makes the final call, unless an exit has ended the run. */
void ct_reader_exit_finish(struct ct_reader_exit *exit, const struct ct_exit_context *context);

#endif
