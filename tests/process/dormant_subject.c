/*
 * dormant_subject.c - a program that traces when it is told, for tests/process/dormant.py.
 *
 * Each line on stdin is an order, answered with one line on stdout:
 *
 *     trace COUNT    events, numbered on; says the number of the last
 *     handler        one event in a signal handler; says its status
 *     threads        says how many threads the process has
 *     level          says the threshold of APP.ONE
 *     configure LINE says the status
 *     forbid         a thread that begins ends the process, by seccomp
 *     user NUMBER    changes the user; says what setuid() says
 *     fork           a child obeys the rest; the parent waits for it
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ctrace_tracer one = CTRACE_TRACER("APP.ONE");
static struct ctrace_tracer two = CTRACE_TRACER("APP.TWO");
static uint32_t traced;
static volatile enum ctrace_status handler_status;

static void trace_next(void)
{
	traced++;
	CTRACE(&one, CTRACE_INFO, 1, CTRACE_U32(traced));
	CTRACE(&two, CTRACE_ERROR, 2, CTRACE_U32(traced));
}

static void handler(int number)
{
	(void)number;
	handler_status = ctrace_emit(&one, CTRACE_INFO, 3, NULL, 0);
}

static unsigned threads_count(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned count = 0;

	while (tasks != NULL && (entry = readdir(tasks)) != NULL)
		count += entry->d_name[0] != '.';
	(void)closedir(tasks);
	return count;
}

static void say_level(void)
{
	uint32_t level;

	if (ctrace_level_get("APP.ONE", &level) == CTRACE_OK)
		printf("%u\n", level);
}

static void fork_child(void)
{
	pid_t child;

	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		printf("child %d\n", (int)getpid());
		return;
	}
	(void)waitpid(child, NULL, 0);
	exit(0);
}

static bool forbid_threads(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof steps / sizeof steps[0], steps };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void obey(const char *order)
{
	if (strncmp(order, "trace ", 6) == 0) {
		for (int count = atoi(order + 6); count > 0; count--)
			trace_next();
		printf("%u\n", traced);
	} else if (strcmp(order, "handler") == 0) {
		(void)raise(SIGUSR1);
		printf("%s\n", ctrace_status_name(handler_status));
	} else if (strcmp(order, "threads") == 0) {
		printf("%u\n", threads_count());
	} else if (strcmp(order, "level") == 0) {
		say_level();
	} else if (strncmp(order, "configure ", 10) == 0) {
		printf("%s\n", ctrace_status_name(ctrace_configure(order + 10)));
	} else if (strcmp(order, "forbid") == 0) {
		printf("%s\n", forbid_threads() ? "done" : "impossible");
	} else if (strncmp(order, "user ", 5) == 0) {
		printf("%d\n", setuid((uid_t)atoi(order + 5)));
	} else if (strcmp(order, "fork") == 0) {
		fork_child();
	}
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = handler };
	char line[300];

	(void)sigaction(SIGUSR1, &action, NULL);
	if (argc > 1)
		return strcmp(argv[1], "short") == 0 ? (trace_next(), 0) : 0;
	trace_next();
	puts("ready");
	(void)fflush(stdout);
	/* byte by byte: a child goes on in the input where its parent was */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof line, stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	return 0;
}
