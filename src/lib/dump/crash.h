/*
 * lib/dump/crash.h - what a process notes when it dies of a signal, for a dump that others make.
 *
 * The file CT_CRASH_FILE in the process directory has lines "key: value": first those of the dump
 * directory ("directory", "keep", "size"), and after a crash "signal", "handled" (the program's own
 * handler was next), "address", "thread", "register" and "frame" with addresses.  "exit" has the
 * reason of a dump at the end that could not be made.  Behind the line "maps:" it is
 * /proc/self/maps.
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

#endif
