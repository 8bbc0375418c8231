/*
 * cli/new_file.h - a file that gets its name when it is complete, and is removed otherwise.
 *
 *     new_file_open(&file, path, NEW_FILE_OF_TRACE);
 *     write to file.fd;
 *     new_file_end(&file, is_complete);
 *     new_file_die();                     at the end of the verb
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_NEW_FILE_H
#define CT_CLI_NEW_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* The number of SIGINT, SIGTERM or SIGHUP, if one has come since new_file_catch().  The verb
 * then ends its work soon, and cleans up. */
extern volatile sig_atomic_t new_file_interrupted;
void new_file_catch(void);
/* Dies of the signal that has come, if any.  Called after everything was cleaned up. */
void new_file_die(void);

struct new_file {
	const char *path; /* borrowed */
	int fd;
	/* a terminal, a pipe, /dev/null: written in place and never replaced */
	bool is_special;
	char *named; /* the temporary name; NULL: it has none */
};
/* What is written about a trace is for its owner alone, as the trace is. */
#define NEW_FILE_OF_TRACE 0600
#define NEW_FILE_OF_CATALOG 0666 /* what the umask leaves of it */
/* Returns false, with errno, when the file cannot be made. */
bool new_file_open(struct new_file *file, const char *path, mode_t mode);
/* Closes the file.  A complete file takes its name and replaces what had that name.  Returns
 * false, with errno, when that failed; then nothing is left. */
bool new_file_end(struct new_file *file, bool is_complete);

#endif
