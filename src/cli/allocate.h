/*
 * cli/allocate.h - notices every allocation of the tool that fails; see ct_memory_has_lacked().
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_ALLOCATE_H
#define CT_CLI_ALLOCATE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Called first in main(): reads now what libc reads only once, while a failure can be noticed. */
void allocate_init(void);
/* Closes a stream of open_memstream().  Returns false, and notes it, when the stream could not
 * grow: libc does not report that. */
bool allocate_close_stream(FILE *stream);
/* Sets the verb's name for the message, "ctrace show" (borrowed).  A verb that goes on after a
 * failed allocation reports the failure at its end. */
void allocate_name(const char *verb, bool goes_on);
/* Returns true if an allocation has failed and the failure is reported.  Called when the tool
 * ends, also inside argp. */
bool allocate_has_failed(void);

#endif
