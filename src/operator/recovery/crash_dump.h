/*
 * operator/recovery/crash_dump.h - dumps of the processes that died of a signal and noted it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_CRASH_DUMP_H
#define CT_OPERATOR_CRASH_DUMP_H

/* Dumps each dead process of this user whose directory has a note of its crash, once, and reports
 * it on stderr.  The note is removed. */
void ct_crash_dump_all(const char *run_directory);

#endif
