/*
 * nats_respond.c - answers the requests that come for this machine.
 *
 * Each subscription has a thread of libnats, on which requests are served one after the other.  The
 * first answer is sent at once, so that who asks knows whom to wait for.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static natsStatus answer_send(natsConnection *connection, natsMsg *request, const char *host,
			      const char *data, size_t size)
{
	natsMsg *answer = NULL;
	natsStatus status =
		natsMsg_Create(&answer, natsMsg_GetReply(request), NULL, data, (int)size);

	if (status == NATS_OK)
		status = natsMsgHeader_Set(answer, CT_NATS_HOST, host);
	if (status == NATS_OK)
		status = natsConnection_PublishMsg(connection, answer);
	if (status == NATS_OK)
		status = natsConnection_Flush(connection);
	natsMsg_Destroy(answer);
	return status;
}

static void request_serve(natsConnection *connection, natsSubscription *subscription,
			  natsMsg *request, void *user)
{
	const struct ct_nats_responder *responder = user;
	const char *subject = natsMsg_GetSubject(request);
	const char *kind = strrchr(subject, '.');
	bool is_command = kind != NULL && strcmp(kind, ".command") == 0;
	char *answer = NULL;
	size_t size = 0;

	(void)subscription;
	if (natsMsg_GetReply(request) != NULL && kind != NULL &&
	    (is_command || strcmp(kind, ".display") == 0) &&
	    answer_send(connection, request, responder->host, NULL, 0) == NATS_OK)
		answer = responder->serve(is_command, natsMsg_GetData(request),
					  (size_t)natsMsg_GetDataLength(request), &size,
					  responder->user);
	if (answer != NULL)
		(void)answer_send(connection, request, responder->host, answer, size);
	free(answer);
	natsMsg_Destroy(request);
}

enum ctrace_status ct_nats_respond(struct ct_nats_responder *responder)
{
	const struct ct_nats_copy waits = { .goes_on = responder->goes_on,
					    .user = responder->user };
	natsSubscription *subscriptions[2] = { NULL };
	natsConnection *connection = NULL;
	struct ct_nats_address address;
	char host[CT_NATS_TEXT], subject[2 * CT_NATS_TEXT + 16];
	enum ctrace_status status =
		ct_nats_address_parse(responder->address, false, &address, responder->error);
	natsStatus got = NATS_OK;

	if (status != CTRACE_OK)
		return status;
	do {
		status = ct_nats_connect(&connection, &address, responder->error);
	} while (status == CTRACE_OUTPUT_ERROR && ct_nats_wait(&waits));
	if (status != CTRACE_OK)
		return status;
	ct_nats_token(host, sizeof host, responder->host);
	for (unsigned i = 0; i < 2 && got == NATS_OK; i++) {
		(void)snprintf(subject, sizeof subject, "%s.op.%s.*", address.subject,
			       i == 0 ? host : "ALL");
		got = natsConnection_Subscribe(&subscriptions[i], connection, subject,
					       request_serve, responder);
	}
	if (got == NATS_OK)
		got = natsConnection_Flush(connection);
	if (got == NATS_OK) {
		responder->ready(responder->user);
		while (ct_nats_wait(&waits))
			continue;
	} else {
		(void)snprintf(responder->error, CT_NATS_ERROR_SIZE, "%.200s: %.200s", subject,
			       natsStatus_GetText(got));
		status = CTRACE_OUTPUT_ERROR;
	}
	for (unsigned i = 0; i < 2; i++)
		natsSubscription_Destroy(subscriptions[i]);
	natsConnection_Destroy(connection);
	return status;
}
