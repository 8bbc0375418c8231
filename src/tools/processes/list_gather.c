/*
 * list_gather.c - reads what a traced process keeps in its process directory, for the verbs that
 * show it.
 *
 * Part of ctrace list and ctrace stats.  Everything is a bounded copy, taken with pread and without
 * a lock: the process is not disturbed, and may go on or end meanwhile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "lib/control/control.h"
#include "lib/ring/ring.h"

/* tenths of a second: five times the default of ctrace.block.timeout, which a session does not
 * have */
#define CUT_OFF_TENTHS 50u

const char *ct_list_name(const struct ct_session *session, uint32_t index, size_t *out_size)
{
	return ct_session_text(session, session->components[index].name, out_size);
}

static bool component_is_wanted(const struct ct_session *session, uint32_t index,
				const char *component, bool all)
{
	uint32_t flags = session->components[index].flags;
	size_t size;
	const char *name = ct_list_name(session, index, &size);

	if (size == 0 || (flags & CT_COMPONENT_HIDDEN) != 0 ||
	    (!all && !(flags & CT_COMPONENT_KNOWN)))
		return false;
	return component == NULL || ct_glob_match(component, strlen(component), name, size);
}

static int component_compare(const void *a, const void *b, void *session)
{
	size_t a_size;
	size_t b_size;
	const char *a_name = ct_list_name(session, *(const uint32_t *)a, &a_size);
	const char *b_name = ct_list_name(session, *(const uint32_t *)b, &b_size);
	int order = strncasecmp(a_name, b_name, a_size < b_size ? a_size : b_size);

	return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

uint64_t ct_list_lost_to(struct ct_dest *dest)
{
	uint64_t lost = ct_dest_current(dest)->lost;

	for (unsigned reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
		lost += dest->lost[reason];
	return lost;
}

/* Returns true if the text is the path, or as much of its end as there was room for. */
static bool text_is_path(const char *at, const char *path)
{
	size_t size = strlen(at), path_size = strlen(path);

	if (size == CT_LIST_FAILING_AT - 1 && path_size > size)
		path += path_size - size;
	return strcmp(at, path) == 0;
}

void ct_list_take_failure(struct list_failure *failure, const struct ct_session *session,
			  uint32_t index)
{
	const struct ct_dest *dest = &session->head->dest[index];

	_Static_assert(sizeof failure->at == sizeof dest->failing_at,
		       "what a destination fails at");
	failure->failing = dest->failing;
	failure->stuck_since_ns = dest->stuck_since_ns;
	failure->at[0] = '\0';
	if (dest->failing != 0 && dest->stuck_since_ns == 0 &&
	    !text_is_path(dest->failing_at, ct_dest_path(session, index)))
		memcpy(failure->at, dest->failing_at, sizeof failure->at);
}

const char *ct_list_failure(const struct list_failure *failure, char buffer[CT_LIST_FAILURE])
{
	uint64_t since = failure->stuck_since_ns, now = ct_clock_wall_ns();
	uint64_t tenths = now > since ? (now - since) / 100000000u : 0;

	if (since == 0)
		return failure->failing != 0 ? strerror((int)failure->failing) : NULL;
	if (tenths < CUT_OFF_TENTHS)
		(void)snprintf(buffer, CT_LIST_FAILURE,
			       "its emitter does not return since %" PRIu64 ".%" PRIu64 " s",
			       tenths / 10, tenths % 10);
	else
		(void)snprintf(buffer, CT_LIST_FAILURE,
			       "cut off, its emitter has not returned for %" PRIu64 " s",
			       tenths / 10);
	return buffer;
}

bool ct_list_print_failure(FILE *to, const char *separator, const struct list_failure *failure)
{
	char buffer[CT_LIST_FAILURE];
	const char *why = ct_list_failure(failure, buffer);

	if (why == NULL)
		return false;
	fprintf(to, "%sFAILING: ", separator);
	if (failure->at[0] != '\0') {
		ct_tool_print(to, failure->at, strlen(failure->at));
		if (ct_dest_text_has_reason(failure->at))
			return true;
		fputs(": ", to);
	}
	fputs(why, to);
	return true;
}

bool ct_list_gather_components(struct list_process *process, const char *component, bool all)
{
	struct ct_session *session = &process->session;
	uint32_t count = session->head->component_count;

	process->order = calloc(count != 0 ? count : 1, sizeof(*process->order));
	if (process->order == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (component_is_wanted(session, i, component, all))
			process->order[process->count++] = i;
	qsort_r(process->order, process->count, sizeof(*process->order), component_compare,
		session);
	return true;
}

static void ring_add(struct list_counters *counters, int fd, struct ct_ring_head *head,
		     const struct ct_class_image *classes)
{
	struct ct_ring ring = { .head = head, .capacity = head->capacity };
	uint64_t gone = head->overwritten + head->undelivered + head->passed_over + head->unwritten;
	uint64_t used = head->head - head->tail;
	uint32_t percent;

	ct_ring_take_constants(&ring, head);
	if (ct_ring_is_used(head)) {
		counters->rings++;
		counters->capacity += ring.capacity;
	}
	counters->bytes += head->head;
	counters->unreadable_bytes += head->unreadable;
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		counters->lost[i] += head->lost[i];
	if (head->kept == CT_KEPT_STORAGE) {
		counters->in_storage +=
			ct_ring_count_waiting(fd, head, classes, &counters->unreadable_bytes);
		counters->wrapped += head->oldest_count;
		return;
	}
	if (used > ring.capacity) /* overwritten, and not noticed yet */
		used = ring.capacity;
	percent = (uint32_t)((used * 100 + ring.capacity - 1) / ring.capacity);
	if (percent > counters->fullest)
		counters->fullest = percent;
	counters->delivered += head->consumed > gone ? head->consumed - gone : 0;
	counters->pending += ct_ring_count_waiting(fd, head, classes, &counters->unreadable_bytes);
	counters->pending_bytes += used;
	counters->lost[CTRACE_LOSS_OVERWRITTEN] +=
		head->overwritten + ct_ring_count_overwritten(&ring);
	counters->lost[CTRACE_LOSS_DAMAGED] += head->undelivered;
	counters->lost[CTRACE_LOSS_UNDELIVERABLE] += head->passed_over;
	counters->no_room += head->unwritten;
}

/* A ring that cannot be read has taken its counts along.  Those of the destinations have them, too:
 * each counts its own events, so the largest are the least that there were. */
static void counters_complete(const struct ct_session *session, struct list_counters *counters)
{
	for (unsigned i = 0; i < CT_WRITER_SLOT; i++) {
		struct ct_dest *dest = &session->head->dest[i];
		uint64_t delivered = ct_dest_current(dest)->delivered;

		if (delivered > counters->delivered)
			counters->delivered = delivered;
		for (unsigned reason = 0; reason < CTRACE_LOSS_COUNT; reason++)
			if (dest->lost[reason] > counters->lost[reason])
				counters->lost[reason] = dest->lost[reason];
	}
}

void ct_list_gather_counters(const struct ct_session *session, struct list_counters *counters)
{
	const struct ct_session_head *head = session->head;
	const struct ct_class_image classes = ct_session_classes(session);

	*counters = (struct list_counters){ .rings = 0 };
	for (uint32_t i = 0; i < head->ring_count; i++) {
		struct ct_ring_head ring;
		enum ctrace_status status;
		int fd;

		if (head->ring_place[i] == CT_RING_PRIVATE ||
		    head->ring_place[i] == CT_RING_SETTLED) {
			counters->hidden += head->ring_place[i] == CT_RING_PRIVATE;
			continue;
		}
		status = ct_ring_open(session, i, &fd);
		if (status == CTRACE_OK) {
			status = ct_ring_read_head(fd, i, &ring);
			if (status == CTRACE_OK)
				ring_add(counters, fd, &ring, &classes);
			ct_os_close(&fd);
		}
		if (status != CTRACE_OK) {
			counters->unreadable++;
			counters->first_unreadable = i;
		}
	}
	if (counters->unreadable != 0)
		counters_complete(session, counters);
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++) {
		counters->lost[i] += head->lost[i];
		counters->lost_total += counters->lost[i];
	}
	counters->lost_total += counters->no_room;
}

bool ct_list_shows(struct ct_dest *dest)
{
	return dest->emitter[0] != '\0' &&
	       (dest->active != 0 || dest->failing != 0 || ct_dest_current(dest)->delivered != 0);
}

const char *ct_list_level(uint32_t level)
{
	return ct_level_name(level);
}

const char *ct_list_state(const struct ct_directory_entry *entry)
{
	return entry->is_alive ? "running" : "ended";
}

const char *ct_list_unattached_why(int error)
{
	return error == EFBIG ? "its limit on the size of files (ulimit -f) is too small"
	       : error == ENOMEM
		       ? "its limit on address space (ulimit -v), or its memory, has no room for tracing"
		       : strerror(error);
}

bool ct_list_print_unattached(FILE *to, const char *before, const char *run_directory)
{
	struct ct_unattached noted;
	char when[CT_TOOL_DATE];

	if (!ct_unattached_read(run_directory, &noted))
		return false;
	ct_tool_date(noted.at_ns, when);
	fprintf(to, "%s%" PRIu32 " process%s no directory in ", before, noted.count,
		noted.count == 1 ? " got" : "es got");
	ct_tool_print(to, run_directory, strlen(run_directory));
	fprintf(to, ", and %s not listed: %s (last: process %" PRIu32 " ",
		noted.count == 1 ? "is" : "are", ct_list_unattached_why(noted.error), noted.pid);
	ct_tool_print(to, noted.program, strlen(noted.program));
	fprintf(to, ", %s)", when);
	if (noted.lost != 0)
		fprintf(to, ", %" PRIu64 " event%s of %s lost", noted.lost,
			noted.lost == 1 ? "" : "s", noted.count == 1 ? "it" : "them");
	if (noted.error == ENOSPC || noted.error == EDQUOT)
		fputs("; ctrace recover --discard removes what is kept of dead processes, and ctrace.keep bounds it",
		      to);
	putc('\n', to);
	return true;
}

void ct_list_config_print(const struct ct_session *session, struct ct_buf *out)
{
	const struct ct_session_config *config = &session->head->config;
	char unread[CT_CONFIG_UNREAD];
	size_t size;
	const char *path = ct_session_text(session, config->path, &size);

	if (size == 0) {
		ct_buf_add_text(out, "none: the program's environment has no MFTRACE_CONFIG");
		return;
	}
	ct_escape_add(out, path, size);
	if (config->error != 0)
		ct_buf_add_format(out, ": not read: %s",
				  ct_config_unread((int)config->error, unread));
	else if (config->stopped_at != 0)
		ct_buf_add_format(out, ": for another program, says mftrace.application in line %u",
				  config->stopped_at);
	else if (config->diagnostics == 0)
		ct_buf_add_text(out, ": read");
	if (config->diagnostics != 0)
		ct_buf_add_format(out, ": %u line%s not understood, %s %u", config->diagnostics,
				  config->diagnostics == 1 ? "" : "s",
				  config->diagnostics == 1 ? "line" : "the first is line",
				  config->first_diagnostic);
}

void ct_list_clock_print(const struct ct_session *session, char out[CT_CLOCK_TEXT])
{
	const struct ct_shared_sync *sync = &session->head->sync;

	if (session->head->is_dormant == CT_DORMANT) {
		(void)snprintf(out, CT_CLOCK_TEXT, "none yet: the process is dormant");
		return;
	}
	ct_sync_print_clock(&sync->slot[sync->version % 2], out);
}
