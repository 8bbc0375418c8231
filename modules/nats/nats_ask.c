/*
 * nats_ask.c - sends a request to other machines, and gathers their answers.
 *
 * A responder answers at once that it has begun.  So of all machines those are waited for that have
 * begun; nobody has to list the machines that there are.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BEGIN_MS 500 /* in which a responder begins, when all machines are asked */

struct host {
	struct host *next;
	char name[CT_NATS_TEXT];
	bool is_done;
};

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct host *host_find(struct host **hosts, const char *name)
{
	struct host **at = hosts, *host;

	while (*at != NULL && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	if (*at != NULL)
		return *at;
	host = calloc(1, sizeof *host);
	if (host != NULL)
		(void)snprintf(host->name, sizeof host->name, "%s", name);
	*at = host;
	return host;
}

static bool all_are_done(const struct host *hosts)
{
	for (; hosts != NULL; hosts = hosts->next)
		if (!hosts->is_done)
			return false;
	return true;
}

static natsStatus question_send(natsConnection *connection, const struct ct_nats_question *question,
				const struct ct_nats_address *address, const char *inbox)
{
	natsStatus status = NATS_OK;

	for (size_t i = 0;
	     status == NATS_OK && i < (question->host_count > 0 ? question->host_count : 1); i++) {
		char host[CT_NATS_TEXT] = "ALL", subject[2 * CT_NATS_TEXT + 16];

		if (question->host_count > 0)
			ct_nats_token(host, sizeof host, question->hosts[i]);
		(void)snprintf(subject, sizeof subject, "%s.op.%s.%s", address->subject, host,
			       question->is_command ? "command" : "display");
		status = natsConnection_PublishRequest(connection, subject, inbox,
						       question->request, (int)question->size);
	}
	return status == NATS_OK ? natsConnection_Flush(connection) : status;
}

static void answer_take(struct ct_nats_question *question, natsMsg *answer, struct host **hosts)
{
	const char *name = NULL;
	struct host *host;

	if (natsMsgHeader_Get(answer, CT_NATS_HOST, &name) != NATS_OK || name == NULL)
		return; /* nobody listens to the subject */
	host = host_find(hosts, name);
	if (host == NULL || host->is_done || natsMsg_GetDataLength(answer) == 0)
		return;
	host->is_done = true;
	question->answered++;
	question->take(host->name, natsMsg_GetData(answer), (size_t)natsMsg_GetDataLength(answer),
		       question->user);
}

static void answers_take(struct ct_nats_question *question, natsSubscription *inbox,
			 struct host **hosts)
{
	int64_t end = now_ms() + question->timeout_ms, begun = now_ms() + BEGIN_MS;

	for (;;) {
		int64_t now = now_ms(), left = end - now;
		bool is_complete = all_are_done(*hosts);
		natsMsg *answer = NULL;

		if (question->host_count == 0 && is_complete && begun - now < left)
			left = begun - now;
		if (left <= 0 || (question->host_count > 0 && is_complete))
			return;
		if (natsSubscription_NextMsg(&answer, inbox, left) == NATS_OK) {
			if (natsMsg_IsNoResponders(answer) && question->host_count <= 1)
				end = now;
			answer_take(question, answer, hosts);
		}
		natsMsg_Destroy(answer);
	}
}

enum ctrace_status ct_nats_ask(struct ct_nats_question *question)
{
	natsConnection *connection = NULL;
	natsSubscription *subscription = NULL;
	natsInbox *inbox = NULL;
	struct ct_nats_address address;
	struct host *hosts = NULL;
	enum ctrace_status status =
		ct_nats_address_parse(question->address, false, &address, question->error);
	natsStatus got;

	if (status == CTRACE_OK)
		status = ct_nats_connect(&connection, &address, question->error);
	if (status != CTRACE_OK)
		return status;
	for (size_t i = 0; i < question->host_count; i++)
		(void)host_find(&hosts, question->hosts[i]);
	got = natsInbox_Create(&inbox);
	if (got == NATS_OK)
		got = natsConnection_SubscribeSync(&subscription, connection, inbox);
	if (got == NATS_OK)
		got = question_send(connection, question, &address, inbox);
	if (got == NATS_OK) {
		answers_take(question, subscription, &hosts);
	} else {
		(void)snprintf(question->error, CT_NATS_ERROR_SIZE, "%.200s: %.200s",
			       question->address, natsStatus_GetText(got));
		status = CTRACE_OUTPUT_ERROR;
	}
	while (hosts != NULL) {
		struct host *host = hosts;

		hosts = host->next;
		if (!host->is_done && status == CTRACE_OK)
			question->take(host->name, NULL, 0, question->user);
		free(host);
	}
	natsSubscription_Destroy(subscription);
	natsInbox_Destroy(inbox);
	natsConnection_Destroy(connection);
	return status;
}
