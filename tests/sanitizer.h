/*
 * sanitizer.h - what a test has to know of the sanitizer that it may be built with.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef SANITIZER_H
#define SANITIZER_H

#include <stdbool.h>

/*
 * The sanitizer itself maps terabytes of addresses: no limit on address space is possible.  A child
 * that is forked while another thread allocates memory waits for ever for a lock of the sanitizer's
 * allocator.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/* ThreadSanitizer reports a race that a test makes on purpose. */
#if defined(__SANITIZE_THREAD__)
#define IS_THREAD_SANITIZED true
#else
#define IS_THREAD_SANITIZED false
#endif

#endif
