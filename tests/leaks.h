/*
 * leaks.h - in which processes of a test program LeakSanitizer looks for leaks.
 *
 * One source file of a program includes it: tests/process/scenario.h does, and tests/groups.c.in.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef LEAKS_H
#define LEAKS_H

#include <unistd.h>

static pid_t leaks_program;

__attribute__((constructor)) static void leaks_note_program(void)
{
	leaks_program = getpid();
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
	return getpid() != leaks_program && getppid() != leaks_program;
}

#endif
