/*
 * tools/streams/spool_forward.h - `ctrace forward --spool`: sends what programs put into a spool.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_STREAMS_SPOOL_FORWARD_H
#define CT_TOOLS_STREAMS_SPOOL_FORWARD_H

/* Serves the spool until SIGINT or SIGTERM comes.  directory: NULL for the one that the environment
 * and the machine name.  Root serves, of a shared directory, the spools of all users, each with the
 * rights of its owner.  Returns the verb's exit status. */
int spool_forward(const char *verb, const char *directory);

#endif
