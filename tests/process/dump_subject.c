/*
 * dump_subject.c - the program whose storage is dumped: tests/process/dump.py gives the orders.
 *
 * Each line on stdin is an order, answered with one line on stdout:
 *
 *     trace N           N events of the component STORED
 *     dump TITLE        dumps itself; the status, and the path
 *
 *     crash             dies of SIGSEGV, in the function fail() of another thread
 *     abort             dies of SIGABRT
 *     fork              forks a child that dies of SIGSEGV at once; the child's signal
 *     exit N            ends with this status
 *
 * Ends at the end of stdin.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ctrace_tracer stored = CTRACE_TRACER("STORED");

static void trace(unsigned long count)
{
	static uint32_t number;

	for (unsigned long i = 0; i < count; i++, number++)
		CTRACE(&stored, CTRACE_INFO, 7, CTRACE_U32(number));
	printf("%u\n", number);
}

static void dump(const char *title)
{
	char path[1000] = "";
	enum ctrace_status status = ctrace_dump(title, path, sizeof path);

	printf("%s %s\n", ctrace_status_name(status), path);
}

static void fail_deep(volatile int *nowhere)
{
	*nowhere = 1;
}

static void *fail(void *nothing)
{
	CTRACE(&stored, CTRACE_INFO, 8, CTRACE_U32(0));
	fail_deep(nothing);
	return NULL;
}

static void crash(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fail, NULL) == 0)
		(void)pthread_join(thread, NULL);
}

static void fork_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		(void)raise(SIGSEGV);
		_exit(0);
	}
	(void)waitpid(child, &status, 0);
	printf("%d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void obey(char *line)
{
	if (strncmp(line, "trace ", 6) == 0)
		trace(strtoul(line + 6, NULL, 10));
	else if (strncmp(line, "dump ", 5) == 0)
		dump(line + 5);
	else if (strcmp(line, "crash") == 0)
		crash();
	else if (strcmp(line, "abort") == 0)
		abort();
	else if (strcmp(line, "fork") == 0)
		fork_child();
	else if (strncmp(line, "exit ", 5) == 0)
		exit(atoi(line + 5));
	else
		puts("?");
	fflush(stdout);
}

int main(void)
{
	char line[400];

	while (fgets(line, sizeof line, stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	return 0;
}
