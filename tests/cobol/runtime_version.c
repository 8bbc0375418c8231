/*
 * runtime_version.c - preloaded: a run time of a version that ctrace does not know.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const char *libcob_version(void);

const char *libcob_version(void)
{
	return "4.1.0";
}
