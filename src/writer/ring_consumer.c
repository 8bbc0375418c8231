/*
 * ring_consumer.c - maps the sessions and rings of traced processes and consumes them.
 *
 * ct_link_* run on the writer server's thread, a round on the worker.  A process's rings have one
 * destination here, which has a consumer.  The mapped files belong to a process of the same user,
 * but may be damaged and may change at any time.  So the description of the process and its rings
 * is copied when they are mapped; positions and records are read once and checked each time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/ring_consumer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUSY_NS 500000u   /* after a round that delivered events */
#define IDLE_NS 10000000u /* after many rounds without events */
#define QUIET_ROUNDS 200u

/* -----------------------------------------------------------------------------------------------
 * A link
 */

/* The text area that holds the names grows; the mapping beyond its size has no blocks yet. */
static void session_see_new_texts(struct ct_session *session)
{
	uint64_t size = __atomic_load_n(&session->head->texts_size, __ATOMIC_ACQUIRE);

	if (size <= session->layout.size - session->layout.texts_at)
		__atomic_store_n(&session->texts_capacity, (size_t)size, __ATOMIC_RELAXED);
}

static void copy_text(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
	to[size - 1] = '\0';
}

/* Copies the names: the process may overwrite their terminators at any time. */
static void link_note_process(struct ct_link *link)
{
	const struct ct_session_head *head = link->session.head;
	struct ct_trace_info *info = &link->info;

	_Static_assert(sizeof info->host == sizeof head->host &&
			       sizeof info->program == sizeof head->program &&
			       sizeof info->system == sizeof head->system &&
			       sizeof info->jobname == sizeof head->jobname,
		       "the trace holds the names of the session");
	info->pid = head->pid;
	info->asid = head->asid;
	info->start_ns = head->start_ns;
	info->is_big = CTRACE_IS_BIG_;
	copy_text(info->host, head->host, sizeof info->host);
	copy_text(info->program, head->program, sizeof info->program);
	copy_text(info->system, head->system, sizeof info->system);
	copy_text(info->jobname, head->jobname, sizeof info->jobname);
}

/* Maps new rings and returns how many there are. */
static uint32_t link_map_rings(void *user)
{
	struct ct_link *link = user;
	uint32_t count = __atomic_load_n(&link->session.head->ring_count, __ATOMIC_ACQUIRE);

	if (count > CT_RING_LIMIT)
		count = CT_RING_LIMIT;
	if (__atomic_load_n(&link->rings, __ATOMIC_ACQUIRE) >= count)
		return count;
	(void)pthread_mutex_lock(&link->lock);
	while (link->rings < count) {
		/* Without a mapping no consumer takes it; its events are recovered when the
		 * process has ended. */
		if (ct_ring_map(&link->ring[link->rings], &link->session, link->rings) != CTRACE_OK)
			link->ring[link->rings].head = NULL;
		__atomic_store_n(&link->rings, link->rings + 1, __ATOMIC_RELEASE);
	}
	(void)pthread_mutex_unlock(&link->lock);
	return count;
}

static struct ct_ring *link_ring_at(void *user, uint32_t index)
{
	struct ct_link *link = user;

	return link->ring[index].head != NULL ? &link->ring[index] : NULL;
}

static enum ctrace_status link_create_consumer(struct ct_link *link, size_t batch_bytes)
{
	static uint32_t no_flight; /* a writer never gets a flight recorder's rings */
	struct ct_consumer_source source = { .session = &link->session,
					     .sync = &link->sync,
					     .ring_count = link_map_rings,
					     .ring_at = link_ring_at,
					     .user = link,
					     .held_by = link->held_by,
					     .batch_bytes = batch_bytes,
					     .is_dropped = &link->is_dropped,
					     .flight_wanted = &no_flight,
					     .emitter = &ct_trcout_emitter,
					     .release = &link->release };

	ct_shared_sync_copy(&link->session.head->sync, &link->sync);
	return ct_consumer_create(&source, &link->consumer);
}

