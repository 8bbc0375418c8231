/*
 * lib/process/message_log.h - messages of this process for operators: what a trigger did, and what
 * a member of ctrace.operators asked for.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PROCESS_MESSAGE_LOG_H
#define CT_PROCESS_MESSAGE_LOG_H

#include "base/base.h"

/* In the run directory: lines "hh.mm.ss TEXT", which open consoles show. */
#define CT_MESSAGE_LOG "messages.log"
#define CT_MESSAGE_LOG_LIMIT ((uint64_t)256 << 10) /* bytes; a longer one is begun anew */

/* Appends a line for the consoles, under no lock.  A character that could forge a line is escaped.
 * A line that cannot be written is lost. */
void ct_message_log_console(const char *text);
/* Appends a line to the log that ctrace.log names, as the operator's tools do
 * (operator/hardcopy.c), under the same rules.  mark: '>' for a command, ' ' for its result. */
void ct_message_log_hardcopy(const char *user, uint32_t pid, char mark, const char *text);
/* A line of a hardcopy log, without its end: `when`, the user, the process id, the mark and the
 * text, in which a character that could forge a line is escaped. */
#define CT_HARDCOPY_TIME "%Y-%m-%d %H.%M.%S "
void ct_message_log_add_hardcopy(struct ct_buf *line, const char *when, const char *user,
				 uint32_t pid, char mark, struct ct_span text);
/* "process 4711 JOBNAME SHOP", of this process */
#define CT_MESSAGE_LOG_PROCESS 64u
void ct_message_log_process(char out_text[CT_MESSAGE_LOG_PROCESS]);

#endif
