/*
 * operate_level.c - how soon a level is in force in a hundred processes: from the start of `ctrace
 * level` to the change of the last level word.
 *
 * The processes have a tracer and nothing to do.  Each tells where in its session file the tracer's
 * level word is, from /proc/self/maps, and the level words are watched there: nothing is asked of
 * the processes, so nothing but the command disturbs them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMPONENT "BENCHOP.LEVEL"
#define LOOK_NS 100000 /* between two looks at the level words */
#define PATIENCE_NS 20000000000u

/* One traced process. */
struct subject {
	pid_t pid;
	const struct ctrace_level_word *level_word; /* in our memory */
	/* shared: what it says */
	struct place {
		char path[4096]; /* of its session file; "" until it has attached */
		uint64_t offset; /* of the level word there */
	} * place;
};
static struct subject subjects[OPERATE_PROCESSES];

/* ---- in a traced process */

/* The file and the offset that an address is mapped from. */
static bool find_place(const void *address, struct place *place)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t wanted = (uintptr_t)address;
	char line[4300];
	bool found = false;

	while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL) {
		unsigned long from, to, offset;
		int path = 0;

		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &from, &to, &offset, &path) != 3 ||
		    path == 0 || wanted < from || wanted >= to)
			continue;
		line[strcspn(line, "\n")] = '\0';
		place->offset = wanted - from + offset;
		(void)snprintf(place->path, sizeof(place->path), "%.4000s", line + path);
		found = true;
	}
	if (maps != NULL)
		(void)fclose(maps);
	return found;
}

static void __attribute__((noreturn)) be_traced(struct place *place, int ready)
{
	struct ctrace_tracer *tracer;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ctrace_tracer_get(COMPONENT, &tracer) != CTRACE_OK ||
	    ctrace_level_set(COMPONENT, CTRACE_WARN) != CTRACE_OK)
		_exit(3);
	/* The first call of a process that was dormant gives the tracer its level word. */
	CTRACE(tracer, CTRACE_INFO, 1);
	if (!find_place(tracer->level_word, place))
		_exit(3);
	(void)!write(ready, "r", 1);
	for (;;)
		(void)pause();
}

/* ---- in ours */

static void map_level_word(struct subject *subject)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t from = subject->place->offset & ~(page - 1);
	int fd = open(subject->place->path, O_RDONLY | O_CLOEXEC);
	const char *memory;

	if (fd < 0)
		bench_die(subject->place->path);
	/* a level word is 8 bytes and aligned */
	memory = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)from);
	if (memory == MAP_FAILED)
		bench_die(subject->place->path);
	(void)close(fd);
	subject->level_word =
		(const struct ctrace_level_word *)(const void *)(memory +
								 (subject->place->offset - from));
}

static void start_subjects(void)
{
	struct place *places = operate_share(OPERATE_PROCESSES * sizeof(*places));
	int ready[2];
	char byte;

	if (pipe2(ready, O_CLOEXEC) != 0)
		bench_die("pipe2");
	for (unsigned i = 0; i < OPERATE_PROCESSES; i++) {
		subjects[i].place = &places[i];
		subjects[i].pid = fork();
		if (subjects[i].pid < 0)
			bench_die("fork");
		if (subjects[i].pid == 0)
			be_traced(&places[i], ready[1]);
	}
	(void)close(ready[1]);
	for (unsigned i = 0; i < OPERATE_PROCESSES; i++)
		if (read(ready[0], &byte, 1) != 1)
			bench_die("a traced process");
	(void)close(ready[0]);
	for (unsigned i = 0; i < OPERATE_PROCESSES; i++)
		map_level_word(&subjects[i]);
}

static void end_subjects(void)
{
	for (unsigned i = 0; i < OPERATE_PROCESSES; i++) {
		(void)kill(subjects[i].pid, SIGKILL);
		(void)waitpid(subjects[i].pid, NULL, 0);
	}
}

static unsigned count_changed(uint32_t level)
{
	unsigned count = 0;

	for (unsigned i = 0; i < OPERATE_PROCESSES; i++)
		count += __atomic_load_n(&subjects[i].level_word->level, __ATOMIC_RELAXED) == level;
	return count;
}

static pid_t type_command(const char *level)
{
	const char *const arguments[] = { operate_paths.tool, "level", COMPONENT, level, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions) != 0 ||
	    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) !=
		    0 ||
	    posix_spawn(&pid, operate_paths.tool, &actions, NULL,
			(char *const *)(uintptr_t)arguments, environ) != 0)
		bench_die(operate_paths.tool);
	(void)posix_spawn_file_actions_destroy(&actions);
	return pid;
}

static void change(const char *word, uint32_t level, double *out_in_force_ms,
		   double *out_command_ms)
{
	const struct timespec pause = { 0, LOOK_NS };
	uint64_t start = bench_clock_ns(CLOCK_MONOTONIC);
	pid_t command = type_command(word);
	int status;

	while (count_changed(level) < OPERATE_PROCESSES) {
		if (bench_clock_ns(CLOCK_MONOTONIC) - start > PATIENCE_NS) {
			fprintf(stderr, "bench_operate: %u of %u processes have level %s\n",
				count_changed(level), OPERATE_PROCESSES, word);
			exit(2);
		}
		(void)nanosleep(&pause, NULL);
	}
	*out_in_force_ms = (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / 1e6;
	if (waitpid(command, &status, 0) != command || status != 0)
		bench_die("ctrace level");
	*out_command_ms = (double)(bench_clock_ns(CLOCK_MONOTONIC) - start) / 1e6;
}

void operate_level_measure(struct operate_level *out)
{
	double ignored;

	(void)prctl(PR_SET_TIMERSLACK, 1000);
	start_subjects();
	/* the tool's pages are in memory from here on */
	change("error", CTRACE_ERROR, &ignored, &ignored);
	for (unsigned i = 0; i < OPERATE_CHANGES; i++) {
		bool up = i % 2 == 0;

		change(up ? "debug" : "info", up ? CTRACE_DEBUG : CTRACE_INFO, &out->in_force_ms[i],
		       &out->command_ms[i]);
	}
	end_subjects();
}
