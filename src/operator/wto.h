/*
 * operator/wto.h - the messages that operators see: one table of them all, and the one way out.
 *
 * Used by `ctrace op` and `ctrace console`.  A message is one line, whatever its texts hold.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_WTO_H
#define CT_TOOLS_WTO_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "lib/control/control.h"

enum wto_id {
	ITT006A,
	ITT038I,
	ITT110I,
	ITT111I,
	IEE600I,
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
	CTR030I,
	/* Only explained: what DISPLAY TRACE begins with, and what writers say. */
	CTR101W,
	CTR102E,
	CTR103E,
	CTR104E,
	CTR105E,
	CTR106E,
	CTR107E,
	IEE843I,
	WTO_COUNT
};

/* What a message says of the command that it answers. */
enum wto_severity {
	WTO_DONE = CMD_DONE,       /* something worked, or is only told */
	WTO_REFUSED = CMD_NOTHING, /* something did not */
	WTO_DIAGNOSTIC = CMD_USAGE /* the command was not understood; on stderr */
};

struct wto_row {
	/* ends with I (information), A (an answer is awaited), W (a warning) or E (an error or
	 * error) */
	const char *code;
	enum wto_severity severity;
	const char *text; /* each {} is a text that goes with it */
	const char *more; /* a sentence or two for the manual page */
};
const struct wto_row *ct_wto_row(enum wto_id id);

/* A line that a writer's log has as well, or will have. */
struct wto_said {
	char writer[8];
	char text[120];
};
#define WTO_SAID 4u

/* Where messages go, and the worst that was said. */
struct wto {
	bool is_console;     /* each line has the time before it, and all go to stdout */
	bool has_caret;      /* an error is shown under the command, too */
	int worst;           /* CMD_* */
	unsigned said_count; /* of writers, since the console looked; the newest are kept */
	struct wto_said said[WTO_SAID];
};
/* Prints a message; `texts` are as many as it has {}, and NULL.  ITT006A has the reply's number
 * first. */
void ct_wto_texts(struct wto *wto, enum wto_id id, const char *const *texts);
/* ct_wto(&wto, CTR003I, number, NULL) */
#define ct_wto(wto, id, ...) ct_wto_texts(wto, id, (const char *const[]){ __VA_ARGS__ })
/* A text that does not parse, with a caret below it where has_caret. */
void ct_wto_diagnostic(struct wto *wto, enum wto_id id, struct ct_span text,
		       const struct ct_diagnostic *diagnostic);
/* The command has failed, whatever was said of it. */
void ct_wto_fail(struct wto *wto);
/* What was just said is in this writer's log, too, in these words: a console does not show it
 * twice. */
void ct_wto_note_said(struct wto *wto, const char *writer, const char *text);
/* A line that is somebody else's, of a writer's log. */
void ct_wto_line(const struct wto *wto, const char *text, size_t size);

#endif
