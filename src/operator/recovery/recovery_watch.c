/*
 * recovery_watch.c - runs a recovery on a thread of its own, and limits how long a verb waits for
 * it.
 *
 * An emitter's method may never return: a dead network file system, a module that hangs.  The verb
 * stops waiting only for a recovery that makes no progress, however long one with much to deliver
 * takes.  A recovery may be killed at any point (docs/recovery.md), so the tool can end before it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/recovery/recovery_watch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "cli/cli.h"

#define PATIENCE_SECONDS 2

static struct {
	/* protects everything below; never held while something is printed or delivered */
	pthread_mutex_t lock;
	/* signalled when the recovery ends, and when it makes progress after a report */
	pthread_cond_t has_changed;
	bool runs;
	/* the stall was reported, and there was no progress since */
	bool is_reported;
	struct timespec stepped_at; /* monotonic */
	struct recovery_place at;
	/* the recovery that runs; written before its thread starts */
	void (*body)(void *argument);
	void *argument;
} watch = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void watch_note_time(void)
{
	(void)clock_gettime(CLOCK_MONOTONIC, &watch.stepped_at);
}

void ct_recovery_note(const struct recovery_place *place)
{
	(void)pthread_mutex_lock(&watch.lock);
	watch.at = *place;
	watch_note_time();
	if (watch.is_reported)
		(void)pthread_cond_broadcast(&watch.has_changed);
	watch.is_reported = false;
	(void)pthread_mutex_unlock(&watch.lock);
}

bool ct_recovery_runs(void)
{
	bool runs;

	(void)pthread_mutex_lock(&watch.lock);
	runs = watch.runs;
	(void)pthread_mutex_unlock(&watch.lock);
	return runs;
}

static void *watch_thread(void *unused)
{
	(void)unused;
	watch.body(watch.argument);
	(void)pthread_mutex_lock(&watch.lock);
	watch.runs = false;
	(void)pthread_cond_broadcast(&watch.has_changed);
	(void)pthread_mutex_unlock(&watch.lock);
	return NULL;
}

/* Returns false when the recovery ran on the calling thread, because no other could be started. */
static bool watch_start(void (*body)(void *argument), void *argument)
{
	pthread_condattr_t attributes;
	pthread_t thread;

	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&watch.has_changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	watch.body = body;
	watch.argument = argument;
	watch.at = (struct recovery_place){ .directory = "" };
	watch.is_reported = false;
	watch_note_time();
	watch.runs = true;
	if (ct_os_thread_start(watch_thread, NULL, "ctrace-recovery", &thread) == CTRACE_OK) {
		(void)pthread_detach(thread);
		return true;
	}
	watch.runs = false;
	body(argument);
	return false;
}

static void print_stall(const struct recovery_place *at, const char *verb,
			enum recovery_patience patience)
{
	flockfile(stderr);
	fprintf(stderr, "%s: ", verb);
	if (at->directory[0] != '\0') {
		ct_tool_print(stderr, at->directory, strlen(at->directory));
		fputs(": ", stderr);
	}
	fprintf(stderr, "the recovery has made no progress for %d seconds", PATIENCE_SECONDS);
	if (at->output[0] != '\0') {
		fputs(" in the output ", stderr);
		ct_tool_print(stderr, at->output, strlen(at->output));
	}
	fputs(patience == RECOVERY_WAITS ? "; waiting for it\n"
					 : "; going on without it, run ctrace recover\n",
	      stderr);
	funlockfile(stderr);
}

static bool watch_is_overdue(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	now.tv_sec -= PATIENCE_SECONDS;
	return now.tv_sec > watch.stepped_at.tv_sec ||
	       (now.tv_sec == watch.stepped_at.tv_sec && now.tv_nsec >= watch.stepped_at.tv_nsec);
}

/* Called under the lock.  Waits until the recovery ends or has made no progress for a while.
 * Returns true for each such stall, once until there is progress again. */
static bool watch_is_stalled(enum recovery_patience patience)
{
	while (watch.runs && !watch.is_reported && !watch_is_overdue()) {
		struct timespec due = watch.stepped_at;

		due.tv_sec += PATIENCE_SECONDS;
		(void)pthread_cond_timedwait(&watch.has_changed, &watch.lock, &due);
	}
	if (!watch.runs || watch.is_reported) {
		while (patience == RECOVERY_WAITS && watch.runs && watch.is_reported)
			(void)pthread_cond_wait(&watch.has_changed, &watch.lock);
		return false;
	}
	watch.is_reported = true;
	return true;
}

static void watch_wait(const char *verb, enum recovery_patience patience)
{
	bool goes_on;

	do {
		struct recovery_place at;
		bool stalled;

		(void)pthread_mutex_lock(&watch.lock);
		stalled = watch_is_stalled(patience);
		at = watch.at;
		goes_on = watch.runs && (patience == RECOVERY_WAITS || !watch.is_reported);
		(void)pthread_mutex_unlock(&watch.lock);
		if (stalled)
			print_stall(&at, verb, patience);
	} while (goes_on);
}

void ct_recovery_run(void (*body)(void *argument), void *argument, const char *verb,
		     enum recovery_patience patience)
{
	if (ct_recovery_runs() || watch_start(body, argument))
		watch_wait(verb, patience);
}
