/*
 * tools/runs/cobol_library.h - libctrace-cobol.so and the libcob that it is for.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_RUNS_COBOL_LIBRARY_H
#define CT_TOOLS_RUNS_COBOL_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

#define COBOL_LIBRARY "libctrace-cobol.so"
#define COBOL_VERSION_SIZE 32u

/* Beside the tool, or installed.  Returns false when it is neither; then the path is that of an
 * installation. */
bool cobol_library_find(char out_path[PATH_MAX]);
/* "3.1": the version of libcob whose structures the library reads; "": it cannot be read. */
void cobol_library_built_for(const char *path, char out[COBOL_VERSION_SIZE]);
/* "3.1.2": what the libcob of this path reports; "": it cannot be loaded.  In a process of its
 * own. */
void cobol_libcob_version(const char *path, char out[COBOL_VERSION_SIZE]);

#endif
