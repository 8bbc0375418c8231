/*
 * cli/user_file.h - a small text file of the user's: options, groups.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CLI_USER_FILE_H
#define CT_CLI_USER_FILE_H

#include "base/base.h"

#define USER_FILE_WHY_SIZE 128
/* Why a file cannot be used; `line` is 0 when the reason concerns the whole file. */
struct user_file_failure {
	uint32_t line;
	char why[USER_FILE_WHY_SIZE];
};
/* Reads a file without a byte order mark; `what` names its kind for messages, as "options".
 * Returns false when it is no regular file, cannot be read, is too large or has a NUL byte. */
bool user_file_read(const char *path, const char *what, struct ct_buf *out_text,
		    struct user_file_failure *out_failure) CT_MUST_USE;

#endif
