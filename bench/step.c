/*
 * step.c - counts instructions by single-stepping a child: no performance counters are needed, and
 * the count has no noise.
 *
 * The child is the same program, started again with mode=stepped.  It marks the beginning and end
 * of a batch with int3.  A batch of MANY less a batch of FEW, divided, is one event.  Of each, the
 * least of some tries counts, since an event may find its way blocked (the consumer closes an idle
 * thread's window) and go round.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARM 200u
#define FEW 10u
#define MANY 42u
#define ARGUMENTS 32u

/* ---- in the child */

static void run_marked(const struct bench_case *bench, uint32_t count)
{
	__asm__ volatile("int3" : : : "memory");
	bench->batch(count);
	__asm__ volatile("int3" : : : "memory");
}

void bench_step_run(const struct bench_case *bench, uint64_t tries, void (*consumer)(void))
{
	for (uint64_t try = 0; try < tries; try++) {
		bench->batch(WARM);
		if (bench->is_recorded)
			consumer();
		run_marked(bench, FEW);
		run_marked(bench, MANY);
	}
	_exit(0);
}

static void __attribute__((noreturn)) become_child(char *const arguments[])
{
	char *again[ARGUMENTS], mode[] = "mode=stepped";
	size_t count = 0;

	for (; arguments[count] != NULL && count + 2 < ARGUMENTS; count++)
		again[count] = arguments[count];
	again[count++] = mode; /* the last one holds */
	again[count] = NULL;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
		(void)execv("/proc/self/exe", again);
	_exit(1);
}

/* ---- in the parent */

/* Lets the child go on until it stops at a marker.  False: it is gone. */
static bool run_to_marker(pid_t child)
{
	int signal = 0;

	for (;;) {
		int status;

		if (ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal) != 0 ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SIGTRAP)
			return true;
		signal = WSTOPSIG(status);
	}
}

/* From a marker to the next: only the trap of an int3 comes from the kernel itself, a step's and a
 * system call's do not. */
static long count_to_marker(pid_t child)
{
	long count = 0;

	for (;;) {
		siginfo_t info;
		int status;

		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return -1;
		if (WSTOPSIG(status) != SIGTRAP ||
		    ptrace(PTRACE_GETSIGINFO, child, NULL, &info) != 0)
			return -1;
		if (info.si_code == SI_KERNEL)
			return count;
		count++;
	}
}

/* The least of what was counted so far.  False: the child is gone. */
static bool count_batch(pid_t child, long *least)
{
	long count;

	if (!run_to_marker(child))
		return false;
	count = count_to_marker(child);
	if (count >= 0 && (*least < 0 || count < *least))
		*least = count;
	return count >= 0;
}

static double count_event(pid_t child, uint64_t tries)
{
	long few = -1, many = -1;

	for (uint64_t try = 0; try < tries; try++)
		if (!count_batch(child, &few) || !count_batch(child, &many))
			return -1;
	return (double)(many - few) / (MANY - FEW);
}

double bench_step_count(char *const arguments[], uint64_t tries)
{
	double instructions;
	pid_t child;
	int status;

	bench_pin_self(0); /* the two take turns: no other processor has to wake up */
	child = fork();
	if (child < 0)
		return -1;
	if (child == 0)
		become_child(arguments);
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return -1; /* no tracing here */
	instructions = count_event(child, tries);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, &status, 0);
	return instructions;
}
