/*
 * operator/display_trace.h - DISPLAY TRACE: who is asked, and what the answers become.
 *
 * display_trace.c asks processes and prints; display_presets.c finds what waits for no process yet;
 * writers_ask.c asks external writers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_DISPLAY_TRACE_H
#define CT_TOOLS_DISPLAY_TRACE_H

#include "operator/ask.h"
#include "operator/operator.h"
#include "operator/display.h"

/*
 * The whole of DISPLAY TRACE (command->kind is CT_OPERATOR_DISPLAY_TRACE): asks target's processes,
 * or with WTR the writers too, and appends the answer to *out, as text or, with target->is_json, as
 * one JSON document.  Which processes and writers do not answer is said as messages, beside JSON on
 * stderr.  OK; NOT_FOUND when there is no such trace, or none of these writers runs (out says so
 * all the same); TIMED_OUT when a process that was asked has not answered (the others are in out);
 * NOT_ENOUGH_MEMORY.
 */
enum ctrace_status ct_display_trace(const struct ct_operator_command *command,
				    const struct target *target, struct ct_buf *out,
				    struct wto *wto) CT_MUST_USE;

/* How many levels below what it names the command asks for. */
uint32_t ct_display_levels_of(const struct ct_operator_command *command);
/* Asks ask->peers, and adds their answers as rows, and what none of them has.  Returns how many
 * gave no response.  Before ct_display_arrange(). */
uint32_t ct_display_gather(struct ask *ask, const struct ct_operator_command *command,
			   struct ct_display *display);

/* ---- display_presets.c */
/* Presets that the command means, of traces that no process has: behind ct_display_gather() of all
 * processes. */
void ct_display_presets(const struct ct_operator_command *command, struct ct_display *display);

/* ---- writers_ask.c */
/* Asks each writer that listens in any run directory for its status, and adds what they answer; for
 * the target's time at most.  Also for ctrace stats.  Before ct_display_arrange().  wto NULL: who
 * does not answer is reported on stderr. */
void ct_writers_ask(const struct target *target, struct ct_display *display, struct wto *wto);

#endif
