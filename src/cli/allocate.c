/*
 * allocate.c - every allocation of the tool, so that a failed one is noticed wherever it was made.
 *
 * The linker leads the tool's calls of malloc() and its relatives to the functions below (--wrap,
 * meson.build).  The tool, the readers, the catalogue and jansson call them.  A failure is noted
 * with ct_memory_note_lack() and reported at once, and the tool ends with CMD_NO_MEMORY.  So no
 * caller has to carry the failure to the exit status, and none can forget to.  Files get their
 * names only if ct_memory_has_lacked() is false.
 *
 * libc's own allocations do not come here.  Their failure is noted where libc reports it: when a
 * call that may allocate fails with ENOMEM.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/allocate.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/cli.h"
#include "cli/tool_argp.h"

/* The linker knows each function by the name that its header gives it: __getdelim, scandir64. */
#define WRAPPED(result, name, parameters) \
	result __real_##name parameters; \
	result __wrap_##name parameters

WRAPPED(void *, malloc, (size_t size));
WRAPPED(void *, calloc, (size_t items, size_t size));
WRAPPED(void *, realloc, (void *old, size_t size));
WRAPPED(void *, reallocarray, (void *old, size_t items, size_t size));
WRAPPED(char *, strdup, (const char *text));
WRAPPED(char *, strndup, (const char *text, size_t size));
int __wrap_asprintf(char **out_text, const char *format, ...) CT_PRINTF(2, 3);
int __wrap___asprintf_chk(char **out_text, int flag, const char *format, ...) CT_PRINTF(3, 4);
WRAPPED(FILE *, open_memstream, (char **out_text, size_t *out_size));
WRAPPED(ssize_t, __getdelim, (char **line, size_t *room, int end, FILE *from));
WRAPPED(FILE *, fopen64, (const char *path, const char *mode));
WRAPPED(FILE *, fdopen, (int fd, const char *mode));
WRAPPED(DIR *, opendir, (const char *path));
WRAPPED(DIR *, fdopendir, (int fd));
typedef int scandir_choose(const struct dirent64 *entry);
typedef int scandir_compare(const struct dirent64 **a, const struct dirent64 **b);
WRAPPED(int, scandir64,
	(const char *path, struct dirent64 ***out_entries, scandir_choose *choose,
	 scandir_compare *compare));
WRAPPED(char *, realpath, (const char *path, char *resolved));
WRAPPED(char *, __realpath_chk, (const char *path, char *resolved, size_t room));
WRAPPED(struct passwd *, getpwuid, (uid_t uid));
WRAPPED(error_t, argp_parse,
	(const struct argp *argp, int argc, char **argv, unsigned flags, int *out_index,
	 void *input));
WRAPPED(void *, mmap64, (void *at, size_t size, int access, int flags, int fd, off64_t offset));

static void allocate_note(bool has_failed)
{
	if (has_failed && errno == ENOMEM)
		ct_memory_note_lack();
}

static void *allocate_note_memory(void *memory, size_t size)
{
	if (memory == NULL && size != 0)
		ct_memory_note_lack();
	return memory;
}

/* The verb that runs, for the message: "ctrace show". */
static const char *running = "ctrace";
static bool goes_on;

static void error_put(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text));
}

/* Called at the first failure.  Everything that a verb would report from here on is a
 * consequence: a trace that seems damaged, a component that is not found, a second lack of
 * memory.  So this message is the last one. */
static void report_lack(void)
{
	int saved = errno;
	int nowhere;

	if (goes_on)
		return;
	error_put(running);
	error_put(": there is not enough memory; the work or the output may be incomplete\n");
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere >= 0)
		(void)dup2(nowhere, STDERR_FILENO);
	ct_os_close(&nowhere);
	errno = saved;
}

void allocate_name(const char *verb, bool verb_goes_on)
{
	running = verb;
	goes_on = verb_goes_on;
}

void allocate_init(void)
{
	ct_memory_on_lack(report_lack);
	errno = 0;
	tzset();
	allocate_note(true); /* without memory libc takes UTC for the local time */
}

void *__wrap_malloc(size_t size)
{
	return allocate_note_memory(__real_malloc(size), size);
}

void *__wrap_calloc(size_t items, size_t size)
{
	return allocate_note_memory(__real_calloc(items, size), items != 0 ? size : 0);
}

void *__wrap_realloc(void *old, size_t size)
{
	return allocate_note_memory(__real_realloc(old, size), size);
}

void *__wrap_reallocarray(void *old, size_t items, size_t size)
{
	return allocate_note_memory(__real_reallocarray(old, items, size), items != 0 ? size : 0);
}

