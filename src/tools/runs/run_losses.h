/*
 * tools/runs/run_losses.h - the events of a `ctrace run` that are not in its trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_RUNS_RUN_LOSSES_H
#define CT_TOOLS_RUNS_RUN_LOSSES_H

#include "base/base.h"
#include "lib/emit/binfile.h"
#include "session/session.h"
#include <ctrace/event.h>

struct run_losses {
	uint64_t lost[CTRACE_LOSS_COUNT];
	uint64_t lost_total;
	uint64_t waiting;                /* events in rings of processes that have ended */
	uint32_t failing;                /* errno of the first failure */
	uint32_t processes;              /* that have a directory in a run directory */
	uint32_t alive;                  /* of these */
	uint32_t dead;                   /* directories of dead processes, of this and other runs */
	struct ct_bin_left_out left_out; /* the trace was at its limit */
	struct ct_unattached unattached; /* count 0: each process got a directory */
	bool is_killed;                  /* the program, or one that its shell ran */
};
/* Reads what the directories of the trace have left out.  Returns true if their metadata have a
 * class of event of the COBOL run time: a process has delivered one. */
bool run_losses_left_out(const char *trace, struct ct_bin_left_out *out_left_out);

/* Reads the process directories of the run with this number. */
void run_losses_gather(const char *run, struct run_losses *out_losses);
/* Finds whether a process has got no directory since then: what it lost is not gathered. */
void run_losses_find_unattached(uint64_t since_ns, struct run_losses *losses);
/* Removes the process directories of a run whose trace is removed.  Returns the events that waited
 * there. */
uint64_t run_losses_drop(const char *run);
/* Adds lines for people; nothing when all events are in the trace.  in_trace: the events there;
 * discarded: the losses that the trace itself reports. */
void run_losses_add(const struct run_losses *losses, uint64_t in_trace, uint64_t discarded,
		    struct ct_buf *out);

#endif
