/*
 * base/private_directory.h - a directory that is this user's alone, in one that all users share.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BASE_PRIVATE_DIRECTORY_H
#define CT_BASE_PRIVATE_DIRECTORY_H

#include "base/base.h"

#include <sys/stat.h>

/* Returns OK for a directory that is ours, is not a link, and that nobody else may write to.
 * NOT_FOUND: there is nothing.  DENIED, with errno: out_why completes a sentence with whose it is
 * and what to do: "it is a symbolic link of user 1002; remove it". */
#define CT_PRIVATE_WHY_SIZE 160
enum ctrace_status ct_private_inspect(const char *path,
				      char out_why[CT_PRIVATE_WHY_SIZE]) CT_MUST_USE;
/*
 * Makes the directory, 0700, when it is missing.  Anyone can make one of this name in a shared
 * directory.  So where it is another user's, path becomes that of one of ours beside it, with a dot
 * and six letters at its end, which is made when there is none.  room: of path.  Otherwise as
 * ct_private_inspect().
 */
enum ctrace_status ct_private_make(char *path, size_t room,
				   char out_why[CT_PRIVATE_WHY_SIZE]) CT_MUST_USE;
/* Calls each for the directories that ct_private_make() may have made for this path; for the path
 * itself, existing or not, unless it is another user's and there is one beside it. */
void ct_private_each(const char *path, void (*each)(const char *path, void *user), void *user);
/* "a symbolic link" */
const char *ct_private_kind(mode_t mode);
/* True if the name is that of a directory of the user with this number: "1000", "1000.Ab3dEf". */
bool ct_private_is_of(const char *name, uid_t uid);

#endif
