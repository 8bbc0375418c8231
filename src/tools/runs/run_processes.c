/*
 * run_processes.c - which processes belong to a run of `ctrace run`.
 *
 * They are known by their environment: MFTRACE_CONFIG names the configuration of the run, which no
 * other run has.  Processes of other users are not seen.
 *
 * On the tool's one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_processes.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "session/session.h"

#define ENVIRONMENT_LIMIT ((size_t)4 << 20)

bool run_process_is_of_run(uint32_t pid, const char *config)
{
	char path[64], mark[4200];
	struct ct_buf text;
	bool is_found;
	int size = snprintf(mark, sizeof mark, "MFTRACE_CONFIG=%s", config);

	(void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/environ", pid);
	ct_buf_init(&text);
	is_found = ct_os_read_file(path, ENVIRONMENT_LIMIT, &text) == CTRACE_OK && text.size != 0 &&
		   memmem(text.data, text.size, mark, (size_t)size + 1) != NULL;
	ct_buf_fini(&text);
	return is_found;
}

static void process_name(struct run_process *process)
{
	char path[64];
	struct ct_buf text;

	(void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/comm", process->pid);
	ct_buf_init(&text);
	process->name[0] = '\0';
	if (ct_os_read_file(path, sizeof process->name, &text) == CTRACE_OK && text.size > 0)
		(void)snprintf(process->name, sizeof process->name, "%.*s",
			       (int)strcspn(ct_buf_text(&text), "\n"), ct_buf_text(&text));
	ct_buf_fini(&text);
}

struct marking {
	struct run_process *processes;
	size_t count;
};

static void directory_mark(const struct ct_directory_entry *entry, void *user)
{
	struct marking *marking = user;

	for (size_t i = 0; entry->is_alive && i < marking->count; i++)
		marking->processes[i].is_traced |= marking->processes[i].pid == entry->pid;
}

static void run_directory_mark(const char *path, void *user)
{
	ct_directory_each(path, directory_mark, user);
}

size_t run_processes_find(const char *config, struct run_process out[RUN_PROCESSES_MOST])
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	struct marking marking = { .processes = out };
	size_t count = 0;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (pid == 0 || !run_process_is_of_run(pid, config))
			continue;
		if (count++ >= RUN_PROCESSES_MOST)
			continue;
		out[count - 1] = (struct run_process){ .pid = pid };
		process_name(&out[count - 1]);
	}
	if (directory != NULL)
		(void)closedir(directory);
	marking.count = count < RUN_PROCESSES_MOST ? count : RUN_PROCESSES_MOST;
	if (count > 0)
		ct_directory_each_run_directory(run_directory_mark, &marking);
	return count;
}
