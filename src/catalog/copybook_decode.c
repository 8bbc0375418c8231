/*
 * copybook_decode.c - fields of COBOL records.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook.h"

bool ct_copybook_decode(const struct ct_copybook *copybook, const void *bytes, size_t size, const struct ct_field_visitor *visitor, size_t *out_left_over) { (void)copybook; (void)bytes; (void)size; (void)visitor; (void)out_left_over; return false; }
