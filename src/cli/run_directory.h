/*
 * cli/run_directory.h - the directories that operators' tools keep beside those of traced processes
 * in the run directory.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_RUN_DIRECTORY_H
#define CT_CLI_RUN_DIRECTORY_H

#include "base/base.h"

/* Whose run directory: where the processes are, or where the operator keeps what is his own.  They
 * differ for a member of another user's ctrace.operators. */
enum ct_run_directory_of { CT_RUN_OF_PROCESSES, CT_RUN_OF_OPERATOR };
/* The directory `name` of the run directory: makes it when it is missing, opens it, and
 * reports its path.  DENIED when it is a link, another user's, or others may write to it; out_path
 * is where the error is then.  *out_fd is the caller's. */
enum ctrace_status ct_run_directory_open(const char *name, enum ct_run_directory_of of,
					 char out_path[4096], int *out_fd) CT_MUST_USE;

#endif
