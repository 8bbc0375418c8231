/*
 * base/temporary_file.h - files for what does not stay in memory: they have no name, and go with
 * their descriptor.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BASE_TEMPORARY_FILE_H
#define CT_BASE_TEMPORARY_FILE_H

/* What TMPDIR names, or else `otherwise`. */
const char *ct_temporary_directory(const char *otherwise);
/* A file to read and write.  Negative, with errno, when the directory is not there, or takes none.
 */
int ct_temporary_open(const char *directory);

#endif
