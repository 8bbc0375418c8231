/*
 * copybook.c - COBOL records.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook.h"

void ct_copybook_destroy(struct ct_copybook *copybook) { (void)copybook; }