char *__wrap_strdup(const char *text)
{
	return allocate_note_memory(__real_strdup(text), 1);
}

char *__wrap_strndup(const char *text, size_t size)
{
	return allocate_note_memory(__real_strndup(text, size), 1);
}

static int allocate_text(char **out_text, const char *format, va_list arguments)
{
	int size = vasprintf(out_text, format, arguments);

	(void)allocate_note_memory(size >= 0 ? *out_text : NULL, 1);
	return size;
}

int __wrap_asprintf(char **out_text, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = allocate_text(out_text, format, arguments);
	va_end(arguments);
	return size;
}

int __wrap___asprintf_chk(char **out_text, int flag, const char *format, ...)
{
	va_list arguments;
	int size;

	(void)flag;
	va_start(arguments, format);
	size = allocate_text(out_text, format, arguments);
	va_end(arguments);
	return size;
}

FILE *__wrap_open_memstream(char **out_text, size_t *out_size)
{
	errno = 0; /* see allocate_close_stream() */
	return allocate_note_memory(__real_open_memstream(out_text, out_size), 1);
}

bool allocate_close_stream(FILE *stream)
{
	bool is_whole = fclose(stream) == 0 && errno != ENOMEM;

	if (!is_whole)
		ct_memory_note_lack();
	return is_whole;
}

ssize_t __wrap___getdelim(char **line, size_t *room, int end, FILE *from)
{
	ssize_t size;

	errno = 0; /* getline() leaves the size alone at the end of the file */
	size = __real___getdelim(line, room, end, from);
	allocate_note(size < 0);
	return size;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	FILE *file = __real_fopen64(path, mode);

	allocate_note(file == NULL);
	return file;
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
	FILE *file = __real_fdopen(fd, mode);

	allocate_note(file == NULL);
	return file;
}

DIR *__wrap_opendir(const char *path)
{
	DIR *directory = __real_opendir(path);

	allocate_note(directory == NULL);
	return directory;
}

DIR *__wrap_fdopendir(int fd)
{
	DIR *directory = __real_fdopendir(fd);

	allocate_note(directory == NULL);
	return directory;
}

int __wrap_scandir64(const char *path, struct dirent64 ***out_entries, scandir_choose *choose,
		     scandir_compare *compare)
{
	int count = __real_scandir64(path, out_entries, choose, compare);

	allocate_note(count < 0);
	return count;
}

char *__wrap_realpath(const char *path, char *resolved)
{
	char *found = __real_realpath(path, resolved);

	allocate_note(found == NULL);
	return found;
}

char *__wrap___realpath_chk(const char *path, char *resolved, size_t room)
{
	char *found = __real___realpath_chk(path, resolved, room);

	allocate_note(found == NULL);
	return found;
}

struct passwd *__wrap_getpwuid(uid_t uid)
{
	struct passwd *found;

	errno = 0;
	found = __real_getpwuid(uid);
	allocate_note(found == NULL);
	return found;
}

void *__wrap_mmap64(void *at, size_t size, int access, int flags, int fd, off64_t offset)
{
	void *memory = __real_mmap64(at, size, access, flags, fd, offset);

	allocate_note(memory == MAP_FAILED);
	return memory;
}

/* -----------------------------------------------------------------------------------------------
 * argp allocates for itself.  Without memory it ends with an error that it does not print, ends the
 * tool with success and no help printed, or fails an assertion.
 */

static bool is_in_argp;

static void end_argp(int signal)
{
	(void)signal;
	goes_on = false;
	ct_memory_note_lack();
	_exit(CMD_NO_MEMORY);
}

error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
			  int *out_index, void *input)
{
	const struct sigaction ending = { .sa_handler = end_argp };
	struct tool_argp extended;
	struct sigaction before;
	error_t error;

	tool_argp_check(argp, argc, argv, flags);
	argp = tool_argp_extend(&extended, argp);
	(void)sigaction(SIGABRT, &ending, &before);
	is_in_argp = true;
	errno = 0;
	error = __real_argp_parse(argp, argc, argv, flags, out_index, input);
	is_in_argp = false;
	(void)sigaction(SIGABRT, &before, NULL);
	if (error == ENOMEM)
		ct_memory_note_lack();
	return error;
}

bool allocate_has_failed(void)
{
	if (is_in_argp && errno == ENOMEM)
		ct_memory_note_lack();
	if (ct_memory_has_lacked() && goes_on) {
		goes_on = false;
		report_lack();
	}
	return ct_memory_has_lacked();
}
