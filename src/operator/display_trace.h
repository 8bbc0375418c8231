/*
 * operator/display_trace.h - DISPLAY TRACE: who is asked, and how the answers are printed.
 *
 * display_trace.c asks processes, finds presets that wait for their traces, and prints;
 * writers_ask.c asks external writers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_DISPLAY_TRACE_H
#define CT_OPERATOR_DISPLAY_TRACE_H

#include "operator/ask.h"
#include "operator/operator.h"
#include "operator/display/display.h"

/*
 * Carries out DISPLAY TRACE (command->kind is CT_OPERATOR_DISPLAY_TRACE).  Asks target's processes,
 * or with WTR the writers too, and appends the answer to *out: text or, with target->is_json, one
 * JSON document.  Messages name the processes and writers that do not answer; beside JSON they go
 * to stderr.  Returns OK; NOT_FOUND when there is no such trace, or none of these writers runs
 * (*out has the answer all the same); TIMED_OUT when a process has not answered (*out has the
 * others); NOT_ENOUGH_MEMORY.
 */
enum ctrace_status ct_display_trace(const struct ct_operator_command *command,
				    const struct target *target, struct ct_buf *out,
				    struct wto *wto) CT_MUST_USE;

/* Asks ask->peers and adds rows: their answers, and the names that no peer has.  Returns how
 * many peers gave no response.  Called before ct_display_arrange(). */
uint32_t ct_display_gather(struct ask *ask, const struct ct_operator_command *command,
			   struct ct_display *display);

/* ---- writers_ask.c */
/* Asks each writer that listens in any run directory for its status, for at most the target's
 * time, and adds the answers.  Used by ctrace stats as well.  Called before
 * ct_display_arrange().  wto NULL: writers without a response are reported on stderr. */
void ct_writers_ask(const struct target *target, struct ct_display *display, struct wto *wto);

#endif
