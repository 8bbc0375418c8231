/*
 * list_gather.c - what a traced process keeps in its run folder, for the verbs that show it.
 *
 * Part of ctrace list and ctrace stats.  Everything is a copy, taken with pread and without a lock, and within bounds: the process is
 * not disturbed, and may go on or end meanwhile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"

const char *ct_list_name(const struct ct_session *session, uint32_t index, size_t *out_size)
{
	return ct_session_text(session, session->components[index].name, out_size);
}

static bool is_wanted(const struct ct_session *session, uint32_t index, const char *component, bool all)
{
	uint32_t flags = session->components[index].flags;
	size_t size;
	const char *name = ct_list_name(session, index, &size);

	if (size == 0 || (flags & CT_COMPONENT_HIDDEN) != 0 || (!all && !(flags & CT_COMPONENT_KNOWN)))
		return false;
	return component == NULL || ct_glob_match(component, strlen(component), name, size);
}

static int compare_names(const void *a, const void *b, void *session)
{
	size_t a_size;
	size_t b_size;
	const char *a_name = ct_list_name(session, *(const uint32_t *)a, &a_size);
	const char *b_name = ct_list_name(session, *(const uint32_t *)b, &b_size);
	int order = strncasecmp(a_name, b_name, a_size < b_size ? a_size : b_size);

	return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

bool ct_list_gather_components(struct list_process *process, const char *component, bool all)
{
	struct ct_session *session = &process->session;
	uint32_t count = session->head->component_count;

	process->order = calloc(count != 0 ? count : 1, sizeof(*process->order));
	if (process->order == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (is_wanted(session, i, component, all))
			process->order[process->count++] = i;
	qsort_r(process->order, process->count, sizeof(*process->order), compare_names, session);
	return true;
}

static void add_ring(struct list_counters *counters, const struct ct_ring *ring)
{
	const struct ct_ring_head *head = ring->head;
	uint64_t gone = head->overwritten + head->undelivered + head->unwritten;
	uint64_t used = head->head - head->tail;
	uint32_t percent;

	if (used > ring->capacity) /* overwritten, and not noticed yet */
		used = ring->capacity;
	percent = (uint32_t)((used * 100 + ring->capacity - 1) / ring->capacity);
	counters->rings++;
	counters->capacity += ring->capacity;
	counters->bytes += head->head;
	if (percent > counters->fullest)
		counters->fullest = percent;
	counters->delivered += head->consumed > gone ? head->consumed - gone : 0;
	counters->pending += ct_ring_count_pending(ring);
	counters->pending_bytes += used;
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		counters->lost[i] += head->lost[i];
	counters->lost[CTRACE_LOSS_OVERWRITTEN] += head->overwritten + ct_ring_count_overwritten(ring);
	counters->lost[CTRACE_LOSS_DAMAGED] += head->undelivered;
	counters->no_room += head->unwritten;
}

/* A head page that is copied while its thread and the agent move may contradict itself; the next copy hardly does too. */
static bool load_ring(struct ct_ring *ring, const struct ct_session *session, uint32_t index)
{
	enum ctrace_status status = CTRACE_DAMAGED;

	for (unsigned tries = 0; tries < 5 && status == CTRACE_DAMAGED; tries++)
		status = ct_ring_load(ring, session, index);
	return status == CTRACE_OK;
}

void ct_list_gather_counters(const struct ct_session *session, struct list_counters *counters)
{
	const struct ct_session_head *head = session->head;

	*counters = (struct list_counters){ .rings = 0 };
	for (uint32_t i = 0; i < head->ring_count; i++) {
		struct ct_ring ring;

		if (!load_ring(&ring, session, i))
			continue;
		add_ring(counters, &ring);
		ct_ring_close(&ring);
	}
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++) {
		counters->lost[i] += head->lost[i];
		counters->lost_total += counters->lost[i];
	}
	counters->lost_total += counters->no_room;
}

bool ct_list_shows(struct ct_dest *dest)
{
	return dest->emitter[0] != '\0' && (dest->active != 0 || dest->failing != 0 || ct_dest_current(dest)->delivered != 0);
}

const char *ct_list_level(uint32_t level)
{
	return ct_level_name(level);
}

const char *ct_list_state(const struct ct_folder_entry *entry)
{
	return entry->is_alive ? "running" : "ended";
}
