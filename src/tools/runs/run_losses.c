/*
 * run_losses.c - the events of a `ctrace run` that are not in its trace: lost ones by reason, and
 * those that wait in rings until the trace can be written.
 *
 * A process of the run that has lost events leaves its directory in the run directory
 * (CTRACE_LEAVE_DIRECTORY=losses), because a trace has no reasons.  A directory belongs to the run
 * when RUN in the settings of an output is the run's number.
 *
 * On the tool's one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_losses.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "print/run_page.h"
#include "tools/processes/list.h"

#define METADATA_LIMIT ((size_t)64 << 20)

struct looking {
	const char *run;
	struct run_losses *losses;
	uint64_t dropped;
};

/* Returns the output whose settings have the run's number; -1: none has. */
static int session_output(const struct ct_session *session, const char *run)
{
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		size_t size;
		const char *text = ct_session_text(session, session->head->dest[i].settings, &size);

		if (memmem(text, size, run, strlen(run)) != NULL)
			return (int)i;
	}
	return -1;
}

static void entry_add(const struct ct_directory_entry *entry, void *user)
{
	const struct looking *looking = user;
	struct run_losses *losses = looking->losses;
	struct list_counters counters;
	struct ct_session session;
	int output;

	losses->dead += !entry->is_alive;
	if (ct_session_load(&session, entry->run_directory, entry->name, false) != CTRACE_OK)
		return;
	output = session_output(&session, looking->run);
	losses->processes += output >= 0;
	losses->alive += output >= 0 && entry->is_alive;
	if (output >= 0 && !entry->is_alive) {
		ct_list_gather_counters(&session, &counters);
		for (size_t i = 0; i < CTRACE_LOSS_COUNT; i++) {
			losses->lost[i] += counters.lost[i];
			losses->lost_total += counters.lost[i];
		}
		losses->waiting += counters.pending;
		if (losses->failing == 0)
			losses->failing = session.head->dest[output].failing;
	}
	ct_session_close(&session, false);
}

static void directory_add(const char *path, void *user)
{
	ct_directory_each(path, entry_add, user);
}

void run_losses_gather(const char *run, struct run_losses *out_losses)
{
	struct looking looking = { .run = run, .losses = out_losses };

	*out_losses = (struct run_losses){ .lost_total = 0 };
	if (run[0] != '\0')
		ct_directory_each_run_directory(directory_add, &looking);
}

struct unattached_search {
	uint64_t since_ns;
	struct ct_unattached *found;
};

static void directory_find_unattached(const char *path, void *user)
{
	const struct unattached_search *search = user;
	struct ct_unattached noted;

	if (ct_unattached_read(path, &noted) && noted.at_ns >= search->since_ns)
		*search->found = noted;
}

void run_losses_find_unattached(uint64_t since_ns, struct run_losses *losses)
{
	struct unattached_search search = { since_ns, &losses->unattached };

	ct_directory_each_run_directory(directory_find_unattached, &search);
}

/* -----------------------------------------------------------------------------------------------
 * Dropping
 */

/* Has the process another output that may still get its events? */
static bool session_has_others(const struct ct_session *session, int output)
{
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++)
		if (i != (uint32_t)output && session->head->dest[i].active != 0)
			return true;
	return false;
}

static void entry_drop(const struct ct_directory_entry *entry, void *user)
{
	struct looking *looking = user;
	struct list_counters counters;
	struct ct_session session;
	int output;

	if (entry->is_alive ||
	    ct_session_load(&session, entry->run_directory, entry->name, true) != CTRACE_OK)
		return;
	output = session_output(&session, looking->run);
	if (output >= 0 && !session_has_others(&session, output)) {
		ct_list_gather_counters(&session, &counters);
		looking->dropped += counters.pending;
		ct_directory_remove(entry->run_directory, entry->name);
		ct_annex_remove_all(session.head);
	}
	ct_session_close(&session, false);
}

static void directory_drop(const char *path, void *user)
{
	ct_directory_each(path, entry_drop, user);
}

uint64_t run_losses_drop(const char *run)
{
	struct looking looking = { .run = run };

	if (run[0] != '\0')
		ct_directory_each_run_directory(directory_drop, &looking);
	return looking.dropped;
}

/* -----------------------------------------------------------------------------------------------
 * Printing
 */

static void reasons_add(const struct run_losses *losses, uint64_t others, struct ct_buf *out)
{
	const char *between = ": ";

	for (size_t i = 0; i < CTRACE_LOSS_COUNT; i++) {
		if (losses->lost[i] == 0)
			continue;
		ct_buf_add_text(out, between);
		ct_buf_add_format(out, "%s ", ctrace_loss_name((enum ctrace_loss)i));
		ct_run_page_add_count(out, losses->lost[i]);
		between = ", ";
	}
	if (others == 0)
		return;
	ct_buf_add_text(out, between);
	ct_buf_add_text(out, "reported by the trace ");
	ct_run_page_add_count(out, others);
}

