/*
 * operator/wto.h - the messages that operators see: one table of them all, and the only function
 * that prints them.
 *
 * Used by `ctrace op` and `ctrace console`.  A message is one line, whatever its texts contain.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_WTO_H
#define CT_OPERATOR_WTO_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "lib/control/control.h"

enum wto_id {
	ITT006A,
	IEE094D,
	IEA794I,
	IEA611I,
	ITT038I,
	ITT107I,
	ITT110I,
	ITT111I,
	IEE600I,
	IEE727I,
	CTR001E,
	CTR002E,
	CTR003I,
	CTR004I,
	CTR005I,
	CTR006I,
	CTR007I,
	CTR008I,
	CTR009I,
	CTR010I,
	CTR011I,
	CTR012I,
	CTR013I,
	CTR014I,
	CTR015I,
	CTR016I,
	CTR017I,
	CTR018I,
	CTR019I,
	CTR020I,
	CTR021I,
	CTR022I,
	CTR023I,
	CTR024I,
	CTR025I,
	CTR026I,
	CTR027I,
	CTR028I,
	CTR029I,
	CTR030I,
	CTR031I,
	CTR032I,
	CTR033I,
	CTR034I,
	IEA992I,
	CTR035I,
	CTR036I,
	CTR038I,
	/* Messages that are only explained: the first line of DISPLAY TRACE, and those of
	 * writers. */
	CTR101W,
	CTR102E,
	CTR103E,
	CTR104E,
	CTR105E,
	CTR106E,
	CTR107E,
	IEE735I,
	IEE843I,
	WTO_COUNT
};

/* How serious a message is for the command that it answers. */
enum wto_severity {
	WTO_DONE = CMD_DONE,       /* success, or information */
	WTO_REFUSED = CMD_NOTHING, /* the command was refused, or failed */
	WTO_DIAGNOSTIC = CMD_USAGE /* the command was not understood; on stderr */
};

struct wto_row {
	/* ends with I (information), A or D (an answer is awaited), W (a warning) or E (an error)
	 */
	const char *code;
	enum wto_severity severity;
	const char *text; /* each {} stands for one of the message's texts */
	const char *more; /* a sentence or two for the manual page */
};
const struct wto_row *ct_wto_row(enum wto_id id);

/* A line that is, or will be, in a writer's log as well. */
struct wto_printed {
	char writer[8];
	char text[120];
};
#define WTO_PRINTED 4u

/* Where messages go, and the worst of them so far. */
struct wto {
	/* each line begins with the time, and all lines go to stdout */
	bool is_console;
	/* the position of an error is also marked under the command */
	bool has_caret;
	int worst; /* CMD_* */
	/* lines of writers since the console last looked; the newest are kept */
	unsigned printed_count;
	struct wto_printed printed[WTO_PRINTED];
};
/* Prints a message.  `texts` has one text for each {}, and ends with NULL.  The first text of
 * ITT006A and IEE094D is the reply's number. */
void ct_wto_texts(struct wto *wto, enum wto_id id, const char *const *texts);
/* ct_wto(&wto, CTR003I, number, NULL) */
#define ct_wto(wto, id, ...) ct_wto_texts(wto, id, (const char *const[]){ __VA_ARGS__ })
/* Reports a text that does not parse; with has_caret a caret under it marks the error. */
void ct_wto_diagnostic(struct wto *wto, enum wto_id id, struct ct_span text,
		       const struct ct_diagnostic *diagnostic);
/* Marks the command as failed, whatever its messages were. */
void ct_wto_fail(struct wto *wto);
/* Notes that this writer's log has the same line, so that a console does not show it twice. */
void ct_wto_note_printed(struct wto *wto, const char *writer, const char *text);
/* Prints a line of a writer's log. */
void ct_wto_line(const struct wto *wto, const char *text, size_t size);

#endif
