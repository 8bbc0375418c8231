/*
 * tools/runs/run_program.h - the program of `ctrace run`: whether it can be traced, and how it runs
 * as if nobody stood in between.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_RUNS_RUN_PROGRAM_H
#define CT_TOOLS_RUNS_RUN_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The exit statuses of env(1), timeout(1) and nice(1). */
enum { RUN_FAILED = 125, RUN_NOT_EXECUTABLE = 126, RUN_NOT_FOUND = 127 };

/* What a look at the program's file has found. */
struct run_program_kind {
	char path[4096];
	bool is_elf;
	bool needs_libcob; /* an ELF program that names libcob.so among what it needs */
};
/* Finds the program as execvp() does, and looks at its file.  Returns 0, or the exit status after a
 * report: RUN_NOT_FOUND, RUN_NOT_EXECUTABLE, or RUN_FAILED for one before which no library can be
 * loaded. */
int run_program_examine(const char *name, struct run_program_kind *out_kind);

/* The run itself, between start and wait. */
struct run_program {
	char **words;
	const char *preload;   /* goes before what LD_PRELOAD has */
	const char *config;    /* MFTRACE_CONFIG */
	const char *directory; /* of config; removed with it at the end, however that comes */
	/* called while the program runs, every `interval_ms` at most, and when follow_fd is
	 * readable; NULL: not */
	unsigned (*follow)(void *user);
	void *follow_user;
	int follow_fd;
	/* private */
	pid_t child, keeper;
	int signals_fd, keeper_fd;
	struct sigaction before[18];
	sigset_t mask_before;
	sigset_t mask;
	int how;       /* of the program: the status of waitpid() */
	bool has_left; /* there are more children */
};
/* Blocks the signals that are passed on.  Called before the tool makes files: a signal that comes
 * meanwhile waits for the program, or for run_program_release(). */
void run_program_hold(struct run_program *run);
/* There is no program, or an untraced one: called when the files have been removed. */
void run_program_release(const struct run_program *run);
/* Starts the program, after run_program_hold().  Afterwards standard input and output are the
 * program's alone.  Returns 0, or the exit status after a report. */
int run_program_start(struct run_program *run);
/* Becomes the program, untraced, after run_program_release().  Returns the exit status when it
 * cannot be executed. */
int run_program_exec(char **words);
/* Passes signals on and waits until the program has ended; the keeper removes the configuration. */
void run_program_wait(struct run_program *run);
/* Waits until that is removed.  Returns true if processes that the program, or its children, had
 * started run still. */
bool run_program_has_left(struct run_program *run);
/* The program's exit status, for the caller of the tool; the tool dies of the signal that the
 * program died of. */
int run_program_end(const struct run_program *run);

#endif
