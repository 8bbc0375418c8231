/*
 * cobol_library.c - finds libctrace-cobol.so, and which libcob it is for, for `ctrace run` and
 * `ctrace doctor`.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/cobol_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/cli.h"

#define LIBRARY_LIMIT ((size_t)16 << 20)

#ifndef CT_LIBRARY_DIR
#define CT_LIBRARY_DIR "/usr/local/lib"
#endif

bool cobol_library_find(char out_path[PATH_MAX])
{
	if (ct_own_directory(COBOL_LIBRARY, out_path) && access(out_path, R_OK) == 0)
		return true;
	(void)snprintf(out_path, PATH_MAX, "%s/%s", CT_LIBRARY_DIR, COBOL_LIBRARY);
	return access(out_path, R_OK) == 0;
}

void cobol_library_built_for(const char *path, char out[COBOL_VERSION_SIZE])
{
	static const char mark[] = "ctrace-cobol is built for libcob ";
	const char *found = NULL;
	struct ct_buf text;
	size_t left = 0;

	ct_buf_init(&text);
	if (ct_os_read_file(path, LIBRARY_LIMIT, &text) == CTRACE_OK && text.size > 0)
		found = memmem(text.data, text.size, mark, sizeof mark - 1);
	if (found != NULL) {
		found += sizeof mark - 1;
		left = (size_t)(text.data + text.size - found);
	}
	(void)snprintf(out, COBOL_VERSION_SIZE, "%.*s",
		       (int)(left < COBOL_VERSION_SIZE ? left : COBOL_VERSION_SIZE - 1),
		       found != NULL ? found : "");
	ct_buf_fini(&text);
}

static _Noreturn void version_write(const char *path, int to)
{
	void *libcob = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	const char *(*version)(void) = NULL;

	if (libcob != NULL)
		version = (const char *(*)(void))(uintptr_t)dlsym(libcob, "libcob_version");
	if (version != NULL)
		(void)!write(to, version(), strnlen(version(), COBOL_VERSION_SIZE - 1));
	_exit(0);
}

void cobol_libcob_version(const char *path, char out[COBOL_VERSION_SIZE])
{
	int ends[2];
	pid_t child;
	ssize_t size;

	out[0] = '\0';
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	child = fork();
	if (child == 0)
		version_write(path, ends[1]);
	(void)close(ends[1]);
	size = TEMP_FAILURE_RETRY(read(ends[0], out, COBOL_VERSION_SIZE - 1));
	out[size > 0 ? size : 0] = '\0';
	(void)close(ends[0]);
	if (child > 0)
		(void)TEMP_FAILURE_RETRY(waitpid(child, NULL, 0));
}
