/*
 * operator/writer_control.h - WTRSTART and WTRSTOP: an external writer is started as a process of
 * its own, or asked to end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_WRITER_CONTROL_H
#define CT_TOOLS_WRITER_CONTROL_H

#include "operator/wto.h"

struct writer_start {
	const char *name; /* any case */
	bool has_mode;    /* WRAP or NOWRAP is said */
	bool nowrap;
	bool may_run; /* no word about it when it runs already */
};
/* Starts `ctrace writer NAME` without a terminal and waits until it is ready.  True when the writer
 * runs now; what came of it is said. */
bool ct_writer_start(const struct writer_start *start, struct wto *wto);
/* Asks it to end, and waits until it has.  True when it has; what came of it is said. */
bool ct_writer_stop(const char *name, bool noflush, struct wto *wto);

#endif
