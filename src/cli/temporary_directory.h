/*
 * cli/temporary_directory.h - a directory that is gone when the tool has ended in any way.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_TEMPORARY_DIRECTORY_H
#define CT_CLI_TEMPORARY_DIRECTORY_H

#include <limits.h>

/* Makes NAME.XXXXXX in the directory of TMPDIR, or in /tmp.  The directory and what is in it are
 * removed when the tool ends, also by SIGKILL.  Returns 0 with an absolute path, or an errno with
 * the path that failed.  A tool makes one. */
int temporary_directory_make(const char *name, char out_path[PATH_MAX]);
/* The directory stays from now on. */
void temporary_directory_keep(void);

#endif
