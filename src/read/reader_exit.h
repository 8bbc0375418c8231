/*
 * read/reader_exit.h - exits of readers as a printer uses them: found by name, called, and judged
 * by what they answer.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READER_EXIT_H
#define CT_READER_EXIT_H

#include "read/read.h"
#include <ctrace/reader.h>

#define CT_EXIT_REREADS 16u

enum ct_exit_kind { CT_EXIT_FILTER, CT_EXIT_FORMATTER };
/* What is to be done with an event. */
enum ct_exit_answer {
	CT_EXIT_SHOW,     /* a formatter: it has been shown */
	CT_EXIT_HIDE,     /* a formatter: to be shown as hexadecimal */
	CT_EXIT_AGAIN,    /* from the first event */
	CT_EXIT_END,      /* the run */
	CT_EXIT_UNDEFINED /* to be told, and the event shown; the exit is not called again */
};

struct ct_reader_exit {
	enum ct_exit_kind kind;
	ctrace_exit *code; /* NULL: none, or not to be called any more */
	char name[CTRACE_MAX_EMITTER + 1];
	void *module;
	void *work_area;
	unsigned rereads;
	bool is_open; /* it was found */
	int answer;   /* the last one, for a message */
};
/* NAME.so in the directories of linklist, and in it ctrace_filter_exit or ctrace_format_exit.
 * NOT_FOUND: it is not there, may not be loaded, or does not have it; the exit then answers
 * CT_EXIT_SHOW (a filter) or CT_EXIT_HIDE (a formatter). */
enum ctrace_status ct_reader_exit_open(struct ct_reader_exit *exit, enum ct_exit_kind kind,
				       const char *linklist, const char *name) CT_MUST_USE;
void ct_reader_exit_close(struct ct_reader_exit *exit);
struct ct_exit_context {
	const char *options; /* or NULL */
	int report;
	void (*print)(const char *text, size_t size, void *user); /* a formatter's lines */
	void *user;
};
enum ct_exit_answer ct_reader_exit_call(struct ct_reader_exit *exit, const struct ct_view *view,
					const struct ct_exit_context *context);
/* The final call; not when the run was ended by an exit. */
void ct_reader_exit_finish(struct ct_reader_exit *exit, const struct ct_exit_context *context);

#endif
