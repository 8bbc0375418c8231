/*
 * base/temporary_file.h - files for data that memory cannot hold.  They have no name, and disappear
 * with their descriptor.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BASE_TEMPORARY_FILE_H
#define CT_BASE_TEMPORARY_FILE_H

/* Returns the directory of TMPDIR, or else `otherwise`. */
const char *ct_temporary_directory(const char *otherwise);
/* Opens a new file for reading and writing.  Returns a negative number, with errno, when the
 * directory is missing or takes no file. */
int ct_temporary_open(const char *directory);

#endif
