/*
 * nats_late.c - messages of a file that come after their successors, or never.
 *
 * A message may come too early, because the servers refused the one before and the forwarder sent
 * that again: it waits in memory.  A gap that nothing fills is closed: the copy goes on with the
 * next message that begins a packet, and readers see the gap by the packets' numbers.  So it is
 * with a file whose beginning the stream no longer keeps.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_fetch.h"

#include "base/base.h"
#include "format/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A forwarder has 16 messages of half a megabyte under way, and sends all of them again when one is
 * refused. */
#define WAITING_BYTES (64u << 20)
#define WAITING_OVERHEAD 1024u /* of a message */
#define WAITING_MESSAGES 4096u /* of the stream */
#define WAITING_MS 30000       /* of a copy whose parts are handed over */

uint64_t ct_nats_waiting_sequence(const struct ct_nats_copied *file)
{
	uint64_t first = file->reopens > 0 ? file->reopens : UINT64_MAX;

	for (const struct ct_nats_waiting *waiting = file->waiting; waiting != NULL;
	     waiting = waiting->next)
		first = waiting->sequence < first ? waiting->sequence : first;
	return first;
}

static uint64_t waiting_cost(const natsMsg *message)
{
	return (uint64_t)natsMsg_GetDataLength(message) + WAITING_OVERHEAD;
}

static void waiting_remove(struct ct_nats_fetcher *fetch, struct ct_nats_copied *file)
{
	struct ct_nats_waiting *waiting = file->waiting;

	file->waiting = waiting->next;
	fetch->waiting_bytes -= waiting_cost(waiting->message);
	natsMsg_Destroy(waiting->message);
	free(waiting);
}

void ct_nats_late_remove(struct ct_nats_fetcher *fetch, struct ct_nats_copied *file)
{
	while (file->waiting != NULL)
		waiting_remove(fetch, file);
}

