/*
 * space.c - address spaces: finds the live processes of our run directory by ASID and job name.
 *
 * Called while a command that names one is checked, on its thread, attached, under no lock.  It
 * never opens our own session file: closing it would drop the lock that marks this process as
 * alive.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <stdio.h>
#include <string.h>

struct ct_space ct_space_self(void)
{
	const struct ct_session_head *head = ct_process.session.head;
	struct ct_space self = { 0 };

	if (head == NULL) /* there was no memory to attach */
		return self;
	self.asid = (uint16_t)head->asid;
	(void)snprintf(self.jobname, sizeof self.jobname, "%.8s", head->jobname);
	return self;
}

/* The address space to find, and the best match so far. */
struct search {
	uint16_t asid; /* 0: by job name */
	const char *jobname;
	bool has_found;
	struct ct_space found;
};

static bool search_matches(const struct search *search, const struct ct_space *space)
{
	if (search->asid != 0)
		return space->asid == search->asid;
	return space->asid != 0 && strcmp(space->jobname, search->jobname) == 0;
}

static void search_check_entry(const struct ct_directory_entry *entry, void *user)
{
	struct search *search = user;
	struct ct_space space = { 0 };
	char jobname[16];
	uint32_t asid;

	/* Skips this process: space_find() has checked it already. */
	if (!entry->is_alive ||
	    ct_session_identify(entry->run_directory, entry->name, &asid, jobname) != CTRACE_OK)
		return;
	space.asid = (uint16_t)asid;
	(void)snprintf(space.jobname, sizeof space.jobname, "%.8s", jobname);
	if (search_matches(search, &space) &&
	    (!search->has_found || space.asid < search->found.asid)) {
		search->found = space;
		search->has_found = true;
	}
}

bool ct_space_run_directory(char out_path[4096])
{
	const char *slash = strrchr(ct_process.session.path, '/');

	if (slash == NULL)
		return false;
	(void)snprintf(out_path, 4096, "%.*s", (int)(slash - ct_process.session.path),
		       ct_process.session.path);
	return true;
}

static bool space_find(struct search *search, struct ct_space *out)
{
	char path[4096];

	search->found = ct_space_self();
	search->has_found = search_matches(search, &search->found);
	if (!search->has_found && ct_space_run_directory(path))
		ct_directory_each(path, search_check_entry, search);
	if (search->has_found)
		*out = search->found;
	return search->has_found;
}

bool ct_space_find_asid(uint16_t asid, struct ct_space *out)
{
	struct search search = { .asid = asid };

	return asid != 0 && space_find(&search, out);
}

bool ct_space_find_jobname(const char *jobname, struct ct_space *out)
{
	struct search search = { .jobname = jobname };

	return space_find(&search, out);
}
