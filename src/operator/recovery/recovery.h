/*
 * operator/recovery/recovery.h - delivers what dead processes left, for `ctrace recover` and on the
 * way of other verbs.
 *
 * Called on the tool's thread; ct_recovery_everywhere() and ct_recovery_named() on the thread of
 * recovery_watch.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_RECOVERY_H
#define CT_OPERATOR_RECOVERY_H

#include "lib/consumer/consumer.h"

/* What one pass over run directories has found so far. */
struct ct_recovery_sweep {
	bool is_quiet;
	bool is_dry;
	uint32_t others; /* directories of other users, which only they and root may recover */
	/* children that died, and process directories that are no directories */
	uint32_t broken;
	struct ct_recovery total;
};

/* Recovers in every run directory that this user may look into.  sweep: a struct
 * ct_recovery_sweep. */
void ct_recovery_everywhere(void *sweep);
/* Recovers in one run directory.  Reports a path that is no run directory on stderr. */
void ct_recovery_named(struct ct_recovery_sweep *sweep, const char *path);
/* Delivers and removes what dead processes left in every run directory that this user may look
 * into, without reports.  What cannot be delivered stays for `ctrace recover`, which reports
 * why.  A recovery that makes no progress is reported, and continues on its thread without the
 * verb; `verb` is for the message. */
void ct_recovery_on_the_way(const char *verb);
/* Reports on stderr the run directories that this user would use but that cannot be used, and
 * why. Returns their number. */
uint32_t ct_recovery_report_refused(const char *verb);

#endif
