/*
 * sanitizer.h - what a test has to know of the sanitizer that it may be built with.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef SANITIZER_H
#define SANITIZER_H

#include <stdbool.h>
#include <unistd.h>

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

static pid_t sanitizer_program;

__attribute__((constructor)) static void sanitizer_note_program(void)
{
	sanitizer_program = getpid();
}

/*
 * LeakSanitizer asks at the end of each process.  It checks the test program and its children, and
 * no children of theirs: a child of a traced process has copies of the memory of threads that do
 * not run in it.  LeakSanitizer would report what only their stacks point to, or wait for ever for
 * a lock of its allocator that one of them held.
 */
int __lsan_is_turned_off(void);
__attribute__((visibility("default"), unused)) int __lsan_is_turned_off(void)
{
	return getpid() != sanitizer_program && getppid() != sanitizer_program;
}

#endif
