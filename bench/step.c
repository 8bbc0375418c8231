/*
 * step.c - counts instructions by single-stepping a forked child: no performance counters are needed, and the count has no noise.
 *
 * The child marks the beginning and end of a batch with int3.  A batch of MANY less a batch of FEW, divided, is one event; of each
 * the least of some tries, since an event may find its way blocked (the agent closes an idle thread's window) and go round.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARM 200u
#define FEW 10u
#define MANY 42u
#define TRIES 5u

static void marked_batch(const struct bench_case *bench, uint32_t count)
{
	__asm__ volatile("int3" : : : "memory");
	bench->batch(count);
	__asm__ volatile("int3" : : : "memory");
}

static void run_child(void (*prepare)(void))
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(1);
	(void)raise(SIGSTOP); /* the parent comes in */
	prepare();
	for (size_t i = 0; i < bench_case_count; i++) {
		for (uint32_t try = 0; bench_cases_have(&bench_cases[i]) && try < TRIES; try++) {
			bench_cases[i].batch(WARM);
			bench_baseline_drain();
			marked_batch(&bench_cases[i], FEW);
			marked_batch(&bench_cases[i], MANY);
		}
	}
	_exit(0);
}

/* Lets the child go on until it stops at a marker.  False: it is gone. */
static bool run_to_marker(pid_t child)
{
	int signal = 0;

	for (;;) {
		int status;

		if (ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal) != 0 || waitpid(child, &status, 0) != child ||
		    !WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SIGTRAP)
			return true;
		signal = WSTOPSIG(status);
	}
}

/* From a marker to the next: only the trap of an int3 comes from the kernel itself, a step's and a system call's do not. */
static long count_to_marker(pid_t child)
{
	long count = 0;

	for (;;) {
		siginfo_t info;
		int status;

		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return -1;
		if (WSTOPSIG(status) != SIGTRAP || ptrace(PTRACE_GETSIGINFO, child, NULL, &info) != 0)
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

static double count_case(pid_t child)
{
	long few = -1, many = -1;

	for (uint32_t try = 0; try < TRIES; try++)
		if (!count_batch(child, &few) || !count_batch(child, &many))
			return -1;
	return (double)(many - few) / (MANY - FEW);
}

void bench_step_count(void (*prepare)(void), double *out_instructions)
{
	pid_t child = fork();
	int status;

	for (size_t i = 0; i < bench_case_count; i++)
		out_instructions[i] = -1;
	if (child < 0)
		return;
	if (child == 0)
		run_child(prepare);
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return; /* no tracing here */
	for (size_t i = 0; i < bench_case_count; i++)
		if (bench_cases_have(&bench_cases[i]))
			out_instructions[i] = count_case(child);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, &status, 0);
}
