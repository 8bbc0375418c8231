/*
 * nats_verify.c - what a stream has of a trace, compared with the trace's files.
 *
 * Each message has the sum of its file up to its end, so headers are enough: the servers send no
 * bytes.  A file is as it was sent when the sums at the ends of its messages are those of the file,
 * and the messages lie side by side.  From the first place that is not so, it is sent again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_fetch.h"
#include "nats_forward.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one message says. */
struct part {
	char name[64];
	uint64_t offset, end, restarts, sum;
};

struct parts {
	struct part *list;
	size_t count, room;
};

static bool part_add(struct parts *parts, natsMsg *message)
{
	const char *name = NULL, *sum = NULL;
	struct part *part;

	if (natsMsgHeader_Get(message, CT_NATS_FILE, &name) != NATS_OK ||
	    natsMsgHeader_Get(message, CT_NATS_SUM, &sum) != NATS_OK || sum == NULL)
		return true; /* not of ctrace */
	if (parts->count == parts->room) {
		size_t room = parts->room > 0 ? parts->room * 2 : 64;
		struct part *list = reallocarray(parts->list, room, sizeof *list);

		if (list == NULL)
			return false;
		parts->list = list;
		parts->room = room;
	}
	part = &parts->list[parts->count++];
	(void)snprintf(part->name, sizeof part->name, "%s", name);
	part->offset = ct_nats_header_number(message, CT_NATS_OFFSET);
	part->end = part->offset + ct_nats_header_number(message, "Nats-Msg-Size");
	part->restarts = ct_nats_header_number(message, CT_NATS_RESTART);
	part->sum = strtoull(sum, NULL, 16);
	return true;
}

/* The headers of all messages of the trace. */
static enum ctrace_status parts_read(struct ct_nats_forwarder *forward, const char *subject,
				     struct parts *parts)
{
	natsSubscription *subscription = NULL;
	enum ctrace_status status = CTRACE_OK;
	jsSubOptions options;
	natsStatus got;
	uint64_t pending;

	(void)jsSubOptions_Init(&options);
	options.Stream = forward->address.stream;
	options.Ordered = true;
	options.Config.HeadersOnly = true;
	got = js_SubscribeSync(&subscription, forward->link.context, subject, NULL, &options, NULL);
	pending = got == NATS_OK ? ct_nats_consumer_pending(subscription, 0, NULL) : 0;
	while (got == NATS_OK && status == CTRACE_OK && pending > 0) {
		jsMsgMetaData *data = NULL;
		natsMsg *message = NULL;

		got = natsSubscription_NextMsg(&message, subscription, CT_NATS_REQUEST_MS);
		if (got == NATS_OK && natsMsg_GetMetaData(&data, message) == NATS_OK) {
			pending = data->NumPending;
			if (!part_add(parts, message))
				status = CTRACE_NOT_ENOUGH_MEMORY;
		}
		jsMsgMetaData_Destroy(data);
		natsMsg_Destroy(message);
	}
	natsSubscription_Destroy(subscription);
	if (got == NATS_OK)
		return status;
	if (got == NATS_TIMEOUT && ct_nats_refusal(forward->link.connection) == NULL)
		return ct_nats_forward_fail(forward, CTRACE_OUTPUT_ERROR, forward->address.stream,
					    "the servers do not send messages that they count; "
					    "their logs may say why");
	return ct_nats_forward_fail(forward, CTRACE_OUTPUT_ERROR, forward->address.stream,
				    ct_nats_request_reason(forward->link.connection, got));
}

static int part_compare(const void *left, const void *right)
{
	const struct part *one = left, *other = right;

	if (one->end != other->end)
		return one->end < other->end ? -1 : 1;
	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

bool ct_nats_sum_go_on(struct ct_nats_forwarder *forward, int fd, uint64_t *at, uint64_t end,
		       struct ct_nats_sum *sum)
{
	while (*at < end) {
		size_t size = end - *at < BODY_MAX ? (size_t)(end - *at) : BODY_MAX;
		ssize_t got = pread(fd, forward->body, size, (off_t)*at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		*sum = ct_nats_sum_add(*sum, forward->body, (size_t)got);
		*at += (uint64_t)got;
	}
	return true;
}

/* Where the messages, in the order of their ends, stop being the file.  *out_sum is that of the
 * file up to there; *out_differs: it has other bytes there, and is not just shorter. */
static uint64_t file_common(struct ct_nats_forwarder *forward, int fd, const char *name,
			    uint64_t restarts, const struct parts *parts,
			    struct ct_nats_sum *out_sum, bool *out_differs)
{
	uint64_t common = 0, at = 0;
	struct ct_nats_sum sum = CT_NATS_SUM_EMPTY;

	*out_sum = sum;
	*out_differs = false;
	for (size_t i = 0; i < parts->count; i++) {
		const struct part *part = &parts->list[i];

		if (strcmp(part->name, name) != 0 || part->restarts != restarts ||
		    part->end < common)
			continue;
		if (part->offset > common)
			break;
		*out_differs = !ct_nats_sum_go_on(forward, fd, &at, part->end, &sum) ||
			       sum.value != part->sum;
		if (*out_differs)
			break;
		common = part->end;
		*out_sum = sum;
	}
	return common;
}

static void file_verify(struct ct_nats_forwarder *forward, const struct ct_nats_trace *trace,
			struct ct_nats_file *file, const struct parts *parts)
{
	uint64_t common, restarts = 0;
	struct ct_nats_sum sum;
	char path[4200];
	bool differs;
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s", trace->path, file->name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return; /* sending reports it */
	for (size_t i = 0; i < parts->count; i++)
		if (strcmp(parts->list[i].name, file->name) == 0 &&
		    parts->list[i].restarts > restarts)
			restarts = parts->list[i].restarts;
	common = file_common(forward, fd, file->name, restarts, parts, &sum, &differs);
	(void)close(fd);
	if (differs) {
		ct_nats_notice(forward->copy,
			       "%.300s: the stream has other bytes of it; it is sent again", path);
		common = 0;
		sum = CT_NATS_SUM_EMPTY;
		restarts++;
	} else if (common < file->limit) {
		ct_nats_notice(forward->copy,
			       "%.300s: the stream lacks the last %" PRIu64 " of %" PRIu64
			       " bytes; they are sent",
			       path, file->limit - common, file->limit);
	}
	file->sent = file->acknowledged = common;
	file->sum = file->acknowledged_sum = sum;
	file->restarts = file->acknowledged_restarts = restarts;
}

enum ctrace_status ct_nats_trace_verify(struct ct_nats_forwarder *forward,
					struct ct_nats_trace *trace)
{
	struct parts parts = { .list = NULL };
	enum ctrace_status status;
	char subject[1400];

	ct_nats_trace_subject(forward, trace, "*", subject, sizeof subject);
	status = parts_read(forward, subject, &parts);
	if (status == CTRACE_OK && parts.count > 0)
		qsort(parts.list, parts.count, sizeof *parts.list, part_compare);
	for (struct ct_nats_file *file = trace->files; file != NULL && status == CTRACE_OK;
	     file = file->next)
		file_verify(forward, trace, file, &parts);
	/* They are small, and the last ones count. */
	trace->metadata.sent = trace->metadata.acknowledged = 0;
	trace->metadata.restarts = trace->metadata.acknowledged_restarts = 0;
	free(parts.list);
	trace->is_verified = status == CTRACE_OK;
	trace->sent_again_ms = nats_Now();
	return status;
}