enum ctrace_status ct_link_create(int directory, const struct ct_link_request *request,
				  struct ct_link **out_link)
{
	struct ct_link *link = calloc(1, sizeof *link);
	struct ct_ring *rings = calloc(CT_RING_LIMIT, sizeof *rings);
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	if (link == NULL || rings == NULL) {
		ct_os_close(&directory);
		goto undo_link;
	}
	link->number = request->number;
	link->held_by = request->held_by;
	link->connection = request->connection;
	(void)pthread_mutex_init(&link->lock, NULL);
	link->ring = rings;
	ct_guard_link(link);
	status = ct_session_map(&link->session, directory, request->number);
	if (status != CTRACE_OK)
		goto undo_link;
	link_note_process(link);
	session_see_new_texts(&link->session);
	status = link_create_consumer(link, request->batch_bytes);
	if (status != CTRACE_OK)
		goto undo_session;
	ct_guard_link(NULL);
	*out_link = link;
	return CTRACE_OK;

undo_session:
	ct_session_close(&link->session, false);
undo_link:
	ct_guard_link(NULL);
	free(rings);
	free(link);
	return status;
}

void ct_link_destroy(struct ct_link *link)
{
	if (link == NULL)
		return;
	ct_guard_link(link);
	if (link->is_accepted)
		ct_consumer_close(link->consumer);
	ct_consumer_destroy(link->consumer);
	for (uint32_t i = 0; i < link->rings; i++)
		if (link->ring[i].head != NULL)
			ct_ring_close(&link->ring[i]);
	/* Last: this releases our lock, and then another process may work there. */
	ct_session_close(&link->session, false);
	ct_guard_link(NULL);
	(void)pthread_mutex_destroy(&link->lock);
	free(link->ring);
	free(link);
}

/* -----------------------------------------------------------------------------------------------
 * A round
 */

/* Has the process accepted this connection?  It never does after it has given the connection up,
 * and may then give the destination to another writer. */
static bool link_is_accepted(struct ct_link *link)
{
	const uint32_t *accepted = &link->session.head->writer[link->number].connection;

	/* Pairs with the release store in link_connect(). */
	link->is_accepted |= __atomic_load_n(accepted, __ATOMIC_ACQUIRE) == link->connection;
	return link->is_accepted;
}

bool ct_link_is_connected(const struct ct_link *link)
{
	const struct ct_session_writer *writer = &link->session.head->writer[link->number];

	/* Pairs with the release stores in link_connect(). */
	return __atomic_load_n(&writer->slots, __ATOMIC_ACQUIRE) != 0 &&
	       __atomic_load_n(&writer->connection, __ATOMIC_ACQUIRE) == link->connection;
}

static uint64_t link_consume(struct ct_trcout_group *group, struct ct_link *link, bool *out_more)
{
	struct ct_consumer_result result;
	bool is_released;

	if (__atomic_load_n(&link->done, __ATOMIC_RELAXED) != 0)
		return 0;
	session_see_new_texts(&link->session);
	is_released = __atomic_load_n(&link->release, __ATOMIC_ACQUIRE) != CT_RELEASE_AS_WANTED;
	if (!link_is_accepted(link)) {
		if (is_released)
			__atomic_store_n(&link->done, 1, __ATOMIC_RELEASE);
		return 0;
	}
	ct_trcout_select(group, link);
	ct_consumer_pass(link->consumer, false, &result);
	(void)__atomic_fetch_add(&link->events, result.delivered, __ATOMIC_RELAXED);
	*out_more |= result.pending > CT_RING_MIN / 4;
	/* The pass began after the release, and has handed over the last ring or found none. */
	if (is_released && ct_consumer_ring_count(link->consumer) == 0) {
		ct_consumer_close(link->consumer);
		__atomic_store_n(&link->done, 1, __ATOMIC_RELEASE);
	}
	return result.delivered;
}

void ct_ring_consumer_lock(struct ct_trcout_group *group)
{
	(void)__atomic_fetch_add(&group->others, 1, __ATOMIC_ACQ_REL);
	(void)pthread_mutex_lock(&group->lock);
	if (__atomic_sub_fetch(&group->others, 1, __ATOMIC_ACQ_REL) == 0)
		ct_os_wake(&group->others);
}

void ct_ring_consumer_unlock(struct ct_trcout_group *group)
{
	(void)pthread_mutex_unlock(&group->lock);
}

static void group_lock_in_turn(struct ct_trcout_group *group)
{
	uint32_t others;

	while ((others = __atomic_load_n(&group->others, __ATOMIC_ACQUIRE)) != 0)
		ct_os_wait(&group->others, others, BUSY_NS);
	(void)pthread_mutex_lock(&group->lock);
}

