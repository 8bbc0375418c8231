/*
 * cli/new_file.h - a file that gets its name when it is complete, and leaves nothing behind when it
 * is not.
 *
 *     new_file_open(&file, path); write to file.fd; new_file_end(&file, is_complete); at the end of
 * the verb new_file_die()
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_NEW_FILE_H
#define CT_TOOLS_NEW_FILE_H

#include <signal.h>
#include <stdbool.h>

/* SIGINT, SIGTERM or SIGHUP has come since new_file_catch(): its number.  The verb ends its work
 * soon, and cleans up. */
extern volatile sig_atomic_t new_file_interrupted;
void new_file_catch(void);
/* Dies of the signal that has come, if one has: after everything was cleaned up. */
void new_file_die(void);

struct new_file {
	const char *path; /* borrowed */
	int fd;
	bool is_special; /* a terminal, a pipe, /dev/null: nothing is put in its place */
	char *named;     /* its name until it is complete; NULL: it has none */
};
/* False, with errno: it cannot be made. */
bool new_file_open(struct new_file *file, const char *path);
/* Closes it; a complete one takes its name, in the place of what had it.  False, with errno: that
 * failed, and nothing is left. */
bool new_file_end(struct new_file *file, bool is_complete);

#endif
