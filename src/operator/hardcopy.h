/*
 * operator/hardcopy.h - the hardcopy log: what operators typed, and what was answered.
 *
 * The key ctrace.log of the configuration that MFTRACE_CONFIG names for the operator's tool is a
 * file, or the word "journal".  Without it there is no log.  Used by the tools, on one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_HARDCOPY_H
#define CT_OPERATOR_HARDCOPY_H

#include "base/base.h"

/* Reads the configuration, once.  Returns false, with the reason in why, when there is to be a log
 * and it cannot be opened. */
bool ct_hardcopy_open(char why[200]) CT_MUST_USE;
/* Records a command, with the operator's user and the process of the console. */
void ct_hardcopy_command(const char *text, size_t size);
/* Records an answer: one line, or several. */
void ct_hardcopy_answer(const char *text, size_t size);
void ct_hardcopy_close(void);

#endif
