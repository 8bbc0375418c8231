/*
 * cli/allocate.h - notices every allocation of the tool that fails; see ct_memory_has_lacked().
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_ALLOCATE_H
#define CT_TOOLS_ALLOCATE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* First of all: reads what libc reads only once, while a failure can be noticed. */
void allocate_init(void);
/* Closes what open_memstream() has opened.  False, noted, when it could not grow: libc does not
 * report that. */
bool allocate_close_stream(FILE *stream);
/* For the message, "ctrace show" (borrowed).  A verb that goes on after a failed allocation reports
 * it at its end. */
void allocate_name(const char *verb, bool goes_on);
/* When the tool ends, also inside argp: an allocation has failed, and the user knows. */
bool allocate_has_failed(void);

#endif
