/*
 * got.h - writing functions into the tables of loaded objects.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COBOL_RUNTIME_GOT_H
#define CT_COBOL_RUNTIME_GOT_H

/* From now on ct_got_patch() does its work, now for the first time. */
void ct_got_begin(void);
/* libcob's own calls of sigaction() lead to failure.c. */
void ct_got_change_libcob(void);

#endif