/* In which part of the trace: a second, or a day with the clock. */
static void left_out_add(const struct ct_bin_left_out *left_out, struct ct_buf *out)
{
	if (left_out->events == 0)
		return;
	ct_run_page_add_count(out, left_out->events);
	ct_buf_add_text(out, left_out->events == 1 ? " was left out (" : " were left out (");
	ct_run_page_add_bytes(out, left_out->bytes);
	ct_buf_add_text(out, ", over ");
	ct_run_page_add_time(out, left_out->end_ns - left_out->begin_ns);
	ct_buf_add_text(out, " in the middle): the trace has the size of --limit-size; "
			     "--limit-size=none keeps all\n");
}

static bool metadata_has_run_time(struct ct_buf *text)
{
	static const char *const names[] = { "name = \"mf.rts:", "name = \"mf.mffh.xfh:" };

	for (size_t i = 0; i < CT_COUNT(names); i++)
		if (memmem(text->data, text->size, names[i], strlen(names[i])) != NULL)
			return true;
	return false;
}

bool run_losses_left_out(const char *trace, struct ct_bin_left_out *out_left_out)
{
	DIR *directory = opendir(trace);
	const struct dirent *entry;
	struct ct_bin_left_out one;
	bool has_run_time = false;
	char path[PATH_MAX];
	struct ct_buf text;

	*out_left_out = (struct ct_bin_left_out){ 0 };
	ct_buf_init(&text);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		(void)snprintf(path, sizeof path, "%s/%s/metadata", trace, entry->d_name);
		ct_buf_clear(&text);
		if (ct_os_read_file(path, METADATA_LIMIT, &text) != CTRACE_OK || text.size == 0)
			continue;
		if (ct_bin_left_out_find(text.data, text.size, &one))
			ct_bin_left_out_add(out_left_out, &one);
		has_run_time = has_run_time || metadata_has_run_time(&text);
	}
	if (directory != NULL)
		(void)closedir(directory);
	ct_buf_fini(&text);
	return has_run_time;
}

/* Nothing when the trace has all events.  Only a process that ends in order counts what it lost. */
static void unattached_add(const struct ct_unattached *unattached, bool is_killed, bool has_events,
			   uint64_t others, struct ct_buf *out)
{
	if (unattached->count == 0 ||
	    (has_events && others == 0 && unattached->lost == 0 && !is_killed))
		return;
	ct_buf_add_format(out, "process %" PRIu32 " (", unattached->pid);
	ct_escape_add(out, unattached->program, strlen(unattached->program));
	ct_buf_add_format(out, ") got no directory in a run directory: %s; %s\n",
			  ct_list_unattached_why(unattached->error),
			  others > 0   ? "only its trace counts what it lost"
			  : has_events ? "the trace does not count what it lost"
				       : "nothing is in the trace, not even what it lost");
}

/* Room comes back by itself; a name, a directory or a right does not. */
static bool failure_passes(uint32_t error)
{
	static const int passing[] = { 0,      ENOSPC, EDQUOT, EMFILE, ENFILE,
				       ENOMEM, EAGAIN, EINTR,  ENOBUFS };

	for (size_t i = 0; i < CT_COUNT(passing); i++)
		if (error == (uint32_t)passing[i])
			return true;
	return false;
}

void run_losses_add(const struct run_losses *losses, uint64_t in_trace, uint64_t discarded,
		    struct ct_buf *out)
{
	uint64_t left_out = losses->left_out.events;
	/* The trace has the count of a process that another tool has recovered meanwhile. */
	uint64_t others = discarded > losses->lost_total + left_out
				  ? discarded - losses->lost_total - left_out
				  : 0;
	uint64_t lost = losses->lost_total + others;

	unattached_add(&losses->unattached, losses->is_killed, in_trace > 0, others, out);
	if (lost + left_out == 0 && losses->waiting == 0)
		return;
	ct_buf_add_text(out, "of ");
	ct_run_page_add_count(out, in_trace + losses->waiting + lost + left_out);
	ct_buf_add_text(out, " events, ");
	ct_run_page_add_count(out, in_trace);
	ct_buf_add_text(out, in_trace == 1 ? " is in the trace\n" : " are in the trace\n");
	left_out_add(&losses->left_out, out);
	if (losses->waiting > 0) {
		ct_run_page_add_count(out, losses->waiting);
		ct_buf_add_text(out, losses->waiting == 1 ? " waits" : " wait");
		if (losses->failing != 0)
			ct_buf_add_format(out, ", because the trace cannot be written (%s)",
					  strerror((int)losses->failing));
		ct_buf_add_text(out,
				failure_passes(losses->failing)
					? "; ctrace recover adds them later\n"
					: "; ctrace recover adds them once that is mended; "
					  "ctrace recover -n reports until when they are kept\n");
	}
	if (lost > 0) {
		ct_run_page_add_count(out, lost);
		ct_buf_add_text(out, lost == 1 ? " was lost" : " were lost");
		reasons_add(losses, others, out);
		ct_buf_add_char(out, '\n');
	}
}
