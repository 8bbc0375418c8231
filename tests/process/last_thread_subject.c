/*
 * last_thread_subject.c - a program whose last thread ends without exit(), for
 * tests/process/last_thread.py.
 *
 *     last_thread_subject STEP...
 *
 * Steps: trace: an event 1.  thread-trace: a thread traces an event 2 and stays.  thread: a thread
 * that traces nothing, and stays.  end-threads: the threads that stay say "thread" and end, in a
 * tenth of a second.  clone: a child of clone(2) traces an event 3 and returns 7, which is
 * reported.  clone-quiet: one that traces nothing.  fork-exit: a child of fork(2) traces an event 4
 * and calls pthread_exit(); its status is reported.  ready: says so, and waits for a line.  block:
 * blocks SIGTERM.  exit-clone: the handler of atexit(3) clones such a child, too.  close: closes
 * all descriptors that are not its own.  pthread_exit; return.  Its handler of atexit(3) says "at
 * exit".
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1
#include <ctrace/ctrace.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("LAST");
static int gate[2];
static pthread_barrier_t has_traced;
static char stack[1 << 20];
static int clones_at_exit;

static void say(const char *text)
{
	(void)!write(1, text, strlen(text));
}

static int child_trace(void *unused)
{
	(void)unused;
	CTRACE(&tracer, CTRACE_INFO, 3, CTRACE_U32(1));
	return 7;
}

static void report(pid_t child)
{
	char line[40];
	int status = -1;

	(void)waitpid(child, &status, 0);
	(void)snprintf(line, sizeof line, "child: %#x\n", (unsigned)status);
	say(line);
}

static void at_exit(void)
{
	say("at exit\n");
	if (clones_at_exit)
		report(clone(child_trace, stack + sizeof stack, SIGCHLD, NULL));
}

static void *thread_run(void *event)
{
	char byte;

	if (event != NULL)
		CTRACE(&tracer, CTRACE_INFO, 2, CTRACE_U32(1));
	(void)pthread_barrier_wait(&has_traced);
	(void)!read(gate[0], &byte, 1);
	(void)usleep(100000);
	say("thread\n");
	return NULL;
}

static int child_quiet(void *unused)
{
	(void)unused;
	return 7;
}

int main(int count, char **steps)
{
	pthread_t thread;
	sigset_t set;
	char byte;

	if (atexit(at_exit) != 0 || pipe(gate) != 0 ||
	    pthread_barrier_init(&has_traced, NULL, 2) != 0)
		return 99;
	for (int i = 1; i < count; i++) {
		const char *step = steps[i];

		if (strcmp(step, "trace") == 0) {
			CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U32(1));
		} else if (strncmp(step, "thread", 6) == 0) {
			if (pthread_create(&thread, NULL, thread_run,
					   step[6] != '\0' ? &tracer : NULL) != 0)
				return 99;
			(void)pthread_barrier_wait(&has_traced);
		} else if (strcmp(step, "end-threads") == 0) {
			(void)close(gate[1]);
		} else if (strncmp(step, "clone", 5) == 0) {
			report(clone(step[5] == '\0' ? child_trace : child_quiet,
				     stack + sizeof stack, SIGCHLD, NULL));
		} else if (strcmp(step, "fork-exit") == 0) {
			pid_t child = fork();

			if (child != 0) {
				report(child);
				continue;
			}
			CTRACE(&tracer, CTRACE_INFO, 4, CTRACE_U32(1));
			pthread_exit(NULL);
		} else if (strcmp(step, "ready") == 0) {
			say("ready\n");
			(void)!read(0, &byte, 1);
		} else if (strcmp(step, "exit-clone") == 0) {
			clones_at_exit = 1;
		} else if (strcmp(step, "block") == 0) {
			(void)sigemptyset(&set);
			(void)sigaddset(&set, SIGTERM);
			(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
		} else if (strcmp(step, "close") == 0) {
			for (int fd = 3; fd < 1024; fd++)
				if (fd != gate[0] && fd != gate[1])
					(void)close(fd);
		} else if (strcmp(step, "pthread_exit") == 0) {
			pthread_exit(NULL);
		} else {
			return strcmp(step, "return") == 0 ? 3 : 99;
		}
	}
	return 99;
}
