/*
 * tools/runs/run_processes.h - the processes that a program of `ctrace run` has left running.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_RUNS_RUN_PROCESSES_H
#define CT_TOOLS_RUNS_RUN_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_PROCESSES_MOST 16u

struct run_process {
	uint32_t pid;
	char name[32];
	bool is_traced; /* it has read the configuration */
};
/* A process of the run, or one of its children, has the configuration's path from its start. */
bool run_process_is_of_run(uint32_t pid, const char *config);
/* Returns how many run still; *out has the first ones of them. */
size_t run_processes_find(const char *config, struct run_process out[RUN_PROCESSES_MOST]);

#endif
