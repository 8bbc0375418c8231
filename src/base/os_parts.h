/*
 * base/os_parts.h - declarations shared by the files of the door to the operating system.
 *
 *     os.c         calls on what is open, and the faults that tests ask for
 *     os_open.c    opening, and knowing a descriptor again
 *     os_thread.c  our own threads, sleeping and waking
 *
 * os_open.c and os_thread.c call os.c, never each other.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BASE_OS_PARTS_H
#define CT_BASE_OS_PARTS_H

#include "base/base.h"

bool ct_os_must_fail(enum ct_os_call call); /* true if a test wants this call to fail; sets errno */
enum ctrace_status ct_os_status(void);      /* the status for errno */

#endif