/* Takes the message from the caller. */
static enum ctrace_status waiting_add(struct ct_nats_fetcher *fetch, struct ct_nats_copied *file,
				      natsMsg **message)
{
	struct ct_nats_waiting *waiting = calloc(1, sizeof *waiting), **at = &file->waiting;

	if (waiting == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	waiting->message = *message;
	waiting->offset = ct_nats_header_number(*message, CT_NATS_OFFSET);
	waiting->sequence = fetch->sequence;
	waiting->since_ms = nats_Now();
	fetch->waiting_bytes += waiting_cost(*message);
	*message = NULL;
	while (*at != NULL && (*at)->offset <= waiting->offset)
		at = &(*at)->next;
	waiting->next = *at;
	*at = waiting;
	return CTRACE_OK;
}

/* Puts the messages that need not wait any longer. */
static enum ctrace_status waiting_put(struct ct_nats_fetcher *fetch,
				      struct ct_nats_copied_trace *trace,
				      struct ct_nats_copied *file)
{
	enum ctrace_status status = CTRACE_OK;

	while (status == CTRACE_OK && file->waiting != NULL && file->has.is_begun &&
	       file->waiting->offset <= file->has.end) {
		if (!file->is_replaced)
			status = ct_nats_bytes_put(fetch, trace, file, file->waiting->message,
						   file->waiting->sequence);
		waiting_remove(fetch, file);
	}
	return status;
}

/* Is the rest of the last packet not there? */
static bool packet_is_partial(const struct ct_nats_copied *file)
{
	const struct ct_nats_extent *has = &file->has;

	return has->is_begun && !file->is_replaced && has->end < has->packet_end &&
	       has->packet_begin >= has->floor && !ct_nats_name_is_packed(file->name);
}

/* Removes the part of a packet before a gap, or behind the last one: readers would report damage.
 */
static enum ctrace_status packet_cut(struct ct_nats_fetcher *fetch,
				     const struct ct_nats_copied_trace *trace,
				     struct ct_nats_copied *file)
{
	struct ct_nats_extent *has = &file->has;

	if (!packet_is_partial(file))
		return CTRACE_OK;
	if (!ct_nats_file_open(fetch, trace, file, 0))
		return CTRACE_OS_ERROR;
	has->end = has->packet_end = has->packet_begin;
	if (ftruncate(file->fd, (off_t)(has->end - has->base)) != 0)
		return ct_nats_fetch_fail(fetch, CTRACE_OUTPUT_ERROR, trace->path, strerror(errno));
	return CTRACE_OK;
}

/* Where the first packet of the trace in a message begins.  The size of the message: nowhere. */
static size_t packet_find(const struct ct_nats_copied_trace *trace,
			  const struct ct_nats_copied *file, natsMsg *message)
{
	const unsigned char *bytes = (const unsigned char *)natsMsg_GetData(message);
	size_t size = (size_t)natsMsg_GetDataLength(message), at = 0;
	struct ct_packet_head head;
	char uuid[sizeof trace->uuid];

	if (ct_nats_header_is_there(message, CT_NATS_BEGINS))
		return 0;
	if (ct_nats_name_is_packed(file->name))
		return size;
	for (; (at = ct_packet_find(bytes, size, at)) < size; at++) {
		if (ct_packet_decode_head(bytes + at, size - at, &head) != CTRACE_OK)
			continue;
		for (size_t i = 0; i < sizeof head.uuid; i++)
			(void)snprintf(uuid + 2 * i, 3, "%02x", head.uuid[i]);
		if (strcmp(uuid, trace->uuid) == 0)
			break;
	}
	return at;
}

/* Goes on with the next packet that has come. */
static enum ctrace_status gap_close(struct ct_nats_fetcher *fetch,
				    struct ct_nats_copied_trace *trace, struct ct_nats_copied *file)
{
	struct ct_nats_extent *has = &file->has;
	enum ctrace_status status = packet_cut(fetch, trace, file);
	uint64_t next = 0;

	while (file->waiting != NULL) {
		natsMsg *message = file->waiting->message;
		size_t at = packet_find(trace, file, message);

		next = file->waiting->offset + at;
		if (at < (size_t)natsMsg_GetDataLength(message))
			break;
		trace->has_left = true;
		waiting_remove(fetch, file);
	}
	if (status != CTRACE_OK || file->waiting == NULL)
		return status;
	if (!has->is_begun &&
	    !ct_nats_file_begin(fetch, trace, file, next, file->waiting->sequence))
		return CTRACE_OS_ERROR;
	has->base += next - has->end;
	has->end = has->floor = next;
	return waiting_put(fetch, trace, file);
}

/* Has a message waited for too long? */
static bool waiting_is_over(const struct ct_nats_fetcher *fetch, const struct ct_nats_copied *file)
{
	for (const struct ct_nats_waiting *waiting = file->waiting; waiting != NULL;
	     waiting = waiting->next)
		if (waiting->sequence + WAITING_MESSAGES < fetch->sequence ||
		    (fetch->copy->take != NULL && nats_Now() - waiting->since_ms >= WAITING_MS))
			return true;
	return false;
}

enum ctrace_status ct_nats_late_look(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = CTRACE_OK;

	for (struct ct_nats_copied_trace *trace = fetch->traces;
	     trace != NULL && fetch->waiting_bytes > 0; trace = trace->next)
		for (struct ct_nats_copied *file = trace->files;
		     file != NULL && status == CTRACE_OK; file = file->next)
			if (file->waiting != NULL && waiting_is_over(fetch, file))
				status = gap_close(fetch, trace, file);
	return status;
}

/* Closes the gaps of a file.  An archive that goes on reopens them: the late message may come.
 * Without a gap, a part of a packet at the end is what the file has. */
static enum ctrace_status gaps_end(struct ct_nats_fetcher *fetch,
				   struct ct_nats_copied_trace *trace, struct ct_nats_copied *file)
{
	enum ctrace_status status;
	uint64_t first;

	if (file->waiting == NULL)
		return CTRACE_OK;
	first = ct_nats_waiting_sequence(file);
	if (packet_is_partial(file) && file->has.packet_sequence < first)
		first = file->has.packet_sequence;
	status = packet_cut(fetch, trace, file);
	if (fetch->copy->is_archive) {
		file->had = file->has;
		file->reopens = first;
	}
	while (file->waiting != NULL && status == CTRACE_OK)
		status = gap_close(fetch, trace, file);
	return status == CTRACE_OK ? packet_cut(fetch, trace, file) : status;
}

enum ctrace_status ct_nats_late_end(struct ct_nats_fetcher *fetch)
{
	enum ctrace_status status = ct_nats_late_look(fetch);

	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL;
	     trace = trace->next) {
		bool has_left = trace->has_left, reopens = false;

		for (struct ct_nats_copied *file = trace->files;
		     file != NULL && status == CTRACE_OK; file = file->next) {
			status = gaps_end(fetch, trace, file);
			reopens |= file->reopens > 0;
		}
		if (reopens)
			trace->has_left = has_left;
	}
	return status;
}

