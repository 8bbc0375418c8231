/*
 * tools/traces/ipcs_status.h - STATUS of ctrace ipcs: what a dump says of itself.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_IPCS_STATUS_H
#define CT_TOOLS_TRACES_IPCS_STATUS_H

#include <stdbool.h>

/* Prints when, why and where the dump at this path was made.  Returns false when it is no dump;
 * nothing is printed then. */
bool ct_ipcs_status_print(const char *path);

#endif
