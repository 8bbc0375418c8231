/*
 * own_directory.c - what is beside the file that this code was loaded from.
 *
 * Called where parts of ctrace look for each other: modules, catalogues, the library that `ctrace
 * run` preloads.  What was built with this code fits it better than what is installed.  Any thread;
 * needs room for a path on the stack.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef CT_CATALOG_DIR
#define CT_CATALOG_DIR "/usr/local/share/ctrace/catalog"
#endif

bool ct_own_directory(const char *name, char out_path[4096])
{
	static const char here[] = "here";
	char program[PATH_MAX];
	const char *file = NULL, *slash;
	size_t size = strlen(name) + 1;
	Dl_info info;

	/* Whoever starts a set-uid program chooses the path that it has. */
	if (getauxval(AT_SECURE) != 0)
		return false;
	if (dladdr(here, &info) != 0 && info.dli_fname != NULL && info.dli_fname[0] == '/') {
		file = info.dli_fname;
	} else {
		ssize_t got = readlink("/proc/self/exe", program, sizeof program - 1);

		if (got <= 0)
			return false;
		program[got] = '\0';
		file = program;
	}
	slash = strrchr(file, '/');
	if (slash == NULL || (size_t)(slash - file) + 1 + size > PATH_MAX)
		return false;
	memcpy(out_path, file, (size_t)(slash - file) + 1);
	memcpy(out_path + (slash - file) + 1, name, size);
	return true;
}

void ct_installed_catalog(char out_path[4096])
{
	if (!ct_own_directory("catalog", out_path) || access(out_path, F_OK) != 0)
		memcpy(out_path, CT_CATALOG_DIR, sizeof CT_CATALOG_DIR);
}
