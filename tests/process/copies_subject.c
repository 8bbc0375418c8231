/*
 * copies_subject.c - a program with several copies of the library, for tests/process/copies.py.
 *
 *     copies_subject STEP...
 *
 * Its own copy is libctrace.so (compiled with COPY: what the module contains; its component has
 * that name).  Steps: FILE: loads a module with a copy of its own.  trace: each copy traces 100
 * events, the last one first.  own: only the program's copy does.  flush: and delivers them.
 * ready: says so, and waits for a line.  fork: a child does the rest, and the program waits for it
 * and ends.  kill: kills the process.
 *
 * A module with LATE in its environment traces its 100 events when the process ends.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1
#include <ctrace/ctrace.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef COPY
#define COPY "program"
#endif

static struct ctrace_tracer tracer = CTRACE_TRACER(COPY);

void copy_trace(void);
int copy_flush(void);

__attribute__((visibility("default"))) void copy_trace(void)
{
	for (uint32_t i = 0; i < 100; i++)
		CTRACE(&tracer, CTRACE_INFO, 7, CTRACE_U32(i));
}

__attribute__((visibility("default"))) int copy_flush(void)
{
	return (int)ctrace_flush(60000);
}

#ifdef IS_MODULE
__attribute__((destructor)) static void trace_late(void)
{
	if (getenv("LATE") != NULL)
		copy_trace();
}
#else
#include <dlfcn.h>

#define COPIES 8u

static struct copy {
	void (*trace)(void);
	int (*flush)(void);
} copies[COPIES] = { { copy_trace, copy_flush } };
static unsigned count = 1;

static void load(const char *path)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (module == NULL || count == COPIES) {
		(void)fprintf(stderr, "%s\n", module == NULL ? dlerror() : "too many");
		exit(1);
	}
	*(void **)&copies[count].trace = dlsym(module, "copy_trace");
	*(void **)&copies[count].flush = dlsym(module, "copy_flush");
	count++;
}

static void step(const char *name)
{
	char line[8];
	int status = 0;

	if (strchr(name, '/') != NULL) {
		load(name);
	} else if (strcmp(name, "trace") == 0) {
		for (unsigned i = count; i-- > 0;)
			copies[i].trace();
	} else if (strcmp(name, "own") == 0) {
		copy_trace();
	} else if (strcmp(name, "flush") == 0) {
		for (unsigned i = 0; i < count; i++)
			status |= copies[i].flush();
	} else if (strcmp(name, "ready") == 0) {
		status = puts("ready") < 0 || fflush(stdout) != 0 ||
			 fgets(line, sizeof line, stdin) == NULL;
	} else if (strcmp(name, "fork") == 0) {
		if (fork() != 0)
			exit(wait(&status) < 0 || status != 0);
	} else if (strcmp(name, "kill") == 0) {
		(void)kill(getpid(), SIGKILL);
	}
	if (status != 0)
		exit(2);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		step(argv[i]);
	return 0;
}
#endif
