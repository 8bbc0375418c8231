/*
 * tools/traces/host_clocks.h - reports by how much the times of several hosts may differ.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_HOST_CLOCKS_H
#define CT_TOOLS_TRACES_HOST_CLOCKS_H

#include "read/read.h"

/* Called when all traces are added.  Reports on stderr, in a line each: by how much the times of
 * the two hosts with the largest errors may differ, and which clocks are not synchronised.  Nothing
 * when the traces are of one host, or without a word about its clock. */
void host_clocks_report(const char *verb, const struct ct_reader *reader);

#endif
