/*
 * lib/component/writer_link.h - the traced process's side of an external writer.
 *
 * Any thread, not in a signal handler.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COMPONENT_WRITER_LINK_H
#define CT_COMPONENT_WRITER_LINK_H

#include "lib/component/component.h"

/* destinations for the first writer of a process at most: leaves some for others */
#define CT_WRITERS_SHARE 12u

/* Connects a component to a writer (1 to 7 characters); "" disconnects it.  OK also when the
 * writer does not run: the events go to the component's destinations until it starts.
 * NOT_ENOUGH_MEMORY: too many writers or channels. */
enum ctrace_status ct_writer_set(const char *component, size_t size,
				 const char *writer) CT_MUST_USE;
/* Removes the component's own setting; it uses its parent's writer. */
void ct_writer_reset(const char *component, size_t size);
bool ct_writer_is_connected(const char *writer);
/* number in the session; 0: no trace of this process has named it */
uint32_t ct_writer_number(const char *writer);
/* The writer has started: connects to it if one of our traces wants it, and returns true then.  On
 * the server's thread. */
bool ct_writer_up(const char *writer, size_t size);
void ct_writer_forked(void); /* in a forked child that has attached: makes links of its own */

#endif
