/*
 * source_foreign.c - stand-in.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

enum ctrace_status ct_source_foreign_add(struct ct_sources *sources, const char *folder, const char *only) { (void)sources; (void)folder; (void)only; return CTRACE_UNSUPPORTED; }
