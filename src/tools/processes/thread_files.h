/*
 * tools/processes/thread_files.h - lines of events in a file for each thread, in a directory.
 *
 *     thread_files_open(&files, directory, "log");
 *     thread_files_begin(&files, event): add the line to the buffer that it returns; ...;
 *     thread_files_end(&files, verb)
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_PROCESSES_THREAD_FILES_H
#define CT_TOOLS_PROCESSES_THREAD_FILES_H

#include "print/distinct.h"
#include "print/print.h"
#include "read/read.h"

struct thread_file {
	struct ct_buf text; /* that is not written yet */
	bool is_begun;
};
struct thread_files {
	const char *directory, *suffix; /* borrowed */
	int fd;                         /* of the directory */
	bool is_made;                   /* the directory was not there */
	/* file names contain the host, because there are several */
	bool has_host;
	struct ct_distinct names;
	struct thread_file *items; /* one for each name */
	uint32_t capacity;
	size_t waiting; /* bytes of text in all of them */
	int error;      /* errno of the first failure: then nothing more is written */
};
/* Makes the directory, which must be empty if it exists.  Returns false, with errno. */
bool thread_files_open(struct thread_files *files, const char *directory, const char *suffix);
/* Returns the buffer for the event's line; NULL when nothing more can be written. */
struct ct_buf *thread_files_begin(struct thread_files *files, const struct ct_read_event *event);
/* Writes the remaining lines and frees everything.  Returns false, removes the files and reports
 * it, when something could not be written. */
bool thread_files_end(struct thread_files *files, const char *verb);

#endif
