/*
 * writer_server_links.c - the processes that are connected to an external writer: added, released,
 * and removed when their data are written.
 *
 * On the writer server's thread.  The list changes under the lock of every TRCOUT, so that no
 * worker reads it meanwhile.  A request to release a link, and the workers' progress with it, are
 * atomic words of the link.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer_server.h"

#include <stdio.h>

#define ASK_NS 1000000000u     /* time for a process to withdraw its rings */
#define GIVE_UP_NS 5000000000u /* the end may take this long without progress */

enum ctrace_status ct_writer_server_add_link(struct ct_writer_server *writer_server,
					     const struct ct_message *request, uint32_t *out_count)
{
	uint64_t number = ct_message_number(request, CT_FIELD_NUMBER, 0);
	uint64_t base = ct_message_number(request, CT_FIELD_VALUE, 0);
	uint64_t count = ct_message_number(request, CT_FIELD_LEVEL, 0);
	uint64_t connection = ct_message_number(request, CT_FIELD_CONNECTION, 0);
	struct ct_caller *caller = writer_server->current;
	struct ct_link_request wanted;
	struct ct_link *link;
	enum ctrace_status status;
	int directory = caller->connection.passed;

	if (number == 0 || number >= CT_WRITER_LIMIT || base < CT_WRITER_SLOT || count == 0 ||
	    base > CT_DEST_LIMIT || count > CT_DEST_LIMIT - base || directory < 0 ||
	    caller->link != NULL)
		return CTRACE_DAMAGED;
	if (writer_server->stopping || writer_server->link_count == CT_LINK_LIMIT)
		return CTRACE_NOT_ENOUGH_MEMORY;
	caller->connection.passed = -1;
	wanted = (struct ct_link_request){ .number = (uint32_t)number,
					   .held_by = (uint32_t)base,
					   .connection = (uint32_t)connection,
					   .batch_bytes = ct_trcout_batch_bytes(
						   writer_server->options->procedure) };
	status = ct_link_create(directory, &wanted, &link);
	if (status != CTRACE_OK)
		return status;
	ct_ring_consumer_lock(&writer_server->group);
	writer_server->links[writer_server->link_count++] = link;
	ct_ring_consumer_unlock(&writer_server->group);
	caller->link = link;
	*out_count = 1;
	return CTRACE_OK;
}

void ct_link_release(struct ct_link *link, uint32_t how)
{
	__atomic_store_n(&link->release, how, __ATOMIC_RELEASE);
}

static struct ct_caller *link_caller(const struct ct_writer_server *writer_server,
				     const struct ct_link *link)
{
	for (uint32_t i = 0; i < writer_server->caller_count; i++)
		if (writer_server->callers[i]->link == link)
			return writer_server->callers[i];
	return NULL;
}

/* Removes a link when its data are written and no worker uses it. */
static void link_remove(struct ct_writer_server *writer_server, uint32_t index)
{
	struct ct_link *link = writer_server->links[index];
	struct ct_caller *caller = link_caller(writer_server, link);
	struct ct_recovery ignored = { 0 };

	ct_ring_consumer_lock(&writer_server->group);
	writer_server->links[index] = writer_server->links[--writer_server->link_count];
	ct_ring_consumer_unlock(&writer_server->group);
	if (caller != NULL) {
		caller->link = NULL;
		caller->connection.is_ending = true;
	}
	ct_link_destroy(link);
	/* The process has ended: recovers the rest of its data to their destinations. */
	if (caller == NULL)
		ct_recover(writer_server->options->run_directory, NULL, &ignored, NULL, NULL);
}

void ct_writer_server_part_from_damaged(struct ct_writer_server *writer_server)
{
	char text[200];

	for (uint32_t i = 0; i < writer_server->link_count; i++) {
		struct ct_link *link = writer_server->links[i];

		if (__atomic_load_n(&link->is_damaged, __ATOMIC_ACQUIRE) == 0 ||
		    link->release == CT_RELEASE_NOW)
			continue;
		(void)snprintf(
			text, sizeof text,
			"CTR107E PROCESS %u HAS TRUNCATED ITS SESSION OR A RING: IT IS DISCONNECTED",
			link->info.pid);
		ct_writer_server_report(text, writer_server);
		ct_link_release(link, CT_RELEASE_NOW);
	}
}

void ct_writer_server_remove_done(struct ct_writer_server *writer_server)
{
	for (uint32_t i = writer_server->link_count; i > 0; i--) {
		struct ct_link *link = writer_server->links[i - 1];

		if (__atomic_load_n(&link->release, __ATOMIC_RELAXED) != CT_RELEASE_AS_WANTED &&
		    __atomic_load_n(&link->done, __ATOMIC_ACQUIRE) != 0)
			link_remove(writer_server, i - 1);
	}
}

bool ct_writer_server_is_waiting(const struct ct_writer_server *writer_server)
{
	for (uint32_t i = 0; i < writer_server->link_count; i++)
		if (writer_server->links[i]->release != CT_RELEASE_AS_WANTED)
			return true;
	return writer_server->stopping;
}

/* ---- the end ---- */

static void links_ask_back(struct ct_writer_server *writer_server)
{
	for (uint32_t i = 0; i < writer_server->caller_count; i++) {
		struct ct_caller *caller = writer_server->callers[i];
		size_t start;

		if (caller->link == NULL)
			continue;
		start = ct_message_start(&caller->connection.out, CT_VERB_WRITER_STOP, 0);
		(void)!ct_message_end(&caller->connection.out, start);
	}
}

void ct_writer_server_begin_end(struct ct_writer_server *writer_server, uint32_t how)
{
	if (writer_server->stopping)
		return;
	writer_server->stopping = true;
	writer_server->stop_release = how;
	writer_server->stop_ns = writer_server->progress_ns = ct_clock_mono_ns();
	links_ask_back(writer_server);
}

void ct_writer_server_press_on(struct ct_writer_server *writer_server)
{
	uint64_t now = ct_clock_mono_ns();
	uint64_t events = 0;

	for (uint32_t i = 0; i < writer_server->link_count; i++) {
		events += __atomic_load_n(&writer_server->links[i]->events, __ATOMIC_RELAXED);
		if (writer_server->links[i]->release == CT_RELEASE_AS_WANTED &&
		    now - writer_server->stop_ns > ASK_NS)
			ct_link_release(writer_server->links[i], writer_server->stop_release);
	}
	if (events != writer_server->progress)
		writer_server->progress_ns = now;
	writer_server->progress = events;
	for (uint32_t i = 0;
	     i < writer_server->link_count && now - writer_server->progress_ns > GIVE_UP_NS; i++)
		ct_link_release(writer_server->links[i], CT_RELEASE_NOW);
}
