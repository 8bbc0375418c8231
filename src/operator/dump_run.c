/*
 * dump_run.c - dumps of the processes that a command means.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/dump_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "operator/recovery/recovery.h"

#define PATH_SIZE 4096

/* ---- which processes ---- */

static bool job_matches(const char *glob, const struct ct_session_head *head)
{
	return ct_glob_match(glob, strlen(glob), head->jobname,
			     strnlen(head->jobname, sizeof head->jobname));
}

/* ASID and JOBNAME add processes to each other. */
static bool reply_means(const struct ct_dump_reply *reply, const struct ct_session_head *head)
{
	if (reply == NULL || (reply->asid_count == 0 && reply->job_count == 0))
		return true;
	for (uint32_t i = 0; i < reply->asid_count; i++)
		if (reply->asid[i] == head->asid)
			return true;
	for (uint32_t i = 0; i < reply->job_count; i++)
		if (job_matches(reply->job[i], head))
			return true;
	return false;
}

static bool process_is_meant(const struct ct_dump_run *run, const struct ct_session_head *head)
{
	return ct_peer_filter_wants(&run->filter, head->pid, head->asid, head->jobname) &&
	       reply_means(run->reply, head);
}

/* ---- one process ---- */

/* The trace is on the disk.  A dead process's storage is no longer needed. */
static void storage_discard(const struct ct_directory_entry *entry)
{
	struct ct_recovery total = { .discards = entry->pid };

	ct_recover(entry->run_directory, NULL, &total, NULL, NULL);
}

static enum ctrace_status dump_make(const struct ct_dump_run *run, char path[PATH_SIZE],
				    struct ct_dump_one *one)
{
	const char *names[CT_OPERATOR_NAMES + 1] = { NULL };
	struct ct_dump_request request = {
		.run_directory = one->entry->run_directory,
		.directory = one->entry->name,
		.title = run->title,
		.reason = run->reason,
		.component = run->component,
	};

	for (uint32_t i = 0; run->reply != NULL && i < run->reply->name_count; i++)
		names[i] = run->reply->name[i];
	request.components = names[0] != NULL ? names : NULL;
	errno = 0;
	if (!run->is_whole)
		return ct_dump_make_in(run->directory != NULL ? run->directory : "", one->head,
				       &request, path, PATH_SIZE, &one->result);
	(void)snprintf(path, PATH_SIZE, "%s", run->directory);
	request.path = path;
	return ct_dump_make(&request, &one->result);
}

static bool has_all_components(const struct ct_dump_run *run)
{
	return run->component == NULL && (run->reply == NULL || run->reply->name_count == 0);
}

static void process_dump(struct ct_dump_run *run, struct ct_dump_one *one)
{
	char path[PATH_SIZE];

	one->path = path;
	one->status = dump_make(run, path, one);
	if (one->status == CTRACE_NOT_FOUND ||
	    (one->status == CTRACE_OK && one->result.events == 0 && one->result.hidden == 0))
		return; /* it has ended meanwhile, or holds nothing */
	if (one->status == CTRACE_OK && one->result.events == 0) {
		one->status = CTRACE_NOT_FOUND;
		one->why =
			"its rings are private memory, as its run directory had no room for them: only ctrace_dump() and triggers of the process can dump them";
	}
	if (one->status == CTRACE_OUTPUT_ERROR)
		one->why = strerror(errno);
	else if (one->status != CTRACE_OK && one->status != CTRACE_NOT_FOUND)
		one->why = ctrace_status_text(one->status);
	run->made += one->status == CTRACE_OK;
	run->failed += one->status != CTRACE_OK;
	run->report(run, one);
	if (one->status == CTRACE_OK && !one->entry->is_alive && has_all_components(run) &&
	    one->result.unread == 0)
		storage_discard(one->entry);
}

static void directory_visit(const struct ct_directory_entry *entry, void *user)
{
	struct ct_dump_run *run = user;
	struct ct_dump_one one = { .entry = entry };
	char why[CT_DIRECTORY_WHY_SIZE];
	struct ct_session session;

	one.status = ct_session_load(&session, entry->run_directory, entry->name, false);
	if (one.status == CTRACE_OK) {
		one.head = session.head;
		if (process_is_meant(run, session.head)) {
			run->meant++;
			process_dump(run, &one);
		}
		ct_session_close(&session, false);
	} else if (one.status != CTRACE_NOT_FOUND &&
		   (run->filter.pid == 0 || run->filter.pid == entry->pid)) {
		run->failed++;
		one.why = ct_directory_explain(entry, one.status, why);
		run->report(run, &one);
	}
}

static void run_directory_visit(const char *path, void *user)
{
	ct_directory_each(path, directory_visit, user);
}

void ct_dump_run(struct ct_dump_run *run)
{
	run->made = run->failed = run->meant = 0;
	ct_directory_each_run_directory(run_directory_visit, run);
}
