/*
 * tools/traces/catalog_draft.h - a first catalogue of what traces hold.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_CATALOG_DRAFT_H
#define CT_TOOLS_TRACES_CATALOG_DRAFT_H

#include "base/base.h"

/* Adds the catalogue's text.  The exit status: as that of verbs that read traces. */
int catalog_draft(char **paths, size_t count, struct ct_buf *out);

#endif
