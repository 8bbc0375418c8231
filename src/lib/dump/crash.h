/*
 * lib/dump/crash.h - what a process notes when it dies of a signal, for a dump that others make.
 *
 * The file CT_CRASH_FILE in the process directory has three parts, with lines "key: value"; the
 * first two are filled up with empty lines:
 *
 *     0                          the dump directory: "directory", "keep", "size"
 *     CT_CRASH_HEAD_SIZE         after a crash "signal", "handled" (the program's own handler was
 *                                next), "address", "thread", "register" and "frame" with addresses;
 *                                or "exit", the reason of a dump at the end that could not be made
 *     ... + CT_CRASH_NOTE_SIZE   "maps:" and /proc/self/maps, of the last note that has a stack
 *
 * Only a file that is longer than its first part has a note.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CRASH_H
#define CT_CRASH_H

#include "lib/process/process.h"

/* Follows ctrace.dump.on and what triggers add to it: makes the file and installs the handlers, or
 * restores the former actions.  Called by a thread that attaches or changes the settings. */
void ct_crash_follow(struct ct_process *process);
/* At the end of the process: has a fatal signal been noted, and did its handler end the process?
 * The process directory then stays for the dump. */
bool ct_crash_ends_process(void);
/* At the end of the process: a dump with that reason cannot be made.  Notes it, so that whoever
 * finds the storage makes the dump, or reports why not. */
void ct_crash_leave(const char *reason);
/* In a forked child. */
void ct_crash_forked(void);

#endif
