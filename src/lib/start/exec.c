/*
 * exec.c - delivers what was traced before the process becomes another program.
 *
 * exec ends every thread without a word, the consumer thread too.  These functions stand before the
 * C library's of the same names in a program that is linked with ctrace (or preloads it); they
 * flush and go on.  They run on the thread that calls exec, also in a vfork child and in a signal
 * handler: no malloc, no lock.  A program that loads ctrace with dlopen does not come by here; what
 * it had not delivered is recovered by the next ctrace command or traced process.  See
 * docs/decisions/003-exec.md.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLUSH_MS 1000u
#define EXPORT __attribute__((visibility("default")))

extern char **environ;

typedef int execve_function(const char *, char *const[], char *const[]);
typedef int execvpe_function(const char *, char *const[], char *const[]);
typedef int fexecve_function(int, char *const[], char *const[]);

static execve_function *next_execve;
static execvpe_function *next_execvpe;
static fexecve_function *next_fexecve;

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* dlsym is not for signal handlers and vfork children: looked up when the library is loaded. */
__attribute__((constructor)) static void find_next(void)
{
	*(void **)&next_execve = next("execve");
	*(void **)&next_execvpe = next("execvpe");
	*(void **)&next_fexecve = next("fexecve");
}

/* Not in a vfork child: its parent, whose memory this is, lives on. */
static void exec_deliver(void)
{
	if (ct_process.state == CT_PROCESS_ATTACHED && *ct_process.mark != 0 &&
	    (uint32_t)getpid() == ct_process.session.head->pid)
		(void)!ctrace_flush(FLUSH_MS);
}

/* A routine or callback of the program that runs on one of our threads has all signals blocked.
 * The other program is not to inherit that: nobody could end it by a SIGTERM. */
static bool deliver_and_unblock(sigset_t *former)
{
	sigset_t mask;

	exec_deliver();
	return ct_os_thread_mask(&mask) && pthread_sigmask(SIG_SETMASK, &mask, former) == 0;
}

/* exec has failed. */
static int block_again(bool was_blocked, const sigset_t *former)
{
	int kept = errno;

	if (was_blocked)
		(void)pthread_sigmask(SIG_SETMASK, former, NULL);
	errno = kept;
	return -1;
}

/* In a program that is linked statically there is nobody behind us but the kernel. */
static int kernel_execve(const char *path, char *const arguments[], char *const environment[])
{
	return (int)syscall(SYS_execve, path, arguments, environment);
}

static int kernel_fexecve(int fd, char *const arguments[], char *const environment[])
{
	return (int)syscall(SYS_execveat, fd, "", arguments, environment, AT_EMPTY_PATH);
}

static int search_path(const char *file, char *const arguments[], char *const environment[])
{
	const char *at = ct_os_environment("PATH");
	int error = ENOENT;

	if (strchr(file, '/') != NULL)
		return kernel_execve(file, arguments, environment);
	for (at = at != NULL ? at : "/bin:/usr/bin"; *file != '\0'; at += strcspn(at, ":") + 1) {
		char path[4096];
		size_t size = strcspn(at, ":");

		if (snprintf(path, sizeof path, "%.*s%s%s", (int)size, at, size > 0 ? "/" : "",
			     file) < (int)sizeof path) {
			(void)kernel_execve(path, arguments, environment);
			if (errno != ENOENT && errno != ENOTDIR)
				error = errno;
		}
		if (at[size] == '\0')
			break;
	}
	errno = error;
	return -1;
}

EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
	sigset_t former;
	bool is_unblocked = deliver_and_unblock(&former);

	(void)(next_execve != NULL ? next_execve(path, arguments, environment)
				   : kernel_execve(path, arguments, environment));
	return block_again(is_unblocked, &former);
}

EXPORT int execv(const char *path, char *const arguments[])
{
	return execve(path, arguments, environ);
}

EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	sigset_t former;
	bool is_unblocked = deliver_and_unblock(&former);

	(void)(next_execvpe != NULL ? next_execvpe(file, arguments, environment)
				    : search_path(file, arguments, environment));
	return block_again(is_unblocked, &former);
}

EXPORT int execvp(const char *file, char *const arguments[])
{
	return execvpe(file, arguments, environ);
}

EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
	sigset_t former;
	bool is_unblocked = deliver_and_unblock(&former);

	(void)(next_fexecve != NULL ? next_fexecve(fd, arguments, environment)
				    : kernel_fexecve(fd, arguments, environment));
	return block_again(is_unblocked, &former);
}

/* The arguments of the list forms, as an array on the stack: malloc is not for here.  False when
 * there are more than anybody writes. */
#define LIST_LIMIT 1024u
static bool arguments_collect(const char *arguments[LIST_LIMIT], const char *first, va_list *list)
{
	size_t count = 0;

	for (const char *argument = first; argument != NULL;
	     argument = va_arg(*list, const char *)) {
		if (count == LIST_LIMIT - 1) {
			errno = E2BIG;
			return false;
		}
		arguments[count++] = argument;
	}
	arguments[count] = NULL;
	return true;
}

/* Declares and fills `arguments`; `list` stands behind the last of them. */
#define COLLECT(FIRST) \
	const char *arguments[LIST_LIMIT]; \
	bool is_whole; \
	va_list list; \
	va_start(list, FIRST); \
	is_whole = arguments_collect(arguments, FIRST, &list)

EXPORT int execl(const char *path, const char *argument, ...)
{
	COLLECT(argument);

	va_end(list);
	return is_whole ? execve(path, (char *const *)(uintptr_t)arguments, environ) : -1;
}

EXPORT int execlp(const char *file, const char *argument, ...)
{
	COLLECT(argument);

	va_end(list);
	return is_whole ? execvpe(file, (char *const *)(uintptr_t)arguments, environ) : -1;
}

EXPORT int execle(const char *path, const char *argument, ...)
{
	char *const *environment;
	COLLECT(argument);

	environment = is_whole ? va_arg(list, char *const *) : environ;
	va_end(list);
	return is_whole ? execve(path, (char *const *)(uintptr_t)arguments, environment) : -1;
}
