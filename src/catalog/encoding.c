/*
 * encoding.c - characters.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook.h"

void ct_encoding_add(struct ct_buf *out, enum ct_encoding encoding, const void *bytes, size_t size) { (void)encoding; ct_buf_add(out, bytes, size); }
