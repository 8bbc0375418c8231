/*
 * failure.h - run-time errors and signals, for run_unit.c and got.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COBOL_RUNTIME_FAILURE_H
#define CT_COBOL_RUNTIME_FAILURE_H

#include "cobol_runtime/cobol_runtime.h"

#include <signal.h>

/* What libcob calls in place of sigaction(): a handler that it installs is called by one that
 * traces the signal first.  Dispositions stay as libcob sets them. */
int ct_failure_sigaction(int number, const struct sigaction *action, struct sigaction *former);
/* The same for the handlers that libcob had installed before. */
void ct_failure_take_over(void);

#endif
