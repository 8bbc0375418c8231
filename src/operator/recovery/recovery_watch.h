/*
 * operator/recovery/recovery_watch.h - a recovery on a thread of its own, so that an output that
 * hangs holds up no verb.
 *
 * The verb's thread calls ct_recovery_run(); the recovering thread reports each step that it makes.
 * One recovery runs at a time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_RECOVERY_WATCH_H
#define CT_OPERATOR_RECOVERY_WATCH_H

#include <stdbool.h>

/* What a recovery does now, for a message.  Small enough for one atomic write to a pipe. */
struct recovery_place {
	char directory[1400]; /* "/run/ctrace/1234.0"; "": none yet */
	char output[1400];    /* "TEXTFILE /var/log/app.log"; "": no emitter's method runs */
};

enum recovery_patience {
	RECOVERY_GOES_ON, /* waits no longer for a recovery that makes no progress */
	RECOVERY_WAITS    /* until the recovery has ended */
};

/* Runs body(argument) on a thread of its own.  A recovery without progress for two seconds is
 * reported on stderr; RECOVERY_GOES_ON then returns.  The recovery may still run when the tool
 * ends, so `argument` must live as long.  If the recovery of an earlier call still runs, this
 * call waits for that one in the same way, and starts none. */
void ct_recovery_run(void (*body)(void *argument), void *argument, const char *verb,
		     enum recovery_patience patience);
/* On the recovering thread: the recovery makes progress. */
void ct_recovery_note(const struct recovery_place *place);
/* Returns true while a recovery runs; the tool must not wait for it at its end. */
bool ct_recovery_runs(void);

#endif