void ct_nats_late_reopen(struct ct_nats_fetcher *fetch)
{
	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL; trace = trace->next)
		for (struct ct_nats_copied *file = trace->files; file != NULL; file = file->next)
			if (file->reopens > 0)
				file->has = file->had;
}

/* Closes the gap that has been there for the longest time. */
static enum ctrace_status gap_close_oldest(struct ct_nats_fetcher *fetch)
{
	struct ct_nats_copied_trace *of = NULL;
	struct ct_nats_copied *oldest = NULL;
	uint64_t first = UINT64_MAX;

	for (struct ct_nats_copied_trace *trace = fetch->traces; trace != NULL; trace = trace->next)
		for (struct ct_nats_copied *file = trace->files; file != NULL; file = file->next)
			if (file->waiting != NULL && ct_nats_waiting_sequence(file) < first) {
				first = ct_nats_waiting_sequence(file);
				oldest = file;
				of = trace;
			}
	return oldest != NULL ? gap_close(fetch, of, oldest) : CTRACE_OK;
}

/* Are bytes of the beginning of the file likely to come?  A copy that hands over its parts begins
 * at once, where the stream does. */
static bool beginning_comes(const struct ct_nats_fetcher *fetch)
{
	const struct ct_nats_copy *copy = fetch->copy;

	return copy->take == NULL ||
	       (!copy->is_from_now && copy->since_ns == 0 && fetch->link.first_sequence <= 1);
}

enum ctrace_status ct_nats_bytes_take(struct ct_nats_fetcher *fetch,
				      struct ct_nats_copied_trace *trace, const char *name,
				      natsMsg **message)
{
	uint64_t offset = ct_nats_header_number(*message, CT_NATS_OFFSET);
	uint64_t restarts = ct_nats_header_number(*message, CT_NATS_RESTART);
	uint64_t size = (uint64_t)natsMsg_GetDataLength(*message);
	struct ct_nats_copied *file = ct_nats_copied_find(trace, name);
	enum ctrace_status status;

	if (file == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (file->is_replaced || restarts < file->restarts || offset > INT64_MAX - size)
		return CTRACE_OK;
	if (restarts > file->restarts) {
		ct_nats_late_remove(fetch, file);
		fetch->is_repeated |= file->is_taken && offset < file->has.base;
		file->restarts = restarts;
		file->has.is_begun = false;
	}
	if (file->has.is_begun ? offset > file->has.end
			       : offset > 0 && !file->is_taken && beginning_comes(fetch)) {
		status = waiting_add(fetch, file, message);
		while (status == CTRACE_OK && fetch->waiting_bytes > WAITING_BYTES)
			status = gap_close_oldest(fetch);
		return status;
	}
	status = ct_nats_bytes_put(fetch, trace, file, *message, fetch->sequence);
	return status == CTRACE_OK ? waiting_put(fetch, trace, file) : status;
}
