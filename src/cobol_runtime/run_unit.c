/*
 * run_unit.c - the beginning and the end of the run time: mf.rts.
 *
 * cob_init() is where a process becomes a COBOL process: only then are the tracers registered.
 * With COB_PRE_LOAD this library is loaded inside cob_init(); its constructor begins then.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/cobol_runtime.h"

#include "cobol_runtime/failure.h"
#include "cobol_runtime/file.h"
#include "cobol_runtime/got.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_SIZE 1024

static bool is_started; /* the tracers are registered */
static bool is_ending;  /* cob_stop_run() was called */

/* The run time begins in cob_init() and ends in cob_stop_run() or cob_tidy(); then it may begin
 * again. */
static enum {
	NOT_SEEN, /* also where this library was loaded inside cob_init() */
	RUNNING,
	ENDED,
} run_time;
bool ct_run_unit_version_is_known;

bool ct_run_unit_is_ending(void)
{
	return __atomic_load_n(&is_ending, __ATOMIC_RELAXED);
}

/* The arguments, with a blank between two; of a longer line its beginning. */
static size_t command_join(char out[COMMAND_SIZE], int argc, char **argv)
{
	size_t size = 0;

	for (int at = 0; at < argc && argv[at] != NULL && size < COMMAND_SIZE; at++)
		size += (size_t)snprintf(out + size, COMMAND_SIZE - size, "%s%s", at > 0 ? " " : "",
					 argv[at]);
	return size < COMMAND_SIZE ? size : COMMAND_SIZE - 1;
}

/* The arguments as the kernel has them. */
static size_t command_read(char out[COMMAND_SIZE])
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, out, COMMAND_SIZE) : 0;

	if (fd >= 0)
		(void)close(fd);
	while (size > 0 && out[size - 1] == '\0')
		size--;
	for (ssize_t at = 0; at < size; at++) {
		if (out[at] == '\0')
			out[at] = ' ';
	}
	return size > 0 ? (size_t)size : 0;
}

/* on_exit(): the last that is traced of a process. */
static void process_ended(int status, void *unused)
{
	(void)unused;
	if (is_ending)
		CTRACE(&ct_rts, CTRACE_INFO, 131);
	CTRACE(&ct_rts, CTRACE_INFO, 139, CTRACE_I32(status));
}

#define NUMBER_TEXT_(number) #number
#define NUMBER_TEXT(number) NUMBER_TEXT_(number)

/* `ctrace doctor` finds it in the file. */
__attribute__((used)) static const char built_for[] =
	"ctrace-cobol is built for libcob " NUMBER_TEXT(__LIBCOB_VERSION) "." NUMBER_TEXT(
		__LIBCOB_VERSION_MINOR);

/* "libcob 4.1.0"; of a libcob that does not report its version, the name of its file. */
static void version_print(const char *version, char *out, size_t size)
{
	void *init = ct_calls_find_real("cob_init", (void *)cob_init);
	Dl_info where = { 0 };
	const char *slash;

	if (version[0] != '\0' || init == NULL || dladdr(init, &where) == 0 ||
	    where.dli_fname == NULL) {
		(void)snprintf(out, size, "libcob %.40s",
			       version[0] != '\0' ? version : "(no version)");
		return;
	}
	slash = strrchr(where.dli_fname, '/');
	(void)snprintf(out, size, "%.60s", slash != NULL ? slash + 1 : where.dli_fname);
}

/* The structures that are read here have the layout of one minor version. */
static void version_check(void)
{
	const char *(*version)(void) =
		(const char *(*)(void))(uintptr_t)ct_calls_find_real("libcob_version", NULL);
	const char *text = version != NULL ? version() : "";
	int major = 0;
	int minor = 0;
	char name[64];
	char line[192];

	ct_run_unit_version_is_known = sscanf(text, "%d.%d", &major, &minor) == 2 &&
				       major == __LIBCOB_VERSION && minor == __LIBCOB_VERSION_MINOR;
	CTRACE(&ct_rts, CTRACE_INFO, 74, CTRACE_STR(text));
	if (!ct_run_unit_version_is_known) {
		int size;

		version_print(text, name, sizeof name);
		size = snprintf(line, sizeof line,
				"%s is not known, only libcob %d.%d is: programs, lines, files and "
				"run-time errors are not traced",
				name, __LIBCOB_VERSION, __LIBCOB_VERSION_MINOR);
		CTRACE(&ct_rts, CTRACE_WARN, 1000, CTRACE_TEXT(line, (size_t)size));
	}
}

void ct_run_unit_begin(int argc, char **argv)
{
	char command[COMMAND_SIZE];
	size_t size;

	is_started = true;
	ct_switches_init();
	ct_file_init();
	(void)on_exit(process_ended, NULL);
	version_check();
	ct_program_begin();
	if (ctrace_has_command_line_()) {
		size = argc > 0 && argv != NULL ? command_join(command, argc, argv)
						: command_read(command);
		CTRACE(&ct_rts, CTRACE_INFO, 69, CTRACE_TEXT(command, size));
	}
	CTRACE(&ct_rts, CTRACE_INFO, 138, CTRACE_STR(program_invocation_short_name));
}

void cob_init(const int argc, char **argv)
{
	int error = errno;
	bool is_first = run_time != RUNNING;

	if (!is_started) {
		ct_run_unit_begin(argc, argv);
		ct_got_change_libcob();
		errno = error;
	}
	run_time = RUNNING;
	if (is_first)
		CTRACE(&ct_rts, CTRACE_INFO, 128);
	PASS(cob_init, argc, argv);
	if (is_first)
		CTRACE(&ct_rts, CTRACE_INFO, 129);
}

/* A program in C ends the run time and goes on. */
int cob_tidy(void)
{
	bool was_running = is_started && run_time != ENDED;
	int status;

	run_time = ENDED;
	if (was_running)
		CTRACE(&ct_rts, CTRACE_INFO, 130);
	ct_program_end();
	status = PASS(cob_tidy);
	ct_program_end(); /* an exit routine of the program may have entered one */
	if (was_running)
		CTRACE(&ct_rts, CTRACE_INFO, 131);
	return status;
}

void cob_stop_run(const int status)
{
	struct ct_where where = ct_program_where();

	CTRACE(&ct_rts, CTRACE_INFO, 254, CTRACE_I32(status),
	       CTRACE_TEXT(where.program.text, where.program.size), CTRACE_U32(where.line));
	CTRACE(&ct_rts, CTRACE_INFO, 130);
	__atomic_store_n(&is_ending, true, __ATOMIC_RELAXED);
	PASS(cob_stop_run, status);
	__builtin_trap(); /* it does not return */
}

/* libcob was loaded first, and its functions are found before ours: COB_PRE_LOAD, or dlopen(). */
__attribute__((constructor)) static void library_loaded(void)
{
	int error = errno;

	if (ct_calls_are_passed_over()) {
		ct_got_begin();
		ct_got_change_libcob();
		ct_failure_take_over();
		ct_run_unit_begin(0, NULL);
	}
	errno = error;
}
