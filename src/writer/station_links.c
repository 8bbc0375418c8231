/*
 * station_links.c - the processes that an external writer is connected to: taken in, parted from, and gone when their data are out.
 *
 * On the station's thread.  The list changes under the lock of every TRCOUT, so that no worker is looking at it; what a link is to give up, and
 * what a worker has given up, are atomic words of the link.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/station.h"

#include <stdio.h>

#define ASK_NS 1000000000u     /* how long a process may take to want its rings back */
#define GIVE_UP_NS 5000000000u /* how long the end may take without progress */

static void lock_all(struct ct_station *station)
{
	for (uint32_t i = 0; i < station->workers; i++)
		ct_intake_lock(&station->trcouts[i]);
}

static void unlock_all(struct ct_station *station)
{
	for (uint32_t i = station->workers; i > 0; i--)
		ct_intake_unlock(&station->trcouts[i - 1]);
}

enum ctrace_status ct_station_add_link(struct ct_station *station, const struct ct_message *request, uint32_t *out_count)
{
	uint64_t number = ct_message_number(request, CT_FIELD_NUMBER, 0);
	uint64_t base = ct_message_number(request, CT_FIELD_VALUE, 0);
	uint64_t count = ct_message_number(request, CT_FIELD_LEVEL, 0);
	struct ct_caller *caller = station->current;
	struct ct_link *link;
	enum ctrace_status status;
	int folder = caller->connection.passed;

	if (number == 0 || number >= CT_WRITER_LIMIT || base < CT_WRITER_SLOT || count == 0 || base > CT_DEST_LIMIT ||
	    count > CT_DEST_LIMIT - base || folder < 0 || caller->link != NULL)
		return CTRACE_DAMAGED;
	if (station->stopping || station->link_count == CT_LINK_LIMIT)
		return CTRACE_NOT_ENOUGH_MEMORY;
	caller->connection.passed = -1;
	if (count > station->workers)
		count = station->workers;
	status = ct_link_create(folder, (uint32_t)number, (uint32_t)base, (uint32_t)count, &link);
	if (status != CTRACE_OK)
		return status;
	lock_all(station);
	station->links[station->link_count++] = link;
	unlock_all(station);
	caller->link = link;
	*out_count = (uint32_t)count;
	return CTRACE_OK;
}

void ct_link_release(struct ct_link *link, uint32_t how)
{
	__atomic_store_n(&link->release, how, __ATOMIC_RELEASE);
}

static struct ct_caller *caller_of(const struct ct_station *station, const struct ct_link *link)
{
	for (uint32_t i = 0; i < station->caller_count; i++)
		if (station->callers[i]->link == link)
			return station->callers[i];
	return NULL;
}

/* Everybody's data are out, and nobody works on it any more. */
static void remove_link(struct ct_station *station, uint32_t index)
{
	struct ct_link *link = station->links[index];
	struct ct_caller *caller = caller_of(station, link);
	struct ct_recovery ignored = { 0 };

	lock_all(station);
	station->links[index] = station->links[--station->link_count];
	unlock_all(station);
	if (caller != NULL) {
		caller->link = NULL;
		caller->connection.is_ending = true;
	}
	ct_link_destroy(link);
	/* The process has ended: what else it left goes where it belongs. */
	if (caller == NULL)
		ct_recover(station->options->run_directory, NULL, &ignored, NULL, NULL);
}

void ct_station_part_from_damaged(struct ct_station *station)
{
	char text[200];

	for (uint32_t i = 0; i < station->link_count; i++) {
		struct ct_link *link = station->links[i];

		if (__atomic_load_n(&link->is_damaged, __ATOMIC_ACQUIRE) == 0 || link->release == CT_RELEASE_NOW)
			continue;
		(void)snprintf(text, sizeof text, "CTR107E PROCESS %u HAS TRUNCATED ITS SESSION OR A RING: IT IS DISCONNECTED",
			       link->info.pid);
		ct_station_tell(text, station);
		ct_link_release(link, CT_RELEASE_NOW);
	}
}

void ct_station_remove_done(struct ct_station *station)
{
	for (uint32_t i = station->link_count; i > 0; i--) {
		struct ct_link *link = station->links[i - 1];
		uint32_t all = (uint32_t)(((uint64_t)1 << link->count) - 1);

		if (__atomic_load_n(&link->release, __ATOMIC_RELAXED) != CT_RELEASE_AS_WANTED &&
		    __atomic_load_n(&link->done, __ATOMIC_ACQUIRE) == all)
			remove_link(station, i - 1);
	}
}

bool ct_station_is_waiting(const struct ct_station *station)
{
	for (uint32_t i = 0; i < station->link_count; i++)
		if (station->links[i]->release != CT_RELEASE_AS_WANTED)
			return true;
	return station->stopping;
}

/* ---- the end ---- */

static void ask_back(struct ct_station *station)
{
	for (uint32_t i = 0; i < station->caller_count; i++) {
		struct ct_caller *caller = station->callers[i];
		size_t start;

		if (caller->link == NULL)
			continue;
		start = ct_message_start(&caller->connection.out, CT_VERB_WRITER_STOP, 0);
		(void)!ct_message_end(&caller->connection.out, start);
	}
}

void ct_station_begin_end(struct ct_station *station, uint32_t how)
{
	if (station->stopping)
		return;
	station->stopping = true;
	station->stop_release = how;
	station->stop_ns = station->progress_ns = ct_clock_mono_ns();
	ask_back(station);
}

void ct_station_press_on(struct ct_station *station)
{
	uint64_t now = ct_clock_mono_ns();
	uint64_t events = 0;

	for (uint32_t i = 0; i < station->link_count; i++) {
		events += __atomic_load_n(&station->links[i]->events, __ATOMIC_RELAXED);
		if (station->links[i]->release == CT_RELEASE_AS_WANTED && now - station->stop_ns > ASK_NS)
			ct_link_release(station->links[i], station->stop_release);
	}
	if (events != station->progress)
		station->progress_ns = now;
	station->progress = events;
	for (uint32_t i = 0; i < station->link_count && now - station->progress_ns > GIVE_UP_NS; i++)
		ct_link_release(station->links[i], CT_RELEASE_NOW);
}