uint64_t ct_ring_consumer_round(struct ct_trcout_group *group, bool *out_more)
{
	uint64_t delivered = 0;

	*out_more = false;
	group_lock_in_turn(group);
	for (uint32_t i = 0; i < *group->link_count; i++) {
		if (__atomic_load_n(&group->others, __ATOMIC_RELAXED) != 0) {
			/* When a link is removed meanwhile, the last one moves to its index and
			 * waits for the next round. */
			(void)pthread_mutex_unlock(&group->lock);
			group_lock_in_turn(group);
			if (i >= *group->link_count)
				break;
		}
		ct_guard_link(group->links[i]);
		delivered += link_consume(group, group->links[i], out_more);
	}
	ct_guard_link(NULL);
	(void)pthread_mutex_unlock(&group->lock);
	return delivered;
}

void *ct_ring_consumer_run(void *argument)
{
	struct ct_trcout_group *group = argument;
	uint32_t quiet = 0;

	ct_guard_thread();
	while (__atomic_load_n(group->stop, __ATOMIC_ACQUIRE) == 0) {
		bool more;
		uint64_t delivered = ct_ring_consumer_round(group, &more);

		quiet = delivered != 0 ? 0 : quiet + 1;
		if (more)
			continue;
		/* The writer server wakes this thread to end it. */
		ct_os_wait(group->stop, 0, quiet < QUIET_ROUNDS ? BUSY_NS : IDLE_NS);
	}
	return NULL;
}

/* -----------------------------------------------------------------------------------------------
 * For operators
 */

static void names_add_trace(struct ct_buf *out, const struct ct_session *session,
			    const struct ct_component_entry *entry)
{
	size_t size;
	const char *name =
		ct_session_text(session, __atomic_load_n(&entry->name, __ATOMIC_ACQUIRE), &size);

	if (out->size != 0)
		ct_buf_add_char(out, ' ');
	ct_buf_add(out, name, size);
}

/* A trace that is off sends nothing here. */
static bool component_is_connected(const struct ct_link *link,
				   const struct ct_component_entry *entry)
{
	return __atomic_load_n(&entry->writer, __ATOMIC_RELAXED) == link->number &&
	       (__atomic_load_n(&entry->flags, __ATOMIC_RELAXED) & CT_COMPONENT_KNOWN) != 0 &&
	       __atomic_load_n(&entry->level_word.level, __ATOMIC_RELAXED) != CTRACE_LEVEL_NONE;
}

static void link_describe(const struct ct_link *link, struct ct_link_state *out)
{
	const struct ct_session_head *head = link->session.head;
	uint32_t count = __atomic_load_n(&head->component_count, __ATOMIC_ACQUIRE);
	struct ct_buf names;

	*out = (struct ct_link_state){
		.size = sizeof *out,
		.pid = link->info.pid,
		.asid = link->info.asid,
		.events = __atomic_load_n(&link->events, __ATOMIC_RELAXED),
	};
	(void)snprintf(out->jobname, sizeof out->jobname, "%s", link->info.jobname);
	for (uint32_t i = 0; i < __atomic_load_n(&link->rings, __ATOMIC_ACQUIRE); i++) {
		const struct ct_ring_head *ring = link->ring[i].head;

		out->rings +=
			ring != NULL && ring->held_by == link->held_by && ct_ring_is_used(ring);
	}
	ct_buf_init(&names);
	for (uint32_t i = 0; i < count && i < CT_COMPONENT_LIMIT && names.size < sizeof out->traces;
	     i++)
		if (component_is_connected(link, &link->session.components[i]))
			names_add_trace(&names, &link->session, &link->session.components[i]);
	if (names.size >= sizeof out->traces)
		(void)snprintf(out->traces, sizeof out->traces, "%.*s...",
			       (int)sizeof out->traces - 5, ct_buf_text(&names));
	else
		(void)snprintf(out->traces, sizeof out->traces, "%s", ct_buf_text(&names));
	ct_buf_fini(&names);
}

void ct_link_describe(struct ct_link *link, struct ct_link_state *out)
{
	ct_guard_link(link);
	link_describe(link, out);
	ct_guard_link(NULL);
}
