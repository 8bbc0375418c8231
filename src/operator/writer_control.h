/*
 * operator/writer_control.h - WTRSTART and WTRSTOP: starts an external writer as a process of its
 * own, or asks one to end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_WRITER_CONTROL_H
#define CT_OPERATOR_WRITER_CONTROL_H

#include "operator/wto.h"

struct writer_start {
	const char *name; /* any case */
	bool has_mode;    /* WRAP or NOWRAP was given */
	bool nowrap;
	bool may_run; /* a writer that runs already is not reported */
};
/* Starts `ctrace writer NAME` without a terminal, waits until it is ready, and reports the
 * result. Returns true when the writer runs now. */
bool ct_writer_start(const struct writer_start *start, struct wto *wto);
/* Asks the writer to end, waits until it has ended, and reports the result.  Returns true when
 * it has ended. */
bool ct_writer_stop(const char *name, bool noflush, struct wto *wto);
/* Reports the writers of the run directory that have died since somebody last looked: here, and in
 * their logs. */
void ct_writers_report_ended(struct wto *wto);

#endif
